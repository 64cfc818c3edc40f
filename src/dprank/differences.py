"""Two published files beside each other: which differences are more than noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_probability, shown
from dprank.data.declaration import FULL
from dprank.mechanism import value_scale_of
from dprank.privacy.pair_errors import PairError
from dprank.privacy.pair_ranges import NoRanges
from dprank.privacy.ranges import ScoreNoise
from dprank.publication import opened, read_publication
from dprank.release import Decision, Ranking, Release, Selection, open_places
from dprank.scored import step_of
from dprank.sentences import unit_of

__all__ = ["Differences", "compare"]

#: Levels beyond it are not told from 1.
_MOST = 1 - 1e-6
#: Steps down, at most.
_STEPS = 20
#: What two files must have alike, so that their numbers are of one thing.
ALIKE = ("question", "rule", "bound")
#: Parameters of mechanisms that say what was counted, and not with how much noise.
COUNTED = ("score", "design", "ties", "unit", "ballots", "largest", "rule")
PLACES = "A place has moved where the two ranges of places have none in common."
SUMS = (
    "Scores are sums over those who took part: where not as many took part they differ for that alone, and this says "
    "nothing of it."
)
NOISE_ALONE = "Of the noise alone: not of who else might have been asked."
NO_LAW = "Whether names alone differ by more than noise, no law tells."


@dataclass(frozen=True)
class Differences:
    """What two releases say of the same items.

    Parameters
    ----------
    level : float
        Chance that everything that is told is so, all at once.
    items : tuple of dict
        A record an item: item; first and second, each with place, score, lowest and highest, as far as they are there,
        or None where it was not chosen; difference of the scores, and whether it is more than noise; moved: "up",
        "down" or None.
    turned : tuple of dict
        A record a pair whose order is sure in both, and the other way round in the second: item, over.
    said : tuple of str
        In sentences: what is more than noise, and what is not spoken of.
    step : float
        Of differences, the unit of the last digit that is above the noise: a power of ten.
    steps : tuple of float
        The same of the scores of each of the two, as each shows them by itself.
    """

    level: float
    items: tuple[Mapping[str, Any], ...]
    turned: tuple[Mapping[str, Any], ...]
    said: tuple[str, ...]
    step: float
    steps: tuple[float, float]


def compare(one: str, other: str, level: float = 0.95) -> Differences:
    """Which differences between two published files are more than noise, for all items at once.

    Parameters
    ----------
    one, other : str
        Texts as of `dprank.publication.publish`, of one question, by one rule, of the same items.
    level : float
        In (0, 1), at most 1 - 1e-6: the chance that nothing is told that is not so, over the noise of both.

    Raises
    ------
    ValueError
        Naming what is out of range, the file that is none, or what the two have not alike.

    Notes
    -----
    The law of the noise is public, so this costs no privacy. Half of 1 - level goes to scores, where they have one; the
    rest to the ranges of places, half of it to each file. Of m scores those differ whose difference is above q, with
    :math:`P(|D - d| > q) \\le a / h` for the exact difference d, the share a and the number h of differences that are
    not told yet (Holm 1979). Scores of `dprank.PrivateBorda` are less their mean, and so is their noise.

    Examples
    --------
    >>> import dprank
    >>> from dprank.publication import publish
    >>> def wave(votes):
    ...     release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(
    ...         dprank.Rankings(votes, ["roads", "parks"]), np.random.default_rng(1)
    ...     )
    ...     return publish(release, "consensus")
    >>> found = compare(wave([[0, 1]] * 500), wave([[1, 0]] * 500))
    >>> [(row["item"], row["more than noise"], row["moved"]) for row in found.items]
    [('roads', True, 'down'), ('parks', True, 'up')]
    """
    level = require_probability("level", level, most=_MOST)
    releases, files = [], []
    for text, which in ((one, "first"), (other, "second")):
        try:
            releases.append(read_publication(text))
            files.append(opened(text))
        except ValueError as error:
            raise ValueError(f"the {which}: {error}") from None
    _require_comparable(releases, files)
    tables = [_table(it) for it in releases]
    names = [*dict.fromkeys([*tables[0], *tables[1]])]
    apart, told = 1 - level, None
    found = _ranges(releases, files, apart)
    if (quantile := _quantile_of(*releases)) is not None:
        if found is not None:
            apart /= 2
            found = _ranges(releases, files, apart)
        both = [name for name in names if name in tables[0] and name in tables[1]]
        told = dict(zip(both, _more(np.array([_gap(name, tables) for name in both]), quantile, apart), strict=True))
    rows = tuple(_row(name, tables, found, told) for name in names)
    turned = _turned(names, found)
    first, second = map(step_of, releases)
    said = _said(level, releases, files, rows, turned, found, told, max(first, second))
    return Differences(level, rows, turned, tuple(said), max(first, second), (first, second))


def _require_comparable(releases: Sequence[Release], files: Sequence[Mapping[str, Any]]) -> None:
    """Refuse two of which one number is not of the same thing as the other."""
    for key in ALIKE:
        if files[0][key] != files[1][key]:
            raise ValueError(
                f"{key} of the first is {shown(files[0][key])}, of the second {shown(files[1][key])}: what is not of "
                "one thing is not compared"
            )
    if files[0]["id"] == files[1]["id"]:
        raise ValueError("the two are one release: nothing in them differs")
    receipts = [it["receipt"] for it in files]
    if receipts[0] is not None and receipts[1] is not None and receipts[0]["digest"] == receipts[1]["digest"]:
        raise ValueError("the two were paid for by one entry: they are one release, or one of them is none")
    if any(isinstance(it, Decision) for it in releases):
        raise ValueError("question = 'agreement'; a decision is yes or no, and has no noise to be compared")
    units = [unit_of(*it) for it in zip(releases, files, strict=True)]
    if units[0] != units[1]:
        raise ValueError(
            f"one {units[0]} is what the first counts, one {units[1]} the second: not the same was counted"
        )
    parameters = [{key: getattr(it.mechanism, key, None) for key in COUNTED} for it in releases]
    for key in COUNTED:
        if parameters[0][key] != parameters[1][key]:
            said = [_counted(key, it[key], file) for it, file in zip(parameters, files, strict=True)]
            raise ValueError(f"{key} of the first is {said[0]}, of the second {said[1]}: not the same was counted")
    items = [_declared(*it) for it in zip(releases, files, strict=True)]
    if items[0] != items[1]:
        other = sorted(map(str, items[0] ^ items[1]))
        raise ValueError(f"items: {', '.join(map(shown, other[:5]))} in one of the two alone: places among others")


def _counted(key: str, value: Any, file: Mapping[str, Any]) -> str:
    """What was counted: of ballots in the words of the declaration, if there is one."""
    if key != "ballots" or file["declaration"] is None:
        return shown(value)
    return shown(file["rules"].get("ballots", FULL))


def _declared(release: Any, file: Mapping[str, Any]) -> frozenset[Any]:
    if file["items"] is not None:
        return frozenset(file["items"])
    if isinstance(release, Ranking):
        return frozenset(release.items)
    named = getattr(release.mechanism, "items", None)
    return frozenset(range(release.mechanism.n_items) if named is None else named)


def _table(release: Any) -> dict[Any, dict[str, Any]]:
    """Place and score of every item in the released order; no place where no order is released."""
    if isinstance(release, Ranking):
        items, ordered = list(release.ranking), True
        scores = None if release.scores is None else release.scores[release.order]
    else:
        items, scores = release.items.tolist(), release.values
        ordered = len(items) == 1 or getattr(release.mechanism, "ordered", False)
    found = [None] * len(items) if scores is None else scores.tolist()
    return {
        name: {"place": place if ordered else None, "score": score}
        for place, (name, score) in enumerate(zip(items, found, strict=True), 1)
    }


def _gap(name: Any, tables: Sequence[Mapping[Any, Any]]) -> float:
    return float(tables[1][name]["score"] - tables[0][name]["score"])


def _laws(release: Release) -> tuple[ScoreNoise, bool] | None:
    """The law of what is in every score, and whether its mean over the items was taken off."""
    mechanism: Any = release.mechanism
    name = type(mechanism).__name__
    if name == "NoisyCounts" and mechanism.noise != "cube":
        return mechanism.noise_law, False
    if name == "PrivateBorda":
        return mechanism.noise_law, True
    if isinstance(release, Selection) and release.values is not None and (scale := value_scale_of(mechanism)):
        whole = release.values.dtype.kind in "iu"
        return ScoreNoise("laplace", scale, 1.0 if whole else 0.0), False
    return None


def _quantile_of(one: Any, other: Any) -> Callable[[float], float] | None:
    """What the noise in a difference of two scores of one item exceeds with a chance at most; None without a law."""
    laws = [_laws(it) for it in (one, other)]
    if laws[0] is None or laws[1] is None:
        return None
    (first, centred), (second, _) = laws[0], laws[1]
    m = len(one.items) if centred else 1
    if centred:  # m times a noise less the mean of all: m - 1 times its own, and once those of the others
        parts: Any = [((law, 1, m - 1.0), (law, m - 1, 1.0)) for law in (first, second)]
    else:  # conditioned noise is farther out less often than noise of this law
        parts = [((law, 1, 1.0),) for law in (first, second)]
    if first.step == second.step:
        error = PairError((*parts[0], *parts[1]))
        return lambda chance: error.quantile(chance) / m
    errors = [PairError(part) for part in parts]
    return lambda chance: sum(it.quantile(chance / 2) for it in errors) / m


def _more(gaps: NDArray[np.float64], quantile: Callable[[float], float], apart: float) -> list[bool]:
    """Which differences are more than noise, all at once but for that chance: Holm's steps, two sides each."""
    told = np.zeros(len(gaps), bool)
    for _ in range(_STEPS):
        rest = int((~told).sum())
        if not rest:
            break
        found = np.abs(gaps) > quantile(apart / (2 * rest)) * (1 + 1e-9)
        if (found == told).all():
            break
        told |= found
    return [bool(it) for it in told]


Found = list[dict[Any, tuple[int, int]]]


def _ranges(releases: Sequence[Any], files: Sequence[Mapping[str, Any]], apart: float) -> Found | None:
    """Ranges of places in both, right for all items of both at once but for that chance; None where none are known."""
    found: Found = []
    for release, file in zip(releases, files, strict=True):
        if not isinstance(release, Ranking) or not file["ranges"]:
            return None
        try:
            places = open_places(release, 1 - apart / 2, None, file["ranges"][0]["persons"])
        except NoRanges:
            return None
        pairs = zip(places["lowest"].tolist(), places["highest"].tolist(), strict=True)
        found.append(dict(zip(release.ranking, pairs, strict=True)))
    return found


def _row(
    name: Any, tables: Sequence[Mapping[Any, Any]], found: Found | None, told: Mapping[Any, bool] | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"item": name, "first": None, "second": None}
    for at, which in enumerate(("first", "second")):
        if name in tables[at]:
            low, high = (None, None) if found is None else found[at][name]
            row[which] = tables[at][name] | {"lowest": low, "highest": high}
    row |= {"difference": None, "more than noise": None, "moved": None}
    if told is not None and name in told:
        row |= {"difference": _gap(name, tables), "more than noise": told[name]}
    if found is not None:
        (low, high), (lower, higher) = found[0][name], found[1][name]
        row["moved"] = "up" if higher < low else "down" if lower > high else None
    return row


def _turned(names: Sequence[Any], found: Found | None) -> tuple[dict[str, Any], ...]:
    """Pairs that are sure in both, and not the same way: the one ahead in the first, then the one that passed it."""
    if found is None:
        return ()
    (low, high), (lower, higher) = (np.array([it[name] for name in names]).T for it in found)
    pairs = ((at, np.flatnonzero((high[at] < low) & (higher < lower[at]))) for at in range(len(names)))
    return tuple({"item": names[at], "over": names[other]} for at, others in pairs for other in others.tolist())


def _said(
    level: float,
    releases: Sequence[Any],
    files: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    turned: Sequence[Mapping[str, Any]],
    found: Found | None,
    told: Mapping[Any, bool] | None,
    step: float,
) -> list[str]:
    said = []
    if files[1]["replaces"] == files[0]["id"]:
        said.append("The second replaces the first.")
    sure = f"With {level:.6g} probability all of this is so at once: " if found or told else ""
    if told is not None:
        more = [f"{row['item']} by {_by(row['difference'], step)}" for row in rows if row["more than noise"]]
        said.append(f"{sure}scores that differ by more than noise: {_listed(more)}.")
        sure = ""
    if found is not None:
        moved = [f"{row['item']} {row['moved']}" for row in rows if row["moved"]]
        passed = [f"{row['over']} before {row['item']}" for row in turned]
        said.append(f"{sure}{'P' if not sure else 'p'}laces that moved by more than noise: {_listed(moved)}.")
        said.append(f"Pairs that changed their order by more than noise: {_listed(passed)}.")
        said.append(PLACES)
    if told is None and found is None:
        said.append(NO_LAW)
    if told is not None:
        said.append(SUMS)
    if files[0]["rules"] != files[1]["rules"]:
        other = sorted(
            key for key in {*files[0]["rules"], *files[1]["rules"]}
            if files[0]["rules"].get(key) != files[1]["rules"].get(key)
        )  # fmt: skip
        said.append(f"They were not made by the same rules: {', '.join(other)}.")
    marks = [f"the {which} is {it.mark}" for which, it in zip(("first", "second"), releases, strict=True) if it.mark]
    said += [f"Beware: {mark}." for mark in marks]
    return [*said, NOISE_ALONE] if told is not None or found is not None else said


def _by(difference: float, step: float) -> str:
    """A difference without digits below the noise; all of them where that leaves nothing."""
    digits = max(0, -round(math.log10(step)))
    near = round(difference / step) * step
    return f"{near:+.{digits}f}" if near else f"{difference:+g}"


def _listed(words: Sequence[str]) -> str:
    more = len(words) - 20
    return ", ".join(words[:20]) + (f", and {more} more" if more > 0 else "") or "none"
