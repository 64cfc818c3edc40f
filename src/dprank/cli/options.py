"""Flags that several commands have, and what they say together (long: a line a flag)."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dprank._require import shown, visible, visible_json, visible_lines
from dprank._typed import Typed
from dprank.cli.asked import TAKEN, require_said
from dprank.data.answers import SAID
from dprank.data.cleaning import RULES, nearest
from dprank.data.declaration import FORMS, MEANINGS, Declaration, declared_part, release_part
from dprank.data.files import require_regular
from dprank.data.forms import BALLOT_FILES, Form, candidates_of, form_called, form_named, forms_like
from dprank.data.layout import Layout

#: Columns with numbers, from one to another; no more than so many.
_RANGE, MOST_NUMBERED = re.compile(r"(.*?)([0-9]{1,6})\.\.(.*?)([0-9]{1,6})"), 10_000

__all__ = [
    "about",
    "cell",
    "console",
    "declaration_of",
    "form_of",
    "listed",
    "named",
    "number",
    "numbered",
    "paired",
    "published_text",
    "show_json",
    "typed",
]

_FILE = (
    "CSV, JSON or JSON lines, also in .gz or .zst; .xlsx, .ods; Parquet, a folder of it, Arrow, Feather; .sav, .dta; "
    "a database, with --sql; or of ballots: PrefLib (.soc, .toc, .soi, .toi, .wmd), .blt, .abif, .cvotes. "
    "- is standard input."
)
File = Annotated[Path, typer.Argument(help=_FILE)]
MaybeFile = Annotated[Path | None, typer.Argument(help=_FILE)]
Items = Annotated[
    str | None,
    typer.Option(
        help="All items, with commas between; or a text file with one a line. Never read off the data: to name a "
        "file of PrefLib, BLT or the like here makes its list of candidates public."
    ),
]
Person = Annotated[str | None, typer.Option(help="The column that says who.")]
Clean = Annotated[str | None, typer.Option(help=f"Rules, with commas between: {', '.join(RULES)}.")]
Alias = Annotated[
    list[str] | None,
    typer.Option(
        help="What is written and what is meant: scool=school; of a column its header and its item: "
        "'Q5_1=Parks'. Repeat it."
    ),
]


def _planned(context: typer.Context, plan: Path | None) -> Path | None:
    """What a plan says of a release holds where no flag says otherwise."""
    known = {parameter.name for parameter in context.command.params}
    if plan is not None and "rehearse" in known:
        found = release_part(plan)
        if unknown := sorted(found.keys() - known):
            like = nearest(unknown[0], sorted(known))
            meant = f"{like} is meant, maybe" if like else "it was planned for another question, maybe"
            raise ValueError(
                f"{plan}: unknown key {shown(unknown[0])} of a release that answers {context.command.name}; {meant}"
            )
        context.default_map = found
    return plan


Plan = Annotated[
    Path | None,
    typer.Option(
        help="A declaration, as `check --out` and `plan --out` write it; flags go before it.",
        callback=_planned,
        is_eager=True,
    ),
]
Columns = Annotated[str | None, typer.Option("--comparisons", help="Columns of first item, second item, answer.")]
Points = Annotated[
    str | None,
    typer.Option(
        "--points",
        help="Columns of first item, second item, and the points of each: home,away,home_score,away_score. More are "
        "better, or fewer by --best low; equal ones are a tie.",
    ),
]
BestPoints = Annotated[
    str | None, typer.Option("--best", help="Of --points whether more are better, or fewer: high, low.")
]
Answers = Annotated[
    str | None,
    typer.Option(
        "--map",
        help=f"What an answer means: {SAID}; DK= (DK says nothing). Of ballots a place: '1st choice=1,DK=' (none).",
    ),
]
PlacesMap = Annotated[
    str | None,
    typer.Option("--map", help="What the cell of a place means: '1st choice=1,2nd choice=2,DK=' (DK: none)."),
]
UnrankedAs = Annotated[
    str | None,
    typer.Option(help="How 'no place', 'no item' or 'no answer' is written, with commas between: 99,-1,undervote."),
]
Best = Annotated[
    str | None, typer.Option(help="Which place is the best: the lowest number, or the highest: low, high.")
]
Between = Annotated[
    str | None, typer.Option(help="What stands between two places of an order as text, as ';'; by default '>'.")
]
Lowest = Annotated[float | None, typer.Option(help="The lowest number that is a place, as 0; by default all above 0.")]
Withdrawn = Annotated[
    str | None,
    typer.Option(
        help="Names on ballots that are no items, and are taken off, with commas between, or a text file with one a "
        "line. Of a ballot with any other such name nothing is put last."
    ),
]
Times = Annotated[
    str | None,
    typer.Option(help="The column that says for how many ballots, or answers, a row stands; none: each row is one."),
]
Thousands = Annotated[
    str | None,
    typer.Option(help="Of --times and --weight what stands between thousands: . , ' ' \"'\" or none; 1.000 needs it."),
]
Item = Annotated[str | None, typer.Option("--item", help="The column of the item that a person has.")]
Each = Annotated[
    str | None,
    typer.Option(
        "--each",
        help="A row a person, and several columns, each of which holds an item or nothing: DX1,DX2, or DX1..DX20.",
    ),
]
Basket = Annotated[
    str | None,
    typer.Option("--basket", help="A row a person, and a column of lists of items; --between says their sign."),
]
Marked = Annotated[
    bool, typer.Option("--marked", help="A row a person, and a column an item, with 1 where the person has it, else 0.")
]
Wide = Annotated[
    bool, typer.Option("--wide", help="Ballots with a column an item, which holds its place, 1 for the best.")
]
Long = Annotated[
    str | None, typer.Option("--long", help="Ballots with a row an item: its column and that of its place: item,place.")
]
Orders = Annotated[str | None, typer.Option("--orders", help="Ballots as text: the column that holds A > B = C.")]
Ranks = Annotated[
    str | None,
    typer.Option(
        "--ranks", help="Ballots with a column a place, which holds an item: the columns, best first: first,second."
    ),
]
Held = Annotated[
    str | None,
    typer.Option(
        "--form",
        help="What a file is that names its candidates, where its own name does not say it: "
        f"{', '.join(it.name for it in BALLOT_FILES)}.",
    ),
]
Pairs = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        help="A questionnaire with a column a pair: 'all' that are named like Pay vs Hours, or which, with commas "
        "between: Q1=Pay vs Hours.",
    ),
]
Ballots = Annotated[
    str | None,
    typer.Option("--ballots", help="What each ballot ranks: full (all items, none alike), tied (all), partial (some)."),
]
Unranked = Annotated[
    str | None,
    typer.Option(help="Items that a partial ballot leaves out: apart (compared with no other) or last (behind all)."),
]
Repeated = Annotated[str | None, typer.Option(help="Of a person with several ballots one counts, or none: one, none.")]
BallotColumn = Annotated[str | None, typer.Option("--ballot", help="Of long ballots the column that says which.")]
Weight = Annotated[str | None, typer.Option(help="The column of how much a ballot counts, in whole numbers.")]
MaxWeight = Annotated[
    int | None, typer.Option(help="Most that a ballot counts; more counts as this. The noise grows with it.")
]


def typed(text: Any) -> Typed:
    """A number of a flag, which knows its decimal.

    Examples
    --------
    >>> typed("0.2"), typed("0.2").exact
    (0.2, Fraction(1, 5))
    """
    try:
        return Typed(text)
    except ValueError:
        raise typer.BadParameter("Input should be a valid number, as 0.5") from None


Epsilon = Annotated[
    float, typer.Option(help="What the whole release spends; there is no default.", parser=typed, metavar="<float>")
]
Delta = Annotated[
    float, typer.Option(help="Chance of the events that the promise leaves out.", parser=typed, metavar="<float>")
]
Protect = Annotated[
    str,
    typer.Option(
        help="One answer, one ballot, or one person with all answers: answer, ballot, person.",
        autocompletion=lambda: ["answer", "ballot", "person"],
    ),
]
ProtectBallot = Annotated[
    str | None,
    typer.Option(
        "--protect",
        help="person, whom --person names, or ballot: a budget of persons takes ballots that name nobody only if you "
        "say so; whoever casts two is then protected half as much.",
        autocompletion=lambda: ["ballot", "person"],
    ),
]
Persons = Annotated[
    int | None,
    typer.Option(help="How many took part at most, a public number: shows ranges with sampling beside those of noise."),
]
Sampled = Annotated[
    str | None,
    typer.Option(help="What was drawn: persons, or answers (each by itself, as in the Bradley-Terry model)."),
]
Top = Annotated[int | None, typer.Option(help="Says which items may be among so many best.")]
Out = Annotated[Path | None, typer.Option(help="Where the published file goes.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="On made-up data: nothing is read of yours or spent.")]
AsJson = Annotated[bool, typer.Option("--json", help="For another program.")]
BudgetFile = Annotated[
    Path | None, typer.Option(help="A budget that `dprank budget` made: spent before noise is drawn.")
]
Dataset = Annotated[
    str | None,
    typer.Option(help="Whose budget it is; the name of the file by default. Published, with what is left of it."),
]
NewDataset = Annotated[
    bool,
    typer.Option(
        "--new-dataset",
        help="These are other people's data than all that the budget names: it begins anew for them. Not needed for "
        "its first.",
    ),
]
Title = Annotated[str | None, typer.Option(help="What is published is called so, in one line.")]
Day = Annotated[str | None, typer.Option(help="Of publication, as 2026-11-25; today unless given.")]
Replaces = Annotated[
    Path | None, typer.Option(help="A published file that this one corrects: of the same people, and paid for again.")
]
Wave = Annotated[
    int | None,
    typer.Option(
        help="Which wave of a survey this is, from 1. With --budget a later one says by --dataset whose the first was: "
        "all share one budget."
    ),
]
BeforeLooking = Annotated[
    str | None,
    typer.Option(
        help="Which rules, with commas between, were chosen before anybody looked, or by the list of items alone: "
        "names of --clean, aliases, places, best, lowest, unranked_as, withdrawn, thousands; all; none. A release "
        "names the others."
    ),
]


class _Plain(Console):
    """Texts as they are: no markup, and nothing that steers a terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        given = [visible_lines(it) if isinstance(it, str) else it for it in objects]
        super().print(*given, **{"markup": False, "emoji": False} | options)

    def on_broken_pipe(self) -> None:
        """Say so: rich would end here, as if all had been shown."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console(**options: Any) -> Console:
    """What is shown, without breaking its lines; on standard output in a notebook, too."""
    usual: dict[str, Any] = {"soft_wrap": True, "highlight": False, "markup": False, "force_jupyter": False}
    return _Plain(**usual | options)


def cell(value: Any) -> Text:
    """A value in a table, which is no markup."""
    return Text(visible(f"{value:g}" if isinstance(value, float) else str(value)))


def show_json(text: str) -> None:
    """JSON on standard output, or error where that is closed; in any encoding, with nothing that steers a terminal."""
    text, stream = visible_json(text), sys.stdout or sys.stderr
    if stream is None:
        return
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeError:
        text = "".join(it if it.isascii() else json.dumps(it)[1:-1] for it in text)
    print(text.removesuffix("\n"), file=stream, flush=True)


def listed(text: str | None) -> tuple[str, ...]:
    """What stands between commas; what has one stands in quotation marks.

    Examples
    --------
    >>> listed('first, "second, if any"'), listed("5\\" pipe,x"), listed(None)
    (('first', 'second, if any'), ('5" pipe', 'x'), ())
    """
    if not text:
        return ()
    cut = next(csv.reader([text], skipinitialspace=True)) if '"' in text and "\n" not in text else text.split(",")
    return tuple(part.strip() for part in cut)


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Names, and of two with .. between them all from one number to the other.

    Examples
    --------
    >>> numbered(["id", "DX1..DX3", "A09..A10"])
    ('id', 'DX1', 'DX2', 'DX3', 'A09', 'A10')
    """
    found: list[str] = []
    for name in names:
        ends = _RANGE.fullmatch(name)
        first, last = (int(ends[2]), int(ends[4])) if ends else (0, 0)
        if ends and ends[1] == ends[3] and first <= last < first + MOST_NUMBERED:
            found += [f"{ends[1]}{at:0{len(ends[2])}}" for at in range(first, last + 1)]
        else:
            found.append(name)
    return tuple(found)


def paired(name: str, texts: tuple[str, ...]) -> dict[str, str]:
    """What stands before and after the last sign = of each text: a header says '1 = best', and an answer is '='."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.rpartition("=")
        if sign and not key and name == "map":
            raise ValueError(
                f"map = {shown(text)}; a blank cell says nothing, and no map changes that: where it means something, "
                f"write a word for it in the file, as none, and say {shown('none=' + value)}"
            )
        if not sign or not key:
            comma = ": a comma divides them, so that a decimal has a point, as 0.5=0.5" * (name == "map")
            raise ValueError(f"{name} = {shown(text)}; name=value is needed{comma}")
        if pairs.setdefault(key, value) != value:
            raise ValueError(f"{name}: {shown(key)} has two meanings; one is needed")
    return pairs


def _meant(said: tuple[str, ...]) -> tuple[str | dict[str, float], tuple[str, ...]]:
    """A declared meaning of answers, a word alone, or a map beside names; and which answers say nothing."""
    if len(said) == 1 and "=" not in said[0]:
        return said[0], ()
    pairs = paired("map", tuple(it for it in said if it != "names"))
    meant = {key: number("map", value) for key, value in pairs.items() if value}
    if pairs and not meant and "names" not in said:
        raise ValueError(
            f"map = {shown(','.join(said))}; a number is needed behind = of one answer at least: 1, 0 or 0.5"
        )
    return meant or ("names" if pairs else {}), tuple(key for key, value in pairs.items() if not value)


def form_of(
    file: Path,
    plan: Path | None,
    *,
    comparisons: str | None = None,
    pairs: str | None = None,
    item: str | None = None,
    wide: bool = False,
    long: str | None = None,
    orders: str | None = None,
    ranks: str | None = None,
    held: str | None = None,
    each: str | None = None,
    basket: str | None = None,
    marked: bool = False,
    points: str | None = None,
    tallies: bool = False,
) -> dict[str, Any]:
    """What a row is, by the one flag that says so, or the name of the file; empty where none does, or the plan.

    `tallies` says that a file of categories may be taken for what people have.
    """
    said: dict[str, dict[str, Any]] = {}
    if comparisons:
        said["--comparisons"] = {"kind": "comparisons", "form": "long", "columns": listed(comparisons)}
    if points:
        said["--points"] = {"kind": "comparisons", "form": "points", "columns": listed(points)}
    if pairs:
        headers = tuple(pair.partition("=") for pair in listed(pairs))
        asked = {header: asks if sign else header for header, sign, asks in headers}
        said["--pairs"] = {"kind": "comparisons", "form": "wide", "columns": ()}
        said["--pairs"] |= {} if pairs == "all" else {"pairs": asked}
    if item is not None:
        said["--item"] = {"kind": "tallies", "form": "long", "columns": (item,)}
    if each is not None:
        said["--each"] = {"kind": "tallies", "form": "each", "columns": numbered(listed(each))}
    if basket is not None:
        said["--basket"] = {"kind": "tallies", "form": "basket", "columns": (basket,)}
    if marked:
        said["--marked"] = {"kind": "tallies", "form": "marked", "columns": ()}
    if wide:
        said["--wide"] = {"kind": "ballots", "form": "wide", "columns": ()}
    if long:
        said["--long"] = {"kind": "ballots", "form": "long", "columns": listed(long)}
    if orders is not None:
        said["--orders"] = {"kind": "ballots", "form": "orders", "columns": (orders,)}
    if ranks:
        said["--ranks"] = {"kind": "ballots", "form": "ranks", "columns": listed(ranks)}
    if held is not None:
        said["--form"] = {"kind": "ballots", "form": form_named(held).name, "columns": ()}
    if len(said) > 1:
        raise ValueError(f"{', '.join(said)} say different things; one of them says what a row is")
    if not said and plan is None and (called := form_called(file)):
        of_people = tallies and str(file).lower().removesuffix(".gz").endswith(".cat")
        return {"kind": "tallies" if of_people else "ballots", "form": called.name, "columns": ()}
    return next(iter(said.values()), {})


def declaration_of(
    kind: str | None,
    form: dict[str, Any],
    *,
    items: str | None,
    person: str | None,
    clean: str | None,
    alias: list[str] | None,
    plan: Path | None,
    answers: str | None = None,
    before_looking: str | None = None,
    unranked_as: str | None = None,
    withdrawn: str | None = None,
    also: Sequence[str] = (),
    **rest: Any,
) -> Declaration:
    """Flags before the plan, and the plan before nothing; `also` is missing beside what they lack."""
    base: dict[str, Any] = {"kind": kind, "items": ()} | (declared_part(plan) if plan else {})
    # another form has other columns, and may be as complete
    usual = next(iter(FORMS.get(str(base["kind"]), {None: ()})))
    if plan and form and (form["kind"], form["form"]) != (base["kind"], base.get("form", usual)):
        kept = ("kind", "items", "person", "clean", "aliases", "before_looking", "layout")
        base = {key: base[key] for key in kept if key in base}
    silent: tuple[str, ...] = ()
    given: dict[str, Any] = form | {"person": person, "clean": listed(clean) or None} | rest
    if items is not None:
        given["items"] = _items(items, form.get("form", base.get("form")), rest.get("layout") or base.get("layout"))
    if answers is not None:
        if form.get("kind", base["kind"]) == "ballots":
            places = paired("map", listed(answers))
            given["places"] = {key: number("map", value) if value else "" for key, value in places.items()}
        else:
            given["answers"], silent = _meant(listed(answers))
    if unranked_as is not None or silent:
        given["unranked_as"] = listed(unranked_as) + silent
    if withdrawn is not None:
        given["withdrawn"] = named(withdrawn, "withdrawn", 1)
    if alias:
        given["aliases"] = paired("alias", tuple(alias))
    merged = base | {key: value for key, value in given.items() if value is not None}
    if kind is not None and merged["kind"] != kind:
        said = f"is declared in {plan}" if plan else "is what the file holds"
        raise ValueError(f"kind = {shown(merged['kind'])} {said}; this takes {kind}: {TAKEN.get(merged['kind'], '')}")
    require_said(merged, also)
    if not merged["items"]:
        held = any(form.get("form") == it.name for it in BALLOT_FILES)
        listing = " (or name the file there, which makes its list public)" * held
        raise ValueError(
            f"items are missing; say all of them with --items{listing}: what the data hold is no public list"
        )
    try:
        before = _before(before_looking, Declaration(**merged | {"before_looking": None}), base)
        return Declaration(**merged | {"before_looking": before})
    except ValueError:  # which a wrong type is, too
        raise
    except (TypeError, AttributeError):
        raise ValueError(f"{plan}: a value of another kind than the key has") from None


def _before(said: str | None, declared: Declaration, base: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Rules that were chosen before looking, by a flag; else those of the plan that still are what they were there."""
    if said is not None:
        return {"all": declared.rules, "none": ()}.get(said.strip(), listed(said))
    before = base.get("before_looking")
    if before is None:
        return None
    gone = {rule for rule in before if rule not in declared.rules}
    gone |= {name for name in MEANINGS if _as_written(getattr(declared, name)) != _as_written(base.get(name))}
    return tuple(rule for rule in before if rule not in gone)


def _as_written(value: Any) -> Any:
    """What a declaration's file says of a key, whatever Python holds it in; nothing where it is not there."""
    return None if value in ((), [], {}) else list(value) if isinstance(value, tuple) else value


def published_text(file: Path) -> str:
    """What is in a published file, or comes by a pipe."""
    mode = file.stat().st_mode
    if not stat.S_ISFIFO(mode):
        require_regular(str(file), mode)
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeError:
        raise ValueError(f"{file} is no published file, which is text in UTF-8") from None


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Say of which file it is that a refusal speaks."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _items(said: str, form: Any = None, layout: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    path = Path(said)
    if held := form_called(path) or _listing(path, form):
        laid = {key: it for key, it in (layout or {}).items() if key in held.takes}
        names = candidates_of(path, held, Layout.of(laid))
        print(visible(f"dprank: items: those that {path} lists are taken as public"), file=sys.stderr)
        return names
    return named(said)


def _listing(path: Path, form: Any) -> Form | None:
    """The format of a file that names candidates, where that is no list of names."""
    with suppress(OSError, ValueError):
        return next((it for it in forms_like(path) if it.name == form), None) if path.is_file() else None
    return None


def named(said: str, flag: str = "items", least: int = 2) -> tuple[str, ...]:
    """Items as a flag names them: with commas between, or in a text file with one a line."""
    path, there = Path(said), False
    with suppress(OSError, ValueError):  # a list of items may be too long for a name of a file
        there = path.is_file()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines() if there else said.split(",")
    except UnicodeError:
        raise ValueError(f"{flag}: {path} is no text in UTF-8, with one a line") from None
    names = tuple(line.strip() for line in lines if line.strip())
    if len(names) < least:
        what = "fewer than two lines" if there else "no such file, and fewer than two names"
        raise ValueError(f"items = {shown(said)}; {what}: give all items, with commas between, or a text file")
    return names


def number(name: str, text: str) -> float:
    """A number of a flag."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} = {shown(text)}; a number is needed") from None
