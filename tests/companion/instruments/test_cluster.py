"""Sweeps on a cluster of processes, of which one is killed: the same bits, on one machine; and other workers."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import time

import dask
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from small_book import at_hand, make_book, replace

from companion.instruments import cluster as clusters
from companion.instruments import seed
from companion.instruments.sweep import sweep
from companion.press import UsageError
from companion.press.pipeline import Build

CELLS = [{"scale": 1.0}, {"scale": 2.0}, {"scale": 3.0}]
pytestmark = [
    pytest.mark.slow,
    # a worker that was killed is not waited for
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def slow_draw(scale, repetitions, rng):
    time.sleep(0.05)
    return scale * rng.standard_normal(repetitions)


def run(**changes):
    return sweep(slow_draw, CELLS, **{"experiment": "test", "repetitions": 3_000, **changes})


@pytest.fixture(scope="module")
def local():
    """Two processes, forked from one that has the libraries loaded, as is the one that takes the place of a killed."""
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


def killed_in_the_middle(local, victims):
    """Kill a worker as soon as workers have begun."""
    with Client(local.scheduler_address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        for _ in range(2_000):
            if any(client.processing().values()):
                address, pid = next((a, p) for a, p in pids.items() if client.processing().get(a))
                os.kill(pid, signal.SIGKILL)
                victims.append(address)
                return
            time.sleep(0.005)


def test_processes_of_which_one_is_killed_give_the_same_bits(local, monkeypatch):
    monkeypatch.setenv(seed.VARIABLE, "7")  # known here alone
    here = run()
    monkeypatch.setenv(clusters.VARIABLE, local.scheduler_address)
    victims = []
    killer = threading.Thread(target=killed_in_the_middle, args=(local, victims))
    killer.start()
    there = run()
    killer.join()
    assert victims, "no worker was killed while it worked"
    pd.testing.assert_frame_equal(here, there, check_exact=True)
    monkeypatch.setenv(seed.VARIABLE, "8")
    assert not run().equals(here)


def load(scale, repetitions, rng):
    import colorsys

    assert os.environ.get("HERE") is None, "not on a worker"
    return rng.standard_normal(repetitions) + colorsys.ONE_THIRD * scale


def test_what_workers_do_is_done_there(local, monkeypatch):
    monkeypatch.setenv("HERE", "yes")
    monkeypatch.setenv(clusters.VARIABLE, local.scheduler_address)
    assert len(sweep(load, CELLS, experiment="test", repetitions=300)) == 3


def test_workers_with_other_code_are_refused(local, monkeypatch):
    right = clusters.fingerprint()
    with clusters.workers(local.scheduler_address) as client:
        assert set(client.run(clusters.fingerprint).values()) == {right}
    monkeypatch.setattr(clusters, "NUMERICS", ("numpy",))
    with (
        pytest.raises(ValueError, match="other code or packages, which give other numbers"),
        clusters.workers(local.scheduler_address),
    ):
        pass


SWEEP = """\
from companion.instruments.sweep import sweep
cells = [{"scale": 1.0}, {"scale": 2.0}]
draw = lambda scale, repetitions, rng: scale * rng.standard_normal(repetitions)
print(sweep(draw, cells, experiment="mini", repetitions=900).to_json(double_precision=15))
"""


def test_a_book_on_a_cluster_is_the_book(local, tmp_path):
    executed = []
    for name, scheduler in (("here", ""), ("there", local.scheduler_address)):
        root = make_book(tmp_path / name)
        replace(root / "notebooks/01-first.ipynb", "import runpy\\n", "import runpy\\n" + json.dumps(SWEEP)[1:-1])
        with at_hand():
            Build(root, "standard", None, 2, lambda _: None, 11, scheduler).run(render=False)
        executed.append((root / "_build/executed/standard/seed-11/01-first.ipynb").read_bytes())
        assert b"mean" in executed[-1]
    assert executed[0] == executed[1]


def clients() -> set[str]:
    """Those that are there; other tests may have left some that answered."""
    return {it.id for it in gc.get_objects() if type(it) is Client}


def test_a_scheduler_that_is_none_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    root = make_book(tmp_path)
    before = clients()
    for address in ("tcp://127.0.0.1:9", "nobody", "tcp://"):
        with pytest.raises(UsageError, match=r"^scheduler: [^\n]+$"):
            Build(root, scheduler=address).run()
        # one that lingers can lock the loop of the next client when it is collected
        assert clients() <= before
    assert not (root / "_build").exists()
