"""Seeds are fixed; ALARM: the chance that one was unlucky, and the level at which every mutant must be caught."""

import numpy as np
import pytest
from checks import law_p_value, refused
from scipy import stats

from dprank.models import draws

ALARM = 1e-6
DRAWS = 100_000
TRIALS = [(1, 0.5), (7, 0.97), (30, 0.3), (10**6, 3e-6), (19, 0.5), (20, 0.5), (200, 0.06), (999, 0.5), (4000, 0.93)]


def p_value(counts, n, p):
    low, high = (int(x) for x in stats.binom.ppf([1e-7, 1 - 1e-7], n, p))
    law = stats.binom.pmf(np.arange(low, high + 1), n, p)
    law[0] += stats.binom.cdf(low - 1, n, p)
    law[-1] += stats.binom.sf(high, n, p)
    return law_p_value(np.bincount(np.clip(counts, low, high) - low, minlength=len(law)), law)


@pytest.mark.parametrize(("n", "p"), TRIALS)
def test_binomial_has_its_law(n, p):
    counts = draws.binomial(n, p, DRAWS, rng=np.random.default_rng(3))
    assert counts.dtype == np.int64
    assert p_value(counts, n, p) > ALARM


MUTANTS = {
    "a fiftieth off": lambda n, p, rng: draws.binomial(n, p * 1.02, DRAWS, rng=rng),
    "a few trials more": lambda n, p, rng: draws.binomial(n + 1 + n // 20, p, DRAWS, rng=rng),
    "the other outcome": lambda n, p, rng: n - draws.binomial(n, p, DRAWS, rng=rng),
    "rounded": lambda n, p, rng: np.rint(rng.normal(n * p, np.sqrt(n * p * (1 - p)), DRAWS)).astype(int),
    "poisson": lambda n, p, rng: rng.poisson(n * p, DRAWS),
    "a hundredth at the mean": lambda n, p, rng: np.where(rng.random(DRAWS) < 0.01, round(n * p),
                                                          draws.binomial(n, p, DRAWS, rng=rng)),
}  # fmt: skip


@pytest.mark.parametrize("trials", [(30, 0.3), (200, 0.06)])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_sampler_is_caught(mutant, trials):
    assert p_value(MUTANTS[mutant](*trials, np.random.default_rng(3)), *trials) < ALARM


def test_a_large_binomial_is_normal():
    counts = draws.binomial(10**12, 0.3, DRAWS, rng=np.random.default_rng(4))
    assert stats.kstest((counts - 3e11) / np.sqrt(2.1e11), "norm").pvalue > ALARM


@pytest.mark.parametrize("n", [3, 60])
def test_multinomial_has_its_law(n):
    p = np.array([0.2, 0.0, 0.5, 0.3])
    counts = draws.multinomial(n, p, DRAWS, rng=np.random.default_rng(5))
    assert counts.shape == (DRAWS, 4)
    assert (counts.sum(axis=1) == n).all()
    for j in range(4):
        assert p_value(counts[:, j], n, p[j]) > ALARM if p[j] else not counts[:, j].any()
    if n == 3:
        cells, seen = np.unique(counts[:, [0, 2]], axis=0, return_counts=True)
        law = stats.multinomial.pmf(np.c_[cells, 3 - cells.sum(axis=1)], 3, p[[0, 2, 3]])
        assert len(cells) == 10
        assert law_p_value(seen, law) > ALARM
        assert law_p_value(seen, np.roll(law, 1)) < ALARM


def test_shapes_certainties_and_seeds():
    rng = np.random.default_rng(0)
    assert draws.binomial([0, 5, 5], [0.5, 0.0, 1.0], rng=rng).tolist() == [0, 0, 5]
    assert draws.binomial([[3], [9]], 0.5, (2, 4), rng=rng).shape == (2, 4)
    assert draws.binomial(3, np.zeros((0, 2)), rng=rng).shape == (0, 2)
    assert draws.multinomial(7, [[0, 1, 0], [1, 0, 0]], rng=rng).tolist() == [[0, 7, 0], [7, 0, 0]]
    assert draws.multinomial(0, [0.5, 0.5], rng=rng).tolist() == [0, 0]


@pytest.mark.parametrize(("n", "p"), [(30, 0.3), (60, 0.9), (1000, 0.4)])
def test_one_by_one_is_as_all_at_once(n, p):
    one, row = (np.random.default_rng(1) for _ in range(2))
    counts = [draws.binomial(n, p, rng=one) for _ in range(500)]
    assert counts == draws.binomial(n, p, 500, rng=row).tolist()
    assert type(counts[0]) is int


def test_a_generator_of_another_class_draws_by_its_own_method():
    class Most(np.random.Generator):
        def binomial(self, n, p, size=None):
            return n

        def multinomial(self, n, p, size=None):
            return [n, 0]

    rng = Most(np.random.PCG64(0))
    assert draws.binomial(5, 0.5, rng=rng) == 5
    assert draws.multinomial(5, [0.5, 0.5], rng=rng).tolist() == [5, 0]


def test_bad_input_is_refused():
    rng = np.random.default_rng(0)
    for n in (-1, 2.0, True, [3, -1], 2**60):
        with refused("n = ", "integers from 0"):
            draws.binomial(n, 0.5, rng=rng)
    for p in (-0.1, 1.1, np.nan, [0.5, np.inf]):
        with refused("p = ", "0 to 1"):
            draws.binomial(3, p, rng=rng)
    for laws in ([0.5, 0.6], [], 1.0, [[1.0], [0.5]]):
        with refused("p: laws that sum to 1"):
            draws.multinomial(3, laws, rng=rng)
    with refused("n = <list>", "one integer"):
        draws.multinomial([3, 4], [0.5, 0.5], rng=rng)
    for draw, p in ((draws.binomial, 0.5), (draws.multinomial, [1.0])):
        with refused("rng = 7"):
            draw(3, p, rng=7)


STREAMS = {
    "random": (3.40050093144, lambda rng: rng.random(999)),
    "random, float32": (9.03852567596, lambda rng: rng.random(999, np.float32)),
    "integers": (3.40050093144, lambda rng: rng.integers(2**62, size=999) / 2**62),
    "integers, few": (83.216443706, lambda rng: rng.integers(0, 10, 999)),
    "integers, bytes": (4.72206047787, lambda rng: rng.integers(0, 2, 999, np.int8)),
    "permutation": (-7546.8077341, lambda rng: rng.permutation(999)),
    "permuted": (-903.838646495, lambda rng: rng.permuted(np.arange(999).reshape(-1, 9), axis=1)),
    "choice": (83.9874809031, lambda rng: rng.choice(9, 999)),
    "choice, p": (4.07987142455, lambda rng: rng.choice(3, 999, p=[0.2, 0.3, 0.5])),
    "choice, without replacement": (3989.76517964, lambda rng: rng.choice(2000, 999, replace=False)),
    "uniform": (13.5884528795, lambda rng: rng.uniform(-1, 3, 999)),
    "laplace": (39.9978603933, lambda rng: rng.laplace(0, 2, 999)),
    "gumbel": (-48.6133513637, lambda rng: rng.gumbel(0, 2, 999)),
    "normal": (-50.940602353, lambda rng: rng.normal(0, 2, 999)),
    "standard_exponential": (-29.2285381011, lambda rng: rng.standard_exponential(999)),
    "geometric, search": (-1.80023603302, lambda rng: rng.geometric(0.5, 999)),
    "geometric, inversion": (-2910.4042983, lambda rng: rng.geometric(0.01, 999)),
    "gamma": (-22.4113657999, lambda rng: rng.gamma(np.linspace(0.1, 5, 999))),
    "multivariate_hypergeometric": (5.20797302776, lambda rng: rng.multivariate_hypergeometric(np.full(99, 40), 1000)),
    "binomial of ours": (-1265.85281247, lambda rng: draws.binomial(np.arange(999), np.linspace(0, 1, 999), rng=rng)),
    "multinomial of ours": (159.438461052, lambda rng: draws.multinomial(9999, np.full(99, 1 / 99), rng=rng)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_the_book_rests_on_is_the_one_that_made_the_records(name):
    """A numpy that draws otherwise is named here, before `companion verify` finds other numbers."""
    expected, draw = STREAMS[name]
    values = np.ravel(draw(np.random.default_rng(7))).astype(float)
    assert values @ np.sin(np.arange(len(values))) == pytest.approx(expected, rel=1e-9, abs=1e-9)
