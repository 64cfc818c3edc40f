"""The surveys of the book, read from `data/surveys` with their checksums verified; its README says what they are."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings

SURVEYS = Path(__file__).parents[3] / "data" / "surveys"
UNIVERSITIES = ("London", "Paris", "Milano", "StGallen", "Barcelona", "Stockholm")
PARTIES = ("none", "Linke", "Gruene", "SPD", "CDU/CSU", "FDP")
BOYS = ("Tim", "Lucas", "Michael", "Robin", "Benedikt", "Julius")
GOALS = ("order", "decisions", "prices", "freedom")
STATEMENTS = ("crimRate", "position", "socBurd", "culture")
TOTALS = {"first_preferred": 1.0, "undecided": 0.5, "second_preferred": 0.0}


def read(name: str) -> pd.DataFrame:
    """One survey, its bytes held against ``SHA256SUMS``; ``data/surveys/README.md`` describes the columns."""
    lines = (SURVEYS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    expected = {Path(file).stem: digest for digest, file in (line.split() for line in lines)}
    if name not in expected:
        raise ValueError(f"name = {name!r}; allowed are {sorted(expected)}")
    content = (SURVEYS / f"{name}.csv").read_bytes()
    observed = hashlib.sha256(content).hexdigest()
    if observed != expected[name]:
        raise ValueError(f"{name}.csv has SHA-256 {observed}; SHA256SUMS expects {expected[name]}")
    return pd.read_csv(io.BytesIO(content))


def cems() -> Comparisons:
    """4454 answers of 303 students on pairs of six universities, the corrected data.

    Students 1 .. 303 are voters 0 .. 302; the 91 missing answers, all of them on Paris and Milano, are left out. One
    privacy unit is one student with all answers. Dittrich, Hatzinger and Katzenbeisser (1998), Applied Statistics
    47(4), 511-525; corrigendum (2001), 50(2), 247-249.
    """
    return _cems(read("cems"))


def cems_1998() -> Comparisons:
    """`cems` as first analysed in 1998, with the answers on Barcelona and Stockholm reversed by mistake.

    It differs from `cems` in 262 answers; the 41 undecided ones on that pair read the same both ways.
    """
    return _cems(reverse_pair(read("cems"), "Barcelona", "Stockholm"))


def german_parties() -> Comparisons:
    """2880 answers of 192 voters on pairs of five German parties and "none" (GermanParties2009 of psychotools).

    Voters 1 .. 192 are 0 .. 191, fifteen answers each, none undecided and none missing. One privacy unit is one voter
    with all answers.
    """
    return Comparisons.from_frame(read("german_parties"), items=PARTIES, voter="voter")


def first_names() -> Comparisons:
    """2880 answers of 192 respondents on pairs of six names for boys (FirstNames of psychotools).

    Respondents 1 .. 192 are voters 0 .. 191, fifteen answers each, none undecided and none missing. One privacy unit is
    one respondent with all answers.
    """
    return Comparisons.from_frame(read("first_names"), items=BOYS, voter="respondent")


def european_values() -> Ballots:
    """3584 ballots that put one of four political goals first, and one second (EuropeanValuesStudy of psychotree).

    The other two are tied behind them. One privacy unit is one respondent, with that ballot.
    """
    frame = read("european_values")
    most, second = (frame[column].map(GOALS.index).to_numpy()[:, None] for column in ("most", "next"))
    goal = np.arange(len(GOALS))
    return Ballots(np.where(goal == most, 0, np.where(goal == second, 1, 2)), GOALS)


def strict_rankings(data: Comparisons) -> Rankings:
    """The rankings of those voters who answered every pair once, never undecided and never in a circle, in their order.

    Whether a voter is among them depends on that voter's answers only; but their number is no longer public: to replace
    one voter of `data` may add or remove one here.
    """
    if data.voter is None:
        raise ValueError("voter is None; rankings need to know who gave which answer")
    m, pairs = data.n_items, data.n_items * (data.n_items - 1) // 2
    given, net = np.zeros((len(data.voters), m, m)), np.zeros((len(data.voters), m))
    voter = np.searchsorted(data.voters, data.voter)
    np.add.at(given, (voter, np.minimum(data.first, data.second), np.maximum(data.first, data.second)), 1)
    np.add.at(net, (voter, data.first), data.outcome)
    np.add.at(net, (voter, data.second), 1 - data.outcome)
    once = (given.max(axis=(1, 2)) == 1) & (given.sum(axis=(1, 2)) == pairs)
    strict = once & (np.sort(net, axis=1) == np.arange(m)).all(axis=1)
    if not strict.any():
        raise ValueError(f"none of {len(data.voters)} voters gave a ranking")
    return Rankings(m - 1 - net[strict].astype(np.int64), data.items)


def immigration_pairs() -> pd.DataFrame:
    """Totals of the answers of 98 students on the six pairs of four statements about immigrants; nobody's own answers.

    ``first``, ``second``, ``first_preferred``, ``undecided``, ``second_preferred``, ``missing``. Weber and Hatzinger
    (2011), Data Analysis Bulletin 12, 11-22.
    """
    return read("immigration_pairs")


def reverse_pair(frame: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """A copy of `frame` in which every answer on one pair, asked in that order, prefers the other item."""
    rows = (frame["first"] == first) & (frame["second"] == second)
    if not rows.any():
        raise ValueError(f"no row compares first = {first!r} with second = {second!r}")
    return frame.assign(outcome=frame["outcome"].where(~rows, 1 - frame["outcome"]))


def expand_pairs(frame: pd.DataFrame, items: Sequence[str] = STATEMENTS) -> Comparisons:
    """One comparison for each answer that a frame of totals (`immigration_pairs`) counts; ties are 1/2, voters unknown.

    Pairs in the frame's order; in a pair first the answers for its first item, then undecided, then for its second.
    `items` are all names, in the order of their codes.
    """
    for column in ("first", "second", *TOTALS):
        if column not in frame.columns:
            raise ValueError(f"column {column!r} is not in the table; it has {list(frame.columns)}")
    totals = frame[list(TOTALS)].to_numpy()
    if not np.issubdtype(totals.dtype, np.integer) or (totals < 0).any():
        raise ValueError(f"totals {list(TOTALS)} = {totals.tolist()}; integers of at least 0 are needed")
    rows = frame[["first", "second"]].iloc[np.repeat(np.arange(len(frame)), totals.sum(axis=1))]
    outcome = np.repeat(np.tile(list(TOTALS.values()), len(frame)), totals.ravel())
    return Comparisons.from_frame(rows.assign(outcome=outcome), items=items, voter=None)


def _cems(frame: pd.DataFrame) -> Comparisons:
    return Comparisons.from_frame(frame, items=UNIVERSITIES, voter="student", missing="drop")
