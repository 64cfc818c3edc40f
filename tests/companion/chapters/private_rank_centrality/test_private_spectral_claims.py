"""Exact enumeration on small graphs; simulations have fixed seeds, a false alarm of 1e-6 a test."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from companion.chapters.private_rank_centrality import private_spectral as e
from companion.ledger.claim import derive
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix

CASES = [("two items", 3), ("triangle", 2), ("path of 3", 6), ("all pairs but one of 4", 1), ("all pairs of 4", 1)]


@pytest.fixture(scope="module")
def moves():
    return e.sensitivities(CASES)


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


# --- all data on a graph ---


def test_all_data_by_hand():
    data = e.all_data("path of 3", 1)
    assert data.shares.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    # the first item beat the second; the third beat the second; both ends stay where they are
    assert data.tau.tolist() == [1, 1, 0.5, 1]
    assert np.isnan(data.law[1]).all()
    np.testing.assert_allclose(data.law[[0, 2, 3]], np.eye(3))
    assert sorted(zip(data.first, data.second, strict=True)) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert e.refusals("path of 3", 1) == 2


def test_neighbours_differ_in_one_sample():
    data = e.all_data("triangle", 3)
    change = (data.shares[data.second] - data.shares[data.first]) * 3
    assert (np.abs(change).sum(1).round(9) == 1).all()
    assert len(change) == 3 * 3 * 4**2


def test_sensitivities(moves):
    row = moves.set_index("graph").loc["triangle"]
    assert row["pi"] == pytest.approx(2)  # 1 / L
    assert row.printed == pytest.approx(4)
    assert (moves["not unique"] == 0).all()
    assert (moves["one valid rho"] <= 1 + 1e-9).all()
    assert (moves.damped <= 1.5 + 1e-9).all()
    assert (moves.relative <= 3.5 + 1e-9).all()
    # the undamped shares of a graph that lacks a pair move by more than any of these
    assert moves["pi"].max() > 4


def test_perturbation_ratios_against_dense_norms():
    found = e.perturbation_ratios([("triangle", 1)]).iloc[0]
    data = e.all_data("triangle", 1)
    chains = [transition_matrix(3, data.mechanism.edges, row).toarray() for row in data.shares]
    ratios = [
        (1 - data.tau[a]) * np.abs(data.law[a] - data.law[b]) / np.abs(chains[a] - chains[b]).sum(1).max()
        for a in range(8)
        for b in range(8)
        if a != b and data.tau[a] < 1
    ]
    assert found["pairs"] == len(ratios)
    assert found["largest"] == pytest.approx(np.max(ratios))
    assert found["sum"] == pytest.approx(np.sum(ratios, axis=1).max())


def test_incomplete_graphs():
    frame = e.incomplete_graphs(4)
    # connected labelled graphs on 3 and 4 vertices: 4 and 38, less the complete ones
    assert frame["items"].value_counts().to_dict() == {4: 37, 3: 3}
    assert (frame["largest tau"] == 1).all()


# --- random graphs ---


def test_overlap_rule_is_the_coefficient():
    for samples in (0, 1, 2):
        for seed in range(40):
            got = e.constrained_draws(7, 0.7, samples, 1, np.random.default_rng(seed))[0]
            again = np.random.default_rng(seed)
            edge = again.random(21) < 0.7
            pairs = np.array(list(combinations(range(7), 2)))[edge]
            shares = again.binomial(samples, 0.5, 21)[edge] / samples if samples else np.full(len(pairs), 0.5)
            assert got == (ergodicity_coefficient(transition_matrix(7, pairs, shares)) < 1)


def test_first_moment_bounds_hold_for_the_simulation():
    n = 400
    for m, p, samples in ((30, 0.3, 0), (30, 0.55, 0), (30, 0.95, 1)):
        hits = int(e.constrained_draws(m, p, samples, n, np.random.default_rng(2)).sum())
        low, high = stats.beta.ppf([1e-6, 1 - 1e-6], [hits, hits + 1], [n - hits + 1, n - hits])
        assert np.nan_to_num(low) <= 1
        assert (high if hits < n else 1) >= 1 - e.unconstrained_at_most(m, p, samples)
        if not samples:
            assert (low if hits else 0) <= e.constrained_at_most(m, p)
    assert e.constrained_at_most(10_000, 0.0018) < 0.05
    assert e.threshold(100, 1) == pytest.approx(2 * e.threshold(100))


def test_gap_of_equal_items():
    pairs = e.all_pairs(9)
    tau = ergodicity_coefficient(transition_matrix(9, pairs, np.full(len(pairs), 0.5)))
    assert 1 - tau == pytest.approx(e.public_gap(9))


# --- privacy ---


@pytest.mark.slow
def test_model_rho_limit_is_the_exact_delta():
    assert e.model_rho_delta(150, 300) == pytest.approx(e.model_rho_limit(150), abs=1e-6)
    smallest = e.smallest_model_refutation()
    assert e.model_rho_limit(smallest - 1) <= e.DELTA < e.model_rho_limit(smallest)


def test_set_delta_by_hand():
    # two items apart by x: the first leads with probability 1 - (2 + x) exp(-x) / 4
    tail = (2 + 1) * math.exp(-1) / 4
    assert e.set_delta([1.0, 0.0], [0.0, 1.0], 1.0, 1, 0.2) == pytest.approx(1 - tail - math.exp(0.2) * tail)


def test_printed_noise_passes_and_a_tenth_of_it_fails():
    assert e.largest_delta(0.75, [10, 1000]) <= 1
    assert e.largest_delta(7.5, [10, 1000]) > 1


# --- use ---


@pytest.mark.slow
def test_recall_draws_find_all_with_many_samples():
    draws = e.recall_draws(12, 2, 1.0, 10**6, 1.0, 1e-6, 0.5, 3, np.random.default_rng(0))
    assert set(draws) == {(method,) for method in e.METHODS}
    assert all((values == 1).all() for values in draws.values())
    blind = e.recall_draws(12, 3, 1.0, 1, 1e-3, 1e-6, 0.5, 40, np.random.default_rng(0))
    for method in e.METHODS[1:]:
        assert abs(blind[method,].mean() - 0.25) < 6 * 0.25 / math.sqrt(40)


def test_counts_and_the_model_beat_counts_where_rivals_differ():
    # a thin graph and little noise: counts over degrees stay wrong, the model is right; errors of the means below 0.03
    draws = e.recall_draws(50, 5, 0.12, 3000, 0.2, 1e-6, 0.5, 30, np.random.default_rng(1))
    assert draws["win counts, then the model",].mean() > 0.97
    assert draws["win counts over degrees",].mean() < 0.95


def test_more_teleport_needs_less_noise():
    ratio = e.teleport_noise([0.01, 0.3, 0.9, 0.999])["noise / gap, win counts = 1"]
    damped, *undamped = ratio
    assert (np.diff(undamped) < 0).all()
    assert undamped[-1] == pytest.approx(1.5, rel=0.01)
    assert undamped[-1] < damped < undamped[0]


def test_noise_quantile():
    # one against one: the difference of two Laplace variables has median 0
    assert e.noise_quantile(2, 1) == pytest.approx(0, abs=1e-3)
    t, rng = e.noise_quantile(30, 4), np.random.default_rng(3)
    kept = rng.laplace(t, size=(20_000, 4)).min(1) > rng.laplace(size=(20_000, 26)).max(1)
    assert abs(kept.mean() - 0.5) < 5 * 0.5 / math.sqrt(20_000)


def test_least_samples_orders():
    frame = e.least_samples([(25, 1), (25, 5), (100, 5)])
    methods = ["win counts", "chain, relative", "chain, least noise", "chain, as printed"]
    assert (np.diff(frame[methods]) > 0).all()
    assert frame["chain, as printed"][2] > frame["chain, as printed"][1]


# --- checks ---


def test_verdicts(moves):
    definition = e.check_constrained_graph(e.incomplete_graphs(3), moves)
    ratios = e.perturbation_ratios([("triangle", 1), ("path of 3", 2)])
    algorithm = e.check_algorithm([("path of 3", 2), ("triangle", 1)])
    theorem = e.check_theorem(moves, [2, 10, 1000], samples=101)
    graph = e.check_random_graph()
    sentence = e.check_map_sensitivity(ratios)
    assert derive(definition) == derive(algorithm) == derive(theorem) == "underspecified"
    assert derive(graph) == "constants"
    assert derive(sentence) == "holds"
    for checks in (definition, algorithm, theorem, graph, sentence):
        assert set(outcomes(checks, "corrected")) == {True}


@pytest.mark.slow
def test_checks_reject_mutants(moves):
    # scores without the damping; a coefficient taken too small; a graph whose worst coefficient is forgotten
    assert False in outcomes(e.check_theorem(moves.assign(damped=moves["pi"]), [10], 101), "corrected")
    wrong = e.check_theorem(moves.assign(**{"one valid rho": 2.1}), [10], 101)
    assert outcomes(wrong, "printed").count(False) == 2
    ratios = e.perturbation_ratios([("triangle", 1)])
    assert derive(e.check_map_sensitivity(ratios.assign(sum=2 * ratios["sum"]))) == "refuted"
    assert False in outcomes(
        e.check_constrained_graph(e.incomplete_graphs(3), moves.assign(**{"largest tau": 0.9})), "corrected"
    )


def test_other_losses_and_thresholds_change_the_verdict(monkeypatch):
    loss, threshold = e.worst_loss, e.threshold
    monkeypatch.setattr(e, "worst_loss", lambda *args: 100 * loss(*args))
    assert derive(e.check_algorithm([("path of 3", 2)])) == "refuted"
    monkeypatch.setattr(e, "threshold", lambda *args: threshold(*args) / 2)
    assert derive(e.check_random_graph()) == "undecided here"  # below the threshold our bound says nothing


def test_figures():
    frame = e.constrained([8, 12], [0.5, 1.0], 4)
    assert len(e.draw_constrained(frame).axes) == 2
    recalled = e.recall([1.0], [1, 10], 2, n_items=8, k=2)
    assert isinstance(recalled, pd.DataFrame)
    assert (recalled.blind == 2 / 8).all()
    assert len(e.draw_recall(recalled).axes) == 1
