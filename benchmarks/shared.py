"""What several benchmarks time and fit with."""

import math
from time import process_time

import numpy as np
from scipy import special

from dprank.data.comparisons import Comparisons


def best(calls, rounds=3, clock=process_time, patience=math.inf):
    """Least processor seconds of every call; the rounds alternate, so that a busy moment hits all of them.

    A call that took more seconds than `patience` is not repeated.
    """
    seconds = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            if not patience < seconds[name] < math.inf:
                start = clock()
                call()
                seconds[name] = min(seconds[name], clock() - start)
    return seconds


def exponent(seconds):
    """Of the seconds that sizes took, in the size."""
    return np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0]


def random_rows(items, rows, seed=0):
    """Uniform pairs of items whose strengths are standard normal on the log scale: the graph is an expander."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=items)
    first = rng.integers(0, items, rows, np.int32)
    second = (first + rng.integers(1, items, rows, np.int32)) % items
    return Comparisons(first, second, rng.random(rows) < special.expit(theta[first] - theta[second]), range(items))
