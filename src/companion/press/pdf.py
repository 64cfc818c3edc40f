"""The book as one PDF, printed by headless Chromium from the site as it stands: its numbers are the site's.

Chromium has no page numbers for links, so it prints twice: to see where the chapters begin, and with their numbers in
the contents. What it prints is checked, on the page and in the file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from companion.press import BuildError
from companion.press.browser import CHROMIUM_FLAGS, FORMULAS, find_chromium, missing
from companion.press.collect import write_checksums
from companion.press.layout import Layout, dumps
from companion.press.paper import FRONT, assemble, contents
from companion.press.pdf_file import PAGE, faults, packed, starts, undated
from companion.press.render import tree

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "private-ranking.pdf"
#: px of the text's width: A4 less the margins of print.css.
COLUMN = 642
#: Formulas and tables that are too wide are set smaller, to this share of their size.
SMALLEST = 0.55
#: For whatever takes long, on a busy machine.
SLOWEST = 600_000  # ms
#: Where the front page says that there is a PDF.
SPOT = re.compile(r'(<span class="as-pdf">)[^<]*(?:<a[^<]*</a>[^<]*)?</span>')

# A formula is one thing, which a screen reader names by its TeX.
NAME_FORMULAS = """() => {
    for (const it of document.querySelectorAll("math")) {
        it.setAttribute("role", "img");
        it.setAttribute("aria-label", it.getAttribute("alttext"));
    }
}"""

# What does not break over lines is set smaller where it is too wide; what then is too small is said.
SHRINK = """([column, smallest]) => {
    const small = [];
    for (const it of document.querySelectorAll("math, table, svg, pre")) {
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
        const box = it.getBoundingClientRect();
        if (!box.width || it.closest("math *, svg *, script, style")) continue;
        const cut = getComputedStyle(it).overflowX !== "visible"
            && it.clientWidth && it.scrollWidth > it.clientWidth + 1;
        if (box.right > left + column + 1.5 || box.left < left - 12 || cut)
            out.push(`${it.closest(".leaf")?.id}: <${it.tagName.toLowerCase()} class="${it.getAttribute("class")}"> is `
                + `${cut ? "cut by its box" : "wider than the page"}: ${it.textContent.trim().slice(0, 60)}`);
    }
    return out;
}"""

# TeX that nobody set, outside code.
RAW = r"""() => {
    const article = document.querySelector("article"), out = [];
    const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    for (let it; (it = walk.nextNode());)
        if (/\\[([]|\\[a-zA-Z]+\{|\$\S[^$]*\$/.test(it.data)
            && !it.parentElement.closest("pre, code, script, style, math"))
            out.push(`${it.parentElement.closest(".leaf")?.id}: raw TeX: ${it.data.trim().slice(0, 60)}`);
    return out;
}"""

# Put the page numbers into the contents; the names that it lists.
NUMBER = """numbers => [...document.querySelectorAll(".paper-contents a")].map(it => {
    const name = it.hash.slice(1);
    it.dataset.page = numbers[name] ?? "";
    return name;
})"""


def put(layout: Layout, say: Callable[[str], None]) -> list[str]:
    """Make the PDF of the built site, in `_build` and in the site, whose front page then leads to it; what is wrong."""
    with layout.lock():
        data, pages, problems = make_pdf(layout.html, layout.fresh().with_suffix(".html"))
        layout.write(layout.build / NAME, data)
        if problems:
            return problems
        built = json.loads((layout.build / "site.json").read_bytes())
        layout.write(layout.html / NAME, data)
        said = f"{pages} pages, {len(data) / 1e6:.0f} MB"
        front = layout.html / FRONT
        link = rf'\g<1> The book is there <a href="../{NAME}">as a PDF</a>, too ({said}).</span>'
        layout.write(front, SPOT.sub(link, front.read_text(encoding="utf-8")).encode())
        layout.write(layout.build / "site.json", dumps(built | {"tree": tree(layout.html)}))
        sums = layout.build / "SHA256SUMS"
        if sums.is_file() and b"  html/" in sums.read_bytes():
            write_checksums(layout, site=True)
    say(f"{layout.name(layout.build / NAME)}: {said}")
    return []


def make_pdf(html: Path, scratch: Path) -> tuple[bytes, int, list[str]]:
    """The PDF of the site under `html`, its pages, and what is wrong with it, a line each.

    `scratch` is the name of a page that Chromium prints, on the same disk.
    """
    if said := missing():
        raise BuildError(said)
    leaves = contents(html)
    prefix = os.path.relpath(html, scratch.parent).replace(os.sep, "/") + "/"
    scratch.write_text(assemble(html, leaves, prefix), encoding="utf-8")
    from playwright.sync_api import sync_playwright

    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS) as browser,
        browser.new_page(viewport={"width": COLUMN, "height": 900}) as page,
    ):
        page.set_default_timeout(SLOWEST)
        problems = typeset(page, scratch)
        first = printed(page)
        listed = page.evaluate(NUMBER, starts(first))
        plain = undated(printed(page, tagged=True))
    data = packed(plain)
    problems += [f"{it.name}: not in the contents" for it in leaves if it.name not in listed]
    return data, len(PAGE.findall(plain)), problems + faults(plain, starts(first), len(data))


def typeset(page: Page, document: Path) -> list[str]:
    """Open the document as paper shows it, all formulas set, wide things made narrower; what is wrong then."""
    page.emulate_media(media="print", color_scheme="light")
    page.goto(document.resolve().as_uri())
    problems = [f"mathematics {it}" for it in page.evaluate(FORMULAS)]
    page.evaluate(NAME_FORMULAS)
    problems += page.evaluate(SHRINK, [COLUMN, SMALLEST])
    return problems + list(dict.fromkeys([*page.evaluate(CUT, COLUMN), *page.evaluate(RAW)]))


def printed(page: Page, tagged: bool = False) -> bytes:
    """The file that Chromium makes; `tagged` for screen readers, with an outline."""
    return page.pdf(prefer_css_page_size=True, print_background=True, tagged=tagged, outline=tagged)
