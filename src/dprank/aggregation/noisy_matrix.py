"""Rank aggregation from a noisy pairwise matrix (Alabi, Ghazi, Kumar and Manurangsi 2022, Reduction I)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_positive, require_whole
from dprank.aggregation.additive import FINITE, AdditiveNoise, noise_of
from dprank.aggregation.matrix import upper
from dprank.aggregation.rules import Rule, order_by, require_exact, require_rule
from dprank.data.ballots import BallotForm, Ballots
from dprank.data.rankings import Rankings
from dprank.mechanism import Card
from dprank.privacy.discrete_gaussian import Answers
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.noise import Law, Source
from dprank.privacy.pair_errors import PairError
from dprank.privacy.pair_ranges import Places, Sampling, drawn, majority_places, pair_places
from dprank.privacy.published import Published, on_steps
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
    ballots : {"full", "partial"}
        What the data are: `Rankings`; or `Ballots` too, which may leave items out and tie others. It costs no privacy,
        and no noise but that the grid may be half as wide.
    max_weight : int
        Public bound on the weight of one ballot, 1 to 2^20, which noise grows with: a heavier ballot is counted as one
        of this weight. 1 for full rankings, which have no weights.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    NoisyMatrix.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes margins: noisy margins (whole numbers); order: the margins, by a public rule.

    A voter who turns their ranking round moves the count of each of the m (m - 1) / 2 pairs by one, and nobody moves
    more: :math:`l_1` sensitivity :math:`\binom{m}{2}`, :math:`l_2` sensitivity its root, both attained. A voter who
    comes or goes moves half a margin by one half. A ballot with ties or gaps moves no more, but some halves of margins
    not at all; with a weight of up to `max_weight`, that many times as much.

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

    card: ClassVar[Card] = Card(
        question="consensus",
        how="noise on the votes for every pair of items, then an order that fits them",
        delta=True,
        adjacency=True,
        partial=True,
        gives=("margins",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        on_steps("margins", "noisy margins", "whole numbers"),
        Published("order", "the margins, by a public rule"),
    )

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
        ballots: BallotForm = "full",
        max_weight: int = 1,
    ) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Of discrete Gaussian noise, the least that `guarantee` proves: that of noise on the line, to a percent or so.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        n_items, adjacency, law, rule, ballots, max_weight
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
        parameters |= {"ballots": ballots, "max_weight": max_weight}
        return cls(n_items, FINITE, noise_of(delta), **parameters)._least(epsilon)

    @property
    def n_pairs(self) -> int:
        """m (m - 1) / 2."""
        return math.comb(self.n_items, 2)

    @property
    def grain(self) -> float:
        """Step of the grid: of full rankings by a number of voters that is known, all margins have one parity."""
        return 1.0 if self.adjacency == "replace" and self.ballots == "full" else 0.5

    @property
    def _move(self) -> float:
        """What one voter moves half of every margin by at most."""
        return self.max_weight * (1.0 if self.adjacency == "replace" else 0.5)

    @property
    def l1_sensitivity(self) -> float:
        """Largest sum of absolute differences of the counts of neighbouring data; attained by a reversed ranking."""
        return self.n_pairs * self._move

    @property
    def l2_sensitivity(self) -> float:
        """Largest Euclidean distance between the counts of neighbouring data, rounded up."""
        return math.nextafter(self._move * math.sqrt(self.n_pairs), math.inf)

    @property
    def _answers(self) -> Answers:
        return Answers(self.l2_sensitivity / self.grain, self.scale / self.grain, self.n_pairs)

    @property
    def _moves(self) -> list[dict[int, int]]:
        return [{math.ceil(self._move / self.grain): self.n_pairs}]

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
        margin by `max_weight` at most, and a difference of net wins by 2 (m - 1) times that.
        """
        n, m, one, margins = drawn(sampling, persons), self.n_items, self.margin_noise, release.margins
        if sampling == "answers":
            raise ValueError("sampling = 'answers'; a ballot is all of one person: 'persons'")
        assert margins is not None
        if self.rule != "borda":
            return majority_places(
                margins, PairError(((one, 1, 1.0),), deviation=self.max_weight * math.sqrt(n)), level
            )
        wins = margins.sum(axis=1)
        if one.noise == "gaussian" and not one.step and not n:
            return place_intervals(wins, ScoreNoise("gaussian", one.scale * math.sqrt(m)), level)
        others = ((one, 2 * (m - 2), 1.0),) if m > 2 else ()
        drawing = self.max_weight * 2 * (m - 1) * math.sqrt(n)
        return pair_places(wins, PairError((*others, (one, 1, 2.0)), deviation=drawing), level)

    def additive_error(self, n_voters: int) -> float:
        r"""Bound on the expected Kemeny score of the released order, less the least there is, if the rule is exact.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing. No data are
        read, so that one can plan before any budget is spent.

        Parameters
        ----------
        n_voters : int
            At least 1; of ballots with weights their sum.

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

    def release(self, data: Rankings | Ballots, rng: Source) -> Ranking:
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

    def noisy_margins(self, data: Rankings | Ballots, rng: Source) -> NDArray[np.float64]:
        """Margins of rankings, with noise: all that the rule sees; see `perturb`."""
        return self.perturb(self.margins(data), rng)

    def margins(self, data: Rankings | Ballots) -> NDArray[np.int64]:
        """What `release` adds noise to, shape (items, items): exact, and not private.

        Examples
        --------
        >>> from dprank import Ballots
        >>> ballots = Ballots([[0, 1, 1], [0, -1, 1]], "abc", weight=[1, 9])
        >>> NoisyMatrix(3, 4.0, ballots="partial", max_weight=2).margins(ballots).tolist()
        [[0, 1, 3], [-1, 0, 0], [-3, 0, 0]]
        """
        if self.ballots == "partial":
            return self._ballots(data).margins()
        counts = self._rankings(data).pairwise()
        return counts - counts.T

    def perturb(self, margins: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Margins with noise: one draw for each pair, twice of it on the margin.

        Parameters
        ----------
        margins : ndarray, shape (..., items, items)
            Antisymmetric; leading axes are independent repetitions. For noise on the grid those of the data: whole
            numbers and, where one of full rankings is replaced, all odd or all even.
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
        first, second = upper(self.n_items)
        margins = self._require_counts("margin", margins, 2)
        pairs = margins[..., first, second]
        if self.law == "discrete" and self.grain == 1 and ((pairs - pairs[..., :1]) % 2).any():
            raise ValueError("margins are odd and even; all of one parity, as rankings have them, are needed")
        drawn = round(2 * self.grain) * self._drawn((*margins.shape[:-2], self.n_pairs), rng)
        noisy = np.zeros(margins.shape)
        noisy[..., first, second] = pairs + drawn
        return noisy - np.swapaxes(noisy, -1, -2)
