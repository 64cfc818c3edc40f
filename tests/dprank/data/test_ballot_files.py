"""Files that name their candidates: every format gives the ballots that were written; a broken one is one line."""

import contextlib
import gzip
import re
from collections import Counter

import numpy as np
import pytest
from checks import each, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kinds_of_files import CANDIDATES, FORMATS, PROFILE, Cast, blt

import dprank
from dprank import Declaration
from dprank.cli.path import said
from dprank.data.forms import BALLOT_FILES, candidates_of, form_called, form_named, forms_like
from dprank.data.layout import Layout

#: One of Dominion is three files.
NAMES = [it.name for it in BALLOT_FILES if it.name != "dominion"]


def declared(form, **rest):
    keys = {"kind": "ballots", "items": CANDIDATES, "form": form, "ballots": "partial", "unranked": "apart"}
    return Declaration(**keys | rest)


def sample(folder, form, text=None, suffix=None):
    write, usual, _ = FORMATS[form]
    path = folder / f"a{suffix or usual}"
    text = write() if text is None else text
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def require_quiet(path, declaration):
    """What is read of a file; else its refusal is a line that names it, and nobody."""
    try:
        return declaration.read(path)
    except ValueError as error:
        told = str(error)
    assert str(path) in told
    assert "\n" not in told
    assert "SECRET" not in told
    return None


def ballots_of(profile, items=4):
    """How often each ballot is there, as the place of every item, by the profile alone; -1 for none."""
    found = Counter()
    for times, order in profile:
        place = {it: at for at, tied in enumerate(order) for it in tied}
        found[tuple(place.get(it, -1) for it in range(items))] += times
    return found


def counted(intake):
    rows, times = np.unique(intake.data.places, axis=0, return_counts=True)
    return Counter({tuple(map(int, row)): int(it) for row, it in zip(rows, times, strict=True)})


def test_every_format_has_a_sample_and_a_writer():
    assert sorted(FORMATS) == sorted(NAMES)


@each("form", NAMES)
def test_the_ballots_are_those_that_were_written(tmp_path, form):
    path = sample(tmp_path, form)
    intake = declared(form).read(path)
    profile = FORMATS[form][2]
    assert counted(intake) == ballots_of(profile)
    assert intake.rows == intake.kept == sum(it.times for it in profile)
    assert candidates_of(path, form_named(form)) == CANDIDATES
    assert [it.name for it in forms_like(path)] == [form]


ORDERS = st.permutations(range(4)).flatmap(
    lambda order: st.lists(st.booleans(), min_size=4, max_size=4).map(lambda tied: grouped(order, tied))
)


def grouped(order, tied):
    """An order of which some are tied with the one before; cut off where all after are left out."""
    groups: list[tuple[int, ...]] = []
    for at, (item, with_last) in enumerate(zip(order, tied, strict=True)):
        if at and with_last:
            groups[-1] = (*groups[-1], item)
        else:
            groups.append((item,))
    return tuple(groups[: 1 + sum(tied)])


@given(st.lists(st.tuples(st.integers(1, 30), ORDERS), min_size=1, max_size=12))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_profile_is_read_as_it_was_written(tmp_path, made):
    profile = tuple(Cast(*it) for it in made)
    for form, (write, _, _) in FORMATS.items():
        kept = profile
        if form == "scottish":
            kept = tuple(Cast(times, tuple((it,) for tied in order for it in tied)) for times, order in profile)
        if form == "preflib":
            kept = tuple({it.order: it for it in profile}.values())
        intake = declared(form).read(sample(tmp_path, form, write(kept)))
        assert counted(intake) == ballots_of(kept), form


@each("form", NAMES)
def test_a_packed_file_is_the_same(tmp_path, form):
    path = sample(tmp_path, form)
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert counted(declared(form).read(packed)) == counted(declared(form).read(path))
    assert form_called(packed) == form_called(path)
    assert [it.name for it in forms_like(packed)] == [form]


@each("form, change", [
    (form, change)
    for form in NAMES
    for change in (
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", " \n"),
    )
])  # fmt: skip
def test_what_changes_no_ballot_is_no_fault(tmp_path, form, change):
    changed = sample(tmp_path, form, change(FORMATS[form][0]()))
    intake = declared(form).read(changed)
    assert counted(intake) == ballots_of(FORMATS[form][2])
    assert candidates_of(changed, form_named(form)) == CANDIDATES


#: Lines below the header that are no ballots, and for how many they stand.
ODD = {
    "blt": [
        ("1 9 0", 1), ("3 1 2", 3), ("2 1 0 2", 2), ("x 1 0", 1), ("1,2,0", 1), ("-1 2 0", 1), ("1.5 1 0", 1),
        ("4 1==2 0", 4), ("1 = 0", 1), ("1 0x1 0", 1), ("5", 5), ("(id 1 2 0", 1), ("SECRET", 1), ("3 1\x002 0", 3),
        ("99999999999999999999 1 0", 1), ("2 ١ 0", 2), ("1 1 2 0 0", 1), ('"Amy"', 1), ("1 -2 0", 1), ("1 1;2 0", 1),
    ],
    "abif": [
        ("3:C0>", 3), ("2:>C0", 2), ("4:C0>>C1", 4), ("x:C0", 1), ("2:C0,C1", 2), ("2:C0/1>C1/5", 2),
        ("2:C0/1=C1/5", 2),
        ("3:C0>C1,C2", 3), ("1:[C0", 1), ("1:C0]>C1", 1), ("2:C0/x", 2), ("2::C0", 1), ("-3:C0", 1), ("1.5:C0", 1),
        ("99999999999999999999:C0", 1), ("2:C0<C1", 2), ("2:C0/5/4", 2), ("3:C0/1>C1/1", 3), ("2:=C0", 2),
        ("=C0", 1), ("=C9:[SECRET]", 1),
        ("1:[]", 1),
        ('2:"C0', 2),
    ],
    "cvotes": [
        ("Bob >", 1), ("> Bob * 2", 2), ("Bob >> Chuck * 3", 3), ("Bob = > Chuck", 1), ("Bob < Chuck", 1), ("* 4", 4),
        ("Bob * x", 1), ("Bob * 2 ^ 3", 1), ("Bob, Chuck * 2", 2), ("Bob ; Chuck", 1),
        ("Bob > /EMPTY_RANKING/ * 2", 2),
        ("a || ", 1), ("Bob * 2 * 3", 3), ("Bob | Chuck", 1), ("^ 7", 1), ("Bob * -1", 1), ("Bob * 1.5", 1),
        ("||", 1),
        ("Bob > = Chuck", 1), ("= Bob", 1), ("Bob * 99999999999999999999", 1),
    ],
    "scottish": [
        ("1,9,", 1), ("x,1,2,", 1), ("3,1,,2,", 3), ("2,1;2,", 2), ("1.5,1,", 1), ("-2,1,", 1), ("4,0,", 4),
        ("SECRET", 1),
        ("2,1,x,", 2), ("99999999999999999999,1,", 1), ("3,١,", 3), ('"Candidate","SECRET"', 1), ("2 1 2", 1),
        ("2,-1,", 2), ("2,1.0,", 2), ("2,1-2,", 2), ("2,=,", 2), ("2,1=,", 2), ("2,1,2,3,4,5,", 2), ('2,"1",', 2),
        ("2\t1", 1),
    ],
    "debian": [
        ("V: 12", 1), ("V: 12345", 1), ("V: 12x-", 1), ("V:", 1), ("W: 1234", 1), ("1234", 1), ("V: 1 2 3 4", 1),
        ("V: 0123", 1), ("V: ١234", 1), ("V: 1.34", 1), ("SECRET", 1), ("V 1234", 1), ("V: ----- x", 1),
        ("v: 1234", 1),
        ("V: 12=4", 1), ("V; 1234", 1), ("V: A234", 1), ("V: 1,2,3,4", 1), ("V: +123", 1), ("V: <234", 1),
        ("V: 123", 1),
    ],
}  # fmt: skip


def with_line(form, line):
    """The sample with one more line among its ballots."""
    first = {"blt": "7 1 2 0", "abif": "7:", "cvotes": "Amy Lee > Bob * 7", "scottish": "7,1,2,", "debian": "V: 12--"}
    text = FORMATS[form][0]()
    return text.replace(f"\n{first[form]}", f"\n{line}\n{first[form]}", 1)


@each("form, line, times", [(form, *it) for form, lines in ODD.items() for it in lines])
def test_a_line_that_is_no_ballot_is_left_out_and_counted(tmp_path, form, line, times):
    assert with_line(form, line) != FORMATS[form][0]()
    intake = declared(form).read(sample(tmp_path, form, with_line(form, line)))
    profile = FORMATS[form][2]
    assert intake.rows == sum(it.times for it in profile) + times, "as many ballots as the line says, else one"
    assert dict(intake.left_out) == {"no such order": times}
    assert counted(intake) == ballots_of(profile) + Counter({(-1,) * 4: times}), "which rank nothing"
    assert sum(intake.misread.values()) == 1, "the curator is told the line"


@each("form", list(ODD))
def test_bytes_that_are_no_text_are_one_ballot(tmp_path, form):
    raw = with_line(form, "LINE").encode().replace(b"LINE", b"\xff\xfe")
    intake = declared(form).read(sample(tmp_path, form, raw))
    assert intake.rows == sum(it.times for it in FORMATS[form][2]) + 1


def replaced(old, new):
    def change(text):
        assert old in text
        return text.replace(old, new, 1)

    return change


def without(start):
    return lambda text: "\n".join(it for it in text.split("\n") if not it.startswith(start))


#: What is wrong with a header, and what the line says of it.
HEADERS = {
    "blt": [
        (replaced("4 1\n", ""), "line 1: numbers of candidates"), (replaced("4 1\n", "4\n"), "line 1"),
        (replaced("4 1\n", "4 1 2\n"), "line 1"), (replaced("4 1\n", "x 1\n"), "line 1"),
        (replaced("4 1", "4,1"), "line 1"),
        (replaced("4 1", "6 1"), "5 names below"), (replaced("4 1", "9 1"), "names below"),
        (without("0"), "no line 0"), (replaced('"Bob"', '"Amy Lee"'), "line 10: another candidate"),
        (replaced('"Bob"', '""'), "line 10: a candidate has no name"),
        (replaced('"Bob"', '"Bob'), "line 10: the name"),
        (replaced('"Bob"', "Bob Hope"), "line 10: the name"), (replaced('"Bob"', "7"), "line 10: the name"),
        (replaced("4 1\n", "4 1\n-9\n"), "line 2: a candidate has withdrawn"),
        (lambda text: text[: text.index('"Chuck')], "names below"),
        (lambda text: text[: text.index("\n0\n")], "no line 0"), (lambda text: "", "empty"),
        (lambda text: "\n \n", "empty"),
        (replaced("4 1\n", "1 1\n"), "1 candidate"), (replaced("4 1", "-4 1"), "line 1"),
        (replaced("4 1", "4.0 1"), "line 1"),
        (replaced("4 1", "٤ 1"), "line 1"), (replaced("4 1", '"4" 1'), "line 1"),
        (lambda text: text.replace("\n", " "), "line 1"),
        (replaced("4 1", "99999999999 1"), "line 1"), (replaced("4 1", "999999999 1"), "names below"),
        (replaced('"Amy Lee"', '"'), "line 9"),
        (lambda text: "<html>" + text, "line 1"), (lambda text: "{" + text, "line 1"),
        (replaced("4 1", "# 4 1"), "line"),
    ],
    "abif": [
        (replaced("=C1:[Bob]", "=C0:[Bob]"), "line 3: another candidate has this short"),
        (replaced("=C1:[Bob]", "=C1:[Amy Lee]"), "line 3: another"),
        (replaced("=C1:[Bob]", "=C1:[]"), "line 3: a candidate has no name"),
        (replaced("=C1:[Bob]", "=C1:Bob"), "line 3: a candidate is needed"),
        (replaced("=C1:[Bob]", "=C1"), "line 3: a candidate"), (replaced("=C1:[Bob]", "=[Bob]"), "line 3"),
        (replaced("=C1:[Bob]", "="), "line 3"),
        (replaced("=C1:[Bob]", "=C1:[Bob"), "line 3"), (replaced("=C1:[Bob]", "=C1:[B[o]b]"), "line 3"),
        (replaced("=C1:[Bob]", "=C1=[Bob]"), "line 3"),
        (replaced("=C1:[Bob]", "==C1:[Bob]"), "line 3"), (replaced("=C1:[Bob]", "=C1:[Bob] x"), "line 3"),
        (lambda text: "", "empty"),
        (lambda text: "=A:[Amy]\n3:A", "1 candidate"), (replaced("=C1:[Bob]", "=:[Bob]"), "line 3"),
        (replaced("=C1:[Bob]", "=C,1:[Bob]"), "line 3"),
    ],
    "cvotes": [
        (replaced("; Bob ;", "; Amy Lee ;"), "line 1: another"),
        (replaced("; Bob ;", ";;"), "line 1: a candidate has no name"),
        (replaced("; Bob ;", "; B>b ;"), "line 1: Candidates"),
        (replaced("; Bob ;", "; B=b ;"), "line 1: Candidates"),
        (replaced("; Bob ;", "; Bob, Chuck ;"), "line 1: Candidates"),
        (replaced("Amy Lee ; Bob ; Chuck ; Dó", ""), "line 1"),
        (replaced("Amy Lee ; Bob ; Chuck ; Dó", "Amy"), "1 candidate"),
        (replaced("#/Implicit Ranking: false", "#/Weight Allowed: true"), "line 2: Weight"),
        (replaced("#/Implicit Ranking: false", "#/Candidates: Amy ; Bob"), "line 2: Candidates is there twice"),
        (lambda text: "", "empty"),
        (replaced("; Bob ;", "; B*b ;"), "line 1: Candidates"), (replaced("; Bob ;", "; B^b ;"), "line 1"),
        (replaced("; Bob ;", "; B|b ;"), "line 1"),
        (replaced("#/Implicit Ranking: false", "#/weight allowed : TRUE"), "line 2: Weight"),
        (replaced("; Bob ;", "; B#b ;"), "line 1: Candidates"),
    ],
    "scottish": [
        (replaced("4,2,\n", ""), "line 1: numbers"), (replaced("4,2,", "4 2"), "line 1"),
        (replaced("4,2,", "4"), "line 1"), (replaced("4,2,", "x,2,"), "line 1"),
        (replaced("4,2,", "6,2,"), "Candidate 5"), (without('"Candidate'), "no line"),
        (replaced('"Candidate 2"', '"Candidate 3"'), "line 8: "),
        (replaced('"Bob"', '"Amy Lee"'), "line 8: another"),
        (replaced('"Bob"', '""'), "line 8: a candidate has no name"),
        (replaced('"Candidate 1"', '"Candidate A"'), "no line"),
        (replaced('"Candidate 2","Bob","Party 2 (P2)",', '"Candidate 2"'), "line 8"),
        (lambda text: text[: text.index('"Candidate 3')], "2 candidates below"),
        (lambda text: "", "empty"), (replaced("4,2,", "1,2,"), "1 candidate"),
        (replaced("4,2,", "4;2;"), "line 1"), (replaced("4,2,", "4,2,x"), "line 1"),
        (replaced("4,2,", "٤,2,"), "line 1"), (replaced("4,2,", "-4,2,"), "line 1"),
        (replaced("4,2,", "4.0,2,"), "line 1"), (replaced("4,2,", '"4","2",'), "line 1"),
    ],
    "debian": [
        (without("V:"), "no line that begins with V:"), (replaced("Option 2", "Option 3"), "line 4: Option 2"),
        (replaced("Option 1", "Option 2"), "line 3: Option 1"),
        (replaced(": Bob", ": Amy Lee"), "line 4: another"),
        (replaced(": Bob", ":"), "line 4: a candidate has no name"),
        (replaced("Option 1", "Opinion 1"), "Option 1 is needed"),
        (lambda text: text[text.index("V:") :], "0 candidates"), (lambda text: "", "empty"),
        (lambda text: text[: text.index("V:")], "no line"),
        (lambda text: text.replace("V: ", "v: "), "no line"),
        (lambda text: text.replace("Option", "Item"), "0 candidates"),
    ],
}  # fmt: skip


@each("form, change, words", [(form, *it) for form, cases in HEADERS.items() for it in cases])
def test_a_header_that_is_none_is_one_line(tmp_path, form, change, words):
    path = sample(tmp_path, form, change(FORMATS[form][0]()))
    with refused(str(path), words):
        candidates_of(path, form_named(form))
    require_quiet(path, declared(form))


@each("form", list(ODD))
def test_names_that_are_no_text_ask_for_an_encoding(tmp_path, form):
    raw = FORMATS[form][0]().encode("cp1252")
    path = sample(tmp_path, form, raw)
    with refused(str(path), "--encoding"):
        candidates_of(path, form_named(form))
    assert candidates_of(path, form_named(form), Layout(encoding="cp1252")) == CANDIDATES
    intake = declared(form, layout={"encoding": "cp1252"}).read(path)
    assert counted(intake) == ballots_of(FORMATS[form][2])


def test_cut_off_anywhere_it_is_a_line_or_fewer_ballots(tmp_path):
    """At no byte of a sample is a cut a crash, a second line, or somebody's words."""
    for form, (write, _, profile) in FORMATS.items():
        raw, most = write().encode(), sum(it.times for it in profile)
        for at in range(0, len(raw), 7):
            path = sample(tmp_path, form, raw[:at])
            intake = require_quiet(path, declared(form))
            assert intake is None or intake.rows <= most


def test_who_has_withdrawn_is_taken_off(tmp_path):
    path = sample(tmp_path, "blt", blt(withdrawn=[1]))
    items = candidates_of(path, form_named("blt"))
    assert items == ("Amy Lee", "Chuck", "Dó")
    intake = declared("blt", items=items, unranked="last").read(path)
    assert not intake.unknown
    assert "ballots with an item not declared, whose unranked items are compared with none" not in intake.altered
    known = {0: 0, 2: 1, 3: 2}
    kept = [
        Cast(times, tuple(group for tied in order if (group := tuple(known[it] for it in tied if it in known))))
        for times, order in PROFILE
    ]
    apart = declared("blt", items=items).read(path)
    assert counted(apart) == ballots_of(kept, 3)


def test_whom_ballots_alone_name_is_no_public_list(tmp_path):
    for form, text in (("abif", "27:Ann>Bo\n3:Bo\n"), ("cvotes", "Ann > Bo * 27\nBo * 3\n")):
        path = sample(tmp_path, form, text)
        with refused(str(path), "lists no candidates"):
            candidates_of(path, form_named(form))
        intake = declared(form, items=["Bo", "Ann"]).read(path)
        assert counted(intake) == Counter({(1, 0): 27, (0, -1): 3})


@each("text, ballot", [
    ("2:C0/5,C1/5,C2/1", (0, 0, 1, -1)), ("2:C2/1, C0/9 ,C1/2.5", (0, 1, 2, -1)), ("2:C0/5>C1/1", (0, 1, -1, -1)),
    ('2 * C0 > [Chuck] = "Bob"', (0, 1, 1, -1)), ("2:C0 # a > b", (0, -1, -1, -1)),
    ("2:C0>Nobody>C1", (0, 1, -1, -1)),
])  # fmt: skip
def test_abif_has_scores_long_names_and_comments(tmp_path, text, ballot):
    head = "".join(f"=C{at}:[{name}]\n" for at, name in enumerate(CANDIDATES))
    intake = declared("abif").read(sample(tmp_path, "abif", head + text))
    assert counted(intake) == Counter({ballot: 2})


def test_a_line_0_among_ballots_of_blt_does_not_end_them(tmp_path):
    """As many ballots as it says: none. The last such line is the end, and names stand below it."""
    path = sample(tmp_path, "blt", with_line("blt", "0"))
    intake = declared("blt").read(path)
    assert candidates_of(path, form_named("blt")) == CANDIDATES
    assert (counted(intake), dict(intake.misread)) == (ballots_of(PROFILE), {"0": 1})


def test_names_in_blt_may_hold_quotation_marks(tmp_path):
    """As those of Scottish councils do: a mark in a name is written twice."""
    names = ["Amy # one", 'Bob ""Bo"" Hope', '""Chuck""', "Dó"]
    path = sample(tmp_path, "blt", blt(names=names))
    assert candidates_of(path, form_named("blt")) == ("Amy # one", 'Bob "Bo" Hope', '"Chuck"', "Dó")


def test_places_left_free_and_names_of_ballots_in_blt(tmp_path):
    text = blt([]).replace("\n0\n", "\n1 3 - - 1 0 # skipped\n(b-17) 2 0\n0\n", 1)
    intake = declared("blt").read(sample(tmp_path, "blt", text))
    assert counted(intake) == Counter({(1, -1, 0, -1): 1, (-1, 0, -1, -1): 1})


@pytest.mark.slow
def test_two_commands_from_a_file_to_a_release(tmp_path):
    """With no list of items typed; nothing is spent where the file is none."""
    for form, (write, suffix, _) in FORMATS.items():
        folder = tmp_path / form
        folder.mkdir()
        path, budget, out = sample(folder, form), folder / "b.sqlite", folder / "r.json"
        flags = ["--items", path, "--ballots", "partial", "--unranked", "last"]
        flags += ["--form", form] * (form_called(path) is None)
        seen = said("check", path, *flags)
        assert (seen.code, "ballots: " in seen.out) == (0, True), seen
        dprank.Budget(budget, epsilon=50.0)
        paid = [*flags, "--epsilon", "20", "--budget", budget, "--protect", "ballot"]
        done = said("release", "consensus", path, *paid, "--out", out)
        assert done.code == 0, done
        assert out.exists()
        broken = sample(folder, form, "\n".join(write().split("\n")[1:] if form != "debian" else ["x"]), f"2{suffix}")
        if form not in ("abif", "cvotes"):  # of which the first line may be missing
            failed = said(
                "release", "consensus", broken, *flags, "--epsilon", "20", "--budget", budget, "--protect", "ballot"
            )
            assert failed.code != 0
            assert len(re.findall(r"dprank: (?!items:)", failed.error)) == 1, failed.error
            assert "SECRET" not in failed.error
        spent = said("budget", budget).out
        assert spent.count("epsilon") >= 1
        assert "30" in spent, "twenty of fifty"


@each(
    "form, part",
    [(form, part) for form in ODD for part in ("[", '"', "a ", "> ", "= ", "* ", "1 ", "(", "/", ",", "||", "^")],
)
def test_a_long_line_is_read_in_one_go(tmp_path, form, part):
    """Twice as long is about twice the steps: a square of them would be minutes here, and the test's timeout."""
    intake = declared(form).read(sample(tmp_path, form, with_line(form, part * 200_000)))
    assert intake.rows >= sum(it.times for it in FORMATS[form][2])


def without_list(form):
    """The sample where ballots alone name candidates."""
    text = FORMATS[form][0]()
    return "\n".join(line for line in text.split("\n") if not line.startswith(("=", "#/Candidates")))


@each("form", ["abif", "cvotes"])
def test_a_new_name_is_no_part_of_another_ballot(tmp_path, form):
    """Who alone names somebody changes one ballot, how many names there are and how many ballots: of none but this."""
    items = [f"C{at}" for at in range(4)] if form == "abif" else CANDIDATES
    line = {"abif": "1:", "cvotes": "/EMPTY_RANKING/ * 1"}[form]
    other = {"abif": "1:SECRET>Nobody=C0", "cvotes": "SECRET > Nobody = Amy Lee"}[form]
    text = without_list(form)
    assert f"\n{line}\n" in text
    before, after = (
        counted(declared(form, items=items).read(sample(tmp_path, form, it)))
        for it in (text, text.replace(f"\n{line}\n", f"\n{other}\n"))
    )
    assert before - after == Counter({(-1,) * 4: 1})
    assert after - before == Counter({(0, -1, -1, -1): 1})


@each("form, line", [(form, line) for form, lines in ODD.items() for line, times in lines if times == 1])
def test_one_ballot_in_the_place_of_another_moves_one(tmp_path, form, line):
    """So that what protects one ballot of the result protects one of the file, whatever somebody writes."""
    single = {"blt": "1 1 0", "abif": "1:C0", "cvotes": "Amy Lee", "scottish": "1,1,", "debian": "V: 1---"}[form]
    before, after = (declared(form).read(sample(tmp_path, form, with_line(form, it))) for it in (single, line))
    assert before.rows == after.rows
    assert counted(before) - counted(after) == Counter({(0, -1, -1, -1): 1})
    assert counted(after) - counted(before) == Counter({(-1,) * 4: 1})


def test_brackets_that_nobody_closes_are_read_once(tmp_path):
    """A square of the steps would be hours of them, which the test's timeout ends."""
    intake = declared("abif").read(sample(tmp_path, "abif", with_line("abif", "[" * 3_000_000)))
    assert dict(intake.left_out) == {"no such order": 1}


def test_who_voted_is_not_told_with_a_line_that_is_none(tmp_path):
    intake = declared("debian").read(sample(tmp_path, "debian", with_line("debian", "V: 1A34\tann\tSECRET Ann")))
    assert dict(intake.misread) == {"V: 1A34": 1}


def test_ballots_that_only_a_header_counts_are_absent(tmp_path):
    total = sum(it.times for it in FORMATS["preflib"][2])
    text = FORMATS["preflib"][0]().replace(f"VOTERS: {total}", f"VOTERS: {total + 2}")
    assert declared("preflib").read(sample(tmp_path, "preflib", text)).absent == 2
    assert declared("blt").read(sample(tmp_path, "blt", with_line("blt", "SECRET"))).absent == 0


@each("form", [it for it in FORMATS if it != "preflib"])
def test_a_name_longer_than_any_is_taken_or_refused(tmp_path, form):
    # catches a reader of CSV that gives up at 131,072 signs in words of its own
    text = FORMATS[form][0]().replace("Bob", "B" * 200_000)
    path = sample(tmp_path, form, text)
    with contextlib.suppress(ValueError):
        assert "B" * 200_000 in candidates_of(path, form_named(form))
