"""The quick form of `make samplers`. SECURE has no seed: a sampler raises a false alarm once in 1 / ALARM_SECURE runs.

What each test would miss: a sampler off by less than a tenth here, by less than 1 % weekly.
"""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import samplers
from checks import each

import dprank
from dprank.privacy import noise
from dprank.privacy.conditioned import conditioned_laplace
from dprank.privacy.cube import cube_noise

ALARM_SECURE = 1e-9
#: Modules that take bits of the operating system for something else than a draw: a salt, a mark.
NO_SAMPLERS = {"dprank.privacy._budget_file", "dprank.data.sniffing"}
#: Modules that shuffle by 64-bit words, where two equal words cost fairness 2^-64 and no privacy.
SHUFFLES = {"dprank.aggregation.sent_reports", "dprank.pairwise.local_comparisons"}
LEVEL = samplers.ALARM / len(samplers.SAMPLERS)


def right(name):
    return samplers.SAMPLERS[name].law(Fraction(1))


@pytest.mark.slow
@each("name", samplers.SAMPLERS)
def test_a_sampler_draws_its_law(name):
    """A tenth off shows here, in 10^5 draws; slow ones have 2,000: half off shows."""
    counts, _ = samplers.drawn_counts(name, 2_000 if samplers.SAMPLERS[name].slow else 100_000)
    assert samplers.p_value(counts, right(name)) > ALARM_SECURE


@pytest.mark.slow
@each("name", samplers.SAMPLERS)
def test_the_weekly_draws_show_what_is_off_by_one_percent(name):
    """Ten million draws of the law pass; of the law with its parameter 1 % off, either way, they do not."""
    seeds, law = np.random.default_rng(39), right(name)

    def seen(off):
        chances = np.array([float(chance.mid()) for chance in samplers.SAMPLERS[name].law(off).values()])
        return np.r_[seeds.multinomial(samplers.DRAWS, chances / chances.sum()), 0]

    assert samplers.p_value(seen(Fraction(1)), law) > LEVEL
    assert samplers.p_value(seen(Fraction(101, 100)), law) < LEVEL
    assert samplers.p_value(seen(Fraction(99, 100)), law) < LEVEL


#: Samplers as somebody might write them, seeded: a name of a sampler, and what is drawn in its place.
MUTANTS = {
    "laplace, a tenth wider": ("laplace, scale 7.3", lambda n, rng: noise.discrete_laplace(8.03, n, rng=rng)),
    "laplace, rounded": ("laplace, scale 0.7", lambda n, rng: np.rint(rng.laplace(0, 0.7, n)).astype(int)),
    "gaussian, rounded": ("gaussian, scale 0.7", lambda n, rng: np.rint(rng.normal(0, 0.7, n)).astype(int)),
    "gaussian, a tenth wider": ("gaussian, scale 7.3", lambda n, rng: noise.discrete_gaussian(8.03, n, rng=rng)),
    "geometric, from 1 on": ("geometric", lambda n, rng: noise.geometric(3.3, n, rng=rng) + 1),
    "conditioned, the last pays": (
        "conditioned",
        lambda n, rng: (
            (both := noise.discrete_laplace(1.7, (n, 2), rng=rng)) @ [[1, 0, -1], [0, 1, -1]] + 0 * both[:, :1]
        ),
    ),
    "conditioned, scale for n": ("conditioned", lambda n, rng: conditioned_laplace(1.7 * 2 / 3, 3, n, rng=rng)),
    "cube, its faces alone": (
        "cube",
        lambda n, rng: np.abs(noise.discrete_laplace(1.3, (n, 1), rng=rng)) * rng.choice([-1, 1], (n, 2)),
    ),
    "cube, a tenth wider": ("cube", lambda n, rng: cube_noise(1.43, 2, n, rng=rng)),
}


@pytest.mark.slow
@each("mutant", MUTANTS)
def test_a_broken_sampler_is_denied(mutant):
    name, draw = MUTANTS[mutant]
    drawn = draw(100_000, np.random.default_rng(39))
    counts = samplers.Cells(tuple(right(name))).counts(drawn if drawn.ndim == 2 else drawn[:, None])
    assert samplers.p_value(counts, right(name)) < ALARM_SECURE


def test_laws_known_by_heart():
    """One chance of each kind in closed form, by hand: a slip in a law would be held against a sound sampler."""
    close = {
        ("laplace, scale 0.7", (0,)): np.tanh(1 / 1.4),
        ("gaussian, scale 7.3", (0,)): 1 / np.sqrt(2 * np.pi * 7.3**2),
        ("geometric", (0,)): -np.expm1(-1 / 3.3),
        ("orders", (0, 1, 2, 3)): 1 / 24,
        ("randomised response", (-1,)): 0.1,
        # exp(-4 / 1.7) against exp(-2 / 1.7): (1, 1, -2) and (1, -1, 0)
        ("conditioned", (1, 1, -2)): float(right("conditioned")[1, -1, 0].mid()) * np.exp(-2 / 1.7),
    }
    for (name, outcome), chance in close.items():
        assert float(right(name)[outcome].mid()) == pytest.approx(chance, rel=1e-12)
    two = [float(it.mid()) for it in samplers.permute_and_flip((2, 0), Fraction(2))]
    assert two == pytest.approx([1 - np.exp(-1) / 2, np.exp(-1) / 2], rel=1e-14)


def test_what_may_not_be_is_denied_at_once():
    counts = np.r_[np.array([float(it.mid()) for it in right("orders").values()]) * 24_000, 1]
    assert samplers.p_value(np.round(counts), right("orders")) == 0
    assert samplers.p_value(np.r_[np.round(counts[:-1]), 0], right("orders")) > 0.99


def test_whatever_draws_has_a_check():
    """A new module that takes bits of the operating system needs a sampler in `samplers.py`, or a reason here."""
    folder = Path(dprank.__file__).parent
    found = {
        ".".join(file.relative_to(folder.parent).with_suffix("").parts)
        for file in folder.rglob("*.py")
        if re.search(r"\bsecrets\.|SystemRandom|urandom|opendp\.prelude", file.read_text(encoding="utf-8"))
    }
    checked = {module for sampler in samplers.SAMPLERS.values() for module in sampler.modules}
    assert found - NO_SAMPLERS - SHUFFLES <= checked
    assert {"dprank.privacy.noise", "dprank.privacy.cube"} <= found
