"""A report that tells the truth if a coin says so, and else nothing: how often it may, and what that loses.

A voter's report is one of finitely many, of which some number fit the voter's answer, as many for every answer. With
probability c it is one of those that fit, all equally likely; else it is any of them, drawn without looking. With all
reports it is randomised response (Warner 1965; of more than two, Kairouz, Bonawitz and Ramage 2016); with subsets of
items that fit if they meet the voter's own, subset selection (Ye and Barg 2018) and its like for sets.
"""

from __future__ import annotations

import math

from dprank.privacy.randomized_response import GRAIN

__all__ = ["kept_for", "kept_loss"]

#: Ratios of whole numbers up to here are floats.
_WIDEST = 1 << 900


def kept_loss(ways: int, fitting: int, kept: int) -> float:
    """Privacy loss of a report that fits with probability kept / 2^53 at least, rounded up.

    Parameters
    ----------
    ways : int
        How many reports there are.
    fitting : int
        How many of them fit an answer, at least 1; fewer than `ways`.
    kept : int
        Chance that the report is drawn from those alone, in units of 2^-53; 1 to 2^53 - 1.

    Returns
    -------
    float
        log(1 + c ways / ((1 - c) fitting)): attained, by a report that fits one answer and not another.

    Examples
    --------
    >>> round(math.exp(kept_loss(2, 1, GRAIN // 2)), 9)  # the truth in three of four
    3.0
    """
    if ways > fitting * _WIDEST:  # no float; an error in the logarithm of far less than is added
        return math.log(ways * kept + fitting * (GRAIN - kept)) - math.log(fitting * (GRAIN - kept)) + 1e-10
    ratio = ways * kept / (fitting * (GRAIN - kept))
    return math.nextafter(math.nextafter(math.log1p(ratio), math.inf), math.inf)


def kept_for(epsilon: float, ways: int, fitting: int = 1) -> int:
    """The most chances of a report that fits, of 2^53, that `epsilon` allows; 0 where it allows none.

    Parameters
    ----------
    epsilon : float
        Above 0, finite.
    ways, fitting : int
        As of `kept_loss`.

    Examples
    --------
    >>> round(kept_for(math.log(3), 2) / GRAIN, 9), kept_for(1e-17, 2)
    (0.5, 0)
    """
    gain = -math.expm1(-epsilon)
    wide = ways > fitting * _WIDEST
    log_ratio = math.log(ways) - math.log(fitting) if wide else math.log(ways / fitting)
    rest = math.exp(min(log_ratio - epsilon, 700))
    kept = min(math.floor(GRAIN * gain / (gain + rest)), GRAIN - 1)
    while kept and kept_loss(ways, fitting, kept) > epsilon:
        kept -= 1
    return kept
