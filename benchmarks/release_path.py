"""The command line as a black box: releases of files that differ in one person, audited by betting.

    python benchmarks/release_path.py [--releases 100000] [--epsilon 1] [--only ranking]

For every question what the releases show, with the seconds of one; then a twentieth as many releases of one pair, as if
the path promised half of its epsilon: a check that the bets can refute.
"""

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from dprank.audit import audit
from dprank.cli.path import PATHS, CommandLine
from dprank.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Promising:
    """The same command, with another promise."""

    line: CommandLine
    guarantee: Guarantee

    def release(self, data: bytes, rng: Any) -> Any:
        return self.line.release(data, rng)


def audited(question, mechanism, releases, rng, most=None):
    names, pairs = list(PATHS[question].pairs)[:most], list(PATHS[question].pairs.values())[:most]
    budget = max(releases, 2 * 256 * (len(pairs) + 1))
    start = perf_counter()
    found = audit(mechanism, pairs, rng=rng, budget=budget)
    seconds, seen = perf_counter() - start, found.samples
    verdict = "BROKEN" if found.broken else "not refuted"
    print(
        f"{question}: {verdict} in {seen.samples:,} releases of {len(pairs)} pairs: loses at least {seen.epsilon:.2f}, "
        f"promises {mechanism.guarantee.epsilon:g}; most wealth {seen.wealth:.3g}, on '{names[seen.pair]}' "
        f"({seen.event}); {1e3 * seconds / seen.samples:.1f} ms a release",
        flush=True,
    )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=20_000, help="in all")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--only", choices=PATHS, action="append", help="of all questions")
    given = parser.parse_args()
    rng, made, broken = np.random.default_rng(1), 0, 0
    asked = given.only or list(PATHS)
    for question in asked:
        path = PATHS[question]
        with tempfile.TemporaryDirectory() as folder:
            line = path.line(given.epsilon, Path(folder))
            found = audited(question, line, given.releases // len(PATHS), rng)
            made, broken = made + found.samples.samples, broken + found.broken
            half = Promising(line, replace(line.guarantee, epsilon=given.epsilon / 2))
            audited(question, half, given.releases // 20, rng, most=1)
    print(f"{made:,} releases, {broken} of {len(asked)} paths refuted")


if __name__ == "__main__":
    main()
