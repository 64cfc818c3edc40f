"""What the chapter shows in lines that a reader types: a voter's report as printed, and the one that is better."""

import numpy as np

__all__ = ["all_bits", "one_bit"]


def all_bits(bits, epsilon, rng):
    """As printed: every bit, each with its share of epsilon."""
    lie = 1 / (1 + np.exp(epsilon / len(bits)))
    return np.where(rng.random(len(bits)) < lie, -bits, bits)


def one_bit(bits, epsilon, rng):
    """Better: one bit at random, with all of epsilon; 0 for the others."""
    lie = 1 / (1 + np.exp(epsilon))
    chosen = np.arange(len(bits)) == rng.integers(len(bits))
    return np.where(rng.random() < lie, -bits, bits) * chosen
