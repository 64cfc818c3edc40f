"""Do they agree at all: more power at equal privacy than the tests of Busa-Fekete, Fotakis and Zampetakis (2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.better_than_printed.gain import At, Factor, Gain, measured, over
from companion.chapters.private_uniformity.central_samples import needed
from companion.chapters.private_uniformity.local_voters import samples_needed
from companion.chapters.which_method import table as arena
from companion.instruments.sweep import stream, sweep
from companion.printed.busafekete2021 import laplace_unif
from dprank import LaplaceUnif, LocalOneBit, LocalPairs, LocalTwoStage, Rankings
from dprank.models.mallows import Mallows
from dprank.uniformity.optimal_vote import OptimalVote, noisy_vote_sf

__all__ = ["gains", "local_rejections", "one_bit", "optimal_power", "optimal_voters", "two_stage"]

_TESTS: dict[str, Any] = {"LocalPairs": LocalPairs, "LocalOneBit": LocalOneBit, "LocalTwoStage": LocalTwoStage}
#: Size of the tests, and the power at which numbers of rankings are compared is 1 less it.
SIZE = 0.05


def laplace_noise(items: int, voters: int = 100) -> Factor:
    """Noise of Algorithm 4 over the least: where the number of items is odd, one is in no pair."""
    made: dict[str, Any] = {"epsilon": 1.0, "size": SIZE, "n_items": items, "n_voters": voters}
    return over(laplace_unif(**made).mechanism.scale, LaplaceUnif.calibrated(**made).scale)


def optimal_power(items: int, voters: int, bias: float, epsilon: float = 1.0) -> float:
    """Exact power of `OptimalVote` where all pairs are independent and equally biased."""
    test = OptimalVote.calibrated(epsilon=epsilon, n_items=items, n_voters=voters, size=SIZE, bias=bias)
    return noisy_vote_sf(test.n_batches, test.batch_power(bias), test.scale, test.bound, test.threshold)


def optimal_voters(items: int, bias: float, most: int) -> int:
    """Least number of rankings, from half of `most` on, at which `OptimalVote` has power 1 - `SIZE`; by bisection."""
    low = most // 2
    while most - low > 1:
        middle = (low + most) // 2
        low, most = (low, middle) if optimal_power(items, middle, bias) >= 1 - SIZE else (middle, most)
    return most


def vote(items: int = 10, bias: float = 0.3) -> Factor:
    """Rankings that bucketing needs, repaired by a coin, over those of the best private vote of batches."""
    rankings = needed(items, bias, 1.0, SIZE)
    return over(rankings["coin"], optimal_voters(items, bias, rankings["vote"]))


def norm(items: int = 5, people: int = 400, epsilon: float = 1.0) -> Factor:
    """Chance to see agreement, from the arena: noise on the norm of mean places over Algorithm 4 with least noise."""
    frame = arena.load()
    rows = frame[
        (frame["question"] == "agreement")
        & (frame["data"] == "Mallows")
        & (frame["loss"] == "missed")
        & (frame["items"] == items)
        & (frame["people"] == people)
        & (frame["epsilon"] == epsilon)
        & (frame["delta"] == 0)
    ].set_index("method")
    found = [(1 - rows.loc[name, "mean"], rows.loc[name, "se"]) for name in ("NoisyNorm(ranks)", "LaplaceUnif")]
    return measured(*found)


def one_bit(items: int = 1000, gap: float = 0.02, epsilon: float = 1 / 3, pairings: int = 200) -> Factor:
    """Voters for power 0.8 where nobody is trusted: all bits of a ranking over one, by the law for many voters."""
    theta = Mallows.of_gap(items, gap).theta
    found = []
    for test in ("all bits", "one bit"):
        rng = stream("17: voters needed", {"test": test, "items": items})
        voters, log_se = samples_needed(items, theta, epsilon, test, pairings, rng)
        found.append((voters, voters * log_se))
    return measured(*found)


def local_rejections(
    *, test: str, items: int, people: int, phi: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Whether a local test at epsilon 1 rejects that Mallows ballots are uniform."""
    made, law = _TESTS[test].calibrated(epsilon=1.0, n_items=items, size=SIZE), Mallows(items, float(-np.log(phi)))
    ballots = (Rankings(law.sample(people, rng=rng), [str(item) for item in range(items)]) for _ in range(repetitions))
    return np.array([made.release(it, rng).reject for it in ballots], float)


def two_stage(repetitions: int = 200, items: int = 20) -> Factor:
    """Chance to see agreement where nobody is trusted: questions that some voters' answers chose, over all bits."""
    cells = [{"test": name, "items": items, "people": 1000, "phi": 0.95} for name in ("LocalTwoStage", "LocalPairs")]
    found = sweep(local_rejections, cells, experiment="17: two stages", repetitions=repetitions)
    return measured(*(tuple(row) for row in found[["mean", "se"]].to_numpy()))


def gains(at: At) -> tuple[Gain, ...]:
    """The rows of this paper."""
    items = "a thousand" if at.bit_items == 1000 else f"{at.bit_items:,}"
    return (
        Gain(
            name="Algorithm 4, odd number of items",
            claim="busafekete2021:sec-5:sensitivity",
            prints="noise 2 m/ε",
            ours="noise 4 ⌊m/2⌋ (1 − 1/n)/ε",
            mechanism="LaplaceUnif",
            proof="06a-central-tests.html#busafekete2021-sec-5-sensitivity",
            at="5 items, 100 voters",
            measure="less noise",
            where="always; least where m is even",
            factor=lambda _: laplace_noise(5),
        ),
        Gain(
            name="Algorithm 4, another statistic",
            claim="busafekete2021:alg-4",
            prints="noise on agreeing pairs (here the least)",
            ours="noise on the norm of mean places",
            mechanism="NoisyNorm",
            proof="../book/reference/dprank.uniformity.noisy_norm.html#dprank.uniformity.noisy_norm.NoisyNorm",
            at="5 items, 400 voters, ε = 1",
            measure="chance to see agreement",
            where="alone best in most of the arena",
            factor=lambda _: norm(),
        ),
        Gain(
            name="Bucketing, a vote of all batches",
            claim="busafekete2021:sec-5:bucketing",
            prints="the answer of one batch (here repaired by a coin)",
            ours="the best private vote of all",
            mechanism="OptimalVote",
            proof="../book/reference/dprank.uniformity.optimal_vote.html#dprank.uniformity.optimal_vote.OptimalVote",
            at="10 items, bias 0.3, power 0.95, ε = 1",
            measure="fewer voters",
            where="always",
            factor=lambda _: vote(),
        ),
        Gain(
            name=f"Algorithm 5, one bit of {items} items",
            claim="busafekete2021:alg-5",
            prints="all m/2 bits of a voter, ε split",
            ours="one random bit, all of ε on it",
            mechanism="LocalOneBit",
            proof="06b-local-tests.html#ours-one-good-question",
            at=f"{at.bit_items:,} items, φ = 0.98, ε = 1/3",
            measure="fewer voters",
            where="from three items on, more with more",
            factor=lambda _: one_bit(at.bit_items),
        ),
        Gain(
            name="Algorithm 5, ask in two stages",
            claim="busafekete2021:thm-7",
            prints="all m/2 bits of a voter, ε split",
            ours="some voters choose what the others are asked",
            mechanism="LocalTwoStage",
            proof="../book/reference/dprank.uniformity.local_two_stage.html#dprank.uniformity.local_two_stage.LocalTwoStage",
            at="20 items, 1,000 voters, φ = 0.95, ε = 1",
            measure="chance to see agreement",
            where="from four items on",
            factor=two_stage,
        ),
    )
