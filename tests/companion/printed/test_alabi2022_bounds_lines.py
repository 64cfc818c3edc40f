"""What the chapter prints of the lower bounds' map is the map of the library, for every vector of signs; exactly."""

from __future__ import annotations

from itertools import product

import numpy as np
from checks import each

from companion.printed.alabi2022_bounds_lines import ranking_of_signs, signs_of_ranking
from dprank.aggregation.lower_bounds import embed, signs


@each(("d", "t"), [(1, 0), (2, 1), (3, 4), (5, 2)])
def test_the_map_and_its_inverse(d: int, t: int) -> None:
    every = np.array(list(product((-1, 1), repeat=d)))
    made = np.array([ranking_of_signs(x, t) for x in every])
    assert (made == embed(every, t, convention="formula")).all()
    read = np.array([signs_of_ranking(pi, d) for pi in made])
    assert (read == signs(made, d)).all()
    assert (read == -every).all(), "the formula turns every sign"


def test_rho_of_all_rankings() -> None:
    rankings = np.random.default_rng(42).permuted(np.tile(np.arange(9), (200, 1)), axis=1)
    assert ([signs_of_ranking(pi, 3).tolist() for pi in rankings]) == signs(rankings, 3).tolist()
