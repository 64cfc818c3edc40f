"""What people call columns, and write in them, that say what a row means: in the languages that files come in."""

from __future__ import annotations

import re

from dprank.data.places import counts

__all__ = [
    "DOUBTED",
    "MEANT",
    "NOT_COUNTED",
    "OF_OTHERS",
    "OPPOSITES",
    "SIDES",
    "TESTS",
    "UNSURE",
    "YES_NO",
    "called_a_count",
    "called_a_number",
    "called_a_person",
    "called_a_question",
    "called_a_round",
    "called_a_share",
    "called_a_weight",
    "called_certain",
    "called_of_people",
    "called_paid",
    "called_progress",
    "called_valid",
    "summed_up",
    "words_of",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: A name of more words is a question, which has words of all kinds.
LONG = 3
#: Names of columns that say for how many a row stands, or how much it counts.
COUNTS = _set(
    """count counts cnt n num number freq frequency times multiplicity multiplier total totals sum size anzahl
    haeufigkeit häufigkeit menge stimmen stück nombre effectif effectifs voix bulletins frequencia frecuencia
    frequenza frequentie fréquence votos voti stemmen röster cantidad quantità quantité aantal antal conteo
    conteggio cuenta sales sold qty quantity amount purchases shares share stock stocks holding holdings tokens
    anteile aktien actions parts acciones azioni aandelen aktier proxies proxy mandates mandate mandats mandat delegates
    delegados seats sitze sièges escaños seggi zetels electors stimmrechte stimmanteile vollmachten procurations
    pouvoirs poderes deleghe volmachten fullmakter fullmakts"""
) | {"voting power", "votes held"}
#: The same at the end of a name, too: number of customers.
CROWDS = _set(
    """votes voters ballots responses respondents people persons customers buyers users patients clients households
    visitors members participants shares tokens stimmen anteile voix bulletins votos voti count weight proxies mandates
    delegates electors stimmrechte vollmachten mandats pouvoirs"""
)
WEIGHTS = re.compile(
    r"we?ight|wgh?t|(?:\b|_|p)wt(?:\b|_|s\b|fac|ss|s?\d)|^w[0-9]?$|gewicht|poids|(?:\b|_)pond(?:\b|_)|pond[eé]r|\bpesi?o?\b|hochrechn|faktor|"
    r"\bfactor\b|expan[sd]|vikt|waga|stratif|\braking|\braked\b|calibrat|^pw$",
    re.IGNORECASE,
)
#: Words for whoever gives rows, and for what stands for them; what is joined to one; and what may stand beside it.
_WHO = _set(
    """person user username voter respondent participant email mail emailaddress customer client patient worker
    annotator rater juror judge member student pupil employee elector shopper subscriber panelist panellist evaluator
    reviewer labeler labeller assessor benutzer nutzer wähler teilnehmer befragter befragte kunde kunden kundin mitglied
    mitglieds schüler proband versuchsperson patienten utilisateur électeur répondant adhérent courriel usuario
    votante encuestado participante cliente paciente correo utente elettore rispondente partecipante paziente gebruiker
    kiezer klant klanten deelnemer patiënt användare kund deltagare väljare bruker deltaker deltager vælger
    пользователь клиент пациент участник"""
)
_WHO |= {one + end for one in _WHO for end in ("nummer", "nr", "id", "name", "kennung", "code")}
_LABELS = _set(
    """id ids uid uuid guid no nr num number name code key hash address adresse pseudo anon anonymous external unique
    the e électronique electrónico mturk prolific amazon"""
)
_NAMES = frozenset(("name", "full name", "nom", "navn", "namn", "who", "prolific pid", "vpn", "e mail"))
#: Names of columns of parts of a hundred, and what may stand beside it where they are those of rows.
_SHARES = _set(
    """percent percentage percentages percents pct perc prozent prozente prozentsatz anteil anteile share shares
    proportion proportions fraction pourcentage pourcentages porcentaje porcentajes percentuale percentuali percentagem
    porcentagem procent procenten prosent andel aandeel"""
)
_OF_ROWS = _set(
    """of the in der die des de du del di van af av vote votes voter voters ballot ballots voting respondents people
    answers wins stimmen stimme wähler voix votes votos voto voti stemmen röster weight weights gewicht poids support
    total all"""
)
#: Words in names of columns of what was bought, or paid: below 0 it was given back.
_PAID = _set(
    """total totals subtotal price prices cost costs paid payment revenue turnover value net gross units unit pieces
    pcs credit debit ordered preis betrag umsatz kosten summe wert prix montant coût cout precio importe coste
    valor prezzo importo costo prijs bedrag pris belopp"""
)
#: Of these those that are of a body, or a thing.
_BODY = re.compile(r"body|birth|\bkg\b|\blbs?\b|gram|height|parcel|baby|own", re.IGNORECASE)
#: Words in names of columns on people, and on when and where they were asked.
_PEOPLE = _set(
    """id ids uid uuid code nr no number num key index idx row line page rank place position order trial seq sequence
    step age alter âge edad età year years jahr année año birth born income salary einkommen revenu price cost preis
    prix precio zip plz postcode postal phone tel lat lon lng latitude longitude score rating time timestamp date
    day month hour minute minutes seconds secs sec ms duration dauer durée zeit rt latency children kinder kids
    household size height weight grade class level distance temperature percent pct prozent educ education likert
    satisfaction scale version ip user who respondent participant person session batch"""
)
#: Words in names of columns that say whether a row counts.
_VALID = _set(
    """valid validity invalid status state selected chosen checked ticked picked complete completed finished submitted
    consent consented agree eligible eligibility include included exclude excluded exclusion counted counts cast
    test spoiled spoilt void rejected accepted approved verified confirmed duplicate duplicated flag flagged
    attention touched moved interacted answered responded progress
    failed disqualified cancelled canceled returned withdrawn deleted spam bot keep drop gültig gueltig
    ungültig ungueltig ausgewählt gewählt bestätigt abgeschlossen vollständig valide sélectionné confirmé terminé
    válido valido seleccionado confirmado geldig voltooid"""
)
#: Words in names of columns that say which question a row answers.
_ASKS = _set(
    """question questions frage fragen pregunta domanda vraag criterion criteria criterium kriterium critère criterio
    round runde ronde ronda wave welle vague ola task aufgabe dimension attribute aspect topic thema thème issue
    contest election office scenario battery poll survey prompt metric measure bestworst"""
)
#: What stands for no, of columns that say yes or no.
YES_NO = _set("""0 0.0 no n false f off nein non nee não nao nej ei nie - unchecked unselected falsch faux falso""")
_YES = {
    **{"no": "yes si sí sì", "n": "y s j o", "false": "true", "f": "t", "off": "on", "nein": "ja", "non": "oui"},
    **{"nee": "ja", "não": "sim", "nao": "sim", "nej": "ja", "ei": "kyllä", "nie": "tak", "0": "1", "0.0": "1.0"},
    **{"unchecked": "checked", "unselected": "selected", "falsch": "wahr richtig", "faux": "vrai"},
    **{"falso": "verdadero vero verdadeiro", "-": "+ x"},
}
#: Parts of one tournament, in which two meet once, or once at home.
_ROUNDS = _set(
    """round rnd rd runde ronde ronda tour tournée turno kolo runda omgång kierros matchday spieltag journée jornada
    giornata speelronde gameweek week wk matchweek stage leg heat"""
)
#: The two sides of such a column.
SIDES = tuple(frozenset({no, yes}) for no, said in _YES.items() for yes in said.split())
#: How people mark one side alone.
MEANT = _set("""x ✓ ✔ ✗ * 1 1.0 y yes true t ja oui si sí sim j o on checked selected chosen + ok""")
#: What says by itself that a row may not count; and what does so of rows in which one person's differ.
NOT_COUNTED = _set(
    """invalid test testing excluded exclude spoiled spoilt void rejected duplicate cancelled canceled returned
    refunded reversed voided deleted removed draft chargeback walkover forfeit forfeited w/o preview incomplete
    imputed simulated synthetic placeholder superseded obsolete practise dummy pretest pre-test aborted catch honeypot
    testdaten abgebrochen doublon duplicado duplicato dubbel nul nulo
    unfinished withdrawn disqualified ineligible fake spam bot
    ungültig ausgeschlossen abgelehnt storniert gelöscht unvollständig exclu annulé rejeté invalide excluido anulado
    rechazado inválido invalido escluso annullato uitgesloten ongeldig"""
) | {"survey preview", "screened out", "ruled out", "timed out", "opted out", "opt-out", "attention check", "test data"}
DOUBTED = re.compile(
    r"declined|refused|partial|negative|absent|never|un(?:confirmed|verified|sold|selected)|denied|fail(?:ed)?|suspected|"
    r"negativ|practice|pilot|training|warm-?up|demo|probe|übung|replaced|amended|inactive|abandoned|suspended|"
    r"underage|gold|control check|prueba|essai|(?:not|non|no|nicht|kein|keine|pas) .*",
    re.IGNORECASE | re.DOTALL,
)
#: Of what somebody has: that it is a relative's, or was looked at and not taken.
OF_OTHERS = _set(
    """mother father sister brother sibling parent parents grandmother grandfather aunt uncle son daughter child spouse
    relative family mutter vater schwester bruder mère père soeur sœur frère madre padre hermana hermano
    view viewed click clicked impression wishlist cart add_to_cart browse browsed search return refund remove delete"""
) | {"family member", "family history", "add to cart", "page view"}
#: Of several kinds of rows one that may be the one that counts.
TESTS = frozenset(("test", "testing"))
#: By the codes of German insurers: suspected, or excluded.
UNSURE = frozenset(("v", "a"))
#: Values of a column that turn what is asked round.
OPPOSITES = (
    {"best", "worst"},
    {"most", "least"},
    {"like", "dislike"},
    {"likes", "dislikes"},
    {"for", "against"},
    {"love", "hate"},
    {"up", "down"},
)
#: What people call rows that sum up the others.
_SUMS = re.compile(
    r"(?:grand |sub-?|sub |over)?(?:total|totals|totale|totaux|totaal|totalt|sum|summe|somme|suma|soma|somma|gesamt|"
    r"insgesamt|gesamtsumme|mean|means|average|averages|avg|median|mode|std|stdev|std\.? ?dev\.?|standard ?deviation|"
    r"mittel|mittelwert|durchschnitt|ø|moyenne|médiane|promedio|media|média|gemiddelde|column total|all rows|overall|"
    r"total g[eé]n[eé]ral|total geral|totale complessivo|eindtotaal|(?:gesamt|zwischen|teil)ergebnis|zwischensumme|"
    r"snitt|gjennomsnitt|gennemsnit|genomsnitt|medel|medelvärde|summa|totalsumma|yhteensä|keskiarvo|razem|średnia|"
    r"celkem|průměr|összesen|átlag|toplam|ortalama|итого|всего|сумма|среднее|підсумок|разом|σύνολο|"
    r"合計|総計|小計|平均|总计|合计|小计|平均值|總計|합계|총계|평균|σ|∑|sd|std\.|s\.d\.|variance|varianz|n|count|"
    r"écart[- ]type|standardabweichung)s?"
    r"(?: score| rank| place| rating|wert| votes| responses| answers| ballots| row)?\s*:?|"
    r"anzahl|aantal|antal|n[uú]mero|conteggio|contagem|liczba|recuento|resultat|součet|ukupno|"
    r"responses|valid n|totals row",
    re.IGNORECASE,
)


def words_of(name: str) -> list[str]:
    """The words of a column's name, small."""
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", "_", name)
    return [it for it in re.split(r"[\W_]+", parted.casefold()) if it]


def called_a_weight(name: str) -> bool:
    """Whether a column is called so as one that says how much a row counts.

    Examples
    --------
    >>> [called_a_weight(it) for it in ("perweight", "WTFACTOR", "w", "body weight", "way")]
    [True, True, True, False, False]
    """
    return bool(WEIGHTS.search(name)) and not _BODY.search(name)


def called_a_person(name: str) -> bool:
    """Whether a column is called so as one that says who somebody is, and nothing else of them.

    Examples
    --------
    >>> names = ("user_id", "E-Mail-Adresse", "Customer No.", "Kundennummer", "voter", "Prolific PID", "Name")
    >>> [called_a_person(it) for it in names]
    [True, True, True, True, True, True, True]
    >>> names = ("customer segment", "user agent", "patient sex", "voters", "email opt-in", "session", "first name")
    >>> [called_a_person(it) for it in names]
    [False, False, False, False, False, False, False]
    """
    words = set(words_of(name))
    return " ".join(words_of(name)) in _NAMES or (not words.isdisjoint(_WHO) and words <= _WHO | _LABELS)


def called_a_count(name: str) -> bool:
    """Whether a column is called so as one that says for how many a row stands, or how much it counts.

    Examples
    --------
    >>> [called_a_count(it) for it in ("n_customers", "nb_bulletins", "Stimmen", "Respondent number", "household size")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    amount = counts(name) or " ".join(words) in COUNTS or " ".join(words[-1:]) in CROWDS - {"weight"}
    return amount or called_a_weight(name)


def called_a_share(name: str) -> bool:
    """Whether a column is called so as one of the percentages that rows stand for.

    Examples
    --------
    >>> [called_a_share(it) for it in ("Prozent", "vote_share", "% of votes", "percent complete", "sharing")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    some = not _SHARES.isdisjoint(words) or "%" in name
    return some and all(it in _SHARES or it in _OF_ROWS for it in words)


def called_certain(name: str) -> bool:
    """Whether a column is called so as one that says how sure a diagnosis is.

    Examples
    --------
    >>> called_certain("Diagnosesicherheit"), called_certain("diagnostic_certainty"), called_certain("status")
    (True, True, False)
    """
    return bool(re.search("sicherheit|certaint|zusatzkennz", name, re.IGNORECASE))


def called_progress(name: str) -> bool:
    """Whether a column is called so as one of how much of a questionnaire was answered, in percent.

    Examples
    --------
    >>> [called_progress(it) for it in ("Progress", "percent_complete", "% completed", "Fortschritt", "complete")]
    [True, True, True, True, False]
    """
    words = set(words_of(name))
    done = not words.isdisjoint(("complete", "completed", "completion", "finished"))
    share = not words.isdisjoint(_SHARES) or "%" in name or "rate" in words
    return (done and share) or not words.isdisjoint(("progress", "fortschritt", "progression", "progreso", "voortgang"))


def called_paid(name: str) -> bool:
    """Whether a column is called so as one of how much was bought, or paid.

    Examples
    --------
    >>> [called_paid(it) for it in ("unit price", "Menge", "Betrag", "latitude")]
    [True, True, True, False]
    """
    return called_a_count(name) or not _PAID.isdisjoint(words_of(name))


def called_a_number(name: str) -> bool:
    """Whether a column is called so as one of counts, or as one that numbers rows."""
    return " ".join(words_of(name)) in ("n", "num", "number")


def called_of_people(name: str) -> bool:
    """Whether a column is called so as one that says something of people, or of when and where."""
    return not _PEOPLE.isdisjoint(words_of(name)) or bool(_BODY.search(name))


def called_valid(name: str) -> bool:
    """Whether a column is called so as one that says whether a row counts."""
    words = words_of(name)
    return len(words) <= LONG and not _VALID.isdisjoint(words)


def called_a_question(name: str) -> bool:
    """Whether a column is called so as one that says which question a row answers."""
    words = words_of(name)
    return len(words) <= LONG and not re.search("[0-9]", name) and not _ASKS.isdisjoint(words)


def called_a_round(name: str) -> bool:
    """Whether a column is called so as one of the rounds of a tournament.

    Examples
    --------
    >>> [called_a_round(it) for it in ("Round", "Spieltag", "match day", "Wk", "question")]
    [True, True, True, True, False]
    """
    return not _ROUNDS.isdisjoint((*words_of(name), "".join(words_of(name))))


def summed_up(text: str) -> bool:
    """Whether a row is called so as one that sums up others.

    Examples
    --------
    >>> [summed_up(it) for it in ("Total", "Grand total:", "Mean score", "Mittelwert", "Totally", "Max")]
    [True, True, True, True, False, False]
    """
    return bool(_SUMS.fullmatch(" ".join(text.split())))
