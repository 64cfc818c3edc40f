"""Falls and rises by hand."""

import numpy as np
import pandas as pd
import pytest

from companion.chapters.edge_privacy import comparisons, oneshot
from companion.chapters.edge_privacy.published_curves import PUBLISHED_1, with_published
from companion.instruments import loss_curves, strengths
from companion.printed import cai2025_curves


def losses(values, **columns):
    base = {"method": "counts", "loss": strengths.MISSED, "se": 0.001, "repetitions": 9, "epsilon": 1.0}
    return pd.DataFrame(base | columns | {"mean": values})


def test_monotone_reads_the_least_certain_step():
    frame = losses([0.5, 0.4, 0.39, 0.2], n=[100, 150, 151, 300])
    (check,) = comparisons.check_exp_1(frame)
    assert check.outcome is True
    assert check.observed == pytest.approx(0.1)
    assert comparisons.check_exp_1(frame.assign(se=0.03))[0].outcome is None
    (rise,) = loss_curves.monotone(frame, "n", "rise")
    assert rise.outcome is False
    # mutant: one rise among falls
    (check,) = comparisons.check_exp_1(losses([0.5, 0.4, 0.6], n=[100, 200, 400]))
    assert check.outcome is False
    # below the floor nothing is asked; above it all is
    (check,) = comparisons.check_exp_1(losses([0.5, 0.004, 0.006], n=[100, 200, 400]))
    assert check.outcome is True
    assert [check.outcome for check in comparisons.check_exp_1(losses([0.5], n=[100]))] == [None], (
        "a single point decides nothing"
    )


def four_losses(**columns):
    parts = [losses(0.3, method=method, loss=loss, **columns) for method, loss, _ in loss_curves._PANELS]
    return pd.concat(parts, ignore_index=True)


def test_published_points_within_a_frame_are_drawn_on_their_own_curve():
    frame = four_losses(n=[100, 100, 400, 400], p=1.0, epsilon=[0.5, 1.0, 0.5, 1.0])
    both = with_published(frame, 1)
    known = both[both.variant == "published"]
    assert set(known.n) == {100, 325}, "700 items are not in the frame"
    assert set(known.epsilon) == {0.5}, "there is no curve without noise"
    assert with_published(frame.assign(p=0.5), 1).variant.eq("corrected").all(), "another setting"
    axes = loss_curves.draw_by_items(both).axes[2]
    at, missed = next(line for line in axes.lines if line.get_marker() == "x" and len(line.get_xdata())).get_data()
    assert dict(zip(at, missed, strict=True)) == {100: 0.373, 325: 0.248}


def test_a_mistake_is_dotted_for_the_first_and_last_curve_only():
    frame = four_losses(n=[12, 12, 12, 32, 32, 32], m=1000, epsilon=[0.5, 1.0, np.inf] * 2)
    frame = pd.concat([frame.assign(variant=variant) for variant in ("corrected", "as run")])
    axes = loss_curves.draw_by_items(with_published(frame, 5)).axes[1]
    assert [line.get_linestyle() for line in axes.lines].count(":") == 2
    assert [line.get_marker() for line in axes.lines].count("x") == 2


def test_a_key_says_no_noise_and_which_line_is_mended():
    frame = four_losses(n=[12, 12, 32, 32], m=1000, epsilon=[0.5, np.inf] * 2)
    both = pd.concat([frame.assign(variant=variant) for variant in ("corrected", "as run")])
    words = {"ε = 0.5", "no noise", "mistakes corrected", "as the authors ran it"}
    for drawn, said in ((both, words), (frame.assign(variant="corrected"), {"ε = 0.5", "no noise"})):
        (legend,) = loss_curves.draw_by_items(drawn).legends
        assert {text.get_text() for text in legend.get_texts()} == said


def test_missed_shares_are_on_one_scale():
    frame = four_losses(n=[12, 32], m=1000, epsilon=0.5).assign(variant="corrected")
    frame.loc[frame.method == "MLE", "mean"] *= 2
    *_, estimator, counting = loss_curves.draw_by_items(frame).axes
    assert estimator.get_ylim() == counting.get_ylim()
    assert counting.get_ylim()[1] > 0.6


def test_every_epsilon_of_the_book_is_named_on_the_axis():
    frame = four_losses(n=300, p=[0.25, 1.0] * 5, epsilon=np.repeat([0.2, 0.5, 1.0, 2.5, np.inf], 2))
    axes = comparisons.draw_by_epsilon_edge(frame.assign(variant="corrected")).axes[-1]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.2", "0.5", "1", "2.5", "no noise"]


def test_points_printed_twice_agree():
    for row in cai2025_curves.curves(1).query("loss == 'missed'").itertuples():
        assert PUBLISHED_1[row.method, row.epsilon][row.n] == row.mean


def test_oneshot_is_drawn_with_its_published_points():
    cells = [(n, epsilon, method) for n in (150, 350) for epsilon in (0.1, np.inf) for method in oneshot._LOOKS]
    frame = pd.DataFrame(cells, columns=["n", "epsilon", "method"]).assign(mean=0.5, se=0.01, chance=0.75)
    both = oneshot.with_published(frame)
    assert len(both) - len(frame) == 6, "two sizes and three methods at epsilon 0.1"
    noisy, free = oneshot.draw_oneshot(both).axes
    crosses = [[line for line in axes.lines if line.get_marker() == "x"] for axes in (noisy, free)]
    assert [sum(len(line.get_xdata()) for line in lines) for lines in crosses] == [6, 0]
