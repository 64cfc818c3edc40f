"""What the section on KwikSort computes, against brute force; one statistical test, seed fixed: false alarm 1e-6."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from checks import each, law_p_value

from companion.chapters.private_aggregation import kwiksort as sorting
from companion.chapters.private_aggregation import kwiksort_queries
from companion.ledger.claim import derive
from dprank.aggregation.kwiksort import comparisons_law, expected_cost, majority, queries
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.data.rankings import Rankings


def optimum(w):
    return min(kemeny_score(order, w) for order in permutations(range(len(w))))


def test_only_footrule_and_pick_a_perm_see_more_than_w():
    frame = sorting.readers(3, 4).set_index("rule")
    assert (frame.split[["Kemeny", "Borda"]] == 0).all()
    assert (frame.split[["footrule", "Pick-a-Perm"]] > 0).all()
    assert sorting.readers(3, 2).matrices.unique().tolist() == [1]
    assert derive(sorting.check_only_w()) == "refuted"


def test_two_items_have_one_profile_a_matrix():
    with pytest.raises(ValueError, match="empty"):
        sorting.readers(2, 3)


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.slow
def test_worst_cases_are_those_of_the_families(m):
    assert sorting.worst_case(m, False) == pytest.approx(5 - 8 / m)
    assert sorting.worst_case(m, True) == pytest.approx(4 / 3)
    assert sorting.worst_case(m, True, 2.0) == pytest.approx(4 - 4 / m)


def test_a_ratio_that_is_too_small_needs_infinite_noise():
    assert sorting.worst_case(3, True, 1.3) == math.inf
    assert sorting.worst_case(3, True, 1.34) < 3


def test_mutant_claims_are_refuted():
    # A ratio of 1.3 on rankings, of 2.9 on any matrix, and the noise of a pair counted twice instead of four times.
    assert sorting.worst_case(4, True) > 1.3
    assert sorting.worst_case(4, False) > 2.9
    assert sorting.worst_case(4, True, 2.0) > 2


def test_worst_case_bounds_random_instances():
    rng = np.random.default_rng(1)
    for _ in range(60):
        voters = int(rng.integers(1, 6))
        rankings = Rankings(rng.permuted(np.tile(np.arange(4), (voters, 1)), axis=1), "abcd")
        w = pairwise_fractions(rankings)
        seen = np.where(sorting.tournament(4, int(rng.integers(64))), 1.0, 0.0)
        noise = np.triu(np.where(majority(seen), 0.5 - w, 0).clip(0) + np.where(majority(seen).T, 0.5 - w.T, 0).clip(0))
        assert expected_cost(seen, w) <= 2 * optimum(w) + sorting.worst_case(4, True, 2.0) * noise.sum() + 1e-9


@pytest.mark.parametrize("m", [4, 6])
def test_families_against_all_orders(m):
    row = sorting.families([m]).iloc[0]
    w, seen = sorting.outsider(m - 1)
    assert row.rankings == pytest.approx(expected_cost(seen, w) / optimum(w))
    assert row.rankings == pytest.approx(3 / 2 - 1 / (2 * (m - 1)))
    assert row["any matrix"] == pytest.approx(5 - 8 / m)
    assert row.noise == pytest.approx(4 - 4 / m)
    assert optimum(sorting.back_arc(m, 0.5)) == 0.5


def test_outsider_comes_from_two_voters():
    chain = np.arange(4)
    rankings = Rankings.from_orders([[4, *chain], [*chain, 4]], "abcde")
    np.testing.assert_array_equal(sorting.outsider(4)[0], pairwise_fractions(rankings))


def test_outsider_ratio_against_all_ways_to_break_the_ties():
    # A chain of 3 whose first item loses to the last one surely and whose last wins: a coin for the middle.
    mean = 0.0
    for coin in (-1e-9, 1e-9):
        w, seen = sorting.outsider(3)
        lean = np.array([-1e-9, coin, 1e-9])
        seen[:-1, -1], seen[-1, :-1] = 0.5 + lean, 0.5 - lean
        mean += expected_cost(seen, w) / 2 / 1.5
    assert sorting.outsider_ratio(3) == pytest.approx(mean)


def test_noisy_instances_keep_the_theorem_and_need_the_noise():
    frame = sorting.noisy_instances(6, 80, rng=np.random.default_rng(2))
    assert (frame.cost <= 2 * frame.optimum + 4 * frame.noise + 1e-9).all()
    assert (frame.cost > 2 * frame.optimum + frame.noise + 1e-9).any()


def test_kwiksort_claim():
    checks = sorting.check_kwiksort([3], 8)
    assert derive(checks) == "holds"
    assert all(check.outcome for check in checks)


@each(("m", "classes"), [(1, 1), (2, 1), (3, 2), (4, 4), (5, 12), (6, 56)])
def test_number_of_tournaments(m, classes):
    found = kwiksort_queries.tournaments(m)
    assert len(found) == classes
    assert sorted(found[0].sum(axis=1).tolist()) == list(range(m))


def test_law_on_tournaments():
    cycle = kwiksort_queries.tournaments(3)[1]
    assert kwiksort_queries.tournament_law(cycle).tolist() == [0, 0, 1, 0]
    np.testing.assert_allclose(
        kwiksort_queries.tournament_law(np.triu(np.ones((7, 7), bool), 1)), comparisons_law(7), atol=1e-15
    )


def test_no_cycles_is_worst_in_moments_but_not_at_every_q():
    frame = kwiksort_queries.worst_tournament(6)
    assert frame["mean"].max() == 0
    assert frame.moment.max() <= 1e-12
    assert frame["tail"].max() > 0.1
    assert (frame.moment.iloc[1:] <= 0).all()


@pytest.mark.parametrize("m", [6, 30])
def test_chernoff_is_enough_without_cycles(m):
    law = comparisons_law(m)
    for tail in (0.2, 1e-4):
        q = kwiksort_queries.any_queries(m, tail)
        assert law[q + 1 :].sum() <= tail
        assert queries(m, tail) <= q <= math.comb(m, 2)


def test_counts():
    frame = kwiksort_queries.counts([10, 50], [1.0])
    assert frame.q[0] == frame.pairs[0]
    assert (frame.q <= frame["any"]).all()
    assert (frame["any"] <= frame.proved).all()


def test_the_depth_bound_is_above_the_exact_tail():
    for m in (16, 64):
        exact = comparisons_law(m)[math.ceil(8 * m * math.log(m)) + 1 :].sum()
        assert exact <= kwiksort_queries.deep(m) / m**4 + 1e-12
    # the recursion that it comes from, and the convexity that the proof needs
    x, depths = 3.6, [0.0]
    for m in range(1, 40):
        depths.append(1 + 2 * x / m * sum(depths))
    solved = math.exp(math.lgamma(39 + 2 * x) - math.lgamma(2 * x) - math.lgamma(40))
    assert 1 + (2 * x - 1) * depths[39] == pytest.approx(solved, rel=1e-9)
    assert (np.diff(depths, 2) >= 0).all()


def test_the_depth_bound_holds_on_every_small_tournament():
    """The largest expectation of the sum of x^depth, over all tournaments, exactly, against the recursion."""
    x = 3.6

    def total(subset, wins):
        if not subset:
            return 0.0
        members = [i for i in range(len(wins)) if subset >> i & 1]
        parts = ((subset & wins[p], subset & ~wins[p] & ~(1 << p)) for p in members)
        return 1 + x * sum(total(a, wins) + total(b, wins) for a, b in parts) / len(members)

    bound = [0.0]
    for m in range(1, 6):
        bound.append(1 + 2 * x / m * sum(bound))
        depths = [
            total((1 << m) - 1, [sum(1 << int(j) for j in np.flatnonzero(row)) for row in beats])
            for beats in kwiksort_queries.tournaments(m)
        ]
        assert max(depths) == pytest.approx(bound[m])


@pytest.mark.parametrize("m", [2, 5, 16])
def test_the_printed_rule_compares_all_tied_pairs(m):
    rng = np.random.default_rng(0)
    assert {kwiksort_queries.printed_comparisons(np.full((m, m), 0.5), rng=rng) for _ in range(5)} == {math.comb(m, 2)}


def test_the_printed_rule_without_ties_is_quicksort():
    rng = np.random.default_rng(1)
    w = np.triu(np.ones((5, 5)), 1)
    made = [kwiksort_queries.printed_comparisons(w, rng=rng) for _ in range(2000)]
    law = comparisons_law(5)
    assert law_p_value(np.bincount(made, minlength=11)[law > 0], law[law > 0]) > 1e-6


@pytest.mark.slow
def test_q_claim_and_a_twin_with_ties_decided(monkeypatch):
    few = (range(3, 31), (1.0, 0.01), 5)
    checks = kwiksort_queries.check_q(*few, rng=np.random.default_rng(0))
    assert derive(checks) == "needs a condition"
    assert all(check.outcome for check in checks if check.about != "printed")
    true = kwiksort_queries.printed_comparisons
    monkeypatch.setattr(
        kwiksort_queries,
        "printed_comparisons",
        lambda w, rng: true(np.triu(np.ones(w.shape, bool), 1), rng=np.random.default_rng(3)),
    )
    assert derive(kwiksort_queries.check_q(*few, rng=np.random.default_rng(0))) == "holds"
    monkeypatch.setattr(kwiksort_queries, "printed_comparisons", lambda w, rng: 0)
    monkeypatch.setattr(kwiksort_queries, "proved_queries", lambda m, xi: m * math.log(m))
    short = kwiksort_queries.check_q(*few, rng=np.random.default_rng(0))
    assert [check.outcome for check in short if check.about == "supplied"] == [False, False]


def stopped_brute(size, rest):
    """Cost and comparisons left of sorting `size` agreed items, by all pivots; None left once the limit is hit."""
    if size < 2:
        return {(Fraction(0), rest): Fraction(1)}
    if rest is None or rest < size - 1:
        return {(Fraction(size * (size - 1), 4), None): Fraction(1)}
    result = {}
    for left in range(size):
        for (a, left_over), p in stopped_brute(left, rest - size + 1).items():
            for (b, end), q in stopped_brute(size - 1 - left, left_over).items():
                result[a + b, end] = result.get((a + b, end), 0) + p * q / size
    return result


@pytest.mark.parametrize("m", [2, 3, 5])
def test_stopped_cost_against_all_pivots(m):
    limit = math.comb(m, 2)
    exact = [float(sum(c * p for (c, _), p in stopped_brute(m, r).items())) for r in range(limit + 1)]
    np.testing.assert_allclose(kwiksort_queries.stopped_cost(m, limit), exact, atol=1e-14)
    assert exact[limit] == 0


def test_error_remains_from_eleven_items_on():
    frame = kwiksort_queries.stopped([10, 11], 1.0, 1.0)
    assert frame.error.tolist()[0] == 0
    assert frame.voters[0] == math.inf
    assert frame.error[1] > frame["P(more)"][1] / 2 > 0


def test_hay_claim_and_a_mutant_with_a_limit_that_is_never_hit():
    assert derive(kwiksort_queries.check_hay(range(11, 16), 1.0)) == "holds"
    assert derive(kwiksort_queries.check_hay(range(9, 12), 1.0)) == "refuted"


def test_theorem_1_applies_to_kwiksort_with_all_pairs_only(monkeypatch):
    assert derive(kwiksort_queries.check_quicksort(5)) == "depends on the reading"
    monkeypatch.setattr(kwiksort_queries, "tournament_law", lambda beats: np.r_[np.zeros(9), 1.0, 0.0])
    with pytest.raises(ArithmeticError):
        _fails(kwiksort_queries.check_quicksort(5))


def _fails(record):
    """A step of the argument that is not true stops a build."""
    if not all(check.outcome for check in record if check.about == "argument"):
        raise ArithmeticError


def test_more_comparisons_than_m_log_m_are_the_rule():
    few, many, bound = kwiksort_queries.check_negligible(64)
    assert few.observed > 0.9
    assert many.outcome
    assert bound.outcome
    assert few.observed == pytest.approx(comparisons_law(64)[math.floor(64 * math.log(64)) + 1 :].sum())
