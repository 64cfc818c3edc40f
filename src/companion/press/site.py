"""The gate on the rendered site: every link leads somewhere, nothing leaves the reader's machine, every page works.

`check_site` returns one line a problem; an empty list is a site fit to publish. The first half reads the files. The
second opens every page from `file://` in headless Chromium, in light and dark, on a desk and on a phone, as many pages
at a time as there are processors.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from companion.press import BuildError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

View = tuple[Literal["light", "dark"], int]  # the scheme that the reader asks for, and px of width
DESK, PHONE, HEIGHT = 1280, 390, 900
#: A page is loaded in each scheme, once on a desk and once on a phone, and seen in the other width without a new load.
LOADS: list[list[View]] = [[("light", DESK), ("light", PHONE)], [("dark", PHONE), ("dark", DESK)]]
#: A source listing whose scripts other pages have run, too, is loaded once.
ONE_LOAD: list[list[View]] = [[view for views in LOADS for view in views]]
PICTURED: set[View] = {("light", DESK), ("dark", PHONE)}
PATIENCE = 120_000  # ms for a page to typeset its mathematics; a busy machine once left the reference waiting 20 s

APPLICATION = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", APPLICATION)
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                  "--disable-background-networking", "--disable-component-update",
                  "--host-resolver-rules=MAP * ~NOTFOUND"]  # fmt: skip
NO_CHROMIUM = (
    "Chromium not found, so no page was opened: install it (Debian, Ubuntu: `apt-get install chromium`; "
    "elsewhere Chrome will do) and have it on PATH"
)


#: A page of a hundred cells takes a busy machine longer to load, or to picture, than the default half a minute.
SLOWEST = 300_000  # ms
#: px of a page in its picture: Chromium gives up on more.
TALLEST = 100_000
#: Folder of the source listings.
LISTINGS = "_modules"
#: A picture of these shows nobody anything: the listings, the reference (half a million px tall), the index.
UNPICTURED = re.compile(rf"{LISTINGS}/|book/(api|reference/.*)\.|genindex")


def check_site(html: Path, screenshots: Path | None = None) -> list[str]:
    """Problems of the site under `html`, a line each, starting with the page it is on.

    With `screenshots`, keep pictures there of the pages in the views `PICTURED`.
    """
    html = html.resolve()
    pages = _read_pages(html)
    if not pages:
        raise BuildError(f"{html}: no .html page there; run `companion book` first")
    return [*_check_files(html, pages), *_check_in_browser(html, _plan(html, pages), screenshots)]


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
class _Script:
    """Something a page runs: the file at `url`, or `text`."""

    url: str = ""
    text: str = ""


@dataclass
class _Page(HTMLParser):
    """What the check needs to know of one page."""

    ids: set[str] = field(default_factory=set)
    references: list[_Reference] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    scripts: list[_Script] = field(default_factory=list)
    lang: str | None = None
    is_redirect: bool = False
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self._inside = tag
        self.ids |= {values["id"]} if "id" in values else set()
        self.ids |= {values["name"]} if tag == "a" and "name" in values else set()
        self.references += _references_of(tag, values)
        self.scripts += [_Script(text=text) for name, text in values.items() if name.startswith("on")]
        if tag == "script" and "src" in values:
            self.scripts.append(_Script(url=values["src"]))
        if tag == "html":
            self.lang = values.get("lang")
        if tag == "img" and not values.get("alt", "").strip():
            self.faults.append(f"<img src={values.get('src', '')[:80]!r}> has no alt text")
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.is_redirect = True

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.references += _references_of_css(data, "<style>")
        if self._inside == "script":
            self.scripts.append(_Script(text=data))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


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

# A formula is typeset when it comes into view; here all are.
TYPESET = """async patience => {
    await window.MathJax?.startup?.promise;
    await window.MathJax?.startup?.document?.lazyTypesetAll?.();
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
    const remember = (known, make) => key => {
        if (!known.has(key)) known.set(key, make(key));
        return known.get(key);
    };
    const pixel = remember(new Map(), colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    });
    const over = (top, below) => below.map((it, i) => i < 3 ? top[i] * top[3] / 255 + it * (1 - top[3] / 255) : 255);
    const white = [255, 255, 255, 255];
    const ground = remember(new WeakMap(), it => {
        const below = it.parentElement ? ground(it.parentElement) : white;
        return over(pixel(getComputedStyle(it).backgroundColor), below);
    });
    const linear = it => it / 255 <= .03928 ? it / 255 / 12.92 : ((it / 255 + .055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => .05 + .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
    const contrast = it => {
        const ratio = light(over(pixel(getComputedStyle(it).color), ground(it))) / light(ground(it));
        return Math.max(ratio, 1 / ratio);
    };
    const faint = [...document.querySelectorAll("article *")]
        .filter(it => [...it.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.textContent.trim())
            && !it.closest("svg, mjx-container, .search-button__kbd-shortcut")
            && it.checkVisibility({opacityProperty: true, visibilityProperty: true}))
        .map(it => [contrast(it), it]).filter(([ratio]) => ratio < 4.5).sort(([a], [b]) => a - b);
    return faint.map(([ratio, it]) => `${it.textContent.trim().slice(0, 40)}: ${ratio.toFixed(1)}`);
}"""

# What the page's own switch does where the scheme changes; then a frame, and all that fades or slides has arrived.
TURN = """async scheme => {
    if (scheme) Object.assign(document.documentElement.dataset, {mode: scheme, theme: scheme});
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    document.getAnimations().filter(it => it instanceof CSSTransition).forEach(it => it.finish());
}"""


@dataclass(frozen=True)
class _Load:
    """One load of a page, and the views it is seen in: the scripts start in the first."""

    path: Path
    views: list[View]
    idle: bool  # wait until the network rests, for scripts that ask for something late
    of: int  # loads of the page


@dataclass(frozen=True)
class _Seen:
    """A fault that a page shows in `view`; it could show it in `of`."""

    path: Path
    fault: str
    view: View
    of: int


def _plan(html: Path, pages: dict[Path, _Page]) -> list[_Load]:
    """The loads of all pages, in their order."""
    scripts = {path: set(_scripts(html, path, page)) for path, page in pages.items()}
    listings = {path for path in pages if path.relative_to(html).parts[0] == LISTINGS}
    known = set().union(*(found for path, found in scripts.items() if path not in listings))
    plan = []
    for path in (path for path, page in pages.items() if not page.is_redirect):
        same = path in listings and scripts[path] <= known
        loads = ONE_LOAD if same else LOADS
        plan += [_Load(path, it, bool(scripts[path]) and not same and not i, len(loads)) for i, it in enumerate(loads)]
    return plan


def _scripts(html: Path, path: Path, page: _Page) -> Iterator[str]:
    """What a page runs, told so that pages which differ in their own names alone say the same."""
    name = path.relative_to(html).with_suffix("").as_posix()
    for script in page.scripts:
        local = script.url and not urlsplit(script.url).scheme
        yield os.path.normpath(path.parent / script.url) if local else script.url or script.text.replace(name, "")


def _check_in_browser(html: Path, plan: list[_Load], screenshots: Path | None) -> list[str]:
    chromium = find_chromium()
    if chromium is None:
        return [NO_CHROMIUM]
    if find_spec("playwright") is None:
        return ["Playwright not found, so no page was opened: `pip install playwright` (no browser download needed)"]
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    waiting: SimpleQueue[_Load] = SimpleQueue()
    for load in sorted(plan, key=lambda it: it.path.stat().st_size, reverse=True):  # the longest first
        waiting.put(load)
    workers = min(len(plan) or 1, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        work = [pool.submit(_check_loads, chromium, html, waiting, screenshots) for _ in range(workers)]
        return _told(html, plan, (seen for it in work for seen in it.result()))


def _told(html: Path, plan: list[_Load], seen: Iterable[_Seen]) -> list[str]:
    """One line for each fault of each page, with the views it is seen in unless those are all."""
    order = {(load.path, view): i for i, load in enumerate(plan) for view in load.views}
    views: dict[tuple[Path, str, int], list[str]] = defaultdict(list)
    for it in sorted(seen, key=lambda it: order[it.path, it.view]):
        views[it.path, it.fault, it.of].append("{} {}".format(*it.view))
    return [
        f"{path.relative_to(html)}: {fault}" + ("" if len(shown) == of else f" [{', '.join(shown)}]")
        for (path, fault, of), shown in views.items()
    ]


def _check_loads(chromium: str, html: Path, waiting: SimpleQueue[_Load], screenshots: Path | None) -> list[_Seen]:
    """Faults of the loads that one browser takes from those `waiting`."""
    from playwright.sync_api import sync_playwright

    seen: list[_Seen] = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS) as browser,
    ):
        readers = {view: _reader(browser, view) for view in {load[0] for loads in (LOADS, ONE_LOAD) for load in loads}}
        while True:
            try:
                load = waiting.get_nowait()
            except Empty:
                return seen
            seen += _check_load(readers[load.views[0]], html, load, screenshots)


def _reader(browser: Browser, view: View) -> BrowserContext:
    """Somebody who opens pages in one view."""
    scheme, width = view
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": HEIGHT})
    context.set_default_timeout(SLOWEST)
    context.add_init_script(f"for (const it of ['mode', 'theme']) localStorage.setItem(it, '{scheme}')")
    return context


def _check_load(reader: BrowserContext, html: Path, load: _Load, screenshots: Path | None) -> list[_Seen]:
    """Faults of one load: those of its scripts, and those that its views show."""
    where, now = load.path.relative_to(html), load.views[0]
    shown: list[_Seen] = []
    with reader.new_page() as page:
        faults = _open(page, load)
        for view in load.views:
            if view != now:
                _turn(page, now, view)
                now = view
            shown += [_Seen(load.path, fault, view, load.of * len(load.views)) for fault in _look(page, view)]
            if screenshots and view in PICTURED and not UNPICTURED.match(where.as_posix()):
                name = "-".join([*where.with_suffix("").parts, *map(str, view)])
                _picture(page, screenshots / f"{name}.png", view[1])
    return [*(_Seen(load.path, fault, load.views[0], load.of) for fault in dict.fromkeys(faults)), *shown]


def _picture(page: Page, name: Path, width: int) -> None:
    height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    how = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": True, "clip": clip}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", how)
    name.write_bytes(base64.b64decode(taken["data"]))


def _open(page: Page, load: _Load) -> list[str]:
    """Load a page, wait until it rests, and say what went wrong; the list grows if more does later."""
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
    page.goto(load.path.as_uri(), wait_until="networkidle" if load.idle else "load")
    faults += [f"mathematics {it}" for it in page.evaluate(TYPESET, PATIENCE)]
    return faults


def _turn(page: Page, old: View, new: View) -> None:
    """Bring an open page from one view to another, as its reader would."""
    scheme, width = new
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.emulate_media(color_scheme=scheme)
    page.evaluate(TURN, None if scheme == old[0] else scheme)


def _look(page: Page, view: View) -> Iterator[str]:
    """What is wrong with the looks of an open page."""
    scheme, width = view
    theme = page.evaluate("document.documentElement.dataset.theme")
    if theme != scheme:
        yield f"html[data-theme] is {theme!r} where the reader asks for {scheme!r}"
    if faint := page.evaluate(FAINT):
        yield f"{len(faint)} text(s) too faint to read (contrast below 4.5), the worst {faint[0]!r}"
    scroll = page.evaluate("document.documentElement.scrollWidth")
    if width == PHONE and scroll > width + 1:
        yield f"page is {scroll} px wide on a phone of {width} px: {page.evaluate(WIDEST)}"
