"""A published file in words and a picture: what a minister reads."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dprank._picture import Places, drawn, typed
from dprank._require import require_one_of, shown_down, visible
from dprank.data.declaration import RULES_OF_BALLOTS
from dprank.publication import gain, of_itself, of_rules, opened, read_publication, receipt_of, sampled
from dprank.questions import QUESTIONS
from dprank.release import Ranking, Release
from dprank.scored import kept_of, left_out_of
from dprank.sentences import (
    MISFIT,
    answer,
    counted,
    declared_of,
    is_open,
    most_of,
    of_data,
    promised,
    ranges,
    shown_columns,
    shown_rows,
    told,
    unit_of,
)

__all__ = ["is_page", "report"]

#: How a page begins that `report` made.
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="generator" content="dprank report">'
#: The day behind a title, which no line breaks.
_DAY = re.compile(r"\(\d{4}-\d\d-\d\d\)$")
#: What Markdown reads as its own.
_MARKS = re.compile(r"[\\`*_\[\]|~$]|:(?=//)|(?<=www)\.")
#: What drew the noise, in a sentence.
DREW = {"operating system": "operating system", "seeded": "seeded generator", "voters": "voters"}


def report(text: str, form: Literal["markdown", "html"] = "markdown") -> str:
    """A published file in words: the answer first, what was counted, who is protected, what it does not say.

    Parameters
    ----------
    text : str
        As of `publish`.
    form : {"markdown", "html"}

    Raises
    ------
    ValueError
        As `read_publication`.

    Examples
    --------
    >>> import numpy as np
    >>> import dprank
    >>> from dprank.publication import publish
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(
    ...     dprank.Rankings([[0, 1]] * 90, "ab"), np.random.default_rng(1)
    ... )
    >>> print(report(publish(release, "consensus")).splitlines()[0])
    # Which order do all ballots together make?
    """
    require_one_of("form", form, ("markdown", "html"))
    release, file = read_publication(text), opened(text)
    guarantee = release.guarantee
    if guarantee is None:  # pragma: no cover - `read_publication` refuses it
        raise ValueError("guarantee = None")
    drawing = sampled(file["ranges"])
    found, columns = ranges(release, *drawing), shown_columns(release, *drawing)
    sure = gain(guarantee.epsilon, guarantee.delta)
    unit, bound = unit_of(release, file) or "person", file.get("bound")
    sentences = told(release, found, file["top"], unit, bound)
    said = counted(release, unit, bound, declared_of(file))
    parts = {
        "What was counted": [line for line in said if line != MISFIT],
        **({"How sure this is": sentences} if sentences else {}),
        "Who is protected": [
            file["protects"],
            f"Whoever guesses at even odds what somebody's data were becomes at most {_percent(sure)} sure.",
            f"In the field's words: {promised(release, unit)}.",
        ],
        "What this does not say": [
            *_unsaid(release, found, most_of(bound)),
            *(line for line in said if line == MISFIT),
            *(f"Not protected: {line}." for line in file["not protected"] if line != release.mark),
        ],
        "How it was made": [
            f"By {type(release.mechanism).__name__} of dprank {file['software']['dprank']}; its noise was drawn by the "
            f"{DREW[str(release.source)]}.",
            f"{' '.join(of_rules(file))} Bounding: {file['rules']['bounding']}.",
            *(f"{key.capitalize()}: {said}." for key, said in file["rules"].items() if key in RULES_OF_BALLOTS),
            *of_itself(file),
            *_paid(file),
        ],
    }
    asks, day = QUESTIONS[file["question"]], file.get("day")
    title = " ".join(filter(None, [file.get("title") or asks.asked, f"({day})" if day else ""]))
    first = [answer(release, found, unit, bound), *([f"The question: {asks.asked}"] if file.get("title") else [])]
    first += [f"{release.mark[0].upper()}{release.mark[1:]}."] if release.mark else []
    first = [*of_data(file), *first]
    picture = _picture(release, found)
    tabled = columns if asks.tabled else None
    if form == "html":
        return _page(title, first, tabled, parts, picture)
    lines = [f"# {_marked(title)}", ""]
    asked = f"The question: {asks.asked}"
    for line in first:
        lines += [_marked(line) if line == asked else f"**{_marked(line)}**", ""]
    if tabled is not None:
        rows = [" | ".join(_marked(str(value)) for value in row) for row in zip(*tabled.values(), strict=True)]
        lines += [f"| {' | '.join(tabled)} |", "|" + " --- |" * len(tabled)]
        lines += [f"| {row} |" for row in rows]
    if picture:
        letters = typed(picture)
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", letters)), default=0))
        lines += ["", f"{fence}text", letters, fence, "", _legend(picture)]
    for heading, said in parts.items():
        lines += ["", f"## {heading}", "", *(f"- {_marked(line)}" for line in said)]
    return "\n".join(lines) + "\n"


def _percent(share: float) -> str:
    """A share with one digit behind the point, or as many as tell it from all.

    Examples
    --------
    >>> _percent(0.7311), _percent(0.99987), _percent(1.0)
    ('73.1%', '99.99%', '100.0%')
    """
    digits = next((it for it in range(1, 15) if float(f"{100 * share:.{it}f}") < 100), 1)
    return f"{share:.{digits}%}"


def _unsaid(release: Release, found: list[dict[str, Any]], bound: int | None) -> list[str]:
    """What no number here speaks of: what a bound left out, and whoever was not asked."""
    said = []
    if left_out_of(release.mechanism, bound):
        said.append(f"Not what the bound left out: this is of {kept_of(release.mechanism, bound=bound)}.")
    if not any(one["sampling"] for one in found):
        said.append("Not how many people took part, nor how sure the answer would be if others had been asked.")
    return said


def _paid(file: Mapping[str, Any]) -> list[str]:
    """Which budget paid for it, as far as the file says."""
    receipt = receipt_of(file)
    if receipt is None:
        return []
    left, rho = f"epsilon = {shown_down(receipt.left.epsilon)}", ""
    if receipt.left.delta > 0:
        left += f", delta = {shown_down(receipt.left.delta)}"
    if receipt.left_rho is not None:
        rho = f", or rho = {shown_down(receipt.left_rho)}"
    return [
        f"Paid from the budget of {receipt.dataset!r} as its entry {receipt.number}, after which {left}{rho} is left. "
        "Whoever has the budget's file can check it; two releases of one entry, or of two budgets for the same people, "
        "are not covered."
    ]


def is_page(path: Path) -> bool:
    """Whether a file is a page that `report` made.

    Examples
    --------
    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "release.html"
    >>> _ = page.write_text(HEAD)
    >>> is_page(page)
    True
    """
    try:
        with path.open("rb") as file:
            return file.read(len(HEAD)) == HEAD.encode()
    except OSError:
        return False


def _marked(text: str) -> str:
    """A text on one line in Markdown, which reads nothing in it as its own.

    Examples
    --------
    >>> print(_marked("[a](http://b) | <i>"))
    \\[a\\](http\\://b) \\| &lt;i&gt;
    """
    return html.escape(_MARKS.sub(r"\\\g<0>", visible(" ".join(text.split()))), quote=False)


def _escaped(text: str) -> str:
    """The same in HTML."""
    return html.escape(visible(" ".join(text.split())))


def _picture(release: Any, found: list[dict[str, Any]]) -> Places | None:
    """Places and ranges as a picture shows them, if they say anything."""
    if not found or is_open(found[0]):
        return None
    names, rows = (release.ranking if isinstance(release, Ranking) else release.items), shown_rows(release)
    pairs = [[(one["lowest"][row], one["highest"][row]) for row in rows] for one in found]
    return Places([str(names[row]) for row in rows], *pairs)


def _legend(picture: Places) -> str:
    wide = "" if picture.wide is None else "; the thin bar also allows for those who might have been asked instead"
    more = "" if picture.shown == len(picture.items) else f" The first {picture.shown} of {len(picture.items)}."
    return f"The point is the place; the thick bar is what the noise leaves open (95 % for all at once){wide}.{more}"


#: Of a page: one column that fits a telephone, where a long name breaks rather than runs over.
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui;max-width:42rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}th{overflow-wrap:normal}"
    "td.item{min-width:6rem}time{white-space:nowrap}"
    "@media(max-width:30rem){td,th{padding-right:.4rem;font-size:.85rem}}@media(max-width:23rem){td.item{min-width:0}}"
    "figure{margin:1rem 0}svg{max-width:100%;height:auto}figcaption{font-size:.9rem}"
)


def _page(
    title: str,
    first: list[str],
    columns: dict[str, list[Any]] | None,
    parts: Mapping[str, list[str]],
    picture: Places | None,
) -> str:
    table = "" if columns is None else f"<table>{_head(columns)}{_rows(columns)}</table>"
    sections = [
        f"<h2>{html.escape(heading)}</h2><ul>{''.join(f'<li>{_escaped(line)}</li>' for line in said)}</ul>"
        for heading, said in parts.items()
    ]
    shown = f"<figure>{drawn(picture, title)}<figcaption>{_legend(picture)}</figcaption></figure>" if picture else ""
    said = f"<p><strong>{_escaped(first[0])}</strong></p>" + "".join(f"<p>{_escaped(line)}</p>" for line in first[1:])
    heading = _DAY.sub(r"<time>\g<0></time>", _escaped(title))
    return (
        f'{HEAD}<meta name="viewport" content="width=device-width">'
        f"<title>{_escaped(title)}</title><style>{_STYLE}</style><h1>{heading}</h1>{said}"
        f"{shown}{table}{''.join(sections)}</html>\n"
    )


def _head(columns: dict[str, list[Any]]) -> str:
    return f"<tr>{''.join(f'<th>{html.escape(column)}</th>' for column in columns)}</tr>"


def _rows(columns: dict[str, list[Any]]) -> str:
    begun = ["<td class=item>" if column == "item" else "<td>" for column in columns]
    cells = (
        "".join(f"{begin}{_escaped(str(it))}</td>" for begin, it in zip(begun, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    )
    return "".join(f"<tr>{row}</tr>" for row in cells)
