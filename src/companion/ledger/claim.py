"""What a chapter observed of a claim, and the verdict that follows; nobody types a verdict but in the ledger.

A function that carries the id of a claim gives its `Check`\\ s. What they observed, and the verdict derived from it,
travel in the metadata of a notebook's output. The build holds them against the ledger.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ParamSpec, overload

from IPython.display import display

from companion.ledger.verdicts import CONDITION, EMPTY, HOLDS, READING, REFUTED, UNDECIDED, Verdict

__all__ = [
    "RELATIONS",
    "UNDECIDED",
    "Check",
    "Record",
    "amended",
    "argument",
    "bearing",
    "claim",
    "content",
    "decisive",
    "derive",
    "others",
    "printed",
    "supplied",
]

P = ParamSpec("P")
RELATIONS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">"}
#: What must be true whatever the verdict, in words.
HELD = {"corrected": "the corrected statement", "argument": "a step of the argument"}
ABOUT = ("printed", "supplied", "content", "corrected", "argument")


def _number(field: str, value: Any) -> float:
    """`value` as a plain int or float (numpy scalars included); NaN is refused."""
    try:
        plain = int(value) if isinstance(value, numbers.Integral) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{field}: {value!r}; allowed: a number") from None
    if math.isnan(plain):
        raise ValueError(f"{field}: {value!r}; allowed: any number but NaN")
    return plain


def _encode(value: float) -> float | str:
    """JSON has no infinity."""
    return str(value) if math.isinf(value) else value


@dataclass(frozen=True)
class Check:
    """One comparison of a quantity with what a statement says: ``observed relation bound``; infinities are allowed.

    `what` names the quantity, and what it was computed on. A check is `about` the statement as printed (in one
    `reading` if it is ambiguous); the statement with constants or conditions supplied by us; whether it says anything
    where it is used, its content; our corrected statement; or a step of the argument for any of these. ``observed +-
    error`` is certain (or a confidence interval).
    """

    what: str
    observed: float
    relation: str
    bound: float
    about: str = "printed"
    reading: str = ""
    error: float = 0.0

    def __post_init__(self) -> None:
        for field in ("observed", "bound", "error"):
            object.__setattr__(self, field, _number(field, getattr(self, field)))
        for field, allowed in (("relation", RELATIONS), ("about", ABOUT)):
            if getattr(self, field) not in allowed:
                raise ValueError(f"{field}: {getattr(self, field)!r}; allowed: {', '.join(allowed)}")
        if not 0 <= self.error < math.inf:
            raise ValueError(f"error: {self.error!r}; allowed: a finite number >= 0")
        if self.reading and self.about != "printed":
            raise ValueError(f"reading: {self.reading!r}; allowed: only with about='printed', got {self.about!r}")

    @property
    def outcome(self) -> bool | None:
        """True if all of ``observed +- error`` satisfies the relation, False if none of it does, else None.

        Equality is true when the bound lies within the error, and false otherwise.
        """
        low, high, bound = self.observed - self.error, self.observed + self.error, self.bound
        match self.relation:
            case "==":
                return low <= bound <= high
            case "<=":
                always, never = high <= bound, low > bound
            case "<":
                always, never = high < bound, low >= bound
            case ">=":
                always, never = low >= bound, high < bound
            case _:
                always, never = low > bound, high <= bound
        return True if always else False if never else None

    def to_json(self) -> dict[str, Any]:
        """Plain Python for JSON; infinities become ``'inf'`` and ``'-inf'``."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {name: _encode(values[name]) for name in ("observed", "bound", "error")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Check:
        """Inverse of `to_json`."""
        plain: dict[str, Any] = {key: float(v) if v in ("inf", "-inf") else v for key, v in values.items()}
        return cls(**plain)

    def __str__(self) -> str:
        error = f" +- {self.error:.6g}" if self.error else ""
        reading = f", {self.reading}" if self.reading else ""
        return f"{self.what} ({self.about}{reading}): {self.observed:.6g}{error} {self.relation} {self.bound:.6g}"


def printed(what: str, observed: float, relation: str, bound: float, *, reading: str = "", error: float = 0.0) -> Check:
    """The statement as printed: ``observed relation bound``, under one reading of it."""
    return Check(what, observed, relation, bound, "printed", reading, error)


def supplied(what: str, observed: float, relation: str, bound: float, *, error: float = 0.0) -> Check:
    """The printed statement with the constants or conditions that it leaves out."""
    return Check(what, observed, relation, bound, "supplied", error=error)


def content(what: str, observed: float, relation: str, bound: float, *, error: float = 0.0) -> Check:
    """Whether the printed statement says anything where it is used."""
    return Check(what, observed, relation, bound, "content", error=error)


def amended(what: str, observed: float, relation: str, bound: float, *, error: float = 0.0) -> Check:
    """Our corrected statement."""
    return Check(what, observed, relation, bound, "corrected", error=error)


def argument(what: str, observed: float, relation: str, bound: float, *, error: float = 0.0) -> Check:
    """A step of an argument: arithmetic that must be right, and decides no verdict."""
    return Check(what, observed, relation, bound, "argument", error=error)


def derive(checks: Iterable[Check]) -> Verdict:
    """Verdict on the printed statement that follows from `checks`.

    Readings of the printed statement are true (all their checks are), false (one check is), or undecided.

    ================================  ==================================================================
    readings                          verdict
    ================================  ==================================================================
    one true, one false               ``depends on the reading``
    otherwise one undecided           ``undecided here``
    all true                          ``holds``; ``true but empty`` if a check of its content is false
    all false                         ``refuted``; ``needs a condition`` if what we supply makes it true
    ================================  ==================================================================

    At least one check is about the printed statement; those about a corrected one or an argument play no part.
    """
    return _verdict((check.about, check.reading, check.outcome) for check in checks)


def _verdict(checks: Iterable[tuple[str, str, bool | None]]) -> Verdict:
    """By what each check is about, its reading and its outcome."""
    outcomes: dict[str, dict[str, list[bool | None]]] = {}
    for about, reading, outcome in checks:
        outcomes.setdefault(about, {}).setdefault(reading, []).append(outcome)
    if "printed" not in outcomes:
        raise ValueError(f"checks: about {sorted(outcomes)} only; allowed: at least one about 'printed'")
    readings = {_all(reading) for reading in outcomes["printed"].values()}
    supplied = _all(outcomes.get("supplied", {}).get("", [False]))
    content = _all(outcomes.get("content", {}).get("", [True]))
    if readings >= {True, False}:
        return READING
    if None in readings:
        return UNDECIDED
    if True in readings:
        return {True: HOLDS, False: EMPTY, None: UNDECIDED}[content]
    return {True: CONDITION, False: REFUTED, None: UNDECIDED}[supplied]


def _all(outcomes: Iterable[bool | None]) -> bool | None:
    """Three-valued `all`."""
    seen = set(outcomes)
    return False if False in seen else None if None in seen else True


@dataclass(frozen=True)
class Record:
    """What a chapter observed about one claim of the ledger, and the verdict; shown as the claim's card.

    The verdict follows from the checks. One that is stored beside them is for readers of the file: nothing takes it.
    """

    claim: str
    checks: tuple[Check, ...]
    verdict: Verdict = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", derive(self.checks))

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @overload
    def __getitem__(self, at: int) -> Check: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Check, ...]: ...

    def __getitem__(self, at: int | slice) -> Check | tuple[Check, ...]:
        return self.checks[at]

    def __str__(self) -> str:
        words = {True: "true", False: "false", None: "undecided"}
        return "\n".join([f"{self.claim}: {self.verdict.words}", *(f"  {c}: {words[c.outcome]}" for c in self.checks)])

    def to_json(self) -> dict[str, Any]:
        """Plain Python for JSON."""
        return {"claim": self.claim, "verdict": self.verdict.key, "checks": [check.to_json() for check in self.checks]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Record:
        """Inverse of `to_json`; the verdict is derived anew."""
        return cls(values["claim"], tuple(map(Check.from_json, values["checks"])))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        return {"text/plain": str(self)}, {"claim": self.to_json()}


#: The function that settles each claim, of all modules that are imported.
SETTLED: dict[str, Callable[..., Record]] = {}
#: Claims that were settled in this process.
_shown: set[str] = set()


def claim(name: str) -> Callable[[Callable[P, Iterable[Check]]], Callable[P, Record]]:
    """A function that gives the checks of a claim; called, it gives the `Record`, which a notebook shows.

    `name` is an id of the ledger; one function settles it.

    Examples
    --------
    >>> @claim("mini2020:thm-1")
    ... def theorem_1(voters=2):
    ...     yield printed(f"privacy loss, {voters} voters", voters * 0.75, "<=", 1.0)
    >>> print(theorem_1())
    mini2020:thm-1: refuted
      privacy loss, 2 voters (printed): 1.5 <= 1: false
    """

    def settle(function: Callable[P, Iterable[Check]]) -> Callable[P, Record]:
        @wraps(function)
        def observed(*args: P.args, **kwargs: P.kwargs) -> Record:
            _shown.add(name)
            return Record(name, tuple(function(*args, **kwargs)))

        other = SETTLED.get(name)
        if other and (other.__module__, other.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"{name}: settled by {other.__qualname__} already; allowed: one function a claim")
        SETTLED[name] = observed
        return observed

    return settle


def others(*sections: str) -> None:
    """Show the claims of these sections or chapters that no cell above has shown, if they need no argument."""
    for name, function in SETTLED.items():
        parameters = inspect.signature(function).parameters.values()
        here = any(f".{section}." in f"{function.__module__}." for section in sections)
        if here and name not in _shown and all(p.default is not p.empty for p in parameters):
            display(function())


def bearing(checks: Iterable[Check]) -> list[bool]:
    """Of each check of a claim, whether a build would end otherwise if it came out the other way round.

    Those of a corrected statement or an argument always bear: a build fails where one is not true.
    """
    seen = [(check.about, check.reading, check.outcome) for check in checks]
    verdict = _verdict(seen)

    def other(i: int) -> bool:
        about, reading, outcome = seen[i]
        return _verdict([*seen[:i], (about, reading, not outcome), *seen[i + 1 :]]) != verdict

    return [about in HELD or other(i) for i, (about, _, _) in enumerate(seen)]


def decisive(checks: Iterable[Check]) -> list[Check]:
    """The checks a verdict turns on: of what each is about, and of each reading, the first that does not hold, or one.

    In their order; of the steps of an argument those only that do not hold.
    """
    rank = {False: 0, None: 1, True: 2}
    groups: dict[tuple[str, str], Check] = {}
    for check in checks:
        group = check.about, check.reading
        if check.about == "argument" and check.outcome:
            continue
        if group not in groups or rank[check.outcome] < rank[groups[group].outcome]:
            groups[group] = check
    return list(groups.values())
