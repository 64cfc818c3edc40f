"""Places that noise leaves open, beside the peer: an interval for each pair, with Bonferroni's correction.

    python benchmarks/ranges.py [--draws 300]

Widths are mean numbers of places; an oracle that knows how the noise fell at each draw, and takes the least distance
that was right there, cannot be had, and shows what is left. Seconds of processor time, beside sorting.
"""

import argparse
import math
from collections.abc import Callable

import numpy as np
from scipy import stats
from shared import best

from dprank.privacy import ranges
from dprank.privacy.ranges import ScoreNoise, place_intervals, range_cdf, range_quantile

LEVEL = 0.95
SPREADS = {
    "tied": lambda m: np.zeros(m),  # noqa: PLW0108
    "two scales apart": lambda m: 2.0 * np.arange(m),
    "clusters": lambda m: 25.0 * (np.arange(m) * 3 // m),
    "far": lambda m: 20.0 * np.arange(m),
}
LAWS = {"Laplace": ScoreNoise("laplace", 1.0), "Gaussian": ScoreNoise("gaussian", 1.0)}


def bonferroni(law, m):
    """Distance that one of two noises is above the other by with probability (1 - level) / (m (m - 1))."""
    share = (1 - LEVEL) / (m * (m - 1))
    if law.noise == "gaussian":
        return math.sqrt(2) * stats.norm.isf(share)
    low, high = 0.0, 200.0
    while high - low > 1e-9:
        t = (low + high) / 2
        low, high = (t, high) if math.exp(-t) * (1 + t / 2) / 2 > share else (low, t)
    return high


def width(scores, apart):
    """Mean number of places that differences above `apart` leave open."""
    told = scores[:, :, None] - scores[:, None, :] > apart
    return scores.shape[1] - 2 * told.sum(axis=(1, 2)).mean() / scores.shape[1]


def widths(law, m, spread, draws):
    rng = np.random.default_rng(1)
    exact = SPREADS[spread](m)
    noise = rng.laplace(size=(draws, m)) if law.noise == "laplace" else rng.normal(size=(draws, m))
    scores, q = exact + noise, range_quantile(law, m, LEVEL)
    right, open_places = 0, 0
    first, last = 1 + (exact > exact[:, None]).sum(1), m - (exact < exact[:, None]).sum(1)
    for row in scores:
        lowest, highest = place_intervals(row, law, LEVEL)
        open_places += (highest - lowest + 1).mean() / draws
        right += ((lowest <= first) & (last <= highest)).all() / draws
    peer, one = width(scores, bonferroni(law, m)), width(scores, q)
    # of noise at hand: no larger difference of the wrong sign
    oracle = np.mean([width(row[None], wrong(exact, drawn)) for row, drawn in zip(scores, noise, strict=True)])
    print(
        f"{law.noise}, {m} items, {spread}: dprank {open_places:.2f} places, right in {right:.1%}; "
        f"range, one step {one:.2f} ({one / open_places:.3f}x), Bonferroni {peer:.2f} ({peer / open_places:.3f}x), "
        f"oracle {oracle:.2f} ({oracle / open_places:.3f}x)"
    )


def wrong(exact, noise):
    """Largest released difference of two items that has the wrong sign, or none."""
    differences = (exact[:, None] - exact) + (noise[:, None] - noise)
    return max(0.0, differences[exact[:, None] <= exact].max())


def distances():
    for law in LAWS.values():
        for m in (2, 10, 100, 1000):
            q, peer = range_quantile(law, m, LEVEL), bonferroni(law, m)
            told = 1 - range_cdf(law, m, peer)
            print(
                f"{law.noise}, {m} items: q = {q:.3f} scales, Bonferroni {peer:.3f} ({peer / q:.3f}x), errs {told:.2%}"
            )


def seconds(sizes=(10, 10**3, 10**5, 10**6)):
    for name, law in {**LAWS, "whole Laplace, 256 steps a scale": ScoreNoise("laplace", 256.0, 1.0)}.items():
        for m in sizes:
            scores = np.random.default_rng(2).normal(size=m) * law.scale

            def cold(law=law, m=m):
                ranges._quantile.cache_clear()
                range_quantile(law, m, LEVEL)

            calls: dict[str, Callable[[], object]] = {
                "quantile": cold,
                "places": lambda law=law, scores=scores: place_intervals(scores, law, LEVEL),
                "sorting": lambda scores=scores: np.sort(scores),
            }
            took = best(calls)
            ratio = took["places"] / max(took["sorting"], 1e-9)
            told = f"quantile {took['quantile']:.3f} s, places {took['places']:.3f} s ({ratio:.0f}x sorting)"
            print(f"{name}, {m} items: {told}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    given = parser.parse_args().draws
    distances()
    for which in LAWS.values():
        for number in (10, 30):
            for shape in SPREADS:
                widths(which, number, shape, given)
    seconds()
