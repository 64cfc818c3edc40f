"""The lines that the chapter shows: a belief by adding up shifts is that of the chapter's own law."""

import math

import numpy as np
import pytest
from scipy.special import expit
from typed_lines import unlike

from companion.chapters.what_epsilon_buys import belief, lines, outcomes, price, several
from companion.chapters.which_method import table as arena
from dprank import PrivateBorda, Rankings
from dprank.publication import gain


def test_the_chapter_shows_them_word_for_word():
    assert unlike("16-what-epsilon-buys", lines) == []


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_a_belief_is_that_of_the_law_of_the_noise(epsilon):
    """Of releases by the library, against the closed form that the chapter's figures are made by."""
    items, rng = 4, np.random.default_rng(1)
    others = outcomes.people_of(items, 30)
    mechanism = PrivateBorda.calibrated(epsilon=epsilon, n_items=items)
    mine = np.arange(items)
    data = Rankings(np.vstack([others, mine]), "ABCD")
    known = others.sum(axis=0)
    for _ in range(20):
        scores = mechanism.release(data, rng).scores
        noise = np.rint(scores[0] - scores).astype(np.int64) - (known + mine - known[0])
        move = mine[::-1] - mine - (mine[::-1] - mine)[0]
        odds = belief.log_weight(noise[None], mechanism.scale) - belief.log_weight(
            (noise - move)[None], mechanism.scale
        )
        found = lines.posterior(scores, known + mine, known + mine[::-1], mechanism.scale)
        assert found == pytest.approx(float(expit(odds[0])), rel=1e-9)


def test_a_better_guess_is_right_as_often_as_the_chapter_says():
    others, mine, rng = outcomes.people_of(3, 30), np.arange(3), np.random.default_rng(2)
    mechanism, known = PrivateBorda.calibrated(epsilon=1.0, n_items=3), others.sum(axis=0)
    data = Rankings(np.vstack([others, mine]), "ABC")
    guesses = known + mine, known + mine[::-1]
    sure = [lines.posterior(mechanism.release(data, rng).scores, *guesses, mechanism.scale) for _ in range(2000)]
    better = np.maximum(sure, np.subtract(1, sure))
    found = belief.after(known, [1.0]).set_index("published").loc[belief.SCORES]
    assert better.mean() == pytest.approx(found["right"], abs=5 * math.hypot(better.std() / 2000**0.5, found["se"]))
    assert 1 - gain(1.0) - 1e-9 < min(sure) < max(sure) < gain(1.0) + 1e-9


def test_figures_say_what_other_parameters_give():
    assert "At ε = 0.2 even odds become 55 % at most" in " ".join(
        belief.draw_most(belief.most([0.2, 1.0], told=0.2)).get_suptitle().split()
    )
    weeks = several.added_up(3, 0.02)
    assert f"by {100 * gain(52 * 0.02):.0f} %" in " ".join(several.draw_added_up(weeks).get_suptitle().split())
    still = outcomes.releases(outcomes.people_of(3, 4000), [3.0], number=5)
    assert "is the same in all releases" in " ".join(outcomes.draw_releases(still).get_suptitle().split())
    assert price.numbers(price.frontier(arena.load(), 20), 0.9)["belief"] == f"{100 * gain(1.0):.0f} %"
