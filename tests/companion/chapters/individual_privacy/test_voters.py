"""Seeds are fixed."""

import math
import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

from companion.chapters.edge_privacy import comparisons
from companion.chapters.individual_privacy import voters
from companion.instruments import loss_curves, strengths
from companion.ledger.claim import derive

NOISES = [0.5, 1.0, 2.5, math.inf]


@pytest.mark.slow
def test_a_cell_does_not_depend_on_the_other_epsilons_or_workers():
    whole = comparisons.edge([20], [0.5], NOISES, 30)
    with joblib.parallel_config("threading"):
        part = comparisons.edge([20], [0.5], [1.0], 30, jobs=2)
    both = whole[whole.epsilon == 1.0].reset_index(drop=True)
    pd.testing.assert_frame_equal(both, part, check_exact=True)
    whole = voters.voter([12], [50], NOISES, 300)
    with joblib.parallel_config("threading"):
        part = voters.voter([12], [50], [1.0], 300, jobs=2)
    pd.testing.assert_frame_equal(whole[whole.epsilon == 1.0].reset_index(drop=True), part, check_exact=True)


@pytest.mark.slow
def test_wrong_top_is_what_numpy_selects_without_vector_instructions(tmp_path):
    sizes = (12, 16, 32)
    for n in sizes:
        drawn = voters.sim.strengths(n, 200, rng=np.random.default_rng(n))
        np.save(tmp_path / f"{n}.npy", np.vstack([np.random.default_rng(n).normal(size=(200, n)), drawn]))
    code = (
        "import numpy as np\n"
        f"for n in {sizes}:\n"
        "    np.save(f'top-{n}.npy', np.argpartition(np.load(f'{n}.npy'), n // 4, axis=-1)[:, -(n // 4):])\n"
    )
    off = "AVX512_SPR AVX512_ICL AVX512_CNL AVX512_CLX AVX512_SKX AVX512CD AVX512F AVX2 FMA3 X86_V4 X86_V3"
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": off, "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
    for n in sizes:
        theirs = np.load(tmp_path / f"top-{n}.npy")
        assert (voters.wrong_top(np.load(tmp_path / f"{n}.npy"), n // 4) == theirs).all(), n


def test_wrong_top_holds_some_of_the_upper_part():
    x = np.random.default_rng(3).normal(size=(300, 16))
    taken, rank = voters.wrong_top(x, 4), np.argsort(np.argsort(x, axis=1), axis=1)
    places = np.take_along_axis(rank, taken, 1)
    assert places.min() >= 4
    assert 12 > places.min(1).mean() > 4
    with pytest.raises(ValueError, match=r"^k = 2; it must lie in 3 \.\. 15$"):
        voters.wrong_top(x, 2)


def test_as_run_has_a_floor_and_a_wrong_truth():
    run = voters.voter([16], [100_000], [math.inf], 200, as_run=True).set_index(["method", "loss"])["mean"]
    right = voters.voter([16], [100_000], [math.inf], 200).set_index(["method", "loss"])["mean"]
    floor = voters.truth_floor(16, 4000, rng=np.random.default_rng(0)).mean()
    assert run["MLE", strengths.L2] == pytest.approx(floor, abs=0.02)
    assert right["MLE", strengths.L2] < -3.5
    assert right["counts", strengths.MISSED] == 0
    assert 0.2 < run["counts", strengths.MISSED] < 0.3


def outcomes(record, word):
    """Outcomes by reading of the checks that hold the word, other than of what is corrected."""
    return {c.reading: c.outcome for c in record if word in c.what and c.about == "printed"}


def few(monkeypatch, number):
    monkeypatch.setattr(voters, "MANY", number)


def test_estimates_differ_by_their_means_alone_and_are_found_once(monkeypatch):
    found = []
    plain = voters.sim.estimated

    def seen(*given):
        found.append(given[0])
        return plain(*given)

    monkeypatch.setattr(voters.sim, "estimated", seen)
    methods = voters.voter_methods(12)
    rng = np.random.default_rng(1)
    theta = voters.sim.centred(strengths.strengths(12, 5, rng=rng))
    played, wins = voters.voter_counts(theta, 100, 5, rng=rng)
    data = strengths.Data(theta, played, wins, 7, rng.random(wins.shape))
    scores = {name: methods[name].scores(methods[name].mechanism(1.0), data) for name in voters.READINGS}
    assert len(found) == 2
    assert {mechanism.ridge for mechanism in found} == {10.0, 8 * 5 * 57.0}
    for centred, as_printed in (("MLE", "MLE, as printed"), ("MLE, κ2", "MLE, as printed, κ2")):
        assert np.abs(scores[centred].mean(1)).max() < 1e-9
        moved = scores[as_printed] - scores[centred]
        np.testing.assert_allclose(moved, np.repeat(moved[:, :1], 12, axis=1), atol=1e-9)
        # the sum of the equations: the mean is that of the noise over -gamma
        mechanism = methods[as_printed].mechanism(1.0)
        noise = voters.laplace(mechanism.scale, wins.shape, rng=data.noise())
        np.testing.assert_allclose(moved[:, 0], -noise.mean(1) / mechanism.ridge, atol=1e-7)


@pytest.mark.slow
def test_experiments_5_to_7_depend_on_the_estimate(monkeypatch):
    few(monkeypatch, 2500)
    printed, other = voters.READINGS["MLE, as printed"], voters.READINGS["MLE, as printed, κ2"]
    frame = voters.voter([12, 32], [1000], NOISES, 300)
    record = voters.check_exp_5(frame, voters.readings([12, 32], [1000], NOISES))
    assert derive(record) == "depends on the reading"
    assert outcomes(record, "log ℓ2")[printed] is False
    assert outcomes(record, "log ℓ2")[other] is True
    frame = voters.voter([16], [250, 2000], NOISES, 300)
    record = voters.check_exp_6(frame, voters.readings([16], [250, 2000], NOISES))
    assert derive(record) == "depends on the reading"
    rates = outcomes(record, "log ℓ2: fall from 250 to 2000")
    assert rates.pop(voters.READINGS["MLE"]) is True
    assert set(rates.values()) == {False}
    # mutant: an estimate as printed that forgot its mean would pass
    mutant = voters.readings([16], [250, 2000], NOISES)
    mended = frame[frame.method == "MLE"].assign(method="MLE, as printed")
    mutant = pd.concat([mutant[mutant.method != "MLE, as printed"], mended])
    assert outcomes(voters.check_exp_6(frame, mutant), "log ℓ2: fall from 250 to 2000")[printed] is True


@pytest.mark.slow
def test_a_mechanism_that_gets_worse_does_not_fall(monkeypatch):
    few(monkeypatch, 1500)
    epsilons = [0.25, 1.0, 4.0, math.inf]
    falls = voters.voter([16], [250], epsilons, 1500, falls=[0.25, 1.0, 4.0])
    others = voters.readings([16], [250], epsilons, falls=[0.25, 1.0, 4.0])
    left = outcomes(voters.check_exp_7(falls, others), "share of the way")
    assert left.pop(voters.READINGS["MLE"]) is True
    assert False in left.values()
    broken = falls.assign(mean=np.where(falls.loss.str.startswith("fall"), -falls["mean"], falls["mean"]))
    worse = outcomes(voters.check_exp_7(broken, others), "MLE, log ℓ2: least certain")
    assert worse[voters.READINGS["MLE"]] is False


def test_a_figure_has_the_estimate_as_printed_at_the_ends():
    frame = voters.voter([12, 16], [100], [0.5, 1.0, math.inf], 20)
    run = voters.voter([12, 16], [100], [0.5, 1.0, math.inf], 20, as_run=True)
    others = voters.voter([12, 16], [100], [0.5, 1.0, math.inf], 20, methods=list(voters.VARIANTS))
    shown = voters.pictured(frame, run, others)
    assert set(shown.variant) == {"corrected", "as run", *voters.VARIANTS.values()}
    assert np.isfinite(shown.epsilon[shown.variant.isin(voters.VARIANTS.values())]).all()
    axes = loss_curves.draw_by_items(shown).axes
    assert [len(it.lines) for it in axes] == [3 + 2 + 2 + 1, 3 + 2 + 2 + 1, 3 + 2, 3 + 2]


def test_counts_miss_less_with_less_privacy_fewer_answers_to_hide_and_more_people():
    base = {"n": 16, "m": 1000, "answers": 5, "epsilon": 0.5, "repetitions": 400}
    missed = voters.counts_missed(**base)["mean"].item()
    assert 0.02 < missed < 0.3
    for change in ({"epsilon": 2.0}, {"m": 5000}):
        assert voters.counts_missed(**base | change)["mean"].item() < missed / 2
    as_in_experiments = voters.voter([16], [1000], [0.5], 400, methods=["counts, equal privacy"])
    row = as_in_experiments.iloc[0]
    assert abs(row["mean"] - missed) < 5 * math.sqrt(2) * row.se


def test_errors_at_one_total_are_said_to_grow_if_they_do():
    frame = comparisons.equal_data([60, 100], 800, [1.0], 20)
    few = frame.n == 60
    for mean, said in (
        (frame["mean"].where(few, 9.0), " errors grow"),
        (frame["mean"].where(few, -9.0), " few errors"),
    ):
        drawn = comparisons.draw_equal_data(frame.assign(mean=mean))
        assert said in " ".join(drawn._suptitle.get_text().split())
