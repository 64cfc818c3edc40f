"""Rank aggregation from a noisy pairwise matrix (Alabi, Ghazi, Kumar and Manurangsi 2022, Reduction I)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dprank import noise as laws
from dprank._require import (
    require_at_least_0,
    require_below_1,
    require_bool,
    require_loss,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import PrivateOrder, shrink
from dprank.aggregation.rules import borda, copeland
from dprank.mechanism import Adjacency, Guarantee, ratio_up, require
from dprank.rankings import Rankings
from dprank.topk.composition import zcdp

Noise = Literal["laplace", "gaussian"]
Law = Literal["discrete", "continuous"]
Rule = Literal["kemeny", "local_search", "borda", "copeland"]

_RULES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.int64]]] = {
    "kemeny": lambda w: kemeny(w).order,
    "local_search": local_search,
    "borda": borda,
    "copeland": copeland,
}

#: Relative allowance for the rounding of `gaussian_delta`, far above what tests find.
_ROUNDING = 1e-9


# --- the Gaussian mechanism ------------------------------------------------------------------------------------------


def gaussian_delta(l2: float, scale: float, epsilon: float) -> float:
    r"""Least delta of Gaussian noise at a given epsilon (Balle and Wang 2018, Theorem 8).

    Parameters
    ----------
    l2 : float
        Euclidean sensitivity, at least 0, finite.
    scale : float
        Standard deviation of the noise in every coordinate, above 0.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        :math:`\Phi(\mu / 2 - \epsilon / \mu) - e^\epsilon \Phi(-\mu / 2 - \epsilon / \mu)` with :math:`\mu` = l2 /
        scale. Relative accuracy 1e-9 for deltas from 1e-300 on and epsilon / mu^2 up to 1e6; below that, 0 is possible.

    Notes
    -----
    With Mills' ratio R, :math:`e^\epsilon \Phi(b) = \varphi(a) R(-b)` where a and b are the two arguments: no factor
    overflows.
    """
    require_at_least_0("l2", l2)
    require_positive("scale", scale)
    mu = l2 / scale
    require_loss("epsilon", epsilon)
    if mu == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(mu):
        return 1.0
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    if a > 0:
        return float(special.ndtr(a) - density * _mills(-b))
    return density * (_mills(-a) - _mills(-b))


def gaussian_epsilon(l2: float, scale: float, delta: float) -> float:
    """Least epsilon of Gaussian noise at a given delta, rounded up as if delta were less by a share of 1e-9.

    Parameters
    ----------
    l2, scale : float
        As of `gaussian_delta`; a scale of 0 promises nothing.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Found by bisection; 0 where the delta pays for all.
    """
    require_probability("delta", delta)
    if require_at_least_0("scale", scale) == 0:
        return math.inf if l2 > 0 else 0.0
    if gaussian_delta(l2, scale, 0.0) <= delta * (1 - _ROUNDING):
        return 0.0
    mu = l2 / scale
    most = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))
    return _least(lambda epsilon: gaussian_delta(l2, scale, epsilon) <= delta * (1 - _ROUNDING), most)


def gaussian_scale(l2: float, epsilon: float, delta: float) -> float:
    """Least standard deviation with which Gaussian noise is (epsilon, delta) private, rounded up likewise.

    Parameters
    ----------
    l2 : float
        Euclidean sensitivity, at least 0, finite.
    epsilon : float
        Above 0, finite.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In the unit of `l2`; ``gaussian_epsilon(l2, gaussian_scale(l2, epsilon, delta), delta) <= epsilon``.
    """
    if require_at_least_0("l2", l2) == 0:
        return 0.0
    require_positive("epsilon", epsilon)
    require_probability("delta", delta)
    return _least(lambda scale: gaussian_epsilon(l2, scale, delta) <= epsilon, l2)


def _mills(x: float) -> float:
    """(1 - Phi(x)) / phi(x)."""
    return math.sqrt(math.pi / 2) * float(special.erfcx(x / math.sqrt(2)))


def _least(fits: Callable[[float], bool], start: float) -> float:
    """A number that fits, by a relative 2^-40 at most above one that does not; `fits` is false, then true."""
    high = start
    while not fits(high):
        high *= 2
    low = high / 2
    while fits(low):
        low, high = low / 2, low
    while high > low * (1 + 2.0**-40):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


# --- the mechanism ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoisyOrder(PrivateOrder):
    """An order with the noisy matrix that it comes from.

    Attributes
    ----------
    margins : ndarray of float, shape (items, items)
        Private estimates of how many more voters put the row's item before the column's than after it;
        antisymmetric. With n voters, ``0.5 + margins / (2 * n)`` estimates the fractions.
    """

    margins: NDArray[np.float64]


@dataclass(frozen=True)
class NoisyMatrix:
    r"""Independent noise on the number of voters behind every pair, then a rule that sees nothing else.

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        Of the noise, in voters: Laplace scale, or standard deviation. 0 for no noise and no privacy.
    noise : {"laplace", "gaussian"}
    delta : float
        At which the guarantee of Gaussian noise is stated, in (0, 1); 0 for Laplace noise.
    adjacency : {"replace", "add_remove"}
        Under the second the number of voters is private too: only margins are used.
    law : {"discrete", "continuous"}
        Noise on the grid of possible counts, fit for release; or on the real line, as papers print it.
    rule : {"kemeny", "local_search", "borda", "copeland"}
        What orders the noisy matrix. It costs no privacy.
    clip : bool
        Whether noisy fractions are clipped to [0, 1] before the rule, as in the paper's footnote 2.
    claimed_epsilon : float, optional
        What a paper says of this calibration. It enters nothing.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    NoisyMatrix.calibrated : the noise that a given epsilon needs.
    NoisyMatrix.as_printed : the paper's own noise.

    Notes
    -----
    A voter who turns their ranking round moves the count of each of the m (m - 1) / 2 pairs by one, and nobody moves
    more: :math:`l_1` sensitivity :math:`\binom{m}{2}`, :math:`l_2` sensitivity its root, both attained. A voter who
    comes or goes moves half a margin by one half.
    """

    n_items: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    delta: float = 0.0
    adjacency: Adjacency = "replace"
    law: Law = "discrete"
    rule: Rule = "kemeny"
    clip: bool = False
    claimed_epsilon: float | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("noise", Noise), ("adjacency", Adjacency), ("law", Law), ("rule", Rule)):
            require(name, getattr(self, name), get_args(allowed))
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            scale=require_at_least_0("scale", self.scale),
            delta=require_below_1("delta", self.delta),
            clip=require_bool("clip", self.clip),
        )
        if (self.noise == "laplace") != (self.delta == 0):
            raise ValueError(f"delta = {self.delta}; 0 for Laplace noise, in (0, 1) for Gaussian noise")
        if self.clip and self.adjacency == "add_remove":
            raise ValueError("clip = True; fractions need the number of voters, which 'add_remove' keeps private")

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, delta: float = 0.0, **others: Any) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Parameters
        ----------
        n_items : int
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        **others
            Of `NoisyMatrix`, without the scale and the noise.
        """
        free = cls(n_items, 0.0, "gaussian" if delta else "laplace", delta=delta, **others)
        require_positive("epsilon", epsilon)
        if free.noise == "laplace":
            scale = ratio_up(free.n_pairs * free.grain, epsilon)
        elif free.law == "continuous":
            scale = gaussian_scale(free.l2_sensitivity, epsilon, delta)
        else:
            scale = _least(lambda s: replace(free, scale=s).guarantee.epsilon <= epsilon, free.l2_sensitivity)
        return replace(free, scale=scale)

    @classmethod
    def as_printed(
        cls,
        corollary: Literal[3, 4],
        n_items: int,
        epsilon: float,
        delta: float = 0.0,
        *,
        constant: float = 1.0,
        **others: Any,
    ) -> Self:
        """The paper's calibration, with the epsilon it claims beside what is provable.

        Parameters
        ----------
        corollary : {3, 4}
            3: Laplace(m^2 / (epsilon n)) on the fractions of n voters. 4: Gaussian of standard deviation
            ``constant`` m sqrt(log(1 / delta)) / (epsilon n). The n cancels in counts.
        n_items : int
        epsilon, delta : float
            As claimed.
        constant : float
            In place of the O() of Corollary 4.
        **others
            Of `NoisyMatrix`.
        """
        require("corollary", corollary, (3, 4))
        require_positive("epsilon", epsilon)
        printed: dict[str, Any] = {"law": "continuous", "clip": True, "claimed_epsilon": epsilon} | others
        if corollary == 3:
            return cls(n_items, n_items**2 / epsilon, "laplace", delta=delta, **printed)
        require_probability("delta", delta)
        scale = require_positive("constant", constant) * n_items / epsilon * math.sqrt(math.log(1 / delta))
        return cls(n_items, scale, "gaussian", delta=delta, **printed)

    @property
    def n_pairs(self) -> int:
        return self.n_items * (self.n_items - 1) // 2

    @property
    def grain(self) -> float:
        """What one voter moves every pair by at most, and the step of the grid."""
        return 1.0 if self.adjacency == "replace" else 0.5

    @property
    def l2_sensitivity(self) -> float:
        """Largest Euclidean distance between the counts of neighbouring data."""
        return math.nextafter(self.grain * math.sqrt(self.n_pairs), math.inf)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of Gaussian noise, discrete or not; of Laplace noise by its epsilon."""
        if self.noise == "laplace":
            return self.guarantee.epsilon**2 / 2
        ratio = ratio_up(self.l2_sensitivity, self.scale)
        return ratio * ratio / 2 * (1 + _ROUNDING)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy matrix, hence of all computed from it.

        Attained by a reversed ranking for Laplace and for continuous Gaussian noise. That of discrete Gaussian noise
        comes from `rho` and may be improved.
        """
        if self.noise == "laplace":
            return Guarantee(ratio_up(self.n_pairs * self.grain, self.scale), adjacency=self.adjacency)
        if self.law == "continuous":
            epsilon = gaussian_epsilon(self.l2_sensitivity, self.scale, self.delta)
        else:
            epsilon = zcdp(self.rho, self.delta)
        return Guarantee(epsilon, self.delta, adjacency=self.adjacency)

    def release(self, rankings: Rankings, rng: np.random.Generator | laws.SecureSource) -> NoisyOrder:
        """One private order.

        Parameters
        ----------
        rankings : Rankings
            Of `n_items` items.
        rng : numpy.random.Generator or dprank.noise.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items^2), then the rule: the exact Kemeny order takes exponential time at worst.
        """
        if rankings.n_items != self.n_items:
            raise ValueError(f"items = {rankings.n_items} names; this mechanism is for n_items = {self.n_items}")
        counts = rankings.pairwise()
        margins = self.perturb((counts - counts.T).astype(float), rng)
        if self.clip:
            margins = np.clip(margins, -len(rankings), len(rankings))
        return NoisyOrder(rankings.items, _RULES[self.rule](shrink(margins)), self.guarantee, margins)

    def perturb(
        self, margins: NDArray[np.float64], rng: np.random.Generator | laws.SecureSource
    ) -> NDArray[np.float64]:
        """Margins with noise: one draw for each pair, twice of it on the margin.

        Parameters
        ----------
        margins : ndarray of float, shape (..., items, items)
            Antisymmetric; leading axes are independent repetitions.
        rng : numpy.random.Generator or dprank.noise.SECURE
        """
        first, second = np.triu_indices(self.n_items, 1)
        size = (*margins.shape[:-2], self.n_pairs)
        if self.law == "continuous":
            draw = laws.laplace if self.noise == "laplace" else laws.gaussian
            drawn = draw(self.scale, size, rng=rng)  # type: ignore[arg-type]
        else:
            draw_whole = laws.discrete_laplace if self.noise == "laplace" else laws.discrete_gaussian
            drawn = self.grain * draw_whole(self.scale / self.grain, size, rng=rng).astype(float)
        noisy = np.zeros(margins.shape)
        noisy[..., first, second] = margins[..., first, second] + 2 * drawn
        return noisy - np.swapaxes(noisy, -1, -2)
