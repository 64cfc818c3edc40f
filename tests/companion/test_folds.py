"""A page of statements shows these; what argues for them is one click away, and says how long it is."""

from __future__ import annotations

import runpy
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from small_book import REPOSITORY

CARD = '<div class="claim claim-verdict-holds"></div>'
LONG = "word " * 70


@pytest.fixture(scope="module")
def folds() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "book/_ext/folds.py"))


def shown(folds: dict[str, Any], page: str, *blocks: nodes.Node) -> list[str]:
    """A section with these blocks, as it comes out: raw HTML as it is, other blocks by their kind."""
    doctree = new_document(page)
    section = nodes.section("", nodes.title("", "Lemma 1"), *blocks)
    doctree += nodes.section("", nodes.title("", "Page"), section)
    folds["fold"](SimpleNamespace(builder=SimpleNamespace(format="html")), doctree, page)
    section = doctree[0][1]
    return [it.astext() if isinstance(it, nodes.raw) else type(it).__name__ for it in section.children]


def long() -> nodes.paragraph:
    return nodes.paragraph("", LONG)


def raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


FOLD = '<details class="argument"><summary>The argument: {}</summary>'
BEHIND = "notebooks/02a-statements"


def test_an_argument_is_folded_and_what_it_is_about_is_not(folds: dict[str, Any]) -> None:
    blocks = [long(), long(), nodes.math_block("", "x"), nodes.container("", raw(CARD)), nodes.paragraph("", "Short.")]
    said = shown(folds, BEHIND, *blocks)
    folded = [FOLD.format("71 words"), "paragraph", "math_block", "</details>"]
    assert said == ["title", "paragraph", *folded, "container", "paragraph"]


def test_what_nobody_sees_parts_nothing(folds: dict[str, Any]) -> None:
    said = shown(folds, BEHIND, long(), long(), nodes.target(), nodes.comment("", "words of a comment"), long())
    assert said[2:] == [FOLD.format("140 words"), "paragraph", "target", "comment", "paragraph", "</details>"]


def test_a_long_first_paragraph_is_an_argument_where_a_card_follows(folds: dict[str, Any]) -> None:
    first = nodes.paragraph("", "word " * 91)
    card = nodes.container("", raw(CARD))
    assert shown(folds, BEHIND, first.deepcopy(), card) == [
        "title", FOLD.format("91 words"), "paragraph", "</details>", "container",
    ]  # fmt: skip
    assert shown(folds, BEHIND, first) == ["title", "paragraph"]


def test_tables_are_counted_and_pictures_stay(folds: dict[str, Any]) -> None:
    table = nodes.container("", raw("<table><tr><td>1</td><td>two</td></tr></table>"))
    said = shown(folds, BEHIND, long(), long(), table, nodes.figure("", nodes.image()), long())
    assert said[2:] == [
        FOLD.format("72 words, 1 table"), "paragraph", "container", "</details>", "figure",
        FOLD.format("70 words"), "paragraph", "</details>",
    ]  # fmt: skip


@pytest.mark.parametrize("page", ["notebooks/02-edge-privacy", "book/verdicts", "notebooks/91-errata"])
def test_other_pages_stay_as_they_are(folds: dict[str, Any], page: str) -> None:
    assert shown(folds, page, long(), long()) == ["title", "paragraph", "paragraph"]
