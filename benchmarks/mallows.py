"""How much less than its peers Mallows sampling and Kendall distances take: ratios measured side by side.

python benchmarks/mallows.py            (about a minute and 800 MB; less with --items 2000)

Least processor seconds of three rounds in turn, one core, warm kernels; prefsampling has one round, for it takes long.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
import shutil
import subprocess

import numpy as np
from prefsampling.ordinal import mallows as prefsampling_mallows
from scipy import stats
from shared import best, exponent

from dprank.data.kendall import kendall_distance, pairwise_kendall_distances
from dprank.models.mallows import Mallows, theta_at

GAP = 1e-4


def tell(seconds, unit=1e3, name="ms"):
    ours = next(iter(seconds.values()))
    for contender, value in seconds.items():
        print(f"  {contender:44s} {unit * value:12.4g} {name} {value / ours:9.1f}x")


# --- sampling ---------------------------------------------------------------------------------------------------------


def inserted(rng, size, law):
    """Repeated insertion, all rankings at once: item after item takes a place and pushes others back."""
    m, places = law.n_items, np.zeros((size, law.n_items), np.int32)
    for c in range(1, m):
        behind = -np.log1p(rng.random(size) * math.expm1(-law.theta * (c + 1))) / law.theta
        place = c - np.minimum(behind.astype(np.int32), c)
        before = places[:, :c]
        before += before >= place[:, None]
        places[:, c] = place
    return places


def in_r(items, size=20):
    """Seconds a ranking that R's PerMallows takes, if it is there."""
    code = (
        f"library(PerMallows); draw <- function() rmm({size}, 1:{items}, {-math.log1p(-GAP)}, 'kendall', 'multistage');"
        f"draw(); cat(min(replicate(3, system.time(draw())[['user.self']])) / {size})"
    )
    run = subprocess.run(["Rscript", "-e", code], check=False, capture_output=True, text=True)
    return float(run.stdout.split()[-1]) if run.returncode == 0 else None


def sampling(items):
    law, rng = Mallows.of_gap(items, GAP), np.random.default_rng(0)
    size = max(1, 2_000_000 // items)
    few = max(1, size // 20)
    calls = {
        "Mallows.sample": lambda: law.sample(size, rng=rng),
        "repeated insertion in numpy": lambda: inserted(rng, few, law),
    }
    seconds = best(calls)
    seconds["Mallows.sample"] /= size * items
    seconds["repeated insertion in numpy"] /= few * items
    votes = 4
    table = best({n: lambda n=n: prefsampling_mallows(n, items, 1 - GAP, seed=0) for n in (1, votes)}, rounds=1)
    seconds["prefsampling, its tables at hand"] = (table[votes] - table[1]) / (votes - 1) / items
    seconds[f"prefsampling, {votes} rankings"] = table[votes] / votes / items
    if shutil.which("Rscript") and (other := in_r(1000)):
        seconds["PerMallows, 1000 items"] = other / 1000
    print(f"sampling, {items} items, 1 - phi = {GAP}")
    tell(seconds, 1e9, "ns an item")
    sizes = [300, 1000, 3000, 10_000, 30_000]
    laws = {m: Mallows.of_gap(m, GAP) for m in sizes}
    grown = best({m: lambda m=m: laws[m].sample(1_000_000 // m, rng=rng) for m in sizes})
    each = {m: grown[m] / (1_000_000 // m) for m in sizes}
    print("  " + ", ".join(f"{m} items {1e9 * each[m] / m:.1f} ns an item" for m in sizes))
    print(f"  seconds a ranking grow like items^{exponent(each):.2f}")


# --- exact laws -------------------------------------------------------------------------------------------------------


def laws():
    sizes = [100, 1000, 10_000, 100_000, 1_000_000]
    print("phi at a total variation distance from uniform")
    for epsilon in (1e-3, 0.5, 0.99):
        seconds = best({m: lambda m=m, e=epsilon: theta_at(m, e) for m in sizes})
        told = ", ".join(f"{m} items {1e3 * seconds[m]:.1f} ms" for m in sizes)
        print(f"  epsilon {epsilon}: {told}; grows like items^{exponent(seconds):.2f}")
    some = {m: Mallows(m, 3 / m) for m in sizes}
    spread = {m: law.distance_moments()[0] * np.linspace(0.9, 1.1, 1000) for m, law in some.items()}
    seconds = best({m: lambda m=m: some[m].distance_cdf(spread[m]) for m in sizes})
    told = ", ".join(f"{m} items {1e3 * seconds[m]:.1f} ms" for m in sizes)
    print(f"law of the distance, 1000 values, theta = 3 / items: {told}; grows like items^{exponent(seconds):.2f}")


# --- Kendall distances ------------------------------------------------------------------------------------------------


def distances():
    rng = np.random.default_rng(1)
    a, b = rng.permutation(10_000), rng.permutation(10_000)
    print("Kendall distance of two rankings of 10000 items, input checked")
    calls = {
        "kendall_distance": lambda: kendall_distance(a, b),
        "scipy.stats.kendalltau": lambda: stats.kendalltau(a, b),
    }
    tell(best({name: lambda call=call: [call() for _ in range(20)] for name, call in calls.items()}), 1e3 / 20)
    pairs = {m: (rng.permutation(m), rng.permutation(m)) for m in (3000, 10_000, 30_000, 100_000, 300_000)}
    seconds = best({m: lambda p=p: kendall_distance(*p) for m, p in pairs.items()})
    print(f"  seconds grow like items^{exponent(seconds):.2f}")

    rankings = np.array([rng.permutation(100) for _ in range(4000)])
    some = [(rankings[i], rankings[i + 1]) for i in range(500)]
    print("all pairs of 1000 rankings of 100 items")
    seconds = best(
        {
            "pairwise_kendall_distances": lambda: pairwise_kendall_distances(rankings[:1000]),
            "scipy.stats.kendalltau, from 500 pairs": lambda: [stats.kendalltau(x, y) for x, y in some],
        }
    )
    seconds["scipy.stats.kendalltau, from 500 pairs"] *= 999 * 1000 / 2 / len(some)
    tell(seconds)
    seconds = best({n: lambda n=n: pairwise_kendall_distances(rankings[:n]) for n in (500, 1000, 2000, 4000)})
    print(f"  seconds grow like rankings^{exponent(seconds):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    items = parser.parse_args().items
    # compile before anything is timed
    Mallows(100, 0.1).sample(1, rng=np.random.default_rng(0))
    pairwise_kendall_distances([[0, 1], [1, 0]])
    kendall_distance(np.arange(300), np.arange(300))
    kendall_distance(np.arange(70_000), np.arange(70_000))
    sampling(items)
    laws()
    distances()


if __name__ == "__main__":
    main()
