"""Laws of Mallows models against enumeration, closed forms and deliberately broken twins.

Nothing here is random: no test has a false alarm.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from checks import patch_all
from scipy import stats

from companion.chapters.testing_uniformity import fewest_rankings, fixed_epsilon, null_moments
from companion.chapters.testing_uniformity import mallows_laws as laws
from companion.ledger.claim import derive
from dprank.models.mallows import Mallows, theta_at

ITEMS = (30, 100, 300, 1000)


@pytest.fixture(scope="module")
def frame():
    return fixed_epsilon.sample_table(ITEMS, (0.1, 0.5, 0.99), 0.05)


SECTIONS = (laws, fixed_epsilon, fewest_rankings, null_moments)


def inversions(ranking):
    return sum(a > b for a, b in combinations(ranking, 2))


def changed(monkeypatch, name, change):
    patch_all(monkeypatch, SECTIONS, name, lambda original: lambda *args: change(original(*args)))


# --- few items -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_mahonian_numbers_count_rankings(m):
    counted = np.bincount([inversions(r) for r in permutations(range(m))])
    assert laws.mahonian(m) == tuple(counted)
    assert laws.table_entries(m) == sum(len(laws.mahonian(j)) for j in range(1, m + 1))


def test_best_event_is_the_best_of_all_events():
    phi = Fraction(1, 3)
    weights = [phi ** inversions(r) for r in permutations(range(3))]
    gaps = [w / sum(weights) - Fraction(1, 6) for w in weights]
    best = max(sum(g for g, inside in zip(gaps, f"{event:06b}", strict=True) if inside == "1") for event in range(64))
    assert laws.best_event(3, phi) == best == laws.printed_sum(3, phi) / 2


@pytest.mark.parametrize("m", [2, 4, 6])
def test_distance_law_is_that_of_the_enumeration(m):
    theta = 0.3
    weights = np.array(laws.mahonian(m)) * np.exp(-theta * np.arange(m * (m - 1) // 2 + 1))
    assert laws.distance_law(m, theta) == pytest.approx(weights / weights.sum(), rel=1e-12)


def test_two_item_tester_against_the_enumeration_of_all_sequences():
    n, lead, before = 7, 5, 0.8
    sequences = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    ones = sequences.sum(1)
    power = (before**ones * (1 - before) ** (n - ones))[abs(2 * ones - n) >= lead].sum()
    assert laws.two_item_power(n, lead, before) == pytest.approx(power, rel=1e-12)
    assert laws.two_item_tester(0.49, 0.2) == (4, 4)


def test_known_centre_power_is_the_best_of_all_randomised_tests_of_two_items():
    theta, size = theta_at(2, 0.3), 0.05
    assert laws.known_centre_power(2, theta, 1, size) == pytest.approx(0.8 * size / 0.5, rel=1e-9)
    assert laws.known_centre_power(2, theta, 2, size) == pytest.approx(0.64 * size / 0.25, rel=1e-9)
    assert laws.known_centre_power(5, 0.0, 2, size) == pytest.approx(size, rel=1e-9)


# --- the lower bound -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(3, 1), (3, 2), (4, 2)])
def test_chi_square_is_that_of_the_mixture_over_all_data_sets(m, n):
    theta = 0.4
    p = np.exp(-theta * laws._distances(m).astype(float))
    p /= p[0].sum()
    ratio = np.ones((len(p), *[1] * n))
    for axis in range(n):
        shape = [len(p)] + [1] * n
        shape[axis + 1] = len(p)
        ratio = ratio * (p * len(p)).reshape(shape)
    assert laws.chi_square(m, theta, n) == pytest.approx((ratio.mean(0) ** 2).mean() - 1, abs=1e-12)


def covariances(m):
    distances = laws._distances(m).astype(float)
    centred = distances - distances.mean(1, keepdims=True)
    return centred @ centred[0] / len(centred)


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_covariance_formula_and_its_variances(m):
    exact = covariances(m)
    first, second = np.triu_indices(m, 1)
    signs = np.where(laws.all_rankings(m)[:, first] < laws.all_rankings(m)[:, second], 1, -1)
    assert signs @ ((2 * (second - first) + 1) / 12) == pytest.approx(exact, abs=1e-9)
    variance, proxy = fixed_epsilon.shared_variance(m)
    assert variance == pytest.approx(exact.var(), rel=1e-9)
    assert proxy <= m * ((m**2 - 1) / 12) ** 2 * (1 + 1e-12)
    for t in (-2.0, -0.1, 0.1, 0.5, 2.0):
        assert np.exp(t * exact).mean() <= math.exp(t**2 * proxy / 2)


@pytest.mark.parametrize("m", [3, 5, 6])
def test_remainder_bounds_what_the_second_order_leaves(m):
    for share in (0.05, 0.3, 0.9):
        theta = share * 0.5 / (2 * math.e * (2 * m - 3))
        off = np.abs(np.log(laws.overlaps(m, theta)) - theta**2 * covariances(m)).max()
        assert off <= fewest_rankings.remainder(m, theta) < math.inf
    assert fewest_rankings.remainder(m, 1.0) == math.inf


def test_cumulants_obey_the_bound_that_the_remainder_sums():
    m, r = 5, 4
    for row in laws._distances(m)[:40].astype(float):
        x = row + laws._distances(m)[0]
        x -= x.mean()
        fourth = (x**4).mean() - 3 * (x**2).mean() ** 2
        assert abs(fourth) <= 2 ** (r - 1) * r ** (r - 2) * 10 * (2 * m - 3) ** (r - 1)


def test_leading_form_is_right_where_theta_is_small():
    for m in (4, 6):
        row = fewest_rankings.overlap_table([m], 0.01, 5).iloc[0]
        assert row.exact == pytest.approx(row.leading, rel=0.01)


def test_proved_samples_solve_the_bound_and_stay_below_the_leading_order():
    m, epsilon, delta = 10**12, 0.5, 0.05
    theta = fixed_epsilon.bracket(m, epsilon)[1]
    k = fewest_rankings.proved_samples(m, epsilon, delta)
    exponent = k**2 * theta**4 * m * ((m**2 - 1) / 12) ** 2 / 2 + k * fewest_rankings.remainder(m, theta)
    assert math.sqrt(math.expm1(exponent)) / 2 == pytest.approx(1 - 2 * delta, rel=1e-9)
    assert fewest_rankings.proved_samples(100, epsilon, delta) == 0
    assert (
        k
        < math.sqrt(2 * math.log(1 + 4 * 0.81) * 1296 / m**5)
        / (fixed_epsilon.limit(epsilon) / math.sqrt(m**3 / 36)) ** 2
    )


# --- a fixed epsilon -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 5, 9])
def test_affinity_is_the_sum_of_roots_and_brackets_the_distance(m):
    for theta in (0.01, 0.5, 2.0):
        law = laws.distance_law(m, theta)
        null = laws.distance_law(m, 0.0)
        affinity = math.exp(fixed_epsilon.log_affinity(m, theta))
        assert affinity == pytest.approx(np.sqrt(law * null).sum(), rel=1e-10)
        near = 1 - np.maximum(law - null, 0).sum()
        assert affinity**2 / 2 <= near <= affinity


@pytest.mark.parametrize("m", [30, 100, 500])
def test_bracket_holds_the_truth_and_asks_for_enough_items(m):
    for epsilon in (0.01, 0.5, 0.9, 0.999):
        low, high = fixed_epsilon.bracket(m, epsilon)
        assert low <= theta_at(m, epsilon) <= high
    assert fixed_epsilon.bracket(3, 0.9)[1] == math.inf


def test_variance_is_bounded_as_the_proof_says():
    for m in (2, 10, 100):
        for s in np.geomspace(1e-4, 3, 30):
            variance = Mallows(m, s).distance_moments()[1]
            assert variance <= fixed_epsilon.null_variance(m) * (1 + 1e-12)
            assert variance >= fixed_epsilon.null_variance(m) - s**2 * (m + 1) ** 5 / 1200


def test_printed_samples_are_line_5():
    m, theta, delta = 400, 0.01, 0.05
    q = math.exp(-theta * m / 8)
    mu, m1, log = (1 - q) / (1 + q), m / 8 - math.sqrt(m * math.log(40) / 16), math.log(40)
    k = 1 + math.ceil((12 * m * log / m1**2 + 10 * math.sqrt(m * log / m1**2)) / mu**2)
    assert fixed_epsilon.unif_samples(m, theta, delta) == k
    assert math.isnan(fixed_epsilon.unif_samples(10, theta, delta))


def test_zeros_against_fractions():
    m, gap = 40, Fraction(4, 5)
    counts = laws.mahonian(m)
    weights = [n * (1 - gap) ** i for i, n in enumerate(counts)]
    total, all_of_them = sum(weights), math.factorial(m)
    near = sum(min(w / total, Fraction(n, all_of_them)) for w, n in zip(weights, counts, strict=True))
    theta = -math.log1p(-float(gap))
    assert fixed_epsilon.zeros(m, theta) == pytest.approx(-math.log10(near), rel=1e-9)
    best = fixed_epsilon.least_epsilon(range(2, 120), 0.05)
    assert (best.proved <= best.zeros).all()
    assert (best.zeros <= 2 * best.proved + math.log10(2)).all()


def test_condition_is_met_by_all_below_29_items():
    assert fixed_epsilon.always_met(0.05) == list(range(2, 29))


# --- the normal law --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 4, 7, 12])
def test_berry_esseen_moments_and_kolmogorov_distance(m):
    thirds = [(np.abs(np.arange(j) - (j - 1) / 2) ** 3).mean() for j in range(2, m + 1)]
    sd = math.sqrt(fixed_epsilon.null_variance(m))
    assert null_moments.berry_esseen(m) == pytest.approx(laws.BERRY_ESSEEN * sum(thirds) / sd**3, rel=1e-12)
    below = np.cumsum(laws.distance_law(m, 0.0))
    normal = stats.norm.cdf((np.arange(len(below)) - m * (m - 1) / 4) / sd)
    exact = max(np.abs(below - normal).max(), np.abs(np.r_[0, below[:-1]] - normal).max())
    assert null_moments.kolmogorov(m) == pytest.approx(exact, abs=1e-6)


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_verdicts(frame):
    normal = null_moments.normal_table((2, 5, 20, 60))
    told = {
        "z": (laws.check_z(range(2, 6)), "refuted"),
        "tv": (laws.check_tv_formula(range(2, 5)), "refuted"),
        "monotone": (laws.check_tv_monotone((2, 5, 8)), "holds"),
        "phi_eps": (laws.check_phi_eps((2, 4, 5)), "constants"),
        "tester": (laws.check_tester(), "holds"),
        "h1": (laws.check_h1(), "underspecified"),
        "condition": (fixed_epsilon.check_condition(frame, 0.05), "vacuous"),
        "phi_eps rate": (fixed_epsilon.check_phi_eps_rate(frame), "refuted"),
        "rate": (fewest_rankings.check_rate(frame), "refuted"),
        "rate, few items": (fewest_rankings.check_rate(fixed_epsilon.sample_table([30, 50], [0.5], 0.05)), "refuted"),
        "moments": (null_moments.check_moments(range(2, 20)), "holds"),
        "normal": (null_moments.check_normal(normal), "refuted"),
        "kl": (null_moments.check_kl(), "refuted"),
        "mahonian": (null_moments.check_mahonian((10, 20, 40)), "refuted"),
    }
    for name, (checks, verdict) in told.items():
        assert derive(checks) == verdict, name
        assert all(check.outcome for check in checks if check.about == "corrected"), name


@pytest.mark.parametrize(
    ("name", "change", "check"),
    [
        ("normaliser", lambda z: z * 2, lambda: laws.check_z(range(2, 4))),
        ("printed_sum", lambda s: s / 2, lambda: laws.check_tv_formula(range(2, 4))),
        ("divergence", lambda kl: 2 * kl, lambda: null_moments.check_kl((2, 10))),
        (
            "bracket",
            lambda b: (b[0] * 3, b[1] / 3),
            lambda: fixed_epsilon.check_phi_eps_rate(fixed_epsilon.sample_table(ITEMS, (0.5,), 0.05)),
        ),
        ("berry_esseen", lambda b: b / 2, lambda: null_moments.check_normal(null_moments.normal_table((2, 5)))),
        ("table_entries", lambda n: n**2, lambda: null_moments.check_mahonian((5, 10, 20))),
        ("chi_square", lambda x: 1.0, laws.check_h1),
    ],
)
@pytest.mark.slow
def test_a_mutant_makes_the_corrected_statement_false(monkeypatch, name, change, check):
    changed(monkeypatch, name, change)
    assert not all(c.outcome for c in check() if c.about == "corrected")


@pytest.mark.slow
def test_mutants_of_what_holds(monkeypatch):
    with monkeypatch.context() as patch:
        changed(patch, "mahonian", lambda counts: (counts[0] + 1, *counts[1:]))
        assert derive(null_moments.check_moments(range(2, 6))) == "refuted"
    with monkeypatch.context() as patch:
        changed(patch, "two_item_tester", lambda plan: (plan[0], plan[1] - 2))
        assert derive(laws.check_tester()) == "refuted"
    with monkeypatch.context() as patch:
        changed(patch, "two_item_tester", lambda plan: (plan[0] + 20, plan[1] + 4))
        assert derive(laws.check_tester()) in {"vacuous", "refuted"}
    with monkeypatch.context() as patch:
        patch.setattr(laws, "printed_sum", lambda m, phi: Fraction(1) if phi > Fraction(1, 2) else Fraction(1, 2))
        assert derive(laws.check_tv_monotone((3,))) == "refuted"


@pytest.mark.slow
def test_a_law_at_the_claimed_rate_would_pass(frame):
    claimed = frame.assign(gap=frame.epsilon * 20 / frame["items"])
    checks = fixed_epsilon.check_phi_eps_rate(claimed)
    assert checks[0].outcome
    assert derive(fixed_epsilon.check_condition(claimed[claimed["items"] > 100], 0.05)) == "vacuous"


@pytest.mark.slow
def test_figures_draw(frame):
    for some in (frame, fixed_epsilon.sample_table([30, 31], [0.5], 0.05)):
        assert len(fixed_epsilon.draw_condition(fixed_epsilon.condition_table(some, 0.05)).axes) == 2
    assert len(fewest_rankings.draw_samples(fixed_epsilon.rate_table((30, 300, 10**5), 0.5, 0.05)).axes) == 1
    assert list(fixed_epsilon.fixed_phi((1000, 10**6), 0.9, 0.05).unif)[-1] == 2
