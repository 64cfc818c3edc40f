import math

import fresh_roots
import numpy as np
import pytest
from scipy import stats

from companion.instruments.allowance import Z
from companion.instruments.uniformity import certain
from companion.ledger.claim import amended, argument, printed


@pytest.mark.slow
def test_a_fresh_root_leaves_hardly_ever_a_claim_undecided():
    """A later claim with a thin margin is found here: give it more draws, a better estimate, or say a wider margin."""
    risks = list(fresh_roots.risks("standard"))
    worst = sorted(risks, key=lambda risk: -risk.chance)[:5]
    assert sum(risk.chance for risk in risks) < 0.01, "\n".join(map(str, worst))


def test_a_thin_margin_is_seen(monkeypatch):
    """Three standard errors beyond the error bar are 1.7 % by themselves, as finding 1 once was."""
    thin = amended("missed more", 1.0, "<=", 1.0 + (Z + 3) * 0.1, error=Z * 0.1)
    monkeypatch.setattr(
        fresh_roots, "records", lambda name, path=None: {"mini2020:thm-1": [printed("n", 1, "<=", 2), thin]}
    )
    assert sum(risk.chance for risk in fresh_roots.risks()) == pytest.approx(stats.norm.sf(3 / math.sqrt(2)))


@pytest.mark.parametrize("relation", ["<=", "<", ">=", ">"])
def test_the_chance_is_that_of_two_roots(relation):
    """Simulated: of roots about one truth those are counted that are undecided, given what the first one saw."""
    rng, se, side = np.random.default_rng(39), 0.1, -1 if "<" in relation else 1
    first = printed("mean", side * (Z + 2) * se, relation, 0.0, error=Z * se)
    truth = first.observed + se * rng.standard_normal(100_000)
    again = side * (truth + se * rng.standard_normal(100_000)) - Z * se
    assert fresh_roots.chance(first) == pytest.approx((again < 0).mean(), rel=0.05)
    # what decides "false" has a margin, too, and a lucky root is put right by a profile with more draws
    assert fresh_roots.chance(printed("mean", -first.observed, relation, 0.0, error=Z * se)) == fresh_roots.chance(
        first
    )
    longer = printed("mean", side * (Z + 1) * se, relation, 0.0, error=Z * se / 10)
    assert fresh_roots.chance(first, [longer]) == pytest.approx(stats.norm.sf(1 / math.hypot(1, 0.1)))


@pytest.mark.parametrize(("failures", "draws", "bound"), [(0, 150, 0.9), (0, 250, 0.9), (3, 250, 0.8), (1, 80, 0.7)])
def test_draws_of_a_share_follow_from_its_error(failures, draws, bound):
    mean = 1 - failures / draws
    found = fresh_roots.share(printed("power", mean, ">=", bound, error=certain(mean, draws)))
    assert (found.draws, found.failures) == (draws, pytest.approx(failures))
    # one failure more than are allowed, and it is undecided
    for more, outcome in ((found.allowed, True), (found.allowed + 1, None)):
        mean = 1 - more / draws
        assert printed("power", mean, ">=", bound, error=certain(mean, draws)).outcome is outcome
    assert fresh_roots.share(printed("power", mean, ">=", bound, error=0.01234)) is None


def test_an_exact_interval_is_a_share_too():
    low = (fresh_roots.MISS / 2) ** (1 / 600)
    found = fresh_roots.share(printed("power", (1 + low) / 2, ">=", 0.95, error=(1 - low) / 2))
    assert found == (0, 600, 11)


def test_the_chance_of_failures_is_that_of_all_rates_that_fit():
    """Simulated from Jeffreys' posterior: none of 250 failed, four may."""
    check = printed("power", 1.0, ">=", 0.9, error=certain(1.0, 250))
    rng = np.random.default_rng(39)
    failed = rng.binomial(250, rng.beta(0.5, 250.5, 10**6))
    assert fresh_roots.chance(check) == pytest.approx((failed > 4).mean(), rel=0.05)


def test_only_what_a_verdict_rests_on_counts():
    false = printed("exact", 2, "<=", 1)
    assert not fresh_roots.rests([false, printed("simulated", 2, "<=", 1, error=0.1)], 1)  # refuted already
    assert fresh_roots.rests([printed("exact", 1, "<=", 1), printed("simulated", 0, "<=", 1, error=0.1)], 1)
    assert fresh_roots.rests([false, amended("simulated", 0, "<=", 1, error=0.1)], 1)
    assert fresh_roots.rests([false, argument("simulated", 0, "<=", 1, error=0.1)], 1)
    assert fresh_roots.chance(printed("undecided", 1, "<=", 1, error=0.1)) == 1
    assert fresh_roots.chance(printed("equal", 1.05, "==", 1, error=0.1)) == pytest.approx(2 * stats.norm.sf(Z))
