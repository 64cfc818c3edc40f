"""The gate on the rendered site: every link leads somewhere, nothing leaves the reader's machine, every page works.

`check_site` returns one line a problem; an empty list is a site fit to publish. The first half reads the files. The
second opens every page from `file://` in headless Chromium, in light and dark, on a desk and on a phone, as many views
at a time as there are processors.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from companion.build import BuildError

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, FloatRect, Page

Scheme = Literal["light", "dark"]
PHONE = 390  # px wide
VIEWS: list[tuple[Scheme, int]] = [("light", 1280), ("dark", 1280), ("light", PHONE), ("dark", PHONE)]
PATIENCE = 20_000  # ms for a page to typeset its mathematics

CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
NO_CHROMIUM = (
    "Chromium not found, so no page was opened: install it (Debian, Ubuntu: `apt-get install chromium`; "
    "elsewhere Chrome will do) and have it on PATH"
)


#: A page of a hundred cells takes a busy machine longer than the default half a minute.
SCREENSHOT_MS = 300_000
#: px of a page in its picture: Chromium gives up on the whole reference.
TALLEST = 100_000
#: Folder of the source listings, which are opened like every page; a picture of them shows nobody anything.
LISTINGS = "_modules"


def check_site(html: Path, screenshots: Path | None = None) -> list[str]:
    """Check the site under `html`; with `screenshots`, keep a picture there of every view of every page.

    Returns
    -------
    list of str
        One line for each problem, starting with the page it is on; empty if the site is fine.

    Raises
    ------
    BuildError
        If there is no page under `html`.
    """
    html = html.resolve()
    pages = _read_pages(html)
    if not pages:
        raise BuildError(f"{html}: no .html page there; run `companion book` first")
    to_open = [path for path, page in pages.items() if not page.is_redirect]
    return [*_check_files(html, pages), *_check_in_browser(html, to_open, screenshots)]


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


# ---------------------------------------------------------------- the files

# <link rel=…> that names a page; every other rel makes a browser load (or connect to) what it names
NAMING_RELS = {"alternate", "author", "canonical", "help", "index", "license", "me", "next", "prev", "search", "up"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+(?!url))(?:"([^"]*)"|'([^']*)'|([^\s"';)]+))""")
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELF_CONTAINED = {"data", "blob", "about", "javascript"}


@dataclass
class _Reference:
    """Something a page points to: `loads` if a browser fetches it by itself, otherwise followed by a click."""

    url: str
    loads: bool
    source: str


@dataclass
class _Page(HTMLParser):
    """What the check needs to know of one page."""

    ids: set[str] = field(default_factory=set)
    references: list[_Reference] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    lang: str | None = None
    is_redirect: bool = False
    _in_style: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self._in_style = tag == "style"
        self.ids |= {values["id"]} if "id" in values else set()
        self.ids |= {values["name"]} if tag == "a" and "name" in values else set()
        self.references += _references_of(tag, values)
        if tag == "html":
            self.lang = values.get("lang")
        if tag == "img" and not values.get("alt", "").strip():
            self.faults.append(f"<img src={values.get('src', '')[:80]!r}> has no alt text")
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.is_redirect = True

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.references += _references_of_css(data, "<style>")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False


def _references_of(tag: str, values: dict[str, str]) -> Iterator[_Reference]:
    if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
        yield _Reference(values.get("content", "").partition("url=")[2], True, "<meta refresh>")
    for name in ("href", "xlink:href", "src", "poster", "data", "action"):
        if name not in values or (name == "data" and tag != "object"):
            continue
        clicked = tag in {"a", "area", "form"} or (tag == "link" and set(values.get("rel", "").split()) <= NAMING_RELS)
        yield _Reference(values[name].strip(), not clicked, f"<{tag} {name}>")
    if not values.get("srcset", "").startswith("data:"):
        for candidate in filter(None, map(str.strip, values.get("srcset", "").split(","))):
            yield _Reference(candidate.split()[0], True, f"<{tag} srcset>")
    yield from _references_of_css(values.get("style", ""), f"<{tag} style>")


def _references_of_css(text: str, source: str) -> Iterator[_Reference]:
    for match in CSS_URL.finditer(CSS_COMMENT.sub("", text)):
        yield _Reference(next(filter(None, match.groups()), ""), True, source)


def _read_pages(html: Path) -> dict[Path, _Page]:
    pages = {}
    for path in sorted(html.rglob("*.html")):
        if path.name.endswith("webpack-macros.html"):  # Jinja templates that themes leave among their static files
            continue
        pages[path] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
    return pages


def _check_files(html: Path, pages: dict[Path, _Page]) -> list[str]:
    problems = []
    for path, page in pages.items():
        faults = list(page.faults)
        if not page.lang and not page.is_redirect:
            faults.append("<html> has no lang")
        faults += [fault for it in page.references if (fault := _fault_of(it, path, html, pages))]
        problems += [f"{path.relative_to(html)}: {fault}" for fault in dict.fromkeys(faults)]
    for path in sorted(html.rglob("*.css")):
        references = _references_of_css(path.read_text(encoding="utf-8"), "css")
        faults = [fault for it in references if (fault := _fault_of(it, path, html, pages))]
        problems += [f"{path.relative_to(html)}: {fault}" for fault in dict.fromkeys(faults)]
    return problems


def _fault_of(it: _Reference, path: Path, html: Path, pages: dict[Path, _Page]) -> str | None:
    """What is wrong with reference `it` of the file `path`, if anything."""
    what = f"{it.source} {it.url[:120]!r}"
    parts = urlsplit(it.url)
    if parts.scheme in SELF_CONTAINED:
        return None
    if parts.scheme == "file" or (not parts.scheme and parts.path.startswith("/") and not parts.netloc):
        return f"{what} is absolute: it breaks wherever else the site is put"
    if parts.scheme or parts.netloc:
        if it.loads:
            return f"{what} loads from outside the site"
        return None if parts.scheme else f"{what} has no scheme: it breaks when the page is read from disk"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(html):
        return f"{what} points outside the site"
    if not target.is_file():
        return f"{what} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and not anchor.startswith(":~:") and target in pages and anchor not in pages[target].ids:
        return f"{what} names an id that {target.relative_to(html)} does not have"
    return None


# ---------------------------------------------------------------- the browser

TYPESET = """async patience => {
    const raw = () => [...document.querySelectorAll(".math")].filter(it => !it.querySelector("mjx-container"));
    for (const end = performance.now() + patience; raw().length && performance.now() < end;)
        await new Promise(done => setTimeout(done, 50));
    await document.fonts.ready;
    const errors = document.querySelectorAll("mjx-merror");
    const unknown = document.querySelectorAll('mjx-assistive-mml mtext[mathcolor="red"]');
    return [...raw().map(it => "not typeset: " + it.textContent.trim()),
            ...[...errors].map(it => "error: " + (it.dataset.mjxError || it.textContent)),
            ...[...unknown].map(it => "unknown macro: " + it.textContent)];
}"""

# The element that reaches furthest right, leaving out those inside a box that scrolls or clips.
WIDEST = """() => {
    const boxed = it => it && it !== document.body && it !== document.documentElement
        && (getComputedStyle(it).overflowX !== "visible" || boxed(it.parentElement));
    const right = it => Math.round(it.getBoundingClientRect().right + scrollX);
    const all = [...document.body.querySelectorAll("*")].filter(it => !boxed(it.parentElement));
    const widest = all.reduce((best, it) => right(it) > right(best) ? it : best, document.body);
    const name = widest.tagName.toLowerCase() + (widest.id && "#" + widest.id)
        + [...widest.classList].map(it => "." + it).join("");
    return `<${name}> reaches to ${right(widest)} px`;
}"""

# Body text whose contrast with what lies behind it is below WCAG AA's 4.5, worst first; pictures and formulas left out.
FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const pixel = colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const over = (top, below) => below.map((it, i) => i < 3 ? top[i] * top[3] / 255 + it * (1 - top[3] / 255) : 255);
    const white = [255, 255, 255, 255];
    const behind = it => it ? over(pixel(getComputedStyle(it).backgroundColor), behind(it.parentElement)) : white;
    const linear = it => it / 255 <= .03928 ? it / 255 / 12.92 : ((it / 255 + .055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => .05 + .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
    const contrast = it => {
        const ratio = light(over(pixel(getComputedStyle(it).color), behind(it))) / light(behind(it));
        return Math.max(ratio, 1 / ratio);
    };
    const faint = [...document.querySelectorAll("article *")]
        .filter(it => !it.closest("svg, mjx-container, .search-button__kbd-shortcut")
            && [...it.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.textContent.trim())
            && it.checkVisibility({opacityProperty: true, visibilityProperty: true}))
        .map(it => [contrast(it), it]).filter(([ratio]) => ratio < 4.5).sort(([a], [b]) => a - b);
    return faint.map(([ratio, it]) => `${it.textContent.trim().slice(0, 40)}: ${ratio.toFixed(1)}`);
}"""


def _check_in_browser(html: Path, pages: list[Path], screenshots: Path | None) -> list[str]:
    chromium = find_chromium()
    if chromium is None:
        return [NO_CHROMIUM]
    if find_spec("playwright") is None:
        return ["Playwright not found, so no page was opened: `pip install playwright` (no browser download needed)"]
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    seen_in: dict[tuple[Path, str], list[str]] = defaultdict(list)  # (page, fault) -> the views that show it
    with ThreadPoolExecutor(min(len(VIEWS), os.cpu_count() or 1)) as workers:
        views = [workers.submit(_check_view, chromium, html, pages, screenshots, *view) for view in VIEWS]
        for (scheme, width), view in zip(VIEWS, views, strict=True):
            for seen in view.result():
                seen_in[seen].append(f"{scheme} {width}")
    return [
        f"{path.relative_to(html)}: {fault}" + ("" if len(views) == len(VIEWS) else f" [{', '.join(views)}]")
        for (path, fault), views in seen_in.items()
    ]


def _check_view(
    chromium: str, html: Path, pages: list[Path], screenshots: Path | None, scheme: Scheme, width: int
) -> list[tuple[Path, str]]:
    """Faults that pages show in one view, each with its page."""
    from playwright.sync_api import sync_playwright

    faults: list[tuple[Path, str]] = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS) as browser,
    ):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        context.add_init_script(f"for (const it of ['mode', 'theme']) localStorage.setItem(it, '{scheme}')")
        for path in pages:
            page = context.new_page()
            faults += [(path, fault) for fault in dict.fromkeys(_open(page, path, scheme, width))]
            where = path.relative_to(html).with_suffix("").parts
            if screenshots and where[0] != LISTINGS:
                name = screenshots / f"{'-'.join(where)}-{scheme}-{width}.png"
                height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
                clip: FloatRect = {"x": 0, "y": 0, "width": width, "height": height}
                page.screenshot(path=name, full_page=True, clip=clip, timeout=SCREENSHOT_MS)
            page.close()
    return faults


def _open(page: Page, path: Path, scheme: Scheme, width: int) -> list[str]:
    """Open one page in one view, wait until it rests, and say what went wrong."""
    faults: list[str] = []

    def note_request(url: str) -> None:
        if urlsplit(url).scheme not in {"file", "data", "blob"}:
            faults.append(f"asks for {url[:120]}")

    def note_message(message: ConsoleMessage) -> None:
        source, text = message.location["url"], message.text.partition("\n")[0]
        if message.type == "error" and urlsplit(source).scheme not in {"http", "https"}:  # those are noted as requests
            faults.append(f"console error: {text} ({source.rpartition('/')[2]})")

    page.on("request", lambda request: note_request(request.url))
    page.on("websocket", lambda socket: note_request(socket.url))
    page.on("console", note_message)
    page.on("pageerror", lambda error: faults.append(f"script error: {error.message}"))
    # one view waits half a second longer, for scripts that ask for something late
    page.goto(path.as_uri(), wait_until="networkidle" if (scheme, width) == VIEWS[0] else "load")
    faults += [f"mathematics {it}" for it in page.evaluate(TYPESET, PATIENCE)]
    theme = page.evaluate("document.documentElement.dataset.theme")
    if theme != scheme:
        faults.append(f"html[data-theme] is {theme!r} where the reader asks for {scheme!r}")
    if faint := page.evaluate(FAINT):
        faults.append(f"{len(faint)} text(s) too faint to read (contrast below 4.5), the worst {faint[0]!r}")
    scroll = page.evaluate("document.documentElement.scrollWidth")
    if width == PHONE and scroll > width + 1:
        faults.append(f"page is {scroll} px wide on a phone of {width} px: {page.evaluate(WIDEST)}")
    return faults
