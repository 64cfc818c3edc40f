"""The central tests of uniformity (Busa-Fekete, Fotakis and Zampetakis 2021), on the worst neighbours known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed import Printed
from companion.printed import busafekete2021 as paper
from dprank.data.rankings import Rankings
from dprank.privacy.laws import exact
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.optimal_vote import OptimalVote
from dprank.uniformity.truncated import Trun


def agreeing(n_items: int, n_voters: int, dissenters: int = 0) -> Rankings:
    """Rankings of which the first few are the reverse of all others."""
    order = np.arange(n_items)
    rows = np.repeat([order[::-1], order], [dissenters, n_voters - dissenters], axis=0)
    return Rankings(rows, list(ascii_lowercase[:n_items]))


def cases() -> list[Case]:
    """Every private test, as calibrated and as printed."""
    return [*_noisy_statistics(), *_batches(), *_truncated()]


def _noisy_statistics() -> list[Case]:
    """One of agreeing rankings is reversed; over all data of 3 rankings of 3 items no neighbours are worse."""
    right = LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=3, size=0.1)
    tests = {
        "calibrated": right,
        "calibrated, continuous noise": replace(right, law="continuous"),
        "printed": paper.laplace_unif(4, 3, 1.0, 0.05),
        "printed, odd number of items": paper.laplace_unif(5, 3, 1.0, 0.05),
    }
    norms = {
        "signs of pairs": NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=3),
        # few simulated null data sets suffice for a large size
        "ranks": NoisyNorm.calibrated(epsilon=1.0, n_items=3, n_voters=3, size=0.25, statistic="ranks", null_draws=3),
    }
    return [
        *(_case(name, test, loss=lambda test: test.sensitivity / test.scale) for name, test in tests.items()),
        # the norm falls from 3 / 2 to 1 / 2 sensitivities, both whole numbers of steps
        *(_case(name, norm, loss=lambda norm: norm.steps / norm.scale) for name, norm in norms.items()),
    ]


def _batches() -> list[Case]:
    """A reversed ranking among agreeing ones changes the outcome of its batch, whatever the pairing.

    Over all data of 6 rankings of 2 items in 3 batches no neighbours are worse. What is printed keeps a promise of
    (0, 1 / B) if there are B > 1 batches, but not that of the paper: its loss at delta 0 is infinite.
    """
    vote = BatchVote.calibrated(epsilon=1.0, n_items=4, n_voters=9, size=0.3, n_batches=3, batch_level=0.2)
    optimal = partial(OptimalVote.calibrated, epsilon=1.0, n_items=4, n_voters=9, size=0.3, n_batches=3)
    coin = Bucketed.calibrated(epsilon=1.0, n_items=4, n_voters=12, size=0.4, n_batches=4)
    return [
        _case("calibrated", vote, loss=lambda vote: 1 / vote.scale),
        _case("calibrated", optimal(), loss=lambda vote: 1 / vote.scale),
        _case("with a delta", optimal(delta=0.05), loss=lambda vote: 1 / vote.scale),
        _case("with a coin", coin, loss=_coin_loss),
        _case("with a coin and a delta", replace(coin, delta=0.1), loss=_coin_loss),
        _case("printed", paper.bucketed(4, 20, 0.25, 0.05), loss=lambda _: math.inf),
    ]


def _coin_loss(test: Bucketed) -> float:
    """Loss where the rarer answer comes from the coin alone, or from one batch as well."""
    alone = test.coin / 2
    return math.log((alone + (1 - test.coin) / test.n_batches - test.delta) / alone)


def _truncated() -> list[Case]:
    """Of two items all data are listed: how many rankings put the first item first is all that matters."""
    # the ramp ends at the norm of data, so that the step that the guarantee is about is taken
    ends = Trun(2, 10, coin=0.5, start=2.0, width=8.0)
    smallest = 2, 2, 1 / 3, 0.05, 0.5
    return [
        _worst_split("calibrated", Trun.calibrated(epsilon=1.0, n_items=2, n_voters=40, size=0.2)),
        _worst_split("ramp ends at data", ends, loss=lambda test: test.guarantee.epsilon),
        _worst_split("printed, two rankings", paper.trun(*smallest), loss=lambda test: math.log(2 / test.coin - 1)),
        _worst_split("printed, answers exchanged", paper.trun(*smallest, accept_large=False)),
        # as many as a corrected sample size asks for
        _worst_split("printed, many rankings", paper.trun(2, 364, 1.0, 0.5, 1.0)),
    ]


def _worst_split(name: str, test: Trun | Printed, loss: Callable[[Any], float] | None = None) -> Case:
    """The worst of all data of two items."""
    mechanism = test.mechanism if isinstance(test, Printed) else test
    voters = mechanism.n_voters

    def lost(dissenters: int) -> float:
        return exact(mechanism, *(agreeing(2, voters, d) for d in (dissenters, dissenters + 1))).epsilon(0.0)

    return _case(name, test, max(range(voters), key=lost), loss)


def _case(name: str, test: Any, dissenters: int = 0, loss: Callable[[Any], float] | None = None) -> Case:
    """Of a mechanism, or of one that is printed with what its paper claims; and its loss in closed form."""
    mechanism, claims = (test.mechanism, test.claims) if isinstance(test, Printed) else (test, None)
    data, other = (agreeing(mechanism.n_items, mechanism.n_voters, d) for d in (dissenters, dissenters + 1))
    case = Case("", mechanism, data, other, closed_form=loss and loss(mechanism), found="exhausted")
    if claims:
        case = replace(case, printed=claims.epsilon, printed_delta=claims.delta, source="busafekete2021")
    return replace(case, name=f"{case.kind.__name__}, {name}")
