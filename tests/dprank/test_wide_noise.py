"""Noise wider than a grid can be drawn on is refused when it is calibrated; the real line has none.

A calibration that forgot to ask would give a mechanism that cannot be drawn for.
"""

import pytest
from checks import refused

import dprank
from dprank.privacy.noise import WIDEST

COUNTED = {"n_items": 4, "n_voters": 10}
GRIDS = {
    "Oneshot": {"n_items": 4, "k": 2},
    "PrivateBorda": {"n_items": 4},
    "NoisyMatrix": {"n_items": 4},
    "NoisyCounts": {"n_items": 4, "per_person": 1},
    "PrivateKwikSort": {"n_items": 4, "queries": 3},
    "LaplaceUnif": COUNTED,
    "NoisyNorm": COUNTED,
}


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_too_wide_for_a_grid_is_refused_before_it_is_paid_for(name):
    with refused("epsilon = 1e-18; noise of scale", "would be needed"):
        getattr(dprank, name).calibrated(epsilon=1e-18, **GRIDS[name])


@pytest.mark.parametrize("name", ["PrivateBorda", "NoisyMatrix", "NoisyCounts", "PrivateKwikSort"])
def test_noise_on_the_real_line_may_be_as_wide(name):
    wide = getattr(dprank, name).calibrated(epsilon=1e-18, law="continuous", **GRIDS[name])
    assert wide.scale > WIDEST
