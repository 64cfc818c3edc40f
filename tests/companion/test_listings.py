"""The site lists the code that its pages link to, and none of anybody else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from small_book import REPOSITORY, build, make_book, once, replace

from companion.press.site import _check_files, _read_pages

#: A module that documents a name of the standard library's `typing` beside its own, and one that draws.
MODULE = "dprank.data.counting"
SECTION, DRAWS = "companion.chapters.ranking_universities.places", "draw_reversed_pair"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the reference, and a page with a link to what draws a figure."""
    return once(tmp_path_factory, "listed", make_listed).root / "_build/html"


def make_listed(root: Path) -> list[str]:
    """Write and build it."""
    make_book(root)
    shutil.copytree(REPOSITORY / "book/_templates", root / "book/_templates")
    for name in ("listing.css", "search.js", "wayfinding.js"):
        shutil.copy(REPOSITORY / "book/_static" / name, root / "book/_static" / name)
    (root / "book/reference").mkdir()
    (root / f"book/reference/{MODULE}.md").write_text(
        f"# {MODULE}\n\n```{{eval-rst}}\n.. automodule:: {MODULE}\n   :members:\n```\n"
    )
    replace(root / "_toc.yml", "[{file:", f"[{{file: book/reference/{MODULE}}}, {{file:")
    link = f"../_modules/{SECTION.replace('.', '/')}.html#{DRAWS}"
    replace(root / "book/index.md", "In the", f'<a href="{link}">code of this figure</a>\n\nIn the')
    return build(root)


@pytest.mark.slow
def test_what_a_page_links_to_is_listed_and_nothing_else(site: Path) -> None:
    """Not `typing`, where a documented alias has its class from, and no section whose figure is on no page."""
    pages = _read_pages(site)
    listed = {path.relative_to(site / "_modules").as_posix() for path in pages if "_modules" in path.parts}
    assert listed == {"index.html", *(f"{name.replace('.', '/')}.html" for name in (MODULE, SECTION))}
    linked = {it.url for path, page in pages.items() if "_modules" not in path.parts for it in page.references}
    assert any(f"_modules/{SECTION.replace('.', '/')}.html#{DRAWS}" in url for url in linked)
    assert sum(f"_modules/{MODULE.replace('.', '/')}.html#" in url for url in linked) > 3
    assert _check_files(site, pages) == []


@pytest.mark.slow
def test_a_listing_is_light_and_leads_back(site: Path) -> None:
    page = site / "_modules" / f"{MODULE.replace('.', '/')}.html"
    text = page.read_text(encoding="utf-8")
    assert "<script src" not in text
    assert set(re.findall(r'<link rel="stylesheet" href="[./]*([^"?]*)', text)) == {
        "_static/pygments.css",
        "_static/listing.css",
    }
    back = re.findall(r'class="viewcode-back" href="([^"]+)"', text)
    assert back
    assert all(f"book/reference/{MODULE}.html#{MODULE}." in url for url in back)
    nav = text[text.index("<nav") : text.index("</nav>")]
    ways = [
        (page.parent / url).resolve().relative_to(site.resolve()).as_posix()
        for url in re.findall(r'href="([^"]+)"', nav)
    ]
    assert ways == ["book/index.html", "search.html", "_modules/index.html"]
