"""The law of UNIF's statistic against the binomial one."""

from __future__ import annotations

import numpy as np
import pytest

from companion.chapters.testing_uniformity import pair_statistics
from companion.printed import busafekete2021 as paper


def test_size_at_atoms_finds_the_smallest_counterexample():
    broken = [k for k in range(2, 12) if (lambda f: (f["size"] > f.delta).any())(pair_statistics.size_at_atoms(2, k))]
    assert broken[0] == 7
    frame = pair_statistics.size_at_atoms(2, 7)
    assert frame["size"].iloc[-1] == pytest.approx(2**-6)
    assert paper.unif(2, frame.delta.iloc[-1]).threshold == pytest.approx(7)
    mutant = frame.assign(delta=np.sqrt(frame.delta))  # a threshold that is twice as far
    assert (mutant["size"] <= mutant.delta).all()
