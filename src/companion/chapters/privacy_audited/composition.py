"""Our privacy arithmetic against that of `dp-accounting` and OpenDP, row by row."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, get_args

import dp_accounting
import numpy as np
import opendp.prelude as dp
import pandas as pd
from dp_accounting.pld import accountant, common
from dp_accounting.pld import privacy_loss_distribution as pld
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.pairwise import comparisons
from companion.ledger.claim import Check, claim, printed
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.audit.neighbours import ComparisonNeighbours
from dprank.data.counting import Score, win_counts
from dprank.data.rankings import Rankings
from dprank.pairwise import NoisyCounts
from dprank.privacy import composition, divergence, gaussian, randomized_response
from dprank.privacy import guarantee as mechanism
from dprank.privacy.guarantee import Adjacency, Guarantee
from dprank.privacy.randomized_response import GRAIN
from dprank.topk.curve import Types, pair_law
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity.laplace import LaplaceUnif, disagreements
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import disjoint_pairs

OPENDP, DP_ACCOUNTING = "OpenDP", "dp-accounting"
#: Relative difference that counts as rounding; ours are rounded up by 1e-9 in places.
ROUNDING = 1e-8
#: A round's loss, rounds, and delta of the rows on composition.
LOSS, ROUNDS, DELTA = 0.1, 20, 1e-6
#: Epsilons at which deltas are compared, of rounds and of vectors; of coins; and (epsilon, delta) of Gaussian noise.
ROUND_EPSILONS, VECTOR_EPSILONS, COINS = (0.0, 0.55, 1.25), (0.1, 0.5, 1.0), (0.1, 1.0, 5.0)
PROMISES = (1.0, 1e-6), (0.1, 1e-9)
#: Moves, scales and deltas of Gaussian noise, and orders of Renyi divergences.
MOVES = (1.0, 1.0, 1e-5), (math.sqrt(6), 9.0, 1e-6), (1.0, 40.0, 1e-9)
ORDERS = np.geomspace(1.01, 200, 1000)
#: Relative room of an epsilon found on a grid of Renyi orders or of losses.
GRID = 1e-3
# a ranking and its reverse
_RANKED = Rankings([[0, 1, 2, 3], [3, 2, 1, 0]], "abcd")

dp.enable_features("contrib")


@dataclass(frozen=True)
class _Row:
    what: str
    ours: float
    theirs: float
    whose: str
    least: float  # what ours may be at least, and at most, if both are right
    most: float

    @classmethod
    def same(cls, what: str, ours: float, theirs: float, whose: str, room: float = ROUNDING) -> _Row:
        """Both claim the exact number, up to a relative room."""
        return cls(what, ours, theirs, whose, theirs * (1 - room), theirs * (1 + room))

    @classmethod
    def tighter(cls, what: str, ours: float, theirs: float, whose: str, truth: float) -> _Row:
        """Theirs is a bound, ours a better one, which is not below the truth."""
        return cls(what, ours, theirs, whose, truth * (1 - ROUNDING), theirs * (1 + ROUNDING))

    @property
    def agrees(self) -> bool:
        return self.least <= self.ours <= self.most


def rows() -> Iterator[_Row]:
    """Number by number, as they are computed."""
    for family in (_composition, _gaussian, _vectors, _noise_maps, _selection, _coins):
        yield from family()


def agreement() -> pd.DataFrame:
    """Every number of ours that a library computes too: ``what``, ``ours``, ``theirs``, ``whose``, ``difference``
    (relative), ``tighter`` ("ours", "theirs", "same" to rounding), ``agrees`` (whether ours lies where it must if both
    are right).
    """
    frame = pd.DataFrame([{**vars(row), "agrees": row.agrees} for row in rows()])
    frame["difference"] = (frame.ours - frame.theirs) / frame.theirs
    larger = np.where(frame.ours > frame.theirs, "theirs", "ours")
    frame["tighter"] = np.where(frame.difference.abs() <= ROUNDING, "same", larger)
    agrees = frame.pop("agrees")
    return frame.drop(columns=["least", "most"]).assign(agrees=agrees)


@claim("audit:composition")
def check_composition() -> Iterator[Check]:
    """No number of ours lies where it cannot be if theirs is right."""
    frame = agreement()
    wrong = frame.loc[~frame.agrees, "what"].tolist()
    what = f"numbers of ours that disagree with OpenDP or dp-accounting, of {len(frame)}: {', '.join(wrong) or 'none'}"
    yield printed(what, len(wrong), "==", 0)


def _composition() -> Iterator[_Row]:
    fixed = [dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(_gaussian_noise(scale)), DELTA) for scale in (9.0, 14.0)]
    theirs = dp.c.make_composition(fixed).map(1.0)
    ours = mechanism.compose(*(Guarantee(*measurement.map(1.0)) for measurement in fixed))
    yield _Row.same("two promises together: epsilon", ours.epsilon, theirs[0], OPENDP)
    yield _Row.same("two promises together: delta", ours.delta, theirs[1], OPENDP)
    of, at = f"{ROUNDS} rounds of loss {LOSS:g}", f"epsilon at delta {DELTA:g}"
    pure = dp.c.make_composition([_laplace(1 / LOSS)] * ROUNDS).map(1)
    yield _Row.same(f"{of}, basic", composition.basic(ROUNDS, LOSS), pure, OPENDP)
    one = common.DifferentialPrivacyParameters(LOSS, 0.0)
    rounds = pld.from_privacy_parameters(one, value_discretization_interval=LOSS).self_compose(ROUNDS)
    for epsilon in ROUND_EPSILONS:
        delta, theirs = composition.optimal_delta(ROUNDS, LOSS, epsilon), rounds.get_delta_for_epsilon(epsilon)
        yield _Row.same(f"{of}, optimal delta at epsilon {epsilon:g}", delta, theirs, DP_ACCOUNTING)
    optimal = composition.optimal(ROUNDS, LOSS, DELTA)
    as_printed = accountant.advanced_composition(one, ROUNDS, DELTA)
    yield _Row.same(f"{of}, optimal {at}", optimal, rounds.get_epsilon_for_delta(DELTA), DP_ACCOUNTING)
    yield _Row.tighter(f"{of}, optimal {at}, their closed form", optimal, as_printed, DP_ACCOUNTING, optimal)
    advanced, what = composition.advanced(ROUNDS, LOSS, DELTA), f"{of}, the advanced theorem as printed: {at}"
    yield _Row(what, advanced, as_printed, DP_ACCOUNTING, as_printed, math.inf)
    theirs_rho = dp.c.make_composition([dp.c.make_pureDP_to_zCDP(_laplace(1 / LOSS))] * ROUNDS).map(1)
    yield _Row.same(f"{of}, rho", composition.rho(ROUNDS, LOSS), theirs_rho, OPENDP)
    for rho in (0.01, theirs_rho, 1.0):
        what, epsilon = f"rho {rho:g}, {at}", gaussian.zcdp(rho, DELTA)
        # their Gaussian noise of deviation 1 has this rho where it moves so far
        concentrated = dp.c.make_zCDP_to_approxDP(_gaussian_noise(1.0)).map(math.sqrt(2 * rho)).epsilon(DELTA)
        yield _Row.same(what, epsilon, concentrated, OPENDP, GRID)
        events = dp_accounting.rdp.RdpAccountant(ORDERS).compose(dp_accounting.ZCDpEvent(rho))
        yield _Row.same(what, epsilon, events.get_epsilon(DELTA), DP_ACCOUNTING, GRID)


def _gaussian() -> Iterator[_Row]:
    for l2, scale, delta in MOVES:
        what = f"Gaussian noise {scale:g} on a move of {l2:.3g}, epsilon at delta {delta:g}"
        ours = gaussian.gaussian_epsilon(l2, scale, delta)
        theirs = dp_accounting.get_epsilon_gaussian(scale / l2, delta)
        yield _Row.same(what, ours, theirs, DP_ACCOUNTING, 1e-6)
        concentrated = dp.c.make_zCDP_to_approxDP(_gaussian_noise(scale)).map(l2).epsilon(delta)
        yield _Row.tighter(what, ours, concentrated, OPENDP, theirs * (1 - 1e-6))
    for promise in PROMISES:
        what = "Gaussian scale for epsilon {:g}, delta {:g}".format(*promise)
        ours, theirs = gaussian.gaussian_scale(1.0, *promise), dp_accounting.get_sigma_gaussian(*promise)
        yield _Row.same(what, ours, theirs, DP_ACCOUNTING, 1e-6)


def _vectors() -> Iterator[_Row]:
    moves = (1, 1, 2)
    laws: tuple[tuple[str, Any, Any], ...] = (
        ("Laplace", divergence.LaplaceShift, partial(pld.from_laplace_mechanism, 3.0)),
        ("discrete Laplace", divergence.discrete_laplace_shift, partial(pld.from_discrete_laplace_mechanism, 1 / 3)),
        ("discrete Gaussian", divergence.discrete_gaussian_shift, partial(pld.from_discrete_gaussian_mechanism, 3.0)),
    )
    for name, shift, theirs in laws:
        high, low = (_composed(theirs, moves, pessimistic_estimate=pessimistic) for pessimistic in (True, False))
        for epsilon in VECTOR_EPSILONS:
            most, least = (bound.get_delta_for_epsilon(epsilon) for bound in (high, low))
            what = f"{name} noise 3 on moves 1, 1 and 2: delta at epsilon {epsilon:g}"
            delta = float(shift(moves, 3.0).delta(epsilon))
            yield _Row(what, delta, most, DP_ACCOUNTING, least * (1 - ROUNDING), most * (1 + ROUNDING))


def _composed(of: Any, moves: tuple[int, ...], **rounding: bool) -> Any:
    """Their loss distribution of a vector of noise: rounded up, or down."""
    level = logging.getLogger().level
    logging.getLogger().setLevel(logging.ERROR)  # it says that rounding down is done in another way
    try:
        each = [of(sensitivity=move, value_discretization_interval=1e-3, **rounding) for move in moves]
    finally:
        logging.getLogger().setLevel(level)
    return reduce(lambda a, b: a.compose(b), each)


def _noise_maps() -> Iterator[_Row]:
    for adjacency in get_args(Adjacency):
        for what, kind, moved in (("noisy matrix", NoisyMatrix, _margins), ("noisy Borda", PrivateBorda, _places)):
            under = f"{what}, {adjacency.replace('_', '/')}"
            made = kind.calibrated(n_items=4, epsilon=1.0, adjacency=adjacency, law="continuous")
            l1 = float(np.abs(moved(adjacency, whole=False)).sum())
            yield _Row.same(f"{under}: epsilon", made.guarantee.epsilon, _laplace_reals(made.scale).map(l1), OPENDP)
            made = kind.calibrated(n_items=4, epsilon=1.0, delta=DELTA, adjacency=adjacency)
            l2 = float(np.linalg.norm(moved(adjacency, whole=True))) / made.grain
            theirs = _gaussian_noise(made.scale / made.grain)
            yield _Row.same(f"{under}: rho", made.rho, theirs.map(l2), OPENDP)
            at, concentrated = f"epsilon at delta {DELTA:g}", dp.c.make_zCDP_to_approxDP(theirs).map(l2).epsilon(DELTA)
            # noise on the line, up to what the grid makes of it, where theirs takes the detour
            line = gaussian.gaussian_epsilon(float(np.linalg.norm(moved(adjacency, whole=False))), made.scale, DELTA)
            yield _Row.tighter(f"{under}: {at}", made.guarantee.epsilon, concentrated, OPENDP, line * (1 - GRID))
        for score in ("wins", "net"):
            counts = NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=2, score=score, adjacency=adjacency)
            what, far = f"noisy {score} of two answers, {adjacency.replace('_', '/')}", _sheets_apart(score, adjacency)
            yield _Row.same(f"{what}: epsilon", counts.guarantee.epsilon, _laplace(counts.scale).map(far), OPENDP)
            least = float(dp.binary_search_param(_laplace, d_in=far, d_out=1.0, T=float))
            yield _Row.same(f"{what}: scale for epsilon 1", counts.scale, least, OPENDP)
    unanimous = np.tile(np.arange(4), (10, 1))
    turned = np.r_[unanimous[:1, ::-1], unanimous[1:]]
    asked: dict[str, Any] = {"epsilon": 1.0, "n_items": 4, "n_voters": 10, "size": 0.1}
    test, norm, pairs = LaplaceUnif.calibrated(**asked), NoisyNorm.calibrated(**asked), disjoint_pairs(4)
    jump = abs(disagreements(unanimous, pairs) - disagreements(turned, pairs))
    yield _Row.same("noisy test: epsilon", test.guarantee.epsilon, _laplace(test.scale).map(jump), OPENDP)
    here, there = (norm.on_grid([norm.squared_norm(positions, pairs)])[0] for positions in (unanimous, turned))
    theirs = _laplace(norm.scale).map(abs(int(here - there)))
    yield _Row.same("noisy norm: epsilon", norm.guarantee.epsilon, theirs, OPENDP)


def _margins(adjacency: Adjacency, whole: bool) -> NDArray[np.float64]:
    """Moves of all pairs where a ranking is turned round, or one is added."""
    votes = (Rankings(_RANKED.positions[[v]], "abcd").pairwise() for v in (0, 1))
    one, other = ((w - w.T)[np.triu_indices(4, 1)] / 2 for w in votes)
    return one - other if adjacency == "replace" else one


def _places(adjacency: Adjacency, whole: bool) -> NDArray[np.float64]:
    """Moves of the sums of places, up to a common shift: by a whole number where the noise is whole."""
    one, other = _RANKED.positions.astype(float)
    middle = float(np.median(one))
    return one - other if adjacency == "replace" else one - (math.floor(middle) if whole else middle)


def _sheets_apart(score: Score, adjacency: Adjacency) -> int:
    """Largest l1 distance between the scores of two answer sheets, or of one and none: all are listed."""
    sheets = ComparisonNeighbours(unit="voter", answers=2, ties=True).sheets(3)
    scores = [win_counts(comparisons(sheet, 3), score) for sheet in sheets]
    others = scores if adjacency == "replace" else [np.zeros(3)]
    return int(max(np.abs(a - b).sum() for a in scores for b in others))


def _selection() -> Iterator[_Row]:
    for adjacency in ("replace", "add_remove"):
        for k in (1, 4, 8):
            ours: dict[str, Any] = {"k": k, "scale": 2.5, "adjacency": adjacency, "n_items": 9}
            top = partial(_top, k, 2.5, monotonic=adjacency == "add_remove")
            pure, concentrated = top(dp.max_divergence()).map(1), top(dp.zero_concentrated_divergence()).map(1)
            under = f"{k} of 9, {adjacency.replace('_', '/')}"
            basic = partial(Peeling, composition="basic")
            for name, make in (("peeling", basic), ("one shot", Oneshot)):
                epsilon = make(noise="exponential", **ours).guarantee.epsilon
                yield _Row.same(f"{name}, exponential noise, {under}: epsilon", epsilon, pure, OPENDP)
            for name, kind in (("peeling", Peeling), ("one shot", Oneshot)):
                rho = kind(noise="gumbel", **ours).rho
                yield _Row.same(f"{name}, Gumbel noise, {under}: rho", rho, concentrated, OPENDP)
    shown = Oneshot.calibrated(epsilon=1.0, n_items=9, k=4, noise="exponential", values=True)
    theirs = _top(4, shown.scale, dp.max_divergence()).map(1) + _laplace(shown.value_scale or 0.0).map(4)
    yield _Row.same("one shot, exponential noise, values too: epsilon", shown.guarantee.epsilon, theirs, OPENDP)


def _coins() -> Iterator[_Row]:
    for epsilon in COINS:
        flips = randomized_response.flips_for(epsilon)
        ours = randomized_response.bit_loss(flips)
        yield _Row.same(f"coin for epsilon {epsilon:g}: epsilon", ours, _coin(flips), OPENDP)
        yield _Row.same(f"coin for epsilon {epsilon:g}: epsilon that was asked for", epsilon, _coin(flips), OPENDP)
    pairs, bit = LocalPairs.calibrated(epsilon=1.0, n_items=6), LocalOneBit.calibrated(epsilon=1.0, n_items=6)
    yield _Row.same("local test, three signs: epsilon", pairs.guarantee.epsilon, 3 * _coin(pairs.flips), OPENDP)
    yield _Row.same("local test, one sign: epsilon", bit.guarantee.epsilon, _coin(bit.flips), OPENDP)


def pitfalls() -> pd.DataFrame:
    """What OpenDP answers if it is asked the wrong way: ``asked``, ``answer``, ``truth`` (or what is wanted)."""
    promised = _top(1, 2.0, dp.max_divergence(), 2, monotonic=True).map(1)
    lost = pair_law(Types((1, 1), (0, 30), (1, 29)), 1, 2.0, "exponential").epsilon(0)
    narrow = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), 1e15)
    rows = [
        ("epsilon with monotonic=True where a record is replaced", promised, lost),
        ("largest of 100 draws of noise of scale 1e15, with T=int", max(narrow(0) for _ in range(100)), 1e15),
        ("epsilon of noise of scale 0, which is accepted", _laplace(0.0).map(1), math.inf),
        ("winners returned where 4 are wanted of 3 values", len(_top(4, 1.0, dp.max_divergence(), None)([1, 2, 3])), 4),
    ]
    return pd.DataFrame(rows, columns=["asked", "answer", "truth"])


def _laplace(scale: float) -> Any:
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64"), 9), dp.l1_distance(T="i64"), scale)


def _laplace_reals(scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False), 9), dp.l1_distance(T="f64")
    return dp.m.make_laplace(*space, scale)


def _gaussian_noise(scale: float) -> Any:
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64"), 9), dp.l2_distance(T="f64"), scale)


def _top(k: int, scale: float, measure: Any, size: int | None = 9, monotonic: bool = False) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64"), size), dp.linf_distance(T="i64", monotonic=monotonic)
    return dp.m.make_noisy_top_k(*space, measure, k, scale)


def _coin(flips: int) -> float:
    return dp.m.make_randomized_response_bool(1 - flips / GRAIN).map(1)
