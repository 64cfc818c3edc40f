"""Budgets at the command line: decimals, costs that add up, how much fits, of whom they speak, what delta means."""

import json
import math
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from test_cli_every_mechanism import CASES as EVERY
from test_cli_every_mechanism import WORDS

import dprank
from dprank._typed import Typed, said
from dprank.cli import main
from dprank.plan.tags import TAGS
from dprank.privacy.budget import Budget
from dprank.privacy.filters import Limit, cost_of
from dprank.privacy.guarantee import Guarantee

BALLOTS = "who,A,B,C\n" + "".join(f"v{v},{'1,2,3' if v % 3 else '3,1,2'}\n" for v in range(60))
WIDE = ["--wide", "--items", "A,B,C"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text(BALLOTS)
    (tmp_path / "had.csv").write_text("p,it\na,x\nb,x\nc,y\n")
    return tmp_path


def run(capsys, *words):
    """What a command ends with: its code, what it prints, what it says."""
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        code = end.code
    told = capsys.readouterr()
    return code, told.out, told.err


def winner(capsys, epsilon, *more, budget="b.sqlite"):
    words = ["release", "winner", "votes.csv", *WIDE, "--person", "who", "--epsilon", epsilon, "--budget", budget]
    return run(capsys, *words, *more)


def topk(capsys, epsilon, *more, budget="b.sqlite"):
    words = ["--person", "p", "--item", "it", "--items", "x,y,z", "--k", "1", "--per-person", "1"]
    return run(capsys, "release", "topk", "had.csv", *words, "--epsilon", epsilon, "--budget", budget, *more)


def charged(path):
    with closing(sqlite3.connect(path)) as db:
        return [
            (Fraction(cost), Fraction(promised))
            for cost, promised in db.execute("SELECT charged_epsilon, epsilon FROM entries")
        ]


# --- decimals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        ("1", ["0.2"] * 5),
        ("1", ["1e-1"] * 10),
        ("1", [".30", "0.7"]),
        ("0.3", ["0.1", "0.2"]),
        ("0.9", ["0.5", "0.4"]),
        ("0.7", ["0.1"] * 7),
        ("0.30000000000000004", ["0.30000000000000004"]),
        ("0.3", ["0.15", "0.15"]),
        ("3", ["1.1", "1.9"]),
    ],
)
def test_what_is_typed_is_a_decimal(limit, parts, folder, capsys):
    """CASES.md A.14: of five fifths the last was refused, for one part in 10^17."""
    assert run(capsys, "budget", "b.sqlite", "--epsilon", limit)[0] == 0
    left = Fraction(limit)
    for at, part in enumerate(parts):
        code, _, error = winner(capsys, part, "--out", f"{at}.json")
        assert (code, error) == (0, "")
        left -= Fraction(part)
        receipt = json.loads((folder / f"{at}.json").read_text())["receipt"]
        assert Fraction(repr(receipt["left"]["epsilon"])) == left
        # no receipt and no verdict is of another number
        assert run(capsys, "verify", f"{at}.json", "--budget", "b.sqlite")[0] == 0
    assert [cost for cost, _ in charged("b.sqlite")] == [Fraction(part) for part in parts]
    for cost, promised in charged("b.sqlite"):  # never below the promise
        assert promised <= cost < Fraction(float(promised) + 2 * math.ulp(promised))
    assert winner(capsys, "1e-6")[0] == 3
    code, out, _ = run(capsys, "budget", "b.sqlite", "--json")
    found = json.loads(out)
    spent = sum(Fraction(repr(it["charged_epsilon"])) for it in found["entries"])
    assert spent == Fraction(limit) == Fraction(repr(found["spent"]["votes.csv"]["epsilon"]))
    assert found["left"]["votes.csv"]["epsilon"] == 0


def test_what_is_promised_is_no_more_than_what_was_typed(folder, capsys):
    """0.2 and 0.1 are less than the floats next to them: noise for the float would lose more than is charged."""
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "1")[0] == 0
    for epsilon in ("0.1", "0.2"):
        assert Fraction(float(epsilon)) > Fraction(epsilon)
        out = folder / f"{epsilon}.json"
        assert winner(capsys, epsilon, "--out", out)[0] == 0
        promised = dprank.publication.read_publication(out.read_text()).guarantee.epsilon
        assert Fraction(promised) <= Fraction(epsilon) < Fraction(math.nextafter(promised, 1))


def test_one_too_many_is_refused_with_what_fits(folder, capsys):
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "1")[0] == 0
    for _ in range(3):
        assert winner(capsys, "0.3")[0] == 0
    code, out, error = winner(capsys, "0.2")
    assert (code, out) == (3, "")
    assert "requested epsilon = 0.2; spent epsilon = 0.9; remaining epsilon = 0.1; missing epsilon = 0.1;" in error
    assert "at most epsilon = 0.1 fits" in error
    assert winner(capsys, "0.1")[0] == 0
    assert "nothing more fits" in winner(capsys, "0.1")[2]


def test_a_limit_of_floats_means_what_it_meant(folder, capsys):
    """A file of version 0.2, whose limit is the float below 0.3: what fitted fits, and the typed limit opens it."""
    Budget("b.sqlite", epsilon=0.3)
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "0.3")[0] == 0
    for _ in range(2):
        assert winner(capsys, "0.15")[0] == 0
    assert [cost for cost, _ in charged("b.sqlite")] == [Fraction(0.15)] * 2
    assert sum(cost for cost, _ in charged("b.sqlite")) <= Fraction(0.3)
    Budget("c.sqlite", epsilon=0.3)
    assert winner(capsys, "0.3", budget="c.sqlite")[0] == 0
    assert Budget("c.sqlite").remaining("votes.csv").epsilon == 0


def test_floats_of_python_are_what_they_were(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", epsilon=1.0)
    for _ in range(4):
        budget.spend(Guarantee(0.2), dataset="a")
    with pytest.raises(dprank.BudgetRefused):
        budget.spend(Guarantee(0.2), dataset="a")
    assert budget.spent("a").epsilon == 0.8000000000000002 or Fraction(budget.spent("a").epsilon) >= 4 * Fraction(0.2)


def test_what_was_typed_is_charged_where_it_is_the_promise_but_for_rounding():
    # catches a cost below the promise, and a promise far below that costs what was asked for
    fifth = Fraction(1, 5)
    for promised, cost in ((Typed("0.2").below, fifth), (0.2, Fraction(0.2)), (0.1, Fraction(0.1)), (0.0, 0)):
        assert cost_of(Guarantee(promised), "voter", "replace", asked=(fifth, Fraction(0))).epsilon == cost
    twice = cost_of(
        Guarantee(Typed("0.2").below, 1e-9, adjacency="add_remove"), "voter", "replace", asked=(fifth, Fraction("1e-9"))
    )
    plain = cost_of(Guarantee(Typed("0.2").below, 1e-9, adjacency="add_remove"), "voter", "replace")
    assert (twice.epsilon, twice.delta) == (2 * fifth, plain.delta)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "nan", "1e-400", "1e-999999999", "1e999999999", "0." + "3" * 999])
def test_what_is_no_decimal_of_people_is_a_float(text):
    # catches a fraction of a thousand million digits
    number = Typed(text)
    assert repr(float(number)) == repr(float(text))
    assert number.exact.denominator < 2**1600
    if math.isfinite(number):
        assert Fraction(number.below) <= number.exact


@pytest.mark.parametrize("up", [True, False])
def test_what_is_said_is_on_the_right_side(up):
    odd = Fraction(3, 10) + Fraction(1, 10**20)
    for exact in (Fraction(1, 3), 1 - Fraction(0.2), Fraction(4, 5), odd, Fraction(0.3)):
        number = said(exact, up=up)
        sides = (Fraction(number), Fraction(repr(number)))
        assert exact in sides or all((side > exact) == up for side in sides)
        assert abs(float(exact) - number) <= 2 * math.ulp(number)


def test_deltas_are_decimals_too(folder, capsys):
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "5", "--delta", "1e-6")[0] == 0
    words = ["release", "consensus", "votes.csv", *WIDE, "--person", "who", "--epsilon", "1", "--budget", "b.sqlite"]
    for _ in range(5):
        assert run(capsys, *words, "--delta", "2e-7")[0] == 0
    code, _, error = run(capsys, *words, "--delta", "2e-7")
    assert (code, "nothing more fits" in error) == (3, True)


def test_zero_concentrated_budgets_say_what_each_cost(folder, capsys):
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "0.3", "--delta", "1e-6", "--composition", "zcdp")[0] == 0
    assert winner(capsys, "0.1")[0] == 0
    _, out, _ = run(capsys, "budget", "b.sqlite")
    assert "; costs rho = 0.005" in out
    code, _, error = winner(capsys, "0.3")
    assert code == 3
    fits = float(error.split("at most epsilon = ")[1].split()[0])
    assert 0.19 <= fits <= 0.2
    assert winner(capsys, repr(fits))[0] == 0


# --- costs in the budget's own unit ----------------------------------------------------------------------------------


def test_entries_and_rest_add_up_in_the_budgets_own_unit(folder, capsys):
    """An add_remove release at 0.1 costs 0.2 of a budget of replace, and the list says so."""
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "0.3")[0] == 0
    assert topk(capsys, "0.1")[0] == 0
    _, out, _ = run(capsys, "budget", "b.sqlite")
    assert "epsilon = 0.1, delta = 0, Oneshot; costs epsilon = 0.2, delta = 0: add/remove one voter" in out
    assert "left for had.csv: epsilon = 0.1, delta = 0" in out
    code, _, error = topk(capsys, "0.1")
    assert code == 3
    assert "at most epsilon = 0.05 of adjacency 'add_remove' fits" in error
    assert topk(capsys, "0.05")[0] == 0
    found = json.loads(run(capsys, "budget", "b.sqlite", "--json")[1])
    assert [it["charged_epsilon"] for it in found["entries"]] == [0.2, 0.1]
    assert found["left"]["had.csv"]["epsilon"] == 0


@pytest.mark.parametrize("delta", [0.0, 1e-9, 3e-7, 5e-7])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_what_is_said_to_fit_fits_and_no_more(delta, adjacency, tmp_path):
    for spent in (0.0, 0.1, 0.77, 0.9999999999):
        budget = Budget(tmp_path / f"{spent}.sqlite", epsilon=1.0, delta=1e-6)
        budget.spend(Guarantee(spent), dataset="a")
        with pytest.raises(dprank.BudgetRefused) as caught:
            budget.spend(Guarantee(2.0, delta, adjacency=adjacency), dataset="a")
        fits = caught.value.fits
        if fits == 0:
            assert (1 + math.exp(0)) * delta >= 1e-6
            continue
        with pytest.raises(dprank.BudgetRefused):
            budget.spend(Guarantee(fits * (1 + 1e-9), delta, adjacency=adjacency), dataset="a")
        budget.spend(Guarantee(fits * (1 - 1e-11), delta, adjacency=adjacency), dataset="a")


def test_no_more_fits_where_delta_is_gone():
    limit = Limit(Guarantee(1.0, 1e-6))
    assert limit.fitting(cost_of(Guarantee(0.1, 1e-6), "voter", "replace"), Guarantee(2.0, 1e-9)) == 0
    rest = limit.fitting(cost_of(Guarantee(0.1, 1e-6), "voter", "replace"), Guarantee(2.0))
    assert Fraction(rest) <= 1 - Fraction(0.1) < Fraction(rest + 2 * math.ulp(rest))


# --- whom a budget speaks of -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["consensus", "winner", "agreement"])
def test_ballots_that_name_nobody_need_a_word_in_a_budget_of_persons(question, folder, capsys):
    """CASES.md A.27: three ballots of one house passed as three persons."""
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "3")[0] == 0
    more = ["--voters", "60"] if question == "agreement" else []
    words = ["release", question, "votes.csv", *WIDE, *more, "--epsilon", "1", "--budget", "b.sqlite"]
    before = (folder / "b.sqlite").read_bytes()
    code, out, error = run(capsys, *words)
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert "--person" in error
    assert "--protect ballot" in error
    for slip in (["--protect", "person"], ["--protect", "answer"], ["--protect", "ballot", "--person", "who"]):
        code, out, error = run(capsys, *words, *slip)
        assert (code, out, "protect" in error, len(error.splitlines())) == (2, "", True, 1)
    assert (folder / "b.sqlite").read_bytes() == before
    assert run(capsys, *words, "--protect", "ballot")[0] == 0
    assert run(capsys, *words, "--person", "who")[0] == 0
    assert run(capsys, *words, "--person", "who", "--protect", "person")[0] == 0
    assert ["name nobody" in entry.what for entry in Budget("b.sqlite").entries()] == [True, False, False]
    assert run(capsys, *words[:-2])[0] == 0, "without a budget nobody is counted"


def test_a_budget_of_answers_takes_ballots_without_a_word(folder, capsys):
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "3", "--unit", "comparison")[0] == 0
    assert run(capsys, "release", "winner", "votes.csv", *WIDE, "--epsilon", "1", "--budget", "b.sqlite")[0] == 0


def test_a_release_about_others_is_shown_a_way_out(folder, capsys):
    (folder / "answers.csv").write_text("who,l,r,a\n1,x,y,1\n2,y,x,0\n")
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "3")[0] == 0
    words = ["--comparisons", "l,r,a", "--items", "x,y", "--map", "1=1,0=0", "--protect", "answer", "--epsilon", "1"]
    code, _, error = run(capsys, "release", "ranking", "answers.csv", *words, "--budget", "b.sqlite")
    assert (code, len(error.splitlines())) == (2, 1)
    assert "says nothing about replace one voter" in error
    assert "--protect person" in error
    assert "--unit comparison" in error
    assert run(capsys, "budget", "c.sqlite", "--epsilon", "3", "--unit", "comparison")[0] == 0
    assert run(capsys, "release", "ranking", "answers.csv", *words, "--budget", "c.sqlite")[0] == 0
    assert run(capsys, "budget", "d.sqlite", "--epsilon", "3", "--adjacency", "add_remove")[0] == 0
    code, _, error = winner(capsys, "1", budget="d.sqlite")
    assert (code, "--adjacency add_remove" in error, "--adjacency replace" in error) == (2, True, True)
    assert winner(capsys, "1", "--adjacency", "add_remove", budget="d.sqlite")[0] == 0


# --- delta -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "persons", "said"),
    [
        ("0.5", [], "delta = 0.5 is above 0.001"),
        ("0.002", ["--persons", "100"], "delta = 0.002 is above 0.001"),
        ("0.001", [], ""),
        ("0.001", ["--persons", "2000"], "delta = 0.001 is above 1 / 2000 people"),
        ("0.0004", ["--persons", "2000"], ""),
        ("0", [], ""),
    ],
)
def test_a_delta_above_one_in_all_people_is_warned_of(delta, persons, said, folder, capsys):
    """CASES.md A.26. By public numbers alone: the same of any file."""
    for votes in (BALLOTS, BALLOTS[:200].rsplit("\n", 1)[0] + "\n"):
        (folder / "votes.csv").write_text(votes)
        words = ["consensus", "votes.csv", *WIDE, "--person", "who", "--epsilon", "1", "--delta", delta, *persons]
        code, _, error = run(capsys, "release", *words)
        assert code == 0
        assert error.startswith(f"dprank: {said}" if said else "")
        assert len(error.splitlines()) == bool(said)


@pytest.mark.parametrize(("delta", "warned"), [(0.01, True), (0.0025, False), (0.0, False)])
def test_a_plan_warns_of_delta_too(delta, warned):
    found = dprank.plan("consensus", items=4, persons=400, epsilon=1.0, delta=delta)
    assert any(line.startswith("delta = 0.01 is above 1 / 400 people") for line in found.cautions) == warned


# --- nothing spent is lost -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["publish", "shown_columns", "told", "SECURE.discrete_laplace"])
def test_what_would_fail_after_the_spending_is_tried_before(what, folder, capsys, monkeypatch):
    def fails(*_, **__):
        raise ValueError("it cannot be")

    assert run(capsys, "budget", "b.sqlite", "--epsilon", "1")[0] == 0
    home = "dprank.privacy.noise" if "SECURE" in what else "dprank.cli.drawing"
    monkeypatch.setattr(f"{home}.{what}", fails)
    words = ["release", "consensus", "votes.csv", *WIDE, "--person", "who", "--epsilon", "1", "--budget", "b.sqlite"]
    code, out, error = run(capsys, *words)
    assert (code, out, error) == (2, "", "dprank: it cannot be\n")
    assert Budget("b.sqlite").entries() == []


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize("sink", ["/dev/full", "a pipe that nobody reads"])
def test_what_cannot_be_shown_is_kept_beside_the_budget(flags, sink, folder):
    Budget("b.sqlite", epsilon=1.0)
    words = ["release", "winner", "votes.csv", *WIDE, "--person", "who", "--epsilon", "1", "--budget", "b.sqlite"]
    command = f'"{sys.executable}" -m dprank.cli {" ".join([*words, *flags])}'
    if sink == "/dev/full":
        shell = f"{command} > /dev/full"
    else:
        shell = f"exec 3> >(exec 0<&-; sleep 2); sleep 0.5; {command} >&3"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (kept,) = folder.glob("b-entry-1-*.json")
    assert f"what was paid for is kept in {kept}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    found = json.loads(kept.read_text())
    assert found["receipt"]["number"] == 1
    assert dprank.publication.read_publication(kept.read_text()).publishable
    assert len(Budget("b.sqlite").entries()) == 1


@pytest.mark.parametrize("epsilon", ["5e-324", "1e-320", "1e-300", "1e-20", "1e-17"])
@pytest.mark.parametrize("mechanism", ["PrivateBorda", "NoisyMatrix", "PrivateKwikSort", "PrivateFootrule"])
def test_noise_that_does_not_exist_is_refused_before_an_entry(epsilon, mechanism, folder, capsys):
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "1")[0] == 0
    words = ["release", "consensus", "votes.csv", *WIDE, "--person", "who", "--mechanism", mechanism]
    code, out, error = run(capsys, *words, "--epsilon", epsilon, "--budget", "b.sqlite")
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert error.startswith(f"dprank: epsilon = {float(epsilon)}")
    assert "inf" not in error
    assert Budget("b.sqlite").entries() == []


def test_a_budget_of_version_0_2_means_what_it_meant(folder, capsys):
    """From the corpus: a limit of the float 0.3, of which the float 0.1 is spent."""
    old = Path(__file__).parents[1] / "corpus" / "budget" / "floats.sqlite"
    shutil.copy(old, "b.sqlite")
    budget = Budget("b.sqlite")
    assert (budget.limit, budget.spent("votes.csv")) == (Guarantee(0.3), Guarantee(0.1))
    assert budget.remaining("votes.csv").epsilon == float(Fraction(0.3) - Fraction(0.1))
    assert [(it.epsilon, it.charged_epsilon) for it in budget.entries()] == [(0.1, 0.1)]
    # the float 0.2 is more than is left, and was refused; what is made for no more than a fifth fits to the last bit
    with pytest.raises(dprank.BudgetRefused):
        budget.spend(Guarantee(0.2), dataset="votes.csv")
    assert winner(capsys, "0.2", "--out", "r.json")[0] == 0
    assert charged("b.sqlite")[1][0] == Fraction(0.3) - Fraction(0.1)
    assert run(capsys, "verify", "r.json", "--budget", "b.sqlite")[0] == 0
    assert winner(capsys, "1e-9")[0] == 3


@pytest.mark.parametrize(("name", "way"), EVERY, ids=[f"{name} {' '.join(way)}".strip() for name, way in EVERY])
def test_every_mechanism_is_paid_for_as_typed(name, way, tmp_path, capsys):
    """The trial beforehand refuses none of them, and 0.2 of each is a fifth, or what it promises if that is less."""
    question = TAGS[name].question
    more = ["--voters", "250"] if question == "agreement" else []
    words = ["release", question, *WORDS[question], *more, "--mechanism", name, *way, "--epsilon", "0.2"]
    kept = tmp_path / "b.sqlite"
    assert run(capsys, "budget", kept, "--epsilon", "1", "--delta", "1e-3")[0] == 0
    code, _, error = run(capsys, *words, "--budget", kept)
    assert (code, error) == (0, "")
    ((cost, promised),) = charged(kept)
    times = 2 if Budget(kept).entries()[0].adjacency == "add_remove" else 1
    assert times * promised <= cost <= times * Fraction(1, 5)
    assert cost > times * Fraction(1, 5) * (1 - Fraction(1, 100))
