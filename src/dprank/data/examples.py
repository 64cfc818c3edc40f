"""Small made-up tables that come with the package, so that every example runs anywhere."""

from __future__ import annotations

from pathlib import Path

from dprank._require import require_one_of

__all__ = ["NAMES", "example"]

NAMES = ("answers.csv", "ballots.csv", "city.toc", "diagnoses.csv", "staff.csv")

#: Beside the rooms of the package, in the wheel too.
_FOLDER = Path(__file__).parent.parent / "examples"


def example(name: str) -> Path:
    """Where an example file lies.

    Parameters
    ----------
    name : {"answers.csv", "ballots.csv", "city.toc", "diagnoses.csv", "staff.csv"}
        Comparisons of three cities by 250 persons (first, second, outcome, person); rankings of four things that a town
        may spend on by 250 persons (person, and the place of each); 250 ballots with ties on the same, as PrefLib
        writes them; diagnoses of 400 patients (patient, diagnosis); a survey as people hand it in: 400 of a ministry's
        staff on six topics (person, left, right, answer), with semicolons, a byte order mark, misspelt topics, gaps,
        and ten who handed in twice.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> example("ballots.csv").read_text().splitlines()[0]
    'person,roads,schools,parks,debt'
    """
    return _FOLDER / require_one_of("name", name, NAMES)
