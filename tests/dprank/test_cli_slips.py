"""Whatever one person's row is, the command ends alike: a file is refused for its header alone.

Every kind of slip in eight neighbours, through the doors `release`, `count` and `check`: exit code and messages are
those of the file without it, and what is published differs in the numbers of the answer alone.
"""

import json
from dataclasses import dataclass

import pytest

from dprank.cli.path import CommandLine, said

WIDE = b"who,ash,elm,fir\nbob,1,2,3\ncy,2,1,3\ndan,3,2,1\n"
LONG = b"who,thing,place\nbob,ash,1\nbob,elm,2\ncy,elm,1\ndan,fir,1\n"
ORDERS = b"who,vote\nbob,ash > elm\ncy,fir > ash = elm\ndan,elm\n"
ALONE = b"vote\nash > elm\nfir > ash = elm\nelm\n"
ANSWERS = b"who,left,right,answer\nbob,ash,elm,1\ncy,elm,fir,0\ndan,ash,fir,0.5\n"
PAIRS = b"who,ash vs elm,elm vs fir\nbob,1,0\ncy,0,\ndan,0.5,1\n"
TALLIES = b"who,what\nbob,ash\nbob,elm\ncy,elm\ndan,fir\n"
TOI = b"""# DATA TYPE: toi
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: ash
# ALTERNATIVE NAME 2: elm
# ALTERNATIVE NAME 3: fir
3: 1,2
2: {1,3},2
"""
NAMED = "--items ash,elm,fir --person who"


@dataclass(frozen=True)
class Door:
    """A release of such a file: its question, what is said of the file, and what of the release; and a sound row."""

    question: str
    flags: str
    more: str
    file: bytes
    row: bytes
    suffix: str = ".csv"

    def line(self, folder):
        words = f"release {self.question} {{}} {self.flags} {self.more} --epsilon 1".split()
        return CommandLine(words, ("ash", "elm", "fir"), folder, self.suffix)


FULL, SOME = f"{NAMED} --wide", "--ballots partial --unranked apart"
DOORS = {
    "full": Door("consensus", FULL, "", WIDE, b"ann,1,2,3"),
    "KwikSort": Door("consensus", FULL, "--mechanism PrivateKwikSort", WIDE, b"ann,1,2,3"),
    "matrix": Door("consensus", FULL, "--mechanism NoisyMatrix", WIDE, b"ann,1,2,3"),
    "footrule": Door("consensus", FULL, "--mechanism PrivateFootrule", WIDE, b"ann,1,2,3"),
    "winner": Door("winner", FULL, "", WIDE, b"ann,1,2,3"),
    "tied": Door("winner", f"{FULL} --ballots tied", "", WIDE, b"ann,1,2,2"),
    "agreement": Door("agreement", FULL, "--voters 4", WIDE, b"ann,1,2,3"),
    "long": Door("consensus", f"{NAMED} --long thing,place {SOME}", "", LONG, b"ann,ash,1"),
    "orders": Door("consensus", f"{NAMED} --orders vote {SOME}", "", ORDERS, b"ann,ash > fir"),
    "votes alone": Door("winner", f"--items ash,elm,fir --orders vote {SOME}", "", ALONE, b"ash > fir"),
    "ranking": Door(
        "ranking",
        f"{NAMED} --comparisons left,right,answer --map outcome",
        "--protect person --answers 2",
        ANSWERS,
        b"ann,ash,elm,1",
    ),
    "pairs": Door("ranking", f"{NAMED} --pairs all --map outcome", "--protect person --answers 2", PAIRS, b"ann,1,0"),
    "topk": Door("topk", f"{NAMED} --item what", "--k 2 --per-person 1", TALLIES, b"ann,ash"),
    "preflib": Door("consensus", f"--items ash,elm,fir {SOME}", "", TOI, b"1: 1,2", ".toi"),
}


def in_place(row, at, cell):
    """The row with another cell there."""
    cells = row.split(b",")
    cells[at] = cell
    return b",".join(cells)


#: Kind of slip -> eight rows in the place of a sound one.
SLIPS = {
    "separators too many": lambda row: [
        row + b",",
        row + b",,",
        b"," + row,
        row + b"," + row,
        row.replace(b",", b",,", 1) + b",",
        b"," * 40,
        row + b"," * 100_000,
        in_place(row, 0, b'"ann, the first"') + b',"x,y"',
    ],
    "separators too few": lambda row: [
        row.rsplit(b",", 1)[0],
        row.split(b",")[0],
        b"",
        b" ",
        b"ann",
        row.replace(b",", b";"),
        row.replace(b",", b"\t"),
        b'""',
    ],
    "quotation marks": lambda row: [
        in_place(row, 0, b'"ann'),
        in_place(row, 0, b'"an"n'),
        in_place(row, -1, b'"1'),
        in_place(row, -1, b'"1" '),
        in_place(row, -1, b'1"'),
        in_place(row, -1, b'"a ""b"c"'),
        in_place(row, 0, b'"ann\nthe first"'),
        b'"' * 7,
    ],
    "bytes that are no text": lambda row: [
        in_place(row, 0, b"Zo\xeb"),
        in_place(row, -1, b"\xff"),
        in_place(row, -1, b"1\0"),
        in_place(row, 0, b"\xed\xa0\x80"),
        in_place(row, 0, b"\xf0\x9f"),
        b"\xc3" + row,
        b"\0" * 9,
        bytes(range(128, 256)),
    ],
    "cells that are none": lambda row: [
        in_place(row, -1, b""),
        in_place(row, -1, b"NA"),
        in_place(row, -1, b"9" * 5000),
        in_place(row, -1, b"-1e999"),
        in_place(row, 0, b""),
        in_place(row, 0, b" \xe2\x80\x8b"),
        in_place(row, -1, b"perhaps"),
        in_place(row, -1, b"=1+1"),
    ],
    "lines that are long": lambda row: [
        in_place(row, 0, b"a" * 200_000),
        in_place(row, -1, b"a" * 200_000),
        in_place(row, -1, b'"' + b"a" * 200_000),
        in_place(row, -1, b'"' + b"\n" * 200_000 + b'"'),
        in_place(row, -1, b">".join([b"ash"] * 9_000)),
        in_place(row, -1, b"=" * 9_000),
        row + b" " * 200_000,
        row + b"\\" * 200_000,
    ],
    "lines of another format": lambda row: [
        b"# NUMBER VOTERS: 7",
        b"0: 1,2",
        b"-1: 1,2",
        b"999999999999999: 1,2",
        b"1: 1,2,4",
        b"1: {1,2",
        b"sep=;",
        b"who,ash,elm,fir",
    ],
}


def seen(line, data):
    """Exit code, and all that is written but the numbers of the answer."""
    return line.release(data, None)[:2].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("door", DOORS)
def test_no_release_tells_a_slip_from_a_sound_row(door, slip, tmp_path):
    it = DOORS[door]
    line, rows = it.line(tmp_path), SLIPS[slip](it.row)
    sound = seen(line, it.file + it.row + b"\n")
    assert (sound[0], len(rows)) == (0, 8)
    above, below = it.file[:-1].rsplit(b"\n", 1)
    for at, row in enumerate(rows):
        # at the end; or above a sound row, which a mark that nothing closes does not take
        lines = [it.file + row, it.file + row + b"\n", above + b"\n" + row + b"\n" + below]
        assert seen(line, lines[at % 3]) == sound, row[:40]


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("door", ["ranking", "topk"])
def test_no_count_tells_a_slip_from_a_sound_row(door, slip, tmp_path):
    it, told = DOORS[door], set()
    most = ["--answers", "2"] if door == "ranking" else ["--per-person", "1"]
    for row in [it.row, *SLIPS[slip](it.row)]:
        file, out = tmp_path / "data.csv", tmp_path / "counts.json"
        file.write_bytes(it.file + row + b"\n")
        out.unlink(missing_ok=True)
        done = said("count", file, *it.flags.split(), *most, "--out", out, "--json")
        assert (done.code, done.error) == (0, ""), row[:40]
        found = json.loads(done.out)
        assert found["rows"] == found["rows that count"] + sum(found["left out"].values())
        told.add(tuple(found))
    assert len(told) == 1


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("door", sorted(set(DOORS) - {"KwikSort", "matrix", "footrule", "winner", "agreement"}))
def test_check_takes_what_a_release_takes(door, slip, tmp_path):
    """It is for the curator's eyes: the same keys, and an account of all rows."""
    it, told = DOORS[door], set()
    for row in [it.row, *SLIPS[slip](it.row)]:
        file = tmp_path / f"data{it.suffix}"
        file.write_bytes(it.file + row + b"\n")
        done = said("check", file, *it.flags.split(), "--json")
        assert (done.code, done.error) == (0, ""), row[:40]
        found = json.loads(done.out)
        assert found["rows"] == found["rows that count"] + sum(found["left out"].values())
        told.add(tuple(found))
    assert len(told) == 1


def test_a_row_with_too_many_fields_has_a_reason_of_its_own(tmp_path):
    file = tmp_path / "data.csv"
    file.write_bytes(TALLIES + b"ann,ash,elm\n")
    done = said("check", file, *DOORS["topk"].flags.split(), "--json")
    assert json.loads(done.out)["left out"] == {"more fields than the header": 1}
    file.write_bytes(PAIRS + b"ann,1,0,1\n")
    done = said("check", file, *DOORS["pairs"].flags.split(), "--json")
    assert json.loads(done.out)["left out"] == {"more fields than the header": 1}


def test_headers_refuse(tmp_path):
    """What is said of a header is said whatever the rows are."""
    it = DOORS["topk"]
    heads = [b"who\xff,what\n", b"who\0,what\n", b'who,"what\n', b"who,what,who\n", b"\n\n", b"whom,what\n"]
    for head in heads:
        told = set()
        for rows in (b"", b"ann,ash\n", b'ann,"ash\n', b"\xff,\0\n", b"a,b,c,d\n"):
            done = it.line(tmp_path).run(head + rows if head.strip() else head)
            told.add((done.code, done.out, done.error))
        assert len(told) == 1
        assert next(iter(told))[0] == 2
