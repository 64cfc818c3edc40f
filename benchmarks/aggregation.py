"""How much less than its peers rank aggregation takes: ratios of processor time on the same rankings, one run.

pip install corankco "pref_voting>=1"      (optional: a peer that is absent is left out)
python benchmarks/aggregation.py           (about three minutes and 500 MB; less with --largest 20)

Processor seconds of this process and of the solvers that it starts (corankco calls CBC), best of three interleaved
rounds, warm kernels. Ours are timed from the rankings on, its peers from their own data type. Every exact solver must
reach the same cost; a heuristic's cost is printed beside the optimum.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import resource
import subprocess
import sys

import numpy as np
from shared import best, exponent

from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, shrink
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows

VOTERS = 99


def clock():
    """Processor seconds so far, of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(calls):
    """Least seconds of every call, and what it returned; a call over 20 seconds is not repeated."""
    result = {}
    kept = {name: lambda name=name, call=call: result.update({name: call()}) for name, call in calls.items()}
    return best(kept, clock=clock, patience=20), result


def votes(m, phi=0.9, voters=VOTERS):
    sample = Mallows.of_phi(m, phi).sample(voters, rng=np.random.default_rng(m))
    return Rankings(sample, list(map(str, range(m))))


def noisy(m, deviation=0.2):
    """A private release of a thousand rankings: Gaussian noise on every fraction."""
    w = pairwise_fractions(votes(m, 0.9, 1000))
    noise = np.triu(np.random.default_rng(m).normal(0, deviation, (m, m)), 1)
    return shrink(w + noise - noise.T)


def report(m, seconds, costs):
    """One line a contender; ours is the first."""
    ours = next(iter(seconds))
    for name, value in seconds.items():
        ratio = "" if name == ours else f"{value / seconds[ours]:12,.0f}x"
        print(f"  {m:4d} items  {name:26s} {1e3 * value:12.3f} ms  cost {costs[name]:10.4f} {ratio}")


# --- peers -----------------------------------------------------------------------------------------------------------


def corankco_calls(data):
    """Exact (CBC) and heuristic (BioConsert) calls; each returns its cost."""
    from corankco.algorithms.bioconsert.bioconsert import BioConsert
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    orders = np.argsort(data.positions, axis=1).tolist()
    dataset = Dataset.from_raw_list([[{item} for item in order] for order in orders])
    scheme = ScoringScheme.get_unifying_scoring_scheme()

    def call(algorithm):
        return lambda: algorithm.compute_consensus_rankings(dataset, scheme, True).kemeny_score / len(data)

    return call(ExactAlgorithmPulp()), call(BioConsert())


def pref_voting_call(data):
    from pref_voting.other_methods import kemeny_young_rankings
    from pref_voting.profiles import Profile

    profile = Profile(np.argsort(data.positions, axis=1).tolist())
    return lambda: kemeny_young_rankings(profile)[1] / len(data)


def available(package):
    try:
        __import__(package)
    except ImportError:
        print(f"{package} is not installed: left out")
        return False
    return True


def against_exact(package, sizes):
    taken = {"kemeny": {}, package: {}}
    for m in sizes:
        data = votes(m, 1.0)
        calls = {
            "kemeny": lambda data=data: kemeny(pairwise_fractions(data)).cost,
            package: corankco_calls(data)[0] if package == "corankco" else pref_voting_call(data),
        }
        seconds, costs = timed(calls)
        report(m, seconds, costs)
        if abs(costs["kemeny"] - costs[package]) > 1e-6:
            raise SystemExit(f"{package} and kemeny disagree on {m} items: {costs}")
        for name, value in seconds.items():
            taken[name][m] = value
    for name, series in taken.items():
        print(f"  {name}: seconds grow like m^{exponent(series):.1f}")


def against_heuristic():
    print(f"heuristics, {VOTERS} Mallows rankings, phi = 0.97")
    taken = {"local_search": {}, "BioConsert": {}}
    for m in (4, 6, 10, 20, 40, 60, 100):
        data = votes(m, 0.97)
        w = pairwise_fractions(data)
        calls = {
            "local_search": lambda data=data: local_search(pairwise_fractions(data)),
            "BioConsert": corankco_calls(data)[1],
        }
        seconds, result = timed(calls)
        optimum = kemeny(w).cost
        report(
            m, seconds, {"local_search": kemeny_score(result["local_search"], w), "BioConsert": result["BioConsert"]}
        )
        print(f"  {m:4d} items  {'optimum':26s} {'':15s}  cost {optimum:10.4f}")
        for name, value in seconds.items():
            taken[name][m] = value
    for name, series in taken.items():
        print(f"  {name}: seconds grow like m^{exponent(series):.1f}")


# --- targets ---------------------------------------------------------------------------------------------------------


def subsets(largest):
    print("the programme over subsets, random margins")
    series = {}
    for m in range(16, max(largest, 18) + 1, 2):
        w = shrink(np.random.default_rng(m).normal(size=(m, m)))
        series[m] = timed({"subsets": lambda w=w: kemeny(w, method="subsets")})[0]["subsets"]
        print(f"  {m:4d} items {series[m]:9.3f} s, table of {2**m * 8 / 2**20:,.1f} MiB")
    growth = np.exp(np.polyfit(list(series), np.log(list(series.values())), 1)[0])
    print(f"  each further item multiplies the seconds by {growth:.2f}")


def integer(largest):
    print("the integer programme: votes of 99 and of 1,000, and noisy matrices")
    cases = {
        "Mallows, phi = 0.97": lambda m: pairwise_fractions(votes(m, 0.97)),
        "Mallows, 1,000 voters, 0.99": lambda m: pairwise_fractions(votes(m, 0.99, 1000)),
        "noisy, deviation 0.2": noisy,
        "noisy, deviation 0.3": lambda m: noisy(m, 0.3),
    }
    for name, make in cases.items():
        series = {}
        for m in (30, 40, 60, 80, 100) if largest > 20 else (30, 40):
            w = make(m)
            seconds, result = timed({"integer": lambda w=w: kemeny(w, method="integer", time_limit=300)})
            series[m] = seconds["integer"]
            order = local_search(w)
            excess = 100 * (kemeny_score(order, w) / result["integer"].cost - 1)
            print(f"  {name:28s} {m:4d} items {series[m]:9.3f} s   local search {excess:.4f} % above")
        print(f"  {name:28s} seconds grow like m^{exponent(series):.1f}")


def kernels():
    print("local search on noisy matrices, and the pairwise matrix")
    series = {}
    for m in (25, 50, 100, 200):
        w = noisy(m)
        series[m] = timed({"search": lambda w=w: local_search(w)})[0]["search"]
        print(f"  local search {m:8d} items {1e3 * series[m]:9.2f} ms")
    rng, series = np.random.default_rng(0), {}
    for n in (10**3, 10**4, 10**5):
        data = Rankings(np.argsort(rng.random((n, 100)), axis=1), list(map(str, range(100))))
        series[n] = timed({"pairwise": data.pairwise})[0]["pairwise"]
        print(f"  pairwise {n:12,d} rankings of 100 items {1e3 * series[n]:9.2f} ms")
    print(f"  pairwise: seconds grow like voters^{exponent(series):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=24, help="items of the largest programme over subsets")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    largest = arguments.largest
    kemeny(shrink(np.random.default_rng(0).normal(size=(8, 8))), method="subsets")
    votes(4).pairwise()
    if arguments.only:
        return available(arguments.only) and against_exact(arguments.only, range(4, 9))
    print("load of the machine:", " ".join(f"{load:.1f}" for load in os.getloadavg()), flush=True)
    print(f"exact Kemeny, {VOTERS} uniform rankings: no signal", flush=True)
    # in a process of its own: its OR-Tools and highspy bring two versions of one library
    subprocess.run([sys.executable, __file__, "--only=pref_voting"], check=True)
    if available("corankco"):
        against_exact("corankco", (4, 6, 8, 10, 15, 20, 25, 30))
        against_heuristic()
    kemeny(noisy(21), method="integer")
    subsets(largest)
    integer(largest)
    kernels()


if __name__ == "__main__":
    main()
