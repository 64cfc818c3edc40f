"""The guide's explorer takes what a plan takes, and shows what the arena's table has of it."""

from __future__ import annotations

import math
import shlex
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import dprank
from companion.chapters.which_method import finder, guide, plans, situations, table
from companion.chapters.which_method.advice import called, standing
from companion.chapters.which_method.arena import FIRST_LOSS
from companion.chapters.which_method.contenders import DELTA
from companion.instruments.explorers import HEAVIEST
from companion.instruments.sweep import stream

if TYPE_CHECKING:
    from explorer_pages import Opened
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

START: dict[str, Any] = {
    "have": "ballots",
    "want": "ranking",
    "protect": "person",
    "trust": "curator",
    "delta": "no",
    "camps": "no",
}
START |= {"items": 20, "people": 400, "epsilon": 1}
TYPED: dict[str, tuple[int, ...]] = {
    "items": (2, 5, 7, 20, 100, 365, 1000),
    "people": (9, 50, 400, 1000, 1500, 10_000, 100_000, 1_000_000),
}
CHOICES = {
    it.name: TYPED.get(it.name) or (tuple(it.options) if hasattr(it, "options") else tuple(it.values))
    for it in finder._CONTROLS
}
QUESTIONS = {
    ("ballots", "ranking"): "consensus",
    ("ballots", "winner"): "winner",
    ("ballots", "agreement"): "agreement",
    ("counts", "topk"): "topk",
    ("counts", "longer"): "topk",
} | {(have, want): want for have in ("pairs", "secret") for want in ("ranking", "strengths")}
WHERE = ["question", "items", "people", "trust", "epsilon"]
FAULTS = {
    "the other kind of people": ("...(camps ? other : supposed)", "...(camps ? supposed : other)"),
    "the next epsilon": ("here(data.epsilons.indexOf(state.epsilon))", "here(0)"),
    "a delta that is not there": ('if ((row.spends && state.delta === "no") ||', "if ("),
    "everybody is trusted": ('[state.trust === "nobody" ? 1 : 0]', "[0]"),
    "always a short list": ('=== (state.want === "longer")', "=== false"),
    "the farthest size": ("far(it.size) < far(best.size)", "far(it.size) > far(best.size)"),
    "camps are not told": ('state.camps === "yes" && campsMatter(question) ? "camps"', 'false ? "camps"'),
    "a millionth too much": ("mean: losses[j] / 1e6", "mean: losses[j] / 1e6 + 2e-6"),
    "nobody asks for so many": ("needed: needed || Infinity", "needed: needed || 1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def arena() -> pd.DataFrame:
    return table.load()


@pytest.fixture(scope="module")
def answers(arena: pd.DataFrame) -> pd.DataFrame:
    return guide.answers(arena)


@pytest.fixture(scope="module")
def explorer(arena: pd.DataFrame, answers: pd.DataFrame) -> str:
    return finder.finder(arena, plans.load(), answers).data


@pytest.fixture(scope="module")
def expected(arena: pd.DataFrame, answers: pd.DataFrame) -> list[dict[str, Any] | None]:
    """Of all `states`."""
    planned, judged = plans.load(), dict(list(arena[~guide.set_apart(arena)].groupby(WHERE)))
    return [found(state, judged, planned, answers) for state in states()]


def states() -> list[dict[str, Any]]:
    """All that can be asked, at sizes that were measured and others, and 40 states over all controls."""
    rng = stream("explorer: guide", {}, root=0)
    drawn = lambda: {key: it[rng.integers(len(it))] for key, it in CHOICES.items()}  # noqa: E731
    every = [
        drawn() | {"have": have, "want": want, "protect": "person", "trust": trust, "delta": delta, "camps": camps}
        for (have, want), trust, delta, camps in product(QUESTIONS, CHOICES["trust"], ("no", "yes"), ("no", "yes"))
    ]
    likely = [it | {"items": 20, "people": (400, 10_000)[at % 2]} for at, it in enumerate(every)]
    longer = [it | {"items": 100, "people": 10_000} for it in every if it["want"] == "longer"]
    return [START, *every, *likely, *longer, *(drawn() for _ in range(40))]


def nearest(
    question: str, state: dict[str, Any], number: int, judged: dict[tuple[Any, ...], pd.DataFrame]
) -> tuple[list[int], dict[str, Any]]:
    """The nearest size that was measured, of those that do not flatter: lengths of its lists, and how it is called."""
    best, least = None, (True, math.inf)
    for asked, items, people, trust, epsilon in judged:
        if (asked, trust, epsilon) != (question, state["trust"], state["epsilon"]):
            continue
        lists = sorted(judged[asked, items, people, trust, epsilon]["k"].unique())
        alike = (items, people) == (state["items"], state["people"])
        easier = bool(not alike and items <= state["items"] and people >= state["people"])
        far = abs(math.log(items / state["items"])) + abs(math.log(people / state["people"])) / 2
        if len(lists) > number and (easier, far) < (least[0], least[1] - 1e-12 * (easier == least[0])):
            best, least = (lists, dict(zip(WHERE, (asked, items, people, trust, epsilon), strict=True))), (easier, far)
    assert best is not None
    return best


def found(
    state: dict[str, Any], judged: dict[tuple[Any, ...], pd.DataFrame], planned: pd.DataFrame, answers: pd.DataFrame
) -> Any:
    """What the guide says of a state; None where nothing was measured."""
    question = QUESTIONS.get((state["have"], state["want"]))
    if question is None or state["protect"] == "answer" or (state["trust"] == "nobody" and state["have"] == "secret"):
        return None
    if state["trust"] == "nobody" and question in ("winner", "strengths"):
        return None
    number = int(state["want"] == "longer")
    lists, where = nearest(question, state, number, judged)
    here = judged[tuple(where[name] for name in WHERE)]
    here = here[here["k"] == lists[number]]
    camps = state["camps"] == "yes" and question in ("consensus", "winner")
    delta = DELTA if state["delta"] == "yes" else 0.0
    kind = "two camps" if camps else finder.SUPPOSED[question]
    if state["have"] == "secret":
        here = here[~here["method"].str.startswith("PerturbedMLE")]
    rows = standing(here, delta)
    seen = rows[rows["data"] == kind]
    if question == "strengths":
        alike = seen[seen["alike"]]
        usual = answers.set_index(["question", "trust", "delta"])["use"][question, "curator", delta]
        usually = alike[alike["method"].str.startswith(usual)]
        best = (alike if usually.empty else usually).sort_values("mean").iloc[0]
        others = seen[seen["method"].str.partition("(")[0] != best["method"].partition("(")[0]].sort_values("mean")
        second, needed = (None if others.empty else others.iloc[0]), None
    else:
        told = "secret" if state["have"] == "secret" else "camps" if camps else ""
        mine = planned[planned["k"] == lists[number]]
        for name, value in (where | {"told": told}).items():
            mine = mine[mine[name] == value]
        [free] = mine[mine["delta"] == 0].to_dict("records")
        row = mine.sort_values("delta").to_dict("records")[-1 if delta else 0]
        of = lambda name, spends: seen[(seen["method"] == name) & ((seen["delta"] > 0) == spends)].iloc[0]  # noqa: E731
        best, needed = of(row["use"], row["spends"]), free["needed"]
        second = of(row["second"], row["second_spends"]) if row["second"] else None
    worst = rows[(rows["method"] == best["method"]) & (rows["delta"] == best["delta"])]["mean"].max()
    return {
        "use": best["method"],
        "mean": best["mean"],
        "se": best["se"],
        "worst": None if camps else worst,
        "second": None if second is None else second["method"],
        "second mean": None if second is None else second["mean"],
        "needed": needed,
        "rows": len(seen),
        "size": [where["items"], where["people"]],
    }


def shown_in(page: Page, states: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    return page.evaluate(
        """states => states.map((state) => {
            const {why, best, second, needed, rows, call, size} = explorers.get("finder").compute(state);
            return why ? null : {
                use: best.use, mean: best.mean, se: best.se, worst: best.worst ? best.worst.mean : null,
                second: second ? second.use : null, "second mean": second ? second.mean : null,
                needed, rows: rows.length, call, size: size.slice(0, 2),
            };
        })""",
        states,
    )


def differing(shown: list[dict[str, Any] | None], expected: list[dict[str, Any] | None]) -> list[str]:
    """Where what is shown is another method, or a number that is off by more than a millionth."""
    wrong = []
    for state, mine, theirs in zip(states(), shown, expected, strict=True):
        if mine is None or theirs is None:
            wrong += [f"{state}: {mine}, {theirs}"] * ((mine is None) != (theirs is None))
            continue
        for name, value in theirs.items():
            same = mine[name] == value or (
                isinstance(value, float) and mine[name] is not None and math.isclose(mine[name], value, abs_tol=1e-6)
            )
            wrong += [f"{state}: {name}: {mine[name]}, {value}"] * (not same)
    return wrong


def test_it_takes_what_the_guide_takes(opened: Opened, explorer: str, expected: list[Any]) -> None:
    answered = [it for it in expected if it is not None]
    assert len(expected) - len(answered) > 20
    assert len(answered) >= 60
    for name, values in CHOICES.items():
        assert {state[name] for state in states()} == set(values), name
    assert {it["use"].partition("(")[0] for it in answered} >= {"PrivateBorda", "NoisyCounts", "LocalTopK", "NoisyNorm"}
    assert differing(shown_in(opened(explorer), states()), expected) == []


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_mistake_is_noticed(opened: Opened, explorer: str, expected: list[Any], fault: tuple[str, str]) -> None:
    page = opened(explorer, fault=fault)
    assert differing(shown_in(page, states()), expected)


def test_situations_of_the_guide(opened: Opened, explorer: str, arena: pd.DataFrame) -> None:
    asked = []
    for it in situations.SITUATIONS:
        have, want = next(key for key, question in QUESTIONS.items() if question == it.heat["question"])
        state = {"have": have, "want": want, "trust": it.trust, "delta": "yes" if it.delta else "no"}
        asked.append(START | state | {"epsilon": it.epsilon} | {name: it.heat[name] for name in ("items", "people")})
    shown = shown_in(opened(explorer), asked)
    for mine, theirs, it in zip(shown, situations.checked(arena).itertuples(), situations.SITUATIONS, strict=True):
        assert mine is not None
        assert (mine["use"], mine["second"] or "") == (theirs.plan, theirs.second)
        assert mine["call"] == it.call
        if it.heat["data"] == finder.SUPPOSED[it.heat["question"]]:
            assert math.isclose(mine["mean"], theirs.loses, abs_tol=1e-6)


def test_what_is_copied_gives_what_is_shown(opened: Opened, explorer: str, expected: list[Any]) -> None:
    measured = [
        state for state, it in zip(states(), expected, strict=True)
        if it is not None and it["size"] == [state["items"], state["people"]]
    ]  # fmt: skip
    some = measured[::9]
    assert len(some) >= 4
    for shown in shown_in(opened(explorer), some):
        assert shown is not None
        if shown["call"].startswith("dprank."):
            mechanism = eval(shown["call"], {"dprank": dprank})
            assert type(mechanism).__name__ == shown["use"].partition("(")[0]
            continue
        _, _, question, *words = shlex.split(shown["call"])
        told: dict[str, Any] = {}
        while words:
            name = words.pop(0).removeprefix("--").replace("-", "_")
            told[name] = words.pop(0) if words and not words[0].startswith("--") else True
        whole = {name: int(told.pop(name)) for name in ("items", "persons", "k") if name in told}
        each = [int(told.pop(name)) for name in ("answers", "per_person") if name in told]
        more = {name: float(told.pop(name)) for name in ("epsilon", "delta", "gap", "camps") if name in told}
        if told.pop("no_ordered", False):
            told["ordered"] = False
        plan = dprank.plan(question, **whole, **more, **told, **({"answers": each} if each else {}))
        assert called(plan.best) == shown["use"], shown["call"]


def test_plans_asked_again_are_the_same() -> None:
    whole = plans.load()
    number, wrong = plans.again(whole, 12)
    assert (number, wrong) == (12, [])
    assert plans.again(whole.assign(error=whole["error"] + 1e-4), 2)[1], "an error that is another is seen"
    few = whole[(whole["items"] == 5) & (whole["delta"] == 0)].iloc[::25]
    for row in few.to_dict("records"):
        assert plans.needed_of(row) == row["needed"], row
    keys = {tuple(row[name] for name in plans.KEY) for row in plans.due()}
    assert set(whole[plans.KEY].itertuples(index=False, name=None)) == keys
    assert np.isfinite(whole["error"]).all()


def test_what_a_plan_takes_was_measured(arena: pd.DataFrame) -> None:
    judged = arena[arena["loss"] == arena["question"].map(FIRST_LOSS)].assign(spends=arena["delta"] > 0)
    where = [name for name in plans.KEY if name not in ("told", "delta")]
    seen = set(judged[[*where, "data", "method", "spends"]].itertuples(index=False, name=None))
    for row in plans.load().to_dict("records"):
        kind = "two camps" if row["told"] == "camps" else plans.SUPPOSED[row["question"]]
        for use, spends in ((row["use"], row["spends"]), (row["second"], row["second_spends"])):
            assert not use or (*(row[name] for name in where), kind, use, spends) in seen


def test_the_address_keeps_the_state(opened: Opened, explorer: str) -> None:
    page = opened(explorer, query="?other.items=3")
    page.evaluate("explorers.get('finder').set({have: 'counts', want: 'topk', people: 10000})")
    page.wait_for_url("**finder.have=counts**")
    page.reload()
    assert page.evaluate("explorers.get('finder').state") == START | {
        "have": "counts",
        "want": "topk",
        "people": 10_000,
    }
    assert "other.items=3" in page.url


def test_the_keyboard_reaches_all(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    reached = []
    for _ in range(11):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        if reached[-1] in ("trust", "delta"):
            page.keyboard.press("ArrowDown")
        elif reached[-1] in ("items", "people"):
            page.keyboard.type({"items": "100", "people": "10000"}[reached[-1]])  # what stood there is selected
        elif reached[-1] == "epsilon":
            page.keyboard.press("ArrowRight")
    assert reached == [*CHOICES, "CODE", "BUTTON"]
    state = START | {"trust": "nobody", "delta": "yes", "items": 100, "people": 10_000, "epsilon": 2}
    assert page.evaluate("explorers.get('finder').state") == state
    page.evaluate("explorers.get('finder').set({people: 1000, protect: 'answer'})")
    assert page.locator(".guide-use").inner_text() == "Not measured"
    page.locator(".explorer-said").get_by_text("Here a person's data count as one: protect the person.").wait_for()
    assert "guide-grey" in (page.locator(".explorer-view").get_attribute("class") or "")
    page.evaluate("explorers.get('finder').set({items: 20, people: 10000, protect: 'person'})")
    page.get_by_role("button", name="Copy the call").press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    call = "dprank plan consensus --items 20 --persons 10000 --epsilon 2 --delta 1e-06 --trust nobody"
    assert page.locator(".guide-call code").inner_text() == call
    assert "guide-grey" not in (page.locator(".explorer-view").get_attribute("class") or "")


def test_any_number_of_items_and_people_is_answered(opened: Opened, explorer: str) -> None:
    """By the nearest size that was measured, which is said; what is copied asks for the own numbers."""
    page = opened(explorer)
    for question, answers in (("ballots", ""), ("pairs", " --answers 1")):
        page.evaluate("have => explorers.get('finder').set({have, items: 2, people: 61})", question)
        said = page.locator(".guide-use").inner_text()
        assert "so it was with 5 items and 50 people, the nearest that was measured. With yours expect no more" in said
        name = {"ballots": "consensus", "pairs": "ranking"}[question]
        call = page.locator(".guide-call code").inner_text()
        assert call.startswith(f"dprank plan {name} --items 2 --persons 61 --epsilon 1{answers}")
    page.evaluate("explorers.get('finder').set({have: 'ballots', items: 10, people: 300})")
    said = page.locator(".guide-use").inner_text()
    assert "with 20 items and 400 people" in said, "5 and 400 would flatter"
    assert "With yours expect more or less" in said
    page.evaluate("explorers.get('finder').set({have: 'ballots', items: 900, people: 10})")
    assert "With yours expect more" in page.locator(".guide-use").inner_text()
    for typed, items in (("", 20), ("0", 2), ("-3", 2), ("12.4", 12), ("99999", 1000)):
        page.evaluate("items => explorers.get('finder').set({have: 'ballots', items})", typed)
        assert f"--items {items} " in page.locator(".guide-call code").inner_text()


def test_words_are_those_of_the_numbers(opened: Opened, explorer: str) -> None:
    still = opened(explorer, javascript=False)
    words = still.locator(".explorer-said").inner_text()
    rows = still.locator(".explorer-table tbody tr")
    assert not still.locator("form").is_visible()
    page = opened(explorer)
    said = page.locator(".explorer-said")
    assert (said.get_attribute("aria-live"), said.inner_text()) == ("polite", words)
    assert rows.count() == page.locator(".explorer-table tbody tr").count()
    page.locator("[name=epsilon]").press("ArrowRight")
    page.wait_for_function("before => document.querySelector('.explorer-said').textContent !== before", arg=words)
    best = page.evaluate("explorers.get('finder').result.best")
    assert f"ε = 2: {best['use']}, {100 * best['mean']:.1f} ± {100 * best['se']:.1f} %" in said.inner_text()
    assert len(explorer) < HEAVIEST
