"""Write what a certificate finds: `python fill.py FILE-OR-FOLDER ...`. Nobody needs it to check one."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import check
from exact import Number, need
from flint import arb, ctx, fmpq


def enclosed(x: Number) -> str | list[str]:
    """What a certificate says of a side: the rational, or two decimals around it."""
    if not isinstance(x, arb) and len(str(x)) <= 60:
        return str(x)
    need(not isinstance(x, arb) or x.is_finite(), "a side is not finite")
    low, high = map(dyadic, (x.lower(), x.upper())) if isinstance(x, arb) else (fmpq(x), fmpq(x))
    if low == high == 0:
        return "0"
    top = max(abs(low), abs(high), fmpq(1, 10**1200))
    scale = len(str(top.floor())) - 12 if top >= 1 else -len(str((1 / top).floor())) - 11
    ends = (low / fmpq(10) ** scale).floor(), (high / fmpq(10) ** scale).ceil()
    return [f"{Decimal(int(end)).scaleb(scale):{'f' if -30 < scale < 12 else ''}}" for end in ends]


def dyadic(end: arb) -> fmpq:
    """The exact value of a ball without a radius."""
    digits, power = end.man_exp()
    return fmpq(digits) * fmpq(2) ** int(power)


def fill(text: str) -> dict[str, Any]:
    """The same certificate with `found` and `by` as computed here."""
    it = json.loads(text)
    check.read(json.dumps(it | {"found": [], "by": "0"}))
    sides = check.STATEMENTS.get(f"{it['claim']} | {it['printed']}")
    need(sides is not None, "no such statement is printed")
    ctx.prec = check.PRECISIONS[-1]
    found = check.compute(sides, check.numbers(it["instance"]))
    margins = [check.margin(*here, it["shows"]) for here in found]
    need(
        bool(margins) and all(here is not None for here in margins), "; ".join(map(check.told, found)) + ": not certain"
    )
    said = enclosed(min(margins, key=lambda here: arb(here).mid()))
    by = said if isinstance(said, str) else said[0]
    return it | {"found": [{"left": enclosed(a), "right": enclosed(b)} for a, _, b in found], "by": by}


def laid_out(it: Any) -> str:
    """JSON with a line for each field, and for each of an instance and of what is found."""

    def block(value: Any) -> str:
        if isinstance(value, dict):
            return "{\n" + ",\n".join(f"  {line(key)}: {line(here)}" for key, here in value.items()) + "\n }"
        whole = isinstance(value, list) and value and isinstance(value[0], dict)
        return "[\n" + ",\n".join(f"  {line(here)}" for here in value) + "\n ]" if whole else line(value)

    line = lambda value: json.dumps(value, ensure_ascii=False)  # noqa: E731
    return "{\n" + ",\n".join(f" {line(key)}: {block(value)}" for key, value in it.items()) + "\n}\n"


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        for path in sorted(given.rglob("*.json")) if given.is_dir() else [given]:
            path.write_text(laid_out(fill(path.read_text(encoding="utf-8"))), encoding="utf-8")
