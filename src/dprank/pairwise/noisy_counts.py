"""Ranking by noisy win counts (Cai, Chakraborty and Wang 2025, Algorithms 2 and 3)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    WIDEST_COUNT,
    as_floats,
    require_bool,
    require_claim,
    require_one_of,
    require_positive,
    require_whole,
    settle,
    shown,
)
from dprank.data.comparisons import Comparisons, require_comparisons, voter_column
from dprank.data.counting import GRAIN, Score, win_counts
from dprank.privacy import noise
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit, ratio_up, require_scale
from dprank.privacy.noise import Law, best_first
from dprank.release import Ranking, source_of

Design = Literal["any", "once", "complete"]


def l1_sensitivity(
    n_items: int,
    answers: int,
    *,
    score: Score = "net",
    design: Design = "any",
    ties: bool = True,
    adjacency: Adjacency = "replace",
) -> int:
    r"""Most that one voter can move the vector of scores, in the sum of absolute values.

    Parameters
    ----------
    n_items : int
        From 2 to 2^53.
    answers : int
        Public bound L on the comparisons of one voter, from 1 to 2^53. One comparison as the unit of privacy is a voter
        with one answer.
    score : {"wins", "half", "net"}
        Wins; wins plus half the ties; wins minus losses.
    design : {"any", "once", "complete"}
        What a voter may do: answer any pairs, again and again; at most `answers` pairs, none twice; every pair
        exactly once.
    ties : bool
        Whether an answer may be undecided.
    adjacency : {"replace", "add_remove"}

    Returns
    -------
    int
        Attained by some pair of neighbours: no smaller number is a sensitivity.

    Notes
    -----
    O(1). The norm is the largest :math:`\sigma \cdot (s - s')` over sign vectors :math:`\sigma`, and the two
    voters' scores s and s' are chosen apart: the answer is :math:`\max_\sigma h(\sigma) + h(-\sigma)`, or
    :math:`\max_\sigma h(\sigma)` for adding a voter, where h is the most one voter can contribute to
    :math:`\sigma \cdot s`. With a plus signs and b = n - a minus signs there are only three kinds of pairs, which makes
    h a count. It depends on nothing but a, and is concave in it: the sum is largest in the middle, as it is symmetric,
    and h alone in the middle or at n.
    """
    n_items, answers = require_whole("n_items", n_items, 2), require_whole("answers", answers, 1)
    pairs = n_items * (n_items - 1) // 2
    require_one_of("score", score, get_args(Score))
    require_one_of("design", design, get_args(Design))
    require_one_of("adjacency", adjacency, get_args(Adjacency))
    ties = require_bool("ties", ties)
    if design != "any" and answers > pairs:
        raise ValueError(f"answers = {answers}; {design} of {pairs} pairs allows 1 .. {pairs}")
    if design == "complete" and answers != pairs:
        raise ValueError(f"answers = {answers}; a complete design has {pairs}, one for each pair")

    def most(plus: int) -> int:
        minus = n_items - plus
        cross, like_plus, like_minus = plus * minus, math.comb(plus, 2), math.comb(minus, 2)
        # an answer adds `gain` where it helps most: a net win across the signs counts for both items
        helpful, gain = (cross, 2) if score == "net" else (cross + like_plus, 1)
        if design == "any":
            return gain * answers
        if design == "once":
            return gain * min(answers, helpful)
        # pairs of two minuses must be answered too; only an undecided answer keeps their wins away
        forced = like_minus if score == "half" or (score == "wins" and not ties) else 0
        return gain * helpful - forced

    middle = n_items // 2
    return max(most(middle), most(n_items)) if adjacency == "add_remove" else most(middle) + most(n_items - middle)


@dataclass(frozen=True)
class NoisyCounts:
    """Laplace noise on the score of every item, then sort.

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        Of the Laplace noise, in the unit of the score; above 0.
    answers : int
        Public bound on the comparisons of one voter; 1 where the unit is one comparison.
    unit : {"voter", "comparison"}
    adjacency : {"replace", "add_remove"}
    score, design, ties
        As in `l1_sensitivity`: a public promise about the data. `release` refuses data that break it.
    law : {"discrete", "continuous"}
        Noise on the grid of possible scores, fit for release; or on the real line, as papers print it.
    claimed_epsilon : float, optional
        What a paper says of this calibration. It enters nothing.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    NoisyCounts.calibrated : the noise that a given epsilon needs.
    NoisyCounts.as_printed : the paper's own noise.
    """

    n_items: int
    scale: float
    _: KW_ONLY
    answers: int = 1
    unit: Unit = "voter"
    adjacency: Adjacency = "replace"
    score: Score = "net"
    design: Design = "any"
    ties: bool = True
    law: Law = "discrete"
    claimed_epsilon: float | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            answers=require_whole("answers", self.answers, 1),
            ties=require_bool("ties", self.ties),
            claimed_epsilon=require_claim(self.claimed_epsilon),
            **{
                name: require_one_of(name, getattr(self, name), get_args(allowed))
                for name, allowed in (
                    ("unit", Unit),
                    ("adjacency", Adjacency),
                    ("score", Score),
                    ("design", Design),
                    ("law", Law),
                )
            },
        )
        if self.unit == "comparison" and (self.answers, self.design) != (1, "any"):
            raise ValueError(
                f"answers = {self.answers}, design = {self.design!r}; with unit = 'comparison' they are 1, 'any'"
            )
        settle(self, scale=require_scale(self.scale, self.sensitivity))

    @classmethod
    def calibrated(cls, epsilon: float, n_items: int, **parameters: Any) -> Self:
        """The least noise that makes the released vector epsilon-private.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items : int
        **parameters
            Of `NoisyCounts`, without the scale.
        """
        free = cls(n_items, 1.0, **parameters)
        return replace(free, scale=_scale(free.sensitivity, epsilon))

    @classmethod
    def as_printed(cls, algorithm: Literal[2, 3], epsilon: float, n_items: int, **parameters: Any) -> Self:
        """The paper's calibration, with the epsilon it claims beside what is provable.

        Parameters
        ----------
        algorithm : {2, 3}
            2: Laplace(2 / epsilon) for one comparison as the unit. 3: Laplace(L / epsilon) for a voter with L answers.
        epsilon : float
            As claimed.
        n_items : int
        **parameters
            For Algorithm 3 `answers`, the paper's L, and the design of the data.
        """
        algorithm, epsilon = require_one_of("algorithm", algorithm, (2, 3)), require_positive("epsilon", epsilon)
        printed: dict[str, Any] = {"score": "wins", "law": "continuous", "claimed_epsilon": epsilon}
        printed |= {"unit": "comparison" if algorithm == 2 else "voter"} | parameters
        free = cls(n_items, 1.0, **printed)
        return replace(free, scale=_scale(2 if algorithm == 2 else free.answers, epsilon))

    @property
    def sensitivity(self) -> int:
        """Largest l1 distance between the scores of neighbouring data."""
        return l1_sensitivity(
            self.n_items,
            self.answers,
            score=self.score,
            design=self.design,
            ties=self.ties,
            adjacency=self.adjacency,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy vector, hence of all computed from it; attained by the worst neighbours."""
        return Guarantee(ratio_up(self.sensitivity, self.scale), unit=self.unit, adjacency=self.adjacency)

    def release(self, data: Comparisons, rng: np.random.Generator | noise.SecureSource) -> Ranking:
        """One private ranking.

        Parameters
        ----------
        data : Comparisons
            With voters where the unit is a voter.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Raises
        ------
        ValueError
            If the data break what was promised of them: `items`, `answers`, `design`, `ties`.
        """
        self._check(data)
        scores = self.perturb(win_counts(data, self.score), rng)
        order, source = best_first(scores, rng), source_of(rng, self)
        return Ranking(data.items, order, scores, mechanism=self, source=source)

    def perturb(
        self, scores: ArrayLike, rng: np.random.Generator | noise.SecureSource, repetitions: int | None = None
    ) -> NDArray[np.float64]:
        """Noisy scores of given scores.

        Parameters
        ----------
        scores : array_like of float, shape (items,)
            Exact scores, as of `win_counts`.
        rng : numpy.random.Generator or dprank.SECURE
        repetitions : int, optional
            Independent draws, one a row.

        Returns
        -------
        ndarray of float, shape (items,) or (repetitions, items)
        """
        scores = as_floats("scores", scores)
        if scores.shape != (self.n_items,) or not np.isfinite(scores).all():
            raise ValueError(f"scores are not {self.n_items} finite numbers, one an item: those are needed")
        shape = scores.shape if repetitions is None else (require_whole("repetitions", repetitions, 0), *scores.shape)
        if self.law == "continuous":
            return scores + noise.laplace(self.scale, shape, rng=rng)  # type: ignore[arg-type, operator]
        grain = GRAIN[self.score]
        if (scores != grain * np.round(scores / grain)).any():
            raise ValueError(f"scores are not all multiples of {grain:g}, as {self.score!r} scores are")
        if (np.abs(scores) > WIDEST_COUNT).any():
            raise ValueError("scores are not all within 2^51, where whole noise is added exactly")
        return scores + grain * noise.discrete_laplace(self.scale / grain, shape, rng=rng)

    def _check(self, data: Comparisons) -> None:
        require_comparisons(data, self.n_items)
        if not self.ties and (tied := data.points == 1).any():
            raise ValueError(f"outcome[{int(tied.argmax())}] is undecided; ties = False promised that none is")
        if self.unit == "comparison":
            return
        voter, given = require_at_most(data, self.answers)
        if self.design == "any":
            return
        low, high = np.minimum(data.first, data.second), np.maximum(data.first, data.second)
        pair = (voter.astype(np.int64) * self.n_items + low) * self.n_items + high
        if len(np.unique(pair)) < len(pair):
            first = np.unique(pair, return_index=True)[1]
            row = int(np.setdiff1d(np.arange(len(pair)), first)[0])
            raise ValueError(f"voter[{row}] answered that pair before; design = {self.design!r} promised once")
        if self.design == "complete" and given.size and given.min() < self.answers:
            row = int((given[voter] < self.answers).argmax())
            raise ValueError(f"voter[{row}] did not give all {self.answers} answers; design = 'complete'")


def require_at_most(data: Comparisons, answers: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Refuse data in which a voter gave more than the promised number of answers.

    Returns
    -------
    voter : ndarray of int, shape (comparisons,)
        Who gave each answer, as a code 0 .. voters - 1.
    given : ndarray of int, shape (voters,)
        How many answers each gave.
    """
    voters, voter = np.unique(voter_column(data), return_inverse=True)
    given = np.bincount(voter, minlength=len(voters))
    if given.size and given.max() > answers:
        row = int((given[voter] > answers).argmax())
        raise ValueError(
            f"voter[{row}] gave more answers than answers = {answers} promised "
            f"(Comparisons.at_most({answers}) keeps the first ones)"
        )
    return voter, given


def _scale(sensitivity: int, epsilon: float) -> float:
    scale = ratio_up(sensitivity, require_positive("epsilon", epsilon))
    if math.isinf(scale):
        raise ValueError(f"epsilon = {shown(epsilon)}; no finite noise is that private")
    return scale
