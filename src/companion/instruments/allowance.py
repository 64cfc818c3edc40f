"""The room that checks leave for rounding and for chance."""

import numpy as np
from numpy.typing import ArrayLike

from companion.ledger.claim import Check, argument

#: Rounding of closed forms, enumerations, quadratures and linear algebra, far above what tests find.
ROUNDING = 1e-9
#: Rounding of a few operations, relative where numbers are small; far above what certificates find.
CLOSED = 1e-12
#: Standard errors that a simulated mean may be off: false alarm 6e-7 a check.
Z = 5.0


def agree(what: str, off: ArrayLike, error: float = ROUNDING) -> Check:
    """Two routes to one number, or to many, which are `off` by nothing but rounding: a step of the argument."""
    return argument(what, float(np.abs(off).max()), "==", 0, error=error)
