"""Answers about two items at a time: less noise than Cai, Chakraborty and Wang (2025) print."""

from __future__ import annotations

import math
from typing import Any

from companion.chapters.better_than_printed.gain import Factor, Gain, over
from companion.printed.cai2025 import algorithm_1, proposition_3_1
from dprank import NoisyCounts, PerturbedMLE
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.privacy.conditioned import conditioned_variance
from dprank.privacy.guarantee import Unit

__all__ = ["GAINS", "conditioned", "cube", "net_wins", "secret_graph"]

_MLE = "../book/reference/dprank.pairwise.perturbed_mle.html#dprank.pairwise.perturbed_mle.PerturbedMLE"


def secret_graph(epsilon: float = 1.0, per_person: int = 0) -> Factor:
    """Noise on the likelihood at the printed ridge, where it is secret who compared what; a comparison, or a voter."""
    unit: Unit = "voter" if per_person else "comparison"
    printed = proposition_3_1(epsilon, 3, per_person=per_person) if per_person else algorithm_1(epsilon, 3)
    ours = PerturbedMLE.calibrated(
        epsilon=epsilon,
        n_items=3,
        per_person=max(per_person, 1),
        unit=unit,
        graph="private",
        ridge=printed.mechanism.ridge,
        law="continuous",
    )
    return over(printed.mechanism.scale, ours.scale)


def public_graph(epsilon: float = 1.0, link: Link = LOGISTIC) -> Factor:
    """The same where it is public; by the logistic link noise on the likelihood is then noise on the wins."""
    printed = algorithm_1(epsilon, 3, link=link).mechanism
    ours = PerturbedMLE.calibrated(
        epsilon=epsilon,
        n_items=3,
        unit="comparison",
        graph="public",
        ridge=printed.ridge,
        link=link,
        law="continuous",
    )
    return over(printed.scale, ours.scale)


def net_wins(items: int) -> Factor:
    """Noise over the gap of two items, of wins with enough noise and of net wins: everybody answers all pairs.

    Where nobody is undecided, net wins are twice as far apart as wins.
    """
    answers = math.comb(items, 2)
    wins, net = (
        NoisyCounts.calibrated(epsilon=1.0, n_items=items, per_person=answers, design="once", score=score)
        for score in ("wins", "net")
    )
    return over(wins.scale, net.scale / 2)


def cube(items: int) -> Factor:
    """Deviation of noise on net wins, Laplace over that in a cube: everybody meets each item once."""
    made: dict[str, Any] = {
        "epsilon": 1.0,
        "n_items": items,
        "per_person": items // 2,
        "design": "matching",
        "score": "net",
    }
    laplace, ours = (NoisyCounts.calibrated(**made, noise=noise) for noise in ("laplace", "cube"))
    # of a cube with n whole numbers a side and a random n: for wide noise this many scales
    return over(laplace.scale * math.sqrt(2), ours.scale * math.sqrt((items + 1) * (items + 2) / 3))


def conditioned(items: int) -> Factor:
    """Deviation of the noise in a difference of two net wins, independent over conditioned to sum to zero."""
    made: dict[str, Any] = {
        "epsilon": 1.0,
        "n_items": items,
        "per_person": math.comb(items, 2),
        "design": "once",
        "score": "net",
    }
    independent, ours = (NoisyCounts.calibrated(**made, noise=noise) for noise in ("laplace", "conditioned"))
    each = conditioned_variance(ours.scale / 2, items) * 4  # net wins move in steps of two
    return over(math.sqrt(2 * 2) * independent.scale, math.sqrt(2 * each * (1 + 1 / (items - 1))))


GAINS = (
    Gain(
        name="Algorithm 1, who compared what is secret",
        claim="cai2025:prop-2.1",
        prints="noise 8 κ₁/ε",
        ours="the least noise that is private",
        mechanism="PerturbedMLE",
        proof=_MLE,
        at="one comparison, printed ridge, ε = 1",
        measure="less noise",
        where="at every ε",
        factor=lambda _: secret_graph(),
    ),
    Gain(
        name="Proposition 3.1, five answers a voter",
        claim="cai2025:prop-3.1",
        prints="noise 8 L κ₁/ε",
        ours="the least noise that is private",
        mechanism="PerturbedMLE",
        proof=_MLE,
        at="L = 5, printed ridge, ε = 1",
        measure="less noise",
        where="at every ε",
        factor=lambda _: secret_graph(per_person=5),
    ),
    Gain(
        name="Algorithm 1, who compared what is public",
        claim="cai2025:alg-1",
        prints="noise 8 κ₁/ε on the likelihood",
        ours="the same as noise on wins",
        mechanism="PerturbedMLE",
        proof=_MLE,
        at="one comparison, ε = 1",
        measure="less noise",
        where="the list of pairs is no secret",
        factor=lambda _: public_graph(),
    ),
    Gain(
        name="Algorithm 1, arctan link, a public list",
        claim="cai2025:alg-1",
        prints="noise 8 κ₁/ε on the likelihood",
        ours="the least noise that is private",
        mechanism="PerturbedMLE",
        proof=_MLE,
        at="one comparison, printed ridge, ε = 1",
        measure="less noise",
        where="the list of pairs is no secret",
        factor=lambda _: public_graph(link=ARCTAN),
    ),
    Gain(
        name="Algorithm 3, all pairs asked",
        claim="cai2025:alg-3",
        prints="wins (here with enough noise)",
        ours="net wins",
        mechanism="NoisyCounts",
        proof="01-ranking-universities.html",
        at="6 items, 15 answers a voter",
        measure="less noise",
        where="few answers are undecided",
        factor=lambda _: net_wins(6),
    ),
    Gain(
        name="Algorithm 3, each item met once",
        claim="cai2025:alg-3",
        prints="Laplace noise (here enough of it)",
        ours="noise in a cube of random size",
        mechanism="NoisyCounts",
        proof="../book/reference/dprank.privacy.cube.html#dprank.privacy.cube.cube_noise",
        at="20 items, 10 answers a voter",
        measure="less noise",
        where="answers touch many items once",
        factor=lambda _: cube(20),
    ),
    Gain(
        name="Algorithm 3, three items",
        claim="cai2025:alg-3",
        prints="independent noise",
        ours="noise that sums to zero",
        mechanism="NoisyCounts",
        proof="../book/reference/dprank.privacy.conditioned.html#dprank.privacy.conditioned.conditioned_laplace",
        at="3 items, all pairs, difference of two",
        measure="less noise",
        where="few items",
        factor=lambda _: conditioned(3),
    ),
)
