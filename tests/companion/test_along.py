"""A chapter to take along: what the book's pages alone understand is text, and the archive has always the same bytes.

That it runs where nothing of the book is installed is held by `test_chapters_run.py`.
"""

from __future__ import annotations

import base64
import io
import json
import re
import statistics
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.ledger.files import load_ledger
from companion.press import UsageError
from companion.press.along import along, buttons, seconds
from companion.press.render import repository

ROOT = Path(__file__).resolve().parents[2]
#: What only the book's pages understand.
MARKUP = re.compile(r"\{[\w:]+\}`|^:::|^\([\w.-]+\)=", re.MULTILINE)
PROSE = """\
(label)=
See {glue:text}`k` of {cite:t}`qiao2021`, or {cite:p}`busafekete2021,alabi2022`, with {py:class}`~dprank.Oneshot`,
and {numref}`Figure %s <fig-x>`.
[Proof](07b-proof.ipynb#at), [guide](../book/guide.md), [far](https://example.org/x.ipynb).

{verdict}`qiao2021:thm-2.1`

:::{admonition} Three promises
They are kept.
:::

{from}`drawn`
"""


def page(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return new_notebook(cells=list(cells))


def glued(name: str, text: str) -> nbformat.NotebookNode:
    record = {f"application/papermill.record/{'text/plain'}": repr(text)}
    return new_output("display_data", data=record, metadata={"scrapbook": {"name": name}})


@pytest.fixture
def pages() -> dict[str, nbformat.NotebookNode]:
    code = new_code_cell("1 + 1", id="sum", outputs=[glued("k", "7"), new_output("stream", text="2")])
    links = new_code_cell("drawn.links", id="sum-links", outputs=[new_output("stream", text="a link")])
    behind = page(new_markdown_cell("# Behind", id="title"), new_code_cell("draw()", id="drawn"))
    road = page(new_markdown_cell("# The road", id="title"), new_markdown_cell(PROSE, id="prose"), code, links)
    return {"07-road": road, "07a-behind": behind}


def taken(pages: dict[str, nbformat.NotebookNode], base: str = "") -> nbformat.NotebookNode:
    return along("07-road", pages, load_ledger(ROOT), ROOT, ["README.md", "src/companion/__init__.py"], "1.2", base)


def test_prose_is_text_that_every_notebook_shows(pages: dict[str, nbformat.NotebookNode]) -> None:
    title, how, _, prose, *_ = taken(pages).cells
    assert title.source == "# The road"
    assert '"dprank[book]==1.2"' in how.source
    assert prose.source.startswith("See 7 of Qiao et al. (2021), or (Busa-Fekete et al., 2021; Alabi et al., 2022), ")
    assert "with `Oneshot`,\nand Figure.\nProof, guide, [far](https://example.org/x.ipynb)." in prose.source
    assert re.search(r"> . \*\*.*Theorem 2\.1.*\*\*: ", prose.source)
    assert "**Three promises**\n\nThey are kept." in prose.source
    assert "drawn on the page Behind" in prose.source
    assert not MARKUP.search(prose.source)


def test_links_lead_to_the_site_where_it_has_an_address(pages: dict[str, nbformat.NotebookNode]) -> None:
    prose = taken(pages, "https://example.org/b/").cells[3].source
    assert "[Proof](https://example.org/b/notebooks/07b-proof.html#at)" in prose
    assert "[guide](https://example.org/b/book/guide.html)" in prose


def test_code_is_whole_and_what_it_brings_is_the_same_each_time(pages: dict[str, nbformat.NotebookNode]) -> None:
    first, again = taken(pages), taken(pages)
    cells = {cell.id: cell for cell in first.cells}
    assert [it.get("text") for it in cells["sum"].outputs] == ["2"], "numbers of sentences are in them"
    assert "sum-links" not in cells, "they lead to files of the site"
    code = cells["along-code"].source
    assert code == {cell.id: cell for cell in again.cells}["along-code"].source
    packed = re.search(r'"""\n(.*)\n"""', code, re.DOTALL)
    assert packed is not None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed[1]))) as archive:
        assert archive.namelist() == ["README.md", "src/companion/__init__.py"]
        assert archive.read("README.md") == (ROOT / "README.md").read_bytes()
    nbformat.validate(first)


def test_buttons_are_there_where_the_files_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    assert buttons("07-road", repository()) == {}
    monkeypatch.setenv("BOOK_REPOSITORY", "some-body/a.book")
    assert {name: "/some-body/a.book/" in url for name, url in buttons("07-road", repository()).items()} == {
        "Colab": True,
        "Binder": True,
    }
    for wrong in ("https://example.org/a/b", "a", "a/b/c", "a/b c", "a/<b>"):
        monkeypatch.setenv("BOOK_REPOSITORY", wrong)
        with pytest.raises(UsageError, match=r"BOOK_REPOSITORY: .*; allowed: owner/name, or nothing"):
            repository()


def test_every_chapter_has_a_time_and_takes_less_than_a_minute() -> None:
    """On two idle cores, in a fresh kernel; `make parameters ARGS=--times` measures them."""
    roads = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb") if re.match(r"[0-8]\d-", path.name)}
    measured = json.loads((ROOT / "data" / "times.json").read_bytes())
    assert measured["seconds"].keys() == roads
    assert measured["cores"] == 2
    assert max(measured["seconds"].values()) < 60
    assert statistics.median(measured["seconds"].values()) < 20
    assert all(it % 5 == 0 for it in seconds(ROOT).values())
