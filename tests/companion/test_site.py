"""Every kind of fault, planted on a tiny site of its own page, must be found there and nowhere else."""

from __future__ import annotations

import base64
import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from threading import Barrier

import pytest

from companion.press import BuildError, browser, site, views
from companion.press.errands import check_errands
from companion.press.pdf import make_pdf
from companion.press.site import check_site, find_chromium

needs_chromium = pytest.mark.skipif(
    find_chromium() is None and not os.environ.get("CI"), reason="needs Chromium on PATH (apt-get install chromium)"
)

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A page</title><link rel="canonical" href="https://example.org/page.html">
<link rel="stylesheet" href="_static/book.css?v=1">
<script>document.documentElement.dataset.theme = localStorage.getItem("theme")</script>
</head>
<body><main><h1>A page</h1><article id="here">{}</article></main></body>
</html>
"""
CSS = """
/* url(gone.png) in a comment loads nothing */
html[data-theme=dark] body {background: #111; color: #eee}
html[data-theme=dark] a {color: #8cf}
body {background-image: url("dot.png")}
"""
DOT = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=")

TOLD = "A dot that is so small that nobody sees it, and so it is said to be there."
GOOD = """
<p>Read <a href="https://example.org">elsewhere</a>, <a href="#here">here</a>, <a href="part/two.html#two">there</a>,
<a href="_static/dot.png" download>the data</a>, <a href="mailto:a@example.org">a letter</a>.</p>
<img src="_static/dot.png" srcset="_static/dot.png 1x, _static/dot.png 2x" alt="a dot">
<img src="data:image/png;base64," alt="nothing">
<div style="overflow-x: auto" tabindex="0"><pre style="width: 2000px">a wide block that scrolls in its box</pre></div>
<span class="math">\\(x\\)<math><mi>x</mi></math></span>
<figure><img src="_static/dot.png" alt="TOLD"><img src="_static/dot.png" alt="the same"></figure>
""".replace("TOLD", TOLD)

STATIC_FAULTS = {
    "link": ('<a href="gone.html">x</a>', r"gone\.html' does not exist"),
    "anchor": ('<a href="#gone">x</a>', r"names an id that anchor\.html does not have"),
    "anchor-there": ('<a href="index.html#gone">x</a>', r"names an id that index\.html does not have"),
    "outside": ('<a href="../../x.html">x</a>', "points outside the site"),
    "absolute": ('<a href="/index.html">x</a>', "is absolute"),
    "no-scheme": ('<a href="//example.org">x</a>', "has no scheme"),
    "image": ('<img src="gone.png" alt="x">', "<img src> 'gone.png' does not exist"),
    "srcset": ('<img src="_static/dot.png" srcset="_static/dot.png, gone.png 2x" alt="x">', "srcset> 'gone.png'"),
    "download": ('<a href="_static/gone.csv" download>x</a>', r"gone\.csv' does not exist"),
    "css-url": ('<p style="background: url(gone.png)">x</p>', "<p style> 'gone.png' does not exist"),
    "css-import": ('<style>@import "https://example.org/a.css";</style>', "a.css' loads from outside the site"),
    "css-font": ('<style>@font-face {src: url(https://example.org/a.woff)}</style>', "loads from outside the site"),
    "script": ('<script defer src="https://example.org/a.js"></script>', "<script src> .*loads from outside"),
    "script-no-scheme": ('<script defer src="//example.org/a.js"></script>', "<script src> .*loads from outside"),
    "stylesheet": ('<link rel="stylesheet" href="https://example.org/a.css">', "<link href> .*loads from outside"),
    "preconnect": ('<link rel="preconnect" href="https://example.org">', "<link href> .*loads from outside"),
    "frame": ('<iframe src="https://example.org"></iframe>', "<iframe src> .*loads from outside"),
    "alt": ('<img src="_static/dot.png">', "has no alt text"),
    "alt-empty": ('<img src="_static/dot.png" alt=" ">', "has no alt text"),
    "alt-short": ('<figure><img src="_static/dot.png" alt="a dot"></figure>', "is described in 5 letters: 'a dot'"),
    "id-twice": ("<i id='x'></i><i id='x'></i>", "id 'x' is there twice"),
    "words-twice": (f'<figure><img src="data:," alt="{TOLD}"></figure>', r"'data:,' has the alt .* of 'dot\.png'"),
}  # fmt: skip

SCRIPT_FAULTS = {
    "<script>fetch('https://example.org/a.json').catch(() => 0)</script>": r"asks for https://example\.org/a\.json",
    "<script>setTimeout(() => new Image().src = 'https://example.org/b.png', 200)</script>": r"asks for .*/b\.png",
    "<script>new Image().src = 'http://127.0.0.1:9/a.png'</script>": r"asks for http://127\.0\.0\.1:9/a\.png",
    "<script>new WebSocket('ws://127.0.0.1:9/')</script>": r"asks for ws://127\.0\.0\.1:9/",
    "<script>console.error('oh')</script>": r"console error: oh \(faults\.html\)$",
    "<script>null.x</script>": "script error: Cannot read properties of null",
    "<script>new Image().src = 'gone.png'</script>": r"console error: .*FILE_NOT_FOUND \(gone\.png\)$",
    "<script>if (innerWidth < 500) throw Error('on a phone')</script>": r"script error: on a phone \[dark 390\]$",
    "<script>addEventListener('resize', () => {throw Error('turned')})</script>": "script error: turned$",
}
LOOK_FAULTS = {
    "<div><table class='big'><tr><td style='min-width: 600px'>x</td></tr></table></div>": (
        r"on a phone of 390 px: <table\.big> reaches to 6\d\d px \[light 390, dark 390\]"
    ),
    "<p style='color: #888'>words</p>": r"too faint to read .* 'words: 3\.\d' \[light 1280, light 390\]",
    "<style>@font-face {font-family: Gone; src: url(data:font/woff,x)}</style><p style='font-family: Gone'>x</p>": (
        "mathematics without its font: Gone$"
    ),
    "<img src='gone.svg' alt='x'>": r"console error: .*FILE_NOT_FOUND \(gone\.svg\)$",
    "<span class='math'>\\(x\\)</span>": r"mathematics not set: \\\(x\\\)$",
}
# what only one scheme, or only one width, shows; the worst text of a view is the one that is named
FAINT = {
    "night": (
        "<style>html[data-theme=dark] .night {color: #333} .night {transition: color 9s}</style><p class=night>x</p>",
        r"too faint to read .* 'x: 1\.\d' \[dark (390|1280), dark (390|1280)\]$",
    ),
    "narrow": (
        "<style>@media (max-width: 400px) {.narrow {color: #ddd}}</style><p class=narrow>x</p>",
        r"too faint to read .* 'x: 1\.\d' \[light 390\]$",
    ),
}
# what axe finds in the two views that it has of a page; what ends the article is the last
AXE_FAULTS = {
    "image": ("<svg role='img' width='9' height='9'></svg>", r"svg-img-alt: .*: 1, the first <svg role=\"img\""),
    "contrast": ("<p style='color: #777; background: #888'>words</p>", r"color-contrast: .*: 1, the first <p style"),
    "label": ("<button aria-label='Go'>Search</button>", r"label-content-name-mismatch: .*: 1, the first <button"),
    "header": ("<table><thead><tr><th></th><th>a</th></tr></thead><tr><th>b</th><td>1</td></tr></table>",
               r"empty-table-header: .*: 1, the first <th></th>$"),
    "scroll": (f"<pre style='overflow: auto; width: 9rem'>{TOLD}</pre>",
               r"scrollable-region-focusable: .*: 1, the first <pre"),
    "summary": ("<details><summary><i></i></summary>x</details>", r"summary-name: .*: 1, the first <summary>"),
    "heading": ("<h4>x</h4>", r"heading-order: .*: 1, the first <h4>"),
    "role": ("<p role='nothing'>x</p>", r"aria-roles: .*: 1, the first <p role"),
    "small": ("<a href='#here' style='font-size: 8px'>x</a><br><a href='#here' style='font-size: 8px'>y</a>",
              r"target-size: .*: 2, the first <a href"),
    "language": ("<p lang='xyz'>x</p>", r"valid-lang: .*: 1, the first <p lang"),
    "landmark": ("</article></main><p>x</p>", r"region: .*: 1, the first <p>"),
}  # fmt: skip
STUCK_THEME = "<script>document.documentElement.dataset.theme = 'dark'</script>"


FOLDERS = ("_modules/", "book/reference/")


def write_site(folder: Path, bodies: dict[str, str]) -> Path:
    """A site with one page a body, and what they share."""
    for name in ("_static", "part", "book/reference", "_modules"):
        (folder / name).mkdir(parents=True)
    (folder / "_static/book.css").write_text(CSS)
    (folder / "_static/dot.png").write_bytes(DOT)
    for name, body in {"index": GOOD, "part/two": "<h2 id='two'>Two</h2>", **bodies}.items():
        up = "../" * name.count("/")
        (folder / f"{name}.html").write_text(PAGE.replace("_static", f"{up}_static").format(body))
    return folder


def by_page(problems: list[str]) -> dict[str, list[str]]:
    return {
        page: [problem for problem in problems if problem.startswith(f"{page}.html: ")]
        for page in {problem.partition(".html: ")[0] for problem in problems}
    }


@pytest.fixture(scope="module")
def static_problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    html = write_site(tmp_path_factory.mktemp("static"), {name: body for name, (body, _) in STATIC_FAULTS.items()})
    return by_page(site._check_files(html, site._read_pages(html)))


@pytest.mark.parametrize("name", STATIC_FAULTS)
def test_finds_fault_in_files(static_problems: dict[str, list[str]], name: str) -> None:
    (problem,) = static_problems[name]
    assert re.search(STATIC_FAULTS[name][1], problem)


def test_finds_nothing_else_in_files(static_problems: dict[str, list[str]]) -> None:
    assert static_problems.keys() == STATIC_FAULTS.keys()


def test_finds_faults_in_stylesheets_and_redirects_and_a_missing_lang(tmp_path: Path) -> None:
    html = write_site(tmp_path, {"bare": ""})
    (html / "bare.html").write_text("<html><body>x</body></html>")
    (html / "moved.html").write_text('<meta http-equiv="Refresh" content="0; url=gone.html" />')
    (html / "_static/book.css").write_text("a {background: url( 'gone.png' )}  @import url(//example.org/a.css);")
    (html / "_static/theme-webpack-macros.html").write_text('<link href="{{ pathto(x) }}">')  # a template, not a page
    assert site._check_files(html.resolve(), site._read_pages(html.resolve())) == [
        "bare.html: <html> has no lang",
        "moved.html: <meta refresh> 'gone.html' does not exist",
        "_static/book.css: css 'gone.png' does not exist",
        "_static/book.css: css '//example.org/a.css' loads from outside the site",
    ]


#: What pages from one template say, without a fault; with every kind of element of the faults below but the new ones.
ALIKE = """<h2>A</h2><h3>B</h3><button>Go</button><dl class="py"><dt>f(x)</dt><dd>x</dd></dl><p class="night">words</p>
<table><thead><tr><th>a</th></tr></thead><tr><td>1</td></tr></table><label>x <input></label>
<style>html[data-theme=dark] .night > b {color: #333}</style><p class="night"><i>x</i><b></b></p>"""
#: Faults in one of many: what changes in `ALIKE`, what is said, and whether the page shows a new kind and is opened.
HIDDEN_FAULTS = {
    "faint": ("<h2>A", "<p class='new' style='color: #ccc'>x</p><h2>A", "too faint to read .*'x: 1", True),
    "faint-at-night": ("<b></b>", "<b>words</b>", r"too faint to read .* \[.*dark 390.*\]$", False),
    "script": ("<h2>A", "<script>null.x</script><h2>A", "script error: Cannot read properties of null", True),
    "sheet": ("</style>", "dd {color: #ddd}</style>", "too faint to read", True),
    "id": ("<h2>A</h2><h3>", "<h2 id='x'>A</h2><h3 id='x'>", "id 'x' is there twice", False),
    "unnamed": ("Go", "", "axe, button-name: ", False),
    "wide": ("f(x)", f"f({'x' * 90})", r"page is \d+ px wide on a phone of 390 px", False),
    "heading": ("<h2>A</h2><h3>B</h3>", "<h3>B</h3>", "axe, heading-order: ", False),
    "header": ("<th>a", "<th>", "axe, empty-table-header: ", False),
    "label": ("<label>x ", "<label>", "axe, label: ", False),
    "watched": ("f(x)", "f(boo)", "script error: boo$", False),
}  # fmt: skip
WATCH = """<script>addEventListener("DOMContentLoaded", () => {
    if (document.querySelector("dt").textContent.includes("boo")) throw Error("boo");
})</script>"""


def planted() -> dict[str, list[str]]:
    """Pages with faults of every kind: body, then what is said of each."""
    pages = {
        "faults": ["\n".join([*SCRIPT_FAULTS, *LOOK_FAULTS]), *SCRIPT_FAULTS.values(), *LOOK_FAULTS.values()],
        "stuck": [STUCK_THEME, r"data-theme\] is 'dark' .* asks for 'light' \[light 1280, light 390\]$"],
    }
    # as in a source listing, which is loaded once unless it has scripts of its own
    pages |= {
        f"_modules/{name}": [body.replace("<script>", "<script>;"), *said] for name, (body, *said) in pages.items()
    }
    pages["_modules/looks"] = ["\n".join(LOOK_FAULTS), *(it.partition(r" \[")[0] for it in LOOK_FAULTS.values())]
    pages |= {name: list(it) for name, it in FAINT.items()}
    axe = ["\n".join(body for body, _ in AXE_FAULTS.values()), *(f": axe, {said}" for _, said in AXE_FAULTS.values())]
    pages |= {f"{folder}axe": axe for folder in ("", *FOLDERS)}
    for name, (old, new, said, _) in HIDDEN_FAULTS.items():
        pages[f"{FOLDERS[1]}hidden-{name}"] = [WATCH + ALIKE.replace(old, new), said]
    return pages


@pytest.fixture(scope="module")
def planted_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them, between pages without a fault."""
    good = {f"book/reference/{name}": "<hr><hr>" + WATCH + ALIKE for name in ("first", "second", "third")}
    return write_site(tmp_path_factory.mktemp("planted"), good | {name: it[0] for name, it in planted().items()})


def test_a_page_is_opened_if_it_shows_something_new(planted_site: Path) -> None:
    def opened(every: bool) -> set[str]:
        loads = views.plan(planted_site, contents(planted_site), every)
        return {load.path.stem.removeprefix("hidden-") for load in loads if not load.host and load.path in alike}

    alike = {it for it in planted_site.glob("book/reference/*.html") if it.stem != "axe"}
    assert len(alike) == 3 + len(HIDDEN_FAULTS)
    assert opened(every=False) == {"first", *(name for name, (*_, is_new) in HIDDEN_FAULTS.items() if is_new)}
    assert opened(every=True) == {"first", "second", "third", *HIDDEN_FAULTS}


@pytest.mark.skipif(browser.find_chromium() is None, reason="needs Chromium on PATH")
def test_browsers_share_the_loads(planted_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each load is that of one of them, and what they saw is told in the order of the pages."""
    both, taken = Barrier(2), list[int]()

    def look(html: Path, waiting: SimpleQueue[list[views.Load]], _: Path | None) -> list[browser._Seen]:
        mine: list[views.Load] = []
        both.wait(60)
        with suppress(Empty):
            while True:
                mine += waiting.get_nowait()
        taken.append(len(mine))
        return [browser._Seen(it.path, "seen", it.views[0], 1) for it in mine]

    monkeypatch.setattr(browser, "_check_loads", look)
    monkeypatch.setattr(browser.os, "cpu_count", lambda: 1)
    pages = contents(planted_site)
    loads = views.plan(planted_site, pages)
    lines = browser.check_in_browser(planted_site, pages, None)
    assert (len(taken), sum(taken)) == (2, len(loads))
    assert [it.partition(":")[0] for it in lines] == list(
        dict.fromkeys(it.path.relative_to(planted_site).as_posix() for it in loads)
    )


@needs_chromium
@pytest.mark.slow
def test_finds_faults_in_browser(planted_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a chapter, a listing and the reference; in a page that is opened, and in one that is put into another; each
    fault that axe is asked for, and nothing else.
    """
    monkeypatch.setattr(browser, "VISITS", 100)  # one browser
    pages, found = planted(), by_page(check_site(planted_site))
    assert found.keys() == pages.keys()
    for name, (_, *said) in pages.items():
        assert [it for it in said if not any(re.search(it, problem) for problem in found[name])] == [], found[name]
        if name.endswith("axe"):
            assert len(found[name]) == len(AXE_FAULTS) + 1, found[name]  # what is too faint is said twice


def contents(html: Path) -> dict[Path, views.Content]:
    return {path: page.content for path, page in site._read_pages(html).items()}


def test_opened_pages_show_every_kind_and_all_are_seen(tmp_path: Path) -> None:
    """Each in both schemes, and on a phone, by axe too; an opened one on a desk."""
    random = Random(1)
    elements = [f"<p class='{name}'>x</p>" for name in "abcdefghij"]
    bodies = {f"{folder}{i}": "".join(random.sample(elements, 3)) for folder in FOLDERS for i in range(40)}
    html = write_site(tmp_path, bodies)
    pages = contents(html)
    loads = views.plan(html, pages)
    opened = {load.path for load in loads if not load.host}
    assert {path for path in pages if "part" in path.parts or path.name == "index.html"} <= opened
    assert 4 <= len([path for path in opened if path.stem.isdigit()]) <= 20
    shown = set().union(*(pages[path].kinds for path in opened if path.stem.isdigit()))
    assert shown == set().union(*(page.kinds for path, page in pages.items() if path.stem.isdigit()))
    assert {load.path for load in loads} == pages.keys()
    for path in pages:
        mine = [load for load in loads if load.path == path]
        put = path not in opened
        assert {load.host in opened for load in mine} == {put}
        seen, axed = {view for load in mine for view in load.views}, set(mine[0].axed)
        assert seen == set(views.NARROW if put else views.VIEWS)
        assert views.PHONE in {width for _, width in axed}
        assert len({scheme for scheme, _ in axed}) == len({width for _, width in axed}) == len(mine)
    for which in (True, False):
        schemes = Counter(next(iter(load.axed))[0] for load in loads if bool(load.host) == which and load.of == 1)
        assert abs(schemes["light"] - schemes["dark"]) <= 1
    everything = views.plan(html, pages, every=True)
    assert {load.path for load in everything if not load.host} == pages.keys()
    assert all(set(load.axed) == set(views.VIEWS) for load in everything)


@pytest.mark.parametrize(
    "other",
    ["<p class='b'>x</p>", "<p role='note'>x</p>", "<p style='color: red'>x</p>", "<p tabindex='-1'>x</p>",
     "<p aria-hidden='true'>x</p>", "<i><p>x</p></i>", "<p><i>x</i></p>", "<p lang='fr'>x</p>"],
)  # fmt: skip
def test_what_makes_a_new_kind(other: str) -> None:
    def kinds(body: str) -> set[views.Kind]:
        page = site._Page()
        page.feed(f"<div id='a'><p id='b' title='c'>x</p></div>{body}")
        return page.content.kinds

    assert kinds("<div><p id='d'>y</p></div></section><div></div>") == kinds("")
    assert kinds(f"<div>{other}</div>") - kinds("")


def test_a_page_that_runs_what_none_before_it_does_is_loaded_in_each_scheme(tmp_path: Path) -> None:
    own_name = "<script>const page = '{}'</script>"
    bodies = {"chapter": own_name.format("chapter"), "_modules/as-all": own_name.format("_modules/as-all")}
    for name, body in {
        "file": "<script src='../_static/own.js'></script>",
        "handler": "<p onclick='x()'>",
        "text": "<script>y()</script>",
    }.items():
        bodies[f"_modules/{name}"] = body
    html = write_site(tmp_path, bodies)
    loads = Counter(load.path.stem for load in views.plan(html, contents(html)))
    assert loads == {"chapter": 2, "file": 2, "handler": 2, "text": 2, "index": 1, "two": 1, "as-all": 1}


@needs_chromium
@pytest.mark.slow
@pytest.mark.usefixtures("no_other")
def test_good_site_passes_and_is_photographed(tmp_path: Path) -> None:
    html = write_site(tmp_path / "html", dict.fromkeys(["_modules/code", "book/api", "genindex"], "<p>x</p>"))
    (html / "start.html").write_text('<meta http-equiv="Refresh" content="0; url=index.html" />')
    assert check_site(html, tmp_path / "shots") == []
    assert {path.name for path in (tmp_path / "shots").iterdir()} == {
        f"{page}-{view}.png" for page in ("index", "part-two") for view in ("light-1280", "dark-390")
    }  # and nothing of the reference


@pytest.mark.parametrize(
    ("gone", "said"), [("find_chromium", "apt-get install chromium"), ("find_spec", "pip install playwright")]
)
def test_says_what_no_page_can_be_opened_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, said: str
) -> None:
    monkeypatch.setattr(browser, "find_chromium", lambda: "chromium")
    monkeypatch.setattr(browser, gone, lambda *_: None)
    (problem,) = check_site(write_site(tmp_path / "html", {}))
    assert said in problem
    (tmp_path / "errands.yml").write_text("errands: []")
    assert check_errands(tmp_path / "html", tmp_path / "errands.yml") == []
    with pytest.raises(BuildError, match=said):
        make_pdf(tmp_path / "html", tmp_path / "print.html")


def test_refuses_a_folder_without_pages(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"no \.html page there"):
        check_site(tmp_path)
