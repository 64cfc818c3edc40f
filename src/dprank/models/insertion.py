"""Repeated insertion: rankings from uniform numbers, the kernel behind `dprank.models.mallows.Mallows.sample`."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit

__all__ = ["decode", "select_table"]


@cache
def select_table() -> NDArray[np.uint8]:
    """Place of the k-th one in a byte, shape (8, 256)."""
    table = np.zeros((8, 256), np.uint8)
    for byte in range(256):
        ones = [i for i in range(8) if byte >> i & 1]
        table[: len(ones), byte] = ones
    return table


@njit(inline="always")
def _select(word, rank, table):
    """Place of the one in a word before which there are `rank` ones."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    # ones in each byte and those below
    upto = x * np.uint64(0x0101010101010101)
    ranks = (rank * np.uint64(0x0101010101010101)) | np.uint64(0x8080808080808080)
    passed = ((ranks - upto) & np.uint64(0x8080808080808080)) >> np.uint64(7)
    shift = (passed * np.uint64(0x0101010101010101)) >> np.uint64(56) << np.uint64(3)
    inside = rank - (((upto << np.uint64(8)) >> shift) & np.uint64(255))
    return shift + np.uint64(table[inside, (word >> shift) & np.uint64(255)])


@njit(cache=True, error_model="numpy")
def decode(uniform, logs, theta, mass, orders, table, out):
    """Rankings of the uniform numbers, a row each, into `out`.

    `logs` is log1p(uniform * mass) in the fast version of this processor: where its last bits matter it is computed
    again, so that all processors give the same rankings. Indices are unsigned, or numba looks for negative ones.
    """
    size, m = uniform.shape
    own, one = np.int64(len(orders) > 1), np.uint64(1)
    levels = 0
    while 64 << levels < m:
        levels += 1
    leaves = 1 << levels
    # free places below the left child of every node
    fresh = np.zeros(leaves, np.uint32)
    for level in range(levels):
        span = 64 * leaves >> (level + 1)
        for k in range(1 << level):
            fresh[(1 << level) + k] = min(max(m - 2 * k * span, 0), span)
    ranks, tree, words = np.empty((4, m), np.uint32), np.empty((4, leaves), np.uint32), np.empty((4, leaves), np.uint64)
    for start in range(0, size, 4):
        together = min(4, size - start)
        for k in range(together):
            tree[k] = fresh
            words[k] = np.uint64(0xFFFFFFFFFFFFFFFF)
            for c in range(m - 1, -1, -1):
                u, log = uniform[start + k, m - 1 - c], logs[start + k, m - 1 - c]
                if theta == 0:
                    behind = int(u * (c + 1))
                elif theta == np.inf:
                    behind = 0
                else:
                    behind = int(-log / theta)
                    if abs(-log / theta - behind - 0.5) > 0.5 - 1e-6:
                        behind = int(-math.log1p(u * mass[m - 1 - c]) / theta)
                ranks[k, c] = c - min(behind, c)
        for c in range(m - 1, -1, -1):
            for k in range(together):
                rank, node = np.uint64(ranks[k, c]), one
                for _ in range(levels):
                    left = np.uint64(tree[k, node])
                    right = np.uint64(rank >= left)
                    tree[k, node] = left - (one - right)
                    rank -= left * right
                    node = node + node + right
                at = node - np.uint64(leaves)
                word = words[k, at]
                bit = _select(word, rank, table)
                words[k, at] = word ^ (one << bit)
                out[start + k, orders[(start + k) * own, c]] = np.uint64(64) * at + bit
