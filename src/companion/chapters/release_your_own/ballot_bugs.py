"""Bugs planted in releases of partial, tied and weighted ballots, and the releases without them, by their samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, content, printed
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.randomisers import SplitResponse, ranking_signs
from dprank.audit.betting import LowerBound, lower_bound
from dprank.data.ballots import Ballots, require_ballots
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import sample
from dprank.privacy.randomized_response import randomise

#: Releases of an audit, and the confidence of its lower bound.
RELEASES, CONFIDENCE = 60_000, 0.9999


class HeavyBorda(PrivateBorda):
    """A weight above the bound counts as it is."""

    def counts(self, data: Any) -> NDArray[np.int64]:
        return -require_ballots(data, self.n_items).net_wins()


class HeavyCounts(NoisyCounts):
    """A weight above the bound counts as it is."""

    def counts(self, data: Any) -> NDArray[np.int64]:
        return require_ballots(data, self.n_items).net_wins()


class LightMatrix(NoisyMatrix):
    """The promise is that of ballots without weights."""

    @property
    def guarantee(self) -> Guarantee:
        right = super().guarantee
        return Guarantee(right.epsilon / self.max_weight, adjacency=right.adjacency)


class LastBorda(PrivateBorda):
    """An item that is not ranked is given the place behind all, with the noise that full rankings need."""

    def counts(self, data: Any) -> NDArray[np.int64]:
        places = require_ballots(data, self.n_items).places.astype(np.int64)
        return 2 * np.where(places < 0, self.n_items, places).sum(axis=0)


class ParityMatrix(NoisyMatrix):
    """Noise on every second margin only, as if all ballots were full."""

    @property
    def grain(self) -> float:
        return 1.0


class BareTies(LocalMatrix):
    """A voter who does not order a pair says so."""

    def sent(self, places: NDArray[Any], rng: Any) -> NDArray[Any]:
        first, second = np.triu_indices(self.n_items, 1)
        asked = (places[:, first] >= 0) & (places[:, second] >= 0) & (places[:, first] != places[:, second])
        return np.asarray(self.randomiser.report(places, rng) * asked)


class BothWays(LocalMatrix):
    """A voter sends a report for each of two ways to complete the ballot."""

    def sent(self, places: NDArray[Any], rng: Any) -> NDArray[Any]:
        both = super().sent(places, rng), super().sent(places, rng)
        return np.hstack(both)


class FlippedTies(LocalMatrix):
    """The sign of a tie is set down and not randomised."""

    def sent(self, places: NDArray[Any], rng: Any) -> NDArray[Any]:
        signs, (first, second) = ranking_signs(places), np.triu_indices(self.n_items, 1)
        decided = places[:, first] != places[:, second]
        assert isinstance(self.randomiser, SplitResponse)
        return np.where(decided, randomise(signs, self.randomiser.flips, rng), signs)


@dataclass(frozen=True, eq=False)
class Planted:
    """A bug, the mechanism that has it, the same without it, and neighbours that an audit of either tries."""

    bug: str
    wrong: Any
    right: Any
    pairs: list[tuple[Any, Any]]


def planted() -> list[Planted]:
    """All bugs of this page, at epsilon 1 on three items, or two."""
    three: dict[str, Any] = {"epsilon": 1.0, "n_items": 3}
    borda = PrivateBorda.calibrated(**three, ballots="partial")
    two = PrivateBorda.calibrated(epsilon=1.0, n_items=2, ballots="partial")
    matrix = NoisyMatrix.calibrated(**three, ballots="partial", rule="borda")
    heavy = NoisyMatrix.calibrated(**three, ballots="partial", rule="borda", max_weight=3)
    counts = NoisyCounts.calibrated(**three, per_person=3, design="once")
    poll = LocalMatrix(SplitResponse.calibrated(**three))
    line, turned = [0, 1, 2], [2, 1, 0]
    weighty = [(_one(line, 3), _one(turned, 3))]
    tied = [([0, 0, 0], line), (line, turned), ([0, 0, 1], turned)]
    return [
        Planted("PrivateBorda: a weight above the bound counts as it is", _as(HeavyBorda, borda), borda, weighty),
        Planted("NoisyCounts: a weight above the bound counts as it is", _as(HeavyCounts, counts), counts, weighty),
        Planted("NoisyMatrix: the promise of weight 1 at weight 3", _as(LightMatrix, heavy), heavy, weighty),
        Planted(
            "PrivateBorda: what is not ranked gets the place behind all",
            _as(LastBorda, two),
            two,
            [(Ballots([[0, -1]], [*"ab"]), Ballots([[-1, 0]], [*"ab"]))],
        ),
        Planted(
            "NoisyMatrix: the grid of full rankings",
            _as(ParityMatrix, matrix),
            matrix,
            [(Ballots([line], [*"abc"]), Ballots([[0, 0, 0]], [*"abc"]))],
        ),
        Planted("LocalMatrix: a tie is sent as it is", _as(BareTies, poll), poll, tied),
        Planted("LocalMatrix: a tie is not randomised", _as(FlippedTies, poll), poll, tied),
        Planted("LocalMatrix: one report for each way to break a tie", _as(BothWays, poll), poll, tied),
    ]


def _one(row: list[int], weight: int = 1) -> Ballots:
    return Ballots([row, [0, 1, 1]], [*"abc"], [weight, 1])


def _as(kind: type[Any], right: Any) -> Any:
    """The same parameters in a class with a bug."""
    made = object.__new__(kind)
    made.__dict__.update(right.__dict__)
    return made


@cache
def found(releases: int = RELEASES) -> pd.DataFrame:
    """Every bug and its twin: ``bug``, ``promised``, ``shown`` (a lower bound on epsilon from so many releases),
    ``event`` that shows it, ``caught``, and ``twin caught``.
    """
    rows = []
    for one in planted():
        wrong, right = (_bet(one, name, releases) for name in ("wrong", "right"))
        promised = one.wrong.guarantee.epsilon
        shown = {"shown": wrong.epsilon, "event": wrong.event, "caught": wrong.refuted}
        rows.append({"bug": one.bug, "promised": promised} | shown | {"twin caught": right.refuted})
    return pd.DataFrame(rows)


def _bet(one: Planted, name: str, releases: int) -> LowerBound:
    mechanism = getattr(one, name)
    promised = mechanism.guarantee.epsilon
    return lower_bound(
        lambda data, size, rng: sample(mechanism, data, size, rng),
        one.pairs,
        promised,
        0.0,
        rng=stream("release: ballots", {"bug": one.bug, "of": name}),
        confidence=CONFIDENCE,
        budget=releases,
        levels=promised * np.arange(0.1, 2.0, 0.1),
    )


@claim("release:ballots-bugs")
def check_bugs(releases: int = RELEASES) -> Iterator[Check]:
    """By what is released alone."""
    table = found(releases)
    yield printed("planted bugs that are not caught", int((~table.caught).sum()), "==", 0)
    yield printed("mechanisms without the bug that are called broken", int(table["twin caught"].sum()), "==", 0)
    yield content("planted bugs", len(table), ">=", 8)
