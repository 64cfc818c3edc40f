"""What is published of a release, and a check of such a file (long: every field is told, and held to its release)."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import re
from collections.abc import Collection, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, cast

from dprank._answer import answer_of, bound_of, canonical, margins_of, output_of, ranges_of, same
from dprank._json import parsed, plain, written
from dprank._require import as_list, require_one_of, require_whole, shown, visible_json
from dprank.data.cleaning import cleaner
from dprank.data.declaration import MEANINGS, RULES_OF_BALLOTS, Declaration
from dprank.possible import impossible
from dprank.privacy.budget import Receipt
from dprank.privacy.pair_ranges import Sampling
from dprank.questions import QUESTIONS, QuestionName
from dprank.release import FORMAT, Ranking, Release, Selection
from dprank.scored import rule_of
from dprank.sentences import declared_of, of_data, protects, ranges, right, said_of, unit_of

__all__ = [
    "SCHEMA",
    "gain",
    "identifier",
    "is_said",
    "json_schema",
    "of_itself",
    "of_rules",
    "opened",
    "publish",
    "read_publication",
    "receipt_of",
    "require_named",
    "sampled",
]

#: Of the file; another number when its fields change.
SCHEMA = "dprank.publication/3"
#: What version 0.2 wrote, and is read: a release with its arrays, no receipt, and the words of aliases.
OLDER = "dprank.publication/2"
KEYS = (
    "schema",
    "id",
    "title",
    "day",
    "replaces",
    "wave",
    "question",
    "says",
    "rule",
    "bound",
    "kind",
    "items",
    "answer",
    "margins",
    "ranges",
    "top",
    "right",
    "mechanism",
    "guarantee",
    "source",
    "protects",
    "not protected",
    "rules",
    "declaration",
    "receipt",
    "software",
)
#: Those that are not in a file of version 0.2; and what it has in the place of the rest.
NEW = ("id", "title", "day", "replaces", "wave", "says", "rule", "bound", "receipt")
INNER = ("kind", "mechanism", "guarantee", "source")
OLD = {"release", *KEYS} - {*NEW, *INNER, "items", "answer", "margins"}
#: Of rules that were chosen after a look at the data: none, as declared; or nobody declared it.
UNTUNED, UNSAID = "nothing", "not said"
CHOICE = "what the choice of those rules tells that were chosen after a look at the data"
REPLACED = "what this file and the one that it replaces tell together: their epsilons add up"
WAVES = "what this wave and those before it tell together of who took part in several: their epsilons add up"
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


def _unprotected(release: Release, unit: str, tuned: Any, replaces: str | None, wave: int | None) -> list[str]:
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
        REPLACED: replaces is not None,
        WAVES: wave is not None and wave > 1,
        release.mark: bool(release.mark),
    }
    return [line for line, holds in said.items() if holds]


#: What else is left out of a person's answers, by the design.
_TWICE = {"once": ", or beyond one to each pair,", "matching": ", or beyond one of each item,"}


def _bounding(release: Release, unit: str, alone: bool = False, before: bool = False) -> str:
    """What becomes of rows beyond what one person contributes; `alone` where nothing counts of several ballots.

    `before` is how earlier versions said it, who left out that an answer counts by itself, and what a design allows.
    """
    if release.guarantee is not None and release.guarantee.unit == "comparison" and not before:
        return "none: every answer counts by itself"
    if unit != "person":
        return f"nobody knows who gave which: each {unit} counts"
    if alone:
        return "of a person with several ballots none counts"
    most = getattr(release.mechanism, "per_person", None)
    beyond = f"{most} of them" if type(most) is int else "the bound"
    beyond += "" if before else _TWICE.get(getattr(release.mechanism, "design", ""), "")
    return f"what a person gives beyond {beyond} is left out, by a hash of that person's own rows"


def _rules(release: Release, declaration: Declaration | None, unit: str) -> dict[str, Any]:
    """What was done to the rows."""
    own = {} if declaration is None else declaration.rules_of_ballots()
    rules: dict[str, Any] = {
        "cleaning": [] if declaration is None else list(declaration.clean),
        "aliases": 0 if declaration is None else len(declaration.aliases or {}),
        "bounding": _bounding(release, unit, "repeated" in own),
        "tuned on the data": _tuned(declaration),
    }
    return rules | own


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


def of_itself(file: Mapping[str, Any]) -> list[str]:
    """What a published file is known by, which one it corrects, and which wave it is: in sentences.

    Examples
    --------
    >>> of_itself({"id": "0a", "replaces": "0b", "wave": 2})
    ['Its id is 0a. It corrects, and replaces, the file with the id 0b. It is wave 2.']
    """
    said = [f"Its id is {file['id']}."]
    said += [f"It corrects, and replaces, the file with the id {file['replaces']}."] if file["replaces"] else []
    said += [f"It is wave {file['wave']}."] if file["wave"] else []
    return [" ".join(said)]


def publish(
    release: Release,
    question: QuestionName,
    declaration: Declaration | None = None,
    *,
    sampling: Sampling | None = None,
    persons: int | None = None,
    top: int | None = None,
    receipt: Receipt | None = None,
    title: str | None = None,
    day: str | None = None,
    replaces: str | None = None,
    wave: int | None = None,
    per_person: int | None = None,
    rehearsal: bool = False,
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
    title, day : str, optional
        What is published is called so, in one line; the day, as 2026-11-25.
    replaces : str, optional
        The `identifier` of a published file that this one corrects.
    wave : int, optional
        Which wave of a survey this is, from 1.
    per_person : int, optional
        How many items of a person were counted, where the mechanism itself knows no bound.
    rehearsal : bool
        Whether the data are made up: the file says so.

    Raises
    ------
    ValueError
        Where the release has no mechanism, or no ranges with such a sampling; or naming what is out of range.

    Notes
    -----
    The identifier is a hash of all else that is published, so it tells nothing more.

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
    require_one_of("question", question, tuple(QUESTIONS))
    require_named(title=title, day=day, replaces=replaces, wave=wave)
    if not isinstance(release, Ranking) and (sampling is not None or persons is not None):
        raise ValueError(f"sampling = {shown(sampling)}, persons = {shown(persons)}; only a ranking's are known")
    unit, found = _unit(release, declaration), ranges(release, sampling, persons)
    public = "" if declaration is None else declaration.public_toml()
    top, bound, rules = _require_top(release, top), bound_of(release, per_person), _rules(release, declaration, unit)
    rules |= {"data": "made up, for a rehearsal"} if rehearsal else {}
    hashed = hashlib.sha256(public.encode()).hexdigest() if public else None
    declared = declared_of({"declaration": hashed, "rules": rules})
    file = {
        "schema": SCHEMA,
        "id": "",
        "title": title,
        "day": day,
        "replaces": replaces,
        "wave": wave,
        "question": question,
        "says": [*of_data({"rules": rules}), *said_of(release, found, top, unit, bound, declared)],
        "rule": _rule(release),
        "bound": bound,
        "kind": type(release).__name__,
        "items": _items(release, declaration),
        "answer": answer_of(release, found),
        "margins": margins_of(release),
        "ranges": [{key: one[key] for key in ("level", "sampling", "persons")} for one in found],
        "top": top,
        "right": right(release),
        "mechanism": written(release.mechanism),
        "guarantee": None if release.guarantee is None else plain("guarantee", vars(release.guarantee)),
        "source": release.source,
        "protects": protects(release, unit),
        "not protected": _unprotected(release, unit, _tuned(declaration), replaces, wave),
        "rules": rules,
        "declaration": hashed,
        "receipt": None if receipt is None else receipt.to_dict(),
        "software": dict(_software()),
    }
    return _text(file | {"id": identifier(file)})


def _says(release: Release, file: Mapping[str, Any]) -> list[str]:
    """What a file says of its release, of nothing but what it publishes; other words are another format."""
    found = ranges(release, *sampled(file["ranges"]))
    unit = unit_of(release, file) or "person"
    said = said_of(release, found, file["top"], unit, file["bound"], declared_of(file))
    return [*of_data(file), *said]


def is_said(text: str) -> bool:
    """Whether the sentences of a published file are those that follow from the rest of it.

    Examples
    --------
    >>> import dprank
    >>> made = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2)
    >>> is_said(publish(made.release(dprank.Rankings([[0, 1]] * 90, "ab"), dprank.SECURE), "consensus"))
    True
    """
    file = _loaded(text)
    return bool(file["says"] == _says(_release(file), file))


def _rule(release: Release) -> str | None:
    """By what items were put in order, or chosen."""
    rule = rule_of(release.mechanism)
    return None if rule is None else rule.name


def _items(release: Any, declaration: Declaration | None) -> list[Any] | None:
    """All that are declared, where that is known."""
    if isinstance(release, Ranking):
        return cast(list[Any], plain("items", release.items))
    given = getattr(release.mechanism, "items", None) if declaration is None else declaration.items
    return None if given is None else cast(list[Any], plain("items", given))


def _text(file: Mapping[str, Any]) -> str:
    """A published file: a line a record, so that people can read it, too."""
    lines = []
    for key, value in file.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n    ".join(_json(one) for one in value)
            said = f"[\n    {rows}\n  ]"
        else:
            said = _json(value, indent=2).replace("\n", "\n  ")
        lines.append(f"  {_json(key)}: {said}")
    return visible_json("{\n" + ",\n".join(lines) + "\n}") + "\n"


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def identifier(file: Mapping[str, Any]) -> str:
    """What a published file is known by: a hash of all that it says, whatever its layout.

    Examples
    --------
    >>> identifier({"id": "?", "title": "Works"}) == identifier({"title": "Works"})
    True
    """
    said = canonical({key: value for key, value in file.items() if key != "id"})
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of published files, of draft 2020-12.

    Examples
    --------
    >>> json_schema()["properties"]["schema"]
    {'const': 'dprank.publication/3'}
    """
    found: dict[str, Any] = json.loads(files("dprank").joinpath("publication.schema.json").read_text(encoding="utf-8"))
    return found


def require_named(*, title: Any, day: Any, replaces: Any, wave: Any) -> None:
    """Refuse what is no title, day, identifier or number of a wave; None is all right.

    Examples
    --------
    >>> require_named(title="Works", day="2026-11-31", replaces=None, wave=None)
    Traceback (most recent call last):
        ...
    ValueError: day = '2026-11-31'; a day as 2026-11-25 is needed
    """
    if title is not None and (type(title) is not str or not title.strip() or not title.isprintable()):
        raise ValueError(f"title = {shown(title)}; one line of text is needed")
    if day is not None:
        try:
            fit = date.fromisoformat(day).isoformat() == day
        except (TypeError, ValueError):
            fit = False
        if not fit:
            raise ValueError(f"day = {shown(day)}; a day as 2026-11-25 is needed")
    if replaces is not None and not (type(replaces) is str and re.fullmatch("[0-9a-f]{32}", replaces)):
        raise ValueError(f"replaces = {shown(replaces)}; the id of a published file, 32 hexadecimal digits, is needed")
    if wave is not None:
        require_whole("wave", wave, 1, 10**6)


def _require_rules(rules: Any, bounding: Collection[str], older: bool) -> None:
    needed = {"cleaning", "aliases", "bounding", "tuned on the data"}
    if not isinstance(rules, dict) or not needed <= set(rules) <= needed | set(RULES_OF_BALLOTS):
        raise ValueError("no publication: rules are not those of a release")
    if rules["bounding"] not in bounding:
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
    named = [*dict.fromkeys(clean), *(name for name in MEANINGS if _is_told(name, rules))]
    listed = isinstance(tuned, list) and tuned and tuned == [it for it in named if it in tuned]
    if not listed and tuned not in (UNTUNED, UNSAID):
        raise ValueError(f"no publication: tuned on the data is no list of its rules, nor {UNTUNED!r} or {UNSAID!r}")


def _is_told(name: str, rules: Mapping[str, Any]) -> bool:
    """Whether a file says that cells were given a meaning in one of the ways of a declaration."""
    places = str(rules.get("places"))
    ways = {"aliases": rules["aliases"], "places": "cells" in rules, "best": "highest" in places}
    ways |= {"lowest": "none is below" in places, "unranked_as": "no place" in rules, "withdrawn": "withdrawn" in rules}
    ways |= {"thousands": "numbers" in rules}
    return bool(ways[name])


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
    from importlib.metadata import version

    return {name: version(name) for name in SOFTWARE} | {"python": platform.python_version()}


def opened(text: str) -> Mapping[str, Any]:
    """The fields of a published file, not held against its release; those of version 0.2 by today's names.

    Its `ranges` have the lowest and highest places of all items, in the order of the answer.

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
    return _of_today(_loaded(text))


def _loaded(text: str) -> dict[str, Any]:
    """A file of either format, as it stands."""
    try:
        file = parsed(text)
        canonical(file)  # which goes as deep as anything else does, and takes no number that JSON has not
    except LookupError:
        raise ValueError("no publication: a key is there twice") from None
    except (ValueError, RecursionError):
        raise ValueError("no publication: it is not JSON, or is nested too deep") from None
    if not isinstance(file, dict) or file.get("schema") not in (SCHEMA, OLDER):
        raise ValueError(f"no publication: schema is not {SCHEMA!r}, nor {OLDER!r}")
    keys = OLD if file["schema"] == OLDER else {*KEYS}
    if set(file) != keys:
        other = sorted(set(file) ^ keys)[0]
        raise ValueError(f"no publication: key {shown(other)} is {'unknown' if other in file else 'missing'}")
    return file


def _of_today(file: dict[str, Any]) -> dict[str, Any]:
    if file["schema"] == SCHEMA:
        return file | {"ranges": ranges_of(file)}
    release = _release(file)
    inner = {key: file["release"][key] for key in INNER}
    rest = {key: value for key, value in file.items() if key != "release"}
    named = dict.fromkeys(NEW) | {"id": identifier(file), "rule": _rule(release), "bound": bound_of(release)}
    found = ranges(release, *sampled(file["ranges"]))
    records = {"answer": answer_of(release, found), "margins": margins_of(release)}
    named["says"] = _says(release, file | named)
    return named | inner | rest | records | {"items": _items(release, None)}


def _release(file: Mapping[str, Any]) -> Release:
    """The release in a file of either format."""
    if file["schema"] == OLDER:
        return Release.from_json(json.dumps(file["release"]))
    inner = {"format": FORMAT, "output": output_of(file)} | {key: file[key] for key in INNER}
    if "." in str(file["mechanism"].get("class") if isinstance(file["mechanism"], dict) else ""):
        raise ValueError("no publication: class of the mechanism is no name of the front door")
    if file["kind"] != "Ranking" and file["margins"] is not None:
        raise ValueError("no publication: margins are of a ranking alone")
    release = Release.from_json(json.dumps(inner))
    _require_items(file["items"], release)
    return release


def _require_items(items: Any, release: Any) -> None:
    """Refuse a list of all items of which the answer, or its mechanism, has others."""
    if items is None:
        return
    named = isinstance(items, list) and all(type(it) in (str, int, float) for it in items)
    if not named or len({*map(str, items)}) < len(items):
        raise ValueError("no publication: items are no list of names, each once")
    mechanism = release.mechanism
    declared, number = getattr(mechanism, "items", None), getattr(mechanism, "n_items", None)
    if (number is not None and len(items) != number) or (declared is not None and list(declared) != items):
        raise ValueError("no publication: items are not those of its mechanism")
    if isinstance(release, Selection) and not {*release.items.tolist()} <= {*items}:
        raise ValueError("no publication: item of the answer is none of items")


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
    file = _loaded(text)
    require_one_of("question", file["question"], tuple(QUESTIONS))
    release = _release(file)
    if wrong := impossible(release):
        raise ValueError(f"no publication: {wrong[0]}")
    _require_said(release, file)
    unit = unit_of(release, file)
    if unit is None:
        raise ValueError("no publication: protects is not what its mechanism protects")
    older = file["schema"] == OLDER
    alone = not older and isinstance(file["rules"], dict) and "repeated" in file["rules"]
    _require_rules(file["rules"], [_bounding(release, unit, alone, it) for it in (False, True)], older)
    if "data" in file["rules"] and release.source != "seeded":
        raise ValueError("no publication: a rehearsal, whose data are made up, draws no noise that is for publication")
    if file["schema"] == SCHEMA and file["says"] != _says(release, file):
        raise ValueError("no publication: says is not what follows from its release")
    said = _texts("not protected", file["not protected"])
    if not isinstance(file["software"], dict) or not {*SOFTWARE, "python"} <= file["software"].keys():
        raise ValueError(f"no publication: software is no table with {', '.join(SOFTWARE)} and python")
    _texts("software", [*file["software"].values()])
    if file["declaration"] is not None:
        _texts("declaration", [file["declaration"]])
    needed = _unprotected(release, unit, file["rules"]["tuned on the data"], file.get("replaces"), file.get("wave"))
    if missing := [it for it in needed if it not in said]:
        raise ValueError(f"no publication: not protected does not say: {missing[0]}")
    receipt_of(file)
    if type(release).__name__ != QUESTIONS[file["question"]].release:
        raise ValueError(f"no publication: a {type(release).__name__} answers no question of {file['question']}")
    if file["schema"] == SCHEMA and file["id"] != identifier(file):
        raise ValueError("no publication: id is not that of what it says: something in it is not as it was written")
    return release


def _require_said(release: Release, file: Mapping[str, Any]) -> None:
    """Refuse what a file says of its answer, and is not so."""
    if file["schema"] == OLDER:
        if file["ranges"] != ranges(release, *sampled(file["ranges"])):
            raise ValueError("no publication: ranges are not those that its noise leaves open")
    else:
        require_named(**{key: file[key] for key in ("title", "day", "replaces", "wave")})
        heads = file["ranges"]
        found = ranges(release, *sampled(heads))
        if not same(heads, [{key: one[key] for key in ("level", "sampling", "persons")} for one in found]):
            raise ValueError("no publication: ranges are not those that its noise leaves open")
        _require_records(file["answer"], answer_of(release, found))
        if file["rule"] != _rule(release):
            raise ValueError(f"no publication: rule is not that of its mechanism: {_rule(release)}")
        _require_bound(release, file["bound"])
    _require_top(release, file["top"])
    if not same(file["right"], right(release)):
        raise ValueError("no publication: right is not what its noise allows")


def _require_records(given: Any, needed: Any) -> None:
    """Refuse records of which one says what is not so, by its key and its place in the list."""
    if same(given, needed):
        return
    pairs = [(given, needed)] if isinstance(needed, dict) else list(zip(given, needed, strict=True))
    for at, (row, other) in enumerate(pairs, 1):
        for key in other:
            if not same(row.get(key), other[key]):
                where = "" if isinstance(needed, dict) else f" in record {at}"
                raise ValueError(f"no publication: {key}{where} of the answer is not what follows from its release")
    raise ValueError("no publication: answer has other records than its release")


def _require_bound(release: Release, given: Any) -> None:
    needed = bound_of(release)
    if needed is None and given is not None and bound_of(release, 1) is not None:
        fit = isinstance(given, dict) and given.keys() == {"most", "of"} and given["of"] == "items"
        needed = given if fit and type(given["most"]) is int and given["most"] >= 1 else None
    if not same(given, needed):
        raise ValueError("no publication: bound is not that of its mechanism")
