"""The press where the environment fails it: one line, nothing kept that is not good, and the next build is well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from small_book import make_book

from companion.build import BuildError, render
from companion.build.execute import Job, _execute, _run, environment
from companion.build.layout import Layout, digest, dumps
from companion.build.pipeline import Build


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return make_book(tmp_path / "book")


@pytest.fixture
def job(sources: Path) -> Job:
    book = Build(sources)
    return book.job(book.early[0])


def ran(job: Job, *outputs: Any) -> nbformat.NotebookNode:
    """The chapter as if its third cell had given `outputs`."""
    notebook = nbformat.from_dict(job.chapter.notebook)
    notebook.cells[2].outputs = list(outputs)
    return notebook


def stream(name: str, text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


# --- what a chapter leaves -------------------------------------------------------------------------------------------


def test_a_stream_is_one_output_whatever_clock_cut_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [
        stream("stdout", "a\n"),
        stream("stdout", "b\n"),
        nbformat.v4.new_output("display_data", {}),
        stream("stdout", "c"),
    ]
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: ran(job, *pieces))
    outputs = _execute(job, None).cells[2].outputs
    assert [output.get("text") for output in outputs] == ["a\nb\n", None, "c"]


def test_a_cell_that_wrote_to_stderr_fails_and_is_not_kept(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = stream("stderr", "\x1b[31mfirst.py:1: UserWarning: the scale is odd\n  warn()\n")
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: ran(job, stream("stdout", "a"), warning))
    failure = _run(job, None)[2]
    assert failure == "01-first: cell 2 (cell-2) wrote to stderr: first.py:1: UserWarning: the scale is odd"
    assert not job.target.exists()
    assert job.reason() == "not run yet in profile standard"


def test_a_cache_that_was_poisoned_before_heals(job: Job) -> None:
    for outputs, reason in [
        ([stream("stdout", '"stderr"')], None),
        ([stream("stderr", "font cache")], "_build/executed/standard/01-first.ipynb holds what a cell wrote to stderr"),
    ]:
        data = nbformat.writes(ran(job, *outputs)).encode()
        job.layout.write(job.target, data)
        job.layout.write(job.stamp, dumps({"inputs": dict(job.inputs), "digest": digest(data), "seconds": 1.0}))
        assert job.reason() == reason


@pytest.mark.parametrize("stamp", ["", "null", "[]", "{}", '{"inputs": {}}'])
def test_a_stamp_that_is_none(job: Job, stamp: str) -> None:
    job.layout.write(job.target, b"{}")
    job.layout.write(job.stamp, stamp.encode())
    assert job.reason() == "not run yet in profile standard"


def test_kernels_read_and_write_in_no_home(sources: Path, tmp_path: Path) -> None:
    """Neither settings nor caches, though the home cannot be entered and is full of settings."""
    (tmp_path / "home").write_text("a file: nothing can be made in it, not even by root")
    given = {
        "HOME": "home",
        "XDG_CONFIG_HOME": "home",
        "XDG_CACHE_HOME": "home",
        "MPLCONFIGDIR": "home",
        "IPYTHONDIR": "home",
    }
    given = {name: str(tmp_path / folder) for name, folder in given.items()}
    given |= {
        "LC_ALL": "de_DE.ISO-8859-1",
        "PYTHONSTARTUP": given["HOME"],
        "PYTHONWARNINGS": "error",
        "MPLBACKEND": "none",
    }
    script = (
        "import json, matplotlib, os, IPython, jupyter_core.paths as p, sys, locale\n"
        "folders = [matplotlib.get_configdir(), matplotlib.get_cachedir(), IPython.paths.get_ipython_dir()]\n"
        "folders += [p.jupyter_config_dir(), p.jupyter_data_dir(), p.jupyter_runtime_dir()]\n"
        "print(json.dumps([folders, matplotlib.matplotlib_fname(), locale.getpreferredencoding(False)]))"
    )
    variables = os.environ | given | environment(Layout(sources))
    result = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    folders, style, encoding = json.loads(result.stdout)
    assert set(folders) == {str(sources / "_build/home")}
    assert "site-packages" in style
    assert encoding == "utf-8"


def test_numba_caches_elsewhere_where_the_source_is_anothers(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(sources)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert "NUMBA_CACHE_DIR" not in environment(layout)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "dprank")
    assert environment(layout)["NUMBA_CACHE_DIR"] == str(sources / "_build/numba")


# --- the site --------------------------------------------------------------------------------------------------------


def press(monkeypatch: pytest.MonkeyPatch, page: str | None, says: str = "") -> None:
    """Instead of Jupyter Book: it writes `page`, and fails where there is none."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        html = Path(command[command.index("--path-output") + 1]) / "_build/html"
        html.mkdir(parents=True)
        (html / ".buildinfo").touch()
        if page is not None:
            (html / "index.html").write_text(page, encoding="utf-8")
        return subprocess.CompletedProcess(command, int(page is None), says)

    monkeypatch.setattr(render.subprocess, "run", run)


@pytest.mark.parametrize(
    ("page", "held"),
    [
        ("<module 'x' from '{root}/src/x.py'>", "'{root}'"),
        ("~ is {home}.", "'{home}'"),
        ("&lt;function f at 0x7f0123456789&gt;", "' at 0x7f0123456789'"),
        ("<a href='..{root}/x.html'>{root}-and-more</a> 0x7f", None),
    ],
)
def test_no_page_names_a_folder_or_an_address(
    sources: Path, monkeypatch: pytest.MonkeyPatch, page: str, held: str | None
) -> None:
    layout, names = Layout(sources), {"root": str(sources), "home": "/home/somebody"}
    monkeypatch.setenv("HOME", names["home"])
    press(monkeypatch, page.format(**names))
    if held is None:
        render.render(layout, {}, "key")
        assert (layout.html / "index.html").exists()
        return
    with pytest.raises(BuildError) as error:
        render.render(layout, {}, "key")
    assert str(error.value) == f"site: index.html holds {held.format(**names)}"
    assert not layout.html.exists()


def test_the_system_s_reason_when_jupyter_book_fails(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    press(monkeypatch, None, "Traceback\n  File x\nOSError: [Errno 28] No space left on device: 'a.html'\nand more\n")
    monkeypatch.setattr(Layout, "write", lambda *_: pytest.fail("the log has no room either"))
    with pytest.raises(BuildError) as error:
        render.render(Layout(sources), {}, "key")
    assert str(error.value) == "site: Jupyter Book: [Errno 28] No space left on device: 'a.html'"
