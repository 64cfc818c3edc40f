"""The noise laws against SciPy, against fifty digits, and their draws against the laws.

One Kolmogorov test a law with a fixed seed; a right sampler fails it with probability 1e-6.
"""

import math

import mpmath
import numpy as np
import pytest
from checks import each, refused
from scipy import stats

from dprank.topk.noise_laws import LAWS, NoiseLaw

SCIPY = {"laplace": stats.laplace, "gumbel": stats.gumbel_r, "exponential": stats.expon}
FALSE_ALARM = 1e-6
laws = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


@laws
def test_the_laws_are_scipys(law):
    z = np.linspace(-3, 30, 400)
    z = z[z > 0] if law.name == "exponential" else z
    ours = law.log_density(z), law.log_above(z), law.log_below(z)
    theirs = SCIPY[law.name].logpdf(z), SCIPY[law.name].logsf(z), SCIPY[law.name].logcdf(z)
    for a, b in zip(ours, theirs, strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=0)
    assert law.deviation == pytest.approx(SCIPY[law.name].std(), rel=1e-12)


@laws
@each("z", [-700.0, -40.0, -3.0, -1e-9, 1e-12, 0.3, 39.0, 41.0, 200.0, 5000.0])
def test_tails_keep_all_digits_however_far_out(law, z):
    if law.name == "exponential" and z < 0:
        assert (law.log_density(z), law.log_above(z), law.log_below(z)) == (-math.inf, 0, -math.inf)
        return
    with mpmath.workdps(3000 if abs(z) > 100 else 60):
        x = mpmath.mpf(z)
        if law.name == "laplace":
            tail = mpmath.exp(-abs(x)) / 2
            below = tail if x < 0 else 1 - tail
        else:
            below = mpmath.exp(-mpmath.exp(-x)) if law.name == "gumbel" else 1 - mpmath.exp(-x)
        above = 1 - below
        for ours, exact in ((law.log_below(z), below), (law.log_above(z), above)):
            expected = float(mpmath.log(exact)) if exact else -math.inf
            assert ours == pytest.approx(expected, rel=4e-15, abs=5e-324)


@laws
def test_draws_follow_the_law(law):
    draws = law.draw(2.5, 20_000, np.random.default_rng(20261121))
    assert stats.kstest(draws / 2.5, SCIPY[law.name].cdf).pvalue > FALSE_ALARM
    assert law.draw(1.0, (3, 4), np.random.default_rng(1)).shape == (3, 4)


@laws
def test_densities_are_smooth_but_at_the_kinks(law):
    assert law.kinks == (() if law.name == "gumbel" else (0.0,))
    left, right = (np.diff(np.exp(law.log_density(side * np.array([1e-6, 2e-6]))))[0] * side for side in (-1, 1))
    assert (abs(left - right) < 1e-9) is not bool(law.kinks)


def test_unknown_noise_is_refused():
    with refused("name", "gauss", "laplace"):
        NoiseLaw("gauss")
