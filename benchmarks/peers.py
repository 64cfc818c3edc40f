"""What other packages lose at the arena's questions, and how long they take, beside ours: same people, privacy and run.

make peers                                    (in an environment of its own, _build/peers; half an hour; data/peers.csv)
.venv/bin/python benchmarks/peers.py          (who is installed, a look; a peer that is absent is left out)

Times are processor seconds of this process and those it starts, from exact counts to an answer, noise from the
operating system. Warm: the median of ratios of calls that alternate. First: imports and the first call in a new
process, but for what the arena's own code imports; OpenDP calibrates in it, ours have.
"""

import argparse
import resource
import subprocess
import sys
from statistics import median

import joblib
import pandas as pd
from tqdm import tqdm

from companion.chapters.which_method import peers
from companion.chapters.which_method.peer_calls import installed
from companion.chapters.which_method.peer_calls import peers as calls

#: Epsilon and delta of what is timed, and how often.
TIMED, ROUNDS = (1.0, 0.0), 9
#: Items of heats whose first calls are timed.
SMALL = 5
#: What a call imports.
MODULES = {
    "choix": "choix",
    "corankco": "corankco.algorithms.bioconsert.bioconsert",
    "diffprivlib": "diffprivlib.mechanisms",
    "opendp": "opendp.prelude",
    "pref_voting": "pref_voting.margin_based_methods",
}
FIRST = """
from importlib import import_module
from time import process_time
start = process_time()
for name in {modules!r}:
    import_module(name)
imported = process_time() - start
from companion.chapters.which_method import peers
call = peers.call({heat!r}, {budget!r}, {name!r})
start = process_time()
call()
print(imported + process_time() - start)
"""


def clock():
    """Processor seconds so far, of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def seconds(call, times):
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def warm(heat, budget, name):
    """How many times longer than ours by a plan: median, least and most of some rounds."""
    theirs, ours = (peers.call(heat, budget, who) for who in (name, ""))
    once = [max(seconds(call, 2), 1e-6) for call in (theirs, ours)]
    times = [max(1, int(0.02 / each)) for each in once]
    found = [seconds(theirs, times[0]) / seconds(ours, times[1]) for _ in range(ROUNDS if max(once) < 1 else 3)]
    return {"slower": median(found), "slower_low": min(found), "slower_high": max(found)}


def first(heat, budget, name, modules):
    """Seconds of imports and a first call in a new process."""
    script = FIRST.format(modules=modules, heat=dict(heat), budget=budget, name=name)
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def rows(heat, share, new):
    """Of a heat, with times at `TIMED`, if need be of new processes too."""
    found = list(peers.measured(heat, share))
    entered = {peer.name: peer.packages for peer in calls(heat, *TIMED)}
    ours = ["dprank", type(peers.rivals(heat, *TIMED)["plan"][1]).__module__]
    mine = first(heat, TIMED, "", ours) if new else None
    for row in found:
        row["versions"] = installed(*entered[row["peer"]])
        if (row["epsilon"], row["delta"]) == TIMED:
            row.update(warm(heat, TIMED, row["peer"]))
            if new:
                modules = [MODULES[package] for package in entered[row["peer"]]]
                row["first_slower"] = first(heat, TIMED, row["peer"], modules) / mine
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.02, help="of the repetitions of the committed table")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="data/peers.csv, heat by heat")
    parser.add_argument("--resume", action="store_true", help="leave the heats that are there as they are")
    parser.add_argument("--first", action="store_true", help="time new processes too")
    asked = parser.parse_args()
    kept = peers.load().to_dict("records") if asked.resume else []
    heats = [heat for heat in peers.HEATS if not any(heat.items() <= row.items() for row in kept)]
    tasks = (joblib.delayed(rows)(heat, asked.share, asked.first and heat["items"] == SMALL) for heat in heats)
    for some in tqdm(joblib.Parallel(asked.jobs, return_as="generator_unordered")(tasks), total=len(heats)):
        kept += some
        if asked.write:
            peers.write(pd.DataFrame(kept))
    shown = ["question", "data", "items", "epsilon", "delta", "peer", "ratio_plan", "slower"]
    print(pd.DataFrame(kept)[shown].to_string())


if __name__ == "__main__":
    main()
