"""Seeds are fixed."""

import math

import numpy as np
import pandas as pd
import pytest
from ledgers import outcomes

from companion.chapters.edge_privacy import published_curves as s
from companion.ledger.claim import derive

NOISES = [0.5, 1.0, 2.5, math.inf]


def test_r_uniform_gives_the_numbers_of_r():
    np.testing.assert_allclose(s.r_uniform(42, 3), [0.914806, 0.9370754, 0.2861395], atol=5e-8)
    np.testing.assert_allclose(s.r_uniform(1, 3), [0.2655087, 0.3721239, 0.5728534], atol=5e-8)
    np.testing.assert_array_equal(s.r_uniform(13, 50), s.r_uniform(13, 700)[:50])


def test_one_noise_vector_scatters_and_new_noise_does_not():
    noise = [*range(1, 11), *(f"fresh {i}" for i in range(10))]
    table = s.scatter(s.edge_as_run([60], [0.5], 40, noise=noise)).set_index("noise")
    assert table.ratio["one draw"] > 4
    assert table.ratio["fresh"] < 2.2


@pytest.mark.slow
def test_published_values_need_the_one_noise_vector():
    fresh, run = (s.edge_as_run([100], NOISES, 60, noise=w, theta=range(24)) for w in (["fresh 0"], [s.SEED]))
    assert derive(s.check_published(s.against_published(fresh, run))) == "needs a condition"
    # mutant: another seed does not explain them
    other = s.edge_as_run([100], NOISES, 60, noise=[14], theta=range(24))
    checks = s.check_published(s.against_published(fresh, other))
    assert derive(checks) != "needs a condition"
    assert outcomes(checks, "corrected") == [False]


@pytest.mark.parametrize(("n", "p", "points"), [([100, 400], [1.0], 8), ([300], [0.2, 1.0], 12)])
def test_a_contest_has_the_published_values_of_its_setting(n, p, points):
    cells = pd.MultiIndex.from_product(
        [["MLE", "counts"], [1.0, math.inf], n, p], names=["method", "epsilon", "n", "p"]
    )
    ours = cells.to_frame(index=False).assign(loss="missed", mean=0.5, se=0.01)
    both = s.contest([ours], [1.0, math.inf])
    known = both[both.source == "published"]
    assert len(known) == points
    assert known.n.between(min(n), max(n)).all()
    assert known.p.between(min(p), max(p)).all()
    crosses = [line for axes in s.draw_contest(both).axes for line in axes.lines if line.get_marker() == "x"]
    assert sum(line.get_color() != "k" and len(line.get_xdata()) for line in crosses) == points


def shares(along: str, **missed: list[float]) -> pd.DataFrame:
    """Two points with noise of each method, and what each misses there."""
    names = {"mle": "MLE", "counts": "counts", "public": "MLE, public pairs"}
    other = {"n": "p", "p": "n"}[along]
    return pd.DataFrame(
        {"source": "ours", "method": names[name], "epsilon": 1.0, along: at, other: 1.0, "mean": mean, "se": 0.0}
        for name, means in missed.items()
        for at, mean in zip((0.5, 1.0), means, strict=True)
    )


def test_a_contest_says_what_its_points_say():
    assert "finds more" in s.contest_message(shares("n", mle=[0.4, 0.3], counts=[0.2, 0.1]), "n")
    assert "find the same" in s.contest_message(shares("n", mle=[0.1, 0.0], counts=[0.1, 0.0]), "n")
    thin = {"counts": [0.3, 0.1], "public": [0.2, 0.1]}
    assert "misses the least" in s.contest_message(shares("p", mle=[0.4, 0.2], **thin), "p")
    assert "misses less" in s.contest_message(shares("p", mle=[0.15, 0.25], **thin), "p")
    assert "no better" in s.contest_message(shares("p", mle=[0.1, 0.1], **thin), "p")


def test_a_contest_without_published_values_has_no_cross():
    both = s.contest([shares("n", mle=[0.4, 0.3], counts=[0.2, 0.1]).assign(loss="missed")], [1.0])
    assert (both.source == "ours").all()
    (axes,) = s.draw_contest(both.assign(n=both.n * 40)).axes
    assert not any(line.get_label() == "published" for line in axes.lines)
