"""A cell's draws depend on the cell alone: not on the grid, the order, or the number of workers."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import companion
from companion.instruments import sweep as sweeping
from companion.instruments.seed import ROOT, VARIABLE
from companion.instruments.sweep import stream, sweep

CELLS = [{"scale": 1.0}, {"scale": 2.0}, {"scale": 3.0}]


def draw(scale, repetitions, rng):
    return scale * rng.standard_normal(repetitions)


def run(cells=CELLS, **changes):
    return sweep(draw, cells, **{"experiment": "test", "repetitions": 600, "jobs": 1, **changes})


def test_any_number_of_workers_gives_the_same_bits():
    """Of processes here, where other tests have threads."""
    pd.testing.assert_frame_equal(run(jobs=1), run(jobs=2), check_exact=True)


THREADS: set[str] = set()


def draw_there(scale, repetitions, rng):
    THREADS.add(threading.current_thread().name)
    return draw(scale, repetitions, rng)


def test_workers_of_a_cluster_give_the_same_bits():
    """Off one machine: joblib's Dask backend, here with a cluster of two threads in this process."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = sweep(draw_there, CELLS, experiment="test", repetitions=600, jobs=2)
    assert len(THREADS) > 0
    assert all("Dask" in name for name in THREADS)
    pd.testing.assert_frame_equal(run(), there, check_exact=True)


def test_a_cell_can_be_recomputed_alone_and_in_any_order():
    whole = run()
    alone = pd.concat([run([cell]) for cell in reversed(CELLS)][::-1], ignore_index=True)
    pd.testing.assert_frame_equal(whole, alone, check_exact=True)


def test_the_error_is_that_of_the_mean():
    values = np.concatenate([draw(2.0, 250, stream("test", {"scale": 2.0}, block)) for block in (0, 1)])
    row = run([{"scale": 2.0}], repetitions=500).iloc[0]
    assert row["mean"] == pytest.approx(values.mean(), abs=1e-15)
    assert row.se == pytest.approx(values.std(ddof=1) / 500**0.5, rel=1e-12)


def several(scale, repetitions, rng):
    x = rng.standard_normal(repetitions)
    return {("x", 1): scale * x, ("square", 2): scale * x**2}


def test_several_outcomes_come_from_the_same_draws():
    grid = {"experiment": "test", "repetitions": 600, "outcomes": ("what", "power")}
    frame = sweep(several, CELLS, **grid)
    assert list(frame.columns) == ["scale", "what", "power", "mean", "se", "repetitions"]
    assert list(frame.power) == [1, 2] * 3
    first = frame[frame.what == "x"].drop(columns=["what", "power"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(first, run(), check_exact=True)
    with joblib.parallel_config("threading"):
        pd.testing.assert_frame_equal(frame, sweep(several, CELLS, **grid, jobs=2), check_exact=True)


def test_streams_differ_by_experiment_cell_and_block():
    firsts = [
        stream(*key).integers(1 << 62)
        for key in [("a", {"x": 1}, 0), ("b", {"x": 1}, 0), ("a", {"x": 2}, 0), ("a", {"x": 1}, 1), ("a", {"y": 1}, 0)]
    ]
    assert len(set(firsts)) == len(firsts)
    assert stream("a", {"x": 1, "y": 2}).integers(1 << 62) == stream("a", {"y": 2, "x": 1}).integers(1 << 62)


def test_one_root_for_all_streams(monkeypatch):
    first = stream("a", {"x": 1}).integers(1 << 62)
    monkeypatch.setenv(VARIABLE, str(ROOT))
    assert stream("a", {"x": 1}).integers(1 << 62) == first
    monkeypatch.setenv(VARIABLE, "5")
    assert stream("a", {"x": 1}).integers(1 << 62) != first
    for value in ("", "-1", "1.0", "٣"):
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(ValueError, match=f"{VARIABLE}: '{value}'; allowed: an integer >= 0"):
            stream("a", {"x": 1})


def test_no_experiment_has_a_seed_of_its_own():
    """But for planted bugs, of which a fixed seed is part."""
    folder = Path(companion.__file__).parent
    seeded = {p.name for p in folder.rglob("*.py") if re.search(r"(default_rng|SeedSequence)\(\[?\d", p.read_text())}
    assert seeded == {"local.py"}
    assert "default_rng()" not in "".join(p.read_text() for p in folder.rglob("*.py"))


def test_a_mutant_that_seeds_every_cell_alike_is_caught(monkeypatch):
    monkeypatch.setattr(sweeping, "stream", lambda experiment, cell, block=0, root=None: np.random.default_rng(0))
    ratio = run()["mean"] / [cell["scale"] for cell in CELLS]
    assert np.ptp(ratio) < 1e-12
    monkeypatch.undo()
    ratio = run()["mean"] / [cell["scale"] for cell in CELLS]
    assert np.ptp(ratio) > 1e-6


def test_bad_input():
    with pytest.raises(ValueError, match="repetitions = 1; at least 2"):
        run(repetitions=1)
    with pytest.raises(ValueError, match=r"600 draws are due|250 draws are due"):
        sweep(lambda scale, repetitions, rng: rng.random(3), CELLS, experiment="test", repetitions=600)
    with pytest.raises(ValueError, match=r"\('b',\) returned shape \(3,\); 250 draws are due"):
        sweep(
            lambda scale, repetitions, rng: {("a",): rng.random(repetitions), ("b",): rng.random(3)},
            CELLS,
            experiment="test",
            repetitions=600,
            outcomes=["what"],
        )
    with pytest.raises(ValueError, match="not JSON compliant"):
        stream("a", {"x": float("nan")})
