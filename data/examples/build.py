"""Draw the made-up tables of `dprank.example` anew: the same bytes with every numpy, as only uniforms are drawn."""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "src" / "dprank" / "examples"
CITIES = {"London": 0.0, "Paris": 0.9, "Rome": 0.4}
THINGS = {"roads": 0.5, "schools": 1.2, "parks": 0.2, "debt": -0.4}
DIAGNOSES = {"asthma": 0.3, "flu": 0.5, "gout": 0.06, "kuru": 0.0, "measles": 0.01, "migraine": 0.22}


def answers(rng: np.random.Generator) -> Iterator[tuple[object, ...]]:
    """Comparisons by 250 persons, by Bradley and Terry's law, one in twelve undecided, one in four not given."""
    yield "first", "second", "outcome", "person"
    for person in range(1, 251):
        for pair in combinations(CITIES, 2):
            gone, swapped, undecided, wins = rng.random(4)
            first, second = pair[::-1] if swapped < 0.5 else pair
            won = wins < 1 / (1 + math.exp(CITIES[second] - CITIES[first]))
            if gone < 0.75:
                yield first, second, 0.5 if undecided < 1 / 12 else int(won), person


def ballots(rng: np.random.Generator) -> Iterator[tuple[object, ...]]:
    """Rankings by 250 persons, by Plackett and Luce's law; places, 1 for the best."""
    yield "person", *THINGS
    for person in range(1, 251):
        waits = {thing: -math.log(1 - rng.random()) / math.exp(worth) for thing, worth in THINGS.items()}
        best_first = sorted(waits, key=waits.__getitem__)
        yield person, *(best_first.index(thing) + 1 for thing in THINGS)


def diagnoses(rng: np.random.Generator) -> Iterator[tuple[object, ...]]:
    """Diagnoses of 400 patients, each on its own."""
    yield "patient", "diagnosis"
    for patient in range(1, 401):
        yield from ((patient, name) for name, share in DIAGNOSES.items() if rng.random() < share)


def city(rng: np.random.Generator) -> str:
    """Ballots of 250 persons as PrefLib writes them, by a law like that of `ballots`: waits in one octave are a tie."""
    counts: Counter[str] = Counter()
    for _ in range(250):
        waits = {thing: -math.log(1 - rng.random()) / math.exp(worth) for thing, worth in THINGS.items()}
        octave = {thing: math.floor(math.log2(wait)) for thing, wait in waits.items()}
        tied = [[at for at, thing in enumerate(THINGS, 1) if octave[thing] == it] for it in sorted(set(octave.values()))]
        counts[",".join(str(*group) if len(group) == 1 else f"{{{','.join(map(str, group))}}}" for group in tied)] += 1
    lines = [f"{count}: {order}" for order, count in sorted(counts.items(), key=lambda it: (-it[1], it[0]))]
    header = {"FILE NAME": "city.toc", "TITLE": "What a town may spend on (made up)", "DATA TYPE": "toc"}
    header |= {"MODIFICATION TYPE": "synthetic", "NUMBER ALTERNATIVES": f"{len(THINGS)}", "NUMBER VOTERS": "250"}
    header |= {"NUMBER UNIQUE ORDERS": f"{len(counts)}"}
    header |= {f"ALTERNATIVE NAME {at}": thing for at, thing in enumerate(THINGS, 1)}
    return "".join(f"{line}\n" for line in [*(f"# {key}: {value}" for key, value in header.items()), *lines])


def main(folder: Path = FOLDER) -> None:
    """Write all four."""
    for table in (answers, ballots, diagnoses):
        with open(folder / f"{table.__name__}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table(np.random.default_rng(2026)))
    (folder / "city.toc").write_bytes(city(np.random.default_rng(2026)).encode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
