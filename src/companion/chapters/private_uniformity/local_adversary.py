"""What an adversary learns from public pairings, and the lower bound for two items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from companion.chapters.private_uniformity.local_channels import printed_channel
from companion.chapters.private_uniformity.local_samples import growth, printed_order
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, argument, claim, printed


def best_guess(n_items: int, epsilon: float) -> float:
    """Most probable success of a guess at a uniform ranking after any epsilon-LDP output: e^eps / (e^eps + m! - 1)."""
    return 1 / (1 + (math.factorial(n_items) - 1) * math.exp(-epsilon))


def guess_pairs(n_items: int, epsilon: float) -> float:
    """Success of the best guess at a uniform ranking after the paper's channel, by enumeration."""
    law = printed_channel(n_items, epsilon)
    return float(law.max(0).sum() / len(law))


@claim("busafekete2021:sec-7.3:adversary")
def check_adversary(
    items: Sequence[int] = (2, 3, 4, 5),
    epsilons: Sequence[float] = (1 / 3, 1.0, 5.0),
    many: int = 10,
    large: float = 20.0,
) -> Iterator[Check]:
    """What an adversary who starts from all rankings equally likely can know."""
    certain, often = "know = be certain", "know = be right 19 times in 20"
    sure, guess = best_guess(2, large), guess_pairs(2, epsilons[-1])
    yield printed(f"largest probability of a right guess, ε₀ = {large:g}", sure, "<", 1, reading=certain)
    # of two rankings no report tells more than randomised response of the whole budget
    yield argument("log odds of that guess: ε₀", math.log(sure / (1 - sure)), "==", large, error=1e-6)
    what = f"m = 2, ε₀ = {epsilons[-1]:g}: probability of a right guess"
    yield printed(what, guess, "<=", 0.95, reading=often)
    yield argument(f"{what}, log odds", math.log(guess / (1 - guess)), "==", epsilons[-1], error=ROUNDING)
    excess = {(m, e): guess_pairs(m, e) - best_guess(m, e) for m in items for e in epsilons}
    what = f"the paper's channel: most success above e^ε₀/(e^ε₀ + m! − 1), {len(excess)} cases"
    yield amended(what, max(excess.values()), "<=", ROUNDING)
    most = max(abs(excess[2, e]) for e in epsilons)
    yield amended("m = 2, where the bound is attained: most off it", most, "<=", ROUNDING)
    what = "m = 2, e^ε₀ = 3: probability of a right guess"
    yield amended(what, guess_pairs(2, math.log(3)), "==", 3 / 4, error=ROUNDING)
    blind, e = math.factorial(many), epsilons[0]
    gain = best_guess(many, e) * blind
    yield amended(f"m = {many}, ε₀ = {e:.3g}: success over blind success", gain, "<=", math.exp(e))
    lost = (math.exp(e) / gain - 1) * blind / math.expm1(e)
    yield argument("e^ε₀ over that gain, less 1, times m!/(e^ε₀ − 1)", lost, "==", 1, error=1e-6)


def coin_samples(epsilon: float, bias: float, delta: float) -> tuple[float, float]:
    """Two items: reports that any epsilon-LDP test needs, and that suffice for randomised response.

    Below: Bretagnolle and Huber, from both errors at most `delta`; any binary channel is randomised response
    followed by noise. Above: Hoeffding, for the test that rejects when abs(sum) >= sqrt(2 k log(2 / delta)).
    """
    mean = math.tanh(epsilon / 2) * bias
    enough = 2 * (math.sqrt(math.log(2 / delta)) + math.sqrt(math.log(1 / delta))) ** 2 / mean**2
    return math.log(1 / (4 * delta)) / (-0.5 * math.log1p(-(mean**2))), enough


@claim("busafekete2021:sec-8:ldp-lower")
def check_ldp_lower(
    delta: float = 0.05,
    biases: Sequence[float] = (0.01, 0.1, 0.5, 0.9),
    epsilons: Sequence[float] = tuple(np.geomspace(1e-3, 1, 31)),
    wide: Sequence[float] = (10.0, 100.0),
    small: float = 1e-4,
    tiny: float = 1e-300,
) -> Iterator[Check]:
    """Both bounds of two items, times epsilon_0^2 and the squared bias."""
    need, enough, as_printed = (
        np.array([f(b, e) * (e * b) ** 2 for b, e in product(biases, epsilons)])
        for f in (
            lambda b, e: coin_samples(e, b, delta)[0],
            lambda b, e: coin_samples(e, b, delta)[1],
            lambda b, e: printed_order(2, 2 * math.atanh(b), e, delta),
        )
    )
    odds = printed_channel(2, small)
    what = f"odds that a report is kept, e^γ, less 1 over ε₀ at γ = ε₀ = {small:g}"
    yield printed(what, (odds.max() / odds.min() - 1) / small, "==", 1, error=small)
    rate = growth([printed_order(2, 0.2, e, delta) for e in wide], wide)
    at = f"m = 2, bias {biases[0]:g}, ε₀ = {epsilons[0]:g} to {epsilons[10]:g}"
    for what, values in (("the k that is necessary", need), ("Theorem 7's k", as_printed)):
        slope = math.log(values[10] / values[0]) / math.log(epsilons[10] / epsilons[0])
        yield printed(f"exponent of ε₀ in {what}, {at}", slope - 2, "==", -2, error=0.02)
    what = f"exponent of ε₀ in Theorem 7's k at m = 2, ε₀ = {wide[0]:g} to {wide[1]:g}: no −2"
    yield amended(what, rate, ">", -0.1)
    of = f"ε₀ ≤ 1, bias b, {len(need)} cases"
    yield amended(f"{of}: least of (needed k) ε₀² b²", need.min(), ">=", 2.0)
    yield amended(f"{of}: most of (sufficient k) ε₀² b²", enough.max(), "<=", 130.0)
    yield amended(f"{of}: most of (Theorem 7's k) ε₀² b²", as_printed.max(), "<=", 100.0)
    # a report's mean is ε₀ b / 2 in the limit, and μ is b / 4
    tests = math.sqrt(math.log(2 / delta)) + math.sqrt(math.log(1 / delta))
    limits = {
        "needed k": (need, 8 * math.log(1 / (4 * delta))),
        "sufficient k": (enough, 8 * tests**2),
        "Theorem 7's k": (as_printed, 64 * math.sqrt(math.log(1 / delta) / 2)),
    }
    for what, (values, limit) in limits.items():
        of = f"({what}) ε₀² b² at b = {biases[0]:g}, ε₀ = {epsilons[0]:g}, over its limit"
        yield argument(of, values[0] / limit, "==", 1, error=1e-3)
    ratio = printed_order(2, 0.2, 1.0, tiny, private=True) / coin_samples(1.0, math.tanh(0.1), tiny)[0]
    yield amended(f"δ = {tiny:g}, ε₀ = 1: √(log(1/δ)/m)/μ₀′² over the needed k", ratio, "<=", 0.05)
    # √(L/2) over 2 (L − log 4), but for the square of the mean
    log = math.log(1 / tiny)
    rest = ratio / math.sqrt(log / 2) * 2 * (log - math.log(4))
    yield argument("the same over √(L/2) / (2 (L − log 4))", rest, "==", 1, error=0.01)
