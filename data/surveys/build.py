"""Make the survey files beside this script: `cems.csv`, `immigration_pairs.csv` and `SHA256SUMS`.

Run `python data/surveys/build.py` on a machine with Debian's `apt-get` and `dpkg-deb` and the Python package `rdata`
(extra `test`). The university survey is read from the Debian package r-cran-psychotree, whose data file must have the
hash below; the immigration totals are published figures, typed in. Every run writes the same bytes. See README.md.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import rdata

HERE = Path(__file__).parent
PACKAGE = "r-cran-psychotree"
RDA = "usr/lib/R/site-library/psychotree/data/CEMSChoice.rda"
RDA_SHA256 = "8d38308f05ac53dc82b3de70535feacb8ad4ad972cc43b8190c83a7c97a35324"

UNIVERSITIES = ("London", "Paris", "Milano", "StGallen", "Barcelona", "Stockholm")
PAIRS = [(i, j) for j in range(6) for i in range(j)]  # the package's column order 1:2, 1:3, 2:3, 1:4, ..., 5:6
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


def cems_choice() -> dict[str, np.ndarray]:
    """Both versions of the answers, students x pairs with 1, 0, -1 and NaN, as the package has them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "-qq", "download", PACKAGE], cwd=folder, check=True)
        (deb,) = Path(folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
        raw = (Path(folder) / RDA).read_bytes()
    observed = hashlib.sha256(raw).hexdigest()
    if observed != RDA_SHA256:
        raise SystemExit(f"CEMSChoice.rda of {deb.name}: SHA-256 is {observed}, expected {RDA_SHA256}")

    def paircomp(matrix: Any, attributes: Mapping[str, Any]) -> list[np.ndarray]:
        assert tuple(attributes["labels"]) == UNIVERSITIES
        assert list(attributes["dimnames"][1]) == [f"{i + 1}:{j + 1}" for i, j in PAIRS]
        assert list(attributes["mscale"]) == [-1, 0, 1]
        assert not attributes["ordered"][0]
        return list(np.asarray(matrix))

    classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "paircomp": paircomp}
    frame = rdata.conversion.convert(rdata.parser.parse_data(raw), classes, default_encoding="ascii")["CEMSChoice"]
    return {name: np.stack(list(frame[name])) for name in ("preference", "preference1998")}


def cems() -> str:
    """One line per student and pair of `preference`; `preference1998` must differ in the last pair, reversed, alone."""
    answers = cems_choice()
    corrected, erroneous = answers["preference"], answers["preference1998"]
    reverse = np.where(np.arange(len(PAIRS)) == PAIRS.index((4, 5)), -1, 1)
    assert corrected.shape == (303, 15)
    assert np.array_equal(corrected * reverse, erroneous, equal_nan=True)
    lines = ["student,first,second,outcome"]
    for student, row in enumerate(corrected, start=1):
        for (i, j), answer in zip(PAIRS, row, strict=True):
            outcome = "" if np.isnan(answer) else OUTCOME[int(answer)]
            lines.append(f"{student},{UNIVERSITIES[i]},{UNIVERSITIES[j]},{outcome}")
    return "\n".join(lines) + "\n"


def immigration_pairs() -> str:
    """The published totals; those of each pair add up to all students."""
    for line in IMMIGRATION.splitlines()[1:]:
        assert sum(map(int, line.split(",")[2:])) == STUDENTS_ON_IMMIGRATION, line
    return IMMIGRATION


def main() -> None:
    """Write the files and their checksums."""
    files = {"cems.csv": cems().encode(), "immigration_pairs.csv": immigration_pairs().encode()}
    files["SHA256SUMS"] = "".join(f"{hashlib.sha256(b).hexdigest()}  {name}\n" for name, b in files.items()).encode()
    for name, content in files.items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    main()
