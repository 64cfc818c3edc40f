# Statistical tests have fixed seeds and a false-alarm rate of 1e-6 each.
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from checks import all_rankings, each, refused

from companion.chapters.private_aggregation import borda as study
from companion.chapters.private_aggregation import borda_guarantee
from companion.ledger.claim import derive
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.rules import borda
from dprank.privacy.gaussian import gaussian_scale

SIZES = [2**k for k in range(3, 10)]


@pytest.fixture(scope="module")
def constants():
    return borda_guarantee.constants(4)


@pytest.mark.slow
def test_programmes_find_what_grids_of_voters_find():
    rows = all_rankings(3)
    ratio = 1.0
    for weights in np.ndindex(*[7] * 6):
        if not 0 < sum(weights) <= 6:
            continue
        w = np.einsum("v,vij->ij", np.array(weights, float), rows[:, :, None] < rows[:, None])
        costs = {order: kemeny_score(order, w) for order in permutations(range(3))}
        places = w.sum(axis=0)
        sorted_ = [c for o, c in costs.items() if (np.diff(places[list(o)]) >= 0).all()]
        if min(costs.values()) > 0:
            ratio = max(ratio, max(sorted_) / min(costs.values()))
    assert borda_guarantee.worst_case(3, noise=False) == pytest.approx(ratio)


def test_constants(constants):
    assert constants["K/OPT, any matrix"].tolist() == pytest.approx([1, 2, 3])
    assert constants["K/OPT, true rankings"].tolist() == pytest.approx([1, 3 / 2, 5 / 3])
    assert constants["noise"].tolist() == pytest.approx(constants["noise, formula"].tolist())
    with refused("votes = False"):
        borda_guarantee.worst_case(3, noise=True, votes=False)


def test_smaller_constants_are_rejected(constants):
    assert [c.outcome for c in borda_guarantee.check_theorem(constants)] == [True, True]
    assert [c.outcome for c in borda_guarantee.check_theorem(constants, noise=1)] == [True, False]
    assert [c.outcome for c in borda_guarantee.check_theorem(constants, optimum=2)] == [False, True]


@pytest.mark.slow
def test_stretched_blocks_against_the_definition():
    items, block, stretch, share = 12, 3, 2.0, 0.3
    i = np.arange(items)
    few = sorted(i, key=lambda x: (x // 3 * 3 + 1 + (1 - x % 3) * stretch, x))
    places = np.argsort(few)
    w = (1 - share) * (i[:, None] < i) + share * (places[:, None] < places)
    expected = kemeny_score(np.argsort(w.sum(axis=0), kind="stable"), w) / kemeny_score(i, w)
    assert borda_guarantee.stretched_blocks(items, block, stretch, share) == pytest.approx(expected)
    assert borda_guarantee.bad_for_borda([(2000, 10, 12)])["ratio"][0] > 2.5


def test_condorcet_holds_and_borda_fails():
    checks = borda_guarantee.check_condorcet()
    assert derive(checks) == "holds"
    assert derive(borda_guarantee.check_condorcet(lambda w: borda(w)[None])) == "refuted"


def test_either_or():
    checks = study.check_either_or(SIZES, 1.0, 1e-6)
    assert derive(checks) == "depends on the reading"
    assert [check.what[:3] for check in checks if not check.outcome] == ["log"]


def test_either_or_rejects_the_sum_of_all_noise(monkeypatch):
    exact = study.matrix_error
    monkeypatch.setattr(study, "matrix_error", lambda m, *rest: exact(m, *rest) * m**0.5)
    assert not study.check_either_or(SIZES, 1.0, 1e-6)[-1].outcome


def test_either_or_sees_an_error_that_falls_like_the_bound(monkeypatch):
    monkeypatch.setattr(study, "unanimous_excess", lambda m, n, epsilon: 0.0)
    assert derive(study.check_either_or(SIZES, 1.0, 1e-6)) == "holds"


def test_a_scheme_may_turn_so_many_pairs():
    # votes that agree, noise of a tenth, clipped: the best order pays the smaller of each pair's fractions at least
    rng, m, xi = np.random.default_rng(5), 40, 0.5
    noise = np.clip(1 + 0.1 * rng.standard_normal((4000, m * (m - 1) // 2)), 0, 1)
    allowed = np.floor(xi * np.minimum(noise, 1 - noise).sum(axis=1)).mean()
    voters = study.corollary_4(m, 1.0, 1e-6, constant=study.CONSTANT).mechanism.scale / 0.1
    assert allowed - 1 <= study.allowed_error(m, xi, 1.0, 1e-6) / voters <= allowed + 1


@pytest.mark.slow
def test_matrix_error_bounds_the_excess():
    # no signal, so that the noise alone chooses the order, against 55 : 45
    rng = np.random.default_rng(1)
    m, n = 7, 400
    scale = gaussian_scale((m * (m - 1) / 2) ** 0.5, 1.0, 1e-6)
    order = np.arange(m)
    w = np.where(order[:, None] < order, 0.55, 0.45) * (1 - np.eye(m))
    excess = []
    for _ in range(60):
        drawn = np.triu(rng.normal(0, scale / n, (m, m)), 1)
        excess.append(kemeny_score(kemeny(w + drawn - drawn.T).order, w) - kemeny(w).cost)
    assert 0.02 < np.mean(excess) * n / study.matrix_error(m, 1.0, 1e-6) < 1


def test_interactive(constants):
    checks = study.check_interactive(constants, SIZES, [0.1, 1.0], study.local_noise(["parties"], 1.0, 60))
    assert derive(checks) == "holds"
    assert all(c.outcome for c in checks if c.about == "corrected")


def test_interactive_rejects_the_noise_of_all_pairs(constants, monkeypatch):
    honest = study.additive
    monkeypatch.setattr(study, "additive", lambda model, m, *rest: honest(model, m, *rest) * m**0.5)
    checks = study.check_interactive(constants, SIZES, [0.1, 1.0], study.local_noise(["parties"], 1.0, 60))
    assert [check.outcome for check in checks[:3]] == [True, False, False]


def test_interactive_rejects_sorting_in_one_round(constants, monkeypatch):
    monkeypatch.setattr(study, "mean_rounds", lambda n_items: 1.0)
    checks = study.check_interactive(constants, SIZES, [1.0], study.local_noise(["parties"], 1.0, 60))
    assert derive(checks) == "refuted"


def test_local_noise_against_its_bound():
    frame = study.local_noise(["parties"], 1.0, 60)
    (check,) = study.check_local_noise(frame)
    assert check.outcome
    # a sum of nearly Gaussian numbers: sqrt(2 / pi) of the bound
    assert abs(check.observed - (2 / np.pi) ** 0.5) < 0.15
    (mutant,) = study.check_local_noise(frame.assign(mean=frame["mean"] * 2))
    assert mutant.outcome is False


def test_local_additive_error_is_twice_the_mean_of_the_noise():
    for m in (3, 10):
        assert borda_guarantee.additive("central", m, 0.5) == pytest.approx(2 * m * (m * m // 2) / 0.5)
        assert borda_guarantee.additive("local", m, 0.5) <= 2**-0.5 * m**2.5 / np.tanh(0.25)


@each("name", study.INSTANCES)
def test_instances(name):
    data = study.instance(name)
    assert (data.n_items, len(data)) == {"parties": (6, 160), "universities": (6, 81)}.get(
        name, (5 if "Borda" in name else 10, 1000)
    )


@pytest.mark.slow
def test_hard_data_are_hard():
    row = study.instances().set_index("data").loc["hard for Borda"]
    assert row["Borda"] / row["optimum"] > 1.3
    with refused("name = 'nope'"):
        study.instance("nope")


def test_neighbours_are_the_right_way_round():
    rng = np.random.default_rng(2)
    margins = rng.normal(size=(8, 8))
    margins -= margins.T
    order = study.swap_neighbours(rng.permutation(8), margins)
    assert sorted(order) == list(range(8))
    assert (margins[order[:-1], order[1:]] > 0).all()


@pytest.mark.parametrize(("model", "delta"), [("central", 0.0), ("central", 1e-6), ("local", 0.0)])
def test_equal_privacy_is_equal(model, delta):
    for mechanism in study._mechanisms(model, 6, 1.0, delta).values():
        guarantee = mechanism.release(study.instance("parties"), np.random.default_rng(3)).guarantee
        assert 0.9 < guarantee.epsilon <= 1 + 1e-9
        assert guarantee.delta == pytest.approx(delta)
        assert guarantee.adjacency == "replace"


def test_excess_is_that_of_the_orders():
    frame = study.equal_privacy("central", [50.0], 4, names=["two camps", "parties"])
    w = pairwise_fractions(study.instance("two camps"))
    floor = (kemeny_score(borda(w), w) - kemeny(w).cost) / 45
    camps = frame[frame["data"] == "two camps"].set_index("method")
    assert camps.loc[study.SCORES, "mean"] == pytest.approx(floor)
    assert camps.loc[study.SCORES, "floor"] == pytest.approx(floor)
    assert camps.loc[study.MATRIX, "mean"] == pytest.approx(0, abs=1e-12)
    wide = study.side_by_side(frame)
    assert isinstance(wide, pd.DataFrame)
    assert wide["data"].tolist() == ["two camps", "parties"]
    assert study.ahead(frame)[50.0].tolist() == [study.MATRIX, "level"]
    assert study.ahead(frame.assign(se=1.0))[50.0].tolist() == ["level", "level"]


def test_a_separation_depends_on_what_is_promised(monkeypatch):
    record = study.check_separation()
    assert record.verdict == "depends on the reading"
    assert all(c.outcome for c in record if c.about == "corrected")
    right = study.additive
    monkeypatch.setattr(study, "additive", lambda model, m, epsilon: right(model, m, epsilon) * m)
    assert study.check_separation().verdict == "holds"
