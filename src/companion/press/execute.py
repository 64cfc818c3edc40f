"""Run the chapters: papermill, one process each, into a cache that knows all that a chapter reads."""

from __future__ import annotations

import ast
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat

from companion.instruments.cluster import NUMERICS
from companion.instruments.cluster import VARIABLE as SCHEDULER
from companion.instruments.seed import ROOT, VARIABLE
from companion.press import BuildError, fault
from companion.press.closure import LOADED, Sources
from companion.press.layout import Layout, digest, dumps
from companion.press.profiles import Chapter
from companion.press.progress import Progress

INJECTED = "injected-parameters"
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# where IPython, Jupyter and matplotlib look for settings and keep what they found out: not in anybody's home
HOMES = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MATPLOTLIBRC", "MPLCONFIGDIR")
#: Chapters a process from which on it pays to have the libraries loaded before.
MANY = 3
PERSONAL = ("JUPYTER_PATH", "LANGUAGE", "PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONSTARTUP", "PYTHONWARNINGS")


def environment(layout: Layout) -> dict[str, str]:
    """Variables for the same bytes on every run: one thread, no clock, nobody's settings, the very source hashed."""
    source = layout.root / "src"
    fixed = {"LC_ALL": "C", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "SOURCE_DATE_EPOCH": "0", "TZ": "UTC"}
    fixed["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    fixed["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    if not all(os.access(folder, os.W_OK) for folder, _, _ in os.walk(source)):
        # numba caches beside the source, else in the home, and refuses to load where it can do neither
        fixed["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or str(layout.build / "numba")
    # where the C library is glibc: what arrays of up to 32 MB, its most, gave back is kept for the next, as it is
    fixed |= {"MALLOC_MMAP_THRESHOLD_": str(1 << 25), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
    homes = dict.fromkeys(HOMES, str(layout.build / "home"))
    return dict.fromkeys(BLAS, "1") | dict.fromkeys(PERSONAL, "") | homes | fixed


@dataclass(frozen=True)
class Job:
    """A chapter to be run in a profile, with the digests of all it reads."""

    layout: Layout
    profile: str
    chapter: Chapter
    inputs: Mapping[str, str]
    sources: Sources
    seed: int = ROOT
    owner: int = field(default_factory=os.getpid)
    scheduler: str = ""

    @property
    def target(self) -> Path:
        """The executed notebook; another seed has a folder of its own."""
        folder = self.layout.build / "executed" / self.profile
        return (folder if self.seed == ROOT else folder / f"seed-{self.seed}") / self.chapter.path.name

    @property
    def stamp(self) -> Path:
        """What it was made from."""
        return self.target.with_suffix(".json")

    def reason(self) -> str | None:
        """Why the chapter has to run; None if the cached copy is what it would give."""
        try:
            stamp, data = json.loads(self.stamp.read_bytes()), self.target.read_bytes()
            old, new, kept = stamp["inputs"], self.read(stamp["loaded"]), stamp["digest"]
        except (OSError, ValueError, KeyError, TypeError):
            return f"not run yet in profile {self.profile}"
        changes = [f"{name} {'changed' if name in old else 'is new'}" for name in new if old.get(name) != new[name]]
        changes += [f"{name} is gone" for name in old if name not in new]
        if kept != digest(data):
            changes.append(f"{self.layout.name(self.target)} was altered")
        elif b'"stderr"' in data and stderr(self.executed()):
            changes.append(f"{self.layout.name(self.target)} holds what a cell wrote to stderr")
        more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
        return f"{changes[0]}{more}" if changes else None

    def read(self, loaded: Iterable[str]) -> dict[str, str]:
        """Digests of all that a run reads which has loaded these modules."""
        return {**self.inputs, **self.sources.closure((), loaded)}

    @property
    def seconds(self) -> float:
        """How long the last run took, or by the chapter's own estimate will take."""
        try:
            return float(json.loads(self.stamp.read_bytes())["seconds"])
        except (OSError, ValueError, KeyError):
            return self.chapter.seconds

    def executed(self) -> nbformat.NotebookNode:
        """The cached copy."""
        return nbformat.read(self.target, as_version=4)


def versions() -> dict[str, str]:
    """The packages that make the numbers, as they are here."""
    return {name: version(name) for name in NUMERICS}


def shared_inputs(layout: Layout) -> dict[str, str]:
    """Digests of what every chapter is run with."""
    return layout.hashes("requirements.lock") | {"Python": "{}.{}".format(*sys.version_info)} | versions()


def own_inputs(chapter: Chapter, profile: str, seed: int = ROOT) -> dict[str, str]:
    """Digests of what a chapter itself says: its code, not its prose; and the root of its random numbers."""
    code = [
        [cell.id, cell.source, cell.metadata.get("tags", [])]
        for cell in chapter.notebook.cells
        if cell.cell_type == "code"
    ]
    return {
        f"code of notebooks/{chapter.path.name}": digest(dumps(code)),
        f"parameters of {profile}": digest(dumps([profile, dict(chapter.parameters)])),
        "root seed": str(seed),
    }


def execute(jobs: Sequence[Job], workers: int, say: Callable[[str], None]) -> None:
    """Run `jobs` in parallel, the longest first; those that end well are kept even if others fail."""
    if not jobs:
        return
    from joblib import Parallel, delayed

    _list_fonts(jobs[0].layout)
    longest = sorted(jobs, key=lambda job: -job.seconds)  # two that take equally long stay in the book's order
    failures = []
    try:
        # never in this process, where nbclient would answer a signal by killing the kernel, and the next chapter start
        at_once = min(workers, len(jobs))
        tasks = (delayed(_run)(job, many=len(jobs) >= MANY * at_once) for job in longest)
        run = Parallel(max(at_once, 2), pre_dispatch=at_once, batch_size=1, return_as="generator_unordered")
        with Progress({job.chapter.name: job.seconds for job in longest}, at_once, say) as progress:
            for name, seconds, failure in run(tasks):
                if failure:
                    failures.append(failure)
                progress.done(name, f"{name}: {'failed' if failure else 'done'} in {seconds:.1f} s")
    except BrokenProcessPool:
        failures.append("a process that ran a chapter was killed; is there memory for as many at once (--jobs)?")
    except BuildError as error:
        failures.append(str(error))
    if failures:
        raise BuildError("\n".join(sorted(failures)))


def _run(job: Job, *, many: bool = False) -> tuple[str, float, str | None]:
    """Run one chapter, or one of `many`, in this process; name, seconds, and what went wrong.

    Raises where the system is at fault: the other chapters would fare no better.
    """
    from papermill.exceptions import PapermillExecutionError

    name, start = job.chapter.name, time.monotonic()
    end_with(job.owner)
    ours = {"COMPANION_PROFILE": job.profile, "COMPANION_ROOT": str(job.layout.root), VARIABLE: str(job.seed)}
    ours[SCHEDULER] = job.scheduler
    try:
        with _set(environment(job.layout), **ours):
            notebook, loaded = _execute(job, many=many)
        seconds = time.monotonic() - start
        if written := stderr(notebook):
            source, line = written
            return name, seconds, f"{name}: {_place(job.chapter, source)} wrote to stderr: {line}"
        data = nbformat.writes(notebook).encode()
        stamp = {"inputs": job.read(loaded), "loaded": loaded, "digest": digest(data), "seconds": round(seconds, 2)}
        job.layout.write(job.target, data)
        job.layout.write(job.stamp, dumps(stamp))
    except PapermillExecutionError as error:
        return name, time.monotonic() - start, f"{name}: {_locate(job.chapter, error)}"
    except OSError as error:
        raise BuildError(f"{name}: {fault(error)}") from None
    except BuildError:
        raise
    except Exception as error:  # a kernel that died: any of a dozen types
        return name, time.monotonic() - start, f"{name}: {type(error).__name__}: {error}"
    return name, seconds, None


def _list_fonts(layout: Layout) -> None:
    """Have matplotlib list the fonts before the kernels do: where that is slow, or fails, it says so on stderr."""

    def listed() -> bool:
        try:
            return bool([json.loads(path.read_bytes()) for path in (layout.build / "home").glob("fontlist-*.json")])
        except ValueError:  # cut short
            return False

    if not listed():
        command = [sys.executable, "-c", "import matplotlib.font_manager"]
        variables = os.environ | environment(layout)
        result = subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", check=False)
        if not listed():
            raise BuildError(f"fonts: {(result.stderr.splitlines() or ['no list of them'])[-1]}")


def end_with(owner: int) -> None:
    """Let this process end, and its kernel with it, when the build `owner` that started it is killed."""

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(1)

    if os.getpid() != owner:
        threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _set(given: Mapping[str, str], **more: str) -> Iterator[None]:
    """Variables for the kernels that are started meanwhile."""
    before = os.environ.copy()
    os.environ.update(given, **more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _execute(job: Job, *, many: bool = False) -> tuple[nbformat.NotebookNode, list[str]]:
    """The executed notebook, and what it loaded of ours; over TCP, and once more, where no kernel starts over IPC."""
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config
    from zmq import ZMQError

    from companion.press.kernel import Forking, Manager, last_words

    logging.getLogger("papermill").setLevel(logging.CRITICAL + 1)  # the failure that is returned says it
    last = nbformat.v4.new_code_cell(LOADED, id="loaded")
    source = nbformat.from_dict({**job.chapter.notebook, "cells": [*job.chapter.notebook.cells, last]})
    for transport in ("ipc", "tcp", "tcp") if os.name == "posix" else ("tcp", "tcp"):
        with tempfile.TemporaryDirectory(prefix="k", ignore_cleanup_errors=True) as folder:
            try:
                notebook = papermill.execute_notebook(
                    source,
                    None,
                    parameters=dict(job.chapter.parameters),
                    kernel_name="python3",
                    language="python",
                    cwd=job.layout.root,
                    progress_bar=False,
                    start_timeout=120,
                    extra_arguments=["--log-level=CRITICAL", "--HistoryManager.hist_file=:memory:"],
                    kernel_manager_class=Forking if many else Manager,
                    config=Config(KernelManager={"transport": transport, "connection_file": f"{folder}/k.json"}),
                )
                loaded = ast.literal_eval(notebook.cells.pop().outputs[0]["data"]["text/plain"])
                return _strip(notebook), loaded
            except (OSError, RuntimeError, ZMQError) as error:  # also: the folder's name is too long for IPC
                failure = ": ".join(filter(None, [str(error), last_words(Path(folder))]))
                if isinstance(error, DeadKernelError):
                    raise DeadKernelError(failure) from None
    raise BuildError(f"no kernel starts: {failure}")


def _strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without clocks, paths and chance ids."""
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    off = {"execution_mode": "off"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}, "mystnb": off})
    for cell in notebook.cells:
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if INJECTED in cell.metadata.get("tags", []):
            cell.id = INJECTED
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: Sequence[Any]) -> list[Any]:
    """Neighbouring pieces of a stream as one: a timer cut them."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def stderr(notebook: nbformat.NotebookNode) -> tuple[str, str] | None:
    """Source of the first cell that wrote to stderr, and the first line it wrote; None if there is no such cell."""
    from papermill.exceptions import strip_color

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return cell.source, (strip_color(output.text).strip().splitlines() or [""])[0]
    return None


def _place(chapter: Chapter, source: str) -> str:
    """Number and id of the cell with this source; the one with the profile's parameters is in no file."""
    cells = enumerate(chapter.notebook.cells)
    return next((f"cell {i} ({c['id']})" for i, c in cells if c.source == source), f"cell ({INJECTED})")


def _locate(chapter: Chapter, error: Any) -> str:
    """Cell, first line and traceback of a failure."""
    from papermill.exceptions import strip_color

    first = (error.source.strip().splitlines() or [""])[0]
    trace = strip_color("\n".join(error.traceback)) or f"{error.ename}: {error.evalue}"
    return f"{_place(chapter, error.source)} failed: {first}\n{trace}"


def merge(source: nbformat.NotebookNode, executed: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Today's prose with the cached outputs: what an execution of `source` would give."""
    outputs = {cell.id: cell for cell in executed.cells if cell.cell_type == "code"}
    cells = []
    for cell in source.cells:
        ran = outputs[cell.id] if cell.cell_type == "code" else {}
        cells.append({**cell, **{key: ran[key] for key in ("outputs", "execution_count") if key in ran}})
        tags = cell.metadata.get("tags", [])
        if INJECTED in outputs and "parameters" in tags and "remove-cell" not in tags:
            cells.append(outputs[INJECTED])
    metadata = {**source.metadata, **executed.metadata}
    return nbformat.from_dict({**executed, "metadata": metadata, "cells": cells})
