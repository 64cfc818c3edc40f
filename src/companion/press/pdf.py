"""The book as one PDF, printed by headless Chromium from the site as it stands: its numbers are the site's.

Chromium has no page numbers for links, so it prints twice: once to see where the chapters begin, once with their numbers
in the contents. What it prints is checked, on the page and in the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from companion.press import BuildError
from companion.press.paper import Leaf, assemble, contents
from companion.press.site import CHROMIUM_FLAGS, NO_CHROMIUM, PATIENCE, TYPESET, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "private-ranking.pdf"
#: px of the text's width: A4 less the margins of print.css.
COLUMN = 642
HEAVIEST = 20_000_000  # bytes
#: Formulas and tables that are too wide are set smaller, to this share of their size.
SMALLEST = 0.55
SLOWEST = 600_000  # ms

# What does not break over lines is set smaller where it is too wide; what then is too small is said.
SHRINK = """([column, smallest]) => {
    const small = [];
    for (const it of document.querySelectorAll("mjx-container, table, svg, pre")) {
        const box = it.parentElement.closest("div, section, li, dd, td, p") ?? document.body;
        const room = Math.min(column, box.clientWidth);
        const share = (room - 1) / Math.max(it.scrollWidth, it.getBoundingClientRect().width);
        if (!room || share >= 1) continue;
        it.style.zoom = share;
        if (share < smallest) small.push(`${it.closest(".leaf")?.id}: ${it.tagName.toLowerCase()} at `
            + `${Math.round(100 * share)} % of its size: ${it.textContent.trim().slice(0, 60)}`);
    }
    return small;
}"""

# What reaches out of the column, or is cut by a box.
CUT = """column => {
    const out = [], left = document.querySelector("article").getBoundingClientRect().left;
    for (const it of document.querySelectorAll("article *")) {
        const box = it.getBoundingClientRect(), style = getComputedStyle(it);
        if (!box.width || it.closest("mjx-assistive-mml, svg *, script, style")) continue;
        const hides = style.overflowX !== "visible" && it.scrollWidth > it.clientWidth + 1 && !it.closest("mjx-container");
        if (box.right > left + column + 1.5 || box.left < left - 12 || hides)
            out.push(`${it.closest(".leaf")?.id}: <${it.tagName.toLowerCase()} class="${it.getAttribute("class") ?? ""}"> is `
                + `${hides ? "cut by its box" : "wider than the page"}: ${it.textContent.trim().slice(0, 60)}`);
    }
    return out;
}"""

# TeX that nobody set, outside code.
RAW = """() => {
    const walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT), out = [];
    for (let it; (it = walk.nextNode());)
        if (/\\\\[([]|\\\\[a-zA-Z]+\\{|\\$\\S[^$]*\\$/.test(it.data) && !it.parentElement.closest("pre, code, script, style, mjx-container"))
            out.push(`${it.parentElement.closest(".leaf")?.id}: raw TeX: ${it.data.trim().slice(0, 60)}`);
    return out;
}"""

# Put the page numbers into the contents; the names that it lists.
NUMBER = """numbers => [...document.querySelectorAll(".paper-contents a")].map(it => {
    const name = it.hash.slice(1);
    it.dataset.page = numbers[name] ?? "";
    return name;
})"""

# In the file: Chromium writes its objects plainly, and in the order of the pages.
PAGE = re.compile(rb"(\d+) 0 obj\n<</Type /Page\n")
PLACE = re.compile(rb"/(?!Dest )(\S+) \[(\d+) 0 R /XYZ ")
LINK = re.compile(rb"/Dest /(\S+?)>?>?\n")
DATE = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}")


def make_pdf(html: Path, scratch: Path) -> tuple[bytes, list[str]]:
    """The PDF of the site under `html`, and what is wrong with it, a line each; `scratch` is a file to work in."""
    leaves = contents(html)
    prefix = os.path.relpath(html, scratch.parent).replace(os.sep, "/") + "/"
    scratch.write_text(assemble(html, leaves, prefix), encoding="utf-8")
    chromium = find_chromium()
    if chromium is None:
        raise BuildError(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS) as browser,
        browser.new_page(viewport={"width": COLUMN, "height": 900}) as page,
    ):
        page.set_default_timeout(SLOWEST)
        problems = typeset(page, scratch)
        first = printed(page)
        listed = page.evaluate(NUMBER, starts(first))
        data = undated(printed(page, tagged=True))
    problems += [f"{it.name}: not in the contents" for it in leaves if it.name not in listed]
    return data, problems + check_pdf(data, starts(first))


def typeset(page: Page, document: Path) -> list[str]:
    """Open the document as paper shows it, all formulas set, wide things made narrower; what is wrong then."""
    page.emulate_media(media="print", color_scheme="light")
    page.goto(document.resolve().as_uri())
    problems = [f"mathematics {it}" for it in page.evaluate(TYPESET, PATIENCE)]
    problems += page.evaluate(SHRINK, [COLUMN, SMALLEST])
    return problems + list(dict.fromkeys([*page.evaluate(CUT, COLUMN), *page.evaluate(RAW)]))


def printed(page: Page, tagged: bool = False) -> bytes:
    """The file that Chromium makes; `tagged` for screen readers, with an outline."""
    return page.pdf(prefer_css_page_size=True, print_background=True, tagged=tagged, outline=tagged)


def starts(data: bytes) -> dict[str, int]:
    """The page on which each place begins that a link leads to."""
    pages = {number: place for place, number in enumerate(PAGE.findall(data), 1)}
    return {_name(name): pages[number] for name, number in PLACE.findall(data)}


def _name(written: bytes) -> str:
    """A name as it stood in the document; the file writes some letters in hexadecimal."""
    return re.sub(rb"#([0-9A-Fa-f]{2})", lambda it: bytes.fromhex(it[1].decode()), written).decode()


def undated(data: bytes) -> bytes:
    """The file without the time at which it was made."""
    return DATE.sub(rb"\g<1>19700101000000", data)


def check_pdf(data: bytes, numbers: Mapping[str, int]) -> list[str]:
    """What is wrong with a file whose contents give the page `numbers`."""
    there = starts(data)
    return [
        *([f"{len(data):,} bytes; allowed: {HEAVIEST:,}"] if len(data) > HEAVIEST else []),
        *(f"a link to {it}, which is nowhere" for it in sorted({_name(it) for it in LINK.findall(data)} - set(there))),
        *(f"{it} is on page {there.get(it)}; the contents say {n}" for it, n in numbers.items() if there.get(it) != n),
    ]
