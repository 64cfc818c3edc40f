"""The error that ranges are made of is that of the noise that is drawn: read off `perturb`, number by number.

Draws are of fixed seeds. A scale, a weight, a step or a deviation that is taken for another is seen in every mechanism.
"""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from checks import each

from dprank import NoisyCounts, NoisyMatrix, PrivateBorda, PrivateFootrule, Ranking, Rankings
from dprank.aggregation import noisy_matrix
from dprank.pairwise import noisy_counts
from dprank.privacy.conditioned import ConditionedError, conditioned_laplace
from dprank.privacy.cube import CubeError, cube_noise

LAWS = ["discrete", "continuous"]
#: Of a deviation of 20,000 draws, of Laplace noise too: five times its own.
NEAR = 0.05


class Seen(Exception):
    """What a function of places was asked."""


def asked(monkeypatch, module, mechanism, release, **sampling):
    """The error and the scores that places are told from."""

    def see(scores, error, level, *rest):
        assert level == 0.9
        raise Seen(np.asarray(scores).tolist(), error, *rest)

    for name in ("pair_places", "score_places", "majority_places", "place_intervals"):
        monkeypatch.setattr(module, name, see, raising=False)
    with pytest.raises(Seen) as seen:
        mechanism.open_places(release, 0.9, **sampling)
    return seen.value.args


def noisy_matrix_of(m, **keys):
    return NoisyMatrix(m, 3.0, **{"rule": "borda"} | keys)


def given(m, mechanism, rng):
    margins = np.triu(2 * rng.integers(-9, 9, (m, m)), 1)
    margins = margins - margins.T
    return Ranking([f"item {i}" for i in range(m)], np.arange(m), margins=margins, mechanism=mechanism)


# --- what is read off a release --------------------------------------------------------------------------------------


@each("m", [2, 3, 4, 7])
def test_net_wins_of_a_matrix_have_so_many_noises_of_such_weights(m, monkeypatch):
    """Weights by moving one margin at a time; a voter moves by all rankings."""
    mechanism = noisy_matrix_of(m, ballots="partial", max_weight=3)
    release = given(m, mechanism, np.random.default_rng(m))
    scores, error = asked(monkeypatch, noisy_matrix, mechanism, release)
    assert scores == release.margins.sum(axis=1).tolist()
    weights = Counter()
    for i in range(m):
        for j in range(i):
            moved = np.zeros((m, m))
            moved[i, j], moved[j, i] = 1, -1
            weights[abs(moved[0].sum() - moved[1].sum())] += 1
    weights.pop(0.0, None)
    assert {weight: number for _, number, weight in error.noises} == weights
    assert {law for law, _, _ in error.noises} == {mechanism.margin_noise}
    assert error.deviation == 0
    _, drawn = asked(monkeypatch, noisy_matrix, mechanism, release, sampling="persons", persons=49)
    places = [np.array(row) for row in permutations(range(m))] if m < 5 else [np.arange(m)]
    apart = max(2 * abs(row[i] - row[j]) for row in places for i in range(m) for j in range(m))  # of net wins
    assert drawn.deviation == 7 * 3 * apart
    assert drawn.noises == error.noises


def test_margins_of_a_matrix_have_one_noise_each(monkeypatch):
    mechanism = noisy_matrix_of(4, rule="copeland", ballots="partial", max_weight=3)
    release = given(4, mechanism, np.random.default_rng(1))
    margins, error = asked(monkeypatch, noisy_matrix, mechanism, release)
    assert (margins, error.noises, error.deviation) == (
        release.margins.tolist(),
        ((mechanism.margin_noise, 1, 1.0),),
        0,
    )
    _, drawn = asked(monkeypatch, noisy_matrix, mechanism, release, sampling="persons", persons=49)
    assert (drawn.noises, drawn.deviation) == (error.noises, 7 * 3)


@each("noise", ["conditioned", "cube"])
def test_two_scores_have_a_noise_each(noise, monkeypatch):
    design = "matching" if noise == "cube" else "any"
    mechanism = NoisyCounts(5, 3.0, noise=noise, per_person=2, design=design)
    scores = np.array([8.0, 2, 0, -2, -8])
    release = Ranking(tuple("abcde"), np.arange(5), scores, mechanism=mechanism)
    for sampling in ({}, {"sampling": "persons", "persons": 49}):
        told, error = asked(monkeypatch, noisy_counts, mechanism, release, **sampling)
        assert told == scores.tolist()
        assert type(error) is {"conditioned": ConditionedError, "cube": CubeError}[noise]
        assert error.noises == ((mechanism.noise_law, 2, 1.0),)
        assert error.deviation == (7 * mechanism.contribution if sampling else 0)
        assert getattr(error, "n_items", 5) == 5


# --- what is drawn ---------------------------------------------------------------------------------------------------


def drawn_by(mechanism, rng, size):
    m = mechanism.n_items
    if isinstance(mechanism, NoisyMatrix):
        return mechanism.perturb(np.zeros((size, m, m), int), rng)[:, *np.triu_indices(m, 1)], mechanism.margin_noise
    if isinstance(mechanism, PrivateBorda):
        return mechanism.perturb(np.zeros((size, m), int), rng), mechanism.noise_law
    return mechanism.perturb(np.zeros(m), rng, size), mechanism.noise_law


def made():
    for noise, law, adjacency in product(["laplace", "gaussian"], LAWS, ["replace", "add_remove"]):
        keys = {"delta": 1e-6 if noise == "gaussian" else 0.0, "law": law, "adjacency": adjacency}
        for ballots in ("full", "partial"):
            yield NoisyMatrix(3, 2.5, noise, ballots=ballots, **keys)
            yield PrivateBorda(3, 2.5, noise, ballots=ballots, **keys)
        for score in ("net", "half", "wins"):
            yield NoisyCounts(3, 2.5, noise=noise, score=score, per_person=1, **keys)


@each("mechanism", made())
def test_the_law_that_is_told_is_the_one_that_is_drawn(mechanism):
    noise, law = drawn_by(mechanism, np.random.default_rng(5), 7000)
    assert law.noise == mechanism.noise
    spread = law.scale * (math.sqrt(2) if law.noise == "laplace" else 1)
    # whole Laplace noise of a step s and scale b: variance s^2 / (2 sinh^2(s / 2 b))
    if law.noise == "laplace" and law.step:
        spread = law.step / (math.sqrt(2) * math.sinh(law.step / (2 * law.scale)))
    assert noise.std() == pytest.approx(spread, rel=NEAR)
    assert abs(noise.mean()) < NEAR * spread
    if mechanism.law == "continuous":
        assert law.step == 0
    else:
        steps = noise.ravel() / law.step
        assert (steps == np.rint(steps)).all()
        assert math.gcd(*steps.astype(int).tolist()) == 1  # no coarser grid


@each(("noise", "score"), [("conditioned", "net"), ("cube", "net")])
def test_noises_that_depend_on_each_other_are_those_of_their_name(noise, score):
    law = {"conditioned": conditioned_laplace, "cube": cube_noise}[noise]
    mechanism = NoisyCounts(5, 3.0, noise=noise, score=score, unit="comparison")
    grain = mechanism.noise_law.step
    noisy = mechanism.perturb(np.zeros(5), np.random.default_rng(3), 20)
    assert noisy.tolist() == (grain * law(3.0 / grain, 5, 20, rng=np.random.default_rng(3))).tolist()


@each("ballots", ["full", "partial"])
def test_scores_are_made_again_from_whole_grains(ballots):
    """Of a grain of one half, too: what is taken for another grain gives other scores."""
    mechanism = PrivateBorda(4, 3.0, ballots=ballots)
    data = Rankings(np.argsort(np.random.default_rng(2).random((30, 4)), axis=1), "abcd")
    release = mechanism.release(data, np.random.default_rng(3))
    again = next(it.again for it in PrivateBorda.publishes if it.field == "scores")
    assert mechanism.grain == {"full": 1.0, "partial": 0.5}[ballots]
    assert again(release).tolist() == release.scores.tolist()
    assert np.ptp(release.scores) > 1


# --- what discrete Gaussian noise hides ------------------------------------------------------------------------------


@each("adjacency", ["replace", "add_remove"])
@each("m", [2, 3, 4])
def test_answers_are_the_farthest_move_of_all_rankings_in_steps_of_the_grid(m, adjacency):
    """By all pairs of rankings of one voter, and of none; of places up to a common shift, which is not seen."""
    delta = 1e-6
    everybody = [Rankings([list(row)], [*"abcd"[:m]]) for row in permutations(range(m))]
    for kind in (NoisyMatrix, PrivateBorda, PrivateFootrule):
        made = kind(m, 2.5, "gaussian", delta=delta, adjacency=adjacency)
        counts = [counted(made, data) for data in everybody]
        others = counts if adjacency == "replace" else [np.zeros_like(counts[0])]
        far = max(math.dist(one.ravel(), other.ravel()) for one in counts for other in others)
        numbers = counts[0].size
        if adjacency == "add_remove" and kind is PrivateBorda:
            shift = np.rint(counts[0].mean())  # a whole one
            far = min(math.dist(counts[0], np.full(m, at)) for at in (shift - 1, shift, shift + 1))
        grain = getattr(made, "grain", 1.0)
        assert made._answers.l2 == pytest.approx(far / grain, rel=1e-12), kind
        assert made._answers.scale == 2.5 / grain
        assert made._answers.numbers == numbers


@each("adjacency", ["replace", "add_remove"])
@each("m", [2, 3, 4])
def test_moves_are_those_of_rankings_that_no_other_moves_all_exceed(m, adjacency):
    """In whole steps, sorted: nobody moves more than in one of those that are told, each of which somebody makes."""
    everybody = [Rankings([list(row)], [*"abcd"[:m]]) for row in permutations(range(m))]
    for kind in (NoisyMatrix, PrivateBorda, PrivateFootrule):
        made = kind(m, 2.5, "gaussian", delta=1e-6, adjacency=adjacency)
        counts = [counted(made, data).ravel() / getattr(made, "grain", 1.0) for data in everybody]
        middle = m // 2 if kind is PrivateBorda else 0  # of places up to a whole shift
        others = counts if adjacency == "replace" else [np.full(counts[0].shape, middle)]
        moves = {tuple(sorted(np.abs(one - other).tolist(), reverse=True)) for one in counts for other in others}
        told = [sorted(Counter(moved).elements(), reverse=True) for moved in made._moves]
        told = [row + [0] * (counts[0].size - len(row)) for row in told]
        assert {tuple(map(float, row)) for row in told} <= moves
        assert all(any(np.less_equal(row, most).all() for most in told) for row in moves)


def counted(made, data):
    """What noise is added to, in the unit of the scale."""
    if isinstance(made, NoisyMatrix):
        return made.margins(data)[np.triu_indices(made.n_items, 1)] / 2
    if isinstance(made, PrivateBorda):
        return data.positions.sum(axis=0).astype(float)
    return (data.positions[0][:, None] == np.arange(made.n_items)).astype(float)
