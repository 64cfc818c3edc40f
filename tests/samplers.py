"""Do the exact samplers draw their laws? `make samplers`: ten million draws of each, weekly.

    make samplers                                        # an hour or two of processor, shared by all of them
    make samplers ARGS="--draws 100000 laplace gaussian"  # a look

Everything in `dprank` that draws from the operating system's randomness is asked through its public door, with
`dprank.SECURE`, and its outcomes are counted. The law is computed apart: from its definition, summed over all outcomes,
in numbers of python-flint with 200 bits, by nothing that `dprank` computes laws with. A chi-square test compares the
two; outcomes of which fewer than 25 are expected count as one. A sound package fails a run with chance ALARM, about, of
all samplers together: each may take an equal share of it. A law whose parameter is off by 1 % is found in ten million
draws (`test_samplers.py` shows it of every sampler); in fewer, one that is further off.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from multiprocessing import get_context
from time import process_time
from typing import Any

import flint
import numpy as np
from scipy import stats

import dprank
from dprank.privacy import bulk, conditioned, cube, noise, randomized_response, reports
from dprank.uniformity import tulap

#: The chance that all samplers are sound and one is denied.
ALARM = 1e-6
#: Outcomes of which fewer are expected are counted together.
FEW = 25
#: Draws that are counted at a time.
BLOCK = 100_000
DRAWS = 10**7
#: Beyond so many scales nothing is summed: exp(-150) is below 10^-65.
REACH = 150
SECURE = dprank.SECURE
flint.ctx.prec = 200

Outcome = tuple[int, ...]
Law = dict[Outcome, Any]


@dataclass(frozen=True)
class Sampler:
    """Draws of a sampler, an outcome a row, and its law with its parameter times `off`; modules it stands for."""

    draw: Callable[[int], Any]
    law: Callable[[Fraction], Law]
    modules: tuple[str, ...]
    slow: bool = False


def exact(number: float | Fraction) -> Any:
    """The rational number that a float is."""
    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def exp(loss: float | Fraction, scale: Fraction) -> Any:
    """exp(-loss / scale)."""
    return (-exact(loss) / exact(scale)).exp()


def shares(weights: Mapping[Outcome, Any]) -> Law:
    """Weights over their sum."""
    total = sum(weights.values(), exact(0))
    return {outcome: weight / total for outcome, weight in weights.items()}


def by_loss(outcomes: Iterable[Outcome], loss: Callable[[Outcome], float], scale: Fraction) -> Law:
    """Each outcome in proportion to exp(-loss / scale)."""
    weights: dict[float, Any] = {}
    return shares({it: weights.setdefault(lost := loss(it), exp(lost, scale)) for it in outcomes})


def whole(scale: float, least: int = -1) -> list[Outcome]:
    """Whole numbers within reach, from 0 on, or also those below."""
    far = math.ceil(REACH * scale)
    return [(x,) for x in range(far * least, far + 1)]


def tilted(outcomes: Iterable[Outcome], off: Fraction) -> Law:
    """Alike, but the first half `off` times as likely."""
    outcomes = list(outcomes)
    return shares({it: exact(off if at < len(outcomes) / 2 else 1) for at, it in enumerate(outcomes)})


def one_after_another(values: Outcome, k: int, first: Callable[[Outcome], Any]) -> Law:
    """Lists of k, if each place goes to one of those that are left, as `first` says."""
    law: Law = {(): exact(1)}
    for _ in range(k):
        law = {
            (*taken, left[at]): chance * share
            for taken, chance in law.items()
            for left in [[item for item in range(len(values)) if item not in taken]]
            for at, share in enumerate(first(tuple(values[item] for item in left)))
        }
    return law


def softmax(values: Outcome, scale: Fraction) -> list[Any]:
    """The exponential mechanism's chances: of the noisy maximum with Gumbel noise."""
    weights = [exp(max(values) - value, scale) for value in values]
    return [weight / sum(weights, exact(0)) for weight in weights]


def permute_and_flip(values: Outcome, scale: Fraction) -> list[Any]:
    """In a random order the first whose coin, exp(-(max - value) / scale), shows heads."""
    heads, chances = [exp(max(values) - value, scale) for value in values], [exact(0) for _ in values]
    for order in permutations(range(len(values))):
        still = exact(Fraction(1, math.factorial(len(values))))
        for item in order:
            chances[item] += still * heads[item]
            still *= 1 - heads[item]
    return chances


VALUES = (5, 3, 2, 0)
PAIRS = [*permutations(range(4), 2)]


def peeled(kind: Any, largest: bool) -> Callable[[int], Any]:
    values = np.array(VALUES if largest else [-it for it in VALUES])
    return lambda n: [SECURE.peel(values, 2, 2.7, kind, largest=largest) for _ in range(n)]


def few_at_a_time(draw: Callable[..., Any], scale: float) -> Callable[[int], Any]:
    """Draws in parts that OpenDP makes; the others are made here, all at once."""
    size = bulk.MANY - 1
    return lambda n: column(np.concatenate([draw(scale, min(size, n - at), rng=SECURE) for at in range(0, n, size)]))


def joint(ordered: bool) -> Callable[[int], Any]:
    mechanism = dprank.JointExponential(2, 2.7, n_items=4, adjacency="add_remove", ordered=ordered)

    def draw(n: int) -> Any:
        chosen = np.array([mechanism.release(VALUES, SECURE).items for _ in range(n)])
        return chosen if ordered else np.sort(chosen, axis=1)

    return draw


def too_early(chosen: Outcome) -> int:
    """The most that the value of a place of a list is below that of the best item of that place; values best first."""
    return max(VALUES[place] - VALUES[item] for place, item in enumerate(chosen))


def left_out(chosen: Outcome) -> int:
    """The largest value that a set leaves out, less the least that it has."""
    return max(v for item, v in enumerate(VALUES) if item not in chosen) - min(VALUES[item] for item in chosen)


#: Of four items somebody has the first two, and two blanks besides. Three codes are sent.
LOCAL = dprank.LocalTopK(1, 2, 3, 1, 2**52, n_items=4)


def local_sets(off: Fraction) -> Law:
    """With the chance c one of the sets that hold one of two codes, else any."""
    sets = [*combinations(range(6), 3)]
    fit = [it for it in sets if {0, 1} & set(it)]
    kept = exact(off / 2)
    return {it: (1 - kept) / len(sets) + (kept / len(fit) if it in fit else 0) for it in sets}


def tulap_cells(off: Fraction) -> Law:
    """Eighths of Tulap noise within 3.25: those next to the whole number w in proportion to exp(-|w| / scale)."""
    return by_loss([(it,) for it in range(-26, 26)], lambda it: abs((it[0] + 4) // 8), Fraction(1.3) * off)


def column(numbers: Any) -> Any:
    return np.asarray(numbers)[:, None]


def laws_of(scale: float, outcomes: Iterable[Outcome], loss: Callable[[Outcome], float]) -> Callable[[Fraction], Law]:
    outcomes = list(outcomes)
    return lambda off: by_loss(outcomes, loss, Fraction(scale) * off)


#: Widths that are no round numbers in binary, on both sides of 1.
NARROW, WIDE = 0.7, 7.3
#: And one of more than a digit, whose Gaussian noise has steps.
VERY_WIDE = 71.3
_NOISE = ("dprank.privacy.noise",)
_BULK = ("dprank.privacy.exact", "dprank.privacy.bulk")
SAMPLERS: dict[str, Sampler] = {
    **{
        f"laplace{told}, scale {scale}": Sampler(draw, laws_of(scale, whole(scale), lambda it: abs(it[0])), modules)
        for scale in (NARROW, WIDE, VERY_WIDE)
        for told, draw, modules in (
            ("", lambda n, scale=scale: column(noise.discrete_laplace(scale, n, rng=SECURE)), _BULK),
            (" by OpenDP", few_at_a_time(noise.discrete_laplace, scale), _NOISE),
        )
        if (told, scale) != (" by OpenDP", VERY_WIDE)
    },
    **{
        f"gaussian{told}, scale {scale}": Sampler(
            draw,
            # exp(-x^2 / (2 scale^2)): a parameter `off` times as large is a variance so
            laws_of(
                2 * Fraction(scale) ** 2,
                [(x,) for x in range(-20 * math.ceil(scale), 20 * math.ceil(scale) + 1)],
                lambda it: it[0] ** 2,
            ),
            modules,
        )
        for scale in (NARROW, WIDE, VERY_WIDE)
        for told, draw, modules in (
            ("", lambda n, scale=scale: column(noise.discrete_gaussian(scale, n, rng=SECURE)), _BULK),
            (" by OpenDP", few_at_a_time(noise.discrete_gaussian, scale), _NOISE),
        )
        if (told, scale) != (" by OpenDP", VERY_WIDE)
    },
    "geometric": Sampler(
        lambda n: column(noise.geometric(3.3, n, rng=SECURE)), laws_of(3.3, whole(3.3, 0), lambda it: it[0]), _BULK
    ),
    "geometric by OpenDP": Sampler(
        few_at_a_time(noise.geometric, 3.3), laws_of(3.3, whole(3.3, 0), lambda it: it[0]), _NOISE
    ),
    "conditioned": Sampler(
        lambda n: conditioned.conditioned_laplace(1.7, 3, n, rng=SECURE),
        laws_of(
            1.7,
            [(x, y, -x - y) for x, y in product(range(-70, 71), repeat=2)],
            lambda it: abs(it[0]) + abs(it[1]) + abs(it[2]),
        ),
        ("dprank.privacy.conditioned",),
        slow=True,
    ),
    "cube": Sampler(
        lambda n: cube.cube_noise(1.3, 2, n, rng=SECURE),
        laws_of(1.3, product(range(-70, 71), repeat=2), lambda it: max(map(abs, it))),
        ("dprank.privacy.cube",),
    ),
    "peel, gumbel": Sampler(
        peeled("gumbel", largest=True),
        lambda off: one_after_another(VALUES, 2, lambda left: softmax(left, Fraction(2.7) * off)),
        ("dprank.privacy.octaves",),
        slow=True,
    ),
    "peel, exponential": Sampler(
        peeled("exponential", largest=False),
        lambda off: one_after_another(VALUES, 2, lambda left: permute_and_flip(left, Fraction(2.7) * off)),
        ("dprank.privacy.octaves",),
        slow=True,
    ),
    "joint, lists": Sampler(
        joint(ordered=True),
        laws_of(2.7, PAIRS, too_early),
        ("dprank.topk.joint", "dprank.privacy.thresholds"),
        slow=True,
    ),
    "joint, sets": Sampler(
        joint(ordered=False),
        laws_of(2.7, combinations(range(4), 2), left_out),
        ("dprank.topk.joint", "dprank.privacy.thresholds"),
        slow=True,
    ),
    "randomised response": Sampler(
        lambda n: column(randomized_response.randomise(np.ones(n, np.int8), 2**53 // 10, SECURE)),
        lambda off: {(-1,): exact(chance := off * (2**53 // 10) / 2**53), (1,): exact(1 - chance)},
        ("dprank.privacy.randomized_response",),
    ),
    "local sets": Sampler(
        lambda n: LOCAL.sent(np.tile([0, 1], (n, 1)), SECURE), local_sets, ("dprank.topk.local",), slow=True
    ),
    "tulap": Sampler(
        lambda n: column(np.floor(8 * tulap.tulap(np.zeros(n, np.int64), 1.3, 3.25, rng=SECURE)).astype(np.int64)),
        tulap_cells,
        ("dprank.uniformity.tulap",),
        slow=True,
    ),
    "orders": Sampler(
        lambda n: [SECURE.permutation(4) for _ in range(n)],
        lambda off: tilted(permutations(range(4)), off),
        _NOISE,
    ),
    "orders by sorting": Sampler(
        lambda n: [bulk.permutation(4) for _ in range(n)], lambda off: tilted(permutations(range(4)), off), _BULK
    ),
    "lists": Sampler(
        lambda n: reports.random_lists(n, 4, 2, SECURE), lambda off: tilted(PAIRS, off), ("dprank.privacy.reports",)
    ),
}


@dataclass(frozen=True)
class Cells:
    """The outcomes of a law, each its cell; what is no outcome is in the last."""

    outcomes: tuple[Outcome, ...]

    def counts(self, drawn: Any) -> Any:
        """How many draws are in each cell."""
        drawn, known = np.asarray(drawn, np.int64), np.array(self.outcomes, np.int64)
        low = known.min(axis=0)
        shape = tuple(known.max(axis=0) - low + 1)
        table = np.full(shape, len(known))
        table[tuple((known - low).T)] = np.arange(len(known))
        inside = ((drawn >= low) & (drawn < low + shape)).all(axis=1)
        cells = np.full(len(drawn), len(known))
        cells[inside] = table[tuple((drawn[inside] - low).T)]
        return np.bincount(cells, minlength=len(known) + 1)


def p_value(counts: Any, law: Law) -> float:
    """Chi-square p-value of counts in the cells of a law; 0 if anything is where nothing may be."""
    chances = np.array([float(chance.mid()) for chance in law.values()])
    assert all(float(chance.rad()) < 1e-30 for chance in law.values())
    assert abs(chances.sum() - 1) < 1e-12
    counts = np.asarray(counts)
    if counts[-1]:
        return 0.0
    expected, seen = chances * counts.sum(), counts[:-1]
    rare = expected < FEW
    if rare.any():
        # together, with the least likely of the others where they are still few
        order = np.argsort(expected)
        last = int(np.searchsorted(np.cumsum(expected[order]), FEW))
        together = order[: max(int(rare.sum()), last + 1)]
        apart = np.setdiff1d(order, together)
        expected = np.r_[expected[apart], expected[together].sum()]
        seen = np.r_[seen[apart], seen[together].sum()]
    return float(stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), len(expected) - 1))


def drawn_counts(name: str, draws: int) -> tuple[Any, float]:
    """Counts of so many draws of a sampler, and the seconds of processor that they took."""
    sampler = SAMPLERS[name]
    cells, start = Cells(tuple(sampler.law(Fraction(1)))), process_time()
    parts = [min(BLOCK, draws - at) for at in range(0, draws, BLOCK)]
    counts = sum(cells.counts(sampler.draw(part)) for part in parts)
    return counts, process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="make samplers", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of names of samplers; all by default", metavar="NAME")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    chosen = [name for name in SAMPLERS if not given.names or name.startswith(tuple(given.names))]
    if not chosen:
        parser.error(f"names: none begins so; there are: {'; '.join(SAMPLERS)}")
    size = max(BLOCK, given.draws // 20)
    parts = [min(size, given.draws - at) for at in range(0, given.draws, size)]
    level, denied = ALARM / len(SAMPLERS), []
    print(f"{given.draws:,} draws each; denied below p = {level:.1e}")
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        done = {name: [pool.submit(drawn_counts, name, part) for part in parts] for name in chosen}
        for name, blocks in done.items():
            found = [block.result() for block in blocks]
            p = p_value(sum(counts for counts, _ in found), SAMPLERS[name].law(Fraction(1)))
            print(f"{name:<22} p = {p:<9.3g} {sum(seconds for _, seconds in found):7.0f} s{'  DENIED' * (p < level)}",
                  flush=True)  # fmt: skip
            denied += [name] * (p < level)
    sys.exit(f"not the law: {'; '.join(denied)}" if denied else 0)


if __name__ == "__main__":
    main()
