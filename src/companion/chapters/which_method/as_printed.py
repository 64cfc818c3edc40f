"""The papers' own mechanisms in the arena: with the noise that is printed, and with as much of it as epsilon needs.

At its own word a mechanism draws the noise that its paper prints for an epsilon. What that spends is proved of the
noise drawn: more than epsilon where the print is wrong, less where it wastes. At equal privacy it is the same
mechanism, of that printed epsilon which spends just the one that is asked for. None of them is fit for release: they
draw real numbers. The test of batches (BUNIF) is not here: what is provable of it as printed is no epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from companion.printed import Printed, alabi2022, busafekete2021, cai2025, qiao2021
from dprank._search import largest_under
from dprank.plan.setting import Setting

__all__ = ["EQUAL", "OWN", "is_printed", "printed"]

#: What follows the name of a class.
OWN, EQUAL = "(as printed)", "(as printed, equal privacy)"
#: Items up to which pairs are asked one by one.
_FEW = 20
#: Share by which two epsilons are the same, and by which a print is off at most.
_SAME, _WORST = 1e-6, 2.0**20

Maker = Callable[[float], Printed]


def is_printed(method: str) -> bool:
    """Whether a method of the arena is one of these, by its name."""
    return method.endswith((OWN, EQUAL))


@cache
def printed(setting: Setting, strengths: bool = False) -> dict[tuple[str, float, str], Any]:
    """Mechanisms that answer a question, or estimate strengths, at an epsilon, by name, delta and trust."""
    found = {}
    for name, trust, maker in _makers(setting, strengths):
        for how, made in _calibrated(maker, setting.epsilon):
            found[name + how, made.claims.delta, trust] = _for_most(made.mechanism)
    return found


def _calibrated(maker: Maker, epsilon: float) -> Iterator[tuple[str, Printed]]:
    """At its own word, and at equal privacy where that is another."""

    def spent(said: float) -> float:
        try:
            return float(maker(said).guarantee.epsilon)
        except ValueError:
            return 0.0 if said < epsilon else math.inf

    try:
        own = maker(epsilon)
        yield OWN, own
        same = math.isclose(own.guarantee.epsilon, epsilon, rel_tol=_SAME)
        if not same and spent(epsilon / _WORST) <= epsilon < spent(epsilon * _WORST):
            equal = maker(largest_under(spent, epsilon, epsilon, 2.0**-30))
            if math.isclose(equal.guarantee.epsilon, epsilon, rel_tol=_SAME):
                yield EQUAL, equal
    except ValueError:  # it is not printed for so much
        return


def _for_most(mechanism: Any) -> Any:
    """The same for the largest counts, where the paper asks for the smallest."""
    return replace(mechanism, largest=True) if hasattr(mechanism, "largest") else mechanism


def _makers(setting: Setting, strengths: bool) -> Iterator[tuple[str, str, Maker]]:
    """Name of the class, trust, and what makes it of a printed epsilon."""
    m, n, delta, answers = setting.n_items, setting.persons, setting.delta, setting.answers[-1]
    if setting.question == "ranking":
        if not strengths:
            yield "NoisyCounts", "curator", lambda e: cai2025.algorithm_3(e, m, per_person=answers, design="once")
        yield "PerturbedMLE", "curator", lambda e: cai2025.proposition_3_1(e, m, per_person=answers)
    elif setting.question == "consensus":
        yield "NoisyMatrix", "curator", lambda e: alabi2022.corollary_3(m, e)
        yield "NoisyMatrix", "curator", lambda e: alabi2022.corollary_4(m, e, delta)
        if m <= _FEW:
            pairs = math.comb(m, 2)
            yield "PrivateKwikSort", "curator", lambda e: alabi2022.corollary_6(m, pairs, e)
            yield "PrivateKwikSort", "curator", lambda e: alabi2022.corollary_7(m, pairs, e, delta)
            yield "LocalMatrix", "nobody", lambda e: alabi2022.algorithm_2(m, e)
    elif setting.question == "topk":
        asked: dict[str, Any] = {"n_items": m, "k": setting.k, "values": False}
        yield "Oneshot", "curator", lambda e: qiao2021.theorem_2_1(epsilon=e, **asked)
        yield "Oneshot", "curator", lambda e: qiao2021.theorem_2_2(epsilon=e, delta=delta, **asked)
    elif setting.question == "agreement":
        bias = busafekete2021.unif_bias(m, -math.log(setting.phi))
        yield "LaplaceUnif", "curator", lambda e: busafekete2021.laplace_unif(m, n, e, setting.size)
        yield "Trun", "curator", lambda e: busafekete2021.trun(m, n, e, setting.size, bias)
        yield "LocalPairs", "nobody", lambda e: busafekete2021.local_pairs(m, e, setting.size)
