"""What chapter 6 draws and says at a reader's parameters."""

from __future__ import annotations

import pytest

from companion.chapters.private_uniformity import any_epsilon, local_voters
from companion.chapters.private_uniformity.same_data import BUCKETED, EXCHANGED, RANKS, TRUNCATED, trun_size
from companion.chapters.private_uniformity.trun import acceptance_curve, draw_acceptance
from companion.chapters.private_uniformity.trun_samples import rankings_needed
from companion.printed import busafekete2021 as paper


def numbers(epsilon: float) -> dict[str, str]:
    power = any_epsilon.powers(10, 100, epsilon, 0.05, 20)
    need = any_epsilon.needed(10, epsilon, 0.05)
    voters = local_voters.needed_table([10, 30], epsilon, 0.5, 20, 0.05)
    return dict(any_epsilon.numbers(power, need, voters, rankings=100, epsilon=epsilon, delta=0.05))


def test_trun_starts_at_its_size_and_the_others_near_theirs() -> None:
    frame = any_epsilon.powers(10, 100, 1 / 3, 0.05, 40)
    shares = frame.pivot(index="gap", columns="test", values="mean")
    first, last = shares.iloc[0], shares.iloc[-1]
    test = paper.trun(10, 100, 1 / 3, 0.05, 1.0).mechanism
    assert first[TRUNCATED] == pytest.approx(trun_size(test), abs=0.02)
    assert first[EXCHANGED] == pytest.approx(1 - first[TRUNCATED], abs=0.01)
    assert first[BUCKETED] < 0.1
    assert first[RANKS] < 0.15
    assert last[RANKS] > 0.9
    assert any_epsilon.draw_powers(frame).get_suptitle().endswith("of shuffled rankings not random")


def test_numbers_follow_from_epsilon() -> None:
    strict, loose = numbers(1 / 3), numbers(5.0)
    assert strict.keys() == loose.keys()
    assert {"kept", "share", "ranks", "laplace", "blind"} <= {it for it in strict if strict[it] != loose[it]}
    assert strict["share"] == "1/3"
    assert loose["kept"].startswith("Here it keeps")


def test_rankings_are_those_of_the_page_behind() -> None:
    need = any_epsilon.needed(100, 1 / 3, 0.05).set_index("test").rankings
    for test in ("noisy norm", "Laplace on Y"):
        assert need[test] == pytest.approx(rankings_needed(test, 100, any_epsilon.BIAS), rel=0.04)


def test_a_loss_below_the_promise_is_said_so() -> None:
    broken, kept = (acceptance_curve(10, 100, 0.5, epsilon, 0.05) for epsilon in (1 / 3, 5.0))
    assert "loses too much below" in draw_acceptance(broken).get_suptitle().replace("\n", " ")
    assert "keeps the promise" in draw_acceptance(kept).get_suptitle().replace("\n", " ")
