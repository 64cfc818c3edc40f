"""All that is shown is so by a second arithmetic too, which notices what is wrong with either."""

from __future__ import annotations

import functools
import json
from fractions import Fraction
from typing import Any

import check
import flint
import pytest
import second
from fill import dyadic
from test_certificates import FILES, TEXTS

CHEAP = [text for text in TEXTS if json.loads(text)["shows"] != "all cases"]


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_certificate_stands_by_another_arithmetic(text: str) -> None:
    assert evaluated(text)[0] == ""


def test_neither_knows_the_other() -> None:
    assert (check.arb, check.fmpq) == (flint.arb, flint.fmpq)
    assert (second.CHECK.arb, second.CHECK.fmpq) == (second.arb, second.fmpq)
    assert second.CHECK.STATEMENTS.keys() == check.STATEMENTS.keys()


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "erf", "erfc", "tanh", "sinh", "atan", "sin", "lgamma"])
def test_both_have_the_same_functions(name: str) -> None:
    flint.ctx.prec = 300
    for at in (Fraction(2), Fraction(9, 4), Fraction(30), Fraction(2**50 + 1, 3**25)):
        balls = [getattr(it.arb(it.fmpq(at.numerator, at.denominator)), name)() for it in (flint, second)]
        first = [dyadic(it) for it in (balls[0].lower(), balls[0].upper())]
        low, high = (Fraction(it) for it in (balls[1].low, balls[1].high))
        assert low <= Fraction(int(first[1].p), int(first[1].q))
        assert high >= Fraction(int(first[0].p), int(first[0].q))
        assert high - low <= abs(low) / 10**50


def noticed(text: str) -> bool:
    try:
        return bool(second.wrong(text))
    except (second.CHECK.NotShown, ArithmeticError, ValueError):
        return True


def off(right: Any) -> Any:
    return lambda *given: right(*given) * (1 + second.fmpq(1, 10**9)) + second.fmpq(1, 10**9)


arb, acb = second.arb, second.acb
erfc, integral, pi = arb.erfc, acb.integral, arb.pi
BENT = ("exp", "log", "sqrt", "tanh", "atan", "sin", "lgamma", "erfc", "__pow__")
FAULTS = {
    **{name: (arb, name, off(getattr(arb, name))) for name in BENT},
    "erfc mirrored": (arb, "erfc", lambda x: 2 - erfc(x)),
    "max": (arb, "max", arb.min),
    "min": (arb, "min", arb.max),
    "real_abs": (arb, "real_abs", off(arb.real_abs)),
    "ceil": (arb, "ceil", arb.floor),
    "pi": (arb, "pi", staticmethod(off(pi))),
    "integral": (acb, "integral", staticmethod(lambda *given: acb(off(integral)(*given)))),
    "rank": (second.fmpq_mat, "rank", second.fmpq_mat.nrows),
    "coefficients": (second.fmpq_poly, "coeffs", lambda p: p.c[::-1]),
}


@functools.cache
def evaluated(text: str) -> tuple[str, frozenset[str]]:
    """What of a certificate does not stand, and which functions it calls."""
    seen: set[str] = set()

    def noting(name: str, right: Any) -> Any:
        def noted(*given: Any) -> Any:
            seen.add(name)
            return right(*given)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in {(owner, name) for owner, name, _ in FAULTS.values()}:
            noted = noting(name, getattr(owner, name))
            patch.setattr(owner, name, staticmethod(noted) if name in ("pi", "integral") else noted)
        return second.wrong(text), frozenset(seen)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_error_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, bent = FAULTS[fault]
    for text in sorted(CHEAP, key=len):
        wrong, called = evaluated(text)
        assert not wrong
        if name in called:
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, bent)
                if noticed(text):
                    return
    pytest.fail("nothing notices it")
