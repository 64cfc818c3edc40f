"""What ranges will say, told from public numbers before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dprank.mechanism import HasNoiseLaw
from dprank.privacy.conditioned import ConditionedError
from dprank.privacy.cube import CubeError
from dprank.privacy.pair_errors import PairError
from dprank.privacy.ranges import ScoreNoise, range_quantile

__all__ = ["foreseen"]

#: Of the ranges; and of what is called likely.
_LEVEL, _LIKELY = 0.95, 0.5


def foreseen(mechanism: Any, persons: int | None) -> str:
    """That nothing will be told apart, where that is likely; else nothing. Flags and public numbers say so alone.

    Parameters
    ----------
    mechanism : Mechanism
    persons : int or None
        How many take part at most, a public number; where one answer is protected, answers.

    Notes
    -----
    Of n people the scores of any two items are at most n r apart, and ranges tell two items apart whose noisy scores
    are more than q apart, the quantile of what noise does to all pairs. With a chance of a half at least it does no
    more than its median, so that nothing is told if q is at least n r more than that.

    Examples
    --------
    >>> import dprank
    >>> print(foreseen(dprank.PrivateBorda.calibrated(epsilon=0.5, n_items=5), 4))
    with at most 4 people and so much noise, most likely nothing is told of the items' order, even if all agree: that \
takes about 38
    >>> foreseen(dprank.PrivateBorda.calibrated(epsilon=0.5, n_items=5), 4000)
    ''
    """
    if persons is None or (known := _noise(mechanism)) is None:
        return ""
    apart, reach = known
    if persons * reach > apart(_LEVEL) - apart(_LIKELY):
        return ""
    one, many = ("answer", "answers") if getattr(mechanism, "unit", "voter") == "comparison" else ("person", "people")
    return (
        f"with at most {persons} {one if persons == 1 else many} and so much noise, most likely nothing is told of "
        f"the items' order, even if all agree: that takes about {math.ceil(apart(_LEVEL) / reach)}"
    )


def _noise(mechanism: Any) -> tuple[Callable[[float], float], float] | None:
    """What noise does to all pairs of scores, by level; and how far one person sets two apart, at most."""
    name, m = type(mechanism).__name__, getattr(mechanism, "n_items", None) or 0
    kind = getattr(mechanism, "noise", "")
    law: Any = mechanism.noise_law if isinstance(mechanism, HasNoiseLaw) else None
    error: PairError | None = None
    if name == "NoisyCounts":
        reach = float(mechanism.contribution)
        two = ((law, 2, 1.0),)
        if kind in ("conditioned", "cube"):
            error = ConditionedError(two) if kind == "conditioned" else CubeError(two, n_items=m)
    elif name == "PrivateBorda":
        reach = float(mechanism.max_weight * (m - 1))
    elif name == "PerturbedMLE":  # all pairs equally often
        reach, law = 2 * mechanism.per_person / m, ScoreNoise("laplace", mechanism.scale)
    elif name == "NoisyMatrix":
        one = mechanism.margin_noise
        reach = float(mechanism.max_weight) * (2 * (m - 1) if mechanism.rule == "borda" else 1)
        others = ((one, 2 * (m - 2), 1.0),) if m > 2 else ()
        error = PairError((*others, (one, 1, 2.0)) if mechanism.rule == "borda" else ((one, 1, 1.0),))
    else:
        return None
    if error is not None:
        of_pairs = error
        return lambda level: of_pairs.quantile((1 - level) / (m * (m - 1))), reach
    return lambda level: range_quantile(law, m, level), reach
