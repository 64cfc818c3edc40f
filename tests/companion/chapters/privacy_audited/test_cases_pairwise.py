"""Laws by enumeration, by derivative and by quadrature; ROUNDING is relative, INTEGRATED the error of a coarse rule.

Draws have fixed seeds; ALARM is the chance that one test of a right mechanism was unlucky.
"""

from dataclasses import replace
from functools import cache
from itertools import chain, combinations, product

import numpy as np
import pytest
from checks import HARDLY, each, refused
from scipy import stats

from companion.chapters.privacy_audited.cases.pairwise import cases, comparisons, worst_flip, worst_neighbours
from dprank.audit.neighbours import ComparisonNeighbours
from dprank.data.counting import GRAIN, pairwise_wins, win_counts
from dprank.models.bradley_terry import ARCTAN, LOGISTIC
from dprank.models.likelihood import gradient
from dprank.pairwise import NoisyCounts, PerturbedMLE, objective_loss
from dprank.pairwise.laws import FAR, Densities, estimates, log_density
from dprank.privacy.divergence import pair_of
from dprank.privacy.laws import NoExactRoute, exact, features, sample

#: The graph is part of what is protected, one comparison at a time.
SECRET = {"graph": "private", "unit": "comparison", "law": "continuous"}
ROUNDING = 1e-9
INTEGRATED = 2e-3
ALARM = 1e-6

LINKS = pytest.mark.parametrize("link", [LOGISTIC, ARCTAN], ids=lambda link: link.name)
EPSILONS = np.array([0.0, 0.2, 0.6, 0.9])


@cache
def named(words):
    return next(case for case in cases() if case.name.endswith(words))


@each("score", ["wins", "half", "net"])
def test_counts_against_all_outcomes(score):
    mechanism = NoisyCounts(2, 0.9, per_person=2, score=score)
    data, other = (comparisons(rows, 2) for rows in ([(0, 1, 1.0), (0, 1, 0.5)], [(0, 1, 0.0)]))
    grain = GRAIN[score]
    line = np.arange(-60, 61) * grain
    laws = []
    for d in (data, other):
        one, two = (np.exp(-np.abs(line - count) / mechanism.scale) for count in win_counts(d, score))
        laws.append(np.outer(one / one.sum(), two / two.sum()).ravel())
    brute, found = pair_of(*laws), exact(mechanism, data, other)
    assert found.epsilon(0.0) == pytest.approx(brute.epsilon(0.0), rel=ROUNDING)
    np.testing.assert_allclose(found.delta(EPSILONS), brute.delta(EPSILONS), atol=ROUNDING)
    # finer and finer grains make the line
    fine = exact(replace(mechanism, law="continuous"), data, other)
    assert fine.epsilon(0.0) == pytest.approx(found.epsilon(0.0), rel=ROUNDING)
    assert (fine.delta(EPSILONS) != found.delta(EPSILONS)).all()


LISTED = [
    "one comparison, replace, discrete",
    "half wins of 2 answers, replace, discrete",
    "complete without ties, replace, discrete",
    "complete, add/remove, discrete",
    "one comparison, add/remove, continuous",
]


@each("words", LISTED)
@pytest.mark.slow
def test_no_neighbours_lose_more_than_the_stored_ones(words):
    """Every sheet of one voter, changed in every way."""
    case = named(words)
    m = case.mechanism
    around = ComparisonNeighbours(m.unit, m.adjacency, m.per_person, m.design, m.ties)
    sheets = [comparisons(sheet, m.n_items) for sheet in around.sheets(m.n_items)]
    tried, losses = 0, {}
    for data, other in ((one, another) for one in sheets for another in around.all(one)):
        counts = tuple(win_counts(it, m.score).tobytes() for it in (data, other))
        if counts not in losses:  # all that the release is made of
            losses[counts] = exact(m, data, other).epsilon(0.0)
        tried += 1
    assert tried >= len(sheets) - 1
    assert max(losses.values()) == pytest.approx(case.exact_epsilon(), rel=ROUNDING)


ROWS = [(0, 1, 1.0), (0, 1, 0.5), (2, 1, 1.0), (0, 2, 0.0)]


@LINKS
def test_density_against_derivatives_of_the_noise(link):
    data, scale, ridge, step = comparisons(ROWS, 3), 1.3, 0.4, 1e-5

    def noise_at(t):
        return -gradient(t, data, link) - ridge * t

    for t in np.random.default_rng(72).normal(scale=2, size=(5, 3)):
        jacobian = np.array([(noise_at(t + e) - noise_at(t - e)) / (2 * step) for e in step * np.eye(3)])
        density = np.log(abs(np.linalg.det(jacobian))) + stats.laplace(scale=scale).logpdf(noise_at(t)).sum()
        assert log_density(t, data, scale, ridge, link) == pytest.approx(density, rel=1e-7)


@LINKS
@pytest.mark.parametrize("scale", [0.5, 30.0])
def test_estimates_are_where_the_gradient_vanishes(link, scale):
    data, ridge = comparisons(ROWS, 3), 0.05
    drawn = np.random.default_rng(73).laplace(scale=scale, size=(300, 3))
    for t, w in zip(estimates(drawn, data, ridge, link), drawn, strict=True):
        assert np.abs(gradient(t, data, link) + ridge * t + w).max() < 1e-9 * (1 + np.abs(w).max())


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.slow
def test_quadrature_and_search_agree_with_noisy_counts_on_one_graph(n):
    """Where nothing but an outcome differs the estimate and the counts determine each other."""
    mechanism = PerturbedMLE(n, 2.0, 0.7, **SECRET)
    data, other = (comparisons([*ROWS[: n - 2], (0, 1, y)], n) for y in (1.0, 0.0))
    density, counts = Densities(mechanism, data, other), exact(mechanism, data, other)
    assert not isinstance(counts, Densities)
    assert density.epsilon(0.0) == pytest.approx(counts.epsilon(0.0), rel=ROUNDING)
    np.testing.assert_allclose(density.delta(EPSILONS), counts.delta(EPSILONS), atol=INTEGRATED)
    assert density.epsilon(0.1) == pytest.approx(counts.epsilon(0.1), abs=2 * INTEGRATED)


@pytest.mark.parametrize("n", [2, 3])
@LINKS
@pytest.mark.slow
def test_both_laws_have_mass_one(n, link):
    mechanism = PerturbedMLE(n, 2.0, 0.7, link=link, **SECRET)
    rows = [(0, 1, 1.0)], ([(1, 2, 1.0)] if n == 3 else [(0, 1, 0.0)])
    law = Densities(mechanism, *(comparisons(row, n) for row in rows)).law()
    assert np.exp(law.log_p).sum() == pytest.approx(1, abs=ROUNDING)
    assert np.exp(law.log_q).sum() == pytest.approx(1, abs=INTEGRATED)


@LINKS
@pytest.mark.slow
def test_the_density_is_that_of_the_releases(link):
    """Probability of an event on other pairs, by the weights of the quadrature and by draws."""
    mechanism = PerturbedMLE(3, 2.0, 0.7, link=link, **SECRET)
    data, other = comparisons([(0, 1, 1.0)], 3), comparisons([(1, 2, 1.0)], 3)
    epsilon = 0.4
    ratio = Densities(mechanism, data, other).log_ratio
    drawn = [sample(mechanism, d, 40_000, np.random.default_rng(74))[:, 3:] for d in (data, other)]
    share = [(ratio(rows) > epsilon).mean() for rows in drawn]
    law = Densities(mechanism, data, other).law()
    above = law.log_p - law.log_q > epsilon
    for found, log_law in zip(share, (law.log_p, law.log_q), strict=True):
        # five deviations of the draws, and the error of a rule that does not see where the event ends
        assert found == pytest.approx(np.exp(log_law[above]).sum(), abs=5 * 0.5 / 200 + 0.005)


@LINKS
@each(("scale", "ridge"), [(8.0, 1.0), (1.6, 0.2), (0.5, 3.0)])
@pytest.mark.slow
def test_the_search_meets_the_closed_form(scale, ridge, link):
    """Four items that may meet again and again are enough for the worst case of any number."""
    data, other, output = worst_neighbours(scale, ridge, link=link, repeats=True)
    density = Densities(PerturbedMLE(4, scale, ridge, link=link, **SECRET), data, other)
    closed = objective_loss(scale, ridge, link=link)
    assert density.epsilon(0.0) == pytest.approx(closed, rel=2 * ROUNDING)
    assert abs(float(density.log_ratio(output))) == pytest.approx(closed, rel=1e-6)


@each(("scale", "ridge"), [(8.0, 1.0), (1.6, 0.2), (0.5, 3.0)])
@pytest.mark.slow
def test_a_flip_on_a_public_graph_meets_the_closed_form(scale, ridge):
    """That is raised by 1e-4; the bound before it, of both terms at their worst, is nowhere met."""
    data, other, output = worst_flip(scale, ridge, ARCTAN)
    mechanism = PerturbedMLE(4, scale, ridge, **SECRET | {"graph": "public", "link": ARCTAN})
    density, closed = exact(mechanism, data, other), mechanism.guarantee.epsilon
    assert 0.9998 * closed < abs(float(density.log_ratio(output))) <= density.epsilon(0.0) <= closed
    assert 2 * ARCTAN.kappa_1 / scale + np.log1p(2 * ARCTAN.kappa_2 / ridge) > 1.04 * closed


@each("words", ["calibrated, three items", "2 answers", "calibrated, arctan", "public graph, arctan"])
@pytest.mark.slow
def test_no_random_output_is_worse_than_the_one_found(words):
    case = named(words)
    density = exact(case.mechanism, case.data, case.other)
    rng, n = np.random.default_rng(75), case.mechanism.n_items
    somewhere = rng.normal(size=(2_000, n)) * np.exp(rng.uniform(-2, np.log(FAR), (2_000, 1)))
    assert np.abs(density.log_ratio(somewhere)).max() <= density.epsilon(0.0) * (1 + ROUNDING)


def games(n):
    """All data of 1 to n - 1 decided comparisons, no pair twice."""
    pairs = [[(*pair, y) for y in (1.0, 0.0)] for pair in combinations(range(n), 2)]
    chosen = chain(*(combinations(pairs, size) for size in range(1, n)))
    return [comparisons(rows, n) for some in chosen for rows in product(*some)]


@each(("words", "share"), [("calibrated, three items", 1.0), ("public graph, arctan", 0.75)])
@pytest.mark.slow
def test_all_edge_neighbours_of_two_and_three_items(words, share):
    """The data of Cai et al. (2025), with at most one comparison a pair; the order of the rows says nothing.

    On a public graph two items more, far away, lose more.
    """
    case, losses, around = named(words), {}, ComparisonNeighbours(design="once")
    for n in (2, 3):
        mechanism = replace(case.mechanism, n_items=n)
        for data, other in ((one, two) for one in games(n) for two in around.all(one)):
            wins = [pairwise_wins(d) for d in (data, other)]
            pair, graphs = frozenset(w.tobytes() for w in wins), [w + w.T for w in wins]
            if pair not in losses and (mechanism.graph == "private" or (graphs[0] == graphs[1]).all()):
                losses[pair] = exact(mechanism, data, other).epsilon(0.0)
    assert share * (1 - 1e-8) * case.exact_epsilon() <= max(losses.values()) <= case.exact_epsilon() * (1 + 1e-8)
    assert max(losses.values()) <= case.mechanism.guarantee.epsilon


DRAWN = [
    "one comparison, replace, discrete",
    "net of 2 answers, add/remove, continuous",
    "calibrated, three items",
    "calibrated, arctan",
    "public graph, discrete",
]


@each("words", DRAWN)
def test_one_draw_is_the_release_of_its_seed_and_orders_are_those_of_the_scores(words):
    case = named(words)
    n = case.mechanism.n_items
    released = case.mechanism.release(case.data, np.random.default_rng(78)).scores
    one, rows = (sample(case.mechanism, case.data, size, np.random.default_rng(78)) for size in (1, 500))
    # a release centres its strengths, and the laws of the audit leave them as they are
    middle = one[0, n:].mean() if isinstance(case.mechanism, PerturbedMLE) else 0
    np.testing.assert_allclose(one[0, n:] - middle, released, atol=1e-6)
    order, scores = rows[:, :n].astype(int), rows[:, n:]
    assert (np.sort(order, axis=1) == np.arange(n)).all()
    assert (np.diff(np.take_along_axis(scores, order, axis=1), axis=1) <= 0).all()


def test_equal_scores_come_in_random_order():
    rows = sample(NoisyCounts(2, HARDLY), comparisons([], 2), 4000, np.random.default_rng(80))
    assert stats.binomtest(int(rows[:, 0].sum()), 4000).pvalue > ALARM


def test_features_are_all_that_is_published():
    result = NoisyCounts(2, HARDLY, score="wins").release(comparisons([(1, 0, 1.0)], 2), np.random.default_rng(0))
    assert features(result).tolist() == [1, 0, 0, 1]


def test_other_pairs_are_no_neighbours_on_a_public_graph():
    mechanism = PerturbedMLE(3, 2.0, 0.7, **SECRET | {"graph": "public"})
    with refused("other compares other pairs", "graph = 'public'"):
        exact(mechanism, comparisons([(0, 1, 1.0)], 3), comparisons([(1, 2, 1.0)], 3))


def test_a_curve_is_integrated_for_few_items_only():
    data, other, _ = worst_neighbours(2.0, 1.0, repeats=True)
    with pytest.raises(NoExactRoute, match="n_items = 4"):
        exact(PerturbedMLE(4, 2.0, 1.0, **SECRET), data, other).delta(0.5)
