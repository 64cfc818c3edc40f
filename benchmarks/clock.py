"""What the time of a release tells of the data: how often two tables are told apart by one measured release.

python benchmarks/clock.py            (some minutes; --releases 400 for a look)

Of each exact sampler two tables, in which all counts, or all people, are *alike* or *apart*, each beside a neighbour
in which one person differs; and the two beside each other. Both are released in turn, in random order. An attacker who
knows the machine takes the cut and the side of it that fit the first half best, and guesses the second half: 50 % tells
nothing. Processor time of the thread, which is the finest that anybody could measure.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from time import thread_time_ns

import numpy as np

import dprank


def tables():
    """Names -> a mechanism, and pairs of tables by name."""
    apart = 400 + 7 * np.arange(50)[::-1]
    counts = [np.full(50, 400), apart]
    fewer = [it - (np.arange(50) == 5) for it in counts]
    order = [*range(6)]
    camps = [[order] * 200, [order, order[::-1]] * 100]
    votes, moved = ([dprank.Rankings(it, "abcdef") for it in some]
                    for some in (camps, [[order[::-1], *it[1:]] for it in camps]))  # fmt: skip
    first, second = np.triu_indices(8, 1)
    rows = {"first": np.tile(first, 30), "second": np.tile(second, 30), "voter": np.repeat(np.arange(30), len(first))}

    def answers(outcome):
        return dprank.Comparisons(**rows, outcome=outcome, items="abcdefgh")

    said = [np.ones(len(rows["first"])), np.repeat(np.arange(30) % 2, len(first)).astype(float)]
    turned = [np.where(rows["voter"] == 0, 1 - it, it) for it in said]
    top = {"epsilon": 1.0, "k": 5, "n_items": 50, "adjacency": "add_remove"}
    fit = dprank.PerturbedMLE.calibrated(epsilon=1.0, n_items=8, per_person=28, ridge=1.0, graph="public")
    found = {
        "Peeling, Gumbel": (dprank.Peeling.calibrated(**top), counts, fewer),
        "Peeling, exponential": (dprank.Peeling.calibrated(**top, noise="exponential"), counts, fewer),
        "Oneshot, Gumbel": (dprank.Oneshot.calibrated(**top, noise="gumbel"), counts, fewer),
        "Oneshot, Laplace": (dprank.Oneshot.calibrated(**top, noise="laplace"), counts, fewer),
        "Oneshot, exponential": (dprank.Oneshot.calibrated(**top, noise="exponential"), counts, fewer),
        "JointExponential": (dprank.JointExponential.calibrated(**top), counts, fewer),
        "PrivateKwikSort": (dprank.PrivateKwikSort.calibrated(epsilon=1.0, n_items=6), votes, moved),
        "PerturbedMLE": (fit, [*map(answers, said)], [*map(answers, turned)]),
    }
    return {
        name: (it, {"one, alike": (data[0], near[0]), "one, apart": (data[1], near[1]), "alike, apart": tuple(data)})
        for name, (it, data, near) in found.items()
    }


def timed(mechanism, pair, releases, rng):
    """Nanoseconds of so many releases of each of two tables, in random order; shape (2, releases)."""
    taken = [[], []]
    for side in rng.permutation(np.repeat([0, 1], releases)):
        start = thread_time_ns()
        mechanism.release(pair[side], dprank.SECURE)
        taken[side].append(thread_time_ns() - start)
    return np.array(taken)


def guessed(taken):
    """Share of right guesses on the second half of releases, by the best cut of the first."""
    half = taken.shape[1] // 2
    learnt, asked = taken[:, :half], taken[:, half:]
    cuts = np.unique(learnt)
    above = [1 - np.searchsorted(np.sort(side), cuts, "right") / half for side in learnt]
    gain = above[1] - above[0]
    at = np.abs(gain).argmax()
    share = (asked > cuts[at]).mean(axis=1)
    return 0.5 + np.sign(gain[at]) * (share[1] - share[0]) / 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=4000, help="of each table")
    releases = parser.parse_args().releases
    rng = np.random.default_rng()
    for name, (mechanism, pairs) in tables().items():
        said = []
        for which, pair in pairs.items():
            timed(mechanism, pair, 20, rng)  # warm
            taken = timed(mechanism, pair, releases, rng)
            ratio = np.median(taken[1]) / np.median(taken[0])
            said.append(f"{which}: {guessed(taken):.1%} right, times {ratio:.3f}")
        print(f"{name:22}", *said, f"(+- {1 / np.sqrt(releases):.1%})", sep="  ", flush=True)
