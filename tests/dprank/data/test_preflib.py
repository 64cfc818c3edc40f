"""Files of PrefLib: what preflibtools writes is read, what it would read amiss is refused by line and field."""

import re
import sys
from collections import Counter
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest
from checks import each, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from preflibtools.instances import OrdinalInstance

import dprank
from dprank.data import preflib

NAMES = {1: "roads", 2: "schools: all", 3: "SECRET park"}
GOOD = {
    "soc": ["3: 1,2,3", "1: 3,1,2"],
    "toc": ["3: 1,{2,3}", "1: {1,2,3}"],
    "soi": ["3: 1,2", "1: 3"],
    "toi": ["3: {1,2}", "1: 3,{1,2}"],
    "wmd": ["1,2,3.0", "1,3,1.5", "2,1,-1e3", "3, 1, 1"],
}


def written(kind, body=None, *, change=lambda header: header):
    """A file of this kind; `change` gets its header as a list of lines."""
    body = GOOD[kind] if body is None else body
    if kind == "wmd":
        numbers = [f"# NUMBER EDGES: {len(body)}"]
    else:
        total = sum(int(line.split(":")[0]) for line in body if re.match(r"\d{1,15}:", line))
        numbers = [f"# NUMBER VOTERS: {total}", f"# NUMBER UNIQUE ORDERS: {len(body)}"]
    header = [
        f"# FILE NAME: a.{kind}", "# TITLE: made up", f"# DATA TYPE: {kind}", "# NUMBER ALTERNATIVES: 3", *numbers,
        *(f"# ALTERNATIVE NAME {at}: {name}" for at, name in NAMES.items()),
    ]  # fmt: skip
    return "\n".join([*change(header), *body]) + "\n"


def read(folder, text, kind):
    path = folder / f"a.{kind}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return preflib.read_preflib(path)


@pytest.mark.parametrize(
    ("kind", "orders", "counts"),
    [
        ("soc", (((0,), (1,), (2,)), ((2,), (0,), (1,))), [3, 1]),
        ("toc", (((0,), (1, 2)), ((0, 1, 2),)), [3, 1]),
        ("soi", (((0,), (1,)), ((2,),)), [3, 1]),
        ("toi", (((0, 1),), ((2,), (0, 1))), [3, 1]),
        ("wmd", (((1,), (2,)), ((0,),), ((0,),)), [1, 1, 1]),
    ],
)
def test_good_files_are_read(tmp_path, kind, orders, counts):
    file = read(tmp_path, written(kind), kind)
    assert (file.kind, file.orders, file.counts.tolist()) == (kind, orders, counts)
    assert file.names == tuple(NAMES.values())
    assert f".{kind}" in file.said


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("# ALT", "\n\n#ALT"),
        lambda text: text + "\n \n",
        lambda text: text.replace("3: 1", " 3 :  1 "),
        lambda text: text.replace("# TITLE", "# A WORD OF OUR OWN"),
        lambda text: text.replace("# TITLE: made up\n", ""),
        lambda text: text.rstrip("\n"),
    ],
)
def test_what_changes_no_ballot_is_no_fault(tmp_path, change):
    plain, changed = (read(tmp_path, text, "toc") for text in (written("toc"), change(written("toc"))))
    assert plain.orders == changed.orders
    assert plain.counts.tolist() == changed.counts.tolist()


def line(old, new):
    """A header in which one line is another."""
    return lambda header: [new if it.startswith(old) else it for it in header]


def without(start):
    return lambda header: [it for it in header if not it.startswith(start)]


VOTERS, UNIQUE, ALTERNATIVES, NAME = (
    "# NUMBER VOTERS", "# NUMBER UNIQUE ORDERS", "# NUMBER ALTERNATIVES", "# ALTERNATIVE NAME 2",
)  # fmt: skip
#: Header -> what the line says of it.
HEADERS = {
    "no header": (lambda _: [], "no header"),
    "no voters": (without(VOTERS), "NUMBER VOTERS is missing"),
    "no unique orders": (without(UNIQUE), "NUMBER UNIQUE ORDERS is missing"),
    "no alternatives": (without(ALTERNATIVES), "NUMBER ALTERNATIVES is missing"),
    "no data type": (without("# DATA TYPE"), "DATA TYPE is missing"),
    "no names": (without("# ALTERNATIVE NAME"), "ALTERNATIVE NAME: one for every number"),
    "a name missing": (without(NAME), "ALTERNATIVE NAME: one for every number"),
    "voters of a word": (line(VOTERS, VOTERS + ": SECRET"), "line 5: NUMBER VOTERS: a whole number"),
    "voters of nothing": (line(VOTERS, VOTERS + ":"), "line 5: NUMBER VOTERS: a whole number"),
    "voters below none": (line(VOTERS, VOTERS + ": -4"), "line 5: NUMBER VOTERS: a whole number"),
    "voters in halves": (line(VOTERS, VOTERS + ": 4.0"), "line 5: NUMBER VOTERS: a whole number"),
    "voters with a line under": (line(VOTERS, VOTERS + ": 0_4"), "line 5: NUMBER VOTERS: a whole number"),
    "voters in other digits": (line(VOTERS, VOTERS + ": ４"), "line 5: NUMBER VOTERS: a whole number"),
    "voters without end": (line(VOTERS, VOTERS + ": " + "9" * 5000), "line 5: NUMBER VOTERS: a whole number"),
    "voters twice": (lambda header: [*header, VOTERS + ": 4"], "NUMBER VOTERS is there twice"),
    "voters without a colon": (line(VOTERS, VOTERS + " 4"), "line 5: NUMBER VOTERS: a whole number"),
    "another word of voters": (line(VOTERS, "# NUMBER VOTERSX: 4"), "line 5: NUMBER VOTERS: a whole number"),
    "orders of a word": (line(UNIQUE, UNIQUE + ": two"), "line 6: NUMBER UNIQUE ORDERS: a whole number"),
    "more alternatives": (line(ALTERNATIVES, ALTERNATIVES + ": 4"), "ALTERNATIVE NAME: one for every number"),
    "fewer alternatives": (line(ALTERNATIVES, ALTERNATIVES + ": 2"), "ALTERNATIVE NAME: one for every number"),
    "one alternative": (line(ALTERNATIVES, ALTERNATIVES + ": 1"), "NUMBER ALTERNATIVES: at least 2"),
    "alternatives without end": (line(ALTERNATIVES, ALTERNATIVES + ": 999999999999999"), "ALTERNATIVE NAME"),
    "the same number": (line(NAME, "# ALTERNATIVE NAME 1: SECRET"), "line 8: ALTERNATIVE NAME: its number is there"),
    "the same name": (line(NAME, "# ALTERNATIVE NAME 2: roads"), "line 8: ALTERNATIVE NAME: another"),
    "no number": (line(NAME, "# ALTERNATIVE NAME: SECRET"), "line 8: ALTERNATIVE NAME: a number and a name"),
    "a number of a word": (line(NAME, "# ALTERNATIVE NAME two: x"), "line 8: ALTERNATIVE NAME: a number and a name"),
    "a number below none": (line(NAME, "# ALTERNATIVE NAME -2: x"), "line 8: ALTERNATIVE NAME: a number and a name"),
    "number 0": (line(NAME, "# ALTERNATIVE NAME 0: x"), "ALTERNATIVE NAME: one for every number"),
    "number 4": (line(NAME, "# ALTERNATIVE NAME 4: x"), "ALTERNATIVE NAME: one for every number"),
    "an empty name": (line(NAME, "# ALTERNATIVE NAME 2:   "), "line 8: ALTERNATIVE NAME: a number and a name"),
    "another data type": (line("# DATA TYPE", "# DATA TYPE: soi"), "line 3: DATA TYPE is not that of the file's name"),
    "a data type of a word": (line("# DATA TYPE", "# DATA TYPE: SECRET"), "line 3: DATA TYPE"),
    "data type twice": (lambda header: [*header, "# DATA TYPE: toc"], "DATA TYPE is there twice"),
    "the old format": (lambda _: ["3", "1,roads", "2,schools", "3,parks", "4,4,2"], "no header"),
}
#: Lines that are no orders, or no edges.
BODIES = [
    ("soc", "3: 1,2"),
    ("toc", "3: {1,2}"),
    ("soc", "3: 1,{2,3}"),
    ("soi", "3: {1,2}"),
    ("toi", "3: 1,1"),
    ("toi", "3: 1,{2,1}"),
    ("toi", "3: 1,4"),
    ("toi", "3: 0,1"),
    ("toi", f"3: 1,{'9' * 5000}"),
    ("toi", "3: -1,2"),
    ("toi", "3: 1,{2,3"),
    ("toi", "3: 1,2}"),
    ("toi", "3: {{1,2},3}"),
    ("toi", "3: {1,{2},3}"),
    ("toi", "3: {}"),
    ("toi", "3: 1,,2"),
    ("toi", "3: 1,2,"),
    ("toi", "3: "),
    ("toi", "3: 1,SECRET,3"),
    ("toi", "3: 1 2 3;"),
    ("toi", "3: roads,schools"),
    ("toi", "3: １,2"),
    ("toi", "3: 1 2,3"),
    ("toi", "3: {1 2},3"),
    ("toi", "3: 01,2"),
    ("toi", "1 2: 1,2"),
    ("toi", "03: 1,2"),
    ("toi", "-3: 1,2"),
    ("toi", "3.5: 1,2"),
    ("toi", "3e2: 1,2"),
    ("toi", "1_0: 1,2"),
    ("toi", "SECRET: 1,2"),
    ("toi", "1,2"),
    ("toi", ": 1,2"),
    ("toi", "3: 1: 2"),
    ("toi", f"{'9' * 5000}: 1,2"),
    ("toi", "3, 1,2"),
    ("wmd", "1,2"),
    ("wmd", "1,2,3,4"),
    ("wmd", "1,4,1"),
    ("wmd", "0,1,1"),
    ("wmd", "1,2,nan"),
    ("wmd", "1,2,inf"),
    ("wmd", "1,2,1e999"),
    ("wmd", "1,2,1.2.3"),
    ("wmd", "1,2,SECRET"),
    ("wmd", "1,2,1_0"),
]


def test_every_fault_of_a_header_has_its_line(tmp_path):
    for name, (change, said) in HEADERS.items():
        with refused("a.toc: ", said):
            read(tmp_path, written("toc", change=change), "toc")
            pytest.fail(name)


def test_a_line_that_is_none_is_left_out(tmp_path):
    """Its ballots are there by the header, and rank nothing; all other lines are read."""
    for kind, body in BODIES:
        good = [it for it in GOOD[kind] if kind != "wmd" or not it.startswith("1,2")]
        text = written(kind, [*good[:1], body, *good[1:]])
        file, alone = read(tmp_path, text, kind), read(tmp_path, written(kind, good), kind)
        assert file.others == (body.strip(),), (kind, body)
        assert (file.orders, file.counts.tolist()) == (alone.orders, alone.counts.tolist()), (kind, body)
        said = re.search(r"NUMBER VOTERS: (\d+)", text)
        assert file.voters == (int(said[1]) if said else 3)


def test_only_the_header_says_how_many_ballots_there_are(tmp_path):
    """Too few are filled up, too many cut off, and a line beyond a machine's memory is a line like others."""
    for voters, counts, beyond in (("9", [3, 1], 0), ("4", [3, 1], 0), ("2", [2], 2), ("0", [], 4)):
        file = read(tmp_path, written("toc", change=line(VOTERS, f"{VOTERS}: {voters}")), "toc")
        assert (file.voters, file.counts.tolist(), file.beyond) == (int(voters), counts, beyond)
        assert ("more ballots than its header says" in file.said) == (beyond > 0)
    huge = written("toi", ["3: 1,2", "999999999999999: 2,1"], change=line(VOTERS, VOTERS + ": 5"))
    assert read(tmp_path, huge, "toi").counts.tolist() == [3, 2]
    with refused("a.toi: NUMBER VOTERS: more ballots than"):
        read(tmp_path, written("toi", ["999999999999999: 1,2"]), "toi")


@each(("kind", "places", "field"), [("wmd", 9, "ALTERNATIVES"), ("toc", 12, "VOTERS")])
def test_no_more_places_than_there_is_room_for(tmp_path, monkeypatch, kind, places, field):
    """Three alternatives: nine weights, and four orders of three."""
    monkeypatch.setattr(preflib, "MOST_AT_ONCE", places)
    assert read(tmp_path, written(kind), kind).others == ()
    monkeypatch.setattr(preflib, "MOST_AT_ONCE", places - 1)
    with refused(f"a.{kind}: NUMBER {field}: more ballots than {places - 1} places"):
        read(tmp_path, written(kind), kind)


def test_counts_of_nothing_and_orders_that_come_again(tmp_path):
    file = read(tmp_path, written("soc", ["2: 1,2,3", "0: 3,1,2"]), "soc")
    assert (file.orders, file.counts.tolist(), file.others) == ((((0,), (1,), (2,)),), [2], ())
    file = read(tmp_path, written("toi", ["3: 1,2", "1: 3", "2: 1, 2"]), "toi")
    assert (file.orders, file.counts.tolist(), file.others) == ((((0,), (1,)), ((2,),)), [5, 1], ())


def test_a_line_of_a_megabyte(tmp_path):
    lines = [
        "3: 1" + " " * (1 << 20) + "x",
        "3: " + "1," * (1 << 19) + "2",
        "3: {" + " , " * (1 << 18),
        "1" * (1 << 20),
    ]
    file = read(tmp_path, written("toi", [*lines, "1: 1,2"]), "toi")
    assert file.others == tuple(it.strip() for it in lines)
    assert file.counts.tolist() == [1]


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("wmd", written("wmd", change=without("# NUMBER EDGES")), "NUMBER EDGES is missing"),
        ("soc", written("soi"), "line 3: DATA TYPE"),
        ("soc", "", "no header"),
        ("soc", "\n\n", "no header"),
        ("soc", "left,right\na,b\n", "no header"),
        ("soc", "# \n#\n##\n", "no header"),
        ("toi", "# TITLE: Zoë\n".encode("latin-1") + written("toi").encode(), "line 1 is not UTF-8"),
        ("toi", written("toi").replace("roads", "Zoë").encode("latin-1"), "line 7 is not UTF-8"),
        ("toi", written("toi").replace("roads", "a\x00b"), "line 7 holds a null character"),
        ("toi", bytes(range(128, 256)), "no header"),
        ("toi", written("toi").encode("utf-16-le"), "null character"),
        ("dat", written("toi"), "no PrefLib file of orders"),
        ("wmg", written("toi"), "no PrefLib file of orders"),
    ],
)
def test_a_broken_file(tmp_path, kind, text, said):
    with refused(f"a.{kind}", said):
        read(tmp_path, text, kind)


@pytest.mark.parametrize(
    ("kind", "text", "others"),
    [
        ("toi", written("toi").encode() + b"# NUMBER VOTERS: 4\n", ("# NUMBER VOTERS: 4",)),
        ("toi", written("toi").encode() + "# TITLE: Zoë".encode("latin-1"), (r"# TITLE: Zo\xeb",)),
        ("toi", written("toi").encode() + b"\x00", (r"\x00",)),
        ("toi", written("toi").encode() + b"\xff\x00", (r"\xff\x00",)),
        ("toi", written("toi").replace("1: 3", "\xff1: 3").encode("latin-1"), (r"\xff1: 3,{1,2}",)),
        ("soc", written("soi").replace("# DATA TYPE: soi", "# DATA TYPE: soc").encode(), tuple(GOOD["soi"])),
        ("wmd", written("wmd", ["1,2,1", "1,2,2"]).encode(), ("1,2,2",)),
        ("wmd", written("wmd", change=line("# NUMBER EDGES", "# NUMBER EDGES: 3")).encode(), ()),
        ("toi", written("toi", change=line(UNIQUE, UNIQUE + ": 3")).encode(), ()),
    ],
)
def test_what_is_wrong_below_the_header_refuses_no_file(tmp_path, kind, text, others):
    file = read(tmp_path, text, kind)
    assert file.others == others
    assert file.voters == (3 if kind == "wmd" else 4)


def test_no_message_tells_what_stands_in_the_file(tmp_path):
    texts = [written("toc", change=change) for change, _ in HEADERS.values()]
    for text in texts:
        with pytest.raises(ValueError, match=r"a\.") as caught:
            read(tmp_path, text, "toc")
        assert "SECRET" not in str(caught.value)
        assert len(str(caught.value)) < 300
        assert "\n" not in str(caught.value)


@each("body", [["2: 1,x,3"], ["2: 1,2,3", "5: 1,2,3"], ["-2: 1,2,3"], ["2: 1,{2,3"]])
def test_preflibtools_alone_takes_what_is_refused_here(tmp_path, body):
    """Why the grammar is checked first."""
    instance = OrdinalInstance()
    instance.data_type = "toi"
    instance.parse_lines(written("toi", body).splitlines())
    file = read(tmp_path, written("toi", body), "toi")
    ours = [tuple(tuple(it + 1 for it in tied) for tied in order) for order in file.orders]
    assert instance.multiplicity != dict(zip(ours, file.counts.tolist(), strict=True))


@st.composite
def profiles(draw):
    """Weak orders of some of three alternatives, and their counts."""
    places = st.lists(st.integers(-1, 2), min_size=3, max_size=3).filter(lambda row: max(row) >= 0)
    rows = draw(st.lists(places, min_size=1, max_size=6))
    return [
        tuple(group for place in range(3) if (group := tuple(at + 1 for at, it in enumerate(row) if it == place)))
        for row in rows
    ]


@settings(max_examples=60, deadline=None)
@given(profiles())
def test_what_preflibtools_writes_comes_back(tmp_path_factory, orders):
    instance = OrdinalInstance()
    instance.alternatives_name, instance.num_alternatives = dict(NAMES), 3
    instance.append_order_list(orders)
    path = tmp_path_factory.mktemp("p") / f"a.{instance.infer_type()}"
    instance.write(str(path))
    file = preflib.read_preflib(path)
    again = {
        tuple(tuple(it + 1 for it in tied) for tied in order): count
        for order, count in zip(file.orders, file.counts.tolist(), strict=True)
    }
    assert again == {order: orders.count(order) for order in orders}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_file_with_a_slip_is_read_as_its_lines_are(tmp_path_factory, data):
    """Of those that are orders not one ballot more or less than they say, up to the number in the header."""
    text = written("toi", ["3: {1,2}", "1: 3,{1,2}", "12: 2,1,3"])
    at = data.draw(st.integers(0, len(text) - 1))
    slip = data.draw(st.text("0123456789{},:#\n -x", max_size=2))
    text = text[:at] + slip + text[at + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("p") / "a.toi"
    path.write_text(text, encoding="utf-8", newline="")
    file = None
    with suppress(ValueError):
        file = preflib.read_preflib(path)
    if file is None:
        return
    lines = [it.strip() for it in text.split("\n")]
    first = next((at for at, it in enumerate(lines) if it and not it.startswith("#")), len(lines))
    good = [it for it in lines[first:] if it and it not in file.others]
    expected, left = Counter(), file.voters
    for it in good:
        count, order = it.split(":")
        bare = re.sub(r"\{(\d)\}", r"\1", re.sub(r"\s*([,{}])\s*", r"\1", order.strip()))
        expected[bare] += min(int(count), left)
        left -= min(int(count), left)
    read_orders = [
        ",".join(
            str(tied[0] + 1) if len(tied) == 1 else "{" + ",".join(str(it + 1) for it in tied) + "}" for tied in order
        )
        for order in file.orders
    ]
    assert dict(zip(read_orders, file.counts.tolist(), strict=True)) == dict(+expected)


@pytest.mark.parametrize("order", ["1 2,1", "{1 2},1", "2,1\t2", "12,1"])
def test_a_blank_makes_no_other_alternative_of_two(tmp_path, order):
    """Of twelve: preflibtools alone takes ``1 2`` for 12."""
    header = ["DATA TYPE: toi", "NUMBER ALTERNATIVES: 12", "NUMBER VOTERS: 1", "NUMBER UNIQUE ORDERS: 1"]
    header += [f"ALTERNATIVE NAME {at}: x{at}" for at in range(1, 13)]
    text = "".join(f"# {it}\n" for it in header) + f"1: {order}\n"
    if order == "12,1":
        assert read(tmp_path, text, "toi").orders == (((11,), (0,)),)
    else:
        assert read(tmp_path, text, "toi").others == (f"1: {order}",)


def test_without_preflibtools_the_line_says_how_to_have_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "preflibtools", None)
    monkeypatch.setitem(sys.modules, "preflibtools.instances", None)
    with refused("a.toc", "pip install 'dprank[preflib]'"):
        read(tmp_path, written("toc"), "toc")


def test_another_preflibtools_that_reads_other_ballots_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(OrdinalInstance, "parse_lines", lambda self, lines: self.multiplicity.update({((1,),): 4}))
    with refused("preflibtools reads other ballots"):
        read(tmp_path, written("toc"), "toc")
    monkeypatch.setattr(OrdinalInstance, "parse_lines", lambda self, lines: 1 / 0)
    with refused("preflibtools reads other ballots"):
        read(tmp_path, written("toc"), "toc")


def test_the_example_is_a_file_of_orders_with_ties():
    file = preflib.read_preflib(dprank.example("city.toc"))
    assert file.counts.sum() == 250
    assert any(len(tied) > 1 for order in file.orders for tied in order)
    assert len(file.orders) < len(list(permutations(range(4)))) * 4
    assert np.all(file.counts >= 1)


@pytest.mark.parametrize("kind", GOOD)
def test_numbers_that_nobody_needs_are_passed_over(tmp_path, kind):
    plain = read(tmp_path, written(kind), kind)
    more = read(tmp_path, written(kind, change=lambda header: [*header, "# NUMBER CATEGORIES: 3", "# NUMBER 1"]), kind)
    assert repr(more) == repr(plain)


@pytest.mark.parametrize("line", ["# ALTERNATIVE NAME 2", "#ALTERNATIVE NAME 2", "#  ALTERNATIVE NAME 2"])
def test_a_name_without_a_colon_is_refused_however_its_line_begins(tmp_path, line):
    with refused("a number and a name are needed"):
        read(tmp_path, written("soc", change=lambda header: [*header, line]), "soc")
