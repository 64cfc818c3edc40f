"""The commands `budget`, `report` and `verify`: what was spent, and what was published."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

import dprank
from dprank._require import shown_down, visible, visible_lines
from dprank.cli.options import AsJson, about, cell, console, published_text, show_json, typed
from dprank.cli.writing import require_replaceable, write_over
from dprank.differences import Differences, compare
from dprank.privacy.budget import Entry
from dprank.publication import opened, read_publication, receipt_of
from dprank.registry import SECTORS, Facts, card
from dprank.report import is_page, report

__all__ = ["budget_command", "card_command", "compare_command", "report_command", "verify"]

_WHICH = ("first", "second")
#: A terminal on which every table has room.
_WIDE = 100_000


def budget_command(
    file: Annotated[Path, typer.Argument(help="The budget's file.")],
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="What each data set may cost in all: makes the file. A decimal: five releases of 0.2 fit 1.",
            parser=typed,
            metavar="<float>",
        ),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="The same of delta.", parser=typed, metavar="<float>")] = None,
    unit: Annotated[str | None, typer.Option(help="comparison or voter.")] = None,
    adjacency: Annotated[str | None, typer.Option(help="replace or add_remove.")] = None,
    composition: Annotated[
        str | None, typer.Option(help="How losses add up: basic, or zcdp, which needs --delta. Fixed with the file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What has been spent of a budget, and what is left; with --epsilon a new one, where there is no such file. It says
    which of the two: made, or opened. A copy that is put back knows nothing of what was spent since; `dprank verify`
    finds it by a published file.

    Example: dprank budget budget.sqlite --epsilon 3
    """
    named: Any = {"unit": unit, "adjacency": adjacency, "composition": composition}
    if file.is_symlink() and not file.exists():  # a new one is made where it is said, and nowhere else
        require_replaceable(file)
    kept = dprank.Budget(file, epsilon=epsilon, delta=delta, **named)
    entries, names = kept.entries(), dict.fromkeys(it.dataset for it in kept.entries())
    sums = {name: kept.written(name) for name in names}
    sets, rhos = {name: left for name, (_, left) in sums.items()}, {name: kept.remaining_rho(name) for name in names}
    if as_json:
        left: dict[str, Any] = {
            name: {"epsilon": it.epsilon, "delta": it.delta} | ({} if rhos[name] is None else {"rho": rhos[name]})
            for name, it in sets.items()
        }
        spent = {name: {"epsilon": it.epsilon, "delta": it.delta} for name, (it, _) in sums.items()}
        found: dict[str, Any] = {"made": kept.made, "limit": vars(kept.limit), "composition": kept.composition}
        found |= {"left": left, "spent": spent}
        show_json(json.dumps(found | {"entries": [vars(it) for it in entries]}))
        return
    shown, limit = console(), kept.limit
    if kept.made:
        shown.print(f"made: {file}, a new budget of which nothing is spent", markup=False)
    else:
        shown.print(f"opened: {file}, a budget that was there, with {_many(len(entries))}", markup=False)
    shown.print(f"each data set: {limit}, {kept.composition} composition", markup=False)
    for it in entries:
        said = f"{it.number}. {it.day} {it.dataset}: epsilon = {it.epsilon:g}, delta = {it.delta:g}, {it.what}"
        shown.print(f"{said}{_cost(it, limit)}", markup=False)
    for name, rest in sets.items():
        by_rho = rhos[name]
        rho = "" if by_rho is None else f", or rho = {shown_down(by_rho)}"
        left_of = f"epsilon = {shown_down(rest.epsilon)}, delta = {shown_down(rest.delta)}{rho}"
        shown.print(f"left for {name}: {left_of}", markup=False)


def _cost(it: Entry, limit: dprank.Guarantee) -> str:
    """What an entry takes of the limit, where that is another number than it promises."""
    if it.charged_rho is not None:
        return f"; costs rho = {it.charged_rho:g}"
    if (it.unit, it.adjacency) == (limit.unit, limit.adjacency):
        return ""
    of, by = (f"{one.adjacency.replace('_', '/')} one {one.unit}" for one in (it, limit))
    return f"; costs epsilon = {it.charged_epsilon:g}, delta = {it.charged_delta:g}: {of}, counted as {by}"


def _many(number: int) -> str:
    return "no entry" if not number else "1 entry" if number == 1 else f"{number} entries"


def report_command(
    file: Annotated[Path, typer.Argument(help="A published file.")],
    html: Annotated[
        bool, typer.Option("--html", help="A page, beside the file; else Markdown on the terminal.")
    ] = False,
) -> None:
    """What was released, in words that a minister can read.

    Example: dprank report release.json --html
    """
    with about(file):
        text = report(published_text(file), "html" if html else "markdown")
    if html:
        target = file.with_suffix(".html")
        if target == file:
            raise ValueError(f"{file} is the published file itself; call it .json")
        require_replaceable(target, is_page)
        write_over(target, text)
        console().print(f"report: {target}", markup=False)
    else:
        print(visible_lines(text), end="")


def verify(
    file: Annotated[Path, typer.Argument(help="A published file.")],
    budget: Annotated[
        Path | None,
        typer.Option(help="The budget that paid for it: has it just the entry of which the file has the receipt?"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Whether a published file says of itself what is so: schema, mechanism, guarantee, ranges and id derived anew, and
    whether the noise of that mechanism can have given such numbers; with --budget also whether that file has the entry
    that paid for it, and all before it as they were. Whether the answer in it is the one that was drawn, no file can
    show.

    Example: dprank verify release.json
    """
    with about(file):
        text = published_text(file)
        release, found = read_publication(text), opened(text)
        receipt = receipt_of(found)
        if budget is not None and receipt is None:
            raise ValueError(f"no receipt in it to hold against {budget}: no budget paid for it, or one of dprank 0.2")
    said: dict[str, Any] = {
        **{key: found[key] for key in ("id", "title", "day", "replaces", "wave")},
        "guarantee": str(release.guarantee),
        "mechanism": type(release.mechanism).__name__,
        "mark": release.mark,
        "receipt": None if receipt is None else receipt.to_dict(),
    }
    mark = f"; {release.mark}" if release.mark else ""
    words = f"{file}: {said['guarantee']}, by {said['mechanism']}; as it says of itself{mark}; id {found['id']}"
    if budget is not None and receipt is not None:
        dprank.Budget(budget).verify(receipt, release.guarantee)
        said["budget"] = True
        words += f"; paid by entry {receipt.number} of {receipt.dataset!r} in {budget}"
    elif receipt is not None:
        words += f"; with a receipt of entry {receipt.number} of {receipt.dataset!r}, for --budget"
    print(json.dumps(said) if as_json else visible(words))


def compare_command(
    first: Annotated[Path, typer.Argument(help="A published file.")],
    second: Annotated[Path, typer.Argument(help="Another, of the same question and items: later, or a correction.")],
    level: Annotated[float, typer.Option(help="The chance that all that is told is so, all at once.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Which differences between two published files are more than noise, by the law of the noise in both.

    Example: dprank compare release.json corrected.json
    """
    try:
        found = compare(published_text(first), published_text(second), level)
    except ValueError as error:
        raise ValueError(f"{first}, {second}: {error}") from None
    if as_json:
        show_json(json.dumps(vars(found)))
        return
    shown = console()
    _print_rows(shown, found)
    for line in found.said:
        shown.print(line, markup=False)


def _print_rows(shown: Console, found: Differences) -> None:
    """A table where the words of its cells have room, else some lines an item: nothing is cut."""
    told = [("place", at) for at in (0, 1)] + [("range", at) for at in (0, 1)] + [("score", at) for at in (0, 1)]
    told = [it for it in told if any(_shown_of(row, *it, found.steps) for row in found.items)]
    table = Table()
    for title in ("item", *(f"{column},\n{_WHICH[at]}" for column, at in told)):  # so that the names have the room
        table.add_column(title, overflow="fold")
    for row in found.items:
        table.add_row(*map(cell, [row["item"], *(_shown_of(row, *it, found.steps) for it in told)]))
    if Measurement.get(shown, shown.options.update(width=_WIDE), table).minimum <= shown.width:
        shown.print(table)
        return
    for row in found.items:
        shown.print(cell(row["item"]))
        for at, which in enumerate(_WHICH):
            cells = [(column, _shown_of(row, column, side, found.steps)) for column, side in told if side == at]
            if said := ", ".join(f"{column} {text}" for column, text in cells if text):
                shown.print(f"  {which}: {said}", markup=False)


def _shown_of(row: Mapping[str, Any], column: str, at: int, steps: tuple[float, float]) -> str:
    """What a cell of a comparison shows, as its release shows it; nothing for what is not there."""
    it, step = row[_WHICH[at]] or {}, steps[at]
    if column == "range":
        low, high = it.get("lowest"), it.get("highest")
        return "" if low is None else f"{low}" if low == high else f"{low} to {high}"
    value, digits = it.get(column), max(0, -round(math.log10(step)))
    if value is None or column == "place":
        return "" if value is None else f"{value}"
    return f"{round(value / step) * step + 0.0:.{digits}f}"


def card_command(
    file: Annotated[Path, typer.Argument(help="A published file.")],
    name: Annotated[str, typer.Option(help="What is published is called so.")],
    curator: Annotated[list[str], typer.Option(help="Who publishes it. Repeat it.")],
    author: Annotated[list[str], typer.Option(help="Who fills in the card. Repeat it.")],
    use: Annotated[str, typer.Option(help="What it is for.")],
    region: Annotated[str, typer.Option(help="Of the data, or of the laws that hold for them.")],
    day: Annotated[str, typer.Option(help="Of publication, as 2026-11-25; else the file's, or today.")] = "",
    sector: Annotated[str | None, typer.Option(help=f"One of {', '.join(SECTORS)}.")] = None,
) -> None:
    """A card of a published file for OpenDP's registry of deployments, as YAML.

    Example: dprank card release.json --name "Staff survey" --curator "Ministry of Works" --author "Ann Lee"
    --use "Which works come first" --region Utopia --sector Government > staff_survey.yaml
    """
    facts = Facts(
        name=name, curators=tuple(curator), authors=tuple(author), use=use, region=region, day=day, sector=sector
    )
    with about(file):
        text = published_text(file)
        if not day and (published := opened(text)["day"]):
            facts = replace(facts, day=published)
        print(visible_lines(card(text, facts)), end="")
