"""Attacks succeed on what is careless, and fail on the tool; each check can fail."""

from functools import partial

import numpy as np
import pytest
from matplotlib.figure import Figure

from companion.chapters.release_your_own import attacks
from dprank.data.bounding import person_ids


@pytest.mark.slow
def test_attacks_succeed_where_nobody_counts_and_fail_on_the_tool():
    labels = partial(attacks.check_labels.__wrapped__, attacks.labelled(releases=200))
    for check in (attacks.check_averages.__wrapped__, labels, attacks.check_twice.__wrapped__):
        checks = list(check())
        assert len(checks) >= 6
        assert not [str(one) for one in checks if one.outcome is not True]


def test_all_spellings_are_one_person_and_sixteen_names():
    names = attacks.spellings(16)
    assert len(set(names)) == 16
    assert len(set(person_ids("person", names).tolist())) == 1


def test_averages_are_those_of_the_mechanism():
    # the sum of a few releases, drawn one by one, has the spread of the shortcut
    mechanism = attacks.PrivateBorda.calibrated(epsilon=0.5, n_items=4)
    one = attacks.averaged(0.5, [16], 20_000).guessed[0]
    rng, along = np.random.default_rng(1), np.array([3, 1, -1, -3])
    sums = mechanism.perturb(np.zeros((20_000, 16, 4), int), rng).sum(axis=1) @ along
    slow = (np.mean(sums > -160) + np.mean(sums >= -160)) / 2
    assert abs(one - slow) < 4.5 * np.sqrt(0.25 / 20_000 + 0.25 / 40_000)


@pytest.mark.slow
def test_figures():
    for frame, draw in (
        (attacks.averaged(repetitions=50), attacks.draw_averaged),
        (attacks.labelled(releases=5), attacks.draw_labelled),
        (attacks.doubled(), attacks.draw_doubled),
    ):
        assert isinstance(draw(frame), Figure)
