"""What a delta is good for where nobody is trusted: much if it is not small beside 1/n, else a factor 2 in epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.aggregation.lower_bounds import local_threshold


def shown_error(n_items: int, voters: float, delta: float) -> float:
    """Additive error, at most and at ratio 1, if every voter publishes the ranking with chance `delta`.

    Of k that are published a fraction is off by 1 / (2 sqrt k) at most, and twice the sum over pairs is lost. Fewer
    than half of the expected number are published with chance exp(-n delta / 8) at most.
    """
    mean = voters * delta
    return math.comb(n_items, 2) * (math.sqrt(2 / mean) + math.exp(-mean / 8))


def shown_voters(n_items: int, delta: float, error: float) -> int:
    """Voters with which `shown_error` is below an error."""
    log = brentq(lambda x: shown_error(n_items, math.exp(x), delta) - error, 0, 60)
    return math.ceil(math.exp(log))


def drawn_law(rows: int, outputs: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A random law of reports, a row an answer: near one another, but for a few outputs that give an answer away."""
    law = rng.dirichlet(np.ones(outputs), 1) * np.exp(rng.uniform(-0.5, 0.5, (rows, outputs)))
    law[np.arange(rows), rng.integers(outputs, size=rows)] += rng.exponential(0.05, rows)
    return law / law.sum(axis=1, keepdims=True)


def least_delta(law: NDArray[np.float64], epsilon: float) -> float:
    """Least delta at which a law of reports is (epsilon, delta)-private."""
    return float(np.maximum(law[:, None] - math.exp(epsilon) * law[None], 0).sum(axis=2).max())


def mended(law: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Each row pulled to within a factor exp(epsilon) of the first one, and made a law again."""
    kept = np.clip(law, law[0] * math.exp(-epsilon), law[0] * math.exp(epsilon))
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def change(law: NDArray[np.float64], epsilon: float) -> tuple[float, float, float]:
    """Of `mended`: its loss beyond 2 epsilon + log((1 + delta) / (1 - delta)), its distance from the law, and delta."""
    delta, pure = least_delta(law, epsilon), mended(law, epsilon)
    loss = float(abs(np.log(pure[:, None] / pure[None])).max())
    return loss - 2 * epsilon - math.log((1 + delta) / (1 - delta)), float(abs(pure - law).sum(axis=1).max() / 2), delta


def _helps(epsilon: float, delta: float, n_items: int) -> Check:
    """Pure privacy against (0, delta): voters for an additive error of 0.01 m^2."""
    error = n_items**2 / 100
    pure = local_threshold(n_items, error) / (epsilon * math.tanh(epsilon / 2))
    enough = shown_voters(n_items, delta, error)
    what = f"voters that every ε-private protocol needs over those enough at (0, δ), ε = δ = {delta:g}, m = {n_items}"
    return printed(what, pure / enough, "<=", 1)


def _pulled(trials: int) -> Iterator[Check]:
    """What `mended` costs, on random laws."""
    rng, epsilon = stream("local: approximate", {"trials": trials}), 0.3
    seen = np.array([change(drawn_law(4, 12, rng), epsilon) for _ in range(trials)])
    what = f"reports pulled to within e^ε of one of them, {trials} random laws, ε = {epsilon:g}"
    yield supplied(f"{what}: loss − 2ε − log((1 + δ)/(1 − δ)), largest", seen[:, 0].max(), "<=", ROUNDING)
    yield supplied(f"{what}: distance of the law over 1.5 δ, largest", (seen[:, 1] / seen[:, 2]).max() / 1.5, "<=", 1)
    yield argument(f"{what}: least δ of them", seen[:, 2].min(), ">", 0)


@claim("alabi2022:sec-local:approximate")
def check_approximate(trials: int = 500) -> Iterator[Check]:
    """Whether a delta helps in the local model: a large one does, one far below 1/n hardly."""
    yield _helps(1e-3, 1e-3, 100)
    yield from _pulled(trials)
    rng = stream("local: three voters", {"trials": trials})
    what = "three voters with such reports: distance of all they send over 3 · 1.5 δ, largest"
    yield amended(what, max(of_three(drawn_law(3, 8, rng), 0.3) for _ in range(trials // 10)), "<=", 1)


def of_three(law: NDArray[np.float64], epsilon: float) -> float:
    """Distance of the laws of what three voters send, as it is and `mended`, over 4.5 delta; a row a voter."""
    sent = [np.kron(np.kron(*rows[:2]), rows[2]) for rows in (law, mended(law, epsilon))]
    return float(abs(sent[0] - sent[1]).sum() / 2 / (4.5 * least_delta(law, epsilon)))


def composed_epsilon(epsilon_0: float, reports: int, delta: float) -> float:
    """Exact epsilon at `delta` of so many randomised responses by one voter."""
    plus = np.arange(reports + 1)
    one = stats.binom.pmf(plus, reports, 1 / (1 + math.exp(-epsilon_0)))

    def beyond(epsilon: float) -> float:
        return float(np.maximum(one - math.exp(epsilon) * one[::-1], 0).sum()) - delta

    return float(brentq(beyond, 0, reports * epsilon_0))


@claim("alabi2022:footnote-3")
def check_footnote_3(trials: int = 500, reports: int = 400, epsilon_0: float = 0.05) -> Iterator[Check]:
    """The transformation of approximate into pure privacy: one message a voter, and many."""
    yield _helps(1e-3, 1e-3, 100)
    yield from _pulled(trials)
    delta = 1e-9
    ratio = reports * epsilon_0 / composed_epsilon(epsilon_0, reports, delta)
    what = f"{reports} messages of one voter, ε₀ = {epsilon_0:g}: pure loss, one by one, over that at δ = {delta:g}"
    yield amended(f"{what}; one message: 2 at most", ratio, ">", 3)
