"""All that is shown is so by a second arithmetic too, which notices what is wrong with either."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import check
import flint
import pytest
import second
from fill import dyadic
from test_certificates import FILES, FOLDER, SIDES, TEXTS


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_certificate_stands_by_another_arithmetic(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "sides", SIDES)
    assert second.wrong(text) == ""


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
    """Of a certificate that stands by 60 digits."""
    second.DOWN.prec = second.UP.prec = 60
    try:
        return bool(second.compared(text))
    except (second.CHECK.NotShown, ArithmeticError, ValueError):
        return True


def off(right: Any) -> Any:
    return lambda *given: right(*given) * (1 + second.fmpq(1, 10**9)) + second.fmpq(1, 10**9)


arb, acb = second.arb, second.acb
erfc, integral, pi = arb.erfc, acb.integral, arb.pi
#: What is bent, how, and a certificate of little work that calls it.
FAULTS: dict[str, tuple[Any, str, Any, str]] = {
    "exp": (arb, "exp", off(arb.exp), "qiao2021/thm-2.3-example"),
    "log": (arb, "log", off(arb.log), "cai2025/lem-b.3-proof"),
    "sqrt": (arb, "sqrt", off(arb.sqrt), "cai2025/lem-b.3-proof"),
    "tanh": (arb, "tanh", off(arb.tanh), "busafekete2021/thm-7"),
    "atan": (arb, "atan", off(arb.atan), "cai2025/lem-a.1-proof"),
    "sin": (arb, "sin", off(arb.sin), "cai2025/lem-a.1-proof"),
    "lgamma": (arb, "lgamma", off(arb.lgamma), "alabi2022/sec-results-second-reduction"),
    "erfc": (arb, "erfc", off(erfc), "busafekete2021/sec-7.2-ma"),
    "erfc mirrored": (arb, "erfc", lambda x: 2 - erfc(x), "busafekete2021/sec-7.2-ma"),
    "power": (arb, "__pow__", off(arb.__pow__), "cai2025/lem-b.3-proof"),
    "max": (arb, "max", arb.min, "busafekete2021/sec-5-bucketing-samples"),
    "min": (arb, "min", arb.max, "cai2025/thm-a.1-proof"),
    "absolute value": (arb, "real_abs", off(arb.real_abs), "cai2025/prop-2.1-proof"),
    "ceil": (arb, "ceil", arb.floor, "busafekete2021/thm-6-free"),
    "pi": (arb, "pi", staticmethod(off(pi)), "cai2025/lem-a.1-proof"),
    "integral": (
        acb, "integral", staticmethod(lambda *given: acb(off(integral)(*given))), "qiao2021/sec-1-pure-k-attained",
    ),
    "rank": (second.fmpq_mat, "rank", second.fmpq_mat.nrows, "qiao2021/sec-3-tau-rank-one"),
    "coefficients": (second.fmpq_poly, "coeffs", lambda p: p.c[::-1], "cai2025/thm-2.3-proof"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_error_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, bent, noticing = FAULTS[fault]
    monkeypatch.setattr(owner, name, bent)
    assert noticed((FOLDER / f"{noticing}.json").read_text(encoding="utf-8"))
