"""What the order of rows, the type of a column or the route of a solver tells, beside the noise.

The same data in other words, with the same noise, must give the same release, to the last bit. This is no bet: two
releases that differ are a witness. Whoever draws for every row draws otherwise where rows stand otherwise, and is left
to the bets: their neighbours are put in other words, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank.audit.rephrased import ALL, FORM, ORDER, TURNED, TYPES, Words, enriched, lost, rephrased, taken
from dprank.data import comparisons, counting
from dprank.models import games
from dprank.privacy.guarantee import Mechanism
from dprank.privacy.laws import features
from dprank.privacy.noise import SECURE, exact_parameters
from dprank.privacy.published import off_grid
from dprank.release import Release

__all__ = ["GRID", "REFUSED", "Answering", "Replay", "Varied", "Witness", "varied", "witnesses"]

#: Seeds with which every way of giving a data set is replayed.
SEEDS = 4
#: Replays of either release before they count as different: whatever draws from elsewhere passes none of these tests
#: but with a chance of 2^-32.
REPEATS = 16
#: Draws of an order of which each may follow the rows, or not.
_FOLLOWED = 6
GRID = "numbers off their grid"
REFUSED = "a refusal"

_Draw = Callable[[Any, Any], Any]


class Replay(np.random.Generator):
    """A seeded generator that deals rows as it dealt them before these were put in another order.

    Parameters
    ----------
    seed : int
    order : ndarray of int, optional
        Where each row stood before.
    followed : int
        Which draws of an order of as many are dealt so, a bit each; -1 for all of them.

    Examples
    --------
    >>> order = np.array([2, 0, 1])
    >>> order[Replay(1, order).permutation(3)].tolist() == Replay(1).permutation(3).tolist()
    True
    """

    def __init__(self, seed: int, order: NDArray[np.intp] | None = None, followed: int = -1) -> None:
        super().__init__(np.random.PCG64(seed))
        self._at = None if order is None else np.argsort(order)
        self.followed, self.dealt = followed, 0

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """As of any generator, but for rows."""
        drawn = super().permutation(x, axis)
        if self._at is None or not isinstance(x, int | np.integer) or x != len(self._at):
            return drawn
        self.dealt += 1
        return self._at[drawn] if self.followed >> (self.dealt - 1) & 1 else drawn


@dataclass(frozen=True)
class Witness:
    """A way of giving the same data, or a neighbour, that a release tells apart without any chance.

    Parameters
    ----------
    pair : int
        Of which pair the data are, or were made.
    way : str
        What is otherwise.
    seen : str
        In what it shows.

    Examples
    --------
    >>> print(Witness(0, "rows in another order", "scores"))
    pair 0, rows in another order, the same noise: other scores
    """

    pair: int
    way: str
    seen: str

    def __str__(self) -> str:
        if self.way == GRID:
            return f"pair {self.pair}, {self.way}: {self.seen}"
        seen = self.seen if self.seen == REFUSED else f"other {self.seen}"
        return f"pair {self.pair}, {self.way}, the same noise: {seen}"


class Varied(NamedTuple):
    """A pair of neighbours that was made of a given one.

    Examples
    --------
    >>> Varied(0, "one person has left", (3, 2)).pair
    0
    """

    pair: int
    way: str
    data: tuple[Any, Any]


@dataclass(frozen=True)
class Answering:
    """A mechanism whose refusals are releases like any other: so many numbers that are none.

    Examples
    --------
    >>> import dprank
    >>> borda = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2)
    >>> Answering(borda, 2).release("no data", np.random.default_rng(1)).tolist()
    [nan, nan]
    """

    mechanism: Mechanism
    width: int

    def release(self, data: Any, rng: Any) -> Any:
        """What is published, or that nothing is."""
        try:
            return self.mechanism.release(data, rng)
        except Exception:  # whoever refuses tells as much as whoever answers
            return np.full(self.width, np.nan)


def varied(
    mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], rng: np.random.Generator, draw: _Draw | None = None
) -> list[Varied]:
    """The pairs with their second data in other words, and pairs in which one person is gone.

    Parameters
    ----------
    mechanism : Mechanism
    pairs : sequence of tuple
        Neighbours, as of `dprank.audit`.
    rng : numpy.random.Generator
    draw : callable, optional
        As of `witnesses`; words of a type that it refuses are not taken.

    Raises
    ------
    ValueError
        Where nobody knows other words for the data.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2, adjacency="add_remove")
    >>> one, other = dprank.Rankings([[0, 1]], "ab"), dprank.Rankings([[0, 1], [1, 0]], "ab")
    >>> [new.way for new in varied(mechanism, [(one, other)], np.random.default_rng(1))]
    ['all of it at once', 'one person has left']
    """
    release, found, gone = draw or mechanism.release, [], []
    for number, (data, other) in enumerate(pairs):
        ways = reversed(list(rephrased(other, rng)))
        fit = (words for words in ways if REFUSED not in _seen(release, words.data, Replay(0)))
        words = next(fit, Words("", other))
        found.append(Varied(number, words.way, (data, words.data)))
        gone += [Varied(number, way, (data, rest)) for way, rest in lost(data, mechanism, rng)]
    return found + gone


def witnesses(
    mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], rng: np.random.Generator, draw: _Draw | None = None
) -> tuple[Witness, ...]:
    """What the releases of a mechanism tell of how its data are given.

    Parameters
    ----------
    mechanism : Mechanism
        What does not give the same release with the same generator is left out.
    pairs : sequence of tuple
        Neighbours; each of their data sets is looked at, and others that are made of it.
    rng : numpy.random.Generator
    draw : callable, optional
        ``draw(data, rng)`` gives what is published; `mechanism.release` by default.

    Returns
    -------
    tuple of Witness
        One of each way at most. Empty is no proof.

    Examples
    --------
    >>> import dprank
    >>> class First:
    ...     guarantee = dprank.Guarantee(1.0)
    ...     def release(self, data, rng):
    ...         return data.positions[0] + rng.laplace(size=2)
    >>> data = dprank.Rankings([[0, 1], [1, 0]], "ab")
    >>> [one.way for one in witnesses(First(), [(data, data)], np.random.default_rng(1))]
    ['rows in another order', 'all of it at once']
    """
    release = draw or mechanism.release
    found: dict[str, Witness] = {}
    own = type(mechanism).__module__.startswith("dprank.")
    for number, pair in enumerate(pairs):
        given = list({id(data): data for data in pair}.values())
        made = [more for data in given[:1] for more in enriched(data, rng)]
        for data in [*given, *made]:
            for way, seen in _of_one(release, data, own, rng, set(found)):
                found.setdefault(way, Witness(number, way, seen))
    return tuple(found.values())


def _of_one(
    release: _Draw, data: Any, own: bool, rng: np.random.Generator, known: set[str]
) -> Iterator[tuple[str, str]]:
    """Ways of giving one data set, and where each shows."""
    for _ in range(SEEDS):
        seed = int(rng.integers(2**63))
        base = _seen(release, data, Replay(seed))
        if REFUSED in base or _seen(release, data, Replay(seed)) != base:
            return  # data that were made up, or noise from elsewhere
        for words in rephrased(data, rng):
            if words.way in known or _couple(release, words, seed, base):
                continue
            after = _again(release, words, seed)
            if words.way in (TYPES, FORM, ALL) and REFUSED in after:
                continue  # a type or a form that is refused, whatever it holds
            if words.way in (ORDER, TURNED, ALL) and not own and _draws_for_rows(release, data, seed):
                continue
            if _steady(release, data, words, seed, base, after):
                known.add(words.way)
                names = [name for name in {**base, **after} if base.get(name) != after.get(name)]
                yield words.way, REFUSED if REFUSED in names else ", ".join(names)
        if GRID not in known and (faults := _off_grid(release, data, seed)):
            known.add(GRID)
            yield GRID, ", ".join(faults)


def _couple(release: _Draw, words: Words, seed: int, base: dict[str, Any]) -> bool:
    """Whether the release is as before, for some choice of the draws that follow the rows."""
    source = Replay(seed, words.order)
    if _said(release, words, source) == base:
        return True
    masks = range(2 ** min(source.dealt, _FOLLOWED)) if source.dealt else ()
    return any(_said(release, words, Replay(seed, words.order, mask)) == base for mask in masks)


def _again(release: _Draw, words: Words, seed: int) -> dict[str, Any]:
    return _said(release, words, Replay(seed, words.order))


def _steady(release: _Draw, data: Any, words: Words, seed: int, base: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether both come again and again: they are no draws from elsewhere."""
    return all(
        _seen(release, data, Replay(seed)) == base and _again(release, words, seed) == after for _ in range(REPEATS)
    )


def _draws_for_rows(release: _Draw, data: Any, seed: int) -> bool:
    """Whether more is drawn where every row stands twice, or that cannot be known."""
    after = []
    for rows in (np.arange(len(data)), np.repeat(np.arange(len(data)), 2)):
        source = Replay(seed)
        if REFUSED in _seen(release, taken(data, rows), source):
            return True
        after.append(source.bit_generator.state)
    return len(data) < 1 or after[0] != after[1]


def _off_grid(release: _Draw, data: Any, seed: int) -> list[str]:
    """Fields of a release for publication that are not where their mechanism says."""
    with suppress(Exception):  # what the operating system cannot draw for
        made = release(data, Replay(seed))
        if isinstance(made, Release) and exact_parameters(made.mechanism):
            return off_grid(release(data, SECURE))
    return []


def _said(release: _Draw, words: Words, source: Replay) -> dict[str, Any]:
    if not words.crossed:
        return _seen(release, words.data, source)
    with _as_if_many():
        return _seen(release, words.data, source)


def _seen(release: _Draw, data: Any, source: Any) -> dict[str, Any]:
    """All that is published, to the last bit, by field."""
    try:
        made = release(data, source)
    except Exception:  # whoever refuses tells as much as whoever answers
        return {REFUSED: True}
    if not isinstance(made, Release):
        return {"release": features(made).tobytes()}
    shown = {it.name: np.asarray(getattr(made, it.name)) for it in fields(made)}
    return {
        name: repr(it.tolist()) if it.dtype == object else (it.dtype.str, it.tobytes())
        for name, it in shown.items()
        if name not in ("mechanism", "source")
    }


@contextmanager
def _as_if_many() -> Iterator[None]:
    """Few rows are read by the code for many, which gives the same wherever it runs."""
    modules: Any = (comparisons, counting, games)
    before: list[int] = [module.FEW_ROWS for module in modules]
    try:
        for module in modules:
            module.FEW_ROWS = 0
        yield
    finally:
        for module, few in zip(modules, before, strict=True):
            module.FEW_ROWS = few
