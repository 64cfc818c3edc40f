"""A header is cut by the rules of CSV, and what it lacks is said with what may be meant."""

import dataclasses
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checks import refused

from dprank import Declaration
from dprank.data.headers import no_column
from dprank.data.sniffing import sniff


def written(folder, text, name="a.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("head", "names"),
    [
        ('Id,"Rank, please.\n1 is best",Weir', ["Id", "Rank, please.\n1 is best", "Weir"]),
        ('Id,"Rank; a; b; c; d",Weir', ["Id", "Rank; a; b; c; d", "Weir"]),
        ('"one, two, three";"four";Weir', ["one, two, three", "four", "Weir"]),
        ('"said ""x, y""\n|";b;Weir', ['said "x, y"\n|', "b", "Weir"]),
        ('"a|b|c|d"\tb\tWeir', ["a|b|c|d", "b", "Weir"]),
        ("dup,dup,Weir", ["dup", "dup", "Weir"]),
    ],
)
def test_headers_are_cut_outside_of_quotation_marks(end, head, names, tmp_path):
    separator = next(it for it in ",;\t" if head.endswith(f"{it}Weir"))
    rows = [separator.join(row) for row in (["1", "x", "2"], ["2", "y", "1"])]
    sniffed = sniff(written(tmp_path, end.join([head, *rows, ""])))
    assert list(sniffed.frame.columns) == names
    assert sniffed.frame["Weir"].tolist() == ["2", "1"]
    assert sniffed.said.endswith("CR LF" if end == "\r\n" else "in LF")


@pytest.mark.parametrize(("name", "names"), [("a.tsv", ["a,b,c", "d"]), ("a.TAB", ["a,b,c", "d"]), ("a.csv", None)])
def test_a_name_says_tabs(name, names, tmp_path):
    found = list(sniff(written(tmp_path, "a,b,c\td\n1\t2\n", name)).frame.columns)
    assert found == (names or ["a", "b", "c\td"])
    assert list(sniff(written(tmp_path, "a,b\n1,2\n", "b.tsv")).frame.columns) == ["a", "b"]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"'])
def test_a_line_above_the_header_says_what_separates(line, tmp_path):
    sniffed = sniff(written(tmp_path, f"{line}\r\na,b,c;d\r\n1;2\r\n"))
    assert (sniffed.frame.to_dict("list"), sniffed.said) == (
        {"a,b,c": ["1"], "d": ["2"]},
        "CSV in UTF-8, separated by semicolons, lines end in CR LF",
    )


def test_a_header_whose_mark_is_not_closed_is_its_first_line(tmp_path):
    for rows in ("1,2\n", "1,x\n2,y\n"):
        with refused("line 1", "quotation mark"):
            sniff(written(tmp_path, f'a,"b\n{rows}'))


def test_bytes_of_a_header_of_several_lines_must_be_text(tmp_path):
    head = 'Id,"Rank,\nplease",'
    with refused("line 2 is not UTF-8", "CSV UTF-8"):
        sniff(written(tmp_path, f"{head}Zoë\n1,x,2\n".encode("latin-1")))
    said = sniff(written(tmp_path, f"{head}Weir\n1,Zoë,2\n".encode("latin-1"))).said
    assert "but for bytes that are not" in said


def ballots(items, person="who"):
    return Declaration(kind="ballots", items=items, person=person)


def test_all_that_a_header_lacks_is_said_at_once_with_what_may_be_meant(tmp_path):
    grid = written(tmp_path, "Email;Rank [weir];Rank [quarry];dup;dup\na;1;2;3;4\n")
    with refused("'Person', 'weir', 'quarry'", "5 columns, separated by semicolons", '--alias "Rank [weir]=weir"'):
        ballots(["weir", "quarry"], "Person").read(grid)
    alias = {"Rank [weir]": "weir", "Rank [quarry]": "quarry"}
    declared = Declaration(kind="ballots", items=["weir", "quarry"], person="Email", aliases=alias)
    assert declared.read(grid).kept == 1
    with refused("no column 'email'", "'Email' is meant"):
        ballots(["Rank [weir]", "Rank [quarry]"], "email").read(grid)
    with refused("2 columns are called 'dup'"):
        ballots(["Rank [weir]", "dup"], "Email").read(grid)
    comma = written(tmp_path, 'who,"Parks, trees",Roads\n1,1,2\n')
    with refused("no column 'Parks', 'trees'", "'Parks, trees' is one, with a comma", "one a line"):
        ballots(["Parks", "trees", "Roads"]).read(comma)
    assert ballots(["Parks, trees", "Roads"]).read(comma).kept == 1


def test_a_pair_whose_name_has_a_comma_and_a_name_with_blanks(tmp_path):
    path = written(tmp_path, 'who,"Parks, trees vs Roads"\n1,Roads\n')
    keys = {"kind": "comparisons", "form": "wide", "person": "who", "answers": "names"}
    with refused("'Parks, trees' is one, with a comma"):
        Declaration(**keys, items=["Parks", "trees", "Roads"]).read(path)
    assert Declaration(**keys, items=["Parks, trees", "Roads"]).read(path).kept == 1
    path = written(tmp_path, "who,roads ,Parks\n1,1,2\n")
    with refused("no column 'Roads'", "'roads ' is meant, maybe: --clean nfkc,strip,spaces,casefold"):
        ballots(["Roads", "Parks"]).read(path)
    rules = ["strip", "casefold"]
    assert Declaration(kind="ballots", items=["Roads", "Parks"], person="who", clean=rules).read(path).kept == 1


BODIES = ("", "1,1,2\n", 'x,"who\n",2\n', "who,oak,elm\n" * 3, "sep=;\n", '{"a": 1}\n', "oak;elm;fir\n\xff,,,,,,\n")


@pytest.mark.parametrize(
    "head", ["Who,Oaks,elm", '"a\nb",oak,elm', "who;oak;elm,x", "who,oak,oak", "[oak],who,e", "sep=;"]
)
def test_what_a_header_refuses_no_row_changes(head, tmp_path):
    said = set()
    for body in BODIES:
        with pytest.raises(ValueError, match=r"line 1|no column|needed") as caught:
            ballots(["oak", "elm"]).read(written(tmp_path, f"{head}\n1,2,3\n{body}"))
        said.add(str(caught.value))
    assert len(said) == 1


def test_words_of_a_lacking_header():
    assert "and 7 more" in no_column([f"c{at}" for at in range(10)], ["x", "y"])
    assert "between columns" in no_column(["who"], ["who roads"]) or "is meant" in no_column(["who"], ["who roads"])
    secret = no_column(["place"], ["SECRET", "roads", "1"])
    assert "SECRET" not in secret
    assert "line 1 is taken for the header" in secret


OTHERS = {
    b"$FL2@(#) IBM SPSS" + bytes(80): "SPSS",
    b"<stata_dta><header>" + bytes(80): "Stata",
    b"\x72\x02\x01\0" + bytes(80): "Stata",
    b"RDX3\nX\n" + bytes(80): "arrow::write_parquet",
    b"X\n\0\0\0\3" + bytes(80): "arrow::write_parquet",
    bytes(12) + b"\xc2\xea\x81\x60\xb3\x14" + bytes(80): "SAS",
    b"%PDF-1.7\n" + bytes(80): "a PDF",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(80): "Excel workbook of before 2007",
    b"\x1f\x8b\x08\0" + bytes(80): "gzip",
    b"PK\x03\x04" + bytes(80): "ZIP",
    b"\xef\xbb\xbf<!DOCTYPE html><html>": "page of the web",
    b'<?xml version="1.0"?>': "XML",
}


@pytest.mark.parametrize("start", OTHERS)
def test_what_is_no_table_is_called_by_its_kind(start, tmp_path):
    for name in ("a.csv", "a.parquet" if 0 in start else "a.txt"):
        with refused(name, OTHERS[start], "arquet"):
            sniff(written(tmp_path, start, name))


@pytest.mark.parametrize(
    ("inside", "kind"),
    [("xl/workbook.xml", "Excel workbook;"), ("mimetype", "OpenDocument"), ("votes.csv", "ZIP")],
)
def test_what_is_in_a_zip_says_what_it_is(inside, kind, tmp_path):
    with zipfile.ZipFile(tmp_path / "votes.csv", "w") as file:
        file.writestr(inside, "x")
    with refused("votes.csv is", kind, "as CSV"):
        sniff(tmp_path / "votes.csv")


@pytest.mark.parametrize("head", ["ORCHARD,who", "[a],who", "{x},who", "PAR,who", "FEA1,who", "<5,who", "PKW,who"])
def test_odd_headers_are_no_other_kind(head, tmp_path):
    assert list(sniff(written(tmp_path, f"{head}\n1,2\n")).frame.columns) == head.split(",")


def test_a_name_twice_in_parquet_is_refused_where_it_is_used(tmp_path):
    table = pa.table([["1", "2"], ["2", "1"], ["x", "y"], ["z", "z"]], names=["a", "b", "dup", "dup"])
    pq.write_table(table, tmp_path / "a.parquet")
    assert ballots(["a", "b"], None).read(tmp_path / "a.parquet").kept == 2
    with refused("'dup' holds several columns"):
        ballots(["a", "b"], "dup").read(tmp_path / "a.parquet")
    with refused("no column 'c' (3 columns)"):
        ballots(["a", "c"], None).read(tmp_path / "a.parquet")


@pytest.mark.parametrize("line", ["person7,oak,elm,1", "persona,oak,fir,1", "my person,elm,oak,0.5"])
@pytest.mark.parametrize("skip", [0, 1])
def test_no_cell_of_a_row_is_told_in_the_place_of_a_header(line, skip, tmp_path):
    # catches a name like the one that is missing, where line 1 is somebody's, or --skip passed over the header
    declared = Declaration(
        kind="comparisons", items=["oak", "elm", "fir"], person="person", columns=("left", "right", "answer"),
        answers="outcome", layout={"skip": skip} if skip else None,
    )  # fmt: skip
    path = written(tmp_path, "Person,left,right,answer\n" * skip + f"{line}\n{line}\n")
    with pytest.raises(ValueError, match="line 1 is taken for the header") as caught:
        declared.read(path)
    assert line.split(",")[0] not in str(caught.value)
    path = written(tmp_path, f"Persons,left,right,answer\n{line}\n")
    with refused("'Persons' is meant, maybe"):
        dataclasses.replace(declared, layout=None).read(path)
