"""Columns that nobody uses and that mark ties, by their name or by their words; their rows count as wins until then."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown, visible
from dprank.data.accounts import BLANK, Intake
from dprank.data.answers import codes_of, twice_points
from dprank.data.bounding import nameless
from dprank.data.noticed_names import MEANT, SIDES, YES_NO, words_of
from dprank.data.places import number_of

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["answered", "called_a_tie", "in_ties", "ties_among", "typed"]

#: More words are no kinds of answers, and more spellings none of items.
KINDS, SPELLINGS = 12, 4
#: A longer text is no answer in a few words.
LONGEST = 1_000
#: So many words are put into a flag.
MAPPED = 4


def _set(text: str) -> frozenset[str]:
    return frozenset(it.strip() for it in text.replace("\n", ",").split(",") if it.strip())


#: What says by itself that two are alike.
_TIES = _set(
    """tie, ties, tied, draw, draws, drawn, dead heat, stalemate, toss up, tossup, no preference, no difference
    no winner, remis, unentschieden, gleichstand, patt, kein unterschied, keine präferenz, kein sieger, égalité
    egalité, egalite, nul, nulle, ex aequo, exaequo, sans préférence, pas de préférence, pas de différence, pareil
    empate, empates, empatado, empatada, empatados, empataron, tablas, sin preferencia, ninguna preferencia
    sem preferência, pareggio, parità, parita, pareggiato, nessuna preferenza, gelijkspel, gelijkstand, remise
    geen voorkeur, geen verschil, oavgjort, oavgjord, ingen skillnad, uavgjort, uafgjort, ingen forskel, tasapeli
    ei eroa, remíza, bez różnicy, döntetlen, berabere, beraberlik, egalitate, ισοπαλία, ничья, нічия, без разницы
    引き分け, 引分け, 引分, 同点, 平局, 平手, 和局, 무승부, 동점, تعادل, תיקו"""
)
#: What says it where something else shows that it is about an answer.
_ALIKE = _set(
    """equal, equals, equality, same, both same, both equal, about same, equally good, indifferent, undecided
    neither, gleich, gleichwertig, beide gleich, egal, unentschlossen, égal, égaux, igual, iguales, iguais, pari
    patta, uguale, uguali, gelijk, lika, likt, lige, ens, tasan, eşit, równy, równe, stejné, одинаково, поровну
    同じ, 相同, 같음"""
)
#: What says it in a longer name, too, and what takes it back there.
_SURE = _set(
    """tie, tied, remis, unentschieden, gleichstand, égalité, empate, empataron, empatados, pareggio, gelijkspel
    oavgjort, uavgjort, uafgjort, tasapeli, döntetlen, beraberlik, berabere, ничья, ничьей, ισοπαλία"""
)
_OTHERWISE = _set(
    """break, breaker, breaks, breaking, broken, broke, colour, color, wear, wears, wearing, bow, date, id, time, code
    number, count, up, in, business, band, preis, brecher"""
)
#: What may stand beside it in a name.
_BESIDE = _set(
    """is, was, it, its, s, a, an, the, of, or, not, result, outcome, flag, game, match, vote, end, ended, in, as
    judged, declared, marked, called, answer, ist, es, ein, eine, war, ergebnis, spiel, fue, fué, un, una, el, la
    en, hubo, é, e, foi, um, uma, houve, est, c, une, le, l, il, y, è, partita, het, een, är, det, er, partie
    partido, jogo, wedstrijd, if, did, they, there, were, declares, marks, question, q, i, ett, et, en"""
)
#: Names of columns that say who won, or that somebody did.
_RESULTS = _set(
    """result, results, outcome, verdict, decision, judgement, judgment, winner, res, ftr, ergebnis, ausgang, resultat
    résultat, resultado, risultato, esito, uitslag, utfall, udfald, tulos, wynik, výsledek, eredmény, sonuç
    результат, итог, 結果, 结果, 결과, gewinner, sieger, vainqueur, ganador, vencedor, vincitore, winnaar, vinnare"""
)
_DECISIVE = _set(
    """decisive, decided, has winner, had winner, entschieden, décisif, decisivo, clear winner, beslist, avgjort
    afgjort"""
)
#: What is written beside ties: that somebody won, or which side did.
_WINS = _set(
    """win, wins, won, winner, loss, lose, loses, lost, decisive, decided, victory, defeat, sieg, niederlage
    gewonnen, verloren, entschieden, victoire, défaite, gagné, perdu, victoria, derrota, ganó, perdió, gana, pierde
    vitória, vitoria, venceu, perdeu, vittoria, sconfitta, vinto, perso, winst, verlies, vinst, förlust, seier, tap
    sejr, nederlag, voitto, tappio, wygrana, przegrana, výhra, prohra, győzelem, vereség, galibiyet, mağlubiyet
    победа, поражение, 勝ち, 負け, 胜, 负, 승, 패, home, away, left, right, first, second, a, b, w, l, h, 1, 2
    1-0, 0-1, home win, away win, clear, clear winner, better, worse"""
)
#: Answers in single letters: the tie, and the two others.
_LETTERS = (
    *("d wl", "t wl", "d ha", "x 12", "u sn", "e vd", "e gp", "n vd", "n vp", "n gp", "p vs", "g wv", "o vf", "u vt"),
    *("r zp", "r vp", "b gm", "н вп"),
)
_HALVES = {"1/2-1/2", "½-½", "1/2", "½", "0.5-0.5", "½:½"}
_NO = YES_NO | _set("нет, ні, いいえ, 否, hayır, ne, nem, nu, όχι, 아니오, لا")
_YES = MEANT | {text for pair in SIDES for text in pair if text not in YES_NO}
_YES |= _set("да, так, はい, 是, evet, ano, igen, da, ναι, 예, نعم, wahr, vrai, sant, tosi")


def answered(raw: Raw) -> NDArray[np.int64]:
    """Of every row its two items and twice what the first gets, as they are read; -1 where a row does not count."""
    declared = raw.declared
    columns = [raw.column(name) for name in declared.columns]
    if declared.kind != "comparisons" or declared.form != "long" or any(it is None for it in columns):
        return np.full((len(raw.frame), 3), -1)
    first, second = (_read(it, lambda text: raw.codes.get(raw.clean(text), -1)) for it in columns[:2])
    code = _read(columns[2], codes_of(declared.answers or "names", raw.codes, raw.clean))
    points = twice_points(code, first, second)
    lost = (first < 0) | (second < 0) | (first == second)
    person = None if declared.person is None else raw.column(declared.person)
    if person is not None:
        codes, distinct = person.factorize()
        lost |= nameless(np.array(distinct, object))[codes]
    return np.stack([first, second, np.where(lost, -1, points)], axis=1)


def _read(column: Any, meaning: Any) -> NDArray[np.int64]:
    codes, distinct = column.factorize()
    return np.array([meaning(str(it)) for it in distinct], np.int64)[codes]


def in_ties(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """Columns that mark ties, each with a sentence; with none where no such row counts as a win."""
    if raw.declared.kind != "comparisons" or raw.declared.form != "long":
        return
    won = np.isin(answered(raw)[:, 2], (0, 2))
    for name in intake.unused:
        column = raw.column(name)
        if column is None:
            continue
        codes, distinct = column.factorize()
        if len(distinct) > SPELLINGS * (KINDS + len(raw.codes)):
            continue
        written = ["" if (it := str(text).strip()).casefold() in BLANK else it for text in distinct]
        ties = _marks(raw, name, written)
        marked = np.array([it in ties for it in written], bool)[codes]
        if not marked.any() or (not called_a_tie(name) and _of_people(raw, marked)):
            continue
        if not (marked & won).any():
            yield name, ""
            continue
        each = np.bincount(codes[marked & won], minlength=len(written))
        most, number, rows = written[int(each.argmax())], int(each.sum()), len(codes)
        what = shown(most) if _known(most) else "something"
        yield (
            name,
            f"column {shown(name)} is not used, and {number} of {rows} rows {'has' if number == 1 else 'have'} {what} "
            f"there and count{'s' * (number == 1)} as a win: {'is it a tie' if number == 1 else 'are they ties'}? "
            f"{_to_do(raw, name, written, ties)}",
        )


def called_a_tie(name: str) -> bool:
    """Whether a column is called so as one that says that two are alike.

    Examples
    --------
    >>> [called_a_tie(it) for it in ("is_tie", "Draw?", "isTie", "Match nul", "Q5: No preference", "Unentschieden")]
    [True, True, True, True, True, True]
    >>> [called_a_tie(it) for it in ("tie-break", "draw date", "same room", "Do you draw?", "necktie")]
    [False, False, False, False, False]
    >>> called_a_tie("Did both teams tie?"), called_a_tie("Was the tie broken?")
    (True, False)
    """
    words = set(words_of(name))
    return _plain(name) in _TIES | _ALIKE or (not words.isdisjoint(_SURE) and words.isdisjoint(_OTHERWISE))


def _plain(text: str) -> str:
    """Its words, without what says nothing; what stands in brackets only where nothing else does."""
    if len(text) > LONGEST:
        return text
    outside = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", text)
    words = words_of(outside if re.search(r"[^\W\d_]", outside) else text)
    own = " ".join(words)
    rest = " ".join(it for it in words if it not in _BESIDE and not re.fullmatch("q?[0-9]*", it))
    return own if own in _TIES | _ALIKE else rest


def _known(text: str) -> bool:
    """Whether a text is one of those that mark something, and no name of anybody."""
    usual = text.casefold() in _YES | _NO | _WINS | _HALVES
    return usual or _plain(text) in _TIES | _ALIKE or len(text) == 1


def _marks(raw: Raw, name: str, written: list[str]) -> set[str]:
    """What of a column stands for a tie."""
    texts = {it for it in written if it}
    others = {it for it in texts if not raw.known(it)}
    if not others or len(others) > KINDS:
        return set()
    if _plain(name) in _DECISIVE:
        no = {it for it in texts if it.casefold() in _NO}
        return no if all(it.casefold() in _YES for it in texts - no) else set()
    result = not _RESULTS.isdisjoint(words_of(name))
    ties = ties_among(texts, result or called_a_tie(name))
    rest = {it for it in texts - ties if not raw.known(it) and it.casefold() not in _YES | _NO | _WINS}
    if ties and (not rest or result or called_a_tie(name)):
        return ties
    return _yes_of(texts, "" in written) if called_a_tie(name) else set()


def ties_among(texts: set[str], told: bool) -> set[str]:
    """Words, or letters, for a tie; `told` says that a name shows what they are about."""
    words = _TIES | _ALIKE if told else _TIES
    ties = {it for it in texts if _plain(it) in words or it.casefold() in _HALVES}
    small = {it.casefold() for it in texts}
    for letters in () if ties else _LETTERS:
        tie, both = letters.split()
        if tie in small and small <= {tie, *both} and len(small) > (1 if told else 2):
            return {it for it in texts if it.casefold() == tie}
    return ties


def _yes_of(texts: set[str], blanks: bool) -> set[str]:
    """What says yes in a column that is called a tie."""
    numbers = {it: number_of(it) for it in texts}
    if all(value == value for value in numbers.values()):
        return {it for it, value in numbers.items() if value == 1} if set(numbers.values()) <= {0.0, 1.0} else set()
    no = {it for it in texts if it.casefold() in _NO | (_WINS - _YES)}
    yes = texts - no
    sure = {it for it in yes if it.casefold() in _YES}
    return sure or (yes if len(yes) == 1 and (no or blanks) else set())


def _of_people(raw: Raw, marked: NDArray[np.bool_]) -> bool:
    """Whether all rows of a person say the same, and most people have several: it says something of them."""
    column = None if raw.declared.person is None else raw.column(raw.declared.person)
    if column is None:
        return False
    who = column.factorize()[0]
    people = len(np.unique(who))
    return 2 * len(who) >= 3 * people and len(np.unique(2 * who + marked)) == people


def _to_do(raw: Raw, name: str, written: list[str], ties: set[str]) -> str:
    """How such rows are read as ties."""
    declared = raw.declared
    first, second, answer = declared.columns
    texts = list(dict.fromkeys(it for it in written if it))
    others = [it for it in texts if it not in ties]
    items = [it for it in others if raw.known(it)]
    told = all(_known(it) or it in items for it in texts)
    fits = told and not any("," in it or "=" in it for it in (*texts, first, second, name)) and not (ties & set(items))
    columns = typed(f"{first},{second},{name}")
    if items and items == others and fits and "" not in written:
        meant = ",".join(["names", *(f"{it}=0.5" for it in sorted(ties))])
        return f"--comparisons {columns} --map {typed(meant)} says so"
    by_winner = declared.answers == "names" and answer in (first, second)
    if by_winner and fits and not items and len(texts) <= MAPPED and _one_side(others):
        blank = [("0" if all(map(_figure, texts)) else "no")] * ("" in written)
        side, plain = int(answer == first), dict.fromkeys([*others, *blank])
        meant = ",".join([*(f"{it}={side}" for it in plain), *(f"{it}=0.5" for it in texts if it in ties)])
        fill = f"With {typed(blank[0])} written where nothing is, " if blank else ""
        return f"{fill}--comparisons {columns} --map {typed(meant)} says so"
    if by_winner:
        return "A column of answers says so, with the winner's name, or tie, in every row: --map 'names,tie=0.5'"
    if declared.answers == "outcome":
        return f"Write 0.5 in {shown(answer)} for such rows"
    meant = {"names": "names", "position": "1=1,2=0"}.get(str(declared.answers), "…")
    return f"Write tie in {shown(answer)} for such rows: --map '{meant},tie=0.5' says so"


def typed(text: str) -> str:
    """A text as it is typed into a flag.

    Examples
    --------
    >>> print(typed("better,worse,is_tie"), typed("it's a tie"))
    'better,worse,is_tie' "it's a tie"
    """
    mark = '"' if "'" in text else "'"
    return f"{mark}{visible(text)}{mark}"


def _one_side(others: list[str]) -> bool:
    """Whether all others say the same: that it is no tie."""
    return len({it.casefold() for it in others}) <= 1


def _figure(text: str) -> bool:
    return number_of(text) == number_of(text)
