"""The k largest: less noise than Qiao, Su and Zhang (2021) print, and another mechanism."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.better_than_printed.gain import At, Factor, Gain, measured, over, plain
from companion.instruments.sweep import sweep
from companion.printed.qiao2021 import theorem_2_1, theorem_2_2, theorem_3_5
from dprank import JointExponential, Oneshot, PrivateRankCentrality

__all__ = ["gains", "joint", "joint_chances", "theorem_2_2_over", "zipf"]

#: Standard deviations of noise of scale 1.
DEVIATION = {"laplace": math.sqrt(2), "gumbel": math.pi / math.sqrt(6)}
_ACCOUNTING = "../book/reference/dprank.topk.accounting.html"


def one_way(k: int, items: int) -> Factor:
    """Theorem 2.1 for counts to which a record is added: all move one way."""
    made: dict[str, Any] = {"epsilon": 1.0, "n_items": items, "k": k, "adjacency": "add_remove"}
    return over(theorem_2_1(**made, values=False).mechanism.scale, Oneshot.calibrated(**made, noise="laplace").scale)


def nearly_all(k: int, items: int) -> Factor:
    """Theorem 2.1 where more than half are chosen: who is left out says the same."""
    made: dict[str, Any] = {"epsilon": 1.0, "n_items": items, "k": k, "adjacency": "replace"}
    return over(theorem_2_1(**made, values=False).mechanism.scale, Oneshot.calibrated(**made, noise="laplace").scale)


def theorem_2_2_over(noise: Any, k: int, items: int, delta: float, epsilon: float = 0.2) -> Factor:
    """Deviation of the noise of Theorem 2.2 over that of the least proved for a noise."""
    made: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_items": items, "k": k, "adjacency": "replace"}
    printed, ours = theorem_2_2(**made, values=False).mechanism, Oneshot.calibrated(**made, noise=noise)
    return over(printed.scale * DEVIATION["laplace"], ours.scale * DEVIATION[noise])


def theorem_3_5_over(
    items: int = 50, k: int = 5, samples: int = 20, epsilon: float = 0.2, delta: float = 1e-6
) -> Factor:
    """Noise of Theorem 3.5 over ours, which needs no delta: with the data's own ergodicity coefficient."""
    made: dict[str, Any] = {"epsilon": epsilon, "n_items": items, "k": k, "samples": samples}
    ours = PrivateRankCentrality.calibrated(**made, damped=True, relative=False)
    return over(theorem_3_5(**made, delta=delta).mechanism.scale, ours.scale)


def zipf(items: int, people: int) -> NDArray[np.float64]:
    """Counts by Zipf's law."""
    return np.round(people / (1.0 + np.arange(items)))


def joint_chances(
    *, method: str, items: int, people: int, k: int, epsilon: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Whether releases named the right k, by Theorem 2.1 or `JointExponential`."""
    made: dict[str, Any] = {"epsilon": epsilon, "n_items": items, "k": k, "adjacency": "replace"}
    counts = zipf(items, people)
    if method == "joint":
        chosen: Any = JointExponential.calibrated(**made)
        return np.array([set(chosen.release(counts, rng).items) == set(range(k)) for _ in range(repetitions)], float)
    printed = theorem_2_1(**made, values=False).mechanism
    return np.array([set(printed.release(-counts, rng).items) == set(range(k)) for _ in range(repetitions)], float)


def joint(repetitions: int = 400) -> Factor:
    """Chance to name the right five of a hundred."""
    cells = [
        {"method": name, "items": 100, "people": 3_000, "k": 5, "epsilon": 0.1} for name in ("Theorem 2.1", "joint")
    ]
    found = sweep(joint_chances, cells, experiment="17: right set", repetitions=repetitions).set_index("method")
    return measured(*(tuple(found.loc[name, ["mean", "se"]]) for name in ("joint", "Theorem 2.1")))


def gains(at: At) -> tuple[Gain, ...]:
    """The rows of this paper."""
    k, epsilon, delta = at.chosen, at.epsilon, at.delta
    spent = f"ε = {plain(epsilon)}, δ = {plain(delta)}"
    chosen = f"{k:,} of {10 * k:,}, {spent}"
    return (
        Gain(
            name="Theorem 2.1, counts of records",
            claim="qiao2021:sec-1:pure-k",
            prints="noise 2 k/ε",
            ours="noise k/ε",
            mechanism="Oneshot",
            proof=_ACCOUNTING,
            at="any k up to half the items",
            measure="less noise",
            where="a record comes or goes",
            factor=lambda _: one_way(10, 100),
        ),
        Gain(
            name="Theorem 2.1, nearly all chosen",
            claim="qiao2021:thm-2.1",
            prints="noise 2 k/ε",
            ours="noise 2 (m − k)/ε",
            mechanism="Oneshot",
            proof=_ACCOUNTING,
            at="90 of 100 items",
            measure="less noise",
            where="k above half the items",
            factor=lambda _: nearly_all(90, 100),
        ),
        Gain(
            name="Theorem 2.2, its own Laplace noise",
            claim="qiao2021:thm-2.2",
            prints="noise 8 √(k log(m/δ))/ε",
            ours="the noise that our proof needs",
            mechanism="Oneshot",
            proof="../book/reference/dprank.topk.descent.html",
            at=chosen,
            measure="less noise",
            where="at every k, ε and δ of the theorem",
            factor=lambda _: theorem_2_2_over("laplace", k, 10 * k, delta, epsilon),
        ),
        Gain(
            name="Theorem 2.2, Gumbel noise instead",
            claim="qiao2021:sec-5:better-bounds",
            prints="noise 8 √(k log(m/δ))/ε",
            ours="rounds of the exponential mechanism in one pass",
            mechanism="Oneshot",
            proof=_ACCOUNTING,
            at=chosen,
            measure="less noise",
            where="at every k, ε and δ of the theorem",
            factor=lambda _: theorem_2_2_over("gumbel", k, 10 * k, delta, epsilon),
        ),
        Gain(
            name="Theorem 3.5, a private walk",
            claim="qiao2021:thm-3.5",
            prints="noise for k items, with a δ",
            ours="noise of one item for all k, δ = 0",
            mechanism="PrivateRankCentrality",
            proof="../book/reference/dprank.topk.private_spectral.html#dprank.topk.private_spectral.PrivateRankCentrality",
            at=f"5 of 50, {spent}",
            measure="less noise",
            where="all pairs were compared",
            factor=lambda _: theorem_3_5_over(epsilon=epsilon, delta=delta),
        ),
        Gain(
            name="Theorem 2.1, skewed counts",
            claim="qiao2021:alg-1",
            prints="noise on each count",
            ours="all k at once, by the exponential mechanism",
            mechanism="JointExponential",
            proof="../book/reference/dprank.topk.joint.html#dprank.topk.joint.JointExponential",
            at="5 of 100 by Zipf's law, ε = 0.1",
            measure="chance to be right",
            where="counts fall steeply",
            factor=joint,
        ),
    )
