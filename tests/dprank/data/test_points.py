"""Two items and the points of each: the same comparisons as answers that say who won."""

from itertools import product

from checks import each, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dprank import Declaration
from dprank.data.engines import count

ITEMS = ("oak", "elm", "fir")
COLUMNS = ("home", "away", "hs", "as")


def declared(**rest):
    keys = {"kind": "comparisons", "items": ITEMS, "form": "points", "columns": COLUMNS}
    return Declaration(**keys | rest)


def read(folder, rows, **rest):
    path = folder / "a.csv"
    path.write_text("\n".join(["home,away,hs,as,who", *(",".join(map(str, row)) for row in rows)]) + "\n")
    return declared(**rest).read(path)


MATCHES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-3, 4), st.integers(-3, 4)), min_size=1, max_size=30
)


@given(MATCHES)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_who_has_more_points_has_won(tmp_path, matches):
    matches = [*matches, (0, 1, 2, 1)]
    rows = [(ITEMS[one], ITEMS[two], a, b, "") for one, two, a, b in matches]
    for best, sign in (("high", 1), ("low", -1)):
        data = read(tmp_path, rows, best=best).data
        won = [[0.0] * 3 for _ in ITEMS]
        for one, two, a, b in matches:
            if one != two:
                won[one][two] += 0.5 + 0.5 * ((sign * a > sign * b) - (sign * a < sign * b))
                won[two][one] += 0.5 - 0.5 * ((sign * a > sign * b) - (sign * a < sign * b))
        found = [[0.0] * 3 for _ in ITEMS]
        for one, two, points in zip(data.first.tolist(), data.second.tolist(), data.points.tolist(), strict=True):
            found[one][two] += points / 2
            found[two][one] += 1 - points / 2
        assert found == won


@each("cells, outcome", [
    (("1", "0"), 2), (("1.00", "1"), 1), (("-2", "-1"), 0), (("1e2", "99"), 2), ((" 3 ", ".5"), 2), (("", "1"), None),
    (("1", ""), None), (("-", "1"), None), (("n/a", "n/a"), None), (("3-1", "0"), None), (("w/o", "0"), None),
    (("1_0", "0"), None),
    (("1e999", "0"), None), (("nan", "1"), None), (("inf", "1"), None), (("٣", "1"), None), (("99", "1"), None),
])  # fmt: skip
def test_what_is_a_number_and_what_is_none(tmp_path, cells, outcome):
    intake = read(tmp_path, [("oak", "elm", *cells, "")], unranked_as=("99",) if cells == ("99", "1") else ())
    assert intake.data.points.tolist() == ([] if outcome is None else [outcome])
    assert dict(intake.left_out) == ({} if outcome is not None else {"no such answer": 1})


def test_of_a_person_and_of_undeclared_items(tmp_path):
    rows = [("oak", "elm", 1, 0, "ann"), ("oak", "ash", 1, 0, "ann"), ("oak", "oak", 1, 0, "bo")]
    rows.append(("fir", "elm", 0, 1, ""))
    intake = read(tmp_path, rows, person="who")
    assert dict(intake.left_out) == {"no person": 1, "an item not declared": 1, "an item compared with itself": 1}
    assert len(intake.data) == 1


@each("keys, words", [
    ({"answers": "names"}, "answers"), ({"columns": COLUMNS[:3]}, "points of the second"), ({"best": "most"}, "best"),
    ({"columns": ("a", "a", "b", "c")}, "columns"),
    ({"form": "long", "columns": COLUMNS[:3], "answers": "names", "best": "low"}, "best"),
    ({"form": "wide", "columns": (), "answers": "names", "best": "high"}, "best"), ({"weight": "w"}, "weight"),

])  # fmt: skip
def test_a_declaration_that_says_otherwise_is_refused(keys, words):
    with refused(words):
        declared(**keys)


def test_a_declaration_is_the_same_from_its_file(tmp_path):
    for best, person in product((None, "low"), (None, "who")):
        path = tmp_path / "plan.toml"
        path.write_text(declared(best=best, person=person).to_toml())
        assert Declaration.from_toml(path) == declared(best=best, person=person)


@each("form, columns, answers", [("points", COLUMNS, None), ("long", ("home", "away", "won"), "names")])
def test_counted_rows_are_as_many_answers(tmp_path, form, columns, answers):
    """A row that stands for several is as if it were written so often; a count that is none is one answer."""
    rows = [("oak", "elm", 1, 0, "oak", 3), ("elm", "fir", 0, 2, "fir", 2), ("oak", "fir", 1, 0, "oak", 0)]
    path, plain = tmp_path / "a.csv", tmp_path / "b.csv"
    header = "home,away,hs,as,won,n"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows), "oak,elm,1,0,oak,x"]) + "\n")
    written = [",".join(map(str, row)) for row in rows for _ in range(row[-1])]
    plain.write_text("\n".join([header, *written]) + "\n")
    keys = {"form": form, "columns": columns, "answers": answers}
    counted, each_row = declared(**keys, times="n").read(path), declared(**keys).read(plain)
    assert (counted.rows, dict(counted.left_out)) == (6, {"no such count": 1})
    for field in ("first", "second", "points"):
        assert getattr(counted.data, field).tolist() == getattr(each_row.data, field).tolist()
    assert counted.data.unanswered is not None or counted.kept == 5


@each("keys, words", [({"person": "who"}, "times"), ({"form": "wide", "columns": (), "answers": "names"}, "times")])
def test_counted_rows_name_nobody(keys, words):
    with refused(words):
        declared(**keys, times="n")


def test_shards_do_not_count_such_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("home,away,won,n\noak,elm,oak,3\n")
    keys = {"form": "long", "columns": ("home", "away", "won"), "answers": "names"}
    with refused("times", "shards"):
        count([path], declared(**keys, times="n"))
    with refused("form = 'points'"):
        count([path], declared())
