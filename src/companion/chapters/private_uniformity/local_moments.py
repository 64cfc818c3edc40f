"""The statistic of the local test: its moments under uniform and Mallows rankings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from companion.chapters.private_uniformity.local_channels import pairing, printed_channel, sign_vectors
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_pairings, all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distances
from dprank.uniformity.pairs import pair_signs


def sign_law(n_items: int, theta: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Law of the signs of `pairs` in one Mallows ranking with centre 0, 1, ..., by enumeration; shape (2^pairs,)."""
    rankings = all_rankings(n_items)
    distance = kendall_distances(rankings, np.arange(n_items))
    weight = math.exp(-theta) ** distance
    code = (pair_signs(rankings, pairs) == 1) @ (1 << np.arange(len(pairs))[::-1])
    return np.asarray(np.bincount(code, weight / weight.sum(), 1 << len(pairs)), float)


def randomised(law: NDArray[np.float64], shrinkage: float) -> NDArray[np.float64]:
    """Law of the signs after randomised response, shape (..., 2^pairs)."""
    keep, turn = (1 + shrinkage) / 2, (1 - shrinkage) / 2
    for bit in range(law.shape[-1].bit_length() - 1):
        law = keep * law + turn * law[..., np.arange(law.shape[-1]) ^ (1 << bit)]
    return law


def statistic_moments(law: NDArray[np.float64], samples: int) -> tuple[float, float]:
    """Mean and variance of Y for `samples` independent sign vectors of a given law, by enumeration of all samples."""
    pairs = len(law).bit_length() - 1
    sums = reduce(np.add.outer, [np.arange(len(law)) * 0] * samples)[..., None] + sum(
        sign_vectors(pairs).reshape((1,) * i + (-1,) + (1,) * (samples - 1 - i) + (pairs,)) for i in range(samples)
    )
    y = (sums**2).sum(-1) / samples
    chance = reduce(np.multiply.outer, [law] * samples)
    mean = float((chance * y).sum())
    return mean, float((chance * (y - mean) ** 2).sum())


def unif_moments(biases: ArrayLike, samples: int, products: ArrayLike | None = None) -> tuple[float, float]:
    """Mean and variance of Y from mean signs b_i of pairs and mean products E_ij of two signs, b_i b_j by default."""
    b, k = np.asarray(biases, float), samples
    both = np.multiply.outer(b, b)
    e = both if products is None else np.asarray(products, float)
    covariance = 2 * (1 - 1 / k) * ((e**2 - both**2) + 2 * (k - 2) * (e - both) * both)
    own = 2 * (1 - 1 / k) * ((1 - b**4) + 2 * (k - 2) * (b**2 - b**4))
    return float(len(b) + (k - 1) * (b**2).sum()), float(own.sum() + covariance[~np.eye(len(b), dtype=bool)].sum())


def moment_table(theta: float, shrinkage: float, samples: int) -> pd.DataFrame:
    """Four items in every pairing: enumerated moments of the local statistic, and what the two formulas say.

    Columns: ``pairing``; ``mean`` and ``variance``, enumerated; ``mean, bias shrunk`` and ``variance, bias shrunk``,
    UNIF's functions of the pairs' biases, multiplied by the shrinkage t; ``variance, products shrunk``, with the mean
    products multiplied by t^2 as well.
    """
    rows = []
    signs = sign_vectors(2)
    for name, pairs in zip(("side by side", "crossing", "nested"), all_pairings(4), strict=True):
        law = sign_law(4, theta, pairs)
        mean, variance = statistic_moments(randomised(law, shrinkage), samples)
        b = law @ signs
        products = (law[:, None, None] * signs[:, :, None] * signs[:, None, :]).sum(0)
        scaled = unif_moments(shrinkage * b, samples)
        joint = unif_moments(shrinkage * b, samples, shrinkage**2 * products)
        row = {"pairing": name, "mean": mean, "mean, bias shrunk": scaled[0], "variance": variance}
        rows.append(row | {"variance, bias shrunk": scaled[1], "variance, products shrunk": joint[1]})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-6:null")
def check_null(sizes: Iterable[tuple[int, int]] = ((2, 6), (4, 4), (6, 3))) -> Iterator[Check]:
    """Moments of the local statistic under uniform rankings, by enumeration of rankings, noise and samples."""
    for m, k in sizes:
        law = randomised(sign_law(m, 0.0, pairing(m)), paper.local_pairs(m, 1.0).mechanism.shrinkage)
        mean, variance = statistic_moments(law, k)
        pairs = m // 2
        yield printed(f"mean, m = {m}, k = {k}; m/2", mean, "==", pairs, error=ROUNDING)
        yield printed(f"variance, m = {m}, k = {k}; m", variance, "<=", m)
        exact = 2 * pairs * (1 - 1 / k)
        yield argument(f"the same, m = {m}, k = {k}: 2⌊m/2⌋(1 − 1/k)", variance, "==", exact, error=ROUNDING)


@claim("busafekete2021:sec-6:alternative")
def check_alternative(
    theta: float = math.log(2), shrinkage: float = math.tanh(0.5), samples: int = 4
) -> Iterator[Check]:
    """Moments under Mallows rankings against UNIF's functions of a shrunken bias."""
    frame = moment_table(theta, shrinkage, samples).set_index("pairing")
    gamma, of = 2 * math.atanh(shrinkage), f"worst of {len(frame)} pairings: "
    what = f"4 items, φ = {math.exp(-theta):.3g}, γ = {gamma:.3g}, k = {samples}, {of}"
    mean = np.abs(frame["mean"] - frame["mean, bias shrunk"]).max()
    scaled = np.abs(frame.variance - frame["variance, bias shrunk"])
    joint = np.abs(frame.variance - frame["variance, products shrunk"]).max()
    yield printed(what + "mean less the formula's", mean, "==", 0, error=ROUNDING)
    yield printed(what + "variance less the formula's", scaled.max(), "==", 0, error=ROUNDING)
    yield supplied(what + "variance, mean products shrunk too", joint, "==", 0, error=ROUNDING)
    for name in ("side by side", "nested"):
        yield amended(f"{name} pairs: variance less the formula's", scaled[name], "==", 0, error=ROUNDING)


#: Values of epsilon_0 / m.
SHARES = tuple(np.geomspace(1e-3, 1, 31))


def sign_shrinkage(n_items: int, epsilon: float) -> float:
    """Chance that the paper's channel keeps the sign of the first pair, less that it reverses it."""
    law, signs = printed_channel(n_items, epsilon), sign_vectors(n_items // 2)
    return float(law[0] @ (signs[:, 0] * pair_signs(all_rankings(n_items)[:1], pairing(n_items))[0, 0]))


@claim("busafekete2021:sec-6:tanh")
def check_tanh(items: Sequence[int] = (2, 4)) -> Iterator[Check]:
    """What the paper's channel keeps of a sign, (e^γ − 1)/(e^γ + 1) = tanh(epsilon_0 / m), against 2 epsilon_0 / m."""
    x = np.array(SHARES)
    for m in items:
        kept = np.array([sign_shrinkage(m, m * share) for share in x])
        of = f"{m} items: (e^γ − 1)/(e^γ + 1) by the channel"
        yield printed(f"{of} over 2ε₀/m at ε₀/m = {x[0]:g}; ≈ says 1", kept[0] / (2 * x[0]), "==", 1, error=1e-3)
        yield amended(f"{of} over 2ε₀/m, most for ε₀/m = {x[0]:g} ... {x[-1]:g}", (kept / (2 * x)).max(), "<=", 0.5)
        yield argument(f"{of} over 2ε₀/m at ε₀/m = {x[0]:g}", kept[0] / (2 * x[0]), "==", 0.5, error=x[0] ** 2)
        least = (kept / (x - x**3 / 3)).min()
        yield amended(f"{of} over ε₀/m − (ε₀/m)³/3, least: 1, for small ε₀/m", least, "==", 1, error=ROUNDING)
        yield argument(f"{of} at ε₀/m = 1: tanh 1", kept[-1], "==", math.tanh(1), error=ROUNDING)
