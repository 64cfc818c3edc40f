"""Write pages on all processors, for which Jupyter Book has no switch; reading stays serial, as extensions want."""

from __future__ import annotations

import os

from sphinx.application import Sphinx


def allow(app: Sphinx, *_: object) -> None:
    """After the last page is read, and before Sphinx asks how many processes may write."""
    app.parallel = os.cpu_count() or 1


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("env-check-consistency", allow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
