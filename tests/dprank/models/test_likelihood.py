"""Derivatives against complex steps, minimisers against choix, scipy and forty digits. All draws have fixed seeds;
nothing is statistical. CLOSE is what two minimisers with gradients of 1e-10 may differ by."""

import math
import re
from decimal import Decimal, localcontext
from itertools import combinations, islice, product

import choix
import numpy as np
import pytest
from checks import each, refused
from scipy import optimize, special

from dprank.data.comparisons import Comparisons
from dprank.data.counting import win_counts
from dprank.models import games as games_module
from dprank.models import newton, tables
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT, sample_erdos_renyi, sample_voters
from dprank.models.games import Games
from dprank.models.likelihood import gradient, hessian, log_likelihood, mle, mle_from_counts

CLOSE = 1e-9
TIGHT = 1e-10
LINKS = pytest.mark.parametrize("link", [LOGISTIC, PROBIT, ARCTAN], ids=lambda link: link.name)
#: log F once more, for complex numbers.
LOG_CDF = {
    "logistic": lambda z: -np.log1p(np.exp(-z)),
    "probit": lambda z: np.log(special.erfc(-z / np.sqrt(2)) / 2),
    "arctan": lambda z: np.log(2 / np.pi * np.arctan(np.exp(z))),
}


def random_data(n, rows, seed, *, spread=1.0, ties=0.2):
    """Any pairs, again and again, in either order, some undecided."""
    rng = np.random.default_rng(seed)
    theta = spread * rng.normal(size=n)
    first = rng.integers(0, n, rows)
    second = (first + rng.integers(1, n, rows)) % n
    outcome = np.where(rng.random(rows) < ties, 0.5, rng.random(rows) < special.expit(theta[first] - theta[second]))
    return Comparisons(first, second, outcome, range(n))


def of(rows, n):
    first, second, outcome = zip(*rows, strict=True) if rows else ((), (), ())
    return Comparisons(np.array(first, int), np.array(second, int), np.array(outcome, float), range(n))


def rows_of(data):
    return list(zip(data.first.tolist(), data.second.tolist(), data.outcome.tolist(), strict=True))


# --- the likelihood and its derivatives ------------------------------------------------------------------------------


def objective(theta, rows, link, ridge=0.0, linear=0.0):
    """Row by row, as (2.1) prints it, ties as half a win; theta may be complex, and many."""
    log_f, (i, j, y) = LOG_CDF[link.name], np.reshape(rows, (-1, 3)).T
    x = theta[..., i.astype(int)] - theta[..., j.astype(int)]
    rest = ridge / 2 * (theta**2).sum(axis=-1) + (linear * theta).sum(axis=-1)
    return rest - (y * log_f(x) + (1 - y) * log_f(-x)).sum(axis=-1)


def slope(theta, rows, link, ridge=0.0, linear=0.0):
    """Automatic differentiation by complex steps: no difference, so no cancellation."""
    steps = 1e-100j * np.eye(theta.shape[-1])
    return objective(theta[..., None, :] + steps, rows, link, ridge, linear).imag * 1e100


def bend(theta, rows, link, ridge=0.0, linear=0.0, step=1e-4):
    """Derivatives of the slope by a five-point rule."""
    steps = step * np.eye(len(theta))
    table = sum(
        w * slope(theta + k * steps, rows, link, ridge, linear) for k, w in ((-2, 1), (-1, -8), (1, 8), (2, -1))
    )
    return table / (12 * step)


def derivative_errors(data, rows, link, theta):
    value = abs(log_likelihood(theta, data, link) + objective(theta, rows, link))
    first = np.abs(gradient(theta, data, link) - slope(theta, rows, link)).max()
    second = np.abs(hessian(theta, data, link).toarray() - bend(theta, rows, link)).max()
    return np.array([value, first, second])


@LINKS
@each(("n", "rows"), [(2, 1), (2, 7), (3, 5), (6, 40), (9, 12)])
def test_derivatives(n, rows, link):
    data = random_data(n, rows, seed=n * rows)
    theta = np.random.default_rng(rows).uniform(-3, 3, n)
    assert (derivative_errors(data, rows_of(data), link, theta) < [1e-12 * rows, 1e-12 * rows, 1e-9 * rows]).all()
    table = hessian(theta, data, link)
    assert table.shape == (n, n)
    np.testing.assert_allclose(table.toarray(), table.toarray().T)
    np.testing.assert_allclose(table.sum(axis=1), 0, atol=1e-13 * rows)
    assert np.linalg.eigvalsh(table.toarray()).min() > -1e-13 * rows
    np.testing.assert_allclose(gradient(theta + 7, data, link), gradient(theta, data, link), atol=1e-12 * rows)


ROW_MUTANTS = {
    "ties forgotten": lambda rows: [row for row in rows if row[2] != 0.5],
    "ties as wins": lambda rows: [(i, j, float(y > 0)) for i, j, y in rows],
    "a tie won by both": lambda rows: rows + [row for row in rows if row[2] == 0.5],
    "losers win": lambda rows: [(j, i, y) for i, j, y in rows],
    "a pair counts once": lambda rows: list({(min(i, j), max(i, j)): (i, j, y) for i, j, y in rows}.values()),
    "one row lost": lambda rows: rows[1:],
}


@each("mutant", ROW_MUTANTS)
def test_another_likelihood_is_caught(mutant):
    data = random_data(6, 40, seed=1)
    rows = ROW_MUTANTS[mutant](rows_of(data))
    assert (derivative_errors(data, rows, LOGISTIC, np.random.default_rng(2).uniform(-3, 3, 6))[:2] > 0.1).all()


@LINKS
def test_strengths_far_apart_have_derivatives(link):
    data = of([(0, 1, 1), (1, 2, 0), (0, 2, 0.5)], 3)
    for theta in ([-5000.0, 0, 5000], [5000.0, 0, -5000], [1e6, -1e6, 0]):
        assert np.isfinite(log_likelihood(theta, data, link))
        assert np.isfinite(gradient(theta, data, link)).all()
        assert np.isfinite(hessian(theta, data, link).data).all()
    # the winner far below: all of the score, none of the curvature
    upset = of([(0, 1, 1)], 2)
    if link is not PROBIT:
        np.testing.assert_allclose(gradient([-50.0, 50], upset, link), [-1, 1])
        assert log_likelihood([-5000.0, 5000], upset, link) == pytest.approx(-10_000, abs=1)


def test_games_merge_what_the_rows_say():
    data = random_data(7, 300, seed=3)
    played, points = {}, {}
    for i, j, y in rows_of(data):
        pair, twice = ((i, j), 2 * y) if i < j else ((j, i), 2 - 2 * y)
        played[pair] = played.get(pair, 0) + 1
        points[pair] = points.get(pair, 0) + twice
    games = Games.of(data)
    pairs = list(zip(games.item.tolist(), games.other.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert dict(zip(pairs, games.played.tolist(), strict=True)) == played
    assert dict(zip(pairs, games.points.tolist(), strict=True)) == points
    assert games.n_items == 7
    np.testing.assert_array_equal(games.wins, win_counts(data, "half"))


@pytest.mark.parametrize(("n_items", "rows"), [(40, 60), (12, 60), (12, 400), (300, 2000), (2, 9), (5, 0)])
def test_games_are_the_same_by_every_way_of_merging(n_items, rows):
    """In the order of the items, whatever that of the rows; with keys of 32 bits and of 64."""
    rng = np.random.default_rng(rows)
    first = rng.integers(0, n_items, rows)
    second, points = (first + rng.integers(1, n_items, rows)) % n_items, rng.integers(0, 3, rows).astype(np.uint8)
    found = []
    for kind in (np.uint16, np.int64):
        order = rng.permutation(rows)
        columns = first[order].astype(kind), second[order].astype(kind), points[order]
        found += [games_module._merge_few(*columns, n_items), games_module._merge_dense(*columns, n_items)]
        for key, count in ((np.uint32, np.uint32), (np.int64, np.int64)):
            room = *np.empty((2, rows), key), *np.zeros((2, n_items), count)
            found.append(games_module._merge(*columns, n_items, *room))
    assert len({tuple(tuple(part.tolist()) for part in parts) for parts in found}) == 1
    Games(*found[0])


def test_games_of_no_comparison_and_of_lonely_items():
    empty = Games.of(of([], 4))
    assert (empty.n_items, len(empty.other), empty.wins.tolist()) == (4, 0, [0, 0, 0, 0])
    games = Games.of(of([(5, 2, 1)], 9))
    assert (games.item.tolist(), games.other.tolist(), games.points.tolist()) == ([2], [5], [0])


# --- the minimiser ---------------------------------------------------------------------------------------------------


def by_scipy(rows, n, link, ridge, linear):
    """Newton's method in a trust region, on derivatives of the tests' own."""
    arguments = (rows, link, ridge, linear)
    found = optimize.minimize(
        lambda t: objective(t, *arguments),
        np.zeros(n),
        jac=lambda t: slope(t, *arguments),
        hess=lambda t: bend(t, *arguments),
        method="trust-exact",
        options={"gtol": 1e-11, "maxiter": 50},
    )
    return found.x


@LINKS
@each(("n", "rows", "ridge"), [(2, 0, 0.5), (2, 3, 0.01), (3, 4, 1.0), (5, 3, 0.1), (8, 60, 0.3), (12, 50, 20.0)])
@pytest.mark.slow
def test_against_scipy(n, rows, ridge, link):
    data = random_data(n, rows, seed=n + rows, spread=2)
    linear = np.random.default_rng(rows).laplace(size=n)
    fit = mle(data, link=link, ridge=ridge, linear=linear, tolerance=TIGHT)
    wanted = by_scipy(rows_of(data), n, link, ridge, linear)
    off = np.linalg.norm(slope(wanted, rows_of(data), link, ridge, linear))
    assert np.linalg.norm(fit.theta - wanted) <= (off + fit.gradient_norm) / ridge + 1e-13
    assert np.linalg.norm(fit.theta - wanted) < 1e-6
    assert fit.gradient_norm <= TIGHT
    assert fit.gradient_norm == pytest.approx(
        np.linalg.norm(slope(fit.theta, rows_of(data), link, ridge, linear)), abs=1e-13
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_against_choix(seed):
    data = random_data(12, 200, seed=seed, ties=0)
    pairs = [(i, j) if y else (j, i) for i, j, y in rows_of(data)]
    free = mle(data, tolerance=TIGHT)
    np.testing.assert_allclose(free.theta, choix.ilsr_pairwise(12, pairs, tol=1e-13), atol=1e-8)
    # choix penalises alpha |theta|^2
    held = mle(data, ridge=0.5, tolerance=TIGHT)
    wanted = choix.opt_pairwise(12, pairs, alpha=0.25, method="Newton-CG", tol=1e-12)
    np.testing.assert_allclose(held.theta, wanted, atol=1e-8)
    assert (free.ridge, free.distance_bound, held.ridge) == (0, math.inf, 0.5)
    assert np.abs(held.theta - free.theta).max() > 0.01


@LINKS
def test_two_items_have_a_closed_form(link):
    inverse = {"logistic": special.logit, "probit": special.ndtri, "arctan": lambda p: np.log(np.tan(np.pi * p / 2))}
    for won, lost, tied in ((1, 1, 0), (3, 1, 0), (1, 40, 5), (0, 0, 3), (999, 1, 0)):
        data = of([(0, 1, 1)] * won + [(1, 0, 1)] * lost + [(1, 0, 0.5)] * tied, 2)
        gap = inverse[link.name]((won + tied / 2) / (won + lost + tied))
        np.testing.assert_allclose(mle(data, link=link, tolerance=TIGHT).theta, [gap / 2, -gap / 2], atol=1e-7)


def test_no_comparison_leaves_the_noise():
    linear = np.array([3.0, -1, 0, 1e6])
    fit = mle(of([], 4), ridge=0.25, linear=linear)
    np.testing.assert_allclose(fit.theta, -4 * linear, rtol=1e-15)
    assert (mle(of([], 4), ridge=0.25).theta == 0).all()


def tree(edges, n, won, lost):
    return of(
        [row for (i, j), w, x in zip(edges, won, lost, strict=True) for row in [(i, j, 1)] * w + [(j, i, 1)] * x], n
    )


@LINKS
def test_a_tree_has_a_closed_form(link):
    """Every edge is fitted on its own."""
    n, rng = 60, np.random.default_rng(5)
    edges = [(int(rng.integers(0, k)), k) for k in range(1, n)]
    won, lost = rng.integers(1, 9, (2, n - 1))
    fit = mle(tree(edges, n, won, lost), link=link, tolerance=TIGHT)
    gaps = fit.theta[[i for i, _ in edges]] - fit.theta[[j for _, j in edges]]
    np.testing.assert_allclose(link.cdf(gaps), won / (won + lost), atol=1e-9)
    assert abs(fit.theta.sum()) < 1e-9


@pytest.mark.parametrize("order", ["along the path", "in random order"])
@pytest.mark.slow
def test_a_path_of_some_thousand_items(order):
    n, rng = 3000, np.random.default_rng(6)
    label = np.arange(n) if order == "along the path" else rng.permutation(n)
    won, lost = rng.integers(1, 4, (2, n - 1))
    data = tree(list(zip(label[:-1].tolist(), label[1:].tolist(), strict=True)), n, won, lost)
    theta = mle(data).theta[label]
    np.testing.assert_allclose(theta[:-1] - theta[1:], np.log(won / lost), atol=1e-6)


def test_a_grid_of_some_thousand_items():
    side = 60
    code = np.arange(side * side).reshape(side, side)
    first, second = np.r_[code[:, :-1].ravel(), code[:-1].ravel()], np.r_[code[:, 1:].ravel(), code[1:].ravel()]
    won = np.random.default_rng(7).random(first.size) < 0.6
    data = Comparisons(
        np.r_[first, first], np.r_[second, second], np.r_[won, 0.5 * np.ones(first.size)], range(side**2)
    )
    for ridge in (0.0, 0.01):
        fit = mle(data, ridge=ridge)
        assert fit.gradient_norm <= 1e-8
        assert np.linalg.norm(gradient(fit.theta, data) + ridge * fit.theta) <= 1.01e-8


@LINKS
def test_a_tie_is_a_win_and_a_loss_of_half_weight(link):
    rows = rows_of(random_data(6, 40, seed=8))
    split = [r for i, j, y in rows for r in ([(i, j, 1), (j, i, 1)] if y == 0.5 else [(i, j, y)] * 2)]
    one = mle(of(rows, 6), link=link, ridge=0.2, tolerance=TIGHT)
    other = mle(of(split, 6), link=link, ridge=0.4, tolerance=TIGHT)
    np.testing.assert_allclose(one.theta, other.theta, atol=CLOSE)


@LINKS
def test_names_and_rows_in_any_order(link):
    n, rng = 15, np.random.default_rng(9)
    rows, linear = rows_of(random_data(n, 90, seed=10)), rng.normal(size=n)
    label, order, swap = rng.permutation(n), rng.permutation(90), rng.random(90) < 0.5
    told = [(int(label[rows[r][0]]), int(label[rows[r][1]]), rows[r][2]) for r in order]
    told = [(j, i, 1 - y) if s else (i, j, y) for (i, j, y), s in zip(told, swap, strict=True)]
    moved = np.empty(n)
    moved[label] = linear
    one = mle(of(rows, n), link=link, ridge=0.3, linear=linear, tolerance=TIGHT).theta
    other = mle(of(told, n), link=link, ridge=0.3, linear=moved, tolerance=TIGHT).theta
    np.testing.assert_allclose(one, other[label], atol=CLOSE)
    assert one.mean() == pytest.approx(-linear.mean() / 0.3, rel=1e-12)


def paths(data, ridge, linear, tolerance=TIGHT):
    """All ways through the code to one logistic minimiser: (theta, gradient norm)."""
    games = Games.of(data)
    wins = games.wins - linear
    found = {
        "mle": mle(data, ridge=ridge, linear=linear, tolerance=tolerance),
        "given wins": mle(data, ridge=ridge, wins=wins, tolerance=tolerance),
        "lists": newton.newton(newton.Logistic(games, wins), games, ridge, tolerance),
        "any link": newton.newton(newton.AnyLink(games, LOGISTIC, linear), games, ridge, tolerance),
    }
    table = games.table
    theta, norm = mle_from_counts(table, wins[None], ridge=ridge, tolerance=tolerance)
    return {name: (fit.theta, fit.gradient_norm) for name, fit in found.items()} | {"batch": (theta[0], norm[0])}


@each("ridge", [1e-2, 1.0, 1e3])
@each(("n", "rows"), [(2, 1), (3, 2), (5, 0), (9, 400), (40, 30), (40, 500), (150, 3000)])
def test_all_paths_lead_to_one_minimiser(n, rows, ridge):
    data = random_data(n, rows, seed=n + rows)
    linear = 3 * np.random.default_rng(n).laplace(size=n)
    found = paths(data, ridge, linear)
    for theta, norm in found.values():
        np.testing.assert_allclose(theta, found["mle"][0], atol=CLOSE)
        assert norm <= 1.1 * TIGHT
        assert np.linalg.norm(gradient(theta, data) + ridge * theta + linear) <= 1.1 * TIGHT


@pytest.mark.slow
def test_given_wins_only_the_graph_is_read():
    """To the last bit: private wins stay private in whatever is computed from them."""
    for n, count in ((12, 60), (400, 900)):
        data = random_data(n, count, seed=11)
        others = Comparisons(data.first, data.second, 1 - data.outcome, data.items)
        wins = win_counts(data, "half") + np.random.default_rng(1).laplace(size=n)
        one, other = (mle(rows, ridge=0.1, wins=wins) for rows in (data, others))
        np.testing.assert_array_equal(one.theta, other.theta)
        assert one.gradient_norm == other.gradient_norm <= 1.1e-8
        # what they sum to is not the number of comparisons: the mean strength takes the rest
        assert one.theta.mean() == pytest.approx((wins.sum() - count) / (0.1 * n), rel=1e-9)


# --- the certificate -------------------------------------------------------------------------------------------------


def by_forty_digits(rows, n, ridge, linear, start):
    """Newton's method with decimals; gradient and minimiser."""
    with localcontext() as context:
        context.prec = 40
        ridge, linear, theta = Decimal(ridge), [Decimal(w) for w in linear], [Decimal(t) for t in start]
        first = None
        for _ in range(80):
            g = [ridge * t + w for t, w in zip(theta, linear, strict=True)]
            h = [[ridge * (a == b) for b in range(n)] for a in range(n)]
            for i, j, y in rows:
                p = 1 / (1 + (theta[j] - theta[i]).exp())
                s, c = p - Decimal(y), p * (1 - p)
                g[i], g[j] = g[i] + s, g[j] - s
                for a, b in ((i, j), (j, i)):
                    h[a][a], h[a][b] = h[a][a] + c, h[a][b] - c
            size = sum(x * x for x in g).sqrt()
            first = size if first is None else first
            if size < Decimal("1e-32"):
                return first, theta
            theta = [t - x for t, x in zip(theta, solved(h, g), strict=True)]
    raise AssertionError("forty digits were not enough")


def solved(h, g):
    """Gauss, without pivots: h is positive definite."""
    n, h, g = len(g), [row[:] for row in h], g[:]
    for k in range(n):
        for i in range(k + 1, n):
            f = h[i][k] / h[k][k]
            h[i] = [a - f * b for a, b in zip(h[i], h[k], strict=True)]
            g[i] -= f * g[k]
    for k in reversed(range(n)):
        g[k] = (g[k] - sum(h[k][j] * g[j] for j in range(k + 1, n))) / h[k][k]
    return g


@each("tolerance", [0.3, 1e-3, 1e-8])
@each("seed", range(12))
def test_the_distance_bound_is_true(seed, tolerance):
    rng = np.random.default_rng(seed)
    n, ridge = int(rng.integers(2, 5)), float(10 ** rng.uniform(-3, 2))
    data = random_data(n, int(rng.integers(0, 9)), seed=seed)
    linear = rng.laplace(size=n) * 10 ** rng.uniform(-2, 1)
    for name, (theta, norm) in paths(data, ridge, linear, tolerance).items():
        size, exact = by_forty_digits(rows_of(data), n, ridge, linear.tolist(), theta.tolist())
        away = math.dist(theta, map(float, exact))
        assert abs(norm - float(size)) <= 1e-14 * (1 + np.abs(linear).sum()), name
        assert away <= (norm + 1e-15 * (1 + np.abs(linear).sum())) / ridge, name
    fit = mle(data, ridge=ridge, linear=linear, tolerance=tolerance)
    assert fit.distance_bound == fit.gradient_norm / ridge


def test_the_gradient_norm_is_that_of_the_strengths_returned():
    """A mean of 1e9 costs strengths seven digits, and that is said."""
    data, linear = random_data(6, 30, seed=12), np.full(6, 1.0) + np.arange(6) / 10
    for theta, norm in paths(data, 1e-9, linear, 1e-8).values():
        found = np.linalg.norm(gradient(theta, data) + 1e-9 * theta + linear)
        assert 1e-8 < found < 1e-4
        assert norm == pytest.approx(found, rel=1e-6)


# --- existence -------------------------------------------------------------------------------------------------------


def exists(rows, n):
    """Ford (1957), literally: however the items are split in two, some item of one part beat one of the other."""
    beats = {(i, j) for i, j, y in rows if y > 0} | {(j, i) for i, j, y in rows if y < 1}
    groups = [set(g) for k in range(1, n) for g in combinations(range(n), k)]
    return all(any(i in g and j not in g for i, j in beats) for g in groups)


def verdict(data, **parameters):
    """The minimiser, or why there is none."""
    try:
        return mle(data, **parameters)
    except ValueError as error:
        return str(error)


def accused(message, rows, n):
    """What a refusal says of the items it names is true."""
    assert "\n" not in message
    assert "ridge = 0 on" in message
    assert "a ridge above 0 is needed" in message
    beats = {(i, j) for i, j, y in rows if y > 0} | {(j, i) for i, j, y in rows if y < 1}
    names = [int(code) for code in re.findall(r"items\[(\d+)\]", message)]
    if "never compared" in message:
        one = {names[0]}
        for _ in range(n):
            one |= {k for i, j in beats for k in (i, j) if i in one or j in one}
        return names[1] not in one
    above = {names[0]}
    for _ in range(n):
        above |= {i for i, j in beats if j in above}
    return len(above) < n and not any(j in above and i not in above for i, j in beats)


@LINKS
@each("n", [2, 3])
@pytest.mark.slow
def test_a_minimiser_is_found_wherever_there_is_one(n, link):
    """All sets of rows: who beat whom, who tied with whom; of links that are not the logistic one every fifth."""
    kinds = [(i, j, 1.0) for i in range(n) for j in range(n) if i != j]
    kinds += [(i, j, 0.5) for i in range(n) for j in range(i)]
    found = 0
    whole = link is LOGISTIC or n == 2
    for chosen in islice(product((False, True), repeat=len(kinds)), 0, None, 1 if whole else 5):
        rows = [row for row, taken in zip(kinds, chosen, strict=True) if taken]
        fit = verdict(of(rows, n), link=link)
        assert isinstance(fit, str) != exists(rows, n)
        if isinstance(fit, str):
            assert accused(fit, rows, n), fit
        else:
            found += 1
            assert np.linalg.norm(slope(fit.theta, rows, link)) <= 1e-8
    assert found == {2: 5, 3: 382}[n] if whole else found > 70


@each("seed", range(40))
def test_existence_on_larger_sets(seed):
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(4, 9)), int(rng.integers(6, 26))
    data = random_data(n, rows, seed=seed, spread=3, ties=0.05)
    fit = verdict(data)
    assert isinstance(fit, str) != exists(rows_of(data), n)
    if isinstance(fit, str):
        assert accused(fit, rows_of(data), n)


def test_refusals_name_the_items():
    with refused("ridge = 0", "items[0] and items[2]", "a ridge above 0"):
        mle(Comparisons([0, 1, 2, 3], [1, 0, 3, 2], [1, 1, 1, 1], "abcd"))
    with refused("ridge = 0", "items[0] and items[1]"):
        mle(Comparisons([], [], [], "abcd"))
    with refused("ridge = 0", "group of items[2]", "no finite estimate"):
        mle(Comparisons([0, 1, 2, 2], [1, 0, 0, 1], [1, 1, 1, 1], "abc"))


def test_a_long_chain_of_wins_takes_no_shortcut():
    """A cycle in an order that no sweep over the items can follow, and the same with one win missing."""
    n, label = 400, np.random.default_rng(13).permutation(400)
    cycle = [(int(label[k]), int(label[(k + 1) % n]), 1.0) for k in range(n)]
    np.testing.assert_allclose(mle(of(cycle, n)).theta, 0, atol=1e-6)
    assert "never" not in (message := verdict(of(cycle[1:], n))) or accused(message, cycle[1:], n)


# --- extremes --------------------------------------------------------------------------------------------------------


def honest(theta, norm, data, link, ridge, linear):
    """The gradient is what it is said to be, and as small as doubles of that size allow."""
    g = gradient(theta, data, link) + ridge * theta + linear
    rounding = 1e-14 * (1 + len(data) + np.linalg.norm(linear) + ridge * np.linalg.norm(theta))
    assert np.isfinite(theta).all()
    assert np.linalg.norm(g) <= 1.001 * norm + 1e-10 + rounding
    highest = hessian(theta, data, link).diagonal().max() + ridge
    return norm <= 1.1e-8 + rounding + 1e-15 * len(theta) * highest * np.linalg.norm(theta)


@LINKS
@each("ridge", [1e-9, 1e-3, 1.0, 1e9])
@each("pull", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.slow
def test_extremes(pull, ridge, link):
    for seed, (n, rows) in enumerate([(2, 1), (2, 50), (5, 3), (8, 40), (30, 40)]):
        data = random_data(n, rows, seed=seed, spread=30)
        linear = pull * np.random.default_rng(seed).laplace(size=n)
        fit = mle(data, link=link, ridge=ridge, linear=linear)
        assert honest(fit.theta, fit.gradient_norm, data, link, ridge, linear)
        if link is LOGISTIC:
            games = Games.of(data)
            table = games.table
            theta, norm = mle_from_counts(table, (games.wins - linear)[None], ridge=ridge)
            assert honest(theta[0], norm[0], data, link, ridge, linear)


def pulled(seed):
    """Data, and a ridge too weak for the noise: plain Newton steps walk from kink to kink or in circles."""
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(20, 400))
    rows = int(n * 10 ** rng.uniform(-0.3, 1.5))
    theta = rng.normal(size=n) * 10 ** rng.uniform(-1, 1)
    first = rng.integers(0, n, rows)
    second = (first + rng.integers(1, n, rows)) % n
    won = rng.random(rows) < special.expit(theta[first] - theta[second])
    data = Comparisons(first, second, won, range(n))
    return data, 10 ** rng.uniform(-5, 0), rng.laplace(size=n) * 10 ** rng.uniform(-1, 2)


@LINKS
@each("seed", [0, 6, 44, 49, 58, 248, 515])
@pytest.mark.slow
def test_strengths_pulled_thousands_apart(seed, link):
    data, ridge, linear = pulled(seed)
    fit = mle(data, link=link, ridge=ridge, linear=linear)
    assert honest(fit.theta, fit.gradient_norm, data, link, ridge, linear)
    assert link is PROBIT or np.ptp(fit.theta) > 1000
    if link is LOGISTIC and seed == 44:
        games = Games.of(data)
        played = [np.zeros((data.n_items,) * 2), games.table]
        wins = np.stack([np.zeros(data.n_items), games.wins - linear])
        theta, norm = mle_from_counts(played, wins, ridge=ridge)
        assert (theta[0] == 0).all()
        np.testing.assert_allclose(theta[1], fit.theta, atol=(norm[1] + fit.gradient_norm) / ridge)


@pytest.mark.parametrize(("seed", "steps"), [(44, 30), (58, 120), (248, 100)])
def test_the_long_way_round_is_not_too_long(seed, steps):
    data, ridge, linear = pulled(seed)
    assert mle(data, ridge=ridge, linear=linear).iterations <= steps


@pytest.mark.parametrize(("share", "link", "steps"), [(0.9, LOGISTIC, 5), (0.1, LOGISTIC, 6), (0.1, PROBIT, 8)])
def test_ordinary_data_need_few_steps(share, link, steps):
    data = sample_erdos_renyi(np.linspace(-1, 1, 200), share, rng=np.random.default_rng(22))
    assert mle(data, link=link, ridge=0.1).iterations <= steps
    games = Games.of(data)
    table = games.table
    _, norm, taken = tables.from_tables(table[None], games.wins[None], 0.1, 1e-8)
    assert norm[0] <= 1e-8
    assert 3 <= taken[0] <= 6


def test_a_champion_whose_odds_underflow():
    """Ridge 1e-9 and a winner who never lost: the gap is log(1 / ridge) and more."""
    fit = mle(of([(0, 1, 1)] * 1000, 2), ridge=1e-9, tolerance=1e-14)
    gap = fit.theta[0] - fit.theta[1]
    assert 1000 * special.expit(-gap) == pytest.approx(1e-9 * gap / 2, rel=1e-3, abs=0)


def test_a_million_repetitions_of_few_pairs():
    data = random_data(5, 1_000_000, seed=14, spread=0.5)
    fit = mle(data)
    assert len(Games.of(data).other) == 10
    assert fit.gradient_norm <= 1e-7
    assert np.linalg.norm(gradient(fit.theta, data)) <= 1e-7


# --- many replicates -------------------------------------------------------------------------------------------------


def replicates(count, n, seed):
    rng = np.random.default_rng(seed)
    data = [random_data(n, int(rng.integers(1, 6 * n)), seed=[seed, r]) for r in range(count)]
    games = [Games.of(d) for d in data]
    played = np.stack([g.table for g in games])
    wins = np.stack([g.wins for g in games]) + rng.laplace(size=(count, n))
    return data, played, wins


def test_a_batch_is_its_replicates():
    data, played, wins = replicates(30, 12, seed=15)
    theta, norm = mle_from_counts(played, wins, ridge=0.05)
    assert theta.shape == (30, 12)
    assert (norm <= 1.01e-8).all()
    for r, rows in enumerate(data):
        fit = mle(rows, ridge=0.05, wins=wins[r])
        assert np.linalg.norm(theta[r] - fit.theta) <= (norm[r] + fit.gradient_norm) / 0.05


def test_a_batch_in_any_order_and_in_parts():
    _, played, wins = replicates(40, 9, seed=16)
    # hard ones among them, which take another way
    wins[::7] *= 1e4
    whole, norm = mle_from_counts(played, wins, ridge=1e-3)
    order = np.random.default_rng(17).permutation(40)
    shuffled, its = mle_from_counts(played[order], wins[order], ridge=1e-3)
    np.testing.assert_array_equal(shuffled, whole[order])
    np.testing.assert_array_equal(its, norm[order])
    parts = [mle_from_counts(played[r : r + 1], wins[r : r + 1], ridge=1e-3)[0][0] for r in range(40)]
    np.testing.assert_array_equal(parts, whole)


def test_one_table_serves_all():
    _, played, wins = replicates(6, 9, seed=18)
    one, _ = mle_from_counts(played[0], wins, ridge=0.1)
    other, _ = mle_from_counts(np.repeat(played[:1].astype(int), 6, axis=0), wins, ridge=0.1)
    np.testing.assert_array_equal(one, other)
    assert mle_from_counts(played[0], wins[:0], ridge=0.1)[0].shape == (0, 9)


def test_input_is_left_alone():
    data, played, wins = replicates(3, 6, seed=19)
    linear, tables, before = np.ones(6), played.copy(), wins.copy()
    mle_from_counts(played, wins, ridge=0.1)
    mle(data[0], ridge=0.1, linear=linear)
    np.testing.assert_array_equal(played, tables)
    np.testing.assert_array_equal(wins, before)
    assert (linear == 1).all()


# --- refusals --------------------------------------------------------------------------------------------------------

DATA = Comparisons([0, 1, 2], [1, 2, 0], [1, 1, 0.5], "abc")


@each(
    ("parameters", "words"),
    [
        ({"ridge": -1.0}, ["ridge = -1.0", "at least 0"]),
        ({"ridge": math.nan}, ["ridge = nan"]),
        ({"ridge": math.inf}, ["ridge = inf", "finite"]),
        ({"linear": [1.0, 2, 3]}, ["ridge = 0", "linear"]),
        ({"ridge": 1.0, "linear": [1.0, 2]}, ["linear", "(2,)", "3 numbers"]),
        ({"ridge": 1.0, "linear": [[1.0, 2, 3]]}, ["linear", "(1, 3)", "3 numbers"]),
        ({"ridge": 1.0, "linear": [1.0, math.nan, 3]}, ["linear[1]"]),
        ({"ridge": 1.0, "wins": [1.0, 2, math.inf]}, ["wins[2]"]),
        ({"ridge": 1.0, "wins": [1.0, 2]}, ["wins", "(2,)", "3 numbers"]),
        ({"wins": [1.0, 2, 3]}, ["wins", "ridge = 0"]),
        ({"ridge": 1.0, "wins": [1.0, 2, 3], "link": ARCTAN}, ["wins", "link = 'arctan'", "logistic"]),
        ({"ridge": 1.0, "tolerance": 0.0}, ["tolerance = 0.0", "above 0"]),
        ({"ridge": 1.0, "tolerance": math.nan}, ["tolerance = nan"]),
        ({"ridge": 1.0, "tolerance": math.inf}, ["tolerance = inf"]),
    ],
)
def test_mle_refuses(parameters, words):
    with refused(*words):
        mle(DATA, **parameters)


@each(
    ("rows", "words"),
    [
        (lambda: Comparisons([0], [0], [1], "ab"), ["second[0]", "differ"]),
        (lambda: Comparisons([0], [2], [1], "ab"), ["second[0]", "0 .. 1"]),
        (lambda: Comparisons([0], [1], [2], "ab"), ["outcome[0]"]),
        (lambda: Comparisons([0], [1], [math.nan], "ab"), ["outcome[0]"]),
        (lambda: Comparisons([0], [1], [0.7], "ab"), ["outcome[0]"]),
        (lambda: Comparisons([], [], [], "a"), ["items", "at least two"]),
    ],
)
def test_such_data_never_reach_the_likelihood(rows, words):
    with refused(*words):
        mle(rows(), ridge=1.0)


@pytest.mark.parametrize("function", [log_likelihood, gradient, hessian])
def test_strengths_are_checked(function):
    with refused("theta", "(2,)", "3 numbers"):
        function([1.0, 2.0], DATA)
    with refused("theta[2]"):
        function([1.0, 2.0, math.nan], DATA)


ONES = np.ones((3, 3)) - np.eye(3)


@each(
    ("played", "wins", "parameters", "words"),
    [
        (ONES, np.ones(3), {}, ["wins", "(3,)", "one row a replicate"]),
        (ONES, np.ones((2, 1)), {}, ["wins", "(2, 1)", "two items"]),
        (ONES, [[1.0, math.nan, 1]], {}, ["wins[0, 1]"]),
        (ONES, np.ones((2, 4)), {}, ["played", "(1, 3, 3)", "(4, 4)"]),
        ([ONES] * 3, np.ones((2, 3)), {}, ["played", "(3, 3, 3)", "2 replicates"]),
        (np.ones(3), np.ones((1, 3)), {}, ["played", "(3,)"]),
        ([[ONES]], np.ones((1, 3)), {}, ["played", "(1, 1, 3, 3)"]),
        ([ONES, -ONES], np.ones((2, 3)), {}, ["played[1, 0, 1]"]),
        (ONES * math.nan, np.ones((1, 3)), {}, ["played[0, 0, 0]"]),
        (ONES * 2.0**25, np.ones((1, 3)), {}, ["played[0, 0, 1]", "16777216"]),
        (ONES * 1e300, np.ones((1, 3)), {}, ["played[0, 0, 1]"]),
        ((-ONES).astype(np.float32), np.ones((1, 3)), {}, ["played[0, 0, 1]"]),
        (np.full((3, 3), np.nan, np.float32), np.ones((1, 3)), {}, ["played[0, 0, 0]"]),
        ([ONES, np.triu(ONES)], np.ones((2, 3)), {}, ["played[1]", "not symmetric"]),
        (np.ones((3, 3)), np.ones((4, 3)), {}, ["played[0]", "diagonal 0"]),
        (ONES, np.ones((1, 3)), {"ridge": 0.0}, ["ridge = 0"]),
        (ONES, np.ones((1, 3)), {"ridge": math.nan}, ["ridge = nan"]),
        (ONES, np.ones((1, 3)), {"tolerance": -1.0}, ["tolerance = -1.0"]),
        (ONES, np.ones((1, 3)), {"tolerance": math.nan}, ["tolerance = nan"]),
    ],
)
def test_a_batch_refuses(played, wins, parameters, words):
    with refused(*words):
        mle_from_counts(played, wins, **({"ridge": 1.0} | parameters))


def test_a_gradient_that_stays_is_an_error(monkeypatch):
    monkeypatch.setattr(newton, "NEWTON_STEPS", 1)
    data = sample_voters(np.linspace(-3, 3, 60), 100, 1, rng=np.random.default_rng(0))
    with pytest.raises(ArithmeticError, match=r"gradient norm stays above tolerance = 1e-08"):
        mle(data, ridge=1e-3)
    _, played, wins = replicates(2, 200, seed=21)
    wins[0], wins[1] = played[0].sum(axis=1) / 2, wins[1] + 30 * np.random.default_rng(0).laplace(size=200)
    with pytest.raises(ArithmeticError, match=r"replicate 1: the gradient norm stays above"):
        mle_from_counts(played, wins, ridge=1e-5)


def test_an_erdos_renyi_sample_recovers_its_strengths():
    theta = np.linspace(-1, 1, 400)
    fit = mle(sample_erdos_renyi(theta, 0.5, rng=np.random.default_rng(20)))
    assert np.abs(fit.theta - theta).max() < 0.8
    assert np.sqrt(np.mean((fit.theta - theta) ** 2)) < 0.2
