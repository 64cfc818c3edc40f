"""The question a user asks: what does this mechanism really lose on these neighbours?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import as_list, shown
from dprank.audit._reports import published, sent
from dprank.audit.betting import LARGEST, LowerBound, ceiling, lower_bound
from dprank.audit.routes import Answering, Varied, Witness, varied, witnesses
from dprank.privacy.guarantee import Guarantee, Mechanism
from dprank.privacy.laws import NoExactRoute, exact, features, released, sample

__all__ = ["ROUNDING", "Audit", "audit"]

#: Relative room for rounding before a loss counts as more than was promised.
ROUNDING = 1e-9
#: Releases between two words to who watches.
OFTEN = 64
#: Reports of a voter that are compared at once.
_SENT = 4


@dataclass(frozen=True)
class Audit:
    """What is known of a mechanism's privacy loss.

    Parameters
    ----------
    guarantee : Guarantee
        What it promises.
    exact : float or None
        Largest exact epsilon over the pairs at the promised delta, by the law of the output; None without a route.
    worst : int
        The pair that attains `exact`; 0 without a route.
    samples : LowerBound
        What its own releases show.
    reach : float
        Largest epsilon that so many releases could have refuted.
    witnesses : tuple of Witness
        Ways of giving the same data that releases tell apart, with the same noise, if these were looked for.

    Examples
    --------
    >>> import numpy as np
    >>> import dprank
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3)
    >>> one, other = dprank.Rankings([[0, 1, 2]], "abc"), dprank.Rankings([[2, 1, 0]], "abc")
    >>> found = dprank.audit(mechanism, [(one, other)], rng=np.random.default_rng(1), budget=4000)
    >>> found.broken, round(found.exact, 6)
    (False, 1.0)
    """

    guarantee: Guarantee
    exact: float | None
    worst: int
    samples: LowerBound
    reach: float
    witnesses: tuple[Witness, ...] = ()

    @property
    def epsilon(self) -> float:
        """Best bound below the true epsilon: exact on these pairs, or of the stated confidence."""
        return max(self.exact or 0.0, self.samples.epsilon)

    @property
    def broken(self) -> bool:
        """Whether more is lost than was promised, or what is published hangs on how the data are given."""
        promise = self.guarantee.epsilon
        too_much = self.exact is not None and self.exact > promise + ROUNDING * max(1.0, promise)
        return bool(self.witnesses) or too_much or (promise <= LARGEST and self.samples.refuted)

    def __str__(self) -> str:
        found = "BROKEN" if self.broken else "not refuted" if self.exact is None else "kept on these pairs"
        law = "no exact route" if self.exact is None else f"exact loss {self.exact:.6g} on pair {self.worst}"
        seen = f"at least {self.samples.epsilon:.3g} by {self.samples.samples} releases"
        if self.samples.refuted:
            seen += f" (pair {self.samples.pair}: {self.samples.event})"
        elif self.guarantee.epsilon > self.reach:
            seen += f", which can refute nothing above {self.reach:.3g}"
        ways = "".join(f"\n{one}" for one in self.witnesses)
        return f"{found}: {self.guarantee}\n{law}; {seen}{ways}"


def audit(
    mechanism: Mechanism,
    pairs: Sequence[tuple[Any, Any]],
    *,
    rng: np.random.Generator,
    budget: int = 20_000,
    confidence: float = 0.999,
    bits: bool = True,
    routes: bool = False,
    watch: Callable[[int], Any] | None = None,
) -> Audit:
    """Exact loss where the output's law is known, and a lower bound from the releases of the code itself.

    Parameters
    ----------
    mechanism : Mechanism
        Any with a `guarantee` and a `release`. The exact route is for the classes of this library; all others, such as
        classes derived from them, are audited by their releases alone. Releases are taken to be independent: what
        remembers earlier ones is another mechanism. They are numbers or arrays of one length, or of a type for which
        `dprank.privacy.laws.features` knows the numbers.
    pairs : sequence of tuple
        Neighbours (data, other) under the guarantee's adjacency, as many as seem worth a try: the extremes, ties, far
        gaps, values between which something is rounded. `dprank.audit.search` finds some. Of a local mechanism of this
        library the rankings of one voter, as positions, whose report is audited.
    rng : numpy.random.Generator
    budget : int
        Most releases in all. Small excesses of epsilon need many: a tenth takes about 1e5.
    confidence : float
        Of the lower bound.
    bits : bool
        Whether to look at the lowest bits of floats, by which floating-point noise betrays the data. False audits the
        law that the mechanism has on paper.
    routes : bool
        Whether to look beside the noise, too, at the order of rows and of a person's repeated rows, pairs turned round,
        types of columns, forms of tables and files, numbers of persons and another route of the solver; of local
        mechanisms at the order of reports. Each is replayed with the same noise, on the data of the pairs and on others
        made of them, and must give the same bits (`witnesses`); numbers must lie on the grid that the mechanism names.
        The bets are on neighbours of which the second is put in other words, and on some in which a person has left
        wholly (in comparisons whoever answers nothing is not there), or has no row that fits, as one more pair each.

    Returns
    -------
    Audit
        `broken` is proof of a bug, or of neighbours that are none; the opposite proves nothing but for the pairs that
        the exact route was given.

    Raises
    ------
    ValueError
        If a parameter is out of range (no pairs, a budget below 512 releases for each pair and 512 more), or a release
        is not made of numbers. With `routes`, if nobody knows other words for the data (`dprank.audit.rephrased`).

    Notes
    -----
    The stated confidence is that of the bets. A witness is no matter of chance: both releases are there, and came
    again and again. A mechanism that takes its noise from elsewhere than `rng` is not replayed (the commands of dprank
    are, by ``dprank audit --routes``), and nor are other orders of rows where a class of somebody else draws more for
    more rows: the bets alone see these. Whoever draws for items in the order in which rows name them is told apart,
    though the law may be the same.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import dprank
    >>> @dataclass(frozen=True)
    ... class Bare:
    ...     guarantee = dprank.Guarantee(1.0)
    ...     def release(self, count, rng):
    ...         return count
    >>> dprank.audit(Bare(), [(3, 4)], rng=np.random.default_rng(1)).broken
    True

    A mean that is rounded row by row, under enough noise, keeps its promise but for the order of rows:

    >>> class Running:
    ...     guarantee = dprank.Guarantee(9.0)
    ...     def release(self, data, rng):
    ...         mean = 0.0
    ...         for at, row in enumerate(data.positions, 1):
    ...             mean += (row[0] - mean) / at
    ...         return mean + rng.laplace()
    >>> pair = dprank.Rankings([[0, 1, 2]] * 9, "abc"), dprank.Rankings([[2, 1, 0]] + [[0, 1, 2]] * 8, "abc")
    >>> found = dprank.audit(Running(), [pair], rng=np.random.default_rng(1), budget=2048, bits=False, routes=True)
    >>> found.broken, found.samples.refuted, found.witnesses[0].way
    (True, False, 'rows in another order')
    """
    if not isinstance(getattr(mechanism, "guarantee", None), Guarantee) or not hasattr(mechanism, "release"):
        raise ValueError(f"mechanism = {shown(mechanism)}; an object with a guarantee and a release is needed")
    promise, pairs = mechanism.guarantee, as_list("pairs", pairs, "a list of tuples (data, other) is needed")
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            kind = f"<{type(pair).__name__}>"
            raise ValueError(f"pairs[{number}] = {kind}; a tuple (data, other) of two neighbours is needed")
    losses: list[float] = []
    # a class of somebody else may release something else than the class that it is derived from
    if type(mechanism).__module__.startswith("dprank."):
        with suppress(NoExactRoute):
            losses = [exact(mechanism, *pair).epsilon(promise.delta) for pair in pairs]
    worst = int(np.argmax(losses)) if losses else 0
    # where too much is promised away for any bet, the bets only look for how much is lost
    claim = promise.epsilon if promise.epsilon <= LARGEST else 1.0
    levels = np.minimum((claim or 1.0) * np.arange(0.1, 2.0, 0.1), LARGEST)
    draw = sample if promise.model == "local" else released
    apart: tuple[Witness, ...] = ()
    drawn: Any = mechanism
    bets = [Varied(number, "", pair) for number, pair in enumerate(pairs)]
    if routes:
        publish = mechanism.release
        if draw is sample:
            pairs = [(np.asarray(data), np.asarray(other)) for data, other in pairs]
            publish = partial(_reports, mechanism)
        bets, apart = varied(mechanism, pairs, rng, publish), witnesses(mechanism, pairs, rng, publish)
        if draw is sample and (reports := sent(mechanism, pairs, rng)) is not None:
            apart += witnesses(mechanism, [(reports, reports)], rng, partial(published, mechanism))
        if draw is not sample:
            drawn = Answering(mechanism, len(features(mechanism.release(pairs[0][0], rng))))

    def watched(data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        if watch is None or draw is sample:
            return draw(drawn, data, size, rng)
        parts = []
        for start in range(0, size, OFTEN):
            parts.append(draw(drawn, data, min(OFTEN, size - start), rng))
            watch(len(parts[-1]))
        return np.concatenate(parts)

    found = lower_bound(
        watched,
        [bet.data for bet in bets],
        claim,
        promise.delta,
        rng=rng,
        confidence=confidence,
        budget=budget,
        levels=levels,
        bits=bits,
    )
    reach = ceiling(budget, len(bets), confidence)
    if found.event and bets[found.pair].way:
        met = bets[found.pair]
        found = replace(found, pair=met.pair, event=f"{found.event}, {met.way}")
    return Audit(promise, losses[worst] if losses else None, worst, found, reach, apart)


def _reports(mechanism: Mechanism, data: Any, rng: Any) -> NDArray[np.float64]:
    """Some reports of one voter."""
    return sample(mechanism, data, _SENT, rng)
