"""Seeded; at confidence 0.999 each of the 52 audits below calls a kept promise broken with probability 1e-3 at most."""

from functools import partial

import joblib
import numpy as np
import pytest
from checks import each
from scipy.stats import binom

from companion.chapters.privacy_audited import false_alarms as experiment
from companion.ledger.claim import derive


@pytest.fixture(scope="module")
def chosen():
    return experiment.tight_cases()


@pytest.fixture(scope="module")
def frame(chosen):
    return experiment.false_alarms(chosen, 4, 5_000)


@pytest.mark.slow
def test_at_least_twelve_mechanisms_are_tight(chosen):
    assert len({case.name for case in chosen}) == len(chosen) >= experiment.MECHANISMS
    shares = [case.exact_epsilon() / case.mechanism.guarantee.epsilon for case in chosen]
    assert experiment.TIGHT <= min(shares) <= max(shares) <= 1 + 1e-9


@pytest.mark.slow
def test_right_mechanisms_pass(frame):
    assert frame.alarms.sum() == 0
    assert (frame.most == experiment.upper_share(0, 4)).all()


def of_classes(chosen, *names):
    return [case for case in chosen if case.kind.__name__ in names]


@pytest.mark.slow
def test_every_number_of_workers_gives_the_same_alarms(chosen):
    few = of_classes(chosen, "NoisyNorm", "LocalOneBit")
    with joblib.parallel_config("threading"):
        audit = partial(experiment.false_alarms, few, 60, 2048, auditor=experiment.betting_on_the_past)
        alone, together = (audit(jobs=jobs).alarms.tolist() for jobs in (1, 2))
    assert alone == together
    assert min(alone) > 0


FOOLED = [
    (experiment.betting_on_the_past, ["LaplaceUnif", "LocalOneBit"], 10),
    (experiment.counting_on_the_past, ["NoisyNorm"], 10),
    (experiment.watching_a_test, ["NoisyNorm", "Bucketed", "LocalMatrix"], 50),
]


@each(("auditor", "classes", "runs"), FOOLED)
@pytest.mark.slow
def test_an_auditor_with_a_bug_calls_kept_promises_broken(chosen, auditor, classes, runs):
    few = of_classes(chosen, *classes)
    alarms = experiment.false_alarms(few, runs, 8192, auditor=auditor).alarms.sum()
    # more than a confidence of 0.999 allows, but with probability 1e-4
    assert alarms > binom.isf(1e-4, runs * len(few), 1 - experiment.CONFIDENCE)


@each(("hits", "runs"), [(0, 1000), (3, 1000), (5, 20), (10, 10)])
def test_bounds_on_shares_solve_the_binomial_tails(hits, runs):
    low, high = experiment.lower_share(hits, runs), experiment.upper_share(hits, runs)
    assert high == 1 if hits == runs else binom.cdf(hits, runs, high) == pytest.approx(experiment.MISS)
    assert low == 0 if hits == 0 else binom.sf(hits - 1, runs, low) == pytest.approx(experiment.MISS)


def test_few_runs_leave_the_claim_open_and_many_decide_it(frame):
    assert derive(experiment.check_false_alarms(frame)) == "undecided here"
    many = frame.assign(runs=1000, most=experiment.upper_share(1, 1000), alarms=1)
    assert derive(experiment.check_false_alarms(many)) == "holds"
    bad = many.assign(alarms=50, most=experiment.upper_share(50, 1000))
    assert derive(experiment.check_false_alarms(bad)) == "refuted"
    assert derive(experiment.check_false_alarms(many.iloc[:5])) == "refuted"


@pytest.mark.slow
def test_the_table_of_auditors(chosen):
    table = experiment.auditors(chosen[-1:], 2, 2048)
    assert table.auditor.tolist()[0] == "betting, as it should be"
    assert (table.low <= table.share).all()
    assert (table.share <= table.most).all()
    assert np.isfinite(table.share).all()
