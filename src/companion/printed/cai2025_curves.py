"""Points of the simulated curves of Cai, Chakraborty and Wang (2025): the first and the last curve of each panel, and
ε = 1 in Figure 2.

Figures 1 to 4: means of the authors' result files, which are public with their code (120 repetitions; 45 in Figure 4).
Figures 5 to 7: read from the pictures in their notebook (200 repetitions), to about 0.02.
"""

from __future__ import annotations

import math

import pandas as pd

_NONE = math.inf

#: Figure -> what is the same in it, what it goes along, what tells its curves apart.
SETTINGS: dict[int, tuple[dict[str, float], str, str]] = {
    1: ({"p": 1.0}, "n", "epsilon"),
    2: ({"n": 300}, "p", "epsilon"),
    3: ({"n": 300}, "epsilon", "p"),
    5: ({"m": 1000}, "n", "epsilon"),
    6: ({"n": 16}, "m", "epsilon"),
    7: ({"n": 16}, "epsilon", "m"),
}
#: Columns of `_POINTS` after the first two: method and loss.
_LOSSES = (("MLE", "log ℓ∞"), ("MLE", "log ℓ2"), ("MLE", "missed"), ("counts", "missed"))
#: Figure -> (along, curve, the four losses).
_POINTS: dict[int, list[tuple[float, ...]]] = {
    1: [
        (100, 0.5, 0.552, -0.046, 0.373, 0.235),
        (325, 0.5, 0.177, -0.387, 0.248, 0.055),
        (700, 0.5, -0.486, -0.672, 0.082, 0.006),
        (100, _NONE, -0.315, -0.390, 0.129, 0.141),
        (325, _NONE, -0.441, -0.573, 0.028, 0.032),
        (700, _NONE, -0.597, -0.730, 0.003, 0.003),
    ],
    2: [
        (0.1, 0.5, 1.487, 0.678, 0.698, 0.541),
        (0.25, 0.5, 0.931, 0.212, 0.590, 0.374),
        (0.55, 0.5, 0.453, -0.136, 0.426, 0.199),
        (1.0, 0.5, 0.095, -0.368, 0.276, 0.064),
        (0.1, 1.0, 0.835, 0.191, 0.634, 0.473),
        (0.25, 1.0, 0.350, -0.115, 0.468, 0.324),
        (0.55, 1.0, -0.042, -0.335, 0.281, 0.164),
        (1.0, 1.0, -0.332, -0.497, 0.147, 0.042),
        (0.1, _NONE, -0.130, -0.206, 0.322, 0.457),
        (0.25, _NONE, -0.236, -0.318, 0.190, 0.307),
        (0.55, _NONE, -0.359, -0.443, 0.086, 0.155),
        (1.0, _NONE, -0.483, -0.565, 0.033, 0.037),
    ],
    3: [
        (0.2, 0.25, 1.951, 0.950, 0.689, 0.484),
        (1.0, 0.25, 0.436, -0.125, 0.453, 0.302),
        (2.5, 0.25, -0.058, -0.268, 0.293, 0.278),
        (_NONE, 0.25, -0.207, -0.317, 0.176, 0.290),
        (0.2, 1.0, 0.951, 0.067, 0.476, 0.149),
        (1.0, 1.0, -0.227, -0.494, 0.136, 0.040),
        (2.5, 1.0, -0.410, -0.542, 0.057, 0.033),
        (_NONE, 1.0, -0.452, -0.560, 0.031, 0.035),
    ],
    5: [
        (16, 0.5, 0.49, 0.29, 0.404, math.nan),
        (24, 0.5, 1.15, 0.74, 0.471, 0.31),
        (32, 0.5, 1.59, 1.01, 0.506, 0.33),
        (16, _NONE, -0.61, -0.21, 0.104, 0.28),
        (24, _NONE, -0.58, -0.21, 0.119, 0.28),
        (32, _NONE, -0.54, -0.20, 0.127, 0.30),
    ],
    6: [
        (250, 0.5, 1.68, 1.36, 0.594, 0.421),
        (1000, 0.5, 0.47, 0.26, 0.398, 0.268),
        (2000, 0.5, -0.04, -0.06, 0.298, 0.244),
        (250, _NONE, -0.44, -0.19, 0.165, 0.321),
        (1000, _NONE, -0.61, -0.21, 0.090, 0.240),
        (2000, _NONE, -0.66, -0.21, 0.065, 0.254),
    ],
    7: [
        (0.25, 250, 1.94, 1.65, 0.599, 0.513),
        (1.0, 250, 1.30, 0.93, 0.518, 0.358),
        (4.0, 250, -0.03, -0.05, 0.318, 0.331),
        (0.25, 2000, 0.54, 0.33, 0.409, 0.237),
        (1.0, 2000, -0.39, -0.18, 0.147, 0.238),
        (4.0, 2000, -0.63, -0.21, 0.099, 0.248),
    ],
}
#: Figure 4: (n, epsilon, what counts, MLE and oneshot miss of the top k).
_FIGURE_4 = [
    (150, 0.1, 0.458, 0.636, 0.747),
    (350, 0.1, 0.232, 0.567, 0.749),
    (550, 0.1, 0.148, 0.514, 0.745),
    (150, 2.0, 0.093, 0.191, 0.744),
    (350, 2.0, 0.023, 0.060, 0.754),
    (550, 2.0, 0.007, 0.018, 0.751),
]


def curves(figure: int) -> pd.DataFrame:
    """Points of Figure 1 to 3 or 5 to 7: the setting (``n``, ``p`` or ``m``, ``epsilon``), ``method``, ``loss``,
    ``mean``.
    """
    same, along, curve = SETTINGS[figure]
    wide = pd.DataFrame(_POINTS[figure], columns=[along, curve, *_LOSSES])
    long = pd.concat(
        wide[[along, curve]].assign(method=method, loss=loss, mean=wide[method, loss]) for method, loss in _LOSSES
    )
    return long.assign(**same).dropna(ignore_index=True)


def figure_4() -> pd.DataFrame:
    """Points of Figure 4: ``n``, ``epsilon``, ``method``, ``mean``."""
    wide = pd.DataFrame(_FIGURE_4, columns=["n", "epsilon", "counts", "MLE", "oneshot"])
    return wide.melt(["n", "epsilon"], var_name="method", value_name="mean")
