"""Which end of a scale is the best, and which place a column is, by headers and by numbers: for a curator alone.

A header is public, but what it says is read by words, which may be wrong: so it is asked, and nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_names import words_of
from dprank.data.noticed_worst import from_the_worst
from dprank.data.places import number_of

__all__ = ["SIDES_OF", "best_in", "in_headers", "short_scale"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: What stands for the best of a scale, and for its worst.
_BEST = (
    r"(?:the )?(?:best|highest|excellent|outstanding|perfect|very (?:good|important|satisfied|likely)|top|great|"
    r"most (?:important|preferred|liked|wanted)|strongly agree|agree strongly|extremely \w+|love it|"
    r"sehr (?:gut|wichtig|zufrieden)|am (?:besten|wichtigsten|höchsten)|bestes?|beste|ausgezeichnet|hervorragend|"
    r"höchste[rs]?|wichtigste[rs]?|stimme voll zu|"
    r"(?:le |la )?meilleure?|très (?:bien|bon(?:ne)?|important|satisfait)e?|"
    r"(?:le )?plus important|excellente?|tout à fait d'accord|(?:el |la |lo )?mejor|muy (?:bueno?a?|bien|importante|"
    r"satisfecho)|excelente|(?:lo )?más importante|(?:il |la )?migliore|ottimo|molto (?:buono|importante)|eccellente|"
    r"het beste|zeer (?:goed|belangrijk)|heel goed|uitstekend|melhor|muito (?:bom|boa|importante)|ótimo|bäst|"
    r"mycket (?:bra|viktigt?)|bedst|meget (?:god|vigtig)|best(?:es)? ergebnis)"
)
_WORST = (
    r"(?:the )?(?:worst|lowest|terrible|awful|very (?:bad|poor|unimportant|dissatisfied|unlikely)|poor|bad|least \w+|"
    r"not (?:at all )?(?:important|good|satisfied|likely)|not at all|unimportant|strongly disagree|disagree strongly|"
    r"sehr (?:schlecht|unwichtig|unzufrieden)|am (?:schlechtesten|unwichtigsten|wenigsten)|schlechteste[rs]?|"
    r"ungenügend|mangelhaft|unwichtig|"
    r"gar nicht \w+|(?:überhaupt )?nicht wichtig|stimme (?:gar )?nicht zu|(?:le |la )?pire|"
    r"très (?:mauvais|mal)e?|pas (?:du tout )?importante?|pas du tout|(?:el |la |lo )?peor|muy (?:malo|mala|mal)|"
    r"nada importante|pésimo|(?:il |la )?peggiore|pessimo|per niente \w+|het slechtste?|slechtste?|zeer slecht|"
    r"helemaal niet \w+|(?:o )?pior|muito (?:ruim|mau)|péssimo|sämst|mycket dåligt?|dårligst|meget dårlig)"
)
_IS = r"\s*(?:=|:|is|are|means|-|–|—|\(|ist|heißt|bedeutet|est|es|è|é|är|er|stands for)\s*"
_SCALED = {
    end: re.compile(
        rf"(?<![\w.])([-−]?\d+)(?:{_IS}|\s+){words}(?!\w)|(?<!\w){words}{_IS}([-−]?\d+)(?![\w.])", re.IGNORECASE
    )
    for end, words in (("best", _BEST), ("worst", _WORST))
}
#: What headers call numbers of which the highest is the best, and those of which the lowest is.
_RATED = _set(
    """rating ratings rate rated score scores stars star points likert importance satisfaction bewertung
    bewertungen punkte punktzahl sterne wichtigkeit zufriedenheit étoiles évaluation puntuación puntos
    estrellas valoración punteggio valutazione stelle punti punten sterren beoordeling pontuação pontos
    estrelas avaliação betyg stjärnor poäng note notes noten grade grades mark marks voto votos voti cijfer nota notas
    utility value values wert werte valeur valor valore borda"""
)
_RANKED = _set(
    """rank ranks ranked ranking place places order position choice preference rang rangfolge platz plätze
    platzierung reihenfolge place classement ordre préférence puesto orden posición rango preferencia posto
    ordine posizione plaats rangorde volgorde voorkeur ordem posição rangordning plats plass"""
)
#: What a column is called that says where an item stood on a screen, or on a sheet.
_SHOWN = _set(
    "position order index idx seq sequence display displayed shown slot screen trial row posición posição ordem"
)
_ORDINALS = {
    word: at + 1
    for at, words in enumerate(
        (
            "first erste erster erstes erst premier première primero primera primo prima eerste primeiro första",
            "second zweite zweiter zweites zweit deuxième seconde segundo segunda secondo seconda tweede andra",
            "third dritte dritter drittes dritt troisième tercero tercera terzo terza derde terceiro tredje",
            "fourth vierte vierter viertes quatrième cuarto cuarta quarto quarta vierde fjärde",
            "fifth fünfte fünfter fünftes cinquième quinto quinta vijfde femte",
        )
    )
    for word in words.split()
}
_NUMBERED = re.compile(r"(?<![0-9])[0-9]{1,3}(?:(?=st|nd|rd|th|er|re|e|ème|o|a|º|ª)|(?![0-9]))", re.IGNORECASE)
_ENDS = (
    _set("""best favourite favorite most beste bester bestes liebste meilleur mejor migliore melhor bäst"""),
    _set("""worst least last schlechteste schlechtester letzte pire dernier peor peggiore slechtste pior"""),
)
#: Sides of a comparison, and what is said of one of them.
SIDES_OF = (
    _set("""first left a links gauche izquierda sinistra esquerda vänster one"""),
    _set("""second right b rechts droite derecha destra direita höger two"""),
)
_WINS = (
    _set(
        """preferred prefer prefers better best win wins won winner chosen picked selected beats bevorzugt besser
    gewinnt gewählt préféré préférée gagne gagnant meilleur preferido preferida gana mejor ganador preferito
    vince migliore beter wint gekozen melhor vence"""
    ),
    _set("""lost lose loses loser worse worst rejected unterliegt verliert schlechter perd pire pierde peor"""),
)
_TRUE = ("1", "yes", "true", "y", "t", "ja", "oui", "sí", "si", "x")
#: Fewer ballots show no scale; so many of them are orders by one rule for ties, or they are none.
FEW, FITS = 4, 0.85
#: So many ballots that all tie are no accident; a scale of words has no more steps.
MANY, STEPS = 10, 5


def best_in(header: str) -> Literal["high", "low"] | None:
    """Which number is the best, by a header that says so of an end of its scale.

    Examples
    --------
    >>> [best_in(it) for it in ("Taste (4 = best)", "Price [1: very good]", "1 (sehr schlecht) - 6", "Platz 3", "1-5")]
    ['high', 'low', 'high', None, None]
    """
    ends = {}
    for end, pattern in _SCALED.items():
        if found := pattern.search(header):
            ends[end] = number_of((found[1] or found[2]).replace("−", "-"))
    best, worst = ends.get("best"), ends.get("worst")
    if best is not None and worst is not None:
        return None if best == worst else "high" if best > worst else "low"
    if best is not None:
        return "high" if best > 1 else "low"
    return None if worst is None else "low" if worst > 1 else "high"


def in_headers(raw: Raw, asked: bool) -> Iterator[str]:
    """Sentences on headers that say other than is declared; `asked` says that the best end was asked for before."""
    declared = raw.declared
    if declared.kind == "comparisons" and declared.form == "long":
        yield from _turned(raw)
    if declared.kind != "ballots":
        return
    if declared.form == "ranks":
        yield from _unordered(declared.columns)
    if declared.form == "long":
        yield from _of_the_screen(raw)
    names = _of_places(raw)
    said = {name: best_in(name) for name in names}
    high = declared.best == "high"
    for name, best in said.items():
        if best is not None and (best == "high") != high:
            ends = ("lowest", "highest")
            do = "leave --best high out" if high else "--best high"
            taken = f"and the {ends[high]} counts as it: {do}"
            yield f"column {shown(name)} says that the {ends[not high]} is the best, {taken}"
            return
    if any(said.values()) or any(map(from_the_worst, names)):
        return
    words = frozenset.intersection(*(frozenset(words_of(it)) for it in names)) if names else frozenset[str]()
    if high and words & _RANKED and not words & _RATED:
        yield f"column {shown(names[0])} is called a place, and --best high takes the highest for the best: is it?"
    elif not high and not asked and words & _RATED and not words & _RANKED:
        yield f"column {shown(names[0])} is called a rating, and the lowest is taken for the best: if not, --best high"


def _of_the_screen(raw: Raw) -> Iterator[str]:
    """A column of places that is called as the order of showing, beside one that is called a rank."""
    declared = raw.declared
    words = set(words_of(declared.columns[1]))
    if words.isdisjoint(_SHOWN) or not words.isdisjoint(_RANKED - _SHOWN):
        return
    used = {declared.person, declared.ballot, *declared.columns}
    others = [it for it in map(str, raw.frame.columns) if it not in used and set(words_of(it)) & (_RANKED - _SHOWN)]
    named = [it for it in others if (column := raw.column(it)) is not None and _numbers(column)]
    if named:
        yield (
            f"column {shown(named[0])} is not used, and its name says more of a place than that of "
            f"{shown(declared.columns[1])}, which may say where an item was shown: which of them was answered?"
        )


def _numbers(column: Any) -> bool:
    """Whether most of a column are numbers."""
    cells = [number_of(str(it)) for it in column.unique()]
    return bool(2 * np.isfinite(cells).sum() > len(cells))


def _of_places(raw: Raw) -> list[str]:
    """Columns that hold places, as their header has them."""
    declared = raw.declared
    if declared.form == "long":
        return [declared.columns[1]]
    if declared.form != "wide":
        return []
    found = [raw.header.get(raw.clean(item), []) for item in declared.items]
    return [str(raw.frame.columns[at[0]]) for at in found if len(at) == 1]


def _unordered(columns: tuple[str, ...]) -> Iterator[str]:
    """Columns of places that are named in another order than their headers number them."""
    numbers = [[int(it) for it in _NUMBERED.findall(name)] for name in columns]
    words = [[_ORDINALS[it] for it in words_of(name) if it in _ORDINALS] for name in columns]
    for each in (numbers, words):
        if len(each) < 2 or len({len(it) for it in each}) != 1 or not each[0]:
            continue
        vary = [row for row in zip(*each, strict=True) if len(set(row)) > 1]
        if len(vary) == 1 and len(set(vary[0])) == len(columns):
            order = sorted(range(len(columns)), key=vary[0].__getitem__)
            if order != [*range(len(columns))]:
                yield _say([columns[at] for at in order], columns)
            return
    ends = [[bool(end & set(words_of(name))) for end in _ENDS] for name in (columns[0], columns[-1])]
    if len(columns) > 1 and ends == [[False, True], [True, False]]:
        yield _say([*columns[::-1]], columns)


def _say(order: list[str], columns: tuple[str, ...]) -> str:
    return (
        f"--ranks takes {shown(columns[0])} for the best place and {shown(columns[-1])} for the last: if their names "
        f"say it right, --ranks {shown(','.join(order))}"
    )


def _turned(raw: Raw) -> Iterator[str]:
    """An answer whose header says of which item it speaks, and that is declared of the other one."""
    declared = raw.declared
    words, (one, two) = set(words_of(declared.columns[2])), (set(words_of(it)) for it in declared.columns[:2])
    sides = [bool(words & (one - two)), bool(words & (two - one))]
    if not any(sides) and not (one & SIDES_OF[1] or two & SIDES_OF[0]):
        sides = [bool(words & it) for it in SIDES_OF]
    wins = [bool(words & it) for it in _WINS]
    if sum(sides) != 1 or sum(wins) != 1:
        return
    first = sides[0] == wins[0]
    answers = declared.answers
    if isinstance(answers, str):
        key, value = ("1", 1.0) if answers == "outcome" else ("", 0.5)
    else:
        found = {str(key).strip().casefold(): float(it) for key, it in (answers or {}).items()}
        key = next((it for it in _TRUE if it in found), "")
        value = found.get(key, 0.5)
    if value != 0.5 and (value == 1) != first:
        taken, meant = ("first", "second") if value == 1 else ("second", "first")
        turned = f"{key}={int(first)}" + f",0={int(not first)}" * (key == "1")
        yield (
            f"column {shown(declared.columns[2])} says by its name that {key} is for the {meant} item, and --map "
            f"takes it for the {taken}: if the name is right, --map {turned}"
        )


def short_scale(raw: Raw, values: NDArray[np.float64]) -> str | None:
    """What is said of ballots that may be ratings on a scale of no more steps than there are items."""
    m, kinds = len(raw.declared.items), np.unique(values[~np.isnan(values)])
    if len(values) < FEW or not 2 <= len(kinds) <= m:
        return None
    without = np.nanmin(values, axis=1) > 1
    complete, top = ~np.isnan(values).any(axis=1), np.nanmax(values, axis=1) == kinds[-1]
    tied = 2 < len(kinds) < min(m, STEPS + 1) and complete.sum() >= MANY
    tied = tied and 2 * complete.sum() > len(values) and 2 * top.sum() > len(values)
    fits = max(np.mean([way(row) for row in values]) for way in (_from_1, _upto, _middle))
    if fits >= FITS and not tied:
        return None
    seen = f"places are {kinds[0]:g} to {kinds[-1]:g}, of {m} items"
    if without.any():
        seen += f", and {int(without.sum())} of {len(values)} ballots have no 1"
    return f"{seen}: are they ratings, where the highest is best (--best high; not of marks, where 1 is)?"


def _from_1(row: NDArray[np.float64]) -> bool:
    """Whether places begin at 1, and tied items have the first of theirs, or count as one."""
    kinds, each = np.unique(row[~np.isnan(row)], return_counts=True)
    above = np.cumsum(each) - each + 1
    return bool(np.array_equal(kinds, above) or np.array_equal(kinds, np.arange(1, len(kinds) + 1)))


def _upto(row: NDArray[np.float64]) -> bool:
    """Whether tied items have the last of their places."""
    kinds, each = np.unique(row[~np.isnan(row)], return_counts=True)
    return bool(np.array_equal(kinds, np.cumsum(each)))


def _middle(row: NDArray[np.float64]) -> bool:
    """Whether tied items have the mean of their places."""
    kinds, each = np.unique(row[~np.isnan(row)], return_counts=True)
    return bool(np.array_equal(kinds, np.cumsum(each) - (each - 1) / 2))
