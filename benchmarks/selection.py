"""What is named right at equal epsilon: k items drawn together, beside rounds and one pass; and the winner of rankings.

    python benchmarks/selection.py [--draws 2000] [--profiles 30]

Recall is the share of the chosen that belong to the k best (ties count), right the chance that all do. The right winner
is the Condorcet winner, of profiles that have one. All with a standard error.
"""

import argparse
from itertools import product

import numpy as np

import dprank
from companion.instruments.surveys import cems, german_parties, strict_rankings
from dprank.privacy.laws import sample

EPSILONS = (0.1, 0.25, 1.0)
TALLIES = {
    "Zipf, 1000 over the place, of 100": np.round(1000 / np.arange(1, 101)).astype(int),
    "Zipf, 10^4 over the place, of 1000": np.round(10**4 / np.arange(1, 1001)).astype(int),
    "persons by diagnosis, of 5": np.array([197, 129, 84, 26, 2]),
}


def error(shares):
    return f"{np.mean(shares):.3f} ± {np.std(shares) / max(1, len(shares) - 1) ** 0.5:.3f}"


def selections(counts, k, epsilon):
    """By name, each calibrated."""
    shared = {"epsilon": epsilon, "n_items": len(counts), "k": k, "adjacency": "add_remove"}
    return {
        "joint set": dprank.JointExponential.calibrated(**shared),
        "joint list": dprank.JointExponential.calibrated(**shared, ordered=True),
        "permute-and-flip": dprank.Peeling.calibrated(**shared),
        "exponential mechanism": dprank.Peeling.calibrated(**shared, noise="gumbel"),
        "one pass, Laplace": dprank.Oneshot.calibrated(**shared),
    }


def top_k(counts, k, draws, rng):
    for epsilon in EPSILONS:
        for name, mechanism in selections(counts, k, epsilon).items():
            chosen = counts[sample(mechanism, counts, draws, rng).astype(int)]
            recall = (chosen >= np.sort(counts)[-k]).mean(axis=1)
            print(f"  k = {k}, epsilon {epsilon:<4} {name:22} recall {error(recall)}, right {error(recall == 1)}")


def profiles(rng):
    """By name: what draws one."""

    def of_mallows(m, phi, n):
        return dprank.Mallows.of_phi(m, phi).sample(n, rng=rng)

    def named(positions):
        return dprank.Rankings(positions, [*map(str, range(positions.shape[1]))])

    def camps(m, n):
        turned = of_mallows(m, 0.7, n - round(0.6 * n))[:, rng.permutation(m)]
        return named(np.r_[of_mallows(m, 0.7, round(0.6 * n)), turned])

    def rival(m, n):
        """Who is first of half of the voters and last of the other half."""
        first, last = [1, 0, *range(2, m)], [0, m - 1, *range(1, m - 1)]
        return named(np.repeat([last, first], [round(0.51 * n), n - round(0.51 * n)], axis=0))

    for m, n in product((5, 10, 20), (50, 200, 1000)):
        yield f"Mallows, phi = 0.9, {m} items, {n} voters", lambda m=m, n=n: named(of_mallows(m, 0.9, n))
        yield f"two camps, 60 to 40, {m} items, {n} voters", lambda m=m, n=n: camps(m, n)
    yield "a rival loved and hated, 5 items, 200 voters", lambda: rival(5, 200)
    for name, answers in (("CEMS", cems()), ("German parties", german_parties())):
        yield f"{name}, strict rankings", lambda answers=answers: strict_rankings(answers)


def firsts(mechanism, votes, draws, rng):
    """Codes of who is named first."""
    if isinstance(mechanism, dprank.PrivateWinner):
        return mechanism.draw(mechanism.scores(votes), draws, rng)
    return sample(mechanism, votes, draws, rng)[:, 0]


def winners(draw, epsilon, count, draws, rng):
    named = {}
    for votes in (draw() for _ in range(count)):
        shared = {"epsilon": epsilon, "n_items": votes.n_items}
        maximin, borda = (dprank.PrivateWinner.calibrated(**shared, rule=rule) for rule in ("maximin", "borda"))
        scores = maximin.scores(votes)
        if scores.max() <= 0:
            continue
        right = scores.argmax()
        ways = {
            "worst margin": maximin,
            "net wins": borda,
            "first of PrivateBorda": dprank.PrivateBorda.calibrated(**shared),
            "first of NoisyMatrix, copeland": dprank.NoisyMatrix.calibrated(**shared, rule="copeland"),
        }
        for name, mechanism in ways.items():
            named.setdefault(name, []).append((firsts(mechanism, votes, draws, rng) == right).mean())
    for name, shares in named.items():
        print(f"  epsilon {epsilon:<4} {name:32} {error(shares)} of {len(shares)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--profiles", type=int, default=30)
    asked, rng = parser.parse_args(), np.random.default_rng(1)
    for name, counts in TALLIES.items():
        print(name)
        for k in (1, 2, 5, 10, 20):
            if k < len(counts):
                top_k(counts, k, asked.draws, rng)
    for name, draw in profiles(rng):
        print(name)
        for epsilon in EPSILONS[1:]:
            winners(draw, epsilon, asked.profiles, asked.draws, rng)


if __name__ == "__main__":
    main()
