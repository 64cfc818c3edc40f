"""Choices for a top k of counts: a ladder down to the k-th item, and all others level a step below."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dprank.plan.laws import (
    Spread,
    ladder_order_right,
    ladder_share_right,
    ladder_top_right,
    told_apart,
)
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting

__all__ = ["Counted", "candidates"]


@dataclass(frozen=True)
class Counted(Candidate):
    """Noisy counts, the largest of which are named.

    Examples
    --------
    >>> one = candidates(Setting("topk", 1000, 5000, 1.0, k=3, gap=0.02, answers=(5,)))[0]
    >>> one.drawn(1.0).noise, round(one.measured(one.drawn(1.0)).top_right, 2)
    ('laplace', 0.32)
    """

    means = "the top k is right"

    @property
    def bound(self) -> int:
        return int(self.asked["per_person"])

    def drawn(self, epsilon: float) -> Drawn:
        made = self.made(epsilon)
        return Drawn(made.noise, made.scale, getattr(made, "value_scale", None))

    def epsilon_of(self, ratio: float) -> float:
        if self.base.__class__.__name__ == "Oneshot" and self.base.value_scale is not None:
            louder = replace(self.base, scale=self.base.scale * ratio, value_scale=self.base.value_scale * ratio)
            return float(louder.guarantee.epsilon)
        return super().epsilon_of(ratio)

    def _law(self, drawn: Drawn, persons: int, kept: float) -> tuple[float, int, int, Spread]:
        """Step, items on the ladder and below it, and the law of a count, if a person keeps such a share of items."""
        setting = self.setting
        share = kept * (setting.share - setting.gap / 2)
        law = Spread(math.sqrt(persons * share * (1 - share)), drawn.noise, drawn.scale)
        return persons * kept * setting.gap, setting.k, setting.n_items - setting.k, law

    def _kept(self) -> float:
        return sum(min(self.bound, given) for given in self.setting.given) / sum(self.setting.given)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        return ladder_top_right(*self._law(drawn, persons, self._kept()))

    def measured(self, drawn: Drawn) -> Measured:
        setting, persons = self.setting, self.setting.persons
        apart = told_apart(drawn.noise, drawn.scale, setting.n_items, 1.0)
        each = self._law(drawn, persons, self._kept())
        right = ladder_top_right(*each)
        return Measured(
            1 - ladder_share_right(*each),
            _bare(self._law(NONE, persons, 1.0)),
            _bare(self._law(NONE, persons, self._kept())),
            apart,
            apart / persons / self._kept(),
            None,
            ladder_order_right(*each),
            right,
        )


@cache
def _bare(law: tuple[float, int, int, Spread]) -> float:
    return 1 - ladder_share_right(*law)


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen; Laplace noise of a set, if neither order nor values are wanted.

    Examples
    --------
    >>> len(candidates(Setting("topk", 100, 1000, 1.0, k=3, gap=0.05, answers=(1, 5))))
    6
    """
    found: list[Candidate] = []
    if setting.trust == "nobody":
        return found
    for delta in sorted({0.0, setting.delta}):
        shared: dict[str, Any] = {
            "n_items": setting.n_items,
            "k": setting.k,
            "delta": delta,
            "adjacency": setting.adjacency,
        }
        told: dict[str, Any] = {"k": setting.k, "adjacency": setting.adjacency} | ({"delta": delta} if delta else {})
        for bound in setting.answers:
            for noise in ("laplace", "gumbel", "exponential"):
                if noise != "laplace" and bound != setting.answers[-1] and not setting.values:
                    continue  # costs the same for however many items of a person
                more = {"noise": noise, "ordered": setting.ordered, "per_person": bound}
                keys = more | ({"values": True} if setting.values else {})
                found.append(Counted(setting, "Oneshot", shared | keys, told | {"mechanism": "Oneshot"} | keys))
        if not setting.values:
            for noise in ("exponential", "gumbel"):
                keys = {"mechanism": "Peeling", "noise": noise, "per_person": setting.answers[-1]}
                found.append(Peeled(setting, "Peeling", shared | {"noise": noise}, told | keys))
    return found


@dataclass(frozen=True)
class Peeled(Counted):
    """Rounds of a noisy maximum: of Gumbel noise they have the law of one pass; permute-and-flip is no worse.

    Examples
    --------
    >>> one = candidates(Setting("topk", 100, 1000, 1.0, k=3, gap=0.05, answers=(3,)))[-1]
    >>> one.mechanism, one.drawn(1.0).noise
    ('Peeling', 'gumbel')
    """

    def drawn(self, epsilon: float) -> Drawn:
        return Drawn("gumbel", self.made(epsilon).scale)  # the law that bounds it
