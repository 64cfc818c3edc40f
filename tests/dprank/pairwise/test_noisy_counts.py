"""Sensitivities and losses exactly; ROUNDING is the relative error of a sum of logarithms. Audits draw with fixed
seeds and certify an epsilon that is too high with chance ALARM: what the mechanism keeps and every mutant breaks."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import chain, combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from checks import HARDLY, bound_once, certified_epsilon, each, law_p_value, refused
from scipy import stats
from scipy.spatial.distance import cdist

from dprank.audit import privacy_loss
from dprank.data.comparisons import Comparisons
from dprank.data.counting import GRAIN
from dprank.pairwise import NoisyCounts, PerturbedMLE, l1_sensitivity, rank_law, top_set_law
from dprank.privacy import noise
from dprank.privacy.discrete_gaussian import Answers, smoothed_epsilon
from dprank.privacy.gaussian import zcdp

ROUNDING = 1e-11
ALARM = 1e-6
DRAWS = 50_000

SCORE = each("score", ["wins", "half", "net"])
TIES = each("ties", [True, False])
ADJACENCY = each("adjacency", ["replace", "add_remove"])
LAW = each("law", ["discrete", "continuous"])


# --- sensitivity ----------------------------------------------------------------------------------------------------


def gain(x, score):
    return {"wins": float(x == 1), "half": x, "net": 2 * x - 1}[score]


@cache
def sheets(n, answers, score, design, ties):
    """The scores that one voter can give: those of every sheet of answers the design allows."""
    add = {}
    for i, j in combinations(range(n), 2):
        for x in (0, 0.5, 1) if ties else (0, 1):
            vector = np.zeros(n)
            vector[i], vector[j] = gain(x, score), gain(1 - x, score)
            add.setdefault((i, j), []).append((1, *vector))
    if design == "any":
        rounds = [[(0,) * (n + 1), *chain(*add.values())]] * answers
    else:
        rounds = [[(0,) * (n + 1), *options] for options in add.values()]
    reached = {(0,) * (n + 1)}
    for options in rounds:
        reached = {tuple(map(sum, zip(a, b, strict=True))) for a in reached for b in options}
    return np.array(sorted({v[1:] for v in reached if v[0] <= answers and (design != "complete" or v[0] == answers)}))


def worst(n, answers, score, design, ties, adjacency):
    """The two neighbours farthest apart, and how far that is."""
    one = sheets(n, answers, score, design, ties)
    other = np.zeros((1, n)) if adjacency == "add_remove" else one
    distance = cdist(one, other, "cityblock")
    a, b = np.unravel_index(distance.argmax(), distance.shape)
    return one[a], other[b], distance.max()


DESIGNS = [(n, "any", answers) for n in (2, 3) for answers in (1, 2, 3)]
DESIGNS += [(n, "once", answers) for n in (2, 3, 4) for answers in range(1, math.comb(n, 2) + 1)]
DESIGNS += [(n, "complete", math.comb(n, 2)) for n in (2, 3, 4)]


@SCORE
@TIES
@ADJACENCY
@each(("n", "design", "answers"), DESIGNS)
def test_sensitivity_is_the_most_that_any_two_sheets_differ(n, design, answers, score, ties, adjacency):
    claimed = l1_sensitivity(n, answers, score=score, design=design, ties=ties, adjacency=adjacency)
    assert worst(n, answers, score, design, ties, adjacency)[2] == claimed


@pytest.mark.parametrize(
    ("expected", "parameters"),
    [
        (30, {"score": "wins", "design": "any"}),
        (24, {"score": "wins", "design": "once"}),
        (24, {"score": "wins", "design": "complete"}),
        (18, {"score": "wins", "design": "complete", "ties": False}),
        (36, {"score": "net", "design": "complete"}),
    ],
)
def test_sensitivity_of_the_cems_survey(expected, parameters):
    """Six schools, fifteen questions."""
    assert l1_sensitivity(6, 15, **parameters) == expected


@SCORE
@TIES
@ADJACENCY
@pytest.mark.slow
def test_one_comparison_flipped_moved_added_or_removed(score, ties, adjacency):
    outcomes = (0, 0.5, 1) if ties else (0, 1)
    rows = [(i, j, x) for i in range(4) for j in range(4) if i != j for x in outcomes]
    base = [rows[k] for k in np.random.default_rng(0).integers(0, len(rows), 6)] + [(0, 1, 1)]
    mechanism = NoisyCounts(4, HARDLY, unit="comparison", score=score, ties=ties, adjacency=adjacency)

    def count(data):
        return mechanism.release(Comparisons(*zip(*data, strict=True), "abcd"), np.random.default_rng(0)).scores

    if adjacency == "add_remove":
        neighbours = [[*base, row] for row in rows] + [base[:k] + base[k + 1 :] for k in range(len(base))]
    else:
        neighbours = [[*base[:k], row, *base[k + 1 :]] for k in range(len(base)) for row in rows]
    farthest = max(np.abs(count(data) - count(base)).sum() for data in neighbours)
    assert farthest == mechanism.sensitivity == l1_sensitivity(4, 1, score=score, ties=ties, adjacency=adjacency)


@SCORE
@each(("design", "answers"), [("any", 2), ("once", 2), ("complete", 3)])
def test_one_voter_rewritten_in_all_ways(design, answers, score):
    """Through the door, the counts and the order: every data set of the design is accepted."""
    pairs = list(combinations(range(3), 2))
    questions = product(pairs, repeat=answers) if design == "any" else combinations(pairs, answers)
    written = [list(zip(q, x, strict=True)) for q in questions for x in product((0, 0.5, 1), repeat=answers)]
    written += [[]] if design != "complete" else []
    others = [((0, 1), 1), ((0, 2), 0.5), ((1, 2), 0)][:answers]
    mechanism = NoisyCounts(3, HARDLY, per_person=answers, design=design, score=score)
    vectors = []
    for sheet in written:
        rows = [(4, *pair, x) for pair, x in others] + [(9, *pair, x) for pair, x in sheet]
        voter, first, second, outcome = zip(*rows, strict=True)
        data = Comparisons(first, second, outcome, "abc", voter)
        released = mechanism.release(data, np.random.default_rng(0))
        assert (np.diff(released.scores[released.order]) <= 0).all()
        vectors.append(released.scores)
    assert cdist(vectors, vectors, "cityblock").max() == mechanism.sensitivity


# --- guarantee ------------------------------------------------------------------------------------------------------


def cuts(vectors, grain):
    return np.arange(np.min(vectors), np.max(vectors) + grain, grain)


def law_of_cells(mechanism, scores, at):
    """Law of the noisy vector, told only between which cuts each entry falls: exact, and enough for the whole loss."""
    gaps = at - np.asarray(scores)[:, None]
    if mechanism.law == "continuous":
        cdf = stats.laplace.cdf(gaps / mechanism.scale)
    else:
        grain = GRAIN[mechanism.score]
        cdf = stats.dlaplace.cdf(np.rint(gaps / grain), grain / mechanism.scale)
    return reduce(np.multiply.outer, np.diff(cdf, prepend=0, append=1)).ravel()


def cells(noisy, at):
    """Counts of the same cells in draws of the vector."""
    code = np.searchsorted(at, noisy, side="left")
    size = (len(at) + 1,) * noisy.shape[1]
    return np.bincount(np.ravel_multi_index(tuple(code.T), size), minlength=math.prod(size))


CASES = [
    (2, {"unit": "comparison", "score": "wins"}),
    (2, {"per_person": 3, "score": "half"}),
    (3, {"per_person": 2, "score": "wins", "adjacency": "add_remove"}),
    (3, {"per_person": 3, "score": "wins", "design": "complete"}),
    (3, {"per_person": 3, "score": "half", "design": "complete", "ties": False}),
    (3, {"per_person": 2, "score": "net", "design": "once"}),
]


def neighbours(mechanism):
    m = mechanism
    s, t, _ = worst(m.n_items, m.per_person, m.score, m.design, m.ties, m.adjacency)
    return s, t, cuts([s, t], GRAIN[m.score])


@LAW
@each("epsilon", [0.3, 2.0])
@each(("n", "parameters"), CASES)
def test_guarantee_is_the_exact_loss_of_the_worst_neighbours(n, parameters, epsilon, law):
    mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=n, law=law, **parameters)
    s, t, at = neighbours(mechanism)
    loss = privacy_loss(law_of_cells(mechanism, s, at), law_of_cells(mechanism, t, at))
    assert loss == pytest.approx(mechanism.guarantee.epsilon, rel=ROUNDING)
    assert mechanism.guarantee.epsilon == pytest.approx(epsilon, rel=ROUNDING)


@LAW
@each(("n", "parameters"), CASES)
def test_no_neighbours_lose_more_and_orders_lose_less(n, parameters, law):
    mechanism = NoisyCounts.calibrated(epsilon=1.0, n_items=n, law=law, **parameters)
    grain, limit = GRAIN[mechanism.score], mechanism.guarantee.epsilon * (1 + ROUNDING)
    vectors = sheets(n, mechanism.per_person, mechanism.score, mechanism.design, mechanism.ties)
    others = vectors[:1] * 0 if mechanism.adjacency == "add_remove" else vectors
    at = cuts([*vectors, *others], grain)
    whole = [[law_of_cells(mechanism, s, at) for s in side] for side in (vectors[::5], others)]
    top = [
        [list(top_set_law(s, mechanism.scale, 1, law, grain).values()) for s in side] for side in (vectors[::5], others)
    ]
    for laws in (whole, top):
        assert max(privacy_loss(p, q) for p, q in product(*laws)) <= limit


@LAW
@each(("n", "parameters"), CASES)
def test_draws_have_the_exact_joint_law_and_audits_find_epsilon(n, parameters, law):
    mechanism = NoisyCounts.calibrated(epsilon=1.5, n_items=n, law=law, **parameters)
    s, t, at = neighbours(mechanism)
    rng = np.random.default_rng(31)
    drawn = [cells(mechanism.perturb(scores, rng, DRAWS), at) for scores in (s, t)]
    for counts, scores in zip(drawn, (s, t), strict=True):
        assert law_p_value(counts, law_of_cells(mechanism, scores, at)) > ALARM
        assert law_p_value(counts, law_of_cells(replace(mechanism, scale=1.1 * mechanism.scale), scores, at)) < ALARM
    assert 1.1 < certified_epsilon(*drawn, ALARM) <= mechanism.guarantee.epsilon


def noisy(mechanism, scores, rng, scale=None):
    return replace(mechanism, scale=scale or mechanism.scale).perturb(scores, rng, DRAWS)


def on_first(mechanism, scores, rng):
    return np.column_stack([noisy(mechanism, scores, rng)[:, :2], np.full(DRAWS, scores[2])])


MUTANTS = {
    "half the noise": lambda m, s, rng: noisy(m, s, rng, m.scale / 2),
    "answers for a sensitivity": lambda m, s, rng: noisy(m, s, rng, m.per_person / m.guarantee.epsilon),
    "ties forgotten": lambda m, s, rng: noisy(m, s, rng, replace(m, ties=False).sensitivity / m.guarantee.epsilon),
    "removal for replacement": lambda m, s, rng: noisy(
        m, s, rng, replace(m, adjacency="add_remove").sensitivity / m.guarantee.epsilon
    ),
    "one item without noise": on_first,
    "one draw for all items": lambda m, s, rng: s + noisy(m, s, rng)[:, :1] - s[0],
    "clipped noise": lambda m, s, rng: s + np.clip(noisy(m, s, rng) - s, -1, 1),
    "noise on positive counts only": lambda m, s, rng: np.where(s > 0, noisy(m, s, rng), s),
    "noise never negative": lambda m, s, rng: s + np.abs(noisy(m, s, rng) - s),
}


@LAW
@each("mutant", MUTANTS)
def test_a_broken_mechanism_is_caught(mutant, law):
    mechanism = NoisyCounts.calibrated(epsilon=2.0, n_items=3, per_person=3, score="wins", design="complete", law=law)
    s, t, at = neighbours(mechanism)
    assert (mechanism.sensitivity, replace(mechanism, ties=False).sensitivity) == (5, 4)
    rng = np.random.default_rng(32)
    drawn = [cells(MUTANTS[mutant](mechanism, scores, rng), at) for scores in (s, t)]
    assert certified_epsilon(*drawn, ALARM) > mechanism.guarantee.epsilon


@pytest.mark.slow
def test_calibrated_never_promises_more_than_it_was_asked():
    rng = np.random.default_rng(34)
    epsilons = np.exp(rng.uniform(-20, 20, 3000)).tolist()
    for epsilon, answers in zip(epsilons, rng.integers(1, 50, 3000).tolist(), strict=True):
        mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=5, per_person=answers, score="wins")
        assert Fraction(mechanism.sensitivity) / Fraction(mechanism.scale) <= Fraction(mechanism.guarantee.epsilon)
        assert epsilon * (1 - 4e-16) <= mechanism.guarantee.epsilon <= epsilon


@LAW
@each("score", ["wins", "net"])
@each("epsilon", [0.1, 1.0, 6.0])
def test_with_a_delta_no_less_noise_would_do(law, score, epsilon):
    made = NoisyCounts.calibrated(epsilon=epsilon, delta=1e-6, n_items=5, per_person=4, score=score, law=law)
    assert made.noise == "gaussian"
    assert made.guarantee.epsilon <= epsilon
    assert replace(made, scale=made.scale * (1 - 1e-6)).guarantee.epsilon > epsilon


def test_without_noise_there_is_no_mechanism():
    with refused("epsilon = inf", "finite"):
        NoisyCounts.calibrated(epsilon=math.inf, per_person=1, n_items=3)
    for scale in (0, 0.0, np.uint8(0), 5e-324):
        with refused("scale = "):
            NoisyCounts(3, scale)


@each("n_items", range(2, 13))
def test_sensitivity_is_the_largest_over_all_sign_vectors(n_items):
    """As the notes say, with every number of plus signs; every sheet is listed up to four items above."""
    pairs = math.comb(n_items, 2)
    designs = [("complete", pairs), *(("once", answers) for answers in range(1, pairs + 1)), ("any", 7)]
    for (design, answers), score, ties in product(designs, ("wins", "half", "net"), (True, False)):
        both = [most(plus, n_items - plus, score, design, ties, answers) for plus in range(n_items + 1)]
        promise = {"score": score, "design": design, "ties": ties}
        assert l1_sensitivity(n_items, answers, **promise) == max(map(sum, zip(both, both[::-1], strict=True)))
        assert l1_sensitivity(n_items, answers, adjacency="add_remove", **promise) == max(both)


def most(plus, minus, score, design, ties, answers):
    """What one sheet can add to the scores of some items, less those of the others: pair by pair."""
    worth = []
    for signs, count in (((1, -1), plus * minus), ((1, 1), math.comb(plus, 2)), ((-1, -1), math.comb(minus, 2))):
        win, tie = {"wins": (1, 0), "half": (1, 0.5), "net": (1, 0)}[score]
        loss = -1 if score == "net" else 0
        answered = [win * a + loss * b for a, b in (signs, signs[::-1])] + [tie * sum(signs)] * ties
        worth += [max(answered)] * count
    if design == "complete":
        return sum(worth)
    best = sorted((w for w in worth if w > 0), reverse=True)
    return answers * max(best, default=0) if design == "any" else sum(best[:answers])


def test_any_number_of_items_takes_no_time():
    mechanism = NoisyCounts.calibrated(epsilon=1.0, per_person=1, n_items=10**9)
    assert (mechanism.sensitivity, mechanism.scale) == (4, 4.0)
    most = NoisyCounts.calibrated(epsilon=1.0, n_items=10**9, per_person=10**14, design="once")
    assert most.sensitivity == 4 * 10**14
    with refused("noise of scale 4e+15 would be needed"):
        NoisyCounts.calibrated(epsilon=1.0, n_items=10**9, per_person=10**15, design="once")


@pytest.mark.parametrize("width", [np.uint8, np.int8, np.uint16, np.int16])
def test_small_integers_of_numpy_do_not_wrap(width):
    """Of `per_person`, uint8(64) gave scale 0 and so the exact scores, and 200 a promise of 1 for a loss of 25."""
    for answers in (64, 100, int(np.iinfo(width).max)):
        given = NoisyCounts.calibrated(epsilon=0.5, n_items=3, per_person=width(answers))
        assert given == NoisyCounts.calibrated(epsilon=0.5, n_items=3, per_person=answers)
        assert (type(given.per_person), type(given.n_items), type(given.scale)) == (int, int, float)
        assert given.scale == 4 * answers / 0.5


@pytest.mark.parametrize("epsilon", [5e-324, 1e-320])
def test_an_epsilon_beyond_all_noise_is_refused(epsilon):
    for kind in ("laplace", "conditioned", "cube"):
        with refused("epsilon = ", "no finite noise is that private"):
            NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=3, noise=kind)


# --- release --------------------------------------------------------------------------------------------------------

DATA = Comparisons([0, 0, 1, 0, 2, 1], [1, 2, 2, 1, 0, 2], [1, 1, 0.5, 0, 0, 1], "abc", [1, 1, 1, 2, 2, 2])


@LAW
@SCORE
def test_release_is_reproducible_and_sorted(score, law):
    mechanism = NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3, score=score, law=law)
    one, again, other = (mechanism.release(DATA, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.scores, again.scores)
    assert one.ranking == again.ranking
    assert (one.scores != other.scores).any()
    assert (np.diff(one.scores[one.order]) <= 0).all()
    assert sorted(one.ranking) == ["a", "b", "c"]
    assert [one.top(k) for k in range(4)] == [frozenset(one.ranking[:k]) for k in range(4)]
    assert one.guarantee == mechanism.guarantee
    if law == "discrete":
        assert (one.scores % GRAIN[score] == 0).all()


def places_p_value(orders, scores, scale):
    counts = np.stack([(orders == i).sum(axis=0) for i in range(3)])
    law = rank_law(scores, scale, "discrete")
    return 3 * min(law_p_value(row, expected) for row, expected in zip(counts, law, strict=True))


@pytest.mark.slow
def test_released_orders_follow_the_rank_law_ties_included():
    mechanism = NoisyCounts(3, 0.8, per_person=3, score="wins")
    rng = np.random.default_rng(35)
    released = [mechanism.release(DATA, rng) for _ in range(1000)]
    scores = NoisyCounts(3, HARDLY, per_person=3, score="wins").release(DATA, rng).scores
    assert places_p_value(np.array([r.order for r in released]), scores, 0.8) > ALARM
    by_name = np.array([np.argsort(-r.scores, kind="stable") for r in released])
    assert places_p_value(by_name, scores, 0.8) < ALARM


def test_release_fit_for_publishing():
    mechanism = NoisyCounts.calibrated(epsilon=3.0, n_items=3, per_person=3, score="half")
    released = mechanism.release(DATA, noise.SECURE)
    assert sorted(released.order) == [0, 1, 2]
    assert (released.scores % 0.5 == 0).all()
    draws = 2 * (mechanism.perturb([1.5, 0, 7], noise.SECURE, 4000) - [1.5, 0, 7])
    unit = 2 * mechanism.scale
    assert law_p_value(np.bincount(np.clip(np.abs(draws.ravel()), 0, 9).astype(int), minlength=10), folded(unit)) > 1e-9
    with refused("SecureSource", "numpy.random.Generator"):
        replace(mechanism, law="continuous").release(DATA, noise.SECURE)


def folded(scale):
    law = 2 * stats.dlaplace(1 / scale).pmf(np.arange(10))
    return np.r_[law[0] / 2, law[1:9], 2 * stats.dlaplace(1 / scale).sf(8)]


@each(
    ("parameters", "data", "words"),
    [
        ({"n_items": 4}, DATA, ["items = 3", "n_items = 4"]),
        ({}, Comparisons([0], [1], [1], "abc"), ["voter is absent"]),
    ],
)
def test_release_refuses_data_of_something_else(parameters, data, words):
    mechanism = NoisyCounts(**({"n_items": 3, "scale": 1.0, "per_person": 3} | parameters))
    with refused(*words):
        mechanism.release(data, np.random.default_rng(0))


# --- beyond the promise -----------------------------------------------------------------------------------------------

#: Two voters who always say more than they may.
OTHERS = [(who, i, j, x) for who in (4, 6) for i, j, x in ((0, 1, 1), (0, 2, 0.5), (1, 2, 0), (1, 0, 1), (2, 1, 1))]
#: All that a third may say, up to one answer too many.
ANSWERS = [(i, j, x) for i, j in combinations(range(3), 2) for x in (0, 0.5, 1)]
PROMISES = [("any", 2), ("once", 2), ("complete", 3)]


def table(rows, rng):
    """The rows in any order, and either way round."""
    rows = [rows[at] for at in rng.permutation(len(rows))]
    turned = rng.random(len(rows)) < 0.5
    rows = [(who, j, i, 1 - x) if turn else (who, i, j, x) for (who, i, j, x), turn in zip(rows, turned, strict=True)]
    voter, first, second, outcome = zip(*rows, strict=True)
    return Comparisons(first, second, outcome, "abc", voter)


def farthest(mechanism):
    """Largest l1 distance of what noise is added to, over all that one voter may be and say."""
    vectors = np.array([mechanism.counts(data) for data in beyond(mechanism.per_person + 1)]) * GRAIN[mechanism.score]
    return cdist(*[np.unique(vectors, axis=0)] * 2, "cityblock").max()


@cache
def beyond(most):
    rng = np.random.default_rng(50)
    return [
        table(OTHERS + [(who, *answer) for answer in sheet], rng)
        for who, size in product((1, 9), range(most + 1))
        for sheet in combinations_with_replacement(ANSWERS, size)
    ]


@TIES
@each(("design", "per_person"), PROMISES)
@pytest.mark.slow
def test_data_beyond_the_promise_move_no_further_than_the_promise(design, per_person, ties, monkeypatch):
    with monkeypatch.context() as patch:
        bound_once(patch, beyond(per_person + 1))  # the same for every score
        for score in GRAIN:
            mechanism = NoisyCounts(3, HARDLY, per_person=per_person, design=design, ties=ties, score=score)
            assert farthest(mechanism) == mechanism.sensitivity


def first_rows(data, per_person, **_):
    """Mutant: of everybody the first rows of the table."""
    place = pd.Series(data.voter).groupby(data.voter).cumcount()
    return data[(place < per_person).to_numpy()]


RIGHT = Comparisons.bounded


def by_rank(data, per_person, **promise):
    """Mutant: hashes whose how-many-th voter of all somebody is, in place of who."""
    rank = np.unique(data.voter, return_inverse=True)[1]
    return RIGHT(Comparisons(data.first, data.second, data.outcome, data.items, rank), per_person, **promise)


def unbounded(data, *_, **__):
    return data


@each("mutant", [first_rows, by_rank, unbounded])
def test_a_bound_that_is_none_is_caught(mutant, monkeypatch):
    monkeypatch.setattr(Comparisons, "bounded", mutant)
    mechanism = NoisyCounts(3, HARDLY, per_person=2, score="wins")
    assert farthest(mechanism) > mechanism.sensitivity


@SCORE
@LAW
def test_data_within_the_promise_are_counted_in_full(score, law, monkeypatch):
    """To the last bit what is released of them without a bound."""
    once, whole = DATA[[0, 1, 2, 3]], {"design": "complete", "per_person": 3}
    within = [({"per_person": 3}, DATA), ({"per_person": 3, "design": "once"}, once), (whole, DATA[[0, 1, 2]])]
    made = [(NoisyCounts(3, 1.7, score=score, law=law, **promise), data) for promise, data in within]
    released = [mechanism.release(data, np.random.default_rng(7)) for mechanism, data in made]
    monkeypatch.setattr(Comparisons, "bounded", unbounded)
    assert released == [mechanism.release(data, np.random.default_rng(7)) for mechanism, data in made]


def test_what_goes_beyond_is_left_out_without_a_word():
    """As it is of an empty table: to refuse would tell of a voter."""
    rng = np.random.default_rng(51)
    full = table(OTHERS, rng)
    for promise in ({"per_person": 1}, {"per_person": 3, "design": "complete"}, {"per_person": 1, "ties": False}):
        mechanism = NoisyCounts(3, HARDLY, score="wins", **promise)
        assert 0 < mechanism.release(full, rng).scores.sum() <= 2 * mechanism.per_person
        assert mechanism.release(full[:0], rng).scores.tolist() == [0, 0, 0]
    single = NoisyCounts(3, HARDLY, unit="comparison", score="half", ties=False)
    assert single.release(full, rng).scores.sum() == (full.points != 1).sum()


@pytest.mark.parametrize("score", ["wins", "half", "net"])
def test_counts_are_whole_until_they_are_released(score):
    mechanism = NoisyCounts(3, HARDLY, per_person=3, score=score)
    counts = mechanism.counts(DATA)
    assert counts.dtype == np.int64
    assert (mechanism.release(DATA, np.random.default_rng(0)).scores == counts * GRAIN[score]).all()


@SCORE
@each("kind", ["laplace", "gaussian"])
def test_noise_on_the_line_is_added_to_scores_not_to_steps_of_their_grid(score, kind):
    """To the last bit; catches `/ grain` for `* grain`, which are one but for halves."""
    made = NoisyCounts(3, 1.5, noise=kind, delta=1e-6 if kind == "gaussian" else 0.0, score=score, law="continuous")
    exact = made.counts(DATA) * GRAIN[score]
    drawn = noise.draw(kind, "continuous", 1.5, 3, rng=np.random.default_rng(3))
    released = made.release(DATA, np.random.default_rng(3))
    assert released.scores.tolist() == (exact + drawn).tolist()


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([1.0, 2.0], ["3 finite"]),
        ([1.0, 2.0, np.nan], ["scores", "3 finite"]),
        ([0.3, 1.0, 2.0], ["scores", "multiples"]),
    ],
)
def test_perturb_refuses(scores, words):
    """Noise on a grid would publish what scores have off it."""
    with refused("scores", *words):
        NoisyCounts(3, 1.0).perturb(scores, np.random.default_rng(0))


@LAW
@SCORE
def test_the_noise_of_a_seed_is_what_is_added(score, law):
    mechanism, grain = NoisyCounts(3, 1.5, score=score, law=law), GRAIN[score]
    draw = (
        noise.laplace
        if law == "continuous"
        else lambda s, n, rng: grain * noise.discrete_laplace(s / grain, n, rng=rng)
    )
    drawn = draw(1.5, (2, 3), rng=np.random.default_rng(3))
    assert (mechanism.perturb([1, 2, 3], np.random.default_rng(3), 2) == np.add([1, 2, 3], drawn)).all()


def test_sensitivities_of_nothing_are_refused():
    for arguments, word in (((1, 1), "n_items = 1"), ((3, 0), "per_person = 0"), ((3, -1), "per_person = -1")):
        with refused(word):
            l1_sensitivity(*arguments)
    for options, word in (({"ties": 1}, "ties = 1"), ({"score": "x"}, "score"), ({"design": "x"}, "design")):
        with refused(word):
            l1_sensitivity(3, 1, **options)
    for design, words in (("once", "once of 3 pairs allows 1 .. 3"), ("complete", "complete of 3 pairs")):
        with refused("per_person = 4", words):
            l1_sensitivity(3, 4, design=design)


def test_perturb_shapes():
    mechanism, rng = NoisyCounts(3, 1.0), np.random.default_rng(0)
    assert mechanism.perturb([1, 2, 3], rng).shape == (3,)
    assert mechanism.perturb([1, 2, 3], rng, 5).shape == (5, 3)


@each(
    ("change", "words"),
    [
        ({"n_items": 1}, ["n_items = 1", "at least 2"]),
        ({"per_person": 0}, ["per_person = 0"]),
        ({"design": "once", "per_person": 4}, ["per_person = 4", "1 .. 3"]),
        ({"design": "complete", "per_person": 2}, ["per_person = 2", "complete", "3"]),
        ({"score": "points"}, ["score = 'points'", "'wins', 'half', 'net'"]),
        ({"design": "twice"}, ["design = 'twice'", "'any', 'once', 'complete'"]),
        ({"adjacency": "swap"}, ["adjacency = 'swap'"]),
        ({"unit": "person"}, ["unit = 'person'"]),
        ({"law": "normal"}, ["law = 'normal'", "'discrete', 'continuous'"]),
        ({"unit": "comparison", "per_person": 2}, ["per_person = 2", "unit = 'comparison'"]),
        ({"unit": "comparison", "design": "once"}, ["design = 'once'", "unit = 'comparison'"]),
        ({"scale": -1.0}, ["scale = -1.0", "above 0"]),
        ({"scale": math.nan}, ["scale = nan"]),
        ({"scale": math.inf}, ["scale = inf"]),
    ],
)
def test_refuses_parameters(change, words):
    with refused(*words):
        NoisyCounts(**({"n_items": 3, "scale": 1.0} | change))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan])
def test_refuses_an_epsilon(epsilon):
    with refused(f"epsilon = {epsilon}", "above 0"):
        NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=3)


def test_refuses_a_top():
    released = NoisyCounts(3, 1.0, per_person=3).release(DATA, np.random.default_rng(0))
    for k in (-1, 4):
        with refused(f"k = {k}", "from 0 to 3"):
            released.top(k)


def test_how_many_answers_count_is_said_aloud():
    """What is beyond is left out without a word, so that no default could be meant by everybody."""
    for kind, more in ((NoisyCounts, {}), (PerturbedMLE, {"ridge": 1.0, "graph": "public"})):
        with refused("per_person = None", "left out"):
            kind.calibrated(epsilon=1.0, n_items=3, **more)
        assert kind.calibrated(epsilon=1.0, n_items=3, unit="comparison", **more).per_person == 1


def test_rho_of_noise_that_is_not_gaussian_is_that_of_its_epsilon():
    # Bun and Steinke (2016), Proposition 1.4
    assert NoisyCounts(3, 4.0, per_person=1).rho == NoisyCounts(3, 4.0, per_person=1).guarantee.epsilon ** 2 / 2 > 0


@each(("per_person", "square"), [(1, 8), (3, 72)])
@each("law", ["discrete", "continuous"])
def test_rho_of_gaussian_noise_is_rounded_up_by_a_share_of_1e_12(per_person, square, law):
    """The square of the Euclidean sensitivity, exactly: a voter turns all answers round, of one pair."""
    for scale in (3.7, 12.0, 1e5):
        made = NoisyCounts(3, scale, noise="gaussian", delta=1e-6, per_person=per_person, law=law)
        exact = Fraction(square) / (2 * Fraction(scale) ** 2)
        assert exact < Fraction(made.rho) < exact * (1 + Fraction(3, 2) / 10**12)


@each(("score", "grain"), [("net", 1.0), ("half", 0.5), ("wins", 1.0)])
@each("scale", [0.15, 0.3, 2.0, 9.0])
def test_the_promise_of_discrete_gaussian_noise_is_the_less_of_two(score, grain, scale):
    """Narrow noise has one of them alone, and of wide noise the other is less: catches max for min."""
    made = NoisyCounts(3, scale, noise="gaussian", delta=1e-6, score=score)
    two = zcdp(made.rho, 1e-6), smoothed_epsilon([Answers(made.l2_sensitivity / grain, scale / grain, 3)], 1e-6)
    assert made.guarantee.epsilon == min(two) < max(two)
    assert (two[1] == math.inf) == (scale < 1)


def test_gaussian_noise_is_refused_where_it_is_too_narrow_and_only_there():
    """By how often the move is as wide as the noise, not by their product."""
    made = NoisyCounts(3, 9.0, noise="gaussian", delta=1e-6)
    least = made.l2_sensitivity / 1e153
    for scale in (least * (1 + 1e-9), 1.0, 1e200):
        assert replace(made, scale=scale).scale == scale
    with refused("scale = ", "too little noise for any finite epsilon"):
        replace(made, scale=least * (1 - 1e-9))


@each("noise", ["laplace", "gaussian"])
def test_noise_on_the_line_is_added_to_any_numbers(noise):
    made = NoisyCounts(3, 2.0, noise=noise, delta=1e-6 if noise == "gaussian" else 0.0, law="continuous")
    zero, moved = (made.perturb(at, np.random.default_rng(3)) for at in ([0, 0, 0], [0.3, -7.25, 1e-3]))
    assert moved - zero == pytest.approx([0.3, -7.25, 1e-3])
    with refused("multiples of 1", "'net'"):
        replace(made, law="discrete").perturb([0.3, -7.25, 1e-3], np.random.default_rng(3))


@each("adjacency", ["replace", "add_remove"])
@each("weight", [1, 3])
def test_a_ballot_of_some_weight_moves_scores_by_so_many_times(weight, adjacency):
    """By all answers to all pairs of a few items; the Euclidean bound is at most a tenth above what is attained."""
    for m in (3, 4):
        pairs = list(combinations(range(m), 2))
        keys = {"per_person": len(pairs), "design": "once", "adjacency": adjacency, "max_weight": weight}
        made = NoisyCounts(m, 2.0, noise="gaussian", delta=1e-6, **keys)
        answers = np.array(list(product((-1, 0, 1), repeat=len(pairs))))
        net = np.array([[(i == a) - (i == b) for i in range(m)] for a, b in pairs])
        scores = np.unique(weight * answers @ net, axis=0)
        others = scores if adjacency == "replace" else np.zeros((1, m))
        moves = (scores[:, None] - others).reshape(-1, m)
        assert np.abs(moves).sum(axis=1).max() == made.sensitivity
        assert np.abs(moves).max() == made.linf_sensitivity
        assert np.linalg.norm(moves, axis=1).max() <= made.l2_sensitivity <= 1.1 * np.linalg.norm(moves, axis=1).max()


@pytest.mark.parametrize(("noise", "loss"), [("laplace", 0.125), ("gaussian", None)])
def test_rho_of_other_noise_is_that_of_its_epsilon(noise, loss):
    counts = NoisyCounts.calibrated(epsilon=0.5, delta=0.0 if loss else 1e-6, n_items=4, per_person=2, noise=noise)
    expected = loss or (counts.l2_sensitivity / counts.scale) ** 2 / 2
    assert counts.rho == pytest.approx(expected, rel=1e-9)
