"""From a file to data that a mechanism takes: comparisons and tallies here, ballots in `dprank.data.casting`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dprank.data import casting
from dprank.data.accounts import BEYOND, BLANK, NOBODY, REASONS, Intake, Table, ids_of
from dprank.data.answers import codes_of, says_nothing, twice_points
from dprank.data.approvals import basket, each, file_of_categories, marked
from dprank.data.comparisons import Comparisons
from dprank.data.files import require_path
from dprank.data.forms import form_called
from dprank.data.headers import no_pair
from dprank.data.places import NONE, number_of
from dprank.data.tallies import Tallies

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["pair_of", "read_file"]


def read_file(declared: Declaration, path: Any) -> Intake:
    """A file as its declaration says; what `dprank.Declaration.read` returns.

    Raises
    ------
    ValueError
        Naming the file, and what it is not or lacks.
    """
    path = require_path(path)
    if declared.held:
        return (file_of_categories if declared.kind == "tallies" else casting.of_file)(declared, path)
    if called := form_called(path):
        raise ValueError(f"{path} is {called.words}; form = {called.name!r} reads it")
    table = Table(declared, path)
    table.require()
    form = {
        ("comparisons", "long"): _answers,
        ("comparisons", "wide"): _questionnaire,
        ("comparisons", "points"): _points,
        ("tallies", "long"): _tallies,
        ("tallies", "each"): each,
        ("tallies", "basket"): basket,
        ("tallies", "marked"): marked,
        ("ballots", "wide"): casting.wide,
        ("ballots", "long"): casting.long,
        ("ballots", "orders"): casting.orders,
        ("ballots", "ranks"): casting.ranks,
    }[declared.kind, declared.form or "long"]
    return form(table)


def _answers(table: Table) -> Intake:
    person, first, second = _pairs(table)
    column, meaning = table.column(table.declared.columns[2]), _meaning(table)
    return _answered(table, person, first, second, _outcome(table, column, table.read(column, meaning), first, second))


def _points(table: Table) -> Intake:
    """Two items and the points of each: none is preferred where they are equal, or one is missing."""
    declared = table.declared
    person, first, second = _pairs(table)
    silent = says_nothing(declared.unranked_as, table.clean)
    one, two = (
        table.read(table.column(name), lambda text: math.nan if silent(text) else points(text))
        for name in declared.columns[2:]
    )
    known = np.isfinite(one) & np.isfinite(two)
    one, two = (np.where(known, it, 0) for it in ((two, one) if declared.best == "low" else (one, two)))
    return _answered(table, person, first, second, np.where(known, (1 + np.sign(one - two)) / 2, math.nan))


def points(text: str) -> float:
    """What a cell of points says: not-a-number where it says nothing, -inf where it is no number.

    Examples
    --------
    >>> points("3"), points("-"), points("w/o")
    (3.0, nan, -inf)
    """
    number = number_of(text)
    return -math.inf if math.isnan(number) and text.strip().lower() not in NONE else number


def _pairs(table: Table) -> tuple[Any, Any, Any]:
    """Who compares, and the two items of each row, which are as many as it stands for."""
    casting.repeat(table)
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    first, second = (table.items(name) for name in declared.columns[:2])
    ledger.leave_out(first < 0, "an item not declared")
    ledger.leave_out(second < 0, "an item not declared")
    ledger.leave_out(first == second, "an item compared with itself")
    return person, first, second


def _answered(table: Table, person: Any, first: Any, second: Any, outcome: Any) -> Intake:
    declared, ledger = table.declared, table.ledger
    ledger.leave_out(~(outcome >= 0), "no such answer")
    stays, asked = ledger.stays, ledger.left_for("no such answer")
    data = Comparisons(first[stays], second[stays], outcome[stays], items=declared.items, voter=ids_of(person, stays))
    return table.done(data.with_unanswered(first[asked], second[asked], ids_of(person, asked)))


def _meaning(table: Table) -> Callable[[str], float]:
    """What an answer stands for: not-a-number where it is declared to say nothing, -inf where it is none."""
    known = codes_of(table.declared.answers or "names", table.codes, table.clean)
    silent = says_nothing(table.declared.unranked_as, table.clean)

    def meaning(text: str) -> float:
        return math.nan if silent(text) else -math.inf if (code := known(text)) < 0 else code

    return meaning


def _outcome(table: Table, column: Any, code: Any, first: Any, second: Any) -> Any:
    """What the first item of every row gets, -inf where the answer is none; an item of another pair is misread."""
    outcome = np.where(np.isnan(code) | (code < 0), code, twice_points(code, first, second) / 2)
    other = (outcome == -0.5) & (first >= 0) & (second >= 0)
    table.ledger.misread.update(column.to_numpy(object)[other].tolist())
    outcome[outcome == -0.5] = -math.inf
    return outcome


def pair_of(header: str, codes: Mapping[str, int], clean: Callable[[str], str]) -> tuple[int, int] | None:
    """The two items that a header like ``Pay vs Hours`` names; None where it names none.

    Examples
    --------
    >>> pair_of("Pay vs Hours", {"Pay": 0, "Hours": 1}, str)
    (0, 1)
    """
    words = header.split()
    for at, word in enumerate(words):
        if word.lower() in ("vs", "vs.", "versus"):
            sides = [codes.get(clean(" ".join(part))) for part in (words[:at], words[at + 1 :])]
            if sides[0] is not None and sides[1] is not None and sides[0] != sides[1]:
                return sides[0], sides[1]
    return None


def _questionnaire(table: Table) -> Intake:
    """A row a person, or a sheet where no person is known; a column a pair."""
    declared = table.declared
    # a declaration whose pairs name no items is refused
    said = {str(column): str(column) for column in table.frame.columns} if declared.pairs is None else declared.pairs
    named = {header: pair for header, it in said.items() if (pair := pair_of(it, table.codes, table.clean))}
    if not named:
        raise ValueError(f"{table.path}: {no_pair(list(said), declared.items)}")
    found = [(table.column(header), pair) for header, pair in named.items()]
    names = [column.name for column, _ in found]
    each = Counter(names)
    for name in names:
        if each[name] > 1:
            raise ValueError(f"{table.path}: column {name!r} is two of the pairs after cleaning; each is a column")
    rows = len(table.frame)
    if declared.person is None:
        nobody, voter = np.zeros(rows, bool), np.arange(rows)
    else:
        column = table.person(declared.person)
        nobody, voter = ~table.ledger.stays, np.zeros(rows, np.int64)
        voter[~nobody] = ids_of(column, ~nobody)
    table.ledger.gone = np.zeros(rows * len(found), np.int8)
    ledger, known = table.ledger, _meaning(table)
    ledger.leave_out(np.tile(nobody, len(found)), "no person")
    outcomes = []

    def meaning(text: str) -> float:
        code = known(text)
        return math.nan if code < 0 and table.clean(text).strip().lower() in BLANK else code

    for column, (first, second) in found:
        code = table.read(column, meaning)
        outcomes.append(_outcome(table, column, code, np.full(rows, first), np.full(rows, second)))
    outcome = np.concatenate(outcomes)
    blank = np.isnan(outcome)
    ledger.leave_out(outcome == -math.inf, "no such answer")
    # what nobody answered is no row
    ledger.gone = ledger.gone[~blank]
    stays = ~blank
    stays[~blank] = ledger.stays
    ledger.gone = np.append(ledger.gone, np.repeat(np.int8(REASONS.index(BEYOND) + 1), table.beyond.sum()))
    first, second = np.repeat(np.array([pair for _, pair in found]), rows, axis=0).T
    who, asked = np.tile(voter, len(found)), np.tile(~nobody & ~table.beyond, len(found)) & ~stays
    data = Comparisons(first[stays], second[stays], outcome[stays], items=declared.items, voter=who[stays])
    intake = table.done(data.with_unanswered(first[asked], second[asked], who[asked]))
    return replace(intake, pairs=tuple(pair for _, pair in found))


def _tallies(table: Table) -> Intake:
    declared = table.declared
    person = table.person(declared.person or "")
    item = table.items(declared.columns[0])
    table.ledger.leave_out(item < 0, "an item not declared")
    stays, others = table.ledger.stays, table.ledger.left_for("an item not declared")
    # whoever has left out the name is somebody, as far as nobody else has
    nobody = np.repeat(NOBODY, table.ledger.left_for("no person", BEYOND).any())
    without = np.append(ids_of(person, others), nobody)
    return table.done(Tallies(ids_of(person, stays), item[stays], declared.items, without))
