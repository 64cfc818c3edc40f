"""The two data sets: how much was asked, and how much was answered."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from scipy.special import gammaln

from companion.chapters.ranking_universities.survey_counts import survey_data
from companion.instruments import surveys as datasets
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, argument, claim, printed

#: Section 4.3.1 as printed: survey -> (m, n, L).
PRINTED = {"CEMS": (303, 6, 15), "immigration": (98, 4, 6)}


def cems_answers() -> dict[str, int]:
    """Students asked and answering: ``students``, ``asked``, ``full`` (who answered all pairs), ``some`` (or one)."""
    rows = datasets.read("cems")
    given = rows.groupby("student").outcome.count()
    full, some = (given == PRINTED["CEMS"][2]).sum(), (given > 0).sum()
    return {"students": len(given), "asked": len(rows), "full": int(full), "some": int(some)}


def immigration_answers() -> dict[str, int]:
    """As `cems_answers`, where only totals are known: ``full`` is at most, ``some`` at least so many."""
    totals = datasets.immigration_pairs()
    (people,) = set(immigration_people())  # every pair was put to all of them
    full, some = people - totals.missing.max(), people - totals.missing.min()
    return {"students": int(people), "asked": len(totals) * int(people), "full": int(full), "some": int(some)}


def immigration_people() -> pd.Series:
    """Students in the totals of each pair."""
    return datasets.immigration_pairs()[["first_preferred", "undecided", "second_preferred", "missing"]].sum(axis=1)


def answers_given() -> pd.DataFrame:
    """What the committed data say about how much was asked and answered, a row a survey.

    ``survey``, ``students``, ``items``, ``pairs``, ``asked`` (students times pairs), ``answers`` (undecided ones
    included), ``undecided``, ``full`` (most students that can have answered all pairs), ``some`` (fewest that must have
    answered one).
    """
    columns = ["survey", "students", "items", "pairs", "asked", "answers", "undecided", "full", "some"]
    rows = []
    for survey, facts in (("CEMS", cems_answers()), ("immigration", immigration_answers())):
        data = survey_data(survey)
        counts = {"items": data.n_items, "pairs": math.comb(data.n_items, 2), "answers": len(data)}
        rows.append({"survey": survey, "undecided": int((data.points == 1).sum()), **counts, **facts})
    return pd.DataFrame(rows)[columns]


def missing_answers() -> dict[str, float]:
    """Which answers the CEMS survey lacks.

    ``answers`` that are missing, ``pairs`` and ``students`` concerned, ``last`` (the position in the file of the last
    student concerned) and ``log10`` of the chance that students who each leave out the question with the same
    probability are the first ones of the file, given how many they are.
    """
    rows = datasets.read("cems")
    gone = rows[rows.outcome.isna()]
    students, total = gone.student.nunique(), rows.student.nunique()
    log_binomial = gammaln(total + 1) - gammaln(students + 1) - gammaln(total - students + 1)
    return {
        "answers": len(gone),
        "pairs": len(gone[["first", "second"]].drop_duplicates()),
        "students": students,
        "last": int(gone.student.max()),
        "log10": float(-log_binomial / math.log(10)),
    }


@claim("cai2025:sec-4.3:cems")
def check_cems() -> Iterator[Check]:
    """Section 4.3.1, University Preferences: m, n and L, for what was asked and for what was answered."""
    m, n, answers = PRINTED["CEMS"]
    rows = datasets.read("cems")
    asked = rows.groupby("student").size()
    given = rows.groupby("student").outcome.count()
    missing = missing_answers()
    form = "L counts a student's pairs on file, answered or not"
    model = "L counts a student's comparisons, as in Section 3.1"
    items = len({*rows["first"], *rows["second"]})
    for reading in (form, model):
        yield printed("students", len(asked), "==", m, reading=reading)
        yield printed("universities", items, "==", n, reading=reading)
    what = f"students with another number of pairs on file than {answers}"
    yield printed(what, (asked != answers).sum(), "==", 0, reading=form)
    yield printed("fewest comparisons of a student", given.min(), "==", answers, reading=model)
    yield amended("most comparisons of a student", given.max(), "==", answers)
    yield amended("answers, and answers missing", given.sum() + missing["answers"], "==", m * answers)
    yield amended("students who lack an answer", missing["students"], "==", int((given < answers).sum()))
    yield amended("pairs on which answers are missing", missing["pairs"], "==", 1)
    yield amended("last of these students on file", missing["last"], "==", missing["students"])
    chance = sum(math.log10((i + 1) / (m - i)) for i in range(int(missing["students"])))
    what = f"log₁₀ of the chance that any {missing['students']:g} of {m} students are the first on file"
    yield argument(what, missing["log10"], "==", chance, error=ROUNDING)


@claim("cai2025:sec-4.3:immigration")
def check_immigration() -> Iterator[Check]:
    """Section 4.3.1, Student Attitudes on Immigration, as far as published totals can tell."""
    m, n, answers = PRINTED["immigration"]
    most, model = "L is the most that a student can answer", "L counts a student's comparisons, as in Section 3.1"
    facts, people, data = immigration_answers(), immigration_people(), survey_data("immigration")
    possible = min(facts["students"], len(data))
    for reading in (most, model):
        yield printed(f"pairs with another number of students than {m}", (people != m).sum(), "==", 0, reading=reading)
        yield printed("statements", data.n_items, "==", n, reading=reading)
        yield printed("pairs of statements", len(people), "==", answers, reading=reading)
        what = "students who may have answered a pair, for all that the totals tell"
        yield printed(what, possible, "==", m, reading=reading)
    yield printed("answers", len(data), "==", m * answers, reading=model)
    yield amended("answers", len(data), "<", facts["asked"])
    missing = datasets.immigration_pairs().missing
    yield amended("answers, and answers missing", len(data) + missing.sum(), "==", m * answers)
    yield amended("students who must have answered a pair", facts["some"], "<", m)
    yield amended("the same, and fewest answers missing of a pair", missing.min() + facts["some"], "==", m)
    yield amended("students who can have answered all pairs", facts["full"], "<", m)
    yield amended("the same, and most answers missing of a pair", missing.max() + facts["full"], "==", m)
