"""The yardsticks measure: each accepts the truth and rejects a near miss. False alarms: one in a million a check."""

import numpy as np
import pytest
from checks import certified_epsilon, each, law_p_value, refused

ALARM = 1e-6


def test_law_p_value_is_uniform_under_the_law_and_tiny_beside_it():
    rng = np.random.default_rng(1)
    law = np.array([0.5, 0.3, 0.15, 0.05, 1e-5])
    p = [law_p_value(rng.multinomial(1000, law / law.sum()), law / law.sum()) for _ in range(2000)]
    assert abs(np.mean(np.array(p) < 0.1) - 0.1) < 5 * np.sqrt(0.09 / 2000)
    assert law_p_value(rng.multinomial(5000, law[[1, 0, 2, 3, 4]] / law.sum()), law / law.sum()) < ALARM
    assert law_p_value([10, 10, 1], [0.5, 0.5, 0.0]) == 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_certified_epsilon_is_below_the_truth_and_near_it(epsilon):
    keep = 1 / (1 + np.exp(-epsilon))
    rng = np.random.default_rng(2)
    yes = rng.binomial(20_000, [keep, 1 - keep], (200, 2))
    bounds = [certified_epsilon([a, 20_000 - a], [b, 20_000 - b], 0.05) for a, b in yes]
    assert np.mean(np.array(bounds) > epsilon) < 0.05
    assert np.mean(bounds) > 0.8 * epsilon
    assert certified_epsilon([1000, 0], [0, 1000], ALARM) > 3


def test_each_tries_all_cases_and_names_the_one_that_fails(tmp_path):
    tried = []

    @each("base", [2, 3])
    @each(("power", "tried_before"), lambda: [(p, len(tried)) for p in (1, 5)])
    def test(tmp_path, base, power, tried_before):
        assert tried_before % 2 == 0
        tried.append(base**power)
        assert tmp_path.exists()
        assert base**power < 200

    with pytest.raises(AssertionError) as caught:
        test(tmp_path=tmp_path)
    assert tried == [2, 32, 3, 243]
    assert caught.value.__notes__ == ["power = 5, tried_before = 2", "base = 3"]
    with pytest.raises(AssertionError, match="no cases"):
        each("base", [])(lambda base: None)()


def test_refused_wants_a_refusal():
    with refused("scale", "above 0"):
        raise ValueError("scale = 0; allowed: above 0")
    for message in ("scale = 0", "scale = 0;\nallowed: above 0"):
        with pytest.raises(AssertionError), refused("scale", "above 0"):
            raise ValueError(message)
    with pytest.raises(pytest.fail.Exception), refused("scale"):
        pass
    with pytest.raises(AssertionError, match="block of `with`"):
        refused("scale", lambda: None)
