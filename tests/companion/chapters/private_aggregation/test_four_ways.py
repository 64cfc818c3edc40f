"""What the road says of four ways: from the worse of two kinds of votes, at the reader's own numbers."""

from __future__ import annotations

import pandas as pd

from companion.chapters.private_aggregation import four_ways, what_to_use


def curve(mechanism: str, data: str, model: str, **losses: float) -> list[dict[str, object]]:
    cell = {"data": data, "n_items": 9, "epsilon": 1.0, "model": model, "random": 0.3, "se": 0.001}
    return [cell | {"mechanism": mechanism, "voters": int(n[1:]), "mean": lost} for n, lost in losses.items()]


def made() -> pd.DataFrame:
    rows = []
    for model in what_to_use.MODELS:
        rows += curve("matrix", "Mallows", model, n100=0.2, n500=0.02)
        rows += curve("matrix", "two camps", model, n100=0.1, n500=0.01)
        rows += curve("scores", "Mallows", model, n100=0.1, n500=0.0001)
        rows += curve("scores", "two camps", model, n100=0.1, n500=0.05)
    return what_to_use.worse(pd.DataFrame(rows)).assign(people=500)


def test_the_worse_kind_decides() -> None:
    frame = made()
    assert four_ways.here(frame) == dict.fromkeys(what_to_use.MODELS, ("matrix", 0.02))
    matrix = frame[(frame.mechanism == "matrix") & (frame.model == "pure")].sort_values("voters")
    assert matrix["mean"].tolist() == [0.2, 0.02]
    figure = four_ways.draw_curves(frame)
    assert figure.get_suptitle().replace("\n", " ") == "Without trust 2.0 % of pairs are lost, with trust 2.0 %"
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(four_ways.TITLES.values())


def test_curves_and_numbers_of_a_small_vote() -> None:
    """Few items and many voters: every model loses little, and the exponential mechanism takes part without a delta."""
    frame = four_ways.curves(4, 5000, 2.0, 2, voters=(100,))
    assert set(frame["voters"]) == {100, 5000}
    assert set(frame[frame.model == "pure"].mechanism) == {"matrix", "scores", "KwikSort", "exponential"}
    seen = what_to_use.compare([4], [5000], [2.0], 2, surveys=())
    told = four_ways.numbers(frame, what_to_use.winners(seen))
    assert told["cells"] == "6"
    assert told["people"] == "5,000"
    assert told["here-approximate"].startswith("less than 0.1 %")
