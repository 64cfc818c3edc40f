"""A published file in words and a picture: what a minister reads."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dprank._picture import Places, drawn, typed
from dprank._require import require_one_of, shown_down, visible
from dprank.data.declaration import RULES_OF_BALLOTS
from dprank.publication import gain, of_rules, opened, read_publication, receipt_of, sampled
from dprank.release import Ranking
from dprank.sentences import ASKED, shown_frame, told

__all__ = ["is_page", "report"]

#: How a page begins that `report` made.
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="generator" content="dprank report">'
#: What Markdown reads as its own.
_MARKS = re.compile(r"[\\`*_\[\]|~$]|:(?=//)|(?<=www)\.")
#: What drew the noise, in a sentence.
DREW = {"operating system": "operating system", "seeded": "seeded generator of a rehearsal", "voters": "voters"}


def report(text: str, form: Literal["markdown", "html"] = "markdown") -> str:
    """A published file in words: question and answer, who is protected and from what, what it does not say.

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
    frame = shown_frame(release, *sampled(file["ranges"]))
    sure = gain(guarantee.epsilon, guarantee.delta)
    sentences = told(release, file["ranges"], file["top"])
    parts = {
        **({"How sure this is": sentences} if sentences else {}),
        "Who is protected": [
            file["protects"],
            f"Whoever guesses at even odds what somebody's data were becomes at most {sure:.1%} sure.",
            f"In the field's words: {guarantee}.",
        ],
        "What this does not say": [
            "Not how many people took part, nor how sure the answer would be if others had been asked."
            if not any(one["sampling"] for one in file["ranges"])
            else "Not what a bound on each person's answers left out.",
            *(f"Not protected: {line}." for line in file["not protected"] if line != release.mark),
        ],
        "How it was made": [
            f"By {type(release.mechanism).__name__} of dprank {file['software']['dprank']}; its noise was drawn by the "
            f"{DREW[str(release.source)]}.",
            f"{' '.join(of_rules(file))} Bounding: {file['rules']['bounding']}.",
            *(f"{key.capitalize()}: {said}." for key, said in file["rules"].items() if key in RULES_OF_BALLOTS),
            *_paid(file),
        ],
    }
    title, picture = ASKED[file["question"]], _picture(release, file["ranges"])
    if form == "html":
        return _page(title, frame, parts, release.mark, picture)
    header = " | ".join(map(str, frame.columns))
    rows = [" | ".join(_marked(_cell(value)) for value in row) for row in frame.itertuples(index=False)]
    table = [f"| {header} |", "|" + " --- |" * len(frame.columns), *(f"| {row} |" for row in rows)]
    lines = [f"# {title}", "", *([f"**{release.mark}**", ""] if release.mark else []), *table]
    if picture:
        letters = typed(picture)
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", letters)), default=0))
        lines += ["", f"{fence}text", letters, fence, "", _legend(picture)]
    for heading, said in parts.items():
        lines += ["", f"## {heading}", "", *(f"- {_marked(line)}" for line in said)]
    return "\n".join(lines) + "\n"


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
    """Places and ranges as a picture shows them, if there are any."""
    if not found:
        return None
    names, order = (release.ranking, None) if isinstance(release, Ranking) else (release.items, release.values)
    rows = range(len(names)) if order is None else np.argsort(-order, kind="stable")
    pairs = [[(one["lowest"][row], one["highest"][row]) for row in rows] for one in found]
    return Places([str(names[row]) for row in rows], *pairs)


def _legend(picture: Places) -> str:
    wide = "" if picture.wide is None else "; thin, with those who might have been asked instead"
    more = "" if picture.shown == len(picture.items) else f" The first {picture.shown} of {len(picture.items)}."
    return f"The point is the place; the thick bar what the noise leaves open (95 % for all at once){wide}.{more}"


def _cell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _page(title: str, frame: Any, parts: Mapping[str, list[str]], mark: str, picture: Places | None) -> str:
    cells = [
        "<tr>" + "".join(f"<td>{_escaped(_cell(value))}</td>" for value in row) + "</tr>"
        for row in frame.itertuples(index=False)
    ]
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in frame.columns)
    sections = [
        f"<h2>{html.escape(heading)}</h2><ul>{''.join(f'<li>{_escaped(line)}</li>' for line in said)}</ul>"
        for heading, said in parts.items()
    ]
    style = (
        ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:42rem;margin:2rem auto;padding:0 1rem}"
    )
    style += "td,th{padding:.2rem .8rem;text-align:left}figure{margin:1rem 0}svg{max-width:100%;height:auto}"
    style += "figcaption{font-size:.9rem}"
    shown = f"<figure>{drawn(picture, title)}<figcaption>{_legend(picture)}</figcaption></figure>" if picture else ""
    marked = f"<p><strong>{html.escape(mark)}</strong></p>" if mark else ""
    return (
        f'{HEAD}<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{style}</style><h1>{html.escape(title)}</h1>{marked}"
        f"{shown}<table><tr>{head}</tr>{''.join(cells)}</table>{''.join(sections)}</html>\n"
    )
