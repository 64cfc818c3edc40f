"""Links against complex steps, series and continued fractions, far into the tails. Nothing here is random."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from checks import each
from scipy import integrate, special

from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT, win_probabilities

ROUNDING = 1e-13
LINKS = pytest.mark.parametrize("link", [LOGISTIC, PROBIT, ARCTAN], ids=lambda link: link.name)
BOUNDED = pytest.mark.parametrize("link", [LOGISTIC, ARCTAN], ids=lambda link: link.name)
LINE = np.linspace(-30, 30, 60_001)
#: log F once more, for complex numbers.
LOG_CDF = {
    "logistic": lambda z: -np.log1p(np.exp(-z)),
    "probit": lambda z: np.log(special.erfc(-z / np.sqrt(2)) / 2),
    "arctan": lambda z: np.log(2 / np.pi * np.arctan(np.exp(z))),
}


def complex_step(f, x):
    """f' without cancellation: the step may be as small as one likes."""
    return np.imag(f(x + 1e-100j)) / 1e-100


def errors(link):
    """Largest errors of F twice, F', (log F)' and -(log F)'', relative to what they should be."""
    x = np.linspace(-7, 7, 1401)
    log_f, step = LOG_CDF[link.name], 1e-3
    f, score = np.exp(log_f(x)), complex_step(log_f, x)
    # five-point rule: its error is of order step^4
    curvature = sum(w * complex_step(log_f, x + k * step) for k, w in ((-2, -1), (-1, 8), (1, -8), (2, 1))) / (
        12 * step
    )
    pairs = {
        "log_cdf": (np.exp(link.log_cdf(x)), f),
        "cdf": (link.cdf(x), f),
        "pdf": (link.pdf(x), f * score),
        "score": (link.score(x), score),
        "curvature": (link.curvature(x), curvature),
    }
    return {name: np.abs(ours / wanted - 1).max() for name, (ours, wanted) in pairs.items()}


LIMITS = {"log_cdf": 1e-12, "cdf": 1e-12, "pdf": 1e-11, "score": 1e-11, "curvature": 1e-5}


@LINKS
def test_a_link_and_its_derivatives(link):
    assert {name: error for name, error in errors(link).items() if error > LIMITS[name]} == {}
    np.testing.assert_allclose(link.cdf(LINE) + link.cdf(-LINE), 1, rtol=1e-15)
    assert integrate.quad(link.pdf, -60, 60, points=[0])[0] == pytest.approx(1, abs=1e-10)
    table = win_probabilities([1.0, 0.2, -3.0], link)
    np.testing.assert_allclose(table + table.T, 1, rtol=1e-15)


MUTANTS = {
    "another curvature": ("curvature", LOGISTIC.curvature),
    "score of the loser": ("score", lambda x: ARCTAN.score(-x)),
    "density for a score": ("score", ARCTAN.pdf),
    "curvature with a sign": ("curvature", lambda x: ARCTAN.score(x) * (ARCTAN.score(x) - np.tanh(x))),
    "tails of the normal": ("cdf", PROBIT.cdf),
    "log of the other side": ("log_cdf", lambda x: ARCTAN.log_cdf(-x)),
    "a density without pi": ("pdf", lambda x: 1 / (3 * np.cosh(x))),
}


@each("mutant", MUTANTS)
def test_a_broken_link_is_caught(mutant):
    name, function = MUTANTS[mutant]
    assert errors(replace(ARCTAN, **{name: function}))[name] > LIMITS[name]


def arctan_tail(x):
    """log F, score and curvature as power series in q = e^(2x), by exact arithmetic on the coefficients."""
    terms = 12
    arctan = [Fraction((-1) ** k, 2 * k + 1) for k in range(terms)]
    below = [a + b for a, b in zip(arctan, [Fraction(0), *arctan], strict=False)]
    score = [Fraction(1)]
    for k in range(1, terms):
        score.append(-sum((below[i] * score[k - i] for i in range(1, k + 1)), Fraction(0)))
    # tanh x = -1 + 2 q - 2 q^2 + ...
    ahead = [s + 2 * (-1) ** (k + 1) for k, s in enumerate(score)]
    ahead[0] = Fraction(0)
    curvature = [sum((score[i] * ahead[k - i] for i in range(k + 1)), Fraction(0)) for k in range(terms)]
    q = np.exp(2 * x)
    sums = (np.polynomial.polynomial.polyval(q, np.array(c, float)) for c in (arctan, score, curvature[1:]))
    inner, r, c = sums
    return np.log(2 / np.pi) + x + np.log(inner), r, q * c


def normal_tail(x):
    """The same of the normal law, by Laplace's continued fraction for Mills' ratio."""
    far = np.abs(x)
    beyond = np.zeros_like(far)
    for k in range(400, 0, -1):
        beyond = k / (far + beyond)
    score = far + beyond
    return -(far**2) / 2 - np.log(np.sqrt(2 * np.pi)) - np.log(score), score, score * beyond


def logistic_tail(x):
    q = np.exp(x)
    return x - np.log1p(q), 1 / (1 + q), q / (1 + q) ** 2


@pytest.mark.parametrize(
    ("link", "tail"),
    [(LOGISTIC, logistic_tail), (ARCTAN, arctan_tail), (PROBIT, normal_tail)],
    ids=lambda x: str(x)[:12],
)
def test_tails_are_accurate(link, tail):
    # beyond -350 the square of e^x underflows
    x = -np.geomspace(3.2, 340 if link is ARCTAN else 700 if link is LOGISTIC else 1e7, 3001)
    for ours, wanted, limit in zip(
        (link.log_cdf(x), link.score(x), link.curvature(x)), tail(x), (1, 1, 200), strict=True
    ):
        np.testing.assert_allclose(ours, wanted, rtol=limit * ROUNDING)


@LINKS
def test_no_strength_is_too_far_apart(link):
    """pytest makes an error of every warning."""
    far = np.array([0, 1, 40, 800, 1e5, 1e9, 1e150])
    for x in (far, -far):
        for f in (link.cdf, link.pdf, link.score, link.curvature):
            assert np.isfinite(f(x)).all()
            assert (f(x) >= 0).all()
        assert (link.log_cdf(x[:6]) <= 0).all()
    assert max(link.score(1e150), link.curvature(1e150), link.cdf(-1e150)) < 1e-300
    assert link.cdf(1e150) == 1
    for f in (link.cdf, link.log_cdf, link.pdf, link.score, link.curvature):
        assert np.ndim(f(0.3)) == 0
        assert np.shape(f([[0.3, 1.0]])) == (1, 2)


@LINKS
def test_log_concave(link):
    x = LINE[np.abs(LINE) < 12]
    assert (link.curvature(x) > 0).all()
    assert (np.diff(link.score(x)) < 0).all()


def suprema(link):
    score = link.score(LINE)
    return {
        "kappa_1": (score + link.score(-LINE)).max(),
        "kappa_2": link.curvature(LINE).max(),
        "steepest": score.max(),
    }


@BOUNDED
def test_constants_are_suprema(link):
    for name, found in suprema(link).items():
        assert found <= getattr(link, name) * (1 + 1e-15), name
        assert found >= getattr(link, name) * (1 - 1e-7), name


@pytest.mark.slow
def test_the_constant_of_arctan_is_rounded_up():
    x = np.linspace(0.18, 0.19, 2_000_001)
    assert ARCTAN.curvature(x).max() <= ARCTAN.kappa_2 <= ARCTAN.curvature(x).max() * (1 + 1e-10)
    assert x[ARCTAN.curvature(x).argmax()] == pytest.approx(0.1831, abs=1e-4)
    assert ARCTAN.kappa_1 == pytest.approx(4 / np.pi, rel=1e-15)


@pytest.mark.parametrize(("name", "value"), [("kappa_1", 1.27), ("kappa_2", 0.416), ("steepest", 0.999)])
def test_a_constant_too_small_is_caught(name, value):
    assert suprema(ARCTAN)[name] > value


def test_the_probit_has_no_constants():
    assert np.isinf(PROBIT.kappa_1)
    assert np.isinf(PROBIT.steepest)
    assert PROBIT.score(-1e6) > 1e6
    x = -np.geomspace(1e-3, 1e9, 10_001)
    assert PROBIT.curvature(x).max() <= PROBIT.kappa_2 == 1
    assert PROBIT.curvature(-1e9) == 1


def bends(link, x):
    """How the slope of the curvature, as a function of the score, changes while the score falls."""
    return np.diff(np.diff(link.curvature(x)) / np.diff(link.score(x)))


@BOUNDED
def test_the_loss_has_one_maximum(link):
    """`objective_loss` searches for it: where the curvature falls in the score, it falls as a concave function."""
    top = LINE[link.curvature(LINE).argmax()]
    x = np.linspace(-6, top, 601)
    assert (bends(link, x) > 0).all()
    assert (np.diff(link.curvature(LINE[(top < LINE) & (LINE < 12)])) < 0).all()
    assert (bends(replace(link, curvature=lambda x: np.square(link.curvature(x))), x) < 0).any()


def test_concave_everywhere_is_the_logistic_link_alone():
    x = np.linspace(-5, 8, 1301)
    assert (bends(LOGISTIC, x) > 0).all()
    # r + r^2 + ... for small scores r
    assert (bends(ARCTAN, x[x > 3]) < 0).all()
