"""Claims on ranges and on right sets: they hold, and broken twins of what they check are refuted."""

import math

import numpy as np
import pytest

import dprank
from companion.chapters.release_your_own import range_coverage, right_sets
from dprank.privacy import pair_errors, ranges

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def coverage():
    return range_coverage.coverage(40)


def test_ranges_are_right_as_often_as_they_say(coverage, monkeypatch):
    monkeypatch.setattr(range_coverage, "worst_exact", lambda: 0.9)
    assert range_coverage.check_coverage(coverage).verdict == "holds"
    assert range_coverage.check_sampling(coverage).verdict == "holds"
    assert len(coverage) >= 30
    assert set(coverage.columns) == {
        "mechanism", "spread", "items", "level", "right", "se", "repetitions", "sampling", "width",
    }  # fmt: skip


def cells(function, chosen, repetitions=150):
    """Of some settings alone."""
    rows = []
    for number, cell in enumerate(chosen):
        rng = np.random.default_rng([3, number])
        right = function(*cell, repetitions=repetitions, rng=rng)["right",]
        rows.append({"level": cell[3], "right": right.mean(), "repetitions": repetitions, "sampling": "", "width": 0.5})
    return range_coverage.pd.DataFrame(rows)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda q: lambda law, n, level: q(law, 2, level) / math.sqrt(2),
        lambda q: lambda law, n, level: q(law, n, 1 - level),
        lambda q: lambda law, n, level: 0.6 * q(law, n, level),
    ],
    ids=["of one noise", "the other tail", "short"],
)
def test_a_wrong_quantile_is_seen(wrong, monkeypatch):
    tied = [cell for cell in range_coverage.ALONE if cell[1] == "tied" and cell[0] in ("net wins", "Borda")]
    assert range_coverage.short(cells(range_coverage.alone, tied)) == 0
    monkeypatch.setattr(ranges, "range_quantile", wrong(ranges.range_quantile))
    assert range_coverage.short(cells(range_coverage.alone, tied)) > 0


def test_ranges_that_are_a_step_short_are_seen_exactly(monkeypatch):
    monkeypatch.setattr(ranges, "range_quantile", lambda law, n, level, q=ranges.range_quantile: q(law, n, level) - 1)
    assert range_coverage.worst_exact() < 0.9


@pytest.mark.parametrize("wrong", [lambda *_: 0.0, lambda self, sampling, n: math.sqrt(n)], ids=["none", "one answer"])
def test_a_wrong_deviation_is_seen(wrong, monkeypatch):
    camps = [cell for cell in range_coverage.DRAWN if cell[1] == "camps" and "net" in cell[0]]
    assert range_coverage.short(cells(range_coverage.with_drawing, camps)) == 0
    monkeypatch.setattr(dprank.NoisyCounts, "drawn_deviation", wrong)
    assert range_coverage.short(cells(range_coverage.with_drawing, camps)) > 0


def test_a_wrong_holm_is_seen(monkeypatch):
    # as if two items were all
    monkeypatch.setattr(
        pair_errors.PairError, "quantile", lambda self, chance, q=pair_errors.PairError.quantile: q(self, 60 * chance)
    )
    tied = [cell for cell in range_coverage.ALONE if cell[0] == "matrix" and cell[1] == "tied"]
    assert range_coverage.short(cells(range_coverage.alone, tied)) > 0


def test_widths_are_those_of_the_narrowest_or_nearly(monkeypatch):
    frame = range_coverage.widths(8, noises=800)
    assert range_coverage.check_width(frame).verdict == "holds"
    # distances half as wide again
    wide = lambda law, n, level, q=ranges.range_quantile: 2 * q(law, n, level)  # noqa: E731
    monkeypatch.setattr(ranges, "range_quantile", wide)
    assert range_coverage.check_width(range_coverage.widths(8, noises=800)).verdict == "refuted"


def test_right_sets(monkeypatch):
    assert right_sets.check_right_set(right_sets.worst(3)).verdict == "holds"
    monkeypatch.setattr(right_sets, "set_chance", lambda k, m, gap, noise, scale: 1 / math.comb(m, k))
    assert right_sets.check_right_set(right_sets.worst(3)).verdict == "refuted"
    monkeypatch.undo()
    # data that are worse than those that are said to be the worst
    frame = right_sets.worst(3)
    assert right_sets.check_right_set(frame.assign(random=frame.law - 1e-3)).verdict == "refuted"
    monkeypatch.setattr(dprank.Oneshot, "gap_needed", lambda self, chance: 1.0)
    assert right_sets.check_right_set(frame).verdict == "refuted"


def test_the_pictures_say_what_their_titles_say(coverage):
    example = range_coverage.example()
    assert (example["lowest with sampling"] <= example.lowest).all()
    assert (example["highest with sampling"] >= example.highest).all()
    title = " ".join(range_coverage.draw_example(example).get_suptitle().split())
    assert ("is surely first here" in title) == (example.highest[0] == 1)
    assert range_coverage.draw_coverage(coverage).axes[0].get_yticklabels()
    assert (right_sets.gaps([1, 30]).groupby("mechanism").gap.apply(lambda gap: gap.is_monotonic_increasing)).all()
