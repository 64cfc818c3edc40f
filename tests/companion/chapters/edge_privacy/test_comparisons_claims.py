"""Seeds are fixed."""

import math

import numpy as np
import pytest

from companion.chapters.edge_privacy import comparisons as s
from companion.chapters.edge_privacy import oneshot
from companion.instruments import strengths
from dprank.pairwise import mle_from_counts

NOISES = [0.5, 1.0, 2.5, math.inf]


def test_falls_are_differences_of_levels():
    frame = s.edge([20], [0.5], NOISES, 30, falls=[0.5, math.inf])
    frame = frame.set_index(["epsilon", "method", "loss"])["mean"]
    for method, loss in (("MLE", strengths.L2), ("counts", strengths.MISSED)):
        level = frame[0.5, method, loss] - frame[math.inf, method, loss]
        assert frame[0.5, method, f"fall of {loss}"] == pytest.approx(level, abs=1e-12)


def test_same_order_and_a_mutant():
    for epsilon in (0.5, math.inf):
        same = s.same_order(30, epsilon, 20, rng=np.random.default_rng(0))
        assert same["differ"] == same["missed"] == 0
        assert max(same["MLE"], same["counts"]) <= epsilon or math.isinf(epsilon)
    # on an incomplete graph the orders do differ
    wins = np.random.default_rng(0).integers(0, 9, (20, 12)).astype(float)
    played = (np.random.default_rng(1).random((12, 12)) < 0.5).astype(float)
    played = np.triu(played, 1) + np.triu(played, 1).T
    theta, _ = mle_from_counts(played, wins, ridge=0.5)
    assert any((np.argsort(a) != np.argsort(b)).any() for a, b in zip(theta, wins, strict=True))


def test_what_a_method_misses_more_is_a_difference_on_the_same_data():
    frame = s.edge([40], [1.0], [0.5], 200, pairs=[("MLE", "counts")])
    level = frame[frame.loss == strengths.MISSED].set_index("method")
    more = strengths.missed_more(frame, "MLE", "counts", ["n"]).iloc[0]
    assert more["mean"] == pytest.approx(level["mean"]["MLE"] - level["mean"]["counts"], abs=1e-12)
    assert more.se > 1.1 * math.hypot(*level.se), "noise taken from one and given to the other: no independent samples"
    with pytest.raises(ValueError, match="frame has no missed more than MLE for counts"):
        strengths.missed_more(frame, "counts", "MLE", ["n"])
    shots = oneshot.oneshot([40], [math.inf], 40).set_index("method")
    gap = shots["mean"]["oneshot"] - shots["mean"]["counts"]
    assert shots["mean"]["oneshot less counts"] == pytest.approx(gap, abs=1e-12)
    assert shots.se["oneshot less counts"] < math.hypot(shots.se["oneshot"], shots.se["counts"])
