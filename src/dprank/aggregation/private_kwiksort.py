"""Private KwikSort: noise on the comparisons that are made, not on all (Alabi et al. 2022, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_probability, require_whole, settle, shown
from dprank._search import least_under
from dprank.aggregation.additive import require_noise, require_noise_scale
from dprank.aggregation.kwiksort import comparisons_law
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.rules import Rule
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy import noise as laws
from dprank.privacy.discrete_gaussian import Answers, exact_epsilon, smoothed_epsilon
from dprank.privacy.gaussian import gaussian_epsilon, zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, compose, ratio_up, require_promise
from dprank.privacy.noise import Law, Noise, Source, require_drawable, require_source
from dprank.privacy.published import Published
from dprank.release import Ranking, source_of

__all__ = ["PrivateKwikSort"]

#: Relative allowance for the rounding of sums of losses, far above what tests find.
_ROUNDING = 1e-8


@dataclass(frozen=True)
class PrivateKwikSort:
    r"""KwikSort whose every comparison is noisy; a run that wants too many of them ends in a noisy matrix instead.

    Parameters
    ----------
    n_items : int
        At least 2.
    queries : int
        Comparisons that a run may make, 1 to m (m - 1) / 2; the counter is one for the whole run.
    scale : float
        Of the noise on a comparison, in voters: Laplace scale, or standard deviation; above 0.
    fallback : NoisyMatrix or None
        What orders the items, from the data and nothing else, when one comparison more than `queries` is wanted. None
        where `queries` is the number of pairs, and only there: KwikSort compares no pair twice.
    noise : {"laplace", "gaussian"}
    delta : float
        At which the guarantee is stated: in (0, 1) for Gaussian noise, 0 for Laplace noise. A fallback brings its own,
        which must be the same if both are Gaussian.
    adjacency : {"replace", "add_remove"}
    law : {"discrete", "continuous"}
        Noise on the grid of possible counts, fit for release; or on the real line, as the paper prints it.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    PrivateKwikSort.calibrated : the noise that a given epsilon needs, shared out best.

    Notes
    -----
    Publishes order: noisy margins, and fair coins.

    Which pair is compared next depends on earlier answers, so losses compose adaptively: those of Laplace noise add;
    Gaussian answers of scale s and a Gaussian matrix of scale t are together as private as one Gaussian answer of
    :math:`1 / \sigma^2 = q / s^2 + \binom{m}{2} / t^2` (Dong, Roth and Su 2022, Corollary 2), discrete ones nearly so
    (`dprank.privacy.discrete_gaussian`). A run that falls back has spent both. Ties are decided by a uniform order of
    the items, drawn at the start: each pair has one answer, as in a tournament, and neither item is favoured.

    Examples
    --------
    >>> from dprank import SECURE, PrivateKwikSort, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, ["roads", "schools", "parks"])
    >>> mechanism = PrivateKwikSort.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, SECURE).ranking
    ('roads', 'schools', 'parks')
    """

    card: ClassVar[Card] = Card(
        question="consensus",
        how="quicksort, each comparison by noisy votes",
        delta=True,
        adjacency=True,
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("order", "noisy margins, and fair coins"),)

    n_items: int
    queries: int
    scale: float
    fallback: NoisyMatrix | None = None
    noise: Noise = "laplace"
    _: KW_ONLY
    delta: float = 0.0
    adjacency: Adjacency = "replace"
    law: Law = "discrete"

    def __post_init__(self) -> None:
        n_items = require_whole("n_items", self.n_items, 2)
        pairs = math.comb(n_items, 2)
        settle(
            self,
            n_items=n_items,
            queries=require_whole("queries", self.queries, 1, pairs),
            delta=require_noise(self.noise, self.delta, self.law, self.adjacency),
        )
        most = self.queries * self.grain
        settle(self, scale=require_noise_scale(self.scale, self.noise, most, most))
        if not isinstance(self.fallback, NoisyMatrix | None):
            raise ValueError(f"fallback = {shown(self.fallback)}; a NoisyMatrix or None is needed")
        if (self.fallback is None) != (self.queries == pairs):
            needed = "None, since no run wants more" if self.fallback else f"needed with less than {pairs}"
            raise ValueError(f"fallback is {needed} (queries = {self.queries})")
        if self.fallback and (self.fallback.n_items, self.fallback.adjacency) != (n_items, self.adjacency):
            theirs = f"{self.fallback.n_items} items and {self.fallback.adjacency!r}"
            raise ValueError(f"fallback is for {theirs}; n_items = {n_items} and {self.adjacency!r} are needed")
        if self.fallback and self.fallback.law != self.law:
            raise ValueError(f"law = {self.law!r}; that of the fallback is {self.fallback.law!r}")
        if self._joint and self.fallback and self.fallback.delta != self.delta:
            raise ValueError(f"delta = {self.delta}; that of the Gaussian fallback is {self.fallback.delta}")
        require_promise(self.scale, self.guarantee.epsilon)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        queries: int | None = None,
        share: float | None = None,
        adjacency: Adjacency = "replace",
        law: Law = "discrete",
        rule: Rule = "auto",
    ) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Of discrete Gaussian noise, the least that `guarantee` proves: that of noise on the line, to a percent or so.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        n_items : int
            At most 256, unless both `queries` and `share` are given.
        queries : int, optional
            Comparisons that a run may make.
        share : float, optional
            Of the budget (epsilon, or of Gaussian noise its square) that goes to the fallback, in (0, 1). The default
            of both is what makes the expected scale of the noise that decides the order least, where the number of
            comparisons is QuickSort's. That uses no data.
        adjacency, law
            As in `PrivateKwikSort`.
        rule
            Of the fallback, as in `NoisyMatrix`.

        Returns
        -------
        PrivateKwikSort
            Without a fallback where one does not pay.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where no noise that can be drawn is enough.

        Examples
        --------
        >>> from dprank import PrivateKwikSort
        >>> mechanism = PrivateKwikSort.calibrated(epsilon=1.0, n_items=32)
        >>> mechanism.queries, mechanism.fallback is None
        (216, False)
        """
        shared: dict[str, Any] = {"delta": delta, "law": law, "adjacency": adjacency}
        whole = NoisyMatrix.calibrated(epsilon=epsilon, n_items=n_items, rule=rule, **shared)
        pairs, gaussian = whole.n_pairs, whole.noise == "gaussian"
        if queries is not None:
            queries = require_whole("queries", queries, 1, pairs)
        if queries is None or (share is None and queries < pairs):
            queries, best = _plan(n_items, gaussian, queries)
            share = best if share is None else share
        power = 0.5 if gaussian else 1.0
        scale = whole.scale * (1 + _ROUNDING)
        if queries == pairs:
            made = cls(n_items, pairs, require_drawable(epsilon, scale, law), None, whole.noise, **shared)
        else:
            rest = require_probability("share", share)
            spare = replace(whole, scale=require_drawable(epsilon, scale / rest**power, law, grain=0.5))
            made = cls(n_items, queries, scale * (queries / pairs / (1 - rest)) ** power, spare, whole.noise, **shared)
        if not gaussian or law == "continuous":
            return made
        # the two scales are not that of the matrix, nor is what the grid costs
        return made._times(least_under(lambda more: made._times(more).guarantee.epsilon, epsilon, 1.0))

    def _times(self, more: float) -> Self:
        """The same with so many times the noise."""
        spare = self.fallback and replace(self.fallback, scale=self.fallback.scale * more)
        return replace(self, scale=self.scale * more, fallback=spare)

    @property
    def grain(self) -> float:
        """What one voter moves every pair by at most, and the step of the grid."""
        return 1.0 if self.adjacency == "replace" else 0.5

    @property
    def _joint(self) -> bool:
        """Whether the answers and the fallback are all Gaussian, so that their losses add as squares."""
        return self.noise == "gaussian" and (self.fallback is None or self.fallback.noise == "gaussian")

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of all that a run draws, hence of the order; of a run that falls back, the answers included."""
        if self.noise == "laplace":
            answers = Guarantee(ratio_up(self.queries * self.grain, self.scale), adjacency=self.adjacency)
            return compose(answers, self.fallback.guarantee) if self.fallback else answers
        ratio = ratio_up(self.grain, self.scale)
        spare = self.fallback if self._joint else None
        square = self.queries * ratio**2 * (1 + 1e-12)
        if spare:
            square += ratio_up(spare.l2_sensitivity, spare.scale) ** 2 * (1 + 1e-12)
        if math.isinf(square):
            epsilon = math.inf
        elif self.law == "continuous" and (spare is None or spare.law == "continuous"):
            epsilon = gaussian_epsilon(math.sqrt(square), 1.0, self.delta)
        else:
            epsilon = min(zcdp(square / 2, self.delta), self._discrete_epsilon(spare))
        answers = Guarantee(epsilon, self.delta, adjacency=self.adjacency)
        return answers if spare or not self.fallback else compose(answers, self.fallback.guarantee)

    def _discrete_epsilon(self, spare: NoisyMatrix | None) -> float:
        """Of discrete Gaussian answers and of a matrix, by smoothing and by their exact law."""
        unit = self.scale / self.grain
        parts = [Answers(math.sqrt(self.queries) * (1 + 1e-12), unit, self.queries)]
        moves: list[tuple[dict[int, int], float]] = [({1: self.queries}, unit)]
        if spare:
            parts.append(spare._answers)
            moves += [(one, spare.scale / spare.grain) for one in spare._moves]
        return min(smoothed_epsilon(parts, self.delta), exact_epsilon(moves, self.delta))

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
        O(voters * items^2), and O(items log items) draws; then the fallback, if it is needed.
        """
        counts = require_rankings(data, self.n_items).pairwise()
        order = self._sort(counts - counts.T, require_source(rng))
        if order is None:
            assert self.fallback is not None
            order = self.fallback.release(data, rng).order
        return Ranking(data.items, order, mechanism=self, source=source_of(rng, self))

    def _sort(self, margins: NDArray[Any], rng: Source) -> NDArray[np.int64] | None:
        """KwikSort; None where the queries run out."""
        left = self.queries
        done: list[int] = []
        ties = rng.permutation(self.n_items)
        stack = [rng.permutation(self.n_items)]  # the first of a uniform order is a uniform pivot, on every side too
        while stack:
            part = stack.pop()
            if len(part) < 2:
                done.extend(part)
                continue
            pivot, rest = part[0], part[1:]
            left -= len(rest)
            if left < 0:
                return None
            noise = laws.draw(self.noise, self.law, self.scale / self.grain, len(rest), rng=rng)
            noisy = margins[rest, pivot] + round(2 * self.grain) * noise  # on the margin twice that on the count
            before = (noisy > 0) | ((noisy == 0) & (ties[rest] < ties[pivot]))
            stack += [rest[~before], part[:1], rest[before]]
        return np.array(done)


def _plan(n_items: int, gaussian: bool, queries: int | None) -> tuple[int, float]:
    r"""Queries, and the fallback's share of the budget, that make the expected scale of the deciding noise least.

    With p the chance that more than q comparisons are wanted, (1 - p) s + p t is least, for Laplace scales with
    q / s + C / t fixed, at losses in proportion to :math:`\sqrt{(1-p) q}` and :math:`\sqrt{p C}`; for Gaussian ones
    with q / s^2 + C / t^2 fixed, at :math:`(1-p)^{2/3} q^{1/3}` and :math:`p^{2/3} C^{1/3}`.
    """
    within, pairs = np.cumsum(comparisons_law(n_items)), math.comb(n_items, 2)  # refuses many items first
    asked = np.arange(1, pairs + 1) if queries is None else np.array([queries])
    within = within[asked].clip(0, 1)
    chance, size = (2 / 3, 1 / 3) if gaussian else (0.5, 0.5)
    answers = within**chance * asked**size
    spare = np.where(asked == pairs, 0.0, (1 - within) ** chance * pairs**size)
    best = len(asked) - 1 - int(np.argmin((answers + spare)[::-1]))  # of equals, the one that needs no fallback
    share = spare[best] / (answers[best] + spare[best])
    return int(asked[best]), float(np.clip(share, 1e-6, 1 - 1e-6))
