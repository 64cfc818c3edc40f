"""The rendered site, opened from `file://` in headless Chromium, in light and dark, on a desk and on a phone, several
pages at a time.

In each of its views a page is asked whether it is wider than a phone and whether each of its texts can be read against
its ground, and in some of them what axe-core finds: what a machine can tell of WCAG 2.2 AA, and best practice. `views`
says which page is seen in which.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from companion.press.views import ALIKE, DESK, HEIGHT, PHONE, VIEWS, Content, Load, Scheme, View, plan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

PICTURED: set[View] = {("light", DESK), ("dark", PHONE)}

APPLICATION = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", APPLICATION)
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                  "--disable-background-networking", "--disable-component-update",
                  "--host-resolver-rules=MAP * ~NOTFOUND"]  # fmt: skip
NO_CHROMIUM = (
    "Chromium not found, so no page was opened: install it (Debian, Ubuntu: `apt-get install chromium`; "
    "elsewhere Chrome will do) and have it on PATH"
)
NO_DRIVER = "{0} not found, so no page was opened: `pip install {0}` (no browser download needed)"
DRIVERS = ("playwright", "axe-playwright-python")

#: A page of a hundred cells takes a busy machine longer to load, or to picture, than the default half a minute.
SLOWEST = 300_000  # ms
#: px of a page in its picture: Chromium gives up on more.
TALLEST = 100_000
#: Pages that are put into one, before it is opened anew.
AT_ONCE = 25
#: What a browser is started for.
VISITS = 8
#: A picture of these shows nobody anything: the listings, the reference (half a million px tall), the index.
UNPICTURED = re.compile(rf"{ALIKE.pattern}|book/api\.|genindex")


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def missing() -> str | None:
    """What no page can be opened without, and where to get it; None where all is there."""
    if find_chromium() is None:
        return NO_CHROMIUM
    drivers = [it for it in DRIVERS if find_spec(it.replace("-", "_")) is None]
    return NO_DRIVER.format(" ".join(drivers)) if drivers else None


# ---------------------------------------------------------------- what a page is asked

# Formulas that nobody set, or that stand in no font of theirs.
FORMULAS = """async () => {
    const raw = [...document.querySelectorAll(".math")].filter(it => !it.querySelector("math"));
    await document.fonts.ready;
    const lost = [...document.fonts].filter(it => it.status === "error");
    return [...raw.map(it => "not set: " + it.textContent.trim()), ...lost.map(it => "without its font: " + it.family)];
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

# Text whose contrast with what lies behind it is below WCAG AA's 4.5, worst first; pictures and formulas left out.
# One text of each look, the shortest, is marked for axe, unless axe has seen, and liked, another of that look.
LOOK = """seen => {
    document.querySelectorAll(".argument").forEach(it => it.open = true);
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
    const texts = [...document.body.querySelectorAll("*")]
        .filter(it => [...it.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.textContent.trim())
            && !it.closest("svg, math, script, style")
            && it.checkVisibility({opacityProperty: true, visibilityProperty: true}));
    const size = it => it.textContent.trim().length - 2 >>> 0;  // axe does not judge a single letter
    const looks = new Map();
    for (const it of texts) {
        const {color, fontSize, fontWeight, opacity} = getComputedStyle(it);
        const look = [color, ground(it), fontSize, fontWeight, opacity].join();
        if (!looks.has(look) || size(it) < size(looks.get(look))) looks.set(look, it);
    }
    document.querySelectorAll("[data-look]").forEach(it => it.removeAttribute("data-look"));
    seen.forEach(look => looks.delete(look));
    looks.forEach(it => it.dataset.look = "");
    const faint = texts.map(it => [contrast(it), it]).filter(([ratio]) => ratio < 4.5).sort(([a], [b]) => a - b);
    const told = faint.map(([ratio, it]) => `${it.textContent.trim().slice(0, 40)}: ${ratio.toFixed(1)}`);
    const {dataset, scrollWidth} = document.documentElement;
    return [dataset.theme, told, scrollWidth, [...looks.keys()]];
}"""

# What axe finds. Its contrast, of all its rules the slow one, is asked of one text of each look. It reads no sheets of
# style: from `file://` no script may, and none here turns a page by 90 degrees. Meanwhile code without the marks of its
# colours, one or two letters each, stands for code, and the letters of a formula for the formula: thousands of nodes;
# and of the contents the entry of the page itself is there: every other is on its own page.
AXE = """async () => {
    const stand_in = (selector, simplify) => [...document.querySelectorAll(selector)].map(it => {
        const double = it.cloneNode(true);
        simplify(double);
        it.replaceWith(double);
        return () => double.replaceWith(it);
    });
    const colours = it => [...it.querySelectorAll("span:not([data-look], [id], :has(*))")]
        .filter(mark => mark.className.length < 3);
    const elsewhere = "li:not(.current, :has([data-look]))";
    const back = [
        ...stand_in(".bd-sidebar-primary nav", it => it.querySelectorAll(elsewhere).forEach(entry => entry.remove())),
        ...stand_in(".highlight pre", it => colours(it).forEach(mark => mark.replaceWith(mark.textContent))),
        ...stand_in("math", it => it.replaceChildren(it.textContent))];
    axe.configure({rules: [{id: "color-contrast", selector: "[data-look]"}]});
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const {violations} = await axe.run(document, {
        runOnly: tags, resultTypes: ["violations"], preload: false,
        rules: {"label-content-name-mismatch": {enabled: true}, "css-orientation-lock": {enabled: false}}});
    back.forEach(it => it());
    const first = it => it[0].html.replace(' data-look=""', "").replace(/\\s+/g, " ").slice(0, 160);
    return violations.map(({id, help, nodes}) => `axe, ${id}: ${help}: ${nodes.length}, the first ${first(nodes)}`);
}"""

# The body of another page of the same template in place of this one's; scripts which wait for a page hear of it.
PUT = """([url, text]) => {
    const {documentElement: other, title, body} = new DOMParser().parseFromString(text, "text/html");
    const base = document.querySelector("base") ?? document.head.appendChild(document.createElement("base"));
    base.href = url;
    document.title = title;
    for (const {name, value} of other.attributes) document.documentElement.setAttribute(name, value);
    document.body.replaceWith(body);
    document.dispatchEvent(new Event("DOMContentLoaded", {bubbles: true}));
    window.dispatchEvent(new Event("load"));
}"""

# What the page's own switch does where the scheme changes; the width is there, and a frame more, for scripts that watch
# sizes (what axe was shown a stand-in of has come back, and has one anew); then all that fades or slides has arrived.
TURN = """async ([scheme, width]) => {
    const frame = () => new Promise(done => requestAnimationFrame(done));
    if (scheme) Object.assign(document.documentElement.dataset, {mode: scheme, theme: scheme});
    for (let patience = 300; innerWidth !== width && patience; patience--) await frame();
    await frame();
    await frame();
    document.getAnimations().filter(it => it instanceof CSSTransition).forEach(it => it.finish());
}"""


# ---------------------------------------------------------------- the pages


@dataclass(frozen=True)
class _Seen:
    """A fault that a page shows in `view`; it could show it in `of`."""

    path: Path
    fault: str
    view: View
    of: int


def check_in_browser(
    html: Path, pages: Mapping[Path, Content], screenshots: Path | None, every: bool = False
) -> list[str]:
    """Problems of the `pages`, a line each; none is opened where something is missing. With `every`, all are opened."""
    if said := missing():
        return [said]
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    loads = plan(html, pages, every)
    waiting: SimpleQueue[Sequence[Load]] = SimpleQueue()
    visits = sorted(_visits(loads), key=lambda it: sum(load.path.stat().st_size for load in it), reverse=True)
    for visit in visits:
        waiting.put(visit)  # the longest first
    # one waits for its network to rest; to start one takes as long as some visits
    workers = min(len(visits) // VISITS or 1, (os.cpu_count() or 1) + 1)
    with ThreadPoolExecutor(workers) as pool:
        work = [pool.submit(_check_loads, html, waiting, screenshots) for _ in range(workers)]
        return _told(html, loads, (seen for it in work for seen in it.result()))


def _visits(loads: Iterable[Load]) -> Iterator[Sequence[Load]]:
    """What is done without leaving a page: one load, or putting some others into it."""
    put: dict[tuple[Path, View], list[Load]] = defaultdict(list)
    for load in loads:
        if load.host:
            put[load.host, load.views[0]].append(load)
        else:
            yield [load]
    for guests in put.values():
        yield from (guests[start : start + AT_ONCE] for start in range(0, len(guests), AT_ONCE))


def _told(html: Path, loads: list[Load], seen: Iterable[_Seen]) -> list[str]:
    """One line for each fault of each page, with the views it is seen in unless those are all."""
    order = {(load.path, view): i for i, load in enumerate(loads) for view in load.views}
    views: dict[tuple[Path, str, int], list[str]] = defaultdict(list)
    for it in sorted(seen, key=lambda it: order[it.path, it.view]):
        views[it.path, it.fault, it.of].append("{} {}".format(*it.view))
    return [
        f"{path.relative_to(html)}: {fault}" + ("" if len(shown) == of else f" [{', '.join(shown)}]")
        for (path, fault, of), shown in views.items()
    ]


def _check_loads(html: Path, waiting: SimpleQueue[Sequence[Load]], screenshots: Path | None) -> list[_Seen]:
    """Faults of the loads that one browser takes from those `waiting`."""
    from playwright.sync_api import sync_playwright

    seen: list[_Seen] = []
    looks: set[str] = set()
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS) as browser,
    ):
        readers = {"light": _reader(browser, "light"), "dark": _reader(browser, "dark")}
        while True:
            try:
                visit = waiting.get_nowait()
            except Empty:
                return seen
            reader = readers[visit[0].views[0][0]]
            if visit[0].host:
                _open(reader, visit[0].host, visit[0].views[0])
            for load in visit:
                seen += _check_load(reader, html, load, screenshots, looks)


def _reader(browser: Browser, scheme: Scheme) -> Page:
    """Where somebody who asks for one scheme opens one page after the other, with axe at hand."""
    from axe_playwright_python.base import AXE_SCRIPT

    context = browser.new_context(color_scheme=scheme)
    context.set_default_timeout(SLOWEST)
    remember = f"for (const it of ['mode', 'theme']) localStorage.setItem(it, '{scheme}')"
    # half a megabyte that the browser keeps, and need not be sent with each page
    context.add_init_script(f"if (location.protocol === 'file:') {{ {remember};\n{AXE_SCRIPT}\n}}")
    return context.new_page()


def _check_load(page: Page, html: Path, load: Load, screenshots: Path | None, looks: set[str]) -> list[_Seen]:
    """Faults of one load: those of its scripts, and those that its views show. Of texts with these `looks` axe has seen
    one already, and liked it.
    """
    where, now = load.path.relative_to(html), load.views[0]
    shown: list[_Seen] = []
    with _heard(page) as faults:
        if load.host:
            page.evaluate(PUT, [load.path.as_uri(), load.path.read_text(encoding="utf-8")])
            _turn(page, None, now)
        else:
            _open(page, load.path, now, load.idle)
        wrong = [f"mathematics {it}" for it in page.evaluate(FORMULAS)]
        shown += [_Seen(load.path, fault, now, load.of) for fault in dict.fromkeys(wrong)]
        for view in load.views:
            if view != now:
                _turn(page, now, view)
                now = view
            theme, faint, scroll, marked = page.evaluate(LOOK, sorted(looks))
            faults_of_looks = _wrong(page, view, theme, faint, scroll)
            shown += [_Seen(load.path, fault, view, load.of * len(load.views)) for fault in faults_of_looks]
            if view in load.axed:
                found = page.evaluate(AXE)
                shown += [_Seen(load.path, fault, view, len(load.axed)) for fault in found]
                if not found and set(load.axed) != set(VIEWS):
                    looks.update(marked)
            if screenshots and view in PICTURED and not UNPICTURED.match(where.as_posix()):
                name = "-".join([*where.with_suffix("").parts, *map(str, view)])
                _picture(page, screenshots / f"{name}.png", view[1])
        if not load.host:
            page.goto("about:blank")  # whatever it still says is heard before the next page is opened
    return [*(_Seen(load.path, fault, load.views[0], load.of) for fault in dict.fromkeys(faults)), *shown]


def _picture(page: Page, name: Path, width: int) -> None:
    height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    how = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": True, "clip": clip}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", how)
    name.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def _heard(page: Page) -> Iterator[list[str]]:
    """What a page asks for from elsewhere, and what its scripts complain of; the list grows while it is open."""
    faults: list[str] = []

    def note_request(url: str) -> None:
        if urlsplit(url).scheme not in {"file", "data", "blob"}:
            faults.append(f"asks for {url[:120]}")

    def note_message(message: ConsoleMessage) -> None:
        source, text = message.location["url"], message.text.partition("\n")[0]
        if message.type == "error" and urlsplit(source).scheme not in {"http", "https"}:  # those are noted as requests
            faults.append(f"console error: {text} ({source.rpartition('/')[2]})")

    listeners: dict[Any, Any] = {
        "request": lambda request: note_request(request.url),
        "websocket": lambda socket: note_request(socket.url),
        "console": note_message,
        "pageerror": lambda error: faults.append(f"script error: {error.message}"),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    yield faults
    for event, listener in listeners.items():
        page.remove_listener(event, listener)


def _open(page: Page, path: Path, view: View, idle: bool = False) -> None:
    """Load a page in a view."""
    _show(page, view)
    page.goto(path.as_uri(), wait_until="networkidle" if idle else "load")
    page.evaluate(TURN, [None, view[1]])  # on a busy machine the width may come after the page


def _show(page: Page, view: View) -> None:
    """Give a page the width and the scheme of a view."""
    scheme, width = view
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.emulate_media(color_scheme=scheme)


def _turn(page: Page, old: View | None, new: View) -> None:
    """Bring an open page from one view to another, as its reader would."""
    _show(page, new)
    page.evaluate(TURN, [None if old and new[0] == old[0] else new[0], new[1]])


def _wrong(page: Page, view: View, theme: str, faint: Sequence[str], scroll: int) -> Iterator[str]:
    """What is wrong with the looks of an open page."""
    scheme, width = view
    if theme != scheme:
        yield f"html[data-theme] is {theme!r} where the reader asks for {scheme!r}"
    if faint:
        yield f"{len(faint)} text(s) too faint to read (contrast below 4.5), the worst {faint[0]!r}"
    if width == PHONE and scroll > width + 1:
        yield f"page is {scroll} px wide on a phone of {width} px: {page.evaluate(WIDEST)}"
