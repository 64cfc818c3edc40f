"""Where Jupyter Book alone runs the notebooks, their kernels are forked, as those of `companion book` are."""

from __future__ import annotations

import nbclient.client
from sphinx.application import Sphinx
from traitlets import default

from companion.press.kernel import Forking


class Client(nbclient.client.NotebookClient):
    """Runs a notebook in a kernel that is not started afresh."""

    @default("kernel_manager_class")
    def _kernel_manager_class_default(self) -> type[Forking]:
        return Forking


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    nbclient.client.NotebookClient = Client
    return {"parallel_read_safe": True, "parallel_write_safe": True}
