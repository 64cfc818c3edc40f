"""What is told of a release: who is protected, which places are open (long: terminal and report share it all)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dprank.data.declaration import COMPLETE
from dprank.mechanism import HasGap, HasRanges, asks_persons, value_scale_of
from dprank.plan.tags import tag_of
from dprank.privacy.pair_ranges import NoRanges, Sampling
from dprank.release import Decision, Ranking, Release, Selection, open_places
from dprank.scored import NOT_OFFERED, floor_of, kept_of, left_out_of, rounded, rule_of, supposes

__all__ = [
    "LEVEL",
    "MISFIT",
    "NOTHING",
    "UNITS",
    "UNKNOWN",
    "answer",
    "counted",
    "declared_of",
    "is_open",
    "most_of",
    "of_data",
    "promised",
    "protects",
    "ranges",
    "right",
    "said_of",
    "shown_columns",
    "shown_rows",
    "told",
    "unit_of",
]

#: What a guarantee of voters protects: what it says of it, and that it is there.
UNITS = {
    "person": ("one person contributed", "one person took part"),
    "ballot": ("one ballot says", "one ballot was cast"),
    "questionnaire": ("one questionnaire says", "one questionnaire was handed in"),
}
#: Of the ranges of places.
LEVEL = 0.95
RANGE = (
    "Ranges: with 95 % probability each item's place by the exact {} of {} lies in its range, for all items at once{}. "
    "They speak of the noise alone."
)
DRAWN = {
    "persons": "Ranges with sampling: if at most {} drawn independently, each item's place by the mean of all "
    "people, counted in the same way{}, lies in its range, for all items at once, with 95 % probability{}.",
    "answers": "Ranges with sampling: if at most {} asked, no pair more often than another, and each answer was "
    "given independently, as in the Bradley-Terry model, each item's place on average{} lies in its range, for all "
    "items at once, with 95 % probability{}.",
}
EVEN = ", if all pairs were compared equally often"
CHOSEN = (
    "Ranges are places among the items here: with 95 % probability each item's place by the exact counts of {} lies in "
    "its range, for all of them at once."
)
RIGHT = (
    "With {:.0%} probability these are the right {} of {}, if the last of the right ones leads the next by {} or more "
    "there. It speaks of which they are, not of their order."
)
RIGHT_ONE = "With {:.0%} probability this is the right one of {}, if the right one leads the next by {} or more there."
WON = (
    "With {:.0%} probability this is the right winner by {} of {}, if the right one leads the next by {} or more there."
)
#: Of an answer of which neither ranges nor a gap are known.
UNKNOWN = "How much of this is noise is not known: of such a release there are no ranges, and no chance to be right."
#: What is said where the ranges leave every place open.
NOTHING = "This says nothing of their order"
#: Of whatever was declared, and by no look at what came in.
MISFIT = (
    "What did not fit the declaration (names, places or answers that it does not know) is left out, and its number is "
    "not told."
)
#: Of a rehearsal.
MADE_UP = "Made up: a rehearsal invents its data, reads nobody's, and says nothing of anybody."
#: Units of one.
_ONE = {"people": "person", "voters": "voter", "net wins": "net win", "units of weight": "unit of weight"}
#: Names in one sentence, at most; and of those whose order is open.
_NAMED, _FEW = 12, 6


def ranges(release: Release, sampling: Sampling | None = None, persons: int | None = None) -> list[dict[str, Any]]:
    """Lowest and highest place of every item in released order, for all at once, as the noise leaves them open.

    Then, where `sampling` is named, with the drawing of those who took part (`dprank.Ranking.intervals`); where the
    mechanism asks for `persons`, only where they are given. Nothing where no law says so.
    """
    mechanism, found = release.mechanism, []
    if isinstance(release, Selection):
        if release.values is None or len(release.values) < 2 or value_scale_of(mechanism) is None:
            return []
        return [_range(release._open_places(LEVEL), None, None)]
    if not isinstance(release, Ranking) or not isinstance(mechanism, HasRanges):
        return []
    asks = asks_persons(mechanism)
    own = persons if asks else None
    # strengths that no graph of so many persons has say so; the release stays what it is
    with suppress(NoRanges):
        if not asks or persons is not None:
            found.append(_range(open_places(release, LEVEL, None, own), None, own))
        if sampling is not None:
            found.append(_range(open_places(release, LEVEL, sampling, persons), sampling, persons))
    return found


def _range(table: Any, sampling: Sampling | None, persons: int | None) -> dict[str, Any]:
    places = {name: table[name].tolist() for name in ("lowest", "highest")}
    return {"level": LEVEL, "sampling": sampling, "persons": persons} | places


def right(release: Release) -> dict[str, float] | None:
    """The gap from which on a chosen set is the right one, with a chance; None where nothing is chosen or declared."""
    mechanism: Any = release.mechanism
    if not isinstance(release, Selection) or not isinstance(mechanism, HasGap):
        return None
    try:
        return {"chance": LEVEL, "gap": mechanism.gap_needed(LEVEL)}
    except ValueError:  # of lists that are drawn at once nobody knows the worst data
        return None


def shown_rows(release: Release) -> Any:
    """The rows in which items are shown, in a table as in a picture: by their places in the ranges."""
    if isinstance(release, Selection) and release.values is not None and len(release.values) > 1:
        largest = getattr(release.mechanism, "largest", True)
        return np.argsort(-release.values if largest else release.values, kind="stable")
    return np.arange(len(release.items)) if isinstance(release, Ranking | Selection) else np.arange(1)


def shown_columns(
    release: Release, sampling: Sampling | None = None, persons: int | None = None
) -> dict[str, list[Any]]:
    """What a reader sees: the release's table, with the places that noise, and then sampling, leave open.

    Scores go by their unit, and have no digit below the noise. Where the noise leaves every place open, none is shown.
    """
    rule, found = rule_of(release.mechanism), ranges(release, sampling, persons)
    columns: dict[str, list[Any]] = {}
    for name, values in release._columns().items():
        if name in ("score", "value"):
            columns[rule.unit if rule and rule.unit else name] = rounded(release, values)
        else:
            columns[name] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    for one in found:
        pairs = zip(one["lowest"], one["highest"], strict=True)
        name = f"{LEVEL:.0%} range" + (" with sampling" if one["sampling"] else "")
        columns[name] = [f"{a}" if a == b else f"{a} to {b}" for a, b in pairs]
    rows = shown_rows(release)
    if isinstance(release, Ranking) and found and is_open(found[0]):
        del columns["place"]
        rows = np.argsort(release.order)
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def answer(
    release: Release, found: list[dict[str, Any]], unit: str = "person", bound: Mapping[str, Any] | None = None
) -> str:
    """The answer in one sentence, by which rule it is one, and whether the noise leaves it open.

    Parameters
    ----------
    release : Release
    found : list of dict
        As of `ranges`.
    unit, bound
        As of `counted`.

    Examples
    --------
    >>> import dprank
    >>> votes = dprank.Rankings([[0, 1, 2]] * 300, ["roads", "parks", "debt"])
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3).release(votes, np.random.default_rng(1))
    >>> answer(release, ranges(release))
    "By Borda's rule roads is first, then parks, debt."
    """
    rule = rule_of(release.mechanism)
    if isinstance(release, Decision):
        return _agreed(release)
    kept = _kept(release, unit, bound)
    if isinstance(release, Selection):
        names = [_line(release.items[row]) for row in shown_rows(release)]
        if rule is not None and rule.name != "most frequent":
            return f"{names[0]} wins, by {rule.by}."
        of = f"Counting {kept}, " if kept else ""
        most = "most" if getattr(release.mechanism, "largest", True) else "least"
        if len(names) == 1:
            return f"{of}{names[0]} is the {most} frequent."
        ordered = getattr(release.mechanism, "ordered", True) or release.values is not None
        ordered = ordered and not (found and is_open(found[0]))
        the = f"{'the' if of else 'The'} {len(names)} {most} frequent"
        rows = shown_rows(release)
        places = ([found[0][it][row] for row in rows] for it in ("lowest", "highest")) if found and ordered else ()
        left = _left_open(names, *places) if found and ordered else ""
        return f"{of}{the} are {_list(names)}{', in this order' * ordered}{left}."
    by = (f"By {rule.by}" if rule else "In order") + (f", counting {kept}," if kept else "")
    if found and is_open(found[0]):
        names = [_line(name) for name in release.items]
        by = f"{NOTHING}: {by[0].lower()}{by[1:]}"
        if release.scores is not None and len({*release.scores}) == 1:
            return f"{by} {_list(names, 'and')} have the same score."
        return f"{by} the noise leaves every place open to {_list(names, 'and')}."
    names = [_line(name) for name in release.ranking]
    left = _left_open(names, found[0]["lowest"], found[0]["highest"]) if found else ""
    return f"{by} {names[0]} is first, then {_list(names[1:])}{left}."


def _left_open(names: list[str], lowest: Sequence[int], highest: Sequence[int]) -> str:
    """Which may be first, and of which further down the order is open, by their ranges; of many that there are such."""
    first = [name for name, low in zip(names[1:], lowest[1:], strict=True) if low == 1]
    blocks: list[list[str]] = [names[1:2]]  # those whose ranges hang together
    ends, begins = np.maximum.accumulate(highest[1:]), np.minimum.accumulate(lowest[::-1])[::-1]
    for at in range(2, len(names)):
        if ends[at - 2] < begins[at]:
            blocks.append([])
        blocks[-1].append(names[at])
    open_too = [block for block in blocks if len(block) > 1 and not {*block} <= {*first}]
    said = [f"whether {_list(first, 'or')} is first"] if first else []
    if sum(map(len, open_too)) > _FEW:
        said.append("more places further down")
    elif open_too:
        said.append("the order of " + ", and of ".join(_list(block, "and") for block in open_too))
    return f"; the noise leaves open {' and '.join(said)}" if said else ""


def _kept(release: Release, unit: str, bound: Mapping[str, Any] | None) -> str:
    """What was counted, where a bound may have left out the rest."""
    most = most_of(bound)
    return kept_of(release.mechanism, unit, most) if left_out_of(release.mechanism, most) else ""


def most_of(bound: Mapping[str, Any] | None) -> int | None:
    """How many items of a person counted, as a published file says of a mechanism that knows no bound."""
    return bound["most"] if bound and bound["of"] == "items" else None


def _agreed(release: Decision) -> str:
    """The outcome of a test, in words."""
    p, floor = release.p_value, floor_of(release)
    least = " or less, the least that its simulated data can show" if floor is not None and p <= floor else ""
    chance = "" if math.isnan(p) else f" (p = {p:.3g}{least})"
    size = getattr(release.mechanism, "size", None)
    if not release.reject:
        return f"That the ballots agree on anything is not shown{chance}."
    seldom = "" if size is None else f"; where nobody agrees, this is said in {size:.3g} of all cases at most"
    return f"The ballots agree on something{chance}{seldom}."


def _tested(release: Decision) -> list[str]:
    """How often a test is wrong, and of how many voters it was made."""
    size, voters = getattr(release.mechanism, "size", None), getattr(release.mechanism, "n_voters", None)
    if size is None or voters is None:
        return []
    more = "" if release.reject else " That it is not shown is no sign that they disagree."
    return [
        f"The test is for {voters} voters, as was set beforehand: where nobody agrees on anything, it says that "
        f"they do in {100 * size:.3g} % of all cases at most.{more}"
    ]


def is_open(one: Mapping[str, Any]) -> bool:
    """Whether ranges leave every place open to every item."""
    n = len(one["lowest"])
    return n > 1 and all(low == 1 for low in one["lowest"]) and all(high == n for high in one["highest"])


def _line(name: Any) -> str:
    """A name on one line."""
    return " ".join(str(name).split())


def _list(names: list[str], last: str = "") -> str:
    """Names in a row, so many that they are read."""
    more = len(names) - _NAMED
    between = "; " if any("," in it for it in names) else ", "
    if more > 1:
        return f"{between.join(names[:_NAMED])} and {more} others"
    if last and len(names) > 1:
        return f"{between.join(names[:-1])} {last} {names[-1]}"
    return between.join(names)


def counted(
    release: Release,
    unit: str = "person",
    bound: Mapping[str, Any] | None = None,
    declared: Mapping[str, Any] | None = None,
) -> list[str]:
    """What was counted of each person, by which rule, and that the rest is left out: in sentences.

    Parameters
    ----------
    release : Release
    unit : str
        What stands for a person: one of `UNITS`, or an answer.
    bound : dict, optional
        Of a published file: the most that counted, and of what.
    declared : dict, optional
        As of `declared_of`.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.Oneshot.calibrated(epsilon=1.0, n_items=9, k=1, per_person=1)
    >>> counted(mechanism.release([9] * 9, np.random.default_rng(1)))[1]
    'Scored by counts: people who have it.'
    """
    mechanism, rule, said = release.mechanism, rule_of(release.mechanism), []
    if mechanism is not None:
        most = most_of(bound)
        alone = declared is not None and "repeated" in declared
        what = [kept_of(mechanism, unit, most, alone), left_out_of(mechanism, most), (declared or {}).get("places")]
        said.append(f"Counted: {'; '.join(filter(None, what))}.")
    if rule is not None:
        said.append(f"{'Scored' if rule.unit else 'Ordered'} by {rule.by}: {rule.says}.")
    if rule is not None and tag_of(type(mechanism).__name__).data == "ballots":
        said.append(f"Other rules may put another first; not offered are {NOT_OFFERED}.")
    gaps = None if declared is None else bool(declared.get("ballots") == COMPLETE["apart"])
    if supposed := supposes(mechanism, gaps):
        said.append(f"Supposed: {supposed}.")
    return said if declared is None else [*said, MISFIT]


def told(
    release: Release,
    found: list[dict[str, Any]],
    top: int | None = None,
    unit: str = "person",
    bound: Mapping[str, Any] | None = None,
) -> list[str]:
    """What the ranges mean, who may be among the `top` best, and how far apart values must be: in sentences.

    Parameters
    ----------
    release : Release
    found : list of dict
        As of `ranges`.
    top : int, optional
        Of a ranking, of how many best items it is said who may be among them.
    unit, bound
        As of `counted`.
    """
    kept = _kept(release, unit, bound)
    what = f"what was counted ({kept})" if kept else "what was counted"
    said = [line for one in found for line in _of_ranges(release, one, top, unit, what)]
    if needed := right(release):
        said.append(_right(release, needed, what))
    if isinstance(release, Decision):
        said += _tested(release)
    elif not said and isinstance(release, Ranking | Selection):
        said.append(UNKNOWN)
    return said


def declared_of(file: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The rules that a published file says were declared; None where nothing was."""
    return None if file["declaration"] is None else file["rules"]


def promised(release: Release, unit: str) -> str:
    """The guarantee as it is written, of a ballot where nobody knows whose it is.

    Examples
    --------
    >>> import dprank
    >>> votes = dprank.Rankings([[0, 1]] * 90, "ab")
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(votes, np.random.default_rng(1))
    >>> promised(release, "person"), promised(release, "ballot")
    ('epsilon = 1 (central; replace one voter)', 'epsilon = 1 (central; replace one ballot)')
    """
    return str(release.guarantee).replace("one voter", "one voter" if unit == "person" else f"one {unit}")


def of_data(file: Mapping[str, Any]) -> list[str]:
    """That the data of a published file are made up, if they are."""
    return [MADE_UP] if "data" in file["rules"] else []


def said_of(
    release: Release,
    found: list[dict[str, Any]],
    top: int | None = None,
    unit: str = "person",
    bound: Mapping[str, Any] | None = None,
    declared: Mapping[str, Any] | None = None,
) -> list[str]:
    """All that a published file says of its release: the answer, then as `counted` and `told`."""
    more = (*counted(release, unit, bound, declared), *told(release, found, top, unit, bound))
    return [answer(release, found, unit, bound), *more]


def _of_ranges(release: Release, one: Mapping[str, Any], top: int | None, unit: str, what: str) -> list[str]:
    """What ranges mean; or that they say nothing."""
    rule = rule_of(release.mechanism)
    scores = (rule.unit or f"votes, by {rule.by},") if rule else "scores"
    if isinstance(release, Selection):
        none = [f"{NOTHING}: every range is 1 to {len(one['lowest'])}."] if is_open(one) else []
        return [CHOSEN.format(what), *none]
    n, drawn = one["persons"], one["sampling"]
    even = EVEN if type(release.mechanism).__name__ == "PerturbedMLE" else ""
    many = f"{n} {unit} was" if n == 1 else f"{n} {unit}s were"
    said = [DRAWN[drawn].format(many, _same(what), even) if drawn else RANGE.format(scores, what, even)]
    if is_open(one):  # of the noise alone the answer says so
        return [*said, f"{NOTHING} among all people: every range is 1 to {len(one['lowest'])}."] if drawn else said
    if top is None:
        return said
    places = [(_line(it), *at) for it, *at in zip(release.ranking, one["lowest"], one["highest"], strict=True)]
    sure = [item for item, _, highest in places if highest <= top]
    maybe = [item for item, lowest, highest in places if lowest <= top < highest]
    best = "First" if top == 1 else f"Among the best {top}"
    said.append(
        f"{best}{', with sampling' if drawn else ''}: {', '.join(sure) or 'none for sure'}; "
        f"maybe: {', '.join(maybe) or 'no other'}."
    )
    return said


def _same(what: str) -> str:
    """The bound that is in brackets, if any."""
    _, bracket, kept = what.partition(" (")
    return f"{bracket}{kept}"


def _right(release: Release, needed: Mapping[str, float], what: str) -> str:
    """From which gap on the choice is right: what is whole is rounded up."""
    assert isinstance(release, Selection)
    rule, gap = rule_of(release.mechanism), needed["gap"]
    # scores and counts are whole, and a gap is rounded up to what there is
    whole = math.ceil(gap - 1e-9)
    lead = f"{gap:.3g}" if rule is None else f"{whole} {_ONE.get(rule.unit, rule.unit) if whole == 1 else rule.unit}"
    if rule is not None and rule.name != "most frequent":
        return WON.format(needed["chance"], rule.by, what, lead)
    if len(release.items) == 1:
        return RIGHT_ONE.format(needed["chance"], what, lead)
    return RIGHT.format(needed["chance"], len(release.items), what, lead)


def protects(release: Release, unit: str = "person") -> str:
    """What is protected, in words: one of `UNITS` where the data say nothing of who gave several."""
    guarantee = release.guarantee
    if guarantee is None:
        raise ValueError("guarantee = None; what no mechanism made is not published")
    says, given = UNITS[unit] if guarantee.unit == "voter" else ("one answer says", "one answer was given")
    if guarantee.adjacency == "replace":
        what = f"What {says}: had it been anything else,"
    else:
        what = f"Whether {given}: either way"
    odds = f"{math.exp(guarantee.epsilon):.3g}" if guarantee.epsilon <= 700 else f"e^{guarantee.epsilon:.6g}"
    slack = f", but for events of chance {guarantee.delta:g}" if guarantee.delta else ""
    return f"{what} no result becomes more than {odds} times as likely{slack}."


def unit_of(release: Release, file: Mapping[str, Any]) -> str | None:
    """Which of `UNITS` a published file says that its release protects; None where its mechanism does not."""
    guarantee, said = release.guarantee, str(file["protects"])
    if guarantee is not None and guarantee.epsilon > 700:  # as files of old have it
        said = said.replace("more than 1.01e+304 times", f"more than e^{guarantee.epsilon:.6g} times")
    return {protects(release, it): it for it in reversed(UNITS)}.get(said)
