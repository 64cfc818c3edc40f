"""`count`, `split`, `merge` and `release --counts`: the same release as from the file, and one line for every slip."""

import json

import numpy as np
import pandas as pd
import pytest

import dprank
from dprank.cli.path import said
from dprank.data.count_files import read_counts
from dprank.data.declaration import Declaration
from dprank.data.engines import count

ITEMS = ("London", "Paris", "Rome", "Oslo")
COLUMNS = ("--comparisons", "a,b,said", "--map", "outcome", "--items", ",".join(ITEMS), "--person", "who")
HAVE = ("--item", "a", "--items", ",".join(ITEMS), "--person", "who")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, 5_000)
    second = (first + rng.integers(1, 4, 5_000)) % 4
    names = np.array(ITEMS)
    frame = pd.DataFrame(
        {
            "who": rng.integers(0, 300, 5_000),
            "a": names[first],
            "b": names[second],
            "said": rng.integers(0, 3, 5_000) / 2,
        }
    )
    frame.to_parquet(folder / "survey.parquet")
    frame.to_csv(folder / "survey.csv", index=False)
    return folder


def counts_of(folder, columns, most, parts=3):
    files = []
    for part in range(1, parts + 1):
        files.append(folder / f"{columns[0]}-{part}-{parts}.json".lstrip("-"))
        files[-1].unlink(missing_ok=True)
        words = ("count", folder / "survey.parquet", *columns, *most, "--shard", f"{part}/{parts}", "--out", files[-1])
        done = said(*words)
        assert (done.code, done.error) == (0, "")
        assert "secret" in done.out
    total = folder / f"{columns[0]}.parquet".lstrip("-")
    total.unlink(missing_ok=True)
    done = said("merge", *files[::-1], "--out", total, "--json")
    assert done.code == 0
    assert "secret" in json.loads(done.out)["mark"]
    return total


@pytest.mark.slow
def test_a_release_from_counts_has_the_law_of_one_from_the_file(folder):
    columns = ("a", "b", "said")
    declared = Declaration(kind="comparisons", items=ITEMS, person="who", columns=columns, answers="outcome")
    merged = read_counts(counts_of(folder, COLUMNS, ("--answers", "3")))
    data = declared.read(folder / "survey.parquet").data
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=4, per_person=3, design="once")
    one, other = (mechanism.release(it, np.random.default_rng(7)) for it in (data, merged))
    assert one == other
    for score in ("wins", "half"):
        mechanism = dprank.NoisyCounts(4, 8.0, per_person=3, design="once", score=score)
        assert mechanism.counts(data).tolist() == mechanism.counts(merged).tolist()
    have = Declaration(kind="tallies", items=ITEMS, person="who", columns=("a",))
    merged = read_counts(counts_of(folder, HAVE, ("--per-person", "2")))
    data = have.read(folder / "survey.parquet").data
    shape = {"epsilon": 1.0, "k": 2, "items": ITEMS, "per_person": 2, "adjacency": "add_remove", "ordered": True}
    chosen = dprank.Oneshot.calibrated(**shape)
    first, second = (chosen.release(it, np.random.default_rng(7)) for it in (data, merged))
    assert first == second
    assert data.counts(2).tolist() == list(merged.sums["persons"])


@pytest.mark.slow
def test_from_counts_to_a_published_file(folder, tmp_path):
    counts = counts_of(folder, COLUMNS, ("--answers", "3"))
    spend = ("--protect", "person", "--answers", "3", "--epsilon", "1")
    said("budget", tmp_path / "budget.sqlite", "--epsilon", "1")
    budget = ("--budget", tmp_path / "budget.sqlite")
    words = ("release", "ranking", "--counts", counts, *spend, *budget, "--out", tmp_path / "release.json")
    refused = said(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "dataset is missing" in refused.error
    done = said(*words, "--dataset", "survey")
    assert (done.code, done.error) == (0, "")
    assert said("verify", tmp_path / "release.json").code == 0
    published = (tmp_path / "release.json").read_text()
    assert "4102" not in published  # nothing of the curator's numbers
    assert not {"rows", "left_out", "counts"} & set(json.loads(published))
    (tmp_path / "release.json").unlink()
    assert said(*words, "--dataset", "survey").code == 3
    assert not (tmp_path / "release.json").exists()
    top = counts_of(folder, HAVE, ("--per-person", "2"))
    assert said("release", "topk", "--counts", top, "--k", "2", "--per-person", "2", "--epsilon", "1").code == 0


@pytest.mark.slow
def test_nothing_is_spent_on_counts_that_are_not_those(folder, tmp_path):
    counts_of(folder, COLUMNS, ("--answers", "3"))
    said("budget", tmp_path / "budget.sqlite", "--epsilon", "1")
    rest = ("--protect", "person", "--epsilon", "1", "--budget", tmp_path / "budget.sqlite", "--dataset", "survey")
    slips = {
        "lack shard 2/3 and 1 more": ("--counts", folder / "comparisons-1-3.json", "--answers", "3"),
        "per_person = 3; this release needs per_person = 2": (
            "--counts",
            folder / "comparisons.parquet",
            "--answers",
            "2",
        ),
        "without FILE": (folder / "survey.csv", "--counts", folder / "comparisons.parquet", "--answers", "3"),
        "FILE is missing": ("--answers", "3", "--items", "a,b"),
        "holds no counts": ("--counts", folder / "survey.csv", "--answers", "3"),
    }
    for expected, words in slips.items():
        refused = said("release", "ranking", *words, *rest)
        assert (refused.code, refused.out) == (2, ""), expected
        assert expected in refused.error
        assert refused.error.count("\n") == 1
    assert not dprank.Budget(tmp_path / "budget.sqlite").entries()


@pytest.mark.slow
def test_slips_of_count_and_merge_are_one_line(folder, tmp_path):
    out = ("--out", tmp_path / "counts.json")
    survey = folder / "survey.parquet"
    slips = {
        "answers is missing": ("count", survey, *COLUMNS, *out),
        "--per-person of items": ("count", survey, *COLUMNS, "--per-person", "3", *out),
        "shard = '3'": ("count", survey, *COLUMNS, "--answers", "3", "--shard", "3", *out),
        "shard = 4; an integer from 1 to 3": ("count", survey, *COLUMNS, "--answers", "3", "--shard", "4/3", *out),
        "engine = 'dask'": ("count", survey, *COLUMNS, "--answers", "3", "--engine", "dask", *out),
        "memory = 'much'": ("count", survey, *COLUMNS, "--answers", "3", "--memory", "much", *out),
        "design = 'twice'": ("count", survey, *COLUMNS, "--answers", "3", "--design", "twice", *out),
        "no column 'who'": ("count", folder / "no.csv", *COLUMNS, "--answers", "3", *out),
        "No such file": ("count", folder / "none.parquet", *COLUMNS, "--answers", "3", *out),
        "is no Parquet table": ("count", folder / "cut.parquet", *COLUMNS, "--answers", "3", *out),
        "is not one of comparisons or tallies": (
            "count",
            survey,
            "--plan",
            folder / "ballots.toml",
            "--answers",
            "3",
            *out,
        ),
        "holds no counts": ("merge", survey, *out),
    }
    (folder / "no.csv").write_text("a,b,said\nRome,Oslo,1\n")
    (folder / "cut.parquet").write_bytes(survey.read_bytes()[:-100])
    (folder / "ballots.toml").write_text('kind = "ballots"\nitems = ["a", "b"]\nperson = "who"\n')
    for expected, words in slips.items():
        refused = said(*words)
        assert (refused.code, refused.out) == (2, ""), expected
        assert expected in refused.error
        assert refused.error.count("\n") == 1
    assert not (tmp_path / "counts.json").exists()


@pytest.mark.slow
def test_split_folders_are_counted_apart(folder, tmp_path):
    plan = tmp_path / "plan.toml"
    columns = ("a", "b", "said")
    declared = Declaration(kind="comparisons", items=ITEMS, person="who", columns=columns, answers="outcome")
    plan.write_text(declared.to_toml())
    done = said("split", folder / "survey.parquet", "--plan", plan, "--shards", "2", "--out", tmp_path / "shards")
    assert done.code == 0
    assert "personal data" in done.out
    for part in (1, 2):
        files = list((tmp_path / "shards" / f"{part}-of-2").iterdir())
        words = ("--plan", plan, "--answers", "3", "--shard", f"{part}/2", "--out", tmp_path / f"{part}.json")
        assert said("count", *files, *words).code == 0
    assert said("merge", tmp_path / "1.json", tmp_path / "2.json", "--out", tmp_path / "all.json").code == 0
    whole = count(folder / "survey.csv", declared, per_person=3, design="once")
    assert read_counts(tmp_path / "all.json").sums == whole.sums
    # made by another hand
    again = said("split", folder / "survey.parquet", "--plan", plan, "--shards", "2", "--out", tmp_path / "shards")
    assert again.code == 2
