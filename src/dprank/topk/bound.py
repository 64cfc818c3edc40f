r"""An (epsilon, delta) bound for one-shot selection that does not see the number of items.

Let a = sensitivity / scale, and let the noise have a density that a shift by at most the sensitivity changes by a
factor of at most :math:`e^a`, as Laplace noise has. Its two tails then change by at most :math:`e^a` too. For every
:math:`\alpha > 0` with :math:`B = 1 + e^a - e^{(1 + \alpha) a} > 0`, selecting k items is (epsilon, delta) private for

.. math::

   \delta = \frac{\alpha^\alpha}{(1 + \alpha)^{1 + \alpha}} \cdot \frac{k^k}{(k - 1)^{k - 1}} \cdot
   e^{-\alpha (\varepsilon - 2 a)} \left( e^{\alpha a} B \right)^{-k} .

*Proof.* Release also which item came last among the selected, j, and its noisy value v; that can only raise delta.
Let :math:`f_j` be the density of that value and :math:`q_i(v)` the probability that item i's exceeds it. The density of
the outcome is :math:`f_j(v)` times a factor :math:`q_i` or :math:`1 - q_i` for each other item, and so with
:math:`f_j'` and :math:`q_i'` for the neighbour. Its log ratio is at most :math:`a + \sum_{i \ne j} \ell_i`, with
:math:`\ell_i` the log ratio of item i's factors. Since :math:`(1 - e^{-y})_+ \le c_\alpha e^{\alpha y}`, where
:math:`c_\alpha` is the first factor of delta, and since k - 1 others are selected, for any :math:`\mu`

.. math::

   \delta \le c_\alpha e^{\mu (k - 1) - \alpha (\varepsilon - a)} \int \sum_j f_j(v) \prod_{i \ne j} \left(
   q_i e^{- \mu} (q_i / q_i')^\alpha + (1 - q_i) ((1 - q_i) / (1 - q_i'))^\alpha \right) dv .

Each factor is jointly convex in (q, q'), and the pairs that the noise allows form a parallelogram. Hence a factor is at
most :math:`1 - \eta q` everywhere if it is in the corners (0, 0), (1, 1) and :math:`(1, e^b) / (1 + e^b)` for b = a and
b = -a. That asks for :math:`e^{-\mu} \le e^{\alpha b} (1 - \eta + e^b - e^{(1 + \alpha) b})` for b in {-a, 0, a}, and b
= a decides. The integral is at most :math:`(1 - (1 - \eta)^m) / \eta`, because :math:`f_j = -dq_j/dv` makes the
integrand a derivative. Last, :math:`\eta = B / k`.

*Lists.* The same delta holds if the order of the k selected is released, and even their noisy values. Then the first
term of item i's factor is :math:`e^{-\mu}` times the integral of :math:`f (f / f')^\alpha` over the values above v,
still jointly convex. Any two laws whose ratio lies in :math:`[e^{-a}, e^a]` are one channel applied to the two coins of
randomized response (Kairouz, Oh and Viswanath 2017), and channels are mixtures of deterministic ones. Those that send
both sides of the coin below v, or one below and one above, are the corners from before. The one that sends both above v
asks for :math:`e^{-\mu} R + \eta \le 1` with :math:`R = (x y + 1 / y) / (1 + x)`, where :math:`x = e^a`,
:math:`y = e^{\alpha a}`. As :math:`e^{-\mu} = y B (1 - 1 / k)`, :math:`\eta = B / k` and :math:`B = 1 + x - x y \le 1`,
it is enough that :math:`y B R \le 1`, or :math:`h(y) = (1 + x - x y)(1 + x y^2) - 1 - x \le 0`. Now :math:`h(1) = 0`,
and :math:`h'(y) = x (2 (1 + x) y - 1 - 3 x y^2)` is at most 0 at y = 1 and its bracket falls from there on.

Noise on a lattice, such as discrete Laplace noise with ties broken at random, is covered as well: spread every lattice
point uniformly over its cell. A shift must then be a whole number of cells. Where all values move one way it is half
the sensitivity: the noise must live on halves (`dprank.topk.oneshot.Oneshot` sees to it), or the sensitivity be even.
"""

from __future__ import annotations

import math

import scipy

from dprank._require import require_loss, require_positive, require_probability, require_real
from dprank.data.tallies import require_k

__all__ = ["log_delta", "shift_for"]

#: Added to a log delta, times the sum of the absolute terms it is computed from: far above their rounding.
_ROUNDING = 1e-13


def log_delta(k: int, shift: float, epsilon: float, n_items: float = math.inf) -> float:
    """Logarithm of a delta at which one-shot selection of k items is (epsilon, delta) private.

    Parameters
    ----------
    k : int
        At least 1.
    shift : float
        Sensitivity over scale of the noise (Laplace, or discrete Laplace with ties broken at random), above 0. Halve it
        if all values move one way (noise on a lattice: see above): a selection sees differences only. Without
        `n_items` the bound is that of ordered lists too.
    epsilon : float
        At least 0.
    n_items : float
        Number m of items, at least k, if it is public: the selected and the others tell the same, so min(k, m - k)
        replaces k.

    Returns
    -------
    float
        At most 0, increasing in `shift` and, without `n_items`, in k; decreasing in `epsilon`; minus infinity if k = m.
        Rounded up. The pure guarantee, a delta of 0 from epsilon = 2 k `shift` on, is not part of it.

    Raises
    ------
    ValueError
        Naming the parameter and its value.

    Notes
    -----
    About 20 microseconds, whatever k. Every alpha gives a bound; the best is the root of a monotone derivative.

    Examples
    --------
    >>> [round(math.exp(log_delta(1, 0.5, epsilon)), 4) for epsilon in (0.0, 1.0, 2.0)]
    [0.7762, 0.5565, 0.3329]
    >>> log_delta(2, 0.5, 1.0, n_items=2)
    -inf
    """
    k, n_items = _require_few(k, n_items)
    shift, epsilon = require_positive("shift", shift, up=True), require_loss("epsilon", epsilon)
    fewer = min(k, n_items - k)
    if fewer == 0 or epsilon == math.inf:
        return -math.inf
    return _log_delta(int(fewer), shift, epsilon, n_items) if shift < 700 else 0.0


def _log_delta(k: int, shift: float, epsilon: float, n_items: float) -> float:
    """The theorem at its best alpha; u = alpha * shift throughout."""
    grown = math.exp(shift)
    most = math.log1p(1 / grown)  # where B = 0

    def slope(u: float) -> float:
        lost = grown * math.expm1(u)
        return -math.log1p(shift / u) - (epsilon - 2 * shift) + k * shift * ((grown + lost) / (1 - lost) - 1)

    low, high = most * 1e-12, most * (1 - 1e-12)
    if slope(high) <= 0:
        u = high
    elif slope(low) >= 0:
        u = low
    else:
        u = float(scipy.optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-9))
    alpha, log_b = u / shift, math.log1p(-grown * math.expm1(u))
    eta = math.exp(log_b) / k
    terms = (
        -math.log1p(alpha),
        -alpha * math.log1p(1 / alpha),
        -log_b - (k - 1) * math.log1p(-1 / k) + math.log(k) if k > 1 else -log_b,
        math.log(-math.expm1(n_items * math.log1p(-eta))),  # 0 of infinitely many
        -alpha * epsilon,
        2 * u,
        -k * u,
        -(k - 1) * log_b,
    )
    return min(0.0, math.fsum(terms) + _ROUNDING * (1 + math.fsum(map(abs, terms))))


def shift_for(k: int, epsilon: float, delta: float, n_items: float = math.inf) -> float:
    """Largest shift (sensitivity over scale) at which `log_delta` is at most log(delta).

    Parameters
    ----------
    k : int
        At least 1.
    epsilon : float
        Above 1e-300 and below 1e300.
    delta : float
        In (0, 1).
    n_items : float
        Number of items, at least k, if it is public.

    Returns
    -------
    float
        Found from below to a relative 1e-10; infinity if k = `n_items`. The pure guarantee allows epsilon / (2 k),
        which is more for small k.

    Raises
    ------
    ValueError
        Naming the parameter and its value.

    Notes
    -----
    One to two milliseconds.

    Examples
    --------
    >>> shift = shift_for(100, 1.0, 1e-6)
    >>> round(math.exp(log_delta(100, shift, 1.0)) / 1e-6, 4), shift > 1.0 / 200
    (1.0, True)
    """
    k, n_items = _require_few(k, n_items)
    epsilon = require_real("epsilon", epsilon, "it must lie in (1e-300, 1e300)", lambda x: 1e-300 < x < 1e300)
    delta = require_probability("delta", delta)
    if k == n_items:
        return math.inf

    def excess(log_shift: float) -> float:
        return log_delta(k, math.exp(log_shift), epsilon, n_items) - math.log(delta)

    high = math.log(epsilon)
    while excess(high) <= 0:
        high += 1
    low = high - 1
    while excess(low) > 0:
        low -= 1
    root = float(scipy.optimize.brentq(excess, low, low + 1, xtol=1e-11))
    while excess(root) > 0:
        root -= 1e-11
    return math.exp(root)


def _require_few(k: int, n_items: float) -> tuple[int, float]:
    """Refuse what is no k of a whole number, or of infinitely many, items."""
    n_items = require_real(
        "n_items", n_items, "a whole number, or infinity, is needed", lambda x: x == math.inf or (x >= 1 and x % 1 == 0)
    )
    return require_k(k, n_items), n_items
