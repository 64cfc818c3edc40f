"""What the law of a mechanism makes impossible: sums, grids, parities, and numbers that no noise reaches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.mechanism import HasFloor, HasNoiseLaw, Publishes, value_scale_of
from dprank.privacy.pair_errors import PairError
from dprank.privacy.published import Published
from dprank.privacy.ranges import ScoreNoise
from dprank.release import Decision, Ranking, Release, Selection

__all__ = ["CHANCE", "impossible"]

#: Of a sound release that is refused, at most: noise that is farther out is none of its law.
CHANCE = 1e-12


def impossible(release: Release) -> list[str]:
    """What is in a release and cannot have come out of its mechanism, but for a chance of `CHANCE`, in sentences.

    Parameters
    ----------
    release : Release
        By a mechanism; only one whose noise is exact is looked at.

    Notes
    -----
    Numbers lie on the grid that the mechanism publishes, and those that are functions of others are computed anew
    (`dprank.privacy.published`). Net wins sum to zero: with noise that does so, too, so do scores; else their sum is
    that of the noises, whose law is known. Wins and counts are at least 0, so that no score is below what the noise
    takes off. Margins of full ballots are all odd or all even, and twice the noise is even. What lies farther out than
    noise does with `CHANCE` is refused.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=2, per_person=1)
    >>> votes = dprank.Comparisons([0] * 9, [1] * 9, [1] * 9, items=["a", "b"], voter=range(9))
    >>> release = mechanism.release(votes, dprank.SECURE)
    >>> impossible(release)
    []
    >>> shifted = dprank.Ranking(("a", "b"), [0, 1], [1209.0, 1191.0], mechanism=mechanism, source="operating system")
    >>> impossible(shifted)
    ['scores sum to 2400, and net wins to 0: no noise of this scale sums to more than 138']
    """
    if not release.publishable or release.mechanism is None:
        return []
    fields = _off_grid(release)
    found = [f"{one.field.replace('_', '-')} off the grid: {one.grid or one.of}" for one in fields]
    if found:
        return found
    if isinstance(release, Ranking):
        return [*_sums(release), *_parities(release)]
    if isinstance(release, Selection):
        return _counts(release)
    assert isinstance(release, Decision)
    return _below_its_floor(release)


def _off_grid(release: Release) -> list[Published]:
    made = release.mechanism
    listed = [one for one in made.publishes if one.again is not None] if isinstance(made, Publishes) else []
    return [one for one in listed if _there(release, one.field) and not _fits(one, release)]


def _there(release: Release, field: str) -> bool:
    value = getattr(release, field, None)
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _fits(one: Published, release: Release) -> bool:
    """Numbers of a grid to the last bit; values of a function as another machine may have them."""
    given = np.asarray(getattr(release, one.field), float)
    assert one.again is not None
    with np.errstate(all="ignore"):
        again = np.asarray(one.again(release), float)
    if one.field == "p_value":
        return bool(np.allclose(given, again, rtol=1e-6, atol=1e-12))
    return bool((given == again).all())


def _sums(release: Ranking) -> list[str]:
    """Net wins, wins, and what comes between."""
    mechanism, scores = release.mechanism, release.scores
    kind = getattr(mechanism, "score", None)
    law = mechanism.noise_law if isinstance(mechanism, HasNoiseLaw) else None
    if scores is None or kind is None or law is None:
        return []
    total = math.fsum(scores)
    if kind == "net":
        if mechanism.noise == "conditioned":
            return [f"scores sum to {total:g}, and net wins with this noise to 0"] if total else []
        most = _farthest(mechanism, law, len(scores))
        if abs(total) <= most:
            return []
        return [f"scores sum to {total:g}, and net wins to 0: no noise of this scale sums to more than {most:g}"]
    return _below_zero(scores, -_farthest(mechanism, law, 1, len(scores)), "score", "wins")


def _farthest(mechanism: Any, law: ScoreNoise, n: int, times: int = 1) -> float:
    """What the sum of n noises exceeds with `CHANCE` over two and over `times`, at most."""
    if getattr(mechanism, "noise", "") == "cube":  # each is within the cube, whose radius has a law of its own
        from dprank.privacy.cube import cube_law

        radii = cube_law(law.scale / law.step, mechanism.n_items)
        beyond = np.cumsum(radii[::-1])[::-1]
        fit = np.flatnonzero(beyond <= CHANCE / 2)
        return n * law.step * float(fit[0] if len(fit) else len(radii))
    return PairError(((law, n, 1.0),)).quantile(CHANCE / (2 * times))


def _below_zero(values: NDArray[Any], least: float, name: str, what: str) -> list[str]:
    low = float(np.min(values))
    return [f"{name} {low:g} is below {least:g}, and {what} are at least 0"] if low < least else []


def _parities(release: Ranking) -> list[str]:
    """Of full ballots by a number that is known, all margins are odd, or all are even."""
    mechanism, margins = release.mechanism, release.margins
    if margins is None or getattr(mechanism, "ballots", "") != "full" or getattr(mechanism, "grain", 0) != 1:
        return []
    pairs = margins[np.triu_indices(len(margins), 1)]
    odd = np.unique(pairs[np.abs(pairs) < 2.0**52] % 2)
    return ["margins are odd and even, and those of full ballots are all of one parity"] if len(odd) > 1 else []


def _counts(release: Selection) -> list[str]:
    """Counts of people are whole and at least 0."""
    scale = value_scale_of(release.mechanism)
    if release.values is None or scale is None:
        return []
    law = ScoreNoise("laplace", scale, 1.0)
    least = -PairError(((law, 1, 1.0),)).quantile(CHANCE / len(release.values))
    return _below_zero(release.values, least, "value", "counts")


def _below_its_floor(release: Decision) -> list[str]:
    test, p = release.mechanism, release.p_value
    if not isinstance(test, HasFloor) or test.least_p_value is None or math.isnan(p) or p >= test.least_p_value:
        return []
    return [f"p_value is below 1 / {1 + test.null_draws}, the least that its draws can show"]
