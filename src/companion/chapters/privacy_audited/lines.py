"""What the chapter shows in lines that a reader types: a count with noise, the classical bound, and the bet."""

import numpy as np
from scipy import stats

__all__ = ["at_least", "noisy", "wealth"]


def noisy(count, scale, size, rng):
    """The count, so many times, with whole Laplace noise."""
    ends = rng.geometric(1 - np.exp(-1 / scale), (2, size))
    return count + ends[0] - ends[1]


def at_least(x, y, alpha):
    """What epsilon is at least; wrong with chance alpha or less."""
    often = stats.binomtest(x.sum(), x.size, alternative="greater")
    seldom = stats.binomtest(y.sum(), y.size, alternative="less")
    low = often.proportion_ci(1 - alpha / 2).low
    high = seldom.proportion_ci(1 - alpha / 2).high
    return np.log(low / high)


def wealth(x, y, epsilon, stake=0.3):
    """What a wealth of 1 becomes, round by round, bet on x against y."""
    odds = np.exp(epsilon)
    return np.cumprod(1 + stake / odds * (x - odds * y), axis=-1)
