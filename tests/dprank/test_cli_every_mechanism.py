"""Everything that can be published, at the command line: released, read again, reported, and audited by its law."""

import contextlib
import json
import math

import pytest

import dprank
from dprank.cli.neighbours import worst_pairs
from dprank.cli.path import said
from dprank.plan.tags import TAGS
from dprank.privacy.laws import NoExactRoute, exact
from dprank.publication import publish, read_publication
from dprank.questions import QUESTIONS
from dprank.report import report
from dprank.sentences import told

BALLOTS = [dprank.example("ballots.csv"), "--items", "roads,schools,parks,debt", "--person", "person"]
ANSWERS = [
    *(dprank.example("answers.csv"), "--items", "London,Paris,Rome", "--comparisons", "first,second,outcome"),
    *("--map", "outcome"),
    *("--person", "person", "--protect", "person", "--answers", "2"),
]
COUNTS = [
    *(dprank.example("diagnoses.csv"), "--items", "asthma,flu,gout,kuru,measles,migraine", "--person", "patient"),
    *("--item", "diagnosis", "--k", "2"),
]
WORDS = {"ranking": ANSWERS, "consensus": BALLOTS, "winner": BALLOTS, "topk": COUNTS, "agreement": BALLOTS}
#: What a mechanism is asked besides its name, if anything: each way of it.
WAYS = {
    "NoisyCounts": [
        [],
        ["--delta", "1e-6"],
        ["--noise", "conditioned"],
        ["--noise", "cube"],
        ["--noise", "cube", "--design", "matching", "--answers", "1"],
    ],
    "PerturbedMLE": [["--public-graph"]],
    "NoisyMatrix": [["--rule", "copeland"], ["--delta", "1e-6"]],
    "PrivateFootrule": [[], ["--delta", "1e-6"]],
    "PrivateWinner": [["--rule", "maximin"], ["--rule", "borda", "--adjacency", "add_remove"]],
    "JointExponential": [["--no-ordered"], []],
    "OptimalVote": [[], ["--delta", "1e-6"]],
}
PUBLIC = [name for name, tag in TAGS.items() if tag.publishable and tag.trust == "curator"]
CASES = [(name, tuple(way)) for name in PUBLIC for way in WAYS.get(name, [[]])]


@pytest.mark.parametrize(("name", "way"), CASES, ids=[f"{name} {' '.join(way)}".strip() for name, way in CASES])
def test_what_can_be_published_is(name, way):
    question = TAGS[name].question
    more = ["--voters", "250"] if question == "agreement" else []
    done = said("release", question, *WORDS[question], *more, "--mechanism", name, *way, "--epsilon", "1", "--json")
    assert (done.code, done.error) == (0, "")
    release = read_publication(done.out)
    assert type(release.mechanism).__name__ == name
    assert release.publishable
    assert release.guarantee.epsilon <= 1 + 1e-9
    assert (release.guarantee.delta > 0) == ("--delta" in way)
    assert report(done.out).startswith(f"# {QUESTIONS[question].asked}")
    # the law of what was released, on the worst neighbours known, keeps the promise
    mechanism, promise = release.mechanism, release.guarantee
    with contextlib.suppress(NoExactRoute):
        loss = max(exact(mechanism, *pair).epsilon(promise.delta) for pair in worst_pairs(mechanism).values())
        assert loss <= promise.epsilon * (1 + 1e-9)
        if name in ("PrivateWinner", "PrivateFootrule", "OptimalVote", "PerturbedMLE") and not promise.delta:
            assert loss > 0.99 * promise.epsilon


def test_a_winner_says_what_it_takes_to_be_right():
    votes = dprank.Rankings([[0, 1, 2]] * 90, "abc")
    for rule, word, unit in (("maximin", "worst margin", "voters"), ("borda", "Borda net wins", "net wins")):
        mechanism = dprank.PrivateWinner.calibrated(epsilon=1.0, n_items=3, rule=rule)
        (line,) = told(mechanism.release(votes, dprank.SECURE), [])
        assert word in line
        assert f"by {math.ceil(mechanism.gap_needed(0.95))} {unit} or more" in line


def test_lists_that_are_drawn_at_once_promise_no_gap():
    lists, sets = (
        dprank.JointExponential.calibrated(epsilon=1.0, n_items=4, k=2, ordered=ordered) for ordered in (True, False)
    )
    texts = [publish(one.release([9, 5, 1, 0], dprank.SECURE), "topk") for one in (lists, sets)]
    assert [json.loads(text)["right"] is None for text in texts] == [True, False]


def test_a_winner_is_no_order_and_a_wrong_choice_is_refused_in_one_line():
    for words, word in (
        (["--mechanism", "PrivateBorda"], "mechanism"),
        (["--rule", "copeland"], "rule"),
        (["--epsilon", "0"], "epsilon"),
    ):
        done = said("release", "winner", *BALLOTS, "--epsilon", "1", *words)
        assert (done.code, done.out) == (2, "")
        assert word in done.error
        assert len(done.error.strip().splitlines()) == 1
    refused = said("release", "ranking", *ANSWERS, "--epsilon", "1", "--noise", "pink")
    assert refused.code == 2
    assert "noise = 'pink'" in refused.error


@pytest.mark.parametrize("name", [name for name in PUBLIC if TAGS[name].question in ("ranking", "consensus")])
@pytest.mark.parametrize("odd", [["--persons", "-1"], ["--persons", "0"], ["--top", "0"], ["--top", "99"]])
def test_what_only_the_ranges_ask_for_is_refused_before_it_is_paid_for(name, odd, tmp_path):
    # NoisyMatrix and PrivateKwikSort looked at --persons once they had published
    out, budget = tmp_path / "out.json", tmp_path / "odd.sqlite"
    dprank.Budget(budget, epsilon=9.0)
    question, way = TAGS[name].question, WAYS.get(name, [[]])[0]
    words = [*WORDS[question], "--mechanism", name, *way, "--epsilon", "1", *odd]
    done = said("release", question, *words, "--budget", budget, "--out", out)
    assert (done.code, done.out, out.exists()) == (2, "", False)
    assert done.error.startswith(f"dprank: {odd[0][2:]} = {odd[1]}; ")
    assert not dprank.Budget(budget).entries()
