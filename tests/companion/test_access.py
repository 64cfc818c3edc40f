"""Who moves by keyboard through a small book and its scoreboard gets everywhere, sees where, and gets out again."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_book import REPOSITORY, Built
from test_site import needs_chromium

if TYPE_CHECKING:
    from explorer_pages import Reader
    from playwright.sync_api import Page

#: Everything that one can use on the page as it stands; what is reached is marked.
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter(it => it.tabIndex >= 0 && !it.disabled && it.checkVisibility({visibilityProperty: true}))"""
LEFT = f"() => {CONTROLS}.filter(it => !it.reached).map(it => it.outerHTML.slice(0, 120))"
#: What has the focus, and whether it shows that by itself or by what is in it.
SEEN = """() => {
    const it = document.activeElement;
    if (it === document.body) return null;
    it.reached = true;
    const ring = it => {
        const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(it);
        return outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 || boxShadow !== "none";
    };
    return [it.outerHTML.slice(0, 120), ring(it) || [...it.children].some(ring)];
}"""


@pytest.fixture(scope="module")
def site(built: Built) -> Path:
    """A page with what scrolls, and one with the scoreboard."""
    return built.root / "_build/html"


@pytest.fixture
def page(reader: Reader) -> Page:
    opened = reader.page()
    opened.set_viewport_size({"width": 390, "height": 900})
    return opened


def tour(page: Page) -> list[list[str | bool]]:
    """What the focus stops at, from the top of the page until it leaves, and whether that is seen."""
    stops = []
    for _ in range(500):
        page.keyboard.press("Tab")
        if (stop := page.evaluate(SEEN)) is None:
            return stops
        stops.append(stop)
    raise AssertionError(f"the focus never leaves the page; last at {stops[-1]}")


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("name", ["02-second", "90-board"])
@pytest.mark.parametrize("width", [1280, 390])
def test_keyboard_gets_everywhere_and_is_seen(site: Path, page: Page, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((site / f"notebooks/{name}.html").as_uri())
    stops = tour(page)
    assert "Skip to main content" in stops[0][0]
    assert [it for it, seen in stops if not seen] == []
    assert page.evaluate(LEFT) == []
    if name == "90-board":
        assert sum("<select" in it for it, _ in stops) >= 4, "the filters"


@needs_chromium
@pytest.mark.slow
def test_skip_link_leads_past_the_contents(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/02-second.html").as_uri())
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


@needs_chromium
@pytest.mark.slow
def test_a_wide_formula_is_reached_while_it_scrolls_and_says_itself_in_mathml(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/02-second.html").as_uri())
    formula = page.locator(".formula")
    page.wait_for_function("document.querySelector('.formula').tabIndex === 0")
    assert formula.locator("math[alttext]").count() == 1
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("document.querySelector('.formula').tabIndex === -1")


@needs_chromium
@pytest.mark.slow
def test_a_filter_is_set_by_keyboard(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/90-board.html").as_uri())
    page.focus(".scoreboard input[name=text]")
    page.keyboard.type("algorithm")
    page.wait_for_function("document.querySelector('.scoreboard output').textContent.startsWith('1 of')")


@pytest.mark.parametrize(
    ("html", "better"),
    [
        ('<a class="reference internal" href="a.html">1. <em>A</em> "b"</a><details><summary><i></i>',
         '<a class="reference internal" href="a.html">1. <em>A</em> "b"</a><details>'
         '<summary aria-label="Pages of 1. A &quot;b&quot;"><i></i>'),
        ("<summary>Code</summary>", "<summary>Code</summary>"),
        ('<button class="btn search-button-field x" title="Search" aria-label="Search" id="a">',
         '<button class="btn search-button-field x" id="a">'),
        ("<thead><tr><th></th><th>a</th>", "<thead><tr><td></td><th>a</th>"),
        ('<div class="section" id="proof-content">', '<div class="section">'),
    ],
)  # fmt: skip
def test_mended(html: str, better: str) -> None:
    assert runpy.run_path(str(REPOSITORY / "book/_ext/access.py"))["mended"](html) == better
