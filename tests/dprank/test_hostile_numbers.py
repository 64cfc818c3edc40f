"""Every number that a constructor takes, against what analysts pass by mistake and attackers on purpose.

Refused in one line that names it, or accepted with a promise that is true of the exact value. Nothing here is random.
``python tests/dprank/hostile_values.py`` prints the table.
"""

import inspect
import math
import re
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hostile_values import BASELINES, HOSTILE, NUMBERS, makers, outcome

from dprank.privacy.guarantee import Guarantee, ratio_up

MAKERS = makers()
#: Where nothing is told an epsilon of 0 is the truth, and where a paper promises without noise, infinity is.
ENDS = (
    "aggregation.exponential.ExponentialMechanism",  # a fair draw, at rate 0
    "privacy.guarantee.Guarantee",
    "topk.joint.JointExponential",  # to choose all items is no choice
    "topk.oneshot.Oneshot",  # likewise
    "topk.private_spectral.PrivateRankCentrality",
    "uniformity.bucketed.Bucketed",  # without a coin (0, 1 / B), and nothing at all for one batch
    "uniformity.local.Local",  # fair coins
    "uniformity.local_two_stage.Local",
)


def test_every_maker_has_a_baseline_that_works():
    """A new class, or a new parameter of an old one, is tried from its first day."""
    assert {name.split(",")[0] for name in BASELINES} == set(MAKERS), "_baselines of hostile_values.py has them"
    for name, parameters in BASELINES.items():
        maker, numeric = MAKERS[name.split(",")[0]]
        assert numeric, name
        maker(**parameters)
    assert len(HOSTILE) >= 70


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.slow
def test_refused_in_one_line_or_true(name):
    faults = []
    maker, numeric = MAKERS[name.split(",")[0]]
    for field in numeric:
        for label, value in HOSTILE.items():
            kind, what = outcome(maker, field, value, BASELINES[name])
            if kind == "accepted":
                what = untrue(name, maker, field, label, value, what)
            if kind == "fault" or (kind == "accepted" and what):
                faults.append(f"{field} = {label}: {what}")
    assert not faults, "\n".join(faults)


def untrue(name, maker, field, label, value, made):
    """What is wrong with something accepted, or nothing."""
    if label == "None":
        return None if field not in BASELINES[name] or _optional(maker, field) else "None is no number"
    if label not in NUMBERS or isinstance(value, bool):
        return "it is no number"
    if is_dataclass(made):
        numbers = [getattr(made, f.name) for f in fields(made)]
        if wide := [type(n).__name__ for n in numbers if isinstance(n, np.generic | Fraction | Decimal)]:
            return f"it keeps {wide}"
        plain = _plain(value)
        if type(plain) not in (type(None), type(value)) and repr(maker(**BASELINES[name] | {field: plain})) != repr(
            made
        ):
            return f"it differs from that of {plain!r}"
    promised = getattr(made, "guarantee", made)
    if not isinstance(promised, Guarantee):
        return None
    if not (name.startswith(ENDS) or 0 < promised.epsilon < math.inf or promised.delta > 0):
        return f"it promises {promised}"
    asked = name.split(",")[0].endswith("calibrated") and field.startswith("epsilon")
    if asked and Fraction(promised.epsilon) > _exact(value):
        return f"it was to promise less than {promised}"
    loss = exact_loss(made)
    return f"it loses {float(loss)}" if loss is not None and Fraction(promised.epsilon) < loss else None


def exact_loss(mechanism):
    """Sensitivity over scale, exactly, of those whose loss is that."""
    kind, scale = type(mechanism).__name__, getattr(mechanism, "scale", None)
    if getattr(mechanism, "noise", None) == "laplace" and hasattr(mechanism, "l1_sensitivity"):
        return Fraction(mechanism.l1_sensitivity) / Fraction(scale)
    if kind == "NoisyCounts" and mechanism.noise == "cube":
        return Fraction(mechanism.linf_sensitivity) / Fraction(scale)
    if kind == "NoisyCounts" and mechanism.noise == "gaussian":
        return None
    if kind in ("NoisyCounts", "LaplaceUnif"):
        return Fraction(mechanism.sensitivity) / Fraction(scale)
    if kind == "PerturbedMLE" and mechanism.graph == "public":
        return Fraction(2 * mechanism.per_person) / Fraction(scale)
    if kind == "NoisyNorm":
        return Fraction(mechanism.steps) / Fraction(scale)
    if kind in ("BatchVote", "OptimalVote"):
        return 1 / Fraction(scale)
    if kind == "ExponentialMechanism":
        return Fraction(mechanism.rate) * mechanism.spread
    return None


def _optional(maker, field):
    parameters = inspect.signature(maker).parameters
    one = parameters.get(field) or inspect.signature(maker.__self__).parameters[field]
    return "None" in str(one.annotation)


def _exact(value):
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    return Fraction(*value.as_integer_ratio())


def _plain(value):
    """Python's own number of the same value, if there is one."""
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Fraction | Decimal) or not math.isfinite(value):
        return None
    return float(value) if float(value) == value else None


# --- the test can fail -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Careless:
    """Checks nothing and converts nothing, as `NoisyCounts` did."""

    answers: Any
    scale: Any

    @classmethod
    def calibrated(cls, epsilon: Any, answers: Any) -> Any:
        return cls(answers, 4 * answers / epsilon)

    @property
    def guarantee(self):
        return Guarantee(ratio_up(4 * self.answers, self.scale))


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("uint8 200", "scale|keeps|overflow|OverflowError|promises"),
        ("text", "TypeError"),
        ("0", "no number|promises|ZeroDivision|scale"),
        ("nan", "no number"),
        ("0-d array", "no number|keeps"),
        ("Decimal 0.1", "TypeError|keeps"),
        ("int16 300", "keeps"),
    ],
)
def test_a_careless_constructor_is_caught(label, why):
    base = {"epsilon": 0.5, "answers": 3}
    BASELINES["careless.calibrated"] = base
    try:
        kind, what = outcome(Careless.calibrated, "answers", HOSTILE[label], base)
        if kind == "accepted":
            what = untrue("careless.calibrated", Careless.calibrated, "answers", label, HOSTILE[label], what)
    finally:
        del BASELINES["careless.calibrated"]
    assert what
    assert re.search(why, what), what
