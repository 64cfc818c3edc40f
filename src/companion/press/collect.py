"""Take claim records, figures and all else that pages show out of executed notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import nbformat

from companion.instruments.seed import ROOT
from companion.ledger.card import card
from companion.ledger.certificates import Certificate
from companion.ledger.claim import Check, Record
from companion.ledger.files import Claim
from companion.ledger.judge import Difference
from companion.press import BuildError
from companion.press.execute import versions
from companion.press.layout import Layout, digest
from companion.press.pages import Entry, entries
from companion.press.pages import written as pages_written


@dataclass(frozen=True)
class Collected:
    """What chapters left in a profile: records as plain data, figures as file name and content, all else as entries."""

    profile: str
    records: list[dict[str, Any]]
    figures: dict[str, bytes]
    seed: int = ROOT
    pages: Sequence[Entry] = ()

    @property
    def narrow(self) -> dict[str, bytes]:
        """Drawings for a phone, by the place where the site is staged with them."""
        ending = "-narrow.svg"
        drawn = {name.removesuffix(ending): data for name, data in self.figures.items() if name.endswith(ending)}
        return {f"book/_static/narrow/{name}.svg": data for name, data in drawn.items()}

    @property
    def json(self) -> bytes:
        """Content of `_build/records.json`, with the versions that made the numbers."""
        content = {"profile": self.profile, "seed": self.seed, "versions": versions()}
        return written(content, self.records)

    @property
    def shown(self) -> bytes:
        """Content of `_build/pages.json`."""
        return pages_written({"profile": self.profile, "seed": self.seed, "versions": versions()}, self.pages)

    def write(self, layout: Layout) -> None:
        """Write records, figures with their data, and what else pages show; the checksums are no longer true."""
        (layout.build / "SHA256SUMS").unlink(missing_ok=True)
        folder = layout.fresh()
        folder.mkdir()
        for name, data in self.figures.items():
            (folder / name).write_bytes(data)
        layout.replace_folder(folder, layout.build / "figures")
        layout.write(layout.pages, self.shown)
        layout.write(layout.records, self.json)


def written(content: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> bytes:
    """JSON with a line for each check, so that a difference can be read."""
    blocks = []
    for record in records:
        checks = ",\n   ".join(_line({it.name: check[it.name] for it in fields(Check)}) for check in record["checks"])
        rest = _line({key: record[key] for key in ("claim", "chapter", "verdict")})
        blocks.append(f'{rest[:-1]}, "checks": [\n   {checks}]}}')
    listed = ",\n  ".join(blocks)
    return f'{_line(content)[:-1]},\n "records": [\n  {listed}]}}\n'.encode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_checksums(layout: Layout, site: bool) -> None:
    """Write the checksums of records, pages, figures and, where it was made of them, the site, as `sha256sum` does."""
    files = [
        layout.records,
        layout.pages,
        *(layout.build / "figures").iterdir(),
        *(layout.html.rglob("*") if site else ()),
    ]
    names = {file.relative_to(layout.build).as_posix(): file for file in files if file.is_file()}
    lines = (f"{digest(names[name].read_bytes())}  {name}\n" for name in sorted(names))
    layout.write(layout.build / "SHA256SUMS", "".join(lines).encode())


def outputs(notebook: nbformat.NotebookNode) -> Iterator[Any]:
    """All outputs of a notebook that carry metadata."""
    for cell in notebook.cells:
        yield from (output for output in cell.get("outputs", []) if output.get("metadata"))


def collect(profile: str, notebooks: Mapping[str, nbformat.NotebookNode], seed: int = ROOT) -> Collected:
    """Records and figures of executed `notebooks`, by chapter; a figure's name is usable and its own."""
    records: list[dict[str, Any]] = []
    figures: dict[str, bytes] = {}
    pages: list[Entry] = []
    for chapter, notebook in notebooks.items():
        pages += entries(chapter, notebook)
        for output in outputs(notebook):
            if entry := output.metadata.get("claim"):
                records.append({**entry, "chapter": chapter})
            if figure := output.metadata.get("figure"):
                figures |= _figure(chapter, figure, output, figures)
    ordered = sorted(records, key=lambda entry: (entry["claim"], entry["chapter"]))
    return Collected(profile, ordered, figures, seed, pages)


def _figure(chapter: str, figure: Mapping[str, str], output: Any, taken: Iterable[str]) -> dict[str, bytes]:
    name = figure.get("name", "")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BuildError(f"{chapter}: figure name {name!r}; allowed: letters, digits, '.', '_' and '-'")
    if name.endswith("-narrow") or f"{name}.svg" in taken:
        raise BuildError(f"{chapter}: figure name {name!r} is taken; allowed: one figure a name")
    if "image/svg+xml" not in output.data:
        raise BuildError(f"{chapter}: figure {name!r} is {', '.join(output.data)}; allowed: image/svg+xml")
    if not figure.get("message"):
        raise BuildError(f"{chapter}: figure {name!r} has no title; allowed: one whose title says its message")
    made = {f"{name}.svg": output.data["image/svg+xml"], f"{name}.csv": figure.get("data", "")}
    if narrow := figure.get("narrow"):
        made[f"{name}-narrow.svg"] = narrow
    return {file: text.encode() for file, text in made.items()}


def draw_cards(
    notebook: nbformat.NotebookNode,
    ledger: Mapping[str, Claim],
    profile: str,
    certificates: Mapping[str, Sequence[Certificate]],
    differing: Mapping[str, Difference],
) -> None:
    """Draw the verdict cards: a rewording in the ledger needs no execution, nor does a certificate."""
    for output in outputs(notebook):
        entry = output.metadata.get("claim")
        if entry and (name := entry["claim"]) in ledger:
            record = Record.from_json(entry)
            output.data["text/html"] = card(
                ledger[name], record, profile, certificates.get(name, ()), differing.get(name)
            )
