import hashlib
import shutil

import numpy as np
import pandas as pd
import pytest
from checks import refused

from companion.instruments import surveys as datasets
from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins, win_counts

# first preferred, undecided, second preferred, missing: counted in the package's `preference`
CEMS_TOTALS = {
    ("London", "Paris"): (186, 26, 91, 0),
    ("London", "Milano"): (221, 26, 56, 0),
    ("Paris", "Milano"): (121, 32, 59, 91),
    ("London", "StGallen"): (208, 22, 73, 0),
    ("Paris", "StGallen"): (165, 19, 119, 0),
    ("Milano", "StGallen"): (135, 28, 140, 0),
    ("London", "Barcelona"): (217, 19, 67, 0),
    ("Paris", "Barcelona"): (157, 37, 109, 0),
    ("Milano", "Barcelona"): (104, 67, 132, 0),
    ("StGallen", "Barcelona"): (144, 25, 134, 0),
    ("London", "Stockholm"): (250, 19, 34, 0),
    ("Paris", "Stockholm"): (203, 30, 70, 0),
    ("Milano", "Stockholm"): (157, 46, 100, 0),
    ("StGallen", "Stockholm"): (155, 50, 98, 0),
    ("Barcelona", "Stockholm"): (172, 41, 90, 0),
}
# of the package's `preference1998`, written in the format of cems.csv
CEMS_1998_SHA256 = "21497a5cf8af734938bd940d86a820908b5aa186d038825cf52ddb633ccee552"


@pytest.fixture
def surveys(tmp_path, monkeypatch):
    copy = shutil.copytree(datasets.SURVEYS, tmp_path / "surveys")
    monkeypatch.setattr(datasets, "SURVEYS", copy)
    return copy


@pytest.fixture(scope="module")
def answers():
    return datasets.read("cems")


def totals(outcome: pd.Series) -> tuple[int, ...]:
    return (*((outcome == value).sum() for value in (1, 0.5, 0)), outcome.isna().sum())


def test_checksums_cover_every_data_file():
    lines = (datasets.SURVEYS / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in datasets.SURVEYS.glob("*.csv")}
    readme = (datasets.SURVEYS / "README.md").read_text()
    assert all(digest in readme for digest in sums.values())


@pytest.mark.parametrize("name", ["cems", "european_values", "first_names", "german_parties", "immigration_pairs"])
def test_one_changed_byte_is_refused(surveys, name):
    file = surveys / f"{name}.csv"
    expected = hashlib.sha256(file.read_bytes()).hexdigest()
    file.write_bytes(file.read_bytes()[:-2] + b"3\n")
    observed = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match=rf"^{name}\.csv has SHA-256 {observed}; SHA256SUMS expects {expected}$"):
        datasets.read(name)


def test_unknown_name_lists_the_allowed():
    allowed = "'cems', 'european_values', 'first_names', 'german_parties', 'immigration_pairs'"
    with pytest.raises(ValueError, match=rf"^name = 'nope'; allowed are \[{allowed}\]$"):
        datasets.read("nope")


def test_cems_counts(answers):
    assert list(answers.columns) == ["student", "first", "second", "outcome"]
    assert len(answers) == 303 * 15
    assert totals(answers.outcome) == (2595, 487, 1372, 91)


def test_each_student_has_every_pair_once_in_one_order(answers):
    assert answers.student.tolist() == np.repeat(np.arange(1, 304), 15).tolist()
    assert list(zip(answers["first"], answers["second"], strict=True)) == list(CEMS_TOTALS) * 303
    assert len({frozenset(pair) for pair in CEMS_TOTALS}) == 15


@pytest.mark.parametrize("pair", CEMS_TOTALS, ids="-".join)
def test_cems_totals(answers, pair):
    rows = (answers["first"] == pair[0]) & (answers["second"] == pair[1])
    assert totals(answers.outcome[rows]) == CEMS_TOTALS[pair]


def test_reversing_one_pair_gives_the_version_of_1998(answers):
    erroneous = datasets.reverse_pair(answers, "Barcelona", "Stockholm")
    text = erroneous.assign(outcome=erroneous.outcome.map("{:g}".format, na_action="ignore")).to_csv(
        index=False, lineterminator="\n"
    )
    assert hashlib.sha256(text.encode()).hexdigest() == CEMS_1998_SHA256
    differ = erroneous.outcome.fillna(-1) != answers.outcome.fillna(-1)
    assert differ.sum() == 262
    assert set(erroneous.loc[differ, ["first", "second"]].itertuples(index=False, name=None)) == {
        ("Barcelona", "Stockholm")
    }
    with pytest.raises(ValueError, match="no row compares first = 'Stockholm'"):
        datasets.reverse_pair(answers, "Stockholm", "Barcelona")


def test_cems_as_comparisons():
    cems, erroneous = datasets.cems(), datasets.cems_1998()
    for data in (cems, erroneous):
        assert data.items == datasets.UNIVERSITIES
        assert len(data) == 4454
        assert sorted(np.unique(data.voter, return_counts=True)[1]) == [14] * 91 + [15] * 212
    assert win_counts(cems, "half").tolist() == [1138, 809, 610.5, 703, 708.5, 485]
    assert win_counts(erroneous, "half").tolist() == [1138, 809, 610.5, 703, 626.5, 567]


# first preferred, by pair: counted in the package's `preference`
PARTIES_TOTALS = [119, 25, 23, 38, 34, 124, 69, 76, 128, 125, 83, 70, 137, 134, 106]


def test_german_parties():
    data = datasets.german_parties()
    assert (len(data), len(data.voters), set(data.outcome)) == (2880, 192, {0.0, 1.0})
    wins = pairwise_wins(data)
    assert [wins[i, j] for j in range(6) for i in range(j)] == PARTIES_TOTALS
    assert datasets.PARTIES[win_counts(data, "wins").argmax()] == "Gruene"


# first preferred, by pair: counted in the package's `preference`
NAMES_TOTALS = [87, 103, 112, 125, 129, 106, 140, 146, 129, 127, 109, 120, 103, 95, 73]


def test_first_names():
    data = datasets.first_names()
    assert (len(data), len(data.voters), set(data.outcome)) == (2880, 192, {0.0, 1.0})
    wins = pairwise_wins(data)
    assert [wins[i, j] for j in range(6) for i in range(j)] == NAMES_TOTALS
    assert datasets.BOYS[win_counts(data, "wins").argmax()] == "Lucas"


def test_european_values():
    # counted in the package's `paircomp`: respondents who prefer the first, of 1:2, 1:3, 2:3, 1:4, 2:4, 3:4
    data = datasets.european_values()
    assert (len(data), data.items) == (3584, datasets.GOALS)
    assert (np.sort(data.places, axis=1) == [0, 1, 2, 2]).all()
    ahead = [(data.places[:, i] < data.places[:, j]).sum() for j in range(4) for i in range(j)]
    assert ahead == [2136, 2178, 1694, 2358, 1732, 1558]


def by_hand(data):
    """Voters whose fifteen answers put no three items in a circle and leave nothing undecided; O(items^3) each."""
    m, rows = data.n_items, {}
    for i, j, outcome, who in zip(data.first, data.second, data.outcome, data.voter, strict=True):
        rows.setdefault(who, np.full((m, m), 0.5))[i, j] = outcome
        rows[who][j, i] = 1 - outcome
    kept = []
    for beats in (rows[who] for who in sorted(rows)):
        strict = (beats + 0.5 * np.eye(m) != 0.5).sum() == m * m
        circle = (beats[:, :, None] * beats[None] * beats.T[:, None] == 1).any()
        if strict and not circle:
            kept.append((beats == 0).sum(axis=1))
    return np.array(kept)


@pytest.mark.parametrize(("name", "voters"), [("german_parties", 160), ("cems", 81), ("first_names", 142)])
def test_strict_rankings(name, voters):
    data = getattr(datasets, name)()
    rankings = datasets.strict_rankings(data)
    assert (len(rankings), rankings.items) == (voters, data.items)
    assert np.array_equal(rankings.positions, by_hand(data))


def test_strict_rankings_need_every_pair_once():
    def data(outcomes):
        first, second = [0, 0, 1] * 3, [1, 2, 2] * 3
        return Comparisons(first, second, outcomes, "abc", [0] * 3 + [1] * 3 + [2] * 3)

    kept = datasets.strict_rankings(data([1, 1, 1, 1, 0, 1, 0.5, 1, 1]))
    assert kept.positions.tolist() == [[0, 1, 2]]
    with refused("none of 1 voters"):
        datasets.strict_rankings(Comparisons([0, 0, 0], [1, 1, 2], [1, 1, 1], "abc", [0, 0, 0]))
    with refused("voter is None"):
        datasets.strict_rankings(Comparisons([0], [1], [1], "ab"))


def test_immigration_totals():
    frame = datasets.immigration_pairs()
    assert (frame.drop(columns=["first", "second"]).sum(axis=1) == 98).all()
    assert frame.iloc[:, 2:].sum().tolist() == [236, 124, 143, 85]
    data = datasets.expand_pairs(frame)
    assert data.items == datasets.STATEMENTS
    assert data.voter is None
    assert len(data) == 236 + 124 + 143
    wins = pairwise_wins(data)
    for row in frame.itertuples(index=False):
        i, j = map(datasets.STATEMENTS.index, row[:2])
        assert wins[i, j] == row.first_preferred + row.undecided / 2
        assert wins[j, i] == row.second_preferred + row.undecided / 2
        assert ((data.first == i) & (data.second == j) & (data.outcome == 0.5)).sum() == row.undecided


@pytest.mark.parametrize("bad", [-1, 1.5])
def test_totals_must_be_counts(bad):
    frame = datasets.immigration_pairs().astype({"undecided": float if bad > 0 else int})
    frame.loc[0, "undecided"] = bad
    with pytest.raises(ValueError, match=r"totals .* integers of at least 0 are needed"):
        datasets.expand_pairs(frame)


def test_totals_need_their_columns():
    with pytest.raises(ValueError, match="column 'undecided' is not in the table"):
        datasets.expand_pairs(datasets.immigration_pairs().drop(columns="undecided"))
