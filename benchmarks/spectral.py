"""Rank centrality beside its peers: processor time on the same data, l1 distance between the answers, growth exponents.

python benchmarks/spectral.py              (under a minute and 500 MB)

Every contender runs in turn, several rounds, and medians are compared. One core, warm kernels.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

from time import process_time

import choix
import numpy as np
from scipy import special
from scipy.sparse.linalg import ArpackNoConvergence, eigs
from shared import random_rows

from dprank.topk.spectral import (
    ergodicity_coefficient,
    pair_shares,
    rank_centrality,
    stationary_distribution,
    transition_matrix,
)


def path(items, seed=0):
    """Items in a row, each compared with the next; also its law by detailed balance."""
    up = np.random.default_rng(seed).uniform(0.45, 0.55, items - 1)
    log = np.r_[0, np.cumsum(special.logit(up))]
    law = np.exp(log - log.max())
    pairs = np.column_stack([np.arange(items - 1), np.arange(1, items)])
    return transition_matrix(items, pairs, up), law / law.sum()


def median(call, rounds=3):
    """Median processor seconds and the last result, or None where a contender gives up."""
    seconds, result = [], None
    for _ in range(rounds):
        start = process_time()
        try:
            result = call()
        except (ArpackNoConvergence, ArithmeticError):
            result = None
        seconds.append(process_time() - start)
    return float(np.median(seconds)), result


def exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def arpack(chain):
    _, vectors = eigs(chain.T, k=1, which="LR", v0=np.ones(chain.shape[0]), maxiter=1000)
    law = np.abs(np.real(vectors[:, 0]))
    return law / law.sum()


def dense(chain):
    values, vectors = np.linalg.eig(chain.toarray().T)
    law = np.abs(np.real(vectors[:, np.argmin(np.abs(values - 1))]))
    return law / law.sum()


def power(chain, steps=100_000):
    back = chain.T.tocsr()
    law = np.full(chain.shape[0], 1 / chain.shape[0])
    for _ in range(steps):
        new = back @ law
        if np.abs(new - law).sum() < 1e-12:
            return new / new.sum()
        law = new
    raise ArithmeticError


def compare(title, calls, truth):
    print(title)
    first = None
    for name, call in calls.items():
        seconds, law = median(call)
        first = first or seconds
        far = "no answer" if law is None else f"l1 distance {np.abs(law - truth).sum():.0e}"
        print(f"  {name:36s} {1e3 * seconds:10.2f} ms {seconds / first:9.1f}x   {far}")


def main():
    rank_centrality(random_rows(400, 4000), prior=1)
    rank_centrality(random_rows(40, 4000), prior=1)
    stationary_distribution(path(2000)[0])

    sizes, seconds = [12_500, 25_000, 50_000, 100_000], []
    for items in sizes:
        data = random_rows(items, 10 * items)
        whole, law = median(lambda data=data: rank_centrality(data, prior=1))
        chain = transition_matrix(items, *pair_shares(data, prior=1))
        solve, _ = median(lambda chain=chain: stationary_distribution(chain))
        seconds.append(whole)
        print(f"{items:7d} items, {10 * items:8d} comparisons: {whole:.2f} s, of which the solution {solve:.2f} s")
    print(f"growth exponent {exponent(sizes, seconds):.2f}")
    calls = {
        "dprank.stationary_distribution": lambda: stationary_distribution(chain),
        "scipy eigs (ARPACK)": lambda: arpack(chain),
        "power iteration to 1e-12": lambda: power(chain),
    }
    compare("the largest of them, matrix given", calls, law)

    data = random_rows(800, 80_000)
    chain = transition_matrix(800, *pair_shares(data))
    won = [
        (int(a), int(b)) if x else (int(b), int(a))
        for a, b, x in zip(data.first, data.second, data.points, strict=True)
    ]

    def choix_law():
        law = np.exp(choix.rank_centrality(800, won))
        return law / law.sum()

    calls = {
        "dprank.rank_centrality": lambda: rank_centrality(data),
        "choix.rank_centrality": choix_law,
        "scipy eigs (ARPACK) of our matrix": lambda: arpack(transition_matrix(800, *pair_shares(data))),
    }
    compare("800 items, 80000 comparisons", calls, rank_centrality(data))
    calls = {
        "dprank.stationary_distribution": lambda: stationary_distribution(chain),
        "scipy eigs (ARPACK)": lambda: arpack(chain),
        "numpy eig": lambda: dense(chain),
    }
    compare("the same, matrix given", calls, rank_centrality(data))

    chain, law = path(10_000)
    calls = {
        "dprank.stationary_distribution": lambda: stationary_distribution(chain),
        "scipy eigs (ARPACK)": lambda: arpack(chain),
        "100000 steps of power iteration": lambda: power(chain),
    }
    compare("path of 10000 items, against detailed balance", calls, law)

    sizes, seconds = [200, 400, 800], []
    for items in sizes:
        pairs = np.column_stack(np.triu_indices(items, 1))
        chain = transition_matrix(items, pairs, np.random.default_rng(0).random(len(pairs)))
        seconds.append(median(lambda chain=chain: ergodicity_coefficient(chain))[0])
    print(f"ergodicity coefficient, complete graphs: {seconds[-1]:.2f} s at {items} items, ", end="")
    print(f"growth exponent {exponent(sizes, seconds):.2f}")


if __name__ == "__main__":
    main()
