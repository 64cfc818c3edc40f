"""Seeds are fixed, except for `SECURE`, which has none: each of its checks raises a false alarm once in ALARM_SECURE
runs. ALARM: the chance that a fixed seed was unlucky, and the level at which every mutant must be caught."""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from checks import doubted, each, law_p_value, refused
from scipy import stats

from dprank import NoisyMatrix, Oneshot, Peeling, Rankings
from dprank.data.counting import GRAIN
from dprank.pairwise import NoisyCounts
from dprank.privacy import noise

ALARM = 1e-6
ALARM_SECURE = 1e-9
DRAWS = 100_000


def law_of(scale):
    """Cells -reach .. reach with the two tails in the outermost, from the geometric series."""
    reach = int(12 * scale) + 3
    ratio = np.exp(-1 / scale)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1.0))
    law[[0, -1]] = ratio**reach / (1 + ratio)
    return law


def p_value(draws, scale):
    law = law_of(scale)
    reach = len(law) // 2
    return law_p_value(np.bincount(np.clip(draws, -reach, reach) + reach, minlength=len(law)), law)


@pytest.mark.parametrize("scale", [0.1, 0.5, 1.0, 7.5, 60.0])
def test_discrete_laplace_has_its_law(scale):
    draws = noise.discrete_laplace(scale, DRAWS, rng=np.random.default_rng(3))
    assert draws.dtype == np.int64
    assert p_value(draws, scale) > ALARM
    ratio = np.exp(-1 / scale)
    squares = draws.astype(float) ** 2
    assert abs(squares.mean() - 2 * ratio / (1 - ratio) ** 2) <= 5 * squares.std() / np.sqrt(DRAWS)
    assert abs(draws.mean()) <= 5 * draws.std() / np.sqrt(DRAWS)


MUTANTS = {
    "half the scale": lambda s, n, rng: noise.discrete_laplace(s / 2, n, rng=rng),
    "a twentieth off": lambda s, n, rng: noise.discrete_laplace(s * 1.05, n, rng=rng),
    "rounded": lambda s, n, rng: np.rint(rng.laplace(0, s, n)).astype(int),
    "truncated": lambda s, n, rng: np.trunc(rng.laplace(0, s, n)).astype(int),
    "one-sided": lambda s, n, rng: rng.geometric(-np.expm1(-1 / s), n) - 1,
    "zero twice": lambda s, n, rng: (rng.geometric(-np.expm1(-1 / s), n) - 1) * rng.choice([-1, 1], n),
    "zero never": lambda s, n, rng: rng.geometric(-np.expm1(-1 / s), n) * rng.choice([-1, 1], n),
    "clipped": lambda s, n, rng: np.clip(noise.discrete_laplace(s, n, rng=rng), -4, 4),
    "normal": lambda s, n, rng: np.rint(rng.normal(0, s * np.sqrt(2), n)).astype(int),
}


@each("mutant", MUTANTS)
def test_a_broken_sampler_is_caught(mutant):
    assert p_value(MUTANTS[mutant](1.5, DRAWS, np.random.default_rng(3)), 1.5) < ALARM


@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_secure_noise_has_the_same_law(scale):
    """A scale that is a twentieth off is caught 98 times in 100, by 100,000 draws that the first ones ask for."""

    def chance(size):
        return p_value(noise.discrete_laplace(scale, size, rng=noise.SECURE), scale)

    assert doubted(chance, 10_000 if scale < 1 else 20_000, DRAWS) > ALARM_SECURE


@pytest.mark.parametrize(
    ("found", "fit"),
    [(v, False) for v in ("0.9.2", "0.14.0", "0.14.1", "0.14.2.dev3")]
    + [(v, True) for v in ("0.14.2", "0.15.0.dev1", "0.16", "1.0.0")],
)
def test_an_opendp_that_draws_wrong_laws_is_refused(monkeypatch, found, fit):
    noise._opendp.cache_clear()
    monkeypatch.setattr("importlib.metadata.version", lambda name: found)
    for release in (noise.SECURE.discrete_laplace, noise.SECURE.discrete_gaussian):
        if fit:
            release(1.0, 2)
            continue
        with pytest.raises(ImportError, match=rf"^secure noise needs OpenDP 0\.14\.2 or newer, this is {found}:.*$"):
            release(1.0, 2)
    noise._opendp.cache_clear()


def test_seeded_noise_stays_what_it_is():
    """Records rest on it: on how many numbers are drawn at once, and on which of them are kept."""
    for scale, drawn in ((0.3, [0, 0, 0, 0, 0, 0]), (1.5, [1, 0, 0, 1, -1, 1]), (2.0, [-2, 0, 1, -1, 0, -6])):
        assert noise.discrete_gaussian(scale, 6, rng=np.random.default_rng(1)).tolist() == drawn
    assert noise.geometric(1.5, 6, rng=np.random.default_rng(1)).tolist() == [1, 2, 0, 4, 0, 0]
    assert noise.geometric(1.5, 0, rng=np.random.default_rng(1)).tolist() == []
    with refused("size = -1"):
        noise.geometric(1.5, -1, rng=np.random.default_rng(1))


def geometric_p_value(draws, scale):
    cells = np.exp(-np.arange(int(12 * scale) + 3) / scale)
    return law_p_value(np.bincount(np.minimum(draws, len(cells) - 1), minlength=len(cells)), -np.diff(cells, append=0))


@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_geometric_noise_has_its_law(scale):
    draws = noise.geometric(scale, DRAWS, rng=np.random.default_rng(4))
    assert (len(draws), draws.dtype, draws.min()) == (DRAWS, np.int64, 0)
    assert geometric_p_value(draws, scale) > ALARM > geometric_p_value(draws, 1.05 * scale)
    mutant = np.abs(noise.discrete_laplace(scale, DRAWS, rng=np.random.default_rng(4)))
    assert geometric_p_value(mutant, scale) < ALARM
    assert geometric_p_value(noise.geometric(scale, 5000, rng=noise.SECURE), scale) > ALARM_SECURE
    assert noise.geometric(0.0, 3, rng=noise.SECURE).tolist() == [0, 0, 0]


def test_peeling_takes_one_after_the_other():
    values = np.array([50, 10, 40, -30])
    for law in ("gumbel", "exponential"):
        assert noise.SECURE.peel(values, 3, 0.5, law, largest=True).tolist() == [0, 2, 1]
        assert noise.SECURE.peel(values, 3, 0.5, law, largest=False).tolist() == [3, 1, 2]


@pytest.mark.parametrize(("law", "best"), [("gumbel", 1 / (1 + math.exp(-1))), ("exponential", 1 - math.exp(-1) / 2)])
def test_peeling_has_the_law_of_its_noise(law, best):
    """Two values that are one scale apart: the exponential mechanism, and permute-and-flip."""

    def chance(size):
        first = [noise.SECURE.peel(np.array([0, 2]), 1, 2.0, law, largest=True)[0] for _ in range(size)]
        return law_p_value([size - sum(first), sum(first)], [1 - best, best])

    assert doubted(chance, 500, 1500) > ALARM_SECURE


def test_secure_draws_are_apart_and_never_the_same():
    a, b = noise.discrete_laplace(2.0, (2, 2000), rng=noise.SECURE)
    signs = np.bincount(3 * (np.sign(a) + 1) + np.sign(b) + 1, minlength=9)
    centre = law_of(2.0)[len(law_of(2.0)) // 2]
    sign = np.array([(1 - centre) / 2, centre, (1 - centre) / 2])
    assert law_p_value(signs, np.outer(sign, sign)) > ALARM_SECURE
    assert (a != b).any()


def test_secure_orders_are_uniform():
    orders = [noise.SECURE.permutation(3) for _ in range(3000)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert law_p_value(counts, np.full(6, 1 / 6)) > ALARM_SECURE


@each("score", GRAIN)
@each("epsilon", [0.1, 1.0, 3.7])
def test_opendp_s_own_accountant_agrees(score, epsilon):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=4, per_person=3, score=score)
    grain = GRAIN[score]
    space = dp.vector_domain(dp.atom_domain(T="i64"), 4), dp.l1_distance(T="i64")
    loss = dp.m.make_laplace(*space, mechanism.scale / grain).map(int(mechanism.sensitivity / grain))
    assert loss == pytest.approx(mechanism.guarantee.epsilon, rel=1e-12)


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_continuous_laplace_has_its_law(scale):
    draws = noise.laplace(scale, DRAWS, rng=np.random.default_rng(5))
    assert stats.kstest(draws, stats.laplace(scale=scale).cdf).pvalue > ALARM
    assert stats.kstest(draws, stats.laplace(scale=scale * 1.05).cdf).pvalue < ALARM
    assert stats.kstest(draws, stats.norm(scale=scale * np.sqrt(2)).cdf).pvalue < ALARM


@pytest.mark.parametrize("draw", [noise.laplace, noise.discrete_laplace])
def test_seeds_shapes_and_no_noise(draw):
    first, again, other = (draw(2.0, (3, 4), rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert first.shape == (3, 4)
    assert not draw(0.0, (2, 2), rng=np.random.default_rng(1)).any()


def test_secure_without_noise_and_without_numbers():
    assert not noise.discrete_laplace(0.0, 3, rng=noise.SECURE).any()
    assert noise.discrete_laplace(1.0, (0, 3), rng=noise.SECURE).shape == (0, 3)
    assert repr(noise.SECURE) == "dprank.SECURE"


@each("draw", [noise.laplace, noise.discrete_laplace])
@each("scale", [-1.0, np.inf, np.nan])
def test_refuses_a_scale(draw, scale):
    with refused(f"scale = {scale}", "at least 0"):
        draw(scale, 3, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("draw", "rng"), [(noise.laplace, noise.SECURE), (noise.laplace, 5), (noise.discrete_laplace, 5)]
)
def test_refuses_a_source(draw, rng):
    with refused("rng = 5" if rng == 5 else "rng = <SecureSource>", "numpy.random.Generator"):
        draw(1.0, 3, rng=rng)


@pytest.mark.parametrize("scale", [1e15, 1e19, 1e30])
def test_great_scales_are_obeyed_or_refused(scale):
    """A generator that saturates at 2^63 would take noise from itself and leave none."""
    try:
        draws = noise.discrete_laplace(scale, 1000, rng=np.random.default_rng(0))
    except ValueError as error:
        assert "scale" in str(error)  # noqa: PT017
    else:
        typical = float(np.median(np.abs(draws.astype(float))))
        assert typical > scale / 2


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_draw_is_the_sampler_of_that_name(kind):
    for law, sampler in (("discrete", f"discrete_{kind}"), ("continuous", kind)):
        one = noise.draw(kind, law, 1.5, (3, 4), rng=np.random.default_rng(1))
        assert (one == getattr(noise, sampler)(1.5, (3, 4), rng=np.random.default_rng(1))).all()
    for names in (("cauchy", "discrete"), (kind, "rounded")):
        with refused("allowed are"):
            noise.draw(*names, 1.0, 3, rng=np.random.default_rng(1))


@pytest.mark.parametrize("draw", [noise.discrete_laplace, noise.discrete_gaussian, noise.geometric])
def test_the_widest_noise_is_drawn_and_nothing_wider(draw):
    rng = np.random.default_rng(0)
    assert noise.WIDEST == 2**50
    assert np.abs(draw(2.0**50, 200, rng=rng)).max() > 2**50
    with refused("scale = ", "2^50"):
        draw(np.nextafter(2.0**50, np.inf), 1, rng=rng)


def test_best_first_falls_and_breaks_ties_by_chance():
    scores = np.array([3.0, 7.0, 3.0, -1.0, 3.0])
    orders = [noise.best_first(scores, np.random.default_rng(seed)).tolist() for seed in range(600)]
    assert {(order[0], order[-1]) for order in orders} == {(1, 3)}
    _, counts = np.unique([order[1:4] for order in orders], axis=0, return_counts=True)
    assert len(counts) == 6
    assert law_p_value(counts, np.full(6, 1 / 6)) > ALARM


@each(("grain", "widest"), [({}, 2.0**50), ({"grain": 0.5}, 2.0**49), ({"grain": 2.0}, 2.0**51)])
def test_an_epsilon_is_refused_where_its_noise_is_wider_than_2_to_the_50_steps(grain, widest):
    """Of whole steps, unless told; wider draws on a finer grid would not fit 64 bits."""
    assert noise.require_drawable(0.3, widest, **grain) == widest
    with refused("epsilon = 0.3", "1.126e+15" if not grain else "can be"):
        noise.require_drawable(0.3, math.nextafter(widest, math.inf), **grain)
    # what is no float is no noise on the line
    assert noise.require_drawable(0.3, 1e300, "continuous", **grain) == 1e300
    for law in ("discrete", "continuous"):  # said in words: no number is named where none was found
        with refused("epsilon = 0.3; so small that no noise is wide enough for it"):
            noise.require_drawable(0.3, math.inf, law, **grain)


@dataclass(frozen=True)
class Part:
    """A mechanism as `drawn_exactly` sees one."""

    for_publication = True
    law: str = "discrete"
    sensitivity: float = 1.0
    noise: str = "laplace"
    exact_noise: tuple[str, ...] = ("laplace", "gumbel")
    part: object = None


class Research(Part):
    """An heir that does not say that it is for publication, and draws by itself."""

    def release(self, data: object, rng: "np.random.Generator") -> None:
        """A seeded generator alone is taken; what comes out is looked at nowhere."""


def test_coins_of_the_system_are_for_what_hides_all_digits_and_only_for_that():
    """All ways to fail, alone and together, in the mechanism and in a part of it: one is enough."""
    for law, sensitivity, kind in product(
        ("discrete", "continuous"), (1, 2.0, 0.5, 1.5), ("laplace", "gumbel", "other")
    ):
        fit = law == "discrete" and sensitivity % 1 == 0 and kind != "other"
        made = Part(law, sensitivity, kind)
        assert noise.drawn_exactly(made) == noise.drawn_exactly(Part(part=made)) == fit
        assert noise.drawn_exactly(replace(made, part=Part())) == fit
        assert not noise.drawn_exactly(replace(made, part=Part("continuous")))
        assert not noise.drawn_exactly(Research(law, sensitivity, kind))
    assert not noise.drawn_exactly(Part(part=Research()))
    assert noise.drawn_exactly(replace(Part(), part="of no fields"))


def test_what_has_no_fields_is_no_mechanism_with_exact_parameters():
    """Asked of any part, and answered, not raised."""
    for part in (object(), 3, None, "a text"):
        assert not noise.exact_parameters(part)


@each(
    ("mechanism", "fit"),
    [
        (Oneshot(2, 4.0, n_items=3), True),
        (Oneshot(2, 4.0, n_items=3, sensitivity=2.0), True),
        (Oneshot(2, 4.0, n_items=3, sensitivity=1.5), False),
        (Peeling(2, 4.0, "gumbel", n_items=3), True),
        (Peeling(2, 4.0, "laplace", n_items=3), False),
        (NoisyMatrix(3, 4.0), True),
        (NoisyMatrix(3, 4.0, law="continuous"), False),
    ],
)
def test_what_is_said_of_coins_is_what_a_release_does(mechanism, fit):
    data = [3, 2, 1] if not isinstance(mechanism, NoisyMatrix) else Rankings([[0, 1, 2]], "abc")
    assert noise.drawn_exactly(mechanism) == fit
    if fit:
        assert mechanism.release(data, noise.SECURE).source == "operating system"
    else:
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            mechanism.release(data, noise.SECURE)
