"""Audit of the local tests of uniformity: what one voter is asked, and what is sent.

Registered by `dprank.uniformity.laws`.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import exact, sample, signs_law
from dprank.privacy.randomized_response import GRAIN
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.local_two_stage import LocalTwoStage
from dprank.uniformity.pairs import pair_signs

__all__ = [
    "answer_to_a_question_law",
    "draw_answers_to_questions",
    "draw_randomised_signs",
    "possible_questions",
    "randomised_signs_law",
]

# --- randomised answers about disjoint pairs -------------------------------------------------------------------------


@exact.register(LocalPairs)
@exact.register(LocalOneBit)
def randomised_signs_law(mechanism: LocalPairs | LocalOneBit, data: Any, other: Any) -> PairLaw:
    """Of the pairs that a voter is asked about, and the signs that are sent.

    Examples
    --------
    >>> law = randomised_signs_law(LocalPairs(2, GRAIN // 4), [0, 1], [1, 0])
    >>> round(float(np.exp(law.epsilon(0.0))), 6)
    3.0
    """
    announced, turned = _announced(mechanism), mechanism.flips / GRAIN
    signs = [[pair_signs(np.asarray(ranking), pairs) for pairs in announced] for ranking in (data, other)]
    p, q = (signs_law(np.array(asked), turned).ravel() / len(announced) for asked in signs)
    return pair_of(p, q)


def _announced(mechanism: LocalPairs | LocalOneBit) -> list[NDArray[np.int64]]:
    """Pairs that one voter may be asked about, all equally likely."""
    if _private(mechanism):
        return [mechanism.pairs(np.random.default_rng(0))]
    asked = _asked(mechanism)
    return [np.array(items).reshape(asked, 2) for items in permutations(range(mechanism.n_items), 2 * asked)]


def _private(mechanism: LocalPairs | LocalOneBit) -> bool:
    return isinstance(mechanism, LocalPairs) and mechanism.randomness == "private"


def _asked(mechanism: LocalPairs | LocalOneBit) -> int:
    return mechanism.n_pairs if isinstance(mechanism, LocalPairs) else 1


@sample.register(LocalPairs)
@sample.register(LocalOneBit)
def draw_randomised_signs(
    mechanism: LocalPairs | LocalOneBit, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Pairs asked about and signs sent, a row a report.

    Examples
    --------
    >>> draw_randomised_signs(LocalPairs(2, 1, randomness="private"), [0, 1], 2, np.random.default_rng(1)).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    # to ask about random pairs is to ask about the first ones of items that are numbered at random
    numbers = np.tile(np.arange(mechanism.n_items), (size, 1))
    if not _private(mechanism):
        numbers = rng.permuted(numbers, axis=1)
    pairs = np.arange(2 * _asked(mechanism)).reshape(-1, 2)
    sent = mechanism.report(np.asarray(data)[numbers], pairs if isinstance(mechanism, LocalPairs) else pairs[0], rng)
    return np.column_stack([numbers[:, : pairs.size], sent]).astype(float)


# --- two stages ------------------------------------------------------------------------------------------------------


def possible_questions(mechanism: LocalTwoStage) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Questions about pairs, and questions with the places of the items in some order as weights; and how likely.

    The learnt weights depend on the other voters and may be any. Here those of all orders are equally likely.

    Examples
    --------
    >>> questions, chances = possible_questions(LocalTwoStage(2, GRAIN // 4))
    >>> questions.tolist(), chances.tolist()
    ([[1, -1], [-1, 1], [-1, 1], [1, -1]], [0.25, 0.25, 0.25, 0.25])
    """
    m = mechanism.n_items
    pairs = np.array([np.eye(m, dtype=int)[a] - np.eye(m, dtype=int)[b] for a, b in permutations(range(m), 2)])
    orders = 2 * np.array(list(permutations(range(m)))) - (m - 1)
    first, second = mechanism.learners / len(pairs), (1 - mechanism.learners) / len(orders)
    return np.concatenate([pairs, orders]), np.repeat([first, second], [len(pairs), len(orders)])


@exact.register
def answer_to_a_question_law(mechanism: LocalTwoStage, data: Any, other: Any) -> PairLaw:
    """Of the question that a voter is asked, in either stage, and the answer that is sent.

    Examples
    --------
    >>> law = answer_to_a_question_law(LocalTwoStage(2, GRAIN // 4), [0, 1], [1, 0])
    >>> round(float(np.exp(law.epsilon(0.0))), 6)
    3.0
    """
    questions, chances = possible_questions(mechanism)
    kept = mechanism.shrinkage / 2

    def law(ranking: Any) -> NDArray[np.float64]:
        front = np.sign(questions @ (mechanism.n_items - 1 - 2 * np.asarray(ranking)))
        return np.concatenate([chances * (0.5 + kept * front), chances * (0.5 - kept * front)])

    return pair_of(law(data), law(other))


@sample.register
def draw_answers_to_questions(
    mechanism: LocalTwoStage, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Weights asked about and answers sent, a row a report.

    Examples
    --------
    >>> draw_answers_to_questions(LocalTwoStage(2, 1), [0, 1], 2, np.random.default_rng(2)).tolist()
    [[-1.0, 1.0, -1.0], [-1.0, 1.0, -1.0]]
    """
    questions, chances = possible_questions(mechanism)
    asked = questions[rng.choice(len(questions), size, p=chances)]
    sent = mechanism.report(np.tile(data, (size, 1)), asked, rng)
    return np.column_stack([asked, sent]).astype(float)
