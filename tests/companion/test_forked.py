"""What Jupyter Book alone runs, it runs in kernels that are forked, and cells find what they find in any other."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import nbclient.client
import nbformat
import pytest

from companion.press.kernel import FORKS, Forked, Forking

EXTENSION = Path(__file__).resolve().parents[2] / "book/_ext/forked.py"


@pytest.mark.slow
def test_a_notebook_runs_in_a_forked_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nbclient.client, "NotebookClient", nbclient.client.NotebookClient)
    runpy.run_path(str(EXTENSION))["setup"](None)
    managers: list[Any] = []
    start = Forking.start_kernel

    async def noted(manager: Forking, **options: Any) -> None:
        await start(manager, **options)
        managers.append(manager.provisioner)

    monkeypatch.setattr(Forking, "start_kernel", noted)
    cells = [nbformat.v4.new_code_cell("from pathlib import Path\nprint(Path.cwd())")]
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    done = nbclient.execute(nbformat.v4.new_notebook(cells=cells), cwd=tmp_path)
    assert done.cells[0].outputs[0].text == f"{tmp_path.resolve()}\n"
    assert isinstance(managers[0], Forked) or not FORKS
    assert not list(here.iterdir()), "what a kernel says itself lies about"
