"""A page of its own for each result that people send each other, of what the ledger and the records say."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from companion.ledger.card import anchor, fill
from companion.ledger.files import Page
from companion.ledger.papers import copies, names, paper_of
from companion.ledger.scoreboard import Entry

__all__ = ["FOLDER", "ran", "result_pages", "results_list", "script_of", "with_results", "words_of"]

#: Of the pages, whose list has the same name, and of the lines that show a result by themselves.
FOLDER, SCRIPTS = "book/results", "data/results"


def script_of(root: Path, claim: str) -> str:
    """The lines that show, with nothing of ours, where the claim fails; empty if there are none."""
    path = root / SCRIPTS / f"{anchor(claim)}.py"
    return path.read_text(encoding="utf-8").rstrip("\n") if path.is_file() else ""


def ran(script: str) -> str:
    """What the lines print; a ValueError names what they need but Python and NumPy."""
    tree = ast.parse(script)
    names = {alias.name for it in ast.walk(tree) if isinstance(it, ast.Import) for alias in it.names}
    names |= {it.module or "." for it in ast.walk(tree) if isinstance(it, ast.ImportFrom)}
    if foreign := sorted({it.partition(".")[0] for it in names} - sys.stdlib_module_names - {"numpy"}):
        raise ValueError(f"imports {', '.join(foreign)}; allowed: the standard library and NumPy")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "<result>", "exec"), {"__name__": "__main__"})
    return said.getvalue().rstrip("\n")


def words_of(root: Path, page: Page) -> list[tuple[str, str]]:
    """The words of a page that are not everybody's, each with what it means, in the order of their file."""
    path = root / SCRIPTS / "words.yml"
    known = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else []
    text = " ".join(filter(None, (page.title, page.printed, page.why, page.argument, page.numbers, page.instead)))
    return [(it["word"], it["says"]) for it in known if re.search(it["seen"], text)]


def cited(entry: Entry, book: Mapping[str, str], base: str) -> str:
    """An entry of BibTeX for a page."""
    fields = {
        "author": f"{{{book['author']}}}",
        "title": f"{{{entry.claim.page.title}}}" if entry.claim.page else "",
        "howpublished": f"Private ranking, executable, version {book['version']}",
        "note": f"{entry.paper}, {entry.claim.where}: {entry.verdict.words}",
    } | ({"url": f"{base}{FOLDER}/{anchor(entry.claim.id)}.html"} if base else {})
    lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
    return f"@misc{{{anchor(entry.claim.id)},\n{lines}\n}}"


def told(entry: Entry, script: str, words: Iterable[tuple[str, str]] = ()) -> str:
    """The page as plain text, to be sent."""
    page = entry.claim.page
    assert page is not None
    parts = {
        "": f"{page.title}\n({entry.paper}, {entry.claim.where}: {entry.verdict.words})",
        "Printed": page.printed,
        "Words": " ".join(f"{word}: {says}." for word, says in words),
        "Why": page.why,
        "In general": page.argument,
        "By hand": page.numbers,
        "Instead": page.instead,
        "To run": script and f"\n{script}",
    }
    return "\n\n".join(f"{name}: {text}" if name else text for name, text in parts.items() if text)


def result_pages(
    root: Path,
    entries: Iterable[Entry],
    figures: Mapping[str, bytes],
    where: Mapping[str, str],
    seconds: Mapping[str, float],
    book: Mapping[str, str],
    base: str = "",
    spoken: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """The pages, in Markdown, and their pictures, by name.

    `figures` are those of a build, `where` says the chapter and anchor of a figure by its name, `seconds` how long each
    chapter ran, `book` is its citation, `base` where the site stands, and `spoken` the alternative text of a figure by
    its name. A ValueError names a picture that no chapter
    draws, or lines that do not run by themselves.
    """
    made: dict[str, bytes] = {}
    for it in entries:
        if not (page := it.claim.page):
            continue
        name, script = anchor(it.claim.id), script_of(root, it.claim.id)
        words = words_of(root, page)
        try:
            output = ran(script) if script else ""
        except Exception as error:
            raise ValueError(f"{SCRIPTS}/{name}.py: {error}") from None
        if page.picture and f"{page.picture}.svg" not in figures:
            raise ValueError(f"{it.claim.id}: page: picture: {page.picture!r}; allowed: a figure that a chapter draws")
        values: dict[str, Any] = {
            "it": it,
            "page": page,
            "name": name,
            "script": script,
            "output": output,
            "alt": (spoken or {}).get(page.picture or "", page.title),
            "figure": where.get(page.picture or "", ""),
            "number": it.claim.chapter.partition("-")[0],
            "seconds": 5 * math.ceil(seconds.get(it.claim.chapter, 0) / 5),
            "version": read_version(root, paper_of(it.claim.id).key),
            "bibtex": cited(it, book, base),
            "words": words,
            "text": told(it, script, words),
        }
        made[f"{FOLDER}/{name}.md"] = fill("result.md", **values).encode() + b"\n"
        if page.picture:
            made[f"{FOLDER}/{page.picture}.svg"] = figures[f"{page.picture}.svg"]
    return made


def read_version(root: Path, paper: str) -> str:
    """Which version of a paper was read."""
    read = copies(root).get(paper)
    return read.identifier if read else ""


def results_list(entries: Iterable[Entry]) -> str:
    """Links to all pages, a paper after the other, on one line of HTML."""
    papers: dict[str, list[Entry]] = {name: [] for name in names().values()}
    for it in entries:
        if it.claim.page:
            papers.setdefault(it.paper, []).append(it)
    return fill("results.html", papers={name: them for name, them in papers.items() if them}).replace("\n", "")


def with_results(toc: bytes, pages: Iterable[str]) -> bytes:
    """The table of contents with the pages below what leads to them."""
    contents = yaml.safe_load(toc)
    for part in contents.get("parts", []):
        for entry in part["chapters"]:
            if entry.get("file") == FOLDER:
                entry["sections"] = [{"file": it.removesuffix(".md")} for it in sorted(pages)]
    return yaml.safe_dump(contents, sort_keys=False, allow_unicode=True).encode()
