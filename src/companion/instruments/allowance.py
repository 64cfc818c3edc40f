"""The room that checks leave for rounding and for chance."""

from companion.ledger.claim import Check, argument

#: Rounding of closed forms, enumerations, quadratures and linear algebra, far above what tests find.
ROUNDING = 1e-9
#: Standard errors that a simulated mean may be off: false alarm 6e-7 a check.
Z = 5.0


def agree(what: str, off: float, error: float = ROUNDING) -> Check:
    """Two routes to one number, which are `off` by nothing but rounding: a step of the argument."""
    return argument(what, off, "==", 0, error=error)
