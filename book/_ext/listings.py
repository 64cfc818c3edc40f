"""Listings of the code: of what the reference describes and of what draws a figure, and of nothing else.

A listing is read, not searched: its page has the code, its colours and the way back, and runs no script of the theme.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

#: Whose code is listed.
OURS = ("dprank", "companion")
FOLDER = "_modules/"
TEMPLATE = "listing.html"
#: A figure's link to the function that draws it.
DRAWN = re.compile(r'href="[./]*/_modules/([\w/]+)\.html#(\w+)"')
#: In listings, what a keyboard scrolls.
CODE = "<pre>", '<pre tabindex="0">'


def ours(name: str | None) -> bool:
    """Whether it is a module of this repository."""
    return name is not None and name.partition(".")[0] in OURS


def follow(_app: Sphinx, module: str, attribute: str) -> str:
    """Where a name of the reference is defined, if we wrote it; else where it is documented."""
    value: Any = import_module(module)
    for part in attribute.split("."):
        value = getattr(value, part, None)
    home = getattr(value, "__module__", None)
    return home if ours(home) else module


def draws(app: Sphinx, page: nodes.document) -> None:
    """Note the code of each figure on a page: it is listed, with an anchor where it draws."""
    modules = app.env._viewcode_modules
    for raw in page.findall(nodes.raw):
        for path, function in DRAWN.findall(raw.astext()):
            name = path.replace("/", ".")
            if name not in modules:
                analyzer = ModuleAnalyzer.for_module(name)
                modules[name] = analyzer.code, analyzer.find_tags(), {}, name
            modules[name][2].setdefault(function, app.env.docname)


def choose(_app: Sphinx, env: Any) -> None:
    """Drop what no page links to."""
    for name, listed in list(env._viewcode_modules.items()):
        if not (ours(name) and listed and listed[2]):
            del env._viewcode_modules[name]


def bare(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> str | None:
    """The template of a listing."""
    if not page.startswith(FOLDER):
        return None
    context["body"] = context["body"].replace(*CODE, 1)
    return TEMPLATE


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("viewcode-follow-imported", follow)
    app.connect("doctree-read", draws, priority=600)  # when viewcode has begun its list
    app.connect("env-updated", choose)
    app.connect("html-page-context", bare, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
