"""Four faults that one processor alone does not show: `processors.py --planted` finds them; nothing else runs them."""

import hashlib
import math

import numba
import numpy as np

DRAWN = np.random.default_rng(1).random((50, 2, 999))


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def total(x):
    sum_ = 0.0
    for i in range(x.size):
        sum_ += x[i]
    return sum_


@numba.njit(cache=True, error_model="numpy")
def unwritten(n):
    x = np.empty(n)
    x[:3] = 1.0
    return x


def test_what_nobody_has_written():
    for n in (4, 100, 10_000):
        assert (unwritten(n)[:3] == 1).all()


def test_a_sum_in_the_order_of_the_vectors():
    for x, _ in DRAWN:
        assert math.isclose(total(x), math.fsum(x), rel_tol=1e-12)


def test_a_float_to_the_last_bit():
    values = [math.exp(x) for x in (20 * DRAWN).ravel()]
    assert hashlib.sha256(repr(values).encode()).hexdigest()[:8] == "617d4ba6"  # by haswell


def test_an_order_of_what_is_nearly_equal():
    # the same product, added up in other orders
    orders = [np.random.default_rng(i).permutation(999) for i in range(8)]
    best = [int(np.argsort([x[order] @ y[order] for order in orders], kind="stable")[-1]) for x, y in DRAWN]
    assert hashlib.sha256(repr(best).encode()).hexdigest()[:8] == "a8919cfa"  # by haswell
