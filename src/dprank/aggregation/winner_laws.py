"""The law of a private winner."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank.aggregation.winner import PrivateWinner
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import exact, features, sample
from dprank.release import Selection

__all__ = ["draw_winners", "permute_and_flip", "private_winner_law"]


@exact.register
def private_winner_law(mechanism: PrivateWinner, data: Rankings | Ballots, other: Rankings | Ballots) -> PairLaw:
    """Of the winner.

    Examples
    --------
    >>> one, other = (Rankings([[0, 1]] * 60 + [last], "ab") for last in ([0, 1], [1, 0]))
    >>> round(private_winner_law(PrivateWinner(2, 4.0), one, other).epsilon(0), 6)
    1.0
    """
    return pair_of(*(permute_and_flip(mechanism.scores(votes) / mechanism.scale) for votes in (data, other)))


@sample.register
def draw_winners(
    mechanism: PrivateWinner, data: Rankings | Ballots, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Winners, one a row, by the number that stands for a name.

    Examples
    --------
    >>> votes = Rankings([[1, 0]] * 99, ["7", "8"])
    >>> draw_winners(PrivateWinner(2, 1.0), votes, 2, np.random.default_rng(1)).tolist()
    [[8.0], [8.0]]
    """
    numbers = features(Selection(np.array(data.items, object)))
    return numbers[mechanism.draw(mechanism.scores(data), size, rng), None]


def permute_and_flip(scores: ArrayLike) -> NDArray[np.float64]:
    r"""Probability of every item that its score, with exponential noise of scale 1, is the largest.

    Parameters
    ----------
    scores : array_like of float, shape (items,)

    Returns
    -------
    ndarray of float, shape (items,)

    Notes
    -----
    Every item comes up at a uniform time and is taken with probability :math:`p_i`, the exponential of its score less
    the largest; that which comes up at t is taken, and none before, with probability
    :math:`p_i \int_0^1 \prod_{j \ne i} (1 - p_j t) dt` (McKenna and Sheldon 2020). The integrand is a polynomial, for
    which items / 2 nodes are exact.

    Examples
    --------
    >>> permute_and_flip([0.0, 0.0]).tolist(), permute_and_flip([0.0, -np.log(2)]).round(6).tolist()
    ([0.5, 0.5], [0.75, 0.25])
    """
    accepted = np.exp(np.asarray(scores, float) - np.max(scores))
    node, weight = np.polynomial.legendre.leggauss(len(accepted) // 2 + 1)
    fails = 1 - accepted[:, None] * (1 + node) / 2
    others = np.array([np.delete(fails, i, axis=0).prod(axis=0) for i in range(len(accepted))])
    return np.asarray(accepted * (others @ weight) / 2)
