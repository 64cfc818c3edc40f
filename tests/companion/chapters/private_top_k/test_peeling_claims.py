"""Nothing here is random but a counted stream of fixed seed."""

import math
from itertools import permutations

import numpy as np
import pytest
from checks import each
from scipy.special import softmax

from companion.chapters.private_top_k import peeling as p
from companion.ledger.claim import derive
from dprank.topk.noise_laws import LAWS
from dprank.topk.peeling import Peeling

KS, EPSILONS, DELTAS = [1, 2, 500], [0.02, 0.2], [0.05, 1e-6, 1e-100]


def outcomes(checks, about="printed"):
    return [check.outcome for check in checks if check.about == about]


# --- laws ---


@each("noise", LAWS)
@each("law", [p.order_law, p.peeled_law])
@each("k", [1, 2, 3, 4])
def test_order_laws_are_laws(noise, law, k):
    chances = law([3.0, 0.5, 0.5, -2.0], k, 1.3, noise)
    assert len(chances) == math.perm(4, k)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-12)


def test_peeled_gumbel_law_is_plackett_luce():
    x = np.array([1.0, 0.2, -0.7, 0.2])
    w = np.exp(x / 0.6)
    for some in permutations(range(4), 3):
        left = [w.sum() - sum(w[list(some[:r])]) for r in range(3)]
        expected = math.prod(w[i] for i in some) / math.prod(left)
        assert p.peeled_law(x, 3, 0.6, "gumbel")[some] == pytest.approx(expected, rel=1e-12)
    assert list(p.peeled_law(x, 1, 0.6, "gumbel").values()) == pytest.approx(softmax(x / 0.6))


# --- Gumbel ---


def test_distances_are_nothing_for_gumbel_noise_only():
    frame = p.distances(3).set_index("noise")
    assert frame.loc["Gumbel"].max() < 1e-12
    assert frame.drop("Gumbel").min(axis=None) > 0.01


def test_gumbel_order_holds_and_half_the_promise_does_not(monkeypatch):
    monkeypatch.setattr(p, "Peeling", lambda k, scale, *a, **more: Peeling(k, 2 * scale, *a, **more))
    assert outcomes(p.check_gumbel_order([0.3], [1e-3])) == [False, False]


# --- scales ---


@pytest.mark.slow
def test_peeling_check_rejects_other_constants(monkeypatch):
    def said(name, twin, about="printed"):
        with monkeypatch.context() as patch:
            patch.setattr(p, name, twin)
            return outcomes(p.check_peeling(KS, EPSILONS, DELTAS), about)

    assert False in said("ZCDP_CONSTANT", 3.3)
    assert False in said("ADVANCED_CONSTANT", 2.7)
    more = lambda k, log_m, e, d: 9 * math.sqrt(k * (log_m - math.log(d))) / e  # noqa: E731
    assert False in said("theorem_2_2", more, "corrected")
    # a printed noise that grew faster in m would not be comparable
    assert False in said("theorem_2_2", lambda k, log_m, e, d: 8 * math.sqrt(k) * (log_m - math.log(d)) / e)


def test_growth_has_its_closed_form():
    ratio = p.growth(10**4, 0.2, 0.05, digits=(6, 60)).ratio
    log_d = math.log(20)
    expected = math.sqrt((60 * math.log(10) + log_d) / (6 * math.log(10) + log_d))
    assert ratio.iloc[1] / ratio.iloc[0] == pytest.approx(expected)


def test_linear_peeling_would_hold(monkeypatch):
    monkeypatch.setattr(p, "peeled_scale", lambda k, e, d, composition: 2 * k / e)
    assert derive(p.check_linear_k([10**4, 10**6], 0.2, 1e-6)) == "holds"


def test_a_factor_of_log_m_is_no_root(monkeypatch):
    monkeypatch.setattr(p, "theorem_2_2", lambda k, log_m, e, d: log_m - math.log(d))
    assert derive(p.check_log_factor([1.0, 10.0, 300.0], [0.05, 1e-12])) == "refuted"


def test_one_pass_errs_at_most_k_times_as_often():
    frame = p.same_noise(4, [0.0, 2.0, 12.0])
    assert (frame["one pass"] <= frame.k * frame.peeling).all()
    assert (frame["one pass"] > 1.5 * frame.peeling).any()
    gumbel = p.same_noise(4, [2.0], "gumbel")
    assert gumbel["one pass"].to_numpy() == pytest.approx(gumbel.peeling.to_numpy(), abs=1e-12)


# --- work ---


def test_draws_are_counted():
    frame = p.draws([5, 20], [1, 5, 20])
    assert frame.peeling.tolist() == [5, 15, 20, 90, 210]
    assert (frame.m == frame[["one pass", "one pass, Gumbel"]].T).all(axis=None)


def test_efficiency_turns_on_the_identity():
    frame = p.draws([50], [1, 10, 50])
    assert derive(p.check_efficiency(frame, 0.07)) == "holds"
    cheap = frame.assign(peeling=frame["one pass"])
    assert False in outcomes(p.check_efficiency(cheap, 0.07))
