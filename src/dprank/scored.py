"""What a release was scored by: its rule and unit, what of each person was counted, and how fine a score is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dprank.mechanism import HasFloor, HasNoiseLaw, value_scale_of
from dprank.release import Decision, Ranking, Release, Selection

__all__ = [
    "NOT_OFFERED",
    "Rule",
    "floor_of",
    "kept_of",
    "left_out_of",
    "rounded",
    "rule_named",
    "rule_of",
    "step_of",
    "supposes",
]

#: Rules that people may expect and dprank does not have.
NOT_OFFERED = "instant runoff, plurality, approval and Schulze"


@dataclass(frozen=True)
class Rule:
    """By what items are put in order, or chosen.

    Parameters
    ----------
    name : str
        In a published file.
    by : str
        The same in a sentence.
    says : str
        What an item is scored by, or what order it is, in words.
    unit : str
        What the scores are counted in; empty where there are none.

    Examples
    --------
    >>> Rule("most frequent", "counts", "people who have it", "people").unit
    'people'
    """

    name: str
    by: str
    says: str
    unit: str = ""


_NET = Rule("net wins", "net wins", "answers that it won, less those that it lost", "net wins")
_BEHIND = "items that a ballot puts behind it, less those ahead of it, over all ballots"
_BORDA = Rule(
    "Borda",
    "Borda's rule",
    "half the items that a ballot puts behind it, less half of those ahead of it, over all ballots",
    "Borda points",
)
_FREQUENT = Rule("most frequent", "counts", "people who have it", "people")
_LEAST = "the order that the fewest votes on pairs contradict"
_NEARLY = "an order that votes on pairs contradict little: no exchange of neighbours improves it"
#: The worst margin, where a voter may weigh more than one.
_HEAVY = Rule(
    "worst margin",
    "worst margin (maximin)",
    "weight of voters for it, less that of those against it, beside the rival that it does worst against",
    "units of weight",
)
#: By the name of a class, and of what it may be told of a rule.
_RULES: dict[str, Rule | dict[str, Rule]] = {
    "NoisyCounts": {
        "net": _NET,
        "half": Rule(
            "wins, a tie as half", "wins and half the ties", "answers that it won, and half of its ties", "wins"
        ),
        "wins": Rule("wins", "wins", "answers that it won", "wins"),
    },
    "PerturbedMLE": Rule(
        "Bradley-Terry", "Bradley-Terry strengths", "the strength that makes the answers likeliest", "log odds"
    ),
    "LocalComparisons": _NET,
    "PrivateBorda": _BORDA,
    "LocalBorda": _BORDA,
    "NoisyMatrix": {
        "auto": Rule("Kemeny", "Kemeny's rule", f"{_LEAST}; of more than 20 items that are close, {_NEARLY}"),
        "kemeny": Rule("Kemeny", "Kemeny's rule", _LEAST),
        "local_search": Rule("Kemeny, by local search", "Kemeny's rule, by local search", _NEARLY),
        "borda": Rule("Borda", "Borda's rule", _BEHIND),
        "copeland": Rule("Copeland", "Copeland's rule", "rivals that more ballots put behind it than ahead of it"),
    },
    "PrivateKwikSort": Rule("KwikSort", "KwikSort", "quicksort by votes on pairs, which is near Kemeny's rule"),
    "PrivateFootrule": Rule(
        "footrule", "the footrule", "the order that moves items least from their places on ballots"
    ),
    "ExponentialMechanism": Rule("Kemeny", "Kemeny's rule", f"{_LEAST}, or nearly"),
    "PrivateWinner": {
        "maximin": Rule(
            "worst margin",
            "worst margin (maximin)",
            "voters for it, less those against it, beside the rival that it does worst against",
            "voters",
        ),
        "borda": Rule("Borda", "Borda net wins", _BEHIND, "net wins"),
    },
    "Oneshot": _FREQUENT,
    "Peeling": _FREQUENT,
    "JointExponential": _FREQUENT,
    "LocalTopK": _FREQUENT,
}
_RULES["LocalMatrix"] = _RULES["NoisyMatrix"]
#: Items up to which the rule "auto" is exact.
_EXACT = 20
#: That count items of people; and that count answers.
_TALLIED = ("Oneshot", "Peeling", "JointExponential", "LocalTopK")
_COMPARED = ("NoisyCounts", "PerturbedMLE", "LocalComparisons")


def rule_named(name: str, way: str = "", n_items: int | None = None) -> Rule | None:
    """The rule of a mechanism by the name of its class, and by what it may be told of a rule or a score.

    Examples
    --------
    >>> rule_named("PrivateWinner", "maximin").by
    'worst margin (maximin)'
    """
    found = _RULES.get(name)
    if isinstance(found, dict):
        exact = way == "auto" and n_items is not None and n_items <= _EXACT
        return found.get("kemeny" if exact else way)
    return found


def rule_of(mechanism: Any) -> Rule | None:
    """By what a mechanism of the library puts items in order, or chooses; None of a test, and of what is foreign.

    Examples
    --------
    >>> import dprank
    >>> rule_of(dprank.PrivateWinner(3, 4.0)).name, rule_of(dprank.PrivateWinner(3, 8.0, rule="borda")).unit
    ('worst margin', 'net wins')
    """
    way = getattr(mechanism, "rule", None) or getattr(mechanism, "score", None) or ""
    rule = rule_named(type(mechanism).__name__, str(way), getattr(mechanism, "n_items", None))
    if rule is not None and rule.unit == "voters" and getattr(mechanism, "max_weight", 1) > 1:
        return _HEAVY
    return rule


def kept_of(mechanism: Any, unit: str = "person", bound: int | None = None, alone: bool = False) -> str:
    """What of each person was counted, in words.

    Parameters
    ----------
    mechanism : Mechanism
    unit : str
        What stands for a person: one of `dprank.sentences.UNITS`.
    bound : int, optional
        Of how many items of a person counted, where the mechanism itself has no bound.
    alone : bool
        Whether nothing counts of a person with several ballots.

    Examples
    --------
    >>> import dprank
    >>> kept_of(dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=6, per_person=3, design="once"))
    'at most 3 answers of each person, one to each pair'
    >>> kept_of(dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=6), "ballot")
    'every ballot by itself'
    """
    name, weight = type(mechanism).__name__, getattr(mechanism, "max_weight", 1)
    heavy = f", with a weight of {weight} at most" if weight > 1 else ""
    most = _bound(mechanism, bound)
    if getattr(mechanism, "unit", "voter") == "comparison":
        return "every answer by itself"
    if name in _TALLIED:
        if most is None or most >= getattr(mechanism, "n_items", most + 1):
            return f"every declared item of each {unit}"
        return f"at most {_some(most, 'item')} of each {unit}"
    if name in _COMPARED and most is not None:
        twice = {"once": ", one to each pair", "matching": ", one of each item"}.get(
            getattr(mechanism, "design", ""), ""
        )
        return f"at most {_some(most, 'answer')} of each {unit}{twice}{heavy}"
    one = "the ballot of each person who gave just one" if alone else "one ballot of each person"
    return (one if unit == "person" else f"every {unit} by itself") + heavy


def left_out_of(mechanism: Any, bound: int | None = None) -> str:
    """What a bound may have left out, in words; empty where none can have.

    Examples
    --------
    >>> import dprank
    >>> left_out_of(dprank.Oneshot.calibrated(epsilon=1.0, n_items=9, k=1, per_person=9))
    ''
    >>> left_out_of(dprank.Oneshot.calibrated(epsilon=1.0, n_items=9, k=1, per_person=1))
    'who has more lost the others, so that all items of everybody may be in another order'
    """
    name, most = type(mechanism).__name__, _bound(mechanism, bound)
    if most is None or getattr(mechanism, "unit", "voter") == "comparison":
        return ""
    if name in _TALLIED:
        there = mechanism.n_items is None or most < mechanism.n_items
        return "who has more lost the others, so that all items of everybody may be in another order" if there else ""
    # answers to a pair twice are left out by a design of their own
    there = getattr(mechanism, "design", "any") == "any" or most < math.comb(mechanism.n_items, 2)
    return "who gave more lost the others, so that all answers of everybody may be in another order" if there else ""


def _bound(mechanism: Any, bound: int | None) -> int | None:
    own = getattr(mechanism, "per_person", None)
    return own if type(own) is int else bound


def supposes(mechanism: Any, gaps: bool | None = None) -> str:
    """What an order by such scores supposes, in words; empty where that goes without saying.

    Parameters
    ----------
    mechanism : Mechanism
    gaps : bool, optional
        Whether ballots may leave out items, which are then compared with no other; where nothing is said, those may
        that the mechanism takes.

    Examples
    --------
    >>> import dprank
    >>> supposes(dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, unit="comparison"))
    'all items met equally often; by net wins, one that was compared more has more to win and to lose'
    >>> supposes(dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3))
    ''
    """
    name, rule = type(mechanism).__name__, rule_of(mechanism)
    if name in ("NoisyCounts", "LocalComparisons") and rule is not None:
        return (
            f"all items met equally often; by {rule.by}, one that was compared more has more to win"
            + " and to lose" * (rule.unit == "net wins")
        )
    if name == "PerturbedMLE":
        return "the odds in a pair are the ratio of two strengths, whoever answers"
    if gaps or (gaps is None and getattr(mechanism, "ballots", "full") == "partial"):
        return "all items are ranked equally often; one that few ballots rank has less to win and to lose"
    return ""


def step_of(release: Release) -> float:
    """The unit of the last digit that a score or a value has: a power of ten, no larger than the noise in one.

    Where the law of that noise is not known without the data, two digits of the largest are left.

    Examples
    --------
    >>> import dprank
    >>> votes = dprank.Rankings([[0, 1, 2]] * 300, "abc")
    >>> step_of(dprank.PrivateBorda.calibrated(epsilon=0.1, n_items=3).release(votes, np.random.default_rng(1)))
    10.0
    """
    mechanism: Any = release.mechanism
    values = _values(release)
    law = mechanism.noise_law if isinstance(mechanism, HasNoiseLaw) else None
    value_scale = value_scale_of(mechanism)
    grain = 0.0
    if isinstance(release, Selection) and value_scale is not None:
        deviation, grain = math.sqrt(2) * value_scale, 1.0
    elif isinstance(release, Ranking) and law is not None:
        deviation = law.scale * (1.0 if law.noise == "gaussian" else math.sqrt(2))
        if getattr(mechanism, "noise", "") == "cube":
            deviation = law.scale * math.sqrt((mechanism.n_items + 1) * (mechanism.n_items + 2) / 3)
        grain = law.step if type(mechanism).__name__ == "NoisyCounts" else 0.0
    else:
        deviation = float(np.abs(values).max(initial=0.0)) / 10
    if not 0 < deviation < math.inf:
        return 1.0
    step = 10.0 ** math.floor(math.log10(deviation) + 1e-9)
    return max(step, 10.0 ** math.floor(math.log10(grain))) if grain else step


def rounded(release: Release, values: Sequence[float]) -> list[str]:
    """Scores or values of a release as they are shown: no digit below the noise, and in all rows as many.

    Examples
    --------
    >>> import dprank
    >>> votes = dprank.Rankings([[0, 1, 2]] * 300, "abc")
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3).release(votes, np.random.default_rng(1))
    >>> rounded(release, [300.333333, -0.4, -299.8])
    ['300', '0', '-300']
    """
    step = step_of(release)
    digits = max(0, -round(math.log10(step)))
    whole = [round(value / step) * step + 0.0 for value in values]
    return [f"{it:.{digits}f}" for it in whole]


def _values(release: Release) -> Any:
    found = release.values if isinstance(release, Selection) else getattr(release, "scores", None)
    return np.zeros(0) if found is None else np.asarray(found, float)


def floor_of(release: Release) -> float | None:
    """The least p-value that the simulated null data sets of a test can show; None where it is exact.

    Examples
    --------
    >>> floor_of(Decision(True, 9.0, 7.0, 0.01)) is None
    True
    """
    test = release.mechanism
    return test.least_p_value if isinstance(release, Decision) and isinstance(test, HasFloor) else None


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
