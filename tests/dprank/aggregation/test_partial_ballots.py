"""Exact, over every ballot of up to four items: what ties, gaps and weights move, and what their releases lose."""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from checks import each, refused
from scipy.stats import chisquare

from dprank.aggregation import LocalBorda, LocalMatrix, NoisyMatrix, PrivateBorda
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_laws import completions, report_law
from dprank.aggregation.randomisers import OrderReport, SampledOrder, SplitResponse, ranking_signs
from dprank.aggregation.sent_reports import completed, is_full
from dprank.audit.ballots import BallotNeighbours, OneBallot, all_orders
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.pairwise import NoisyCounts
from dprank.privacy import noise
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.privacy.noise import SECURE
from dprank.release import Release

ADJACENCIES = ["replace", "add_remove"]


def counts_of(m):
    return {"per_person": math.comb(m, 2), "design": "once"}


def every(m, weights=(1,)):
    """Every ballot of m items, alone, with each of the weights."""
    return [Ballots([row], "abcd"[:m], [weight]) for row in all_orders(m) for weight in weights]


def signs(row):
    """Of all pairs, by hand."""
    first, second = np.triu_indices(len(row), 1)
    asked = (row[first] >= 0) & (row[second] >= 0)
    return np.where(asked, np.sign(row[second] - row[first]), 0)


def vectors(made, m, weights):
    """What noise is added to, in the unit of its scale, for every ballot alone, and for none."""
    one = {
        "PrivateBorda": lambda b: made.grain * made.counts(b),
        "NoisyMatrix": lambda b: made.margins(b)[np.triu_indices(m, 1)] / 2,
        "NoisyCounts": lambda b: made.counts(b).astype(float),
    }[type(made).__name__]
    none = Ballots(np.zeros((0, m), int), "abcd"[:m])
    return np.array([one(ballot) for ballot in every(m, weights)]), one(none)


def mechanisms(m, most, adjacency):
    partial = {"adjacency": adjacency, "ballots": "partial", "max_weight": most}
    yield PrivateBorda(m, 99.0, **partial)
    yield NoisyMatrix(m, 99.0, **partial)
    yield NoisyCounts(m, 99.0, adjacency=adjacency, max_weight=most, **counts_of(m))


@pytest.mark.slow
@each("adjacency", ADJACENCIES)
@each("most", [1, 3])
@each("m", [2, 3, 4])
def test_sensitivities_are_attained_and_never_exceeded(m, most, adjacency):
    weights = range(most + 1) if m < 4 else {0, 1, most}
    for made in mechanisms(m, most, adjacency):
        rows, none = vectors(made, m, weights)
        assert not none.any()
        moves = rows if adjacency == "add_remove" else (rows[:, None] - rows).reshape(-1, rows.shape[1])
        furthest = abs(moves).sum(axis=1).max()
        if isinstance(made, NoisyCounts):
            assert furthest == made.sensitivity
        else:
            assert furthest == made.l1_sensitivity
            assert math.sqrt((moves**2).sum(axis=1).max()) == pytest.approx(made.l2_sensitivity, rel=1e-15)
            assert made.l2_sensitivity >= math.sqrt((moves**2).sum(axis=1).max())


@pytest.mark.slow
@each("adjacency", ADJACENCIES)
@each("m", [2, 3, 5, 8])
def test_ties_and_gaps_cost_no_more_noise(m, adjacency):
    for kind, delta in product((PrivateBorda, NoisyMatrix), (0.0, 1e-6)):
        full, partial = (
            kind.calibrated(epsilon=0.7, delta=delta, n_items=m, adjacency=adjacency, ballots=ballots)
            for ballots in ("full", "partial")
        )
        if not delta:
            assert partial.scale == full.scale
        else:  # the exact law of whole noise is that of another grid, and not known of all ballots
            assert partial.scale <= full.scale * (1 + 1e-3)
    borda = PrivateBorda.calibrated(epsilon=0.7, n_items=m, adjacency=adjacency, ballots="partial")
    wins = NoisyCounts.calibrated(epsilon=0.7, n_items=m, adjacency=adjacency, **counts_of(m))
    assert wins.scale == pytest.approx(2 * borda.scale)


@pytest.mark.slow
@each("law", ["discrete", "continuous"])
@each("adjacency", ADJACENCIES)
def test_the_exact_loss_is_what_is_promised_whatever_the_ballots(adjacency, law):
    data, kept = Ballots([[0, 1, 1], [-1, 0, 1], [2, 1, 0]], "abc", [1, 2, 2]), BallotNeighbours(adjacency, 2)
    partial = {"n_items": 3, "adjacency": adjacency, "law": law, "max_weight": 2, "epsilon": 1.0}
    for made in (
        PrivateBorda.calibrated(**partial, ballots="partial"),
        NoisyMatrix.calibrated(**partial, ballots="partial"),
        NoisyCounts.calibrated(**partial, **counts_of(3)),
    ):
        losses = [exact(made, data, other).epsilon(0) for other in kept.all(data)]
        assert max(losses) == pytest.approx(made.guarantee.epsilon, rel=1e-9)
        for delta in (1e-3,) if not isinstance(made, NoisyCounts) else ():
            gaussian = type(made).calibrated(**partial, ballots="partial", delta=delta)
            losses = [exact(gaussian, data, other).epsilon(delta) for other in kept.all(data)]
            assert max(losses) <= gaussian.guarantee.epsilon * (1 + 1e-9)
            assert max(losses) >= 0.6 * gaussian.guarantee.epsilon


@each("law", ["discrete", "continuous"])
def test_many_draws_are_releases(law):
    data = Ballots([[0, 1, 1, -1]] * 9, "abcd", [2] * 9)
    partial = {"law": law, "max_weight": 2}
    for made in (
        PrivateBorda(4, 3.0, ballots="partial", **partial),
        NoisyMatrix(4, 3.0, ballots="partial", rule="borda", **partial),
        NoisyCounts(4, 3.0, **counts_of(4), **partial),
    ):
        one, many = made.release(data, np.random.default_rng(5)), sample(made, data, 1, np.random.default_rng(5))[0]
        shown = one.scores if one.margins is None else one.margins[np.triu_indices(4, 1)]
        np.testing.assert_array_equal(many, [*one.order, *shown])


def test_what_is_released_lies_on_the_grid_and_tells_no_parity():
    odd, even = (Ballots([row], "abc") for row in ([0, 1, 2], [-1, -1, -1]))
    made = NoisyMatrix(3, 2.0, ballots="partial", rule="borda")
    for data in (odd, even):
        margins = sample(made, data, 4000, np.random.default_rng(2))[:, 3:]
        assert (margins == np.rint(margins)).all()
        share = (margins % 2).mean(axis=0)
        assert (abs(share - 0.5) < 0.05).all()  # 6 standard errors
    half = sample(PrivateBorda(3, 2.0, ballots="partial"), odd, 4000, np.random.default_rng(3))[:, 3:]
    steps = 2 * np.diff(half, axis=1)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)  # the mean is taken away
    assert abs((np.rint(steps) % 2).mean() - 0.5) < 0.05
    assert PrivateBorda(3, 2.0, ballots="partial").noise_law.step == 0.5


def test_full_rankings_are_drawn_bit_by_bit_as_they_were():
    votes = Rankings([np.random.default_rng(v).permutation(5) for v in range(30)], "abcde")
    borda, matrix = PrivateBorda(5, 7.0), NoisyMatrix(5, 7.0, rule="borda")
    rng = np.random.default_rng(4)
    sums = votes.positions.sum(axis=0, dtype=np.int64) + noise.discrete_laplace(7.0, 5, rng=rng)
    np.testing.assert_array_equal(
        borda.release(votes, np.random.default_rng(4)).scores, (sums[0] - sums) - (sums[0] - sums).mean()
    )
    rng = np.random.default_rng(4)
    wins = votes.pairwise()
    noisy = (wins - wins.T)[np.triu_indices(5, 1)] + 2 * noise.discrete_laplace(7.0, 10, rng=rng)
    np.testing.assert_array_equal(matrix.release(votes, np.random.default_rng(4)).margins[np.triu_indices(5, 1)], noisy)
    for randomiser in RANDOMISERS[5]:
        poll = (LocalMatrix if randomiser.estimates == "signs" else LocalBorda)(randomiser)
        sent = randomiser.report(votes.positions, np.random.default_rng(4))
        np.testing.assert_array_equal(poll.sent(votes.positions, np.random.default_rng(4)), sent)


def test_full_rankings_are_ballots_too_and_none_is_a_ballot_file():
    votes = Rankings([[0, 1, 2], [2, 0, 1]], "abc")
    for made in mechanisms(3, 2, "replace"):
        released = made.release(votes, SECURE)
        assert sorted(released.ranking) == [*"abc"]
        assert made.release(Ballots(np.zeros((0, 3), int), "abc"), SECURE).publishable
        back = Release.from_json(released.to_json())
        assert back == released
        assert back.mechanism.max_weight == 2


@pytest.mark.slow
def test_intervals_hold_the_true_places():
    data = Ballots([[0, 1, 1, 2]] * 400 + [[0, -1, -1, -1]] * 300, "abcd", [1] * 350 + [3] * 350)
    made = PrivateBorda.calibrated(epsilon=1.0, n_items=4, ballots="partial", max_weight=3)
    assert made.counts(data).tolist() == [-1500, 0, 0, 1500]
    missed = 0
    for seed in range(100):
        table = made.release(data, np.random.default_rng(seed)).intervals().set_index("item")
        assert table.loc["a", ["lowest", "highest"]].tolist() == [1, 1]
        missed += not (table.loc[["b", "c"], "lowest"].max() <= 2 and table.loc[["b", "c"], "highest"].min() >= 3)
    assert missed <= 12  # more than 5 of 100 are missed once in a hundred times


def test_a_weight_counts_no_more_than_is_promised():
    heavy = Ballots([[0, 1], [1, 0]], "ab", [1 << 20, 1])
    made = PrivateBorda(2, 1.0, ballots="partial", max_weight=4)
    assert made.counts(heavy).tolist() == [-3, 3]
    assert NoisyMatrix(2, 1.0, ballots="partial", max_weight=4).margins(heavy).tolist() == [[0, 3], [-3, 0]]
    assert NoisyCounts(2, 1.0, max_weight=4, **counts_of(2)).counts(heavy).tolist() == [3, -3]


def test_what_does_not_go_together_is_refused():
    ballots = Ballots([[0, 0, -1]], "abc")
    for kind in (PrivateBorda, NoisyMatrix):
        with refused("dprank.Ballots", "ballots = 'partial'"):
            kind(3, 1.0).release(ballots, SECURE)
        with refused("max_weight = 2", "ballots = 'full'"):
            kind(3, 1.0, max_weight=2)
        with refused("ballots = 'tied'", "'full', 'partial'"):
            kind(3, 1.0, ballots="tied")
        with refused("max_weight = 0"):
            kind(3, 1.0, ballots="partial", max_weight=0)
        with refused("items = 3 in the data", "n_items = 4"):
            kind(4, 1.0, ballots="partial").release(ballots, SECURE)
    with refused("data are dprank.Ballots", "design = 'once'", "per_person = 3"):
        NoisyCounts(3, 1.0, per_person=3).release(ballots, SECURE)
    with refused("max_weight = 2", "score = 'net'"):
        NoisyCounts(3, 1.0, per_person=3, max_weight=2)
    with refused("sum holds fractions", "multiples of 0.5"):
        PrivateBorda(3, 1.0, ballots="partial").perturb([0.25, 0.0, 0.0], SECURE)
    assert PrivateBorda(3, 1.0, ballots="partial").perturb([0.5, 0.0, -0.5], SECURE).shape == (3,)


# --- one voter who trusts nobody -------------------------------------------------------------------------------------

RANDOMISERS = {
    m: [
        SampledOrder.calibrated(epsilon=1.0, n_items=m, length=2),
        SampledOrder.calibrated(epsilon=1.0, n_items=m, length=3),
        SplitResponse.calibrated(epsilon=1.0, n_items=m),
        VectorReport.calibrated(epsilon=1.0, n_items=m, geometry="cube"),
        OrderReport.calibrated(epsilon=1.0, n_items=m),
    ]
    for m in (3, 5)
}


def polls(m=3):
    return [(LocalMatrix if r.estimates == "signs" else LocalBorda)(r) for r in RANDOMISERS[m]]


@each("m", [2, 3, 4])
def test_every_ballot_is_a_mean_of_full_rankings(m):
    for row in all_orders(m):
        rankings = completions(row)
        assert (np.sort(rankings, axis=1) == np.arange(m)).all()
        np.testing.assert_array_equal(ranking_signs(rankings).mean(axis=0), signs(row))
        kept = signs(row) != 0
        assert (ranking_signs(rankings)[:, kept] == signs(row)[kept]).all()


@each("rng", [np.random.default_rng(11), SECURE])
@each("row", [[0, 0, 1, 1], [-1, 0, 0, -1], [-1, -1, -1, -1], [0, 1, -1, 2]])
def test_what_is_drawn_is_one_of_them_as_often_as_it_should_be(row, rng):
    draws = completed(np.array([row] * 3000), rng)
    likely = Counter(map(tuple, completions(np.array(row)).tolist()))
    seen = Counter(map(tuple, draws.tolist()))
    assert seen.keys() <= likely.keys()
    expected = 3000 * np.array([*likely.values()]) / likely.total()
    assert chisquare([seen[ranking] for ranking in likely], expected).pvalue > 1e-9


def test_full_rows_are_known_and_kept():
    rows = all_orders(3)
    np.testing.assert_array_equal(is_full(rows), [sorted(row) == [0, 1, 2] for row in rows.tolist()])
    full = rows[is_full(rows)]
    for rng in (np.random.default_rng(1), SECURE):
        np.testing.assert_array_equal(completed(full, rng), full)
        mixed = completed(rows, rng)
        np.testing.assert_array_equal(mixed[is_full(rows)], full)


@pytest.mark.slow
@each("poll", polls())
def test_reports_keep_their_promise_between_any_two_ballots(poll):
    rows = all_orders(3)
    losses = [exact(poll, one, other).epsilon(0) for one in rows for other in OneBallot().all(one)]
    assert max(losses) == pytest.approx(poll.guarantee.epsilon, rel=1e-9)
    # a voter who says nothing is nearer to all others than they are to each other
    assert max(exact(poll, one, [-1, -1, -1]).epsilon(0) for one in rows) < 0.8 * poll.guarantee.epsilon


def listed(randomiser):
    """Every report, in the order of `report_law`."""
    order = getattr(randomiser, "order", randomiser)
    if isinstance(order, SampledOrder):
        return np.array(list(permutations(range(order.n_items), order.length)))
    return np.array(list(product((-1, 1), repeat=order.n_pairs)))


@each("poll", polls())
def test_reports_are_unbiased_for_what_a_ballot_says(poll):
    estimates = np.array([poll.randomiser.estimate(one[None]) for one in listed(poll.randomiser)])
    for row in all_orders(3):
        law = report_law(poll.randomiser, completions(row)).mean(axis=0)
        said = signs(row) if isinstance(poll, LocalMatrix) else -Ballots([row], "abc").net_wins() / 2
        np.testing.assert_allclose(law @ estimates, said, atol=1e-12)
        variance = law @ estimates**2 - said**2
        if isinstance(poll, LocalMatrix):  # the coin of a pair that is not ordered adds 1
            np.testing.assert_allclose(variance, poll.randomiser.variance + 1 - said**2)
        else:  # 2/3: mean square of the places of three items
            assert variance.mean() == pytest.approx(poll.randomiser.variance + 2 / 3 - (said**2).mean())


def test_directions_of_partial_ballots_have_no_law_but_a_release():
    for poll in (
        LocalMatrix(VectorReport.calibrated(epsilon=1.0, n_items=3)),
        LocalBorda(PositionVector.calibrated(epsilon=1.0, n_items=3)),
    ):
        assert exact(poll, [0, 1, 2], [2, 1, 0]).epsilon(0) == pytest.approx(1.0)
        with pytest.raises(NoExactRoute, match="ties and gaps"):
            exact(poll, [0, 1, 1], [2, 1, 0])
        ballots = Ballots([[0, 1, -1]] * 50, "abc")
        assert len(poll.release(ballots, np.random.default_rng(1)).order) == 3


def test_a_poll_of_ballots_finds_who_leads():
    ballots = Ballots([[0, 1, 1], [0, -1, -1], [0, 0, 1]] * 2000, "abc")
    for kind in (LocalMatrix, LocalBorda):
        poll = kind.calibrated(epsilon=2.0, n_items=3)
        assert poll.release(ballots, np.random.default_rng(1)).ranking[0] == "a"
        assert poll.additive_error(100, "partial") >= poll.additive_error(100)
        with refused("ballots = 'some'"):
            poll.additive_error(100, "some")
        reports = [poll.report(row, SECURE) for row in ([0, 1, 1], [0, -1, -1], [3, 1, 2])]
        assert poll.aggregate(reports, SECURE, items="abc").publishable
        with refused("too few voters"):
            poll.release(Ballots(np.zeros((0, 3), int), "abc"), SECURE)


def test_reports_of_a_listed_law_are_of_its_size():
    poll = LocalMatrix(SampledOrder.calibrated(epsilon=1.0, n_items=3, length=2))
    law = report_law(poll.randomiser, completions(np.array([0, 0, 1]))).mean(axis=0)
    assert law.sum() == pytest.approx(1)
    chance = dict(zip(map(tuple, listed(poll.randomiser)), law, strict=True))
    assert chance[0, 1] == pytest.approx(1 / 6)  # of the tied pair, either order
    assert chance[1, 0] == pytest.approx(1 / 6)
    assert chance[0, 2] == chance[1, 2] > 1 / 6 > chance[2, 0]
