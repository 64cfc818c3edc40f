"""Read and write pages on all processors, for which Jupyter Book has no switch; the bytes are those of one."""

from __future__ import annotations

import os
from collections.abc import Sequence

import sphinx.builders
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_proof.domain import ProofDomain

#: Many enough to keep processors busy to the end, few enough that what each sends back is soon read.
HANDS = 8
#: They do not say whether they may read in parallel, and act only when all is read.
SILENT = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def deal(documents: Sequence[str], _processors: int) -> list[Sequence[str]]:
    """Pages dealt like cards: long ones stand side by side in the contents."""
    return [hand for first in range(HANDS) if (hand := documents[first::HANDS])]


def allow(app: Sphinx, *_: object) -> None:
    """Before Sphinx asks how many processes may read."""
    app.parallel = max(2, os.cpu_count() or 1)
    for name in SILENT:
        app.extensions[name].parallel_read_safe = True


def allow_one_more(app: Sphinx, _env: BuildEnvironment) -> None:
    """Writing has one process fewer than allowed, for Sphinx counts its own, which is done first."""
    app.parallel += 1


def in_order(_app: Sphinx, env: BuildEnvironment) -> None:
    """What pages show of the code, by name and under its own, not as hands came back."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in sorted(modules):
        if modules[name] is not False:
            code, tags, used, _ = modules[name]
            modules[name] = code, tags, dict(sorted(used.items())), name


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    sphinx.builders.make_chunks = deal
    # its list of proofs lies in the environment, where `env-merge-info` merges it
    ProofDomain.merge_domaindata = lambda *_: None
    app.connect("config-inited", allow)
    app.connect("env-updated", in_order)
    app.connect("env-check-consistency", allow_one_more)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
