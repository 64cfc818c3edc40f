"""A budget is never overspent: not by rounding, not by eight processes, not by whoever is killed in between."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

import dprank
from dprank.budget import Budget, BudgetRefused
from dprank.cli import main
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import Source

VOTES = dprank.Rankings([[0, 1]] * 9, "ab")


@pytest.fixture
def budget(tmp_path):
    return Budget(tmp_path / "budget.sqlite", epsilon=1.0)


def test_sums_are_exact(tmp_path):
    tenth = Budget(tmp_path / "a", epsilon=1.0)
    for _ in range(9):
        tenth.spend(Guarantee(0.1), dataset="d")
    # ten times the float 0.1 is more than 1
    assert 10 * Fraction(0.1) > 1
    with pytest.raises(BudgetRefused, match="is missing"):
        tenth.spend(Guarantee(0.1), dataset="d")
    assert tenth.spent("d").epsilon >= 9 * Fraction(0.1) > np.nextafter(tenth.spent("d").epsilon, 0)
    assert tenth.remaining("d").epsilon <= 1 - 9 * Fraction(0.1)
    eighth = Budget(tmp_path / "b", epsilon=1.0)
    for _ in range(8):
        eighth.spend(Guarantee(0.125), dataset="d")
    assert eighth.remaining("d").epsilon == 0
    with pytest.raises(BudgetRefused):
        eighth.spend(Guarantee(5e-324), dataset="d")


def test_data_sets_are_apart_and_the_file_stays(budget):
    budget.spend(Guarantee(0.75), dataset="one", what="a ranking")
    again = Budget(budget.path)
    assert again.remaining("one").epsilon == 0.25
    assert again.remaining("two").epsilon == 1.0
    (entry,) = again.entries()
    assert (entry.dataset, entry.epsilon, entry.what) == ("one", 0.75, "a ranking")
    assert date.fromisoformat(entry.day)
    assert again.to_frame().epsilon.tolist() == [0.75]
    assert "epsilon = 1" in repr(again)


def test_what_it_costs_in_the_unit_of_the_budget(tmp_path):
    replace = Budget(tmp_path / "a", epsilon=2.0)
    replace.spend(Guarantee(1.0, adjacency="add_remove"), dataset="d")
    assert replace.remaining("d").epsilon == 0
    come = Budget(tmp_path / "b", epsilon=2.0, adjacency="add_remove")
    with pytest.raises(ValueError, match="says nothing"):
        come.spend(Guarantee(1.0), dataset="d")
    with pytest.raises(ValueError, match="says nothing"):
        replace.spend(Guarantee(1.0, unit="comparison"), dataset="d")
    assert len(replace.entries()) == 1


def test_delta_is_counted(tmp_path):
    pure = Budget(tmp_path / "a", epsilon=2.0)
    with pytest.raises(BudgetRefused, match="delta: "):
        pure.spend(Guarantee(1.0, 1e-9), dataset="d")
    some = Budget(tmp_path / "b", epsilon=2.0, delta=1e-6)
    some.spend(Guarantee(1.0, 1e-6), dataset="d")
    with pytest.raises(BudgetRefused, match="delta: "):
        some.spend(Guarantee(0.5, 1e-6), dataset="d")


def test_nothing_is_changed_or_taken_back(budget):
    budget.spend(Guarantee(0.5), dataset="d")
    with sqlite3.connect(budget.path) as database:
        for statement in (
            "UPDATE entries SET epsilon = '0'",
            "DELETE FROM entries",
            "UPDATE limits SET epsilon = '9'",
            "DELETE FROM limits",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="never changed"):
                database.execute(statement)
    assert budget.remaining("d").epsilon == 0.5


def test_it_is_spent_before_noise_is_drawn(budget):
    @dataclass(frozen=True)
    class Broken:
        guarantee = Guarantee(1.0)

        def release(self, data: object, rng: Source) -> None:
            assert Budget(budget.path).remaining("d").epsilon == 0
            raise RuntimeError("the lights go out")

    with pytest.raises(RuntimeError, match="lights"):
        budget.release(Broken(), VOTES, dataset="d")
    assert budget.remaining("d").epsilon == 0
    with pytest.raises(BudgetRefused):
        budget.release(Broken(), VOTES, dataset="d")


def test_research_noise_is_refused_and_costs_nothing(budget):
    continuous = dprank.PrivateBorda.calibrated(epsilon=0.5, n_items=2, law="continuous")
    with pytest.raises(ValueError, match="nothing is spent"):
        budget.release(continuous, VOTES, dataset="d")
    assert budget.entries() == []
    release = budget.release(dprank.PrivateBorda.calibrated(epsilon=0.5, n_items=2), VOTES, dataset="d")
    assert release.publishable


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, "1", None, np.float32("nan"), 1j])
def test_no_limit(epsilon, tmp_path):
    with pytest.raises(ValueError, match="epsilon"):
        Budget(tmp_path / "budget", epsilon=epsilon)
    assert not (tmp_path / "budget").exists()


@pytest.mark.parametrize("epsilon", [np.float16(1), np.float32(1), np.int8(1), np.uint64(1), np.longdouble(1), 1])
def test_every_kind_of_number(epsilon, tmp_path):
    assert Budget(tmp_path / "budget", epsilon=epsilon).limit.epsilon == 1


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, 7, None, "\x00"])
def test_names_of_data_sets(name, budget):
    with pytest.raises(ValueError, match="dataset"):
        budget.spend(Guarantee(0.5), dataset=name)
    assert budget.entries() == []


@pytest.mark.parametrize("guarantee", [Guarantee(0.5, model="local"), Guarantee(float("inf")), 0.5, None])
def test_what_no_budget_pays_for(guarantee, budget):
    with pytest.raises(ValueError, match="needed"):
        budget.spend(guarantee, dataset="d")
    assert budget.entries() == []


def test_other_files(tmp_path, budget):
    with pytest.raises(ValueError, match="epsilon makes one"):
        Budget(tmp_path / "none")
    with pytest.raises(ValueError, match="the budget in"):
        Budget(budget.path, delta=0.1)
    (tmp_path / "text").write_text("no database at all, but long enough to be one" * 50)
    with pytest.raises(ValueError, match="no budget of dprank"):
        Budget(tmp_path / "text", epsilon=1.0)
    with sqlite3.connect(tmp_path / "other") as database:
        database.execute("CREATE TABLE limits (x)")
    with pytest.raises(ValueError, match="no budget of this version"):
        Budget(tmp_path / "other")
    with pytest.raises(OSError, match="a file"):
        Budget(tmp_path, epsilon=1.0)
    with pytest.raises(OSError, match="cannot be written"):
        Budget(tmp_path / "no" / "folder", epsilon=1.0)


def test_a_file_that_cannot_be_written(budget, monkeypatch):
    @dataclass(frozen=True)
    class Never:
        guarantee = Guarantee(0.5)

        def release(self, data: object, rng: Source) -> None:
            raise AssertionError("drawn without a record")

    program = (
        "import os, sys; os.setuid(65534)\n"
        "from dprank.budget import Budget; from dprank.privacy.guarantee import Guarantee\n"
        "try: Budget(sys.argv[1]).spend(Guarantee(0.5), dataset='d'); print('spent')\n"
        "except OSError as error: print('refused', error.filename)"
    )
    folder = budget.path.parent
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    budget.path.chmod(0o444)
    if os.getuid() == 0:
        done = subprocess.run([sys.executable, "-c", program, budget.path], capture_output=True, text=True, check=False)
        assert "spent" not in done.stdout
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: _Cramped(connect(*a, **k)))
    with pytest.raises(OSError, match="full"):
        budget.release(Never(), VOTES, dataset="d")
    monkeypatch.undo()
    assert Budget(budget.path).entries() == []


class _Cramped:
    """A connection whose disk is full: what sqlite says then, at the first thing that it writes."""

    def __init__(self, database):
        self.database = database

    def execute(self, statement, *values):
        if statement.startswith("INSERT"):
            raise sqlite3.OperationalError("database or disk is full")
        return self.database.execute(statement, *values)

    def close(self):
        self.database.close()


def _many(path, times, won):
    budget = Budget(path)
    for _ in range(times):
        try:
            budget.spend(Guarantee(0.125), dataset="d")
        except BudgetRefused:
            continue
        with won.get_lock():
            won.value += 1


@pytest.mark.slow
def test_eight_processes_at_once(tmp_path):
    budget = Budget(tmp_path / "budget", epsilon=4.0)
    context = multiprocessing.get_context("spawn")
    won = context.Value("i", 0)
    workers = [context.Process(target=_many, args=(budget.path, 8, won)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert won.value == len(budget.entries()) == 32  # 4 over 1/8, of 64 that asked
    assert budget.remaining("d").epsilon == 0


def _make_together(path, go):
    go.wait()
    Budget(path, epsilon=1.0).spend(Guarantee(0.125), dataset="d")


@pytest.mark.slow
def test_one_file_made_by_several_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    workers = [context.Process(target=_make_together, args=(tmp_path / "budget", go)) for _ in range(4)]
    for worker in workers:
        worker.start()
    go.set()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(Budget(tmp_path / "budget").entries()) == 4


RELEASING = """
import sys
import dprank
budget = dprank.Budget(sys.argv[1], epsilon=1e6)
mechanism, votes = dprank.PrivateBorda.calibrated(epsilon=0.125, n_items=2), dprank.Rankings([[0, 1]] * 9, "ab")
while True:
    release = budget.release(mechanism, votes, dataset="d")
    print("released", flush=True)
"""


def kill(path, draw):
    """Releases shown by a process that is killed at a random moment."""
    command = [sys.executable, "-c", RELEASING, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        time.sleep(draw.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    return (first + rest).count("released\n")


def killed(path, times):
    """Releases that were shown, and that were paid for, by processes that are killed one after the other."""
    draw, shown, written = random.Random(18), 0, 0
    for _ in range(times):
        own = kill(path, draw)
        budget = Budget(path)
        more = len(budget.entries()) - written
        assert own <= more <= own + 1  # what was paid for when the lights went out may not have been shown
        shown, written = shown + own, written + more
        assert Fraction(budget.spent("d").epsilon) == Fraction(written, 8)
    return shown, written


@pytest.mark.slow
def test_whoever_is_killed_has_shown_nothing_that_is_not_written(tmp_path):
    assert killed(tmp_path / "budget", 12)[0] > 12


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(dprank.example("ballots.csv"), "ballots.csv")
    main_words = ["release", "consensus", "ballots.csv", "--items", "roads,schools,parks,debt", "--person", "person"]

    def run(*words):
        code: object = 0
        try:
            main(list(words))
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    assert run("budget", "b.sqlite")[0] == 2
    assert run("budget", "b.sqlite", "--epsilon", "1.5")[0] == 0
    code, said, _ = run(*main_words, "--epsilon", "1", "--budget", "b.sqlite")
    assert code == 0
    assert "nobody keeps count" not in said
    code, said, error = run(*main_words, "--epsilon", "1", "--budget", "b.sqlite", "--out", "no.json")
    assert (code, said) == (3, "")
    assert error == "dprank: epsilon: 1 is asked for, 0.5 of 1.5 is left for 'ballots.csv': 0.5 is missing\n"
    assert not (tmp_path / "no.json").exists()
    code, said, _ = run("budget", "b.sqlite")
    assert "left for ballots.csv: epsilon = 0.5" in said
    assert '"left": {"ballots.csv": {"epsilon": 0.5' in run("budget", "b.sqlite", "--json")[1]
    code, said, _ = run(*main_words, "--epsilon", "1", "--budget", "b.sqlite", "--rehearse")
    assert code == 0
    assert len(Budget("b.sqlite").entries()) == 1


if __name__ == "__main__":  # python tests/dprank/test_budget.py FILE TIMES
    print("shown {:,}, paid for {:,}".format(*killed(sys.argv[1], int(sys.argv[2]))))
