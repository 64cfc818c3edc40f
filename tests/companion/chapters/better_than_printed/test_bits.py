"""The lines that the chapter shows: two reports of the same epsilon, as the library's; and figures at other sizes."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats
from typed_lines import unlike

from companion.chapters.better_than_printed import growth, lines, overview
from companion.printed.busafekete2021 import local_pairs
from dprank.privacy.randomized_response import GRAIN

#: False alarms of a statistical test here.
ALARM = 1e-6
BITS = np.array([1, -1, 1])


def test_the_chapter_shows_them_word_for_word():
    assert unlike("17-better-than-printed", lines) == []


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_all_bits_have_the_law_that_is_printed(epsilon):
    rng, times = np.random.default_rng(1), 8_000
    lie = local_pairs(6, epsilon).mechanism.flips / GRAIN
    law = {
        sheet: lie ** (wrong := sum(np.array(sheet) != BITS)) * (1 - lie) ** (3 - wrong)
        for sheet in product((1, -1), repeat=3)
    }
    seen = Counter(tuple(lines.all_bits(BITS, epsilon, rng).tolist()) for _ in range(times))
    assert stats.chisquare([seen[it] for it in law], times * np.array(list(law.values()))).pvalue > ALARM


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_one_bit_has_the_law_of_randomised_response(epsilon):
    rng, times, lie = np.random.default_rng(2), 8_000, 1 / (1 + math.exp(epsilon))
    law = {
        tuple(np.where(np.arange(3) == at, said, 0).tolist()): (1 - lie if said == BITS[at] else lie) / 3
        for at in range(3)
        for said in (1, -1)
    }
    seen = Counter(tuple(lines.one_bit(BITS, epsilon, rng).tolist()) for _ in range(times))
    assert stats.chisquare([seen[it] for it in law], times * np.array(list(law.values()))).pvalue > ALARM


def test_factors_follow_the_sizes_that_are_asked_for():
    at = overview.At(chosen=20, epsilon=0.1, delta=1e-5, bit_items=50, people=50)
    rows = {it.name: it for it in overview.gains(at)}
    assert rows["Algorithm 5, one bit of 50 items"].at == "50 items, φ = 0.98, ε = 1/3"
    assert rows["Theorem 2.2, Gumbel noise instead"].at == "20 of 200, ε = 0.1, δ = 1e-5"
    book = {it.name: it for it in overview.GAINS}
    for name in (
        "Theorem 2.2, Gumbel noise instead",
        "Theorem 3.5, a private walk",
        "Corollary 3, noise on scores instead",
    ):
        assert rows[name].factor(100).value != pytest.approx(book[name].factor(400).value, rel=1e-3)
        assert rows[name].factor(100).value > 0
    assert book["Algorithm 5, one bit of a thousand items"].at.startswith("1,000 items")


def test_curves_follow_epsilon():
    wide, book = growth.CURVES, overview.At()
    walk, gumbel = (wide[name] for name in wide if name.startswith(("Theorem 3.5", "Theorem 2.2")))
    for curve in (walk, gumbel):
        assert curve(10, overview.At(delta=0.01)).value != pytest.approx(curve(10, book).value, rel=1e-3)
