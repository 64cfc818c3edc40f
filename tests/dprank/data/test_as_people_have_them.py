"""Every kind of file that people have: a release in at most two commands, with no script; or a line on what to do."""

import gzip
import shlex

import pytest
from checks import each
from kinds_of_files import CANDIDATES, FORMATS, cat, each_column, one_cell, zeros_and_ones
from workbooks import write_xlsx

from dprank.cli.path import said

NAMES = ",".join(CANDIDATES)
#: What ballots leave out, and the budget that lets the truth through.
PARTIAL = "--ballots partial --unranked last"
SURE = "--epsilon 60"


def many(header, rows, times=30):
    return "\n".join([header, *rows * times]) + "\n"


#: Kind -> the file's name, what is in it, the question, its flags, and who is first.
READ = {
    "a column a place": (
        "a.csv",
        many("r1,r2,r3", ["Kelp,Moss,Fern", "Moss,Kelp,", "Kelp,Fern,Moss"]),
        "consensus",
        f"--ranks r1,r2,r3 --items Kelp,Moss,Fern {PARTIAL}",
        "Kelp",
    ),
    "a cell with ; between": (
        "a.csv",
        many("ID,vote", ["1,Bo;Ann;Cy;", "2,Bo;Cy;", "3,Ann;Bo;"], 1),
        "consensus",
        f"--orders vote --between ';' --items Ann,Bo,Cy {PARTIAL}",
        "Bo",
    ),
    "left, right, winner": (
        "a.csv",
        many("w,left,right,label", ["1,tea,mate,tea", "1,mate,tea,tea", "2,tea,mate,mate"]),
        "ranking",
        "--comparisons left,right,label --map names --items tea,mate --protect answer",
        "tea",
    ),
    "winner, loser": (
        "a.csv",
        many("winner,loser", ["A,B", "A,B", "B,A", "B,C"]),
        "ranking",
        "--comparisons winner,loser,winner --map names --items A,B,C --protect answer",
        "B",
    ),
    "arena": (
        "a.csv",
        many("model_a,model_b,winner", ["m1,m2,model_a", "m2,m1,model_b", "m1,m2,tie (bothbad)"]),
        "ranking",
        "--comparisons model_a,model_b,winner --map 'model_a=1,model_b=0,tie=0.5,tie (bothbad)=0.5' --items m1,m2 "
        "--protect answer",
        "m1",
    ),
    "points": (
        "a.csv",
        many("home,away,home_score,away_score", ["A,B,1,0", "B,A,2,2", "B,A,0,3"]),
        "ranking",
        "--points home,away,home_score,away_score --items A,B --protect answer",
        "A",
    ),
    "approvals in a .cat": ("a.cat", cat(((0, 2), (0,), (1, 0)) * 30), "topk", f"--items '{NAMES}' --k 1", "Amy Lee"),
    "0 and 1": (
        "a.csv",
        zeros_and_ones(baskets=((0, 2), (0,), (1, 0)) * 30),
        "topk",
        f"--marked --items '{NAMES}' --k 1",
        "Amy Lee",
    ),
    "baskets": (
        "a.csv",
        one_cell(", ", ((0, 2), (0,), (1, 0)) * 30),
        "topk",
        f"--basket things --between , --items '{NAMES}' --k 1",
        "Amy Lee",
    ),
    "DX1 to DX20": (
        "a.csv",
        each_column(((0, 2), (0,), (1, 0)) * 30),
        "topk",
        f"--each DX1..DX2 --items '{NAMES}' --k 1",
        "Amy Lee",
    ),
    "ratings": (
        "a.csv",
        many("oak,elm,fir", ["10,7,1", "9,9,2", "8,3,8"]),
        "consensus",
        "--wide --ballots tied --best high --items oak,elm,fir",
        "oak",
    ),
    "counted rows": (
        "a.csv",
        "count,vote\n300,oak > elm\n20,elm > oak\n",
        "consensus",
        "--orders vote --times count --items oak,elm --ballots full",
        "oak",
    ),
    "votes of an office": (
        "a.xlsx",
        [
            ["Cast", "Choice 1", "Choice 2"],
            *[["1", "Ann", "Bo"], ["2", "undervote", "Ann"], ["3", "overvote", "Bo"], ["4", "Ann", "Write-in"]] * 20,
        ],
        "consensus",
        f"--ranks 'Choice 1,Choice 2' --items Ann,Bo --unranked-as undervote,overvote --withdrawn Write-in {PARTIAL}",
        "Ann",
    ),
    "CIVS": (
        "a.csv",
        many("Attic,Cellar,Porch", ["1,2,-", "1,2,3", "-,-,1"]),
        "consensus",
        "--wide --items Attic,Cellar,Porch --ballots partial --unranked apart",
        "Attic",
    ),
    "Qualtrics": (
        "a.csv",
        many(
            'Q1_1,Q1_2\n"Rank - oak","Rank - elm"\n"{""ImportId"":""a""}","{""ImportId"":""b""}"', ["1,2", "1,2", "2,1"]
        ),
        "consensus",
        "--wide --header 3 --items oak,elm --alias Q1_1=oak --alias Q1_2=elm",
        "oak",
    ),
    "SurveyMonkey": (
        "a.csv",
        many("id,Rank these,\n,oak,elm", ["1,1,2", "2,1,2", "3,2,1"]),
        "consensus",
        "--wide --header 2 --items oak,elm",
        "oak",
    ),
    "JSON lines": (
        "a.jsonl",
        '{"vote": "oak > elm"}\n' * 60,
        "consensus",
        "--orders vote --items oak,elm --ballots full",
        "oak",
    ),
    "a packed CSV": (
        "a.csv.gz",
        gzip.compress(many("oak,elm", ["1,2"]).encode()),
        "consensus",
        "--wide --items oak,elm",
        "oak",
    ),
    "windows-1252": (
        "a.csv",
        "Käse,elm\n".encode("cp1252") + b"1,2\n" * 60,
        "consensus",
        "--wide --encoding cp1252 --items Käse,elm",
        "Käse",
    ),
    "sep=;": ("a.csv", "sep=;\n" + many("oak;elm", ["1;2"]), "consensus", "--wide --items oak,elm", "oak"),
    "a title": (
        "a.csv",
        "Votes of May\n\n" + many("oak,elm", ["1,2"]),
        "consensus",
        "--wide --skip 2 --items oak,elm",
        "oak",
    ),
    "PrefLib with an order twice": ("a.toi", FORMATS["preflib"][0](), "consensus", f"--items '{NAMES}' {PARTIAL}", "D"),
    "PrefLib, packed": (
        "a.toi.gz",
        gzip.compress(FORMATS["preflib"][0]().encode()),
        "consensus",
        f"--items '{NAMES}' {PARTIAL}",
        "D",
    ),
    **{
        form: (
            f"a{FORMATS[form][1]}",
            FORMATS[form][0](),
            "consensus",
            f"--form {form} --items '{NAMES}' {PARTIAL}",
            "",
        )
        for form in FORMATS
        if form != "preflib"
    },
}
#: Kind -> the file's name, what is in it, the flags, and what the line says to do.
REFUSED = {
    "R": ("a.rds", b"\x1f\x8b\x08\0RDX3", "consensus --wide --items A,B", "write_parquet"),
    "old PrefLib": (
        "a.soc",
        b"3\n1,oak\n2,elm\n3,fir\n4,4,1\n4,1,2,3\n",
        "consensus --items A,B,C --ballots full",
        "# DATA TYPE: soc",
    ),
    "orders for topk": ("a.soc", b"", "topk --items A,B --k 1", "release consensus"),
    "a .cat for a ranking": ("a.cat", cat().encode(), "ranking --items A,B --protect answer", "release consensus"),
    "weights of voters": (
        "a.cvotes",
        b"#/Weight Allowed: true\nA > B ^7\n",
        "consensus --items A,B --ballots full",
        "--max-weight 7",
    ),
    "a document": ("a.csv", b"%PDF-1.7", "consensus --wide --items A,B", "save the table as CSV"),
    "no such form": ("a.csv", b"x", "consensus --form cvr --items A,B --ballots full", "'scottish'"),
}


def put(folder, name, what):
    path = folder / name
    if isinstance(what, list):
        write_xlsx(path, {"Votes": what})
    else:
        path.write_bytes(what if isinstance(what, bytes) else what.encode())
    return path


@pytest.mark.slow
@each("kind", list(READ))
def test_a_release_in_one_command(tmp_path, kind):
    name, what, question, flags, first = READ[kind]
    path = put(tmp_path, name, what)
    done = said("release", question, path, *shlex.split(flags), *shlex.split(SURE))
    assert done.code == 0, done
    line = done.out.splitlines()[1]
    assert f" {first}" in line or line.startswith(first), line


@each("kind", list(REFUSED))
def test_what_is_not_read_is_told_what_to_do(tmp_path, kind):
    name, what, words, told = REFUSED[kind]
    question, *flags = words.split()
    done = said("release", question, put(tmp_path, name, what), *flags, "--epsilon", "1")
    assert done.code == 2, done
    assert told in done.error
    assert done.error.count("\n") == 1, done.error


@each("what, told", [
    (b'{"Version": "5.10", "Sessions": [{"TabulatorId": 1, "Original": {"Cards": []}}]}', "--form dominion"),
    (b'{"@type": "CVR.CastVoteRecordReport", "CVR": [{"CVRSnapshot": []}]}', "NIST"),
])  # fmt: skip
def test_records_of_election_offices_are_told_how_to_become_a_table(tmp_path, what, told):
    """They would be one row of nothing, and a release of noise alone."""
    flags = ["--ranks", "a,b", "--items", "A,B", "--ballots", "full", "--epsilon", "1"]
    done = said("release", "consensus", put(tmp_path, "CvrExport.json", what), *flags)
    assert (done.code, told in done.error, "--ranks" in done.error) == (2, True, True), done
