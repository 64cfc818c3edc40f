"""An answer as a published file has it: a record an item, what was counted, and by which rule; and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dprank._json import number, plain
from dprank.release import Decision, Ranking, Release, Selection
from dprank.scored import floor_of, rule_of

__all__ = [
    "answer_of",
    "bound_of",
    "canonical",
    "margins_of",
    "output_of",
    "ranges_of",
    "same",
    "unit_of",
]

#: Of every item.
RECORD = ("item", "place", "score", "unit", "lowest", "highest")
#: Of items whose ranges have the drawing of people in them, too.
DRAWN = ("lowest with sampling", "highest with sampling")
#: Of a decision.
DECIDED = ("reject", "statistic", "threshold", "p_value", "floor")
MARGIN = ("item", "over", "margin")


def unit_of(release: Release) -> str | None:
    """In what scores or values are; None where there are none."""
    given = release.scores if isinstance(release, Ranking) else getattr(release, "values", None)
    rule = rule_of(release.mechanism)
    return None if given is None or rule is None else rule.unit or None


def bound_of(release: Release, per_person: int | None = None) -> dict[str, Any] | None:
    """How much of a person is counted at most; None where nothing is left out of what one gives.

    Parameters
    ----------
    release : Release
    per_person : int, optional
        Of a mechanism that knows no bound, that which was kept before it.
    """
    mechanism = release.mechanism
    if (weight := getattr(mechanism, "max_weight", 1)) > 1:
        return {"most": weight, "of": "weight"}
    most = getattr(mechanism, "per_person", None)
    if not hasattr(mechanism, "per_person") and isinstance(release, Selection) and hasattr(mechanism, "items"):
        most = per_person
    if most is None or getattr(mechanism, "unit", "voter") != "voter":
        return None
    return {"most": most, "of": "items" if isinstance(release, Selection) else "answers"}


def answer_of(release: Release, found: Sequence[Mapping[str, Any]]) -> Any:
    """A record an item, best first, with its places in the ranges; of a decision one record.

    Parameters
    ----------
    release : Release
    found : sequence
        As of `dprank.sentences.ranges`.

    Examples
    --------
    >>> answer_of(Ranking(("a", "b"), np.array([1, 0])), [])[0]
    {'item': 'b', 'place': 1, 'score': None, 'unit': None, 'lowest': None, 'highest': None}
    """
    if isinstance(release, Decision):
        decided = [release.reject, *(_written(getattr(release, it)) for it in DECIDED[1:4]), floor_of(release)]
        return dict(zip(DECIDED, decided, strict=True))
    scores: Any
    if isinstance(release, Ranking):
        items: list[Any] = plain("items", release.ranking)
        scores = None if release.scores is None else release.scores[release.order]
        placed = True
    else:
        assert isinstance(release, Selection)
        items, scores = plain("items", release.items), release.values
        placed = len(items) == 1 or getattr(release.mechanism, "ordered", False)
    columns: list[Iterable[Any]] = [
        items,
        range(1, len(items) + 1) if placed else [None] * len(items),
        [None] * len(items) if scores is None else map(_written, scores.tolist()),
        [unit_of(release)] * len(items),
    ]
    for at in range(max(1, len(found))):
        columns += [found[at][it] if found else [None] * len(items) for it in ("lowest", "highest")]
    keys = [*RECORD, *(DRAWN if len(found) > 1 else ())]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def margins_of(release: Release) -> list[dict[str, Any]] | None:
    """A record a pair of items: by how much the first is ahead of the second."""
    if not isinstance(release, Ranking) or release.margins is None:
        return None
    items, margins = release.items, release.margins
    pairs = [(i, j) for i in range(len(items)) for j in range(i + 1, len(items))]
    return [dict(zip(MARGIN, (items[i], items[j], _written(float(margins[i, j]))), strict=True)) for i, j in pairs]


def ranges_of(file: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ranges with all lowest and highest places, by place, from what a file says of them and from its records."""
    heads, answer = file["ranges"], file["answer"]
    if not isinstance(heads, list) or not all(isinstance(it, dict) for it in heads) or len(heads) > 2:
        raise ValueError("no publication: ranges are no list of what places were found for")
    if not isinstance(answer, list):
        if heads:
            raise ValueError("no publication: ranges are of a decision, which has no places")
        return []
    if not all(isinstance(row, dict) for row in answer):
        raise ValueError("no publication: answer is no list with a record an item")
    keys = [RECORD[4:], DRAWN][: len(heads)]
    return [
        head | {name: [row.get(key) for row in answer] for name, key in zip(("lowest", "highest"), pair, strict=True)}
        for head, pair in zip(heads, keys, strict=True)
    ]


def output_of(file: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a release, as `Release.to_json` writes them, from the records of a file.

    Raises
    ------
    ValueError
        Naming the record that is none.
    """
    kind, answer = file["kind"], file["answer"]
    if kind == "Decision":
        _require_record("answer", answer, DECIDED)
        numbers = {it: "nan" if answer[it] is None else answer[it] for it in DECIDED[1:4]}
        return {"reject": answer["reject"]} | numbers
    if not isinstance(answer, list) or not answer:
        raise ValueError("no publication: answer is no list with a record an item")
    keys = (*RECORD, *DRAWN) if isinstance(answer[0], dict) and DRAWN[0] in answer[0] else RECORD
    for at, row in enumerate(answer, 1):
        _require_record(f"record {at} of the answer", row, keys)
    scores = [row["score"] for row in answer]
    if any(it is None for it in scores) != all(it is None for it in scores):
        raise ValueError("no publication: score is missing in some records of the answer, and there in others")
    if kind == "Selection":
        given = {"items": [row["item"] for row in answer], "values": None if scores[0] is None else scores}
        if any(row["place"] is not None for row in answer):
            _require_places(answer)
        return given
    items = file["items"]
    if not isinstance(items, list) or not all(isinstance(it, str) for it in items) or len(set(items)) < len(items):
        raise ValueError("no publication: items are no list of names, each once")
    code = {item: at for at, item in enumerate(items)}
    named = [row["item"] for row in answer]
    if not all(isinstance(it, str) for it in named) or sorted(named) != sorted(items):
        raise ValueError("no publication: item of the answer is not each of items once")
    _require_places(answer)
    by_item = [None] * len(items)
    for row in answer:
        by_item[code[row["item"]]] = row["score"]
    return {
        "items": items,
        "order": [code[it] for it in named],
        "scores": None if scores[0] is None else by_item,
        "margins": _matrix(file["margins"], items),
    }


def _matrix(margins: Any, items: Sequence[str]) -> list[list[float]] | None:
    """Margins from those of pairs."""
    if margins is None:
        return None
    pairs = [[items[i], items[j]] for i in range(len(items)) for j in range(i + 1, len(items))]
    if not isinstance(margins, list):
        raise ValueError("no publication: margins are no list with a record a pair")
    for at, row in enumerate(margins, 1):
        _require_record(f"record {at} of the margins", row, MARGIN)
    if [[row["item"], row["over"]] for row in margins] != pairs:
        raise ValueError("no publication: margins are not of each pair of items once, as items are listed")
    made = np.zeros((len(items), len(items)))
    made[np.triu_indices(len(items), 1)] = [float(number(row["margin"])) for row in margins]
    lists: list[list[float]] = (made - made.T).tolist()
    return lists


def _require_places(answer: Sequence[Mapping[str, Any]]) -> None:
    if [row["place"] for row in answer] != [*range(1, len(answer) + 1)]:
        raise ValueError("no publication: place is not that of the record in the list, from 1")


def _require_record(name: str, row: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(row, dict) or set(row) != set(keys):
        raise ValueError(f"no publication: {name} is no record of {', '.join(keys)}")


def _written(value: Any) -> Any:
    """A number as JSON has it; nothing for what is none."""
    return None if isinstance(value, float) and math.isnan(value) else plain("answer", value)


def canonical(value: Any) -> str:
    """One text for all that says the same: keys in order, and whole numbers without a point.

    Examples
    --------
    >>> canonical({"b": 2.0, "a": [None, True]})
    '{"a":[null,true],"b":2}'
    """
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def same(one: Any, other: Any) -> bool:
    """Whether two values of files say the same, by kind, too: true is not 1."""
    return canonical(one) == canonical(other)


def _whole(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _whole(it) for key, it in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(it) for it in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    return value
