"""The press where the environment fails it: one line, nothing kept that is not good, and the next build is well."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import joblib
import nbformat
import papermill
import pytest
from nbclient.exceptions import DeadKernelError
from small_book import make_book
from traitlets.config import Config
from zmq import ZMQError

import companion.__main__
from companion.press import BuildError, execute, kernel, render
from companion.press.execute import Job, _execute, _run, environment
from companion.press.kernel import Manager
from companion.press.layout import Layout, digest, dumps
from companion.press.pipeline import Build

INSTALL = "is not installed; in the clone: pip install -e"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return make_book(tmp_path / "book")


@pytest.fixture
def job(sources: Path) -> Job:
    book = Build(sources)
    return book.job(book.early[0])


def ran(job: Job, *outputs: Any) -> nbformat.NotebookNode:
    """The chapter as if its third cell had given `outputs`, and the run had loaded nothing of ours."""
    notebook = nbformat.from_dict(job.chapter.notebook)
    shown = nbformat.v4.new_output("execute_result", {"text/plain": "[]"})
    notebook.cells.append(nbformat.v4.new_code_cell(outputs=[shown]))
    notebook.cells[2].outputs = list(outputs)
    return notebook


def stream(name: str, text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


def test_a_stream_is_one_output_whatever_clock_cut_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [
        stream("stdout", "a\n"),
        stream("stdout", "b\n"),
        nbformat.v4.new_output("display_data", {}),
        stream("stdout", "c"),
    ]
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: ran(job, *pieces))
    outputs = _execute(job)[0].cells[2].outputs
    assert [output.get("text") for output in outputs] == ["a\nb\n", None, "c"]


def test_a_cell_that_wrote_to_stderr_fails_and_is_not_kept(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = stream("stderr", "\x1b[31mfirst.py:1: UserWarning: the scale is odd\n  warn()\n")
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: ran(job, stream("stdout", "a"), warning))
    failure = _run(job)[2]
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
        job.layout.write(
            job.stamp, dumps({"inputs": dict(job.inputs), "loaded": [], "digest": digest(data), "seconds": 1.0})
        )
        assert job.reason() == reason


@pytest.mark.parametrize("stamp", ["", "null", "[]", "{}", '{"inputs": {}}'])
def test_a_stamp_that_is_none(job: Job, stamp: str) -> None:
    job.layout.write(job.target, b"{}")
    job.layout.write(job.stamp, stamp.encode())
    assert job.reason() == "not run yet in profile standard"


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("raised", "tried"),
    [
        (ZMQError(36, "File name too long"), ["ipc", "tcp"]),
        (OSError("port taken"), ["ipc", "tcp"]),
        (RuntimeError("Kernel died before replying to kernel_info"), ["ipc", "tcp"]),
    ],
)
def test_a_kernel_that_ipc_does_not_reach_is_reached_over_tcp(
    job: Job, monkeypatch: pytest.MonkeyPatch, raised: Exception, tried: list[str]
) -> None:
    transports: list[str] = []

    def run(*_: object, config: Any, **__: object) -> nbformat.NotebookNode:
        transports.append(config.KernelManager.transport)
        if transports == ["ipc"]:
            raise raised
        return ran(job)

    monkeypatch.setattr(papermill, "execute_notebook", run)
    _execute(job)
    assert transports == tried
    monkeypatch.setattr(papermill, "execute_notebook", refuse)
    with pytest.raises(BuildError, match=r"^no kernel starts: .*No space left on device: 'x'$"):
        _execute(job)


def test_a_kernel_says_in_the_failure_what_it_died_of_and_nothing_in_the_terminal(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ipykernel_launcher.py").write_text("print('noise', flush=True)\nimport not_here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def start(manager: Any) -> None:
        await manager.start_kernel()
        await manager.provisioner.wait()
        await manager.cleanup_resources()
        raise DeadKernelError("Kernel died")

    def run(*_: object, config: Any, kernel_manager_class: Any, **__: object) -> None:
        asyncio.run(start(kernel_manager_class(config=config)))

    monkeypatch.setattr(papermill, "execute_notebook", run)
    job.layout.build.mkdir()
    reason = "Kernel died: ModuleNotFoundError: No module named 'not_here'"
    assert _run(job)[2] == f"01-first: DeadKernelError: {reason}"
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_kernels_start_afresh_where_python_knows_no_file_descriptor_of_a_process(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As conda's does not: nothing is forked that nobody could wait for."""
    monkeypatch.setattr(kernel, "FORKS", False)
    monkeypatch.setattr(kernel, "_fork", lambda _: pytest.fail("forked"))
    job.layout.build.mkdir()
    assert _run(job, many=True)[2] is None


LIGHT = """\
import runpy, sys
main = runpy.run_path({!r})["main"]
main.__globals__["load"] = lambda: __import__("ipykernel.ipkernel")
del sys.path[0]
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every kernel starts afresh")
@pytest.mark.slow
def test_a_forked_kernel_gives_what_another_gives(
    job: Job, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what it is forked from, here with one library loaded, has died; and one that dies is a failure of its
    chapter alone.
    """
    (tmp_path / "light.py").write_text(LIGHT.format(kernel.nursery.__file__))
    monkeypatch.setattr(kernel.nursery, "__file__", str(tmp_path / "light.py"))
    job.layout.build.mkdir()
    assert _run(job)[2] is None
    afresh = job.target.read_bytes(), json.loads(job.stamp.read_bytes())["loaded"]
    try:
        for killed in (False, False, True):
            if killed:
                kernel._nursery[1].kill()
            job.target.unlink()
            assert _run(job, many=True)[2] is None
            assert (job.target.read_bytes(), json.loads(job.stamp.read_bytes())["loaded"]) == afresh
        notebook = nbformat.read(job.chapter.path, as_version=4)
        notebook.cells[2].source = "import os; os.kill(os.getpid(), 9)"
        nbformat.write(notebook, job.chapter.path)
        book = Build(sources)
        assert "DeadKernelError: Kernel died" in str(_run(book.job(book.early[0]), many=True)[2])
        assert _run(book.job(book.early[1]), many=True)[2] is None
    finally:
        kernel.close()
    assert kernel._nursery[1].returncode == 0


def test_a_kernel_that_cannot_be_reached_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket left open has the collector of garbage wait for ever: the next chapter in this process never began."""
    (tmp_path / "ipykernel_launcher.py").write_text("import time; time.sleep(60)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    manager = Manager(config=Config(KernelManager={"transport": "ipc", "connection_file": f"{folder}/k.json"}))
    try:
        with pytest.raises(ZMQError, match="File name too long"):
            asyncio.run(manager.start_kernel())
        assert manager.context.closed
        assert not asyncio.run(manager.is_alive())
    finally:
        manager.context.destroy(linger=0)


def test_a_full_disk_under_a_chapter(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: ran(job))
    monkeypatch.setattr(Layout, "write", refuse)
    with pytest.raises(BuildError, match=r"^01-first: No space left on device: x$"):
        _run(job)
    assert job.reason() == "not run yet in profile standard"


def test_the_first_chapter_that_the_system_refuses_ends_the_build(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would run for minutes and then not be kept either; what failed before is said too."""

    def results(*_: object) -> Iterator[object]:
        yield "02-second", 1.0, "02-second: cell 2 failed"
        raise BuildError("01-first: No space left on device")

    monkeypatch.setattr(joblib, "Parallel", lambda *_, **__: results)
    monkeypatch.setattr(execute, "_list_fonts", lambda layout: None)
    with pytest.raises(BuildError, match=r"^01-first: No space left on device\n02-second: cell 2 failed$"):
        execute.execute([job], 1, lambda line: None)


def test_fonts_that_cannot_be_listed_are_no_cell_s_fault(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.layout.write(job.layout.build / "home/fontlist-v1.json", b'{"cut')
    said = "building the font cache\nCould not save font_manager cache [Errno 28] No space left on device\n"
    monkeypatch.setattr(
        execute.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, "", said)
    )
    with pytest.raises(BuildError, match=r"^fonts: Could not save font_manager cache \[Errno 28\] No space left"):
        execute.execute([job], 1, lambda line: None)


def test_a_worker_that_is_killed(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> Iterator[object]:
        raise BrokenProcessPool("many\nlines")
        yield

    monkeypatch.setattr(joblib, "Parallel", lambda *_, **__: die)
    monkeypatch.setattr(execute, "_list_fonts", lambda layout: None)
    with pytest.raises(BuildError, match=r"^a process that ran a chapter was killed; is there memory"):
        execute.execute([job], 1, lambda line: None)


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")


def ended(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The message with which the command line ends; the exit code is 1."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "argv", ["companion", *arguments])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    try:
        with pytest.raises(SystemExit) as end:
            companion.__main__.main()
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    assert capsys.readouterr() == ("", "")
    assert isinstance(end.value.code, str), "Python prints it, and the exit code is 1"
    return end.value.code


@pytest.mark.parametrize("command", ["book", "status", "verify", "check-site"])
@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.json"), "No space left on device: a.json"),
        (PermissionError(errno.EACCES, "Permission denied", "_build/lock"), "Permission denied: _build/lock"),
        (OSError("something\nelse"), "something else"),
        (ModuleNotFoundError("", name="papermill.x"), f"papermill {INSTALL} '.[book]'"),
        (ModuleNotFoundError("", name="playwright"), f"playwright {INSTALL} '.[test]'"),
        (BuildError("stopped"), "stopped"),
    ],
)  # fmt: skip
def test_one_line(
    command: str, raised: Exception, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def root() -> None:
        raise raised

    monkeypatch.setattr(companion.__main__, "_root", root)
    assert ended([command], monkeypatch, capsys) == f"companion: {line}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_one_line(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(companion.__main__, "_root", lambda: signal.raise_signal(number))
    before = signal.signal(number, signal.default_int_handler)  # a job in the background has it ignored
    try:
        assert (
            ended(["status"], monkeypatch, capsys) == f"companion: stopped by {number.name}; what is finished is kept"
        )
    finally:
        signal.signal(number, before)


def test_companion_without_its_extra() -> None:
    script = "import sys; sys.modules['typer'] = None; import companion.__main__"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    line = f"companion: typer {INSTALL} '.[book]'\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", line)


def test_the_bootstrap_is_done_when_the_packages_can_be_imported(tmp_path: Path) -> None:
    """The interpreter is a stand-in that makes an environment of itself; its answer to the import is given."""
    python = tmp_path / "python"
    site = ".venv/lib/python3/site-packages"
    python.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        f'*"-m venv"*) mkdir -p .venv/bin {site} && cp "$0" .venv/bin/python && cp "$0" .venv/bin/uv &&'
        f" echo /folder/ü > {site}/_editable_impl_dprank.pth;;\n"
        '*"import companion"*) echo a trace >&2; echo the reason >&2; exit "$IMPORTS";;\nesac\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    (tmp_path / "requirements.lock").write_text("")
    make = ["make", "-f", str(Path(__file__).parents[2] / "Makefile"), f"PYTHON={python}", ".venv/.ready"]
    for imports, code in (("1", 2), ("0", 0)):
        variables = os.environ | {"IMPORTS": imports, "MAKEFLAGS": "", "MAKELEVEL": "0"}
        result = subprocess.run(make, cwd=tmp_path, env=variables, capture_output=True, check=False)
        assert (result.returncode, (tmp_path / ".venv/.ready").exists()) == (code, not code)
        assert result.stdout.endswith(b"" if code == 0 else b"the packages cannot be imported: the reason\n")
        assert b"trace" not in result.stderr
    assert (tmp_path / site / "_editable_impl_dprank.pth").read_text() == "../../../../src\n", "read in any locale"


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
    press(
        monkeypatch,
        None,
        "Traceback\n  File x\nOSError: [Errno 28] No space left on device: 'a.html'\x1b[39;49;00m\nand more\n",
    )
    monkeypatch.setattr(Layout, "write", lambda *_: pytest.fail("the log has no room either"))
    for files, reason in [
        ({"_config.yml": b""}, "site: Jupyter Book: [Errno 28] No space left on device: 'a.html'"),
        ({}, "site: _build/stage was deleted meanwhile"),
    ]:
        with pytest.raises(BuildError) as error:
            render.render(Layout(sources), files, "key")
        assert str(error.value) == reason
