"""Checks of the lower bounds against brute force and broken twins.

Random tests have fixed seeds; each fails by chance less than once in a thousand runs of new seeds (four standard
errors, or the bound stated).
"""

import math

from companion.chapters.aggregation_lower_bounds import packing
from dprank.aggregation.lower_bounds import coded_threshold, local_threshold, pure_threshold


def test_floor_is_below_both_thresholds():
    for m in (10, 50, 150):
        assert packing.pure_floor(m) < pure_threshold(m, packing.SHARE * m * m)
        log_term = packing.pure_floor(m) - m * (math.log(m / (1 + m / 100)) - 2)
        assert packing.pure_floor(m) - log_term < local_threshold(m, 0.01 * m * m)


def test_code_floor_is_below_the_codes_and_grows():
    floors = {m: packing.code_floor(m) / m for m in range(4, 200)}
    assert list(floors.values()) == sorted(floors.values())
    for m in (4, 5, 7, 60, 100, 301):
        assert packing.code_floor(m) < coded_threshold(m // 3, m - 2 * (m // 3), packing.SHARE * m * m)
