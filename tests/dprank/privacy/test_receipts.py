"""What a reader may hold against a budget: each test says which slip it catches."""

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing

import pytest
from checks import each, refused

import dprank
from dprank.cli import main
from dprank.privacy import _budget_file
from dprank.privacy.budget import Budget, BudgetRefused, Receipt
from dprank.privacy.guarantee import Guarantee
from dprank.publication import publish

FORK = multiprocessing.get_context("fork")
HALF = Guarantee(0.5)
#: As version 0.2 wrote it: two data sets, three entries.
OLD = """
PRAGMA application_id = 1685090882;
PRAGMA user_version = {version};
CREATE TABLE limits (
  epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL, adjacency TEXT NOT NULL{limit});
CREATE TABLE entries (
  number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL,
  adjacency TEXT NOT NULL, charged_epsilon TEXT NOT NULL, charged_delta TEXT NOT NULL, what TEXT NOT NULL,
  day TEXT NOT NULL{entry});
CREATE INDEX entries_of_dataset ON entries (dataset);
CREATE TRIGGER limits_stay BEFORE UPDATE ON limits BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
CREATE TRIGGER limits_remain BEFORE DELETE ON limits BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
CREATE TRIGGER limits_once BEFORE INSERT ON limits WHEN EXISTS (SELECT 1 FROM limits)
  BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
CREATE TRIGGER entries_in_turn BEFORE INSERT ON entries
  WHEN NEW.number IS NOT (SELECT COALESCE(MAX(number), 0) + 1 FROM entries)
  BEGIN SELECT RAISE(ABORT, 'what is in a budget stays'); END;
INSERT INTO limits VALUES ({first});
INSERT INTO entries VALUES (1, 'survey', '1/4', '0/1', 'voter', 'replace', '1/4', '0/1', 'Borda', '2026-11-25'{a});
INSERT INTO entries VALUES (2, 'other', '1/2', '0/1', 'voter', 'replace', '1/2', '0/1', '', '2026-11-26'{b});
INSERT INTO entries VALUES (3, 'survey', '1/4', '0/1', 'voter', 'replace', '1/4', '0/1', '', '2026-11-26'{a});
"""
KINDS = {
    "basic": {"version": 1, "limit": "", "entry": "", "first": "'2/1', '0/1', 'voter', 'replace'", "a": "", "b": ""},
    "zcdp": {
        "version": 2,
        "limit": ", rho TEXT NOT NULL, spare TEXT NOT NULL",
        "entry": ", rho TEXT NOT NULL, charged_rho TEXT NOT NULL, charged_rest TEXT NOT NULL",
        "first": "'2/1', '1/1024', 'voter', 'replace', '1/8', '1/2048'",
        "a": ", '', '1/32', '0/1'",
        "b": ", '', '1/8', '0/1'",
    },
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.sqlite"


@pytest.fixture
def budget(path):
    return Budget(path, epsilon=4.0)


@pytest.fixture(params=KINDS)
def old(path, request):
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(OLD.format(**KINDS[request.param]))
    return path


def rows(path, table="entries"):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"SELECT * FROM {table} ORDER BY number").fetchall()


def version(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def tampered(path, *statements):
    """The file with these statements carried out as if no trigger were there, and all of them back."""
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, text in triggers:
            db.execute(text)


# --- copies ----------------------------------------------------------------------------------------------------------


def test_a_receipt_fits_its_own_copy_alone(budget, tmp_path):
    # catches a digest of what an entry says alone: the same was spent in both
    before = budget.spend(HALF, dataset="survey", what="scores")
    copy = Budget(shutil.copy(budget.path, tmp_path / "copy.sqlite"))
    one, other = (it.spend(HALF, dataset="survey", what="scores") for it in (budget, copy))
    assert (one.number, one.left) == (other.number, other.left) == (2, Guarantee(3.0))
    assert one.digest != other.digest
    for own, theirs, its, others in ((budget, copy, one, other), (copy, budget, other, one)):
        own.verify(before, HALF)
        own.verify(its, HALF)
        with refused("another digest", "a copy in which something else was spent"):
            own.verify(others, HALF)
        with refused("another digest"):
            theirs.verify(its)
    budget.spend(HALF, dataset="survey")
    budget.verify(one, HALF)


def test_a_copy_from_before_lacks_the_entry(budget, tmp_path):
    budget.spend(HALF, dataset="survey")
    copy = Budget(shutil.copy(budget.path, tmp_path / "budget copy.sqlite"))
    receipt = budget.spend(HALF, dataset="survey")
    with refused("has 1 entries of 'survey'", "number 2", "a copy from before"):
        copy.verify(receipt)
    with refused("has 0 entries of 'survey'"):
        Budget(tmp_path / "fresh.sqlite", epsilon=4.0).verify(receipt)


def test_a_receipt_is_of_one_release(budget):
    # catches a cheap entry that is shown for a dear release
    receipt = budget.spend(Guarantee(0.5, adjacency="add_remove"), dataset="survey")
    assert receipt.left.epsilon == 3.0
    budget.verify(receipt, Guarantee(0.5, adjacency="add_remove"))
    for other in (HALF, Guarantee(1.0, adjacency="add_remove"), Guarantee(0.5, 1e-9, adjacency="add_remove")):
        with refused("paid for epsilon = 0.5"):
            budget.verify(receipt, other)
    given = receipt.to_dict()
    with refused("what is left"):
        budget.verify(Receipt.from_dict(given | {"left": given["left"] | {"epsilon": 3.5}}))


# --- what was altered ------------------------------------------------------------------------------------------------

SWAPPED = [
    f"UPDATE {table} SET number = {new} WHERE number = {old}"
    for table in ("entries", "chain")
    for old, new in ((2, -2), (3, 2), (-2, 3))
]
ALTERED = {
    "what was released": ["UPDATE entries SET what = 'x' WHERE number = 1"],
    "when": ["UPDATE entries SET day = '2026-01-01' WHERE number = 2"],
    "what it cost": ["UPDATE entries SET charged_epsilon = '1/8' WHERE number = 2"],
    "what it promised": ["UPDATE entries SET epsilon = '1/8' WHERE number = 3"],
    "whose it was": ["UPDATE entries SET dataset = 'other' WHERE number = 2"],
    "two fields that would read alike": ["UPDATE entries SET what = '', dataset = 'surveyscores' WHERE number = 1"],
    "the limit": ["UPDATE limits SET epsilon = '9/1'"],
    "an entry less, in the middle": [
        f"{step} number = 2" for step in ("DELETE FROM entries WHERE", "DELETE FROM chain WHERE")
    ]
    + [f"UPDATE {table} SET number = number - 1 WHERE number > 2" for table in ("entries", "chain")],
    "the first entry": ["DELETE FROM entries WHERE number = 1", "DELETE FROM chain WHERE number = 1"]
    + [f"UPDATE {table} SET number = -number WHERE number > 1" for table in ("entries", "chain")]
    + [f"UPDATE {table} SET number = -number - 1 WHERE number < 0" for table in ("entries", "chain")],
    "another order": SWAPPED,
    "entries in another order": SWAPPED[:3],
    "the last entry, and not its digest": ["DELETE FROM entries WHERE number = 4"],
    "an entry more": [
        "INSERT INTO entries SELECT 5, dataset, epsilon, delta, unit, adjacency, '0/1', '0/1', what, day "
        "FROM entries WHERE number = 4"
    ],
    "a digest": ["UPDATE chain SET digest = replace(digest, substr(digest, 1, 1), 'x') WHERE number = 2"],
    "a salt": ["UPDATE chain SET salt = '' WHERE number = 4"],
    "the chain": ["DELETE FROM chain"],
    "the limit's digest": ["DELETE FROM chain WHERE number = 0"],
    "the format": ["PRAGMA user_version = 1"],
}


@each("name", list(ALTERED))
def test_what_was_altered_is_found(name, tmp_path_factory):
    # catches a chain that is written and not read, or leaves a column, the limit or the order out
    path = tmp_path_factory.mktemp("p") / "budget.sqlite"
    budget = Budget(path, epsilon=4.0)
    for what in ("scores", "top", "winner", "again"):
        receipt = budget.spend(Guarantee(0.25), dataset="survey", what=what)
    Budget(path).verify(receipt)
    tampered(path, *ALTERED[name])
    for door in (lambda: Budget(path), lambda: budget.verify(receipt), lambda: budget.receipt("survey", 1)):
        with refused("budget.sqlite", "damaged"):
            door()


@each("name", ["the last entry, and not its digest", "an entry more", "the chain", "the limit's digest", "the format"])
def test_whoever_has_it_open_sees_that_links_are_missing(name, tmp_path_factory):
    budget = Budget(tmp_path_factory.mktemp("p") / "budget.sqlite", epsilon=4.0)
    for _ in range(4):
        budget.spend(Guarantee(0.25), dataset="survey")
    tampered(budget.path, *ALTERED[name])
    for door in (lambda: budget.spent("survey"), lambda: budget.spend(Guarantee(0.25), dataset="survey")):
        with refused("budget.sqlite", "damaged"):
            door()


def chained_anew(path, last):
    """The chain up to a number, made anew by hand with the salts that are there."""
    with closing(sqlite3.connect(path)) as db:
        limit = db.execute("SELECT 0, 'basic', epsilon, delta, unit, adjacency FROM limits").fetchall()
        salts = [salt for (salt,) in db.execute("SELECT salt FROM chain ORDER BY number")]
    before, made = "", []
    for at, (row, salt) in enumerate(zip([*limit, *rows(path)], salts, strict=True)):
        before = hashlib.sha256(json.dumps([salt, before, *row]).encode()).hexdigest()
        made += [f"UPDATE chain SET digest = '{before}' WHERE number = {at}"] * (at <= last)
    return made


@each("last", [0, 1, 2, 3])
def test_a_chain_that_is_made_anew_in_part_is_found(last, tmp_path_factory):
    # catches links that do not hang on the one before; all anew the file is whole again, and the receipt does not fit
    path = tmp_path_factory.mktemp("p") / "budget.sqlite"
    budget = Budget(path, epsilon=4.0)
    for what in ("dear", "top", "winner"):
        receipt = budget.spend(HALF, dataset="survey", what=what)
    tampered(path, "UPDATE entries SET what = 'x' WHERE number = 1")
    tampered(path, *chained_anew(path, last))
    if last < 3:
        with refused("budget.sqlite", "damaged"):
            Budget(path)
    else:
        with refused("another digest"):
            Budget(path).verify(receipt)


def test_a_new_chain_fits_no_receipt_that_is_out(budget, path):
    # the keeper can do this, and make the file whole: who has a receipt sees it
    budget.spend(HALF, dataset="survey", what="dear")
    receipt = budget.spend(HALF, dataset="survey")
    tampered(path, "UPDATE entries SET charged_epsilon = '1/4' WHERE number = 1")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE chain")
        db.execute("PRAGMA user_version = 1")
    again = Budget(path)
    assert again.spent("survey").epsilon == 0.75
    with refused("written by dprank 0.2"):
        again.verify(receipt)
    again.spend(Guarantee(0.125), dataset="survey")
    with refused("another digest"):
        again.verify(receipt)


def test_the_last_entry_and_its_digest_are_missed_by_whoever_has_the_receipt(budget, path):
    budget.spend(HALF, dataset="survey")
    receipt = budget.spend(HALF, dataset="survey")
    tampered(path, "DELETE FROM entries WHERE number = 2", "DELETE FROM chain WHERE number = 2")
    with refused("has 1 entries of 'survey'"):
        Budget(path).verify(receipt)


@each(
    "statement",
    [
        "UPDATE chain SET digest = ''",
        "DELETE FROM chain",
        "INSERT OR REPLACE INTO chain VALUES (0, '', '')",
        "INSERT INTO chain VALUES (9, '', '')",
    ],
)
def test_the_chain_stays(statement, tmp_path_factory):
    budget = Budget(tmp_path_factory.mktemp("p") / "budget.sqlite", epsilon=1.0)
    with closing(sqlite3.connect(budget.path)) as db, pytest.raises(sqlite3.IntegrityError, match="stays"):
        db.execute(statement)


# --- what a receipt tells --------------------------------------------------------------------------------------------


def test_a_receipt_tells_of_no_other_data_set(budget):
    # catches a number over the whole file, which counts the others' entries
    alone = budget.spend(HALF, dataset="survey")
    for dataset in ("secret one", "secret two"):
        budget.spend(HALF, dataset=dataset, new_dataset=True)
    receipt = budget.spend(HALF, dataset="survey")
    assert (alone.number, receipt.number, receipt.left.epsilon) == (1, 2, 3.0)
    # and still is of all entries: catches the digest of the second entry of the file
    assert [alone.digest, receipt.digest] == [rows(budget.path, "chain")[at][2] for at in (1, 4)]
    assert "secret" not in json.dumps(receipt.to_dict())
    assert set(receipt.to_dict()) == {"dataset", "number", "digest", "left"}


def test_no_digest_is_guessed(tmp_path):
    # catches a digest that hangs on nothing but what could be guessed, and one salt for all entries
    digests, salts = set(), set()
    for at in range(3):
        budget = Budget(tmp_path / f"{at}.sqlite", epsilon=4.0)
        digests |= {budget.spend(HALF, dataset="survey").digest for _ in range(3)}
        salts |= {salt for _, salt, _ in rows(budget.path, "chain")}
    assert len(digests) == 9
    assert len(salts) == 12
    assert all(len(bytes.fromhex(salt)) == 32 for salt in salts)


def test_a_receipt_is_read_as_it_was_written(budget, tmp_path):
    zcdp = Budget(tmp_path / "z.sqlite", epsilon=1.0, delta=1e-6, composition="zcdp")
    for receipt in (budget.spend(HALF, dataset="é"), zcdp.spend(Guarantee(0.1, 1e-9), dataset="a", rho=0.003)):
        assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt
    assert receipt.left_rho == zcdp.remaining_rho("a")
    assert receipt.left == zcdp.remaining("a")
    zcdp.verify(receipt, Guarantee(0.1, 1e-9))
    good = receipt.to_dict()
    slips = [None, 1, "x", [], {}, good | {"more": 1}, {key: good[key] for key in good if key != "digest"}]
    slips += [good | {"number": it} for it in (0, -1, 1.0, True, "1", None, [1])]
    slips += [good | {"digest": it} for it in ("", good["digest"].upper(), good["digest"] + "0", 1, None)]
    slips += [good | {"dataset": it} for it in ("", " a", 1, None, "a\nb")]
    slips += [good | {"left": it} for it in (None, {}, [], "left", good["left"] | {"model": "central"})]
    for key, wrong in (("epsilon", -1), ("epsilon", None), ("rho", "1"), ("rho", -1.0), ("unit", "x"), ("rho", True)):
        slips.append(good | {"left": good["left"] | {key: wrong}})
    for slip in slips:
        with refused("receipt = "):
            Receipt.from_dict(slip)


# --- files of version 0.2 --------------------------------------------------------------------------------------------


def test_an_old_file_is_read_as_it_is(old):
    # catches a migration by reading
    before, budget = old.read_bytes(), Budget(old)
    assert not budget.made
    assert [it.number for it in budget.entries()] == [1, 2, 3]
    assert budget.spent("survey").epsilon == 0.5
    assert budget.remaining("other").epsilon == 1.5
    with refused("written by dprank 0.2", "its next release begins to"):
        budget.receipt("survey", 1)
    with pytest.raises(BudgetRefused):
        budget.spend(Guarantee(2.0), dataset="survey")
    assert old.read_bytes() == before


def test_an_old_file_is_chained_by_its_next_entry_and_loses_nothing(old):
    now, budget, entries = version(old), Budget(old), rows(old)
    receipt = budget.spend(Guarantee(0.25), dataset="survey")
    assert (receipt.number, receipt.left.epsilon) == (3, 1.25)
    assert rows(old)[:3] == entries
    assert version(old) == now + 2
    assert len(rows(old, "chain")) == 5
    again = Budget(old)
    again.verify(receipt, Guarantee(0.25))
    for number in (1, 2, 3):
        again.verify(again.receipt("survey", number))
    tampered(old, "UPDATE entries SET what = 'x' WHERE number = 1")
    with refused("damaged"):
        Budget(old)


@each("step", range(5))
def test_killed_in_the_middle_an_old_file_stays_old(step, tmp_path_factory):
    # catches a chain that is made in a transaction of its own, or a format that says more than there is
    path = tmp_path_factory.mktemp("p") / "budget.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(OLD.format(**KINDS["basic"]))
    entries = rows(path)

    def dies():
        digest, left = _budget_file._digest, [step]

        def count(*given):
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return digest(*given)

        _budget_file._digest = count
        Budget(path).spend(HALF, dataset="survey")

    child = FORK.Process(target=dies)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    budget = Budget(path)
    assert (version(path), rows(path)) == (1, entries)
    budget.verify(budget.spend(HALF, dataset="survey"))


# --- processes -------------------------------------------------------------------------------------------------------


def together(number, door):
    """What so many processes said that began at once: a value, or the text of a refusal."""
    start, done = FORK.Event(), FORK.Queue()

    def child(at):
        start.wait()
        try:
            done.put((at, door(at)))
        except Exception as error:
            done.put((at, f"{type(error).__name__}: {error}"))

    children = [FORK.Process(target=child, args=(at,)) for at in range(number)]
    for it in children:
        it.start()
    time.sleep(0.05)
    start.set()
    said = dict(done.get(timeout=120) for _ in children)
    for it in children:
        it.join()
    return said


def test_processes_chain_an_old_file_once(old):
    # catches a format that is looked at before the transaction
    receipts = together(6, lambda at: Budget(old).spend(Guarantee(0.0625), dataset="survey"))
    budget = Budget(old)
    assert len(rows(old, "chain")) == len(rows(old)) + 1 == 10
    assert sorted(it.number for it in receipts.values()) == [3, 4, 5, 6, 7, 8]
    for receipt in receipts.values():
        budget.verify(receipt, Guarantee(0.0625))


def test_two_processes_cannot_both_make_a_data_set(budget):
    # catches a look at the names before the transaction
    budget.spend(HALF, dataset="first")
    said = together(4, lambda at: budget.spend(HALF, dataset="survey", new_dataset=True).number)
    assert sorted(map(str, said.values()))[0] == "1"
    assert [it for it in said.values() if it != 1 and "is there already" not in str(it)] == []
    assert [it.dataset for it in budget.entries()] == ["first", "survey"]
    said = together(4, lambda at: budget.spend(HALF, dataset=["Post", "post", "pOst", "po st"][at]).number)
    assert all("--new-dataset" in it for it in said.values())


def test_the_first_of_two_spellings_is_the_data_set(budget):
    said = together(4, lambda at: budget.spend(HALF, dataset=["Post", "post", "pOst", "po st"][at]).number)
    assert sorted(str(it) for it in said.values())[0] == "1"
    assert sum("differs in case or blanks alone" in str(it) for it in said.values()) == 3
    assert len(budget.entries()) == 1


# --- new data sets ---------------------------------------------------------------------------------------------------


def test_a_new_data_set_asks_for_a_word(budget):
    # catches a mistyped name, which would have the whole limit anew
    budget.spend(HALF, dataset="Staff survey 2026")
    for name in ("staff survey 2026", "Staff  survey 2026", "Staffsurvey 2026", "STAFF SURVEY 2026"):
        with refused("knows 'Staff survey 2026', which differs in case or blanks alone", "new_dataset=True"):
            budget.spend(HALF, dataset=name)
    with refused("knows 'Staff survey 2026': say that name", "--new-dataset"):
        budget.spend(HALF, dataset="Staff survey 2027")
    with refused("'Staff survey 2026' is there already"):
        budget.spend(HALF, dataset="Staff survey 2026", new_dataset=True)
    assert len(budget.entries()) == 1
    for name in ("staff survey 2026", "c", "d", "e"):
        assert budget.spend(HALF, dataset=name, new_dataset=True).number == 1
    with refused("and 2 more"):
        budget.spend(HALF, dataset="f")
    for wrong in (1, None, "yes"):
        with refused("new_dataset = "):
            budget.spend(HALF, dataset="Staff survey 2026", new_dataset=wrong)


def test_the_first_data_set_needs_no_word(tmp_path):
    for at, word in enumerate((False, True)):
        assert Budget(tmp_path / f"{at}.sqlite", epsilon=1.0).spend(HALF, dataset="a", new_dataset=word).number == 1


def test_made_and_opened(path):
    # catches a budget whose name was mistyped, and which begins anew in silence
    assert Budget(path, epsilon=1.0).made
    for again in (Budget(path), Budget(path, epsilon=1.0)):
        assert not again.made


def test_what_is_left_is_never_said_to_be_more(tmp_path, capsys):
    # catches rounding to the nearest: whoever spends what was said to be left is refused
    budget, published = Budget(tmp_path / "budget.sqlite", epsilon=4.0), tmp_path / "release.json"
    mechanism = dprank.PrivateBorda.calibrated(epsilon=1e-7, n_items=2)
    votes = dprank.Rankings([[0, 1]] * 90, "ab")
    release, receipt = budget.release_with_receipt(mechanism, votes, dataset="survey")
    published.write_text(publish(release, "consensus", receipt=receipt), encoding="utf-8")
    for words, said in (
        (["budget", budget.path], "left for survey: epsilon = 3.99999,"),
        (["report", published], "after which epsilon = 3.99999 is left"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, words)))
        assert not ended.value.code
        assert said in " ".join(capsys.readouterr().out.split())
