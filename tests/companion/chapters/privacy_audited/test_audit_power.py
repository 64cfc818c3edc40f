"""Seeded; an audit calls a kept promise broken with probability 1e-3 at most."""

import joblib
import numpy as np
import pytest

from companion.chapters.privacy_audited import power
from companion.instruments.style import show


@pytest.fixture(scope="module")
def caught():
    return power.to_catch([1.5, 2.0], 3, 1 << 14)


def test_larger_errors_are_caught_sooner_and_the_bound_is_below_the_truth(caught):
    assert (caught.caught == 3).all()
    betting = caught[caught.method == power.BETTING].set_index("factor")["median"]
    assert betting[2.0] <= betting[1.5]
    assert (caught.low <= caught["median"]).all()
    assert (caught["median"] <= caught.high).all()
    assert caught.lower.between(0.5, 1.0).all()


def test_what_is_not_caught_counts_as_infinite():
    none = power.to_catch([1.01], 2, 2048)
    assert none.caught.tolist() == [0, 0]
    assert np.isinf(none["median"]).all()
    assert show("none", none, power.draw_to_catch).svg


def test_workers_do_not_matter(caught):
    with joblib.parallel_config("threading"):
        assert power.to_catch([1.5, 2.0], 3, 1 << 14, jobs=2).equals(caught)


def test_wealth_ends_above_the_goal_only_where_the_promise_is_broken():
    frame = power.paths([1.0, 2.0], 2, 1 << 13)
    wealth = frame.groupby(["factor", "run"]).wealth
    assert (wealth.last()[1.0] < frame.goal.max()).all()
    assert (wealth.last()[2.0] > 100).all()
    assert (wealth.first() == 1).all()
    assert len(power.draw_wealth(frame).axes[0].lines) == 5


def test_the_figures_are_reproducible(caught):
    assert show("c", caught, power.draw_to_catch).svg == show("c", caught.copy(), power.draw_to_catch).svg
    assert len(power.draw_to_catch(caught).axes[0].containers) == 2


def test_a_bet_on_the_larger_count_wins_by_the_true_loss():
    frame = power.two_counts(2.0, (3, 4))
    won = frame[frame.bet]
    assert won.output.min() == 4
    assert won.second.sum() / won["first"].sum() == pytest.approx(np.exp(2 * power.PROMISE), rel=1e-2)
    assert "7.4 times" in power.draw_bet(frame).get_suptitle().replace("\n", " ")
