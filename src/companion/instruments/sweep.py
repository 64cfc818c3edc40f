"""Monte Carlo over a grid of cells, each with a random stream of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.seed import root_seed

#: Replicates that share one stream. Part of the seed: another size gives other draws.
BLOCK = 250


def stream(experiment: str, cell: Mapping[str, Any], block: int = 0) -> np.random.Generator:
    """The generator of one block of replicates of one cell (JSON values), whatever else runs, in whatever order."""
    name = json.dumps([experiment, dict(cell), block], sort_keys=True, allow_nan=False).encode()
    key = np.frombuffer(hashlib.blake2b(name, digest_size=16).digest(), "<u4")
    return np.random.default_rng(np.random.SeedSequence(root_seed(), spawn_key=tuple(map(int, key))))


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
    names the streams, so that any number of `jobs`, worker processes, gives the same bits. Joblib's `parallel_config`
    moves the work off the machine. A row a cell, or a cell and outcome: its parameters and labels, ``mean``, ``se``
    (standard error of the mean), ``repetitions``.
    """
    if repetitions < 2:
        raise ValueError(f"repetitions = {repetitions}; at least 2 are needed for an error bar")
    grid = [dict(cell) for cell in cells]
    sizes = [min(BLOCK, repetitions - start) for start in range(0, repetitions, BLOCK)]
    blocks = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_block)(function, experiment, cell, block, size, tuple(outcomes))
        for cell in grid
        for block, size in enumerate(sizes)
    )
    rows = []
    for number, cell in enumerate(grid):
        mine = blocks[number * len(sizes) : (number + 1) * len(sizes)]
        for labels in mine[0]:
            values = np.concatenate([block[labels] for block in mine])
            summary = {"mean": values.mean(), "se": values.std(ddof=1) / repetitions**0.5, "repetitions": repetitions}
            rows.append(cell | dict(zip(outcomes, labels, strict=True)) | summary)
    return pd.DataFrame(rows)


def _block(
    function: Callable[..., Any],
    experiment: str,
    cell: dict[str, Any],
    block: int,
    size: int,
    outcomes: tuple[str, ...],
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    result = function(**cell, repetitions=size, rng=stream(experiment, cell, block))
    draws = {labels: np.asarray(v, float) for labels, v in (result.items() if outcomes else [((), result)])}
    for labels, values in draws.items():
        if values.shape != (size,):
            raise ValueError(f"{experiment} {cell} {labels} returned shape {values.shape}; {size} draws are due")
    return draws
