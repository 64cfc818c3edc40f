"""Audits with routes of mechanisms that keep their promise: none may call them broken.

python tests/audit_alarms.py 1000    as many, spread over all classes and commands; prints what was broken

Of bets alone one in 1,000 might be by the confidence asked for, if a mechanism lost all that it promises.
"""

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests/dprank")]

from test_published_bits import CASES, ITEMS, case_of, of  # noqa: E402

import dprank  # noqa: E402
from dprank.audit import Audit, audit, betting  # noqa: E402
from dprank.cli.neighbours import worst_pairs  # noqa: E402
from dprank.cli.path import PATHS  # noqa: E402

#: Reports of one voter, for whom the first and the last item change their places.
LOCAL = ("LocalBorda", "LocalKwikSort", "LocalMatrix", "LocalOneBit", "LocalPairs", "LocalTwoStage")


def at_random(seed):
    """One audit of a mechanism that keeps its promise, on neighbours that lose much of it."""
    rng = np.random.default_rng(seed)
    epsilon, items = float(rng.choice([0.5, 1.0, 2.0])), ITEMS[:4]
    named = {"epsilon": epsilon, "n_items": 4, "adjacency": str(rng.choice(["replace", "add_remove"]))}
    votes = rng.permuted(np.tile(np.arange(4), (5, 1)), axis=1)
    kind = int(rng.integers(5))
    mechanism: Any
    one: Any
    other: Any
    if kind == 0:
        who, what = np.arange(6), rng.integers(0, 4, 6)
        one, other = (dprank.Tallies(who[:stop], what[:stop], items) for stop in (6, 5))
        mechanism = dprank.Oneshot.calibrated(k=2, items=items, per_person=1, values=True, **named)
    elif kind in (1, 2):
        won = rng.integers(0, 2, 6)
        first, second, who = np.array([0, 0, 1, 1, 2, 0]), np.array([1, 2, 2, 3, 3, 3]), np.array([0, 0, 1, 1, 2, 2])
        one = dprank.Comparisons(first, second, won, items, who)
        other = dprank.Comparisons(first[:4], second[:4], won[:4], items, who[:4])
        mechanism = dprank.NoisyCounts.calibrated(per_person=2, **named)
        if kind == 2:
            del named["adjacency"]
            mechanism = dprank.PerturbedMLE.calibrated(per_person=2, graph="public", ridge=0.5, **named)
            other = dprank.Comparisons(first, second, np.where(who == 2, 1 - won, won), items, who)
    else:
        replaced = np.r_[votes[:4], votes[4:, ::-1]]
        rest = replaced if named["adjacency"] == "replace" else votes[:4]
        table = dprank.Rankings if kind == 3 else dprank.Ballots
        one, other = table(votes, items), table(rest, items)
        mechanism = dprank.PrivateBorda.calibrated(ballots="full" if kind == 3 else "partial", **named)
    return mechanism, one, other, rng


def audited(mechanism, one, other, rng, budget=256):
    """One audit whose bets begin after 16 releases: as valid as after more."""
    first, betting.FIRST = betting.FIRST, 16
    try:
        return audit(mechanism, [(one, other)], rng=rng, budget=budget, routes=True)
    finally:
        betting.FIRST = first


def of_case(name):
    """Of a class, on data whose rows disagree; or on the worst neighbours known, at every other seed."""

    def made(seed):
        case = case_of(name)
        one = other = case.data.given()[0]
        if seed % 2:
            with suppress(ValueError):  # none are known
                one, other = list(worst_pairs(case.mechanism).values())[-1]
        return audited(case.mechanism, one, other, np.random.default_rng(seed), 128)

    return made


def of_reports(name):
    """Of what one voter sends."""
    return lambda seed: audited(of(name, n_items=3), [0, 1, 2], np.array([2, 1, 0]), np.random.default_rng(seed))


def of_items(seed):
    """Of what one person sends who has some items, or others."""
    poll = of("LocalTopK", n_items=6, k=2, per_person=2)
    return audited(poll, np.array([0, 1]), np.array([2, 5]), np.random.default_rng(seed))


def of_answers(seed):
    """Of what one person sends who prefers the first of each pair, or the second."""
    poll = dprank.LocalComparisons.calibrated(epsilon=2.0, n_items=5, per_person=4)
    return audited(poll, np.array([1, 1, 0, -1]), np.array([-1, -1, 0, 1]), np.random.default_rng(seed))


def of_command(question):
    """Of a command, on two files."""

    def made(seed):
        pairs = list(PATHS[question].pairs.values())
        with tempfile.TemporaryDirectory() as folder:
            line = PATHS[question].line(1.0, Path(folder))
            return audited(line, *pairs[seed % len(pairs)], np.random.default_rng(seed), 64)

    return made


#: Audits by name: each takes a seed.
KINDS: dict[str, Callable[[int], Audit]] = {
    **{f"random {at}": lambda seed: audited(*at_random(seed)) for at in range(20)},
    **{name: of_case(name) for name in CASES if not name.startswith("Local")},
    **{f"reports of {name}": of_reports(name) for name in LOCAL},
    "reports of LocalTopK": of_items,
    "reports of LocalComparisons": of_answers,
    **{f"command {question}": of_command(question) for question in PATHS},
}


def main(number):
    """As many audits; how many of each kind were broken, and seconds of processor."""
    broken, names = {}, list(KINDS)
    spent: dict[str, float] = defaultdict(float)
    for seed in range(number):
        name, start = names[seed % len(names)], time.process_time()
        found = KINDS[name](seed)
        spent[name.partition(",")[0]] += time.process_time() - start
        if found.broken:
            broken[seed] = f"{name}: {found}"
            print(seed, broken[seed], flush=True)
    print(f"{len(broken)} of {number} broken, {len(names)} kinds, {sum(spent.values()):.0f} s of processor")
    print({name: round(seconds) for name, seconds in sorted(spent.items(), key=lambda it: -it[1])[:12]})
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
