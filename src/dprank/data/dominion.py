"""Cast vote records that Dominion exports as JSON: CvrExport.json, and beside it the manifests of its contests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dprank._require import shown
from dprank.data.order_files import Ballot, Order, OrderFile, refusal, totalled
from dprank.data.packed import unpacked

__all__ = ["read_dominion"]

CONTESTS, CANDIDATES = "ContestManifest.json", "CandidateManifest.json"
#: Contests that a refusal names.
TOLD = 10


def read_dominion(path: str | os.PathLike[str], contest: str | None = None, overvotes: str | None = None) -> OrderFile:
    """The ballots of one contest.

    Parameters
    ----------
    path : path
        Of CvrExport.json; the manifests are looked for in its folder.
    contest : str, optional
        Which, by its name or number in ContestManifest.json; needed where several are ranked.
    overvotes : {"skip", "exhaust"}
        What a place says that has several candidates: nothing, or that the ballot ends there; by default the first.
        RCTab calls them alwaysSkipToNextRank and exhaustImmediately.

    Raises
    ------
    ValueError
        Naming the file, where one of the three is not whole or lacks its list, or the contest is not named or none.
    OSError
        Where one cannot be read.

    Notes
    -----
    O(bytes). Each session is a ballot, also one without the contest: it ranks nothing, as does one that is none by the
    format. Marks that are ambiguous, or no votes, say nothing; a place without a mark is closed up.
    """
    name, folder = os.fspath(path), Path(path).parent
    chosen, called = _chosen(folder / CONTESTS, contest)
    numbers, names = _candidates(folder / CANDIDATES, chosen)
    sessions = _listed(name, _loaded(path), "Sessions")
    exhaust = overvotes == "exhaust"
    ballots = (_ballot(session, at, chosen, numbers, exhaust) for at, session in enumerate(sessions, 1))
    return totalled(f"cast vote record of Dominion, contest {shown(called)}", names, ballots, name=name)


def _loaded(path: str | os.PathLike[str]) -> Any:
    try:
        return json.loads(unpacked(path).decode("utf-8-sig", "replace"))
    except FileNotFoundError:
        if Path(path).name in (CONTESTS, CANDIDATES):
            raise ValueError(f"{path} is missing: Dominion exports it beside CvrExport.json") from None
        raise
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        raise ValueError(f"{path} is damaged: no whole JSON") from None


def _listed(name: str, found: Any, key: str) -> list[Any]:
    listed = found.get(key) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise refusal(name, 0, f"no list {key!r} in it, as Dominion's JSON has")
    return listed


def _chosen(path: Path, contest: str | None) -> tuple[int, str]:
    """Number and name of the contest."""
    entries = [it for it in _listed(str(path), _loaded(path), "List") if _is_entry(it)]
    ranked = [it for it in entries if isinstance(it.get("NumOfRanks"), int) and it["NumOfRanks"] > 1]
    named = [it for it in entries if contest in (it["Description"].strip(), str(it["Id"]))]
    found = (ranked or entries) if contest is None else named
    if len(found) != 1:
        known = ", ".join(shown(it["Description"].strip()) for it in (ranked or entries)[:TOLD])
        said = "contest is missing" if contest is None else f"contest = {shown(contest)}"
        raise refusal(str(path), 0, f"{said}; one is needed, as --contest says it: {known or 'none is there'}")
    return found[0]["Id"], found[0]["Description"].strip()


def _is_entry(it: Any) -> bool:
    return isinstance(it, dict) and type(it.get("Id")) is int and isinstance(it.get("Description"), str)


def _candidates(path: Path, contest: int) -> tuple[dict[int, int], list[str]]:
    """Candidates of the contest: their places in a list by their numbers, and their names."""
    entries = [
        it for it in _listed(str(path), _loaded(path), "List") if _is_entry(it) and it.get("ContestId") == contest
    ]
    names = [it["Description"].strip() for it in entries]
    if len({*names}) < max(2, len(names)) or not all(names):
        raise refusal(str(path), 0, "two candidates of the contest or more are needed, each with a name of its own")
    return {it["Id"]: at for at, it in enumerate(entries)}, names


def _ballot(session: Any, at: int, contest: int, candidates: dict[int, int], exhaust: bool) -> Ballot:
    said = f"session {at}"
    try:
        found = next((it for it in _contests(session) if it["Id"] == contest), None)
        order = () if found is None else _order(found["Marks"], candidates, exhaust)
    except (KeyError, TypeError, AttributeError):  # one of another contest, among others
        order = None
    return Ballot(order, 1, said)


def _contests(session: Any) -> Iterator[Any]:
    """Of what was adjudicated last, else of what was scanned; on cards, or without."""
    record = session.get("Modified") or session["Original"]
    if record.get("IsCurrent") is False:
        record = session["Original"]
    for card in record.get("Cards", [record]):
        yield from card["Contests"]


def _order(marks: Any, candidates: dict[int, int], exhaust: bool) -> Order | None:
    """What marks say; None where one is none of the format."""
    places: dict[int, set[int]] = {}
    for mark in marks:
        if mark["IsVote"] is not True or mark.get("IsAmbiguous") is True:
            continue
        rank, candidate = mark["Rank"], mark["CandidateId"]
        if type(rank) is not int or rank < 1 or type(candidate) is not int:
            return None
        places.setdefault(rank, set()).add(candidates[candidate])
    order = []
    for rank in sorted(places):
        if len(places[rank]) == 1:
            order.append(tuple(places[rank]))
        elif exhaust:
            break
    return tuple(order)
