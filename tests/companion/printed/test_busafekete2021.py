"""Busa-Fekete et al. (2021) as printed, against enumeration. Seeded tests fail by chance less than once in 10^6."""

EPSILON, DELTA = 1 / 3, 0.05
ALARM = 1e-6
