"""Make the survey files beside this script, and `SHA256SUMS`.

Run `python data/surveys/build.py` on a machine with Debian's `apt-get` and `dpkg-deb` and the Python package `rdata`
(extra `test`). Persons' answers are read from the Debian packages r-cran-psychotree and r-cran-psychotools, whose data
files must have the hashes below; the immigration totals are published figures, typed in. Every run writes the same
bytes. See README.md.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rdata

HERE = Path(__file__).parent
RDA = "usr/lib/R/site-library/{package}/data/{data}.rda"
RDA_SHA256 = {
    "CEMSChoice": "8d38308f05ac53dc82b3de70535feacb8ad4ad972cc43b8190c83a7c97a35324",
    "EuropeanValuesStudy": "26be15dd4bfde76ba6719306a20e4b3f943309df3c01b5164fbc56b4279a6aa2",
    "FirstNames": "e406832cda0fdd28f3fe3d48e741033f74366cc1ab7804eaf5a26e61face1079",
    "GermanParties2009": "24ff48f8a1c97e1e212454bb899b90465960c7f94a1af405d724d077adf23c4f",
}

PARTIES = ("none", "Linke", "Gruene", "SPD", "CDU/CSU", "FDP")
BOYS = ("Tim", "Lucas", "Michael", "Robin", "Benedikt", "Julius")
GOALS = ("order", "decisions", "prices", "freedom")
UNIVERSITIES = ("London", "Paris", "Milano", "StGallen", "Barcelona", "Stockholm")
PAIRS = [(i, j) for j in range(6) for i in range(j)]  # the package's column order 1:2, 1:3, 2:3, 1:4, ..., 5:6
NAMES = [f"{i + 1}:{j + 1}" for i, j in PAIRS]
BACK = [f"{j + 1}:{i + 1}" for i, j in PAIRS]
OUTCOME = {1: "1", 0: "0.5", -1: "0"}  # psychotools' manual: positive, the first was preferred; negative, the second

STUDENTS_ON_IMMIGRATION = 98
IMMIGRATION = """\
first,second,first_preferred,undecided,second_preferred,missing
crimRate,position,53,23,12,10
crimRate,socBurd,34,16,38,10
position,socBurd,20,21,43,14
crimRate,culture,48,19,15,16
position,culture,31,28,21,18
socBurd,culture,50,17,14,17
"""


def paired(package: str, data: str, columns: Mapping[str, list[str]]) -> dict[str, np.ndarray]:
    """Answers in each column of a package's table, persons x pairs with 1, 0, -1 and NaN, as the package has them.

    The labels of its pairs must be those in `columns`.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "-qq", "download", f"r-cran-{package}"], cwd=folder, check=True)
        (deb,) = Path(folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
        raw = (Path(folder) / RDA.format(package=package, data=data)).read_bytes()
    observed = hashlib.sha256(raw).hexdigest()
    if observed != RDA_SHA256[data]:
        raise SystemExit(f"{data}.rda of {deb.name}: SHA-256 is {observed}, expected {RDA_SHA256[data]}")
    found = []

    def paircomp(matrix: Any, attributes: Mapping[str, Any]) -> list[np.ndarray]:
        found.append([*attributes["labels"], *attributes["dimnames"][1]])
        return list(np.asarray(matrix))

    classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "paircomp": paircomp}
    frame = rdata.conversion.convert(rdata.parser.parse_data(raw), classes, default_encoding="latin1")[data]
    assert found == list(columns.values())
    return {name: np.stack(list(frame[name])) for name in columns}


def lines(person: str, items: Sequence[str], answers: np.ndarray) -> str:
    """One line per person and pair."""
    text = [f"{person},first,second,outcome"]
    for number, row in enumerate(answers, start=1):
        for (i, j), answer in zip(PAIRS, row, strict=True):
            outcome = "" if np.isnan(answer) else OUTCOME[int(answer)]
            text.append(f"{number},{items[i]},{items[j]},{outcome}")
    return "\n".join(text) + "\n"


def cems() -> str:
    """The answers in `preference`; `preference1998` must differ in the last pair, reversed, alone."""
    labels = [*UNIVERSITIES, *NAMES]
    answers = paired("psychotree", "CEMSChoice", {"preference": labels, "preference1998": labels})
    corrected, erroneous = answers["preference"], answers["preference1998"]
    reverse = np.where(np.arange(len(PAIRS)) == PAIRS.index((4, 5)), -1, 1)
    assert corrected.shape == (303, 15)
    assert np.array_equal(corrected * reverse, erroneous, equal_nan=True)
    return lines("student", UNIVERSITIES, corrected)


def in_both_orders(data: str, person: str, items: Sequence[str]) -> str:
    """The answers in `preference`; `ordered.pref`, which tells which was named first, must agree."""
    columns = {"preference": [*items, *NAMES], "ordered.pref": [*items, *NAMES, *BACK]}
    answers = paired("psychotools", data, columns)
    forth, back = np.hsplit(answers["ordered.pref"], 2)
    assert answers["preference"].shape == (192, 15)
    assert (np.isnan(forth) ^ np.isnan(back)).all()
    assert np.array_equal(np.where(np.isnan(forth), -back, forth), answers["preference"])
    return lines(person, items, answers["preference"])


def european_values() -> str:
    """Which goal each respondent put first and which second; the two that are left are the one pair without answer."""
    pairs, kinds = PAIRS[:6], NAMES[:6]
    answers = paired("psychotree", "EuropeanValuesStudy", {"paircomp": [*GOALS, *kinds]})["paircomp"]
    text = ["respondent,most,next"]
    for number, row in enumerate(answers, start=1):
        wins = [0] * len(GOALS)
        for (i, j), answer in zip(pairs, row, strict=True):
            if not np.isnan(answer):
                wins[i if answer > 0 else j] += 1
        assert sorted(wins) == [0, 0, 2, 3]
        assert [{wins[i], wins[j]} == {0} for i, j in pairs] == np.isnan(row).tolist()
        text.append(f"{number},{GOALS[wins.index(3)]},{GOALS[wins.index(2)]}")
    return "\n".join(text) + "\n"


def immigration_pairs() -> str:
    """The published totals; those of each pair add up to all students."""
    for line in IMMIGRATION.splitlines()[1:]:
        assert sum(map(int, line.split(",")[2:])) == STUDENTS_ON_IMMIGRATION, line
    return IMMIGRATION


def main() -> None:
    """Write the files and their checksums."""
    makers = {
        "cems.csv": cems,
        "european_values.csv": european_values,
        "first_names.csv": lambda: in_both_orders("FirstNames", "respondent", BOYS),
        "german_parties.csv": lambda: in_both_orders("GermanParties2009", "voter", PARTIES),
        "immigration_pairs.csv": immigration_pairs,
    }
    files = {name: make().encode() for name, make in makers.items()}
    files["SHA256SUMS"] = "".join(f"{hashlib.sha256(b).hexdigest()}  {name}\n" for name, b in files.items()).encode()
    for name, content in files.items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    main()
