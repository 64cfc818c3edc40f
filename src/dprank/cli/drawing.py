"""How a command releases: what is refused beforehand, what is spent and drawn, and what is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from rich.table import Table

import dprank
from dprank._require import require_one_of, require_whole, shown_down, visible
from dprank.cli.counts import Given
from dprank.cli.options import cell, console, show_json
from dprank.cli.placing import require_known
from dprank.cli.taken import exactly
from dprank.cli.writing import require_writable, write_new
from dprank.data.declaration import Declaration
from dprank.privacy.budget import Receipt
from dprank.privacy.noise import SECURE, Source
from dprank.privacy.pair_ranges import Sampling
from dprank.publication import opened, publish
from dprank.sentences import ASKED, answer, counted, ranges, shown_frame, told, unit_of

__all__ = ["checked", "drawing_of", "drawn_of", "finish"]


def finish(
    drawn: tuple[Any, Receipt | None],
    question: Any,
    declared: Declaration,
    out: Path | None,
    as_json: bool,
    kept: bool,
    top: int | None = None,
    named: Mapping[str, Any] | None = None,
    **drawing: Any,
) -> None:
    """Write what is published, and show it; `drawing` is what `dprank.Ranking.intervals` asks of sampling.

    `named` is what `dprank.publication.publish` takes besides: title, day, and so on.
    """
    release, receipt = drawn
    text = None
    try:
        text = publish(release, question, declared, top=top, receipt=receipt, **(named or {}), **drawing)
        if out:
            write_new(out, text)
        if not as_json:
            _show(drawn, question, out, kept, top, opened(text), **drawing)
    except BaseException:  # whatever fails, or is stopped: it was spent, and is drawn once
        if text is None or not (out and _holds(out, text)):
            show_json(release.to_json() if text is None else text)
        raise
    if as_json:
        show_json(text)


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
    found, frame = ranges(release, **drawing), shown_frame(release, **drawing)
    shown.print(ASKED[question], markup=False)
    unit, bound = unit_of(release, file) or "person", file.get("bound")
    shown.print(answer(release, found, unit, bound), markup=False)
    if question not in ("winner", "agreement"):
        table = Table()
        for column in frame.columns:
            table.add_column(str(column))
        for row in frame.itertuples(index=False):
            table.add_row(*map(cell, row))
        shown.print(table)
    for line in (*counted(release, unit, bound), *told(release, found, top, unit, bound)):
        shown.print(line, markup=False)
    if drawing.get("persons") is not None and not found:
        shown.print(
            "no ranges: these strengths are none of a graph on which all pairs were compared equally often",
            markup=False,
        )
    shown.print(f"{release.guarantee}; {release.mark or 'drawn by the operating system'}", markup=False)
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
) -> tuple[Any, Receipt | None]:
    """Spend, then draw; a rehearsal reads nothing and spends nothing. `given_as` makes of the data what is taken.

    `cautions`, of flags and public numbers alone, are said before spending, where no flag and no header is refused.
    """
    if out is not None:
        require_writable(out)
    elif sys.stdout is None:
        raise ValueError("standard output is closed, and there is no --out: a release would be lost")
    if rehearse:
        _warn(cautions)
        import numpy as np

        source: Source = np.random.default_rng()
        return mechanism.release(made_up(source), source), None
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
    if budget is None:
        return mechanism.release(data, SECURE), None
    paid = dprank.Budget(budget).release_with_receipt
    return paid(mechanism, data, dataset=str(dataset), new_dataset=new_dataset)


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
    if hasattr(mechanism, "drawn_deviation"):
        mechanism.drawn_deviation(**drawing)
    elif drawing["persons"] is not None and hasattr(mechanism, "answers_a_pair"):
        mechanism.answers_a_pair(drawing["persons"])
    elif drawing["persons"] is not None and not hasattr(mechanism, "open_places"):
        raise ValueError(
            f"persons = {drawing['persons']}; of a release by {type(mechanism).__name__} no range is known"
        )
    if top is not None:
        require_whole("top", top, 1, mechanism.n_items)
    return drawing
