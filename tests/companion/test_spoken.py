"""A page shows each figure that it speaks of: its own, or that of another page, small."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from small_book import REPOSITORY
from sphinx.application import Sphinx

CONF = "extensions = ['spoken']\nnumfig = True\nhtml_theme = 'basic'\n"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"/>'
PAGES = {
    "index": "Book\n====\n\n.. toctree::\n   :numbered:\n\n   one\n   two\n",
    "one": """\
One
===

.. _large:

.. figure:: large.svg
   :alt: a large drawing

   Large.

See :numref:`large`.
""",
    "two": """\
Two
===

See :numref:`large`.

* And :numref:`large` again.

A word on :doc:`one`, and :ref:`its <large>` too.
""",
}


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    (source / "conf.py").write_text(CONF, encoding="utf-8")
    (source / "large.svg").write_text(DRAWING, encoding="utf-8")
    for name, text in PAGES.items():
        (source / f"{name}.rst").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(REPOSITORY / "book/_ext"))
        Sphinx(source, source, out, out / "trees", "html", status=None, warningiserror=True).build()
    return out


def test_a_figure_of_another_page_is_there_once_and_leads_to_the_large_one(html: Path) -> None:
    page = BeautifulSoup((html / "two.html").read_text(encoding="utf-8"), "html.parser")
    [small] = page.select("p.small-figure a")
    assert small["href"] == "one.html#large"
    assert (small.img["alt"], small.img["src"]) == ("a large drawing", "_images/large.svg")
    assert "See Fig. 1.1." in small.find_previous("p").find_previous("p").get_text()


def test_a_page_has_its_own_figure_large_alone(html: Path) -> None:
    page = BeautifulSoup((html / "one.html").read_text(encoding="utf-8"), "html.parser")
    assert len(page.select("img")) == 1
    assert not page.select(".small-figure")
