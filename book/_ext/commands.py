"""The page of the command line, from what every command says of itself: as `--help`, which cannot differ from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sphinx.application import Sphinx

if TYPE_CHECKING:
    from dprank.cli.manual import Entry, Option

PAGE = "book/commands"
#: The line of the page in whose place all of it goes; that for what files look like; that for files of ballots.
MARK, FILES, FORMS = "% commands", "% files", "% forms"
#: What the first lines of a table of each kind say.
TABLES = {
    "staff.csv": "Comparisons: a row an answer, which of two a person prefers.",
    "ballots.csv": "Ballots: a row a person, a column an item, in it the place that the person gives it.",
    "diagnoses.csv": "Counts: a row for each thing that a person has.",
}


def prose(text: str) -> str:
    """Help as Markdown: what one types as code, and signs that Markdown would take as its own as they are."""
    parts = re.split(r"(`[^`]*`|(?<![\w`])--[a-z][a-z-]*)", text)
    return "".join(
        f"`{part.strip('`')}`" if at % 2 else re.sub(r"([*_<>|\[\]{}$])", r"\\\1", part)
        for at, part in enumerate(parts)
    )


def listed(option: Option) -> Iterator[str]:
    """An entry of the list of options."""
    default = f" Without it: {option.default}." if option.default else ""
    needed = " Needed." if option.required else ""
    written = option.takes if option.argument else " / ".join(option.names) + f" {option.takes}".rstrip()
    yield f"`{written}`"
    yield f": {prose(option.said)}{needed}{default}\n"


def section(entry: Entry) -> Iterator[str]:
    """What a page of a manual has: what it does, how it is called, its options, an example."""
    from dprank.cli.manual import typed

    yield f"## {entry.name}\n"
    yield from (f"{prose(paragraph)}\n" for paragraph in entry.said)
    yield f"```text\n{entry.synopsis}\n```\n"
    for option in entry.options:
        yield from listed(option)
    yield "For example:\n"
    yield "\n".join(["```bash", *typed(entry.example), "```\n"])


def manual() -> str:
    """Every command, and what an exit code means."""
    from dprank.cli import app as commands
    from dprank.cli.manual import EXITS, entries

    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXITS.items())
    found = [line for entry in entries(commands) for line in section(entry)]
    return "\n".join([*found, "## Exit codes\n", f"| code | means |\n|---|---|\n{codes}\n"])


def files(lines: int = 4) -> str:
    """The first lines of a table of each kind."""
    from dprank import example

    found = []
    for name, said in TABLES.items():
        head = "\n".join(example(name).read_text(encoding="utf-8-sig").splitlines()[:lines])
        found += [f"{said} `{name}`:\n", f"```text\n{head}\n```\n"]
    return "\n".join(found)


def forms() -> str:
    """Formats of files of ballots that name their candidates, by the registry that reads them."""
    from dprank.data.forms import BALLOT_FILES

    rows = ["| file | known by | a ballot | mind |", "|---|---|---|---|"]
    for it in BALLOT_FILES:
        known = ", ".join(f"`{suffix}`" for suffix in it.suffixes) or f"`--form {it.name}`"
        words = re.sub("^an? ", "", it.words)
        mind = re.sub(r"--[\w-]+(?: exhaust)?", r"`\g<0>`", it.losses or "nothing is lost")
        rows.append(f"| {words[0].upper()}{words[1:]} | {known} | `{it.ballot}` | {mind} |")
    return "\n".join(rows)


def fill(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put the manual in its place, what files look like, and formats of ballots."""
    if page == PAGE:
        source[0] = source[0].replace(MARK, manual()).replace(FILES, files()).replace(FORMS, forms())


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
