"""Columns among those of places that are called as the worst is: an order of best and worst is no list of the best."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dprank._require import shown
from dprank.data.noticed_names import words_of

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["BEST", "WORST", "called_the_worst", "from_the_worst", "in_ranks"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Words for the end that nobody wants.
WORST = _set(
    """worst least last bottom lowest poorest weakest disliked hated
    schlechteste schlechtester schlechtestes schlechtesten schlimmste wenigsten unwichtigste unwichtigster
    unwichtigsten letzte letzter letztes letzten schwächste unbeliebteste niedrigste
    pire pires moins dernier dernière derniers dernières peor peores menos último última últimos
    pior piores peggiore peggiori peggio meno ultimo ultima slechtste minst laatste onbelangrijkste zwakste
    sämst sämsta sista minsta værst værste verst verste dårligst dårligste sidste siste mindst huonoin vähiten
    viimeinen heikoin najgorszy najgorsza najgorsze najmniej ostatni ostatnia nejhorší nejméně poslední
    legrosszabb legkevésbé utolsó kötü худший худшая худшее наименее последний последняя"""
)
BEST = _set(
    """best most first top highest favourite favorite beste bester bestes besten meisten erste erster wichtigste
    meilleur meilleure plus premier première mejor más primero primera melhor mais primeiro primeira migliore più
    primo prima eerste meest bäst bästa mest första bedst bedste første paras eniten ensimmäinen najlepszy najbardziej
    pierwszy nejlepší nejvíce první legjobb első iyi лучший первый наиболее"""
)
_SIGNS = re.compile("最悪|最下位|最低|最差|最不|最も.*ない|최악|가장.*않|en az|en kötü|at the end")
#: What turns an order round.
_REVERSED = _set(
    """reverse reversed inverse inverted umgekehrt umgekehrte inversé inverso inversa omgekeerd omgekeerde omvänd"""
)
#: Words beside which these say something else.
_OTHER = re.compile(r"\bat least\b|\b(?:no )?menos de\b|au moins|\blast (?:name|year|week|month|time|seen|updated?)\b")


def called_the_worst(name: str) -> bool:
    """Whether a column is called so as one of the item that is the worst, and not the best as well.

    Examples
    --------
    >>> [called_the_worst(it) for it in ("worst", "Least preferred", "am unwichtigsten", "Q7_bottom", "最悪")]
    [True, True, True, True, True]
    >>> [called_the_worst(it) for it in ("best", "Rank 1 (1 = best, 9 = worst)", "Last name", "at least", "blast")]
    [False, False, False, False, False]
    """
    text = name.casefold()
    words = set(words_of(_OTHER.sub(" ", text)))
    return (not WORST.isdisjoint(words) or bool(_SIGNS.search(text))) and BEST.isdisjoint(words)


def from_the_worst(name: str) -> bool:
    """Whether a column of orders is called so as one whose first item is the worst.

    Examples
    --------
    >>> names = ("ranking (worst to best)", "least to most important", "worst first", "best last", "reversed order")
    >>> [from_the_worst(it) for it in names]
    [True, True, True, True, True]
    >>> names = ("best to worst", "most preferred first, least preferred last", "ranking", "worst", "best first")
    >>> [from_the_worst(it) for it in names]
    [False, False, False, False, False]
    """
    words = words_of(name)
    first, *_ = [*(at for at, it in enumerate(words) if it in WORST - {"last"} or it == "lowest"), len(words)]
    best, *_ = [*(at for at, it in enumerate(words) if it in BEST - {"first"}), len(words)]
    if not _REVERSED.isdisjoint(words) or " ".join(words).endswith("best last"):
        return True
    if first == len(words):
        return False
    return first < best < len(words) or words[first + 1 : first + 2] == ["first"]


def in_ranks(raw: Raw) -> Iterator[str]:
    """A sentence on a column of --ranks that is called as the worst is and is no last place."""
    declared = raw.declared
    if declared.kind != "ballots" or declared.form != "ranks":
        return
    names, m = declared.columns, len(declared.items)
    worst = [at for at, name in enumerate(names) if called_the_worst(name)]
    if not worst:
        return
    behind = len(names) >= m or declared.unranked == "apart"
    if worst == [len(names) - 1] and behind and len(names) > 1:
        return
    at, one = worst[0], len(worst) == 1
    named = ", ".join(shown(names[it]) for it in worst)
    ahead = "ahead of every item that no column names" if declared.unranked == "last" else "the best first"
    columns, are = ("column", "is") if one else ("columns", "are")
    order = "Write each ballot as an order then, as A > B = C > D with the worst last, which --orders reads"
    yield (
        f"{columns} {named} {are} called as the worst {are}, and --ranks reads {shown(names[at])} as place {at + 1} of "
        f"{m}, {ahead}: is it the worst? {'--ranks names that column last' if len(names) >= m and one else order}"
    )
