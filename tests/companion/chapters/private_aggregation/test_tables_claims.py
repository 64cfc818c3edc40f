# Statistical tests have fixed seeds and a false-alarm rate of 1e-6 each.
import math

import numpy as np
import pandas as pd
import pytest
from checks import all_rankings, each, refused

from companion.chapters.local_aggregation.local_answers import answer_variance
from companion.chapters.local_aggregation.local_costs import design_cost, designs, form_of
from companion.chapters.private_aggregation import crossings, fitted_rates, table_rows, what_to_use
from companion.chapters.private_aggregation import tables as study
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import SampledOrder
from dprank.aggregation.rules import borda
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows

Z = 4.9


def signs(m):
    return np.sign(np.arange(m) - np.arange(m)[:, None]).astype(float)


def inversions(orders):
    orders = np.asarray(orders)
    first, second = np.triu_indices(orders.shape[1], 1)
    return (orders[:, first] > orders[:, second]).sum(axis=1)


@pytest.fixture(scope="module")
def errors():
    return table_rows.measured([8, 16, 32], 20)


@pytest.fixture(scope="module")
def fits():
    return fitted_rates.fitted(16)


# --- errors ----------------------------------------------------------------------------------------------------------


def test_exponential_error_is_that_of_the_mechanism():
    mechanism = ExponentialMechanism.calibrated(n_items=5, epsilon=1.0)
    votes = np.triu(np.ones((5, 5)), 1)
    seen = max(mechanism.expected_disagreements(n * votes) for n in range(1, 120))
    assert table_rows.exponential_error(5) == pytest.approx(seen, rel=1e-3)


@pytest.mark.parametrize("delta", [0.0, table_rows.DELTA])
def test_scores_error_is_that_of_the_mechanism(delta):
    mechanism = PrivateBorda.calibrated(n_items=6, epsilon=1.0, delta=delta, law="continuous")
    rng = np.random.default_rng(1)
    seen = []
    for step in np.geomspace(0.2, 2, 6) / math.sqrt(6):
        voters = step * mechanism.scale
        noisy = mechanism.perturb(np.tile(voters * np.arange(6.0), (20_000, 1)), rng)
        costs = voters * inversions(np.argsort(noisy, axis=1))
        seen.append((costs.mean(), Z * costs.std() / math.sqrt(len(costs))))
    best, error = max(seen)
    assert best - error <= table_rows.scores_error(6, delta) <= 1.05 * best + error


@pytest.mark.slow
def test_one_pair_margins_have_the_law_of_the_reports():
    law, voters, runs = Mallows.of_phi(4, 0.6), 400, 1500
    true = np.asarray(law.bias(np.arange(4) - np.arange(4)[:, None]))
    rng = np.random.default_rng(2)
    ours = np.array([table_rows.one_pair_margins(true, voters, 1.0, rng) for _ in range(runs)])
    matrix = LocalMatrix(SampledOrder.calibrated(n_items=4, epsilon=1.0, length=2))
    theirs = np.array([2 * matrix.fractions(law.sample(voters, rng=rng), rng) - 1 for _ in range(runs)])
    pairs = np.triu_indices(4, 1)
    ours, theirs = ours[:, *pairs], theirs[:, *pairs]
    bar = ours.std(axis=0) / math.sqrt(runs)
    assert (abs(ours.mean(axis=0) - true[pairs]) < Z * bar).all()
    assert (abs(ours.mean(axis=0) - theirs.mean(axis=0)) < Z * math.sqrt(2) * bar).all()
    # a ratio of two variances of so many draws
    assert ours.var(axis=0) / theirs.var(axis=0) == pytest.approx(1, abs=Z * 2 / math.sqrt(runs))
    a, b = np.cov(ours.T), np.cov(theirs.T)
    assert abs(a - b).max() < Z * 2 * ours.var() / math.sqrt(runs)


def test_slope():
    sizes = np.array([8, 16, 32, 64])
    assert table_rows.slope(sizes, 3 * sizes**2.5, 0 * sizes) == pytest.approx((2.5, 0))
    rng = np.random.default_rng(3)
    truth = sizes**3.0
    fits = [table_rows.slope(sizes, truth * (1 + 0.02 * rng.standard_normal(4)), 0.02 * truth) for _ in range(2000)]
    assert np.std([fit for fit, _ in fits]) == pytest.approx(fits[0][1], rel=0.1)


def test_error_depends_on_epsilon_n_only_until_all_pairs_are_lost():
    frame = study.scaling(8, [1.0, 1e3, 1e4, 1e5])
    errors = frame["error × epsilon n"].iloc[1:].tolist()
    assert errors == pytest.approx([table_rows.exponential_error(8)] * 3, rel=0.01)
    assert frame.margin.iloc[0] == 1
    assert frame.share.iloc[0] == pytest.approx(0.5, abs=0.02)


# --- exponents of n and epsilon --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_planted_error_of_the_exponential_mechanism():
    voters, epsilon, signal = 4001, 0.5, 0.8
    rng = np.random.default_rng(8)
    seen = fitted_rates.planted_error("exponential", 5, voters, epsilon, signal, 4000, rng)
    wanted = signal * fitted_rates.noise_unit("exponential", 5, epsilon)
    margin = (2 * round((voters + wanted) / 2) - voters) / voters
    exact = margin * Mallows(5, voters * margin * epsilon / 20).distance_moments()[0]
    assert abs(seen.mean() - exact) < Z * seen.std() / math.sqrt(len(seen))


@each("row", list(table_rows.ROWS))
@pytest.mark.slow
def test_the_order_is_lost_in_noise_and_found_without(row):
    rng = np.random.default_rng(9)
    lost = fitted_rates.planted_error(row, 5, 1001, 0.001, 0.0, 400, rng)
    lost *= 1001  # one vote decides
    assert abs(lost.mean() - 5) < Z * lost.std() / math.sqrt(len(lost))
    many = 100 * fitted_rates.fewest_voters(row, 5, 1.0)
    assert fitted_rates.planted_error(row, 5, many, 1.0, 25.0, 3, rng).max() == 0


@pytest.mark.parametrize("name", ["as printed", "fresh blocks"])
@pytest.mark.slow
def test_split_answers_have_the_law_of_adaptive_answers(name):
    design = designs(4, 4.0)[name]
    ahead, behind, rng = 90, 50, np.random.default_rng(10)
    rows = np.r_[np.tile(np.arange(4), (ahead, 1)), np.tile(np.arange(4)[::-1], (behind, 1))]
    data = Rankings(rows, list("abcd"))
    runs, pairs = 4000, [(0, 1), (1, 2), (3, 0)]
    polls = lambda: fitted_rates.split_answers(design, ahead, behind, rng), lambda: design.poll(data, rng)
    made = ([poll() for _ in range(runs)] for poll in polls)
    ours, theirs = (np.array([[some.query(*pair) for pair in pairs] for some in answers]) for answers in made)
    bar = np.hypot(ours.std(axis=0), theirs.std(axis=0)) / math.sqrt(runs)
    assert (abs(ours.mean(axis=0) - theirs.mean(axis=0)) < Z * bar).all()
    assert abs(ours.mean(axis=0) - np.array([90, 90, 50]) / 140).max() < Z * bar.max()
    a, b = np.cov(ours.T), np.cov(theirs.T)
    assert abs(a - b).max() < Z * 2 * ours.var() / math.sqrt(runs)


@pytest.mark.parametrize("name", ["as printed", "fresh blocks"])
@pytest.mark.slow
def test_split_answers_of_unanimous_voters_have_the_exact_error(name):
    design = designs(6, 1.0)[name]
    voters = design.blocks * (40 if name == "fresh blocks" else 50_000)
    rng = np.random.default_rng(11)
    costs = inversions([design.sort(fitted_rates.split_answers(design, voters, 0, rng)) for _ in range(1500)])
    assert abs(costs.mean() - design_cost(design, voters)) < Z * costs.std() / math.sqrt(len(costs))


@pytest.mark.parametrize("row", ["local II", "local II, ours"])
def test_noise_unit_is_the_deviation_of_an_answer(row):
    design = designs(8, 1.0)["fresh blocks" if row.endswith("ours") else "as printed"]
    n = 10**4 * design.blocks
    deviation = 2 * math.sqrt(n * answer_variance(0.5, n, design.blocks, design.report_epsilon, form_of(design)))
    assert fitted_rates.noise_unit(row, 8, 1.0) == pytest.approx(deviation, rel=1e-2)


# --- where the lines cross -------------------------------------------------------------------------------------------


def test_crossing():
    sizes = np.array([8, 16, 32, 64])
    ratio = np.sqrt(sizes / 24)
    at, low, high = crossings.crossing(sizes, ratio, 0 * ratio)
    assert at == low == high == pytest.approx(24)
    at, low, high = crossings.crossing(sizes, ratio, ratio * 0.1 / 1.96)
    assert (at, low, high) == pytest.approx((24, 24 * math.exp(-0.2), 24 * math.exp(0.2)))
    assert crossings.crossing(sizes, 1 / ratio, ratio / ratio**2 * 0.1 / 1.96) == pytest.approx((at, low, high))
    assert crossings.crossing(sizes, 9 * ratio, 0 * ratio) == (0, 0, 0)
    assert crossings.crossing(sizes, ratio**0 * 1.01, 0 * ratio + 0.1) == (0, 0, math.inf)
    at, low, high = crossings.crossing(sizes, ratio / math.sqrt(2.6), 0.1 * ratio)
    assert (at, high) == (pytest.approx(62.4), math.inf)
    assert 32 < low < at


@pytest.mark.slow
def test_crossings_in_words(errors):
    some = errors.assign(se=0.0)
    first = some[some.row == "I, Laplace"].set_index("items").error
    mine = some.row == "II, Laplace"
    some.loc[mine, "error"] = (first / np.sqrt(first.index / 24)).reindex(some.loc[mine, "items"]).to_numpy()
    words = crossings.crossings(some).set_index(["setting", "I against"])["cross at"]
    assert words["pure", "II, Laplace"] == "24 (24 to 24)"
    assert words["local", "local II"] == "none: I has the smaller error"
    assert words["pure", "scores, Laplace"] == "none: I has the larger error"
    vague = crossings.crossings(some.assign(se=some.error)).set_index(["setting", "I against"])["cross at"]
    assert vague["pure", "II, Laplace"].startswith("undecided (")


# --- verdicts --------------------------------------------------------------------------------------------------------


@each(
    "row, check, about",
    [
        ("I, Gaussian", study.check_table_1, "corrected"),
        ("II, Laplace", study.check_table_1, "supplied"),
        ("scores, Laplace", study.check_table_1, "corrected"),
        ("local I", study.check_table_2, "corrected"),
        ("local II", study.check_table_2, "supplied"),
    ],
)
def test_an_error_beyond_a_bound_is_seen(errors, fits, row, check, about):
    times = np.where(errors.row == row, 100.0, 1.0)
    broken = errors.assign(error=errors.error * times, se=errors.se * times)
    assert False in [one.outcome for one in check(broken, fits) if one.about == about]


def test_the_printed_growth_is_seen(errors, fits):
    mine = errors.row == "I, Laplace"
    steep = errors.assign(error=errors.error.where(~mine, 0.05 * errors.printed * errors["items"]))
    outcome = [check.outcome for check in study.check_table_1(steep, fits) if "exponent of m" in check.what]
    assert outcome[0] is False
    assert outcome[1] is not False


def test_the_title_says_how_errors_grow_beside_the_printed_ones(errors):
    fewer = {"II, Laplace", "II, Gaussian", "local II"}
    mine = errors.row.isin(fewer) | errors.row.isin({"I, Laplace", "I, Gaussian", "local I"})
    beside = errors["items"] ** np.where(errors.row.isin(fewer), 0.1, -0.1)
    made = errors.assign(error=errors.error.where(~mine, errors.printed * beside))
    title, below = told(study.draw_errors(made))
    assert title == "The error of noise on all pairs grows more slowly than printed"
    assert "pairs that sorting asks about, whose error grows faster than printed" in below
    mixed = made.assign(error=made.error.where(made.row != "II, Gaussian", made.printed / made["items"]))
    assert "whose error grows partly faster than printed" in told(study.draw_errors(mixed))[1]


def told(figure):
    """The title of a figure, and what its note says."""
    return " ".join(figure.get_suptitle().split()), " ".join(" ".join(it.get_text().split()) for it in figure.texts)


@pytest.mark.parametrize("row", list(table_rows.ROWS))
@pytest.mark.parametrize(("varied", "by"), [("n", "voters"), ("ε", "epsilon")])
@pytest.mark.slow
def test_a_wrong_exponent_of_n_or_epsilon_is_seen(errors, fits, row, varied, by):
    times = np.where((fits.row == row) & (fits.varied == varied), fits[by] ** 0.5, 1.0)
    broken = fits.assign(error=fits.error * times, se=fits.se * times)
    check = (study.check_table_1, study.check_table_2)[table_rows.ROWS[row].table - 1]
    seen = [one.what for one in check(errors, broken) if one.about == "corrected" and one.outcome is False]
    assert len(seen) == 1
    assert seen[0].startswith(f"{row}: measured exponent of {varied}")


def test_local_errors_stop_falling_above_epsilon_1(fits):
    above = fitted_rates.rates(fits).set_index("row")
    for row in ("local I", "local II, ours", "local scores"):
        assert above["above 1"][row] > -0.5
    assert above["above 1"]["local II"] < -0.5
    assert above["above 1"].isna().sum() == 7


def test_a_second_reduction_that_gains_would_hold(errors):
    times = np.where(errors.row.str.contains("II"), 0.01, 1.0)
    good = errors.assign(error=errors.error * times, se=errors.se * times)
    checks = [it for it in study.check_second_reduction(good) if it.about == "printed"]
    assert ["proved at most" in it.what for it in checks] == [it.outcome is False for it in checks]


# --- who wins --------------------------------------------------------------------------------------------------------


def test_populations():
    voters = [np.arange(6)] * 11 + [np.r_[3:6, 0:3]] * 9
    w = pairwise_fractions(Rankings(np.array(voters), list("abcdef")))
    assert what_to_use.population("two camps", 6) == pytest.approx(w - w.T)
    for name in what_to_use.FAMILIES:
        for m in (5, 8):
            margins = what_to_use.population(name, m)
            assert margins == pytest.approx(-margins.T)
            w = (1 + margins) / 2
            assert kemeny(w).cost == pytest.approx(kemeny_score(np.arange(m), w))
    margins = what_to_use.population("Mallows", 7)
    assert (1 - margins[np.triu_indices(7, 1)]).sum() / 2 == pytest.approx(what_to_use.SPREAD * 21)
    rows = all_rankings(4)
    costs = [kemeny_score(np.argsort(row), (1 + what_to_use.population("two camps", 4)) / 2) for row in rows]
    least = kemeny_score(np.arange(4), (1 + what_to_use.population("two camps", 4)) / 2)
    assert what_to_use.random_excess("two camps", 4) == pytest.approx((np.mean(costs) - least) / 6)


def test_votes_stand_for_rankings():
    rankings = Rankings(np.random.default_rng(4).permuted(np.tile(np.arange(7), (50, 1)), axis=1), list("abcdefg"))
    votes = fitted_rates.Votes(rankings.pairwise().astype(float))
    for delta in (0.0, 1e-6):
        mechanism = PrivateKwikSort.calibrated(
            n_items=7, epsilon=5.0, delta=delta, queries=12, share=0.2, law="continuous"
        )
        orders = [mechanism.release(data, np.random.default_rng(5)).order.tolist() for data in (rankings, votes)]
        assert orders[0] == orders[1]


@pytest.mark.slow
def test_local_kwiksort_has_its_exact_error(monkeypatch):
    monkeypatch.setattr(what_to_use, "best_order", borda)  # the matrix is not looked at
    design = LocalKwikSort.calibrated(n_items=6, epsilon=1.0)
    voters = 6 * design.blocks
    orders = what_to_use._local_orders(signs(6), voters, 1.0, 1500, np.random.default_rng(6))["KwikSort"]
    costs = inversions(orders)
    assert abs(costs.mean() - design_cost(design, voters)) < Z * costs.std() / math.sqrt(len(costs))


@pytest.mark.slow
def test_ties_do_not_know_the_order():
    orders = what_to_use._local_orders(0 * signs(5), 60, 1.0, 1000, np.random.default_rng(7))
    for found in orders.values():
        costs = inversions(found)
        assert abs(costs.mean() - 5) < Z * costs.std() / math.sqrt(len(costs))


def frame(**means):
    cell = {"data": "Mallows", "n_items": 8, "voters": 100, "epsilon": 1.0, "model": "pure", "random": 0.5}
    return pd.DataFrame([cell | {"mechanism": k, "mean": mean, "se": se} for k, (mean, se) in means.items()])


def test_winners():
    clear = what_to_use.winners(frame(matrix=(0.1, 0.01), scores=(0.2, 0.01))).iloc[0]
    assert (clear["first"], clear.use, clear["mean"]) == ("matrix", "matrix", 0.1)
    tie = what_to_use.winners(frame(matrix=(0.21, 0.01), scores=(0.2, 0.01), KwikSort=(0.3, 0.01))).iloc[0]
    assert (tie["first"], tie.use) == ("scores", "scores or matrix")
    assert what_to_use.winners(frame(matrix=(0.46, 0.01), scores=(0.5, 0.01))).iloc[0].use == "coin toss"
    assert what_to_use.winners(frame(matrix=(0.0, 0.0), scores=(4e-4, 0.0))).iloc[0].use == "matrix or scores"


def test_answers_take_the_worse_family():
    other = frame(matrix=(0.2, 0.01), scores=(0.3, 0.01)).assign(data="two camps")
    both = pd.concat([frame(matrix=(0.15, 0.01), scores=(0.05, 0.01)), other])
    both = pd.concat([both.assign(model=model) for model in what_to_use.MODELS])
    answer = what_to_use.answers(both, 1.0).iloc[0]
    assert answer.pure == answer.local == "matrix, 20.0 ± 2.0 %"


def test_comparison():
    seen = what_to_use.compare([5], [50, 5000], [1.0], 3)
    assert len(seen.groupby(["data", "voters", "model"])) == 2 * 2 * 3 + 2 * 3
    pure = seen[(seen["data"] == "Mallows") & (seen.model == "pure")]
    few, many = (part["mean"].mean() for _, part in pure.groupby("voters"))
    assert few > many
    assert (seen["mean"] >= -1e-12).all()


def test_bad_input():
    with refused("data", "nobody"):
        what_to_use.population("nobody", 5)
    with refused("model", "shuffled"):
        what_to_use.excess("Mallows", 5, 10, 1.0, "shuffled", 2, np.random.default_rng(0))


def curves(**means):
    """A `frontier` of means in percent at 10, 100 and 1000 voters, the same for both families."""
    rows = [
        {"data": data, "n_items": 5, "voters": n, "epsilon": 1.0, "mechanism": name, "mean": mean / 100, "se": 0.0}
        for data in what_to_use.FAMILIES
        for name, values in means.items()
        for n, mean in zip((10, 100, 1000), values, strict=True)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("means", "voters", "said"),
    [
        ({"scores": (10, 0.1, 0.01)}, 10**1.5, "about 32"),
        ({"scores": (10, 2, 2), "matrix": (30, 4, 0.5)}, 100 * 10**0.5, "about 320"),  # 2 to 1/2, half way to 1
        ({"scores": (10, 0, 0)}, 100, "at most 100"),
        ({"scores": (0.9, 2, 0.5)}, 100 * 10**0.5, "about 320"),  # once below is not yet for good
        ({"scores": (1, 0.5, 0)}, 10, "at most 10"),
        ({"scores": (9, 5, 1.1)}, math.inf, "more than 1,000"),
    ],
)
def test_how_many_voters_are_needed(means, voters, said):
    frame = curves(**means)
    assert what_to_use.needed(frame).tolist() == pytest.approx([voters] * 2)
    assert what_to_use.told_frontier(frame) == dict.fromkeys(what_to_use.FAMILIES, said)
    figure = what_to_use.draw_frontier(frame)
    title = "Two camps take no more voters" if voters < math.inf else "With 1,000 voters more than 1 %"
    assert " ".join(figure.get_suptitle().split()).startswith(title)
    marks = [line.get_xdata()[0] for axes in figure.axes for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert marks == pytest.approx([voters] * 2 if 10 < voters < math.inf else [])


def test_the_frontier_as_the_chapter_reads_it():
    """Scores are best around one order; in two camps they stay at what Borda's count costs and the matrix passes."""
    frame = what_to_use.frontier(8, [3000, 30], 1.0, 40)
    assert frame.voters.unique().tolist() == [30, 3000]
    assert set(frame.mechanism) == {"scores", "matrix", "KwikSort"}
    means = frame.set_index(["data", "voters", "mechanism"])["mean"]
    assert means["Mallows", 30].idxmin() == means["two camps", 30].idxmin() == "scores"
    w = (1 + what_to_use.population("two camps", 8)) / 2
    floor = (kemeny_score(np.argsort(w.sum(axis=0)), w) - kemeny_score(np.arange(8), w)) / math.comb(8, 2)
    assert floor > what_to_use.LOST
    assert means["two camps", 3000, "scores"] == pytest.approx(floor, abs=1e-3)
    assert means["two camps", 3000, "matrix"] < what_to_use.LOST
