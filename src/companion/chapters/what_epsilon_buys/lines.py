"""What the chapter shows in lines that a reader types: what one release makes of an even guess, exactly."""

import numpy as np

__all__ = ["posterior"]


def posterior(scores, if_so, if_not, scale):
    """How sure an even guess becomes that the first sums are behind."""
    likely, shifts = [], np.arange(-500, 501)[:, None]
    for sums in (if_so, if_not):
        noise = np.rint(scores[0] - scores) - (sums - sums[0])
        far = abs(noise + shifts).sum(axis=1)
        likely.append(np.exp(-far / scale).sum())
    return likely[0] / (likely[0] + likely[1])
