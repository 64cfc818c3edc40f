"""The contents beside every page, laid out once a folder: the theme lays out all of it for each page anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pydata_sphinx_theme.toctree import add_toctree_functions
from sphinx.application import Sphinx

TAG = re.compile(r"<(/?)(ul|li|details)\b([^>]*)>")
FOLDED = "<details>"


def marked(contents: str, link: str) -> str:
    """The contents with the way to a page opened and marked as the theme does; `link` is the page in its own folder."""
    start = contents.find(f'<a class="reference internal" href="{link}">')
    if start < 0:
        return contents
    opened: list[re.Match[str]] = []
    for tag in TAG.finditer(contents, 0, start):
        if tag[1]:
            opened.pop()
        else:
            opened.append(tag)
    end = contents.index(">", start) + 1
    title = contents.index("</a>", end) + len("</a>")
    below = contents[title:]
    if below.startswith(FOLDED):
        below = below.replace(FOLDED, '<details open="open">', 1)
    parts = ['<a class="current reference internal" href="#">', contents[end:title], below]
    for tag in reversed(opened):
        parts.insert(0, contents[tag.end() : start])
        parts.insert(0, current(tag))
        start = tag.start()
    return contents[:start] + "".join(parts)


def current(tag: re.Match[str]) -> str:
    """A tag on the way to the page."""
    if tag[2] == "details":
        return '<details open="open">'
    if tag[2] == "li":
        return re.sub(r'(class="\S+?)(?=[ "])', r"\1 current active", tag[0], count=1)
    return tag[0].replace('class="', 'class="current ') if tag[3] else '<ul class="current">'


def laid_out(app: Sphinx, folder: str, options: dict[str, Any]) -> str:
    """The contents as a page of the folder has them that is not among them."""
    page = f"{folder}/-".lstrip("/")
    context: dict[str, Any] = {"toctree": lambda **chosen: app.builder._get_local_toctree(page, **chosen)}
    add_toctree_functions(app, page, "", context, None)
    return str(context["generate_toctree_html"](**options))


def beside(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page what its folder has: with the first page, while there is one process, the contents of all folders."""
    add_toctree_functions(app, page, template, context, doctree)
    theirs: Callable[..., Any] = context["generate_toctree_html"]

    def contents(**options: Any) -> str:
        key = tuple(sorted(options.items()))
        if key not in app.contents:
            folders = {"", *(name.rpartition("/")[0] for name in app.env.found_docs)}
            app.contents[key] = {folder: laid_out(app, folder, options) for folder in sorted(folders)}
        folder = page.rpartition("/")[0]
        if folder not in app.contents[key]:
            return laid_out(app, folder, options)
        return marked(app.contents[key][folder], app.builder.get_relative_uri(f"{folder}/-".lstrip("/"), page))

    context["generate_toctree_html"] = lambda **options: (
        theirs(**options) if options["startdepth"] or options["collapse"] else contents(**options)
    )


def start(app: Sphinx) -> None:
    """Nothing is laid out; the theme, which may only now be loaded, lays nothing out by itself."""
    app.contents = {}
    for it in list(app.events.listeners["html-page-context"]):
        if it.handler is add_toctree_functions:
            app.disconnect(it.id)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("builder-inited", start)
    app.connect("html-page-context", beside, priority=499)  # before the theme asks which of its parts are empty
    return {"parallel_read_safe": True, "parallel_write_safe": True}
