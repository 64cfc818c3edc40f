"""The card of a claim: its statement, its verdict and the checks that it turns on, for readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from companion.ledger.claim import RELATIONS, Check, Record, decisive
from companion.ledger.files import Claim
from companion.ledger.papers import paper_of
from companion.ledger.verdicts import HOLDS, Verdict

__all__ = ["Html", "anchor", "card", "counterexample", "fill", "show_number", "typeset"]

ABOUT = {
    "printed": "as printed",
    "supplied": "with what we supply",
    "content": "does it say anything",
    "corrected": "corrected statement",
    "argument": "a step of the argument",
}


def anchor(claim_id: str) -> str:
    """Id of a claim's card in the page that settles it."""
    return claim_id.replace(":", "-")


def show_number(value: float) -> str:
    """A number of a check for readers: six digits, infinity as a sign."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("inf", "∞")


_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}|\((?:[^()]|\([^()]*\))*\)|[-−+]?[\w*\u0300-\u036f]+(?:\.\d+)?"
#: Below or above one letter, digit or sign; the names of code are longer.
SCRIPT = re.compile(rf"((?<![A-Za-z])\w[\u0300-\u036f]?|[^\w\s\u0300-\u036f])([\^_])({_GROUP})")
#: Of a number or its bound: an error that nobody sees in four digits.
UNSEEN = 1e-5
IN_WORDS = {"<=": "at most", ">=": "at least", "==": "exactly", "<": "less than", ">": "more than"}
#: A Greek letter and its number, as in κ1.
NUMBERED = re.compile(r"([α-ωℓ])(\d+|∞)")


def typeset(text: str) -> Markup:
    """A sentence with its mathematics as HTML: what is written ``x_i`` and ``e^(−ε/2)`` is set below and above it.

    Examples
    --------
    >>> print(typeset("e^(−ε/2) < x_i, per_person"))
    e<sup>−ε/2</sup> &lt; x<sub>i</sub>, per_person
    """

    def script(match: re.Match[str]) -> str:
        base, sign, group = match.groups()
        inner = group[1:-1] if group[0] in "{(" else group
        tag = "sup" if sign == "^" else "sub"
        return f"{base}<{tag}>{SCRIPT.sub(script, inner)}</{tag}>"

    set_below = NUMBERED.sub(r"\1<sub>\2</sub>", str(escape(text)))
    return Markup(SCRIPT.sub(script, SCRIPT.sub(script, set_below)))


def markdown(text: str) -> Markup:
    """The same within a paragraph of Markdown, in which no sign of the sentence means anything."""
    return Markup(re.sub(r"([\\`*_\[\]$])", r"\\\1", typeset(text)))


def counterexample(check: Check) -> str:
    """What a check observed, and what a statement says of it, in two sentences without their last stop; an error that
    moves none of the digits which are shown is left out. A check on which a statement fails needs no more.

    Examples
    --------
    >>> counterexample(Check(what="loss, ε = 1", observed=1.1, relation="<=", bound=1, error=1e-12))
    'loss, ε = 1. It is 1.1; the statement says at most 1'
    """
    seen = check.error and check.error > UNSEEN * max(abs(check.observed), abs(check.bound))
    value = show_number(check.observed) + (f" ± {show_number(check.error)}" if seen else "")
    reading = f" (read as: {check.reading})" if check.reading else ""
    said = f"{IN_WORDS[check.relation]} {show_number(check.bound)}"
    return f"{check.what}{reading}. It is {value}; the statement says {said}"


def _observation(check: Check) -> str:
    """A check in words, with its outcome."""
    return counterexample(check) + {True: ", which holds", False: "", None: ", which is undecided"}[check.outcome]


def _about(check: Check, ours: bool) -> str:
    label = "as promised" if ours and check.about == "printed" else ABOUT[check.about]
    return f"{label}, {check.reading}" if check.reading else label


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
_TEMPLATES.globals["HOLDS"] = HOLDS
_TEMPLATES.filters |= {
    "about": _about,
    "anchor": anchor,
    "paper": lambda claim: paper_of(claim.id).name,
    "markdown": markdown,
    "number": show_number,
    "observation": _observation,
    "sign": RELATIONS.__getitem__,
    "typeset": typeset,
    "words": lambda said: said.words if isinstance(said, Verdict) else said,
    "word": {True: "true", False: "false", None: "undecided"}.__getitem__,
}


def fill(template: str, **values: Any) -> str:
    """HTML of one of our templates; values are escaped."""
    return _TEMPLATES.get_template(template).render(**values).strip()


def card(claim: Claim, record: Record, profile: str, certificates: Sequence[Any] = (), differs: Any = None) -> str:
    """Verdict card of a claim with its `certificates`, as HTML; styled by `book/_static/book.css`.

    It is red where the record `differs` from the ledger, and says in what.
    """
    said = {"main": decisive(record), "ours": paper_of(claim.id).ours, "certificates": certificates}
    said["differs"] = differs
    return fill("card.html", claim=claim, record=record, profile=profile, **said)


class Html(str):
    """HTML that a notebook shows as such."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": str(self), "text/plain": f"{len(self)} characters of HTML"}
