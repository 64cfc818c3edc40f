"""False-alarm rate of each statistical test, at its fixed seed: below 1e-6."""

import math
from itertools import product

import numpy as np
import pytest
from checks import each, law_p_value, refused
from scipy import stats

from dprank.aggregation.kwiksort import before_probabilities, log_moments, queries
from dprank.aggregation.local_kwiksort import LocalKwikSort, plus_chances
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Guarantee

Z = 5.0
ITEMS = ("a", "b", "c", "d", "e")


def votes(n, m=5, seed=None):
    rng = np.random.default_rng(seed)
    rows = [np.arange(m) if seed is None else rng.permutation(m) for _ in range(n)]
    return Rankings(rows, ITEMS[:m])


class Fallback:
    guarantee = Guarantee(0.25, model="local")

    def release(self, data, rng):
        raise KeyError("fallback")


def test_guarantee_counts_the_fallback_where_a_run_can_get_there():
    roomy = LocalKwikSort(4, 0.5, 6, 1, fallback=Fallback())  # six pairs: no block is ever used up
    assert roomy.guarantee.epsilon == 6 * 0.5
    assert LocalKwikSort.calibrated(n_items=5, epsilon=0.7).guarantee == Guarantee(0.7, model="local")


def test_guarantee_of_fresh_blocks_counts_what_a_voter_can_be_asked():
    """Ten pairs in turn to four blocks: three reports of some voter; of a block that lasts, no fallback."""
    design = LocalKwikSort(5, 0.5, 7, 4, fallback=Fallback())
    assert design.guarantee.epsilon == 1.5
    assert LocalKwikSort(5, 0.5, 2, 4, fallback=Fallback()).guarantee.epsilon == 1.25
    assert LocalKwikSort(5, 0.5, 1, 4).guarantee.epsilon == 0.5
    most = 0
    for seed in range(50):
        answers = design.poll(votes(4), np.random.default_rng(seed))
        design.sort(answers)
        most = max(most, answers.sent.max())
    assert most == 3


def test_blocks_last_with_cycles_too_but_for_thirty_tails():
    theta = np.geomspace(1e-3, 8, 400)
    moments = log_moments(256, theta)
    for tail in (1e-12, 1e-10, 1e-6, 1e-3, 0.1, 0.9):
        for m in (2, 3, 5, 8, 16, 50, 128, 256):
            blocks = queries(m, tail)
            chernoff = np.exp((moments[m] - theta * (blocks + 1)).min())
            assert blocks == m * (m - 1) // 2 or chernoff <= 30 * tail


def test_fresh_blocks_answer_in_turn():
    answers = LocalKwikSort(5, 1.0, 1, 3).poll(votes(6), np.random.default_rng(0))
    assert all(answers.query(0, 1) is not None for _ in range(3))
    assert answers.query(0, 1) is None
    assert (answers.sent == 1).all()


@each("report_epsilon", [0.01, 1.0, 5.0, 30.0])
def test_loss_of_a_report_is_that_of_its_two_laws(report_epsilon):
    no, yes = plus_chances(report_epsilon)
    assert math.log(yes / no) == pytest.approx(report_epsilon, rel=1e-3)
    assert no + yes == 1


@pytest.mark.slow
def test_one_voter_s_answer_has_the_law_that_is_promised():
    """And a mutant that spends half more is caught."""
    rng, draws, (no, yes) = np.random.default_rng(8), 2500, plus_chances(1.0)

    def pluses(report_epsilon, item, other):
        design, data = LocalKwikSort(5, report_epsilon, 1, 1), votes(1)
        return sum(design.poll(data, rng).query(item, other) > 0.5 for _ in range(draws))

    for chance, pair in ((no, (3, 1)), (yes, (1, 3))):
        count = pluses(1.0, *pair)
        assert law_p_value([count, draws - count], np.array([chance, 1 - chance])) > 1e-7
    count = pluses(1.5, 1, 3)
    assert law_p_value([count, draws - count], np.array([yes, 1 - yes])) < 1e-7


def test_answers_are_unbiased():
    data, rng = votes(7, seed=1), np.random.default_rng(2)
    w = data.pairwise() / 7
    seen = np.array([LocalKwikSort(5, 0.8, 10, 3).poll(data, rng).query(3, 1) for _ in range(4000)])
    assert abs(seen.mean() - w[3, 1]) < Z * seen.std() / len(seen) ** 0.5


def test_no_voter_sends_more_than_promised():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        answers = LocalKwikSort(5, 1.0, 3, 2).poll(votes(9), rng)
        for _ in range(30):
            answers.query(*rng.choice(5, 2, replace=False))
        assert answers.sent.max() == 3


def test_almost_without_noise_the_order_is_the_voters():
    assert LocalKwikSort(5, 30.0, 10, 2).release(votes(2), np.random.default_rng(3)).ranking == ITEMS


@pytest.mark.slow
def test_order_has_the_law_of_kwiksort_on_independent_answers():
    """Fresh blocks of one unanimous voter: every comparison is wrong with one chance, independently."""
    wrong = plus_chances(1.0)[0]
    law = np.zeros((3, 3))
    for flips in product((0, 1), repeat=3):
        t = np.zeros((3, 3))
        for (i, j), flip in zip(((0, 1), (0, 2), (1, 2)), flips, strict=True):
            t[(i, j) if not flip else (j, i)] = 1
        law += np.prod([wrong if flip else 1 - wrong for flip in flips]) * before_probabilities(t)
    rng, design, data = np.random.default_rng(4), LocalKwikSort(3, 1.0, 1, 3), votes(3, 3)
    places = np.array([np.argsort(design.release(data, rng).order) for _ in range(6000)])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        first = int((places[:, i] < places[:, j]).sum())
        assert stats.binomtest(first, 6000, law[i, j]).pvalue > 1e-7


@pytest.mark.slow
def test_spent_blocks_toss_coins():
    rng, design = np.random.default_rng(5), LocalKwikSort(2, 30.0, 1, 1)
    answers = design.poll(votes(1, 2), rng)
    answers.query(0, 1)
    assert answers.query(0, 1) is None
    half, data = LocalKwikSort(3, 30.0, 1, 1), votes(1, 3)  # one true answer, then coins
    orders = [tuple(half.release(data, rng).order) for _ in range(3000)]
    counts = [orders.count(order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))]
    assert law_p_value(counts, np.array([4, 4, 1, 0, 3, 0]) / 12) > 1e-7


def test_fallback_is_called_when_a_block_is_used_up():
    with pytest.raises(KeyError, match="fallback"):
        LocalKwikSort(5, 1.0, 1, 1, fallback=Fallback()).release(votes(4), np.random.default_rng(0))


def test_refusals():
    rng = np.random.default_rng(0)
    with refused("n_items", "1"):
        LocalKwikSort(1, 1.0, 1, 1)
    for wrong in (0, -1, 30.1, 745, np.nan, np.inf, "1", None, True):  # 1 / (1 + exp(-37)) is 1 to a float
        with refused("report_epsilon = ", "(0, 30]"):
            LocalKwikSort(3, wrong, 1, 1)
    with refused("reports", "0"):
        LocalKwikSort(3, 1.0, 0, 1)
    with refused("blocks", "0"):
        LocalKwikSort(3, 1.0, 1, 0)
    with refused("n_items = 257", "256"):
        LocalKwikSort.calibrated(n_items=257, epsilon=1.0)
    with refused("tail", "2"):
        LocalKwikSort.calibrated(n_items=3, epsilon=1.0, tail=2)
    with refused("too few voters", "blocks = 3"):
        LocalKwikSort(5, 1.0, 1, 3).release(votes(2), rng)
    with refused("items = 4", "n_items = 5"):
        LocalKwikSort(5, 1.0, 1, 1).release(votes(3, 4), rng)
    with refused("rng", "None"):
        LocalKwikSort(5, 1.0, 1, 1).release(votes(3), None)


@each("fallback", [1, 1e300, "x", object(), Rankings])
def test_a_fallback_that_is_no_mechanism_is_refused(fallback):
    with refused("fallback", "a local mechanism"):
        LocalKwikSort(3, 0.5, 1, 1, fallback=fallback)
