"""Main roads and the statement pages behind them.

The pages of chapter 7 are its road, ``07-private-top-k``, and statement pages, ``07a-…``, ``07b-…``, in the paper's
order. A road borrows: a line ``{from}`id``` of its prose stands for the cell `id` of one of its statement pages, with
what the cell put out and its links (the cell ``id-links`` that follows it), and the cell is shown there no more. A line
``{verdict}`paper:place``` is a strip that says how a claim stands, and unfolds; ``{map}`paper:place```, on any page, is
the graph of all that a claim rests on. A verdict is named by its key, ``{word}`refuted```, and shown in its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import nbformat

from companion.ledger.card import fill
from companion.ledger.files import Claim
from companion.ledger.graph import proof_map
from companion.ledger.judge import Difference
from companion.ledger.scoreboard import Entry
from companion.ledger.verdicts import in_words
from companion.press import BuildError

ROAD = re.compile(r"(\d\d)-")
BORROWED = re.compile(r"^\{from\}`([\w-]+)`[ \t]*$", re.MULTILINE)
STRIP = re.compile(r"^\{verdict\}`([\w.:-]+)`[ \t]*$", re.MULTILINE)
MAP = re.compile(r"^\{map\}`([\w.:-]+)`[ \t]*$", re.MULTILINE)
GLUED = re.compile(r"\{glue:text\}`([\w-]+)")
#: Tag of a cell whose input a reader would type, and so sees.
TYPED = "typed"
#: Tags of a question to the reader, and of the cell that answers it, which unfolds.
EXERCISE, SOLUTION = "exercise", "solution"
FOLDED = {"code_prompt_show": "Solution", "code_prompt_hide": "Solution"}

Pages = MutableMapping[str, nbformat.NotebookNode]


def behind(road: str, pages: Iterable[str]) -> list[str]:
    """The statement pages of `road`, in order."""
    number = ROAD.match(road)
    return [page for page in sorted(pages) if number and re.match(rf"{number[1]}[a-z]-", page)]


def title(page: nbformat.NotebookNode) -> str:
    """The heading of a page, as Markdown."""
    lines = (line for cell in page.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    return next((line[2:].strip() for line in lines if line.startswith("# ")), "Untitled")


def assemble(
    pages: Pages,
    ledger: Mapping[str, Claim],
    bibtex: str = "",
    differing: Mapping[str, Difference] | None = None,
    taken: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Make of executed notebooks what a reader sees: roads with what they borrow, no code but what one would type.

    `bibtex` is the book's own entry, `differing` are claims that do not come out as the ledger says, and `taken` is
    how a page is taken along, where it can be; a BuildError names a line of a road that finds nothing.
    """
    for road in pages:
        lenders = {name: pages[name] for name in behind(road, pages)}
        if lenders:
            _borrow(road, pages[road], lenders)
            pages[road].cells.append(_statements(lenders, ledger, differing or {}))
    for name, page in pages.items():
        page.cells = [_strips(name, cell, ledger, differing or {}) for cell in page.cells]
        hide_code(page)
        foot = fill("foot.html", name=name, cite=_cited(bibtex, title(page)), taken=(taken or {}).get(name))
        page.cells.append(_markdown("page-foot", foot))


def _cited(bibtex: str, heading: str) -> str:
    """The book's entry, with the page in it."""
    return bibtex.replace("\n}", f",\n  note = {{Chapter ``{heading}''}}\n}}")


def hide_code(page: nbformat.NotebookNode) -> None:
    """Show no input but what is tagged as typed, and no parameters; the notebook to download has everything.

    A solution is folded, with what it prints.
    """
    for cell in page.cells:
        tags = set(cell.metadata.get("tags", []))
        if SOLUTION in tags:
            cell.metadata["tags"] = sorted(tags | {"hide-cell"})
            cell.metadata["mystnb"] = {**cell.metadata.get("mystnb", {}), **FOLDED}
        elif cell.cell_type == "code" and TYPED not in tags:
            hidden = {"parameters", "injected-parameters"} & tags or not cell.get("outputs")
            tags = (tags - {"hide-input"}) | {"remove-cell" if hidden else "remove-input"}
            cell.metadata["tags"] = sorted(tags)


def _markdown(cell_id: str, source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=cell_id)


def _borrow(road: str, page: nbformat.NotebookNode, lenders: Mapping[str, nbformat.NotebookNode]) -> None:
    """Put the cells that `page` names in the place of their names, and the numbers of its sentences before them."""
    cells = []
    for cell in page.cells:
        parts = BORROWED.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        if len(parts) == 1:
            cells.append(cell)
            continue
        for place, part in enumerate(parts):
            if place % 2:
                cells += _lent(road, part, lenders)
            elif part.strip():
                cells.append(_markdown(f"{cell.id}-{place}"[-64:], part.strip("\n")))
    keys = {key for cell in cells for key in GLUED.findall(f"{cell.source} {cell.metadata}")}
    page.cells = [cells[0], *_glued(keys, lenders), *cells[1:]]


def _lent(road: str, wanted: str, lenders: Mapping[str, nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The cell `wanted` and its links, taken from the page that has them."""
    for lender in lenders.values():
        taken = [cell for cell in lender.cells if cell.id in (wanted, f"{wanted}-links")]
        if taken and taken[0].id == wanted:
            lender.cells = [cell for cell in lender.cells if cell not in taken]
            return taken
    raise BuildError(f"{road}: {{from}}`{wanted}`; allowed: a cell of {', '.join(lenders)}, once")


def _glued(keys: set[str], lenders: Mapping[str, nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
    """Copies of the cells that give the numbers `keys`, seen by nobody."""
    for name, lender in lenders.items():
        for cell in lender.cells:
            outputs = [it for it in cell.get("outputs", []) if glue_of(it) in keys]
            if outputs:
                copied = nbformat.from_dict({**cell, "id": f"{name[:3]}-{cell.id}"[:64], "outputs": outputs})
                copied.metadata["tags"] = ["remove-cell"]
                yield copied


def glue_of(output: nbformat.NotebookNode) -> str | None:
    """The name of the number that an output glues."""
    found: str | None = output.get("metadata", {}).get("scrapbook", {}).get("name")
    return found


def _strips(
    name: str, cell: nbformat.NotebookNode, ledger: Mapping[str, Claim], differing: Mapping[str, Difference]
) -> nbformat.NotebookNode:
    """The cell with its strips and maps drawn, and the words of verdicts."""

    def known(match: re.Match[str]) -> str:
        if match[1] not in ledger:
            raise BuildError(f"{name}: {match[0].strip()}; allowed: an id of the ledger")
        return match[1]

    def strip(match: re.Match[str]) -> str:
        return f"\n{fill('strip.html', claim=ledger[known(match)], differs=match[1] in differing)}\n"

    def drawn(match: re.Match[str]) -> str:
        those = (Entry(it, it.verdict, differs=differing.get(it.id)) for it in ledger.values())
        return f"\n{proof_map(those, known(match))}\n"

    if cell.cell_type == "markdown":
        try:
            source = in_words(cell.source)
        except ValueError as error:
            raise BuildError(f"{name}: {error}") from None
        cell.source = MAP.sub(drawn, STRIP.sub(strip, source))
    return cell


def _statements(
    lenders: Mapping[str, nbformat.NotebookNode], ledger: Mapping[str, Claim], differing: Mapping[str, Difference]
) -> nbformat.NotebookNode:
    """The last section of a road: its statement pages with their claims, under the anchors that cards once had."""
    listed = [
        (name, title(page), [claim for claim in ledger.values() if claim.chapter == name])
        for name, page in lenders.items()
    ]
    lines = ["## Statement by statement"]
    for name, heading, claims in listed:
        lines += [f"[{heading}]({name}.ipynb)", fill("statements.html", claims=claims, differing=differing)]
    return _markdown("statements", "\n\n".join(lines))
