"""What is offered as LaTeX, of every claim of the ledger, is set by LaTeX without a package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from small_book import REPOSITORY

from companion.ledger.files import load_ledger
from companion.ledger.scoreboard import entries

LATEX = shutil.which("pdflatex")


@pytest.mark.slow
@pytest.mark.skipif(LATEX is None, reason="needs pdflatex on PATH")
def test_every_erratum_is_set(tmp_path: Path) -> None:
    found = entries(load_ledger(REPOSITORY), ())
    assert len(found) > 300
    body = "\n\n".join(it.tex for it in found)
    document = rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "all.tex").write_text(document, encoding="ascii")
    said = subprocess.run(
        [str(LATEX), "-halt-on-error", "-interaction=nonstopmode", "all.tex"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        encoding="latin-1",
    )
    assert said.returncode == 0, said.stdout[-2000:]
