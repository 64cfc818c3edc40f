"""Whole numbers where privacy is computed: the least and the largest that are allowed are said; none beyond them is."""

import numpy as np
import pytest
from checks import each, refused

import dprank
from dprank.aggregation.randomisers import SampledOrder, SplitResponse
from dprank.pairwise.perturbed_mle import objective_loss
from dprank.privacy.composition import advanced, basic, epsilon_per_round, optimal, optimal_delta, rho, total_epsilon
from dprank.privacy.conditioned import conditioned_laplace, conditioned_variance
from dprank.privacy.cube import cube_law, cube_noise
from dprank.privacy.divergence import whole_noise
from dprank.privacy.noise import geometric
from dprank.privacy.randomized_response import bit_loss, flips_for, randomise

RNG = np.random.default_rng(5)
FAIR, MOST = 1 << 52, 1 << 53
#: Name, least, largest, and the call.
ENDS = [
    ("size", 0, 10**8, lambda x: geometric(3.0, x, rng=RNG)),
    ("flips", 1, FAIR, bit_loss),
    ("bits", 1, 1 << 106, lambda x: bit_loss(FAIR // 2, x)),
    ("bits", 1, 1 << 106, lambda x: flips_for(1.0, x)),
    ("flips", 0, MOST, lambda x: randomise(np.ones(3, np.int8), x, RNG)),
    ("n", 2, 10**8, lambda x: conditioned_laplace(0.0, x, 0, rng=RNG)),
    ("size", 0, 33_333_333, lambda x: conditioned_laplace(0.0, 3, x, rng=RNG)),
    ("n", 2, 10**8, lambda x: conditioned_variance(1.0, x)),
    ("n", 1, 10_000, lambda x: cube_noise(0.0, x, 1, rng=RNG)),
    ("size", 0, 33_333_333, lambda x: cube_noise(0.0, 3, x, rng=RNG)),
    ("n", 1, 10_000, lambda x: cube_law(0.002, x)),
    ("k", 0, MOST, lambda x: basic(x, 0.1)),
    ("k", 0, MOST, lambda x: advanced(x, 0.1, 0.01)),
    ("k", 1, 2 * 10**7, lambda x: optimal_delta(x, 0.1, 0.0)),
    ("k", 1, 2 * 10**7, lambda x: optimal(x, 0.1, 0.01)),
    ("k", 0, 1 << 106, lambda x: rho(x, 0.1)),
    ("k", 0, MOST, lambda x: total_epsilon("basic", x, 0.1)),
    ("k", 1, 2 * 10**7, lambda x: epsilon_per_round("basic", x, 1.0)),
    ("reach", 0, 1 << 26, lambda x: whole_noise("laplace", 1.0, x)),
    ("n_items", 2, MOST, lambda x: dprank.NoisyNorm(x, 9, 4.0)),
    ("n_voters", 2, MOST, lambda x: dprank.NoisyNorm(3, x, 4.0)),
    ("steps", 1, 10_000, lambda x: dprank.NoisyNorm(3, 9, 4.0, statistic="ranks", steps=x)),
    ("null_draws", 1, 10**7, lambda x: dprank.NoisyNorm(3, 9, 4.0, statistic="ranks", size=0.5, null_draws=x)),
    ("n_items", 2, MOST, lambda x: dprank.NoisyCounts(x, 4.0)),
    ("per_person", 1, MOST, lambda x: dprank.NoisyCounts(3, 4.0, per_person=x)),
    ("max_weight", 1, 1 << 20, lambda x: dprank.NoisyCounts(3, 4.0, max_weight=x)),
    ("repetitions", 0, MOST, lambda x: dprank.NoisyCounts(3, 4.0).perturb([2, 0, -2], RNG, repetitions=x)),
    ("per_person", 1, MOST, lambda x: objective_loss(4.0, 1.0, per_person=x)),
    ("n_items", 2, MOST, lambda x: dprank.PerturbedMLE(x, 4.0, 1.0, graph="public")),
    ("per_person", 1, MOST, lambda x: dprank.PerturbedMLE(3, 4.0, 1.0, graph="public", per_person=x)),
    ("n_voters", 1, MOST, lambda x: dprank.NoisyMatrix(3, 4.0).additive_error(x)),
    ("n_voters", 1, MOST, lambda x: dprank.PrivateBorda(3, 4.0).additive_error(x)),
    ("n_items", 2, MOST, lambda x: SplitResponse(x, 9)),
    ("flips", 1, FAIR - 1, lambda x: SplitResponse(3, x)),
    ("length", 2, 4, lambda x: SampledOrder(4, x, 9)),
    ("kept", 1, MOST - 1, lambda x: SampledOrder(4, 3, x)),
    ("n_items", 2, MOST, lambda x: SampledOrder.calibrated(epsilon=1.0, n_items=x)),
    ("length", 2, 4, lambda x: SampledOrder.calibrated(epsilon=1.0, n_items=4, length=x)),
    ("n_items", 2, MOST, lambda x: SplitResponse.calibrated(epsilon=1.0, n_items=x)),
    ("per_person", 1, 10**7, lambda x: dprank.Oneshot(2, 4.0, per_person=x)),
]


@pytest.mark.filterwarnings("ignore:epsilon")
@each(("name", "least", "most", "call"), ENDS)
def test_the_least_is_allowed_and_nothing_beyond_either_end(name, least, most, call):
    call(least)
    allowed = f"of at least {least}" if most == MOST else f"from {least} to {most}"
    with refused(f"{name} = {least - 1}; an integer {allowed} is needed"):
        call(least - 1)
    with refused(f"{name} = {most + 1}; an integer from {least} to {most} is needed"):
        call(most + 1)
