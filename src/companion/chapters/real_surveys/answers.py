"""The two data sets: how much was asked, and how much was answered."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from scipy.special import gammaln

from companion.chapters.ranking_universities.survey_counts import survey_data
from companion.instruments import surveys as datasets
from companion.ledger.claim import Check, amended, claim, printed

#: Section 4.3.1 as printed: survey -> (m, n, L).
PRINTED = {"CEMS": (303, 6, 15), "immigration": (98, 4, 6)}


def answers_given() -> pd.DataFrame:
    """What the committed data say about how much was asked and answered.

    A row a survey: ``survey``, ``students``, ``items``, ``pairs``, ``asked`` (students times pairs), ``answers``
    (undecided ones included), ``undecided``, ``full`` (most students that can have answered all pairs), ``some``
    (fewest that must have answered one). Where only totals are known the last two are bounds.
    """
    cems = survey_data("CEMS")
    given = datasets.read("cems").groupby("student").outcome.count()
    totals = datasets.immigration_pairs()
    people = int(totals[["first_preferred", "undecided", "second_preferred", "missing"]].sum(axis=1).max())
    rows = [
        ("CEMS", len(given), cems, len(datasets.read("cems")), int((given == 15).sum()), int((given > 0).sum())),
        (
            "immigration",
            people,
            survey_data("immigration"),
            len(totals) * people,
            people - int(totals.missing.max()),
            people - int(totals.missing.min()),
        ),
    ]
    return pd.DataFrame(
        {
            "survey": survey,
            "students": students,
            "items": data.n_items,
            "pairs": math.comb(data.n_items, 2),
            "asked": asked,
            "answers": len(data),
            "undecided": int((data.points == 1).sum()),
            "full": full,
            "some": some,
        }
        for survey, students, data, asked, full, some in rows
    )


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
    size = [
        ("students", len(asked), "==", m),
        ("universities", items, "==", n),
    ]
    for reading in (form, model):
        for check in size:
            yield printed(*check, reading=reading)
    yield printed("fewest pairs of a student on file", asked.min(), "==", answers, reading=form)
    yield printed("most pairs of a student on file", asked.max(), "==", answers, reading=form)
    yield printed("fewest comparisons of a student", given.min(), "==", answers, reading=model)
    yield amended("most comparisons of a student", given.max(), "<=", answers)
    yield amended("students who lack an answer", missing["students"], "==", int((given < answers).sum()))
    yield amended("pairs on which answers are missing", missing["pairs"], "==", 1)
    yield amended("last of these students on file", missing["last"], "==", missing["students"])


@claim("cai2025:sec-4.3:immigration")
def check_immigration() -> Iterator[Check]:
    """Section 4.3.1, Student Attitudes on Immigration, as far as published totals can tell."""
    m, n, answers = PRINTED["immigration"]
    facts = answers_given().set_index("survey").loc["immigration"]
    most, model = "L is the most that a student can answer", "L counts a student's comparisons, as in Section 3.1"
    totals = datasets.immigration_pairs()
    people = totals[["first_preferred", "undecided", "second_preferred", "missing"]].sum(axis=1)
    possible = min(int(facts.students), int(facts.answers))
    size = [
        ("students in the totals, fewest", people.min(), "==", m),
        ("students in the totals, most", people.max(), "==", m),
        ("statements", facts["items"], "==", n),
        ("pairs of statements", facts.pairs, "==", answers),
        ("students who may have answered a pair, for all that the totals tell", possible, "==", m),
    ]
    for reading in (most, model):
        for check in size:
            yield printed(*check, reading=reading)
    yield printed("answers", facts.answers, "==", m * answers, reading=model)
    yield amended("answers", facts.answers, "<", m * answers)
    yield amended("students who can have answered all pairs", facts.full, "<", m)
    yield amended("students who must have answered a pair", facts.some, "<", m)
