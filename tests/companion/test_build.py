"""The press, on a small book."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import nbformat
import numpy
import papermill
import pytest
from bs4 import BeautifulSoup
from nbclient.exceptions import DeadKernelError
from small_book import LEDGER, Built, at_hand, build, make_whole_book, once, refused, replace, same_tree, snapshot, told
from test_site import needs_chromium

from companion.instruments.seed import ROOT
from companion.ledger.claim import Check
from companion.ledger.files import load_ledger
from companion.ledger.verdicts import in_words
from companion.press import BuildError, UsageError
from companion.press import execute as execution
from companion.press.browser import check_in_browser
from companion.press.execute import Job, _execute, execute, versions
from companion.press.layout import Layout
from companion.press.machine import _listed, machine
from companion.press.pipeline import Build
from companion.press.verify import differences as expected_apart
from companion.press.verify import verify
from companion.press.views import Content

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def red(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The same with less noise, with which a claim is refuted that the ledger says holds; built twice, once its records
    with more noise are the committed ones, of another processor.
    """

    def make(root: Path) -> list[Any]:
        shutil.copytree(built.root, root)
        verify(Layout(root), update=True)
        replace(Layout(root).expected("standard"), machine()["processor"], "Abacus (beads)")
        (root / "src/dprank/privacy/noise.py").write_text("SCALE = 0.5\n")
        with at_hand():
            return [told(root, "book"), told(root, "book")]

    return once(tmp_path_factory, "red", make)


@pytest.fixture
def book(built: Built, tmp_path: Path) -> Path:
    """A finished book of one's own (times kept, so its site counts as the one that was built)."""
    return Path(shutil.copytree(built.root, tmp_path / "book"))


def test_kernel_that_does_not_start_over_ipc(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP is tried, and once more; a kernel that dies in the middle is not."""
    tried: list[str] = []
    errors: list[Exception] = [RuntimeError("Kernel died before replying to kernel_info"), OSError("port taken")]

    def run(*_: object, config: Any, **__: object) -> nbformat.NotebookNode:
        tried.append(config.KernelManager.transport)
        if errors:
            raise errors.pop(0)
        shown = nbformat.v4.new_output("execute_result", {"text/plain": "['dprank']"})
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[shown])])

    monkeypatch.setattr(papermill, "execute_notebook", run)
    book = Build(sources)
    assert _execute(book.job(book.early[0]))[1] == ["dprank"]
    assert tried == ["ipc", "tcp", "tcp"]
    errors.append(DeadKernelError("Kernel died"))
    with pytest.raises(DeadKernelError):
        _execute(book.job(book.early[0]))


def test_status_of_an_empty_book_changes_nothing(sources: Path) -> None:
    before = snapshot(sources)
    lines: list[str] = []
    Build(sources, say=lines.append).status()
    assert snapshot(sources) == before
    assert lines == [
        "01-first: would run because not run yet in profile standard",
        "02-second: would run because not run yet in profile standard",
        "90-board: waits for 01-first, 02-second",
        "site: waits for 01-first, 02-second",
    ]


@pytest.mark.slow
def test_account_and_products(built: Built) -> None:
    root, lines = built
    assert lines[0] == "01-first: runs because not run yet in profile standard"
    assert lines[-3] == "1 figure, 0 of the papers: _build/figures.csv"
    assert lines[-2] == "2 claims settled: 1 holds, 1 refuted; 1 pending"
    assert lines[-1] == "open _build/html/index.html"
    records = json.loads((root / "_build/records.json").read_text())
    assert records["profile"] == "standard"
    assert records["versions"]["numpy"] == numpy.__version__
    assert [(r["claim"], r["chapter"], r["verdict"]) for r in records["records"]] == [
        ("mini2020:alg-1", "01-first", "holds"),
        ("mini2020:thm-1", "02-second", "refuted"),
    ]
    second = nbformat.read(root / "_build/executed/standard/02-second.ipynb", as_version=4)
    texts = [output.text for output in second.cells[1].outputs if output.output_type == "stream"]
    assert texts == ["piece by\npiece\n"], "one stream, whatever clock cut it"
    sums = [line.split("  ") for line in (root / "_build/SHA256SUMS").read_text().splitlines()]
    products = {
        "records.json",
        "pages.json",
        *(f"{folder}/{n}" for folder in ("figures", "html") for n in snapshot(root / "_build" / folder)),
    }
    assert [name for _, name in sums] == sorted(products)
    for value, name in sums:
        assert hashlib.sha256((root / "_build" / name).read_bytes()).hexdigest() == value
    assert sorted(p.name for p in (root / "_build/figures").iterdir()) == ["line-narrow.svg", "line.csv", "line.svg"]
    (figure,) = csv.DictReader((root / "_build/figures.csv").read_text().splitlines())
    assert (figure["figure"], figure["notebook"], figure["reproduces"]) == ("line", "01-first", "")
    assert json.loads(figure["parameters"]) == {"repetitions": 20}
    drawing = (root / "_build/figures/line.svg").read_bytes()
    assert figure["sha256"] == hashlib.sha256(drawing).hexdigest()
    assert float(figure["seconds"]) > 0
    manifest = json.loads((root / "_build/manifest.json").read_text())
    assert (manifest["commit"], manifest["profile"]) == (None, "standard")
    assert set(manifest["seconds"]) == {"01-first", "02-second", "90-board"}


@pytest.mark.slow
def test_pages(built: Built) -> None:
    root, _ = built
    first = (root / "_build/html/notebooks/01-first.html").read_text()
    assert 'id="mini2020-alg-1"' in first
    assert "One is at most the scale &amp; more." in first
    assert "profile standard" in first
    assert "repetitions" not in first, "nor any code but what a reader would type"
    assert "holds refuted" in (root / "_build/html/notebooks/90-board.html").read_text()
    assert "In the standard profile" in (root / "_build/html/book/index.html").read_text()
    assert not (root / "_build/html/reports").exists()
    for page in (root / "_build/html").rglob("*"):
        if page.suffix in (".html", ".js", ".inv", ".txt", ".ipynb", ".buildinfo") and page.is_file():
            assert str(root).encode() not in page.read_bytes(), page


@pytest.mark.slow
def test_nothing_to_do(book: Path) -> None:
    site = snapshot(book / "_build/html")
    lines = build(book)
    assert lines[:4] == ["01-first: cached", "02-second: cached", "90-board: cached", "site: cached"]
    assert snapshot(book / "_build/html") == site


@pytest.mark.slow
def test_words_render_without_executing(book: Path) -> None:
    """Those of a page; those of a claim run late notebooks only."""
    executed = snapshot(book / "_build/executed")
    replace(book / "notebooks/01-first.ipynb", "Plain prose.", "Better prose.")
    lines: list[str] = []
    Build(book, say=lines.append).status()
    cached = ["01-first: cached", "02-second: cached"]
    assert lines[:3] == [*cached, "90-board: cached"]
    assert lines[3] == "site: renders because a page, a setting or the package changed"
    replace(book / "data/claims/mini2020.yml", "Two is at most one.", "Two is one at most.")
    lines = build(book)
    assert lines[:3] == [*cached, "90-board: runs because data/claims/mini2020.yml changed"]
    assert any(line.startswith("site: rendered") for line in lines)
    after = snapshot(book / "_build/executed")
    changed = {name for name in executed.keys() | after.keys() if executed.get(name) != after.get(name)}
    assert changed == {"standard/90-board.ipynb", "standard/90-board.json"}
    assert "Better prose." in (book / "_build/html/notebooks/01-first.html").read_text()
    assert "Two is one at most." in (book / "_build/html/notebooks/02-second.html").read_text()


@pytest.mark.slow
def test_a_verdict_that_differs_is_one_line_and_fails_each_time(red: Built) -> None:
    (code, account, error), again = red.said
    made = _listed(machine() | {"processor": "Abacus (beads)"} | versions())
    differs = "mini2020:alg-1: expected 'holds', observed 'refuted' [one (printed): 1 +- 1e-09 <= 0.5 is False]"
    line = f"companion: {differs}; committed record made on {made}; here {machine()['processor']}\n"
    assert (code, error) == (again[0], again[2]) == (1, line)
    assert "01-first: runs because src/dprank/privacy/noise.py changed\n" in account
    assert again[1].splitlines() == [
        *("01-first: cached", "02-second: cached", "90-board: cached", "site: cached"),
        "1 figure, 0 of the papers: _build/figures.csv",
        "2 claims settled: 2 refuted; 1 pending; 1 differs from the ledger",
        "open _build/html/index.html",
    ]


@pytest.mark.slow
def test_a_verdict_that_differs_is_red_on_the_site(red: Built, book: Path) -> None:
    """On its card, on the scoreboard and in a banner on the front page; on no page where nothing differs."""
    html = red.root / "_build/html"
    front, first, second, board = (
        BeautifulSoup((html / name).read_text(), "html.parser")
        for name in ("book/index.html", *(f"notebooks/{name}.html" for name in ("01-first", "02-second", "90-board")))
    )
    [banner] = front.select("article .differs-note")
    assert "This copy differs from the ledger on this machine: 1 claim." in banner.get_text()
    assert [link["href"] for link in banner.find_all("a")] == ["../notebooks/01-first.html#mini2020-alg-1"]
    [card] = first.select(".claim.differs")
    said = in_words(
        "Expected: {word}`holds`. Observed here: {word}`refuted`: one. It is 1; the statement says at most 0.5."
    )
    assert (card["id"], said in card.get_text()) == ("mini2020-alg-1", True)
    assert second.select(".claim")
    assert not second.select(".differs")
    assert board.select_one(".differs-note a")["href"] == "01-first.html#mini2020-alg-1"
    assert [dot.get_text() for dot in board.select(".board-dot")] == ["≠", "✗", "…"]
    assert [row.td.a.get_text() for row in board.select("tr.differs")] == ["Algorithm 1"]
    plain = [*(book / "_build/html/book").glob("*.html"), *(book / "_build/html/notebooks").glob("*.html")]
    assert len(plain) == 5
    assert [path for path in plain if "differs" in path.read_text()] == []


@needs_chromium
@pytest.mark.slow
@pytest.mark.usefixtures("no_other")
def test_red_is_legible(red: Built) -> None:
    """In the light, in the dark and on a phone, by axe, too; scripts that the small book lacks are left out."""
    html = red.root / "_build/html"
    pages = {html / f"{name}.html": Content() for name in ("book/index", "notebooks/01-first", "notebooks/90-board")}
    assert [line for line in check_in_browser(html, pages, None) if " error: " not in line] == []


@pytest.mark.slow
def test_records_that_differ_are_kept_and_compared_but_never_committed(red: Built, tmp_path: Path) -> None:
    root = Path(shutil.copytree(red.root, tmp_path / "book"))
    layout, lines = Layout(root), []
    assert json.loads(layout.records.read_bytes())["records"][0]["verdict"] == "refuted"
    sums = (line.split("  ") for line in (layout.build / "SHA256SUMS").read_text().splitlines())
    assert all(hashlib.sha256((layout.build / name).read_bytes()).hexdigest() == value for value, name in sums)
    told = verify(layout)[2]
    assert told[0].startswith("expected records made on Abacus (beads), ")
    assert told[0].endswith(f"; here {machine()['processor']}")
    assert told[1:] == [
        "mini2020:alg-1: verdict: expected 'holds', observed 'refuted'",
        "mini2020:alg-1: one: bound: expected 2.0, observed 0.5",
    ]
    with pytest.raises(BuildError, match=r"^mini2020:alg-1: expected 'holds'.*; settle it in the ledger first$"):
        verify(layout, update=True)
    Build(root, say=lines.append).status()
    assert lines[-2] == "site: cached"
    assert lines[-1].startswith("mini2020:alg-1: expected 'holds', observed 'refuted'")
    for options in ({"chapter": "01-first"}, {}):
        with pytest.raises(BuildError, match=r"^mini2020:alg-1: expected 'holds'"):
            Build(root, say=lines.append, **options).run(render=False)
    lines.clear()
    with at_hand():
        Build(root, chapter="02-second", say=lines.append, profile="smoke").run()
    assert lines[-3] == "1 claim settled: 1 refuted; 1 pending", "of a chapter that does not differ"


@pytest.mark.slow
def test_what_no_page_imports_runs_nothing(book: Path) -> None:
    """Nor does what only another page imports; what a run has loaded by name does."""
    (book / "src/dprank/topk").mkdir()
    (book / "src/dprank/topk/laws.py").write_text("")
    lines: list[str] = []
    Build(book, say=lines.append).status()
    assert lines[:3] == ["01-first: cached", "02-second: cached", "90-board: cached"]
    stamp = book / "_build/executed/standard/02-second.json"
    content = json.loads(stamp.read_bytes())
    assert "companion.ledger.claim" in content["loaded"]
    assert "src/dprank/privacy/noise.py" not in content["inputs"]
    stamp.write_text(json.dumps(content | {"loaded": ["dprank.topk.laws"]}))
    lines.clear()
    Build(book, say=lines.append).status()
    assert lines[:2] == ["01-first: cached", "02-second: would run because src/dprank/topk/laws.py is new"]


@pytest.mark.slow
def test_failing_cell(book: Path) -> None:
    site, records = snapshot(book / "_build/html"), (book / "_build/records.json").read_bytes()
    replace(book / "notebooks/01-first.ipynb", "import runpy", "1 / 0")
    replace(book / "notebooks/02-second.ipynb", "import os, time", "import os; import time")
    with at_hand():
        code, account, error = told(book, "book")
    assert code == 1
    assert "companion: 01-first: cell 2 (cell-2) failed: 1 / 0\n" in error
    assert "ZeroDivisionError: division by zero" in error
    assert "01-first: runs because code of notebooks/01-first.ipynb changed" in account
    assert snapshot(book / "_build/html") == site
    assert (book / "_build/records.json").read_bytes() == records
    lines: list[str] = []
    Build(book, say=lines.append).status()
    assert lines[1] == "02-second: cached"  # its work was kept


@pytest.mark.slow
def test_claims_and_records_must_meet(book: Path) -> None:
    ledger = book / "data/claims/mini2020.yml"
    replace(ledger, "chapter: 03-later, verdict: pending", "chapter: 02-second, verdict: holds, method: exact")
    assert refused(book, "book")[1].startswith("companion: mini2020:thm-2: the ledger says 'holds' but 02-second has")
    ledger.write_text(LEDGER.replace("mini2020:alg-1", "mini2020:alg-9").replace("verdict: holds", "verdict: pending"))
    code, line = refused(book, "book")
    assert code == 1
    assert line.startswith("companion: mini2020:alg-1: recorded in 01-first but not in the ledger; allowed: mini2020:")


@pytest.mark.slow
def test_one_chapter(book: Path) -> None:
    lines = build(book, "smoke", "02-second")
    assert lines[0] == "02-second: runs because not run yet in profile smoke"
    assert lines[-1] == "site: not rendered: not run in profile smoke: 01-first"
    assert json.loads((book / "_build/records.json").read_text())["profile"] == "standard"


@pytest.mark.slow
def test_another_seed(book: Path) -> None:
    """It reaches the kernels, is kept beside the book's own, and cannot be taken for it; the site can stay as it is."""
    site = snapshot(book / "_build/html")
    lines: list[str] = []
    with at_hand():
        Build(book, workers=2, say=lines.append, seed=5).run(render=False)
    assert lines[0] == "01-first: runs because not run yet in profile standard"
    assert lines[-1] == "site: not rendered, as asked"
    for folder, root in (("standard", ROOT), ("standard/seed-5", 5)):
        cells = nbformat.read(book / "_build/executed" / folder / "01-first.ipynb", as_version=4).cells
        assert [o.text for cell in cells for o in cell.get("outputs", []) if "text" in o] == [f"root {root}\n"]
    for name in ("records.json", "manifest.json"):
        assert json.loads((book / "_build" / name).read_text())["seed"] == 5
    assert snapshot(book / "_build/html") == site
    with pytest.raises(BuildError, match=f"of root seed 5; allowed: {ROOT}"):
        verify(Layout(book))
    assert {line.partition(": ")[2] for line in build(book)[:3]} == {"cached"}
    assert json.loads((book / "_build/records.json").read_text())["seed"] == ROOT


def test_the_longest_chapter_starts_first(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its last run, else by the estimate; a chapter of which nothing is known starts before all."""
    replace(sources / "notebooks/profiles.yml", "late:", "seconds: {02-second: 9, 01-first: 3}\nlate:")
    started: list[str] = []

    def run(job: Job) -> tuple[str, float, str | None]:
        started.append(job.chapter.name)
        return job.chapter.name, 0.0, None

    monkeypatch.setattr(execution, "_run", run)
    monkeypatch.setattr(execution, "_list_fonts", lambda layout: None)
    monkeypatch.setattr(joblib, "Parallel", lambda *_, **__: lambda tasks: [do(*job) for do, job, _ in tasks])

    def order(profile: str = "standard") -> list[str]:
        started.clear()
        press = Build(sources, profile)
        execute([press.job(chapter) for chapter in (*press.early, *press.late)], 1, lambda line: None)
        return started[:]

    assert order() == ["90-board", "02-second", "01-first"]
    stamp = Layout(sources).build / "executed/standard/01-first.json"
    stamp.parent.mkdir(parents=True)
    stamp.write_text('{"seconds": 12.0}')
    assert order() == ["90-board", "01-first", "02-second"]
    assert order("smoke") == ["90-board", "02-second", "01-first"]


@pytest.mark.slow
def test_killed_builds_end_in_the_same_bytes(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in execute and in render, elsewhere on the disk, and then finished: also two clean builds are alike, of
    which one has run a chapter in a process and a kernel of its own.
    """
    root = make_whole_book(tmp_path / "elsewhere")
    layout = Layout(root)

    def kill_when(ready: Callable[[], bool], **environment: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "companion", "book", "-j", "1"],
            cwd=root,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
        )
        while not ready() and process.poll() is None:
            time.sleep(0.05)
        assert process.poll() is None
        process.kill()  # SIGKILL; its children are on their own
        process.wait()

    executed = layout.build / "executed" / "standard"
    kill_when((executed / "01-first.json").exists, MINI_SLEEP="60")
    assert not (executed / "02-second.ipynb").exists()
    with monkeypatch.context() as patched:
        patched.setattr(Build, "put", lambda *_: None)
        build(root)
    kill_when(lambda: any(layout.scratch.glob("*/_build/html/_static/*")))
    assert not layout.html.exists()
    assert build(root)[:3] == ["01-first: cached", "02-second: cached", "90-board: cached"]
    assert same_tree(layout.html, built.root / "_build/html")
    assert not (layout.html / ".buildinfo").exists(), "it depends on where the environment lies"
    assert same_tree(layout.build / "figures", built.root / "_build/figures")
    assert layout.records.read_bytes() == (built.root / "_build/records.json").read_bytes()


@pytest.mark.slow
def test_a_page_with_a_warning_leaves_the_last_site(book: Path) -> None:
    site = snapshot(book / "_build/html")
    replace(book / "book/index.md", "In the", "{doc}`nowhere` In the")
    with pytest.raises(BuildError, match=r"book/index\.md:3: WARNING: unknown document"):
        build(book)
    assert snapshot(book / "_build/html") == site


@pytest.mark.slow
def test_verify(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(book)
    with pytest.raises(BuildError, match=r"^data/expected/standard.json: not there; `companion verify --update`"):
        verify(layout)
    fresh = ["now expected: mini2020:alg-1: expected nothing, observed a record"]
    fresh += ["now expected: mini2020:thm-1: expected nothing, observed a record"]
    assert verify(layout, "standard", update=True)[:2] == ("standard", 2)
    layout.expected("standard").unlink()
    assert verify(layout, "standard", update=True)[2] == fresh, "pages are expected by now"
    with pytest.raises(BuildError, match="of profile 'standard'; allowed: 'paper'"):
        verify(layout, "paper")
    with pytest.raises(UsageError, match="profile: 'nope'"):
        verify(layout, "nope")
    expected = layout.expected("standard")
    records = json.loads(expected.read_text())
    first, second = records["records"]
    first["checks"][0]["bound"] *= 1 + 1e-12
    expected.write_text(json.dumps(records))
    assert verify(layout)[2] == []
    first["checks"][0]["bound"] = 1.001
    second["checks"][0]["observed"] = 3
    second["verdict"] = "holds"
    records["records"].append({**second, "claim": "mini2020:thm-9"})
    expected.write_text(json.dumps(records))
    made, *differences = verify(layout)[2]
    assert made.startswith(f"expected records made on {machine()['processor']}, ")
    assert made.endswith("; here the same")
    assert differences == [
        "mini2020:alg-1: one: bound: expected 1.001, observed 2.0",
        "mini2020:thm-1: verdict: expected 'holds', observed 'refuted'",
        "mini2020:thm-1: two: observed: expected 3, observed 2",
        "mini2020:thm-9: expected a record, observed nothing",
    ]
    records["versions"]["numpy"] = "1.9"
    expected.write_text(json.dumps(records))
    line, *_ = verify(layout)[2]
    count = "2 numbers in 2 claims differ (--every lists them)"
    assert ", numpy 1.9, " in line
    assert line.endswith(f"; here numpy {numpy.__version__}: {count}")
    assert verify(layout)[2] == [line, *differences[1::2]]
    assert verify(layout, every=True)[2] == [line, *differences]
    assert verify(layout, update=True)[2] == [f"now expected: {it}" for it in differences]
    assert verify(layout, update=True)[2] == verify(layout)[2] == []
    assert json.loads(expected.read_text()) == json.loads(layout.records.read_text()) | {"machine": machine()}
    committed = layout.expected_sums("standard")
    sums, pages = committed.read_text(), layout.expected_pages("standard")
    kept = pages.read_text()
    assert verify(layout)[3][1] == f"bytes: compared: {len(sums.splitlines())} files with data/expected/standard.sha256"
    committed.write_text(sums.replace(sums[:64], "0" * 64))
    [line, apart] = verify(layout)[2]
    assert apart == f"{sums.splitlines()[0][66:]}: other bytes than in the committed checksums, on the same machine"
    committed.write_text(sums)
    [shown] = [it for it in json.loads(kept)["pages"] if it["name"] == "line"]
    assert shown["rows"] == ["A line", "x", "1"]
    for old, new, what in (('"A line"', '"B line"', "1: expected 'B line'"), ('"1"]', '"2"]', "3: expected '2'")):
        pages.write_text(kept.replace(old, new))
        assert verify(layout)[2][1].startswith(f"01-first: figure line, row {what}, observed ")
    other = {"moved": [["01-first", "figure", "line"]]}
    (pages.parent / "processor-dependent.json").write_text(json.dumps(other))
    assert len(verify(layout)[2]) == 2, "on the machine of the record all is compared"
    pages.write_text(pages.read_text().replace(platform.machine(), "abacus"))
    assert verify(layout)[2] == []
    assert "1 entries are not compared" in verify(layout)[3][1]
    (pages.parent / "processor-dependent.json").write_text('{"moved": []}')
    assert len(verify(layout)[2]) == 2, "one entry of so few is no small share"
    monkeypatch.setattr("companion.press.pages.MOVING", 1)
    assert verify(layout)[2] == []
    assert verify(layout)[3][1].startswith(
        "pages: moved on this kind of machine, and no verdict hangs on it: 01-first: "
    )
    pages.unlink()
    assert verify(layout)[3][0].startswith("pages: not compared: data/expected/standard.pages.json is not there; ")
    pages.write_text(kept)
    records["versions"] = {}
    del records["machine"]
    expected.write_text(json.dumps(records))
    [line, *rest] = verify(layout)[2]
    assert rest == differences
    here = ", ".join(f"{name} {value}" for name, value in versions().items())
    assert line.startswith("expected records made on a processor that is not recorded; here ")
    assert line.endswith(f", Python {platform.python_version()}, {here}")
    (book / "requirements.lock").write_text("another==1.0")
    with pytest.raises(BuildError, match=r"not of this tree: 01-first: requirements\.lock (changed|is new)"):
        verify(layout)


@pytest.mark.parametrize(
    ("relation", "bound", "observed", "alike"),
    [
        ("==", 0, 9e-13, True),  # another processor's rounding of a number that is to be 0
        ("==", 0, 2e-12, False),
        ("==", 1, 9e-13, False),
        ("<=", 0, 9e-13, False),
        ("<=", 1e-9, 9e-12, True),  # the same, where an allowance for rounding is the bound
        ("<=", 1e-9, 2e-11, False),
        ("<=", 1e-8, 9e-11, True),  # and for differences that stand for derivatives
        ("<=", 1e-8, 2e-10, False),
        ("<=", 2e-9, 9e-13, False),  # a bound that was computed
        ("<=", 1e-4, 9e-13, False),
    ],
)
def test_a_residue_has_no_digits(relation: str, bound: float, observed: float, alike: bool) -> None:
    check = Check("residue", 3e-15, relation, bound, about="printed", error=1e-12).to_json()
    sides = (
        {"records": [{"claim": "a", "chapter": "c", "verdict": "v", "checks": [it]}]}
        for it in (check, check | {"observed": observed})
    )
    assert (not list(expected_apart({}, *sides))) == alike


def test_ledger_of_the_book_itself() -> None:
    assert len(load_ledger(REPOSITORY)) > 100
