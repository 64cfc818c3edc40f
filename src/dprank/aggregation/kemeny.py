"""Orders of least Kemeny score, proved: a programme over subsets, and an integer programme with lazy triangles."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import FrozenFields
from dprank._jit import njit
from dprank._require import require_one_of, require_real
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import kemeny_score, require_fractions, shrink

__all__ = ["Consensus", "KemenyTimeout", "kemeny", "quick_order"]

Method = Literal["auto", "subsets", "integer"]
#: Most items of a block that "subsets" takes: a table of 2^26 floats is half a gibibyte.
MOST_BY_SUBSETS = 26
# up to here "auto" prefers the subsets
_FEW = 20
# a gap up to this is rounding of the linear programmes
_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class Consensus(FrozenFields):
    """An order of least cost.

    Attributes
    ----------
    order : ndarray of int, shape (items,)
        Item codes from best to worst.
    cost : float
        Its Kemeny score, computed from the order.
    bound : float
        No order costs less; equal to `cost`. (The integer programme proves it to within 1e-6, for rounding.)

    Examples
    --------
    >>> best = kemeny([[0, 0.75], [0.25, 0]])  # three of four voters put item 0 first
    >>> best.order.tolist(), best.cost, best.bound
    ([0, 1], 0.25, 0.25)
    """

    order: NDArray[np.int64]
    cost: float
    bound: float


class KemenyTimeout(TimeoutError):
    """Time was up before an order was proved optimal.

    Attributes
    ----------
    order : ndarray of int, shape (items,)
        The best order known.
    cost : float
        Its Kemeny score.
    bound : float
        No order costs less than this.

    Examples
    --------
    >>> try:
    ...     kemeny([[0, 1, 0], [0, 0, 1], [1, 0, 0]], method="integer", time_limit=1e-9)
    ... except KemenyTimeout as late:
    ...     late.cost, late.bound <= late.cost
    (1.0, True)
    """

    def __init__(self, limit: float, order: NDArray[np.int64], cost: float, bound: float) -> None:
        super().__init__(f"no proof of optimality within {limit:g} s; `order`, `cost` and `bound` say what is known")
        self.limit, self.order, self.cost, self.bound = limit, order, cost, bound

    def __reduce__(self) -> Any:
        return type(self), (self.limit, self.order, self.cost, self.bound)


def kemeny(w: ArrayLike, *, method: Method = "auto", time_limit: float | None = None) -> Consensus:
    """An order of least Kemeny score.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        Fractions that put i before j, as `require_fractions` asks; pass a noisy matrix
        through `shrink` first, which keeps its optimal orders.
    method : {"auto", "subsets", "integer"}
        For a block of k items, "subsets" takes O(2^k k) time and 2^k floats, at most 26 items; "integer" is fast where
        majorities are clear and exponential where they are not. "auto" takes the subsets up to 20 items.
    time_limit : float, optional
        Seconds from the call, for the integer programmes.

    Returns
    -------
    Consensus

    Raises
    ------
    KemenyTimeout
        With the best order and the best bound known.
    ValueError
        Where `w` does not meet the probability constraints, or a block is too large for "subsets".

    Notes
    -----
    If every item of a set A is preferred by at least half to every item outside, some optimal order begins with A: to
    move A to the front, all else kept, costs nothing. So the strongly connected components of the graph of strict
    majorities are ordered one by one, and the blocks put behind each other.

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import kemeny
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> kemeny(w).order.tolist()
    [0, 1, 2]
    """
    require_one_of("method", method, get_args(Method))
    limit = math.inf
    if time_limit is not None:
        limit = require_real("time_limit", time_limit, "seconds above 0 are needed, or None", lambda x: x > 0)
    matrix, deadline = require_fractions(w), monotonic() + limit
    parts, gap = [], 0.0
    for block in _blocks(matrix):
        inner = matrix[np.ix_(block, block)]
        if len(block) == 1 or method == "subsets" or (method == "auto" and len(block) <= _FEW):
            if len(block) > MOST_BY_SUBSETS:
                raise ValueError(
                    f"method = 'subsets' for a block of {len(block)} items; at most {MOST_BY_SUBSETS} are allowed"
                )
            order = _by_subsets(inner)
        else:
            order, missing = _integer(inner, deadline)
            gap += missing
        parts.append(block[order])
    order = np.concatenate(parts)
    cost = kemeny_score(order, w)
    if gap > 0:
        raise KemenyTimeout(limit, order, cost, cost - gap)
    return Consensus(order, cost, cost)


def quick_order(w: ArrayLike) -> NDArray[np.int64]:
    """An order of least Kemeny score where that is quick, else of a low one: what to run on any matrix.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        ``w[i, j]`` is the weight of i before j. Noisy matrices are allowed: any finite numbers.

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first. Blocks of up to 20 items (see `kemeny`) are in the best order, by subsets, larger ones
        in that of `local_search`. Deterministic; O(items^3) beyond 20 items.

    Raises
    ------
    ValueError
        Where `w` is no square matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> quick_order(w).tolist()
    [0, 1, 2]
    """
    matrix = shrink(w)
    parts = []
    for block in _blocks(matrix):
        inner = matrix[np.ix_(block, block)]
        parts.append(block[_by_subsets(inner) if len(block) <= _FEW else local_search(inner)])
    return np.concatenate(parts)


def _blocks(w: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Strongly connected components of the strict majorities, from best to worst."""
    reach = (w > w.T) | np.eye(len(w), dtype=bool)
    for k in range(len(w)):
        reach |= reach[:, k, None] & reach[k]
    name = (reach & reach.T).argmax(axis=1)
    # who reaches another block reaches strictly more
    rank = np.lexsort((name, -reach.sum(axis=1)))
    return np.split(rank, np.flatnonzero(np.diff(name[rank])) + 1)


# --- the programme over subsets --------------------------------------------------------------------------------------


def _by_subsets(w: NDArray[np.float64]) -> NDArray[np.int64]:
    return _recover(w, _least_costs(w))


@njit(cache=True, error_model="numpy")
def _least_costs(w):
    """Least cost of ordering every set of items among themselves; a set is the number whose bits are its items.

    The last item of a set is charged with those in front of it: ``charge[v, part]``, for the low bits of the set and
    for the high ones, whose sum is what item v pays.
    """
    m = len(w)
    few = min(m, 7)
    width = 1 << few
    best = np.full(1 << m, np.inf)
    best[0] = 0.0
    low = np.zeros((m, width))
    for v in range(m):
        for s in range(1, width):
            u = _lowest(s)
            low[v, s] = low[v, s & (s - 1)] + w[v, u]
    high = np.zeros(m)
    for top in range(1 << (m - few)):
        row = best[top << few : (top + 1) << few]
        for v in range(m):
            high[v] = 0.0
            for u in range(few, m):
                if top >> (u - few) & 1:
                    high[v] += w[v, u]
        for v in range(few, m):
            if top >> (v - few) & 1:
                without = top ^ (1 << (v - few))
                before = best[without << few : (without + 1) << few]
                fee, fees = high[v], low[v]
                for s in range(width):
                    cost = before[s] + fees[s] + fee
                    row[s] = cost if cost < row[s] else row[s]
        for s in range(1, width):
            least, rest = row[s], s
            while rest:
                v = _lowest(rest)
                rest &= rest - 1
                without = s ^ (1 << v)
                cost = row[without] + low[v, without] + high[v]
                least = cost if cost < least else least
            row[s] = least
    return best


@njit(inline="always")
def _lowest(s):
    """Number of the lowest bit that is set."""
    v = 0
    while not s >> v & 1:
        v += 1
    return v


@njit(cache=True, error_model="numpy")
def _recover(w, best):
    """The order behind the last entry of the table, from its end."""
    m = len(w)
    order = np.empty(m, np.int64)
    here = (1 << m) - 1
    for place in range(m - 1, -1, -1):
        least = np.inf
        for v in range(m):
            if here >> v & 1:
                without = here ^ (1 << v)
                cost = best[without]
                for u in range(m):
                    if without >> u & 1:
                        cost += w[v, u]
                if cost < least:
                    least, order[place] = cost, v
        here ^= 1 << order[place]
    return order


# --- the integer programme -------------------------------------------------------------------------------------------


def _integer(w: NDArray[np.float64], deadline: float) -> tuple[NDArray[np.int64], float]:
    """Branch and cut on the linear ordering programme, the least bound first.

    Returns
    -------
    order : ndarray of int
    gap : float
        How much less another order might cost: 0 where none does.
    """
    relaxation = _Relaxation(w)
    order = local_search(w)
    cost = kemeny_score(order, w)
    low = np.zeros(len(relaxation.costs), bool)
    ticket = count()
    nodes = [(float(np.minimum(w, w.T).sum() / 2), next(ticket), low, ~low)]
    while nodes and nodes[0][0] < cost - _TOLERANCE:
        known, _, low, high = heapq.heappop(nodes)
        bound, reduced, x = relaxation.solve(low, high, cost - _TOLERANCE, deadline)
        if x is None:
            return order, cost - min([max(bound, known)] + [node[0] for node in nodes])
        if bound >= cost - _TOLERANCE:
            continue
        found = local_search(w, relaxation.order(x))
        if (price := kemeny_score(found, w)) < cost:
            order, cost = found, price
        # to flip a variable whose reduced cost exceeds the gap makes an order worse than the one at hand
        low, high = np.where(reduced < bound - cost, high, low), np.where(reduced > cost - bound, low, high)
        doubt = np.minimum(x, 1 - x) * (0.1 + abs(relaxation.costs))
        branch = int(doubt.argmax())
        if min(x[branch], 1 - x[branch]) < 1e-6:
            if cost - bound > 10 * _TOLERANCE:
                raise RuntimeError("an order solves its relaxation but costs more")
            continue
        for value in (False, True):
            child = low.copy(), high.copy()
            child[0][branch] = child[1][branch] = value
            heapq.heappush(nodes, (max(bound, known), next(ticket), *child))
    return order, 0.0


class _Relaxation:
    """Linear programme with a variable a pair i < j, 1 where i is before j; triangles are forbidden when met."""

    def __init__(self, w: NDArray[np.float64]) -> None:
        import highspy

        self.n_items = m = len(w)
        self.pairs = i, j = np.triu_indices(m, 1)
        self.costs, self.floor = w[j, i] - w[i, j], float(w[i, j].sum())
        self.column = np.zeros((m, m), np.int32)
        self.column[i, j] = self.every = np.arange(len(i), dtype=np.int32)
        self.rows = np.empty((0, 3), np.int32)
        self.solver = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "primal_feasibility_tolerance": 1e-9}.items():
            self.solver.setOptionValue(option, value)
        self.solver.addVars(len(i), np.zeros(len(i)), np.ones(len(i)))
        self.solver.changeColsCost(len(i), self.every, self.costs)
        self.status = highspy.HighsModelStatus

    def solve(
        self, low: NDArray[np.bool_], high: NDArray[np.bool_], enough: float, deadline: float
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64] | None]:
        """Bound on the costs of orders between two vectors, reduced costs, and a solution; none if time is up.

        Stops at a bound of `enough`, when no triangle is left, or at the deadline. The bound is recomputed from the
        prices p of the rows ``0 <= x_ij + x_jk - x_ik <= 1``: with r the costs less what the rows pay, no order costs
        less than the sum of min(p, 0) and of the least of r x, whatever the prices.
        """
        self.solver.changeColsBounds(len(low), self.every, low.astype(float), high.astype(float))
        best, reduced, states = -math.inf, self.costs, self.status
        while (left := deadline - monotonic()) > 0:
            # the solver's clock runs on from call to call
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + left)
            self.solver.run()
            status = self.solver.getModelStatus()
            if status == states.kTimeLimit:
                break
            if status in (states.kInfeasible, states.kUnboundedOrInfeasible):
                return math.inf, reduced, low.astype(float)
            if status != states.kOptimal:
                raise RuntimeError(f"HiGHS stopped: {self.solver.modelStatusToString(status)}")
            solution = self.solver.getSolution()
            x, prices = np.clip(solution.col_value, 0, 1), np.asarray(solution.row_dual)
            now = self.costs.copy()
            for column, sign in zip(self.rows.T, (1, 1, -1), strict=True):
                now -= sign * np.bincount(column, prices, len(now))
            bound = self.floor + float(np.minimum(prices, 0).sum() + np.minimum(now * low, now * high).sum())
            if bound > best:
                best, reduced = bound, now
            triples = _violated(self._square(x), 20 * self.n_items)
            if best >= enough or not len(triples):
                return best, reduced, x
            new = np.stack([self.column[triples[:, a], triples[:, b]] for a, b in ((0, 1), (1, 2), (0, 2))], axis=1)
            size, starts = len(new), np.arange(0, new.size, 3, dtype=np.int32)
            signs = np.tile([1.0, 1.0, -1.0], size)
            self.solver.addRows(size, np.zeros(size), np.ones(size), new.size, starts, new.ravel(), signs)
            self.rows = np.concatenate([self.rows, new])
        return best, reduced, None

    def order(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Items by how many they are in front of."""
        return np.argsort(-self._square(x).sum(axis=1), kind="stable")

    def _square(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        full = np.zeros((self.n_items, self.n_items))
        full[self.pairs] = x
        full.T[self.pairs] = 1 - x
        return full


@njit(cache=True, error_model="numpy")
def _violated(x, most):
    """Up to `most` triples i < j < k that violate 0 <= x_ij + x_jk - x_ik <= 1 at least half as much as the worst.

    No pair is in more than four of them: new rows should not repeat each other.
    """
    m = len(x)
    worst = 1e-6
    for i in range(m):
        for j in range(i + 1, m):
            for k in range(j + 1, m):
                worst = max(worst, abs(x[i, j] + x[j, k] - x[i, k] - 0.5) - 0.5)
    found, count = np.empty((most, 3), np.int32), 0
    used = np.zeros((m, m), np.int64)
    for i in range(m):
        for j in range(i + 1, m):
            for k in range(j + 1, m):
                excess = abs(x[i, j] + x[j, k] - x[i, k] - 0.5) - 0.5
                if excess > worst / 2 and count < most and max(used[i, j], used[j, k], used[i, k]) < 4:
                    found[count] = (i, j, k)
                    count += 1
                    used[i, j] += 1
                    used[j, k] += 1
                    used[i, k] += 1
    return found[:count]
