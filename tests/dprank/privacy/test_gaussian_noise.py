"""Seeds are fixed, but for `SECURE`. ALARM: the chance of an unlucky seed, the level at which mutants must be caught;
ALARM_SECURE: of a false alarm in each run of a check of `SECURE`."""

import numpy as np
import pytest
from checks import doubted, law_p_value, refused
from scipy import stats

from dprank.privacy import noise

ALARM = 1e-6
ALARM_SECURE = 1e-9
DRAWS = 50_000


def p_value(draws, scale):
    reach = int(6 * scale) + 2
    weights = np.exp(-(np.arange(-40 * reach, 40 * reach + 1.0) ** 2) / (2 * scale**2))
    law = weights / weights.sum()
    middle = len(law) // 2
    low, high = middle - reach, middle + reach
    cells = np.r_[law[: low + 1].sum(), law[low + 1 : high], law[high:].sum()]
    return law_p_value(np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1), cells)


@pytest.mark.parametrize("scale", [0.3, 1.0, 1.5, 20.0])
def test_discrete_gaussian_has_its_law(scale):
    draws = noise.discrete_gaussian(scale, DRAWS, rng=np.random.default_rng(5))
    assert draws.dtype == np.int64
    assert p_value(draws, scale) > ALARM


MUTANTS = {
    "a twentieth off": lambda n, rng: noise.discrete_gaussian(1.05 * 1.5, n, rng=rng),
    "rounded": lambda n, rng: np.rint(rng.normal(0, 1.6, n)).astype(int),
    "laplace": lambda n, rng: noise.discrete_laplace(1.1, n, rng=rng),
    "shifted": lambda n, rng: noise.discrete_gaussian(1.5, n, rng=rng) + (rng.random(n) < 0.05),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_sampler_is_caught(mutant):
    assert p_value(MUTANTS[mutant](DRAWS, np.random.default_rng(5)), 1.5) < ALARM


def test_secure_noise_has_the_same_law():
    """A scale that is a twentieth off is caught 999 times in 1000, by 100,000 draws that the first 10,000 ask for."""

    def chance(size):
        return p_value(noise.discrete_gaussian(2.5, size, rng=noise.SECURE), 2.5)

    assert doubted(chance, 10_000, 2 * DRAWS) > ALARM_SECURE


def test_gaussian_noise_is_normal():
    draws = noise.gaussian(3.0, (100, 50), rng=np.random.default_rng(5))
    assert draws.shape == (100, 50)
    assert stats.kstest(draws.ravel() / 3, "norm").pvalue > ALARM


def test_shapes_and_no_noise():
    rng = np.random.default_rng(0)
    assert noise.discrete_gaussian(2.0, (3, 4), rng=rng).shape == (3, 4)
    assert noise.discrete_gaussian(2.0, (2, 3), rng=noise.SECURE).shape == (2, 3)
    assert noise.discrete_gaussian(0.0, 3, rng=noise.SECURE).tolist() == [0, 0, 0]
    assert noise.gaussian(0.0, 2, rng=rng).tolist() == [0, 0]


def test_bad_input_is_refused():
    with refused("scale = -1"):
        noise.discrete_gaussian(-1.0, 3, rng=np.random.default_rng(0))
    with refused("scale = ", "2^50"):
        noise.discrete_gaussian(2.0**51, 3, rng=np.random.default_rng(0))
    with refused("rng = 7"):
        noise.discrete_gaussian(1.0, 3, rng=7)
    with refused("rng", "research"):
        noise.gaussian(1.0, 3, rng=noise.SECURE)


def test_no_noise_needs_no_generator_to_draw_from():
    for source in (np.random.default_rng(0), noise.SECURE):
        assert noise.discrete_gaussian(0.0, (2, 3), rng=source).tolist() == [[0, 0, 0], [0, 0, 0]]
