"""The rates of Section 3 against brute force on tiny cases, closed forms and deliberately broken twins.

Random draws use fixed seeds. Comparisons with simulated values allow 5 standard errors: false alarm 6e-7 each, five of
them in this file.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from checks import each
from scipy import integrate, stats

from companion.chapters.individual_privacy import (
    estimation_limits,
    noisy_counts,
    packings,
    recovery_limits,
    voter_estimation,
    voter_likelihood,
)
from companion.ledger.claim import derive
from dprank.data.comparisons import Comparisons
from dprank.models.likelihood import log_likelihood
from dprank.pairwise import mle_from_counts, top_set_law


@pytest.fixture(scope="module")
def curve():
    return voter_estimation.estimation_curve([16], [1000, 10**5], 0.5, 5, 40)


def test_verdicts(curve):
    checks = {
        "likelihood": voter_likelihood.check_likelihood(),
        "thm-3.1": voter_estimation.check_thm_3_1(curve),
        "thm-3.2": estimation_limits.check_thm_3_2(),
        "optimal": estimation_limits.check_optimal(curve),
        "thm-3.2:proof": estimation_limits.check_thm_3_2_proof(),
        "thm-3.3": noisy_counts.check_thm_3_3(),
        "thm-3.3:proof": noisy_counts.check_thm_3_3_proof(np.random.default_rng(1)),
        "rank-all": noisy_counts.check_rank_all(),
        "thm-3.4": recovery_limits.check_thm_3_4(),
        "u0": recovery_limits.check_thm_3_4_u0(),
        "thm-3.4:proof": recovery_limits.check_thm_3_4_proof(),
    }
    assert {name: derive(made) for name, made in checks.items()} == {
        "likelihood": "holds",
        "thm-3.1": "refuted",
        "thm-3.2": "vacuous",
        "optimal": "refuted",
        "thm-3.2:proof": "refuted",
        "thm-3.3": "holds",
        "thm-3.3:proof": "refuted",
        "rank-all": "holds",
        "thm-3.4": "refuted",
        "u0": "refuted",
        "thm-3.4:proof": "constants",
    }
    wrong = [c for made in checks.values() for c in made if c.about in ("corrected", "supplied") and c.outcome is False]
    assert wrong == []


# --- the likelihood --------------------------------------------------------------------------------------------------


def test_likelihood_is_that_of_the_package():
    theta = np.array([0.7, -1.1, 0.4])
    data = Comparisons([0, 0, 2, 1], [1, 1, 1, 2], [1, 0, 1, 1], ["a", "b", "c"])
    assert math.isclose(
        log_likelihood(theta, data),
        sum(math.log(1 / (1 + math.exp(-(theta[a] - theta[b])))) for a, b in ((0, 1), (1, 0), (2, 1), (1, 2))),
    )
    gaps = voter_likelihood.likelihood_gaps(3, 2, 0.5)
    assert gaps.shape == (11, 36)
    assert np.allclose(gaps, 2 * math.log(3), atol=1e-12)


def test_likelihood_with_signs_in_place_of_shares_is_rejected(monkeypatch):
    honest = voter_likelihood.win_shares
    monkeypatch.setattr(voter_likelihood, "win_shares", lambda *data: 2 * honest(*data) - 1)
    assert derive(voter_likelihood.check_likelihood()) == "refuted"


# --- Theorem 3.1 -----------------------------------------------------------------------------------------------------


def test_law_of_the_mean_noise():
    assert voter_estimation.mean_noise(1) == pytest.approx(1)
    assert voter_estimation.mean_noise(2) == pytest.approx(0.75)
    assert voter_estimation.sum_peak(1) == pytest.approx(0.5)
    assert voter_estimation.sum_peak(2) == pytest.approx(0.25)
    for n in (3, 16):
        peak = integrate.quad(lambda x, n=n: stats.gamma.pdf(x, n) ** 2, 0, 200)[0]
        assert voter_estimation.sum_peak(n) == pytest.approx(peak, rel=1e-7)
    sums = np.random.default_rng(2).laplace(size=(40_000, 16)).sum(-1)
    assert np.abs(sums).mean() / 16 == pytest.approx(voter_estimation.mean_noise(16), abs=5 * sums.std() / 16 / 200)
    density = (np.abs(sums) < 0.5).mean()  # the density is largest at 0
    assert density <= voter_estimation.sum_peak(16) + 5 * math.sqrt(density / 40_000)


def test_mean_of_the_estimate_is_that_of_the_noise():
    rng = np.random.default_rng(3)
    games = np.triu(rng.integers(0, 5, (6, 6)), 1)
    wins = rng.binomial(games, 0.4)
    points = wins.sum(1) + (games - wins).sum(0)
    noise = rng.laplace(scale=4, size=(3, 6))
    theta, _ = mle_from_counts(games + games.T, points - noise, ridge=0.8)
    assert np.allclose(theta.mean(-1), -noise.mean(-1) / 0.8, atol=1e-7)


def test_printed_estimates_miss_and_centred_ones_do_not(curve):
    late = curve[(curve.voters == 10**5) & (curve.strengths == "equal")].set_index("calibration")
    printed, centred = late.loc["as printed"], late.loc["centred"]
    assert abs(printed["mean"] - printed.floor) < 5 * printed.se + centred["mean"]
    assert centred["mean"] < 0.1 * printed["mean"]


def test_figure_shows_every_curve(curve):
    axes = voter_estimation.draw_estimation_error(curve[curve.strengths == "spread"]).axes
    assert [panel.get_title(loc="left") for panel in axes] == ["16 items"]
    labels = axes[0].get_legend_handles_labels()[1]
    assert {"as printed", "centred", "larger ridge", "the rate"} < set(labels)
    assert set(voter_estimation.estimation_numbers(curve)) >= {"voter-floor", "voter-printed", "voter-centred"}


def test_chance_within_falls_with_voters_and_is_cut():
    few, many = (float(voter_estimation.chance_within(10, 16, m, 0.5, 0.25)) for m in (10, 10**8))
    assert few == 1
    assert many < 1e-2
    rng = np.random.default_rng(4)
    reach = 0.05
    hit = (np.abs(rng.laplace(size=(20_000, 16)).mean(-1)) / 0.25 <= reach).mean()
    bound = float(
        voter_estimation.chance_within(reach / float(voter_estimation.rate(16, 10**6, 0.5)), 16, 10**6, 0.5, 0.25)
    )
    assert hit <= bound + 5 * math.sqrt(hit / 20_000)


def test_uncompared_items():
    n, share, epsilon = 1000, 10.0, 0.9
    row = voter_estimation.uncompared([n], share, epsilon).iloc[0]
    draws = round(n * math.log(n) / (share * epsilon))
    rng = np.random.default_rng(5)
    alone, worst = [], []
    for _ in range(400):
        first = rng.integers(0, n, draws)
        second = (first + rng.integers(1, n, draws)) % n
        lonely = n - np.unique(np.r_[first, second]).size
        alone.append(lonely)
        worst.append(np.abs(rng.laplace(scale=4, size=lonely)).max() - 1)
    assert np.mean(alone) == pytest.approx(row.expected, abs=5 * np.std(alone) / 20)
    assert np.mean(np.array(worst) >= row["median"]) >= 0.5


def test_a_broken_correction_is_seen(curve):
    worse = curve.assign(mean=curve["mean"] * 30)
    assert any(c.outcome is False for c in voter_estimation.check_thm_3_1(worse) if c.about == "corrected")
    assert any(c.outcome is False for c in estimation_limits.check_optimal(worse) if c.about == "corrected")


# --- lower bounds ----------------------------------------------------------------------------------------------------


def packed(n, top, lead):
    inside = np.isin(np.arange(n), top).astype(float)
    return 0.5 + lead * (inside[:, None] - inside)


@pytest.mark.parametrize(("n", "a", "b"), [(2, [0], [1]), (6, [0, 1, 2], [0, 1, 4]), (7, [0, 1, 2], [0, 5, 6])])
def test_distances_of_one_answer_by_listing(n, a, b):
    lead = 0.11
    p, q = (
        np.array([rho[i, j] for i, j in permutations(range(n), 2)]) / math.comb(n, 2)
        for rho in (packed(n, a, lead), packed(n, b, lead))
    )
    assert p.sum() == pytest.approx(1)
    tv, kl = packings.draw_distances(n, len(set(a) - set(b)), lead)
    assert tv == pytest.approx(np.abs(p - q).sum() / 2)
    assert kl == pytest.approx((p * np.log(p / q)).sum())
    gap = np.sort(packed(n, a, lead).mean(1))[::-1]
    assert gap[len(a) - 1] - gap[len(a)] == pytest.approx(lead)


def test_fano_is_below_a_mechanism_that_exists():
    """The exponential mechanism on one answer of each of three voters, against three hypotheses."""
    lead, epsilon, voters = 0.3, 2.0, 3
    outcomes = list(permutations(range(3), 2))
    laws = [np.array([packed(3, [a], lead)[i, j] for i, j in outcomes]) / 3 for a in range(3)]
    wrong = 0.0
    for data in product(range(6), repeat=voters):
        wins = np.zeros(3)
        for answer in data:
            wins[outcomes[answer][0]] += 1
        choice = np.exp(epsilon / 2 * wins)  # a count changes by at most one
        choice /= choice.sum()
        wrong += sum(np.prod(law[list(data)]) * (1 - choice[a]) for a, law in enumerate(laws)) / 3
    tv, kl = packings.draw_distances(3, 1, lead)
    bound = packings.fano(math.log(3), voters * tv, voters * kl, epsilon, -np.inf)
    assert 0 < bound < wrong < 2 / 3


def test_fano_without_alternatives_or_privacy():
    assert packings.fano(0.0, 0.0, 0.0, 1.0, -np.inf) == 0
    assert packings.fano(math.log(10), 0.0, 0.0, 1.0, -np.inf) == pytest.approx(0.81)
    assert packings.fano(math.log(10), 50.0, 50.0, 1.0, 0.0) == 0


def test_exact_recovery_needs_its_condition_on_delta(monkeypatch):
    frame = packings.exact_recovery([4, 100], [0.1, 1.0], [1e-3, 1.0])
    assert np.allclose(voter_estimation.rate(frame["items"], frame.voters, frame.epsilon), frame.rate)
    honest = packings.fano
    monkeypatch.setattr(packings, "fano", lambda *a: honest(*a[:4], a[4] + np.log(1e6)))
    assert any(c.outcome is False for c in recovery_limits.check_thm_3_4_u0() if c.about == "corrected")
    monkeypatch.setattr(packings, "fano", honest)
    near = packings.draw_distances
    monkeypatch.setattr(packings, "draw_distances", lambda *a: tuple(1000 * x for x in near(*a)))
    assert any(c.outcome is False for c in estimation_limits.check_thm_3_2() if c.about == "corrected")


def test_pair_estimate_bound_covers_a_simulation():
    rng = np.random.default_rng(6)
    n, mu = 4, 400.0
    theta = np.array([1, 0.3, -0.3, -1])
    first, second = np.triu_indices(n, 1)
    errors = []
    for _ in range(200):
        played = rng.poisson(mu, 6)
        share = rng.binomial(played, 1 / (1 + np.exp(theta[second] - theta[first]))) / played
        gap = np.zeros((n, n))
        gap[first, second] = np.log(np.clip(share, 0.12, 0.88) / np.clip(1 - share, 0.12, 0.88))
        errors.append(np.abs((gap - gap.T).mean(1) - theta).max())
    assert np.mean(errors) < estimation_limits.pair_estimate_risk(n, mu)
    assert estimation_limits.pair_estimate_risk(n, 1e8) < estimation_limits.pair_estimate_risk(n, 1e8, 4.0) < 0.05
    assert estimation_limits.pair_estimate_risk(n, 10, 50.0) == 2


def test_publishing_a_few_answers_beats_the_uncorrected_bound():
    ratio = estimation_limits.published_subset(2, [1e-6, 1e-8, 1e-10, 1e-12])["over rate"]
    assert ratio.is_monotonic_decreasing
    assert np.allclose(ratio.to_numpy()[1:] / ratio.to_numpy()[:-1], 0.11, atol=0.01), "about the root of epsilon"


def test_the_cube_without_centring_is_not_the_content_of_theorem_3_2():
    checks = estimation_limits.check_thm_3_2()
    assert [c.outcome for c in checks if c.about == "content"] == [False]
    assert derive([c for c in checks if c.about != "content"]) == "holds"


def test_same_data_and_swapped_pair():
    assert estimation_limits.same_data(5) == (0, 1)
    theta, other = estimation_limits.swapped_pair(4, 2, 0.01)
    assert np.count_nonzero(theta != other) == 2
    assert theta.mean() == pytest.approx(0)
    assert theta[1] - theta[2] == pytest.approx(1)
    with pytest.raises(ValueError, match=r"place .*4"):
        estimation_limits.swapped_pair(4, 4, 0.1)


# --- Theorem 3.3 -----------------------------------------------------------------------------------------------------


def exact_reversal(rho, a, b, games, scale):
    """Chance that item a comes after item b when Laplace noise is added to both counts."""
    pairs = math.comb(len(rho), 2)
    up = sum(rho[a, j] for j in range(len(rho)) if j != a) / pairs
    down = sum(rho[b, j] for j in range(len(rho)) if j != b) / pairs
    law = np.ones(1)
    for _ in range(games):
        law = np.convolve(law, [down, 1 - up - down, up])
    lead = np.arange(-games, games + 1) / scale
    behind = 0.5 * np.exp(-np.abs(lead)) * (1 + np.abs(lead) / 2)
    return law @ np.where(lead >= 0, behind, 1 - behind)


@each("n", [2, 3, 5])
@each(("voters", "answers", "epsilon"), [(200, 1, 1.0), (400, 1, 0.05), (60, 5, 0.3)])
def test_reversal_bound_is_above_the_exact_chance(n, voters, answers, epsilon):
    for lead in (0.1, 0.3, 0.5):
        rho = packed(n, [0], lead)
        constant = lead / voter_estimation.rate(n, voters, epsilon)
        for noise in (1.0, 2.0):
            exact = exact_reversal(rho, 0, 1, voters * answers, noise * answers / epsilon)
            assert exact <= noisy_counts.reversal_bound(n, constant, answers, noise)


def test_two_items_failure_is_the_mixture_of_exact_laws():
    games, gap, epsilon = 3, 0.2, 0.7
    mixture = sum(
        stats.binom.pmf(w, games, 0.5 + gap) * top_set_law([w, games - w], 1 / epsilon, 1)[(1,)] for w in range(4)
    )
    assert noisy_counts.two_items_failure(3, epsilon, gap) == pytest.approx(mixture, rel=1e-9)
    exact = exact_reversal(packed(2, [0], gap), 0, 1, 10, 5 / epsilon)
    assert noisy_counts.two_items_failure(2, epsilon, gap, 5) == pytest.approx(exact)
    with pytest.raises(ValueError, match=r"gap .*0.6"):
        noisy_counts.two_items_failure(3, 1.0, 0.6)


def test_a_smaller_constant_is_not_enough_for_our_proof(monkeypatch):
    monkeypatch.setattr(noisy_counts, "ENOUGH", 6.0)
    assert any(c.outcome is False for c in noisy_counts.check_thm_3_3())
    assert any(c.outcome is False for c in noisy_counts.check_rank_all())


def test_noise_that_privacy_needs_takes_twice_the_constant():
    n = np.arange(2, 1000)
    assert (noisy_counts.failure_bound(n, 16, noise=2.0) * n**5.0 <= 1).all()


def test_items_in_order_keep_the_set_within_tolerance():
    for n in (2, 3, 4, 5):
        for order in permutations(range(n)):  # order[r] is the item at noisy place r
            place = np.argsort(order)
            for k, u in ((size, least) for size in range(1, n) for least in range(min(size, n - size))):
                if all(place[a] < place[b] for a in range(k - u) for b in range(k + u, n)):
                    assert len(set(order[:k]) ^ set(range(k))) <= 2 * u


@pytest.mark.parametrize("n", [2, 3, 4])
def test_widest_gap_by_listing(n):
    first, second = np.triu_indices(n, 1)
    widest = {}
    for values in product((0, 0.5, 1), repeat=first.size):
        rho = np.full((n, n), 0.5)
        rho[first, second] = values
        rho[second, first] = 1 - rho[first, second]
        tau = np.sort(rho.mean(1))[::-1]
        for k in range(1, n):
            for u in range(min(k, n - k)):
                widest[k, u] = max(widest.get((k, u), 0), tau[k - u - 1] - tau[k + u])
    for (_, u), gap in widest.items():
        assert gap == pytest.approx(noisy_counts.widest_gap(n, u))


def test_least_voters_is_least():
    for n, epsilon, gap in ((2, 1.0, 0.5), (16, 0.1, 0.5), (6, 1.0, 1 / 6)):
        m = noisy_counts.least_voters(n, epsilon, gap)
        assert (
            noisy_counts.ENOUGH * voter_estimation.rate(n, m, epsilon)
            <= gap
            < 8 * voter_estimation.rate(n, m - 1, epsilon)
        )
    assert np.allclose(np.diff(np.sort(noisy_counts.clear_ranking(7).mean(1))), 1 / 7)


def test_draw_moments():
    rho = noisy_counts.random_matrix(5, np.random.default_rng(7))
    out = noisy_counts.draw_moments(rho, 3, 1)
    assert out["mean"] == pytest.approx(out["printed mean"])
    assert out["second"] == pytest.approx(out["closed second"])
    assert out["joint"] == 0
    rho[np.diag_indices(5)] = 0  # a diagonal of 0 shifts every tau alike: only the second moment notices
    with pytest.raises(ValueError, match=r"rho has shape"):
        noisy_counts.draw_moments(rho, 3, 1)


def test_a_wrong_mean_is_rejected(monkeypatch):
    honest = noisy_counts.draw_moments
    monkeypatch.setattr(
        noisy_counts, "draw_moments", lambda *a: honest(*a) | {"printed mean": 0.9 * honest(*a)["printed mean"]}
    )
    assert noisy_counts.check_thm_3_3_proof(np.random.default_rng(1))[0].outcome is False


# --- Theorem 3.4 -----------------------------------------------------------------------------------------------------


def test_blind_sets_by_listing():
    for n, k, u in ((4, 2, 1), (6, 3, 2), (7, 3, 1), (5, 2, 0)):
        sets = list(combinations(range(n), k))
        far = [len(set(s) ^ set(range(k))) > 2 * u for s in sets]
        assert recovery_limits.random_set_failure(n, k, u) == pytest.approx(np.mean(far))
    assert recovery_limits.random_set_failure(6, 3, 2) == pytest.approx(1 / 20)
    with pytest.raises(ValueError, match=r"tolerance .*3"):
        recovery_limits.random_set_failure(6, 3, 3)
    with pytest.raises(ValueError, match=r"k .*6"):
        recovery_limits.random_set_failure(6, 6, 0)


def test_no_smaller_number_of_items_has_a_blind_counterexample():
    for n in range(2, 6):
        for k in range(1, n):
            for u in range(min(k, n - k)):
                assert recovery_limits.random_set_failure(n, k, u) >= 0.1


def test_sets_that_certainly_exist_do():
    half, w, u = 9, 3, 1
    code = []
    for s in combinations(range(half), w):
        if all(2 * (w - len(set(s) & set(t))) > 4 * u for t in code):
            code.append(s)
    frame = recovery_limits.tolerant_recovery([2 * half], [1], [1.0], [0.1])
    assert len(code) >= math.exp(frame["log code"].iloc[0])


def test_tolerances_beyond_the_proof_are_left_out():
    frame = recovery_limits.tolerant_recovery([10**4], [1, 33, 34], [1.0], [0.1])
    assert frame.u.tolist() == [1, 33]


def test_constant_and_noiseless_procedures():
    rho = packed(4, [0, 1], 0.2)
    assert recovery_limits.constant_failure(rho, [0, 1]) == 0
    assert recovery_limits.constant_failure(rho, [0, 2]) == 1
    assert recovery_limits.noiseless_failure(1 / 160, 1e-3) > 0.1 > recovery_limits.noiseless_failure(1 / 160, 1e-7)


def test_bad_input():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"calibration .*best"):
        voter_estimation.estimation_errors("best", 4, 10, 1.0, 1, repetitions=2, rng=rng)
    with pytest.raises(ValueError, match=r"strengths .*odd"):
        voter_estimation.estimation_errors("centred", 4, 10, 1.0, 1, "odd", repetitions=2, rng=rng)
