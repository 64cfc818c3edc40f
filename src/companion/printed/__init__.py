"""The papers as printed: their literal calibrations, their published numbers, their mistakes.

The library has only what is right. What a paper says of its own algorithm is kept here, beside what is provable of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dprank.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Printed:
    """A mechanism, calibrated as its paper prints it, with both answers: what is claimed, and what is provable."""

    mechanism: Any
    claims: Guarantee

    @property
    def guarantee(self) -> Guarantee:
        """What is provable."""
        guarantee: Guarantee = self.mechanism.guarantee
        return guarantee

    def release(self, data: Any, rng: Any) -> Any:
        """That of the mechanism."""
        return self.mechanism.release(data, rng)
