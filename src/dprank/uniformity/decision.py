"""What a test of uniformity says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """Outcome of a test.

    Parameters
    ----------
    reject : bool
        Whether the rankings are declared not uniform.
    statistic : float
        What was compared; a private test gives only what it may publish.
    threshold : float
        What it was compared with.
    p_value : float
        Probability under uniform rankings of a statistic at least as extreme.
    """

    reject: bool
    statistic: float
    threshold: float
    p_value: float
