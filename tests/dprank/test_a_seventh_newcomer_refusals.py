"""What a seventh newcomer was refused: each line names the flag as it is typed, and the way out."""

import pytest
from test_a_fourth_newcomer import ITEMS, PAIRS
from test_cli_check import written

from dprank.cli.path import said as run

ROWS = [[f"p{at}", *PAIRS[at % 3], "AB"[at * at % 5 % 2]] for at in range(12)]
TWO = ["--comparisons", "left,right,answer", *ITEMS.split()]
RANKS = ["--ranks", "left,right", "--ballots", "partial", "--unranked", "last", *ITEMS.split()]


def asked(folder, *words, header="who,left,right,answer", rows=ROWS, question=("check",)):
    done = run(*question, written(folder, header, rows), *words)
    assert done.error.count("\n") <= 1
    return done


# A decimal with a comma


@pytest.mark.parametrize("form", [TWO, ["--long", "left,answer", "--person", "who", *RANKS[2:]]])
@pytest.mark.parametrize("said", ["A=1,0,333=0", "A=1,B=0,5", "0,5=0.5,A=1", "1,0=1"])
def test_a_comma_divides_what_a_map_says(form, said, tmp_path):
    error = asked(tmp_path, *form, "--map", said).error
    assert "name=value is needed: a comma divides them, so that a decimal has a point, as 0.5=0.5" in error
