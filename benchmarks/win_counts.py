"""How much of numpy's and of Parquet's time win counts take: ratios measured side by side, best of three.

python benchmarks/win_counts.py --rows 100000000      (about two minutes and 3.5 GB; less with --rows 1e6)
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dprank.data import comparisons
from dprank.data.comparisons import Comparisons
from dprank.data.counting import win_counts, win_counts_parquet

CHUNK = 1 << 22
COLUMNS = ["first", "second", "outcome"]


def random_rows(rows, items, outcomes, seed=0):
    rng = np.random.default_rng(seed)
    first, second = np.empty((2, rows), np.uint16)
    outcome = np.empty(rows)
    for start in range(0, rows, CHUNK):
        part = slice(start, min(start + CHUNK, rows))
        size = part.stop - start
        first[part] = rng.integers(0, items, size, np.uint16)
        second[part] = (first[part] + rng.integers(1, items, size, np.uint16)) % items
        outcome[part] = np.array(outcomes)[rng.integers(0, len(outcomes), size, np.uint8)]
    return first, second, outcome


def best_of_three(calls):
    """Least seconds of every call; the rounds alternate, so that a busy moment hits all of them."""
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(3):
        for name, call in calls.items():
            start = perf_counter()
            call()
            seconds[name] = min(seconds[name], perf_counter() - start)
    return seconds


def against_bincount(rows, items, threads):
    first, second, outcome = random_rows(rows, items, [0, 1])
    data = Comparisons(first, second, outcome, range(items))
    winners = np.where(outcome == 1, first, second).astype(np.intp)
    calls = {
        "win_counts": lambda: win_counts(data, threads=threads),
        "bincount of winners at hand": lambda: np.bincount(winners, minlength=items),
        "np.where, then bincount": lambda: np.bincount(np.where(outcome == 1, first, second), minlength=items),
    }
    return best_of_three(calls), all(np.array_equal(call(), win_counts(data)) for call in calls.values())


def against_weights(rows, items, threads):
    first, second, outcome = random_rows(rows, items, [0, 0.5, 1])
    data = Comparisons(first, second, outcome, range(items))
    calls = {
        "win_counts, ties half a win": lambda: win_counts(data, "half", threads=threads),
        "bincount with weights": lambda: np.bincount(first, outcome, items) + np.bincount(second, 1 - outcome, items),
    }
    return best_of_three(calls), all(np.array_equal(call(), win_counts(data, "half")) for call in calls.values())


def growth(rows, items, threads):
    """Exponent of seconds in rows, fitted to sizes from 1e5 on."""
    data = Comparisons(*random_rows(rows, items, [0, 1]), range(items))
    sizes = np.geomspace(1e5, rows, 7).astype(int).tolist()
    parts = {n: data[:n] for n in sizes}
    seconds = best_of_three({n: lambda part=part: win_counts(part, threads=threads) for n, part in parts.items()})
    return np.polyfit(np.log(sizes), np.log(list(seconds.values())), 1)[0]


def in_memory(rows, items, threads):
    print(f"{rows:.3g} comparisons of {items} items in memory, {threads} threads")
    for contest in (against_bincount, against_weights):
        seconds, agree = contest(rows, items, threads)
        ours = next(iter(seconds.values()))
        for name, value in seconds.items():
            print(f"  {name:30s} {value:8.3f} s {value / ours:7.1f}x" + ("" if agree else "  COUNTS DIFFER"))
    if rows > 1e5:
        print(f"  seconds grow like rows^{growth(rows, items, threads):.2f} from 1e5 to {rows:.0e} rows")


def write(path, rows, items):
    names = pa.array([f"item {i}" for i in range(items)])
    schema = pa.schema(zip(COLUMNS, [pa.string(), pa.string(), pa.float32()], strict=True))
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, rows, CHUNK):
            first, second, outcome = random_rows(min(CHUNK, rows - start), items, [0, 0.5, 1], seed=start)
            coded = [pa.DictionaryArray.from_arrays(codes, names).cast(pa.string()) for codes in (first, second)]
            file.write_table(pa.table([*coded, pa.array(outcome, pa.float32())], schema=schema))


def decode(path):
    with pq.ParquetFile(path, read_dictionary=COLUMNS[:2], pre_buffer=False) as file:
        for _ in file.iter_batches(comparisons._BATCH, columns=COLUMNS):
            pass


def alone(what, path, items, threads):
    """One contender in this process: seconds and the most memory it ever held."""
    names = [f"item {i}" for i in range(items)]
    calls = {"decode": lambda: decode(path), "count": lambda: win_counts_parquet(path, names, threads=threads)}
    seconds = best_of_three({what: calls[what]})[what]
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(seconds, int(peak.split()[1]) / 1024)


def from_parquet(rows, items, threads):
    print("from Parquet, item names in dictionaries, each contender in processes of its own")
    with tempfile.TemporaryDirectory() as folder:
        for n in (rows // 10, rows):
            path = Path(folder, "comparisons.parquet")
            write(path, n, items)
            best = {"decode": (np.inf, 0.0), "count": (np.inf, 0.0)}
            for _ in range(3):
                for what, so_far in best.items():
                    arguments = [
                        f"--rows={n}",
                        f"--items={items}",
                        f"--threads={threads}",
                        f"--alone={what}",
                        f"--path={path}",
                    ]
                    out = subprocess.run(
                        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True
                    )
                    seconds, mib = map(float, out.stdout.split())
                    best[what] = min(so_far[0], seconds), max(so_far[1], mib)
            for what, (seconds, mib) in best.items():
                ratio = seconds / best["decode"][0]
                print(f"  {what:8s} {n:.3g} rows {seconds:8.3f} s {ratio:7.2f}x   peak {mib:6.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=100_000_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--alone", choices=["decode", "count"], help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        alone(given.alone, given.path, given.items, given.threads)
    else:
        in_memory(given.rows, given.items, given.threads)
        from_parquet(given.rows, given.items, given.threads)


if __name__ == "__main__":
    main()
