"""What a plan says before anything is spent: that nothing would be told apart, and orders that mislead."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any

from dprank.plan._bounds import costs_nothing, everything
from dprank.plan.crowd import crowd_of, misplaced
from dprank.plan.ranking import Counting
from dprank.plan.setting import Setting
from dprank.plan.tags import mechanism_class

__all__ = ["warned"]

#: Error of an order from which on it is hardly better than a random one, which has half of the pairs wrong.
_RANDOM = 0.45
#: Share of pairs that a rule turns round without noise, from which on that is said.
_TURNED = 0.05


def warned(setting: Setting, best: Any, choices: Sequence[Any]) -> Iterator[str]:
    """Sentences about the best of the choices; none where there is nothing to know.

    Examples
    --------
    >>> import dprank
    >>> dprank.plan("consensus", items=5, persons=4, epsilon=0.5).cautions[0][:30]
    'Nothing will be told apart: th'
    >>> dprank.plan("consensus", items=5, persons=4000, epsilon=0.5).cautions
    ()
    """
    yield from _lost(setting, best)
    if setting.delta > 1 / setting.persons:
        yield (
            f"delta = {setting.delta:.6g} is above 1 / {setting.persons} people: so often may nothing be promised at "
            "all, as if somebody's data were published as they are; take one far below 1 / people"
        )
    if setting.asks.data == "tallies":
        yield from _bounded(setting, best)
    if setting.asks.data == "comparisons":
        yield from _unequal(setting, best, choices)
    if setting.named is not None and setting.named < setting.n_items and setting.unranked != "last":
        yield from _left_out(setting, choices)


def _left_out(setting: Setting, choices: Sequence[Any]) -> Iterator[str]:
    """That ballots which leave items out say nothing of them."""
    turned = misplaced(crowd_of(setting))
    if setting.asks.release == "Selection":
        worst = max(choices, key=lambda choice: choice.sampling)
        turned, lost = worst.sampling, f"by {worst.parameters['rule']} another winner is named with chance "
        said = f"{lost}{turned:.0%} without noise, such as an item that nobody names, which is beaten by none"
    else:
        said = (
            "an item that many name last of all loses to one that nobody names. Without noise "
            f"{turned:.0%} of pairs come out the wrong way round"
        )
    if turned >= _TURNED:
        yield (
            f"Ballots that name {setting.named} of {setting.n_items} items say nothing of the others: {said}; if who "
            "leaves an item out puts it behind, declare --unranked last"
        )


def _lost(setting: Setting, best: Any) -> Iterator[str]:
    """That noise, or people's number, leaves nothing to see."""
    asks, more = setting.asks, "take more people or a larger epsilon"
    if best.apart is not None and best.span is not None and best.span <= best.apart:
        if asks.data == "tallies":
            yield (
                f"Counts will not be told apart: the first is {best.span:,.3g} ahead of those below the top k, and "
                f"differences up to {best.apart:,.3g} may be noise; {more}"
            )
        else:
            yield (
                f"Nothing will be told apart: the scores of the first and the last item differ by {best.span:,.3g}, "
                f"and differences up to {best.apart:,.3g} may be noise; {more}"
            )
    elif asks.release == "Ranking" and best.error >= _RANDOM:
        yield f"The order will be hardly better than a random one, which has 50% of pairs wrong; {more}"
    elif asks.orders_ballots and asks.release == "Selection" and 1 - best.error <= 1.5 / setting.n_items:
        yield f"The winner will be named hardly more often than by chance; {more}"
    elif asks.data == "tallies" and best.top_right is not None and best.top_right < _TURNED:
        yield f"The top k will hardly ever be the right one; {more}, or a smaller k"
    elif asks.release == "Decision" and 1 - best.error <= 2 * setting.size:
        yield f"Agreement will be found hardly more often than where there is none; {more}"


def _bounded(setting: Setting, best: Any) -> Iterator[str]:
    """That a bound leaves out what would cost nothing."""
    bound = best.parameters.get("per_person")
    if setting.trust == "nobody" or bound is None or bound >= everything(setting.n_items):
        return
    known = signature(mechanism_class(best.mechanism).calibrated).parameters
    asked = {key: value for key, value in best.parameters.items() if key in known}
    made = mechanism_class(best.mechanism).calibrated(epsilon=setting.epsilon, n_items=setting.n_items, **asked)
    if costs_nothing(made):
        yield (
            f"per-person = {bound} leaves out what somebody has beyond, so that a release may name another top "
            f"{setting.k} than that of all; without --per-person all would count, for the same noise"
        )


def _unequal(setting: Setting, best: Any, choices: Sequence[Any]) -> Iterator[str]:
    """That net wins are no order where some items meet others more often."""
    every = min(setting.given) == math.comb(setting.n_items, 2)  # whoever answers all pairs answers all alike
    if setting.balanced or every or best.mechanism == "PerturbedMLE":
        return
    if setting.balanced is None:
        worse = "" if best.elsewhere is None else f": about {best.elsewhere:.0%} of pairs would be wrong"
        yield (
            "All pairs are supposed to be asked equally often; say --balanced if they are. Where some items are asked "
            f"about more often, counts of wins are no order{worse}; say --unbalanced, and --public-graph if everybody "
            "may know who compared what"
        )
        return
    lost = Counting(setting, best.mechanism, {"score": best.parameters.get("score", "net")}).lasting()
    yield (
        "Counts of wins are no order of items that are compared unequally often: "
        f"{lost:.0%} of pairs come out wrong without noise, however many people there are"
    )
