"""Files of a fifth newcomer: stars for either item are no answer, and that is told before anything is spent."""

import pytest
from test_a_fourth_newcomer import ITEMS, PAIRS, noticed

from dprank.data.noticed_matches import sides

STARS = [(4, 5), (3, 1), (3, 5), (2, 1), (5, 5), (1, 2)]


def rows(people=24):
    return [[f"j{at}", *PAIRS[at % 3], *map(str, STARS[at % 6])] for at in range(people)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("stars_left", "stars_right"), ("ratingA", "ratingB"), ("Score 1", "Score 2"), ("note_links", "note_rechts")],
)
@pytest.mark.parametrize("scale", ["1=0,2=0,3=0.5,4=1,5=1", "5=0,4=0,3=0.5,2=1,1=1"])
def test_a_measure_of_either_item(one, other, scale, tmp_path):
    flags = f"--comparisons 'left,right,{one}' {ITEMS} --person judge --map {scale}"
    said = [it for it in noticed(tmp_path, f"judge,left,right,{one},{other}", rows(), flags) if other in it]
    assert len(said) == 1
    assert said[0].startswith(f"the answer stands in '{one}', and '{other}' has numbers of the same kind")
    assert said[0].endswith("1 for the first item, 0 for the second, 0.5 for a tie, and say --map outcome")


@pytest.mark.parametrize("header", ["hotel_stars", "stars", "age_right", "stars_left_again"])
def test_other_columns_are_no_half(header, tmp_path):
    flags = f"--comparisons left,right,stars_left {ITEMS} --person judge --map 1=0,2=0,3=0.5,4=1,5=1"
    said = noticed(tmp_path, f"judge,left,right,stars_left,{header}", rows(), flags)
    assert not [it for it in said if it.startswith("the answer stands in")]


def test_sides_are_told_apart_by_one_word():
    assert sides("points_home", "points_away")
    assert sides("q1_a", "q1_b")
    assert not sides("q1_a", "q2_b")
    assert not sides("a", "b")
