"""What a test of uniformity says."""

from __future__ import annotations

from dataclasses import dataclass

from dprank.release import Release


@dataclass(frozen=True, repr=False)
class Decision(Release):
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
    source : {"operating system", "seeded", "voters"} or None
        What drew the noise, see `dprank.release.Release`: only the first is for publication. None of a test that is not
        private.
    """

    reject: bool
    statistic: float
    threshold: float
    p_value: float
