"""What local privacy means, by enumeration: channels, public and secret randomness, Definitions 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_pairings, all_rankings
from companion.ledger.claim import Check, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.privacy.laws import signs_law
from dprank.uniformity.pairs import pair_signs


def sign_vectors(n_pairs: int) -> NDArray[np.int64]:
    """All vectors of signs, shape (2^pairs, pairs)."""
    return np.array(list(product((-1, 1), repeat=n_pairs)))


def channel(n_items: int, shrinkage: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """W(z given ranking) when the signs of `pairs` go through randomised response, shape (n_items!, 2^pairs).

    Columns as in `sign_vectors`; the shrinkage is the chance that a sign is kept less that it is reversed.
    """
    return signs_law(pair_signs(all_rankings(n_items), pairs), (1 - shrinkage) / 2)


def pointwise_loss(law: NDArray[np.float64]) -> float:
    """Left-hand side of Definition 2: the largest log ratio over outputs and pairs of rows."""
    return max(privacy_loss(a, b) for a in law for b in law)


def eventwise_loss(law: NDArray[np.float64]) -> float:
    """The largest log ratio over all non-empty sets of outputs and all ordered pairs of rows; at most 12 outputs."""
    outputs = law.shape[1]
    events = np.array(list(product((0, 1), repeat=outputs)))[1:]
    chances = np.unique(law, axis=0) @ events.T
    return float(np.log(chances.max(0) / chances.min(0)).max())


def pairing(n_items: int) -> NDArray[np.int64]:
    """The pairs (0, 1), (2, 3), ..., shape (pairs, 2)."""
    return np.arange(n_items // 2 * 2).reshape(-1, 2)


@claim("busafekete2021:def-2")
def check_def_2() -> Iterator[Check]:
    """Definition 2 against the inequality over all events, both ways round, and over what all peers send."""
    for m in (2, 3, 4, 5):
        law = channel(m, paper.local_pairs(m, 1.0).mechanism.shrinkage, pairing(m))
        what = f"{m} items, the paper's channel: loss over all events less the definition's"
        yield printed(what, eventwise_loss(law) - pointwise_loss(law), "==", 0, error=ROUNDING)
    law = channel(2, paper.local_pairs(2, 1.0).mechanism.shrinkage, pairing(2))
    both = np.array([np.kron(a, law[0]) for a in law])
    what = "two peers, one of whom changes the ranking: loss of all that is sent less the definition's"
    yield printed(what, eventwise_loss(both) - pointwise_loss(law), "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-3:ldp-stronger")
def check_ldp_stronger(epsilon: float = 1.0) -> Iterator[Check]:
    """Two items, two peers: every decision from local reports is centrally private; the converse fails."""
    law = channel(2, paper.local_pairs(2, epsilon).mechanism.shrinkage, pairing(2))
    reports = np.array([[np.kron(a, b) for b in law] for a in law])
    decisions = np.array(list(product((0, 1), repeat=4)))[1:-1]
    rejects = reports @ decisions.T
    outcomes = np.log(np.stack([rejects, 1 - rejects]))
    central = max(float(np.abs(np.diff(outcomes, axis=axis)).max()) for axis in (1, 2))
    agree = np.where(np.eye(2) == 1, 1, -1)  # of two peers with two possible rankings each
    answer = np.log((1 + math.tanh(epsilon / 2) * np.stack([agree, -agree])) / 2)
    kept = max(float(np.abs(np.diff(answer, axis=axis)).max()) for axis in (1, 2))
    yield printed("two peers: central loss of any decision from the paper's reports", central, "<=", epsilon + ROUNDING)
    yield printed(
        "randomised answer to 'do both agree?' from raw rankings: central loss", kept, "<=", epsilon + ROUNDING
    )
    yield printed("the same: local loss of what the peers hand over", pointwise_loss(np.eye(2)), ">", epsilon)


def public_channels(n_items: int, epsilon: float) -> list[NDArray[np.float64]]:
    """The paper's channel for every pairing that the curator may announce, each of shape (n_items!, 2^pairs)."""
    shrinkage = paper.local_pairs(n_items, epsilon).mechanism.shrinkage
    return [channel(n_items, shrinkage, pairs) for pairs in all_pairings(n_items)]


def padded_channels() -> list[NDArray[np.float64]]:
    """A bit sent through a public pad: as it is, or reversed."""
    return [np.eye(2), np.eye(2)[::-1]]


@claim("busafekete2021:def-3")
def check_def_3() -> Iterator[Check]:
    """Definition 3 against the loss of pairing and output seen together; and what hiding the pairing would change."""
    family = public_channels(4, 1.0)
    seen = np.hstack(family) / len(family)
    worst = max(map(pointwise_loss, family))
    what = "4 items, 3 pairings: loss over all events of pairing and output together, less the definition's"
    pads = padded_channels()
    yield printed(what, eventwise_loss(seen) - worst, "==", 0, error=ROUNDING)
    yield printed("4 items: the definition's loss of Algorithm 6, ε₀ = 1", worst, "<=", 1 + ROUNDING)
    yield printed(
        "a bit sent under a public pad: the definition's loss", max(map(pointwise_loss, pads)), "==", math.inf
    )
    yield printed("the same were the pad kept secret", pointwise_loss((pads[0] + pads[1]) / 2), "==", 0, error=ROUNDING)


def channel_losses(epsilon: float, most: int = 6) -> pd.DataFrame:
    """Exact privacy loss of Algorithm 6 as printed, from all rankings and outputs, beside the library's guarantee.

    Columns: ``items``, ``pairs``, ``loss``, ``guarantee``.
    """
    rows = []
    for m in range(2, most + 1):
        test = paper.local_pairs(m, epsilon).mechanism
        loss = float(np.ptp(np.log(channel(m, test.shrinkage, pairing(m))), axis=0).max())
        rows.append({"items": m, "pairs": m // 2, "loss": loss, "guarantee": test.guarantee.epsilon})
    return pd.DataFrame(rows)


@claim("busafekete2021:alg-5")
def check_alg_5(epsilons: Sequence[float]) -> Iterator[Check]:
    """Every even number of items spends epsilon_0 exactly, every odd one less."""
    for epsilon in epsilons:
        losses = channel_losses(epsilon)
        ratio = losses.loss / epsilon
        even = losses["items"] % 2 == 0
        what = f"items, ε₀ = {epsilon:g}: "
        yield printed(f"2 to 6 {what}largest loss over ε₀", ratio.max(), "<=", 1 + ROUNDING)
        yield printed(f"2, 4, 6 {what}least loss over ε₀", ratio[even].min(), "==", 1, error=ROUNDING)
