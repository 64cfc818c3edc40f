"""The first answer of the command line: processor time and memory of a process, beside one that imports OpenDP.

python benchmarks/first_answer.py            (a minute; --rounds 3 for a look)

Every command is run in turn, in a process of its own, as often as there are rounds: medians of user and system time,
and of the most memory, are shown, and how many times what ``import opendp.measurements`` takes, in the same rounds. A
busy machine slows both. Files of examples, of some hundred rows; the first round fills numba's cache, and is not
counted. This process imports little, as a child counts what its parent held for its own.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from statistics import median

BARE = "import opendp.measurements"
ILLS = "diagnoses.csv --person patient --item diagnosis --items asthma,flu,gout,kuru,measles,migraine"
BALLOTS = "ballots.csv --items roads,schools,parks,debt --person person --ballots full --epsilon 1"
ANSWERS = "left,right,answer --map left=1,right=0,equal=0.5 --items Pay,Hours,Training,Leave,Equipment,Canteen"
COMMANDS = [
    "--help",
    "release topk --help",
    "budget b.sqlite",
    f"check {ILLS}",
    f"release topk {ILLS} --k 2 --epsilon 1",
    f"release ranking staff.csv --comparisons {ANSWERS} --protect answer --epsilon 1",
    f"release consensus {BALLOTS}",
    "report r.json",
    "verify r.json",
    "plan topk --items 1000 --persons 5000 --k 10 --epsilon 1",
]
FIRST = [f"example {table}" for table in ("ballots.csv", "diagnoses.csv", "staff.csv")]
FIRST += ["budget b.sqlite --epsilon 9", f"release topk {ILLS} --k 2 --epsilon 1 --budget b.sqlite --out r.json"]


def taken(words, folder):
    """Seconds of a processor and MiB that Python takes with these words."""
    child = subprocess.Popen([sys.executable, *words], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, words
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    words = {BARE: ["-c", BARE]}
    words |= {f"dprank {it}": ["-m", "dprank.cli", *shlex.split(it)] for it in COMMANDS}
    found = {name: [] for name in words}
    with tempfile.TemporaryDirectory() as folder:
        for it in FIRST:
            taken(["-m", "dprank.cli", *shlex.split(it)], folder)
        for number in range(rounds + 1):
            for name, one in words.items():
                cost = taken(one, folder)
                if number:
                    found[name].append(cost)
    middle = {name: tuple(map(median, zip(*costs, strict=True))) for name, costs in found.items()}
    bare = middle[BARE][0]
    print("processor time   of OpenDP's   memory")
    for name, (seconds, memory) in middle.items():
        print(f"{seconds:12.2f} s {seconds / bare:11.1f} x {memory:6.0f} MiB   {name[:60]}")


if __name__ == "__main__":
    main()
