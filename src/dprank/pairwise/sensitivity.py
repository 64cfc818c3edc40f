"""How far one voter can move the scores of items: in the sum of absolute values, and in Euclidean distance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import get_args

from dprank._require import require_bool, require_one_of, require_whole
from dprank.data.comparisons import Design
from dprank.data.counting import Score
from dprank.privacy.guarantee import Adjacency

__all__ = ["l1_sensitivity", "l2_sensitivity", "linf_sensitivity"]


def l1_sensitivity(
    n_items: int,
    per_person: int,
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
    per_person : int
        Public bound L on the comparisons of one voter, from 1 to 2^53. One comparison as the unit of privacy is a voter
        with one answer.
    score : {"wins", "half", "net"}
        Wins; wins plus half the ties; wins minus losses.
    design : {"any", "once", "complete", "matching"}
        What a voter may do: answer any pairs, again and again; at most `per_person` pairs, none twice; every pair
        exactly once; at most `per_person` pairs, no item in two of them.
    ties : bool
        Whether an answer may be undecided.
    adjacency : {"replace", "add_remove"}

    Returns
    -------
    int
        Attained by some pair of neighbours: no smaller number is a sensitivity.

    Raises
    ------
    ValueError
        Naming what is out of range, or more answers than a design has room for.

    Notes
    -----
    O(1). The norm is the largest :math:`\sigma \cdot (s - s')` over sign vectors :math:`\sigma`, and the two
    voters' scores s and s' are chosen apart: the answer is :math:`\max_\sigma h(\sigma) + h(-\sigma)`, or
    :math:`\max_\sigma h(\sigma)` for adding a voter, where h is the most one voter can contribute to
    :math:`\sigma \cdot s`. With a plus signs and b = n - a minus signs there are only three kinds of pairs, which makes
    h a count. It depends on nothing but a, and is concave in it: the sum is largest in the middle, as it is symmetric,
    and h alone in the middle or at n. A voter whose answers are all left out, as those to an incomplete sheet of a
    complete design are, moves the scores by h alone: no more. In the middle a matching has room for all L answers
    across the signs: an answer more on items of their own moves as much as one more on the same pair.

    Examples
    --------
    >>> l1_sensitivity(3, 1), l1_sensitivity(3, 3), l1_sensitivity(3, 3, design="once")
    (4, 12, 8)
    >>> l1_sensitivity(3, 3, score="wins", design="complete", ties=False, adjacency="add_remove")
    3
    """
    n_items, per_person, ties = _require(n_items, per_person, score, design, ties, adjacency)

    def most(plus: int) -> int:
        minus = n_items - plus
        cross, like_plus, like_minus = plus * minus, math.comb(plus, 2), math.comb(minus, 2)
        # an answer adds `gain` where it helps most: a net win across the signs counts for both items
        helpful, gain = (cross, 2) if score == "net" else (cross + like_plus, 1)
        if design in ("any", "matching"):
            return gain * per_person
        if design == "once":
            return gain * min(per_person, helpful)
        # pairs of two minuses must be answered too; only an undecided answer keeps their wins away
        forced = like_minus if score == "half" or (score == "wins" and not ties) else 0
        return gain * helpful - forced

    middle = n_items // 2
    return max(most(middle), most(n_items)) if adjacency == "add_remove" else most(middle) + most(n_items - middle)


def l2_sensitivity(
    n_items: int,
    per_person: int,
    *,
    score: Score = "net",
    design: Design = "any",
    ties: bool = True,
    adjacency: Adjacency = "replace",
) -> float:
    r"""Bound on how far one voter can move the vector of scores, in Euclidean distance.

    Parameters
    ----------
    n_items, per_person, score, design, ties, adjacency
        As in `l1_sensitivity`.

    Returns
    -------
    float
        Rounded up. Attained, but for net wins where each pair is answered once at most: there for :math:`L < n`, for
        :math:`L = a (n - a)` and for all pairs.

    Raises
    ------
    ValueError
        As `l1_sensitivity`.

    Notes
    -----
    O(1). The distance is convex in what each voter gives, so that no tie is needed where it may be a win of either, or
    a gap. Let n be the number of items.

    *Net wins.* With all answers turned round, -s is possible where s is: replacing moves :math:`2 \max \|s\|`, adding
    half of that. An answer has length :math:`\sqrt 2`; L on one pair add up to :math:`\sqrt 2 L`, and L on items of
    their own to :math:`\sqrt{2 L}`. Where each pair is answered once, :math:`\|s\|^2` is 2 L, and 2 for any two answers
    that share an item, which wins both or loses both, less 2 if it wins one and loses the other. Three answers on three
    items have two such pairs of the first kind and one of the second, or three of the second. So of every three items
    with two answers or three, there is one 2 at most. These are at most :math:`\binom L2`, as two answers are of
    three items at most; :math:`L (n - 2) / 2`, as an answer is of n - 2 such and each has two; and :math:`\binom n3`:

    .. math:: \|s\|^2 \le 2 L + \min\bigl(L (L - 1),\ L (n - 2),\ n (n - 1) (n - 2) / 3\bigr),

    attained by one item that beats L others, by a items that beat all others, and by a ranking.

    *Wins.* Where item i has wins of both voters, the one with fewer does better to leave its own out: squares
    :math:`(x - y)^2` are at most the larger one of :math:`x^2` and :math:`y^2`. So a items have wins of the first
    alone, and the rest of the second. The largest square of a items' wins is that of the partial sums which are all
    largest: the first wins n - 1 times, the next n - 2 times and so on, until L are spent. It is concave in a: largest
    in the middle. Half wins of ties are halfway between two wins. A complete design whose half wins, or wins without
    ties, leave nothing out has half of the net wins and a constant.

    Examples
    --------
    >>> [round(l2_sensitivity(6, 3, design=design) ** 2, 9) for design in ("any", "once", "matching")]
    [72.0, 48.0, 24.0]
    >>> round(l2_sensitivity(4, 6, score="half", design="complete") ** 2, 9)
    20.0
    """
    n, most, ties = _require(n_items, per_person, score, design, ties, adjacency)
    if score == "net":
        return _root_up((4 if adjacency == "replace" else 1) * _net_square(n, most, design))
    if adjacency == "replace" and design == "complete" and (score == "half" or not ties):
        return _root_up(_net_square(n, most, design))
    halves = (n // 2, n - n // 2) if adjacency == "replace" else (n,)
    return _root_up(sum(_wins_square(n, most, design, share) for share in halves))


def linf_sensitivity(
    n_items: int,
    per_person: int,
    *,
    score: Score = "net",
    design: Design = "any",
    ties: bool = True,
    adjacency: Adjacency = "replace",
) -> int:
    """Most that one voter can move the score of any one item.

    Parameters
    ----------
    n_items, per_person, score, design, ties, adjacency
        As in `l1_sensitivity`.

    Returns
    -------
    int
        Attained.

    Raises
    ------
    ValueError
        As `l1_sensitivity`.

    Notes
    -----
    O(1). An item is in at most `per_person` answers of a voter, in n - 1 where no pair is answered twice, and in 1 of a
    matching. It wins them all, or none; replaced, it loses of net wins as many.

    Examples
    --------
    >>> [linf_sensitivity(6, 3, design=design) for design in ("any", "once", "matching")]
    [6, 6, 2]
    """
    n, most, _ = _require(n_items, per_person, score, design, ties, adjacency)
    met = {"any": most, "matching": 1}.get(design, min(most, n - 1))
    return 2 * met if (score, adjacency) == ("net", "replace") else met


def _net_square(n: int, most: int, design: Design) -> int:
    """Bound on the squared length of one voter's net wins."""
    if design == "any":
        return 2 * most * most
    if design == "matching":
        return 2 * most
    return 2 * most + min(most * (most - 1), most * (n - 2), n * (n - 1) * (n - 2) // 3)


def _wins_square(n: int, most: int, design: Design, items: int) -> int:
    """Largest squared length of one voter's wins where so many items have any."""
    if design == "any":
        return most * most
    if design == "matching":
        return most
    # n - 1, n - 2, ... wins of `whole` items, and what is left of the next
    whole = _whole_winners(n, most, items)
    rest = most - whole * (2 * n - whole - 1) // 2 if whole < items else 0
    return _squares(n - 1) - _squares(n - 1 - whole) + rest * rest


def _whole_winners(n: int, most: int, items: int) -> int:
    """How many of so many items win against all behind them, if there are `most` wins."""
    low, high = 0, items
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle * (2 * n - middle - 1) // 2 <= most else (low, middle - 1)
    return low


def _squares(k: int) -> int:
    return k * (k + 1) * (2 * k + 1) // 6


def _root_up(square: int) -> float:
    """The least float that is not below the root."""
    root = float(math.isqrt(square)) if math.isqrt(square) ** 2 == square else math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def _require(
    n_items: int, per_person: int, score: Score, design: Design, ties: bool, adjacency: Adjacency
) -> tuple[int, int, bool]:
    n_items, per_person = require_whole("n_items", n_items, 2), require_whole("per_person", per_person, 1)
    require_one_of("score", score, get_args(Score))
    require_one_of("design", design, get_args(Design))
    require_one_of("adjacency", adjacency, get_args(Adjacency))
    pairs = n_items * (n_items - 1) // 2
    room = n_items // 2 if design == "matching" else pairs
    if design != "any" and per_person > room:
        raise ValueError(
            f"per_person = {per_person}; {design} of {pairs} pairs allows 1 .. {room}: design='any' allows more"
        )
    if design == "complete" and per_person != pairs:
        raise ValueError(f"per_person = {per_person}; a complete design has {pairs}, one for each pair")
    return n_items, per_person, require_bool("ties", ties)
