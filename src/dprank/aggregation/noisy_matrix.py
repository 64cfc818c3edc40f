"""Rank aggregation from a noisy pairwise matrix (Alabi, Ghazi, Kumar and Manurangsi 2022, Reduction I)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_positive, require_whole
from dprank.aggregation.additive import FINITE, AdditiveNoise, noise_of
from dprank.aggregation.rules import Rule, order_by, require_exact, require_rule
from dprank.data.rankings import Rankings, require_rankings
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.noise import Law, Source
from dprank.privacy.pair_ranges import PairError, Places, Sampling, drawn, majority_places, pair_places
from dprank.privacy.ranges import ScoreNoise, place_intervals
from dprank.release import Ranking, source_of

__all__ = ["NoisyMatrix"]


@dataclass(frozen=True)
class NoisyMatrix(AdditiveNoise):
    r"""Independent noise on the number of voters behind every pair, then a rule that sees nothing else.

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        Of the noise, in voters: Laplace scale, or standard deviation; above 0.
    noise, delta
        As in `dprank.PrivateBorda`.
    adjacency : {"replace", "add_remove"}
        Under the second the number of voters is private too: only margins are used.
    law : {"discrete", "continuous"}
        Noise on the grid of possible counts, fit for release; or on the real line, as papers print it.
    rule : {"auto", "kemeny", "local_search", "borda", "copeland"}
        What orders the noisy matrix, see `order_by`. It costs no privacy. "auto" never takes
        long; "kemeny" insists on the proved optimum for up to a minute.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    NoisyMatrix.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    A voter who turns their ranking round moves the count of each of the m (m - 1) / 2 pairs by one, and nobody moves
    more: :math:`l_1` sensitivity :math:`\binom{m}{2}`, :math:`l_2` sensitivity its root, both attained. A voter who
    comes or goes moves half a margin by one half.

    Examples
    --------
    >>> from dprank import SECURE, NoisyMatrix, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, ["roads", "schools", "parks"])
    >>> mechanism = NoisyMatrix.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, SECURE).ranking
    ('roads', 'schools', 'parks')
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; replace one voter)
    """

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 1.0
    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("margins",)

    _: KW_ONLY
    rule: Rule = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rule(self.rule)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        adjacency: Adjacency = "replace",
        law: Law = "discrete",
        rule: Rule = "auto",
    ) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Of discrete Gaussian noise, the least for which zero-concentrated privacy proves it.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        n_items, adjacency, law, rule
            As in `NoisyMatrix`.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where no noise that can be drawn is enough.

        Examples
        --------
        >>> from dprank import NoisyMatrix
        >>> NoisyMatrix.calibrated(epsilon=1.0, delta=1e-6, n_items=4).noise
        'gaussian'
        """
        epsilon = require_positive("epsilon", epsilon)
        parameters: dict[str, Any] = {"delta": delta, "adjacency": adjacency, "law": law, "rule": rule}
        return cls(n_items, FINITE, noise_of(delta), **parameters)._least(epsilon)

    @property
    def n_pairs(self) -> int:
        """m (m - 1) / 2."""
        return math.comb(self.n_items, 2)

    @property
    def grain(self) -> float:
        """What one voter moves every pair by at most, and the step of the grid."""
        return 1.0 if self.adjacency == "replace" else 0.5

    @property
    def l1_sensitivity(self) -> float:
        """Largest sum of absolute differences of the counts of neighbouring data; attained by a reversed ranking."""
        return self.n_pairs * self.grain

    @property
    def l2_sensitivity(self) -> float:
        """Largest Euclidean distance between the counts of neighbouring data, rounded up."""
        return math.nextafter(self.grain * math.sqrt(self.n_pairs), math.inf)

    @property
    def margin_noise(self) -> ScoreNoise:
        """What is in every margin that `release` shows: twice the noise on a count."""
        return ScoreNoise(self.noise, 2 * self.scale, 2 * self.grain if self.law == "discrete" else 0.0)

    def open_places(
        self, release: Ranking, level: float, sampling: Sampling | None = None, persons: int | None = None
    ) -> Places:
        r"""What `Ranking.intervals` says: places in the order that the rule gives to the exact margins.

        With the rule "borda" those by net wins. With others those in every order of which no two neighbours would
        better change places, see `dprank.privacy.pair_ranges.majority_places`.

        Parameters
        ----------
        release : Ranking
            Of this mechanism.
        level : float
            In (0, 1).
        sampling, persons
            As in `dprank.PrivateBorda.drawn_deviation`: then of the margins that the population has on average.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        O(items^2). Net wins are row sums of the margins. The difference of two of them has 2 (m - 2) noises of other
        pairs, and twice that of its own. Gaussian noise of deviation :math:`\sigma` on the line in all pairs gives row
        sums of covariance :math:`\sigma^2 (m I - 1 1^T)`, as independent noises of deviation
        :math:`\sigma \sqrt m` have less their mean: they have the very law of `dprank.privacy.ranges`. A voter moves a
        margin by 1 at most, and a difference of net wins by 2 (m - 1).
        """
        n, m, one, margins = drawn(sampling, persons), self.n_items, self.margin_noise, release.margins
        if sampling == "answers":
            raise ValueError("sampling = 'answers'; a ballot is all of one person: 'persons'")
        assert margins is not None
        if self.rule != "borda":
            return majority_places(margins, PairError(((one, 1, 1.0),), deviation=math.sqrt(n)), level)
        wins = margins.sum(axis=1)
        if one.noise == "gaussian" and not one.step and not n:
            return place_intervals(wins, ScoreNoise("gaussian", one.scale * math.sqrt(m)), level)
        others = ((one, 2 * (m - 2), 1.0),) if m > 2 else ()
        return pair_places(wins, PairError((*others, (one, 1, 2.0)), deviation=2 * (m - 1) * math.sqrt(n)), level)

    def additive_error(self, n_voters: int) -> float:
        r"""Bound on the expected Kemeny score of the released order, less the least there is, if the rule is exact.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing. No data are
        read, so that one can plan before any budget is spent.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            In pairs on which the average voter disagrees. The rule "auto" is exact up to 20 items.

        Raises
        ------
        ValueError
            With a rule for which nothing is proved.

        Notes
        -----
        With :math:`\Lambda = \log m!`, Gaussian noise gives at most :math:`s \sqrt{m (m - 1) \Lambda} / n`, Laplace
        noise :math:`2 b \sqrt{\Lambda (\binom m2 + \Lambda)} / n`: means of a maximum over m! orders, for which the
        moment generating function is all that counts. On a grid it is no larger.
        """
        require_exact(self.rule)
        orders = math.lgamma(self.n_items + 1)
        if self.noise == "gaussian":
            error = math.sqrt(2 * self.n_pairs * orders)
        else:
            error = 2 * math.sqrt(orders * (self.n_pairs + orders))
        return self.scale * error / require_whole("n_voters", n_voters, 1)

    def release(self, data: Rankings, rng: Source) -> Ranking:
        """One private order.

        Parameters
        ----------
        data, rng
            As in `dprank.PrivateBorda.release`.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items^2), then the rule.
        """
        margins = self.noisy_margins(data, rng)
        order = order_by(self.rule, margins, rng=rng)
        return Ranking(data.items, order, margins=margins, mechanism=self, source=source_of(rng, self))

    def noisy_margins(self, data: Rankings, rng: Source) -> NDArray[np.float64]:
        """Margins of rankings, with noise: all that the rule sees; see `perturb`."""
        counts = require_rankings(data, self.n_items).pairwise()
        return self.perturb(counts - counts.T, rng)

    def perturb(self, margins: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Margins with noise: one draw for each pair, twice of it on the margin.

        Parameters
        ----------
        margins : ndarray, shape (..., items, items)
            Antisymmetric; leading axes are independent repetitions. For noise on the grid those of rankings: whole
            numbers and, where one voter is replaced, all odd or all even.
        rng : numpy.random.Generator or dprank.SECURE

        Returns
        -------
        ndarray of float, shape (..., items, items)
            Antisymmetric. Noise on the grid is added to integers, and only the sum becomes a float.

        Raises
        ------
        ValueError
            Where the noise would leave digits or parities as they are.
        """
        first, second = np.triu_indices(self.n_items, 1)
        margins = self._require_counts("margin", margins, 2)
        pairs = margins[..., first, second]
        if self.law == "discrete" and self.grain == 1 and ((pairs - pairs[..., :1]) % 2).any():
            raise ValueError("margins are odd and even; all of one parity, as rankings have them, are needed")
        drawn = round(2 * self.grain) * self._drawn((*margins.shape[:-2], self.n_pairs), rng)
        noisy = np.zeros(margins.shape)
        noisy[..., first, second] = pairs + drawn
        return noisy - np.swapaxes(noisy, -1, -2)
