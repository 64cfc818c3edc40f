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
TOPICS = {"Pay": 1.6, "Hours": 0.8, "Training": 0.7, "Leave": 0.0, "Equipment": -0.1, "Canteen": -1.1}
#: How people write them, too: what rules mend, and what only an alias does.
WRITTEN = {
    "Pay": ("pay", "PAY", "Pay "),
    "Hours": ("hours", " Hours"),
    "Training": ("Traning", "training"),
    "Leave": ("leave",),
    "Equipment": ("Equipement", "equipment "),
    "Canteen": ("Cantine", "canteen"),
}
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
        tied = [
            [at for at, thing in enumerate(THINGS, 1) if octave[thing] == it] for it in sorted(set(octave.values()))
        ]
        counts[",".join(str(*group) if len(group) == 1 else f"{{{','.join(map(str, group))}}}" for group in tied)] += 1
    lines = [f"{count}: {order}" for order, count in sorted(counts.items(), key=lambda it: (-it[1], it[0]))]
    header = {"FILE NAME": "city.toc", "TITLE": "What a town may spend on (made up)", "DATA TYPE": "toc"}
    header |= {"MODIFICATION TYPE": "synthetic", "NUMBER ALTERNATIVES": f"{len(THINGS)}", "NUMBER VOTERS": "250"}
    header |= {"NUMBER UNIQUE ORDERS": f"{len(counts)}"}
    header |= {f"ALTERNATIVE NAME {at}": thing for at, thing in enumerate(THINGS, 1)}
    return "".join(f"{line}\n" for line in [*(f"# {key}: {value}" for key, value in header.items()), *lines])


def staff(rng: np.random.Generator) -> Iterator[tuple[object, ...]]:
    """A ministry's 400 people on what to improve first, two topics at a time, as such files are.

    Bradley and Terry's law; one answer in ten *equal*, one in twenty left open; sheets of one to fifteen answers, one
    in three complete; one topic in fifteen written another way, one person's own topic; every fortieth handed in twice,
    under a name that is written otherwise.
    """
    yield "person", "left", "right", "answer"

    def sheet(name: str) -> Iterator[tuple[object, ...]]:
        pairs = sorted(combinations(TOPICS, 2), key=lambda _: rng.random())
        complete, length = rng.random(2)
        for pair in pairs[: 15 if complete < 1 / 3 else 1 + int(14 * length * length)]:
            swapped, kind, wins, *slips = rng.random(7)
            left, right = pair[::-1] if swapped < 0.5 else pair
            won = wins < 1 / (1 + math.exp(TOPICS[right] - TOPICS[left]))
            answer = "" if kind < 1 / 20 else "equal" if kind < 3 / 20 else "left" if won else "right"
            written = [
                WRITTEN[topic][int(len(WRITTEN[topic]) * which)] if slip < 1 / 15 else topic
                for topic, slip, which in zip((left, right), slips[::2], slips[1::2], strict=True)
            ]
            yield name, *written, answer

    for person in range(1, 401):
        yield from sheet(f"P{person:03}")
        if person == 217:
            yield f"P{person:03}", "Parking", "Pay", "left"
        if person % 40 == 0:
            yield from sheet(f"p{person:03} ")


def main(folder: Path = FOLDER) -> None:
    """Write all five; the staff survey as a spreadsheet of the Continent does."""
    for table in (answers, ballots, diagnoses, staff):
        raw = table is staff
        encoding, separator, end = ("utf-8-sig", ";", "\r\n") if raw else ("utf-8", ",", "\n")
        with open(folder / f"{table.__name__}.csv", "w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=separator, lineterminator=end).writerows(table(np.random.default_rng(2026)))
    (folder / "city.toc").write_bytes(city(np.random.default_rng(2026)).encode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
