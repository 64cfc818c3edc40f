"""What several sections on Alabi, Ghazi, Kumar and Manurangsi (2022) compute with."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import shrink
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.randomisers import SampledOrder
from dprank.aggregation.rules import Rule
from dprank.data.rankings import Rankings
from dprank.privacy.gaussian import gaussian_scale

#: Standard errors of a 95 % interval.
BAR = 1.96
#: Up to so many items a simulated noisy matrix is ordered exactly, above by local search.
EXACT_ITEMS = 12


def numbered(positions: ArrayLike) -> Rankings:
    """Rankings of items that are called by their numbers, from places, shape (voters, items)."""
    rows = np.asarray(positions)
    return Rankings(rows, [str(i) for i in range(rows.shape[1])])


def split_vote(n_items: int, ahead: int, behind: int = 0) -> Rankings:
    """So many voters with the ranking 0, 1, ..., so many behind them with its reverse."""
    places = np.arange(n_items)
    return numbered(np.r_[np.tile(places, (ahead, 1)), np.tile(places[::-1], (behind, 1))])


def rule_for(n_items: int) -> Rule:
    """The exact rule up to `EXACT_ITEMS` items, local search for more."""
    return "kemeny" if n_items <= EXACT_ITEMS else "local_search"


def best_order(margins: NDArray[np.float64], exact: int = EXACT_ITEMS) -> NDArray[np.int64]:
    """The order of a noisy matrix of margins: Kemeny's up to `exact` items, by local search for more."""
    return kemeny(shrink(margins)).order if len(margins) <= exact else local_search(margins)


def printed_rate(corollary: int, n_items: int, epsilon: float = 1.0, delta: float = 0.0) -> float:
    """The paper's additive error without its constant, times n in the central model and sqrt(n) in the local one.

    Corollaries 9 and 12 are local; only 4 and 7 have a delta.
    """
    m, log = n_items, math.log(n_items)
    gauss = math.sqrt(math.log(1 / delta)) if delta else math.nan
    rates = {
        3: m**4 / epsilon,
        4: m**3 * gauss / epsilon,
        6: m**3 * log / epsilon,
        7: m**2.5 * math.sqrt(log) * gauss / epsilon,
        9: m**3 / epsilon,
        12: m**2.5 * log / epsilon,
    }
    return rates[corollary]


def matrix_error(n_items: int, epsilon: float, delta: float = 0.0) -> float:
    """Proved additive error at ratio 1, times n, of the best order of a noisy matrix; Laplace noise for delta = 0."""
    return NoisyMatrix.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous").additive_error(1)


def exponential_needs(n_items: int, error: float) -> float:
    """Least epsilon n at which the exponential mechanism is sure of an additive error at ratio 1.

    Weights exp(-theta K) with theta = epsilon n / (2 C) and C pairs of items; its mean cost exceeds the optimum by at
    most log(m!) / theta, since its entropy is at most log(m!).
    """
    return 2 * math.comb(n_items, 2) * math.lgamma(n_items + 1) / error


def unanimous_excess(n_items: int, voters: int, epsilon: float) -> float:
    """Log of a bound on the additive error of the exponential mechanism at ratio 3.

    Where an order costs more than 3 OPT its weight, relative to the optimum's, is at most exp(-phi D) with D its
    distance from the optimum and phi = epsilon n / (4 C); so the error is at most the sum over all orders of
    D exp(-phi D), computed from the generating function of D.
    """
    phi = epsilon * voters / (4 * math.comb(n_items, 2))
    j = np.arange(1, n_items + 1)
    log_z = np.log(-np.expm1(-j * phi)).sum() - n_items * math.log(-math.expm1(-phi))
    mean = math.fsum(1 / math.expm1(phi) - j / np.expm1(np.minimum(j * phi, 700)))
    return float(log_z + math.log(mean))


def one_pair_error(n_items: int, epsilon: float, voters: int = 1) -> float:
    """Proved additive error at ratio 1 of the best order of unclipped estimates from one random pair a voter."""
    return LocalMatrix(SampledOrder.calibrated(n_items=n_items, epsilon=epsilon, length=2)).additive_error(voters)


@cache
def gaussian_constant(epsilon: float, delta: float) -> float:
    """Least C with which noise of standard deviation C sqrt(q log(1 / delta)) / (epsilon n) is private; q cancels."""
    return gaussian_scale(1.0, epsilon, delta) * epsilon / math.sqrt(math.log(1 / delta))


def gain(one: pd.DataFrame, two: pd.DataFrame, value: str) -> pd.DataFrame:
    """Ratio of a column of two frames with one index, ``gain``, and its standard error, ``se``, by the delta method."""
    ratio = one[value] / two[value]
    return pd.DataFrame({"gain": ratio, "se": ratio * np.hypot(one.se / one[value], two.se / two[value])})
