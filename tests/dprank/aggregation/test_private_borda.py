# Statistical tests have fixed seeds and a false-alarm rate of 1e-6 each; the numbers of draws are chosen for that.
import math
from functools import reduce
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from checks import HARDLY, all_rankings, kemeny_costs, law_p_value, refused

from dprank.aggregation.directions import PositionVector
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.private_borda import PrivateBorda, _addition, centred_scores
from dprank.aggregation.randomisers import OrderReport, SampledOrder
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.privacy.gaussian import gaussian_delta

FALSE_ALARM = 1e-6
Z = 4.9


def order_law(sums, scale, reach):
    """Law of the order of integer sums with discrete Laplace noise, ties at random, by the full grid of noise."""
    grid = np.arange(-reach, reach + 1)
    one = np.exp(-abs(grid) / scale)
    one /= one.sum()
    weight, noisy = 1.0, []
    for axis, value in enumerate(sums):
        shape = [-1 if k == axis else 1 for k in range(len(sums))]
        weight = weight * one.reshape(shape)
        noisy.append((value + grid).reshape(shape))
    sorted_ = [
        reduce(np.logical_and, [noisy[a] <= noisy[b] for a, b in pairwise(order)])
        for order in permutations(range(len(sums)))
    ]
    ways = sum(fits.astype(float) for fits in sorted_)
    return np.array([(weight * fits / ways).sum() for fits in sorted_])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("m", [2, 3])
def test_no_neighbour_reveals_more_through_the_order(m, adjacency):
    mechanism = PrivateBorda.calibrated(n_items=m, epsilon=2.0, adjacency=adjacency)
    assert mechanism.guarantee.epsilon <= 2
    rows, reach = all_rankings(m), round(22 * mechanism.scale)
    base = rows[0] * 3
    moved = [base - rows[0] + row if adjacency == "replace" else base + row for row in rows]
    law = order_law(base, mechanism.scale, reach)
    losses = [privacy_loss(law, order_law(sums, mechanism.scale, reach)) for sums in moved]
    assert 0.3 < max(losses) <= 2 + 1e-7


def test_half_the_noise_would_reveal_more():
    # three unanimous voters, two items: the least order is decided by one noisy difference
    mechanism = PrivateBorda.calibrated(n_items=2, epsilon=2.0)
    laws = [order_law(np.array(s), mechanism.scale / 2, 60) for s in ([0, 3], [1, 2])]
    assert privacy_loss(*laws) > 2


@pytest.mark.parametrize("m", range(2, 7))
def test_sensitivities_are_the_worst_neighbours(m):
    rows = all_rankings(m)
    for adjacency, moves in (("replace", rows - rows[0]), ("add_remove", rows[:1])):
        shifts = np.arange(-m, m + 1)
        free = np.arange(-m, m + 0.1, 0.5)
        l1 = max(min(abs(move - c).sum() for c in shifts) for move in moves)
        for law, allowed in (("discrete", shifts), ("continuous", free)):
            l2 = max(min(((move - c) ** 2).sum() for c in allowed) for move in moves) ** 0.5
            mechanism = PrivateBorda(m, 1.0, adjacency=adjacency, law=law)
            assert mechanism.l1_sensitivity == l1
            assert mechanism.l2_sensitivity == pytest.approx(l2, rel=1e-12)
    assert PrivateBorda(m, 1.0).l1_sensitivity == m * m // 2
    assert PrivateBorda(m, 1.0, adjacency="add_remove").l1_sensitivity == m * m // 4


@pytest.mark.parametrize("law", ["discrete", "continuous"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_gaussian_calibration(adjacency, law):
    mechanism = PrivateBorda.calibrated(n_items=6, epsilon=0.7, delta=1e-6, adjacency=adjacency, law=law)
    assert 0.69 < mechanism.guarantee.epsilon <= 0.7
    furthest = math.sqrt(6 * 35 / (3 if adjacency == "replace" else 12))  # after any common shift, whole or not
    share = gaussian_delta(furthest, mechanism.scale, 0.7) / 1e-6
    assert 0.98 < share < 1 + 1e-9


def test_without_noise_it_is_borda():
    rng = np.random.default_rng(1)
    data = Rankings(np.argsort(rng.random((50, 6)), axis=1), "abcdef")
    released = PrivateBorda(6, HARDLY).release(data, rng)
    assert (np.diff(data.positions.sum(axis=0)[released.order]) >= 0).all()


def test_ties_are_broken_at_random():
    data = Rankings([[0, 1], [1, 0]], "ab")
    rng = np.random.default_rng(2)
    first = [PrivateBorda(2, HARDLY).release(data, rng).order[0] for _ in range(400)]
    assert law_p_value(np.bincount(first), [0.5, 0.5]) > FALSE_ALARM


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_released_noise_has_its_law(delta):
    mechanism = PrivateBorda.calibrated(n_items=4, epsilon=1.0, delta=delta)
    drawn = mechanism.perturb(np.zeros((50_000, 4), int), np.random.default_rng(3)).ravel()
    k = np.arange(-400, 401)
    weight = np.exp(-(k**2) / (2 * mechanism.scale**2) if delta else -abs(k) / mechanism.scale)
    assert law_p_value(np.bincount(drawn.astype(int) + 400, minlength=801), weight / weight.sum()) > FALSE_ALARM


def test_secure_noise():
    data = Rankings([[0, 1, 2]] * 20_000, "abc")
    for delta in (0.0, 1e-6):
        assert PrivateBorda.calibrated(n_items=3, epsilon=1.0, delta=delta).release(data, noise.SECURE).ranking == (
            "a",
            "b",
            "c",
        )
    assert LocalBorda.calibrated(n_items=3, epsilon=4.0).release(data, noise.SECURE).ranking == ("a", "b", "c")


@pytest.mark.slow
def test_no_noise_vector_breaks_the_theorem():
    rng = np.random.default_rng(4)
    worst = 0.0
    for m, voters in product((3, 4, 5), (1, 2, 3, 7)):
        rows = all_rankings(m)
        for _ in range(60):
            w = pairwise_fractions(Rankings(rows[rng.integers(0, len(rows), voters)], "abcde"[:m]))
            places = w.sum(axis=0)
            # adversarial: draw all places towards one another, then a little past
            drawn = rng.choice([0.0, 0.5, 1.001, 1.3]) * (np.median(places) - places) + rng.laplace(0, 0.2, m)
            cost = kemeny_score(np.argsort(places + drawn), w)
            optimum = kemeny_costs(w).min()
            assert cost <= 5 * optimum + 2 * abs(drawn).sum() + 1e-9
            worst = max(worst, (cost - 5 * optimum) / abs(drawn).sum())
    assert worst > 1.2


REPORTS = [
    OrderReport(SampledOrder.calibrated(n_items=5, epsilon=1.0, length=2)),
    OrderReport(SampledOrder.calibrated(n_items=5, epsilon=3.0, length=4)),
    PositionVector.calibrated(n_items=5, epsilon=1.0),
    PositionVector.calibrated(n_items=2, epsilon=0.5),
]


@pytest.mark.parametrize("report", REPORTS, ids=["pair", "four", "vector", "two-items"])
@pytest.mark.slow
def test_reports_are_unbiased_with_the_stated_variance(report):
    rng = np.random.default_rng(5)
    m, draws = report.n_items, 10_000
    positions = rng.permutation(m)[None]
    sent = report.report(np.tile(positions, (draws, 1)), rng)
    distinct, which = np.unique(sent, axis=0, return_inverse=True)
    drawn = np.array([report.estimate(one[None]) for one in distinct])[which.ravel()]
    error = Z * drawn.std(axis=0) / draws**0.5
    assert (abs(drawn.mean(axis=0) - (positions[0] - (m - 1) / 2)) <= error).all()
    squares = ((drawn - (positions[0] - (m - 1) / 2)) ** 2).mean(axis=1)
    assert abs(squares.mean() - report.variance) <= Z * squares.std() / draws**0.5 + 1e-9 * report.variance


def test_two_items_show_the_side_and_nothing_else():
    """And a mutant whose coin is a quarter more honest is caught."""
    report, draws = PositionVector.calibrated(n_items=2, epsilon=1.0), 20_000
    voters, rng = np.tile([0, 1], (draws, 1)), np.random.default_rng(7)
    sides = (report.report(voters, rng)[:, 0] < 0).sum()
    law = 1 / (1 + np.exp([-1, 1]))
    assert law_p_value([sides, draws - sides], law) > FALSE_ALARM
    mutant = PositionVector.calibrated(n_items=2, epsilon=1.25)
    sides = (mutant.report(voters, rng)[:, 0] < 0).sum()
    assert law_p_value([sides, draws - sides], law) < FALSE_ALARM


def test_closed_forms_of_the_variances():
    for m, epsilon in product((2, 3, 6, 20, 100), (0.1, 1.0, 5.0)):
        t = 1 / np.tanh(epsilon / 2)
        pair = OrderReport(SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=2)).variance
        assert pair == pytest.approx(m * (m - 1) ** 2 * t * t / 8 - (m * m - 1) / 12, rel=1e-9)
        vector = PositionVector.calibrated(n_items=m, epsilon=epsilon).variance
        assert vector == pytest.approx(pair, rel=1e-9) if m == 2 else vector > pair
        assert OrderReport.calibrated(n_items=m, epsilon=epsilon).variance <= pair


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_local_guarantee(epsilon):
    for report in (OrderReport, PositionVector):
        mechanism = LocalBorda(report.calibrated(n_items=6, epsilon=epsilon))
        assert 0.999 * epsilon < mechanism.guarantee.epsilon <= epsilon
        assert mechanism.guarantee.model == "local"


def test_refusals():
    data = Rankings([[0, 1, 2]], "abc")
    rng = np.random.default_rng(6)
    with refused("n_items = 1"):
        PrivateBorda(1, 1.0)
    with refused("scale = -1"):
        PrivateBorda(3, -1.0)
    with refused("delta = 0.1"):
        PrivateBorda(3, 1.0, delta=0.1)
    with refused("delta = 0"):
        PrivateBorda(3, 1.0, "gaussian")
    with refused("noise = 'cauchy'", "laplace"):
        PrivateBorda(3, 1.0, "cauchy")
    with refused("epsilon = 0"):
        PrivateBorda.calibrated(n_items=3, epsilon=0.0)
    with refused("items = 3", "n_items = 4"):
        PrivateBorda(4, 1.0).release(data, rng)
    with refused("rng = 7"):
        PrivateBorda(3, 1.0).release(data, 7)
    with refused("items = 3", "n_items = 4"):
        LocalBorda.calibrated(n_items=4, epsilon=1.0).release(data, rng)
    with refused("flips = 0"):
        PositionVector(3, 0)
    with refused("Generator"):
        PrivateBorda(3, 1.0, law="continuous").release(data, noise.SECURE)
    with refused("Generator"):
        LocalBorda(PositionVector.calibrated(n_items=3, epsilon=1.0)).release(data, noise.SECURE)
    for call in (lambda: LocalBorda(12), lambda: LocalBorda(SampledOrder.calibrated(n_items=3, epsilon=1.0))):
        with refused("randomiser = ", "PositionVector"):
            call()
    for epsilon in (0, -1, np.nan, np.inf, "1", 1e-17):
        with refused(f"epsilon = {epsilon!r}"):
            LocalBorda.calibrated(n_items=12, epsilon=epsilon)
    with pytest.raises(TypeError, match="noise"):  # it goes with delta
        PrivateBorda.calibrated(n_items=12, epsilon=1.0, noise="gaussian")
    with refused("sum", "whole"):
        PrivateBorda.calibrated(n_items=3, epsilon=1.0).perturb(np.array([0, 0.25, 1]), rng)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_scores_are_what_is_sorted_and_no_more_than_differences(adjacency):
    data = Rankings(np.argsort(np.random.default_rng(8).random((40, 5)), axis=1), "abcde")
    mechanism = PrivateBorda.calibrated(n_items=5, epsilon=1.0, adjacency=adjacency)
    released = mechanism.release(data, np.random.default_rng(9))
    assert (np.diff(released.scores[released.order]) <= 0).all()
    assert abs(released.scores.sum()) < 1e-9
    places = mechanism.perturb(data.positions.sum(axis=0), np.random.default_rng(9))
    assert released.scores == pytest.approx(places.mean() - places)
    # a common shift, which the guarantee does not cover, is not to be seen in any bit
    for shift in (0, 1, 10**9 + 7, 2**55 + 1):
        assert (
            centred_scores(np.array([3, 1, 4, 1, 5]) + shift).tolist()
            == centred_scores(np.array([3, 1, 4, 1, 5])).tolist()
        )
    silent = PrivateBorda(5, HARDLY).release(data, np.random.default_rng(0)).scores
    assert 2 - silent / 40 == pytest.approx(data.positions.mean(axis=0))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_person_who_is_drawn_moves_two_scores_apart_by_no_more_than_is_said(m):
    """Of n persons the square of what all move is n times one's, attained by a ballot with both items at the ends."""
    scores = [centred_scores(np.array(row)) for row in permutations(range(m))]
    apart = max(abs(row[i] - row[j]) for row in scores for i in range(m) for j in range(m))
    for weight in (1, 3):
        mechanism = PrivateBorda(m, 2.0, ballots="partial", max_weight=weight)
        assert mechanism.drawn_deviation("persons", 49) == pytest.approx(7 * weight * apart)
        assert mechanism.drawn_deviation(None, None) == 0


def test_local_scores_estimate_the_mean_places():
    data = Rankings([[2, 0, 1]] * 30_000, "abc")
    scores = LocalBorda.calibrated(n_items=3, epsilon=6.0).release(data, np.random.default_rng(0)).scores
    assert 1 - scores / 30_000 == pytest.approx([2, 0, 1], abs=0.1)


MECHANISMS = {
    "Laplace": lambda m: PrivateBorda.calibrated(n_items=m, epsilon=2.0),
    "Gaussian": lambda m: PrivateBorda.calibrated(n_items=m, epsilon=2.0, delta=1e-3, adjacency="add_remove"),
    "order": lambda m: LocalBorda.calibrated(n_items=m, epsilon=2.0),
    "vector": lambda m: LocalBorda(PositionVector.calibrated(n_items=m, epsilon=2.0)),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.slow
def test_additive_errors_bound_what_is_paid(name):
    mechanism, rng = MECHANISMS[name](4), np.random.default_rng(10)
    data = Rankings(np.array([[0, 1, 2, 3]] * 30 + [[3, 1, 2, 0]] * 20), "abcd")
    w = pairwise_fractions(data)
    bound = mechanism.ratio * kemeny(w).cost + mechanism.additive_error(50)
    assert np.mean([kemeny_score(mechanism.release(data, rng).order, w) for _ in range(200)]) <= bound
    assert mechanism.ratio == 5
    assert mechanism.additive_error(5000) < mechanism.additive_error(50)
    with refused("n_voters = 0"):
        mechanism.additive_error(0)


def test_additive_errors_are_twice_the_noise():
    for scale, delta in product((0.3, 1.0, 2.0, 20.0), (0.0, 0.1)):
        k = np.arange(-2000, 2001)
        weight = np.exp(-(k**2) / (2 * scale**2) if delta else -abs(k) / scale)
        mean = (abs(k) * weight).sum() / weight.sum()
        bound = PrivateBorda(3, scale, "gaussian" if delta else "laplace", delta=delta).additive_error(10)
        assert 2 * 3 * mean / 10 <= bound * (1 + 1e-12)
        assert scale < 2 or 2 * 3 * mean / 10 > 0.9 * bound


@pytest.mark.parametrize("m", [2, 3, 4, 6])
def test_a_report_of_all_items_is_chosen_where_epsilon_buys_it(m):
    sizes = [
        LocalBorda.calibrated(n_items=m, epsilon=epsilon).randomiser.order.length for epsilon in (0.1, 1.0, 10.0, 30.0)
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] == m
    for epsilon in (0.1, 1.0, 10.0):
        chosen = OrderReport.calibrated(n_items=m, epsilon=epsilon)
        every = [
            OrderReport(SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=size)) for size in range(2, m + 1)
        ]
        assert chosen.variance == min(report.variance for report in every)


def test_the_noise_of_a_seed_is_what_is_added():
    for kind, law in product(("laplace", "gaussian"), ("discrete", "continuous")):
        mechanism = PrivateBorda(3, 1.5, kind, delta=0.1 * (kind == "gaussian"), law=law)
        drawn = noise.draw(kind, law, 1.5, 3, rng=np.random.default_rng(3))
        assert (mechanism.perturb(np.array([4, 0, 7]), np.random.default_rng(3)) == np.add([4, 0, 7], drawn)).all()


def test_additive_errors_formula_by_formula():
    for n in (1, 50):
        laplace, normal = PrivateBorda(5, 3.0), PrivateBorda(5, 3.0, "gaussian", delta=0.1)
        assert laplace.additive_error(n) == pytest.approx(2 * 5 * 3 / n, rel=1e-12)
        assert normal.additive_error(n) == pytest.approx(2 * 5 * 3 * (2 / np.pi) ** 0.5 / n, rel=1e-12)
        for made in (OrderReport, PositionVector):
            local = LocalBorda(made.calibrated(n_items=5, epsilon=1.0))
            assert local.additive_error(n) == pytest.approx(2 * 5 * (local.randomiser.variance / n) ** 0.5, rel=1e-12)
    for mechanism in (laplace, local):
        with refused("n_voters = 0"):
            mechanism.additive_error(0)


def test_side_of_a_vector_is_that_of_the_places_but_for_the_coin():
    report, rng = PositionVector(5, 1), np.random.default_rng(11)  # the coin hardly ever turns
    voters = all_rankings(5)
    sent = report.report(voters, rng)
    assert np.abs(np.linalg.norm(sent, axis=1) - 1).max() < 1e-12
    assert np.abs(sent.sum(axis=1)).max() < 1e-12
    assert (np.einsum("vi,vi->v", sent, voters) >= 0).all()


@pytest.mark.parametrize("n_items", range(1, 9))
def test_an_added_ranking_moves_sums_by_the_least_that_a_whole_shift_leaves(n_items):
    places = np.arange(n_items)
    least = min(int(((places - shift) ** 2).sum()) for shift in range(n_items))
    moves = _addition(n_items)
    assert sum(count * move**2 for move, count in moves.items()) == least
    assert sum(moves.values()) == n_items
