"""The command `check`: what a file holds, for its keeper alone (long: flags, and a line a form)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dprank._require import as_typed
from dprank._require import shown as quoted
from dprank.cli.answers import declared_or_told, slips_of_rows
from dprank.cli.asked import orders_as_text
from dprank.cli.laid import Laid, with_layout
from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    BallotColumn,
    Ballots,
    Basket,
    BeforeLooking,
    Best,
    Between,
    Clean,
    Columns,
    Each,
    File,
    Held,
    Item,
    Items,
    Long,
    Lowest,
    Marked,
    MaxWeight,
    Orders,
    Pairs,
    Person,
    Plan,
    Points,
    Ranks,
    Repeated,
    Thousands,
    Times,
    Unranked,
    UnrankedAs,
    Weight,
    Wide,
    Withdrawn,
    console,
    declaration_of,
    form_of,
    show_json,
)
from dprank.cli.writing import require_replaceable, write_over
from dprank.data.answers import told_answers
from dprank.data.cleaning import RULES, cleaner, nearest
from dprank.data.declaration import OF_ROWS, Declaration, Intake
from dprank.data.forms import BALLOT_FILES, form_named
from dprank.data.headers import is_nameless
from dprank.data.noticed import noticed, raw_of
from dprank.data.noticed_again import said_again
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_graph import answers_each
from dprank.data.noticed_places import unranked_columns
from dprank.data.noticed_read import cells_of, readable
from dprank.data.places import hints, number_of
from dprank.data.recognised import Guess, guesses_in, recognised

__all__ = ["by_items", "check", "looked", "read_as", "would_correct"]

SECRET = "not for publication: this tells of the data"
#: Labels for which the nearest item is looked up: the most frequent ones.
LOOKED_UP = 200
#: Labels times items.
MOST_LOOKED_AT = 200_000
#: Lines of one kind on a terminal; --json has all.
SHOWN = 50
#: What is said of each form, and the flag that says it; of files that name their candidates their form does.
WAYS = dict.fromkeys(((kind, it.name) for kind in ("ballots", "tallies") for it in BALLOT_FILES), ("", "")) | {
    ("comparisons", "long"): ("a row an answer", "--comparisons"),
    ("comparisons", "wide"): ("a column a pair", "--pairs"),
    ("comparisons", "points"): ("the points of two items a row", "--points"),
    ("ballots", "wide"): ("a column an item", "--wide"),
    ("ballots", "long"): ("a row an item", "--long"),
    ("ballots", "orders"): ("orders as text", "--orders"),
    ("ballots", "ranks"): ("a column a place", "--ranks"),
    ("tallies", "long"): ("a row for each person and item", "--item"),
    ("tallies", "each"): ("several columns of items", "--each"),
    ("tallies", "basket"): ("lists of items in a cell", "--basket"),
    ("tallies", "marked"): ("a column an item and a mark", "--marked"),
}
LISTS = ("items that no row has", "columns that are not used")
#: What is counted, by the name that it has with --json; on a terminal it is called what it is.
COUNTS = ("rows", "rows that count")
KEEPS = "looks at one cell alone, and keeps every guarantee"


@with_layout
def check(
    file: File,
    comparisons: Columns = None,
    pairs: Pairs = None,
    points: Points = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ranks: Ranks = None,
    held: Held = None,
    item: Item = None,
    each: Each = None,
    basket: Basket = None,
    marked: Marked = False,
    items: Items = None,
    person: Person = None,
    answers: Answers = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    between: Between = None,
    best: Best = None,
    lowest: Lowest = None,
    unranked_as: UnrankedAs = None,
    withdrawn: Withdrawn = None,
    max_weight: MaxWeight = None,
    times: Times = None,
    thousands: Thousands = None,
    clean: Clean = None,
    alias: Alias = None,
    before_looking: BeforeLooking = None,
    plan: Plan = None,
    layout: Laid = None,
    out: Annotated[Path | None, typer.Option(help="Write the declaration here, for --plan.")] = None,
    as_json: AsJson = False,
) -> None:
    """Look at raw data: what counts, what is left out and why, what each rule would correct. Not for publication.

    Example: dprank check staff.csv --comparisons left,right,answer --map left=1,right=0,equal=0.5
    --person person --items "Pay,Hours,Training,Leave,Equipment,Canteen" --clean strip,casefold
    --before-looking strip,casefold --alias traning=training --alias cantine=canteen --alias equipement=equipment
    --out plan.toml
    """
    form = form_of(
        file,
        plan,
        comparisons=comparisons,
        pairs=pairs,
        points=points,
        item=item,
        wide=wide,
        long=long,
        orders=orders,
        ranks=ranks,
        held=held,
        each=each,
        basket=basket,
        marked=marked,
        tallies=ballots is None,
    )

    def tell(said: str, key: str = "answers") -> None:
        if as_json:
            show_json(json.dumps({key: said, "mark": SECRET}, ensure_ascii=False, indent=2))
        else:
            console().print(f"[{SECRET}]\n{said}", markup=False)

    if plan is None and not form:
        if guesses := recognised(file, layout):
            tell(f"the file looks like {', or '.join(map(str, guesses))}", "taken for")
        if told := orders_as_text(file):
            raise ValueError(told)
        raise ValueError(
            "say what a row is: --comparisons FIRST,SECOND,ANSWER, --pairs all, --wide, --long ITEM,PLACE, "
            "--orders COLUMN, --ranks FIRST,SECOND, or --item COLUMN"
        )
    make = partial(
        declaration_of,
        None,
        form,
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        plan=plan,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        between=between,
        best=best,
        lowest=lowest,
        unranked_as=unranked_as,
        withdrawn=withdrawn,
        max_weight=max_weight,
        times=times,
        thousands=thousands,
        before_looking=before_looking,
        layout=layout,
    )

    declared = declared_or_told(lambda meant: make(answers=meant), answers, file, tell)
    require_replaceable(out)
    intake = declared.read(file)
    if out:
        write_over(out, declared.to_toml())
    raw = raw_of(declared, file)
    guesses = [] if raw is None else guesses_in(raw.frame)
    found = {"taken for": taken_for(declared, guesses)} | looked(intake, declared, raw)
    if as_json:
        show_json(json.dumps(found | {"mark": SECRET}, ensure_ascii=False, indent=2))
        return
    shown, what = console(), _counted(declared)
    shown.print(f"[{SECRET}]", markup=False)
    for name, value in found.items():
        if name in LISTS:
            shown.print(f"{name}: {_some(value)}", markup=False)
            continue
        if isinstance(value, list):
            for line in value:
                shown.print(f"{name}: {line}", markup=False)
            continue
        if not isinstance(value, Mapping):
            shown.print(f"{name.replace('rows', what, 1) if name in COUNTS else name}: {value}", markup=False)
            continue
        for key, number in islice(value.items(), SHOWN):
            shown.print(f"{name}: {key}: {number}", markup=False)
        if len(value) > SHOWN:
            shown.print(f"{name}: and {len(value) - SHOWN} more; --json has all", markup=False)
    shown.print("every rule above looks at one row, or at one person's rows: it keeps the guarantee", markup=False)
    shown.print(
        "to choose a rule, or an alias, by the numbers and words above is a use of the data that no guarantee covers; "
        "a release names such rules",
        markup=False,
    )
    for line in _chosen(declared):
        shown.print(line, markup=False)
    if out:
        shown.print(f"declaration: {out}", markup=False)


def taken_for(declared: Declaration, guesses: Sequence[Guess] = ()) -> str:
    """What a file is taken for, by its declaration, and the flag that says so; and what else it looks like.

    Examples
    --------
    >>> taken_for(Declaration(kind="ballots", items=["Pay", "Hours"]))
    'ballots with a column an item (--wide)'
    """
    words, flag = WAYS[declared.kind, str(declared.form)]
    if declared.held:
        held = form_named(str(declared.form))
        losses = f"; {held.losses}" * bool(held.losses)
        return f"{held.words} (--form {held.name}){losses}"
    others = [it for it in guesses if it.flags and flag not in it.flags.split()]
    else_ = f"; it looks like {', or '.join(map(str, others))}" if others and len(others) == len(guesses) else ""
    return f"{declared.kind} with {words} ({flag}){else_}"


def _counted(declared: Declaration) -> str:
    """What is counted as one: a row, or what a row holds, or stands for, several of."""
    if (declared.kind, declared.form) == ("comparisons", "wide"):
        return "answers"
    if declared.kind == "tallies" and declared.form != "long":
        return "items"
    if declared.held:
        return "ballots"
    return "rows" if declared.times in (None, "none") else OF_ROWS[declared.kind]


def _some(names: list[str]) -> str:
    """So many of a list as a person reads."""
    return (", ".join(names[:SHOWN]) or "none") + f" and {len(names) - SHOWN} more; --json has all" * (
        len(names) > SHOWN
    )


def _chosen(declared: Declaration) -> list[str]:
    """What may be chosen without a look at the data, and whether it was."""
    safe, told = by_items(declared), []
    if safe and set(safe) != set(declared.clean):
        told.append(
            f"--clean {','.join(safe)} keeps all items apart, by their list alone: to take it is to look at no data"
        )
    if declared.rules and declared.before_looking is None:
        told.append("which of these rules were chosen before anybody looked is not said: --before-looking says it")
    return told


def by_items(declared: Declaration) -> tuple[str, ...]:
    """The most rules that keep all declared items apart: a function of the public list alone, never of the data.

    Blanks around an item are never part of it, so that `strip` is safe for any list.

    Examples
    --------
    >>> by_items(Declaration(kind="ballots", items=["Pay", "pay", "Hours"]))
    ('nfkc', 'strip', 'spaces')
    """
    sizes = range(len(RULES), -1, -1)
    return next(rules for size in sizes for rules in combinations(RULES, size) if _apart(declared.items, rules))


def _apart(items: tuple[str, ...], rules: tuple[str, ...], aliases: Mapping[str, str] | None = None) -> bool:
    """Whether no two items become one by some rules, nor an alias means two things."""
    try:
        clean = cleaner(rules, aliases)
    except ValueError:
        return False
    return len({clean(item) for item in items}) == len(items)


def _cells(intake: Intake, declared: Declaration, rules: tuple[str, ...], others: Mapping[str, int]) -> int:
    """How many cells are items, places or answers by some rules; -1 where two items become one."""
    if not _apart(declared.items, rules, declared.aliases):
        return -1
    clean = cleaner(rules, declared.aliases)
    names = {clean(item) for item in declared.items}
    found = sum(number for text, number in intake.written.items() if clean(text) in names)
    return found + readable(declared, others, rules)


def looked(intake: Intake, declared: Declaration, raw: Raw | None) -> dict[str, Any]:
    """What the curator is told, of a file as it was read and as it is written."""
    found: dict[str, Any] = {
        "file": intake.said,
        "protects at most": f"one {declared.unit}",
        "rows are read": read_as(declared),
        **({} if raw is None or _counted(declared) == "rows" else {"rows of the file": len(raw.frame)}),
        "rows": intake.rows,
        "rows that count": intake.kept,
        "noticed": [*noticed(raw, intake, declared), *slips_of_rows(intake, declared), *hints(intake, declared)],
        "left out": dict(intake.left_out),
        "altered": dict(intake.altered),
        "unknown items": _unknown(intake, declared),
        "items that no row has": _unmet(intake, declared, raw),
        "columns that are not used": [as_typed(it) + " (without a name)" * is_nameless(it) for it in intake.unused],
        "misread": {as_typed(text): number for text, number in intake.misread.items()},
        "cleaning": would_correct(intake, declared, raw),
        "cleaning by the items alone": ",".join(by_items(declared)),
    }
    return found | _people(intake, declared)


def read_as(declared: Declaration) -> str:
    """Which way rows are read, and what turns that round: by what is declared alone, whatever the file holds.

    Examples
    --------
    >>> read_as(Declaration(kind="ballots", items=["Pay", "Hours"]))
    '1 is taken for the best place; if the highest number is the best, as of points, add --best high'
    >>> read_as(Declaration(kind="tallies", items=["Pay", "Hours"], person="who", columns=["it"]))
    'each says that a person has an item'
    """
    if declared.kind == "tallies":
        first = "; what is in the first category is taken for it" * declared.held
        return f"each says that a person has an item{first}"
    if declared.form == "points":
        more, turn = ("fewer", "leave --best low out") if declared.best == "low" else ("more", "add --best low")
        return f"the item with {more} points is taken for the preferred one; if it is that with the others, {turn}"
    if declared.kind == "comparisons":
        return _answers_as(declared)
    if declared.form == "ranks":
        first, *rest = declared.columns
        last = f" and {quoted(rest[-1])} for place {len(declared.columns)}" if rest else ""
        return f"{quoted(first)} is taken for the best place{last}; if not, name the best first in --ranks"
    if declared.form not in ("wide", "long"):
        sign = declared.between or ">"
        return (
            f"of A {sign} B, A is taken for the better one" * (declared.form == "orders") or "the best is named first"
        )
    if declared.best == "high":
        return "the highest number is taken for the best; if the lowest is, as of places, leave --best high out"
    least = "1 is taken for the best place" if declared.lowest is None else f"{declared.lowest:g} is the best place"
    if (1 if declared.lowest is None else declared.lowest) in map(number_of, declared.unranked_as):
        least = "the lowest place that is left is taken for the best"
    return f"{least}; if the highest number is the best, as of points, add --best high"


def _answers_as(declared: Declaration) -> str:
    """Which item an answer is taken to prefer, and what turns that round."""
    meant = declared.answers
    said = declared.rules_of_ballots()["answers"] if isinstance(meant, str) else told_answers(meant or {}, words=True)
    one, two, answer = declared.columns or ("", "", "")
    if answer and answer in (one, two) and declared.answers == "names":
        other = one if answer == two else two
        turn = f"--comparisons {quoted(f'{one},{two},{other}')}"
        return f"the item of {quoted(answer)} is taken for the preferred one; if it is that of {quoted(other)}, {turn}"
    sides = {1.0, 0.0} & set(meant.values()) if isinstance(meant, Mapping) else {"names"} - {meant}
    if not sides:  # names, and maybe what is a tie
        return f"an answer is {said}; if it is that of the other one, the file needs a column of the preferred one"
    first = f"the first is that of {quoted(one)}" if one else "the first is that of the column's name"
    turned = {"outcome": "--map 1=0,0=1,0.5=0.5", "position": "--map 1=0,2=1"}
    turn = turned.get(str(declared.answers), "turn 1 and 0 of --map round")
    return f"an answer is {said}; {first}; if it is the other way round, {turn}"


def _unknown(intake: Intake, declared: Declaration) -> dict[str, int]:
    """Every label that is no item, the item that is written most like it, and its cells."""
    found = {}
    for at, (label, number) in enumerate(intake.unknown.items()):
        like = nearest(label, declared.items) if at < min(LOOKED_UP, MOST_LOOKED_AT // len(declared.items)) else None
        found[as_typed(label) + (f", like {like!r}" if like else "")] = number
    return found


def _unmet(intake: Intake, declared: Declaration, raw: Raw | None) -> list[str]:
    """Declared items that nobody wrote, or ranked or compared where items are columns: misspelt there, maybe."""
    if declared.form != "wide":
        clean = cleaner(declared.clean, declared.aliases)
        met = {clean(text) for text, number in intake.written.items() if number}
        return [item for item in declared.items if clean(item) not in met]
    if declared.kind == "comparisons":
        each = answers_each(intake.data)
        return [item for item, number in zip(declared.items, each, strict=True) if not number]
    return [] if raw is None else unranked_columns(raw)


def would_correct(intake: Intake, declared: Declaration, raw: Raw | None = None) -> dict[str, str]:
    """Of every rule how many cells it alone makes an item, place or answer of; of a declared one what is lost without.

    Examples
    --------
    >>> from dprank.data.accounts import Intake
    >>> written = {"Pay": 3, "pay": 2, "Hours ": 1, "?": 1}
    >>> declared = Declaration(kind="tallies", items=["Pay", "Hours"], person="who", columns=["it"])
    >>> found = would_correct(Intake(None, "", 7, {}, {}, {}, written, {}), declared)
    >>> found["strip"]
    'would correct 1 cell; looks at one cell alone, and keeps every guarantee'
    >>> found["casefold"].split(";")[0]
    'would correct 2 cells'
    """

    found, others = {}, cells_of(raw)
    now = _cells(intake, declared, declared.clean, others)
    for rule in RULES:
        if rule in declared.clean:
            many = now - max(0, _cells(intake, declared, tuple(it for it in declared.clean if it != rule), others))
            found[rule] = f"corrects {many} cell{'s' * (many != 1)}; {KEEPS}"
        elif (then := _cells(intake, declared, (*declared.clean, rule), others)) < 0:
            found[rule] = "would make one of two declared items"
        else:
            found[rule] = f"would correct {then - now} cell{'s' * (then - now != 1)}; {KEEPS}"
    return found


def _people(intake: Intake, declared: Declaration) -> dict[str, Any]:
    """Who gave how much, and what anybody said again."""
    data = intake.data
    found: dict[str, Any] = {}
    if declared.kind == "comparisons":
        found["answers an item"] = dict(zip(declared.items, answers_each(data).tolist(), strict=True))
    if declared.unranked == "apart":
        found["ballots an item"] = dict(zip(declared.items, (data.places >= 0).sum(axis=0).tolist(), strict=True))
    people = getattr(data, "person", getattr(data, "voter", None))
    if people is not None and len(people):
        _, each = np.unique(people, return_counts=True)
        found["people" if declared.person else "questionnaires"] = len(each)
        found["answers a person" if declared.person else "answers a questionnaire"] = {
            "fewest": int(each.min()),
            "median": float(np.median(each)),
            "most": int(each.max()),
        }
    if declared.kind == "comparisons" and people is not None:
        found["answers of a person to the same pair again"] = said_again(data)
    if declared.kind == "tallies":
        found["rows of a person with the same item again"] = intake.kept - len(data)
    if declared.kind == "ballots":
        found["ballots"] = len(data)
    return found
