"""What the road says in numbers follows from its curves."""

from __future__ import annotations

import pandas as pd
import pytest

from companion.chapters.local_aggregation import local_costs, local_reports


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_voters_are_those_that_are_needed(share: float) -> None:
    simulated = pd.DataFrame({"items": [8, 8, 30, 30], "mean": [0.1, 0.0, 0.2, 0.0]})
    said = local_costs.told(simulated, 8, 1.0, share)
    needed = local_costs.voters_needed([8], 1.0, share).iloc[0]
    assert said["borda"] == "20 %"
    assert int(said["reports"]) == local_costs.designs(8, 1.0)["as printed"].reports
    for name, design in (("printed", "as printed"), ("fresh", "fresh blocks")):
        assert float(said[name].replace(",", "")) == pytest.approx(needed[design], rel=0.01)


def test_one_pair_needs_fewer_voters_than_all() -> None:
    said = {name: float(text.replace(",", "")) for name, text in local_reports.told(30, 1.0).items()}
    assert said["pair"] == 2036
    assert said["all"] > 100 * said["pair"]
