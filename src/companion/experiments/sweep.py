"""Monte Carlo over a grid of cells, each with a random stream of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

_ROOT = 20261121
#: Replicates that share one stream. Part of the seed: another size gives other draws.
BLOCK = 250


def stream(experiment: str, cell: Mapping[str, Any], block: int = 0) -> np.random.Generator:
    """The generator of one block of replicates of one cell, whatever else runs, in whatever order.

    Parameters
    ----------
    experiment : str
    cell : mapping
        Of JSON values; its canonical spelling is the seed.
    block : int
    """
    name = json.dumps([experiment, dict(cell), block], sort_keys=True, allow_nan=False).encode()
    key = np.frombuffer(hashlib.blake2b(name, digest_size=16).digest(), "<u4")
    return np.random.default_rng(np.random.SeedSequence(_ROOT, spawn_key=tuple(map(int, key))))


def sweep(
    function: Callable[..., ArrayLike],
    cells: Iterable[Mapping[str, Any]],
    *,
    experiment: str,
    repetitions: int,
    jobs: int = 1,
) -> pd.DataFrame:
    """Mean and standard error of a random number in every cell of a grid.

    Parameters
    ----------
    function : callable
        ``function(**cell, repetitions=r, rng=rng)`` returns r independent draws.
    cells : iterable of mapping
        Parameters, JSON values.
    experiment : str
        Names the streams.
    repetitions : int
        Draws a cell, at least 2.
    jobs : int
        Worker processes; every number of them gives the same bits. Joblib's `parallel_config` moves the work off the
        machine.

    Returns
    -------
    pandas.DataFrame
        A row a cell: its parameters, ``mean``, ``se`` (standard error of the mean), ``repetitions``.
    """
    if repetitions < 2:
        raise ValueError(f"repetitions = {repetitions}; at least 2 are needed for an error bar")
    cells = [dict(cell) for cell in cells]
    sizes = [min(BLOCK, repetitions - start) for start in range(0, repetitions, BLOCK)]
    draws = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_block)(function, experiment, cell, block, size)
        for cell in cells
        for block, size in enumerate(sizes)
    )
    values = np.concatenate(draws).reshape(len(cells), repetitions)
    summary = {"mean": values.mean(1), "se": values.std(1, ddof=1) / repetitions**0.5, "repetitions": repetitions}
    return pd.DataFrame(cells).assign(**summary)


def _block(function: Callable[..., ArrayLike], experiment: str, cell: dict[str, Any], block: int, size: int) -> Any:
    draws = np.asarray(function(**cell, repetitions=size, rng=stream(experiment, cell, block)), float)
    if draws.shape != (size,):
        raise ValueError(f"{experiment} {cell} returned shape {draws.shape}; {size} draws are due")
    return draws
