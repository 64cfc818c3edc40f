"""Kill -9 a process that releases, at random moments: what it showed is recorded, and at most one more.

python tests/dprank/privacy/budget_kills.py 1000 [basic|zcdp]
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import dprank
from dprank.privacy.filters import most_rho

MECHANISM = dprank.PrivateBorda.calibrated(epsilon=1e-3, n_items=2)
VOTES = dprank.Rankings([[0, 1]] * 20, "ab")
LIMIT = 1.0
#: A budget's composition, and what is released from it.
KINDS = {
    "basic": ({"epsilon": LIMIT}, MECHANISM),
    "zcdp": (
        {"epsilon": LIMIT, "delta": 1e-6, "composition": "zcdp"},
        dprank.PrivateBorda.calibrated(epsilon=0.01, delta=1e-9, n_items=2),
    ),
}


def releases(path, dataset, pipe, composition):
    """Child: make or open the budget, then release for ever; a line for each, once it is made."""
    os.write(pipe, b"born\n")
    limit, mechanism = KINDS[composition]
    budget = dprank.Budget(path, **limit)
    for number in range(10**6):
        what = f"{dataset} {number}"
        budget.release(mechanism, VOTES, dataset=dataset, what=what, new_dataset=number == 0)
        os.write(pipe, f"{what}\n".encode())


def printed_by(path, dataset, seconds, composition):
    """What a child showed that was killed so long after its birth."""
    source, sink = os.pipe()
    child = multiprocessing.get_context("fork").Process(target=releases, args=(path, dataset, sink, composition))
    child.start()
    os.close(sink)
    with os.fdopen(source) as lines:
        assert lines.readline() == "born\n"
        time.sleep(seconds)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL, "it ended by itself"
        return [line.strip() for line in lines if line.endswith("\n")]


def kills(number, folder, seed=0, composition="basic"):
    """Counts of what was seen in so many kills; every fifth is of a process that makes its file first.

    On a busy machine a child may show little in its time: there are more kills then, up to ten times as many, until
    five lines were shown, and one died amid a commit.

    Each time all that was shown must be recorded, at most one release more, and the file must open and go on.
    """
    limit, mechanism = KINDS[composition]
    mechanism.release(VOTES, dprank.SECURE)  # children need not load the sampler
    draw, seen = random.Random(seed), Counter()
    path = Path(folder) / "budget.sqlite"
    for kill in range(10 * number):
        if kill >= number and seen["shown"] >= 5 and seen["journals"]:
            break
        fresh = kill % 5 == 0
        path = Path(folder) / f"budget {kill}.sqlite" if fresh else path
        dataset = f"data {kill}"
        shown = printed_by(path, dataset, draw.uniform(0, 0.03 if fresh else 0.05), composition)
        left_journal = Path(f"{path}-journal").exists()
        blank = not path.exists() or path.stat().st_size == 0
        budget = dprank.Budget(path, **limit)
        recorded = [entry.what for entry in budget.entries(dataset)]
        assert shown == recorded[: len(shown)], "shown and not recorded"
        assert len(recorded) <= len(shown) + 1
        if composition == "basic":
            assert Fraction(budget.spent(dataset).epsilon) >= len(shown) * Fraction(mechanism.guarantee.epsilon)
        else:
            left = budget.remaining_rho(dataset)
            assert Fraction(left) <= most_rho(LIMIT, 5e-7) - len(shown) * Fraction(mechanism.rho)
        rho = getattr(mechanism, "rho", None)
        budget.verify(budget.spend(mechanism.guarantee, dataset=dataset, rho=rho, new_dataset=not recorded))
        seen += Counter(
            kills=1, shown=len(shown), recorded=len(recorded), journals=left_journal, before_the_file=blank,
            recorded_not_shown=len(recorded) > len(shown), shown_none=not shown,
        )  # fmt: skip
    return dict(seen)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        print(kills(int(sys.argv[1]), home, composition=sys.argv[2] if len(sys.argv) > 2 else "basic"))
