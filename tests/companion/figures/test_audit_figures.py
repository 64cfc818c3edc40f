"""The audit's figures draw what their frames hold, infinite and missing losses too."""

import math

import numpy as np
import pandas as pd
import pytest

from companion.chapters.privacy_audited import bugs, floats, promises
from companion.instruments.style import CALIBRATION, show


@pytest.fixture
def losses():
    return pd.DataFrame(
        {
            "paper": ["A", "A", "B", "B"],
            "mechanism": ["Coin", "Coin", "Coin", "Urn"],
            "calibration": ["as printed", "calibrated", "as printed", "calibrated"],
            "claimed": [1.0, 2.0, 1.0, 1.0],
            "guarantee": [math.inf, 2.0, 0.01, 1.0],
            "exact": [math.inf, 2.0, 0.01, math.nan],
            "lower": [1.2, 1.6, 0.0, 0.5],
            "share": [math.inf, 1.0, 0.01, math.nan],
        }
    )


def marks(axes):
    return {
        (line.get_marker(), round(float(line.get_xdata()[0]), 3)) for line in axes.lines if line.get_marker() != "None"
    }


def test_losses_beyond_the_axis_point_outwards(losses):
    figure = promises.draw_claimed_and_true(losses)
    first, second = figure.axes
    assert figure.get_suptitle() == "1 of 2 mechanisms lose more privacy than their papers say"
    assert {(">", promises.HIGH), ("o", 1.0), ("|", 1.0), (5, 1.2), (5, 0.8)} <= marks(first)
    assert {("<", promises.LOW), (5, 0.5)} <= marks(second)
    assert (5, promises.LOW) not in marks(second)  # one arrow to the left, not two on each other
    labels = first.get_yticklabels()
    assert [label.get_text() for label in labels] == ["Coin", "Coin"]
    assert [label.get_color() for label in labels] == [
        CALIBRATION[name]["color"] for name in ("as printed", "corrected")
    ]


def test_bars_of_the_figure_on_floats():
    cells = [
        (noise, scale, count) for noise in ("floats", "whole numbers") for scale in (1.0, 10.0) for count in (0, 5)
    ]
    frame = pd.DataFrame(cells, columns=["noise", "scale", "count"])
    frame = frame.assign(ruled_out="either neighbour", mean=np.linspace(0.7, 0, 8), se=0.01)
    axes = floats.draw_betrayals(frame).axes[0]
    assert len(axes.containers) == 4
    bottom, top = axes.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert top - bottom == pytest.approx(2 * floats.BAR * 0.01)


@pytest.mark.slow
def test_every_bug_is_a_mark():
    frame = pd.DataFrame(
        {
            "ratio": [1.2, math.inf, math.nan, 2.0],
            "samples": [10_000, 1024, 2048, 100_000],
            "often": [True, True, True, False],
        }
    )
    caught, missed = bugs.draw_releases_needed(frame).axes[0].lines[:2]
    assert caught.get_xdata().tolist() == [1.2, bugs.HIGH, 2 * bugs.HIGH]
    assert missed.get_ydata().tolist() == [100_000]
    assert show("bugs", frame, bugs.draw_releases_needed).svg == show("bugs", frame, bugs.draw_releases_needed).svg
