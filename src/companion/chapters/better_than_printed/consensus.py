"""One ranking from many: less noise and better bounds than Alabi, Ghazi, Kumar and Manurangsi (2022) print."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from companion.chapters.better_than_printed.gain import At, Factor, Gain, measured, over
from companion.chapters.private_aggregation.second_gain import pays
from companion.chapters.which_method import table as arena
from companion.printed.alabi2022 import algorithm_2, corollary_3, corollary_4
from dprank import LocalMatrix, NoisyMatrix
from dprank.aggregation.directions import VectorReport

__all__ = ["DELTA", "corollary_4_over", "gains", "lost", "queries", "random_pair", "scores"]

DELTA = 1e-6


def corollary_3_over(items: int) -> Factor:
    """Noise on a count, as printed over the least: a voter answers m (m - 1) / 2 pairs, not m^2."""
    ours = NoisyMatrix.calibrated(epsilon=1.0, n_items=items)
    return over(corollary_3(items, 1.0).mechanism.scale, ours.scale)


def corollary_4_over(items: int, epsilon: float = 1.0, delta: float = DELTA) -> Factor:
    """Noise of Corollary 4, its O(1) read as 1, over the least that is private."""
    ours = NoisyMatrix.calibrated(epsilon=epsilon, delta=delta, n_items=items)
    return over(corollary_4(items, epsilon, delta).mechanism.scale, ours.scale)


def queries(items: int, delta: float = 0.0) -> Factor:
    """Noise on an answer to KwikSort: of the printed calibration, lowered to its promise, over that of the best split.

    As printed, q answers spend epsilon and the fallback, where a run may need it, half of epsilon more.
    """
    row = pays([items], delta).iloc[0]
    share = float(row["q"] / row["pairs"])
    spent = 1.5 if share < 1 else 1.0
    return over(spent * (share**0.5 if delta else share), float(row["planned"]))


def answer(items: int, epsilon: float = 1.0) -> Factor:
    """Voters for the same error of a pair: Algorithm 2's answer over one that spends all of its epsilon."""
    ours = LocalMatrix.calibrated(epsilon=epsilon, n_items=items).randomiser
    return over(algorithm_2(items, epsilon).mechanism.randomiser.variance, ours.variance)


def random_pair(items: int, epsilon: float = 1.0) -> Factor:
    """Voters for the same error of a pair: a vector of all pairs, on the sphere, over the best random question."""
    ours = LocalMatrix.calibrated(epsilon=epsilon, n_items=items).randomiser
    return over(VectorReport.calibrated(epsilon=epsilon, n_items=items).variance, ours.variance)


def lost(
    frame: pd.DataFrame, method: str, *, items: int, people: int, epsilon: float, delta: float = 0.0
) -> tuple[float, float]:
    """Share of pairs in the wrong order that a class of the arena loses at best on Mallows ballots, with its error."""
    here = frame[
        (frame["question"] == "consensus")
        & (frame["data"] == "Mallows")
        & (frame["loss"] == "pairs")
        & (frame["trust"] == "curator")
        & (frame["items"] == items)
        & (frame["people"] == people)
        & (frame["epsilon"] == epsilon)
        & (frame["delta"] == delta)
        & (frame["method"].str.partition("(")[0] == method)
    ]
    if here.empty:
        raise ValueError(f"method = {method!r}; the arena has no row of it with these sizes")
    best = here.loc[here["mean"].idxmin()]
    return float(best["mean"]), float(best["se"])


def scores(items: int = 20, people: int = 400, epsilon: float = 1.0) -> Factor:
    """Pairs lost by noise on all pairs over those lost by noise on the scores, from the arena."""
    frame = arena.load()
    at: dict[str, Any] = {"items": items, "people": people, "epsilon": epsilon}
    return measured(lost(frame, "NoisyMatrix", **at), lost(frame, "PrivateBorda", **at))


def theorem_1_bound(items: int) -> Factor:
    """Additive error that is promised for an error e of a pair: (alpha + 1) m^2 e over (alpha + 1) m (m - 1) / 2 e."""
    return over(items**2, math.comb(items, 2))


def gains(at: At) -> tuple[Gain, ...]:
    """The rows of this paper."""
    return (
        Gain(
            name="Corollary 3, noise on pairs",
            claim="alabi2022:cor-3",
            prints="Laplace noise m²/ε",
            ours="Laplace noise m (m − 1)/(2 ε)",
            mechanism="NoisyMatrix",
            proof="../book/reference/dprank.aggregation.noisy_matrix.html#dprank.aggregation.noisy_matrix.NoisyMatrix",
            at="20 items",
            measure="less noise",
            where="always, by 2 m/(m − 1)",
            factor=lambda _: corollary_3_over(20),
        ),
        Gain(
            name="Corollary 4, Gaussian noise",
            claim="alabi2022:cor-4",
            prints="O(m √log(1/δ)/ε), read with 1",
            ours="the least, by the exact law",
            mechanism="NoisyMatrix",
            proof="../book/reference/dprank.privacy.discrete_gaussian.html",
            at="20 items, ε = 1, δ = 1e-6",
            measure="less noise",
            where="the printed constant is open",
            factor=lambda _: corollary_4_over(20),
        ),
        Gain(
            name="Corollary 6, KwikSort's answers",
            claim="alabi2022:cor-6",
            prints="ε on q answers, ε/2 for the fallback (here both lowered)",
            ours="the split and the q of least expected noise",
            mechanism="PrivateKwikSort",
            proof="../book/reference/dprank.aggregation.private_kwiksort.html#dprank.aggregation.private_kwiksort.PrivateKwikSort",
            at="100 items, ε = 1",
            measure="less noise",
            where="always; little below 20 items",
            factor=lambda _: queries(100),
        ),
        Gain(
            name="Corollary 7, KwikSort's answers with δ",
            claim="alabi2022:cor-7",
            prints="ε on q answers, ε/2 for the fallback (here both lowered)",
            ours="the split and the q of least expected noise",
            mechanism="PrivateKwikSort",
            proof="../book/reference/dprank.aggregation.private_kwiksort.html#dprank.aggregation.private_kwiksort.PrivateKwikSort",
            at="100 items, ε = 1, δ = 1e-6",
            measure="less noise",
            where="always; little below 20 items",
            factor=lambda _: queries(100, DELTA),
        ),
        Gain(
            name="Theorem 1, the bound",
            claim="alabi2022:thm-1",
            prints="(α + 1) m² e",
            ours="(α + 1) m (m − 1)/2 · e, each pair once",
            mechanism="NoisyMatrix",
            proof="09b-reductions-statements.html#alabi2022-thm-1",
            at="20 items",
            measure="less error proved",
            where="always, by 2 m/(m − 1)",
            factor=lambda _: theorem_1_bound(20),
        ),
        Gain(
            name="Corollary 3, noise on scores instead",
            claim="alabi2022:sec-conclusions:either-or",
            prints="noise on all pairs (here the least)",
            ours="noise on sums of places",
            mechanism="PrivateBorda",
            proof="../book/reference/dprank.aggregation.private_borda.html#dprank.aggregation.private_borda.PrivateBorda",
            at=f"20 items, {at.people:,} voters of one mind, ε = 1",
            measure="fewer pairs lost",
            where="few voters or small ε, no camps",
            factor=lambda _: scores(people=at.people),
        ),
        Gain(
            name="Algorithm 2, a voter's answer",
            claim="alabi2022:alg-2",
            prints="a coin where the answer is no",
            ours="the same coin for yes and no",
            mechanism="LocalMatrix",
            proof="../book/reference/dprank.aggregation.randomisers.html#dprank.aggregation.randomisers.SampledOrder",
            at="10 items, ε = 1",
            measure="fewer voters",
            where="always",
            factor=lambda _: answer(10),
        ),
        Gain(
            name="Theorem 8, a vector of all pairs",
            claim="alabi2022:thm-8",
            prints="a report on the sphere",
            ours="one random pair, all of ε on it",
            mechanism="LocalMatrix",
            proof="10a-local-reports-statements.html#alabi2022-sec-local-naive",
            at="10 items, ε = 1",
            measure="fewer voters",
            where="at every ε, from three items on",
            factor=lambda _: random_pair(10),
        ),
    )
