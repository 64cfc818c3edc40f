"""How a command releases: what is refused beforehand, what is spent and drawn, and what is shown."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from rich.table import Table

import dprank
from dprank._require import require_one_of, require_whole, shown_down, visible
from dprank.cli.given import Given
from dprank.cli.options import cell, console, show_json
from dprank.cli.placing import require_known
from dprank.cli.spending import require_protected
from dprank.cli.taken import exactly
from dprank.cli.writing import require_writable, write_new
from dprank.data.declaration import Declaration
from dprank.mechanism import HasDrawing, HasRanges, Paired
from dprank.privacy.budget import Receipt
from dprank.privacy.noise import SECURE, Source
from dprank.privacy.pair_ranges import Sampling
from dprank.publication import opened, publish
from dprank.questions import QUESTIONS
from dprank.release import LARGE_DELTA, warn_of_delta
from dprank.sentences import (
    answer,
    counted,
    declared_of,
    of_data,
    promised,
    ranges,
    shown_columns,
    told,
    unit_of,
)

__all__ = ["checked", "drawing_of", "drawn_of", "finish"]


def finish(
    drawn: tuple[Any, Receipt | None],
    question: Any,
    declared: Declaration,
    out: Path | None,
    as_json: bool,
    kept: Path | None,
    top: int | None = None,
    named: Mapping[str, Any] | None = None,
    **drawing: Any,
) -> None:
    """Write what is published, and show it; `drawing` is what `dprank.Ranking.intervals` asks of sampling.

    `named` is what `dprank.publication.publish` takes besides: title, day, and so on.
    """
    release, receipt = drawn
    text, showing = None, False
    try:
        said: dict[str, Any] = {**(named or {}), "rehearsal": release.source == "seeded"}
        text = publish(release, question, declared, top=top, receipt=receipt, **said, **drawing)
        if out:
            write_new(out, text)
        showing = True
        if as_json:
            show_json(text)
        else:
            _show(drawn, question, out, kept is not None, top, opened(text), **drawing)
        _flush()
    except BaseException as error:  # whatever fails, or is stopped: it was spent, and is drawn once
        if text is None or not (out and _holds(out, text)):
            _keep(release.to_json() if text is None else text, receipt, kept)
        _leave_output()
        if showing and isinstance(error, OSError):
            raise ValueError(f"standard output: {error.strerror}; not all was shown") from None
        raise


def _keep(text: str, receipt: Receipt | None, kept: Path | None) -> None:
    """Show what was drawn; where that fails and it was paid for, write it beside the budget, and say where."""
    with suppress(Exception):
        show_json(text)
        _flush()
        return
    if receipt is None or kept is None:
        return
    said = f"what was paid for is not shown; here it is: {text}"
    with suppress(OSError):
        place, name = tempfile.mkstemp(prefix=f"{kept.stem}-entry-{receipt.number}-", suffix=".json", dir=kept.parent)
        with os.fdopen(place, "w", encoding="utf-8") as file:
            file.write(text)
        said = f"it could not be shown; what was paid for is kept in {name}"
    with suppress(Exception):
        print(visible(f"dprank: {said}"), file=sys.stderr)


def _flush() -> None:
    """Fail now, and not where Python ends, if nobody reads any more."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _leave_output() -> None:
    """What is still to be written to a closed pipe goes nowhere, so that Python ends without a word about it."""
    try:
        _flush()
    except (OSError, ValueError):
        with suppress(Exception):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _holds(out: Path, text: str) -> bool:
    """Whether a file has just been written."""
    try:
        return out.is_file() and out.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _show(
    drawn: tuple[Any, Receipt | None],
    question: Any,
    out: Path | None,
    kept: bool,
    top: int | None,
    file: Mapping[str, Any],
    **drawing: Any,
) -> None:
    """The answer, its table, and what it means; a winner and a decision are words alone."""
    (release, receipt), shown = drawn, console()
    found, columns = ranges(release, **drawing), shown_columns(release, **drawing)
    for line in (*of_data(file), QUESTIONS[question].asked):
        shown.print(line, markup=False)
    unit, bound = unit_of(release, file) or "person", file.get("bound")
    shown.print(answer(release, found, unit, bound), markup=False)
    if QUESTIONS[question].tabled:
        table = Table()
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in zip(*columns.values(), strict=True):
            table.add_row(*map(cell, row))
        shown.print(table)
    for line in (*counted(release, unit, bound, declared_of(file)), *told(release, found, top, unit, bound)):
        shown.print(line, markup=False)
    if drawing.get("persons") is not None and not found:
        shown.print(
            "no ranges: these strengths are none of a graph on which all pairs were compared equally often",
            markup=False,
        )
    shown.print(f"{promised(release, unit)}; {release.mark or 'drawn by the operating system'}", markup=False)
    if not release.mark and not kept:
        shown.print(
            "no budget: nobody keeps count of what is released of these people; --budget FILE does", markup=False
        )
    if receipt is not None:
        where = f"entry {receipt.number} of {receipt.dataset!r}"
        shown.print(
            f"receipt, published with it: {where}; epsilon = {shown_down(receipt.left.epsilon)} is left", markup=False
        )
    if out:
        shown.print(f"{'published file' if not release.mark else 'not for publication'}: {out}", markup=False)


def drawn_of(
    mechanism: Any,
    file: Path | Given,
    declared: Declaration,
    made_up: Any,
    rehearse: bool,
    budget: Path | None,
    dataset: str | None,
    new_dataset: bool,
    out: Path | None,
    given_as: Callable[[Any], Any] | None = None,
    cautions: Sequence[str] = (),
    *,
    question: Any,
    asked: tuple[float, float],
    protect: str | None = None,
    top: int | None = None,
    **drawing: Any,
) -> tuple[Any, Receipt | None]:
    """Spend, then draw; a rehearsal reads nothing and spends nothing. `given_as` makes of the data what is taken.

    `cautions`, of flags and public numbers alone, are said before spending, where no flag and no header is refused.
    Before a budget is charged the whole release is tried on made-up data, with the same noise: drawn, made a file of,
    and shown to nobody. What fails then has cost nothing.
    """
    if out is not None:
        require_writable(out)
    elif sys.stdout is None:
        raise ValueError("standard output is closed, and there is no --out: a release would be lost")
    kept = None if rehearse or budget is None else dprank.Budget(budget)
    nameless = require_protected(declared, kept, protect)
    if rehearse:
        _warn(cautions)
        import numpy as np

        source: Source = np.random.default_rng()
        return mechanism.release(made_up(source), source), None
    if kept is not None:
        _tried(mechanism, made_up, question, declared, out, top, **drawing)
    if isinstance(file, Given):
        if budget is not None and dataset is None:
            raise ValueError(
                "dataset is missing; say with --dataset whose budget it is: counts have no name of their own"
            )
        data: Any = file.checked(mechanism)
    else:
        intake = declared.read(file)
        require_known(mechanism, intake, declared.items)
        data, dataset = intake.data, dataset or file.name
    if given_as is not None:
        data = given_as(data)
    if isinstance(voters := getattr(mechanism, "n_voters", None), int):
        data = exactly(data, voters)
    _warn(cautions)
    if (persons := drawing.get("persons")) is not None and mechanism.guarantee.delta <= LARGE_DELTA:
        warn_of_delta(mechanism, persons)  # of more than that every release warns
    if kept is None:
        return mechanism.release(data, SECURE), None
    what = f"{type(mechanism).__name__}{', of ballots that name nobody' * nameless}"
    return kept.release_with_receipt(
        mechanism, data, dataset=str(dataset), what=what, new_dataset=new_dataset, asked=asked
    )


def _tried(
    mechanism: Any,
    made_up: Callable[[Any], Any],
    question: Any,
    declared: Declaration,
    out: Path | None,
    top: int | None,
    **drawing: Any,
) -> None:
    """Do all that a release does, but with the data and the budget."""
    import numpy as np

    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        trial = mechanism.release(made_up(np.random.default_rng()), SECURE)
        text = publish(trial, question, declared, top=top, **drawing)
        _show((trial, None), question, out, True, top, opened(text), **drawing)


def _warn(cautions: Sequence[str]) -> None:
    for caution in filter(None, cautions):
        print(visible(f"dprank: mind: {caution}"), file=sys.stderr)


def drawing_of(persons: int | None, sampling: str | None) -> dict[str, Any]:
    """What was said of sampling: persons are drawn as persons where nothing else is named."""
    if persons is None and sampling is not None:
        raise ValueError(f"sampling = {sampling!r}; say with --persons how many took part at most, a public number")
    if sampling is not None:
        require_one_of("sampling", sampling, get_args(Sampling))
    if persons is not None:
        require_whole("persons", persons, 1)
    return {"sampling": sampling or (None if persons is None else "persons"), "persons": persons}


def checked(mechanism: Any, drawing: dict[str, Any], top: int | None) -> dict[str, Any]:
    """Refuse what no range can be told of, before anything is spent."""
    if isinstance(mechanism, HasDrawing):
        mechanism.drawn_deviation(**drawing)
    elif drawing["persons"] is not None and isinstance(mechanism, Paired):
        mechanism.answers_a_pair(drawing["persons"])
    elif drawing["persons"] is not None and not isinstance(mechanism, HasRanges):
        raise ValueError(
            f"persons = {drawing['persons']}; of a release by {type(mechanism).__name__} no range is known"
        )
    if top is not None:
        require_whole("top", top, 1, mechanism.n_items)
    return drawing
