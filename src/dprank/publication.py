"""What is published of a release, and a check of such a file."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

from dprank._require import as_list, require_one_of, require_whole, shown, visible_json
from dprank.data.cleaning import cleaner
from dprank.data.declaration import RULES_OF_BALLOTS, Declaration
from dprank.privacy.budget import Receipt
from dprank.privacy.pair_ranges import Sampling
from dprank.release import Decision, Ranking, Release, Selection
from dprank.sentences import ASKED, protects, ranges, right, unit_of

__all__ = ["SCHEMA", "gain", "of_rules", "opened", "publish", "read_publication", "receipt_of", "sampled"]

#: Of the file; another number when its fields change.
SCHEMA = "dprank.publication/3"
#: What version 0.2 wrote, and is read: it has no receipt, and holds the words of aliases.
OLDER = "dprank.publication/2"
KEYS = {
    "schema",
    "question",
    "release",
    "ranges",
    "top",
    "right",
    "protects",
    "not protected",
    "rules",
    "software",
    "declaration",
    "receipt",
}
Question = Literal["ranking", "consensus", "winner", "topk", "agreement"]
#: Of rules that were chosen after a look at the data: none, as declared; or nobody declared it.
UNTUNED, UNSAID = "nothing", "not said"
CHOICE = "what the choice of those rules tells that were chosen after a look at the data"
GRAPH = "who compared what, and whether anybody left out what they were asked: a plan said so beforehand"
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


def _unit(release: Release, declaration: Declaration | None) -> str:
    """What stands for a person: where nobody is named, one ballot or one questionnaire."""
    whole = release.guarantee is not None and release.guarantee.unit == "voter"
    if declaration is None or declaration.unit == "person" or not whole:
        return "person"
    return "ballot" if declaration.kind == "ballots" else "questionnaire"


def _unprotected(release: Release, unit: str, tuned: Any) -> list[str]:
    """What is not, in words: all that a file must say."""
    several = f"a person who gave several {unit}s, beyond each of them alone: nobody knows who gave which"
    answers = "a person who gave several answers, beyond each of them alone"
    said = {
        "that the data exist, and which items were declared": True,
        "what the declaration says, and how many may take part": True,
        CHOICE: isinstance(tuned, list),
        answers: release.guarantee is not None and release.guarantee.unit == "comparison",
        GRAPH: getattr(release.mechanism, "graph", None) == "public",
        several: unit != "person",
        release.mark: bool(release.mark),
    }
    return [line for line, holds in said.items() if holds]


def _bounding(release: Release, unit: str) -> str:
    """What becomes of rows beyond what one person contributes."""
    if unit != "person":
        return f"nobody knows who gave which: each {unit} counts"
    most = getattr(release.mechanism, "per_person", None)
    beyond = f"{most} of them" if type(most) is int else "the bound"
    return f"what a person gives beyond {beyond} is left out, by a hash of that person's own rows"


def _rules(release: Release, declaration: Declaration | None, unit: str) -> dict[str, Any]:
    """What was done to the rows."""
    rules: dict[str, Any] = {
        "cleaning": [] if declaration is None else list(declaration.clean),
        "aliases": 0 if declaration is None else len(declaration.aliases or {}),
        "bounding": _bounding(release, unit),
        "tuned on the data": _tuned(declaration),
    }
    return rules | ({} if declaration is None else declaration.rules_of_ballots())


def _tuned(declaration: Declaration | None) -> list[str] | str:
    """Rules that nobody declared to be chosen before looking, by name, where something was declared of them."""
    if declaration is None or declaration.before_looking is None:
        return UNSAID
    return [rule for rule in declaration.rules if rule not in declaration.before_looking] or UNTUNED


def of_rules(file: Mapping[str, Any]) -> list[str]:
    """What was done to cells, and whether it was chosen before anybody looked: in sentences, of a published file.

    Examples
    --------
    >>> rules = {"cleaning": ["strip"], "aliases": 2, "tuned on the data": ["aliases"]}
    >>> of_rules({"schema": SCHEMA, "rules": rules})[0]
    'Cleaning: strip, 2 aliases.'
    """
    rules = file["rules"]
    many = len(rules["aliases"]) if isinstance(rules["aliases"], dict) else rules["aliases"]
    named = [*rules["cleaning"], *([f"{many} alias{'es' * (many != 1)}"] if many else [])]
    done = f"Cleaning: {', '.join(named) or 'none'}."
    tuned = rules["tuned on the data"]
    if file["schema"] == OLDER or tuned == UNSAID:
        said = "Whether any of this was chosen after a look at the data is not said."
    elif tuned == UNTUNED:
        said = "Its curator declares that nothing of this was chosen after a look at the data."
    else:
        said = f"Chosen after a look at the data, which the promise does not cover: {', '.join(tuned)}."
    return [done, said]


def publish(
    release: Release,
    question: Question,
    declaration: Declaration | None = None,
    *,
    sampling: Sampling | None = None,
    persons: int | None = None,
    top: int | None = None,
    receipt: Receipt | None = None,
) -> str:
    """The text of a file that says all that a reader of the release needs, and nothing of the data.

    Parameters
    ----------
    release : Release
        Drawn by `dprank.SECURE`, or else marked as not for publication.
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
    declaration : Declaration, optional
        Of the columns and rules; the rules are written, and a hash of all but the words of aliases, which are not.
    sampling, persons : optional
        As in `dprank.Ranking.intervals`: both are public, and a second range is written.
    top : int, optional
        Of a ranking, the number of best items of which the report says who may be among them.
    receipt : Receipt, optional
        Of the budget that paid for it, as of `dprank.Budget.release_with_receipt`.

    Raises
    ------
    ValueError
        Where the release has no mechanism, or no ranges with such a sampling.

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
    if not isinstance(release, Ranking) and (sampling is not None or persons is not None):
        raise ValueError(f"sampling = {shown(sampling)}, persons = {shown(persons)}; only a ranking's are known")
    unit = _unit(release, declaration)
    written = "" if declaration is None else declaration.public_toml()
    file = {
        "schema": SCHEMA,
        "question": question,
        "release": json.loads(release.to_json()),
        "ranges": ranges(release, sampling, persons),
        "top": _require_top(release, top),
        "right": right(release),
        "protects": protects(release, unit),
        "not protected": _unprotected(release, unit, _tuned(declaration)),
        "rules": _rules(release, declaration, unit),
        "declaration": hashlib.sha256(written.encode()).hexdigest() if written else None,
        "receipt": None if receipt is None else receipt.to_dict(),
        "software": dict(_software()),
    }
    return visible_json(json.dumps(file, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _require_rules(rules: Any, bounding: str, older: bool) -> None:
    needed = {"cleaning", "aliases", "bounding", "tuned on the data"}
    if not isinstance(rules, dict) or not needed <= set(rules) <= needed | set(RULES_OF_BALLOTS):
        raise ValueError("no publication: rules are not those of a release")
    if rules["bounding"] != bounding:
        raise ValueError("no publication: bounding is not that of its mechanism")
    clean = as_list("cleaning", rules["cleaning"], "a list is needed")
    _texts("rules", [rules[key] for key in RULES_OF_BALLOTS if key in rules])
    aliases, tuned = rules["aliases"], rules["tuned on the data"]
    if older:
        if tuned != UNTUNED:
            raise ValueError("no publication: tuned on the data is not 'nothing': what is, no noise of dprank covers")
        if not isinstance(aliases, dict) or not all(type(it) is str for it in aliases.values()):
            raise ValueError("no publication: aliases are no table of what is written and what is meant")
        cleaner(clean, aliases)
        return
    cleaner(clean)
    if type(aliases) is not int or aliases < 0:
        raise ValueError("no publication: aliases are no number of them")
    named = [*dict.fromkeys(clean), *(["aliases"] if aliases else [])]
    listed = isinstance(tuned, list) and tuned and tuned == [it for it in named if it in tuned]
    if not listed and tuned not in (UNTUNED, UNSAID):
        raise ValueError(f"no publication: tuned on the data is no list of its rules, nor {UNTUNED!r} or {UNSAID!r}")


def _texts(name: str, given: Any) -> list[str]:
    if type(given) is not list or not all(type(it) is str for it in given):
        raise ValueError(f"no publication: {name} holds what is no text")
    return given


def _require_top(release: Release, top: Any) -> int | None:
    if top is None:
        return None
    if not isinstance(release, Ranking):
        raise ValueError(f"top = {shown(top)}; only of a ranking")
    return require_whole("top", top, 1, len(release.items))


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
    ValueError: no publication: schema is not 'dprank.publication/3', nor 'dprank.publication/2'
    """
    try:
        file = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("no publication: it is not JSON") from None
    if not isinstance(file, dict) or file.get("schema") not in (SCHEMA, OLDER):
        raise ValueError(f"no publication: schema is not {SCHEMA!r}, nor {OLDER!r}")
    keys = KEYS - {"receipt"} if file["schema"] == OLDER else KEYS
    if set(file) != keys:
        other = sorted(set(file) ^ keys)[0]
        raise ValueError(f"no publication: key {shown(other)} is {'unknown' if other in file else 'missing'}")
    return file


def receipt_of(file: Mapping[str, Any]) -> Receipt | None:
    """What a published file says of the budget that paid for it, if anything.

    Examples
    --------
    >>> receipt_of({"receipt": None}) is None
    True
    """
    given = file.get("receipt")
    return None if given is None else Receipt.from_dict(given)


def sampled(written: Any) -> tuple[Any, Any]:
    """Which sampling, and of how many persons, the ranges of a file speak of."""
    if not isinstance(written, list) or not all(
        isinstance(one, dict) and {"sampling", "persons"} <= set(one) for one in written
    ):
        raise ValueError("no publication: ranges are no list of levels and places")
    return (written[-1]["sampling"], written[-1]["persons"]) if written else (None, None)


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
    ValueError: no publication: schema is not 'dprank.publication/3', nor 'dprank.publication/2'
    """
    file = opened(text)
    require_one_of("question", file["question"], tuple(ASKED))
    release = Release.from_json(json.dumps(file["release"]))
    if file["ranges"] != ranges(release, *sampled(file["ranges"])):
        raise ValueError("no publication: ranges are not those that its noise leaves open")
    _require_top(release, file["top"])
    if file["right"] != right(release):
        raise ValueError("no publication: right is not what its noise allows")
    unit = unit_of(release, file)
    if unit is None:
        raise ValueError("no publication: protects is not what its mechanism protects")
    _require_rules(file["rules"], _bounding(release, unit), file["schema"] == OLDER)
    said = _texts("not protected", file["not protected"])
    if not isinstance(file["software"], dict) or not {*SOFTWARE, "python"} <= file["software"].keys():
        raise ValueError(f"no publication: software is no table with {', '.join(SOFTWARE)} and python")
    _texts("software", [*file["software"].values()])
    if file["declaration"] is not None:
        _texts("declaration", [file["declaration"]])
    if missing := [it for it in _unprotected(release, unit, file["rules"]["tuned on the data"]) if it not in said]:
        raise ValueError(f"no publication: not protected does not say: {missing[0]}")
    receipt_of(file)
    kind = {"topk": Selection, "winner": Selection, "agreement": Decision}.get(file["question"], Ranking)
    if not isinstance(release, kind):
        raise ValueError(f"no publication: a {type(release).__name__} answers no question of {file['question']}")
    return release
