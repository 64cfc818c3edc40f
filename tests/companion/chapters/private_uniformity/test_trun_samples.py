"""TRUN's size and power against enumeration. Simulations, fixed seeds: Z standard errors."""

import math
from itertools import product

import numpy as np
import pytest
from checks import each, refused

from companion.chapters.private_uniformity import trun, trun_samples
from companion.printed import busafekete2021 as paper
from dprank.uniformity import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import Unif

Z = 5.0


@each(("pairs", "k"), [(1, 4), (2, 3), (2, 4)])
@each("accept_large", [True, False])
def test_simulated_and_least_size_against_all_data(pairs, k, accept_large):
    test = paper.trun(2 * pairs, k, 1.0, 0.2, 1.0, accept_large=accept_large).mechanism
    signs = np.array(list(product((-1, 1), repeat=pairs)))
    sums = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=k)])
    exact = 1 - test.accepts(sums).mean()
    size, se = trun_samples.simulated_size(test, 20_000, np.random.default_rng(2))
    assert abs(size - exact) <= Z * se
    if accept_large:
        assert trun_samples.least_size(test) <= exact
    else:
        assert trun_samples.gate_size(2 * pairs, k, 1.0, 0.2, 1.0) <= exact + 1e-12


def test_gate_size_without_noise_is_a_binomial_tail():
    # with a huge epsilon_0 only the coin and the tail beyond the gate are left
    k, delta = 10_001, 0.05
    gate = math.sqrt(math.log(2 / delta) / k)
    tail = np.abs(2 * np.random.default_rng(0).binomial(k, 0.5, 200_000) / k - 1) > gate
    found = trun_samples.gate_size(2, k, 1e9, delta, 0.1)
    se = math.sqrt(0.06 / len(tail))
    assert abs(found - (delta / 2 + (1 - delta) * tail.mean())) < Z * se


def test_two_items_power_by_enumeration():
    test = NoisyNorm.calibrated(epsilon=1.0, n_items=2, n_voters=3, size=0.2)
    bias, power = 0.4, 0.0
    for signs in product((-1, 1), repeat=3):
        chance = math.prod((1 + s * bias) / 2 for s in signs)
        power += chance * float(test.noise_sf(test.threshold() - test.on_grid(sum(signs) ** 2)))
    assert trun_samples.two_items_power(test, bias) == pytest.approx(power)


@each("method", trun_samples.METHODS)
def test_exact_power_at_no_bias_is_the_size(method):
    size = trun_samples.exact_power(method, 10, 1200, 0.0, trun.EPSILON_0, trun.DELTA)
    assert 0.02 < size <= trun.DELTA * (1 + 1e-6)
    assert trun_samples.exact_power(method, 10, 1200, 0.5, trun.EPSILON_0, trun.DELTA) > 0.75


@pytest.mark.parametrize("method", ["noisy norm", "TRUN, repaired", "UNIF, no privacy", "Laplace on Y"])
def test_exact_power_against_simulated_pairs(method):
    m, k, bias, draws = 6, 40, 0.4, 20_000
    sums = 2 * np.random.default_rng(4).binomial(k, (1 + bias) / 2, (draws, m // 2)) - k
    squared = (sums**2).sum(1)
    epsilon, delta = 5.0, 0.1
    if method == "noisy norm":
        norm = NoisyNorm.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=delta)
        found = norm.noise_sf(norm.threshold() - norm.on_grid(squared))
    elif method == "TRUN, repaired":
        found = 1 - Trun.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=delta).acceptance(squared / k)
    elif method == "UNIF, no privacy":
        found = (squared / k >= Unif.calibrated(n_items=m, n_voters=k, size=delta).threshold).astype(float)
    else:
        plain = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=delta)
        noise = np.random.default_rng(5).laplace(0, 4 * plain.scale / k, draws)
        found = (squared / k + noise >= plain.threshold - 2 / k).astype(float)
    exact = trun_samples.exact_power(method, m, k, bias, epsilon, delta)
    # whole noise against noise on the line: half a step either way
    slack = 0.01 if method == "Laplace on Y" else 1e-9
    assert abs(found.mean() - exact) <= Z * found.std() / math.sqrt(draws) + slack


def test_rankings_needed_is_a_crossing():
    k = trun_samples.rankings_needed("noisy norm", 10, 0.3)
    power = [trun_samples.exact_power("noisy norm", 10, n, 0.3, trun.EPSILON_0, trun.DELTA) for n in (k - k // 25, k)]
    assert power[0] < 0.8 <= power[1]


def test_power_of_all_ranks_rises_from_its_size():
    assert trun_samples.ranks_power(10, 40, 0.0) == pytest.approx(trun.DELTA, abs=0.03)
    assert trun_samples.ranks_power(10, 40, 0.3) > trun_samples.exact_power(
        "noisy norm", 10, 40, 0.3, trun.EPSILON_0, trun.DELTA
    )


def test_unknown_method():
    with refused("method = 'x'", "noisy norm"):
        trun_samples.exact_power("x", 10, 10, 0.3, 1.0, 0.1)


def test_the_repaired_test_needs_the_second_term(monkeypatch):
    step = trun_samples.DELTA * math.expm1(trun_samples.EPSILON_0) / (2 * (1 - trun_samples.DELTA))
    first = math.ceil(6 / (step * 0.03))
    assert (
        trun_samples.repaired_power(first, 0.03)
        < 0.95
        < trun_samples.repaired_power(trun_samples.repaired_rankings(0.03), 0.03)
    )


def test_trun_is_worse_away_from_uniformity(monkeypatch):
    assert trun_samples.check_trunc_worse().verdict == "holds"
    monkeypatch.setattr(trun_samples, "bucket_rankings", lambda m, mu, e, d: trun_samples.theorem_6(m, mu, e, d).max())
    assert trun_samples.check_trunc_worse().verdict == "refuted"


def test_few_items_do_truncation_no_good(monkeypatch):
    record = trun_samples.check_trun_better()
    assert record.verdict == "needs a condition"
    assert all(c.outcome for c in record if c.about in ("corrected", "argument"))
    right = trun_samples.theorem_6
    monkeypatch.setattr(trun_samples, "theorem_6", lambda *args: right(*args) / 1e9)
    assert trun_samples.check_trun_better().verdict == "holds"
    monkeypatch.setattr(trun_samples, "theorem_6", lambda m, *args: right(m, *args) * m)
    assert not all(c.outcome for c in trun_samples.check_trun_better() if c.about == "corrected")
