"""Falls and rises by hand."""

import pandas as pd
import pytest

from companion.chapters.edge_privacy import comparisons
from companion.chapters.individual_privacy import voters
from companion.instruments import strengths


def losses(values, **columns):
    base = {"method": "counts", "loss": strengths.MISSED, "se": 0.001, "repetitions": 9, "epsilon": 1.0}
    return pd.DataFrame(base | columns | {"mean": values})


def test_monotone_reads_the_least_certain_step():
    frame = losses([0.5, 0.4, 0.39, 0.2], n=[100, 150, 151, 300])
    (check,) = comparisons.check_exp_1(frame)
    assert check.outcome is True
    assert check.observed == pytest.approx(0.1)
    assert comparisons.check_exp_1(frame.assign(se=0.03))[0].outcome is None
    assert voters.check_exp_5(frame)[0].outcome is False
    # mutant: one rise among falls
    (check,) = comparisons.check_exp_1(losses([0.5, 0.4, 0.6], n=[100, 200, 400]))
    assert check.outcome is False
    # below the floor nothing is asked; above it all is
    (check,) = comparisons.check_exp_1(losses([0.5, 0.004, 0.006], n=[100, 200, 400]))
    assert check.outcome is True
    assert [check.outcome for check in comparisons.check_exp_1(losses([0.5], n=[100]))] == [None], (
        "a single point decides nothing"
    )
