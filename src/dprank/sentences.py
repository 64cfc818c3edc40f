"""What is told of a release: who is protected, which places the noise leaves open, when a choice is right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dprank.privacy.pair_ranges import NoRanges, Sampling
from dprank.release import Decision, Ranking, Release, Selection, open_places

__all__ = ["ASKED", "LEVEL", "UNITS", "protects", "ranges", "right", "shown_frame", "told", "unit_of"]

ASKED = {
    "ranking": "In which order do people put these items, by their answers two at a time?",
    "consensus": "Which order do all ballots together make?",
    "winner": "Which item do all ballots together put first?",
    "topk": "Which items are the most frequent?",
    "agreement": "Do the ballots agree on anything?",
}
#: What a guarantee of voters protects: what it says of it, and that it is there.
UNITS = {
    "person": ("one person contributed", "one person took part"),
    "ballot": ("one ballot says", "one ballot was cast"),
    "questionnaire": ("one questionnaire says", "one questionnaire was handed in"),
}
#: Of the ranges of places.
LEVEL = 0.95
RANGE = "The ranges speak of the noise: with 95 % probability all items' places without it lie in theirs."
DRAWN = {
    "persons": "The ranges with sampling speak of those who might have been asked too: if at most {} persons were "
    "drawn independently, all items' places among all people lie in theirs, with 95 % probability.",
    "answers": "The ranges with sampling speak of other answers too: if each was given independently, as in the "
    "Bradley-Terry model, by at most {} who were asked, all items' places on average lie in theirs, with 95 % "
    "probability.",
}
CHOSEN = "The ranges are places among the items here, by their exact values: with 95 % probability all are right."
RIGHT = (
    "With {:.0%} probability these are the right {}, "
    "if the last of the right ones is ahead of the next by {:g} or more."
)
WON = "With {:.0%} probability this is the right winner, if its {} is ahead of the next by {:g} or more."
WON_BY = {"maximin": "worst margin, in voters,", "borda": "number of net wins"}


def ranges(release: Release, sampling: Sampling | None = None, persons: int | None = None) -> list[dict[str, Any]]:
    """Lowest and highest place of every item in released order, for all at once, as the noise leaves them open.

    Then, where `sampling` is named, with the drawing of those who took part (`dprank.Ranking.intervals`); where the
    mechanism asks for `persons`, only where they are given. Nothing where no law says so.
    """
    mechanism, found = release.mechanism, []
    if isinstance(release, Selection):
        if release.values is None or len(release.values) < 2 or getattr(mechanism, "value_scale", None) is None:
            return []
        return [_range(release.intervals(LEVEL), None, None)]
    if not isinstance(release, Ranking) or not hasattr(mechanism, "open_places"):
        return []
    asks = getattr(mechanism, "asks_persons", False)
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
    if not isinstance(release, Selection) or not hasattr(mechanism, "gap_needed"):
        return None
    try:
        return {"chance": LEVEL, "gap": mechanism.gap_needed(LEVEL)}
    except ValueError:  # of lists that are drawn at once nobody knows the worst data
        return None


def shown_frame(release: Release, sampling: Sampling | None = None, persons: int | None = None) -> Any:
    """What a reader sees: the release's table, with the places that noise, and then sampling, leave open."""
    frame = release.to_frame()
    for one in ranges(release, sampling, persons):
        pairs = zip(one["lowest"], one["highest"], strict=True)
        name = f"{LEVEL:.0%} range" + (" with sampling" if one["sampling"] else "")
        frame = frame.assign(**{name: [f"{a}" if a == b else f"{a} to {b}" for a, b in pairs]})
    return frame


def told(release: Release, found: list[dict[str, Any]], top: int | None = None) -> list[str]:
    """What the ranges mean, who may be among the `top` best, and how far apart values must be: in sentences."""
    said = []
    if isinstance(release, Decision):
        size = getattr(release.mechanism, "size", None)
        seldom = "" if size is None else f"; where nobody agrees, this is said in {size:.3g} of all cases at most"
        said.append(f"They agree{seldom}." if release.reject else "That they agree on anything is not shown.")
    for one in found:
        if isinstance(release, Selection):
            said.append(CHOSEN)
        else:
            said.append(DRAWN[one["sampling"]].format(one["persons"]) if one["sampling"] else RANGE)
        if top is not None and isinstance(release, Ranking):
            places = list(zip(release.ranking, one["lowest"], one["highest"], strict=True))
            sure = ", ".join(item for item, _, highest in places if highest <= top) or "none for sure"
            maybe = ", ".join(item for item, lowest, highest in places if lowest <= top < highest) or "no other"
            said.append(f"Among the best {top}{', with sampling' if one['sampling'] else ''}: {sure}; maybe: {maybe}.")
    if needed := right(release):
        rule = WON_BY.get(str(getattr(release.mechanism, "rule", "")))
        chosen = RIGHT.format(needed["chance"], f"{len(release.items)}", needed["gap"])
        said.append(WON.format(needed["chance"], rule, needed["gap"]) if rule else chosen)
    return said


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
    odds = math.exp(min(guarantee.epsilon, 700.0))
    slack = f", but for events of chance {guarantee.delta:g}" if guarantee.delta else ""
    return f"{what} no result becomes more than {odds:.3g} times as likely{slack}."


def unit_of(release: Release, file: Mapping[str, Any]) -> str | None:
    """Which of `UNITS` a published file says that its release protects; None where its mechanism does not."""
    return {protects(release, it): it for it in reversed(UNITS)}.get(str(file["protects"]))
