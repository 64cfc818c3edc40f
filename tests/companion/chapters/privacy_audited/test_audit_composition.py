"""Agreement with OpenDP and `dp-accounting`, and that faults in our arithmetic would show in it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.privacy_audited import composition as libraries
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.pairwise import NoisyCounts, noisy_counts
from dprank.privacy import composition, divergence, gaussian, randomized_response
from dprank.privacy import guarantee as mechanism
from dprank.privacy.guarantee import Guarantee
from dprank.topk import accounting, peeling
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm


@pytest.fixture(scope="module")
def frame():
    return libraries.agreement()


def test_who_is_tighter_is_said_truly(frame):
    assert len(frame) > 80
    assert not frame.duplicated(["what", "whose"]).any()
    assert set(frame.whose) == {"OpenDP", "dp-accounting"}
    assert np.isfinite(frame[["ours", "theirs"]]).all(axis=None)
    for row in frame.itertuples():
        wanted = "same" if abs(row.difference) <= libraries.ROUNDING else "ours" if row.ours < row.theirs else "theirs"
        assert row.tighter == wanted
    # exact Gaussian noise beats the detour over concentrated privacy, by a twentieth at least
    exact = frame[frame.what.str.startswith("Gaussian noise") & (frame.whose == "OpenDP")]
    assert (exact.difference < -0.05).all()
    assert (exact.tighter == "ours").all()


def test_the_claim_is_checked_on_the_frame(monkeypatch, frame):
    monkeypatch.setattr(libraries, "agreement", lambda: frame)
    assert [check.observed for check in libraries.check_composition()] == [0]
    monkeypatch.setattr(libraries, "agreement", lambda: frame.assign(agrees=frame.what != frame.what[0]))
    (check,) = libraries.check_composition()
    assert check.observed == 1
    assert frame.what[0] in check.what


def times(factor, function):
    return lambda *a, **k: function(*a, **k) * factor


def halved(of):
    """A property whose value is half of what it should be."""
    return property(lambda self: of.fget(self) / 2)


def ignoring_all_but_first(*guarantees):
    return Guarantee(max(g.epsilon for g in guarantees), sum(g.delta for g in guarantees))


def without_delta(*guarantees):
    return Guarantee(sum(g.epsilon for g in guarantees), max(g.delta for g in guarantees))


def half_guarantee(of):
    return property(lambda self: Guarantee(of.fget(self).epsilon / 2, of.fget(self).delta))


MUTANTS = [
    ("only the largest epsilon counts", mechanism, "compose", ignoring_all_but_first),
    ("only the largest delta counts", mechanism, "compose", without_delta),
    ("one round too few", composition, "basic", lambda k, e: (k - 1) * e),
    ("rho without its half", composition, "rho", lambda k, e, bounded=False: k * e * e / (4 if bounded else 1)),
    ("bounded range for pure rounds", composition, "rho", lambda k, e, bounded=False: k * e * e / 8),
    ("advanced without the drift", composition, "advanced", lambda k, e, d: math.sqrt(2 * k * math.log(1 / d)) * e / 2),
    ("optimal delta halved", composition, "optimal_delta", times(0.5, composition.optimal_delta)),
    ("optimal epsilon a hundredth too small", composition, "optimal", times(0.99, composition.optimal)),
    ("zCDP without delta", gaussian, "zcdp", lambda rho, delta: rho),
    ("zCDP with the simple formula", gaussian, "zcdp", lambda rho, d: rho + 2 * math.sqrt(rho * math.log(1 / d))),
    ("zCDP with the square root forgotten", gaussian, "zcdp", lambda rho, d: rho + math.sqrt(rho * math.log(1 / d))),
    ("Gaussian epsilon with variance for deviation", gaussian, "gaussian_epsilon",
     lambda l2, s, d, f=gaussian.gaussian_epsilon: f(l2, s * s, d)),
    ("Gaussian scale of the textbook", gaussian, "gaussian_scale",
     lambda l2, e, d: l2 * math.sqrt(2 * math.log(1.25 / d)) / e),
    ("Laplace moves taken together", divergence, "LaplaceShift",
     lambda moves, s, f=divergence.LaplaceShift: f([sum(moves)], s)),
    ("only the longest Laplace move", divergence, "LaplaceShift",
     lambda moves, s, f=divergence.LaplaceShift: f([max(moves)], s)),
    ("l1 for l2 in whole Gaussian noise", divergence, "discrete_gaussian_shift",
     lambda moves, s, f=divergence.discrete_gaussian_shift: f([sum(moves)], s)),
    ("whole Laplace noise of twice the scale", divergence, "discrete_laplace_shift",
     lambda moves, s, f=divergence.discrete_laplace_shift: f(moves, 2 * s)),
    ("coin with exp(-epsilon) / 2", randomized_response, "flips_for",
     lambda epsilon, bits=1: math.ceil(randomized_response.GRAIN / 2 * math.exp(-epsilon))),
    ("loss of the coin halved", randomized_response, "bit_loss", times(0.5, randomized_response.bit_loss)),
    ("sensitivity of one answer", noisy_counts, "l1_sensitivity", lambda *a, **k: 2),
    ("margins of a voter halved", NoisyMatrix, "l1_sensitivity", halved(NoisyMatrix.l1_sensitivity)),
    ("Euclidean margins halved", NoisyMatrix, "l2_sensitivity", halved(NoisyMatrix.l2_sensitivity)),
    ("places of a voter halved", PrivateBorda, "l1_sensitivity", halved(PrivateBorda.l1_sensitivity)),
    ("Euclidean places halved", PrivateBorda, "l2_sensitivity", halved(PrivateBorda.l2_sensitivity)),
    ("promise of the test halved", LaplaceUnif, "guarantee", half_guarantee(LaplaceUnif.guarantee)),
    ("promise of the norm halved", NoisyNorm, "guarantee", half_guarantee(NoisyNorm.guarantee)),
    ("monotone discount for all", peeling, "spread", lambda sensitivity, adjacency: sensitivity),
    ("monotone discount for all, in one shot", accounting, "spread", lambda sensitivity, adjacency: sensitivity),
    ("no monotone discount", peeling, "spread", lambda sensitivity, adjacency: 2 * sensitivity),
    ("values for nothing", accounting.Shown, "epsilon", lambda self, scale, delta: 0.0),
    ("promise of the counts halved", NoisyCounts, "guarantee", half_guarantee(NoisyCounts.guarantee)),
]  # fmt: skip


@pytest.mark.parametrize(("where", "name", "wrong"), [m[1:] for m in MUTANTS], ids=[m[0] for m in MUTANTS])
@pytest.mark.slow
def test_a_wrong_factor_shows(monkeypatch, where, name, wrong):
    monkeypatch.setattr(where, name, wrong)
    assert not all(row.agrees for row in libraries.rows())


def test_pitfalls_are_as_told():
    frame = libraries.pitfalls()
    monotonic, stuck, scale_0, wanted = frame.answer
    assert monotonic == pytest.approx(frame.truth[0] / 2)
    assert (stuck, scale_0, wanted) == (np.iinfo(np.int32).max, math.inf, 3)
