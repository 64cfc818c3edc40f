"""Claims about ballots hold, and each of their checks refuses code that is wrong."""

from functools import partial

import numpy as np
import pytest
from checks import each
from matplotlib.figure import Figure

from companion.chapters.release_your_own import ballot_bugs, partial_orders
from companion.ledger.claim import derive
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.audit.ballots import all_orders


@pytest.fixture(autouse=True)
def fresh():
    """What one test broke is not remembered by the next."""
    for remembered in (partial_orders.moves, partial_orders.losses, partial_orders.reports, ballot_bugs.found):
        remembered.cache_clear()


@pytest.fixture
def low_price(monkeypatch):
    """Noise is compared for three items alone, where it is another check that must refuse."""
    monkeypatch.setattr(partial_orders, "price", partial(partial_orders.price, (3,)))


def verdict(check, *arguments):
    return derive(check.__wrapped__(*arguments))


@each("m", [2, 3])
def test_words_are_of_the_ballot(m):
    words = [partial_orders.in_words(places) for places in all_orders(m)]
    # all single items, and nothing at all, are words of their own
    assert len(set(words)) == len(words)


def test_the_hexagon_holds_all_ballots():
    plane = partial_orders.plane()
    assert plane.ballots.sum() == len(all_orders(3))
    full = plane[plane.kind == 0]
    assert len(full) == 6
    radius = np.hypot(full.x, full.y)
    assert np.allclose(radius, radius.iloc[0])
    # within each side of the hexagon: the largest projection on the middles of its sides
    sides = plane[plane.kind == 1][["x", "y"]].to_numpy()
    assert (plane[["x", "y"]].to_numpy() @ sides.T <= (sides**2).sum(axis=1) + 1e-6).all()
    assert isinstance(partial_orders.draw_plane(plane), Figure)


@pytest.mark.slow
def test_claims_hold():
    assert verdict(partial_orders.check_mean) == "holds"
    assert verdict(partial_orders.check_sensitivity, 3) == "holds"
    assert verdict(partial_orders.check_losses) == "holds"
    assert verdict(partial_orders.check_reports) == "holds"


@pytest.mark.slow
def test_all_bugs_are_caught_and_no_twin_is():
    assert verdict(ballot_bugs.check_bugs, 20_000) == "holds"
    assert ballot_bugs.found(20_000).event.str.len().min() > 0


@pytest.mark.slow
def test_ties_broken_by_the_order_of_items_are_no_mean(monkeypatch):
    right = partial_orders.completions
    monkeypatch.setattr(partial_orders, "completions", lambda places: right(places)[:1])
    assert verdict(partial_orders.check_mean, 3) == "refuted"
    assert verdict(partial_orders.check_reports) == "refuted"


def test_gaps_that_are_always_last_are_no_mean(monkeypatch):
    right = partial_orders.completions
    last = lambda places: right(np.where(places < 0, places.max() + 1, places))  # noqa: E731
    monkeypatch.setattr(partial_orders, "completions", last)
    assert verdict(partial_orders.check_mean, 3) == "refuted"


@pytest.mark.slow
@pytest.mark.usefixtures("low_price")
def test_a_gap_at_the_place_behind_all_moves_too_much(monkeypatch):
    right = partial_orders._counted

    def last(mechanism, ballots):
        if not isinstance(mechanism, PrivateBorda):
            return right(mechanism, ballots)
        places = ballots.places.astype(int)
        return np.where(places < 0, ballots.n_items, places).sum(axis=0) * float(ballots.weight[0])

    monkeypatch.setattr(partial_orders, "_counted", last)
    assert verdict(partial_orders.check_sensitivity, 3) == "refuted"


@pytest.mark.slow
@pytest.mark.usefixtures("low_price")
@each(
    ("kind", "name", "wrong"),
    [
        (PrivateBorda, "l1_sensitivity", lambda made: made.max_weight * made.n_items**2 // 2 * 0.9),
        (PrivateBorda, "l1_sensitivity", lambda made: float(made.n_items**2 // 2)),  # weights forgotten
        (NoisyMatrix, "_move", lambda made: made.max_weight * 0.5),  # half of what a replaced voter moves
    ],
)
def test_a_wrong_sensitivity_is_refused(monkeypatch, kind, name, wrong):
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, property(wrong))
        partial_orders.moves.cache_clear()
        assert verdict(partial_orders.check_sensitivity, 3) == "refuted"
        partial_orders.losses.cache_clear()
        assert verdict(partial_orders.check_losses) == "refuted"
