"""How many voters private rank aggregation needs (Alabi, Ghazi, Kumar and Manurangsi 2022, Theorems 13 and 14).

Vectors of signs are turned into rankings and back, and two thresholds are computed: numbers of voters below which no
private algorithm at all reaches a given error.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_array, require_at_least_0, require_one_of, require_positive, require_real, require_whole
from dprank.models.mallows import Mallows

__all__ = [
    "coded_threshold",
    "embed",
    "embedded_distance",
    "local_threshold",
    "mahonian",
    "pure_threshold",
    "signs",
    "tracing_threshold",
]

Convention = Literal["formula", "words"]


def embed(x: ArrayLike, middle: int, *, convention: Convention = "words") -> NDArray[np.int64]:
    """Rankings that hold vectors of signs: the paper's map from x to pi^x.

    From the order 0, 1, ..., 2 d + middle - 1, items j and j + d + middle change places, for some j below d.

    Parameters
    ----------
    x : array_like of {-1, 1}, shape (..., d)
    middle : int
        Items that never move, the paper's t; at least 0.
    convention : {"words", "formula"}
        Exchanged where ``x[j] = 1``, as the paper's words say and `signs` needs; or where ``x[j] = -1``, its formula.

    Returns
    -------
    ndarray of int, shape (..., 2 * d + middle)
        Positions of the items, 0 the best. Linear time.

    Raises
    ------
    ValueError
        Where `x` has an entry that is no sign, or `middle` is negative.

    Examples
    --------
    >>> embed([[1, -1]], 1).shape
    (1, 5)
    """
    require_one_of("convention", convention, get_args(Convention))
    sign = as_array("x", x)
    if sign.ndim < 1 or not sign.shape[-1]:
        raise ValueError(f"x has shape {sign.shape}; at least one sign a vector is needed")
    if (wrong := ~np.isin(sign, (-1, 1))).any():
        raise ValueError(f"x{np.argwhere(wrong)[0].tolist()} is no sign; allowed: -1, 1")
    d = sign.shape[-1]
    step = d + require_whole("middle", middle, 0)
    exchanged = sign == (1 if convention == "words" else -1)
    fixed = np.broadcast_to(np.arange(d, step), (*sign.shape[:-1], step - d))
    low = np.arange(d)
    return np.concatenate([low + step * exchanged, fixed, low + step * ~exchanged], axis=-1)


def signs(positions: ArrayLike, d: int) -> NDArray[np.int64]:
    """The paper's rho: -1 where item j comes before its partner, else 1.

    Parameters
    ----------
    positions : array_like of int, shape (..., items)
        Positions of the items; the partner of item j is item ``items - d + j``.
    d : int
        Signs, 1 to items / 2.

    Returns
    -------
    ndarray of {-1, 1}, shape (..., d)

    Examples
    --------
    >>> signs(embed([[1, -1]], 1), 2).tolist()
    [[1, -1]]
    """
    place = as_array("positions", positions)
    require_whole("d", d, 1, place.shape[-1] // 2)
    return np.where(place[..., :d] < place[..., place.shape[-1] - d :], -1, 1)


def embedded_distance(differing: ArrayLike, d: int, middle: int) -> NDArray[np.int64]:
    """Kendall distance of pi^x and pi^y whose vectors differ in some places: h (2 t + 2 d - h), in either convention.

    Parameters
    ----------
    differing : array_like of int
        Hamming distances h, 0 to d.
    d, middle : int
        Signs, and items that never move.

    Examples
    --------
    >>> embedded_distance([0, 1], 2, 1).tolist()
    [0, 5]
    """
    h = as_array("differing", differing)
    return h * (2 * middle + 2 * d - h)


def mahonian(n_items: int, most: int) -> list[int]:
    """How many rankings have 0, 1, ..., `most` discordant pairs with a given one; exact integers.

    O(items * most) additions of numbers of up to items * log2(items) bits.

    Examples
    --------
    >>> mahonian(3, 3)
    [1, 2, 2, 1]
    """
    counts = [1] + [0] * require_whole("most", most, 0)
    for j in range(2, require_whole("n_items", n_items, 1) + 1):
        sums = list(accumulate(counts))
        counts = [s - (sums[k - j] if k >= j else 0) for k, s in enumerate(sums)]
    return counts


def pure_threshold(n_items: int, error: Fraction | float) -> float:
    r"""Epsilon times voters below which no pure private algorithm reaches a mean error, even where all voters agree.

    Parameters
    ----------
    n_items : int
        At least 2.
    error : Fraction or float
        Mean Kendall distance from the common ranking that is allowed, above 0.

    Returns
    -------
    float
        With fewer than this number over epsilon voters, no epsilon-DP algorithm is an (alpha, error)-approximation, for
        any alpha: unanimous voters have optimum 0. It is 0 for an error that a coin reaches.

    Notes
    -----
    Unanimous data sets are n replacements apart, so the laws of the output differ by a factor of at most
    :math:`e^{\epsilon n}`. By symmetry the best law depends on the distance k from the common ranking alone, and takes
    its largest value where k < error, its smallest elsewhere. Its mean is at most the error if and only if

    .. math:: \epsilon n \ge \log\Bigl(1 + \frac{m! (m (m-1)/4 - \beta)}{\sum_{k < \beta} N_k (\beta - k)}\Bigr),

    with :math:`N_k` the `mahonian` numbers. O(items * error) exact operations.

    Examples
    --------
    >>> pure_threshold(10, 1.0) > pure_threshold(10, 5.0)
    True
    """
    require_positive("error", error)
    beta = Fraction(error)
    mean = Fraction(math.comb(require_whole("n_items", n_items, 2), 2), 2)
    if beta >= mean:
        return 0.0
    near = sum(count * (beta - k) for k, count in enumerate(mahonian(n_items, math.floor(beta))))
    return _log1p_ratio(math.factorial(n_items) * (mean - beta), Fraction(near))


def local_threshold(n_items: int, error: float) -> float:
    r"""Nats about a common ranking that any estimate with a small mean error holds, by rate and distortion.

    Parameters
    ----------
    n_items : int
        At least 2.
    error : float
        Mean Kendall distance from the common ranking that is allowed, above 0.

    Returns
    -------
    float
        With fewer than this number over epsilon tanh(epsilon / 2) voters, no epsilon-DP protocol of the local model,
        however interactive, is an (alpha, error)-approximation. It is 0 for an error that a coin reaches.

    Notes
    -----
    A uniform common ranking has log(m!) nats; given an estimate at a mean distance of :math:`\beta` at most the entropy
    of the `Mallows` law with that mean distance is left. A voter's part of the transcript tells at most
    :math:`\epsilon \tanh(\epsilon / 2)`, the largest divergence of two laws that differ by factors within
    :math:`e^{\pm \epsilon}`. O(items) for each step of a root search.

    Examples
    --------
    >>> local_threshold(10, 1.0) > local_threshold(10, 5.0)
    True
    """
    require_positive("error", error)
    if error >= math.comb(require_whole("n_items", n_items, 2), 2) / 2:
        return 0.0

    def law(theta: float) -> Mallows:
        return Mallows(n_items, theta)

    def excess(theta: float) -> float:
        return law(theta).distance_moments()[0] - error

    if excess(0.0) <= 0:
        return 0.0  # but for rounding
    most = 1 + float(np.logaddexp(0, math.log(n_items) - math.log(error)))  # each of m insertions: 1 / (exp(theta) - 1)
    theta = scipy.optimize.brentq(excess, 0.0, most, xtol=1e-14)
    return max(0.0, math.lgamma(n_items + 1) - law(theta).log_normaliser - theta * error)


def coded_threshold(d: int, middle: int, error: Fraction | float) -> float:
    """`pure_threshold` by the paper's route: unanimous voters with a ranking pi^x, and Observation 15.

    Parameters
    ----------
    d, middle : int
        Signs, and items that never move.
    error : Fraction or float
        Mean Kendall distance that is allowed, above 0.

    Returns
    -------
    float
        As `pure_threshold`; a wrong sign costs middle + 1, and there are 2^d vectors. O(d) exact operations.

    Examples
    --------
    >>> coded_threshold(4, 2, 1.0) >= 0
    True
    """
    require_positive("error", error)
    wrong = Fraction(error) / (require_whole("middle", middle, 0) + 1)
    mean = Fraction(require_whole("d", d, 1), 2)
    if wrong >= mean:
        return 0.0
    near = sum(math.comb(d, k) * (wrong - k) for k in range(math.floor(wrong) + 1))
    return _log1p_ratio(2**d * (mean - wrong), Fraction(near))


def tracing_threshold(
    d: int, middle: int, spread: float, *, epsilon: float, delta: float = 0.0, ratio: float = 1.0, error: float
) -> float:
    r"""Voters below which no (epsilon, delta)-DP algorithm is a (ratio, error)-approximation: Theorem 14, ours.

    Parameters
    ----------
    d, middle : int
        Signs, and items that never move: 2 d + middle items.
    spread : float
        Parameter a of the law of the marginals, of density proportional to (1 - p^2)^(a - 1) on [-1, 1].
    epsilon, delta : float
        Above 0; at least 0.
    ratio : float
        At least 1.
    error : float
        Additive error, at least 0.

    Returns
    -------
    float
        Zero or less where the argument says nothing.

    Notes
    -----
    A voter is traced with :math:`\sum_j \rho_j (x_j - p_j)`. With :math:`\eta` the mean share of wrong signs that the
    error leaves, those scores sum to :math:`2 a d (1 - 2 \eta) n/(n + 2 a)` in the mean; privacy keeps each of them
    below :math:`\sinh(\epsilon) \sqrt{2 a d/(2 a + 1)} + 2 d \delta (1 + e^{-\epsilon})`.

    Examples
    --------
    >>> tracing_threshold(40, 20, 0.5, epsilon=1.0, error=1.0) < 0
    True
    """
    require_whole("d", d, 1)
    require_whole("middle", middle, 0)
    for name, value in (("spread", spread), ("epsilon", epsilon)):
        require_positive(name, value)
    for name, value in (("delta", delta), ("error", error)):
        require_at_least_0(name, value)
    require_real("ratio", ratio, "it must be at least 1 and finite", lambda x: 1 <= x < math.inf)
    variance = 2 * spread / (2 * spread + 1)
    eta = ratio * variance * (middle + d) / (middle + 1) + error / (d * (middle + 1))
    growth = math.sinh(epsilon) if epsilon < 700 else math.inf
    private = growth * math.sqrt(d * variance) + 2 * d * delta * (1 + math.exp(-epsilon))
    return 2 * spread * d * (1 - 2 * eta) / private - 2 * spread


def _log1p_ratio(top: Fraction, bottom: Fraction) -> float:
    """log(1 + top / bottom) of fractions that may be too large for floats."""
    both = (bottom + top) / bottom
    return math.log(both.numerator) - math.log(both.denominator)
