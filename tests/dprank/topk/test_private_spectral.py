"""Exact laws and all data of small graphs; one test draws: seeds fixed, false alarm 1e-6."""

import math
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from checks import each, law_p_value, refused

from dprank.audit.exact import privacy_loss
from dprank.data.comparisons import Comparisons
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy.noise import SECURE
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix

PATH = ((0, 1), (1, 2))
COMPLETE = {m: tuple(combinations(range(m), 2)) for m in (2, 3, 4)}


def neighbours(samples, edges):
    """Shares of all neighbouring data sets."""
    for counts in product(range(samples + 1), repeat=edges):
        for edge in range(edges):
            if counts[edge] < samples:
                more = np.array(counts, float)
                more[edge] += 1
                yield np.array(counts) / samples, more / samples


@lru_cache(16)
def changes_of(mechanism):
    """Changes of scores between neighbours, a row each."""
    scores = cache(mechanism.scores)
    pairs = neighbours(mechanism.samples, len(mechanism.edges))
    return np.array([scores(tuple(a)) - scores(tuple(b)) for a, b in pairs])


def moved(mechanism):
    """Largest half range of the change of scores between neighbours."""
    return np.ptp(changes_of(mechanism), axis=1).max() / 2


def set_moved(changes, k):
    """The least total by which noise must follow a change of the scores, for the worst set of k: the G of the notes.

    For one set it is least where a is one of the changes. Of many changes, a row each, the largest.
    """
    changes = np.atleast_2d(changes)
    m, worst = changes.shape[1], 0.0
    for chosen in combinations(range(m), k):
        inside = np.isin(np.arange(m), chosen)
        helped = np.maximum(changes[:, :, None] - changes[:, None, inside], 0).sum(2)
        helped += np.maximum(changes[:, None, ~inside] - changes[:, :, None], 0).sum(2)
        worst = max(worst, float(helped.min(axis=1).max()))
    return worst


def total_moved(mechanism):
    """Largest `set_moved` of neighbours, in both directions."""
    changes = changes_of(replace(mechanism, k=1))  # scores do not depend on k
    return set_moved(np.concatenate([changes, -changes]), mechanism.k)


@pytest.mark.slow
def test_a_set_loses_no_more_than_its_total():
    """The lemma of the notes, for any scores and changes: exact laws of all sets, on either side of large gaps."""
    rng, nearest = np.random.default_rng(3), 0.0
    for _ in range(150):
        m = int(rng.integers(2, 6))
        scores, change = (
            rng.normal(size=m) * rng.choice([0.3, 3, 12]),
            rng.normal(size=m) ** 3 * rng.choice([0.01, 0.3]),
        )
        change[rng.random(m) < 0.3] = 0
        for k in range(1, m):
            laws = [list(top_set_law(values, 1.0, k).values()) for values in (scores, scores + change)]
            most = max(set_moved(change, k), set_moved(-change, k))
            assert privacy_loss(*laws) <= most * (1 + 1e-7) + 1e-9
            # never more than what one-shot noise is made for, nor than the sum of all changes
            assert most <= min(min(k, m - k) * np.ptp(change), np.abs(change).sum()) * (1 + 1e-9)
            nearest = max(nearest, privacy_loss(*laws) / most if most > 1e-3 else 0.0)
    assert nearest > 0.99


ALL_DATA = each(
    ("n_items", "pairs", "samples"),
    [(2, COMPLETE[2], 3), (3, COMPLETE[3], 2), (3, PATH, 6), (4, COMPLETE[4][1:], 1), (4, COMPLETE[4], 1)],
)
WAYS = each(("teleport", "damped"), [(0.0, True), (0.3, True), (0.3, False), (0.05, False)])


@ALL_DATA
@each("relative", [True, False])
@WAYS
@pytest.mark.slow
def test_no_neighbours_exceed_the_sensitivity_and_no_set_the_total(n_items, pairs, samples, relative, teleport, damped):
    mechanism = PrivateRankCentrality(
        n_items, 1, samples, 1.0, pairs=pairs, teleport=teleport, damped=damped, relative=relative
    )
    assert moved(mechanism) <= mechanism.sensitivity * (1 + 1e-9)
    for k in range(1, n_items):
        mechanism = PrivateRankCentrality(
            n_items, k, samples, 1.0, pairs=pairs, teleport=teleport, damped=damped, relative=relative
        )
        assert total_moved(mechanism) <= mechanism.set_sensitivity * (1 + 1e-9)


def equals(tops, mechanism):
    """Change of the scores, one sample of the first two turned, where the first items are equal and beat the others."""
    return np.subtract(*(mechanism.scores(shares) for shares in equal_shares(tops, mechanism)))


def equal_shares(tops, mechanism):
    first, second = mechanism.edges.T
    shares = np.where((first < tops) & (second >= tops), 0.0, 0.5)
    turned = shares.copy()
    turned[0] += 1 / mechanism.samples
    return shares, turned


@each(("tops", "lows"), [(3, 1), (4, 2), (5, 3)])
def test_relative_scores_attain_what_is_proved(tops, lows):
    """In the limit of many samples: 5 / (d L), and (3 kappa + 2) / (d L) for a set."""
    mechanism = PrivateRankCentrality(tops + lows, lows, 10_000, 1.0)
    change, unit = equals(tops, mechanism), 1 / (mechanism.normalisation * mechanism.samples)
    assert 0.999 * mechanism.sensitivity < np.ptp(change) / 2 <= mechanism.sensitivity
    total = max(set_moved(change, lows), set_moved(-change, lows))
    assert mechanism.set_sensitivity == pytest.approx((3 * lows + 2) * unit)
    assert 0.999 * mechanism.set_sensitivity < total <= mechanism.set_sensitivity
    # mutants: the coefficient's part forgotten, the noise of shares, one less of anything
    for mutant in (2 * lows + 2, 3, 3 * lows + 1):
        assert total > mutant * unit


@each("m", [2, 3, 4])
def test_undamped_relative_scores_attain_what_is_proved(m):
    mechanism = PrivateRankCentrality(m, 1, 10_000, 1.0, damped=False)
    assert 0.999 * mechanism.sensitivity < np.ptp(equals(2, mechanism)) / 2 <= mechanism.sensitivity
    assert mechanism.sensitivity == pytest.approx(2 / mechanism.samples)


def test_exact_losses_where_scores_move_furthest():
    """Most of what is promised is lost: what is not is an average over the noise. Mutants lose more than promised."""

    def loss(mechanism, pair):
        laws = [list(top_set_law(mechanism.scores(s), mechanism.scale, mechanism.k).values()) for s in pair]
        return privacy_loss(*laws)

    relative = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=8, k=3, samples=100)
    pair = equal_shares(5, relative)
    assert 0.79 < loss(relative, pair) <= 1.0
    unit = 1 / (relative.normalisation * relative.samples)
    # the noise of shares; of a total that k does not raise
    for total in (3, 5):
        assert loss(replace(relative, scale=total * unit), pair) > 1.5
    shares = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=200, pairs=PATH, relative=False)
    path = np.array([1.0, 0.0]), np.array([1.0, 1 / 200])
    assert 0.98 < loss(shares, path) <= 1.0
    assert loss(replace(shares, scale=shares.scale * 2 / 3), path) > 1.4


def test_shares_cost_the_same_for_every_k():
    """One-shot noise would be k times as large: all that changes is three units in all."""
    unit = 1 / 99 / 10
    for k in (1, 5, 50, 95, 99):
        mechanism = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=100, k=k, samples=10, relative=False)
        assert mechanism.set_sensitivity == pytest.approx(3 * unit)
        assert mechanism.scale == pytest.approx(3 * unit)
        relative = replace(mechanism, relative=True)
        assert relative.set_sensitivity == pytest.approx((3 * min(k, 100 - k) + 2) * unit)
    # a delta helps sets of relative scores once they are large
    sizes = [PrivateRankCentrality(400, k, 10, 1.0, delta=1e-6) for k in (20, 180)]
    assert [size.guarantee.delta for size in sizes] == [0.0, 1e-6]
    assert sizes[1].guarantee.epsilon < sizes[1].set_sensitivity


def test_sensitivities_that_are_attained():
    # without damping 1 / L on every complete graph
    for m in (2, 3):
        plain = PrivateRankCentrality(m, 1, 3, 1.0, damped=False, relative=False)
        assert moved(plain) == pytest.approx(plain.sensitivity)
        assert plain.sensitivity == pytest.approx(1 / 3)
    # and with it 3 / (2 d L) in the limit of many samples, on a path
    damped = PrivateRankCentrality(3, 1, 20, 1.0, pairs=PATH, relative=False)
    assert 0.95 * damped.sensitivity < moved(damped) <= damped.sensitivity


def test_the_undamped_shares_of_an_incomplete_graph_exceed_what_damped_ones_may_move():
    # a mutant: the same noise without the damping
    damped = PrivateRankCentrality(3, 1, 20, 1.0, pairs=PATH, relative=False)
    mutant = replace(damped, damped=False)
    assert math.isinf(mutant.sensitivity)
    assert mutant.guarantee.epsilon == math.inf
    assert np.ptp(mutant.scores([0.05, 0.95]) - mutant.scores([0.1, 0.95])) / 2 > 4 * damped.sensitivity


def test_worst_coefficient_of_all_data():
    for pairs, m, d in ((COMPLETE[3], 3, None), (COMPLETE[3], 3, 5.0), (PATH, 3, None), (COMPLETE[4][1:], 4, None)):
        mechanism = PrivateRankCentrality(m, 1, 1, 1.0, pairs=pairs, d=d)
        all_data = product((0.0, 1.0), repeat=len(pairs))
        taus = [ergodicity_coefficient(transition_matrix(m, pairs, shares, d)) for shares in all_data]
        assert max(taus) == pytest.approx(mechanism.worst_coefficient)


@each(("pairs", "samples", "k"), [(COMPLETE[3], 2, 1), (COMPLETE[3], 1, 2), (PATH, 4, 1), (PATH, 4, 2)])
@each("relative", [True, False])
def test_exact_loss_of_the_set_is_within_the_guarantee(pairs, samples, k, relative):
    mechanism = PrivateRankCentrality.calibrated(
        epsilon=1.0, n_items=3, k=k, samples=samples, pairs=pairs, relative=relative
    )
    assert mechanism.guarantee.epsilon <= 1.0
    assert (mechanism.guarantee.unit, mechanism.guarantee.adjacency) == ("comparison", "replace")

    def loss(scale):
        laws = {}
        for pair in neighbours(samples, len(pairs)):
            for shares in pair:
                key = tuple(shares)
                if key not in laws:
                    laws[key] = list(top_set_law(mechanism.scores(shares), scale, k).values())
            yield privacy_loss(*(laws[tuple(shares)] for shares in pair))

    assert max(loss(mechanism.scale)) <= 1.0
    assert max(loss(mechanism.scale / 20)) > 1.0


def test_damping_is_noise_over_the_gap():
    shares = np.array([0.3, 0.8, 0.6])
    plain = PrivateRankCentrality(3, 1, 10, 1.0, damped=False, relative=False)
    damped = replace(plain, damped=True)
    chain = transition_matrix(3, plain.edges, shares)
    law, gap = stationary_distribution(chain), 1 - ergodicity_coefficient(chain)
    np.testing.assert_allclose(plain.scores(shares), law)
    np.testing.assert_allclose(damped.scores(shares), gap * law)
    np.testing.assert_allclose(replace(damped, relative=True).scores(shares), gap * law / law.max())


def test_teleport_against_the_dense_chain():
    shares, g = np.array([0.3, 1.0, 0.0, 0.5]), 0.2
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    mechanism = PrivateRankCentrality(4, 1, 10, 1.0, pairs=pairs, teleport=g, damped=False, relative=False)
    chain = (1 - g) * transition_matrix(4, mechanism.edges, shares).toarray() + g / 4
    np.testing.assert_allclose(mechanism.scores(shares), stationary_distribution(chain))
    # on a graph in two parts too
    apart = PrivateRankCentrality(4, 1, 10, 1.0, pairs=[(0, 1), (2, 3)], teleport=g, damped=False, relative=False)
    assert apart.scores([0.5, 0.5]) == pytest.approx(np.full(4, 0.25))


@pytest.mark.slow
def test_data_without_long_run_shares_get_a_blind_set():
    mechanism = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=1, pairs=PATH)
    shares = [0.0, 1.0]  # both ends beat the middle
    assert (mechanism.scores(shares) == 0).all()
    rng = np.random.default_rng(0)
    chosen = [mechanism.select(shares, rng).items[0] for _ in range(500)]
    assert law_p_value(np.bincount(chosen, minlength=3), np.full(3, 1 / 3)) > 1e-6


def test_shares_of_comparisons():
    mechanism = PrivateRankCentrality(3, 1, 2, 1.0, pairs=[(2, 1), (1, 0)])
    assert mechanism.edges.tolist() == [[0, 1], [1, 2]]
    data = Comparisons([0, 1, 2, 1], [1, 0, 1, 2], [1, 1, 0.5, 0], items="abc")
    # 1 beat 0 once of two; 2 beat 1 once and tied once
    assert mechanism.shares(data).tolist() == [0.5, 0.75]
    release = mechanism.release(data, np.random.default_rng(0))
    assert release.items.tolist() == list(
        np.array(["a", "b", "c"])[mechanism.select([0.5, 0.75], np.random.default_rng(0)).items]
    )
    assert release.values is None


def one_more_or_other(rows, items):
    """Sheets of (first, second, outcome) that are short of one of the rows, or have one of them turned, or one more."""
    for at, (first, second, outcome) in enumerate(rows):
        yield rows[:at] + rows[at + 1 :]
        yield from ([*rows[:at], (first, second, o), *rows[at + 1 :]] for o in (0, 0.5, 1) if o != outcome)
    yield from ([*rows, (i, j, o)] for i, j in combinations(range(items), 2) for o in (0, 0.5, 1))


@pytest.mark.slow
def test_whatever_the_data_a_comparison_moves_scores_no_further_than_assumed():
    """The design may be kept, or broken by any row: short, over-full, or of no edge."""
    shares = {PATH: {}, COMPLETE[3]: {}}
    for relative, damped in product((True, False), repeat=2):
        pairs = PATH if damped else COMPLETE[3]
        mechanism = PrivateRankCentrality(3, 1, 2, 1.0, pairs=pairs, relative=relative, damped=damped)
        choices = [(i, j, o) for i, j in combinations(range(3), 2) for o in (0, 0.5, 1)]
        seen, most, of_shares = 0, 0.0, cache(mechanism.scores)
        known = shares[pairs]  # of a sheet in whatever order it was first met

        def scores(rows, mechanism=mechanism, known=known, of_shares=of_shares):
            if (key := tuple(sorted(rows))) not in known:
                known[key] = tuple(mechanism.shares(sheet(rows)).tolist())
            return of_shares(known[key])

        for size in range(5):
            for rows in map(list, combinations_with_replacement(choices, size)):
                if size > 2 and seen % 7:
                    seen += 1
                    continue
                seen += 1
                here = scores(rows)
                for other in one_more_or_other(rows, 3):
                    most = max(most, np.ptp(here - scores(other)) / 2)
        assert 0.2 * mechanism.sensitivity < most <= mechanism.sensitivity * (1 + 1e-9)


def sheet(rows):
    first, second, outcome = zip(*rows, strict=True) if rows else ([], [], [])
    return Comparisons(first, second, outcome, "abc")


def test_a_broken_design_is_set_right_and_not_refused():
    mechanism = PrivateRankCentrality(3, 1, 2, 1.0, pairs=PATH)
    for rows, shares in [
        ([], [0.5, 0.5]),
        ([(0, 2, 1)] * 9, [0.5, 0.5]),  # of no edge
        ([(0, 1, 1)], [0.25, 0.5]),  # one of two: the other is a tie
        ([(1, 0, 1)] * 3 + [(0, 1, 1)], [0.75, 0.5]),  # two too many
    ]:
        assert mechanism.shares(sheet(rows)).tolist() == shares
        assert len(mechanism.release(sheet(rows), np.random.default_rng(0)).items) == 1


def test_shares_of_the_comparisons_that_there_are_move_too_far():
    """A mutant: where one of two samples is missing, the other decides alone."""
    mechanism = PrivateRankCentrality(3, 1, 2, 1.0, pairs=PATH)
    for shares, least in ((mechanism.shares, 0.0), (lambda data: [data.outcome.mean(), 0.5], 0.9)):
        moved = np.subtract(shares(sheet([(0, 1, 0)])), shares(sheet([(0, 1, 1)])))
        assert least < np.abs(moved).max() <= (1 / mechanism.samples if not least else 1)


def test_a_release_promises_what_its_mechanism_does():
    """Its selection promised one voter what holds for one comparison."""
    mechanism = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=2)
    data = Comparisons([0, 0, 1] * 2, [1, 2, 2] * 2, [1] * 6, "abc", [7] * 6)
    for release in (
        mechanism.release(data, np.random.default_rng(1)),
        mechanism.select(mechanism.shares(data), np.random.default_rng(1)),
    ):
        assert release.mechanism == mechanism
        assert release.guarantee == mechanism.guarantee
        assert release.guarantee.unit == "comparison"
        assert type(release).from_json(release.to_json()) == release


def test_names_are_released_in_their_own_order():
    renamed = Comparisons([0, 1], [1, 2], [1, 1], items="zyx")
    released = PrivateRankCentrality(3, 3, 1, 1.0, pairs=PATH).release(renamed, np.random.default_rng(0))
    assert released.items.tolist() == ["x", "y", "z"]


def test_equal_if_all_that_is_public_is_equal():
    one, same = (PrivateRankCentrality(3, 1, 2, 1.0, pairs=pairs) for pairs in (PATH, PATH[::-1]))
    assert one == same
    assert hash(one) == hash(same)
    for other in (replace(one, pairs=None), replace(one, scale=2.0), replace(one, damped=False), "other"):
        assert one != other
    assert repr(one) == (
        "PrivateRankCentrality(n_items=3, k=1, samples=2, scale=1.0, pairs=<2 pairs>, d=None, teleport=0.0, "
        "damped=True, relative=True, delta=0.0)"
    )


def test_bad_input():
    make = PrivateRankCentrality
    for words, arguments, parameters in [
        (("n_items = 1",), (1, 1, 1, 1.0), {}),
        (("k = 0",), (3, 0, 1, 1.0), {}),
        (("k = 4",), (3, 4, 1, 1.0), {}),
        (("samples = 0",), (3, 1, 0, 1.0), {}),
        (("samples = 1.5",), (3, 1, 1.5, 1.0), {}),
        (("scale = 0",), (3, 1, 1, 0.0), {}),
        (("delta = 1",), (3, 1, 1, 1.0), {"delta": 1.0}),
        (("teleport = 1",), (3, 1, 1, 1.0), {"teleport": 1.0}),
        (("d = 1", "2"), (3, 1, 1, 1.0), {"d": 1.0}),
        (("d = inf",), (3, 1, 1, 1.0), {"d": math.inf}),
        (("d = '3'",), (3, 1, 1, 1.0), {"d": "3"}),
        (("teleport = '0.1'",), (3, 1, 1, 1.0), {"teleport": "0.1"}),
        (("delta = '1'",), (3, 1, 1, 1.0), {"delta": "1"}),
        (("damped = 1",), (3, 1, 1, 1.0), {"damped": 1}),
        (("relative = None",), (3, 1, 1, 1.0), {"relative": None}),
        (("n_items = 2.5",), (2.5, 1, 1, 1.0), {}),
        (("k = 1.5",), (3, 1.5, 1, 1.0), {}),
        (("scale = inf",), (3, 1, 1, math.inf), {}),
        (("teleport = -0.1",), (3, 1, 1, 1.0), {"teleport": -0.1}),
        (("items 0 and 2", "connected"), (4, 1, 1, 1.0), {"pairs": [(0, 1), (2, 3)]}),
        (("items 0 and 1", "connected"), (3, 1, 1, 1.0), {"pairs": []}),
        (("pairs[1]",), (3, 1, 1, 1.0), {"pairs": [(0, 1), (1, 0)]}),
        (("pairs[0]",), (3, 1, 1, 1.0), {"pairs": [(1, 1)]}),
        (("pairs[0]",), (3, 1, 1, 1.0), {"pairs": [(0, 3)]}),
    ]:
        with refused(*words):
            make(*arguments, **parameters)
    with refused("epsilon = 0"):
        make.calibrated(epsilon=0.0, n_items=3, k=1, samples=1)
    with refused("teleport = 0.0", "damped = False"):
        make.calibrated(epsilon=1.0, n_items=3, k=1, samples=1, pairs=PATH, damped=False)
    with pytest.raises(TypeError, match="scale"):
        make.calibrated(epsilon=1.0, n_items=3, k=1, samples=1, scale=1.0)
    with refused("DataFrame", "Comparisons"):
        make(3, 1, 1, 1.0).release(pd.DataFrame({"first": [0]}), np.random.default_rng(0))
    mechanism = make(3, 1, 1, 1.0, pairs=PATH)
    with refused("NoisyCounts", "rng"):
        mechanism.select([0.5, 0.5], SECURE)
    with refused("items = 2", "n_items = 3"):
        mechanism.shares(Comparisons([0], [1], [1], items="ab"))
    with refused("shares[0] does not lie"):
        mechanism.scores([2.0, 0.5])
    with refused("shares[1] does not lie"):
        mechanism.scores([0.5, math.nan])
    with refused("shares has shape (3,)", "(2,)"):
        mechanism.scores([0.5, 0.5, 0.5])
    for rng in (None, 7):
        with refused(f"rng = {rng}"):
            mechanism.select([0.5, 0.5], rng)


def test_without_edges_the_teleport_alone_is_released():
    assert PrivateRankCentrality(3, 1, 1, 1.0, pairs=[], teleport=0.2).guarantee.epsilon < np.inf


@pytest.mark.parametrize("teleport", [1e-300, 1e-17, 1e-9, 0.999e-6, -0.1, 1.0])
def test_a_walk_that_hardly_ever_jumps_is_refused(teleport):
    """Rounding would move its scores by more than one comparison does."""
    pairs = [(i, j) for i in range(6) for j in range(i)]
    with refused("teleport = ", "[1e-06, 1)"):
        PrivateRankCentrality.calibrated(epsilon=1.0, n_items=6, k=1, samples=2, teleport=teleport, pairs=pairs)


def test_the_least_chance_of_a_jump_moves_scores_no_further_than_claimed():
    rng, pairs = np.random.default_rng(0), [(i, j) for i in range(6) for j in range(i)]
    mechanism = PrivateRankCentrality.calibrated(
        epsilon=1.0, n_items=6, k=1, samples=10**6, teleport=1e-6, pairs=pairs, relative=False
    )
    for _ in range(40):
        one = rng.integers(0, 10**6 + 1, 15) / 10**6
        other = one.copy()
        at = rng.integers(15)
        other[at] += 1e-6 if other[at] < 0.5 else -1e-6
        assert np.abs(mechanism.scores(one) - mechanism.scores(other)).max() <= mechanism.sensitivity
