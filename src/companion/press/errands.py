"""Can a reader find it, and does it load? The errands and limits of `book/errands.yml`, on the finished site."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit

import yaml

from companion.press.browser import CHROMIUM_FLAGS, find_chromium, missing
from companion.press.views import DESK, HEIGHT, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST = 3  # actions
BOARD = "#claims tbody tr"
#: px by which the sign of a shown search field reaches into what is typed there.
COVERED = """() => [...document.querySelectorAll("form.bd-search")].map(form => {
    const field = form.querySelector("input"), sign = form.querySelector("i, svg");
    const typed = field.getBoundingClientRect().left + parseFloat(getComputedStyle(field).paddingLeft);
    return field.offsetWidth && sign ? sign.getBoundingClientRect().right - typed : 0;
}).reduce((most, it) => Math.max(most, it), 0)"""


def check_errands(html: Path, errands: Path) -> list[str]:
    """A line for each errand that fails, each page that is over a limit, for queries of which too many lead elsewhere,
    and one if the scoreboard needs its script. None where no page can be opened, which the check of the site says.
    """
    if not errands.is_file() or missing():
        return []
    from playwright.sync_api import sync_playwright

    said = yaml.safe_load(errands.read_text(encoding="utf-8"))
    ledger = json.loads((html / "_static/ledger.json").read_bytes())
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        problems = []
        for width in (DESK, PHONE):
            page = browser.new_page(viewport={"width": width, "height": HEIGHT})
            problems += [
                f"{line}, {width} px wide" for errand in said["errands"] for line in _do(page, html, errand, ledger)
            ]
        problems += _search(browser.new_page(), html, said.get("queries", {}), said.get("elsewhere", 0))
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto((html / "notebooks/90-scoreboard.html").as_uri())
        if (shown := page.locator(f"{BOARD}:visible").count()) != len(ledger):
            problems.append(f"scoreboard without JavaScript: {shown} of {len(ledger)} claims")
        page = browser.new_page(viewport={"width": DESK, "height": HEIGHT})
        for pattern, limits in said["limits"].items():
            for path in sorted(html.glob(pattern)):
                problems += _weigh(page, path, limits)
        browser.close()
    return problems


def _search(page: Page, html: Path, queries: Mapping[str, list[str]], allowed: int) -> Iterator[str]:
    """The queries whose first hit leads elsewhere, if they are more than `allowed`."""
    if not queries:
        return
    wrong = []
    for query, wanted in queries.items():
        page.goto(f"{(html / 'search.html').as_uri()}?{urlencode({'q': query})}")
        first = page.locator("#search-results a").first
        at = str(first.get_attribute("href")) if first.count() else "nothing"
        if not any(it in at for it in wanted):
            wrong.append(f"search for {query!r} leads to {at}; allowed: {' or '.join(wanted)}")
    if len(wrong) > allowed:
        yield from wrong
    if (covered := page.evaluate(COVERED)) > 0:
        yield f"the sign of the search field covers {covered:g} px of what is typed"


def _weigh(page: Page, path: Path, limits: Mapping[str, int]) -> Iterator[str]:
    """Which limits a page is over: bytes that it loads, elements, px of height."""
    loaded: set[Path] = set()
    note = lambda request: loaded.add(Path(unquote(urlsplit(request.url).path)))  # noqa: E731
    page.on("request", note)
    page.goto(path.as_uri())
    page.remove_listener("request", note)
    weight = {
        "bytes": sum(it.stat().st_size for it in loaded if it.is_file()),
        "elements": page.evaluate("document.querySelectorAll('*').length"),
        "height": page.evaluate("document.documentElement.scrollHeight"),
    }
    for key, limit in limits.items():
        if weight[key] > limit:
            yield f"{path.name}: {key}: {weight[key]:,}; allowed: {limit:,}"


def _do(page: Page, html: Path, errand: Mapping[str, Any], ledger: list[dict[str, Any]]) -> Iterator[str]:
    """What goes wrong on an errand."""
    from playwright.sync_api import Error

    if len(errand["actions"]) > MOST:
        yield f"{errand['wanted']}: {len(errand['actions'])} actions; allowed: {MOST}"
    page.goto((html / "book/index.html").as_uri())
    try:
        for action in errand["actions"]:
            if "fill" in action:
                page.fill(action["fill"], action["text"])
                page.press(action["fill"], "Enter")
            else:
                page.locator(action["click"]).first.click()
            page.wait_for_load_state()
    except Error as error:
        yield f"{errand['wanted']}: {str(error).splitlines()[0]}"
        return
    if "at" in errand and not page.url.removesuffix(".html").endswith(errand["at"]):
        yield f"{errand['wanted']}: led to {page.url.rpartition('/')[2]}; allowed: …{errand['at']}"
    if "rows" in errand:
        wanted = sum(it["impact"] == errand["rows"] for it in ledger)
        if (shown := page.locator(f"{BOARD}:visible").count()) != wanted:
            yield f"{errand['wanted']}: {shown} claims are shown; allowed: {wanted}"
