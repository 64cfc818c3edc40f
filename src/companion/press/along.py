"""A chapter to take along: one notebook that runs from top to bottom where nothing but `dprank[book]` is installed.

It brings the book's own code that the chapter imports, and the data that this code reads, as an archive in a folded
cell. What the book's pages alone understand (numbers of sentences, citations, strips) is text in it.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote

import nbformat
from pybtex.database import Person, parse_file

from companion.ledger.files import Claim
from companion.ledger.verdicts import in_words
from companion.press.roads import BORROWED, STRIP, behind, glue_of, title

#: Where the site keeps them.
FOLDER = "book/_static/chapters"
#: What an archive says of when it was made, so that its bytes say nothing of it.
ALWAYS = (1980, 1, 1, 0, 0, 0)
#: Behind what papermill may put before it.
PLAIN = "text/plain"
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<text>[^`]*)`")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<page>[\w./-]*)\.(?:ipynb|md)(?P<at>#[\w.-]*)?\)")
LABEL = re.compile(r"^\([\w.:-]+\)=\n", re.MULTILINE)
FENCE = re.compile(r"^(?P<fence>:{3,}|`{3,})\{\w+\} ?(?P<title>.*)\n(?P<body>(?s:.*?))^(?P=fence)$", re.MULTILINE)
UNPACK = """\
# {said}
import base64
import io
import os
import sys
import tempfile
import zipfile

packed = \"\"\"
{packed}
\"\"\"
folder = tempfile.mkdtemp(prefix="companion-")
zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))).extractall(folder)
os.environ["COMPANION_ROOT"] = folder
sys.path.insert(0, f"{{folder}}/src")"""


def along(
    name: str,
    pages: Mapping[str, nbformat.NotebookNode],
    ledger: Mapping[str, Claim],
    root: Path,
    files: Iterable[str],
    version: str,
    base: str = "",
) -> nbformat.NotebookNode:
    """The chapter `name` of `pages`, executed or not, with the `files` of the book at `root` that it needs.

    `base` is where the site stands; without it, links to other pages are their words alone.
    """
    road, lenders = pages[name], [pages[page] for page in behind(name, pages)]
    text = _text(_glued([road, *lenders]), ledger, _titles(lenders), root, base)
    brought = sorted(files)
    said = (
        f"The book's own code for this chapter, and its data: {len(brought)} files of version {version}, unpacked into "
        "a folder of this session."
    )
    packed = "\n".join(textwrap.wrap(base64.b64encode(_archive(root, brought)).decode(), 100))
    said = "\n# ".join(textwrap.wrap(said, 90))
    first = nbformat.v4.new_code_cell(UNPACK.format(said=said, packed=packed), id="along-code")
    first.metadata = nbformat.from_dict({"jupyter": {"source_hidden": True}})
    how = (
        f'*This notebook runs by itself, where `pip install "dprank[book]=={version}"` was run once: in Jupyter from '
        "top to bottom, or with papermill and parameters of your own.*"
    )
    cells = [nbformat.v4.new_markdown_cell(how, id="along"), first]
    for cell in road.cells:
        if cell.id.endswith("-links"):
            continue
        new = nbformat.from_dict(cell)
        if cell.cell_type == "markdown":
            new.source = text(cell.source)
        else:
            new.outputs = [it for it in cell.get("outputs", []) if not glue_of(it)]
        cells.append(new)
    title_at = next(at for at, cell in enumerate(cells) if cell.id == road.cells[0].id)
    cells.insert(0, cells.pop(title_at))
    kept = {key: road.metadata[key] for key in ("kernelspec", "language_info") if key in road.metadata}
    return nbformat.v4.new_notebook(cells=cells, metadata=kept)


def buttons(name: str, repository: str) -> dict[str, str]:
    """Where a chapter runs for a reader who installs nothing, by the name of the place; nowhere without a repository.

    Examples
    --------
    >>> buttons("07-private-top-k", "")
    {}
    >>> buttons("07-private-top-k", "somebody/ranking")["Binder"]
    'https://mybinder.org/v2/gh/somebody/ranking/HEAD?labpath=notebooks%2F07-private-top-k.ipynb'
    """
    if not repository:
        return {}
    page = quote(f"notebooks/{name}.ipynb", safe="")
    return {
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/chapters/{name}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath={page}",
    }


def seconds(root: Path) -> dict[str, int]:
    """How long each chapter runs on two cores, rounded up to five seconds; `make parameters` measured it."""
    file = root / "data" / "times.json"
    if not file.is_file():
        return {}
    return {name: 5 * math.ceil(it / 5) for name, it in json.loads(file.read_bytes())["seconds"].items()}


def _archive(root: Path, files: Iterable[str]) -> bytes:
    """The files as a zip archive: the same bytes whenever it is made."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file, ALWAYS), (root / file).read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return whole.getvalue()


def _glued(pages: Iterable[nbformat.NotebookNode]) -> dict[str, str]:
    """The numbers that pages glue, by name, as text."""
    found: dict[str, str] = {}
    for page in pages:
        for cell in page.cells:
            for output in cell.get("outputs", []):
                plain = next((text for kind, text in output.get("data", {}).items() if kind.endswith(PLAIN)), "")
                if name := glue_of(output):
                    found.setdefault(name, plain[1:-1] if plain[:1] in ("'", '"') else plain)
    return found


def _titles(lenders: Iterable[nbformat.NotebookNode]) -> dict[str, str]:
    """The title of the statement page that a cell stands on, by the cell."""
    return {cell.id: title(page) for page in lenders for cell in page.cells}


@cache
def _cited(file: Path) -> dict[str, tuple[str, str]]:
    """Authors and year of what is cited, by key."""

    def last(person: Person) -> str:
        return " ".join([*person.prelast_names, *person.last_names])

    found = {}
    for key, entry in parse_file(file).entries.items():
        names = [last(it) for it in entry.persons.get("author", entry.persons.get("editor", []))]
        joined = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        found[key] = re.sub(r"[{}\\]", "", joined), entry.fields.get("year", "")
    return found


def _text(
    glued: Mapping[str, str], ledger: Mapping[str, Claim], titles: Mapping[str, str], root: Path, base: str
) -> Callable[[str], str]:
    """What makes of a page's prose one that every notebook shows."""

    def role(match: re.Match[str]) -> str:
        kind, said = match["role"], match["text"]
        if kind == "glue:text":
            return glued.get(said, "…")
        if kind.startswith("cite"):
            cited = [_cited(root / "book" / "references.bib")[key.strip()] for key in said.split(",")]
            each = [f"{who} ({when})" if kind == "cite:t" else f"{who}, {when}" for who, when in cited]
            return "; ".join(each) if kind == "cite:t" else f"({'; '.join(each)})"
        words = re.sub(r"\s*<[^>]*>$", "", said)
        if kind.startswith("py:"):
            return f"`{words.removeprefix('~').rpartition('.')[2] if words == said else words}`"
        return words.replace(" %s", "") if words != said else "there"

    def link(match: re.Match[str]) -> str:
        if not base or not match["page"]:
            return match["text"]
        page = match["page"]
        place = page.removeprefix("../") if page.startswith("../") else f"notebooks/{page}"
        return f"[{match['text']}]({base}{place}.html{match['at'] or ''})"

    def strip(match: re.Match[str]) -> str:
        claim, stands = ledger[match[1]], ledger[match[1]].verdict
        of = {"Why": claim.why, "Instead": claim.corrected}
        more = "".join(f"\n>\n> **{word}:** {' '.join(it.split())}" for word, it in of.items() if it)
        return f"> {stands.mark} **{claim.where}**: {stands.words}. {' '.join(claim.statement.split())}{more}"

    def text(source: str) -> str:
        source = BORROWED.sub(lambda it: f"*(The figure or table here is drawn on the page {titles[it[1]]}.)*", source)
        source = FENCE.sub(lambda it: f"**{it['title']}**\n\n{it['body']}" if it["title"] else it["body"], source)
        source = in_words(source)
        return ROLE.sub(role, LINK.sub(link, LABEL.sub("", STRIP.sub(strip, source))))

    return text
