"""Exact noise in bulk: its chances are held against the law to 150 bits.

A test of draws, which have no seed, denies a right law once in 1 / ALARM_SECURE runs.
"""

import math
import tracemalloc
from fractions import Fraction

import flint
import numpy as np
import pytest
from checks import each, law_p_value
from fed_bits import BITS, reached
from scipy import stats

from dprank.privacy import bulk, noise

ALARM_SECURE = 1e-9
#: Below, between and above powers of 2 and of the digits; the widest, and one of which 0 is nearly certain.
SCALES = [0.02, 0.3, 1.0, 7.3, 16.0, 100.0, 4097.5, 1e6, 2.0**50]
#: What is found to differ from the law is less: 150 bits.
NEAR = Fraction(1, 1 << 150)
POINT = 320


@pytest.fixture(autouse=True)
def many_bits():
    with flint.ctx.workprec(600):
        yield


def ball(number):
    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def fraction(value):
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def weight(loss, scale):
    return (-ball(loss) / ball(scale)).exp()


def masses(table, many):
    """Chances of 0 .. many - 1 by the bounds of a table, which are narrow."""
    low, high = table._bounds(POINT)
    for below, above in zip(low[:many], high[:many], strict=True):
        assert above - below < 1 << POINT - 160 or above == 1 << POINT
    edges = [Fraction(0), *(Fraction(a + b, 2 << POINT) for a, b in zip(low, high, strict=True)), Fraction(1)]
    return [edges[j + 1] - edges[j] for j in range(min(many, len(edges) - 1))]


def geometric_mass(scale, g):
    """The chance of g by the digits that are drawn, and by the law."""
    chance, left, digits = Fraction(1), g, bulk._digits(scale)
    for place, (shift, table) in enumerate(digits):
        here = left >> shift
        if place + 1 < len(digits):
            here &= (1 << digits[place + 1][0] - shift) - 1
        left -= here << shift
        found = masses(table, here + 1)
        chance *= found[here]
    assert left == 0
    return chance, fraction((1 - weight(1, scale)) * weight(g, scale))


def numbers(scale):
    """Small ones, some that have all digits, and the last that a table of 64 bits has."""
    return sorted({0, 1, 2, *(int(scale * x) for x in (0.1, 0.9, 1.7, 5.3, 20.0))})


@pytest.mark.slow
@each("scale", SCALES)
def test_digits_have_the_law_together(scale):
    for g in numbers(scale):
        found, law = geometric_mass(scale, g)
        assert abs(found - law) < NEAR * max(law, Fraction(1, 1 << 100))


def test_the_sum_of_digits_is_what_their_chances_say(monkeypatch):
    """Each digit a number of its own: it counts as much as its shift says, and none is left out."""
    for scale in SCALES:
        digits = bulk._digits(scale)
        shifts = [shift for shift, _ in digits]
        assert shifts[0] == 0
        assert shifts == sorted(set(shifts))

        def draw(place, size):
            return np.full(size, place + 1)

        fixed = [(shift, type("Digit", (), {"draw": staticmethod(lambda n, p=p: draw(p, n))}))
                 for p, (shift, _) in enumerate(digits)]  # fmt: skip
        monkeypatch.setattr(bulk, "_digits", lambda scale, fixed=fixed: fixed)
        assert bulk._geometric(scale, 2).tolist() == [sum((p + 1) << shift for p, shift in enumerate(shifts))] * 2
        monkeypatch.undo()


@each("scale", SCALES)
def test_every_digit_is_cut_where_its_law_says(scale):
    for place, (shift, table) in enumerate(bulk._digits(scale)):
        last = place + 1 == len(bulk._digits(scale))
        values = None if last else 1 << bulk._digits(scale)[place + 1][0] - shift
        total = ball(1) if last else 1 - weight(values << shift, scale)
        for j in (0, 1, 6, (values or 8) - 2):
            edge = math.ceil(fraction((1 - weight((j + 1) << shift, scale)) / total) * 2**BITS)
            if j >= 0 and edge < 2 ** (BITS) - 2**50:
                assert reached(table, edge - 2**30) == j
                assert reached(table, edge + 2**30) == j + 1
        assert values is None or reached(table, 2**BITS - 1) == values - 1


@each("scale", SCALES)
def test_the_sign_is_cut_where_its_law_says(scale):
    edge = math.ceil(fraction(1 / (1 + weight(1, scale))) * 2**BITS)
    assert reached(bulk._negative(scale), max(0, edge - 2**30)) == 0
    if edge + 2**30 < 2**BITS:
        assert reached(bulk._negative(scale), edge + 2**30) == 1


def test_minus_is_one_less(monkeypatch):
    monkeypatch.setattr(bulk, "_geometric", lambda scale, size: np.array([0, 1, 5, 0, 1, 5]))
    monkeypatch.setattr(
        bulk, "_negative", lambda scale: type("Sign", (), {"draw": lambda _, n: np.repeat([0, 1], 3)})()
    )
    assert bulk._laplace(1.0, 6).tolist() == [0, 1, 5, -1, -2, -6]


@each("bits", [8, 20, 64])
@each("scale", [0.3, 2.0, 100.0])
def test_bounds_hold_however_coarse_they_are(bits, scale, monkeypatch):
    """With no bits to spare a bound that is rounded the wrong way is on the wrong side of a chance."""
    monkeypatch.setattr(bulk, "_GUARD", 0)
    falls = [weight(j, scale) for j in range(9)]
    inside(bulk._closed(scale, 1, 8, bits), [(1 - it) / (1 - falls[8]) for it in falls[1:8]], bits)
    inside(bulk._negative(scale)._bounds(bits), [1 / (1 + falls[1])], bits)
    if scale < 10:
        # what ends where its bounds are below 2^GUARD needs some
        monkeypatch.setattr(bulk, "_GUARD", 5)
        inside(bulk._open(scale, 1, bits), [1 - it for it in falls[1:]], bits, ends=False)
        halves = [weight(h * h, 2 * Fraction(scale) ** 2) for h in range(200)]
        chances = [sum(halves[: h + 1], ball(0)) / sum(halves, ball(0)) for h in range(6)]
        bulk._steps.cache_clear()
        inside(bulk._steps(Fraction(scale))._bounds(bits), chances, bits, ends=False)
        bulk._steps.cache_clear()


def inside(bounds, chances, bits, ends=True):
    """Chances are within their bounds; where these have no end, the last are of all that are left out."""
    known = list(zip(*bounds, strict=True))
    if not ends:
        below, above = known.pop()
        assert above == 1 << bits
        assert all(below <= fraction(it) * 2**bits for it in chances[len(known) :])
    assert known
    for (below, above), chance in zip(known, chances, strict=False):
        assert 0 <= below <= fraction(chance) * 2**bits <= above <= 1 << bits


@pytest.mark.slow
@each("step", [Fraction(0.02), Fraction(0.7), Fraction(7.3), Fraction(32), Fraction(63.99)])
def test_steps_have_the_law_of_half_a_gaussian(step):
    width = 2 * step * step
    weights = [weight(h * h, width) for h in range(int(30 * step) + 30)]
    total = sum(weights, ball(0))
    found = masses(bulk._steps(step), int(4 * step) + 2)
    for h, mass in enumerate(found):
        law = fraction(weights[h] / total)
        assert abs(mass - law) < NEAR * max(law, Fraction(1, 1 << 100))
    for h in (0, 1, int(2 * step)):
        edge = math.ceil(fraction(sum(weights[: h + 1], ball(0)) / total) * 2**BITS)
        if edge + 2**40 < 2**BITS:
            assert reached(bulk._steps(step), edge - 2**40) == h
            assert reached(bulk._steps(step), edge + 2**40) == h + 1


def gaussian_parts(scale):
    shift = max(0, math.frexp(scale)[1] - 6)
    return shift, Fraction(scale) / (1 << shift)


@each("scale", [64.0, 100.0, 4097.5, 1e6, 2.0**26 + 1, 2.0**50])
def test_step_and_rest_weigh_what_their_number_does(scale):
    shift, step = gaussian_parts(scale)
    assert 32 <= step < 64
    for h, rest in ((0, 0), (0, 1), (3, (1 << shift) - 1), (600, 1 << shift - 1)):
        x = (h << shift) + rest
        lost = Fraction(h * h) / (2 * step * step) + bulk._rate(h, rest, shift, step)
        assert lost == Fraction(x * x) / (2 * Fraction(scale) ** 2)


@each("scale", [64.0, 100.0, 4097.5, 1e6, 2.0**26 + 1, 2.0**50])
def test_rates_are_bounded(scale):
    """At both ends of what is drawn, and within; narrowly, else fractions would be asked too often."""
    shift, step = gaussian_parts(scale)
    rng = np.random.default_rng(3)
    h = np.r_[0, 0, 1, 2047, 2047, rng.integers(0, 600, 500)]
    rest = np.r_[0, (1 << shift) - 1, 1, 0, (1 << shift) - 1, rng.integers(0, 1 << shift, 500)]
    bounds = zip(*(side.tolist() for side in bulk._rates(h, rest, shift, step)), strict=True)
    for at, (low, high) in enumerate(bounds):
        assert 0 <= low <= bulk._rate(int(h[at]), int(rest[at]), shift, step) * 2**32 <= high
        assert high - low <= 8 + 8 * int(h[at])


class Grid:
    """Words that fill [0, 1) evenly at each look, instead of random ones."""

    def words(self, size, kind):
        bits = 8 * np.dtype(kind).itemsize
        return (
            np.random.default_rng(size).permutation(((2 * np.arange(size) + 1) * 2 ** (bits - 1)) // size).astype(kind)
        )


@each(("h", "rest"), [(0, 0), (0, 255), (7, 100), (100, 255), (600, 255), (500, 200)])
def test_what_is_kept_has_its_chance(h, rest, monkeypatch):
    """To 10^-4, since words lie evenly: a coin that is off by 10^-3 is seen."""
    monkeypatch.setattr(bulk, "fair_words", Grid().words)
    step, shift, size = Fraction(40), 8, 200_000
    kept = bulk._kept(np.full(size, h), np.full(size, rest), shift, step)
    assert kept.mean() == pytest.approx(math.exp(-bulk._rate(h, rest, shift, step)), abs=1e-4)


@each("bits", [1, 3])
def test_what_few_bits_leave_open_fractions_decide(bits, monkeypatch):
    """The same, where nearly every coin needs them; of SECURE."""
    monkeypatch.setattr(bulk, "_COIN", bits)
    step, size = Fraction(3), 4000
    for h, rest in ((1, 3), (3, 7)):
        chance = math.exp(-bulk._rate(h, rest, 3, step))
        kept = int(bulk._kept(np.full(size, h), np.full(size, rest), 3, step).sum())
        assert law_p_value([kept, size - kept], [chance, 1 - chance]) > ALARM_SECURE


def test_a_rate_above_one_and_a_step_far_out_are_decided_by_fractions(monkeypatch):
    """Which 64 bits leave to chance hardly ever."""
    step, size = Fraction(2), 2000
    for h, rest in ((3, 15), (5, 9)):
        rate = bulk._rate(h, rest, 4, step)
        assert rate > 0.4
        kept = int(bulk._kept(np.full(size, h), np.full(size, rest), 4, step).sum())
        assert law_p_value([kept, size - kept], [math.exp(-rate), -math.expm1(-rate)]) > ALARM_SECURE
    asked = []

    def heads(bounds, *_):
        asked.append(bounds(300))
        return True

    monkeypatch.setattr(bulk, "happens", heads)
    far = 1 << 40
    assert bulk._kept(np.array([far]), np.array([1]), 50, Fraction(33)).all()
    (bounds,) = asked
    law = fraction(weight(1, 1 / bulk._rate(far, 1, 50, Fraction(33)))) * 2**300
    assert bounds[0] <= law <= bounds[1]


LAWS = {
    "laplace": (bulk.laplace, lambda s, x: np.exp(-np.abs(x) / s), noise.SecureSource.discrete_laplace),
    "geometric": (bulk.geometric, lambda s, x: np.where(x >= 0, np.exp(-x / s), 0.0), None),
    "gaussian": (bulk.gaussian, lambda s, x: np.exp(-((x / s) ** 2) / 2), noise.SecureSource.discrete_gaussian),
}


def cells(draws, scale, width):
    reach = 40 if scale < 60 else 12
    edge = max(1, int(reach * scale / width))
    return np.bincount(np.clip(draws // width, -edge, edge) + edge, minlength=2 * edge + 1)


def chi_square(name, draws, scale):
    """Of cells as wide as a twentieth of the scale, which are summed."""
    width = max(1, int(scale / 20))
    reach = len(cells(draws[:1], scale, width)) // 2
    x = np.arange(-(reach + 1) * width, (reach + 2) * width)
    with np.errstate(under="ignore"):
        law = cells_of(LAWS[name][1](scale, x), width)[1:-1]
    return law_p_value(cells(draws, scale, width), law / law.sum())


def cells_of(weights, width):
    return weights.reshape(-1, width).sum(axis=1)


@pytest.mark.slow
@each("name", LAWS)
@each("scale", [0.3, 1.0, 7.3, 64.0, 1000.0, 1e5])
def test_draws_have_the_law(name, scale):
    draws = LAWS[name][0](scale, 200_000)
    assert draws.dtype == np.int64
    assert chi_square(name, draws, scale) > ALARM_SECURE


@pytest.mark.slow
@each("name", ["laplace", "gaussian"])
@each("scale", [0.3, 7.3, 300.0, 1e6])
def test_opendp_draws_the_same(name, scale):
    """Two samples, in twenty cells that OpenDP's fills alike."""
    ours, _, theirs = LAWS[name]
    other = theirs(noise.SECURE, scale, bulk.MANY - 1)
    edges = np.unique(np.quantile(other, np.linspace(0, 1, 21)[1:-1]))
    both = ours(scale, 10**5), other
    table = np.array([np.bincount(np.searchsorted(edges, it), minlength=len(edges) + 1) for it in both])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > ALARM_SECURE


def test_from_many_on_noise_is_drawn_here(monkeypatch):
    """And OpenDP is not asked, of whichever door; below it is."""
    monkeypatch.setattr(noise, "_opendp", lambda: pytest.fail("asked"))
    many = bulk.MANY
    for draw in (noise.discrete_laplace, noise.discrete_gaussian, noise.geometric):
        assert draw(3.0, many, rng=noise.SECURE).shape == (many,)
        assert not draw(0.0, many, rng=noise.SECURE).any()
    assert noise.discrete_laplace(3.0, (2, many), rng=noise.SECURE).shape == (2, many)
    monkeypatch.undo()
    monkeypatch.setattr(bulk, "_filled", lambda size, draw: pytest.fail("asked"))
    for draw in (noise.discrete_laplace, noise.discrete_gaussian, noise.geometric):
        assert draw(3.0, 100, rng=noise.SECURE).shape == (100,)


@each("name", LAWS)
@each("size", [0, 1, 65_536, 65_537])
def test_as_many_are_drawn_as_are_asked_for(name, size):
    for scale in (0.3, 100.0):
        assert LAWS[name][0](scale, size).shape == (size,)


def test_draws_that_are_not_kept_are_made_up_for(monkeypatch):
    """In their order, none twice and none left out."""
    monkeypatch.setattr(bulk, "_BLOCK", 4)
    drawn = iter(range(100))
    assert bulk._filled(9, lambda size: np.array([next(drawn) for _ in range(size // 2 + 1)])[:size]).tolist() == [
        *range(9)
    ]


@pytest.mark.parametrize("name", LAWS)
def test_a_draw_takes_at_most_sixteen_bytes(name):
    LAWS[name][0](1e6, 1)
    tracemalloc.start()
    LAWS[name][0](1e6, 10**6)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 16 * 10**6


def test_orders_of_many_are_uniform_and_have_each_once():
    seen = [tuple(bulk.permutation(4).tolist()) for _ in range(6000)]
    _, counts = np.unique(seen, axis=0, return_counts=True)
    assert law_p_value(counts, np.full(24, 1 / 24)) > ALARM_SECURE
    assert np.array_equal(np.sort(noise.SECURE.permutation(2 * bulk.MANY)), np.arange(2 * bulk.MANY))
    assert bulk.permutation(0).tolist() == []


def test_an_order_of_equal_keys_is_drawn_again(monkeypatch):
    keys = iter([[5, 1, 5], [2, 2, 2], [7, 0, 3]])
    monkeypatch.setattr(bulk, "fair_words", lambda n, kind: np.array(next(keys), kind))
    assert bulk.permutation(3).tolist() == [1, 2, 0]


@each("off", [1.001, 0.999])
def test_a_scale_off_by_a_thousandth_is_seen(off, monkeypatch):
    """By the tests above: the law of what is drawn is computed, not estimated."""
    for scale in (0.3, 7.3, 1e6):
        found, law = geometric_mass(scale, int(scale))
        assert abs(found - law) < NEAR
        wrong = geometric_mass(scale * off, int(scale))[0]
        assert abs(wrong - law) > NEAR * 10**30
