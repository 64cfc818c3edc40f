"""What an adversary learns from public pairings, and the lower bound for two items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from companion.chapters.private_uniformity.local_channels import channel, pairing
from companion.chapters.private_uniformity.local_samples import growth, printed_order
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper


def best_guess(n_items: int, epsilon: float) -> float:
    """Most probable success of a guess at a uniform ranking after any epsilon-LDP output: e^eps / (e^eps + m! - 1)."""
    return 1 / (1 + (math.factorial(n_items) - 1) * math.exp(-epsilon))


def guess_pairs(n_items: int, epsilon: float) -> float:
    """Success of the best guess at a uniform ranking after the paper's channel, by enumeration."""
    law = channel(n_items, paper.local_pairs(n_items, epsilon).mechanism.shrinkage, pairing(n_items))
    return float(law.max(0).sum() / len(law))


@claim("busafekete2021:sec-7.3:adversary")
def check_adversary() -> Iterator[Check]:
    """What an adversary who starts from all rankings equally likely can know."""
    excess = max(guess_pairs(m, e) - best_guess(m, e) for m in (2, 3, 4, 5) for e in (1 / 3, 1.0, 5.0))
    sure = max(best_guess(m, e) for m in (2, 3, 10) for e in (1 / 3, 1.0, 5.0, 30.0))
    yield printed("largest probability of a right guess, ε₀ up to 30", sure, "<", 1, reading="know = be certain")
    yield printed(
        "m = 2, ε₀ = 5: probability of a right guess",
        guess_pairs(2, 5.0),
        "<=",
        0.95,
        reading="know = be right 19 times in 20",
    )
    yield amended("the paper's channel: most success above e^ε₀/(e^ε₀ + m! − 1)", excess, "<=", ROUNDING)
    yield amended("m = 2, where the bound is attained", guess_pairs(2, 5.0), "==", best_guess(2, 5.0), error=ROUNDING)
    yield amended(
        "m = 10, ε₀ = 1/3: success over blind success",
        best_guess(10, 1 / 3) * math.factorial(10),
        "<=",
        math.exp(1 / 3),
    )


def coin_samples(epsilon: float, bias: float, delta: float) -> tuple[float, float]:
    """Two items: reports that any epsilon-LDP test needs, and that suffice for randomised response.

    Below: Bretagnolle and Huber, from both errors at most `delta`; any binary channel is randomised response
    followed by noise. Above: Hoeffding, for the test that rejects when abs(sum) >= sqrt(2 k log(2 / delta)).
    """
    mean = math.tanh(epsilon / 2) * bias
    enough = 2 * (math.sqrt(math.log(2 / delta)) + math.sqrt(math.log(1 / delta))) ** 2 / mean**2
    return math.log(1 / (4 * delta)) / (-0.5 * math.log1p(-(mean**2))), enough


@claim("busafekete2021:sec-8:ldp-lower")
def check_ldp_lower(delta: float = 0.05, biases: Sequence[float] = (0.01, 0.1, 0.5, 0.9)) -> Iterator[Check]:
    """Both bounds of two items, times epsilon_0^2 and the squared bias."""
    need, enough, as_printed = [], [], []
    for b, e in product(biases, np.geomspace(1e-3, 1, 31)):
        low, high = coin_samples(e, b, delta)
        need.append(low * (e * b) ** 2)
        enough.append(high * (e * b) ** 2)
        as_printed.append(printed_order(2, 2 * math.atanh(b), e, delta) * (e * b) ** 2)
    wide = [10.0, 100.0]
    rate = growth([printed_order(2, 0.2, e, delta) for e in wide], wide)
    tiny = 1e-300
    ratio = printed_order(2, 0.2, 1.0, tiny, private=True) / coin_samples(1.0, math.tanh(0.1), tiny)[0]
    bounds = [
        ("ε₀ ≤ 1, bias b: least of (needed k) ε₀² b²", min(need), ">=", 2.0),
        ("ε₀ ≤ 1, bias b: most of (sufficient k) ε₀² b²", max(enough), "<=", 130.0),
        ("ε₀ ≤ 1, bias b: most of (Theorem 7's k) ε₀² b²", max(as_printed), "<=", 100.0),
    ]
    yield printed("e^γ − 1 over ε₀ at γ = ε₀ = 1e-4", math.expm1(1e-4) / 1e-4, "==", 1, error=1e-3)
    small = [1e-3, 1e-2]
    for what, samples in (
        ("the k that is necessary", [coin_samples(e, biases[1], delta)[0] for e in small]),
        ("Theorem 7's k", [printed_order(2, 2 * math.atanh(biases[1]), e, delta) for e in small]),
    ):
        name = f"exponent of ε₀ in {what}, m = 2, bias {biases[1]:g}, ε₀ = 0.001 to 0.01"
        yield printed(name, growth(samples, small), "==", -2, error=0.02)
    yield amended("exponent of ε₀ in Theorem 7's k at m = 2, ε₀ = 10 to 100: no −2", rate, ">", -0.1)
    for what, value, relation, bound in bounds:
        yield amended(what, value, relation, bound)
    yield amended("δ = 1e-300, ε₀ = 1: √(log(1/δ)/m)/μ₀′² over the needed k", ratio, "<=", 0.05)
