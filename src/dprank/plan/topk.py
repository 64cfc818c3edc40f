"""Choices for a top k of counts: a ladder down to the k-th item, and all others level a step below."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dprank.mechanism import value_scale_of
from dprank.plan.laws import (
    Spread,
    ladder_order_right,
    ladder_share_right,
    ladder_top_right,
    told_apart,
)
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting

__all__ = ["Counted", "Reported", "candidates", "left_out"]


@dataclass(frozen=True)
class Counted(Candidate):
    """Noisy counts, the largest of which are named.

    Examples
    --------
    >>> one = candidates(Setting("topk", 1000, 5000, 1.0, k=3, gap=0.02, answers=(5,)))[0]
    >>> one.drawn(1.0).noise, round(one.measured(one.drawn(1.0)).top_right, 2)
    ('laplace', 0.32)
    """

    @property
    def bound(self) -> int:
        return int(self.asked["per_person"])

    def drawn(self, epsilon: float) -> Drawn:
        made = self.made(epsilon)
        return Drawn(made.noise, made.scale, value_scale_of(made))

    def epsilon_of(self, ratio: float) -> float:
        if self.base.__class__.__name__ == "Oneshot" and self.base.value_scale is not None:
            louder = replace(self.base, scale=self.base.scale * ratio, value_scale=self.base.value_scale * ratio)
            return float(louder.guarantee.epsilon)
        return super().epsilon_of(ratio)

    def _law(self, drawn: Drawn, persons: int, kept: float) -> tuple[float, int, int, Spread]:
        """Step, items on the ladder and below it, and the law of a count, if a person keeps such a share of items."""
        setting = self.setting
        share = self._share(kept)
        law = Spread(math.sqrt(persons * share * (1 - share)), drawn.noise, drawn.scale)
        return persons * kept * setting.gap, setting.k, setting.n_items - setting.k, law

    def _share(self, kept: float) -> float:
        """Of the people who have an item between the last of the top k and the next, if so much of each is kept."""
        return kept * (self.setting.share - self.setting.gap / 2)

    def _total(self, drawn: Drawn, persons: int) -> Drawn:
        """Noise on the counts of so many people."""
        return drawn

    def _kept(self) -> float:
        return sum(min(self.bound, given) for given in self.setting.given) / sum(self.setting.given)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        return ladder_top_right(*self._law(drawn, persons, self._kept()))

    def measured(self, drawn: Drawn) -> Measured:
        setting, persons = self.setting, self.setting.persons
        total = self._total(drawn, persons)
        apart = told_apart(total.noise, total.scale, setting.n_items, 1.0 if total is drawn else 0.0)
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
            span=setting.k * each[0],
        )


@cache
def _bare(law: tuple[float, int, int, Spread]) -> float:
    return 1 - ladder_share_right(*law)


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen; Laplace noise of a set, if neither order nor values are wanted.

    Examples
    --------
    >>> len(candidates(Setting("topk", 100, 1000, 1.0, k=3, gap=0.05, answers=(1, 5))))
    7
    """
    found: list[Candidate] = []
    if setting.trust == "nobody":
        name, m = "LocalTopK", setting.n_items
        each = [{"k": setting.k, "per_person": bound} for bound in setting.answers]
        local = [Reported(setting, name, {"n_items": m} | keys, {"mechanism": name} | keys) for keys in each]
        return [*local] if setting.adjacency == "replace" else []
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
    if not setting.values and not left_out(setting):
        from dprank.plan.joint import Together

        shared = {"n_items": setting.n_items, "k": setting.k, "adjacency": setting.adjacency}
        keys = {"ordered": setting.ordered, "per_person": setting.answers[-1]}
        told = {"k": setting.k, "adjacency": setting.adjacency, "mechanism": "JointExponential"} | keys
        found.append(Together(setting, "JointExponential", shared | {"ordered": setting.ordered}, told))
    return found


def left_out(setting: Setting) -> dict[str, str]:
    """Why something is not weighed.

    Examples
    --------
    >>> left_out(Setting("topk", 10**6, 10**6, 1.0, k=10, share=0.1, gap=0.01, answers=(5,), ordered=False))
    {'JointExponential': 'its chances are summed up to 50,000 = k times items'}
    """
    from dprank.plan.joint import LISTED, TABLED

    lists = setting.ordered and setting.k > 1
    most = LISTED if lists else TABLED
    if setting.values or setting.trust == "nobody" or setting.k * setting.n_items <= most:
        return {}
    how = "lists are drawn" if lists else "its chances are summed"
    return {"JointExponential": f"{how} up to {most:,} = k times items"}


@dataclass(frozen=True)
class Peeled(Counted):
    """Rounds of a noisy maximum: of Gumbel noise they have the law of one pass; permute-and-flip is no worse.

    Examples
    --------
    >>> one = candidates(Setting("topk", 100, 1000, 1.0, k=3, gap=0.05, answers=(3,)))[-2]
    >>> one.mechanism, one.drawn(1.0).noise
    ('Peeling', 'gumbel')
    """

    def drawn(self, epsilon: float) -> Drawn:
        return Drawn("gumbel", self.made(epsilon).scale)  # the law that bounds it


@dataclass(frozen=True)
class Reported(Counted):
    """Counts estimated from a report of everybody.

    Examples
    --------
    >>> setting = Setting("topk", 1000, 200_000, 1.0, k=3, gap=0.05, answers=(5,), trust="nobody")
    >>> one = candidates(setting)[0]
    >>> one.mechanism, round(one.measured(one.drawn(1.0)).top_right, 1)
    ('LocalTopK', 0.8)
    """

    def drawn(self, epsilon: float) -> Drawn:
        """What the report of one person adds to the count of an item near the end of the top k.

        Counts are supposed to be independent; with that deviation, two differ as widely as they do.
        """
        made = self.made(epsilon)
        return Drawn("gaussian", made.deviation(self._share(self._kept()), 1) * math.sqrt(1 - made.correlation))

    def _total(self, drawn: Drawn, persons: int) -> Drawn:
        return drawn._replace(scale=drawn.scale * math.sqrt(persons))

    def _law(self, drawn: Drawn, persons: int, kept: float) -> tuple[float, int, int, Spread]:
        step, k, rest, law = super()._law(NONE, persons, kept)
        if drawn.noise == "none":
            return step, k, rest, law
        return step, k, rest, Spread(math.hypot(law.deviation, self._total(drawn, persons).scale))
