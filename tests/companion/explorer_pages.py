"""One Chromium for all tests of a worker, and explorers on a page of their own, where any word on the console fails."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from companion.press import browser
from companion.press.browser import CHROMIUM_FLAGS, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    Opened = Callable[..., Page]

STATIC = Path(__file__).resolve().parents[2] / "book/_static"
PAGE = """\
<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>Explorers</title>
<link rel="stylesheet" href="../_static/book.css"><body class="bd-content">{}</body></html>
"""
SIZE = {"width": 1280, "height": 720}


class Reader:
    """Pages of one Chromium, each used by one test after the other: to open a new one takes longer than most tests."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.loop = asyncio.get_running_loop()
        self.idle: dict[bool, list[Page]] = defaultdict(list)
        self.used: list[tuple[bool, Page]] = []

    def page(self, javascript: bool = True) -> Page:
        """A page that nobody uses."""
        idle = self.idle[javascript]
        page = idle.pop() if idle else self.browser.new_context(java_script_enabled=javascript).new_page()
        self.used.append((javascript, page))
        page.set_viewport_size(SIZE)
        return page

    def clear(self) -> None:
        """Whatever pages still say is heard; then they are idle, and remember nothing."""
        kept = {page.context for page in (*chain(*self.idle.values()), *(page for _, page in self.used))}
        for other in self.browser.contexts:
            if other not in kept:
                other.close()
        for javascript, page in self.used:
            if javascript:
                page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.goto("about:blank")
            self.idle[javascript].append(page)
        self.used.clear()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Reader]:
    playwright = pytest.importorskip("playwright.sync_api")
    if find_chromium() is None and not os.environ.get("CI"):
        pytest.skip("needs Chromium on PATH (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        reader = Reader(launched)
        asyncio._set_running_loop(None)
        yield reader
        asyncio._set_running_loop(reader.loop)
        launched.close()


@pytest.fixture
def reader(chromium: Reader) -> Iterator[Reader]:
    """Its loop runs while a test uses it, and no longer: other tests start loops of their own."""
    asyncio._set_running_loop(chromium.loop)
    try:
        yield chromium
        chromium.clear()
    finally:
        asyncio._set_running_loop(None)


@pytest.fixture
def no_other(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts a Chromium is given this one, in this thread: to start one takes longer than most pages."""
    chromium = SimpleNamespace(launch=lambda **_: nullcontext(reader.browser))
    monkeypatch.setattr("playwright.sync_api.sync_playwright", lambda: nullcontext(SimpleNamespace(chromium=chromium)))
    monkeypatch.setattr(browser, "ThreadPoolExecutor", lambda *_: nullcontext(Here()))


class Here:
    """Does at once what it is told."""

    def submit(self, do: Callable[..., Any], *given: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(do(*given))
        return done


@pytest.fixture
def quiet(reader: Reader) -> Iterator[Callable[..., Page]]:
    """Give pages that may say nothing."""
    said: list[str] = []
    listeners = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
    }
    heard: list[Page] = []

    def page(javascript: bool = True) -> Page:
        heard.append(reader.page(javascript))
        for event, listener in listeners.items():
            heard[-1].on(event, listener)
        return heard[-1]

    yield page
    reader.clear()
    for it in heard:
        for event, listener in listeners.items():
            it.remove_listener(event, listener)
    assert said == []


@pytest.fixture
def opened(quiet: Callable[..., Page], tmp_path: Path) -> Opened:
    """Open explorers, given as HTML: at a ``query``, with a ``fault`` (old, new) in a script, without scripts."""

    def page(*explorers: str, query: str = "", fault: tuple[str, str] | None = None, javascript: bool = True) -> Page:
        shutil.copytree(STATIC, tmp_path / "_static", dirs_exist_ok=True)
        if fault:
            texts = {path: path.read_text() for path in (tmp_path / "_static/explorers").glob("*.js")}
            [path] = (path for path, text in texts.items() if text.count(fault[0]) == 1)
            path.write_text(texts[path].replace(*fault))
        path = tmp_path / "notebooks/page.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format("".join(explorers)), encoding="utf-8")
        shown = quiet(javascript)
        shown.goto(f"{path.as_uri()}{query}")
        return shown

    return page
