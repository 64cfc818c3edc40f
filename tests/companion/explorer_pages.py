"""Explorers on a page of their own in Chromium, where any word on the console is a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from companion.press.browser import CHROMIUM_FLAGS, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    Opened = Callable[..., Page]

STATIC = Path(__file__).resolve().parents[2] / "book/_static"
PAGE = """\
<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>Explorers</title>
<link rel="stylesheet" href="../_static/book.css"><body class="bd-content">{}</body></html>
"""


@pytest.fixture(scope="module")  # no longer: while it is open, no other test may start a loop of its own
def chromium() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    if find_chromium() is None and not os.environ.get("CI"):
        pytest.skip("needs Chromium on PATH (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open explorers, given as HTML: at a ``query``, with a ``fault`` (old, new) in a script, without scripts."""
    said: list[str] = []
    contexts = []

    def page(*explorers: str, query: str = "", fault: tuple[str, str] | None = None, javascript: bool = True) -> Page:
        shutil.copytree(STATIC, tmp_path / "_static", dirs_exist_ok=True)
        if fault:
            texts = {path: path.read_text() for path in (tmp_path / "_static/explorers").glob("*.js")}
            [path] = (path for path, text in texts.items() if text.count(fault[0]) == 1)
            path.write_text(texts[path].replace(*fault))
        path = tmp_path / "notebooks/page.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format("".join(explorers)), encoding="utf-8")
        context = chromium.new_context(java_script_enabled=javascript)
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(f"{path.as_uri()}{query}")
        return shown

    yield page
    for context in contexts:
        context.close()
    assert said == []
