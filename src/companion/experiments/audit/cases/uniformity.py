"""The central tests of uniformity (Busa-Fekete, Fotakis and Zampetakis 2021), on the worst neighbours known."""

from __future__ import annotations

import math
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import numpy as np

from companion.experiments.audit.cases.case import Case
from dprank.data.rankings import Rankings
from dprank.privacy.laws import exact
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.truncated import Trun


def agreeing(n_items: int, n_rankings: int, dissenters: int = 0) -> Rankings:
    """Rankings of which the first few are the reverse of all others."""
    order = np.arange(n_items)
    rows = [order[::-1]] * dissenters + [order] * (n_rankings - dissenters)
    return Rankings(np.array(rows), list(ascii_lowercase[:n_items]))


def cases() -> list[Case]:
    """Every private test, as calibrated and as printed."""
    return [*_noisy_statistics(), *_batches(), *_truncated()]


def _noisy_statistics() -> list[Case]:
    """One of agreeing rankings is reversed; over all data of 3 rankings of 3 items no neighbours are worse."""
    right = LaplaceUnif.calibrated(4, 3, 1.0, 0.1)
    tests = {
        "calibrated": right,
        "calibrated, continuous noise": replace(right, law="continuous"),
        "printed": LaplaceUnif.as_printed(4, 3, 1.0, 0.05),
        "printed, odd number of items": LaplaceUnif.as_printed(5, 3, 1.0, 0.05),
    }
    norms = {
        "signs of pairs": NoisyNorm.calibrated(4, 3, 1.0),
        # few simulated null data sets suffice for a large size
        "ranks": NoisyNorm.calibrated(3, 3, 1.0, 0.25, statistic="ranks", null_draws=3),
    }
    return [
        *(_case(name, test, closed_form=test.sensitivity / test.scale) for name, test in tests.items()),
        # the norm falls from 3 / 2 to 1 / 2 sensitivities, both whole numbers of steps
        *(_case(name, norm, closed_form=norm.steps / norm.scale) for name, norm in norms.items()),
    ]


def _batches() -> list[Case]:
    """A reversed ranking among agreeing ones changes the outcome of its batch, whatever the pairing.

    Over all data of 6 rankings of 2 items in 3 batches no neighbours are worse. What is printed keeps a promise of
    (0, 1 / B) if there are B > 1 batches, but not that of the paper: its loss at delta 0 is infinite.
    """
    vote = BatchVote.calibrated(4, 9, 1.0, 0.3, n_batches=3, batch_level=0.2)
    coin = Bucketed.calibrated(4, 12, 1.0, 0.4, n_batches=4)
    spared = replace(coin, privacy_delta=0.1)
    return [
        _case("calibrated", vote, closed_form=1 / vote.scale),
        _case("with a coin", coin, closed_form=_coin_loss(coin)),
        _case("with a coin and a delta", spared, closed_form=_coin_loss(spared)),
        _case("printed", Bucketed.as_printed(4, 20, 0.25, 0.05), closed_form=math.inf, printed_delta=0.0),
    ]


def _coin_loss(test: Bucketed) -> float:
    """Loss where the rarer answer comes from the coin alone, or from one batch as well."""
    alone = test.coin / 2
    return math.log((alone + (1 - test.coin) / test.n_batches - test.privacy_delta) / alone)


def _truncated() -> list[Case]:
    """Of two items all data are listed: how many rankings put the first item first is all that matters."""
    smallest = Trun.as_printed(2, 2, 1 / 3, 0.05, 0.5)
    # the ramp ends at the norm of data, so that the step that the guarantee is about is taken
    ends = Trun(2, 10, delta=0.5, scale=1.0, start=2.0, width=8.0)
    return [
        _worst_split("calibrated", Trun.calibrated(2, 40, 1.0, 0.2)),
        _worst_split("ramp ends at data", ends, closed_form=ends.guarantee.epsilon),
        _worst_split("printed, two rankings", smallest, closed_form=math.log(2 / smallest.delta - 1)),
        _worst_split("printed, answers exchanged", replace(smallest, accept_large=False)),
        # as many as a corrected sample size asks for
        _worst_split("printed, many rankings", Trun.as_printed(2, 364, 1.0, 0.5, 1.0)),
    ]


def _worst_split(name: str, test: Trun, closed_form: float | None = None) -> Case:
    """The worst of all data of two items."""

    def loss(dissenters: int) -> float:
        return exact(test, *(agreeing(2, test.n_rankings, d) for d in (dissenters, dissenters + 1))).epsilon(0.0)

    return _case(name, test, max(range(test.n_rankings), key=loss), closed_form=closed_form)


def _case(name: str, mechanism: Any, dissenters: int = 0, **known: Any) -> Case:
    data, other = (agreeing(mechanism.n_items, mechanism.n_rankings, d) for d in (dissenters, dissenters + 1))
    printed = getattr(mechanism, "claimed_epsilon", None)
    source = "" if printed is None else "busafekete2021"
    title = f"{type(mechanism).__name__}, {name}"
    return Case(title, mechanism, data, other, printed, found="exhausted", source=source, **known)
