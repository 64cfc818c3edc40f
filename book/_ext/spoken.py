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


def show(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put what is spoken of below the paragraph that does so first."""
    if app.builder.format != "html":
        return
    pages = {app.builder.get_relative_uri(page, other): other for other in app.env.toc_fignumbers if other != page}
    shown = set[str]()
    for link in list(doctree.findall(nodes.reference)):
        inline, place = link.next_node(nodes.inline), link.get("refuri", "")
        url, _, anchor = place.partition("#")
        if inline is None or "std-numref" not in inline["classes"] or url not in pages or place in shown:
            continue
        if image := figure_of(app, pages[url], anchor):
            shown.add(place)
            block: nodes.Node = link
            while block.parent.parent and not isinstance(block, nodes.paragraph | nodes.table):
                block = block.parent
            small = nodes.reference("", "", image.deepcopy(), internal=True, refuri=place)
            put = nodes.paragraph("", "", small, classes=["small-figure"])
            block.parent.insert(block.parent.index(block) + 1, put)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("doctree-resolved", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
