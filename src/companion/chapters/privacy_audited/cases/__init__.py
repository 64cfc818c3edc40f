"""Every mechanism of the library, on the worst neighbours known."""

from __future__ import annotations

from companion.chapters.privacy_audited.cases import aggregation, local, pairwise, topk, uniformity
from companion.chapters.privacy_audited.cases.case import Case


def cases() -> list[Case]:
    """All cases of all families, calibrated and as printed."""
    return [case for family in (pairwise, uniformity, topk, aggregation, local) for case in family.cases()]
