"""Two published files beside each other: what is told to differ does, and nearly never where nothing does."""

import json

import numpy as np
import pytest
from published import of_version_02

import dprank
from dprank.cli.path import said
from dprank.differences import compare
from dprank.publication import publish, read_publication
from dprank.scored import rounded, step_of

ITEMS = ["oak", "elm", "fir", "ash"]


def votes(*orders):
    return dprank.Rankings([order for order, times in orders for _ in range(times)], ITEMS)


ONE = votes(([0, 1, 2, 3], 300), ([1, 0, 2, 3], 280))
OTHER = votes(([3, 1, 2, 0], 300), ([3, 0, 2, 1], 280))


@pytest.fixture(autouse=True)
def seeded(monkeypatch):
    """What is told is so with a chance of 0.95 alone: of any other noise one test in twenty would fail."""
    monkeypatch.setattr("test_differences.NOISE", np.random.default_rng(1))


NOISE = np.random.default_rng(1)


def borda(data, epsilon=1.0, rng=None, **more):
    mechanism = dprank.PrivateBorda.calibrated(epsilon=epsilon, n_items=4, **more.pop("as", {}))
    return publish(mechanism.release(data, rng or NOISE), "consensus", **more)


def counts(wins, epsilon=1.0, noise="laplace", score="net", rng=None, per_person=3):
    """A ranking of a made-up vector of scores, without any data."""
    delta = 1e-6 if noise == "gaussian" else 0.0
    mechanism = dprank.NoisyCounts.calibrated(
        epsilon=epsilon, delta=delta, n_items=4, per_person=per_person, score=score, noise=noise
    )
    noisy = mechanism.perturb(wins, rng or NOISE)
    order = np.argsort(-noisy, kind="stable")
    return publish(dprank.Ranking(ITEMS, order, noisy, mechanism=mechanism, source="seeded"), "ranking")


def test_what_moved_is_told_and_what_stayed_is_not():
    found = compare(borda(ONE), borda(OTHER))
    rows = {row["item"]: row for row in found.items}
    assert {name: row["more than noise"] for name, row in rows.items()} == {
        "oak": True, "elm": False, "fir": False, "ash": True,
    }  # fmt: skip
    assert {name: row["moved"] for name, row in rows.items()} == {"oak": "down", "elm": None, "fir": None, "ash": "up"}
    assert {(it["item"], it["over"]) for it in found.turned} >= {("oak", "fir"), ("oak", "ash"), ("fir", "ash")}
    assert ("elm", "fir") not in {(it["item"], it["over"]) for it in found.turned}
    assert rows["oak"]["difference"] == rows["oak"]["second"]["score"] - rows["oak"]["first"]["score"]
    text = " ".join(found.said)
    for part in ("With 0.95 probability all of this is so at once", "oak down", "ash up", "ash before oak",
                 "not as many took part", "the noise alone"):  # fmt: skip
        assert part in text


def test_another_number_of_people_is_told_as_such():
    """Twice the people, and not one of another mind: scores differ, no place does."""
    found = compare(borda(ONE), borda(votes(([0, 1, 2, 3], 600), ([1, 0, 2, 3], 560))))
    assert any(row["more than noise"] for row in found.items)
    assert not any(row["moved"] for row in found.items)
    assert not found.turned
    assert any("not as many took part" in line for line in found.said)


@pytest.mark.parametrize("kind", ["borda", "laplace", "gaussian", "conditioned", "topk"])
def test_where_nothing_differs_little_is_told(kind):
    """At an even chance, of 200 pairs of releases of the same data, at most half tell anything but for chance."""
    rng = np.random.default_rng(11)
    many = dprank.Oneshot.calibrated(epsilon=1.0, k=4, items=ITEMS, values=True, ordered=True, per_person=4)

    def text():
        if kind == "borda":
            return borda(ONE, rng=rng)
        if kind == "topk":
            return publish(many.release([900, 890, 40, 35], rng), "topk")
        return counts([30, 29, -29, -30], noise=kind, rng=rng)

    wrong = sum(
        bool(found.turned or any(row["more than noise"] or row["moved"] for row in found.items))
        for found in (compare(text(), text(), 0.5) for _ in range(200))
    )
    # 100 expected at most; more than 125 by chance is one in 3000
    assert wrong <= 125


def test_noise_of_scores_is_not_far_too_wide():
    """The bound on one of two scores without their mean: of two items told apart in half of all cases or more."""
    rng, told = np.random.default_rng(5), 0
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=2, per_person=1)  # a scale of 4
    for _ in range(100):
        texts = []
        for gap in (0, 40):
            noisy = mechanism.perturb([gap, -gap], rng)
            order = np.argsort(-noisy, kind="stable")
            texts.append(
                publish(dprank.Ranking(("a", "b"), order, noisy, mechanism=mechanism, source="seeded"), "ranking")
            )
        told += any(row["more than noise"] for row in compare(*texts).items)
    assert told >= 90, "40 is ten scales: the difference of two noises is that far in one of 2000 cases"


def test_half_places_and_whole_ones_are_compared_too():
    partial = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4, ballots="partial")
    one, other = borda(ONE), publish(partial.release(ONE, dprank.SECURE), "consensus")
    with pytest.raises(ValueError, match="ballots of the first is 'full'"):
        compare(one, other)
    found = compare(borda(ONE, epsilon=0.5), borda(OTHER, epsilon=2.0))
    assert any(row["more than noise"] for row in found.items)


def test_names_alone_are_told_as_such():
    winner = dprank.PrivateWinner.calibrated(epsilon=1.0, n_items=4)
    files = [publish(winner.release(data, dprank.SECURE), "winner") for data in (ONE, OTHER)]
    found = compare(*files, 0.9)
    assert found.said[0] == "Whether names alone differ by more than noise, no law tells."
    assert all(row["more than noise"] is None and row["moved"] is None for row in found.items)


def test_margins_have_places():
    matrix = dprank.NoisyMatrix.calibrated(epsilon=2.0, n_items=4)
    found = compare(*(publish(matrix.release(data, dprank.SECURE), "consensus") for data in (ONE, OTHER)))
    assert {row["item"]: row["moved"] for row in found.items}["ash"] == "up"
    assert all(row["difference"] is None for row in found.items)


def test_a_file_of_version_02_is_compared():
    old = json.dumps(of_version_02(borda(ONE)))
    assert {row["item"]: row["moved"] for row in compare(old, borda(OTHER)).items}["ash"] == "up"


def of_others():
    rankings = dprank.Rankings([[0, 1, 2, 3]] * 90, ["oak", "elm", "fir", "yew"])
    return publish(dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4).release(rankings, dprank.SECURE), "consensus")


def a_test():
    test = dprank.NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=580)
    return [publish(test.release(data, dprank.SECURE), "agreement") for data in (ONE, OTHER)]


REFUSED = {
    "other questions": (lambda: (borda(ONE), counts([9, 1, -5, -5])), "question of the first is 'consensus'"),
    "other rules": (
        lambda: (counts([9, 1, 5, 5], score="wins"), counts([9, 1, -5, -5])),
        "rule of the first is 'wins'",
    ),
    "other bounds": (lambda: (counts([9, 1, -5, -5], per_person=2), counts([9, 1, -5, -5])), "bound of the first"),
    "other items": (lambda: (borda(ONE), of_others()), "'ash', 'yew' in one of the two alone"),
    "one file": (lambda: (borda(ONE, rng=np.random.default_rng(3)),) * 2, "one release"),
    "no file": (lambda: (borda(ONE), "{}"), "the second: no publication"),
    "decisions": (a_test, "yes or no"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_of_one_thing_is_not_compared(name):
    made, told = REFUSED[name]
    with pytest.raises(ValueError, match=told):
        compare(*made())


@pytest.mark.parametrize("level", [0, 1, 1.5, float("nan"), "x"])
def test_levels(level):
    with pytest.raises((ValueError, TypeError), match="level"):
        compare(borda(ONE), borda(OTHER), level)


def test_the_command(tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(borda(ONE), encoding="utf-8")
    second.write_text(borda(OTHER), encoding="utf-8")
    done = said("compare", first, second)
    assert (done.code, done.error) == (0, "")
    assert "oak down" in done.out
    found = json.loads(said("compare", first, second, "--json", "--level", "0.9").out)
    assert found["level"] == 0.9
    assert [*found] == ["level", "items", "turned", "said", "step", "steps"]
    done = said("compare", first, second, "--level", "1")
    assert (done.code, "level = 1" in done.error, len(done.error.splitlines())) == (2, True, 1)
    done = said("compare", first, tmp_path / "none.json")
    assert (done.code, "No such file" in done.error) == (2, True)


@pytest.mark.parametrize("columns", ["80", "60", "30", "20"])
def test_names_are_never_cut(tmp_path, monkeypatch, columns):
    """On a terminal of any width, in words that the names are made of."""
    names = ["Infrastructure of the public parks", "Infrastructure of the public roads", "Health"]
    for number, eps in enumerate((1.0, 2.0), 1):
        release = dprank.PrivateBorda.calibrated(epsilon=eps, n_items=3).release(
            dprank.Rankings([[0, 1, 2]] * 300, names), np.random.default_rng(number)
        )
        (tmp_path / f"{number}.json").write_text(publish(release, "consensus"), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", columns)
    done = said("compare", tmp_path / "1.json", tmp_path / "2.json")
    assert (done.code, "…" in done.out) == (0, False)
    for word in ("Infrastructure", "public", "parks", "roads", "Health", "first", "second", "300"):
        assert word in done.out, (word, done.out)


def test_scores_are_shown_as_by_their_own_release():
    """A release of less noise keeps its digits beside one of more; their differences have the digits of both."""
    files = [borda(ONE, 0.1), borda(ONE, 5.0)]
    found = compare(*files)
    assert found.steps == tuple(step_of(read_publication(it)) for it in files)
    assert found.steps[0] > found.steps[1]
    assert found.step == found.steps[0]


def test_the_command_shows_scores_as_their_releases_do(tmp_path):
    releases = []
    for number, eps in enumerate((0.1, 5.0)):
        text = borda(ONE, eps)
        (tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
        releases.append(read_publication(text))
    out = said("compare", tmp_path / "0.json", tmp_path / "1.json").out
    rows = [[it.strip() for it in line.split("│")] for line in out.splitlines() if line.startswith("│")]
    for at, release in enumerate(releases):
        shown = dict(zip(release.ranking, rounded(release, release.scores[release.order].tolist()), strict=True))
        assert {row[1]: row[-3 + at] for row in rows} == {str(name): text for name, text in shown.items()}
