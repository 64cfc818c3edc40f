"""What looks like a bug in selections and is none. Seeds are fixed; an alarm has chance 1e-3."""

from dataclasses import replace

import numpy as np

from companion.chapters.privacy_audited.mutants import topk

#: Rounding of quadratures, relative.
ROUNDING = 1e-9


def test_noise_reused_over_rounds_is_harmless_where_losses_add_up():
    mutant = topk.harmless()
    assert 0 < mutant.exact_epsilon() <= mutant.guarantee.epsilon * (1 + ROUNDING)
    for draw in (mutant.sample, mutant.twin):
        assert not replace(mutant, sample=draw).bet(np.random.default_rng(1), budget=50_000).refuted
