"""What noise fit to publish takes, of many numbers and of many items: ratios of processor time, same data, one run.

    python benchmarks/exact.py            (some minutes; --draws 1000 --items 1000 for a look)

The peers: OpenDP's exact noise and its noisy top k, and the seeded releases of the same mechanisms, whose noise is of
floats. Medians of processor time, in turn; OpenDP has one round of what takes it long. It takes no more items than
`--most`: its time grows faster than they do.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import tracemalloc
from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import opendp.prelude as dp

import dprank
from dprank.privacy import bulk

dp.enable_features("contrib")
ROUNDS, PATIENCE = 5, 1.0


def seconds(calls):
    """Median of each call; all in turn, and once what takes longer than `PATIENCE`."""
    taken = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            if not taken[name] or max(taken[name]) < PATIENCE:
                start = process_time()
                call()
                taken[name].append(process_time() - start)
    return {name: median(some) for name, some in taken.items()}


def told(name, found):
    (_, ours), *others = found.items()
    ratios = ", ".join(f"{other} {1e3 * value:.1f} ms ({value / ours:.2f}x)" for other, value in others)
    print(f"{name:28} {1e3 * ours:9.1f} ms; {ratios}", flush=True)


def opendp_noise(kind, scale, size):
    distance = dp.l1_distance(T="i64") if kind == "laplace" else dp.l2_distance(T="i64")
    space = dp.vector_domain(dp.atom_domain(T="i64"), size), distance
    return lambda: getattr(dp.m, f"make_{kind}")(*space, scale)([0] * size)


def most_bytes(call):
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def noise(draws):
    print(f"{draws:,} draws of noise; the peer's time is that of a tenth, times ten")
    for kind, ours in (("laplace", bulk.laplace), ("gaussian", bulk.gaussian)):
        for scale in (0.3, 1.0, 7.3, 100.0, 1e4, 1e6):
            theirs = opendp_noise(kind, scale, max(1, draws // 10))
            found = seconds({"ours": lambda s=scale, draw=ours: draw(s, draws), "OpenDP": theirs})
            told(f"{kind}, scale {scale:g}", found | {"OpenDP": 10 * found["OpenDP"]})
        print(f"  {most_bytes(lambda draw=ours: draw(1e6, draws)) / draws:.1f} bytes a draw, at most")


def tables(items, rng):
    return {
        "spread": rng.integers(0, 10 * items, items),
        "one over rank": rng.permutation(10 * items // np.arange(1, items + 1)),
        "Poisson of mean 100": rng.poisson(100, items),
        "all equal": np.full(items, 7),
    }


def opendp_peel(values, k, scale, kind):
    measure = dp.zero_concentrated_divergence() if kind == "gumbel" else dp.max_divergence()
    space = dp.vector_domain(dp.atom_domain(T="i64"), len(values)), dp.linf_distance(T="i64")
    return lambda: dp.m.make_noisy_top_k(*space, measure, k, scale)(values.tolist())


def mechanisms(items, k):
    shared = {"epsilon": 1.0, "k": k, "adjacency": "add_remove"}
    kinds = ("gumbel", "laplace", "exponential")
    found: dict[str, Any] = {f"one pass, {it}": dprank.Oneshot.calibrated(**shared, noise=it) for it in kinds}
    found["rounds, exponential"] = dprank.Peeling.calibrated(**shared)
    return {name: replace(it, n_items=items) for name, it in found.items()}


def selection(items, k, most):
    rng = np.random.default_rng(0)
    for table, values in tables(items, rng).items():
        print(f"the {k} largest of {items:,}, {table}")
        for name, mechanism in mechanisms(items, k).items():
            calls = {"exact": lambda m=mechanism, v=values: m.release(v, dprank.SECURE)}
            if not (name.startswith("rounds") and items > most):
                calls["seeded"] = lambda m=mechanism, v=values: m.release(v, rng)
            if items <= most and (name.startswith("rounds") or mechanism.noise == "gumbel"):
                calls["OpenDP"] = opendp_peel(values, k, mechanism.scale, mechanism.noise)
            told(f"  {name}", seconds(calls))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=float, default=1e6)
    parser.add_argument("--items", type=float, nargs="+", default=[1e3, 1e4, 1e5, 1e6, 1e7])
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--most", type=float, default=1e4, help="items that OpenDP, and seeded rounds, are asked for")
    given = parser.parse_args()
    noise(int(given.draws))
    for items in map(int, given.items):
        selection(items, min(given.k, items), given.most)
