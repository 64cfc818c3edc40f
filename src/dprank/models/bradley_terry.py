"""Bradley-Terry-Luce comparisons and their kin: item i beats item j with probability F(theta_i - theta_j)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import MOST, MOST_AT_ONCE, as_floats, require_generator, require_real, require_whole, settle, shown
from dprank.data.comparisons import Comparisons
from dprank.models.draws import binomial, multinomial

__all__ = [
    "ARCTAN",
    "LINKS",
    "LOGISTIC",
    "PROBIT",
    "Link",
    "erdos_renyi_counts",
    "sample_erdos_renyi",
    "sample_voters",
    "voter_counts",
    "win_probabilities",
]


@dataclass(frozen=True)
class Link:
    """A symmetric distribution function F with F(x) = 1 - F(-x), and what likelihoods need of it.

    Attributes
    ----------
    cdf, log_cdf, pdf : callable
        F, log F (accurate in the tail) and F', elementwise.
    score, curvature : callable
        (log F)' = F' / F and (-log F)'', elementwise and accurate in the tail.
    kappa_1, kappa_2 : float
        Suprema of F' / (F (1 - F)) and of (-log F)'': the least constants of (A1) and of the first half of (A2) of Cai,
        Chakraborty and Wang (2025). Infinity where there is none.
    steepest : float
        Supremum of the score, at most kappa_1.

    Raises
    ------
    ValueError
        If a supremum is not above 0.

    Examples
    --------
    >>> LOGISTIC.name, float(LOGISTIC.cdf(0.0)), LOGISTIC.kappa_2
    ('logistic', 0.5, 0.25)
    """

    name: str
    cdf: Callable[[Any], NDArray[np.float64]]
    log_cdf: Callable[[Any], NDArray[np.float64]]
    pdf: Callable[[Any], NDArray[np.float64]]
    score: Callable[[Any], NDArray[np.float64]]
    curvature: Callable[[Any], NDArray[np.float64]]
    kappa_1: float
    kappa_2: float
    steepest: float

    def __post_init__(self) -> None:
        for name in ("kappa_1", "kappa_2", "steepest"):
            needed = "it must be above 0"
            settle(self, **{name: require_real(name, getattr(self, name), needed, lambda x: x > 0, up=True)})


def require_link(link: Any) -> Link:
    """Refuse what is no `Link`.

    Examples
    --------
    >>> require_link("logistic")
    Traceback (most recent call last):
        ...
    ValueError: link = 'logistic'; a dprank.models.bradley_terry.Link is needed
    """
    if not isinstance(link, Link):
        raise ValueError(f"link = {shown(link)}; a dprank.models.bradley_terry.Link is needed")
    return link


@dataclass(frozen=True, repr=False)
class _Special:
    """A function of `scipy.special`, imported at its first call; it is called what it is: texts of links are keys."""

    name: str

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        return getattr(scipy.special, self.name)(x)

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"


def _logistic_pdf(x: ArrayLike) -> NDArray[np.float64]:
    return scipy.special.expit(x) * scipy.special.expit(np.negative(x))


def _logistic_score(x: ArrayLike) -> NDArray[np.float64]:
    return scipy.special.expit(np.negative(x))


def _normal_pdf(x: ArrayLike) -> NDArray[np.float64]:
    return np.exp(-np.square(x) / 2) / np.sqrt(2 * np.pi)


def _normal_score(x: ArrayLike) -> NDArray[np.float64]:
    return np.sqrt(2 / np.pi) / scipy.special.erfcx(np.negative(x) / np.sqrt(2))


def _normal_curvature(x: ArrayLike) -> NDArray[np.float64]:
    score, x = _normal_score(x), as_floats("x", x)
    far = np.minimum(x, -200) ** -2.0
    return np.where(x < -200, 1 - far + 6 * far**2, score * (score + x))


def _arctan_cdf(x: ArrayLike) -> NDArray[np.float64]:
    return 2 / np.pi * np.arctan(np.exp(np.minimum(x, 700.0)))


def _arctan_log_cdf(x: ArrayLike) -> NDArray[np.float64]:
    x = as_floats("x", x)
    # arctan(u) = u (1 - u^2 / 3 + ...), and u = e^x underflows long before its logarithm does
    far = x < -20
    return np.log(2 / np.pi) + np.where(far, x, np.log(np.arctan(np.exp(np.clip(x, -20, 700)))))


def _arctan_pdf(x: ArrayLike) -> NDArray[np.float64]:
    return 1 / (np.pi * np.cosh(np.minimum(np.maximum(x, -700), 700)))


def _arctan_score(x: ArrayLike) -> NDArray[np.float64]:
    x = np.maximum(x, -20)
    return _arctan_pdf(x) / _arctan_cdf(x)


def _arctan_curvature(x: ArrayLike) -> NDArray[np.float64]:
    x = as_floats("x", x)
    score = _arctan_score(x)
    # r + tanh x cancels in the left tail: its series in e^(2x)
    q = np.exp(2 * np.minimum(x, -5))
    series = q * (4 / 3 - q * (104 / 45 - q * 1004 / 315))
    return np.where(x < -5, series, score * (score + np.tanh(x)))


#: Bradley-Terry-Luce
LOGISTIC = Link(
    "logistic",
    _Special("expit"),
    _Special("log_expit"),
    _logistic_pdf,
    _logistic_score,
    _logistic_pdf,
    1.0,
    0.25,
    1.0,
)
#: Thurstone, case V. Its F' / (F (1 - F)) is unbounded: (A1) fails.
PROBIT = Link(
    "probit",
    _Special("ndtr"),
    _Special("log_ndtr"),
    _normal_pdf,
    _normal_score,
    _normal_curvature,
    np.inf,
    1.0,
    np.inf,
)
#: F(x) = (2 / pi) arctan(e^x), the hyperbolic secant law: logistic tails, another middle. The suprema of (A1) and (A2)
#: are attained at 0 and at 0.1831...; the second is rounded up.
ARCTAN = Link(
    "arctan",
    _arctan_cdf,
    _arctan_log_cdf,
    _arctan_pdf,
    _arctan_score,
    _arctan_curvature,
    4 / np.pi,
    0.41638288021921,
    1.0,
)
#: All of them, by name.
LINKS = {link.name: link for link in (LOGISTIC, PROBIT, ARCTAN)}


def win_probabilities(theta: ArrayLike, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Matrix of P(row beats column), shape (items, items); 1/2 on the diagonal.

    Examples
    --------
    >>> win_probabilities([0.0, 1.0]).round(3).tolist()
    [[0.5, 0.269], [0.731, 0.5]]
    """
    theta = _strengths(theta)
    return link.cdf(theta[:, None] - theta)


def sample_erdos_renyi(
    theta: ArrayLike,
    probability: float,
    *,
    rng: np.random.Generator,
    link: Link = LOGISTIC,
    items: Sequence[str] | None = None,
) -> Comparisons:
    """One comparison of every pair that an Erdos-Renyi graph holds (Cai, Chakraborty and Wang 2025, Section 2.1).

    Parameters
    ----------
    theta : array_like of float, shape (items,)
        Strengths.
    probability : float
        In [0, 1]: the chance that a pair is compared.
    rng : numpy.random.Generator
    link : Link
    items : sequence of str, optional
        Names; by default 0, 1, ...

    Notes
    -----
    O(items^2) time and memory.

    Examples
    --------
    >>> data = sample_erdos_renyi([0.0, 1.0, 2.0], 1.0, rng=np.random.default_rng(0))
    >>> len(data), data.n_items
    (3, 3)
    """
    theta, rng = _strengths(theta), require_generator(rng)
    probability = require_real("probability", probability, "it must lie in [0, 1]", lambda x: 0 <= x <= 1)
    first, second = np.triu_indices(len(theta), 1)
    edge = rng.random(first.size) < probability
    return _compare(theta, first[edge], second[edge], rng, link, items)


def sample_voters(
    theta: ArrayLike,
    voters: int,
    answers: int,
    *,
    rng: np.random.Generator,
    link: Link = LOGISTIC,
    items: Sequence[str] | None = None,
) -> Comparisons:
    """Every voter compares `answers` pairs drawn uniformly with replacement (Cai et al. 2025, Section 3.1).

    Returns
    -------
    Comparisons
        voters * answers rows, with the voter of each. O(voters * answers + items) time.

    Examples
    --------
    >>> data = sample_voters([0.0, 1.0, 2.0], 40, 2, rng=np.random.default_rng(0), items=["a", "b", "c"])
    >>> len(data), len(data.voters)
    (80, 40)
    """
    theta, rng = _strengths(theta), require_generator(rng)
    voters, answers = _require_rows(voters, answers, MOST_AT_ONCE)
    first = rng.integers(0, len(theta), voters * answers)
    second = rng.integers(0, len(theta) - 1, voters * answers)
    second += second >= first
    return _compare(theta, first, second, rng, link, items, np.repeat(np.arange(voters), answers))


def _require_rows(voters: int, answers: int, most: int) -> tuple[int, int]:
    """Refuse more comparisons than can be drawn."""
    voters, answers = require_whole("voters", voters, 0), require_whole("answers", answers, 0)
    if voters * answers > most:
        raise ValueError(f"voters = {shown(voters)}, answers = {shown(answers)}; at most {most} comparisons are drawn")
    return voters, answers


def _compare(
    theta: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    rng: np.random.Generator,
    link: Link,
    items: Sequence[str] | None,
    voter: NDArray[np.int64] | None = None,
) -> Comparisons:
    names = [str(i) for i in range(len(theta))] if items is None else list(items)
    if len(names) != len(theta):
        raise ValueError(f"items has {len(names)} names for {len(theta)} strengths: they must agree")
    with np.errstate(over="ignore"):  # infinitely far apart
        ahead = theta[first] - theta[second]
    won = rng.random(first.size) < link.cdf(ahead)
    return Comparisons(first, second, won, names, voter)


def _strengths(theta: ArrayLike) -> NDArray[np.float64]:
    theta = as_floats("theta", theta)
    if theta.ndim != 1 or len(theta) < 2:
        raise ValueError(f"theta has shape {theta.shape}; one strength an item is needed, at least two items")
    if not np.isfinite(theta).all():
        raise ValueError(f"theta[{int(np.argmin(np.isfinite(theta)))}] is not finite")
    return theta


# --- many replicates at once -----------------------------------------------------------------------------------------


def erdos_renyi_counts(
    theta: ArrayLike, probability: float, replicates: int | None = None, *, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Sufficient statistics of independent `sample_erdos_renyi` draws with the logistic link.

    Parameters
    ----------
    theta : array_like of float, shape (items,) or (replicates, items)
        Strengths, the same for all replicates or a row each.
    probability : float
        In [0, 1]: the chance that a pair is compared.
    replicates : int, optional
        At least 1; by default the number of rows of theta.
    rng : numpy.random.Generator

    Returns
    -------
    played : ndarray of float32, shape (replicates, items, items)
        1 where a pair was compared: symmetric, diagonal 0.
    wins : ndarray of float, shape (replicates, items)

    Notes
    -----
    O(replicates * items^2) time, one uniform number a pair; memory is that of the result, 4 bytes an entry of `played`.

    Examples
    --------
    >>> played, wins = erdos_renyi_counts([0.0, 1.0, 2.0], 1.0, 5, rng=np.random.default_rng(0))
    >>> played.shape, wins.sum(axis=1).tolist()
    ((5, 3, 3), [3.0, 3.0, 3.0, 3.0, 3.0])
    """
    rows = _rows(theta, replicates)
    probability = require_real("probability", probability, "it must lie in [0, 1]", lambda x: 0 <= x <= 1)
    played = np.zeros((*rows.shape, rows.shape[1]), np.float32)
    wins = np.zeros(rows.shape)
    _erdos_renyi(rows, probability, require_generator(rng), played, wins)
    return played, wins


def voter_counts(
    theta: ArrayLike, voters: int, answers: int, replicates: int | None = None, *, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Sufficient statistics of independent `sample_voters` draws with the logistic link.

    Parameters
    ----------
    theta : array_like of float, shape (items,) or (replicates, items)
        Strengths, the same for all replicates or a row each.
    voters, answers : int
        At least 0. Only their product matters.
    replicates : int, optional
        At least 1; by default the number of rows of theta.
    rng : numpy.random.Generator

    Returns
    -------
    played : ndarray of float32, shape (replicates, items, items)
        How often each pair was compared: symmetric, diagonal 0.
    wins : ndarray of float, shape (replicates, items)

    Notes
    -----
    Pairs drawn uniformly with replacement are a multinomial count, and the wins within a pair binomial. O(replicates *
    items^2) time and memory, whatever the number of voters.

    Examples
    --------
    >>> played, wins = voter_counts([0.0, 1.0, 2.0], 40, 2, 5, rng=np.random.default_rng(0))
    >>> played.shape, wins.sum(axis=1).tolist()
    ((5, 3, 3), [80.0, 80.0, 80.0, 80.0, 80.0])
    """
    rows = _rows(theta, replicates)
    voters, answers = _require_rows(voters, answers, MOST)
    first, second = np.triu_indices(rows.shape[1], 1)
    times = multinomial(voters * answers, np.full(first.size, 1 / first.size), len(rows), rng=rng)
    won = binomial(times, scipy.special.expit(rows[:, first] - rows[:, second]), rng=rng)
    played = np.zeros((*rows.shape, rows.shape[1]), np.float32)
    played[:, first, second] = played[:, second, first] = times
    table = np.zeros(played.shape)
    table[:, first, second], table[:, second, first] = won, times - won
    return played, table.sum(2)


def _rows(theta: ArrayLike, replicates: int | None) -> NDArray[np.float64]:
    theta = as_floats("theta", theta)
    if replicates is not None:
        replicates = require_whole("replicates", replicates, 1, MOST_AT_ONCE)
    if theta.ndim == 1 and replicates is not None:
        theta = np.tile(_strengths(theta), (replicates, 1))
    if theta.ndim != 2 or theta.shape[1] < 2 or replicates not in (None, len(theta)):
        raise ValueError(f"theta has shape {theta.shape}, replicates = {replicates}; one row of strengths a replicate")
    for row in theta:
        _strengths(row)
    return np.ascontiguousarray(theta)


@njit(cache=True, nogil=True, error_model="numpy")
def _erdos_renyi(theta, probability, rng, played, wins):
    """One uniform number decides a pair: below P(compared and won), below P(compared), or above.

    Odds are quotients of exponentials, an item each; where rounding could matter they are computed by themselves.
    """
    replicates, n = theta.shape
    odds = np.empty(n)
    for r in range(replicates):
        low, high = theta[r, 0], theta[r, 0]
        for i in range(1, n):
            low, high = min(low, theta[r, i]), max(high, theta[r, i])
        for i in range(n):
            odds[i] = np.exp(theta[r, i] - high)
        wide = high - low > 600.0
        for i in range(n):
            mine = 0.0
            for j in range(i + 1, n):
                u = rng.random()
                met, both = 1.0 if u < probability else 0.0, odds[i] + odds[j]
                beyond = u * both - probability * odds[i]
                if wide or abs(beyond) <= 1e-9 * both:
                    beyond = u * (1.0 + np.exp(theta[r, j] - theta[r, i])) - probability
                won = met if beyond < 0 else 0.0
                played[r, i, j] = played[r, j, i] = met
                mine += won
                wins[r, j] += met - won
            wins[r, i] += mine
