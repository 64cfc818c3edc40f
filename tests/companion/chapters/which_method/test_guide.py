"""The guide: situations whose call is what the arena judges, and people counted by search, found again by drawing."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from companion.chapters.which_method import advice, arena, guide, people_needed, situations, table
from companion.chapters.which_method.contenders import UNNAMED
from dprank.cli import app
from dprank.plan.planner import named
from dprank.plan.tags import TAGS


@pytest.fixture(scope="module")
def frame():
    return table.load()


@pytest.mark.parametrize("situation", situations.SITUATIONS, ids=lambda it: it.who)
def test_what_is_typed_is_what_the_arena_judges(situation, frame):
    done = CliRunner().invoke(app, [*situation.call.split()[1:], "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    best = told["choices"][told["best"]]
    called = {key: it for key, it in best["parameters"].items() if key not in UNNAMED}
    plan = advice.plan_for(situation.heat, situation.epsilon, situation.delta, situation.trust)
    assert named(best["mechanism"], called) == advice.called(plan.best)
    assert situation.heat in arena.heats()
    assert len(situations.rows_of(frame, situation))


def test_every_situation_is_led_to_the_right_method(frame):
    seen = situations.checked(frame)
    assert seen["right"].all(), seen[~seen["right"]].to_string()
    assert seen["who"].is_unique
    assert len(seen) >= 8
    assert {(it.heat["question"], it.trust) for it in situations.SITUATIONS} >= {
        ("ranking", "nobody"), ("consensus", "nobody"), ("agreement", "nobody"), ("winner", "curator")
    }  # fmt: skip
    # in an arena where what is recommended loses everything, it is wrong
    spoilt = frame.assign(
        mean=np.where(frame["method"].isin(set(seen["plan"])), 1.0, frame["mean"]),
        se=np.where(frame["method"].isin(set(seen["plan"])), 0.0, frame["se"]),
    )
    assert not situations.checked(spoilt)["right"].all()


def test_readers_are_told_what_was_judged(frame):
    some = situations.checked(frame, situations.SITUATIONS[:2])
    told = situations.told(some, situations.SITUATIONS[:2])
    assert told.count("<dt>") == 2
    assert "<strong>Oneshot</strong> (exponential, ordered=False): noise on every count" in told
    assert "Its error in the arena is 0.1% (of the top k wrong); no method is better" in told
    wrong = situations.told(some.assign(right=False, best="A<B"), situations.SITUATIONS[:2])
    assert "A&lt;B is better" in wrong


def test_answers_in_words_lose_nothing(frame):
    found = guide.answers(frame)
    told = guide.readable(found)
    both = found.groupby(["question", "trust", "use", "plain"])["delta"].nunique()
    assert told.count("<tr>") == 1 + len(both)
    assert told.count(" δ is spent") == (both == 1).sum()
    for row in found.to_dict("records"):
        assert f"<strong>{row['use']}</strong>: {TAGS[row['use']].how}" in told
        # what is wrong to take where its condition is not met is never named without it
        if TAGS[row["use"]].needs:
            assert f"{TAGS[row['use']].how}. Take it only if {TAGS[row['use']].needs}" in told
            assert row["plain"] == "" or not TAGS[row["plain"]].needs
    lone = guide.answers(frame[frame["method"].str.startswith("PrivateWinner")])
    assert "nothing else answers this" in guide.readable(lone)


def test_where_the_first_is_not_best_another_is_named():
    cell = {"question": "consensus", "data": "Mallows", "items": 5, "answers": 0, "k": 0, "epsilon": 1.0, "delta": 0.0}
    losses = {
        "PrivateBorda": (0.1, 0.1, 0.1, 0.1),
        "NoisyMatrix": (0.2, 0.2, 0.2, 0.04),
        "PrivateKwikSort": (0.1, 0.3, 0.3, 0.3),
    }
    rows = [
        cell | {"people": people, "trust": "curator", "method": name, "loss": "pairs", "mean": mean, "se": 0.001}
        for name, means in losses.items()
        for people, mean in enumerate(means, start=10)
    ]
    found = guide.answers(pd.DataFrame(rows))
    row = found[found["delta"] == 0].iloc[0]
    assert (row["use"], row["best in"], row["then"]) == ("PrivateBorda", 0.75, "NoisyMatrix")
    assert row["costs"] == row["at most"] == pytest.approx(0.06)


@pytest.mark.parametrize(
    ("question", "sizes", "asked"),
    [
        ("consensus", {"items": 5}, {}),
        ("topk", {"items": 20, "answers": 3, "k": 3}, {"answers": [3], "ordered": False}),
    ],
)
def test_so_many_people_err_so_little(question, sizes, asked):
    """Measured on made-up people with the mechanism that is recommended: 1 %, to a tenth of the people."""
    error, epsilon = 0.01, 1.0
    more = {key: it for key, it in sizes.items() if key in ("items", "k")} | asked
    people = people_needed.needed(error, question=question, epsilon=epsilon, **more)
    data = "Mallows" if question == "consensus" else "ladder"
    heat = {"question": question, "data": data, "people": int(people), **sizes}
    called = advice.called(advice.plan_for(heat, epsilon, 0.0, "curator").best)
    label = (epsilon, 0.0, "curator", called)
    loss = arena.FIRST_LOSS[question]
    seen = arena.contest(repetitions=1000, rng=np.random.default_rng(8), only={label}, **heat)[(*label, loss)]
    bar = 4 * seen.std() / math.sqrt(len(seen))
    assert 0.7 * error - bar < seen.mean() < 1.2 * error + bar
    few = arena.contest(
        repetitions=1000, rng=np.random.default_rng(8), only={label}, **{**heat, "people": int(people / 2)}
    )[(*label, loss)]
    assert few.mean() > 1.2 * error + bar


def test_nobody_is_enough_where_nothing_is(monkeypatch):
    monkeypatch.setattr(people_needed, "MOST", 1000)
    assert people_needed.needed(0.01, question="consensus", trust="nobody", items=20, epsilon=0.1) == math.inf


def test_more_privacy_takes_more_people():
    frame = people_needed.people_frame(5, (0.3, 3.0))
    assert set(frame["asked"]) == set(people_needed.ASKED)
    few, many = (frame[frame["epsilon"] == it]["people"].to_numpy() for it in (3.0, 0.3))
    assert (few < many).all()
    alone = frame.set_index(["asked", "epsilon"])["people"]
    assert (alone["ballots, nobody trusted"] > alone["ballots"]).all()
