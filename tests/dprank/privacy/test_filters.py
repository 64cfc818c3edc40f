"""Zero-concentrated composition: exact sums, closed forms, and what is no filter."""

import dataclasses
import math
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from checks import each, refused
from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant

import dprank
from dprank.privacy.budget import Budget, BudgetRefused
from dprank.privacy.divergence import pair_of
from dprank.privacy.filters import NOTHING, Cost, Limit, cost_of, most_rho
from dprank.privacy.gaussian import gaussian_epsilon, zcdp
from dprank.privacy.guarantee import Guarantee

LIMIT = Limit.of(Guarantee(1.0, 1e-6), "zcdp")


def cost(epsilon, delta=0.0, rho=None, adjacency="replace"):
    return cost_of(Guarantee(epsilon, delta, adjacency=adjacency), "voter", "replace", rho)


def fit(limit, one):
    """How many fit, one by one."""
    total, count = NOTHING, 0
    while limit.fits(total + one):
        total, count = total + one, count + 1
    return count


@pytest.fixture
def budget(tmp_path):
    return Budget(tmp_path / "budget.sqlite", epsilon=1.0, delta=1e-6, composition="zcdp")


def test_the_limit_of_rho_keeps_its_epsilon_and_is_the_largest():
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-3), (1e-3, 1e-12)):
        rho = float(most_rho(epsilon, delta))
        assert zcdp(rho, delta) <= epsilon < zcdp(rho * (1 + 1e-9), delta)


@pytest.mark.parametrize("scale", [5.0, 20.0])
def test_as_many_gaussian_releases_fit_as_another_accountant_says(scale):
    # catches a square that is forgotten, and a half: one release more or less is 1 % of what fits
    one = cost(gaussian_epsilon(1.0, scale, 1e-9), 1e-9, 1 / (2 * scale**2))
    count = fit(LIMIT, one)

    def theirs(times):
        # orders beside ours, which are chosen
        accountant = RdpAccountant(orders=np.linspace(1.5, 300, 3000))
        return accountant.compose(SelfComposedDpEvent(GaussianDpEvent(scale), times)).get_epsilon(5e-7)

    assert theirs(count) <= 1.0 * (1 + 1e-4) < theirs(count + max(1, count // 100))
    basic = fit(Limit.of(Guarantee(1.0, 1e-6), "basic"), one)
    assert count > 3 * basic


def test_small_pure_losses_add_up_to_less_and_one_large_one_is_all():
    count = fit(LIMIT, cost(0.01))
    assert count == int(LIMIT.rho / (Fraction(0.01) ** 2 / 2)) > 2 * fit(Limit.of(Guarantee(1.0), "basic"), cost(0.01))
    assert fit(LIMIT, cost(1.0)) == 1
    assert fit(LIMIT, cost(0.125)) == 8, "never less than basic composition of pure losses"
    assert not LIMIT.fits(cost(math.nextafter(1.0, 2)))


def test_basic_sums_are_used_of_pure_losses_only():
    # catches a union of two filters that both spend the delta
    assert LIMIT.fits(cost(0.9))
    assert not LIMIT.fits(cost(0.9) + cost(0.05, 1e-9))
    assert LIMIT.fits(cost(0.1) + cost(0.05, 1e-9))
    assert not LIMIT.fits(cost(0.01, 6e-7)), "half of delta is for the conversion"
    assert LIMIT.fits(cost(0.01, 5e-7))
    assert not LIMIT.fits(cost(0.01, 5e-7) + cost(0.01, 1e-12))


def test_a_release_of_unknown_law_is_half_its_square_and_its_delta():
    one = cost(0.5, 1e-8)
    assert (one.rho, one.rest) == (Fraction(1, 8), Fraction(1e-8))
    # catches an eighth for every pure mechanism
    assert cost(0.5).rho == Fraction(1, 8)
    assert cost(0.5, rho=0.5**2 / 8).rho == Fraction(1, 32) * (1 + Fraction(1, 2**40))
    assert cost(0.5, rho=9.0).rho == Fraction(1, 8), "what is stated is no more than what follows from epsilon"
    assert cost(0.5, 1e-8, rho=9.0).rho == 9 * (1 + Fraction(1, 2**40))
    assert cost(0.5, 1e-8, rho=math.inf) == one


def test_to_replace_is_to_remove_and_to_add():
    # catches the forgotten factor: twice the epsilon, four times rho
    one, other = cost(0.25, rho=0.01, adjacency="add_remove"), cost(0.25, rho=0.01)
    assert (one.epsilon, one.rho) == (2 * other.epsilon, 4 * other.rho)
    assert cost(0.25, adjacency="add_remove").rho == cost(0.5).rho
    kept = cost_of(Guarantee(0.25, adjacency="add_remove"), "voter", "add_remove", 0.01)
    assert kept.rho == other.rho


def test_privacy_loss_distributions_are_no_filter():
    # after a randomized response of loss 1 either of two mechanisms brings delta to what is allowed; chosen by the
    # response, they lose more
    p = math.e / (1 + math.e)
    response = {1: (p, 1 - p), -1: (1 - p, p)}
    a = 0.5
    odds = math.exp(a) / (1 + math.exp(a))
    leak = p * math.tanh(a / 2)
    mechanisms = {
        "answer": {"yes": (odds, 1 - odds), "no": (1 - odds, odds)},
        "leak": {"one": (leak, 0.0), "other": (0.0, leak), "nothing": (1 - leak, 1 - leak)},
    }

    def delta(choose):
        joint = {
            (x, y): (px * py, qx * qy)
            for x, (px, qx) in response.items()
            for y, (py, qy) in mechanisms[choose(x)].items()
        }
        first, second = ({key: pair[side] for key, pair in joint.items()} for side in (0, 1))
        return float(pair_of(first, second).delta(1.0))

    fixed = [delta(lambda x, name=name: name) for name in mechanisms]
    assert fixed == pytest.approx([leak, leak])
    adaptive = delta(lambda x: "answer" if x == 1 else "leak")
    assert adaptive == pytest.approx(leak * (2 - p))
    assert adaptive > 1.25 * leak


def test_pld_is_refused_with_its_reason(tmp_path):
    with refused("composition = 'pld'", "chosen after seeing others", "'basic' or 'zcdp'"):
        Budget(tmp_path / "budget.sqlite", epsilon=1.0, delta=1e-6, composition="pld")
    with refused("composition = 'best'"):
        Budget(tmp_path / "budget.sqlite", epsilon=1.0, delta=1e-6, composition="best")
    with refused("delta = 0.0", "above 0"):
        Budget(tmp_path / "budget.sqlite", epsilon=1.0, composition="zcdp")
    assert not list(tmp_path.iterdir())


def test_what_a_mechanism_states_is_spent(budget):
    mechanism = dprank.PrivateBorda.calibrated(epsilon=0.4, delta=1e-9, n_items=2)
    votes = dprank.Rankings([[0, 1]] * 9, "ab")
    for _ in range(3):
        budget.release(mechanism, votes, dataset="a")
    assert [entry.rho for entry in budget.entries()] == [mechanism.rho] * 3
    exact = most_rho(1.0, 5e-7) - 3 * Fraction(mechanism.rho) * (1 + Fraction(1, 2**40))
    left = budget.remaining_rho("a")
    assert Fraction(left) <= exact < Fraction(math.nextafter(left, 1))
    # basic composition would have refused the third
    assert budget.spent("a").epsilon < 0.75
    assert budget.spent("a").delta == 5e-7
    assert (budget.composition, budget.limit) == ("zcdp", Guarantee(1.0, 1e-6))


def test_what_remains_fits_and_no_more(budget):
    for start in (0.1, 0.0):
        dataset = f"{start}"
        budget.spend(Guarantee(start, 1e-9), dataset=dataset, new_dataset=True)
        left = budget.remaining(dataset)
        with pytest.raises(BudgetRefused) as caught:
            budget.spend(Guarantee(math.nextafter(left.epsilon, 2) * (1 + 1e-15)), dataset=dataset)
        asked, rest, missing = caught.value.rho
        assert missing > 0
        assert asked > rest
        assert "by rho: requested" in str(caught.value)
        budget.spend(left, dataset=dataset)
        assert budget.remaining(dataset).epsilon < 1e-7


@each("delta", [5e-324, 1e-300, 4.4e-7, 0.3])
@each("epsilon", [1e-300, 1.0, 1e300])
def test_what_fits_is_soon_found(delta, epsilon, monkeypatch):
    # catches a search by steps of a 10^12th: of a file that says it has spent more than its limit it found no end
    asked, takes = [], Limit._takes

    def counted(*given):
        asked.append(given)
        return takes(*given)

    monkeypatch.setattr(Limit, "_takes", counted)
    limit = Limit.of(Guarantee(epsilon, delta), "basic")
    for spent, of_delta, adjacency in product((0, 0.5, 1, 2), (0, 0.5, 1 - 1e-16, 1), ("replace", "add_remove")):
        before = Cost(limit.epsilon / 4, Fraction(delta) * Fraction(spent), Fraction(0), Fraction(0))
        given = Guarantee(1.0, delta * of_delta, adjacency=adjacency)
        asked.clear()
        found = limit.fitting(before, given)
        assert len(asked) <= 64
        assert not found or limit._takes(before, dataclasses.replace(given, epsilon=found))
        assert spent < 2 or not found


def test_the_file_says_enough_to_add_up_anew(budget):
    budget.spend(Guarantee(0.1), dataset="a")
    budget.spend(Guarantee(0.1, 1e-8, adjacency="add_remove"), dataset="a", rho=0.001)
    budget.spend(Guarantee(0.1, 1e-8), dataset="a")
    with closing(sqlite3.connect(budget.path)) as db:
        rows = db.execute("SELECT epsilon, delta, adjacency, rho, charged_rho, charged_rest FROM entries").fetchall()
        ((limit, spare),) = db.execute("SELECT rho, spare FROM limits").fetchall()
        assert db.execute("PRAGMA user_version").fetchone() == (4,)
        with pytest.raises(sqlite3.IntegrityError, match="stays"):
            db.execute("UPDATE entries SET charged_rho = '0/1'")
    assert (Fraction(limit), Fraction(spare)) == (most_rho(1.0, 5e-7), Fraction(1e-6) / 2)
    for epsilon, delta, adjacency, rho, charged, rest in rows:
        factor = 4 if adjacency == "add_remove" else 1
        anew = Fraction(rho) * (1 + Fraction(1, 2**40)) if rho else Fraction(epsilon) ** 2 / 2
        assert Fraction(charged) == factor * anew
        assert Fraction(rest) == (0 if rho else Fraction(delta))
    total = sum((Fraction(row[4]) for row in rows), Fraction(0))
    assert Fraction(budget.remaining_rho("a")) <= Fraction(limit) - total


@pytest.mark.parametrize("value", ["'x'", "'-1/2'", "''", "'1/0'"])
def test_damage_is_seen(budget, value):
    budget.spend(Guarantee(0.1), dataset="a")
    with closing(sqlite3.connect(budget.path)) as db, db:
        db.execute("DROP TRIGGER entries_stay")
        db.execute(f"UPDATE entries SET charged_rho = {value}")
        db.execute("CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT 1; END")
    with refused("budget.sqlite", "damaged"):
        budget.spend(Guarantee(0.1), dataset="a")


def test_the_composition_of_a_file_is_fixed(budget, tmp_path):
    assert Budget(budget.path, composition="zcdp").composition == "zcdp"
    with refused("composition = 'basic'", "'zcdp'"):
        Budget(budget.path, composition="basic")
    basic = Budget(tmp_path / "basic.sqlite", epsilon=1.0)
    with refused("composition = 'zcdp'", "'basic'"):
        Budget(basic.path, composition="zcdp")
    basic.spend(Guarantee(0.5), dataset="a", rho=0.01)
    assert (basic.remaining_rho("a"), basic.entries()[0].rho, basic.composition) == (None, None, "basic")
    with closing(sqlite3.connect(basic.path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,), "older versions would leave holes in the chain"


def test_hostile_rho(budget):
    for wrong in (-1.0, math.nan, "1", None, True, 1j):
        if wrong is not None:
            with refused("rho = "):
                budget.spend(Guarantee(0.01, 1e-9), dataset="a", rho=wrong)
    with pytest.raises(BudgetRefused):
        budget.spend(Guarantee(0.01, 1e-9), dataset="a", rho=1e300)
    assert not budget.entries()


def test_sums_of_costs_are_exact():
    total = sum((cost(0.1) for _ in range(10)), NOTHING)
    assert total == Cost(10 * Fraction(0.1), Fraction(0), 5 * Fraction(0.1) ** 2, Fraction(0))
