"""Put one MathJax bundle and its fonts into the site: pages ask nobody for anything."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx


def copy(app: Sphinx, error: Exception | None) -> None:
    """Copy the bundle out of the package that carries it; as an extension, that package would add all of its 24 MB."""
    spec = find_spec("sphinx-mathjax-offline")
    if error or app.builder.format != "html" or spec is None or spec.origin is None:
        return
    source, target = Path(spec.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    fonts = Path("output/chtml/fonts/woff-v2")
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)
    shutil.copy(source / "tex-chtml-full.js", target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
