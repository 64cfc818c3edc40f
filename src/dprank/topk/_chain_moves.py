r"""How far one comparison moves the scores of private rank centrality, and the set that is chosen from them.

Let a neighbour differ in one of the L samples of the public edge (i, j), let :math:`d` be at least the largest degree,
and let :math:`P_g = (1 - g) P + g / m` be the chain with teleport g, :math:`\pi` its stationary distribution, :math:`M`
the largest entry of that and :math:`\tau` its ergodicity coefficient. Rows i and j both change by
:math:`\pm c (e_j - e_i)`, where :math:`c = (1 - g) / (d L)`, and no other row does. Hence, with
:math:`\Delta = \pi' - \pi`,

* the coefficients of neighbours differ by at most c;
* :math:`(1 - \tau') \|\Delta\|_1 \le 2 c (\pi_i + \pi_j)`, at most 2 c and at most 4 c M, if :math:`\tau' < 1`.

Scores are :math:`h = (1 - \tau) \pi`, or :math:`(1 - \tau) \pi / M` where they are relative; 0 where :math:`\tau = 1`.

*What a set loses.* Let scores move by a vector v, and let S be k of m items. Whatever a is, noise that chooses S before
does so afterwards if each item of S that moved by less than a is helped up, and each other item that moved by more is
held down, by the difference. So independent Laplace noise of scale lambda loses at most :math:`G(v) / \lambda`, where
:math:`G(v) = \max_S \min_a \sum_S (a - v)_+ + \sum_{S^c} (v - a)_+`. This is subadditive, at most :math:`\|v\|_1`, and
at most kappa times the range of v, where :math:`\kappa = \min(k, m - k)`.

*Shares.* :math:`h' - h = (1 - \tau') \Delta + (\tau - \tau') \pi` has an l1 norm of at most 3 c: G is at most that
**for every k**, and its range is.

*Relative scores.* Let :math:`M' \ge M` (else exchange the two), let b be where :math:`\pi'` is largest,
:math:`u = \pi / M` and :math:`D = M' - M \le \Delta_b`. Then :math:`u' - u = (\Delta - D u') / M`, and, with
:math:`E = (1 - \tau') D / M \le 2 c`,

.. math:: h' - h = \tfrac{1 - \tau'}{M} (\Delta - D e_b) - E (u' - e_b) + (\tau - \tau') u .

The first term has an l1 norm of at most 4 c - E, since :math:`\Delta_b \ge D \ge 0`; the second lies in [-E, 0] and the
third within c. So G is at most :math:`4 c - E + \kappa E + \kappa c \le (3 \kappa + 2) c`, and the range at most 5 c.
Where one of the coefficients is 1, the other is at least 1 - c, and all is less.

*Undamped.* :math:`\Delta` is :math:`\pm c (\pi_i + \pi_j) (e_j - e_i) \sum_t (P'_g)^t`. The first step brings rows i
and j within :math:`\rho_1 = (1 - g) (1 - 1 / d)`, as they share :math:`P_{ij} + P_{ji} = 1 / d`, and every other step
takes at least the factor :math:`\rho`, the worst coefficient of all data. So :math:`\|\Delta\|_1 \le 2 c V (\pi_i +
\pi_j)` with :math:`V = 1 + \rho_1 / (1 - \rho)`, and there is no third term: G is at most 2 c V for shares and
:math:`(2 \kappa + 2) c V` for relative scores.

Nothing smaller is true of all graphs. In the limit of many samples 3 c is attained on a path of three items;
:math:`(3 \kappa + 2) c`, and a range of 5 c, where two of more than :math:`\kappa + 1` items, all of which are equal
and beat :math:`\kappa` others, are i and j; 2 c V, and 4 c V for :math:`\kappa = 1`, by two items that beat the others,
all pairs compared and no teleport. What remains is that the loss of a set is an average over the noise, and below G:
exact losses of 0.98 G (shares, the path) and 0.8 G (relative, five items above three, :math:`\kappa = 3`) are known.
"""

from __future__ import annotations


def damped_move(pushes: int, *, relative: bool) -> float:
    """G of damped scores in units of c, at most.

    Parameters
    ----------
    pushes : int
        kappa: items on the smaller side of the chosen set.
    relative : bool
        Whether scores are divided by the largest.

    Examples
    --------
    >>> [damped_move(pushes, relative=True) for pushes in (0, 1, 5)], damped_move(5, relative=False)
    ([0.0, 5.0, 17.0], 3.0)
    """
    return 0.0 if pushes == 0 else 3.0 * pushes + 2 if relative else 3.0


def undamped_move(pushes: int, met: float, worst: float, *, relative: bool) -> float:
    """G of undamped scores in units of c, at most.

    Parameters
    ----------
    pushes, relative
        As of `damped_move`.
    met, worst : float
        rho_1 and rho, below 1.

    Examples
    --------
    >>> undamped_move(1, 0.5, 0.5, relative=False), undamped_move(5, 0.5, 0.5, relative=True)
    (4.0, 24.0)
    """
    return 0.0 if pushes == 0 else (1 + met / (1 - worst)) * (2.0 * pushes + 2 if relative else 2.0)
