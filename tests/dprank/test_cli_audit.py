"""`dprank audit`: what it says of correct mechanisms, and of broken ones; how it refuses."""

import json

import numpy as np
import pytest
from checks import refused

import dprank
from dprank.audit import betting
from dprank.cli.neighbours import worst_pairs
from dprank.cli.path import PATHS, CommandLine, said
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.privacy.laws import exact
from dprank.publication import publish


@pytest.fixture
def quick(monkeypatch):
    """Bets begin earlier than by default: as valid, with fewer releases."""
    monkeypatch.setattr(betting, "FIRST", 8)


VOTES = dprank.Rankings([[0, 1, 2]] * 9, "abc")


@pytest.fixture
def published(tmp_path):
    mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3)
    file = tmp_path / "release.json"
    file.write_text(publish(mechanism.release(VOTES, dprank.SECURE), "consensus"), encoding="utf-8")
    return file


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("per_person", "design"), [(1, "any"), (3, "any"), (2, "once"), (5, "once"), (6, "complete")])
def test_answers_that_lose_all_that_is_promised(adjacency, per_person, design):
    # catches neighbours that are too tame: their exact loss is the promise
    named = {"per_person": per_person, "design": design, "adjacency": adjacency}
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=4, **named)
    losses = [exact(mechanism, *pair).epsilon(0.0) for pair in worst_pairs(mechanism).values()]
    assert max(losses) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("mechanism", "least"),
    [
        (dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4), 1.0),
        (dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3, adjacency="add_remove"), 1.0),
        (dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=3), 1.0),
        (dprank.PrivateFootrule.calibrated(epsilon=1.0, n_items=4), 1.0),
        (dprank.NoisyNorm.calibrated(epsilon=1.0, n_items=3, n_voters=5, statistic="ranks"), 1.0),
        (dprank.LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=50, size=0.1), 1.0),
        (dprank.Peeling.calibrated(epsilon=1.0, k=2, n_items=4), 1.0),
        (dprank.Oneshot.calibrated(epsilon=1.0, k=2, n_items=4, per_person=1, adjacency="add_remove", ordered=True), 1),
        (dprank.Oneshot.calibrated(epsilon=1.0, k=2, n_items=4), 0.95),
    ],
    ids=lambda it: type(it).__name__,
)
def test_neighbours_lose_most_of_what_is_promised(mechanism, least):
    losses = [exact(mechanism, *pair).epsilon(0.0) for pair in worst_pairs(mechanism).values()]
    assert least - 1e-9 <= max(losses) <= 1 + 1e-9


def test_no_neighbours_are_known():
    with refused("no worst neighbours are known of a Friedman"):
        worst_pairs(dprank.Friedman.calibrated(size=0.1, n_items=3, n_voters=5))


@pytest.mark.slow
def test_a_published_file_that_keeps_its_promise(published, quick):
    done = said("audit", published, "--releases", "400")
    assert (done.code, done.error) == (0, "")
    assert "not refuted in 400 releases" in done.out
    assert "loses 1 on the worst neighbours known, by its exact law; promises 1." in done.out
    found = json.loads(said("audit", published, "--releases", "40", "--json").out)["PrivateBorda"]
    assert (found["refuted"], found["promises"], found["exact"]) == (False, 1.0, pytest.approx(1.0))


@pytest.mark.slow
def test_a_published_file_that_breaks_it(tmp_path, monkeypatch, quick):
    # noise of a third of what the guarantee is derived from
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=2, design="once")
    data = dprank.Comparisons([0], [1], [1.0], "abc", [1])
    file = tmp_path / "release.json"
    file.write_text(publish(mechanism.release(data, dprank.SECURE), "ranking"), encoding="utf-8")
    noisy = NoisyCounts._noisy

    def little(self, counts, *rest):
        return np.round(counts + (noisy(self, counts, *rest) - counts) / 9)

    monkeypatch.setattr(NoisyCounts, "_noisy", little)
    done = said("audit", file, "--releases", "400")
    assert (done.code, done.error) == (1, "")
    assert "REFUTED" in done.out
    assert "Seen on 'one person's answers reversed'" in done.out


@pytest.mark.slow
def test_ones_own_command_on_two_files(tmp_path, quick):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("person,ash,elm\nbob,1,2\nann,1,2\n")
    other.write_text("person,ash,elm\nbob,1,2\nann,2,1\n")
    command = "release consensus {} --items ash,elm --person person --epsilon 0.5"
    done = said("audit", one, other, "--command", command, "--releases", "64")
    assert (done.code, done.error) == (0, "")
    assert "command: not refuted in 64 releases" in done.out
    # two files that are no neighbours: a refutation
    other.write_text("person,ash,elm\n" + "".join(f"{who},2,1\n" for who in range(400)))
    done = said("audit", one, other, "--command", "dprank " + command, "--releases", "64")
    assert (done.code, "REFUTED" in done.out) == (1, True)


@pytest.mark.slow
def test_the_command_line_itself(quick):
    releases = 16 * len(PATHS["topk"].pairs) + 24
    done = said("audit", "--path", "--question", "topk", "--releases", str(releases), "--json")
    assert (done.code, done.error) == (0, "")
    found = json.loads(done.out)
    assert list(found) == ["topk"]
    assert found["topk"]["reach"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say what is audited"),
        (["--path", "--command", "release"], "say what is audited"),
        (["--path", "--question", "best"], "question = 'best'; one of ranking"),
        (["--path", "--question", "topk", "--releases", "7"], "need 4096 at least"),
        (["--command", "release topk {}"], "two files that differ in one person; 0 given"),
        (["a.csv", "b.csv", "--command", "verify {}"], "release, a question, and {} for the file"),
        (["a.csv", "b.csv", "--command", "release topk"], "release, a question, and {} for the file"),
        (["a.csv", "b.csv", "--command", "release topk {} --budget x"], "leave it out"),
        (["a.csv", "b.csv"], "one published file is audited; 2 given"),
        (["a.csv"], "a.csv"),
    ],
)
def test_refusals_are_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = said("audit", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.error
    assert len(done.error.splitlines()) == 1


def test_a_command_that_cannot_be_rehearsed(tmp_path):
    line = CommandLine(["release", "consensus", "{}", "--epsilon", "1"], (), tmp_path)
    with refused("the command refuses to rehearse"):
        print(line.guarantee)
