"""How much less than its peers a private top-k release takes: ratios of processor time, same data, same noise.

python benchmarks/topk.py            (half a minute and 600 MB; less with --items 1e6)

The least of three rounds in turn, one core, warm kernels; OpenDP has one round, for it takes long. It draws its
noise exactly, fit to publish, as Oneshot.release does with SECURE.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from dataclasses import replace

import numpy as np
import opendp.prelude as dp
from shared import best, exponent

from dprank.topk.oneshot import Oneshot

dp.enable_features("contrib")


def data(items):
    """Arrays of counts by name; the rarest of "one over rank" are a single record."""
    counts = items // np.arange(1, items + 1)
    rng = np.random.default_rng(0)
    return {
        "counts like one over rank, shuffled": rng.permutation(counts),
        "the same, rising, as floats": counts[::-1].astype(float),
        "Poisson counts of mean 100": rng.poisson(100, items),
        "all counts equal": np.full(items, 7),
    }


def mechanism(k, items, noise="laplace"):
    """Of noise that does for any number of items."""
    return replace(Oneshot.calibrated(epsilon=1.0, delta=1e-6, k=k, noise=noise, adjacency="add_remove"), n_items=items)


def numpy_top_k(values, k, scale, rng):
    noisy = rng.laplace(values, scale)
    return np.argpartition(noisy, -k)[-k:]


def opendp_top_k(values, k, scale):
    kind = "i64" if values.dtype == np.int64 else "f64"
    domain = dp.vector_domain(dp.atom_domain(T=kind) if kind == "i64" else dp.atom_domain(T=kind, nan=False))
    select = dp.m.make_noisy_top_k(domain, dp.linf_distance(T=kind), dp.max_divergence(), k=k, scale=scale)
    return lambda: select(values)


def peers(items, k):
    rng = np.random.default_rng(1)
    for name, values in data(items).items():
        laplace, gumbel = mechanism(k, items), mechanism(k, items, "gumbel")
        seconds = best(
            {
                "Oneshot.release, Laplace": lambda v=values, m=laplace: m.release(v, rng),
                "Oneshot.release, Gumbel": lambda v=values, m=gumbel: m.release(v, rng),
                "numpy Laplace, then argpartition": lambda v=values, m=laplace: numpy_top_k(v, k, m.scale, rng),
            }
        )
        # where many counts lie far below the top its exact draws take minutes: see `growth`
        if values.std() < laplace.scale:
            seconds |= best({"OpenDP, exponential, exact": opendp_top_k(values, k, laplace.scale)}, 1)
        print(f"the {k} largest of {items:.0e}: {name}")
        ours = next(iter(seconds.values()))
        for contender, value in seconds.items():
            print(f"  {contender:36s} {1e3 * value:10.1f} ms {value / ours:9.1f}x")


def growth(items, k):
    rng = np.random.default_rng(2)
    sizes = [items // 100, items // 30, items // 10, items // 3, items]
    numbers = [k // 10, k, 10 * k, 100 * k, items // 20]
    for name, values in data(items).items():
        in_m = best({m: lambda v=values[:m], m=m: mechanism(k, m).release(v, rng) for m in sizes})
        in_k = best({n: lambda v=values, n=n: mechanism(n, items).release(v, rng) for n in numbers})
        told = ", ".join(f"{1e3 * s:.0f} ms for {n:.0e}" for n, s in in_k.items())
        print(f"{name}: seconds grow like items^{exponent(in_m):.2f} and k^{exponent(in_k):.2f} ({told})")
    exact = {m: opendp_top_k(next(iter(data(m).values())), k, mechanism(k, m).scale) for m in (1_000, 3_000, 10_000)}
    seconds = best(exact, 1)
    told = ", ".join(f"{1e3 * s:.0f} ms for {m:.0e}" for m, s in seconds.items())
    print(f"OpenDP, counts like one over rank: seconds grow like items^{exponent(seconds):.2f} ({told})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=float, default=1e7)
    parser.add_argument("--k", type=int, default=100)
    given = parser.parse_args()
    mechanism(given.k, 1000).release(np.zeros(1000), np.random.default_rng(0))
    mechanism(given.k, 1000).release(np.zeros(1000, np.int64), np.random.default_rng(0))
    peers(int(given.items), given.k)
    growth(int(given.items), given.k)
