"""How much less than its peers the likelihood solver takes: ratios of processor time, same data, same gradient norm.

python benchmarks/likelihood.py            (about a minute and 600 MB; less with --rows 1e6)

Every contender runs in turn, several rounds, and medians are compared: a busy moment hits all of them. One core, warm
kernels. Gradient norms are those of the unpenalised likelihood where a peer knows no ridge; ours is 1e-9 there.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

import argparse
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import choix
import numba
import numpy as np
from scipy import linalg, optimize, special
from shared import random_rows

from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins
from dprank.models.bradley_terry import sample_erdos_renyi
from dprank.models.games import Games
from dprank.models.likelihood import gradient, mle, mle_from_counts

TINY = 1e-9


def medians(calls, rounds=5):
    """Median processor seconds of every call, and what it returned."""
    seconds, result = {name: [] for name in calls}, {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = process_time()
            result[name] = call()
            seconds[name].append(process_time() - start)
    return {name: float(np.median(s)) for name, s in seconds.items()}, result


def exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def compare(calls, norms, rounds=5):
    """One line a contender: milliseconds, how often ours, and the gradient norm it reached."""
    seconds, result = medians(calls, rounds)
    ours = next(iter(seconds.values()))
    for name, value in seconds.items():
        norm = norms[name](result[name])
        print(f"  {name:42s} {1e3 * value:9.2f} ms {value / ours:8.1f}x   gradient norm {norm:.1e}")
    return seconds, result


# --- many items ------------------------------------------------------------------------------------------------------


def peak():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def alone(items, rows):
    """In a process of its own: seconds, Newton steps, gradient norm, and memory before and at the peak."""
    mle(random_rows(400, 900), ridge=0.1)
    data = random_rows(items, rows)
    before = peak()
    start = process_time()
    fit = mle(data, ridge=0.1, tolerance=1e-7)
    print(process_time() - start, fit.iterations, fit.gradient_norm, before, peak())


def many(items, rows):
    print(f"{items:.0e} items, ridge 0.1, to a gradient norm of 1e-7")
    sizes, seconds = [rows // 10, rows // 4, rows], []
    for n in sizes:
        arguments = [sys.executable, __file__, f"--items={items}", f"--rows={n}", "--alone"]
        runs = [subprocess.run(arguments, check=True, capture_output=True, text=True).stdout for _ in range(3)]
        table = np.array([run.split() for run in runs], float)
        s, steps, norm, before, most = np.median(table, axis=0)
        seconds.append(s)
        print(
            f"  {n:.2e} comparisons {s:7.2f} s   {steps:.0f} Newton steps   gradient norm {norm:.1e}   "
            f"{before:.0f} MiB to make the data, {most:.0f} MiB at the peak"
        )
    print(f"  seconds grow like comparisons^{exponent(sizes, seconds):.2f}")


# --- dense tables ----------------------------------------------------------------------------------------------------


def table_norm(table):
    """Of the unpenalised likelihood at some strengths, from a table of wins."""
    games, wins = table + table.T, table.sum(axis=1)
    return lambda theta: float(np.linalg.norm((games * special.expit(theta[:, None] - theta)).sum(axis=1) - wins))


def newton_cholesky(table, tolerance):
    """Newton's method with the whole Hessian and LAPACK, as a textbook has it."""
    n = len(table)
    games, wins, theta = table + table.T, table.sum(axis=1), np.zeros(len(table))
    for _ in range(50):
        p = special.expit(theta[:, None] - theta)
        g = (games * p).sum(axis=1) - wins
        if np.linalg.norm(g) <= tolerance:
            break
        hessian = -games * p * (1 - p)
        hessian[np.diag_indices(n)] -= hessian.sum(axis=1)
        # 1 is in the kernel: lift it
        hessian += 1 / n
        theta -= linalg.cho_solve(linalg.cho_factor(hessian, overwrite_a=True, check_finite=False), g)
    return theta - theta.mean()


def complete(items):
    data = sample_erdos_renyi(np.linspace(-1, 1, items), 1.0, rng=np.random.default_rng(1))
    table = pairwise_wins(data)
    played, wins, norm = (table + table.T).astype(np.float32), table.sum(axis=1)[None], table_norm(table)
    reached = norm(choix.ilsr_pairwise_dense(table))
    print(f"complete graph of {items} items, to the gradient norm that choix stops at; tables at hand")
    calls = {
        "mle_from_counts": lambda: mle_from_counts(played, wins, ridge=TINY, tolerance=reached)[0][0],
        "mle, from rows, existence checked": lambda: mle(data, tolerance=reached).theta,
        "choix.ilsr_pairwise_dense": lambda: choix.ilsr_pairwise_dense(table),
        "Newton with a dense Cholesky factor": lambda: newton_cholesky(table, reached),
    }
    compare(calls, dict.fromkeys(calls, norm))


def batch(items, share, replicates):
    rng = np.random.default_rng(2)
    graphs = [sample_erdos_renyi(np.linspace(-1, 1, items), share, rng=rng) for _ in range(replicates)]
    tables = [pairwise_wins(data) for data in graphs]
    played = np.array([t + t.T for t in tables], np.float32)
    wins = np.array([t.sum(axis=1) for t in tables])
    norms = [table_norm(t) for t in tables]

    def worst(thetas):
        return max(norm(theta) for norm, theta in zip(norms, thetas, strict=True))

    reached = worst([choix.ilsr_pairwise_dense(t) for t in tables])
    print(f"{replicates} replicates of {items} items, share {share} of the pairs compared")
    calls = {
        "mle_from_counts": lambda: mle_from_counts(played, wins, ridge=TINY, tolerance=reached)[0],
        "choix.ilsr_pairwise_dense": lambda: [choix.ilsr_pairwise_dense(t) for t in tables],
    }
    seconds, _ = compare(calls, dict.fromkeys(calls, worst), rounds=3)
    print(f"  {1e3 * seconds['mle_from_counts'] / replicates:.2f} ms a replicate")


# --- sparse graphs ---------------------------------------------------------------------------------------------------


@numba.njit(error_model="numpy")
def value_and_gradient(start, other, played, wins, ridge, theta):
    """All that L-BFGS asks for, in one pass over merged pairs: one logarithm for many of them."""
    middle = (theta.min() + theta.max()) / 2
    a, slope, value = np.exp(theta - middle), ridge * theta - wins, 0.0
    for i in range(theta.size):
        mine, product, total = a[i], 1.0, 0.0
        for at in range(start[i], start[i + 1]):
            both = mine + a[other[at]]
            win = played[at] * (mine / both)
            total += win
            slope[other[at]] += played[at] - win
            value += played[at] * middle
            if played[at] > 1:
                value += played[at] * np.log(both)
            else:
                product *= both
                if product > 1e100 or product < 1e-100:
                    value += np.log(product)
                    product = 1.0
        slope[i] += total
        value += np.log(product) + theta[i] * (ridge / 2 * theta[i] - wins[i])
    return value, slope


def sparse(items, rows, ridge=0.1):
    data = random_rows(items, rows, seed=3)
    games = Games.of(data)
    wins, asked = games.wins, []

    def evaluate(theta):
        value, slope = value_and_gradient(games.start, games.other, games.played, wins, ridge, theta)
        asked.append(float(np.linalg.norm(slope)))
        return value, slope

    def lbfgs(tolerance):
        def enough(_):
            if asked[-1] <= tolerance:
                raise StopIteration

        asked.clear()
        # without a tolerance it ends where the value no longer changes in double precision
        options = {"ftol": 0, "gtol": 1e-12, "maxiter": 10_000, "maxfun": 10_000}
        start = np.zeros(items)
        return optimize.minimize(evaluate, start, jac=True, method="L-BFGS-B", options=options, callback=enough).x

    def norm(theta):
        return float(np.linalg.norm(gradient(theta, data) + ridge * theta))

    print(f"{items:.0e} items, {rows:.0e} comparisons, ridge {ridge}; L-BFGS has merged pairs and a compiled kernel")
    for tolerance, ending in ((1e-2, ""), (0.0, ", to where it stalls")):
        reached = norm(lbfgs(tolerance))
        calls: dict[str, Any] = {
            f"mle, from rows, to {reached:.0e}": lambda to=reached: mle(data, ridge=ridge, tolerance=to).theta,
            f"scipy L-BFGS-B{ending}": lambda to=tolerance: lbfgs(to),
        }
        if ending:
            calls["mle, from rows, to 1e-07"] = lambda: mle(data, ridge=ridge, tolerance=1e-7).theta
        compare(calls, dict.fromkeys(calls, norm))
        print(f"  L-BFGS asked for {len(asked)} values and gradients")


def path(n, rng):
    """Every pair of neighbours met four times; both won."""
    first = np.repeat(np.arange(n - 1), 4)
    won = rng.random(first.size) < 0.6
    won[::4], won[1::4] = True, False
    return Comparisons(first, first + 1, won, range(n))


def grid(n, rng):
    side = int(np.sqrt(n))
    code = np.arange(side * side).reshape(side, side)
    first, second = np.r_[code[:, :-1].ravel(), code[:-1].ravel()], np.r_[code[:, 1:].ravel(), code[1:].ravel()]
    won = rng.random(4 * first.size) < 0.6
    won[::4], won[1::4] = True, False
    return Comparisons(np.repeat(first, 4), np.repeat(second, 4), won, range(side * side))


def thin():
    print("graphs that conjugate gradients dislike, to a gradient norm of 1e-8")
    for name, make, sizes in (("path", path, (2000, 6000, 18_000)), ("grid", grid, (10_000, 40_000, 160_000))):
        for ridge in (0.0, 0.01):
            graphs = {n: make(n, np.random.default_rng(4)) for n in sizes}
            calls = {n: lambda data=data, ridge=ridge: mle(data, ridge=ridge) for n, data in graphs.items()}
            seconds, fits = medians(calls, rounds=3)
            told = ", ".join(f"{n:.0e} {seconds[n]:.2f} s" for n in sizes)
            steps, growth = max(fit.iterations for fit in fits.values()), exponent(sizes, list(seconds.values()))
            print(f"  {name}, ridge {ridge:4}: {told}; {steps} Newton steps; seconds like items^{growth:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--items", type=lambda text: int(float(text)), default=100_000)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        alone(given.items, given.rows)
        return
    # compile before anything is timed
    mle(random_rows(400, 900), ridge=0.1)
    mle(path(100, np.random.default_rng(0)))
    many(given.items, given.rows)
    complete(1000)
    sparse(given.items, given.rows // 10)
    batch(300, 0.5, 20)
    thin()


if __name__ == "__main__":
    main()
