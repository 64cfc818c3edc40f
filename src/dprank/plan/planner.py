"""What a release will cost and give, by public numbers alone: every choice, the best, and why (long: one question)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dprank._require import require_one_of, require_whole, shown
from dprank._search import largest, least
from dprank.data.comparisons import item_names
from dprank.plan._bounds import everything
from dprank.plan.cautions import warned
from dprank.plan.setting import MOST_PERSONS, NONE, Candidate, Drawn, Setting, fewest, louder, room
from dprank.plan.tags import tag_of
from dprank.questions import QUESTIONS, QuestionName

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Choice", "Plan", "alike", "best_error", "named", "plan"]

#: A share of error by which choices differ that are too close to call.
_CLOSE = 0.02
#: The same and an error more: by so much more is a choice still nearly as good as the best, which other people decide.
_NEAR, _SLIGHT = 0.03, 0.003
#: Where a search for an epsilon, and for a factor of the noise, gives up.
_MOST_EPSILON, _LOUDEST = 1e4, 1e6


@dataclass(frozen=True)
class Choice:
    """One mechanism with its parameters, and what it does to the question.

    Parameters
    ----------
    mechanism : str
        Name of the class.
    parameters : mapping
        What `dprank release` needs to make it, besides epsilon.
    noise : str
        Law of the noise; "flips" where everybody randomises answers, "coins" where an answer is drawn.
    scale : float
        Of the noise, in the unit of the score: one vote, one place, one person.
    error : float
        Expected share of pairs in the wrong order; of the top k that is wrong; chance to miss an agreement. It is the
        sum of the next three.
    sampling, bounding, added : float
        What people's number leaves open, what is lost where less of a person counts, and what noise does.
    apart : float or None
        How far apart two scores must lie to be told apart, in points: all at once at 95 %, against noise.
    apart_share : float or None
        The same as the share of people (of answers, in a ranking) who must prefer one; of a top k, as the share of
        people by which counts must differ. Above 1 nothing can be told apart.
    pair_right, order_right, top_right : float or None
        Chance that two neighbours on the ladder, all items, and the top k come out right.
    band : tuple of float or None
        Share of pairs in the wrong order in 19 of 20 releases.
    elsewhere : float or None
        The error where people are not as supposed, but as `dprank.questions.Question.elsewhere` says: of those choices
        that are nearly as good as the best. Of unbalanced pairs what stays wrong without noise, however many people
        there are.
    span : float or None
        How far apart the scores of the first and the last item are supposed to lie, in points; of a top k those of the
        first and of the items below the k.
    epsilon_needed, persons_needed : float or None
        For the wanted accuracy, the other as given; infinity where nothing is enough.
    trust : {"curator", "nobody"}
    needs : str
        What else must be true.
    publishable : bool
        Whether its noise is fit for release.

    Examples
    --------
    >>> import dprank
    >>> best = dprank.plan("consensus", items=5, persons=300, epsilon=1.0).best
    >>> best.mechanism, best.scale, abs(best.error - best.sampling - best.bounding - best.added) < 1e-12
    ('PrivateBorda', 12.0, True)
    """

    mechanism: str
    parameters: Mapping[str, Any]
    noise: str
    scale: float
    error: float
    sampling: float
    bounding: float
    added: float
    apart: float | None
    apart_share: float | None
    pair_right: float | None
    order_right: float | None
    top_right: float | None
    band: tuple[float, float] | None
    epsilon_needed: float | None
    persons_needed: float | None
    trust: str
    needs: str
    publishable: bool
    elsewhere: float | None = None
    span: float | None = None

    def __str__(self) -> str:
        return named(self.mechanism, self.parameters)


_QUIET = {"mechanism", "protect", "adjacency", "size", "voters", "k"}
_PLAIN = {"score", "design", "noise", "rule", "statistic"}


@dataclass(frozen=True)
class Plan:
    """Every choice, least error first; those that cannot be published last.

    Parameters
    ----------
    setting : Setting
    choices : tuple of Choice
    best : Choice
        Of those that can be published, the one of least error; of equals, the one that tells items apart best. But
        where another is nearly as good, and clearly better where people are not as supposed, that one.
    second : Choice or None
        The next one that is another in more than name.
    reason : str
        Why, in a sentence.
    items : tuple of str or None
        Names, if there are any.
    left_out : dict of str to str
        What was not weighed, and why.

    Examples
    --------
    >>> import dprank
    >>> found = dprank.plan("ranking", items=["a", "b", "c", "d"], persons=400, epsilon=1.0, answers=[1, 3])
    >>> str(found.best)
    'NoisyCounts(net, once, conditioned, answers=3)'
    >>> print(found.to_toml(), end="")
    kind = "comparisons"
    items = ["a", "b", "c", "d"]
    <BLANKLINE>
    [release]
    epsilon = 1.0
    protect = "person"
    score = "net"
    design = "once"
    adjacency = "replace"
    noise = "conditioned"
    answers = 3
    """

    setting: Setting
    choices: tuple[Choice, ...]
    best: Choice
    second: Choice | None
    reason: str
    items: tuple[str, ...] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def supposed(self) -> str:
        """What is supposed of people, in words."""
        s = self.setting
        if s.asks.data == "tallies":
            return (
                f"{s.share:.1%} of {s.persons:,} people have the item of place {s.k}; each place above it {s.gap:.2%} "
                f"more; and all other items at least {s.gap:.2%} less: no more than that, at worst"
            )
        if s.asks.data == "comparisons":
            asked = "1 pair" if s.given == (1,) else f"{', '.join(map(str, s.given))} different pairs"
            people = f"{s.persons:,} people answer {asked}{', as many each' * (len(s.given) > 1)}"
            law = "Bradley-Terry strengths at even steps"
            if s.balanced is False:
                people += ", half of the items in about four times as many as the others"
            elif s.balanced:
                people += ", all pairs equally often"
        else:
            ranked = "all items"
            if s.named is not None and s.named < s.n_items:
                left = "are behind these" if s.unranked == "last" else "are compared with no other"
                ranked = f"their first {s.named} of {s.n_items} items (the others {left})"
            if s.max_weight > 1:
                ranked += f", each ballot counting 1 of at most {s.max_weight}"
            people, law = f"{s.persons:,} people rank {ranked}", f"a Mallows law of phi = {s.phi:.3g}"
            if s.camps is not None and s.camps < 1:
                law += f" for {s.camps:.0%} of them, and of the order with its halves exchanged for the others"
        return f"{people}; {law}: {(1 + s.gap) / 2:.1%} put an item before the next one"

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before anything is spent: that nothing would be told apart, or that an order would mislead."""
        return tuple(warned(self.setting, self.best, self.choices))

    @property
    def error_means(self) -> str:
        """What the error of a choice is the share or chance of."""
        return self.setting.asks.error

    def to_frame(self) -> pd.DataFrame:
        """A row a choice."""
        import pandas as pd

        rows = []
        for choice in self.choices:
            row = {it.name: getattr(choice, it.name) for it in fields(choice) if it.name not in ("parameters", "band")}
            low, high = choice.band or (None, None)
            rows.append({"choice": str(choice)} | row | {"band_low": low, "band_high": high})
        return pd.DataFrame(rows)

    def to_json(self) -> str:
        """All of it, as JSON text; infinity is null."""

        def plain(value: Any) -> Any:
            if isinstance(value, float) and not math.isfinite(value):
                return None
            if isinstance(value, Mapping):
                return {key: plain(it) for key, it in value.items()}
            return [plain(it) for it in value] if isinstance(value, tuple | list) else value

        each = [plain(asdict(choice)) for choice in self.choices]
        at = {id(choice): number for number, choice in enumerate(self.choices)}
        told = {
            "schema": "dprank.plan/1",
            "setting": plain(asdict(self.setting)),
            "supposed": self.supposed,
            "error_means": self.error_means,
            "best": at[id(self.best)],
            "second": None if self.second is None else at[id(self.second)],
            "reason": self.reason,
            "cautions": list(self.cautions),
            "left_out": dict(self.left_out),
            "choices": each,
        }
        return json.dumps(told, indent=1, allow_nan=False)

    def to_toml(self) -> str:
        """What `dprank release --plan` reads: the declaration as far as it is known, and the best choice.

        Raises
        ------
        ValueError
            Where nobody trusts a curator: then there is no file to release from.
        """
        lines = [f"kind = {json.dumps(self.setting.asks.data)}"]
        if self.items is not None:
            lines.append(f"items = {json.dumps(list(self.items), ensure_ascii=False)}")
        lines += ["", *self.release_lines()]
        return "\n".join(lines) + "\n"

    def release_lines(self) -> list[str]:
        """The table `release` of the best choice, line by line.

        Raises
        ------
        ValueError
            As `to_toml`.
        """
        if self.setting.trust == "nobody":
            raise ValueError("trust = 'nobody'; people send reports, so there is no file that a release could read")
        told = {"epsilon": self.setting.epsilon} | {k: v for k, v in self.best.parameters.items() if v is not None}
        return ["[release]", *(f"{key} = {json.dumps(value)}" for key, value in told.items())]

    def __str__(self) -> str:
        return f"{self.best}: {self.reason}"


def plan(
    question: QuestionName,
    *,
    items: int | Sequence[str],
    persons: int,
    epsilon: float,
    answers: Sequence[int] | None = None,
    phi: float | None = None,
    gap: float | None = None,
    k: int | None = None,
    **more: Any,
) -> Plan:
    """What every mechanism would do to a question, from numbers that everybody may know. No data are read.

    Parameters
    ----------
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
    items : int or sequence of str
        How many, at most 1000 (10^8 of a top k); or all of them.
    persons : int
        At least 2.
    epsilon : float
        What the whole release may spend: from 1e-100 to 1e100.
    answers : sequence of int, optional
        Bounds on what counts of one person: answers of a ranking, items of a top k. People are supposed to give as
        many as the largest of them, or as `given` says. By default one answer; of a top k all items of a person, which
        costs no more noise than k, and people are supposed to have the fewest with which share and gap can be. Where
        nobody is trusted one item counts by default.
    phi : float, optional
        Spread of the Mallows law, of consensus, winner and agreement, instead of `gap`: (1 - gap) / (1 + gap).
    gap : float, optional
        Lead of an item over the next, 0.1 by default: of a top k the difference of the shares of people. Share and gap
        of a top k are by default what people can have who give so many items.
    k : int, optional
        Of the top k; 1 by default, and 10 of a top k.
    **more
        delta, adjacency, given, accuracy, protect, trust, public_graph, design, balanced, camps, named, unranked,
        max_weight, ordered, values, share, size: as in `dprank.plan.setting.Setting`.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        Naming what is out of range, or that nothing answers the question.

    Notes
    -----
    Errors of pairs are closed forms of normal sampling and exact noise, those of a top k one integral; where neither is
    known releases are simulated, from a fixed seed: a plan is a function of its arguments. Below a second at 1000
    items.

    Examples
    --------
    >>> import dprank
    >>> found = dprank.plan("topk", items=10**6, persons=50_000, epsilon=1.0, k=5, answers=[5], accuracy=0.9)
    >>> found.best.mechanism, round(found.best.top_right, 2), found.best.epsilon_needed < 1
    ('Oneshot', 1.0, True)
    """
    setting, names = _asked(question, items, persons, epsilon, answers, phi, gap, k, **more)
    found: list[tuple[Candidate, Choice]] = []
    left = dict(_module(setting).left_out(setting))
    for one in _module(setting).candidates(setting):
        try:
            found.append((one, _chosen(one)))
        except ValueError as error:  # so much or so little is beyond this one
            left.setdefault(named(one.mechanism, one.asked), str(error))
    if not any(choice.publishable for _, choice in found):
        refused = next(iter(left.values()), None)
        raise ValueError(
            refused
            or f"adjacency = {setting.adjacency!r}, trust = {setting.trust!r}, protect = {setting.protect!r}; "
            f"no mechanism answers {question!r} so"
        )
    found.sort(key=lambda pair: (not pair[1].publishable, *_merit(pair[1])))
    ranked = _weighed_elsewhere(found)
    best = _robust(ranked)
    others = [choice for choice in ranked if choice.publishable and choice is not best and not alike(choice, best)]
    second = others[0] if others else None
    return Plan(setting, tuple(ranked), best, second, _reason(setting, best, second, ranked), names, left)


def _module(setting: Setting) -> ModuleType:
    return import_module(f"dprank.plan.{setting.question}")


def _asked(
    question: QuestionName,
    items: int | Sequence[str],
    persons: int,
    epsilon: float,
    answers: Sequence[int] | None = None,
    phi: float | None = None,
    gap: float | None = None,
    k: int | None = None,
    **more: Any,
) -> tuple[Setting, tuple[str, ...] | None]:
    """What is asked of `plan`, and the names of the items if they are given."""
    require_one_of("question", question, tuple(QUESTIONS))
    if unknown := sorted(more.keys() - {it.name for it in fields(Setting)}):
        raise ValueError(f"{shown(unknown[0])} is no argument of a plan")
    names: tuple[str, ...] | None = None
    if isinstance(items, int) or not isinstance(items, Sequence):
        count = require_whole("items", items, 2)
    else:
        names = item_names(items)
        count = len(names)
    tallied = QUESTIONS[question].data == "tallies"
    if k is None:
        k = min(10, count - 1) if tallied else 1
    k = require_whole("k", k, 1, max(count - 1, 1))
    if phi is not None:
        if gap is not None or QUESTIONS[question].data != "ballots":
            raise ValueError(f"phi = {shown(phi)}; it goes with consensus, winner and agreement, and without a gap")
        if isinstance(phi, bool) or not isinstance(phi, int | float) or not 0 < phi < 1:
            raise ValueError(f"phi = {shown(phi)}; a spread in (0, 1) is needed")
        gap = (1 - phi) / (1 + phi)
    bounds = (1,) if answers is None else answers
    lead = 0.1
    if tallied:
        unsaid = answers is None and "given" not in more
        share, lead = room(k, bounds, more.get("given", ()), count)
        if answers is None and more.get("trust", "curator") == "curator":
            bounds = (everything(count),)  # as a release does: from k on, no more items of a person cost more noise
        more.setdefault("share", share)
        if unsaid:
            more["given"] = (fewest(k, more["share"], lead if gap is None else gap),)
    more["gap"] = lead if gap is None else gap
    setting = Setting(question, count, persons, epsilon, answers=bounds, k=k, **more)  # type: ignore[arg-type]
    return setting, names


def best_error(question: QuestionName, *, items: int, persons: int, epsilon: float, **asked: Any) -> float:
    """The error of the best choice of `plan`, which has the same arguments, in less than half of its time.

    Examples
    --------
    >>> asked = {"items": 6, "persons": 400, "epsilon": 1.0}
    >>> best_error("ranking", **asked) == plan("ranking", **asked).best.error
    True
    """
    setting, _ = _asked(question, items, persons, epsilon, **asked)
    found = []
    for one in _module(setting).candidates(setting):
        if tag_of(one.mechanism).publishable:
            with suppress(ValueError):  # so much or so little is beyond this one
                found.append((one.error(one.drawn(epsilon)), one))
    lowest = min(error for error, _ in found)
    near = [(error, one) for error, one in found if error - lowest <= _SLIGHT + _NEAR * lowest]
    if max(error for error, _ in near) - lowest < 1e-9:
        return lowest
    weighed = [(error, one.elsewhere(one.drawn(epsilon))) for error, one in near]
    there = [elsewhere for _, elsewhere in weighed if elsewhere is not None]
    bar = min(there, default=math.inf) + _SLIGHT + _NEAR * min(there, default=math.inf)
    return min(error for error, elsewhere in weighed if not there or (elsewhere is not None and elsewhere <= bar))


def _weighed_elsewhere(found: Sequence[tuple[Candidate, Choice]]) -> list[Choice]:
    """The choices; those that are nearly as good as the first say what they do where people are not as supposed."""
    first = found[0][1]
    near = [choice.publishable and choice.error - first.error <= _SLIGHT + _NEAR * first.error for _, choice in found]
    if all(alike(choice, first) for (_, choice), it in zip(found, near, strict=True) if it):
        return [choice for _, choice in found]
    return [
        replace(choice, elsewhere=one.elsewhere(one.drawn(one.setting.epsilon))) if it else choice
        for (one, choice), it in zip(found, near, strict=True)
    ]


def _robust(ranked: Sequence[Choice]) -> Choice:
    """The first that no other, nearly as good, is clearly better than where people are not as supposed."""
    there = [choice.elsewhere for choice in ranked if choice.elsewhere is not None]
    if not there:
        return ranked[0]
    bar = min(there) + _SLIGHT + _NEAR * min(there)
    return next(choice for choice in ranked if choice.elsewhere is not None and choice.elsewhere <= bar)


def named(mechanism: str, parameters: Mapping[str, Any]) -> str:
    """What a choice is called: its class, and what tells it from others of that class.

    Examples
    --------
    >>> named("NoisyMatrix", {"mechanism": "NoisyMatrix", "adjacency": "replace", "rule": "borda"})
    'NoisyMatrix(borda)'
    """
    told = {key: value for key, value in parameters.items() if key not in _QUIET and value is not None}
    inside = ", ".join(value if key in _PLAIN else f"{key}={value}" for key, value in told.items())
    return f"{mechanism}({inside})" if inside else mechanism


def _merit(choice: Choice) -> tuple[float, float]:
    return round(choice.error, 12), math.inf if choice.apart_share is None else choice.apart_share


def alike(one: Choice, other: Choice) -> bool:
    """Whether two choices differ in name only.

    Examples
    --------
    >>> first, second = plan("ranking", items=4, persons=99, epsilon=1.0).choices[1:3]
    >>> first.parameters["design"], second.parameters["design"], alike(first, second)
    ('once', 'any', True)
    """
    return one.noise == other.noise and all(
        abs(a - b) < 1e-9 for a, b in ((one.error, other.error), (one.apart_share or 0.0, other.apart_share or 0.0))
    )


def _chosen(one: Candidate) -> Choice:
    setting, tag = one.setting, tag_of(one.mechanism)
    drawn = one.drawn(setting.epsilon)
    found = one.measured(drawn)
    needed = _needed(one, drawn)
    # where an order is wrong without noise, and where polls are simulated, noise may seem to help: it is none the less
    # what is added
    sampling, bounded = (min(part, found.error) for part in (found.sampling, found.bounded))
    return Choice(
        one.mechanism,
        one.asked,
        one.asked.get("noise", drawn.noise),
        drawn.scale,
        found.error,
        sampling,
        bounded - sampling,
        found.error - bounded,
        found.apart,
        found.apart_share,
        found.pair_right,
        found.order_right,
        found.top_right,
        found.band,
        *needed,
        tag.trust,
        tag.needs,
        tag.publishable,
        span=found.span,
    )


def _needed(one: Candidate, drawn: Drawn) -> tuple[float | None, float | None]:
    """Least epsilon, and people at the given epsilon, for the wanted accuracy; of what can be published."""
    setting, wanted = one.setting, one.setting.accuracy
    if wanted is None or not tag_of(one.mechanism).publishable:
        return None, None
    within = 2.0**-5 if one.simulated else 2.0**-8

    def enough(persons: float) -> bool:
        # below two people there is nothing to ask
        return persons > MOST_PERSONS or (persons >= 2 and one.accuracy(drawn, math.ceil(persons)) >= wanted)

    found = least(enough, float(setting.persons), within)
    persons = math.inf if found > MOST_PERSONS else math.ceil(found)
    if one.accuracy(NONE, setting.persons) < wanted:
        return math.inf, persons
    if setting.trust == "nobody":
        return _least_epsilon(one, wanted, 2.0**-4), persons

    def loud(ratio: float) -> bool:
        return ratio > _LOUDEST or (
            ratio > 1 / _LOUDEST and one.accuracy(louder(drawn, ratio), setting.persons) < wanted
        )

    ratio = largest(lambda ratio: not loud(ratio), 1.0, within)
    return math.inf if ratio <= 1 / _LOUDEST else one.epsilon_of(ratio), persons


def _least_epsilon(one: Candidate, wanted: float, within: float) -> float:
    """The same where every epsilon needs answers of its own."""

    def right(epsilon: float) -> bool:
        if epsilon > _MOST_EPSILON:
            return True
        try:
            return one.accuracy(one.drawn(epsilon), one.setting.persons) >= wanted
        except ValueError:  # so little epsilon allows no such answers
            return False

    found = least(right, one.setting.epsilon, within)
    return math.inf if found > _MOST_EPSILON else found


def _reason(setting: Setting, best: Choice, second: Choice | None, ranked: Sequence[Choice]) -> str:
    """Why the best is the best."""
    means = setting.asks.error
    said = f"{best.error:.1%} {means} ({_split(best)})"
    safe = math.inf if best.elsewhere is None else best.elsewhere + _SLIGHT
    equals = [choice for choice in ranked if choice is not best and alike(choice, best) and choice.publishable]
    twins = [str(choice) for choice in equals if (choice.elsewhere or 0.0) <= safe]
    if twins:
        said += f"; as good: {', '.join(twins)}"
    if second is None:
        return said + "; nothing else answers this"
    gap = second.error - best.error
    if best is not ranked[0] and best.elsewhere is not None and ranked[0].elsewhere is not None:
        said += f"; nearly as good as {ranked[0]}, which has {ranked[0].error:.1%}, and safer: where "
        where = setting.asks.elsewhere if setting.balanced is None else "there are many more people"
        said += f"{where}, {best.elsewhere:.1%} against {ranked[0].elsewhere:.1%}"
        return said
    if gap <= _CLOSE * max(best.error, 0.01):
        return said + f"; too close to call: {second} has {second.error:.1%}"
    return said + f"; second best: {second} with {second.error:.1%}, {_why(best, second)}"


def _split(choice: Choice) -> str:
    parts = [("sampling", choice.sampling), ("bounding", choice.bounding), ("noise", choice.added)]
    return ", ".join(f"{name} {value:.1%}" for name, value in parts if name == "sampling" or abs(value) >= 0.0005)


def _why(best: Choice, second: Choice) -> str:
    """Which part of the error makes the difference."""
    parts = {
        "more to sampling": second.sampling - best.sampling,
        "more to bounding": second.bounding - best.bounding,
        "more to noise": second.added - best.added,
    }
    return "which loses " + max(parts, key=lambda name: parts[name])
