"""Guarantees, noise, randomized response, and what losses add up to."""
