"""What the chapter shows in lines that a reader types: a contest at one cell, and who is alike to the best."""

import numpy as np

import dprank

__all__ = ["alike", "contest"]


def contest(methods, people, times, rng):
    """Share of wrong pairs: a row a time, a column a method."""
    lost = np.empty((times, len(methods)))
    for row in lost:
        ballots = people(rng)
        for at, method in enumerate(methods):
            places = np.argsort(method.release(ballots, rng).order)
            row[at] = dprank.kendall_distance(places, np.sort(places))
    return lost / (len(places) * (len(places) - 1) / 2)


def alike(lost):
    """Who loses no more than two standard errors more than the best."""
    mean = lost.mean(axis=0)
    error = lost.std(axis=0, ddof=1) / len(lost) ** 0.5
    best = mean.argmin()
    return mean - mean[best] <= 2 * np.hypot(error, error[best])
