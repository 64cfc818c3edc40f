"""Qiao, Su and Zhang (2021), Section 1: what the selected items know of each other, and what composition gives away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from companion.chapters.private_top_k.peeling import order_law, peeled_scale
from companion.chapters.private_top_k.pure import log_set_chance
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import list_chances, printed_scale, theorem_2_1
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.ledger.files import find_root
from dprank.topk.bound import shift_for
from dprank.topk.noise_laws import Noise
from dprank.topk.peeling import Peeling


def next_chance(values: Sequence[float], noise: Noise) -> float:
    """Chance that in one pass the second item comes second, given that the first comes first; values in scales."""
    return float(np.divide(list_chances(values, [(0, 1)], noise), list_chances(values, [(0,)], noise))[0])


def next_loss(items: int, shift: float, noise: Noise, one_pass: bool) -> float:
    """Loss of the second item given the first, of equal items: the second falls by `shift` scales, the others rise."""
    before, after = np.zeros(items), np.full(items, shift)
    after[1] = -shift
    if one_pass:
        ratio = next_chance(before.tolist(), noise) / next_chance(after.tolist(), noise)
    else:  # a round among those that are left
        ratio = order_law(before[1:], 1, 1.0, noise)[0,] / order_law(after[1:], 1, 1.0, noise)[0,]
    return abs(math.log(ratio))


@claim("qiao2021:sec-1:dependence")
def check_dependence(
    sizes: Sequence[int] = (3, 5, 10, 20), shifts: Sequence[float] = (0.01, 0.1, 1.0)
) -> Iterator[Check]:
    """Whether the next item, given the items before, keeps the promise of a round."""

    def largest(noise: Noise, one_pass: bool) -> float:
        return max(next_loss(m, a, noise, one_pass) / (2 * a) for m in sizes for a in shifts)

    what = f"loss of the second of equal items, given the first, over 2s/λ, up to {max(sizes)} items, largest:"
    once = largest("laplace", one_pass=True)
    yield printed(f"{what} one pass of Laplace noise", once, ">", 1)
    yield printed(f"{what} rounds of Laplace noise", largest("laplace", one_pass=False), "<=", 1 + ROUNDING)
    yield printed(f"{what} one pass of Gumbel noise", largest("gumbel", one_pass=True), "<=", 1 + ROUNDING)
    yield amended(f"{what} one pass of Laplace noise", once, "==", 1.09, error=0.005)


@claim("qiao2021:sec-1:slack")
def check_slack(ks: Sequence[int] = (100, 1000, 10_000), epsilon: float = 0.2, delta: float = 1e-6) -> Iterator[Check]:
    """Generic composition of k rounds against what better use of the rounds, or none of them, asks for."""
    what = f"k = {', '.join(f'{k:,}' for k in ks)}, ε = {epsilon:g}, δ = {delta:g}"
    advanced, optimal, zcdp = (
        np.array([peeled_scale(k, epsilon, delta, how) for k in ks]) for how in ("advanced", "optimal", "zcdp")
    )
    gumbel = [Peeling.calibrated(epsilon=epsilon, delta=delta, k=k, noise="gumbel", composition="zcdp") for k in ks]
    ours = np.array([1 / shift_for(k, epsilon, delta) for k in ks])
    theirs = np.array([printed_scale(k, epsilon, delta, 2 * k) for k in ks])
    ranged = float((np.array([it.scale for it in gumbel]) / zcdp).max())
    yield printed(
        f"noise of peeling by optimal over that by advanced composition, largest, {what}",
        float((optimal / advanced).max()),
        "<",
        1,
    )
    yield printed(
        f"noise of one pass by our direct bound over peeling by advanced composition, largest, {what}",
        float((ours / advanced).max()),
        "<",
        1,
    )
    yield printed(
        f"scale of peeled Gumbel noise by its bounded range over that by pure privacy of the rounds, {what}",
        ranged,
        "==",
        0.5,
        error=1e-6,
    )
    yield amended(
        f"noise of Theorem 2.2, m = 2k, over peeling by advanced composition, least, {what}",
        float((theirs / advanced).min()),
        ">",
        2,
    )
    yield amended(
        f"noise of one pass by our direct bound over peeling by optimal composition, least, {what}",
        float((ours / optimal).min()),
        ">",
        1,
    )


@claim("qiao2021:sec-1:precise")
def check_precise(k: int = 2, items: int = 5, epsilon: float = 1.0, wide: float = 1000.0) -> Iterator[Check]:
    """Whether Theorems 2.1 and 2.2 say how useful the set is: they allow any larger noise, too."""
    least = theorem_2_1(k, epsilon)
    lead = 20 * least * (np.arange(items) < k)
    right = [math.exp(log_set_chance(lead / scale, k)) for scale in (least, wide * least)]
    at = f"{k} of {items} items, the first {k} ahead by 20 times 2ks/ε, ε = {epsilon:g}"
    what = f"P(right set) at λ = {wide:g} · 2ks/ε, which Theorem 2.1 allows, over that at λ = 2ks/ε, {at}"
    yield printed(what, right[1] / right[0], ">=", 0.5, reading="they state how useful the set is")
    scale = peeled_scale(k, epsilon, 0.0, "basic") / least
    what = f"noise of a peeled round over the least that Theorem 2.1 allows, k = {k}, ε = {epsilon:g}"
    reading = "they state the noise, which can be held against that of peeling"
    yield printed(what, scale, "==", 1, reading=reading, error=ROUNDING)
    yield amended(what, scale, "==", 1, error=ROUNDING)
    lot = 1 / math.comb(items, k)
    yield argument(f"P(right set) at the larger noise less 1/C({items}, {k}), pure chance", right[1] - lot, "<=", 0.01)


def told_of(words: Sequence[str], sentences: Sequence[Mapping[str, Any]]) -> int:
    """How many sentences between introduction and discussion speak of something, and are judged by a claim."""
    outer = "Title", "Abstract", "Section 1", "Footnote 1", "Section 5"
    inner = [it for it in sentences if not it["place"].startswith(outer)]
    return sum("claims" in it and any(word in it["says"].lower() for word in words) for it in inner)


@claim("qiao2021:sec-5:applications")
def check_applications() -> Iterator[Check]:
    """Whether the paper has something to say on multiple testing and on pairwise comparison, by its sentences."""
    path = find_root() / "data" / "sentences" / "qiao2021.yml"
    sentences = yaml.safe_load(path.read_text(encoding="utf-8"))
    what = "sentences of Sections 2 to 4 that assert something on"
    tests = told_of(("test", "hypothes", "false discover", "p-value"), sentences)
    yield printed(f"{what} multiple testing", tests, ">", 0)
    yield amended(f"{what} pairwise comparison", told_of(("comparison", "compared", "pairwise"), sentences), ">", 0)
