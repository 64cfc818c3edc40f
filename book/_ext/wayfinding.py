"""Finding one's way: a search by section, words of the glossary as links, what a link leads to on hovering, the road.

Sphinx's own search index has code and formulas in it and finds pages; ours finds sections, claims and names of the
library. Both lists are scripts, which work from `file://`, and are loaded when they are used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pylatexenc.latex2text import LatexNodes2Text
from sphinx import addnodes
from sphinx.application import Sphinx

from companion.ledger.verdicts import said, verdict

#: Pages that have another name now.
MOVED = {
    "10-aggregation-lower-bounds": "11-aggregation-lower-bounds",
    "11-privacy-audited": "12-privacy-audited",
}
#: What a search or a preview has no use for.
MUTE = (nodes.math_block, nodes.raw, nodes.literal_block, nodes.section, nodes.title, nodes.comment,
        nodes.table, addnodes.desc_signature)  # fmt: skip
#: Text in which a word is no link: it is one, or it is a name.
CLOSED = (nodes.reference, addnodes.pending_xref, nodes.literal, nodes.math, nodes.title, nodes.raw, nodes.caption,
          nodes.strong, nodes.rubric)  # fmt: skip
OPEN = (nodes.paragraph, nodes.emphasis)
#: Terms that are everyday words, too: a sentence may mean those.
COMMON = {"guarantee", "guarantees", "link", "links", "power", "powers", "scale", "scales", "size", "sizes"}
#: Terms that have another meaning, too, with the words that come before where the glossary's is meant: items may be
#: neighbours in an order, data sets are in all of theirs.
MEANT = {
    "neighbours": re.compile(r"(?:\b(?:all|worst|explicit|very)|data sets(?: \S+)? (?:are|that are)) neighbours?$")
}
ROAD = re.compile(r"notebooks/\d\d[a-z]?-")
GOING = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Moved</title><meta http-equiv="refresh" content="1; url={0}.html"/></head>
<body><main><h1>Moved</h1><p>This page is <a href="{0}.html">here</a> now.</p></main>
<script>location.replace("{0}.html" + location.hash);</script></body></html>
"""


# ---------------------------------------------------------------- the glossary


def glossary(source: Path) -> dict[str, str]:
    """The terms of the glossary by how they are written in a sentence: with a small first letter, or in the plural."""
    path = source / "book" / "glossary.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    body = lines[lines.index("```{glossary}") + 1 :] if "```{glossary}" in lines else []
    terms = [line for line in body if re.match(r"[^\s`]", line)]
    return {form: term for term in terms for form in (f"{term}s", term)}


def link_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Make the first mention of each term, on a main page, a link to the glossary."""
    page = app.env.docname
    if page == "book/glossary" or not (ROAD.match(page) or page.startswith("book/")) or "reference/" in page:
        return
    forms = {form: term for form, term in glossary(Path(app.srcdir)).items() if form.lower() not in COMMON}
    if not forms:
        return
    words = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})(?![\w-])")
    seen: set[str] = set()
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, OPEN) and not any(isinstance(it, CLOSED) for it in above(text)):
            parts = list(_linked(text.astext(), words, forms, seen))
            if len(parts) > 1:
                text.parent.replace(text, parts)


def above(node: nodes.Node) -> Iterator[nodes.Node]:
    """All nodes above `node`."""
    while node.parent is not None:
        node = node.parent
        yield node


def _linked(text: str, words: re.Pattern[str], forms: dict[str, str], seen: set[str]) -> Iterator[nodes.Node]:
    """`text` with the words of the glossary, not `seen` so far, as links."""
    end = 0
    for match in words.finditer(text):
        term = forms[match[1]]
        if term in seen or (term in MEANT and not MEANT[term].search(text[: match.end()])):
            continue
        seen.add(term)
        if match.start() > end:
            yield nodes.Text(text[end : match.start()])
        target = {"refdomain": "std", "reftype": "term", "reftarget": term, "refexplicit": True, "refwarn": True}
        yield addnodes.pending_xref("", nodes.inline("", match[1], classes=["term"]), **target)
        end = match.end()
    yield nodes.Text(text[end:])


# ---------------------------------------------------------------- what there is to find


_TEXT = LatexNodes2Text(math_mode="text", keep_comments=False)


@cache
def formula(latex: str) -> str:
    """A formula in words; most stand on many pages."""
    return str(_TEXT.latex_to_text(latex)).strip()


def plain(node: nodes.Node) -> str:
    """What is said in `node` itself, in words."""

    def words(node: nodes.Node) -> Iterator[str]:
        if isinstance(node, nodes.Text):
            yield str(node)
        elif isinstance(node, nodes.math):
            yield formula(node.astext())
        elif not isinstance(node, MUTE):
            for child in node.children:
                yield from words(child)
        yield " " if isinstance(node, nodes.Body) else ""

    return " ".join("".join(it for child in node.children for it in words(child)).split())


def gather(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Note what there is to find on a page, and what a link to it may show."""
    if app.builder.format != "html":
        return
    url = app.builder.get_target_uri(page)
    main = doctree.next_node(nodes.title)
    head = main.astext() if main else page
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is None:  # a box of sphinx-proof
            continue
        if title is main:
            app.found.append([head, "", url, plain(section)])
        else:
            app.found.append([head, title.astext(), f"{url}#{section['ids'][0]}", plain(section)])
        _preview(app, url, section["ids"], title.astext(), section.next_node(nodes.paragraph))
    for entry in doctree.findall(addnodes.desc):
        for name in entry.next_node(addnodes.desc_signature)["ids"][:1]:
            said = entry.next_node(addnodes.desc_content).next_node(nodes.paragraph)
            app.found.append([name, "", f"{url}#{name}", plain(said) if said else ""])
            _preview(app, url, [name], name, said)
    for term in doctree.findall(nodes.term):
        said = term.parent.next_node(nodes.definition)
        app.found += [["Glossary", term.astext(), f"{url}#{name}", plain(said)] for name in term["ids"][:1]]
        _preview(app, url, term["ids"], term.astext(), said)
    for figure in doctree.findall(nodes.figure):
        image, caption = figure.next_node(nodes.image), figure.next_node(nodes.caption)
        app.pictures += [(f"{url}#{name}", image and image["uri"], _with_math(caption)) for name in figure["ids"]]
    for block in doctree.findall(nodes.math_block):
        shown = rf"<div class='math'>\[{escape(block.astext())}\]</div>"
        app.previews |= {f"{url}#{name}": shown for name in block["ids"]}


def _preview(app: Sphinx, url: str, names: list[str], head: str, said: nodes.Node | None) -> None:
    html = f"<b>{escape(head)}</b><p>{_with_math(said)}</p>"
    app.previews |= {f"{url}#{name}": html for name in names}


def _with_math(node: nodes.Node | None) -> str:
    """HTML of the words and formulas of `node`."""
    if isinstance(node, nodes.math):
        return rf"<span class='math'>\({escape(node.astext())}\)</span>"
    return (
        escape(str(node)) if isinstance(node, nodes.Text) else "".join(map(_with_math, node.children if node else ()))
    )


def claims(app: Sphinx) -> None:
    """The claims of the ledger that have a card, as there is a file of them."""
    path = Path(app.srcdir) / "book" / "_static" / "ledger.json"
    for it in json.loads(path.read_bytes()) if path.is_file() else ():
        url, name = f"notebooks/{it['chapter']}.html", it["id"].replace(":", "-")
        if it["chapter"].join(("notebooks/", "")) not in app.env.found_docs:
            continue
        title = f"{it['where']} · {it['paper']}: {verdict(it['verdict']).words}"
        app.found.append([title, "", f"{url}#{name}", f"{it['statement']} {it['why']}"])
        app.previews[f"{url}#{name}"] = f"<b>{escape(title)}</b><p>{escape(it['statement'])}</p>"


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write both lists, and pages under names that they once had."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    claims(app)
    for place, uri, caption in app.pictures:
        picture = app.builder.images.get(uri)
        shown = f"<img src='_images/{escape(picture)}' alt=''/>" if picture else ""
        app.previews[place] = f"{shown}<p>{caption}</p>"
    lists = {"SECTIONS": sorted(app.found), "PREVIEWS": dict(sorted(app.previews.items()))}
    for name, value in lists.items():
        text = f"window.{name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
        (out / "_static" / f"{name.lower()}.js").write_text(text, encoding="utf-8")
    for old, new in MOVED.items():
        if (out / "notebooks" / f"{new}.html").is_file() and not (out / "notebooks" / f"{old}.html").exists():
            (out / "notebooks" / f"{old}.html").write_text(GOING.format(new), encoding="utf-8")


# ---------------------------------------------------------------- the road


def along(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Previous and next of a road are roads; the pages behind one lie between it and the next."""
    roads = [it for it in app.env.toctree_order if re.match(r"notebooks/\d\d-", it)]
    if page in roads:
        here = roads.index(page)
        context["prev"] = _neighbour(app, page, roads[here - 1]) if here else context.get("prev")
        context["next"] = _neighbour(app, page, roads[here + 1]) if roads[here + 1 :] else context.get("next")


def _neighbour(app: Sphinx, page: str, other: str) -> dict[str, str]:
    """What the theme asks to know of a page before or after."""
    title = app.builder.render_partial(app.env.titles[other])["title"]
    return {"link": app.builder.get_relative_uri(page, other), "title": title}


def start(app: Sphinx) -> None:
    """No index of Sphinx's; a page for ours."""
    app.builder.search = False
    app.found, app.previews, app.pictures = [], {}, []


def order(app: Sphinx, env: Any) -> None:
    """The pages as the contents have them."""

    def below(page: str) -> Iterator[str]:
        yield page
        for child in env.toctree_includes.get(page, ()):
            yield from below(child)

    env.toctree_order = list(dict.fromkeys(below(app.config.root_doc)))


def elsewhere(_name: str, source: str, text: str, *_: Any, **__: Any) -> tuple[list[nodes.Node], list[Any]]:
    """What a road borrows, where Jupyter Book builds it without `companion book`: nothing, and a word of it."""
    return [nodes.emphasis(source, f"(in the whole book: {text})")], []


def worded(name: str, _source: str, text: str, *_: Any, **__: Any) -> tuple[list[nodes.Node], list[Any]]:
    """A verdict in its words, where Jupyter Book builds a page without `companion book`."""
    return [nodes.Text(said(name, text).removeprefix("\\"))], []


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.add_role("from", elsewhere)
    app.add_role("verdict", elsewhere)
    for name in ("word", "signed", "means"):
        app.add_role(name, worded)
    app.connect("builder-inited", start)
    app.connect("doctree-read", link_terms)
    app.connect("env-check-consistency", order)
    app.connect("doctree-resolved", gather)
    app.connect("html-page-context", along)
    app.connect("build-finished", finish, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
