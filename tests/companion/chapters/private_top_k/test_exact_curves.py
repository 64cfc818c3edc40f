"""The experiments with exact curves against closed forms and deliberately broken twins; nothing here is random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from companion.chapters.private_top_k import exact_curves as experiment
from companion.ledger.claim import derive
from dprank.privacy.divergence import PairLaw
from dprank.topk.curve import Types, pair_law

DELTAS = (1e-2, 1e-6)


@pytest.mark.slow
def test_worst_neighbours_lie_below_what_is_proved():
    frame = experiment.worst_neighbours((1, 3), DELTAS)
    assert len(frame) == 12
    assert (frame["ε needed"] <= frame["pure loss"] * (1 + 1e-9)).all()
    laplace, gumbel, exponential = (frame[frame.noise == experiment.NAMES[noise]] for noise in experiment.NOISES)
    assert (laplace[laplace["δ"] <= 1e-6]["ε needed"] <= 1).all()
    assert experiment.scale_of("laplace", 3) == 6, "Theorem 2.1 is better there"
    assert experiment.scale_of("laplace", 100) < 200, "our bound is better there"
    assert (laplace["ρ / (k a²)"] <= 1).all()
    assert (gumbel["ρ / (k a²)"] <= 0.5).all(), "the composition of k exponential mechanisms"
    assert exponential["ρ / (k a²)"].max() > 1.5
    deviations = [experiment.scale_of(n, 4) * experiment.LAWS[n].deviation for n in experiment.NOISES]
    assert np.ptp(deviations) < 1e-9 * deviations[0]


def test_found_curves_lie_below_the_proved_and_are_drawn():
    frame = experiment.curves(3, DELTAS, np.linspace(0.01, 1.2, 25))
    assert set(frame.curve) == {"found", "proved", "calibrated"}
    assert frame.delta.min() >= 1e-12
    for _, part in frame.groupby("noise"):
        found, proved = (part[part.curve == curve].sort_values("epsilon") for curve in ("found", "proved"))
        if proved.epsilon.nunique() > 1:
            at = np.interp(found.epsilon, proved.epsilon, np.log(proved.delta))
            inside = found.epsilon.between(proved.epsilon.min(), proved.epsilon.max())
            assert (np.log(found.delta) < at)[inside].all()
        else:
            assert (found.epsilon <= proved.epsilon.iloc[0]).all()
    figure = experiment.draw_privacy_curves(frame)
    assert len(figure.axes[0].lines) == 7
    assert figure.axes[0].get_yscale() == "log"


def test_one_record_replaces_all_or_nothing():
    assert [experiment.replaced(k, 0.0) for k in (1, 3, 10)] == [1, 3, 10]
    assert experiment.replaced(5, 1.9) == 5
    assert experiment.replaced(5, 2.1) == 0


def test_delta_of_a_gaussian_mechanism():
    epsilons, mu = np.array([0.0, 0.3, 2.0]), 0.7
    exact = [
        integrate.quad(
            lambda x, e=e: max(stats.norm.pdf(x, mu) - math.exp(e) * stats.norm.pdf(x), 0), -12, 14, limit=400
        )[0]
        for e in epsilons
    ]
    assert np.allclose(experiment.gaussian_delta(mu, epsilons), exact, rtol=1e-6)


def test_mean_loss_of_two_items_by_closed_form():
    shift = 0.25
    behind = math.exp(-2 * shift) * (1 + shift) / 2
    mean = max(
        0.5 * math.log(0.25 / (behind * (1 - behind))),
        behind * math.log(2 * behind) + (1 - behind) * math.log(2 * (1 - behind)),
    )
    frame = experiment.first_order((1,), (shift,))
    assert frame["mean loss / (k a²)"].iloc[0] == pytest.approx(mean / shift**2, rel=1e-9)
    assert frame["mean loss / largest"].iloc[0] == pytest.approx(mean / -math.log(2 * behind), rel=1e-9)


def test_equal_values_hold_and_a_twin_whose_loss_does_not_cancel_is_refused(monkeypatch):
    ks, shifts = (1, 5, 20), (0.25, 1 / 64)

    def one_sided(k, shift, offset=0.0):
        law = pair_law(Types((k, k), (offset, 0.0), (offset + shift, -shift)), k, 1.0)
        loss = np.abs(law.log_p - law.log_q)  # never below 0: nothing cancels
        return PairLaw(law.log_p, law.log_p - loss)

    monkeypatch.setattr(experiment, "half_and_half", one_sided)
    outcomes = [check.outcome for check in experiment.check_equal_values(ks, shifts)]
    assert outcomes[:4] == [True, True, False, False]
    assert derive(experiment.check_equal_values(ks, shifts)) == "refuted"


def test_twice_the_shift_breaks_the_gaussian_check(monkeypatch):
    honest = experiment.half_and_half
    monkeypatch.setattr(experiment, "half_and_half", lambda k, shift, offset=0.0: honest(k, 2 * shift, offset))
    assert experiment.check_equal_values((5,), (1 / 64,))[3].outcome is False


def test_renyi_needs_less_noise_than_theorem_22_and_a_noisier_twin_is_refused(monkeypatch):
    settings = ((0.2, 0.05), (0.2, 1e-6))

    monkeypatch.setattr(experiment, "shift_for", lambda k, epsilon, delta: epsilon / (40 * k))
    assert derive(experiment.check_notions((1, 10, 1000), settings)) == "refuted"


def test_five_values_pass_the_gaussian_curve_at_k_one_and_none_tried_passes_the_concentrated_one():
    frame = experiment.strongest((1, 2, 8), 0.1)
    assert (frame["ρ / (k a²)"] < 1).all()
    assert frame["δ over Gaussian"].iloc[0] > 1.03
    assert (frame["δ over Gaussian"].iloc[1:] < 1).all()
    law = pair_law(Types((2, 3), (0, 0), (0.1, -0.1)), 1, 1.0)
    assert frame["m"].iloc[0] == 5
    total_variation = abs(np.exp(law.log_p) - np.exp(law.log_q)).sum() / 2
    assert total_variation / (2 * stats.norm.cdf(0.1 * math.sqrt(2) / 2) - 1) > 1.01, "total variation alone"
