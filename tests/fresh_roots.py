"""How likely a fresh root of all random numbers leaves a claim undecided: from the records alone, check by check.

    python tests/fresh_roots.py                 # the sum at the standard profile, and the checks that make it up
    python tests/fresh_roots.py paper _build/records.json

A simulated mean is given with `Z` standard errors. Two roots differ in it with the square root of 2 times its standard
error. What is decided with a margin of so many standard errors beyond its error bar is therefore undecided at another
root with the chance of a normal deviation of that margin over that root: nothing is supposed of where the truth is.
Where another profile has the same check with a smaller error, that is where the truth is sought: the book's own root
may have been lucky.

A share that is nearly 1 has no such standard error. Its number of draws follows from its error bar. The chance that
another root has more failures than are allowed is that of the beta-binomial law which the draws leave (Jeffreys'
prior), of the profile that has most of them: profiles share draws, so that they are not added up.

An equality is supposed to be true: it fails where a normal deviation exceeds `Z`.

Only what a verdict rests on counts. A check that could be undecided with the claim still judged as it is has chance 0.
The chances of all checks are added up: a bound on that of any. Of a worst case of many the others are not in the
records; but a worst case is chosen for its bad luck, and another root has less of it. Errors of exact numbers are
tolerances, not standard errors. They are taken for such, which adds chance where they are nearly used up.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scipy import stats

from companion.chapters.testing_uniformity.pair_samples import MISS
from companion.instruments.allowance import Z
from companion.instruments.uniformity import certain
from companion.ledger.claim import HELD, Check, derive

EXPECTED = Path(__file__).parents[1] / "data/expected"
PROFILES = ("smoke", "standard", "paper")
#: Most draws of a share that are looked for.
MOST = 5000


class Risk(NamedTuple):
    """The chance that a check of a claim is not what it was."""

    chance: float
    claim: str
    check: Check


class Share(NamedTuple):
    """How many of how many draws failed to be as the check says, and how many may."""

    failures: float
    draws: int
    allowed: int


def records(profile: str = "standard", path: Path | None = None) -> dict[str, list[Check]]:
    """The checks of every claim."""
    content = json.loads((path or EXPECTED / f"{profile}.json").read_text(encoding="utf-8"))
    return {entry["claim"]: [Check.from_json(check) for check in entry["checks"]] for entry in content["records"]}


def rests(checks: Sequence[Check], number: int) -> bool:
    """Whether the claim would be judged otherwise if this check were undecided."""
    check = checks[number]
    if check.about in HELD:
        return True
    # an observation within its error of the bound is neither true nor false
    open_ = Check(check.what, 0.0, "<", 0.0, check.about, check.reading, 1.0)
    return derive(checks) != derive([*checks[:number], open_, *checks[number + 1 :]])


@cache
def _off(failures: float, draws: int, exact: bool) -> float:
    """How far below a share of successes the truth may be."""
    if exact:
        return float(1 - failures / draws - stats.beta.ppf(MISS / 2, draws - failures, failures + 1))
    return certain(1 - failures / draws, draws)


def share(check: Check) -> Share | None:
    """Of a share of successes that must be above a bound, as `certain` and Clopper and Pearson give it; else None."""
    if check.relation not in (">", ">=") or not 0 < check.error < 1 or check.observed > 1:
        return None
    # the exact interval's end is 1 where nothing failed
    exact = check.observed < 1 and abs(check.observed + check.error - 1) < 1e-12
    if exact:
        draws = round(math.log(MISS / 2) / math.log(check.observed - check.error))
        failures = 0.0
    else:
        low, high = 1, MOST
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if certain(check.observed, middle) <= check.error + 1e-12 else (middle + 1, high)
        draws, failures = low, (1 - check.observed) * low
    if not 0 < draws < MOST or failures > draws / 10:
        return None
    seen = 1 - failures / draws
    if abs((seen - _off(failures, draws, exact)) - (check.observed - check.error)) > 1e-9:
        return None
    allowed = math.floor(failures)
    while 1 - (allowed + 1) / draws - _off(float(allowed + 1), draws, exact) >= check.bound:
        allowed += 1
    return Share(failures, draws, allowed)


def alike(one: Check, other: Check) -> bool:
    """Whether two profiles check the same."""
    fields = ("what", "relation", "bound", "about", "reading")
    return all(getattr(one, field) == getattr(other, field) for field in fields) and one.error > 0


def chance(check: Check, others: Iterable[Check] = ()) -> float:
    """That another root has another outcome; `others` are the same check at other profiles."""
    if not check.error or check.outcome is None or math.isinf(check.observed):
        return 0.0 if check.outcome is not None else 1.0
    if check.relation == "==":
        return float(2 * stats.norm.sf(Z)) if check.outcome else 0.0
    if found := share(check):
        seen = [found, *(it for other in others if (it := share(other)))]
        failures, draws, _ = max(seen, key=lambda it: it.draws)
        law = stats.betabinom(found.draws, failures + 0.5, draws - failures + 0.5)
        return float(law.sf(found.allowed))
    best, se = min((check, *others), key=lambda it: it.error), check.error / Z
    above = 1 if check.outcome == (check.relation in (">", ">=")) else -1
    margin = (above * (best.observed - check.bound) - check.error) / se
    return float(stats.norm.sf(margin / math.hypot(1, best.error / Z / se)))


def risks(profile: str = "standard", path: Path | None = None) -> Iterator[Risk]:
    """Of every check that its claim's verdict rests on."""
    apart = [records(name) for name in PROFILES if name != profile]
    for claim, checks in records(profile, path).items():
        for number, check in enumerate(checks):
            if check.error and rests(checks, number):
                same = [it for other in apart for it in other.get(claim, []) if alike(it, check)]
                yield Risk(chance(check, same), claim, check)


def main() -> None:
    profile, *path = sys.argv[1:] or ["standard"]
    found = sorted(risks(profile, Path(path[0]) if path else None), key=lambda risk: -risk.chance)
    print(f"{sum(risk.chance for risk in found):.2%} of all {len(found)} checks with an error bar")
    by_claim: Counter[str] = Counter()
    for risk in found:
        by_claim[risk.claim] += risk.chance  # type: ignore[assignment]
    for claim, total in by_claim.most_common(12):
        print(f"{total:8.3%}  {claim}")
    for risk in found[:25]:
        print(f"{risk.chance:8.3%}  {risk.claim}: {risk.check} {share(risk.check) or ''}")


if __name__ == "__main__":
    main()
