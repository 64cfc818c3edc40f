"""What is published of a release: a file that says what it protects, a check of such a file, and a report in words."""

from __future__ import annotations

import hashlib
import html
import json
import math
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

from dprank._require import require_one_of, shown
from dprank.data.declaration import Declaration
from dprank.release import Decision, Ranking, Release, Selection

__all__ = ["SCHEMA", "gain", "opened", "publish", "read_publication", "report"]

#: Of the file; another number when its fields change.
SCHEMA = "dprank.publication/1"
KEYS = {"schema", "question", "release", "ranges", "protects", "not protected", "rules", "software", "declaration"}
Question = Literal["ranking", "consensus", "topk", "agreement"]
ASKED = {
    "ranking": "In which order do people put these items, by their answers two at a time?",
    "consensus": "Which order do all ballots together make?",
    "topk": "Which items are the most frequent?",
    "agreement": "Do the ballots agree on anything?",
}
#: Of the ranges of places.
LEVEL = 0.95
RANGE = "The ranges speak of the noise: with 95 % probability all items' places without it lie in theirs."
SOFTWARE = ("dprank", "numpy", "opendp", "scipy")


def gain(epsilon: float, delta: float = 0.0, before: float = 0.5) -> float:
    """The most sure that anybody can become, from `before`, that a person's data are what they guess.

    Parameters
    ----------
    epsilon, delta : float
        Of the release.
    before : float
        Chance of the guess without it, in (0, 1).

    Notes
    -----
    By Bayes' rule: the odds grow by exp(epsilon) at most, but for outcomes of chance delta.

    Examples
    --------
    >>> round(gain(1.0), 3)
    0.731
    """
    odds = math.exp(min(epsilon, 700.0)) * before / (1 - before)
    return min(1.0, odds / (1 + odds) + delta)


def ranges(release: Release) -> dict[str, Any] | None:
    """Lowest and highest place of every item in released order, for all at once; None where no law says so."""
    if not isinstance(release, Ranking) or not hasattr(release.mechanism, "noise_law"):
        return None
    table = release.intervals(LEVEL)
    return {"level": LEVEL, "lowest": table["lowest"].tolist(), "highest": table["highest"].tolist()}


def shown_frame(release: Release) -> Any:
    """What a reader sees: the release's table, with the places that its noise leaves open."""
    frame, open_places = release.to_frame(), ranges(release)
    if open_places is None:
        return frame
    pairs = zip(open_places["lowest"], open_places["highest"], strict=True)
    return frame.assign(**{f"{LEVEL:.0%} range": [f"{a}" if a == b else f"{a} to {b}" for a, b in pairs]})


def protects(release: Release) -> str:
    """What is protected, in words."""
    guarantee = release.guarantee
    if guarantee is None:
        raise ValueError("guarantee = None; what no mechanism made is not published")
    whole = guarantee.unit == "voter"
    if guarantee.adjacency == "replace":
        what = f"What {'one person contributed' if whole else 'one answer says'}: had it been anything else,"
    else:
        what = f"Whether {'one person took part' if whole else 'one answer was given'}: either way"
    odds = math.exp(min(guarantee.epsilon, 700.0))
    slack = f", but for events of chance {guarantee.delta:g}" if guarantee.delta else ""
    return f"{what} no result becomes more than {odds:.3g} times as likely{slack}."


def publish(release: Release, question: Question, declaration: Declaration | None = None) -> str:
    """The text of a file that says all that a reader of the release needs, and nothing of the data.

    Parameters
    ----------
    release : Release
        Drawn by `dprank.SECURE`, or else marked as not for publication.
    question : {"ranking", "consensus", "topk", "agreement"}
    declaration : Declaration, optional
        Of the columns and rules; its hash is written, and the rules.

    Raises
    ------
    ValueError
        Where the release has no mechanism.

    Examples
    --------
    >>> import numpy as np
    >>> import dprank
    >>> release = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(
    ...     dprank.Rankings([[0, 1]] * 90, "ab"), np.random.default_rng(1)
    ... )
    >>> read_publication(publish(release, "consensus")) == release
    True
    """
    require_one_of("question", question, tuple(ASKED))
    left_out = [
        "that the data exist, and which items were declared",
        "what the declaration says, and how many may take part",
    ]
    if release.guarantee is not None and release.guarantee.unit == "comparison":
        left_out.append("a person who gave several answers, beyond each of them alone")
    if release.mark:
        left_out.append(release.mark)
    written = "" if declaration is None else declaration.to_toml()
    file = {
        "schema": SCHEMA,
        "question": question,
        "release": json.loads(release.to_json()),
        "ranges": ranges(release),
        "protects": protects(release),
        "not protected": left_out,
        "rules": {
            "cleaning": [] if declaration is None else list(declaration.clean),
            "aliases": {} if declaration is None else dict(declaration.aliases or {}),
            "bounding": "what a person gives beyond the bound is left out, by a hash of that person's own rows",
            "tuned on the data": "nothing",
        },
        "declaration": hashlib.sha256(written.encode()).hexdigest() if written else None,
        "software": dict(_software()),
    }
    return json.dumps(file, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def _software() -> Mapping[str, str]:
    return {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}


def opened(text: str) -> Mapping[str, Any]:
    """The fields of a published file, not held against its release.

    Raises
    ------
    ValueError
        Where it is no such file.

    Examples
    --------
    >>> opened("[]")
    Traceback (most recent call last):
        ...
    ValueError: no publication: schema is not 'dprank.publication/1'
    """
    try:
        file = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("no publication: it is not JSON") from None
    if not isinstance(file, dict) or file.get("schema") != SCHEMA:
        raise ValueError(f"no publication: schema is not {SCHEMA!r}")
    if set(file) != KEYS:
        other = sorted(set(file) ^ KEYS)[0]
        raise ValueError(f"no publication: key {shown(other)} is {'unknown' if other in file else 'missing'}")
    return file


def read_publication(text: str) -> Release:
    """The release in a published file, its guarantee derived anew.

    Parameters
    ----------
    text : str
        As of `publish`.

    Raises
    ------
    ValueError
        Where it is no such file, or says of its release what is not so.

    Examples
    --------
    >>> read_publication("{}")
    Traceback (most recent call last):
        ...
    ValueError: no publication: schema is not 'dprank.publication/1'
    """
    file = opened(text)
    require_one_of("question", file["question"], tuple(ASKED))
    release = Release.from_json(json.dumps(file["release"]))
    if file["ranges"] != ranges(release):
        raise ValueError("no publication: ranges are not those that its noise leaves open")
    if file["protects"] != protects(release):
        raise ValueError("no publication: protects is not what its mechanism protects")
    kind = {"ranking": Ranking, "consensus": Ranking, "topk": Selection, "agreement": Decision}[file["question"]]
    if not isinstance(release, kind):
        raise ValueError(f"no publication: a {type(release).__name__} answers no question of {file['question']}")
    return release


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
    frame = shown_frame(release)
    sure = gain(guarantee.epsilon, guarantee.delta)
    parts = {
        "Who is protected": [
            file["protects"],
            f"Whoever guesses at even odds what somebody's data were becomes at most {sure:.1%} sure.",
            f"In the field's words: {guarantee}.",
        ],
        "What this does not say": [
            "Not how many people took part, nor how sure the answer would be if others had been asked.",
            *([RANGE] if ranges(release) else []),
            *(f"Not protected: {line}." for line in file["not protected"]),
        ],
        "How it was made": [
            f"By {type(release.mechanism).__name__} of dprank {file['software']['dprank']}; its noise was drawn by the "
            f"{release.source}.",
            f"Cleaning: {', '.join(file['rules']['cleaning']) or 'none'}. Bounding: {file['rules']['bounding']}.",
        ],
    }
    title = ASKED[file["question"]]
    if form == "html":
        return _page(title, frame, parts, release.mark)
    header = " | ".join(map(str, frame.columns))
    rows = [" | ".join(_cell(value) for value in row) for row in frame.itertuples(index=False)]
    table = [f"| {header} |", "|" + " --- |" * len(frame.columns), *(f"| {row} |" for row in rows)]
    lines = [f"# {title}", "", *([f"**{release.mark}**", ""] if release.mark else []), *table]
    for heading, said in parts.items():
        lines += ["", f"## {heading}", "", *(f"- {line}" for line in said)]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    said = f"{value:g}" if isinstance(value, float) else str(value)
    return " ".join(said.replace("|", "\\|").split())


def _page(title: str, frame: Any, parts: Mapping[str, list[str]], mark: str) -> str:
    cells = [
        "<tr>" + "".join(f"<td>{html.escape(f'{v:g}' if isinstance(v, float) else str(v))}</td>" for v in row) + "</tr>"
        for row in frame.itertuples(index=False)
    ]
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in frame.columns)
    sections = [
        f"<h2>{html.escape(heading)}</h2><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in said)}</ul>"
        for heading, said in parts.items()
    ]
    style = "body{font:1rem/1.5 system-ui;max-width:42rem;margin:2rem auto;padding:0 1rem}"
    style += "td,th{padding:.2rem .8rem;text-align:left}"
    marked = f"<p><strong>{html.escape(mark)}</strong></p>" if mark else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{style}</style><h1>{html.escape(title)}</h1>{marked}"
        f"<table><tr>{head}</tr>{''.join(cells)}</table>{''.join(sections)}</html>\n"
    )
