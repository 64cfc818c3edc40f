"""Monte Carlo over a grid of cells, each with a random stream of its own."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments import cluster
from companion.instruments.seed import root_seed

#: Replicates that share one stream. Part of the seed: another size gives other draws.
BLOCK = 250


def stream(experiment: str, cell: Mapping[str, Any], block: int = 0, root: int | None = None) -> np.random.Generator:
    """The generator of one block of replicates of one cell (JSON values), whatever else runs, in whatever order."""
    name = json.dumps([experiment, dict(cell), block], sort_keys=True, allow_nan=False).encode()
    key = np.frombuffer(hashlib.blake2b(name, digest_size=16).digest(), "<u4")
    root = root_seed() if root is None else root
    return np.random.default_rng(np.random.SeedSequence(root, spawn_key=tuple(map(int, key))))


def sweep(
    function: Callable[..., Any],
    cells: Iterable[Mapping[str, Any]],
    *,
    experiment: str,
    repetitions: int,
    outcomes: Sequence[str] = (),
    jobs: int = 1,
) -> pd.DataFrame:
    """Mean and standard error of a random number, or of several at once, in every cell of a grid.

    ``function(**cell, repetitions=r, rng=rng)`` returns r independent draws; with `outcomes`, names of labels, a
    mapping from a tuple of labels to r draws, such as all losses of one data set. Cells hold JSON values; `experiment`
    names the streams, so that any number of `jobs`, worker processes, gives the same numbers. So do the workers of a
    Dask scheduler, whatever `jobs` is, where this process was told of one; on another processor, but for last bits. A
    row a cell, or a cell and outcome: its parameters and labels, ``mean``, ``se`` (standard error of the mean),
    ``repetitions``.
    """
    if repetitions < 2:
        raise ValueError(f"repetitions = {repetitions}; at least 2 are needed for an error bar")
    grid = [dict(cell) for cell in cells]
    sizes = [min(BLOCK, repetitions - start) for start in range(0, repetitions, BLOCK)]
    tasks = [
        (function, experiment, cell, block, size, tuple(outcomes), root_seed())
        for cell in grid
        for block, size in enumerate(sizes)
    ]
    address = cluster.given()
    blocks = (
        _there(tasks, address) if address else joblib.Parallel(n_jobs=jobs)(joblib.delayed(_block)(*it) for it in tasks)
    )
    rows = []
    for number, cell in enumerate(grid):
        mine = blocks[number * len(sizes) : (number + 1) * len(sizes)]
        for labels in mine[0]:
            values = np.concatenate([block[labels] for block in mine])
            summary = {"mean": values.mean(), "se": values.std(ddof=1) / repetitions**0.5, "repetitions": repetitions}
            rows.append(cell | dict(zip(outcomes, labels, strict=True)) | summary)
    return pd.DataFrame(rows)


def _there(tasks: Sequence[Any], address: str) -> list[Any]:
    """The blocks, by the workers of a cluster; a task of one that dies is another's, and has the stream that it had."""
    with cluster.workers(address) as client, joblib.parallel_config("dask", client=client):
        done = joblib.Parallel(n_jobs=-1)(joblib.delayed(_block_there)(*it) for it in tasks)
    # the press asks what was read: what workers loaded counts as loaded here
    for name in sorted({name for _, loaded in done for name in loaded}):
        import_module(name)
    return [block for block, _ in done]


def _block_there(*task: Any) -> tuple[dict[tuple[Any, ...], NDArray[np.float64]], list[str]]:
    """A block, and the modules of ours that its worker has loaded."""
    block = _block(*task)
    return block, [name for name in list(sys.modules) if name.partition(".")[0] in ("companion", "dprank")]


def _block(
    function: Callable[..., Any],
    experiment: str,
    cell: dict[str, Any],
    block: int,
    size: int,
    outcomes: tuple[str, ...],
    root: int,
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    result = function(**cell, repetitions=size, rng=stream(experiment, cell, block, root))
    draws = {labels: np.asarray(v, float) for labels, v in (result.items() if outcomes else [((), result)])}
    for labels, values in draws.items():
        if values.shape != (size,):
            raise ValueError(f"{experiment} {cell} {labels} returned shape {values.shape}; {size} draws are due")
    return draws
