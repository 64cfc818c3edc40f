"""Put the parts of MathJax that pages use, and its fonts, into the site: they ask nobody for anything."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx

#: What `_config.yml` has MathJax load: half of the bundle that has everything.
PARTS = (
    "startup.js",
    "core.js",
    "input/tex-base.js",
    "input/tex/extensions/ams.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "a11y/assistive-mml.js",
    "ui/lazy.js",
)


def copy(app: Sphinx, error: Exception | None) -> None:
    """Copy them out of the package that carries it; as an extension, that package would add all of its 24 MB."""
    spec = find_spec("sphinx-mathjax-offline")
    if error or app.builder.format != "html" or spec is None or spec.origin is None:
        return
    source, target = Path(spec.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    fonts = Path("output/chtml/fonts/woff-v2")
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)
    for name in PARTS:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
