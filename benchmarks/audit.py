"""Betting beside its baseline: processor time and releases to refute, and the price of the auditor over its draws.

    python benchmarks/audit.py [--budget 1000000]

The peers: simultaneous Clopper-Pearson intervals on as many releases, and the bare sampler. Growth: in the releases.
"""

import argparse

import numpy as np
from shared import best, exponent

from dprank.audit.betting import lower_bound
from dprank.audit.clopper_pearson import held_out_bound


def vector(scale, features):
    """Laplace noise on a vector of which neighbours differ in one entry by 1."""
    return lambda data, size, rng: rng.laplace(data, scale, (size, features))


def neighbours(features):
    return [(np.zeros(features), np.r_[1.0, np.zeros(features - 1)])]


def audited(sample, features, budget, route=lower_bound):
    return route(sample, neighbours(features), 1.0, rng=np.random.default_rng(0), budget=budget, bits=False)


def overhead(features, budget):
    sample = vector(1.0, features)
    seconds = best(
        {
            "betting": lambda: audited(sample, features, budget),
            "counting": lambda: audited(sample, features, budget, held_out_bound),
            "the draws alone": lambda: [
                sample(data, budget // 2, np.random.default_rng(0)) for data in neighbours(features)[0]
            ],
        }
    )
    told = ", ".join(f"{name} {s:.2f} s ({s / seconds['betting']:.2f}x)" for name, s in seconds.items())
    print(f"a kept promise, {features} features, {budget:.0e} releases: {told}")


def releases(budget):
    for factor in (2, 1.5, 1.2, 1.1):
        found = audited(vector(1 / factor, 1), 1, budget)
        sizes = [int(n) for n in 2 ** np.arange(10, 24) if n <= budget]
        refuting = (n for n in sizes if audited(vector(1 / factor, 1), 1, n, held_out_bound).refuted)
        enough = next(refuting, None)
        times = f"{enough / found.samples:.1f}x" if enough and found.refuted else "-"
        print(f"true over promised epsilon {factor}: betting {found.samples} releases, counting {enough} ({times})")


def growth(budget):
    sizes = [budget // 16, budget // 4, budget]
    seconds = best({n: lambda n=n: audited(vector(1.0, 4), 4, n) for n in sizes})
    print(f"betting: seconds grow like releases^{exponent(seconds):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=1e6)
    given = int(parser.parse_args().budget)
    audited(vector(1.0, 4), 4, 4096)
    for number in (1, 4, 8):
        overhead(number, given)
    releases(given)
    growth(given)
