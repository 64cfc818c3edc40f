"""What holds of every case of every family: the exact law, releases one by one, many at once, and bets agree.

Seeds are fixed. ALARM is the chance that one test of a right mechanism was unlucky; ROUNDING is relative.
"""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from checks import each
from scipy import stats

from companion.chapters.privacy_audited.promises import known
from companion.printed.alabi2022 import PrintedKwikSort, PrintedTranscript
from dprank.aggregation import LocalKwikSort
from dprank.aggregation.local_laws import Transcript, poll_of
from dprank.aggregation.local_reports import OneRound
from dprank.pairwise import LocalComparisons, PerturbedMLE
from dprank.privacy.laws import exact, features, released, sample
from dprank.topk import JointExponential, LocalTopK, Oneshot, Peeling
from dprank.uniformity import LocalOneBit, LocalTwoStage
from dprank.uniformity.local_laws import possible_questions

ALARM = 1e-6
ROUNDING = 1e-9
every_case = each("name", known)
#: Closed forms of less than the guarantee: neighbours that are not the worst, and counters that bound nothing.
LESS = {
    "Oneshot, laplace, one of two",
    "Oneshot, gumbel, one of two",
    "ExponentialMechanism, replace, a voter alone",
    "PrivateRankCentrality, two items, shares",
    "LocalKwikSort, as printed",
    "LocalKwikSort with fallback, Algorithm 2's budget",
}
#: What is promised as printed, and broken, beside all of Algorithm 3.
BROKEN = {
    "Oneshot, Theorem 2.1 with values, replace",
    "Bucketed, printed",
    "Trun, printed, two rankings",
    "Trun, printed, answers exchanged",
}
#: Losses over what is printed, by hand.
RATIOS = {
    "NoisyCounts, Algorithm 2, discrete": 1.0,
    "NoisyCounts, Algorithm 2, continuous": 1.0,
    "NoisyCounts, Algorithm 3, 2 answers, discrete": 2.0,
    "NoisyCounts, Algorithm 3, 2 answers, continuous": 2.0,
    "NoisyMatrix, continuous laplace, replace, Corollary 3 as printed": 1 / 3,
    "LocalPairs, 4 items, as printed": 1.0,
    "LocalPairs, 5 items, as printed": 4 / 5,
    "LocalMatrix, printed pair, as printed": math.log((1 + math.e) / 2),
}


@cache
def law_of(name):
    return exact(known()[name].mechanism, known()[name].data, known()[name].other)


@cache
def loss_at(name, delta):
    return law_of(name).epsilon(delta)


def loss_of(name):
    return loss_at(name, known()[name].delta)


@every_case
@pytest.mark.slow
def test_loss_is_the_closed_form_and_within_the_guarantee(name):
    case, promise = known()[name], known()[name].mechanism.guarantee
    proved = loss_at(name, promise.delta)
    assert proved <= promise.epsilon * (1 + ROUNDING)
    assert loss_of(name) <= case.guaranteed * (1 + ROUNDING)
    if case.closed_form is not None:
        # a supremum found by search is raised by a billionth
        assert loss_of(name) == pytest.approx(case.closed_form, rel=2 * ROUNDING)
        assert (proved == pytest.approx(promise.epsilon, rel=1e-8)) == (name not in LESS)
    elif case.printed is None:
        assert proved > 0.08 * promise.epsilon


@pytest.mark.slow
def test_what_is_printed_and_broken():
    broken = BROKEN | {name for name in known() if "Algorithm 3" in name}
    ratios = {name: loss_of(name) / case.printed for name, case in known().items() if case.printed is not None}
    assert {name for name, ratio in ratios.items() if ratio > 1 + ROUNDING} == broken
    assert {name: ratios[name] for name in RATIOS} == pytest.approx(RATIOS, rel=ROUNDING)
    assert 1.49 < ratios["Oneshot, Theorem 2.1 with values, replace"] <= 1.5


@every_case
@pytest.mark.slow
def test_bets_show_no_more_than_the_loss_and_much_of_a_tight_one(name):
    case, loss = known()[name], loss_of(name)
    told = min(loss, 3.0)
    levels, rng = told * np.arange(0.1, 1, 0.1), np.random.default_rng(71)
    limits = {"confidence": 1 - ALARM, "budget": 15_000, "levels": levels, "bits": False}
    found = case.bet(told * (1 + ROUNDING), case.delta, rng=rng, **limits)
    assert found.refuted == (told < loss)
    assert found.epsilon <= loss
    # the worst outputs of the perturbed likelihood of four items, and of joint sets, are far away and do not come up
    far = isinstance(case.mechanism, PerturbedMLE | JointExponential) and case.mechanism.n_items >= 4
    if not (case.closed_form is None or case.printed or far or name in LESS):
        assert found.epsilon >= 0.4 * (1 - ROUNDING) * told


def reports(mechanism, ranking, size, rng):
    """One voter's reports one by one: features of shape (size, features)."""
    if isinstance(mechanism, OneRound | LocalComparisons | LocalTopK):
        return np.array([mechanism.report(ranking, rng) for _ in range(size)], float)
    rows = []
    for _ in range(size):
        if isinstance(mechanism, LocalKwikSort):
            polled = PrintedTranscript if isinstance(mechanism, PrintedKwikSort) else Transcript
            transcript = polled(mechanism, poll_of(mechanism, ranking), rng)
            rows.append(features(transcript))
            if mechanism.fallback is not None:
                rows[-1] = np.r_[rows[-1], np.array(mechanism.fallback.report(ranking, rng)) * transcript.fallback]
        elif isinstance(mechanism, LocalTwoStage):
            questions, chances = possible_questions(mechanism)
            asked = questions[rng.choice(len(questions), p=chances)]
            rows.append(np.r_[asked, mechanism.report(ranking, asked, rng)])
        else:
            pairs = mechanism.pairs(rng)
            pairs = pairs[0] if isinstance(mechanism, LocalOneBit) else pairs
            rows.append(np.r_[pairs.ravel(), mechanism.report(ranking, pairs, rng)])
    return np.array(rows, float)


def setting_of(case, data):
    """The mechanism and the data that are released."""
    mechanism = case.mechanism
    if isinstance(mechanism, Oneshot | Peeling):  # counts, of items whose number is known
        return replace(mechanism, n_items=len(data)), np.round(data)
    return mechanism, data


def one_by_one(case, data, sizes):
    """Features of releases one by one: of so many, of more, the first of them the same, and so on."""
    mechanism, data = setting_of(case, data)
    singly = reports if mechanism.guarantee.model == "local" else released
    rng, rows = np.random.default_rng(1), None
    for size in sizes:
        fresh = singly(mechanism, data, size - (0 if rows is None else len(rows)), rng)
        rows = fresh if rows is None else np.concatenate([rows, fresh])
        yield rows


def at_once(case, data, size):
    """Features of many releases at once."""
    mechanism, data = setting_of(case, data)
    rows = sample(mechanism, data, size, np.random.default_rng(2))
    if isinstance(mechanism, PerturbedMLE):  # a release centres its strengths
        rows[:, mechanism.n_items :] -= rows[:, mechanism.n_items :].mean(axis=1, keepdims=True)
    return rows


def apart(one, many):
    """The most by which the distribution functions of two samples differ."""
    one, many = np.sort(one), np.sort(many)
    at = np.concatenate([one, many])
    shares = (np.searchsorted(it, at, side="right") / len(it) for it in (one, many))
    return np.abs(np.subtract(*shares)).max()


def p_value(one, many):
    """Of two samples being of one law: by every number published, every difference, and all of them at once."""
    assert one.shape[1] == many.shape[1]
    views = [(i, j) for i in range(one.shape[1]) for j in range(i + 1)]
    # by Kolmogorov and Smirnov, the p-value of the view in which the two are furthest apart
    gaps = (apart(*(x[:, i] - (x[:, j] if j < i else 0) for x in (one, many))) for i, j in views)
    size = len(one) * len(many) / (len(one) + len(many))
    found = [float(stats.kstwo.sf(max(gaps), round(size)))] * len(views)
    outcomes, at = np.unique(np.concatenate([one, many]), axis=0, return_inverse=True)
    if len(outcomes) < 1_000:
        table = np.array([np.bincount(part, minlength=len(outcomes)) for part in np.split(at.ravel(), [len(one)])])
        rare = table.sum(axis=0) < 20 * len(many) / len(one)
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        found.append(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)
    return min(1.0, len(found) * min(found))


@every_case
@pytest.mark.slow
def test_many_at_once_have_the_law_of_releases_one_by_one(name):
    """Few draws first: of two laws that 300 tell apart, 100 look so much alike once in fifty times at most."""
    case = known()[name]
    looks = zip(one_by_one(case, case.other, (100, 300)), (3_000, 10_000), (0.5, ALARM), strict=True)
    assert any(p_value(few, at_once(case, case.other, many)) > alike for few, many, alike in looks)


SEEN = [
    "NoisyCounts, one comparison, replace, discrete",
    "PerturbedMLE, public graph, discrete",
    "LaplaceUnif, calibrated",
    "Oneshot, exponential, set, counts up to 6",
    "Peeling, gumbel, counts up to 6",
    "PrivateBorda, discrete laplace, replace",
    "PrivateKwikSort, discrete laplace, replace, all pairs",
    "LocalOneBit",
    "LocalMatrix, order of 3",
    "LocalKwikSort",
    "LocalBorda, vector",
    "LocalComparisons, 2 of 3",
    "LocalTopK, two hits",
]


@each("name", SEEN)
@pytest.mark.slow
def test_the_comparison_of_laws_sees_other_data(name):
    case = known()[name]
    many = at_once(case, case.other, 20_000)
    assert any(p_value(few, many) < ALARM for few in one_by_one(case, case.data, (200, 800)))
