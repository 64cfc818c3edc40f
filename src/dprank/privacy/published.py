"""What a release shows, to the last bit: which fields, functions of what, and on which grid their numbers lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Published", "off_grid", "on_steps", "sentence", "table"]


@dataclass(frozen=True)
class Published:
    """A field of a release, and what it is a function of: of nothing else, to the last bit.

    Every mechanism lists its own as `publishes`.

    Parameters
    ----------
    field : str
        Of the release.
    of : str
        What is noisy, or otherwise private; what is public besides.
    grid : str
        Where the numbers lie; empty for names, orders and decisions.
    again : callable, optional
        Of a release with exact noise, the field computed anew from the whole numbers that can be read off it and from
        the public parameters. None for what has no grid, and where the number of reports is needed besides.

    Examples
    --------
    >>> import dprank
    >>> [one.field for one in dprank.NoisyCounts.publishes]
    ['scores', 'order']
    """

    field: str
    of: str
    grid: str = ""
    again: Callable[[Any], Any] | None = None


def on_steps(field: str, of: str, grid: str, step: Callable[[Any], float] = lambda _: 1.0) -> Published:
    """A field whose numbers are multiples of a step that the mechanism has.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=2)
    >>> release = mechanism.release(dprank.Rankings([[0, 1]] * 90, "ab"), dprank.SECURE)
    >>> margins = on_steps("margins", "noisy margins", "whole numbers")
    >>> bool((margins.again(release) == release.margins).all())
    True
    """

    def again(release: Any) -> NDArray[np.float64]:
        width, given = step(release.mechanism), np.asarray(getattr(release, field), float)
        # floats that are 2^52 steps from 0, or more, are whole steps; and whole numbers have no negative zero
        near = np.clip(given, -width * 2.0**52, width * 2.0**52)
        return np.where(near == given, np.rint(near / width) * width + 0.0, given)

    return Published(field, of, grid, again)


def off_grid(release: Any) -> list[str]:
    """What a release with exact noise shows that its mechanism does not list, or that is not on its grid.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3)
    >>> off_grid(mechanism.release(dprank.Rankings([[0, 1, 2]] * 90, "abc"), dprank.SECURE))
    []
    """
    listed = {one.field: one for one in type(release.mechanism).publishes}
    return [field for field in _shown(release) if not (field in listed and _fits(listed[field], release))]


def sentence(kind: Any) -> str:
    """What releases of a class show, as its docstring says it.

    Examples
    --------
    >>> import dprank
    >>> print(sentence(dprank.PrivateWinner))
    Publishes items: the largest noisy score.
    """
    return f"Publishes {'; '.join(map(_said, kind.publishes))}."


def table(kinds: Iterable[Any]) -> str:
    """What releases of classes show, as a table in Markdown.

    Examples
    --------
    >>> import dprank
    >>> print(table([dprank.PrivateWinner]).splitlines()[-1])
    | `PrivateWinner` | items | the largest noisy score | names |
    """
    rows = [["mechanism", "what is published", "function of", "lies on"], ["---"] * 4]
    for kind in kinds:
        names = [f"`{kind.__name__}`", *[""] * len(kind.publishes)]
        for name, one in zip(names, kind.publishes, strict=False):
            grid = one.grid or ("yes or no" if one.field == "reject" else "names")
            rows.append([name, one.field.replace("_", "-"), one.of, grid])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _said(one: Published) -> str:
    return f"{one.field}: {one.of}" + (f" ({one.grid})" if one.grid else "")


def _shown(release: Any) -> Iterator[str]:
    """Names of what is there; the items that a ranking is of are declared."""
    for name, value in ((it.name, getattr(release, it.name)) for it in fields(release)):
        declared = name == "items" and hasattr(release, "order")
        absent = value is None or (isinstance(value, float) and value != value)
        if name not in ("mechanism", "source") and not declared and not absent:
            yield name


def _fits(one: Published, release: Any) -> bool:
    if one.again is None:
        return True
    given = np.asarray(getattr(release, one.field), float)
    return np.asarray(one.again(release), float).tobytes() == given.tobytes()
