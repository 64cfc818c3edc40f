"""What a private algorithm releases, promises and drew from (long: three kinds of release share one file format)."""

from __future__ import annotations

import json
import math
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._frozen import FrozenFields
from dprank._json import NO_RELEASE, alike, floats, loaded, names, number, plain, read, refuse, written
from dprank._notebook import shown_html
from dprank._picture import Places
from dprank._require import (
    WrongType,
    as_array,
    as_floats,
    is_data,
    require_one_of,
    require_whole,
    settle,
    shown,
    visible,
)
from dprank.mechanism import HasFloor, HasRanges, Local, Shows, asks_persons, value_scale_of
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import features
from dprank.privacy.noise import SecureSource, Source, drawn_exactly
from dprank.privacy.pair_ranges import Sampling
from dprank.privacy.ranges import ScoreNoise, place_intervals

__all__ = [
    "FORMAT",
    "LARGE",
    "LARGE_DELTA",
    "Decision",
    "Origin",
    "Ranking",
    "Release",
    "Report",
    "Selection",
    "decision_features",
    "open_places",
    "ranking_features",
    "selection_features",
    "source_of",
    "source_of_reports",
    "warn_of_delta",
]

#: Of the noise: drawn by `dprank.SECURE`, always whole or exact; by a generator, whose seed undoes it; or by voters on
#: devices of their own.
Origin = Literal["operating system", "seeded", "voters"]
#: Publishing at a larger epsilon warns. Ponomareva et al. (2023, "How to DP-fy ML", Section 5.2) call guarantees up to
#: 10 reasonable, and those above weak to none.
LARGE = 10.0
#: Publishing at a larger delta warns, where nobody says how many people there are: it should be below one in as many.
LARGE_DELTA = 1e-3
#: What is not for publication, and why.
_MARK: dict[Origin | None, str] = {
    "operating system": "",
    "seeded": "not for publication: drawn by a seeded generator",
    "voters": "not for publication, unless every voter drew their report with SECURE",
    None: "not for publication: of no private release",
}
#: Of the file that `Release.to_json` writes; another number when its fields change.
FORMAT = 2
#: What version 0.2 wrote, and is read: it names classes by their modules.
OLDER = 1
#: Items that are named in a sentence, and of which a notebook is told the ranges: of matrices that takes a while.
_NAMED, _DRAWN = 12, 1000
#: What every release of a kind has.
_ANSWERS = ("items", "order", "reject")


@dataclass(frozen=True, repr=False, eq=False)
class Release(FrozenFields):
    """A result, the mechanism that made it, and where its randomness came from.

    Two are equal if all their fields are; arrays are read-only. `str` is a sentence.

    Parameters
    ----------
    mechanism : Mechanism, optional
        What made it, with all its parameters, which are public; None of what no mechanism made.
    source : {"operating system", "seeded", "voters"} or None
        What drew the noise: only the first is for publication. None of what is not private.

    Examples
    --------
    >>> import numpy as np
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2)
    >>> release = mechanism.release(dprank.Rankings([[0, 1]] * 90, "ab"), np.random.default_rng(1))
    >>> print(release)
    a > b; epsilon = 1 (central; replace one voter), by PrivateBorda; not for publication: drawn by a seeded generator
    >>> dprank.Release.from_json(release.to_json()) == release
    True
    """

    _: KW_ONLY
    mechanism: Any = None
    source: Origin | None = None

    def __post_init__(self) -> None:
        require_one_of("source", self.source, (*get_args(Origin), None))
        super().__post_init__()

    @cached_property  # a file, and what is said of it, ask for it thirty times
    def guarantee(self) -> Guarantee | None:
        """What the mechanism promises of all of it; None where that is nothing."""
        return getattr(self.mechanism, "guarantee", None)

    @property
    def publishable(self) -> bool:
        """Whether the noise is exact and cannot be reproduced: only that of `dprank.SECURE` is, for a mechanism whose
        class says that it is for publication (`dprank.privacy.noise.drawn_exactly`).
        """
        return self.source == "operating system" and drawn_exactly(self.mechanism)

    @property
    def mark(self) -> str:
        """Why it is not for publication; nothing where it is."""
        if self.source == "operating system" and not self.publishable:
            return f"not for publication: a {type(self.mechanism).__name__} does not say that it is"
        return _MARK[self.source]

    @abstractmethod
    def _said(self) -> str:
        """The answer in words."""

    @abstractmethod
    def to_frame(self) -> Any:
        """The answer as a pandas.DataFrame."""

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """What it is made of, where pandas need not be there."""

    def __str__(self) -> str:
        return visible("; ".join(filter(None, [self._said(), self._promised()])))

    def _promised(self) -> str:
        """What is promised, by what, and what drew it."""
        promise = "" if self.guarantee is None else f"{self.guarantee}, by {type(self.mechanism).__name__}"
        return "; ".join(filter(None, [promise, self.mark or "drawn by the operating system"]))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, a release: {self}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, a picture of the places where ranges are known, and the table."""
        among = "" if isinstance(self, Ranking) else " among these"
        return shown_html(self._said(), self.to_frame(), self._places(), self._promised(), among)

    def _places(self) -> Places | None:
        """What is drawn; None where no range is known from the release alone."""
        return None

    def to_json(self) -> str:
        """The release as text that `from_json` reads: nothing but what may be published.

        Raises
        ------
        ValueError
            Where an item is no text that can be encoded and no finite number, or the mechanism none of the library's.
        """
        output = {it.name: plain(it.name, getattr(self, it.name)) for it in self._output()}
        file = {
            "format": FORMAT,
            "kind": type(self).__name__,
            "output": output,
            "guarantee": None if self.guarantee is None else plain("guarantee", vars(self.guarantee)),
            "mechanism": written(self.mechanism),
            "source": self.source,
        }
        return json.dumps(file, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The release that `to_json` wrote.

        Parameters
        ----------
        text : str

        Raises
        ------
        ValueError
            Where the text is no such file, the guarantee in it is not the one that its mechanism has, or the mechanism
            gives no such release: another kind, other items or another number of them, an order that contradicts the
            scores, estimates that it does not release or lacks, or noise of a source that it does not take.

        Notes
        -----
        Nobody vouches for the numbers: whoever can write a file can write others. The mechanism is built anew, and its
        guarantee derived, for as many items as the file names: this takes as long, and as much memory, as with the
        parameters typed in, which is seconds for a million items under local privacy, and for
        `dprank.PrivateRankCentrality` depends on the number of items that is declared.
        """
        file = loaded(text, {"format", "kind", "output", "guarantee", "mechanism", "source"}, (OLDER, FORMAT))
        kinds = {kind.__name__: kind for kind in (Ranking, Selection, Decision)}
        name = file["kind"] if isinstance(file["kind"], str) else None
        kind = kinds.get(name or "")
        if kind is None or not issubclass(kind, cls):
            refuse(
                f"kind = {shown(file['kind'])}; {' or '.join(k for k in kinds if issubclass(kinds[k], cls))} is needed"
            )
        output = file["output"]
        if not isinstance(output, dict) or set(output) != {it.name for it in kind._output()}:
            refuse(f"the output of a {name} has {', '.join(it.name for it in kind._output())}")
        if not isinstance(file["mechanism"], dict | None):
            refuse("mechanism must have a class and parameters")
        try:
            parsed = kind._parsed(output)
            n_items = len(output["items"]) if kind is Ranking else None
            mechanism = None if file["mechanism"] is None else read(file["mechanism"], name, n_items)
            made = kind(**parsed, mechanism=mechanism, source=file["source"])
            made._require_given()
            if not alike(file["guarantee"], made.guarantee):
                refuse("the guarantee is not the one that its mechanism has")
        except RecursionError:
            refuse("it is nested too deep")
        except (TypeError, ValueError, ArithmeticError) as error:
            said = str(error) if isinstance(error, ValueError) else "the output has values of other kinds"
            refuse(said.removeprefix(NO_RELEASE))
        return cast(Self, made)

    def _require_given(self) -> None:
        """Refuse what its mechanism cannot give."""
        mechanism = self.mechanism
        gives = mechanism.shows if isinstance(mechanism, Shows) else None
        if mechanism is None:
            require_one_of("source without a mechanism", self.source, (None,))
            return
        own = {"operating system": drawn_exactly(mechanism), "seeded": True, "voters": isinstance(mechanism, Local)}
        require_one_of(f"source of a {type(mechanism).__name__}", self.source, [one for one in own if own[one]])
        for it in self._output():
            value = getattr(self, it.name)
            there = value is not None and not (isinstance(value, float) and math.isnan(value))
            # what a class does not say is there, but for what may be left away
            if it.name not in _ANSWERS and there != (it.default is not None if gives is None else it.name in gives):
                needed = "is not released by" if there else "is missing, which is released by"
                raise ValueError(f"{it.name} {needed} this {type(mechanism).__name__}")
        self._require_answer(mechanism)

    @abstractmethod
    def _require_answer(self, mechanism: Any) -> None:
        """Refuse an answer of another form than the mechanism's."""

    @classmethod
    def _output(cls) -> list[Any]:
        return [it for it in fields(cls) if it.name not in ("mechanism", "source")]

    @classmethod
    @abstractmethod
    def _parsed(cls, output: dict[str, Any]) -> dict[str, Any]:
        """Fields of the answer from those of a file."""


@dataclass(frozen=True, repr=False, eq=False)
class Ranking(Release):
    """An order of all items.

    Parameters
    ----------
    items : tuple of str
    order : ndarray of int, shape (items,)
        Item codes from best to worst; equal scores in random order.
    scores : ndarray of float, shape (items,), optional
        What the mechanism scores items by, the higher the better: private estimates, see its `release`.
    margins : ndarray of float, shape (items, items), optional
        Private estimates of how many more voters put the row's item before the column's than after it;
        antisymmetric. With n voters, ``0.5 + margins / (2 * n)`` estimates the fractions.
    mechanism, source
        As of `Release`.

    Raises
    ------
    ValueError
        If the order is none of the items, or an estimate has another shape.

    Examples
    --------
    >>> ranking = Ranking(("roads", "parks", "debt"), np.array([1, 0, 2]))
    >>> ranking.ranking, sorted(ranking.top(2))
    (('parks', 'roads', 'debt'), ['parks', 'roads'])
    >>> ranking.winner, list(ranking), len(ranking)
    ('parks', ['parks', 'roads', 'debt'], 3)
    """

    items: tuple[str, ...]
    order: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None
    margins: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if is_data(self.items):
            kind = type(self.items).__name__
            raise WrongType(
                f"items are {kind}, which are data and no release: a mechanism makes one, by its release(data, rng)"
            )
        if not isinstance(self.items, list | tuple) or not all(isinstance(item, str) for item in self.items):
            raise ValueError("items are no list of names")
        m, order = len(self.items), as_array("order", self.order)
        if order.shape != (m,) or order.dtype.kind not in "iu" or (np.sort(order) != np.arange(m)).any():
            raise ValueError(f"order is none of {m} items: it must hold each of 0 .. {m - 1} once")
        settle(self, items=tuple(self.items), order=order.astype(np.int64, copy=False))
        for name, shape in (("scores", (m,)), ("margins", (m, m))):
            values = getattr(self, name)
            if values is not None and (values := as_floats(name, values)).shape != shape:
                raise ValueError(f"{name} have another shape than {shape}")
            settle(self, **{name: values})
        super().__post_init__()

    def __iter__(self) -> Iterator[str]:
        return iter(self.ranking)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def winner(self) -> str:
        """The name in the first place; `intervals` says whether it may have another."""
        return self.ranking[0]

    def _places(self) -> Places | None:
        if self.mechanism is None or len(self) > _DRAWN or asks_persons(self.mechanism):
            return None
        try:
            opened = open_places(self, 0.95, None, None)
        except ValueError:  # of these no law is known
            return None
        return Places(self.ranking, list(zip(*(opened[it].tolist() for it in ("lowest", "highest")), strict=True)))

    @property
    def ranking(self) -> tuple[str, ...]:
        """Names from best to worst."""
        items = self.items
        return tuple(items[i] for i in self.order)

    def top(self, k: int) -> frozenset[str]:
        """Names of the k best, k from 0 to their number."""
        return frozenset(self.ranking[: require_whole("k", k, 0, len(self.items))])

    def to_frame(self) -> Any:
        """A row an item, best first: place (from 1), item, and score where there are any."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"place": np.arange(1, len(self.order) + 1), "item": self.ranking}
        return columns if self.scores is None else columns | {"score": self.scores[self.order]}

    def intervals(self, level: float = 0.95, *, sampling: Sampling | None = None, persons: int | None = None) -> Any:
        """Which places the noise leaves open: right for all items at once with probability `level`.

        Parameters
        ----------
        level : float
            In (0, 1), at most 1 - 1e-9: the probability over the noise, whatever the data are.
        sampling : {"persons", "answers"}, optional
            How those who took part were drawn: then over the drawing as well, and the places are those that the
            population has on average. "persons" independently of each other, and that is all; "answers" too, as in the
            Bradley-Terry model (`dprank.NoisyCounts.drawn_deviation`).
        persons : int, optional
            How many took part at most, a public number, where `sampling` is named; of `dprank.LocalBorda` and
            `dprank.PerturbedMLE` always.

        Returns
        -------
        pandas.DataFrame
            As `to_frame`, with columns lowest and highest: places from 1. Between them lies the place that the item
            has in the exact scores; of items with equal exact scores, every place of theirs. Of `dprank.NoisyMatrix`
            the place in the order that its rule gives to the exact margins.

        Raises
        ------
        ValueError
            Naming what is out of range or missing, or where nothing is known of the errors in such a release.

        See Also
        --------
        dprank.privacy.ranges.place_intervals : how, and why that is so.
        dprank.privacy.pair_ranges.pair_places : with sampling, and where errors depend on each other.

        Notes
        -----
        The law of the noise is public, so that this costs no privacy, however often it is asked. Without `sampling` it
        is the noise alone that is spoken of, and never what a bound on each person left out. O(items log items), of
        matrices O(items^2).

        Examples
        --------
        >>> import dprank
        >>> votes = dprank.Rankings([[0, 1, 2]] * 300 + [[0, 2, 1]] * 298, ["roads", "parks", "debt"])
        >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3)
        >>> mechanism.release(votes, np.random.default_rng(2)).intervals()
           place   item  score  lowest  highest
        0      1  roads  597.0       1        1
        1      2  parks -297.0       2        3
        2      3   debt -300.0       2        3
        """
        import pandas as pd

        return pd.DataFrame(self._columns() | open_places(self, level, sampling, persons))

    def top_candidates(
        self, k: int, level: float = 0.95, *, sampling: Sampling | None = None, persons: int | None = None
    ) -> Any:
        """Which items may be among the k best, and which are: right for all items at once with probability `level`.

        Parameters
        ----------
        k : int
            From 1 to the number of items.
        level, sampling, persons
            As in `intervals`.

        Returns
        -------
        pandas.DataFrame
            The rows of `intervals` whose lowest place is at most k: no other item is among the k best, however ties of
            exact scores are broken. The column certain says whether the highest place is so too: then the item is.
            For all k at once, `level` holds.

        Raises
        ------
        ValueError
            Naming `k`, or as `intervals`.

        Examples
        --------
        >>> import dprank
        >>> votes = dprank.Rankings([[0, 1, 2, 3]] * 300 + [[0, 2, 1, 3]] * 298, ["roads", "parks", "debt", "fees"])
        >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4)
        >>> release = mechanism.release(votes, np.random.default_rng(2))
        >>> release.top_candidates(2)[["item", "certain"]]
            item  certain
        0  roads     True
        1  parks    False
        2   debt    False
        """
        k = require_whole("k", k, 1, len(self.items))
        table = self.intervals(level, sampling=sampling, persons=persons)
        return table[table["lowest"] <= k].assign(certain=lambda rows: rows["highest"] <= k).reset_index(drop=True)

    def _said(self) -> str:
        return _listed(self.ranking, " > ")

    @classmethod
    def _parsed(cls, output: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(output["items"], list):
            raise ValueError("items are no list of names")
        optional = {name: floats(output[name]) for name in ("scores", "margins")}
        return {
            "items": tuple(names("items", output["items"])),
            "order": as_array("order", output["order"]),
            **optional,
        }

    def _require_answer(self, mechanism: Any) -> None:
        if len(set(self.items)) != mechanism.n_items or len(self.items) != mechanism.n_items:
            raise ValueError(f"items of another number than n_items = {mechanism.n_items}, or one of them twice")
        for name, values in (("scores", self.scores), ("margins", self.margins)):
            if values is not None and not np.isfinite(values).all():
                raise ValueError(f"{name} are not finite")
        if self.scores is not None and (np.diff(self.scores[self.order]) > 0).any():
            raise ValueError("order is not that of the scores")
        if self.margins is not None and (self.margins != -self.margins.T).any():
            raise ValueError("margins are not antisymmetric")


def open_places(
    release: Ranking, level: float, sampling: Sampling | None, persons: int | None
) -> dict[str, NDArray[np.int64]]:
    """The columns lowest and highest of `Ranking.intervals`.

    Examples
    --------
    >>> import dprank
    >>> votes = dprank.Rankings([[0, 1]] * 900, ["roads", "parks"])
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(votes, np.random.default_rng(2))
    >>> {name: places.tolist() for name, places in open_places(release, 0.95, None, None).items()}
    {'lowest': [1, 2], 'highest': [1, 2]}
    """
    if not isinstance(release.mechanism, HasRanges) or (release.scores is None and release.margins is None):
        maker = "no mechanism" if release.mechanism is None else f"this {type(release.mechanism).__name__}"
        raise ValueError(
            f"intervals of a release by {maker}; scores or margins with independent noise of a known law are "
            "needed, as of NoisyCounts, PrivateBorda, NoisyMatrix or LocalBorda"
        )
    lowest, highest = release.mechanism.open_places(release, level, sampling, persons)
    return {"lowest": lowest[release.order], "highest": highest[release.order]}


@dataclass(frozen=True, repr=False, eq=False)
class Selection(Release):
    """The k items with the largest (smallest) values.

    Parameters
    ----------
    items : ndarray, shape (k,)
        The chosen: names where items are declared so, codes otherwise. Best first if the order is released, else
        ascending: by label (by type and text where labels cannot be compared), or by code. Of int64 where all are whole
        numbers of 64 bits, else of objects.
    values : ndarray of float or int, shape (k,), optional
        Their values under fresh noise, in the order of `items`, where the mechanism releases them. Integers where the
        noise is that of `dprank.SECURE`.
    mechanism, source
        As of `Release`.

    Raises
    ------
    ValueError
        If items and values are no two lists of one length.

    Examples
    --------
    >>> list(Selection(np.array(["flu", "asthma"]))), Selection(np.array(["flu"])).winner
    (['flu', 'asthma'], 'flu')
    >>> Selection(np.array(["flu", "asthma"]), np.array([210, 130])).to_frame().to_dict("records")
    [{'item': 'flu', 'value': 210}, {'item': 'asthma', 'value': 130}]
    """

    items: NDArray[Any]
    values: NDArray[np.float64] | NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        items, values = as_array("items", self.items), self.values
        if values is not None:
            values = as_array("values", values)
            if values.dtype.kind not in "iuf":
                raise ValueError("values hold others; numbers are needed")
        if items.ndim != 1 or (values is not None and values.shape != items.shape):
            raise ValueError("items and values must be two lists of one length")
        settle(self, values=values, items=_one_kind(items))
        super().__post_init__()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items if self.items.dtype.kind in "mM" else self.items.tolist())

    def __len__(self) -> int:
        return len(self.items)

    @property
    def winner(self) -> Any:
        """The best of the items.

        Raises
        ------
        AttributeError
            Where there are several, and their order is not released.
        """
        if len(self) > 1 and not getattr(self.mechanism, "ordered", False):
            raise AttributeError(f"winner: none of {len(self)} items is the first, as their order is not released")
        return next(iter(self))

    def _places(self) -> Places | None:
        # the places are of the values, which may be in another order than the items
        if self.values is None or value_scale_of(self.mechanism) is None or not 1 < len(self) <= _DRAWN:
            return None
        table = self._open_places(0.95)
        at = list(zip(table["lowest"].tolist(), table["highest"].tolist(), strict=True))
        if not all(low <= place <= high for place, (low, high) in enumerate(at, 1)):
            return None
        return Places([str(item) for item in self], at)

    def to_frame(self) -> Any:
        """A row an item: item, and value where there are any."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"item": self.items}
        return columns if self.values is None else columns | {"value": self.values}

    def intervals(self, level: float = 0.95) -> Any:
        """Which places among the chosen the noise on their values leaves open, for all of them at once.

        Parameters
        ----------
        level : float
            In (0, 1), at most 1 - 1e-9: the probability over that noise, whatever the data are and whichever items were
            chosen.

        Returns
        -------
        pandas.DataFrame
            As `to_frame`, with columns lowest and highest: places from 1 among the k items here, by their exact values.
            Of the items that were not chosen nothing is known: one of them may be ahead of all, see
            `dprank.Oneshot.chance_right`.

        Raises
        ------
        ValueError
            Naming `level`, or where the release has fewer than two values, or none of a mechanism.

        Notes
        -----
        The noise on the values is drawn after the choice and independently of it, so it has its own law whatever was
        chosen. O(k log k).

        Examples
        --------
        >>> import dprank
        >>> mechanism = dprank.Oneshot.calibrated(epsilon=1.0, n_items=4, k=3, values=True, ordered=True)
        >>> mechanism.release([900, 880, 400, 3], np.random.default_rng(1)).intervals()[["item", "lowest", "highest"]]
           item  lowest  highest
        0     0       1        2
        1     1       1        2
        2     2       3        3
        """
        return self.to_frame().assign(**self._open_places(level))

    def _open_places(self, level: float) -> dict[str, NDArray[np.int64]]:
        """The columns lowest and highest of `intervals`."""
        scale = value_scale_of(self.mechanism)
        if scale is None or self.values is None or len(self.values) < 2:
            raise ValueError(
                "intervals of a release of fewer than two values; Oneshot.calibrated(values=True) has them"
            )
        sign = 1.0 if self.mechanism.largest else -1.0
        noise = ScoreNoise("laplace", scale, 1.0 if self.values.dtype.kind in "iu" else 0.0)
        lowest, highest = place_intervals(sign * self.values.astype(np.float64), noise, level)
        return {"lowest": lowest, "highest": highest}

    def _said(self) -> str:
        ordered = getattr(self.mechanism, "ordered", False)
        return _listed([str(item) for item in self.items], " > " if ordered else ", ")

    @classmethod
    def _parsed(cls, output: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(output["items"], list) or not isinstance(output["values"], list | None):
            raise ValueError("items are no list of names or codes, or values no list of numbers")
        items = np.empty(len(output["items"]), object)
        items[:] = names("items", output["items"])
        values = output["values"]
        return {"items": items, "values": values if values is None else np.array([number(value) for value in values])}

    def _require_answer(self, mechanism: Any) -> None:
        chosen, coded = self.items.tolist(), self.items.dtype == np.int64
        # names come from the data where a class declares none
        declared = getattr(mechanism, "items", None if coded else chosen)
        if len(chosen) != mechanism.k or len(set(chosen)) != mechanism.k:
            raise ValueError(f"items of another number than k = {mechanism.k}, or one of them twice")
        if mechanism.n_items is None:
            raise ValueError("n_items = None; nothing is released without items that are declared")
        if declared is None and not (coded and min(chosen) >= 0 and max(chosen) < mechanism.n_items):
            raise ValueError(f"items are no codes from 0 to {mechanism.n_items - 1}")
        if declared is not None and not set(chosen) <= set(declared):
            raise ValueError("items are not among those that are declared")
        if not getattr(mechanism, "ordered", True) and not _is_ascending(chosen):
            raise ValueError("items are not in ascending order, and no other is released")
        # what voters' reports say of values is computed, whatever drew them
        whole = self.publishable and mechanism.guarantee.model == "central"
        if self.values is not None and (self.values.dtype.kind == "f") == whole:
            raise ValueError(f"values of source {self.source!r} are {'integers' if whole else 'floats'}")
        if self.values is not None and not np.isfinite(self.values).all():
            raise ValueError("values are not finite")


@dataclass(frozen=True, repr=False, eq=False)
class Decision(Release):
    """Outcome of a test of uniformity.

    Parameters
    ----------
    reject : bool
        Whether the rankings are declared not uniform.
    statistic : float
        What was compared; a private test gives only what it may publish.
    threshold : float
        What it was compared with.
    p_value : float
        Probability under uniform rankings of a statistic at least as extreme. Where the null law is simulated it is
        never below 1 / (draws + 1): 1/1000 for `NoisyNorm` with ranks, however large the statistic is.
    mechanism, source
        As of `Release`.

    Examples
    --------
    >>> print(Decision(True, 9.0, 7.0, 0.01))
    the rankings are not uniform, p = 0.01; not for publication: of no private release
    """

    reject: bool
    statistic: float
    threshold: float
    p_value: float

    def to_frame(self) -> Any:
        """One row: reject, statistic, threshold, p_value."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        return {it.name: [getattr(self, it.name)] for it in self._output()}

    def _said(self) -> str:
        said = "the rankings are not uniform" if self.reject else "uniform rankings are not refuted"
        if math.isnan(self.p_value):
            return said
        test = self.mechanism
        at_floor = isinstance(test, HasFloor) and test.least_p_value is not None and self.p_value <= test.least_p_value
        least = f" (the least that {test.null_draws} draws can show)" if at_floor else ""
        return f"{said}, p = {self.p_value:.3g}{least}"

    @classmethod
    def _parsed(cls, output: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(output["reject"], bool):
            raise ValueError("reject is neither true nor false")
        return {"reject": output["reject"]} | {
            name: float(number(output[name])) for name in ("statistic", "threshold", "p_value")
        }

    def _require_answer(self, mechanism: Any) -> None:
        if math.isnan(self.statistic):
            return
        if self.reject != (self.statistic >= self.threshold):
            raise ValueError("reject is not what statistic and threshold say")
        if getattr(mechanism, "threshold", None) not in (None, self.threshold) and not callable(mechanism.threshold):
            raise ValueError(f"threshold is another than {shown(mechanism.threshold)}")
        if not 0 <= self.p_value <= 1:
            raise ValueError("p_value is no probability")


class Report(list[Any]):
    """What one voter sends: a list that is fit for JSON, and says what drew it as long as it is not sent.

    Attributes
    ----------
    source : {"operating system", "seeded"}

    Examples
    --------
    >>> import dprank
    >>> report = dprank.LocalMatrix.calibrated(epsilon=1.0, n_items=3).report([0, 1, 2], dprank.SECURE)
    >>> report.publishable, len(report)
    (True, 2)
    """

    def __init__(self, numbers: Iterable[Any], source: Origin) -> None:
        super().__init__(numbers)
        self.source = require_one_of("source", source, ("operating system", "seeded"))

    @property
    def publishable(self) -> bool:
        """Whether it may leave the voter's device."""
        return self.source == "operating system"

    def __repr__(self) -> str:
        return super().__repr__() + ("" if self.publishable else f"  # {_MARK[self.source]}")


@features.register
def ranking_features(result: Ranking) -> NDArray[np.float64]:
    """The order, the scores, and the margins of pairs.

    Examples
    --------
    >>> ranking_features(Ranking(("roads", "parks"), np.array([1, 0]), np.array([2.5, 4.0]))).tolist()
    [1.0, 0.0, 2.5, 4.0]
    """
    scores = np.zeros(0) if result.scores is None else result.scores
    margins = np.zeros(0) if result.margins is None else result.margins[np.triu_indices(len(result.order), 1)]
    return np.r_[result.order.astype(float), scores, margins]


@features.register
def selection_features(result: Selection) -> NDArray[np.float64]:
    """The items, by number, and their values.

    Examples
    --------
    >>> selection_features(Selection(np.array([3, 0]), np.array([210, 130]))).tolist()
    [3.0, 0.0, 210.0, 130.0]
    """
    items = np.array([_item_number(item) for item in result.items])
    return items if result.values is None else np.r_[items, result.values]


@features.register
def decision_features(result: Decision) -> NDArray[np.float64]:
    """Whether it rejects, and the statistic where it is released.

    Examples
    --------
    >>> decision_features(Decision(True, 9.0, 7.0, 0.01)).tolist()
    [1.0, 9.0]
    """
    published = np.array([result.reject, result.statistic], float)
    return published[~np.isnan(published)]


def source_of(rng: Source, mechanism: Any) -> Origin:
    """What draws a release; to be called by `release` itself, for the warning's place.

    Parameters
    ----------
    rng : numpy.random.Generator or dprank.SECURE
    mechanism : object
        Warns of its `guarantee` where `rng` draws for publication and epsilon is above `LARGE`.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2)
    >>> source_of(np.random.default_rng(1), mechanism), source_of(dprank.SECURE, mechanism)
    ('seeded', 'operating system')
    """
    if not isinstance(rng, SecureSource):
        return "seeded"
    guarantee: Guarantee = mechanism.guarantee
    if guarantee.epsilon > LARGE:
        from scipy.special import expit

        warnings.warn(
            f"epsilon = {guarantee.epsilon:.6g} is above {LARGE:g}, which protects little: an even chance that "
            f"somebody's data are these may become one of {expit(guarantee.epsilon):.4%}",
            stacklevel=3,
        )
    warn_of_delta(mechanism)
    return "operating system"


def warn_of_delta(mechanism: Any, persons: int | None = None) -> None:
    """Warn of a delta above `LARGE_DELTA`, or above 1 / people where their number is public: never by the data.

    Examples
    --------
    >>> import warnings
    >>> import dprank
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_of_delta(dprank.PrivateBorda.calibrated(epsilon=1.0, delta=1e-3, n_items=4))
    ...     warn_of_delta(dprank.PrivateBorda.calibrated(epsilon=1.0, delta=1e-3, n_items=4), persons=2000)
    >>> [str(one.message).partition(":")[0] for one in caught]
    ['delta = 0.001 is above 1 / 2000 people']
    """
    delta, people = mechanism.guarantee.delta, persons or getattr(mechanism, "n_voters", None)
    most, of = LARGE_DELTA, f"{LARGE_DELTA:g}"
    if isinstance(people, int) and people > 1 / LARGE_DELTA:
        most, of = 1 / people, f"1 / {people} people"
    if delta > most:
        warnings.warn(
            f"delta = {delta:.6g} is above {of}: so often may nothing be promised at all, as if somebody's data were "
            "published as they are; take one far below 1 / people",
            stacklevel=4,
        )


def source_of_reports(reports: Iterable[Any], own: Origin) -> Origin:
    """What drew the reports of voters, and `own` for what was drawn besides.

    Examples
    --------
    >>> mine, hers = Report([1], "operating system"), Report([0], "seeded")
    >>> source_of_reports([mine], "operating system"), source_of_reports([mine, hers], "operating system")
    ('operating system', 'seeded')
    """
    sources = {own, *(getattr(report, "source", "voters") for report in reports)}
    return next(source for source in ("seeded", "voters", "operating system") if source in sources)


def _listed(names: Iterable[str], between: str) -> str:
    """Names in a row; of many the first and the last."""
    names = list(names)
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 2], "...", names[-1]]
    return between.join(names)


def _one_kind(items: NDArray[Any]) -> NDArray[Any]:
    """Items as int64 where all are whole, and as objects else, whatever they came in; dates as they are."""
    if items.dtype.kind in "mMi":
        return items.astype(np.int64, copy=False) if items.dtype.kind == "i" else items
    objects: NDArray[Any] = items.astype(object)
    whole = all(
        isinstance(item, int | np.integer) and not isinstance(item, bool | np.timedelta64) and -(2**63) <= item < 2**63
        for item in objects
    )
    return objects.astype(np.int64) if whole else objects


def _is_ascending(names: list[Any]) -> bool:
    """Whether names are sorted; those that cannot be compared are in any order."""
    try:
        return sorted(names) == names
    except TypeError:
        return True


def _item_number(item: Any) -> float:
    try:
        return float(item)
    except (TypeError, ValueError):
        import zlib

        return float(zlib.crc32(str(item).encode()))
