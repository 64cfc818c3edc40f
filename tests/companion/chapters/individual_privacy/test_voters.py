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
from companion.instruments import strengths
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


@pytest.mark.slow
def test_a_mechanism_that_gets_worse_does_not_fall():
    falls = voters.voter([16], [250], [0.25, 1.0, 4.0], 1500, falls=[0.25, 1.0, 4.0])
    broken = falls.assign(mean=np.where(falls.loss.str.startswith("fall"), -falls["mean"], falls["mean"]))
    assert derive(voters.check_exp_7(broken)) == "refuted"
