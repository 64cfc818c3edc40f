"""Noise: seeded for research, exact and unseeded for releases.

Seeded noise can be reproduced, hence undone, by whoever knows the seed, and floating-point Laplace noise can leak what
it should hide (Mironov 2012). A release of real data therefore takes integer noise from `SECURE`.
"""

from __future__ import annotations

import math
import re
import secrets
import sys
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import (
    MOST_AT_ONCE,
    WrongType,
    require_at_least_0,
    require_generator,
    require_one_of,
    require_whole,
    source_shown,
)
from dprank.privacy import bulk, octaves

__all__ = [
    "OPENDP",
    "SECURE",
    "WIDEST",
    "Law",
    "Noise",
    "SecureSource",
    "Source",
    "best_first",
    "discrete_gaussian",
    "discrete_laplace",
    "draw",
    "drawn_exactly",
    "exact_parameters",
    "gaussian",
    "geometric",
    "laplace",
]

Noise = Literal["laplace", "gaussian"]
Law = Literal["discrete", "continuous"]
#: Widest whole noise: 2^13 scales reach the end of 64-bit integers; a draw gets there with probability exp(-2^13).
WIDEST = 2.0**50
#: The oldest OpenDP that draws the laws it promises: 0.14.0 and 0.14.1 do not.
OPENDP = (0, 14, 2)


class SecureSource:
    """Randomness of the operating system, for releases: it cannot be seeded. OpenDP draws few numbers, we draw many.

    Notes
    -----
    *Whose proofs.* Fewer than `dprank.privacy.bulk.MANY` numbers at a time come from two constructors of OpenDP,
    ``make_laplace`` and ``make_gaussian`` on whole numbers. It puts both under ``contrib``, which is enabled here:
    "constructors that have not passed the vetting process". Its documentation links a proof of each; neither is vetted
    by its own mark. We take draws from them and none of their privacy maps.

    All other proofs are ours, in docstrings, and vetted by nobody else: of many numbers at a time
    (`dprank.privacy.bulk`), of `peel` (`dprank.privacy.octaves`), of what is made of draws (`geometric`,
    `conditioned_laplace`, `tulap`), of what is decided by fair bits (`cube_noise`, `JointExponential`, `randomise`,
    `LocalTopK`, orders), of sensitivities, and of every guarantee. Beside proofs stands a check: each week ten million
    draws of every sampler are held against its law, computed apart (``make samplers``).

    Examples
    --------
    >>> SECURE, SECURE.discrete_laplace(2.0, 3).shape, sorted(SECURE.permutation(3).tolist())
    (dprank.SECURE, (3,), [0, 1, 2])
    """

    def discrete_laplace(self, scale: float, size: int) -> NDArray[np.int64]:
        """Independent integers with P(x) proportional to exp(-abs(x) / scale)."""
        if size >= bulk.MANY:
            return bulk.laplace(scale, size)
        return np.array(_sampler(_opendp(), "laplace", "l1", size, scale)([0] * size), np.int64)

    def discrete_gaussian(self, scale: float, size: int) -> NDArray[np.int64]:
        """Independent integers with P(x) proportional to exp(-x^2 / (2 scale^2))."""
        if size >= bulk.MANY:
            return bulk.gaussian(scale, size)
        return np.array(_sampler(_opendp(), "gaussian", "l2", size, scale)([0] * size), np.int64)

    def peel(
        self, values: NDArray[np.int64], k: int, scale: float, noise: Literal["gumbel", "exponential"], *, largest: bool
    ) -> NDArray[np.int64]:
        """Positions of k noisy maxima (minima, unless `largest`), each taken away before the next; best first.

        Every round draws fresh noise of that `scale`, exactly and without ties. The rounds of Gumbel noise are those
        of the exponential mechanism, and their law is also that of one pass of noise over all values; the rounds of
        exponential noise are permute-and-flip, and theirs is not. Time depends on the values, see
        `dprank.privacy.octaves.peel`, which this is.
        """
        return octaves.peel(values, k, scale, noise, largest=largest)

    def bits(self, n: int) -> int:
        """So many fair bits, as a whole number."""
        return secrets.randbits(n)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniformly random order of 0 .. n - 1."""
        if n < bulk.MANY:
            order = list(range(n))
            secrets.SystemRandom().shuffle(order)
            return np.array(order)
        return bulk.permutation(n)

    def __repr__(self) -> str:
        return "dprank.SECURE"


@cache
def _opendp() -> Any:
    try:  # by its parts: the prelude brings scikit-learn and polars, too, where they are installed
        from opendp import domains, measurements, metrics
        from opendp.mod import enable_features
    except ImportError:
        raise ImportError("secure noise needs OpenDP: pip install opendp") from None
    from importlib.metadata import version

    found, least = version("opendp"), ".".join(map(str, OPENDP))
    final = found.replace(".", "").isdigit()
    if (*map(int, re.findall(r"\d+", found)[:3]), final) < (*OPENDP, True):
        raise ImportError(f"secure noise needs OpenDP {least} or newer, this is {found}: pip install -U opendp")
    enable_features("contrib")
    parts = ModuleType("opendp")
    vars(parts).update(vars(domains) | vars(metrics), m=measurements)
    return parts


@lru_cache(64)
def _sampler(dp: Any, noise: str, distance: str, size: int, scale: float) -> Any:
    """What draws of so many whole numbers: the same object, fresh draws every time."""
    space = dp.vector_domain(dp.atom_domain(T="i64"), size), getattr(dp, f"{distance}_distance")(T="i64")
    return getattr(dp.m, f"make_{noise}")(*space, scale)


#: The source of randomness to pass as ``rng`` when publishing.
SECURE = SecureSource()
Source: TypeAlias = np.random.Generator | SecureSource


def laplace(scale: float, size: Any, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Independent Laplace noise with density exp(-abs(x) / scale) / (2 scale), for research only.

    Parameters
    ----------
    scale : float
        At least 0, finite; 0 gives no noise.
    size : int or tuple of int
    rng : numpy.random.Generator

    Examples
    --------
    >>> draws = laplace(2.0, 10**5, rng=np.random.default_rng(1))
    >>> round(float(np.abs(draws).mean()), 1)  # the scale
    2.0
    """
    scale = require_at_least_0("scale", scale)
    return require_generator(rng, "floating-point noise is for research").laplace(0.0, scale, size)


def discrete_laplace(scale: float, size: Any, *, rng: Source) -> NDArray[np.int64]:
    """Independent integers with P(x) = tanh(1 / (2 scale)) exp(-abs(x) / scale).

    Parameters
    ----------
    scale : float
        At least 0, at most 2^50; 0 gives no noise.
    size : int or tuple of int
    rng : numpy.random.Generator or `SECURE`
        A seeded generator for research, `SECURE` for publishing.

    Notes
    -----
    The difference of two geometric variables with failure probability exp(-1 / scale).

    Examples
    --------
    >>> draws = discrete_laplace(1 / math.log(2), 10**5, rng=np.random.default_rng(1))  # each step halves the chance
    >>> [round(float((draws == x).mean()), 1) for x in (-1, 0, 1)]
    [0.2, 0.3, 0.2]
    """
    scale, shape = _drawable(scale, size, rng)
    if scale == 0:
        return np.zeros(shape, np.int64)
    if isinstance(rng, SecureSource):
        return rng.discrete_laplace(scale, math.prod(shape)).reshape(shape)
    success = -math.expm1(-1 / scale)
    return rng.geometric(success, shape) - rng.geometric(success, shape)


def gaussian(scale: float, size: Any, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Independent Gaussian noise of standard deviation `scale`, for research only.

    Parameters
    ----------
    scale : float
        At least 0, finite; 0 gives no noise.
    size : int or tuple of int
    rng : numpy.random.Generator

    Examples
    --------
    >>> draws = gaussian(2.0, 10**5, rng=np.random.default_rng(1))
    >>> round(float(draws.std()), 1)
    2.0
    """
    scale = require_at_least_0("scale", scale)
    return require_generator(rng, "floating-point noise is for research").normal(0.0, scale, size)


def discrete_gaussian(scale: float, size: Any, *, rng: Source) -> NDArray[np.int64]:
    """Independent integers with P(x) proportional to exp(-x^2 / (2 scale^2)).

    Parameters
    ----------
    scale : float
        At least 0, at most 2^50; 0 gives no noise.
    size, rng
        As in `discrete_laplace`.

    Notes
    -----
    Discrete Laplace draws y of scale t = floor(scale) + 1, each kept with probability
    exp(-(abs(y) - scale^2 / t)^2 / (2 scale^2)) (Canonne, Kamath and Steinke 2020, Algorithm 3); about three in four
    are for large scales.

    Examples
    --------
    >>> draws = discrete_gaussian(2.0, 10**5, rng=np.random.default_rng(1))
    >>> round(float(draws.std()), 1), draws.dtype.kind
    (2.0, 'i')
    """
    scale, shape = _drawable(scale, size, rng)
    if scale == 0:
        return np.zeros(shape, np.int64)
    if isinstance(rng, SecureSource):
        return rng.discrete_gaussian(scale, math.prod(shape)).reshape(shape)
    wide = min(math.floor(scale) + 1, WIDEST)
    kept = np.zeros(0, np.int64)
    while len(kept) < math.prod(shape):
        draws = discrete_laplace(wide, 2 * (math.prod(shape) - len(kept)), rng=rng)
        with np.errstate(over="ignore"):  # of scales next to 0
            accept = np.exp(-((np.abs(draws) / scale - scale / wide) ** 2) / 2)
        kept = np.r_[kept, draws[rng.random(len(draws)) < accept]]
    return kept[: math.prod(shape)].reshape(shape)


def draw(noise: Noise, law: Law, scale: float, size: Any, *, rng: Source) -> NDArray[Any]:
    """Independent noise of either kind: whole numbers, or for research floats.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    law : {"discrete", "continuous"}
    scale : float
        At least 0; finite, and at most 2^50 for whole numbers.
    size : int or tuple of int
    rng : numpy.random.Generator or `SECURE`
        `SECURE` draws whole numbers only.

    Returns
    -------
    ndarray of int or float, shape `size`

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> [draw("laplace", law, 2.0, (2, 3), rng=rng).dtype.kind for law in ("discrete", "continuous")]
    ['i', 'f']
    """
    require_one_of("noise", noise, get_args(Noise))
    require_one_of("law", law, get_args(Law))
    if law == "discrete":
        return (discrete_laplace if noise == "laplace" else discrete_gaussian)(scale, size, rng=rng)
    return (laplace if noise == "laplace" else gaussian)(scale, size, rng=rng)  # type: ignore[arg-type]


def geometric(scale: float, size: int, *, rng: Source) -> NDArray[np.int64]:
    """Independent integers with P(x) = (1 - exp(-1 / scale)) exp(-x / scale) for x >= 0: exponential noise, rounded.

    Parameters
    ----------
    scale : float
        At least 0, at most 2^50; 0 gives no noise.
    size : int
        From 0 to 10^8.
    rng : numpy.random.Generator or `SECURE`

    Notes
    -----
    What `discrete_laplace` draws, as long as it is not negative; of `SECURE`, many at a time, `dprank.privacy.bulk`.

    Examples
    --------
    >>> draws = geometric(1 / math.log(2), 10**5, rng=np.random.default_rng(1))  # each step halves the chance
    >>> int(draws.min()), round(float((draws == 0).mean()), 1)
    (0, 0.5)
    """
    size, draws = require_whole("size", size, 0, MOST_AT_ONCE), np.zeros(0, np.int64)
    if isinstance(rng, SecureSource) and size >= bulk.MANY:
        scale, _ = _drawable(scale, size, rng)
        return bulk.geometric(scale, size) if scale else np.zeros(size, np.int64)
    while len(draws) < size:
        # more than half will do
        more = discrete_laplace(scale, 2 * (size - len(draws)), rng=rng)
        draws = np.r_[draws, more[more >= 0]]
    return draws[:size]


def require_source(rng: Any) -> Source:
    """Refuse what is neither a generator nor `SECURE`.

    Examples
    --------
    >>> require_source(SECURE)
    dprank.SECURE
    >>> require_source(1)
    Traceback (most recent call last):
        ...
    dprank._require.WrongType: rng = 1; a numpy.random.Generator or dprank.SECURE is needed
    """
    if not isinstance(rng, np.random.Generator | SecureSource):
        raise WrongType(f"rng = {source_shown(rng)}; a numpy.random.Generator or dprank.SECURE is needed")
    return rng


def require_drawable(epsilon: float, scale: float, law: Law = "discrete", *, grain: float = 1.0) -> float:
    """Refuse an epsilon so small that its noise, of this scale on a grid of steps of `grain`, could not be drawn.

    Examples
    --------
    >>> require_drawable(1.0, 4.0)
    4.0
    >>> require_drawable(1e-20, 4e20)
    Traceback (most recent call last):
        ...
    ValueError: epsilon = 1e-20; noise of scale 4e+20 would be needed, at most 1.126e+15 can be
    """
    most = WIDEST * grain if law == "discrete" else sys.float_info.max
    if math.isinf(scale):
        raise ValueError(f"epsilon = {epsilon}; so small that no noise is wide enough for it: take a larger one")
    if scale > most:
        raise ValueError(f"epsilon = {epsilon}; noise of scale {scale:.4g} would be needed, at most {most:.4g} can be")
    return scale


def best_first(scores: NDArray[Any], rng: Source) -> NDArray[np.int64]:
    """Item codes by falling score, equal scores in random order.

    Examples
    --------
    >>> best_first(np.array([10, 30, 20]), np.random.default_rng(1)).tolist()
    [1, 2, 0]
    """
    order = require_source(rng).permutation(len(scores))
    return order[np.argsort(-scores[order], kind="stable")]


def drawn_exactly(part: Any) -> bool:
    """Whether `dprank.SECURE` may draw for a mechanism: its class says so, and its parameters and parts allow it.

    A class says so by ``for_publication = True`` in its own body. Who says nothing is not for publication: neither an
    heir, whose noise may be another than its parent's, nor whatever an annotation seems to say.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Count:
    ...     def release(self, data, rng): ...
    >>> @dataclass(frozen=True)
    ... class Said(Count):
    ...     for_publication = True
    >>> class Heir(Said): ...
    >>> drawn_exactly(Count()), drawn_exactly(Said()), drawn_exactly(Heir())
    (False, True, False)
    """
    return type(part).__dict__.get("for_publication") is True and exact_parameters(part)


def exact_parameters(part: Any) -> bool:
    """Whether parameters and parts allow that `dprank.SECURE` draws, whatever the class says of itself.

    Noise on the real line does not, a move of the values that is not whole, noise that is not among a class's
    `exact_noise`, and a part that itself draws and does not say that it is for publication.
    """
    if not is_dataclass(part):
        return False
    noise = getattr(part, "noise", None)
    own = (
        getattr(part, "law", "discrete") == "discrete"
        and getattr(part, "sensitivity", 1) % 1 == 0
        and noise in getattr(part, "exact_noise", (noise,))
    )
    return own and all(_part_exact(value) for it in fields(part) if is_dataclass(value := getattr(part, it.name)))


def _part_exact(part: Any) -> bool:
    draws = hasattr(type(part), "release") or hasattr(type(part), "report")
    return drawn_exactly(part) if draws else exact_parameters(part)


def _drawable(scale: float, size: Any, rng: Any) -> tuple[float, tuple[int, ...]]:
    """Scale and shape of whole noise, once it is known that it can be drawn."""
    scale = require_at_least_0("scale", scale)
    if scale > WIDEST:
        raise ValueError(f"scale = {scale}; above 2^50 the draws would not fit 64 bits")
    require_source(rng)
    return scale, tuple(np.atleast_1d(size).tolist())
