"""Numbers among places, or ratings, that may be codes for "no answer": 99, 9, -1, and whatever stands apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from dprank._require import shown
from dprank.data.noticed_cells import Raw
from dprank.data.places import meanings, number_of

__all__ = ["below_0", "codes_among", "in_codes"]

#: Numbers by which questionnaires say that there is no answer: of one digit, and of several.
SHORT = (8, 9)
LONG = (66, 77, 88, *range(95, 100), 666, 777, 888, *range(995, 1000), *range(9995, 10_000), 99_999, 999_999)
#: Above the best of usual scales: what stands there may be no more of the scale.
NEXT = (6, 8, 11)
#: Fewer cells show no scale.
FEW = 10
#: So many codes stand together.
TOGETHER = 4
#: A scale around 0 goes no further.
WIDEST = 10


def in_codes(raw: Raw) -> Iterator[str]:
    """Sentences on numbers that may say that there is no answer."""
    by_item = _numbers(raw)
    counts = _in_all(by_item)
    if around := _scale_below(raw, counts):
        low, top = map(_text, around)
        cells = sum(number for it, number in counts.items() if it <= 0)
        high_best = "" if raw.declared.best == "high" else f", and --best high that {top} is the best"
        yield f"{low} to {top} look like one scale, and {cells} cells are no place: --lowest {low} takes all{high_best}"
    codes, high = codes_among(raw, by_item), raw.declared.best == "high"
    if not codes:
        return
    rest = [it for it in counts if it not in codes and _fits(raw, it)]
    said = f"--unranked-as {','.join(map(_text, codes))}"
    best = [it for it in codes if _fits(raw, it)]
    scale = f", {_text(min(rest))} to {_text(max(rest))}" if rest else ""
    many, cells = len(codes) > 1, sum(counts[it] for it in codes)
    stand, say = ("stand", "they say") if many else ("stands", "it says")
    yield (
        f"{', '.join(map(_text, codes))} {stand} apart from the other {'ratings' if high else 'places'}{scale}, in "
        f"{cells} cell{'s' * (cells != 1)}{_counted(best, high)}: {said}, if {say} that there is no answer"
    )
    by = [it for it in codes if it in NEXT and it - 1 in counts]
    for at in by:
        item = next((item for item, of in by_item.items() if _split(of, at)), None)
        if item is not None:
            yield f"{_text(at)} is often said of {shown(item)}, and {_text(at - 1)} and {_text(at - 2)} hardly ever"


def _counted(codes: list[float], high: bool) -> str:
    if not codes:
        return ""
    return f", and count{'s' * (len(codes) == 1)} as the {'best' if high == (max(codes) > 0) else 'worst'}"


def codes_among(raw: Raw, by_item: Mapping[str, Counter[float]] | None = None) -> list[float]:
    """Numbers that may say that there is no answer, the lowest first."""
    by_item = _numbers(raw) if by_item is None else by_item
    counts = _in_all(by_item)
    around = _scale_below(raw, counts)
    found = {it for it in counts if it < 0 and not _fits(raw, it) and not (around and it >= around[0])}
    fits = {it: number for it, number in counts.items() if _fits(raw, it)}
    places = 0 if raw.declared.best == "high" else len(raw.declared.items)
    above = _beyond(fits)
    found |= {it for it in above if it > places or (it in (*SHORT, *LONG) and counts[it] >= FEW)}
    below = {-it for it in _beyond({-it: number for it, number in fits.items()})}
    found |= {it for it in below if it <= 0}
    if raw.declared.best == "high":
        kinds = sorted(it for it in fits if it not in found)
        top = kinds[-1] if kinds else 0.0
        if (
            top in NEXT
            and kinds[0] in (0, 1)
            and kinds == [*range(int(kinds[0]), int(top) + 1)]
            and any(_split(of, top) for of in by_item.values())
        ):
            found.add(top)
    return sorted(found)


def below_0(raw: Raw) -> bool:
    """Whether numbers below 0 and above it look like one scale, of which those from 0 down are not declared."""
    return _scale_below(raw, _in_all(_numbers(raw))) is not None


def _scale_below(raw: Raw, counts: Mapping[float, int]) -> tuple[float, float] | None:
    """The ends of a scale that goes about as far below 0 as above, step by step; None where nothing looks like one."""
    kinds = sorted(it for it in counts if abs(it) <= WIDEST)
    if raw.declared.lowest is not None or len(kinds) < 3 or not kinds[0] < 0 < kinds[-1]:
        return None
    low, top = kinds[0], kinds[-1]
    steps = np.diff(kinds)
    alike = max(-low, top) <= 2 * min(-low, top) and (low < -1 or top == 1)
    closed = bool((steps == steps[0]).all()) or (low == -top and steps.max() <= 2 and len(kinds) > 4)
    return (low, top) if alike and closed else None


def _beyond(counts: Mapping[float, int]) -> set[float]:
    """The highest numbers, if a gap is below them that no scale has."""
    kinds = sorted(counts)
    for cut in range(1, min(TOGETHER, len(kinds) - 2) + 1):
        bulk, upper = kinds[:-cut], kinds[-cut:]
        inner, span, gap = max(np.diff(bulk)), bulk[-1] - bulk[0], upper[0] - bulk[-1]
        short = len(bulk) > 2 and inner == 1 and gap >= 2 and sum(counts.values()) >= 2 * FEW
        usual = all(abs(it) in LONG or (short and abs(it) in (*SHORT, 0, 1)) for it in upper)
        if usual and gap >= 2 * inner and (short or gap > span):
            return set(upper)
        odd = cut == 1 and len(bulk) > 2 and gap > max(span, 3 * inner)
        if odd and counts[upper[0]] >= 3:
            return set(upper)
    return set()


def _split(of: Mapping[float, int], top: float) -> bool:
    """Whether an item has many cells of one number, and others, and hardly any next to it."""
    often = of.get(top, 0)
    others = sum(of.values()) - often
    near = max(of.get(top - 1, 0), of.get(top - 2, 0))
    return often >= FEW and others >= FEW and 6 * often >= others and 10 * near <= often


def _fits(raw: Raw, number: float) -> bool:
    lowest = raw.declared.lowest
    return number > 0 if lowest is None else number >= lowest


def _numbers(raw: Raw) -> dict[str, Counter[float]]:
    """Of every item the numbers that its cells hold and that nothing is declared of, with their cells."""
    declared, found = raw.declared, dict[str, Counter[float]]()
    if declared.kind != "ballots" or declared.form not in ("wide", "long"):
        return found
    _, said = meanings(declared)
    for name, text, cells in _in_long(raw) if declared.form == "long" else _in_wide(raw):
        value = number_of(raw.clean(text).strip())
        if math.isfinite(value) and value not in said:
            found.setdefault(name, Counter())[value] += cells
    return found


def _in_wide(raw: Raw) -> Iterator[tuple[str, str, int]]:
    """Of every item each text of its column, and in how many cells it is."""
    for name in raw.declared.items:
        if (column := raw.column(name)) is not None:
            yield from ((name, str(text), int(cells)) for text, cells in column.value_counts().items())


def _in_long(raw: Raw) -> Iterator[tuple[str, str, int]]:
    """The same of rows of an item and its place, item by item as they are declared: every row is looked at once."""
    items, places = (raw.column(name) for name in raw.declared.columns)
    if items is None or places is None:
        return
    (at, names), (of, texts) = items.factorize(), places.factorize()
    code = np.array([-1 if (it := raw.item(str(name))) is None else it for name in names], np.int64)[at]
    pairs, each = np.unique(code[code >= 0] * len(texts) + of[code >= 0], return_counts=True)
    for pair, cells in zip(pairs.tolist(), each.tolist(), strict=True):
        item, text = divmod(pair, len(texts))
        yield raw.declared.items[item], str(texts[text]), cells


def _in_all(by_item: Mapping[str, Counter[float]]) -> Counter[float]:
    """The same of all items together."""
    found = Counter[float]()
    for of in by_item.values():
        found.update(of)
    return found


def _text(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"
