"""What the road says in numbers follows from its curves."""

from __future__ import annotations

import pandas as pd

from companion.chapters.private_aggregation import matrix_order, what_to_use


def test_the_error_at_the_most_items_is_told() -> None:
    worst = pd.DataFrame({"n_items": [4, 8], "noise": "gaussian", "mean": [2.0, 10.0], "se": 0.1})
    said = matrix_order.told(matrix_order.error_curves(worst))
    assert said["most"] == "8"
    assert said["saved"] == f"{matrix_order.printed_bound(8, 'gaussian') / 10:.0f}"
    assert said["looser"] == f"{matrix_order.order_bound(8, 'gaussian') / 10:.1f}"


def test_a_frontier_of_few_numbers_of_voters_is_drawn() -> None:
    """Their ends are marked where no round number lies between them."""
    frontier = what_to_use.frontier(4, [11, 25], 5.0, 2)
    axes = what_to_use.draw_frontier(frontier).axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["11", "25"]


def test_what_is_not_between_two_numbers_of_voters_is_at_most_one_of_them() -> None:
    """Of two camps none is lost with the most voters, so that nothing is interpolated; of the others 1 % is passed."""
    rows = {"Mallows": {10: 0.2, 100: 0.04, 1000: 0.0025}, "two camps": {10: 0.2, 100: 0.04, 1000: 0.0}}
    frame = pd.DataFrame(
        {"data": data, "voters": voters, "mean": mean} for data, line in rows.items() for voters, mean in line.items()
    )
    assert what_to_use.told_frontier(frame) == {"Mallows": "about 320", "two camps": "at most 1,000"}
    few = frame[frame.voters < 1000]
    assert what_to_use.told_frontier(few) == dict.fromkeys(rows, "more than 100")
