"""Seeds are fixed: if they change, a right mechanism is called broken with probability 0.001 at most."""

import math
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest

from companion.chapters.privacy_audited import bugs, own
from companion.chapters.privacy_audited.planted import Mutant
from dprank.privacy.divergence import pair_of
from dprank.privacy.guarantee import Guarantee

PAIRS = [(np.zeros(1), np.ones(1))]


def coin(bias):
    return lambda data, size, rng: (rng.random((size, 1)) < np.abs(data - bias)).astype(float)


def planted(bug, bias, promise, *, known=True):
    law = pair_of([1 - bias, bias], [bias, 1 - bias])
    loss = (lambda data, other: law) if known else None
    return Mutant(bug, dict, Guarantee(promise), PAIRS, coin(bias), loss)


@pytest.fixture
def table(monkeypatch):
    found = [
        planted("half the noise", 0.1, math.log(3)),
        planted("only slower", 0.25, math.log(3)),
        planted("too well hidden", 0.25, 1.05, known=False),
    ]
    monkeypatch.setattr(bugs, "planted", lambda: {f"dict: {mutant.bug}": mutant for mutant in found})
    return bugs.table(runs=3, budget=8192).set_index("bug")


def test_a_bug_is_caught_by_both_routes_unless_within_its_promise_or_without_an_exact_loss(table):
    caught, kept, hidden = table.itertuples()
    assert caught.exact == pytest.approx(math.log(9))
    assert caught.ratio == pytest.approx(2)
    assert (caught.by_exact, caught.runs, caught.caught) == (True, 3, 3)
    assert caught.event in ("output 0 < 1", "output 0 >= 1")
    assert 1024 <= caught.samples <= 8192
    assert (kept.by_exact, kept.runs, kept.caught) == (False, 1, 0)
    assert "only slower" not in bugs.breaking(table).index
    assert math.isnan(hidden.exact)
    assert (hidden.by_exact, hidden.runs, hidden.caught) == (False, 3, 0)
    assert bugs.escaped(table).index.tolist() == ["too well hidden"]


def test_at_a_small_budget_what_got_away_is_undecided(table):
    power, escaped = own.check_power(table)[:2]
    assert power.outcome is escaped.outcome is None
    full = table.assign(budget=bugs.BUDGET, runs=bugs.RUNS, caught=[10, 0, 9])
    assert [check.outcome for check in own.check_power(full)[:2]] == [True, True]
    power, escaped = own.check_power(full.assign(caught=[10, 0, 8]))[:2]
    assert power.outcome is escaped.outcome is False


def test_an_alarm_about_a_kept_promise_and_a_slow_bug_are_told(table):
    alarm, slow = table.assign(caught=[3, 1, 0]), table.assign(seconds=6.0)
    assert own.check_power(alarm)[-1].outcome is False
    assert own.check_power(slow)[2].outcome is False


def test_in_brief_counts_the_bugs_that_break_their_promise(table):
    (row,) = bugs.in_brief(table.reset_index()).itertuples(index=False)
    assert row[:2] == ("dict", 2)
    assert row[2] == pytest.approx(2)
    assert row[3:5] == (1, 1)
    assert row[6] == table.samples["too well hidden"]


def test_names_must_differ(monkeypatch):
    two = SimpleNamespace(mutants=lambda: [planted("the same", 0.1, 1.0)] * 2)
    monkeypatch.setattr(bugs, "import_module", lambda name: two)
    with pytest.raises(ValueError, match="names"):
        bugs.planted.__wrapped__()


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_table():
    some = list(bugs.planted())[:2]
    with joblib.parallel_config("threading"):
        one, two = (bugs.table(runs=2, budget=4096, jobs=jobs, only=some).drop(columns="seconds") for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert one.name.tolist() == some
