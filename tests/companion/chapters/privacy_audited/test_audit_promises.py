"""Seeds are fixed: a lower bound is above the truth with probability 0.001 at most when they change."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from companion.chapters.privacy_audited import own, promises
from companion.chapters.privacy_audited.cases.case import Case
from dprank.privacy.divergence import pair_of
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import NoExactRoute, exact, sample


@dataclass(frozen=True)
class Coin:
    """Reports a bit, with a promise that need not be true."""

    loss: float
    promise: float

    @property
    def guarantee(self):
        return Guarantee(self.promise)

    def release(self, data, rng):
        return float(rng.random() < abs(data - 1 / (1 + math.exp(self.loss))))


Coin.__module__ = "dprank.pairwise.coin"


@exact.register(Coin)
def _(mechanism, data, other):
    p = 1 / (1 + math.exp(mechanism.loss))
    return pair_of([1 - p, p], [p, 1 - p])


@sample.register(Coin)
def _(mechanism, data, size, rng):
    return (rng.random((size, 1)) < abs(data - 1 / (1 + math.exp(mechanism.loss)))).astype(float)


@dataclass(frozen=True)
class Secret(Coin):
    """The same without an exact route."""


Secret.__module__ = "dprank.topk.secret"


@exact.register(Secret)
def _(mechanism, data, other):
    raise NoExactRoute


def table(monkeypatch, *cases, budget=20_000):
    monkeypatch.setattr(promises, "known", lambda: {case.name: case for case in cases})
    return promises.frame(budget).set_index("case")


def test_a_kept_promise(monkeypatch):
    row = table(monkeypatch, Case("kept", Coin(1.0, 1.0), 0, 1, closed_form=1.0)).loc["kept"]
    assert (row.mechanism, row.paper, row.calibration) == ("Coin", "Cai et al.", "calibrated")
    assert row.exact == pytest.approx(1.0)
    assert 0.6 < row.lower <= row.exact


def test_a_broken_promise_is_seen_by_either_route(monkeypatch):
    frame = table(
        monkeypatch,
        Case("kept", Coin(1.0, 1.0), 0, 1),
        Case("broken", Coin(1.5, 1.0), 0, 1),
        Case("black box", Secret(2.0, 1.0), 0, 1),
    )
    assert promises.broken(frame).index.tolist() == ["broken", "black box"]
    assert math.isnan(frame.exact["black box"])
    assert own.check_promises_kept(frame)[0].outcome is False
    assert own.check_promises_kept(frame)[1].observed == 2


def test_what_a_paper_promises_is_held_against_its_own_noise(monkeypatch):
    frame = table(
        monkeypatch,
        Case("calibrated", Coin(1.0, 1.0), 0, 1),
        Case("printed well", Secret(0.5, 0.5), 0, 1, printed=0.6),
        Case("printed badly", Coin(3.0, 3.0), 0, 1, printed=1.0),
        Case("printed worse", Coin(4.0, 4.0), 0, 1, printed=1.0),
    )
    assert not len(promises.broken(frame))
    assert promises.lies(frame).index.tolist() == ["printed badly", "printed worse"]
    assert promises.worst_lies(frame).index.tolist() == ["printed worse"]
    checks = own.check_printed_promises(frame.reset_index(), 1)
    assert [check.outcome for check in checks] == [True, True]
    assert checks[1].observed == pytest.approx(4.0)
    assert own.check_printed_promises(frame.reset_index(), 0)[0].outcome is False


def test_the_picture_has_the_worst_case_of_every_mechanism_and_calibration(monkeypatch):
    frame = table(
        monkeypatch,
        Case("secret", Secret(2.0, 2.0), 0, 1),
        Case("loose", Coin(0.5, 1.0), 0, 1),
        Case("tight", Coin(1.0, 1.0), 0, 1),
        Case("printed", Coin(3.0, math.inf), 0, 1, printed=1.0),
    )
    drawn = promises.picture(frame.reset_index())
    assert drawn.case.tolist() == ["printed", "tight", "secret"]
    assert drawn.cases.tolist() == [1, 2, 1]


def test_disagreement_is_told(monkeypatch):
    frame = table(monkeypatch, Case("kept", Coin(1.0, 1.0), 0, 1, closed_form=1.0))
    assert [check.outcome for check in own.check_agreement(frame)] == [True, True]
    assert own.check_agreement(frame.assign(closed_form=1.001))[0].outcome is False
    assert own.check_agreement(frame.assign(lower=1.1))[1].outcome is False


def test_a_mechanism_without_a_loss_or_a_bug_that_is_caught_would_be_missed(monkeypatch):
    monkeypatch.setattr(promises, "mechanisms", lambda: [Coin, Secret])
    frame = table(monkeypatch, Case("kept", Coin(1.0, 1.0), 0, 1), Case("silent", Secret(0.0, 1.0), 0, 1))
    bugs = pd.DataFrame({"mechanism": ["Coin", "Secret"], "by_exact": [False, True], "caught": [0, 0]})
    assert [check.observed for check in own.check_coverage(frame, bugs)] == [1, 1]


def test_mechanisms_are_the_dataclasses_that_release():
    names = [found.__name__ for found in promises.mechanisms()]
    assert len(names) == len(set(names)) >= 19
    assert {"NoisyCounts", "Oneshot", "LocalKwikSort", "Bucketed"} <= set(names)
    assert not {"Mechanism", "Guarantee", "Unif"} & set(names)


@pytest.mark.slow
def test_no_mechanism_of_the_library_breaks_its_guarantee():
    frame = promises.frame(budget=0)
    assert [check.outcome for check in own.check_promises_kept(frame)] == [True] * 3
    assert own.check_agreement(frame)[0].outcome
    assert np.isfinite(frame.guarantee[frame.calibration == "calibrated"]).all()
