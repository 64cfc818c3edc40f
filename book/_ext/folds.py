"""On a page of statements an argument is folded behind them: what is said, what became of it, and pictures are open."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx

STATEMENTS = re.compile(r"notebooks/\d\d[a-z]-")
#: What stays open: cards, strips, explorers, pictures, algorithms; and headings.
OPEN = re.compile(r'class="(?:claim|strip|explorer|terminal)')
SHOWN = (nodes.title, nodes.figure, nodes.image, nodes.section, nodes.Admonition)
CARD = 'class="claim '
#: In words: what is shorter is read sooner than opened; a first paragraph that is longer is an argument, where a card
#: says what it is about.
SHORT, LONG = 45, 90
WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d.,]*")


def words(block: nodes.Node) -> int:
    """How many words a block has, its formulas one each."""
    if isinstance(block, nodes.math | nodes.math_block):
        return 1
    if isinstance(block, nodes.comment):
        return 0
    if isinstance(block, nodes.raw):
        return len(WORD.findall(re.sub(r"<[^>]*>", " ", block.astext())))
    if isinstance(block, nodes.Text):
        return len(WORD.findall(block.astext()))
    return sum(map(words, block.children))


def stays(block: nodes.Node) -> bool:
    """Whether a block is read without opening anything."""
    inside = block.findall(lambda it: isinstance(it, (*SHOWN, nodes.raw)))
    return any(not isinstance(it, nodes.raw) or OPEN.search(it.astext()) for it in inside)


def summary(blocks: Iterable[nodes.Node]) -> str:
    """What one opens, and how long it is."""
    blocks = list(blocks)
    tables = sum("<table" in raw.astext() for it in blocks for raw in it.findall(nodes.raw))
    tables += sum(1 for it in blocks for _ in it.findall(nodes.table))
    held = f", {tables} table{'s' if tables > 1 else ''}" if tables else ""
    return f"The argument: {sum(map(words, blocks))} words{held}"


def _within(block: nodes.Node) -> Iterable[nodes.raw]:
    """The raw HTML of a block, none of sections in it."""
    return () if isinstance(block, nodes.section) else block.findall(nodes.raw)


def fold(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Fold each run of blocks behind the first paragraph of a section, if it takes longer to read than to open; a long
    first paragraph, too, where a card follows.
    """
    if app.builder.format != "html" or not STATEMENTS.match(page):
        return
    for section in list(doctree.findall(nodes.section))[1:]:
        first = next((i for i, it in enumerate(section.children) if isinstance(it, nodes.paragraph)), None)
        if first is None:
            continue
        judged = any(CARD in raw.astext() for it in section.children for raw in _within(it))
        behind = section.children[first + (words(section.children[first]) <= LONG or not judged) :]
        children = section.children[: len(section.children) - len(behind)]
        for open_, run in groupby(behind, stays):
            blocks = list(run)
            if open_ or sum(map(words, blocks)) < SHORT:
                children += blocks
            else:
                opening = f'<details class="argument"><summary>{summary(blocks)}</summary>'
                children += [nodes.raw("", opening, format="html"), *blocks, nodes.raw("", "</details>", format="html")]
        section.children = children


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("doctree-resolved", fold, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
