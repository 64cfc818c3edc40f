"""The contents beside a page are those that the theme would lay out for it."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydata_sphinx_theme.toctree import add_toctree_functions
from sphinx.events import EventManager

EXTENSION = runpy.run_path(str(Path(__file__).resolve().parents[2] / "book/_ext/contents.py"))
MARKED = EXTENSION["marked"]
CONTENTS = (
    '<p class="caption">Begin</p>\n<ul class="nav bd-sidenav">\n'
    '<li class="toctree-l1"><a class="reference internal" href="../book/verdicts.html">Verdicts</a></li>\n</ul>\n'
    '<p class="caption">Chapters</p>\n<ul class="nav bd-sidenav">\n'
    '<li class="toctree-l1"><a class="reference internal" href="one.html">One</a></li>\n'
    '<li class="toctree-l1 has-children"><a class="reference internal" href="two.html">Two</a><details><summary>'
    "<span></span></summary><ul>\n"
    '<li class="toctree-l2"><a class="reference internal" href="two-a.html">Two a</a></li>\n'
    '<li class="toctree-l2"><a class="reference internal" href="two-b.html">Two b</a></li>\n</ul>\n</details></li>\n'
    '<li class="toctree-l1 has-children"><a class="reference internal" href="three.html">Three</a><details><summary>'
    "<span></span></summary><ul>\n"
    '<li class="toctree-l2"><a class="reference internal" href="three-a.html">Three a</a></li>\n</ul>\n</details></li>'
    "\n</ul>"
)
HERE = '<a class="current reference internal" href="#">'
SECOND = CONTENTS.rpartition('<ul class="nav')
ON_TWO = [
    ('<ul class="nav', '<ul class="current nav'),
    ('<li class="toctree-l1 has-children"><a class="reference internal" href="two.html">Two</a><details>',
     '<li class="toctree-l1 current active has-children"><a class="reference internal" href="two.html">Two</a>'
     '<details open="open">'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("link", "changes"),
    [
        ("one.html", [ON_TWO[0], ('<li class="toctree-l1"><a class="reference internal" href="one.html">',
                                  f'<li class="toctree-l1 current active">{HERE}')]),
        ("two.html", [*ON_TWO, ('<a class="reference internal" href="two.html">', HERE)]),
        ("two-b.html", [*ON_TWO, ("</span></summary><ul>", '</span></summary><ul class="current">'),
                        ('<li class="toctree-l2"><a class="reference internal" href="two-b.html">',
                         f'<li class="toctree-l2 current active">{HERE}')]),
        ("gone.html", []),
    ],
)  # fmt: skip
def test_the_way_to_a_page_is_open_and_marked(link: str, changes: list[tuple[str, str]]) -> None:
    """What the theme wrote for such pages before they shared their contents."""
    first, start, rest = SECOND
    expected = start + rest
    for old, new in changes:
        expected = expected.replace(old, new, 1)
    assert MARKED(CONTENTS, link) == first + expected


def test_a_theme_that_is_loaded_late_lays_out_nothing_by_itself() -> None:
    """Sphinx loads it after the extensions of the book, and would ask it last."""
    app = SimpleNamespace()
    app.events = events = EventManager(app)
    app.disconnect = events.disconnect
    events.add("html-page-context")
    events.connect("html-page-context", EXTENSION["beside"], 499)
    events.connect("html-page-context", add_toctree_functions, 500)
    EXTENSION["start"](app)
    assert [it.handler for it in events.listeners["html-page-context"]] == [EXTENSION["beside"]]
