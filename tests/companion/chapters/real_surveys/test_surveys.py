"""The chapter on the two surveys against closed forms, brute force and deliberately broken twins.

Simulations use fixed seeds; where a mean is compared with its law the allowance is five standard errors, false alarm
6e-7 a comparison. The published curve is compared at three standard errors, as in the chapter.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from checks import each
from scipy.special import expit

from companion.chapters.real_surveys import surveys as experiment
from companion.ledger.claim import derive
from dprank.data.counting import win_counts
from dprank.pairwise import PerturbedMLE, l1_sensitivity
from dprank.pairwise.rank_law import places


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_rank_difference_of_a_random_order(n):
    brute = np.mean([np.abs(np.array(order) - np.arange(n)).mean() for order in permutations(range(n))])
    assert experiment.random_difference(n) == pytest.approx(brute)


# --- the privacy of the MLE on a questionnaire -----------------------------------------------------------------------


def largest_log_ratio(scale, ridge, draws, rng):
    """Largest log ratio of the densities of the estimate for two answer sheets on three items, over random others.

    A pair is missing, won, lost or half won. The other voters are a random shift of the gradient, and sometimes some
    curvature: shift without curvature is what comparisons with far weaker or stronger items give.
    """
    pairs = list(combinations(range(3), 2))
    sheets = np.array(list(product((np.nan, 1.0, 0.0, 0.5), repeat=3)))
    worst = 0.0
    for draw in range(draws):
        t = rng.normal(0, rng.choice([0.1, 1.0, 5.0]), 3)
        shift = rng.normal(0, rng.choice([0.0, 1.0, 20.0]), 3)
        common = np.diag(rng.exponential(1.0, 3)) if draw % 2 else np.zeros((3, 3))
        slope = np.tile(ridge * t + shift, (len(sheets), 1))
        curved = np.tile(ridge * np.eye(3) + common, (len(sheets), 1, 1))
        for column, (i, j) in enumerate(pairs):
            p, d = expit(t[i] - t[j]), np.eye(3)[i] - np.eye(3)[j]
            given = ~np.isnan(sheets[:, column])
            slope += np.where(given, p - sheets[:, column], 0.0)[:, None] * d
            curved += (given * p * (1 - p))[:, None, None] * np.outer(d, d)
        log_density = -np.abs(slope).sum(1) / scale + np.linalg.slogdet(curved)[1]
        worst = max(worst, np.ptp(log_density))
    return worst


@pytest.mark.parametrize(("scale", "ridge"), [(8.0, 2.0), (4.0, 100.0), (50.0, 1.0), (0.5, 0.2)])
@pytest.mark.slow
def test_questionnaire_loss_bounds_every_density_ratio(scale, ridge):
    found = largest_log_ratio(scale, ridge, 1500, np.random.default_rng(4))
    bound = experiment.questionnaire_loss(3, scale, ridge)
    assert 0.6 * bound < found <= bound
    assert found > 2 / scale, "one pair of unlike signs is not all there is"


@each("n", [2, 4, 6, 9])
@each(("scale", "ridge"), [(120.0, 30.0), (0.3, 0.1), (1.0, 1.0), (1e6, 1e-3), (20.0, 1e9)])
def test_questionnaire_loss_is_the_maximum_over_a_fine_grid(n, scale, ridge):
    r = np.linspace(0, 1, 200001)
    unlike = (2 * r / scale + np.log1p(2 * r * (1 - r) / ridge)).max()
    like = math.log1p(0.5 / ridge)
    grid = max(a * (n - a) * unlike + (math.comb(n, 2) - a * (n - a)) * like for a in range(n + 1))
    assert experiment.questionnaire_loss(n, scale, ridge) == pytest.approx(grid, rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_with_a_large_ridge_the_mle_needs_the_noise_of_net_wins(n):
    net = l1_sensitivity(n, math.comb(n, 2), score="net", design="once")
    assert experiment.questionnaire_loss(n, 1.0, 1e12) == pytest.approx(net / 2, rel=1e-8)


def test_questionnaire_scale_is_the_least():
    for n, epsilon, ridge in ((6, 1.0, 100.0), (4, 0.5, 20.0), (6, 10.0, 10.0)):
        scale = experiment.questionnaire_scale(n, epsilon, ridge)
        assert experiment.questionnaire_loss(n, scale, ridge) <= epsilon
        assert experiment.questionnaire_loss(n, scale * (1 - 1e-6), ridge) > epsilon


# --- the data --------------------------------------------------------------------------------------------------------


def test_what_was_answered():
    frame = experiment.answers_given().set_index("survey")
    assert (frame.asked >= frame.answers).all()
    assert frame.loc["CEMS", "full"] + experiment.missing_answers()["students"] == frame.loc["CEMS", "students"]
    assert frame.loc["immigration", ["full", "some"]].tolist() == [80, 88]
    # the chance that the 91 are the first 91 of 303: a product of ratios
    chance = sum(math.log10((i + 1) / (303 - i)) for i in range(91))
    assert experiment.missing_answers()["log10"] == pytest.approx(chance)


@pytest.mark.parametrize("survey", ["CEMS", "immigration"])
def test_tables_keep_the_counts(survey):
    data = experiment.survey_data(survey)
    played, wins = experiment.survey_table(survey)
    assert (wins == win_counts(data, "wins")).all()
    net = [2 * w - p.sum(1) for p, w in (experiment.survey_table(survey, t) for t in ("dropped", "half", "plan"))]
    assert all((score == win_counts(data, "net")).all() for score in net)
    assert played.sum() == 2 * (data.points != 1).sum()
    plan = experiment.survey_table("immigration", "plan")[0]
    assert (plan == 98 * (1 - np.eye(4))).all()


def test_data_claims_and_their_mutants(monkeypatch):
    assert derive(experiment.check_cems()) == "underspecified"
    assert derive(experiment.check_immigration()) == "underspecified"
    assert all(c.outcome for c in [*experiment.check_cems(), *experiment.check_immigration()] if c.about == "corrected")
    monkeypatch.setattr(experiment, "PRINTED", {"CEMS": (302, 6, 15), "immigration": (97, 4, 6)})
    assert derive(experiment.check_cems()) == "refuted"
    assert derive(experiment.check_immigration()) == "refuted"


# --- Figure 8 --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_published_curve_is_reproduced_and_privately():
    assert derive(experiment.check_figure_8_mle()) == "holds"


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_published_curve_rejects_other_noise(monkeypatch, factor):
    printed = experiment.survey_mle

    def other(calibration, epsilon, survey):
        mechanism = printed(calibration, epsilon, survey)
        return replace(mechanism, scale=factor * mechanism.scale)

    monkeypatch.setattr(experiment, "survey_mle", other)
    monkeypatch.setattr(experiment, "REPETITIONS", 1000)
    assert derive(experiment.check_figure_8_mle()) == "refuted"


def test_published_curve_rejects_noise_that_is_too_small_for_its_epsilon(monkeypatch):
    """A third of the printed noise is no longer epsilon-private: the first check that turns must be the loss."""
    mechanism = experiment.survey_mle("as printed", 1.0, "CEMS")
    assert mechanism.guarantee.epsilon < 1 < replace(mechanism, scale=mechanism.scale / 3).guarantee.epsilon


@pytest.mark.slow
def test_close_is_a_matter_of_reading_and_of_the_threshold(monkeypatch):
    checks = experiment.check_figure_8([0.5, 1.0, 2.0, 4.0])
    assert derive(checks) == "underspecified"
    assert [str(c) for c in checks if c.about == "corrected" and not c.outcome] == []
    monkeypatch.setattr(experiment, "REPETITIONS", 2000)
    monkeypatch.setattr(experiment, "CLOSE", 0.95)
    assert derive(experiment.check_figure_8([0.5, 1.0])) == "holds"
    monkeypatch.setattr(experiment, "CLOSE", 0.01)
    assert derive(experiment.check_figure_8([0.5, 1.0])) == "refuted"


def test_a_curve_that_does_not_fall_is_refused(monkeypatch):
    printed = experiment.survey_mle
    monkeypatch.setattr(experiment, "survey_mle", lambda c, epsilon, survey: printed(c, 2.0, survey))
    monkeypatch.setattr(experiment, "CLOSE", 0.95)
    monkeypatch.setattr(experiment, "REPETITIONS", 1000)
    checks = [c for c in experiment.check_figure_8([0.5, 1.0]) if c.about == "printed" and "change" in c.what]
    assert all(check.outcome is not True for check in checks)


def test_simulated_mle_on_a_balanced_table_has_the_law_of_counts(monkeypatch):
    """With all pairs equally often compared the order is that of wins minus noise, whose law is known exactly."""
    from dprank.pairwise import mean_rank_difference, rank_law

    wins = np.array([30.0, 22.0, 21.0, 11.0])
    played = 14.0 * (1 - np.eye(4))
    monkeypatch.setattr(experiment, "survey_table", lambda survey, ties="dropped": (played, wins))
    rng = np.random.default_rng(3)
    draws = experiment.mle_differences("immigration", "as printed", 4.0, repetitions=20000, rng=rng)
    scale = experiment.survey_mle("as printed", 4.0, "immigration").scale
    exact = mean_rank_difference(rank_law(wins, scale), wins)
    assert abs(draws.mean() - exact) < 5 * draws.std() / 20000**0.5
    half = mean_rank_difference(rank_law(wins, scale / 2), wins)
    assert abs(draws.mean() - half) > 20 * draws.std() / 20000**0.5


def test_the_mle_orders_as_noisy_counts_where_all_pairs_are_compared_equally_often():
    frame = experiment.same_noise(1.0, 500).set_index(["survey", "table", "score"])
    assert (frame.xs("equally often", level="table")["same order"] == 1).all()
    assert (frame.xs("dropped", level="table")["same order"] < 1).all()
    net, wins = (frame.xs(score, level="score").difference for score in ("net wins", "wins"))
    assert (net <= wins).all()


def test_spent_and_needed():
    frame = experiment.spent(1.0).set_index(["survey", "promise"])
    assert (frame.counts > 1).all()
    assert (frame.MLE < 0.65).all()
    noise = experiment.noise_needed(1.0).set_index("survey")
    assert (noise["net wins"] == noise["MLE, public graph"]).all()
    assert ((noise["MLE, private graph"] / noise["net wins"]).between(1, 1.05)).all()
    for survey in ("CEMS", "immigration"):
        mechanism = experiment.survey_mle("private graph", 0.5, survey)
        assert experiment.questionnaire_loss(mechanism.n_items, mechanism.scale, mechanism.ridge) <= 0.5


def test_figures_data():
    frame = experiment.figure_8([0.5, 3.0], 20)
    assert len(frame) == 8
    assert len(experiment.published_beside_ours(frame)) == 2
    methods = set(experiment.equal_privacy([0.5], 20).method)
    assert methods == {"MLE as printed", "MLE, private graph", "MLE, public graph", "wins", "net wins"}
    orders = experiment.noiseless_orders()
    assert (orders["net wins"] == orders.MLE).all()
    assert (orders.wins != orders.MLE).any()


# --- incomplete graphs -----------------------------------------------------------------------------------------------


@each("n", [4, 5, 11])
@each("graph", experiment.GRAPHS)
@each("p", [0.05, 0.3, 0.8, 1.0])
def test_pair_probabilities(graph, n, p):
    chance = experiment.pair_probabilities(graph, n, p)
    assert chance.mean() == pytest.approx(p)
    assert ((chance >= 0) & (chance <= 1 + 1e-12)).all()
    if graph == "two leagues" and p == 0.05:
        assert chance.max() / chance.min() == pytest.approx(experiment.WITHIN)


def test_sampler_has_its_law():
    theta = np.tile([0.0, -0.7, -1.5], (20000, 1))
    chance = np.array([0.2, 0.5, 0.9])
    played, wins = experiment._compare(theta, chance, np.random.default_rng(2))
    error = 5 * 0.5 / 20000**0.5
    assert np.abs(played.mean(0)[np.triu_indices(3, 1)] - chance).max() < error
    assert (played == played.transpose(0, 2, 1)).all()
    first = chance[:2] @ expit([0.7, 1.5])
    assert abs(wins[:, 0].mean() - first) < 2 * error
    assert (wins.sum(1) == played.sum((1, 2)) / 2).all()


def test_wins_and_losses_together_have_sensitivity_four():
    """All data on three items with at most one comparison a pair; one comparison is exchanged for another."""
    pairs = list(combinations(range(3), 2))

    def count(outcomes):
        table = np.zeros((2, 3))
        for (i, j), won in zip(pairs, outcomes, strict=True):
            if won is not None:
                table[0, i if won else j] += 1
                table[1, j if won else i] += 1
        return table

    moved = set()
    for data in product((None, 0, 1), repeat=3):
        for gone in (k for k in range(3) if data[k] is not None):
            rest = (*data[:gone], None, *data[gone + 1 :])
            for new, won in product((k for k in range(3) if rest[k] is None), (0, 1)):
                other = (*rest[:new], won, *rest[new + 1 :])
                moved.add(np.abs(count(data) - count(other)).sum())
    assert max(moved) == 4


def incomplete_errors(method, epsilon):
    cell = {"graph": "Erdős–Rényi", "n_items": 30, "probability": 1.0}
    rng = np.random.default_rng(5)
    return experiment.incomplete_errors(method, epsilon=epsilon, repetitions=40, rng=rng, **cell)


@each("method", experiment.METHODS)
def test_every_method_gets_better_with_epsilon(method):
    draws, noisy = (incomplete_errors(method, epsilon) for epsilon in (2000.0, 0.01))
    assert draws.mean() < 0.6
    assert noisy.mean() > 0.8


def test_on_a_complete_graph_public_mle_is_net_wins():
    rng = np.random.default_rng(6)
    played, wins = experiment._compare(np.zeros((50, 8)), np.ones(28), rng)
    net = 2 * wins - played.sum(1) + rng.laplace(0, 3, wins.shape)
    theta = np.stack([experiment.public_mle(row[None], p, 1.0)[0] for row, p in zip(net, played, strict=True)])
    assert (places(theta) == places(net)).all()


def test_leagues_need_the_likelihood():
    three = ("net wins", "MLE, private graph", "MLE, public graph")
    frame = experiment.incomplete(60, [0.5], 2.5, 60, three).set_index(["graph", "method"])["mean"]
    assert frame["two leagues", "MLE, public graph"] < 0.8 * frame["two leagues", "net wins"]
    assert frame["Erdős–Rényi", "net wins"] < 0.95 * frame["Erdős–Rényi", "MLE, private graph"]
    table = experiment.net_or_mle([60], [0.5], [2.5], 60).set_index("graph")
    assert table.loc["two leagues", "public graph"] == "MLE"
    assert table.loc["Erdős–Rényi", "secret graph"] == "net wins"


def test_private_graph_noise_is_twice_that_of_net_wins():
    mechanism = PerturbedMLE.calibrated(
        epsilon=1.0, n_items=50, ridge=1e9, graph="private", unit="comparison", law="continuous"
    )
    net = l1_sensitivity(50, 1, score="net") / 2
    assert mechanism.scale == pytest.approx(2 * net, rel=1e-6)


@each(
    ("call", "words"),
    [
        (lambda: experiment.survey_mle("wrong", 1.0, "CEMS"), "calibration = 'wrong'; allowed are 'as printed'"),
        (lambda: experiment.survey_table("CEMS", "wrong"), "ties = 'wrong'; allowed are 'dropped', 'half', 'plan'"),
        (lambda: experiment.questionnaire_loss(3, 0.0, 1.0), "scale = 0.0; it must be above 0 and finite"),
        (lambda: experiment.questionnaire_loss(3, 1.0, math.inf), "ridge = inf; it must be above 0 and finite"),
        (lambda: experiment.questionnaire_loss(1, 1.0, 1.0), "n_items = 1; at least two are needed"),
        (lambda: experiment.random_difference(1), "n_items = 1; at least two are needed"),
        (lambda: experiment.questionnaire_scale(6, 0.1, 1.0), "ridge = 1.0 is too small for epsilon = 0.1"),
        (lambda: experiment.pair_probabilities("wrong", 4, 0.5), "graph = 'wrong'; allowed are"),
        (lambda: experiment.pair_probabilities("two leagues", 4, 0.0), "probability = 0.0; it must be above 0"),
        (lambda: incomplete_errors("wrong", 1.0), "method = 'wrong'; allowed are 'wins'"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_strengths_from_private_net_wins_are_centred_and_see_only_differences():
    played, _ = experiment.survey_table("CEMS", "plan")
    net = np.random.default_rng(1).normal(0, 200, (3, 6))
    theta = experiment.public_mle(net, played, 1.0)
    assert np.abs(theta.mean(1)).max() < 1e-8
    assert np.allclose(theta, experiment.public_mle(net + 77.0, played, 1.0), atol=1e-8)


def test_figures_draw_what_they_are_given():
    frames = {
        experiment.draw_figure_8: experiment.figure_8([0.5, 3.0], 20),
        experiment.draw_equal_privacy: experiment.equal_privacy([0.5, 1.0], 20),
        experiment.draw_incomplete: experiment.incomplete(8, [0.5, 1.0], 1.0, 20),
    }
    for draw, frame in frames.items():
        figure = draw(frame)
        assert len(figure.axes) == 2
        legend = {
            text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()
        }
        named = (
            set(frame["method"]) if "method" in frame else {"perturbed MLE", "noisy counts, exact", "MLE, published"}
        )
        assert legend == named | {"random order"}
