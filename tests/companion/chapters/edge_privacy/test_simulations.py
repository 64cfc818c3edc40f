"""Seeds are fixed. Z = 6 standard errors: the chance that a seed was unlucky is 2e-9 a comparison."""

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from companion.chapters.edge_privacy import simulations as s
from companion.ledger.claim import Check, derive
from dprank.pairwise import mle_from_counts

Z = 6.0
NOISES = [0.5, 1.0, 2.5, math.inf]


def rng(seed=0):
    return np.random.default_rng(seed)


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


# --- R's numbers ---


def test_r_uniform_gives_the_numbers_of_r():
    np.testing.assert_allclose(s.r_uniform(42, 3), [0.914806, 0.9370754, 0.2861395], atol=5e-8)
    np.testing.assert_allclose(s.r_uniform(1, 3), [0.2655087, 0.3721239, 0.5728534], atol=5e-8)
    np.testing.assert_array_equal(s.r_uniform(13, 50), s.r_uniform(13, 700)[:50])


def test_r_laplace_is_laplace():
    w = s.r_laplace(13, 20_000)
    assert abs(np.abs(w).mean() - 1) < Z / math.sqrt(20_000)
    assert abs(w.mean()) < Z * math.sqrt(2 / 20_000)


# --- model and losses ---


def test_strengths_and_sizes():
    theta = s.strengths(16, 200, rng=rng())
    assert theta.shape == (200, 16)
    assert (theta[:, :4] == 0).all()
    assert ((theta[:, 4:] > math.log(0.2)) & (theta[:, 4:] < math.log(0.7))).all()
    assert (s.strengths(16, 3, rng=rng(), strong=3)[:, 3] < 0).all()
    assert [s.top_size(n) for n in (12, 150, 175, 250, 350)] == [3, 38, 44, 62, 88]
    np.testing.assert_allclose(s.centred(theta).sum(1), 0, atol=1e-13)


def test_log_errors_on_a_case_by_hand():
    theta = np.array([[3.0, -4.0]])
    errors = s.log_errors(np.array([[3.3, -3.6]]), theta)
    assert errors[s.LINF][0] == pytest.approx(math.log(0.1))
    assert errors[s.L2][0] == pytest.approx(math.log(0.1))


def test_missed_by_hand_and_by_ties():
    theta = np.array([[1.0, 1.0, 0, 0, 0, 0, 0, 0]])
    zero = np.zeros((1, 8))
    assert s.missed([[9, 8, 7, 6, 5, 4, 3, 2]], theta, zero) == [0]
    assert s.missed([[9, 1, 7, 6, 5, 4, 3, 2]], theta, zero) == [0.5]
    assert s.missed([[1, 1, 7, 6, 5, 4, 3, 2]], theta, zero) == [1]
    tie = [[9, 5, 5, 1, 1, 1, 1, 1]]
    assert s.missed(tie, theta, theta) == [0]
    assert s.missed(tie, theta, -theta) == [0.5]
    # a draw of strengths without a tie at the border
    assert s.missed(theta, [[3, 2, 1, 0, 0, 0, 0, 0]], zero) == [0]


# --- experiments ---


@pytest.mark.slow
def test_a_cell_does_not_depend_on_the_other_epsilons_or_workers():
    whole = s.edge([20], [0.5], NOISES, 30)
    part = s.edge([20], [0.5], [1.0], 30, jobs=2)
    both = whole[whole.epsilon == 1.0].reset_index(drop=True)
    pd.testing.assert_frame_equal(both, part, check_exact=True)
    whole = s.voter([12], [50], NOISES, 300)
    part = s.voter([12], [50], [1.0], 300, jobs=2)
    pd.testing.assert_frame_equal(whole[whole.epsilon == 1.0].reset_index(drop=True), part, check_exact=True)


def test_falls_are_differences_of_levels():
    frame = s.edge([20], [0.5], NOISES, 30, falls=[0.5, math.inf]).set_index(["epsilon", "method", "loss"])["mean"]
    for method, loss in (("MLE", s.L2), ("counts", s.MISSED)):
        level = frame[0.5, method, loss] - frame[math.inf, method, loss]
        assert frame[0.5, method, f"fall of {loss}"] == pytest.approx(level, abs=1e-12)


def test_chunks_cover_all_replicates(monkeypatch):
    assert sum(s._chunks(1000, 17)) == 17
    monkeypatch.setattr(s, "_CHUNK", 3 * 20**2)
    assert list(s._chunks(20, 7)) == [3, 3, 1]
    assert len(s.edge_draws(20, 0.5, epsilons=[1.0], repetitions=7, rng=rng())[1.0, "counts", s.MISSED]) == 7


def test_one_noise_vector_scatters_and_new_noise_does_not():
    noise = [*range(1, 11), *(f"fresh {i}" for i in range(10))]
    table = s.scatter(s.edge_as_run([60], [0.5], 40, noise=noise)).set_index("noise")
    assert table.ratio["one draw"] > 4
    assert table.ratio["fresh"] < 2.2


@pytest.mark.slow
def test_published_values_need_the_one_noise_vector():
    fresh, run = (s.edge_as_run([100], NOISES, 60, noise=w, theta=range(24)) for w in (["fresh 0"], [s.SEED]))
    assert derive(s.check_published(s.against_published(fresh, run))) == "constants"
    # mutant: another seed does not explain them
    other = s.edge_as_run([100], NOISES, 60, noise=[14], theta=range(24))
    checks = s.check_published(s.against_published(fresh, other))
    assert derive(checks) != "constants"
    assert outcomes(checks, "corrected") == [False]


def test_same_order_and_a_mutant():
    for epsilon in (0.5, math.inf):
        same = s.same_order(30, epsilon, 20, rng=rng())
        assert same["differ"] == same["missed"] == 0
        assert max(same["MLE"], same["counts"]) <= epsilon or math.isinf(epsilon)
    # on an incomplete graph the orders do differ
    wins = rng().integers(0, 9, (20, 12)).astype(float)
    played = (rng(1).random((12, 12)) < 0.5).astype(float)
    played = np.triu(played, 1) + np.triu(played, 1).T
    theta, _ = mle_from_counts(played, wins, ridge=0.5)
    assert any((np.argsort(a) != np.argsort(b)).any() for a, b in zip(theta, wins, strict=True))


def test_tie_rules_are_ordered():
    rule = s.tie_rules(100, 300).set_index("rule")["mean"]
    assert rule["for the truth"] < rule["at random"] < rule["by index"]


# --- oneshot ---


@pytest.mark.parametrize("n", [3, 4, 9])
def test_ergodicity_and_stationary_by_brute_force(n):
    for seed in range(20):
        upper = np.triu(rng(seed).random((n, n)) < 0.5, 1)
        won = (upper | (np.tril(~upper.T, -1))).astype(np.float32)
        assert (won + won.T + np.eye(n) == 1).all()
        chain = s.transition_matrix(won)
        np.testing.assert_allclose(chain.sum(1), 1, rtol=1e-15)
        i, j = 0, 1
        assert chain[i, j] == pytest.approx(won[j, i] / n)
        brute = max(np.abs(chain[a] - chain[b]).sum() for a in range(n) for b in range(n)) / 2
        assert s.ergodicity(won) == pytest.approx(brute, abs=1e-6)
        law = s.stationary(chain)
        np.testing.assert_allclose(law @ chain, law, atol=1e-11)
        assert law.sum() == pytest.approx(1)


def test_oneshot_scale_by_hand():
    n, k, rho = 100, 25, 0.5
    expected = 8 * (2 / (n * (1 - rho))) * math.sqrt(k * math.log(n / n**-2)) / 2
    assert s.oneshot_scale(n, k, rho, 2.0) == pytest.approx(expected)
    assert s.oneshot_scale(n, k, rho, math.inf) == 0


def test_oneshot_check_and_a_mutant(monkeypatch):
    frame = s.oneshot([60], [2.0, math.inf], 30)
    assert derive(s.check_oneshot(frame)) == "vacuous"
    monkeypatch.setattr(s, "oneshot_scale", lambda *a: 0.0)
    quiet = s.oneshot([60], [2.0, math.inf], 30)
    checks = s.check_oneshot(quiet)
    assert outcomes(checks, "content") == [True]
    assert True not in outcomes(checks, "printed")[1:]


# --- individual privacy ---


@pytest.mark.slow
def test_wrong_top_is_what_numpy_selects_without_vector_instructions():
    code = (
        "import numpy as np; from companion.chapters.edge_privacy import simulations as s\n"
        "for n in (12, 16, 32):\n"
        "    x = np.vstack([np.random.default_rng(n).normal(size=(200, n)),\n"
        "                   s.strengths(n, 200, rng=np.random.default_rng(n))])\n"
        "    theirs = np.argpartition(x, n // 4, axis=-1)[:, -(n // 4):]\n"
        "    assert (s.wrong_top(x, n // 4) == theirs).all(), n\n"
    )
    off = "AVX512_SPR AVX512_ICL AVX512_CNL AVX512_CLX AVX512_SKX AVX512CD AVX512F AVX2 FMA3 X86_V4 X86_V3"
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": off, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wrong_top_holds_some_of_the_upper_part():
    x = rng(3).normal(size=(300, 16))
    taken, rank = s.wrong_top(x, 4), np.argsort(np.argsort(x, axis=1), axis=1)
    places = np.take_along_axis(rank, taken, 1)
    assert places.min() >= 4
    assert 12 > places.min(1).mean() > 4
    with pytest.raises(ValueError, match=r"^k = 2; it must lie in 3 \.\. 15$"):
        s.wrong_top(x, 2)


def test_as_run_has_a_floor_and_a_wrong_truth():
    run = s.voter([16], [100_000], [math.inf], 200, as_run=True).set_index(["method", "loss"])["mean"]
    right = s.voter([16], [100_000], [math.inf], 200).set_index(["method", "loss"])["mean"]
    floor = s.truth_floor(16, 4000, rng=rng()).mean()
    assert run["MLE", s.L2] == pytest.approx(floor, abs=0.02)
    assert right["MLE", s.L2] < -3.5
    assert right["counts", s.MISSED] == 0
    assert 0.2 < run["counts", s.MISSED] < 0.3


def test_a_tiny_ridge_changes_nothing_seen():
    table = s.tiny_ridge(32, 250, [1e-3, 1e-2], 20)
    assert np.abs(np.diff(table[s.L2])).max() < 0.002


# --- checks ---


def losses(values, **columns):
    base = {"method": "counts", "loss": s.MISSED, "se": 0.001, "repetitions": 9, "epsilon": 1.0}
    return pd.DataFrame(base | columns | {"mean": values})


def test_monotone_reads_the_least_certain_step():
    frame = losses([0.5, 0.4, 0.39, 0.2], n=[100, 150, 151, 300])
    (check,) = s.check_exp_1(frame)
    assert check.outcome is True
    assert check.observed == pytest.approx(0.1)
    assert s.check_exp_1(frame.assign(se=0.03))[0].outcome is None
    assert s.check_exp_5(frame)[0].outcome is False
    # mutant: one rise among falls
    (check,) = s.check_exp_1(losses([0.5, 0.4, 0.6], n=[100, 200, 400]))
    assert check.outcome is False
    # below the floor nothing is asked; above it all is
    (check,) = s.check_exp_1(losses([0.5, 0.004, 0.006], n=[100, 200, 400]))
    assert check.outcome is True
    assert [check.outcome for check in s.check_exp_1(losses([0.5], n=[100]))] == [None], (
        "a single point decides nothing"
    )


@pytest.mark.slow
def test_experiments_in_small():
    assert derive(s.check_exp_1(s.edge([16, 64, 256], [1.0], [0.5, math.inf], 250))) == "holds"
    assert derive(s.check_exp_5(s.voter([12, 32], [1000], NOISES, 1500))) == "holds"
    assert derive(s.check_exp_6(s.voter([16], [250, 1000], NOISES, 1500))) == "holds"
    falls = s.voter([16], [250], [0.25, 1.0, 4.0], 1500, falls=[0.25, 1.0, 4.0])
    assert derive(s.check_exp_7(falls)) == "holds"
    # mutant: the falls of a mechanism that gets worse
    broken = falls.assign(mean=np.where(falls.loss.str.startswith("fall"), -falls["mean"], falls["mean"]))
    assert derive(s.check_exp_7(broken)) == "refuted"


def test_setups():
    checks = s.check_setup([100, 175], 100, 20)
    assert derive(checks) == "refuted"
    assert checks[0].observed == 1
    assert outcomes(checks, "corrected")[0] is True
    assert derive(s.check_voter_setup(16, 200, rng=rng())) == "underspecified"


def test_copeland_is_refuted_and_corrected():
    frame = s.edge([40], [1.0], [0.5, math.inf], 60, pairs=[("MLE", "counts")])
    checks = s.check_copeland(frame, 40, 20, rng=rng())
    assert derive(checks) == "refuted"
    assert set(outcomes(checks, "corrected")) == {True}


@pytest.mark.slow
def test_findings_in_small():
    methods = ["MLE", "counts", "MLE, equal privacy", "net wins"]
    steps = {"falls": [1.0, 2.5, math.inf]}
    pairs = [("MLE", "counts"), ("net wins", "counts"), ("net wins", "MLE, equal privacy")]
    fair = "counts, equal privacy"
    edge = s.edge([40, 80], [0.2, 1.0], NOISES, 60, methods=methods, **steps, pairs=pairs)
    all_pairs = [*pairs, ("net wins", fair)]
    voter = s.voter([12, 32], [250, 2000], NOISES, 600, methods=[*methods, fair], **steps, pairs=all_pairs)
    assert derive(s.check_finding_1(edge, voter)) == "refuted"
    checks = s.check_finding_3(edge, voter)
    assert [c.outcome for c in checks if "individual" in c.what and "log" in c.reading] == [False]
    # mutant: counts that never lose
    worse, worse_voter = edge.copy(), voter.copy()
    for frame in (worse, worse_voter):
        frame.loc[frame.loss == f"{s.MORE} counts", "mean"] += 1
    assert derive(s.check_finding_1(worse, worse_voter)) == "holds"
    table = s.advantage(edge, voter)
    assert set(table.unit) == {"edge", "individual"}
    assert (table[(table.unit == "edge") & (table.along == 1) & np.isinf(table.epsilon)].more.abs() < 1e-12).all()


def test_what_a_method_misses_more_is_a_difference_on_the_same_data():
    frame = s.edge([40], [1.0], [0.5], 200, pairs=[("MLE", "counts")])
    level = frame[frame.loss == s.MISSED].set_index("method")
    more = s.missed_more(frame, "MLE", "counts", ["n"]).iloc[0]
    assert more["mean"] == pytest.approx(level["mean"]["MLE"] - level["mean"]["counts"], abs=1e-12)
    assert more.se > 1.1 * math.hypot(*level.se), "noise taken from one and given to the other: no independent samples"
    with pytest.raises(ValueError, match="frame has no missed more than MLE for counts"):
        s.missed_more(frame, "counts", "MLE", ["n"])
    shots = s.oneshot([40], [math.inf], 40).set_index("method")
    gap = shots["mean"]["oneshot"] - shots["mean"]["counts"]
    assert shots["mean"]["oneshot less counts"] == pytest.approx(gap, abs=1e-12)
    assert shots.se["oneshot less counts"] < math.hypot(shots.se["oneshot"], shots.se["counts"])


def test_way_back_on_numbers_by_hand():
    falls = [("fall of log ℓ2", 1.0, 0.3), ("fall of log ℓ2", 2.5, 0.1)]
    falls += [("fall of log ℓ∞", 1.0, 0.3), ("fall of log ℓ∞", 2.5, 0.1)]
    frame = pd.DataFrame(falls, columns=["loss", "epsilon", "mean"]).assign(method="MLE", n=9, m=9, se=0.01)
    table = s.way_back(frame, ["n", "m"]).set_index(["loss", "scale"])
    assert table.fraction["log ℓ2", "log"] == pytest.approx(0.25)
    assert table.fraction["log ℓ2", "plain"] == pytest.approx((math.exp(0.1) - 1) / (math.exp(0.4) - 1))
    # the error is the change of the fraction when both falls are off by Z standard errors, to first order
    moved = frame.assign(mean=[0.3 - 1e-6, 0.1 + 1e-6] * 2)
    for scale in ("log", "plain"):
        change = s.way_back(moved, ["n", "m"]).set_index(["loss", "scale"]).fraction - table.fraction
        assert table.error["log ℓ2", scale] == pytest.approx(s.Z * 0.01 * change["log ℓ2", scale] / 1e-6, rel=1e-4)


def test_frames_of_figures():
    noise = [s.SEED, 5, "fresh 0", "fresh 1"]
    lines = s.one_draw_curves(s.edge_as_run([20], [0.5], 5, noise=noise))
    assert set(lines.source) == {"one draw", "seed 13", "new noise"}
    assert len(s.one_draw_curves(s.edge_as_run([100], [0.5], 3, noise=noise)).query("source == 'published'")) == 1
    assert len(s.ridge_influence(20, 0.5, [1.0, 2.0], [1.0], 4)) == 6
    assert isinstance(s.check_exp_2(s.edge([20], [0.2, 1.0], [1.0], 40))[0], Check)
