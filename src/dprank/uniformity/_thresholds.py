"""Sizes between which thresholds of tests are sought."""

#: Size from which rounding could keep a search for a threshold from ending.
LARGEST = 1 - 1e-9
#: Least size for which the exact law of Kendall distances, absolute error 1e-12, is asked.
LEAST_EXACT = 1e-10
