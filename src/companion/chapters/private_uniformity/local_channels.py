"""What local privacy means, by enumeration: channels, public and secret randomness, Definitions 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_pairings, all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed
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


def events(outputs: int) -> NDArray[np.bool_]:
    """All non-empty sets of outputs, a column each, the full one last."""
    chosen = chain.from_iterable(combinations(range(outputs), size + 1) for size in range(outputs))
    return np.array([np.isin(range(outputs), event) for event in chosen]).T


def eventwise_loss(law: NDArray[np.float64]) -> float:
    """The largest log ratio over all non-empty sets of outputs and all ordered pairs of rows; at most 12 outputs."""
    chances = law @ events(law.shape[1])
    return float(np.log(chances.max(0) / chances.min(0)).max())


def pairing(n_items: int) -> NDArray[np.int64]:
    """The pairs (0, 1), (2, 3), ..., shape (pairs, 2)."""
    return np.arange(0, n_items - 1, 2)[:, None] + range(2)


def printed_channel(n_items: int, epsilon: float) -> NDArray[np.float64]:
    """The paper's channel, `channel` of the pairs (0, 1), (2, 3), ..."""
    return channel(n_items, paper.local_pairs(n_items, epsilon).mechanism.shrinkage, pairing(n_items))


@claim("busafekete2021:def-2")
def check_def_2(items: Sequence[int] = (2, 3, 4, 5), epsilon: float = 1.0) -> Iterator[Check]:
    """Definition 2 against the inequality over all events, both ways round, and over what all peers send."""
    for m in items:
        law = printed_channel(m, epsilon)
        own, of = pointwise_loss(law), f"{m} items, the paper's channel"
        what = f"{of}: loss over all {2 ** law.shape[1]} events less the definition's"
        yield printed(what, eventwise_loss(law) - own, "==", 0, error=ROUNDING)
        spent = 2 * (m // 2) * epsilon / m
        yield argument(f"{of}: the definition's loss, 2⌊m/2⌋ε₀/m", own, "==", spent, error=ROUNDING)
    law = printed_channel(2, epsilon)
    both = np.array([np.kron(a, law[0]) for a in law])
    what = "two peers, one of whom changes the ranking: loss of all that is sent less ε₀"
    yield printed(what, eventwise_loss(both) - epsilon, "==", 0, error=ROUNDING)


def most_apart(chances: NDArray[np.float64]) -> float:
    """Largest log ratio of chances of a decision when one of two peers changes the ranking.

    Shape (rankings of one peer, rankings of the other, decisions).
    """
    return max(float(np.ptp(np.log(chances), axis=axis).max()) for axis in range(2))


@claim("busafekete2021:sec-3:ldp-stronger")
def check_ldp_stronger(epsilon: float = 1.0) -> Iterator[Check]:
    """Two items, two peers: every decision from local reports is centrally private; the converse fails."""
    law = printed_channel(2, epsilon)
    reports = np.array([[np.kron(a, b) for b in law] for a in law])
    decisions = events(4)[:, :-1]
    central = most_apart(reports @ decisions)
    what = f"two peers: central loss of any of {len(decisions.T)} decisions from the paper's reports"
    yield printed(what, central, "<=", epsilon + ROUNDING)
    yield argument(f"{what}: ε₀, by one peer's report", central, "==", epsilon, error=ROUNDING)
    # of two peers with two possible rankings each: yes, no
    right = (1 + math.tanh(epsilon / 2)) / 2
    yes = np.where(np.eye(2) == 1, right, 1 - right)
    kept = most_apart(np.dstack([yes, 1 - yes]))
    what = "randomised answer to 'do both agree?' from raw rankings: central loss"
    yield printed(what, kept, "<=", epsilon + ROUNDING)
    yield argument(f"{what}, ε₀", kept, "==", epsilon, error=ROUNDING)
    yield printed("the same: local loss of what the peers hand over", pointwise_loss(np.eye(2)), ">", epsilon)


def public_channels(n_items: int, epsilon: float) -> list[NDArray[np.float64]]:
    """The paper's channel for every pairing that the curator may announce, each of shape (n_items!, 2^pairs)."""
    shrinkage = paper.local_pairs(n_items, epsilon).mechanism.shrinkage
    return [channel(n_items, shrinkage, pairs) for pairs in all_pairings(n_items)]


def padded_channels() -> list[NDArray[np.float64]]:
    """A bit sent through a public pad: as it is, or reversed."""
    return [np.eye(2), np.eye(2)[::-1]]


@claim("busafekete2021:def-3")
def check_def_3(epsilon: float = 1.0) -> Iterator[Check]:
    """Definition 3 against the loss of pairing and output seen together; and what hiding the pairing would change."""
    family = public_channels(4, epsilon)
    seen = np.hstack(family) / len(family)
    worst = max(map(pointwise_loss, family))
    what = f"4 items, {len(family)} pairings: loss over all events of pairing and output, less the definition's"
    yield printed(what, eventwise_loss(seen) - worst, "==", 0, error=ROUNDING)
    yield argument("chance of all that may be seen, for each ranking", seen.sum() / 24, "==", 1, error=ROUNDING)
    what = "4 items: the definition's loss of Algorithm 6"
    yield printed(f"{what}, ε₀ = {epsilon:g}", worst, "<=", epsilon + ROUNDING)
    yield argument(f"{what}: ε₀, spent in full", worst, "==", epsilon, error=ROUNDING)
    pads = padded_channels()
    most = max(map(pointwise_loss, pads))
    yield printed("a bit sent under a public pad: the definition's loss", most, "==", math.inf)
    yield printed("the same were the pad kept secret", pointwise_loss(np.mean(pads, axis=0)), "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-6:worst-pair")
def check_worst_pair(items: Sequence[int] = (2, 4), epsilon: float = 1.0) -> Iterator[Check]:
    """The displayed log ratio, for the two rankings as they are named."""
    for m in items:
        law = printed_channel(m, epsilon)
        signs = pair_signs(all_rankings(m), pairing(m))
        down, up = (int((signs == s).all(axis=1).argmax()) for s in (-1, 1))
        both = [int((signs[row] == s).sum()) for row, s in ((down, -1), (up, 1))]
        yield argument(f"m = {m}: signs of the two rankings that are as named", sum(both), "==", 2 * (m // 2))
        ratio = math.log(law[down, -1] / law[up, -1])
        what = f"m = {m}: log P((1,…,1)|π)/P((1,…,1)|π′), ε₀ = {epsilon:g}"
        yield printed(f"{what}, π all −1, π′ all 1", ratio, "==", epsilon, error=ROUNDING)
        yield amended(f"{what}, π and π′ exchanged", -ratio, "==", epsilon, error=ROUNDING)


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
