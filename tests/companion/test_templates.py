"""The templates of `book/contribute.md` make a chapter that builds, judged, with its figure and all of its claims."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from small_book import REPOSITORY, at_hand, make_book, told

from companion.instruments.seed import ROOT
from companion.press.collect import collect

TEMPLATES = REPOSITORY / "book" / "templates"
CLAIM = (TEMPLATES / "claim.yml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_chapter_of_the_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second claim in ledger and section alone has its card as well."""
    root = make_book(tmp_path / "book")
    unfinished = shutil.ignore_patterns("*.pyc.*", "*.tmp.*")  # what others compile meanwhile
    shutil.copytree(REPOSITORY / "src", tmp_path / "src", ignore=unfinished)
    package = tmp_path / "src/companion/chapters/a_new_chapter"
    package.mkdir()
    (package / "__init__.py").write_text('"""A chapter."""\n')
    section = (TEMPLATES / "section.py").read_text(encoding="utf-8")
    again = (
        section.partition('@claim("')[2]
        .replace("warner1965:thm-1", "warner1965:thm-2")
        .replace("theorem_1", "theorem_2")
    )
    (package / "randomized_response.py").write_text(f'{section}\n\n@claim("{again}', encoding="utf-8")
    shutil.copy(TEMPLATES / "chapter.ipynb", root / "notebooks/15-a-new-chapter.ipynb")
    shutil.copy(TEMPLATES / "statements.ipynb", root / "notebooks/15a-theorem-1.ipynb")
    (root / "data/claims/warner1965.yml").write_text(f"{CLAIM}\n{CLAIM.replace('thm-1', 'thm-2')}", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    with at_hand():
        code, account, error = told(root, "book", "--chapter", "15-a-new-chapter", "--no-render")
    assert code == 0, error + account
    assert "2 claims settled: 2 holds" in account
    [page] = (root / "_build/executed").rglob("15a-theorem-1.ipynb")
    found = collect("standard", {page.stem: nbformat.read(page, as_version=4)}, seed=ROOT)
    assert [record["claim"] for record in found.records] == ["warner1965:thm-1", "warner1965:thm-2"]
    assert set(found.figures) == {"response-losses.svg", "response-losses-narrow.svg", "response-losses.csv"}
