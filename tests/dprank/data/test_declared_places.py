"""What stands on a ballot means what is declared: places, names that are none, rows that stand for several."""

import math

import numpy as np
import pytest
from checks import each, refused

from dprank import Declaration
from dprank._require import MOST_AT_ONCE
from dprank.cli import main
from dprank.data import casting
from dprank.data.accounts import OPEN
from dprank.data.places import AWAY, COUNTED, UNKNOWN, Names, place_reader

ITEMS = ("Ann", "Bo", "Cy")
LAST = {"ballots": "partial", "unranked": "last"}


def read(folder, text, name="data.csv", **keys):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Declaration(**({"kind": "ballots", "items": ITEMS} | keys)).read(path)


def order_of(data):
    """Items by their net wins, the best first."""
    return [data.items[at] for at in np.argsort(-data.net_wins(), kind="stable")]


def written(order, header="who,A,B,C,D"):
    """120 ballots of D C B A and 80 of A B C D, which put an item in each of four columns."""
    rows = [header]
    for at in range(200):
        one = "DCBA" if at < 120 else "ABCD"
        rows.append(f"v{at}," + order(one))
    return "\n".join(rows) + "\n"


@each("kind", [{"ballots": "full"}, {"ballots": "tied"}, {"ballots": "partial", "unranked": "apart"}, LAST])
def test_an_item_left_off_the_list_takes_no_ballot_away(tmp_path_factory, kind):
    """Case 2: 120 of 200 ballots went by what they said."""
    folder = tmp_path_factory.mktemp("p")
    places = written(lambda one: ",".join(str(one.index(it) + 1) for it in "ABCD"))
    texts = written(" > ".join, "who,vote")
    columns = written(",".join, "who,r1,r2,r3,r4")
    rows = ["who,item,place"] + [f"{at},{it},{place}" for at in range(200)
                                 for place, it in enumerate("DCBA" if at < 120 else "ABCD", 1)]  # fmt: skip
    header = ["DATA TYPE: soc", "NUMBER ALTERNATIVES: 4", "NUMBER VOTERS: 200", "NUMBER UNIQUE ORDERS: 2"]
    header += [f"ALTERNATIVE NAME {at}: {it}" for at, it in enumerate("ABCD", 1)]
    preflib = "\n".join([*(f"# {it}" for it in header), "120: 4,3,2,1", "80: 1,2,3,4"])
    for text, keys in (
        (places, {"form": "wide", "person": "who"}),
        (texts, {"form": "orders", "columns": ("vote",), "person": "who"}),
        (columns, {"form": "ranks", "columns": ("r1", "r2", "r3", "r4"), "person": "who"}),
        ("\n".join(rows), {"form": "long", "columns": ("item", "place"), "person": "who"}),
        (preflib, {"form": "preflib", "name": "a.soc"}),
    ):
        data = read(folder, text, **({"items": tuple("ABC")} | keys | kind)).data
        assert data.margins().tolist() == [[0, -40, -40], [40, 0, -40], [40, 40, 0]], keys
        assert len(data) == 200


@each(
    "text, keys",
    [
        ("id,Ann,Bo,Cy\n1,1,,3\n2,1,,\n3,2,,1\n", {"form": "wide"}),
        ("id,vote\n1,Ann > > Cy\n2,Ann > >\n3,Cy > Ann\n", {"form": "orders", "columns": ("vote",)}),
        ("id,r1,r2,r3\n1,Ann,,Cy\n2,Ann,,\n3,Cy,Ann,\n", {"form": "ranks", "columns": ("r1", "r2", "r3")}),
        ("id,i,p\n1,Ann,1\n1,Cy,3\n2,Ann,1\n3,Cy,1\n3,Ann,2\n", {"form": "long", "columns": ("i", "p")}),
        ("id,i,p\n1,Ann,1\n1,,2\n1,Cy,3\n2,Ann,1\n3,Cy,1\n3,Ann,2\n", {"form": "long", "columns": ("i", "p")}),
    ],
)
def test_a_skipped_place_is_no_place(tmp_path_factory, text, keys):
    """Case 3: of three ballots as texts two were gone."""
    data = read(tmp_path_factory.mktemp("p"), text, person="id", **(LAST | keys)).data
    assert data.margins().tolist() == [[0, 3, 1], [-3, 0, -2], [-1, 2, 0]]


@each(
    "text, keys",
    [
        ("vote\nAnne > Bo > Cy\n", {"form": "orders", "columns": ("vote",)}),
        ("id,r1,r2,r3\n1,Anne,Bo,Cy\n", {"form": "ranks", "columns": ("r1", "r2", "r3")}),
        ("id,i,p\n1,Anne,1\n1,Bo,2\n1,Cy,3\n", {"form": "long", "columns": ("i", "p"), "person": "id"}),
        ("# DATA TYPE: soi\n# NUMBER ALTERNATIVES: 4\n# NUMBER VOTERS: 1\n# NUMBER UNIQUE ORDERS: 1\n"
         + "".join(f"# ALTERNATIVE NAME {at}: {it}\n" for at, it in enumerate(("Anne", *ITEMS), 1)) + "1: 1,3,4\n",
         {"form": "preflib", "name": "a.soi"}),
    ],
)  # fmt: skip
def test_a_misspelt_first_choice_is_not_the_last(tmp_path_factory, text, keys):
    folder = tmp_path_factory.mktemp("p")
    intake = read(folder, text, **(LAST | keys))
    assert intake.data.places.tolist() == [[-1, 0, 1]]
    assert intake.altered["ballots with an item not declared, whose unranked items are compared with none"] == 1
    assert read(folder, text, withdrawn=("Anne",), **(LAST | keys)).data.places.tolist() == [[2, 0, 1]]
    assert read(folder, text, aliases={"Anne": "Ann"}, **(LAST | keys)).data.places.tolist() == [[0, 1, 2]]
    assert read(folder, text, unranked_as=("Anne",), **(LAST | keys)).data.places.tolist() == [[2, 0, 1]]
    # of those that rank all nothing is open
    assert read(folder, text, **(LAST | keys | {"items": ("Bo", "Cy")})).data.places.tolist() == [[0, 1]]


def test_a_ballot_that_ranks_nothing_puts_nothing_last(tmp_path):
    """Nor does it leave anything open, if it names what is no item and nothing else."""
    intake = read(tmp_path, "id,vote\n1,\n2,Dee\n3,Ann\n", form="orders", columns=("vote",), person="id", **LAST)
    assert intake.altered["ballots with unranked items, put last"] == 1
    assert sum("compared with none" in it for it in intake.altered) == 0
    assert intake.altered["ballots that rank nothing"] == 2


def test_a_name_without_a_place_says_nothing(tmp_path):
    text = "id,i,p\n1,Anne,\n1,Bo,2\n"
    keys = LAST | {"form": "long", "columns": ("i", "p"), "person": "id"}
    assert read(tmp_path, text, **keys).data.places.tolist() == [[1, 0, 1]]


def test_a_count_before_an_order_costs_the_ballot(tmp_path):
    """Case 4: the item meant first came last."""
    intake = read(tmp_path, "vote\n21:Ann>Bo>Cy\n5:Cy>Bo>Ann\n", form="orders", columns=("vote",), **LAST)
    assert intake.left_out == {"no such order": 2}
    assert intake.misread == {"21:Ann": 1, "5:Cy": 1}
    assert not intake.data.net_wins().any()


AGGREGATED = "count,vote\n300,Ann > Bo > Cy\n20,Bo > Cy > Ann\n0,Cy > Bo > Ann\nmany,Cy > Ann > Bo\n-1,Cy > Ann > Bo\n"
AGGREGATED += "1.5,Cy > Ann > Bo\n2.0,Bo > Ann > Cy\n"
ORDERS = {"form": "orders", "columns": ("vote",), "ballots": "full"}


def test_a_row_stands_for_as_many_ballots_as_it_says(tmp_path):
    """W7: of 350 ballots five counted."""
    intake = read(tmp_path, AGGREGATED, times="count", **ORDERS)
    assert intake.data.margins().tolist() == [[0, 278, 282], [-278, 0, 322], [-282, -322, 0]]
    assert (len(intake.data), intake.rows, intake.left_out) == (325, 325, {"no such count": 3})
    assert intake.misread == {"many": 1, "-1": 1, "1.5": 1}
    wide = "Votes,Ann,Bo,Cy\n3,1,2,3\n2,3,2,1\n"
    assert read(tmp_path, wide, times="Votes").data.net_wins().tolist() == [2, 0, -2]
    text = 'count,vote\n"1,200",Ann > Bo > Cy\n"12,00",Bo > Ann > Cy\n10,Bo > Ann > Cy\n'
    assert read(tmp_path, text, times="count", **ORDERS).data.net_wins().tolist() == [0, 20, -20]
    declared = {"times": "count", "thousands": ",", **ORDERS}
    assert read(tmp_path, text, **declared).data.net_wins().tolist() == [2400, 20, -2420]
    beyond = read(
        tmp_path, "count,vote\n3,Ann > Bo > Cy\n2,Bo > Cy > Ann,x,y\n2,Cy > Ann > Bo\n", times="count", **ORDERS
    )
    assert beyond.left_out == {"more fields than the header": 1}
    assert beyond.data.net_wins().tolist() == [6, -4, -2]
    with refused("data.csv: count: more ballots than"):
        read(tmp_path, "count,vote\n" + f"{MOST_AT_ONCE // 3},Ann\n" * 2, times="count", **ORDERS)


def test_ballots_left_open_are_those_with_an_item_not_declared_that_rank_some_and_not_all(tmp_path):
    votes = "vote\nAnn > Bo > Zed\nAnn > Bo\nAnn > Bo > Cy > Zed\nZed\nBo > Zed\n"
    assert read(tmp_path, votes, **ORDERS | LAST).altered[OPEN] == 2


def test_as_many_counted_ballots_as_there_are_places_for_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(casting, "MOST_AT_ONCE", 12)
    assert len(read(tmp_path, "count,vote\n3,Ann > Bo > Cy\n1,Cy > Bo > Ann\n", times="count", **ORDERS).data) == 4
    with refused("more ballots than 12 places have room for"):
        read(tmp_path, "count,vote\n3,Ann > Bo > Cy\n2,Cy > Bo > Ann\n", times="count", **ORDERS)


def test_a_column_that_is_called_a_count_is_not_passed_over(tmp_path):
    with refused("column 'count' may say for how many ballots a row stands; say --times"):
        read(tmp_path, AGGREGATED, **ORDERS)
    for name in (" Votes", "n", "vote_count", "Freq."):
        with refused(f"column {name!r} may say"):
            read(tmp_path, f"{name},Ann,Bo,Cy\n3,1,2,3\n")
    long = "b,i,p,Count\n1,Ann,1,3\n1,Bo,2,3\n"
    keys = LAST | {"form": "long", "columns": ("i", "p"), "ballot": "b"}
    with refused("--times none, or give each ballot rows of its own"):
        read(tmp_path, long, **keys)
    assert read(tmp_path, long, times="none", **keys).data.net_wins().tolist() == [2, 0, -2]
    assert len(read(tmp_path, "n,county,Ann,Bo\n1,2,3,4\n", items=("n", "Ann")).data) == 1
    assert len(read(tmp_path, AGGREGATED, times="none", **ORDERS).data) == 7
    assert len(read(tmp_path, AGGREGATED, person="count", **ORDERS).data) == 7
    assert len(read(tmp_path, AGGREGATED, person="count", times="none", **ORDERS).data) == 7
    assert len(read(tmp_path, AGGREGATED, weight="count", max_weight=9, **ORDERS).data) == 7


@each(
    "keys, text, places",
    [
        # 19, 20, 22 and W6, E.4
        ({"places": {"1st choice": 1, "2nd choice": 2}}, "1st choice,2nd choice,3", [0, 1, 2]),
        ({"places": {"0": ""}} | LAST, "1,2,0", [0, 1, 2]),
        ({"places": {"0": ""}} | LAST, "1,0.0,-0", [0, 1, 1]),
        ({"best": "high"}, "10,7,1", [0, 1, 2]),
        ({"best": "high"} | LAST, "10,,1", [0, 2, 1]),
        ({"best": "high", "places": {"good": 9}}, "10,good,1", [0, 1, 2]),
        ({"best": "high", "lowest": 0}, "0,0.5,1.00", [2, 1, 0]),
        ({"best": "low"}, "3,2,1", [2, 1, 0]),
        ({"lowest": 0}, "0,1,2", [0, 1, 2]),
        ({"lowest": -1}, "0,-1,2", [1, 0, 2]),
        ({}, "0,1,2", [-1, -1, -1]),
        ({}, "1,2,4", [0, 1, 2]),
        ({}, "1.00,.5,2.0", [1, 0, 2]),
        ({}, " 1 ,01,1e0", [-1, -1, -1]),
        ({"ballots": "tied"}, " 1 ,01,1e0", [0, 0, 0]),
        ({"unranked_as": ("99", "-1", "undervote")} | LAST, "99.0,2,undervote", [1, 0, 1]),
        ({"unranked_as": ("No opinion",), "clean": ("casefold",)} | LAST, "no opinion,2,1", [2, 1, 0]),
        ({"unranked_as": ("undervote",)} | LAST, "Undervote,2,1", [0, 0, 0]),
        (LAST, "N/A,2,1", [2, 1, 0]),
        (LAST, "-,2,None", [1, 0, 1]),
        ({"unranked_as": ("0",)} | LAST, "1,0,1", [0, 1, 0]),
        ({"unranked_as": ("1",)} | LAST, "1,2,3", [2, 0, 1]),
        ({"aliases": {"1": "Ann"}}, "1,2,3", [0, 1, 2]),
    ],
)
def test_what_a_cell_means_is_what_is_declared(tmp_path_factory, keys, text, places):
    folder = tmp_path_factory.mktemp("p")
    made = read(folder, f"Ann,Bo,Cy\n{text}\n", **keys)
    assert [min(it, 2) for it in made.data.places.tolist()[0]] == places
    # a row an item says the same
    rows = "\n".join(f"1,{item},{cell}" for item, cell in zip(ITEMS, text.split(","), strict=True))
    long = {"form": "long", "columns": ("i", "p"), "person": "id", "ballots": "full"} | keys
    assert read(folder, f"id,i,p\n{rows}\n", **long).data.places.tolist() == made.data.places.tolist()


def test_a_reader_of_places():
    declared = Declaration(kind="ballots", items=ITEMS, places={"first": 1, "2": 7}, unranked_as=["99"], best="high")
    read = place_reader(declared)
    assert [read(it) for it in ("3", "first", "2.00", "0", "x", "inf")] == [-3, -1, -7, *[-math.inf] * 3]
    assert all(math.isnan(place_reader(declared)(it)) for it in ("", " ", "99", "99.0", "NaN", "—", "#N/A"))


def test_a_name_is_an_item_before_it_is_nothing():
    declared = Declaration(kind="ballots", items=("None", "b"), form="ranks", columns=("x",), ballots="tied",
                           withdrawn=["c"], unranked_as=["over"])  # fmt: skip
    assert [Names(declared).code(it) for it in ("None", "b", "c", "over", "-", "", "d")] == [0, 1, *[AWAY] * 4, UNKNOWN]
    assert [Names(declared).code(it) for it in ("7: b", "b (7)", "7" * 50 + ": b")] == [COUNTED, COUNTED, UNKNOWN]


@each(
    "keys, said",
    [
        ({"best": "highest"}, "best = 'highest'; allowed are 'low', 'high'"),
        ({"places": {"a": "b"}}, "places = 'b'"),
        ({"places": {"a": math.inf}}, "a cell means a number"),
        ({"places": ["a"]}, "places = "),
        ({"places": {"1": 2, "1.0": 3}}, "two meanings"),
        ({"places": {"a": 2}, "unranked_as": ("a",)}, "two meanings"),
        ({"lowest": "0"}, "lowest = '0'"),
        ({"lowest": math.nan}, "lowest = nan"),
        ({"withdrawn": ("Ann",)}, "withdrawn = 'Ann'; it is an item"),
        ({"withdrawn": ("ann",), "clean": ("casefold",)}, "withdrawn = 'ann'; it is an item"),
        ({"withdrawn": "Dee"}, "withdrawn = 'Dee'"),
        ({"times": "n", "person": "id"}, "each row is one person's"),
        (ORDERS | {"best": "high"}, "an order of names holds no places"),
        (ORDERS | {"lowest": 0}, "an order of names holds no places"),
        (ORDERS | {"places": {"x": 1}}, "an order of names holds no places"),
        (ORDERS | {"unranked_as": ("Ann",)}, "unranked_as = 'Ann'; it is an item"),
        ({"form": "preflib", "ballots": "tied", "times": "n"}, "only where a row is a ballot"),
        ({"form": "long", "columns": ("i", "p"), "ballot": "b", "ballots": "tied", "times": "n"}, "a row is a ballot"),
        (ORDERS | {"between": "="}, "= stands between tied items"),
        (ORDERS | {"between": " "}, "a sign is needed"),
        (ORDERS | {"between": ""}, "between"),
        (ORDERS | {"between": ";", "items": ("a;b", "c")}, "'a;b' holds ; or ="),
        ({"between": ";"}, "only an order as text has a sign"),
        ({"form": "ranks", "columns": (), "ballots": "tied"}, "best, second and so on"),
        ({"form": "ranks", "columns": ("a", "a"), "ballots": "tied"}, "each once"),
        ({"kind": "tallies", "columns": ("i",), "person": "who", "withdrawn": ("x",)}, "tallies have none"),
        ({"kind": "comparisons", "columns": ("l", "r", "o"), "best": "low"}, "comparisons have none"),
    ],
)
def test_what_cannot_be_meant(keys, said):
    with refused(said):
        Declaration(**({"kind": "ballots", "items": ITEMS} | keys))


def test_what_is_declared_of_places_is_kept_in_its_file_and_its_public_text(tmp_path):
    plain = Declaration(kind="ballots", items=ITEMS)
    for keys in (
        {"places": {"1st": 1, "0": ""}},
        {"best": "high"},
        {"lowest": 0},
        {"unranked_as": ("99", "undervote")},
        {"withdrawn": ("Dee",)},
        {"times": "count"},
        {"times": "none"},
        ORDERS | {"between": ";"},
        {"form": "ranks", "columns": ("a", "b"), "ballots": "full"},
    ):
        declared = Declaration(**({"kind": "ballots", "items": ITEMS} | keys))
        (tmp_path / "plan.toml").write_text(declared.to_toml(), encoding="utf-8")
        assert Declaration.from_toml(tmp_path / "plan.toml") == declared
        assert declared.to_toml() != plain.to_toml()
        # words of cells may be what somebody wrote: no hash is of them
        hidden = not {"places", "unranked_as", "withdrawn"}.isdisjoint(keys)
        assert (declared.public_toml() == plain.public_toml()) == hidden
    for keys, others in (({"best": "low"}, {}), ({"lowest": 0}, {"lowest": 0.0}),
                         ({"withdrawn": ("Dee", "Dee")}, {"withdrawn": ["Dee"]})):  # fmt: skip
        both = [Declaration(kind="ballots", items=ITEMS, **it).to_toml() for it in (keys, others)]
        assert both[0] == both[1]
    assert Declaration(kind="ballots", items=ITEMS, best="high").rules_of_ballots()["places"]


def test_which_of_a_persons_ballots_counts_is_no_matter_of_rows_where_one_names_what_is_none(tmp_path):
    """Two ballots that rank alike, and mean otherwise of what they leave out."""
    keys = LAST | {"form": "orders", "columns": ("vote",), "person": "id"}
    for who in ("ann", "bob", "eve", "zoe"):
        rows = [f"{who},Dee > Bo\n", f"{who},Bo\n"]
        both = [read(tmp_path, "id,vote\n" + "".join(some), **keys).data for some in (rows, rows[::-1])]
        assert both[0] == both[1]


@pytest.mark.parametrize("unranked", ["apart", "last"])
def test_another_ballot_in_the_place_of_one_moves_one(tmp_path, unranked):
    """Whatever it says, the others stay what they were."""
    keys = {"form": "orders", "columns": ("vote",), "ballots": "partial", "unranked": unranked}
    rest = ["Ann > Bo > Cy", "Dee > Ann", "Bo > > Ann", "Cy = Bo"]
    alone = read(tmp_path, "vote\n" + "\n".join(rest) + "\n", **keys).data.places.tolist()
    for one in ("Bo", "Dee", "Ann > Dee > Ann", "2:Ann", "> >", "Anne = Ann > Ann", "x" * 99):
        found = read(tmp_path, "vote\n" + "\n".join([one, *rest]) + "\n", **keys).data
        assert (len(found), found.places.tolist()[1:]) == (5, alone)


def test_an_order_by_another_sign(tmp_path):
    """Case 12: a form writes a list with ; between, and one at its end."""
    text = 'ID,vote\n1,Ann;Bo;Cy;\n2,"Bo;Ann = Cy;"\n3,A>B\n'
    keys = {"form": "orders", "columns": ("vote",), "person": "ID", "between": ";"} | LAST
    assert read(tmp_path, text, **keys).data.places.tolist() == [[0, 1, 2], [1, 0, 1], [-1, -1, -1]]
    assert read(tmp_path, 'vote\n"A>B, C"\n', items=("A>B", "C"), **(keys | {"between": ",", "person": None})).kept == 1
    plain = Declaration(kind="ballots", items=ITEMS, **ORDERS)
    assert Declaration(kind="ballots", items=ITEMS, **ORDERS, between=">").to_toml() == plain.to_toml()


def test_flags_say_the_same_as_keys(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rv.csv").write_text("who,Ann,Bo,Cy\na,3,2,N/A\nb,1st,2,99\n", encoding="utf-8")
    (tmp_path / "gone.txt").write_text("Dee\n", encoding="utf-8")
    flags = "--wide --person who --items Ann,Bo,Cy --ballots partial --unranked last --best high --lowest 0"
    given = [*flags.split(), "--map", "1st=9,none=", "--unranked-as", "99,-1", "--withdrawn", "gone.txt"]
    with pytest.raises(SystemExit) as end:
        main(["check", "rv.csv", *given, "--out", "plan.toml"])
    assert end.value.code == 0
    declared = Declaration(kind="ballots", items=ITEMS, person="who", best="high", lowest=0, unranked_as=("99", "-1"),
                           places={"1st": 9, "none": ""}, withdrawn=("Dee",), **LAST)  # fmt: skip
    assert Declaration.from_toml("plan.toml") == declared
    assert declared.read("rv.csv").data.places.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert "rows that count: 2" in capsys.readouterr().out
    for question in (["consensus"], ["winner"]):
        with pytest.raises(SystemExit) as end:
            main(["release", *question, "rv.csv", *given, "--epsilon", "9", "--json"])
        assert end.value.code == 0
        with pytest.raises(SystemExit) as end:
            main(["release", *question, "rv.csv", "--plan", "plan.toml", "--epsilon", "9", "--out",
                             f"{question[0]}.json"])  # fmt: skip
        assert end.value.code == 0
        text = (tmp_path / f"{question[0]}.json").read_text(encoding="utf-8")
        assert "the highest number is the best" in text


def test_check_says_what_could_be_declared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text('vote,Ann,Bo\nAnne > Bo,"1,5",2\n', encoding="utf-8")
    for flags, said in (
        ("--orders vote --ballots partial --unranked last", "--withdrawn that it means none"),
        ("--wide --items Ann,Bo", "a comma makes no number: write 1.5 for 1,5"),
    ):
        with pytest.raises(SystemExit):
            main(["check", "a.csv", *flags.split(), "--items", "Ann,Bo"])
        assert said in capsys.readouterr().out
