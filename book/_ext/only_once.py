"""What Sphinx and its extensions compute anew for every docstring, word or citation is computed once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pybtex.plugin
from docutils.nodes import document
from jinja2 import FileSystemLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish


def belongs(_app: Sphinx, page: document) -> None:
    """Nodes of `eval-rst` belong to a document of its own, which holds the environment: stored with every page."""
    for node in page.findall():
        node.document = page


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    templates = SandboxedEnvironment(loader=FileSystemLoader(Path(docscrape_sphinx.__file__).with_name("templates")))
    docscrape_sphinx.SandboxedEnvironment = lambda loader: templates
    stem = cache(SearchEnglish({}).stem)
    SearchEnglish.stem = lambda _self, word: stem(word)
    pybtex.plugin._load_entry_point = cache(pybtex.plugin._load_entry_point)
    app.connect("doctree-read", belongs, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
