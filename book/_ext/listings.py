"""Listings of the code: of what the reference describes and of what draws a figure, and of nothing else.

A listing is read, not searched: its page has the code, its colours and the way back, and runs no script of the theme.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext import viewcode
from sphinx.util.osutil import relative_uri

#: Whose code is listed.
OURS = ("dprank", "companion")
TEMPLATE = "listing.html"
#: A figure's link to the function that draws it.
DRAWN = re.compile(r'href="[./]*/_modules/([\w/]+)\.html#(\w+)"')
#: In listings, what a keyboard scrolls.
CODE = "<pre>", '<pre tabindex="0">'


def ours(name: str) -> bool:
    """Whether it is a module of this repository."""
    return name.partition(".")[0] in OURS


def definitions(code: str) -> dict[str, tuple[str, int, int]]:
    """The first and the last line of each function, method and class, by name."""
    found: dict[str, tuple[str, int, int]] = {}

    def visit(node: ast.AST, scope: str) -> None:
        for it in ast.iter_child_nodes(node):
            if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                kind = "class" if isinstance(it, ast.ClassDef) else "def"
                first = min(part.lineno for part in (it, *it.decorator_list))
                found[f"{scope}{it.name}"] = kind, first, it.end_lineno or it.lineno
                if kind == "class":
                    visit(it, f"{scope}{it.name}.")
            elif isinstance(it, ast.stmt | ast.excepthandler):
                visit(it, scope)

    visit(ast.parse(code), "")
    return found


@cache
def source(name: str) -> tuple[str, dict[str, tuple[str, int, int]]]:
    """The code of a module and what it defines; the module is not imported."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ValueError(f"module {name!r}; allowed: one that is there")
    code = Path(spec.origin).read_text(encoding="utf-8")
    return code, definitions(code)


def find(_app: Sphinx, name: str) -> tuple[str, dict[str, tuple[str, int, int]]]:
    """What Sphinx asks of a module that a documented name comes from: nothing of one that is not ours."""
    return source(name) if ours(name) else ("", {})


def draws(app: Sphinx, page: nodes.document) -> None:
    """Note the code of each figure on a page: it is listed, with an anchor where it draws."""
    modules = app.env._viewcode_modules
    for raw in page.findall(nodes.raw):
        for path, function in DRAWN.findall(raw.astext()):
            name = path.replace("/", ".")
            if name not in modules:
                modules[name] = *source(name), {}, name
            modules[name][2].setdefault(function, app.env.docname)


def choose(_app: Sphinx, env: Any) -> None:
    """Drop what no page links to."""
    for name, listed in list(env._viewcode_modules.items()):
        if not (ours(name) and listed and listed[2]):
            del env._viewcode_modules[name]


def write(app: Sphinx) -> list[Any]:
    """Write the listings past the theme, which lays out its contents for each; no page is left for Sphinx to write."""
    builder = app.builder
    shared = {name: builder.globalcontext[name] for name in ("docstitle", "language", "root_doc")}
    for page, listing, _ in viewcode.collect_pages(app):
        own = {"pathto": lambda name, static=False, page=page: to(builder, page, name, static)}
        path = Path(builder.get_outfilename(page))
        path.parent.mkdir(parents=True, exist_ok=True)
        listing["body"] = listing["body"].replace(*CODE, 1)
        path.write_text(builder.templates.render(TEMPLATE, shared | own | listing), encoding="utf-8")
    return []


def to(builder: Any, page: str, name: str, static: bool) -> str:
    """The way from a listing to a file of the site, or to a page."""
    return relative_uri(builder.get_target_uri(page), name if static else builder.get_target_uri(name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("viewcode-find-source", find)
    app.connect("doctree-read", draws, priority=600)  # when viewcode has begun its list
    app.connect("env-updated", choose)
    for it in list(app.events.listeners["html-collect-pages"]):
        if it.handler is viewcode.collect_pages:
            app.disconnect(it.id)
    app.connect("html-collect-pages", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
