"""Every public function that hands arrays to a kernel, with arrays that no kernel should see; run by test_kernels.

Says on a line each what is about to be called and what came of it, so that the last line names what ended the process.
"""

import sys
import warnings

import numpy as np
from scipy import sparse

from dprank.aggregation import ExponentialMechanism, kemeny_score, kwiksort, local_search
from dprank.aggregation.kemeny import kemeny
from dprank.data import kendall
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins, win_counts
from dprank.data.rankings import Rankings
from dprank.models.bradley_terry import erdos_renyi_counts
from dprank.models.games import Games
from dprank.models.likelihood import gradient, mle, mle_from_counts
from dprank.models.mallows import Mallows
from dprank.topk.selection import noisy_top_k
from dprank.topk.spectral import ergodicity_coefficient, rank_centrality, stationary_distribution, transition_matrix
from dprank.uniformity.friedman import null_rank_sums

ITEMS = "abc"
W = np.array([[0, 3, 1], [1, 0, 4], [3, 2, 0]], np.int64)
CHAIN = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
ROWS = {
    "first": np.array([0, 1, 2, 0]),
    "second": np.array([1, 2, 0, 2]),
    "outcome": np.array([1, 0, 1, 1]),
    "voter": np.array([4, 5, 6, 6]),
}
GAMES = {
    "start": np.array([0, 1, 2, 2]),
    "other": np.array([1, 2]),
    "played": np.array([3, 2]),
    "points": np.array([2, 3]),
}


def rng():
    return np.random.default_rng(0)


def all_of(data):
    """What kernels say of comparisons."""
    return [
        win_counts(data).tolist(),
        pairwise_wins(data).tolist(),
        mle(data, ridge=1.0).theta,
        gradient([0, 0, 0], data),
    ]


def comparisons(**change):
    return all_of(Comparisons(**ROWS | change, items=ITEMS))


def games(**change):
    made = Games(**GAMES | change)
    return [made.wins.tolist(), made.item.tolist()]


def sparse_chain(name):
    def made(values):
        chain = sparse.csr_array(CHAIN)
        setattr(chain, name, values)
        return [stationary_distribution(chain), ergodicity_coefficient(chain)]

    return made


VOTES = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])
#: Functions of whole numbers that are places in memory: what is out of range, or of another shape, is refused.
CODES = {
    **{name: (lambda x, name=name: comparisons(**{name: x}), ROWS[name]) for name in ("first", "second")},
    **{f"games.{name}": (lambda x, name=name: games(**{name: x}), GAMES[name]) for name in ("start", "other")},
    "rankings": (lambda x: Rankings(x, ITEMS).pairwise().tolist(), VOTES),
    "orders": (lambda x: Rankings.from_orders(x, ITEMS).pairwise().tolist(), VOTES),
    "kendall": (lambda x: kendall.kendall_distance(x, [0, 1, 2]), VOTES[1]),
    "kendall to": (lambda x: kendall.kendall_distances(VOTES, x).tolist(), VOTES[2]),
    "kendall from": (lambda x: kendall.kendall_distances(x, [0, 1, 2]).tolist(), VOTES),
    "kendall pairs": (lambda x: kendall.pairwise_kendall_distances(x).tolist(), VOTES),
    "kendall others": (lambda x: kendall.pairwise_kendall_distances(VOTES, x).tolist(), VOTES),
    "mallows": (lambda x: Mallows(3, 1.0).sample(3, rng=rng(), centre=x).tolist(), VOTES),
    "search": (lambda x: local_search.local_search(W, x).tolist(), VOTES[1]),
    "kemeny score": (lambda x: kemeny_score(x, W), VOTES[1]),
    "transitions": (lambda x: transition_matrix(3, x, [0.5, 0.5]).toarray().tolist(), np.array([[0, 1], [1, 2]])),
    "chain.indices": (sparse_chain("indices"), np.array([0, 1, 2] * 3, np.int32)),
    "chain.indptr": (sparse_chain("indptr"), np.array([0, 3, 6, 9], np.int32)),
}
#: Functions of numbers; some of what is odd they may take.
NUMBERS = {
    "ballots": (lambda x: [Ballots(x, ITEMS).margins().tolist(), Ballots(x, ITEMS).net_wins().tolist()], VOTES),
    "ballots' weight": (lambda x: Ballots(VOTES, ITEMS, x).margins().tolist(), np.array([1, 2, 1])),
    "outcome": (lambda x: comparisons(outcome=x), ROWS["outcome"]),
    "voter": (lambda x: comparisons(voter=x), ROWS["voter"]),
    **{f"games.{name}": (lambda x, name=name: games(**{name: x}), GAMES[name]) for name in ("played", "points")},
    "wins": (lambda x: mle(Comparisons(**ROWS, items=ITEMS), ridge=1.0, wins=x).theta.tolist(), np.array([1, 2, 1])),
    "batch wins": (lambda x: mle_from_counts(W + W.T, x, ridge=1.0)[0].tolist(), np.array([[1, 2, 1], [2, 1, 1]])),
    "played": (lambda x: mle_from_counts(x, [[1, 2, 1]], ridge=1.0)[0].tolist(), W + W.T),
    "theta": (lambda x: erdos_renyi_counts(x, 0.5, 2, rng=rng())[1].tolist(), np.array([0, 1, 2])),
    "values": (lambda x: noisy_top_k(x, 2, 1.0, "laplace", rng()).tolist(), np.array([3, 1, 2, 9])),
    "kwiksort": (lambda x: kwiksort.kwiksort(x, rng=rng()).tolist(), W),
    "kwiksort law": (lambda x: kwiksort.before_probabilities(x).tolist(), W),
    "exponential": (lambda x: ExponentialMechanism.calibrated(n_items=3, epsilon=1.0).draw(x, 4, rng()).tolist(), W),
    "exponential mean": (
        lambda x: ExponentialMechanism.calibrated(n_items=3, epsilon=1.0).expected_disagreements(x),
        W,
    ),
    "subsets": (lambda x: kemeny(x, method="subsets").order.tolist(), (W > W.T) * 1),
    "integer": (lambda x: kemeny(x, method="integer").order.tolist(), (W > W.T) * 1),
    "local search": (lambda x: local_search.local_search(x).tolist(), W),
    "chain": (lambda x: [stationary_distribution(x).tolist(), ergodicity_coefficient(x)], np.eye(3) * 0 + CHAIN),
    "chain.data": (sparse_chain("data"), CHAIN.ravel()),
}
#: What is no array of the kind at all.
OBJECTS = [
    None,
    3,
    "abc",
    b"abc",
    {},
    {1: 2},
    [],
    [[]],
    [[[]]],
    [None],
    ["a"],
    [[1], [1, 2]],
    [1j],
    object(),
    [object()],
    set(),
]
#: Functions of one object that holds arrays.
HOLDERS = {
    "win_counts": win_counts,
    "pairwise_wins": pairwise_wins,
    "mle": lambda x: mle(x, ridge=1.0),
    "gradient": lambda x: gradient([0, 0, 0], x),
    "rank centrality": rank_centrality,
    "games of": Games.of,
    "rank sums": lambda x: null_rank_sums(x, 2, 2, 2),
    "draws": lambda x: null_rank_sums(rng(), x, 2, 2),
    "rank sum items": lambda x: null_rank_sums(rng(), 2, 2, x),
    "coins": lambda x: erdos_renyi_counts([0.0, 1], 0.5, 2, rng=x),
    "mallows size": lambda x: Mallows(3, 1.0).sample(x, rng=rng()),
}


def same(good):
    """The same numbers in other memory."""
    wide = np.zeros((*good.shape[:-1], 2 * good.shape[-1]), good.dtype)
    wide[..., ::2] = good
    fixed = good.copy()
    fixed.flags.writeable = False
    yield "strided", wide[..., ::2]
    yield "backwards", good[..., ::-1].copy()[..., ::-1]
    yield "Fortran", np.asfortranarray(good)
    yield "read-only", fixed
    yield "byte-swapped", good.astype(good.dtype.newbyteorder())
    yield "unaligned", np.ndarray(good.shape, good.dtype, b"x" + good.tobytes(), 1)
    yield "subclass", good.view(np.matrix) if good.ndim == 2 else good.view(np.memmap)
    yield "masked", np.ma.masked_array(good)
    for kind in ("u1", "i2", "u8"):
        if good.dtype.kind == "i":
            yield kind, good.astype(kind)


def misplaced(good):
    """Codes out of range, and tables of other shapes."""
    for value in (-1, -(2**31), -(2**63), 3, 255, 256, 2**31, 2**32, 2**62, 2**63, 2**64):
        for at in (0, -1):
            wrong = good.astype(object)
            wrong.flat[at] = value
            yield f"{value} at {at}", wrong
            if -(2**63) <= value < 2**63:
                yield f"{value} at {at}, i8", wrong.astype(np.int64)
            if 0 <= value < 2**64:
                yield f"{value} at {at}, u8", wrong.astype(np.uint64)
            yield f"{value} at {at}, f8", wrong.astype(float)
    yield "shorter", good[..., :-1]
    yield "longer", np.concatenate([good, good[..., :1]], axis=-1)
    yield "scalar", good.flat[0]
    yield "deeper", good[None, None]
    yield "empty", good[:0] if good.ndim == 1 else good[:, :0]
    yield "nan", good * np.nan
    yield "bool", good > 0
    yield "complex", good * 1j
    yield "words", good.astype(str)
    yield "dates", good.astype("M8[s]")
    yield "records", np.zeros(good.shape, [("a", "i4")])


#: The same numbers after all.
HARMLESS = ("-0.0", "long", "half")


def odd(good):
    yield from misplaced(good)
    for value in (np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0):
        wrong = good.astype(float)
        wrong.flat[-1] = value
        yield f"{value}", wrong
    yield "long", good.astype(np.longdouble)
    yield "half", good.astype(np.float16)


def told(name, call):
    print(name, end=": ", flush=True)
    try:
        with np.errstate(all="ignore"):
            result = call()
    except (ValueError, ArithmeticError):
        result = None
    print("refused" if result is None else "taken", flush=True)
    return None if result is None else flat(result)


def flat(result):
    parts = result if isinstance(result, list) else [result]
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])


def main():
    warnings.simplefilter("ignore")
    wrong = []

    def tried(name, kind, call, array):
        try:
            return told(f"{name}, {kind}", lambda: call(array))
        except Exception as error:
            print(type(error).__name__, error, flush=True)
            wrong.append(f"{name}, {kind}: {type(error).__name__}")

    for name, (call, good) in (CODES | NUMBERS).items():
        plain = tried(name, "plain", call, good.copy())
        for kind, array in same(good):
            result = tried(name, kind, call, array)
            if result is None or not np.array_equal(result, plain):
                wrong.append(f"{name}, {kind}: refused or another result")
        for kind, array in odd(good):
            if tried(name, kind, call, array) is not None and name in CODES and kind not in HARMLESS:
                wrong.append(f"{name}, {kind}: taken")
    for name, call in (HOLDERS | {name: call for name, (call, _) in (CODES | NUMBERS).items()}).items():
        for thing in [*OBJECTS, *([np.zeros(3), -1, 2.5, sparse.csr_array(CHAIN)] if name in HOLDERS else [])]:
            tried(name, type(thing).__name__, call, thing)
    print("\n".join(wrong) or "all is well")


if __name__ == "__main__":
    sys.exit(main())
