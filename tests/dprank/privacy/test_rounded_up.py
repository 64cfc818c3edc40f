"""What may not be rounded down, wherever it is given: a number between two floats is the upper of them."""

import math
from fractions import Fraction

import numpy as np
from checks import each

from dprank import JointExponential, Oneshot, Peeling
from dprank.privacy import composition
from dprank.privacy.divergence import GaussianShift
from dprank.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_scale
from dprank.privacy.guarantee import Guarantee, ratio_up
from dprank.topk.bound import log_delta
from dprank.topk.descent import descent_delta
from dprank.topk.selection import spread

GIVEN = {
    "GaussianShift": lambda x: GaussianShift(x, 1.0).l2,
    "Guarantee, delta": lambda x: Guarantee(1.0, x).delta,
    "Guarantee, epsilon": lambda x: Guarantee(x).epsilon,
    "JointExponential": lambda x: JointExponential(2, 1.0, n_items=5, sensitivity=x).sensitivity,
    "Oneshot": lambda x: Oneshot(2, 4.0, sensitivity=x).sensitivity,
    "Peeling": lambda x: Peeling(2, 4.0, sensitivity=x).sensitivity,
    "advanced": lambda x: composition.advanced(3, x, 1e-6),
    "basic": lambda x: composition.basic(3, x),
    "descent_delta": lambda x: descent_delta(3, x, 0.5),
    "gaussian_delta": lambda x: gaussian_delta(x, 1.0, 0.5),
    "gaussian_epsilon": lambda x: gaussian_epsilon(x, 1.0, 1e-6),
    "gaussian_scale": lambda x: gaussian_scale(x, 1.0, 1e-6),
    "log_delta": lambda x: log_delta(1, x, 0.5),
    "optimal": lambda x: composition.optimal(3, x, 1e-6),
    "optimal_delta": lambda x: composition.optimal_delta(3, x, 0.5),
    "ratio_up": lambda x: ratio_up(x, 3),
    "spread": lambda x: spread(x, "replace"),
    "rho": lambda x: composition.rho(3, x),
    "total_epsilon": lambda x: composition.total_epsilon("basic", 3, x),
}


@each("name", GIVEN)
def test_between_two_floats_the_upper_one_is_meant(name):
    call, seen = GIVEN[name], False
    for below in np.random.default_rng(7).uniform(0.2, 0.9, 12).tolist():
        above = math.nextafter(below, 1)
        assert call(Fraction(below) + Fraction(1, 2**80)) == call(above)
        assert call(Fraction(above) - Fraction(1, 2**80)) == call(above)
        seen |= call(below) != call(above)
    assert seen
