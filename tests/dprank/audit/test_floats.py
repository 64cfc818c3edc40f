"""Seeds are fixed; nothing here can raise a false alarm."""

import itertools

import numpy as np
import pytest
from checks import each

from dprank.audit import floats


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.7, 1e3])
def test_the_replica_is_numpys_laplace_to_the_last_bit(scale):
    drawn = np.random.default_rng(1).laplace(0.0, scale, 100_000)
    again = floats.laplace_of(np.random.default_rng(1).random(100_000), scale)
    assert np.array_equal(drawn.view(np.int64) & (2**63 - 1), again.view(np.int64) & (2**63 - 1))
    assert np.array_equal(drawn, again)


@each(("count", "scale"), [*itertools.product([0, 1, 5, 100, -3], [0.5, 1.0, 10.0])])
@pytest.mark.slow
def test_what_was_published_is_possible(count, scale):
    assert floats.possible(count + np.random.default_rng(2).laplace(0.0, scale, 20_000), count, scale).all()


@pytest.mark.slow
def test_what_was_ruled_out_is_never_published_by_the_neighbour():
    outputs = np.random.default_rng(3).laplace(0.0, 1.0, 200_000)
    betrayed = outputs[~floats.possible(outputs, 1.0, 1.0)]
    assert len(betrayed) > 100_000
    assert not np.isin(betrayed, 1.0 + np.random.default_rng(4).laplace(0.0, 1.0, 500_000)).any()


def test_outputs_near_the_value_and_in_the_far_tail():
    uniforms = np.r_[np.arange(1, 6), floats.GRID / 2 + np.arange(-5, 6), floats.GRID - np.arange(1, 6)] / floats.GRID
    for count, scale in itertools.product((0.0, 1.0, 7.0), (0.1, 1.0, 10.0)):
        assert floats.possible(count + floats.laplace_of(uniforms, scale), count, scale).all()


@pytest.mark.slow
def test_a_wider_window_finds_no_more(monkeypatch):
    outputs = [(c, s, c + np.random.default_rng(c).laplace(0.0, s, 3000)) for c in (0, 5, 100) for s in (1.0, 10.0)]
    narrow = [floats.possible(y, c + 1.0, s) for c, s, y in outputs]
    monkeypatch.setattr(floats, "_MARGIN", 40.0)
    wide = [floats.possible(y, c + 1.0, s) for c, s, y in outputs]
    assert all(np.array_equal(a, b) for a, b in zip(narrow, wide, strict=True))


def test_doubles_that_no_uniform_gives():
    # noise above 1 is a multiple of 2^-52, and the release near 0 keeps its last bits
    assert not floats.possible([2.0**-60], 1.0, 1.0)[0]
    # beyond the least uniform there is no noise
    assert not floats.possible([40.0, -40.0, 37.0], 0.0, 1.0).any()


@pytest.mark.parametrize(
    ("outputs", "value", "scale", "words"),
    [
        ([[1.0]], 0.0, 1.0, "outputs"),
        ([np.nan], 0.0, 1.0, "outputs"),
        ([1.0], 0.0, 0.0, "scale"),
        ([1.0], "a", 1.0, "value"),
    ],
)
def test_refused(outputs, value, scale, words):
    with pytest.raises(ValueError, match=words):
        floats.possible(outputs, value, scale)


def test_windows_too_long_to_search_are_refused():
    with pytest.raises(ValueError, match="uniforms may round to one of the outputs"):
        floats.possible(np.array([1e6]), 1e6, 1e-3)
