"""What has been spent, in a file that only grows, before noise is drawn (long: half of it is what it refuses).

Every data set that a file names has the whole limit to itself. Losses add up as exact fractions, by the composition
that was chosen when the file was made: basic, or zero-concentrated (see `dprank.privacy.filters`: what is released next
may depend on all that was released before). A mistyped name would be another data set with a whole limit of its own:
after the first, each new one asks for a word.

Entries are chained: each has a digest of itself, of a random salt and of the digest before it. A `Receipt` carries the
last one out of the file, into what is published. A file that was restored from a copy cannot know what was spent since;
who has a receipt can see that it does not. Whoever may write to the file may also falsify it, chain and all, but not so
that receipts fit which are out already: the record guards against accidents, races and crashes, receipts against its
keeper, where readers ask for them.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, get_args

from dprank._require import (
    require_below_1,
    require_loss,
    require_one_of,
    require_real,
    require_whole,
    shown,
    shown_down,
)
from dprank._typed import Typed, exact_of, said
from dprank.privacy._budget_file import (
    PATIENCE,
    chain,
    create,
    fraction_of,
    is_blank,
    is_chained,
    is_there,
    named,
    opened,
    require_chain,
    require_path,
    spent_of,
    text_of,
    undamaged,
)
from dprank.privacy.filters import COMPOSITIONS, NO_FILTER, Composition, Cost, Limit, cost_of
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit
from dprank.privacy.noise import SECURE, drawn_exactly

__all__ = ["LARGEST", "LONGEST", "PATIENCE", "SMALLEST", "Budget", "BudgetRefused", "Entry", "Receipt"]

#: Epsilons that a limit may have: beyond them it is a slip.
SMALLEST, LARGEST = 1e-9, 1e6
#: Most characters of the name of a data set, and of what a release is.
LONGEST = 200


class BudgetRefused(ValueError):
    """More was requested than remains; nothing was recorded, nothing drawn.

    Attributes
    ----------
    requested, spent, remaining, missing : tuple of float
        Epsilon and delta in the budget's unit and adjacency; remaining is rounded down, the others up. Of composition
        "zcdp" what remains is the largest loss that fits without a delta.
    rho : tuple of float or None
        Requested, remaining and missing, of composition "zcdp".
    fits : float
        Largest epsilon that would fit, for the neighbours and the delta that were asked for (without a delta, of
        composition "zcdp"); 0 where nothing does.

    Examples
    --------
    >>> import tempfile
    >>> import dprank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0)
    ...     try:
    ...         budget.spend(dprank.Guarantee(1.5), dataset="survey 2026")
    ...     except dprank.BudgetRefused as refusal:
    ...         refusal.missing
    (0.5, 0.0)
    """

    requested: tuple[float, float]
    spent: tuple[float, float]
    remaining: tuple[float, float]
    missing: tuple[float, float]
    rho: tuple[float, float, float] | None = None
    fits: float = 0.0


@dataclass(frozen=True)
class Entry:
    """One spend, as it was promised: `Guarantee.converted` says what it costs in a budget of other neighbours.

    Parameters
    ----------
    number : int
        From 1, over all data sets of the file.
    dataset : str
    epsilon, delta : float
    unit : {"comparison", "voter"}
    adjacency : {"replace", "add_remove"}
    what : str
    day : str
        ISO date, UTC: never finer.
    rho : float or None
        Zero-concentrated loss that the mechanism stated; None where it stated none, or the composition is basic.
    charged_epsilon, charged_delta : float
        What it cost in the budget's own unit and adjacency: these add up to what is spent.
    charged_rho : float or None
        The same by zero-concentrated composition.
    """

    number: int
    dataset: str
    epsilon: float
    delta: float
    unit: Unit
    adjacency: Adjacency
    what: str
    day: str
    rho: float | None = None
    charged_epsilon: float = 0.0
    charged_delta: float = 0.0
    charged_rho: float | None = None


@dataclass(frozen=True)
class Receipt:
    """What a reader of a release may know of the budget that paid for it.

    Parameters
    ----------
    dataset : str
    number : int
        Of this entry among those of the data set, from 1: two receipts of one number are of two copies of a file.
    digest : str
        SHA-256, of all entries of the file up to this one, in hexadecimal digits.
    left : Guarantee
        Of the data set, after this entry: as of `Budget.remaining`, but as it is written: 0.8 is four fifths.
    left_rho : float or None
        As of `Budget.remaining_rho`.

    Notes
    -----
    Of other data sets it tells nothing, not even how many entries they have. The digest is of their entries, too, but
    with 256 random bits each, which stay in the file: who guesses what an entry says cannot check it by the digest. The
    same entry, made in two copies of a file, has two digests.

    It depends on no data: it is made before noise is drawn, of what the file says.

    Examples
    --------
    >>> import tempfile
    >>> import dprank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0)
    ...     receipt = budget.spend(dprank.Guarantee(0.25), dataset="survey 2026")
    ...     print(receipt.number, receipt.left, budget.receipt("survey 2026", 1) == receipt)
    1 epsilon = 0.75 (central; replace one voter) True
    """

    dataset: str
    number: int
    digest: str
    left: Guarantee
    left_rho: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a published file."""
        left = {name: value for name, value in vars(self.left).items() if name != "model"}
        rho = {} if self.left_rho is None else {"rho": self.left_rho}
        return {"dataset": self.dataset, "number": self.number, "digest": self.digest, "left": left | rho}

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        """What `to_dict` wrote.

        Raises
        ------
        ValueError
            Where it is none.
        """
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            left = dict(given["left"])
            rho = left.pop("rho", None)
            made = cls(
                _require_line("dataset", given["dataset"]), given["number"], given["digest"], Guarantee(**left), rho
            )
            numbers = [made.left.epsilon, made.left.delta, *([] if rho is None else [rho])]
            fit = type(made.number) is int and made.number >= 1 and re.fullmatch("[0-9a-f]{64}", made.digest)
            if fit and all(type(it) is float and 0 <= it < math.inf for it in numbers) and made.to_dict() == given:
                return made
        raise ValueError(
            f"receipt = {shown(given)}; dataset, number, digest and left are needed, as a budget gave them"
        )


class Budget:
    """Limits of what may be lost, and all that was spent, in an SQLite file.

    Parameters
    ----------
    path : str or path
        Created with these limits if there is no such file, and opened otherwise.
    epsilon : float, optional
        Limit for each data set, from 1e-9 to 1e6: its exact binary value. There is no default: needed where the file
        is created. Where it exists, each limit that is given must be the one in it.
    delta : float, optional
        In [0, 1); 0 unless given.
    unit : {"comparison", "voter"}, optional
        Of whom the limit speaks; "voter" unless given.
    adjacency : {"replace", "add_remove"}, optional
        "replace" unless given.
    composition : {"basic", "zcdp"}, optional
        How losses add up, "basic" unless given. By zero-concentrated privacy many small losses, and Gaussian ones, add
        up to less, at a delta above 0, of which half is then left for releases that state no rho.

    Raises
    ------
    ValueError
        Naming the file, or what is out of range: where limits are missing or others than those in the file, or the file
        is no budget, or one of a newer version.
    OSError
        Naming the file: where it cannot be read or written, or another process holds it for more than `PATIENCE`
        seconds. So do all methods.

    Notes
    -----
    Floats are summed exactly, and 0.1 is a little more than a tenth: of a limit of 1, nine fit. What is typed at the
    command line is a decimal, and so is what it costs: there ten fit.

    Several processes may use one file at once, on a disk whose locks work; network file systems often have none. What
    is recorded survives the loss of power. Nothing is stored of data: no person, no count of rows, no hash of them.
    A file with a second name, a hard link, is refused: each name has a journal of its own.

    A file whose entries were altered, taken out or put in another order is refused when it is opened.

    Examples
    --------
    >>> import tempfile
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=0.75, n_items=2)
    >>> votes = dprank.Rankings([[0, 1]] * 90, "ab")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0)
    ...     release = budget.release(mechanism, votes, dataset="survey 2026")
    ...     print(budget.remaining("survey 2026"))
    epsilon = 0.25 (central; replace one voter)
    >>> release.publishable
    True
    """

    #: Whether the file was not there, and has been made here, with nothing spent: else it was opened.
    made: bool = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        unit: Unit | None = None,
        adjacency: Adjacency | None = None,
        composition: Composition | None = None,
    ) -> None:
        self.path = require_path(path)
        given = _require_limits(epsilon, delta, unit, adjacency, composition)
        if not is_there(self.path) or is_blank(self.path):
            if epsilon is None:
                new = "dprank budget FILE --epsilon 3"
                raise FileNotFoundError(f"{named(self.path)}: no such budget; epsilon is needed to create it: {new}")
            promise = Guarantee(**{name: value for name, value in given.items() if name != "composition"})
            exact = _typed_or(epsilon, promise.epsilon), _typed_or(delta, promise.delta)
            self.made = create(self.path, Limit.of(promise, given.get("composition", "basic"), exact))
        with opened(self.path) as (db, limit):
            require_chain(self.path, db, limit.composition)
            there = vars(limit.guarantee) | {"composition": limit.composition}
        for name, value in given.items():
            if value != there[name]:
                raise ValueError(f"{name} = {shown(value)}; the limit in {named(self.path)} has {shown(there[name])}")

    def __repr__(self) -> str:
        return f"Budget({named(self.path)})"

    @property
    def limit(self) -> Guarantee:
        """What may be lost of each data set."""
        with opened(self.path) as (_, limit):
            return limit.guarantee

    @property
    def composition(self) -> Composition:
        """How losses add up."""
        with opened(self.path) as (_, limit):
            return limit.composition

    def spend(
        self,
        guarantee: Guarantee,
        *,
        dataset: str,
        what: str = "",
        rho: float | None = None,
        new_dataset: bool = False,
        asked: tuple[float, float] | None = None,
    ) -> Receipt:
        """Record a loss for good, before anything is drawn.

        Parameters
        ----------
        guarantee : Guarantee
            Of the central model. Counts as what it implies for the budget's neighbours (`Guarantee.converted`).
        dataset : str
            Name of what is protected: public, one line of at most 200 characters, without spaces around it.
        what : str, optional
            What is released: public, one such line, or nothing.
        rho : float, optional
            Of a zero-concentrated guarantee of the same release, for the neighbours of its guarantee. Basic composition
            does not look at it.
        new_dataset : bool, optional
            Says that these are other people's data than all that the file names, which then have the whole limit:
            needed where it names others, refused where it names this one. Two processes cannot both make it.
        asked : tuple of float, optional
            Epsilon and delta as they were typed at the command line, of which the guarantee is within rounding: then
            the decimals are charged, see `dprank.privacy.filters.cost_of`. A limit of floats is charged in floats.

        Returns
        -------
        Receipt
            For whoever reads what is released.

        Raises
        ------
        BudgetRefused
            If it is more than remains.
        ValueError
            If the guarantee says nothing about the budget's neighbours; or a new data set lacks its word, and nothing
            is recorded.
        """
        guarantee = _require_guarantee(guarantee)
        dataset, what = _require_line("dataset", dataset), _require_line("what", what, empty=True)
        rho = None if rho is None else require_loss("rho", rho, up=True)
        with opened(self.path, "BEGIN IMMEDIATE") as (db, limit):
            unit, adjacency = limit.guarantee.unit, limit.guarantee.adjacency
            _require_known(self.path, db, dataset, new_dataset)
            with _way_out(guarantee, limit.guarantee):
                cost = cost_of(guarantee, unit, adjacency, rho)
            spent = spent_of(self.path, db, dataset, limit)
            typed = cost
            if asked is not None and limit.decimal:
                typed = cost_of(guarantee, unit, adjacency, rho, (exact_of(asked[0]), exact_of(asked[1])))
            fitting = [it for it in (typed, cost) if it is not None and limit.fits(spent + it)]
            if not fitting:
                raise _refusal(self.path, dataset, guarantee, typed, spent, limit)
            cost = fitting[0]
            number = db.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM entries").fetchone()[0]
            promised = text_of(guarantee.epsilon), text_of(guarantee.delta), guarantee.unit, guarantee.adjacency
            charged = text_of(cost.epsilon), text_of(cost.delta)
            row: tuple[Any, ...] = (number, dataset, *promised, *charged, what, datetime.now(UTC).date().isoformat())
            if limit.composition == "zcdp":
                stated = "" if rho is None or math.isinf(rho) else text_of(rho)
                row = (*row, stated, text_of(cost.rho), text_of(cost.rest))
            db.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(row))})", row)
            chain(self.path, db, limit.composition)
            return _receipt(self.path, db, limit, dataset)

    def release(self, mechanism: Any, data: Any, *, dataset: str, what: str = "", new_dataset: bool = False) -> Any:
        """Spend what a mechanism promises, then draw its release from the operating system's randomness.

        Parameters
        ----------
        mechanism : Mechanism
            Of the central model, whose noise `dprank.SECURE` draws.
        data : object
            As the mechanism takes them.
        dataset, what, new_dataset
            As of `spend`; without `what`, the class of the mechanism.

        Returns
        -------
        Release

        Raises
        ------
        BudgetRefused
            If its guarantee is more than remains.
        ValueError
            If the mechanism is not for publication, and whatever it refuses. What it refuses stays spent: that it
            refuses these data may tell of them.
        """
        return self.release_with_receipt(mechanism, data, dataset=dataset, what=what, new_dataset=new_dataset)[0]

    def release_with_receipt(
        self,
        mechanism: Any,
        data: Any,
        *,
        dataset: str,
        what: str = "",
        new_dataset: bool = False,
        asked: tuple[float, float] | None = None,
    ) -> tuple[Any, Receipt]:
        """The same, and the receipt, which `dprank.publication.publish` puts beside it.

        Examples
        --------
        >>> import tempfile
        >>> import dprank
        >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=0.75, n_items=2)
        >>> votes = dprank.Rankings([[0, 1]] * 90, "ab")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0)
        ...     release, receipt = budget.release_with_receipt(mechanism, votes, dataset="survey 2026")
        >>> receipt.left.epsilon
        0.25
        """
        guarantee = _require_publishable(mechanism)
        what = _require_line("what", what, empty=True) or type(mechanism).__name__
        rho = _stated_rho(mechanism)
        receipt = self.spend(guarantee, dataset=dataset, what=what, rho=rho, new_dataset=new_dataset, asked=asked)
        return mechanism.release(data, SECURE), receipt

    def receipt(self, dataset: str, number: int) -> Receipt:
        """That of an entry of a data set, after all entries up to it were held against the chain.

        Raises
        ------
        ValueError
            Where there is no such entry, or no chain yet.
        """
        dataset = _require_line("dataset", dataset)
        number = require_whole("number", number, 1)
        with opened(self.path) as (db, limit):
            if not is_chained(db):
                raise ValueError(
                    f"{named(self.path)}: was written by dprank 0.2 and gave no receipts; its next release begins to"
                )
            require_chain(self.path, db, limit.composition)
            return _receipt(self.path, db, limit, dataset, number)

    def verify(self, receipt: Receipt, guarantee: Guarantee | None = None) -> None:
        """Refuse a receipt that is not of this file, as it stands.

        Parameters
        ----------
        receipt : Receipt
        guarantee : Guarantee, optional
            Of the release that carries it: then the entry must be of this one.

        Raises
        ------
        ValueError
            Saying what differs: the file was restored from a copy, or is another one; or its keeper altered it.

        Examples
        --------
        >>> import tempfile
        >>> import dprank
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     one, other = (dprank.Budget(f"{folder}/{name}.sqlite", epsilon=1.0) for name in "ab")
        ...     receipt = one.spend(dprank.Guarantee(0.25), dataset="survey 2026")
        ...     one.verify(receipt)
        ...     try:
        ...         other.verify(receipt)
        ...     except ValueError as refusal:
        ...         print(str(refusal).partition(": ")[2])
        has 0 entries of 'survey 2026', and this is a receipt of number 1: a copy from before, or another budget
        """
        there = self.receipt(receipt.dataset, receipt.number)
        if there.digest != receipt.digest:
            raise ValueError(
                f"{named(self.path)}: entry {receipt.number} of {shown(receipt.dataset)} has another digest than the "
                "receipt: a copy in which something else was spent, or another budget"
            )
        if there != receipt:
            raise ValueError(
                f"{named(self.path)}: what is left after entry {receipt.number} of {shown(receipt.dataset)} is not "
                f"what the receipt says: {there.left}"
            )
        entry = self.entries(receipt.dataset)[receipt.number - 1]
        promised = Guarantee(entry.epsilon, entry.delta, entry.unit, entry.adjacency)
        if guarantee is not None and promised != guarantee:
            raise ValueError(
                f"{named(self.path)}: entry {receipt.number} of {shown(receipt.dataset)} paid for {promised}, not for "
                f"{guarantee}"
            )

    def spent(self, dataset: str) -> Guarantee:
        """All that was lost of a data set, rounded up: the least of the sums that hold."""
        dataset = _require_line("dataset", dataset)
        with opened(self.path) as (db, limit):
            return _guarantee(limit, *limit.promised(spent_of(self.path, db, dataset, limit)))

    def remaining(self, dataset: str) -> Guarantee:
        """What may still be lost of a data set, rounded down; of composition "zcdp" the most without a delta."""
        dataset = _require_line("dataset", dataset)
        with opened(self.path) as (db, limit):
            return _guarantee(limit, *limit.left(spent_of(self.path, db, dataset, limit)))

    def written(self, dataset: str) -> tuple[Guarantee, Guarantee]:
        """What was lost of a data set, and what is left, as one writes them: decimals of decimals, which add up.

        Of composition "zcdp" they are `spent` and `remaining`.

        Examples
        --------
        >>> import tempfile
        >>> import dprank
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0)
        ...     _ = budget.spend(dprank.Guarantee(0.25), dataset="survey 2026")
        ...     for said in budget.written("survey 2026"):
        ...         print(said)
        epsilon = 0.25 (central; replace one voter)
        epsilon = 0.75 (central; replace one voter)
        """
        dataset = _require_line("dataset", dataset)
        with opened(self.path) as (db, limit):
            cost = spent_of(self.path, db, dataset, limit)
            return _guarantee(limit, *_said_spent(limit, cost)), _guarantee(limit, *_said_left(limit, cost))

    def remaining_rho(self, dataset: str) -> float | None:
        """What may still be lost of a data set by zero-concentrated privacy, rounded down; None of basic composition.

        Examples
        --------
        >>> import tempfile
        >>> import dprank
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     budget = dprank.Budget(f"{folder}/budget.sqlite", epsilon=1.0, delta=1e-6, composition="zcdp")
        ...     mechanism = dprank.PrivateBorda.calibrated(epsilon=0.5, delta=1e-9, n_items=4)
        ...     for _ in range(3):
        ...         _ = budget.spend(mechanism.guarantee, dataset="survey 2026", rho=mechanism.rho)
        ...     print(round(budget.remaining_rho("survey 2026"), 3), budget.spent("survey 2026"))
        0.01 epsilon = 0.743946, delta = 5e-07 (central; replace one voter)
        """
        dataset = _require_line("dataset", dataset)
        with opened(self.path) as (db, limit):
            if limit.composition == "basic":
                return None
            return _down(limit.left_rho(spent_of(self.path, db, dataset, limit)))

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """All that was spent, in order; of one data set if it is given."""
        chosen = () if dataset is None else (_require_line("dataset", dataset),)
        columns = ", ".join(it.name for it in fields(Entry) if not it.name.endswith("rho"))
        with opened(self.path) as (db, limit):
            columns += ", rho, charged_rho" if limit.composition == "zcdp" else ", '', ''"
            query = f"SELECT {columns} FROM entries {'WHERE dataset = ?' * len(chosen)} ORDER BY number"
            rows = db.execute(query, chosen).fetchall()
        with undamaged(self.path):
            return [_entry(*row) for row in rows]

    def to_frame(self) -> Any:
        """The entries as a pandas.DataFrame: a row each, and their fields as columns."""
        import pandas as pd

        return pd.DataFrame([asdict(entry) for entry in self.entries()], columns=[it.name for it in fields(Entry)])


def _require_known(path: Path, db: sqlite3.Connection, dataset: str, new: Any) -> None:
    """Refuse a data set that is new by a slip, or said to be new and is not."""
    if type(new) is not bool:
        raise ValueError(f"new_dataset = {shown(new)}; True or False is needed")
    known = [name for (name,) in db.execute("SELECT dataset FROM entries GROUP BY dataset ORDER BY MIN(number)")]
    if (dataset in known) == new and known:
        if new:
            raise ValueError(
                f"{named(path)}: {shown(dataset)} is there already and nothing of it is new: leave out --new-dataset "
                "(new_dataset in Python)"
            )
        like = [name for name in known if _plain(name) == _plain(dataset)]
        which = f"knows {shown(like[0])}, which differs in case or blanks alone" if like else f"knows {_several(known)}"
        raise ValueError(
            f"dataset = {shown(dataset)}; {named(path)} {which}: say that name if these are data of its people, or "
            "--new-dataset (in Python new_dataset=True) if they are others', whose budget begins now"
        )


def _plain(name: str) -> str:
    """What two spellings of one name have in common."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def _several(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" * (len(names) > 3)
    return " and ".join(map(shown, names)) if len(names) < 3 else ", ".join(map(shown, names[:3])) + more


def _receipt(path: Path, db: sqlite3.Connection, limit: Limit, dataset: str, number: int | None = None) -> Receipt:
    """Of the last entry of a data set, or of another by its number."""
    count = db.execute("SELECT COUNT(*) FROM entries WHERE dataset = ?", (dataset,)).fetchone()[0]
    number = count if number is None else number
    if number > count:
        raise ValueError(
            f"{named(path)}: has {count} entries of {shown(dataset)}, and this is a receipt of number {number}: "
            "a copy from before, or another budget"
        )
    query = "SELECT number FROM entries WHERE dataset = ? ORDER BY number LIMIT 1 OFFSET ?"
    at = db.execute(query, (dataset, number - 1)).fetchone()[0]
    digest = db.execute("SELECT digest FROM chain WHERE number = ?", (at,)).fetchone()[0]
    spent = spent_of(path, db, dataset, limit, at)
    rho = None if limit.composition == "basic" else _down(limit.left_rho(spent))
    return Receipt(dataset, number, digest, _guarantee(limit, *_said_left(limit, spent)), rho)


def _said_spent(limit: Limit, spent: Cost) -> tuple[float, float]:
    if limit.composition == "basic":
        return said(spent.epsilon, up=True), said(spent.delta, up=True)
    return limit.promised(spent)


def _said_left(limit: Limit, spent: Cost) -> tuple[float, float]:
    epsilon, delta = limit.rest(spent)
    return said(epsilon, up=False), said(delta, up=False)


@contextmanager
def _way_out(given: Guarantee, limit: Guarantee) -> Iterator[None]:
    """Where a guarantee says nothing about a budget's neighbours: what to do instead."""
    try:
        yield
    except ValueError as error:
        another = "or keep another budget, as `dprank budget FILE --epsilon 3"
        if (given.unit, limit.unit) == ("comparison", "voter"):
            raise ValueError(
                f"{error}, of whom this budget speaks: protect whole persons (--protect person), {another} --unit "
                "comparison` makes it"
            ) from None
        if (given.adjacency, limit.adjacency) == ("replace", "add_remove"):
            raise ValueError(
                f"{error}, as this budget counts: release with --adjacency add_remove, {another} --adjacency replace` "
                "makes it"
            ) from None
        raise


def _refusal(path: Path, dataset: str, given: Guarantee, cost: Cost | None, spent: Cost, limit: Limit) -> BudgetRefused:
    asked, rest = given.converted(limit.guarantee.unit, limit.guarantee.adjacency), limit.rest(spent)
    exact = [None, None] if cost is None else [cost.epsilon, cost.delta]
    wanted = tuple(math.inf if it is None else said(it, up=True) for it in exact)
    if cost is None:
        wanted = asked.epsilon, asked.delta
    lacking = tuple(
        math.inf if math.isinf(a) else said(max((Fraction(a) if it is None else it) - b, Fraction(0)), up=True)
        for a, it, b in zip(wanted, exact, rest, strict=True)
    )
    figures = {"requested": wanted, "spent": _said_spent(limit, spent), "remaining": _said_left(limit, spent)}
    figures["missing"] = lacking
    with_delta = asked.delta > 0 or limit.guarantee.delta > 0
    said_of = [f"{name} epsilon = {e!r}" + f", delta = {d!r}" * with_delta for name, (e, d) in figures.items()]
    by_rho = None
    if limit.composition == "zcdp" and cost is not None:
        rho = limit.left_rho(spent)
        by_rho = _up(cost.rho), _down(rho), _up(max(cost.rho - rho, Fraction(0)))
        said_of.append("by rho: requested {!r}, remaining {!r}, missing {!r}".format(*by_rho))
    if given.adjacency != limit.guarantee.adjacency:
        own = (
            given.epsilon
            if cost is None or cost.epsilon == Fraction(asked.epsilon)
            else said(cost.epsilon / 2, up=True)
        )
        said_of.append(
            f"epsilon = {own!r} of adjacency {given.adjacency!r} is that much in a budget of adjacency "
            f"{limit.guarantee.adjacency!r}"
        )
    fits = limit.fitting(spent, given)
    under = f" of adjacency {given.adjacency!r}" * (given.adjacency != limit.guarantee.adjacency)
    lost = f", delta = {given.delta!r}," if given.delta and limit.composition == "basic" else ""
    said_of.append(f"at most epsilon = {shown_down(fits)}{under}{lost} fits" if fits else "nothing more fits")
    refusal = BudgetRefused(f"{named(path)} refuses for {shown(dataset)}: {'; '.join(said_of)}")
    for name, pair in figures.items():
        setattr(refusal, name, pair)
    refusal.rho, refusal.fits = by_rho, fits
    return refusal


def _typed_or(given: Any, settled: float) -> Fraction:
    """The decimal, where one was typed; else the float that was made of what was given."""
    return exact_of(given if isinstance(given, Typed) else settled)


def _guarantee(limit: Limit, epsilon: float, delta: float) -> Guarantee:
    return Guarantee(epsilon, delta, limit.guarantee.unit, limit.guarantee.adjacency)


def _stated_rho(mechanism: Any) -> float | None:
    """Of a zero-concentrated guarantee, where a mechanism has one."""
    with suppress(Exception):  # what is foreign may raise anything
        return require_loss("rho", getattr(mechanism, "rho", None), up=True)
    return None


def _entry(number: int, name: str, epsilon: str, delta: str, *others: Any) -> Entry:
    unit, adjacency, what, day, *charged, rho, by_rho = others
    losses = float(fraction_of(epsilon)), float(fraction_of(delta))
    stated, cost = (None if not text else said(fraction_of(text), up=True) for text in (rho, by_rho))
    lost, failing = (said(fraction_of(text), up=True) for text in charged)
    return Entry(number, name, *losses, unit, adjacency, what, day, stated, lost, failing, cost)


def _up(exact: Fraction) -> float:
    return require_loss("loss", exact, up=True)


def _down(exact: Fraction) -> float:
    return require_loss("loss", exact)


def _require_limits(epsilon: Any, delta: Any, unit: Any, adjacency: Any, composition: Any) -> dict[str, Any]:
    """Those that are given."""
    given = {}
    if epsilon is not None:
        needed = f"it must lie in [{SMALLEST:g}, {LARGEST:g}]"
        given["epsilon"] = require_real("epsilon", epsilon, needed, lambda x: SMALLEST <= x <= LARGEST)
    if delta is not None:
        given["delta"] = _require_normal("delta", require_below_1("delta", delta))
    if unit is not None:
        given["unit"] = require_one_of("unit", unit, get_args(Unit))
    if adjacency is not None:
        given["adjacency"] = require_one_of("adjacency", adjacency, get_args(Adjacency))
    if composition == "pld":
        raise ValueError(NO_FILTER)
    if composition is not None:
        given["composition"] = require_one_of("composition", composition, COMPOSITIONS)
    return given


def _require_normal(name: str, number: float) -> float:
    if 0 < number < sys.float_info.min:
        raise ValueError(f"{name} = {number!r}; it must be 0, or at least {sys.float_info.min:.3g}")
    return number


def _require_guarantee(guarantee: Any) -> Guarantee:
    if not isinstance(guarantee, Guarantee):
        raise ValueError(f"guarantee = {shown(guarantee)}; a Guarantee is needed")
    if guarantee.model != "central":
        raise ValueError(f"'{guarantee}' is not spent here: voters protect themselves; a central guarantee is needed")
    _require_normal("epsilon", guarantee.epsilon)
    _require_normal("delta", guarantee.delta)
    return guarantee


def _require_publishable(mechanism: Any) -> Guarantee:
    """The guarantee of a mechanism for whose release SECURE can draw."""
    kind = f"<{mechanism.__name__}>" if isinstance(mechanism, type) else type(mechanism).__name__
    guarantee, fit = None, False
    with suppress(Exception):  # what is foreign may raise anything
        guarantee = mechanism.guarantee
        fit = callable(mechanism.release) and not isinstance(mechanism, type) and drawn_exactly(mechanism)
    if not isinstance(guarantee, Guarantee):
        raise ValueError(f"mechanism = {kind}; a mechanism with a guarantee is needed")
    guarantee = _require_guarantee(guarantee)
    if not fit:
        raise ValueError(f"mechanism = {kind}; it is not for publication: dprank.SECURE does not draw its noise")
    return guarantee


def _require_line(name: str, text: Any, *, empty: bool = False) -> str:
    """One printable line without spaces around it, which could make two names of one."""
    if isinstance(text, str):
        line = unicodedata.normalize("NFC", text)
        if line.isprintable() and line == line.strip() and (empty or line) and len(line) <= LONGEST:
            return line
    raise ValueError(
        f"{name} = {shown(text)}; one line of {'at most' if empty else '1 to'} {LONGEST} characters is needed"
    )
