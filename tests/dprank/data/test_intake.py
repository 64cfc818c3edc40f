"""From a file to ballots and answers: the same by every form, accounted for, and one person's rows at a time."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checks import each, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import dprank
from dprank import Ballots, Comparisons, Declaration, Rankings
from dprank.data import casting

ITEMS = ("roads", "schools", "parks")
PARTIAL = {"kind": "ballots", "items": ITEMS, "ballots": "partial", "unranked": "apart"}


def read(folder, text, name="data.csv", **keys):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return Declaration(**({"kind": "ballots", "items": ITEMS} | keys)).read(path)


def csv(*rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def as_wide(rows):
    return csv(("who", *ITEMS), *((who, *("" if it < 0 else it + 1 for it in row)) for who, row in enumerate(rows)))


def as_long(rows):
    cells = [
        (who, item, it + 1) for who, row in enumerate(rows) for item, it in zip(ITEMS, row, strict=True) if it >= 0
    ]
    # whoever ranks nothing has a row all the same
    empty = [(who, ITEMS[0], "") for who, row in enumerate(rows) if max(row) < 0]
    return csv(("who", "thing", "place"), *cells, *empty)


def order(row):
    places = sorted({it for it in row if it >= 0})
    return " > ".join(" = ".join(item for item, it in zip(ITEMS, row, strict=True) if it == place) for place in places)


def as_orders(rows):
    return csv(("who", "vote"), *((who, order(row)) for who, row in enumerate(rows)))


FORMS = {
    "wide": (as_wide, {}),
    "long": (as_long, {"form": "long", "columns": ("thing", "place")}),
    "orders": (as_orders, {"form": "orders", "columns": ("vote",)}),
}
#: Every way to rank three items, or some, with ties.
NOTHING = (-1, -1, -1)
EVERY = [row for row in product(range(-1, 3), repeat=3) if set(row) - {-1} == set(range(len(set(row) - {-1})))]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(tmp_path, form):
    write, keys = FORMS[form]
    intake = read(tmp_path, write(EVERY), person="who", **(PARTIAL | keys))
    rows = np.array(EVERY)
    assert sorted(map(tuple, intake.data.places.tolist())) == sorted(EVERY)
    assert (intake.data.margins() == Ballots(rows, ITEMS).margins()).all()
    assert intake.kept == intake.rows
    assert intake.altered == {"ballots that rank nothing": 1}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["full", "tied"])
def test_of_other_ballots_than_declared_none_ranks_anything(tmp_path, form, kind):
    write, keys = FORMS[form]
    fit = [row for row in EVERY if min(row) >= 0 and (kind == "tied" or len(set(row)) == 3)]
    intake = read(tmp_path, write(EVERY), person="who", ballots=kind, **keys)
    assert isinstance(intake.data, Ballots)
    assert sorted(map(tuple, intake.data.places.tolist())) == sorted(fit + [NOTHING] * (len(EVERY) - len(fit)))
    assert sum(intake.left_out.values()) + intake.kept == intake.rows
    assert intake.kept == len(fit) * (3 if form == "long" else 1)


def test_of_preflib_the_same(tmp_path):
    orders = [[[at + 1 for at in range(3) if row[at] == place] for place in range(max(row) + 1)] for row in EVERY]
    lines = [",".join("{" + ",".join(map(str, tied)) + "}" for tied in groups) for groups in orders if groups]
    header = ["DATA TYPE: toi", "NUMBER ALTERNATIVES: 3", f"NUMBER VOTERS: {2 * len(lines)}"]
    header += [f"NUMBER UNIQUE ORDERS: {len(lines)}", *(f"ALTERNATIVE NAME {i}: {n}" for i, n in enumerate(ITEMS, 1))]
    text = "\n".join([*(f"# {it}" for it in header), *(f"2: {it}" for it in lines)])
    intake = read(tmp_path, text, "a.toi", form="preflib", **PARTIAL)
    assert Counter(map(tuple, intake.data.places.tolist())) == Counter({row: 2 for row in EVERY if max(row) >= 0})
    assert (intake.rows, intake.kept) == (2 * len(lines), 2 * len(lines))
    last = read(tmp_path, text, "a.toi", form="preflib", **(PARTIAL | {"unranked": "last"}))
    assert last.data == intake.data.unranked_last()
    assert last.altered["ballots with unranked items, put last"] > 0
    # fewer items: orders of those that are declared
    two = read(tmp_path, text, "a.toi", form="preflib", **(PARTIAL | {"items": ITEMS[:2]}))
    assert two.unknown == {"parks": intake.written["parks"]}
    assert two.altered["items not declared, taken off their ballots"] == intake.written["parks"]
    assert (two.data.margins() == intake.data.margins()[:2, :2]).all()


def test_write_ins_that_are_one_item_are_one_on_every_ballot(tmp_path):
    """Two spellings of an item: of a ballot that has both, the better place; and no ballot refuses the file."""
    names = ("Roads", "roads ", "parks", "schools")
    header = ["DATA TYPE: toi", "NUMBER ALTERNATIVES: 4", "NUMBER VOTERS: 6", "NUMBER UNIQUE ORDERS: 3"]
    header += [f"ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(names, 1)]
    text = "\n".join([*(f"# {it}" for it in header), "1: 3,1,4,2", "2: 2,3,{1,4}", "3: {1,2},3"])
    intake = read(tmp_path, text, "a.toi", form="preflib", clean=("strip", "casefold"), **PARTIAL)
    assert Counter(map(tuple, intake.data.places.tolist())) == {(1, 2, 0): 1, (0, 2, 1): 2, (0, -1, 1): 3}


@each(
    "rows, reason",
    [
        (["1,2,x"], "no such place"),
        (["1,2,0"], "no such place"),
        (["1,2,-3"], "no such place"),
        (["1,2,inf"], "no such place"),
    ],
)
def test_a_ballot_with_what_is_no_place_ranks_nothing(tmp_path_factory, rows, reason):
    text = "\n".join([",".join(ITEMS), "2,1,", *rows])
    intake = read(tmp_path_factory.mktemp("p"), text, **PARTIAL)
    assert intake.left_out == {reason: len(rows)}
    assert intake.data.places.tolist() == [[1, 0, -1], [*NOTHING]]
    assert len(intake.misread) == 1


@each(
    "text, places",
    [
        ("1,2,3", [0, 1, 2]),
        ("1,1,2", [0, 0, 1]),
        ("7,,7", [0, -1, 0]),
        (" 2 ,1.5,NA", [1, 0, -1]),
        ("nan,NULL,1", [-1, -1, 0]),
        (",,", [-1, -1, -1]),
    ],
)
def test_what_is_a_place(tmp_path_factory, text, places):
    assert read(tmp_path_factory.mktemp("p"), csv(ITEMS) + text, **PARTIAL).data.places.tolist() == [places]


@each(
    "text, reason",
    [
        ("21:roads > parks", "no such order"),
        ("roads > parks (3)", "no such order"),
        ("2 Roads", "no such order"),
        ("roads = schools > ROADS", "an item twice"),
        ("roads > schools > parks = Schools > roads = parks > schools = roads", None),
        ("parks = roads > Roads = schools > parks", "an item twice"),
    ],
)
def test_what_is_no_order(tmp_path_factory, text, reason):
    keys = PARTIAL | FORMS["orders"][1] | {"clean": ("casefold",)}
    intake = read(tmp_path_factory.mktemp("p"), f"vote\nparks>roads\n{text}\n", **keys)
    assert intake.left_out == ({} if reason is None else {reason: 1})
    assert intake.data.places.tolist() == [[1, -1, 0], [*NOTHING] if reason else [0, 1, 2]]


@each(
    "text, places",
    [
        ("roads > > parks", [0, -1, 1]),
        ("roads >", [0, -1, -1]),
        ("= roads", [0, -1, -1]),
        ("> roads > NA > - > parks", [0, -1, 1]),
        (">>", [-1, -1, -1]),
        ("roads > roads", [0, -1, -1]),
        ("roads > parks > ROADS", [0, -1, 1]),
        ("roads = roads > parks", [0, -1, 1]),
    ],
)
def test_a_place_that_is_skipped_and_an_item_that_comes_again(tmp_path_factory, text, places):
    keys = PARTIAL | FORMS["orders"][1] | {"clean": ("casefold",)}
    intake = read(tmp_path_factory.mktemp("p"), f"vote\n{text}\n", **keys)
    assert (intake.left_out, intake.data.places.tolist()) == ({}, [places])


def test_items_that_are_not_declared_leave_an_order_as_it_is_without_them(tmp_path):
    keys = PARTIAL | FORMS["orders"][1]
    intake = read(tmp_path, "vote\nparks > zoo = roads > zoo2 > schools\nzoo\n", **keys)
    assert intake.data.places.tolist() == [[1, 2, 0], [-1, -1, -1]]
    assert intake.unknown == {"zoo": 2, "zoo2": 1}
    assert intake.altered["items not declared, taken off their ballots"] == 3
    long = csv(("who", "thing", "place"), (1, "parks", 1), (1, "zoo", 2), (1, "roads", 3), (2, "zoo", 1))
    intake = read(tmp_path, long, person="who", **(PARTIAL | FORMS["long"][1]))
    assert intake.data.places.tolist() == [[1, -1, 0], [-1, -1, -1]]
    assert intake.left_out == {"an item not declared": 2}
    # all of a ballot that must have all is nothing
    intake = read(tmp_path, long, person="who", ballots="tied", **FORMS["long"][1])
    assert intake.data.places.tolist() == [[*NOTHING]] * 2

    assert intake.left_out == {"an item not declared": 2, "an item without a place": 2}


def test_which_ballot_of_a_person_counts_is_seen_by_its_weight_not_by_its_row(tmp_path_factory):
    """Of ballots alike but for the weight the first row would be a rule that sees where rows stand."""
    for who in ("ann", "bob", "eve", "zoe"):
        rows = [(who, 1, 2, 3, weight) for weight in (2, 5, 3, 9)]
        weights = {
            tuple(read(tmp_path_factory.mktemp("p"), csv(("who", *ITEMS, "w"), *some), person="who", weight="w",
                       max_weight=9, repeated="one", **PARTIAL).data.weight.tolist())
            for some in (rows, rows[::-1], rows[2:] + rows[:2])
        }  # fmt: skip
        assert len(weights) == 1


@each("rule, left", [("one", 2), ("none", 1)])
def test_of_a_person_with_several_ballots(tmp_path_factory, rule, left):
    rows = [("ann", 1, 2, 3), ("Ann ", 3, 2, 1), ("bob", 1, "", 2)]
    text = csv(("who", *ITEMS), *rows)
    intake = read(tmp_path_factory.mktemp("p"), text, person="who", repeated=rule, **PARTIAL)
    assert len(intake.data) == 2
    assert (intake.data.places >= 0).any(axis=1).sum() == left
    assert intake.left_out == {"another ballot of the same person": 3 - left}
    again = read(
        tmp_path_factory.mktemp("p"), csv(("who", *ITEMS), *rows[::-1]), person="who", repeated=rule, **PARTIAL
    )
    assert sorted(again.data.places.tolist()) == sorted(intake.data.places.tolist())


def test_an_item_keeps_its_best_place_and_two_orders_of_one_ballot_rank_nothing(tmp_path):
    rows = [(1, "roads", 1), (1, "roads", 2), (1, "parks", 3), (2, "roads", 1), (2, "roads", 1), (3, "parks", "?")]
    rows += [(4, item, place) for order in (ITEMS, ITEMS[::-1]) for place, item in enumerate(order, 1)]
    intake = read(tmp_path, csv(("who", "thing", "place"), *rows), person="who", **(PARTIAL | FORMS["long"][1]))
    assert intake.data.places.tolist() == [[0, -1, 1], [0, -1, -1], [*NOTHING], [*NOTHING]]
    assert intake.left_out == {"no such place": 1, "an item twice": 6}
    assert intake.altered == {"ballots that name an item again, by its best place": 1}


def test_long_ballots_by_their_own_number(tmp_path):
    rows = [("a", 1, "roads", 1), ("a", 1, "parks", 2), ("a", 2, "parks", 1), ("", 3, "parks", 1), ("b", 4, "roads", 1)]
    text = csv(("who", "sheet", "thing", "place"), *rows)
    keys = PARTIAL | FORMS["long"][1] | {"ballot": "sheet"}
    assert len(read(tmp_path, text, **keys).data) == 4
    intake = read(tmp_path, text, person="who", **keys)
    # a, b, and whoever has no name
    assert (len(intake.data), (intake.data.places >= 0).any(axis=1).sum()) == (3, 2)
    assert intake.left_out["no person"] == 1
    assert Declaration(**keys).unit == "ballot"
    assert Declaration(person="who", **keys).unit == "person"


def test_weights(tmp_path):
    rows = [(1, 2, 3, 3), (1, 2, 3, 9), (3, 2, 1, 0), (1, 2, 3, "x"), (1, 2, 3, -1), (1, 2, 3, 1.5), (1, 2, 3, "")]
    text = csv((*ITEMS, "heavy"), *rows)
    for kind in ("full", "partial"):
        more = {"unranked": "apart"} if kind == "partial" else {}
        intake = read(tmp_path, text, ballots=kind, weight="heavy", max_weight=4, **more)
        assert intake.data.weight.tolist() == [3, 4, 0, *[0] * 4]
        assert (intake.data.places[3:] == -1).all()
        assert intake.left_out == {"no such weight": 4}
        assert intake.altered == {"weights above the most, counted as the most": 1}
    long = csv(
        ("who", "thing", "place", "w"), (1, "roads", 1, 2), (1, "parks", 2, 2), (2, "roads", 1, 2), (2, "parks", 2, 3)
    )
    intake = read(tmp_path, long, person="who", weight="w", max_weight=4, **(PARTIAL | FORMS["long"][1]))
    assert intake.data.weight.tolist() == [2, 0]
    assert intake.left_out == {"no such weight": 2}


QUESTIONS = csv(("who", "roads vs schools", "parks vs. roads", "mood"), ("a", "roads", "equal", 3), ("b", "B", "", 1),
                ("c", "zoo", "parks", 2), ("", "A", "A", 2))  # fmt: skip


@each("keys", [{}, {"pairs": ["roads vs schools", "parks vs. roads"]},
               {"pairs": {"roads vs schools": "roads vs schools", "parks vs. roads": "parks vs roads"}}])  # fmt: skip
def test_a_questionnaire_with_a_column_a_pair(tmp_path_factory, keys):
    answers = {"A": 1.0, "B": 0.0, "equal": 0.5}
    declared = {"kind": "comparisons", "form": "wide", "person": "who", "answers": answers} | keys
    intake = read(tmp_path_factory.mktemp("p"), QUESTIONS, **declared)
    data = intake.data
    rows = sorted(zip(data.first.tolist(), data.second.tolist(), data.outcome.tolist(), strict=True))
    assert rows == [(0, 1, 0.0), (0, 1, 1.0), (2, 0, 0.5), (2, 0, 1.0)]
    assert len(data.voters) == 3
    assert intake.left_out == {"no person": 2, "no such answer": 1}
    assert (intake.rows, intake.kept) == (7, 4)
    assert intake.misread == {"zoo": 1}


def test_a_column_of_a_questionnaire_is_one_pair(tmp_path):
    text = csv(("who", "Q1"), ("ann", "roads"))
    pairs = {"Q1": "roads vs parks", "q1": "parks vs roads"}
    keys = {"kind": "comparisons", "form": "wide", "answers": "names"}
    with refused("'Q1' is two of the pairs"):
        read(tmp_path, text, person="who", pairs=pairs, clean=("casefold",), **keys)


def test_a_questionnaire_of_nobody_is_one_sheet_each(tmp_path):
    declared = {"kind": "comparisons", "form": "wide", "answers": {"A": 1, "B": 0}}
    intake = read(tmp_path, QUESTIONS, **declared)
    assert len(intake.data.voters) == 4
    assert Declaration(items=ITEMS, **declared).unit == "ballot"
    with refused("no column is named like"):
        read(tmp_path, csv(("a", "b"), (1, 2)), **declared)


COLUMNS = {"kind": "comparisons", "items": ITEMS, "columns": ("l", "r", "o")}


@each(
    "keys, said",
    [
        ({"kind": "tallies", "columns": ("it",), "person": "who", "weight": "w"}, "weight = 'w'; tallies have none"),
        (COLUMNS | {"ballots": "full"}, "ballots = 'full'; comparisons have none"),
        (COLUMNS | {"pairs": ["roads vs parks"]}, "only a wide questionnaire"),
        ({"kind": "comparisons", "form": "wide", "pairs": ["roads vs zoo"]}, "two items are needed"),
        ({"kind": "comparisons", "form": "wide", "pairs": ["roads vs roads"]}, "two items are needed"),
        ({"kind": "comparisons", "form": "wide", "pairs": []}, "at least one"),
        ({"kind": "comparisons", "form": "wide", "pairs": {"q": 1}}, "pairs"),
        ({"kind": "comparisons", "form": "wide", "answers": {"roads": 0.5}}, "it is an item"),
        ({"kind": "comparisons", "form": "orders"}, "form = 'orders'; allowed are 'long', 'wide'"),
        ({"form": "long", "columns": ("thing", "place"), "person": "who"}, "--ballots full"),
        ({"form": "long", "columns": ("thing", "place"), "ballots": "full"}, "which rows are one ballot"),
        ({"form": "long", "columns": ("thing",), "ballots": "full"}, "item, place"),
        ({"form": "orders", "ballots": "full"}, "order"),
        ({"form": "preflib"}, "partial (some, with"),
        ({"form": "preflib", "ballots": "tied", "person": "who"}, "has none"),
        ({"form": "preflib", "ballots": "tied", "weight": "w", "max_weight": 2}, "has none"),
        ({"ballots": "partial"}, "--unranked apart"),
        ({"ballots": "partial"}, "--unranked last"),
        ({"ballots": "partial", "unranked": "first"}, "allowed are 'apart', 'last'"),
        ({"ballots": "tied", "unranked": "apart"}, "only ballots = 'partial'"),
        ({"ballots": "all"}, "allowed are 'full', 'tied', 'partial'"),
        ({"repeated": "two"}, "allowed are 'one', 'none'"),
        ({"ballot": "b"}, "only long ballots"),
        ({"weight": "w"}, "go together"),
        ({"max_weight": 3}, "go together"),
        ({"weight": "w", "max_weight": 0}, "max_weight = 0"),
        ({"weight": "w", "max_weight": 2**21}, "max_weight"),
        ({"weight": "w", "max_weight": 1.5}, "max_weight"),
        ({"form": "orders", "columns": ("v",), "ballots": "full", "items": ("a=b", "c")}, "holds > or ="),
    ],
)
def test_a_declaration_that_cannot_be_meant(keys, said):
    with refused(said):
        Declaration(**({"kind": "ballots", "items": ITEMS} | keys))


@each(
    "keys",
    [
        COLUMNS | {"answers": {"x": 1.0}, "clean": ("strip",), "aliases": {"a": "b"}},
        COLUMNS | {"answers": "outcome"},
        {"kind": "comparisons", "form": "wide", "answers": "names", "pairs": {"q1": "roads vs parks"}},
        PARTIAL | {"weight": "w", "max_weight": 3, "person": "who", "repeated": "none"},
        PARTIAL | {"form": "long", "columns": ("i", "p"), "ballot": "b"},
        {"kind": "ballots", "form": "orders", "columns": ("v",), "ballots": "full"},
        {"kind": "ballots", "form": "preflib", "ballots": "tied"},
        {"kind": "tallies", "columns": ("it",), "person": "who"},
        *(
            {"kind": "ballots", "clean": ("casefold", "strip"), "aliases": {"c": "roads"}, "before_looking": before}
            for before in ((), ("strip",), ("casefold", "strip", "aliases"))
        ),
    ],
)
def test_a_declaration_comes_back_from_its_file(tmp_path_factory, keys):
    declared = Declaration(**({"items": ITEMS} | keys))
    path = tmp_path_factory.mktemp("p") / "plan.toml"
    path.write_text(declared.to_toml(), encoding="utf-8")
    assert Declaration.from_toml(path) == declared
    assert Declaration(**vars(declared)) == declared


def test_plans_of_version_0_2_say_what_they_said(tmp_path):
    """Byte for byte: their hash is published."""
    plans = [
        'kind = "ballots"\nitems = ["a", "b"]\nperson = "who"\n',
        'kind = "comparisons"\nitems = ["a", "b"]\ncolumns = ["l", "r", "o"]\nanswers = {"left" = 1.0}\n'
        'clean = ["strip"]\naliases = {"c" = "b"}\n',
        'kind = "tallies"\nitems = ["a", "b"]\nperson = "who"\ncolumns = ["it"]\n',
    ]
    for plan in plans:
        (tmp_path / "plan.toml").write_text(plan)
        assert Declaration.from_toml(tmp_path / "plan.toml").to_toml() == plan


def test_what_is_public_of_a_declaration_has_no_word_of_a_cell():
    """Items and columns may hold whatever a line may: the hash of a release is of this text."""
    keys = {"kind": "ballots", "items": ["aliases = x", "a\u2028aliases = b", "c\x85d"], "clean": ("strip",)}
    plain = Declaration(**keys)
    for word in ("SECRET", "SEC\u2028RET", "SEC\x85RET", "aliases = SECRET"):
        aliased = Declaration(**keys, aliases={word: "c\x85d"})
        assert "RET" in aliased.to_toml()
        assert aliased.public_toml() == plain.public_toml() == plain.to_toml()
        cells = {"places": {word: ""}, "unranked_as": (word,), "withdrawn": (word,)}
        for name, said in cells.items():
            declared = Declaration(**keys, form="long", columns=("it", "place"), person="who", ballots="full")
            told = replace(declared, **{name: said})
            assert "RET" in told.to_toml()
            assert told.public_toml() == declared.public_toml()


@each(
    ("keys", "said"),
    [
        ({"before_looking": ("strip",)}, "none, as no rule is declared"),
        ({"before_looking": ("strip", "casefold"), "clean": ("strip",)}, "'casefold'; a rule of this declaration"),
        ({"before_looking": ("aliases",), "clean": ("strip",)}, "'aliases'; a rule of this declaration"),
        ({"before_looking": "strip", "clean": ("strip",)}, "before_looking = 'strip'"),
        ({"before_looking": (1,), "clean": ("strip",)}, "before_looking = "),
    ],
)
def test_what_was_chosen_before_looking_is_a_rule_of_the_declaration(keys, said):
    with refused(said):
        Declaration(**({"kind": "ballots", "items": ITEMS} | keys))


def test_a_file_of_another_kind_than_declared(tmp_path):
    with refused("data.toc is a file of PrefLib; form = 'preflib' reads it"):
        read(tmp_path, "a,b\n", "data.toc")
    with refused("data.csv: no PrefLib file of orders"):
        read(tmp_path, "a,b\n", form="preflib", ballots="tied")


def ballot_multiset(data):
    return Counter(
        (tuple(row), int(heavy)) for row, heavy in zip(data.places.tolist(), data.weight.tolist(), strict=True)
    )


PLACES = st.sampled_from(["", "1", "2", "2", "3", "0", "x"])
WIDE_ROWS = st.lists(st.tuples(st.integers(1, 4), PLACES, PLACES, PLACES, st.sampled_from("0123x")), max_size=7)
LONG_ROWS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from([*ITEMS, "zoo"]), PLACES, st.just("2")), max_size=9)


def moved(folder, header, rows, other, keys):
    """How many ballots differ, when the rows of person 1 become others: as many are lost as gained."""
    rest = [row for row in rows if row[0] != 1]
    mine = [row for row in rows if row[0] == 1], [(1, *row[1:]) for row in other]
    texts = [csv(header, *part, *rest) for part in mine]
    both = [ballot_multiset(read(folder, text, person="who", **keys).data) for text in texts]
    assert both[0].total() - both[1].total() == bool(mine[0]) - bool(mine[1])
    return max((both[0] - both[1]).total(), (both[1] - both[0]).total())


WEIGHTED = PARTIAL | {"weight": "heavy", "max_weight": 2}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(WIDE_ROWS, WIDE_ROWS, st.sampled_from(["one", "none"]), st.sampled_from(["apart", "last"]))
def test_one_person_changes_one_wide_ballot(tmp_path_factory, rows, other, rule, unranked):
    keys = WEIGHTED | {"repeated": rule, "unranked": unranked}
    assert moved(tmp_path_factory.mktemp("p"), ("who", *ITEMS, "heavy"), rows, other, keys) <= 1


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(LONG_ROWS, LONG_ROWS, st.sampled_from(["tied", "apart", "last"]))
def test_one_person_changes_one_long_ballot(tmp_path_factory, rows, other, unranked):
    kind, unranked = ("tied", None) if unranked == "tied" else ("partial", unranked)
    keys = WEIGHTED | FORMS["long"][1] | {"ballots": kind, "unranked": unranked}
    assert moved(tmp_path_factory.mktemp("p"), ("who", "thing", "place", "heavy"), rows, other, keys) <= 1


def test_a_rule_that_looks_at_others_is_seen(tmp_path, monkeypatch):
    """The same check of a rule by content: who ranks what nobody else ranks is left out."""
    cast = casting.dense_places

    def of_all(values):
        places = cast(values)
        places[:, (places >= 0).sum(axis=0) < 2] = -1
        return places

    monkeypatch.setattr(casting, "dense_places", of_all)
    rows = [(1, "2", "1", "", 1), (2, "1", "2", "", 1), (3, "1", "", "2", 1), (4, "", "1", "2", 1)]
    header = ("who", *ITEMS, "heavy")
    assert moved(tmp_path, header, rows, [(1, "", "", "1", 1)], WEIGHTED) == 1
    assert moved(tmp_path, header, rows[:3], [(1, "", "", "1", 1)], WEIGHTED) > 1


PEOPLE = pd.DataFrame({"first": ["roads", "parks"], "second": ["parks", "schools"], "outcome": [1.0, 0.5],
                       "person": pd.array([2**60 + 1, 7], "Int64"), "roads": [1, 2], "schools": [2, 1],
                       "parks": [3, 3]})  # fmt: skip


class Polars:
    """A table as polars has it, of which this library asks for `to_arrow` alone."""

    def __init__(self, table):
        self.table = table

    def to_arrow(self):
        return self.table


Polars.__module__ = "polars.dataframe.frame"


def tables():
    import pyarrow as pa

    arrow = pa.Table.from_pandas(PEOPLE)
    yield "pyarrow", arrow
    yield "polars", Polars(arrow)
    yield "another", type("Frame", (), {"to_pandas": lambda self: PEOPLE})()
    yield "pandas", PEOPLE


@each("name, table", lambda: list(tables()))
def test_tables_of_other_libraries(name, table):
    answers = Comparisons.from_frame(table, items=ITEMS, voter="person")
    assert answers == Comparisons.from_frame(PEOPLE, items=ITEMS, voter="person")
    assert 2**60 + 1 in answers.voter.tolist()
    assert Rankings.from_frame(table, items=ITEMS, voter="person").positions.tolist() == [[0, 1, 2], [1, 0, 2]]
    tallies = dprank.Tallies.from_frame(table, items=ITEMS, person="person", item="first")
    assert tallies.counts().tolist() == [1, 0, 1]


@each("name, table", lambda: list(tables()))
def test_ballots_of_other_libraries(name, table):
    ballots = Ballots.from_frame(table, items=ITEMS, voter="person", weight="parks")
    assert ballots == Ballots([[0, 1, 2], [1, 0, 2]], ITEMS, [3, 3])


def test_ballots_from_a_table():
    table = pd.DataFrame(
        {"who": ["a", "A ", "b"], "roads": [2.5, None, 1], "schools": [1, 1, None], "parks": [2.5, 3, 1]}
    )
    every = Ballots.from_frame(table, items=ITEMS, voter=None)
    assert every.places.tolist() == [[1, 0, 1], [-1, 0, 1], [0, -1, 0]]
    assert len(Ballots.from_frame(table, items=ITEMS, voter="who")) == 2
    for bad in (0, -1, np.inf, True, "first", np.timedelta64(1, "D")):
        wrong = table.astype(object)
        wrong.iat[1, 2] = bad
        with refused("schools[1] is no place"):
            Ballots.from_frame(wrong, items=ITEMS, voter=None)
    with refused("weight"):
        Ballots.from_frame(table.assign(weight=[1, 2, -1]), items=ITEMS, voter=None, weight="weight")
    with refused("column 'x' is not in the table"):
        Ballots.from_frame(table, items=ITEMS, voter=None, weight="x")


def test_a_table_with_a_missing_number_keeps_the_others_whole():
    import pyarrow as pa

    table = pa.table({"person": [2**60 + 1, 2**60 + 2], "thing": ["roads", "roads"], "x": [1, None]})
    assert dprank.Tallies.from_frame(table, items=ITEMS, person="person", item="thing").counts().tolist() == [2, 0, 0]
    gone = pa.table({"person": [2**60 + 1, None], "thing": ["roads", "roads"]})
    with refused("person[1] is missing"):
        dprank.Tallies.from_frame(gone, items=ITEMS, person="person", item="thing")


@each("bad", [type("T", (), {"to_pandas": lambda self: 1 / 0})(), type("T", (), {"to_pandas": lambda self: "SECRET"})(),
              pd.DataFrame, {"a": 1}, None, "SECRET"])  # fmt: skip
def test_what_is_no_table(bad):
    with pytest.raises(ValueError, match="frame") as caught:
        Rankings.from_frame(bad, items=ITEMS, voter=None)
    assert "SECRET" not in str(caught.value)


def test_a_real_table_of_polars():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"person": [2**60 + 1, 2**60 + 2, 7], "thing": ["roads", "parks", "roads"]})
    assert dprank.Tallies.from_frame(table, items=ITEMS, person="person", item="thing").counts().tolist() == [2, 0, 1]
