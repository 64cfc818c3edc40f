"""Hockey-stick divergences of two laws, both ways round (long: the laws of all kinds of noise share one grid)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import FrozenFields
from dprank._quadrature import gauss
from dprank._require import (
    as_floats,
    require_at_least_0,
    require_below_1,
    require_positive,
    require_real,
    require_whole,
    settle,
)
from dprank.privacy.gaussian import STEEPEST, gaussian_delta, gaussian_epsilon
from dprank.privacy.noise import Law, Noise

__all__ = [
    "CELLS",
    "MOST_PRODUCTS",
    "REACH",
    "ROUNDING",
    "WIDEST_TABLE",
    "Divergence",
    "GaussianShift",
    "LaplaceShift",
    "PairLaw",
    "discrete_gaussian_shift",
    "discrete_laplace_shift",
    "noise_shift",
    "pair_of",
    "whole_noise",
]

#: Most cells of the grid on which `LaplaceShift` keeps its law.
CELLS = 1 << 14
#: Standard deviations beyond which discrete Gaussian noise counts for delta: one draw in 1e22.
REACH = 10.0

#: Most terms that the law of discrete Gaussian losses is summed from.
MOST_PRODUCTS = 1e9
#: Widest table of a law of whole noise.
WIDEST_TABLE = 1 << 26

#: Mass, as a share of delta, that counts as none above delta: sums of probabilities round.
ROUNDING = 1e-12


class Divergence(Protocol):
    """Of the laws of one output under two data sets, the larger of both directions.

    Examples
    --------
    >>> coin: Divergence = pair_of([0.75, 0.25], [0.25, 0.75])
    >>> round(math.exp(coin.epsilon(0.0)), 4), float(coin.delta(0.0))
    (3.0, 0.5)
    """

    def delta(self, epsilons: Any) -> Any:
        """Least delta at an epsilon, at least 0."""
        ...

    def epsilon(self, delta: float) -> float:
        """Least epsilon at a delta in [0, 1)."""
        ...


@dataclass(frozen=True, eq=False)
class PairLaw(FrozenFields):
    """Two laws on the same classes of outcomes, whose members have all the same likelihood ratio.

    Parameters
    ----------
    log_p, log_q : ndarray of float, shape (classes,)
        Log probabilities of the classes under two neighbouring data sets.

    Examples
    --------
    >>> law = PairLaw(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    >>> round(math.exp(law.epsilon(0.0)), 4), law.delta([0.0, math.log(2), math.log(3)]).round(4).tolist()
    (3.0, [0.5, 0.25, 0.0])
    """

    log_p: NDArray[np.float64]
    log_q: NDArray[np.float64]

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon: the larger of the two hockey-stick divergences, shape of `epsilons`."""
        epsilon = as_floats("epsilons", epsilons)[..., None]
        return np.maximum(
            _hockey_stick(self.log_p, self.log_q, epsilon), _hockey_stick(self.log_q, self.log_p, epsilon)
        )

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta in [0, 1): no root is sought, the worst events are those of largest ratio."""
        delta = require_below_1("delta", delta)
        return max(0.0, _least_epsilon(self.log_p, self.log_q, delta), _least_epsilon(self.log_q, self.log_p, delta))

    def renyi(self, order: float) -> float:
        """Rényi divergence of an order above 1, the larger of the two directions."""
        require_real("order", order, "it must be above 1 and finite", lambda x: 1 < x < math.inf)
        log_moment = max(
            scipy.special.logsumexp(order * a - (order - 1) * b)
            for a, b in ((self.log_p, self.log_q), (self.log_q, self.log_p))
        )
        return float(log_moment / (order - 1))

    def kl(self) -> float:
        """Relative entropy, the limit of `renyi` at order 1."""
        pairs = ((self.log_p, self.log_q), (self.log_q, self.log_p))
        return max(float(np.exp(a[a > -np.inf]) @ (a - b)[a > -np.inf]) for a, b in pairs)

    def rho(self, most: float = 1e6) -> float:
        """Least rho of zero-concentrated privacy: the largest Rényi divergence over its order, orders up to `most`."""
        from scipy.optimize import minimize_scalar  # a fifth of a second, and few commands need it

        found = minimize_scalar(
            lambda at: -self.renyi(1 + math.exp(at)) / (1 + math.exp(at)), bounds=(-7, math.log(most)), method="bounded"
        )
        return max(self.kl(), -float(found.fun))


@dataclass(frozen=True)
class GaussianShift:
    """Gaussian noise whose centre moves (`dprank.privacy.gaussian`).

    Parameters
    ----------
    l2 : float
        Euclidean length of the move, at least 0.
    scale : float
        Standard deviation, above 0.

    Examples
    --------
    >>> shift = GaussianShift(1.0, 2.0)
    >>> shift.epsilon(0.0), shift.delta([0.0, 1.0]).round(4).tolist()
    (inf, [0.1974, 0.0068])
    """

    l2: float
    scale: float

    def __post_init__(self) -> None:
        settle(self, l2=require_at_least_0("l2", self.l2, up=True), scale=require_positive("scale", self.scale))

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon, shape of `epsilons`."""
        epsilons = as_floats("epsilons", epsilons)
        flat = [gaussian_delta(self.l2, self.scale, float(epsilon)) for epsilon in epsilons.ravel()]
        return np.array(flat).reshape(epsilons.shape)

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta; infinite at 0 unless nothing moves."""
        if delta == 0:
            return math.inf if self.l2 > 0 else 0.0
        return gaussian_epsilon(self.l2, self.scale, delta)


@dataclass(frozen=True)
class LaplaceShift:
    r"""Independent Laplace noise on several numbers, each of which moves.

    Parameters
    ----------
    moves : sequence of float
        By how much each number differs, finite. Those of a delta above 0 are multiples of one step: there are at most
        `CELLS` steps in twice their sum.
    scale : float
        Of the noise, above 0.

    Notes
    -----
    A number that moves by a scales has a log ratio of :math:`\pm a`, or one between with a density. Times
    :math:`e^{-loss / 2}` its law is :math:`e^{-a / 2}` times halves of atoms at :math:`\pm a` and a quarter of the
    uniform measure between. Sums of such have atoms on the grid and polynomials in its cells, so that the law of the
    whole loss is exact: the only error is that of rounding, relative 1e-12 up to some hundred scales. It is the same in
    both directions.

    Examples
    --------
    >>> shift = LaplaceShift([1.0, -2.0], 4.0)
    >>> shift.epsilon(0.0), shift.delta([0.0, 0.75]).round(4).tolist()
    (0.75, [0.2268, 0.0])
    """

    moves: Sequence[float]
    scale: float

    def __post_init__(self) -> None:
        moves = as_floats("moves", self.moves)
        if moves.ndim != 1 or not np.isfinite(moves).all():
            raise ValueError("moves hold what is not finite; a list of finite numbers is needed")
        settle(self, moves=tuple(np.abs(moves[moves != 0]).tolist()), scale=require_positive("scale", self.scale))

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon, shape of `epsilons`. O(cells * numbers) each."""
        epsilons = as_floats("epsilons", epsilons)
        found = np.array([self._delta(float(epsilon)) for epsilon in epsilons.ravel()]).reshape(epsilons.shape)
        return np.clip(found, 0.0, 1.0)  # far out sums of next to nothing may round below 0

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta; at 0 the l1 length of the moves in scales."""
        most = math.fsum(self.moves) / self.scale
        if require_below_1("delta", delta) == 0 or self._delta(0.0) <= delta:
            return most if delta == 0 else 0.0
        from scipy.optimize import brentq  # a fifth of a second, and few commands need it

        return float(brentq(lambda epsilon: self._delta(epsilon) - delta, 0.0, most, xtol=1e-15, rtol=1e-14))

    @cached_property
    def _law(self) -> _LossLaw:
        steps, step = _on_grid(self.moves)
        step /= self.scale
        half = sum(steps)
        atoms, cells = np.zeros(2 * half + 1), np.zeros((2 * half, 1))
        atoms[half] = 1.0
        log_mass = 0.0
        for k in steps:
            mass = 1 + k * step / 2  # keeps numbers near 1
            log_mass += math.log(mass) - k * step / 2
            between = _antiderivative(atoms, cells)
            kept = np.pad(cells, [(0, 0), (0, 1)])
            cells = (_shifted(kept, k) + _shifted(kept, -k)) / 2
            cells += step / 4 * (_shifted(between, -k) - _shifted(between, k))
            # the measure is symmetric; below its middle no digits are lost to differences, and nothing comes in
            cells[half:] = cells[half - 1 :: -1] * (-1.0) ** np.arange(cells.shape[1])
            cells /= mass
            atoms = (_shifted(atoms, k) + _shifted(atoms, -k)) / (2 * mass)
        return _LossLaw(step, atoms, cells, log_mass)

    def _delta(self, epsilon: float) -> float:
        if not self.moves:
            return 0.0
        step, atoms, cells, log_mass = self._law
        half = len(atoms) // 2

        def tilted(loss: NDArray[np.float64]) -> NDArray[np.float64]:
            """What a loss adds to delta, for the mass that it is kept with."""
            return np.exp(loss / 2 + log_mass) * -np.expm1(-np.maximum(loss - epsilon, 0))

        total = float(np.sum(atoms * tilted(step * np.arange(-half, half + 1, dtype=float))))
        first = epsilon / step + half
        if first >= 2 * half:
            return total
        # the kink of the integrand is an end of the first cell
        left = np.arange(math.floor(first), 2 * half, dtype=float)
        nodes = cells.shape[1] // 2 + math.ceil(2 * step) + 12
        x, weight = gauss(np.maximum(left, first), left + 1, nodes)
        place = (x - np.repeat(left, nodes)) * 2 - 1
        basis = legendre.legvander(place, cells.shape[1] - 1)
        density = np.einsum("xd,xd->x", basis, np.repeat(cells[int(left[0]) :], nodes, axis=0))
        return total + float(np.sum(weight * density * tilted(step * np.asarray(x - half, float))))


class _LossLaw(NamedTuple):
    """Tilted law of a loss on a grid about 0."""

    step: float
    atoms: NDArray[np.float64]  # at the grid points
    cells: NDArray[np.float64]  # Legendre coefficients of the density in the cells between, one a row
    log_mass: float  # logarithm of what all is to be multiplied by


def whole_noise(noise: Noise, scale: float, reach: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Law of discrete noise that is cut off.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    scale : float
        At least 0; 0 is no noise.
    reach : int
        The largest integer that is left, from 0 to 2^26.

    Returns
    -------
    steps : ndarray of int, shape (2 reach + 1,)
        -reach .. reach.
    chances : ndarray of float, shape (2 reach + 1,)
        Their probabilities, which sum to 1.

    Examples
    --------
    >>> steps, chances = whole_noise("laplace", 1 / math.log(2), 1)
    >>> steps.tolist(), chances.round(4).tolist()
    ([-1, 0, 1], [0.25, 0.5, 0.25])
    """
    reach, scale = require_whole("reach", reach, 0, WIDEST_TABLE), require_at_least_0("scale", scale)
    x = np.arange(-reach, reach + 1)
    if scale < 1e-150:  # the square of a step would be no float
        return x, (x == 0).astype(float)
    weight = np.exp(-np.abs(x) / scale if noise == "laplace" else -((x / scale) ** 2) / 2)
    return x, weight / weight.sum()


def discrete_laplace_shift(moves: ArrayLike, scale: float) -> PairLaw:
    """Independent discrete Laplace noise on several whole numbers, each of which moves.

    Parameters
    ----------
    moves : array_like of int
    scale : float
        Of the noise, above 0: P(x) is proportional to exp(-abs(x) / scale).

    Returns
    -------
    PairLaw
        A class for every loss, which is a whole multiple of 1 / scale; exact. O((sum of the moves)^2).

    Raises
    ------
    ValueError
        If moves are no list of whole numbers, or the scale is not above 0.

    Examples
    --------
    >>> shift = discrete_laplace_shift([1, -2], 4.0)
    >>> round(shift.epsilon(0.0), 4), float(shift.delta(0.75).round(4))
    (0.75, 0.0)
    """
    steps, scale = _whole_moves(moves), require_positive("scale", scale)
    if math.isinf(sum(steps) / scale):
        raise ValueError(f"scale = {scale}; too little noise for any finite loss")
    log_law, rest = np.zeros(1), -math.expm1(-1 / scale)
    for k in steps:
        # of the ratio a move of k has, times what makes it symmetric
        one = np.zeros(2 * k + 1)
        one[2:-2:2] = rest
        one[[0, -1]] = 1.0
        log_law = _log_convolved(log_law, one) - k / (2 * scale) - math.log(2 - rest)
    loss = np.arange(-(len(log_law) // 2), len(log_law) // 2 + 1) / scale
    possible = log_law > -math.inf
    return PairLaw((log_law + loss / 2)[possible], (log_law - loss / 2)[possible])


def discrete_gaussian_shift(moves: ArrayLike, scale: float) -> PairLaw:
    """Independent discrete Gaussian noise on several whole numbers, each of which moves.

    Parameters
    ----------
    moves : array_like of int
    scale : float
        Of the noise, above 0: P(x) is proportional to exp(-x^2 / (2 scale^2)).

    Returns
    -------
    PairLaw
        The loss depends on the noise x through the whole number sum of moves * x: a class for each of its values. What
        draws beyond `REACH` standard deviations may add to delta, less than 1e-20 a move, is a class of its own.

    Raises
    ------
    ValueError
        If moves are no list of whole numbers, or the scale is not above 0.

    Notes
    -----
    O((scale * sum of the moves)^2).

    Examples
    --------
    >>> shift = discrete_gaussian_shift([1], 2.0)
    >>> _, chances = whole_noise("gaussian", 2.0, 20)
    >>> round(float(shift.delta(0.0)), 4), round(float(chances[20]), 4)  # total variation is the chance of 0
    (0.1995, 0.1995)
    """
    steps, scale = _whole_moves(moves), require_positive("scale", scale)
    if not steps:
        return PairLaw(np.zeros(1), np.zeros(1))
    if sum(steps) > scale * STEEPEST:
        raise ValueError(f"scale = {scale}; too little noise for any finite loss")
    common = math.gcd(*steps)
    wide = 2 * REACH * scale / common
    if not sum(wide * k * (1 + wide * sum(steps[:i])) for i, k in enumerate(steps)) <= MOST_PRODUCTS:
        raise ValueError(f"scale = {scale}; with these moves the law would be a sum of more than 10^9 products")
    reach = math.ceil(REACH * scale) + max(steps)
    _, noise = whole_noise("gaussian", scale, reach)
    log_law = np.zeros(1)
    for k in steps:
        spread = np.zeros(2 * reach * (k // common) + 1)
        spread[:: k // common] = noise
        log_law = _log_convolved(log_law, spread)
    statistic = common * np.arange(-(len(log_law) // 2), len(log_law) // 2 + 1)
    loss = (sum(k * k for k in steps) - 2 * statistic) / (2 * scale**2)
    possible = log_law > -math.inf
    # of more than `REACH` standard deviations on either side, at both data sets
    lost = math.log(4 * len(steps)) + float(scipy.special.log_ndtr(-REACH))
    log_p = np.r_[log_law[possible], lost, -math.inf]
    return PairLaw(log_p, np.r_[(log_law - loss)[possible], -math.inf, lost])


def noise_shift(noise: Noise, law: Law, moves: ArrayLike, scale: float) -> Divergence:
    """Independent noise of one kind on several numbers, each of which moves.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    law : {"continuous", "discrete"}
    moves : array_like of float
        Whole numbers, steps of the grid, if the law is discrete.
    scale : float
        Of the noise, as of `dprank.privacy.noise.draw`, above 0.

    Returns
    -------
    LaplaceShift, GaussianShift or PairLaw

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> [round(noise_shift("laplace", law, [1, -1], 4.0).epsilon(0.0), 4) for law in ("continuous", "discrete")]
    [0.5, 0.5]
    """
    if law == "discrete":
        return discrete_laplace_shift(moves, scale) if noise == "laplace" else discrete_gaussian_shift(moves, scale)
    if noise == "laplace":
        return LaplaceShift(as_floats("moves", moves).tolist(), scale)
    return GaussianShift(float(np.linalg.norm(moves)), scale)


def pair_of(p: ArrayLike | Mapping[Any, float], q: ArrayLike | Mapping[Any, float], *, log: bool = False) -> PairLaw:
    """Two laws on a finite set, outcome by outcome.

    Parameters
    ----------
    p, q : array_like of float, shape (outcomes,), or mapping of outcome to float
        Probabilities of the same outcomes; in a mapping a missing outcome is impossible.
    log : bool
        Whether they are log probabilities.

    Raises
    ------
    ValueError
        If the shapes differ, or either is not a law.

    Examples
    --------
    >>> law = pair_of({"yes": 0.5, "no": 0.5}, {"yes": 0.25, "no": 0.75})
    >>> round(math.exp(law.epsilon(0.0)), 4), float(law.delta(0.0))
    (2.0, 0.25)
    """
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        nothing = -math.inf if log else 0.0
        outcomes = dict.fromkeys([*p, *q])
        p, q = ([law.get(outcome, nothing) for outcome in outcomes] for law in (p, q))
    laws = as_floats("p", p), as_floats("q", q)
    if laws[0].shape != laws[1].shape or laws[0].ndim != 1:
        raise ValueError("p and q have several dimensions or other lengths; they must list the same outcomes")
    for name, law in zip("pq", map(np.exp, laws) if log else laws, strict=True):
        if (law < 0).any() or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} has an entry below 0 or does not sum to 1; it must be a law")
    with np.errstate(divide="ignore"):
        a, b = laws if log else map(np.log, laws)
    possible = (a > -np.inf) | (b > -np.inf)
    return PairLaw(a[possible], b[possible])


def _hockey_stick(
    log_p: NDArray[np.float64], log_q: NDArray[np.float64], epsilon: NDArray[np.float64]
) -> NDArray[np.float64]:
    return (np.exp(log_p) * -np.expm1(-np.maximum(log_p - log_q - epsilon, 0))).sum(axis=-1)


def _least_epsilon(log_p: NDArray[np.float64], log_q: NDArray[np.float64], delta: float) -> float:
    """Epsilon of one direction.

    It needs P(A) <= e^epsilon Q(A) + delta for every event A, and events {log ratio above a level} are the worst.
    """
    if delta == 0:
        return float((log_p - log_q).max())
    order = np.argsort(log_q - log_p)
    p, q = (np.logaddexp.accumulate(law[order]) for law in (log_p, log_q))
    counts = p > math.log(delta) + ROUNDING
    with np.errstate(divide="ignore"):
        needs = p[counts] + np.log(-np.expm1(math.log(delta) - p[counts])) - q[counts]
    return float(needs.max(initial=-math.inf))


def _whole_moves(moves: ArrayLike) -> list[int]:
    """Absolute values of those that are not 0."""
    given = as_floats("moves", moves)
    if given.ndim != 1 or not np.isfinite(given).all() or (given != np.round(given)).any():
        raise ValueError("moves hold what is not whole; a list of whole numbers is needed")
    return [int(abs(move)) for move in given if move]


def _on_grid(moves: Sequence[float]) -> tuple[list[int], float]:
    """Moves as whole multiples of the widest step there is."""
    largest = max(moves, default=1.0)
    shares = [Fraction(move) / Fraction(largest) for move in moves]
    exact = [share.limit_denominator(1 << 20) for share in shares]
    if any(abs(near - share) > share / 10**15 for near, share in zip(exact, shares, strict=True)):
        exact = shares
    finest = math.lcm(*(move.denominator for move in exact))
    common = Fraction(math.gcd(*(int(move * finest) for move in exact)), finest)
    steps = [int(move / common) for move in exact]
    if 2 * sum(steps) > CELLS:
        raise ValueError(f"moves need too fine a grid; multiples of one step are, at most {CELLS // 2} steps in all")
    return steps, float(common) * largest


def _shifted(rows: NDArray[np.float64], by: int) -> NDArray[np.float64]:
    """Moved to the right; what comes in is 0."""
    out = np.zeros_like(rows)
    if by >= 0:
        out[by:] = rows[: len(rows) - by]
    else:
        out[:by] = rows[-by:]
    return out


def _antiderivative(atoms: NDArray[np.float64], cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the measure up to every point: Legendre coefficients in the cells, one degree more."""
    # numpy leaves out the new degree where there is no density; a cell is half as wide as the polynomials' interval
    inside = np.zeros((len(cells), cells.shape[1] + 1))
    integral = legendre.legint(cells, lbnd=-1, axis=1) / 2
    inside[:, : integral.shape[1]] = integral
    before = np.r_[0.0, np.cumsum(inside.sum(axis=1))[:-1]] + np.cumsum(atoms[:-1])
    inside[:, 0] += before
    return inside


def _log_convolved(log_law: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the convolution; all terms are positive, so that nothing cancels."""
    most = float(log_law.max())
    with np.errstate(divide="ignore"):
        return np.log(np.convolve(np.exp(log_law - most), weights)) + most
