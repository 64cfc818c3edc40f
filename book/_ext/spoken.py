"""A figure of another page that a paragraph speaks of stands below it, small, and leads to the large one."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def figure_of(app: Sphinx, page: str, anchor: str) -> nodes.image | None:
    """The drawing of a page's figure, if there is one."""
    for figure in app.env.get_doctree(page).findall(nodes.figure):
        if anchor in figure["ids"]:
            return figure.next_node(nodes.image)
    return None


def place_of(app: Sphinx, page: str, link: nodes.reference) -> tuple[str, str] | None:
    """Page and anchor of a figure elsewhere that a link leads to by its number."""
    inline = link.next_node(nodes.inline)
    if inline is None or "std-numref" not in inline["classes"] or "refuri" not in link:
        return None
    url, _, anchor = link["refuri"].partition("#")
    for other, kinds in app.env.toc_fignumbers.items():
        if anchor in kinds.get("figure", {}) and app.builder.get_relative_uri(page, other) == url:
            return other, anchor
    return None


def show(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put what is spoken of below the paragraph that does so first."""
    if app.builder.format != "html":
        return
    shown = set[tuple[str, str]]()
    for link in list(doctree.findall(nodes.reference)):
        place = place_of(app, page, link)
        image = None if place is None or place in shown else figure_of(app, *place)
        if place is None or image is None:
            continue
        shown.add(place)
        block: nodes.Node = link
        while block.parent is not None and not isinstance(block, nodes.paragraph | nodes.table):
            block = block.parent
        small = nodes.reference(
            "", "", image.deepcopy(), internal=True, refuri=link["refuri"], classes=["small-figure"]
        )
        block.parent.insert(block.parent.index(block) + 1, nodes.paragraph("", "", small, classes=["small-figure"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("doctree-resolved", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
