"""What every release carries: where its randomness came from, and so whether it may be published."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from scipy.special import expit

from dprank._frozen import FrozenFields
from dprank.mechanism import Guarantee, require
from dprank.noise import SecureSource, Source

#: Of the noise: drawn by `dprank.noise.SECURE`, always whole or exact; by a generator, whose seed undoes it; or by
#: voters on devices of their own.
Origin = Literal["operating system", "seeded", "voters"]
#: Publishing at a larger epsilon warns. Ponomareva et al. (2023, "How to DP-fy ML", Section 5.2) call guarantees up to
#: 10 reasonable, and those above weak to none.
LARGE = 10.0
#: What is not for publication, and why.
_MARK: dict[Origin | None, str] = {
    "operating system": "",
    "seeded": "not for publication: drawn by a seeded generator",
    "voters": "not for publication, unless every voter drew their report with SECURE",
    None: "not for publication: of no private release",
}


@dataclass(frozen=True, repr=False, eq=False)
class Release(FrozenFields):
    """A result, and where its randomness came from.

    Attributes
    ----------
    source : {"operating system", "seeded", "voters"} or None
        What drew the noise; None of what no mechanism released.
    """

    source: Origin | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        require("source", self.source, (*get_args(Origin), None))
        super().__post_init__()

    @property
    def publishable(self) -> bool:
        """Whether the noise is exact and cannot be reproduced: only that of `dprank.noise.SECURE` is."""
        return self.source == "operating system"

    @property
    def mark(self) -> str:
        """Why it is not for publication; nothing where it is."""
        return _MARK[self.source]

    def __repr__(self) -> str:
        of = sorted(fields(self), key=lambda it: it.name == "source")
        shown = ", ".join(f"{it.name}={getattr(self, it.name)!r}" for it in of)
        return f"{type(self).__name__}({shown})" + (f"  # {self.mark}" if self.mark else "")


class Report(list[Any]):
    """What one voter sends: a list that is fit for JSON, and says what drew it as long as it is not sent.

    Attributes
    ----------
    source : {"operating system", "seeded"}
    """

    def __init__(self, numbers: Iterable[Any], source: Origin) -> None:
        super().__init__(numbers)
        self.source = source

    @property
    def publishable(self) -> bool:
        """Whether it may leave the voter's device."""
        return self.source == "operating system"

    def __repr__(self) -> str:
        return super().__repr__() + ("" if self.publishable else f"  # {_MARK[self.source]}")


def source_of(rng: Source, mechanism: Any) -> Origin:
    """What draws a release; to be called by `release` itself, for the warning's place.

    Parameters
    ----------
    rng : numpy.random.Generator or dprank.noise.SECURE
    mechanism : object
        Warns of its `guarantee` where `rng` draws for publication and epsilon is above `LARGE`.
    """
    if not isinstance(rng, SecureSource):
        return "seeded"
    guarantee: Guarantee = mechanism.guarantee
    if guarantee.epsilon > LARGE:
        warnings.warn(
            f"epsilon = {guarantee.epsilon:.6g} is above {LARGE:g}, which protects little: an even chance that "
            f"somebody's data are these may become one of {expit(guarantee.epsilon):.4%}",
            stacklevel=3,
        )
    return "operating system"


def source_of_reports(reports: Iterable[Any], own: Origin) -> Origin:
    """What drew the reports of voters, and `own` for what was drawn besides."""
    sources = {own, *(getattr(report, "source", "voters") for report in reports)}
    return next(source for source in ("seeded", "voters", "operating system") if source in sources)
