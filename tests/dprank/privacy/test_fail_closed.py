"""Foreign mechanisms, in all spellings: none is for publication unless its own class says so, and none spends."""

import functools
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Any, Optional, Protocol, Union

import numpy as np
import pytest
from checks import refused

import dprank
from dprank.privacy.budget import Budget
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import SECURE, SecureSource, Source, drawn_exactly
from dprank.release import Ranking

#: The names that a source of noise goes by.
Generator = np.random.Generator
VOTES = dprank.Rankings([[0, 1]] * 9, "ab")
BORDA = dprank.PrivateBorda.calibrated(epsilon=0.25, n_items=2)


def _drawn(self, data, rng):
    """What needs floats: with `SECURE` it dies, after the spending."""
    return rng.laplace(0.0, 4.0)


def _with(annotation):
    """A mechanism whose release says this of its source; the word None says nothing."""

    @dataclass(frozen=True)
    class Foreign:
        scale: float = 4.0
        guarantee = Guarantee(0.25)

        def release(self, data, rng):
            return _drawn(self, data, rng)

    if annotation is not None:
        Foreign.release.__annotations__["rng"] = annotation
    return Foreign()


class Asked(Protocol):
    guarantee: Guarantee

    def release(self, data: Any, rng: Any) -> Any: ...


class Plain:
    """No dataclass."""

    guarantee = Guarantee(0.25)
    release = _drawn


@dataclass(frozen=True)
class Explicit(Asked):
    scale: float = 4.0
    guarantee = Guarantee(0.25)

    def release(self, data: Any, rng: Any) -> Any:
        return _drawn(self, data, rng)


class Heir(dprank.PrivateBorda):
    """Nothing is its own."""


class Floats(dprank.PrivateBorda):
    def release(self, data: Any, rng: Source) -> Any:
        return _drawn(self, data, rng)


class Louder(dprank.PrivateBorda):
    """What is summed is its own, and moves by more than the noise hides."""

    def counts(self, data: Any) -> Any:
        return 9 * super().counts(data)


@dataclass(frozen=True)
class Source2:
    """A door under another name beside it."""

    source: str = "operating system"
    publishable: bool = True
    guarantee = Guarantee(0.25)

    def report(self, own: Any, rng: Source) -> Any:
        return own

    def release(self, data: Any, source: Source) -> Any:
        return _drawn(self, data, source)


@dataclass(frozen=True)
class Wrapping:
    """A part is for publication; the whole does not say so."""

    inner: Any = BORDA
    guarantee = Guarantee(0.25)

    def release(self, data: Any, rng: Source) -> Any:
        return self.inner.release(data, rng)


class Anything:
    """Whatever it is asked for, it has."""

    guarantee = Guarantee(0.25)

    def __getattr__(self, name: str) -> Any:
        return True if name == "for_publication" else _drawn


class Attribute(Explicit):
    @property
    def for_publication(self) -> bool:
        return True


@dataclass(frozen=True)
class Lacking:
    """No guarantee, though it says that it is for publication."""

    for_publication = True

    def release(self, data: Any, rng: Source) -> Any:
        return _drawn(self, data, rng)


class Worded(Explicit):
    for_publication = "yes"


class NoData:
    for_publication = True
    guarantee = Guarantee(0.25)
    release = _drawn


@dataclass(frozen=True)
class Whole:
    """Says it, of a part that does not."""

    for_publication = True
    part: Any = Explicit()
    guarantee = Guarantee(0.25)

    def release(self, data: Any, rng: Source) -> Any:
        return self.part.release(data, rng)


def _said_of_the_object():
    made = Plain()
    made.for_publication = True
    return made


FOREIGN = {
    "an annotation as text": _with("Generator"),
    "the library's own text": _with("Source"),
    "its union": _with("np.random.Generator | SecureSource"),
    "the class": _with(np.random.Generator),
    "SecureSource": _with(SecureSource),
    "Optional": _with(Optional[np.random.Generator]),  # noqa: UP045
    "Union": _with(Union[np.random.Generator, SecureSource]),  # noqa: UP007
    "Any": _with(Any),
    "Annotated": _with(Annotated[np.random.Generator, "seeded"]),
    "RandomState": _with(np.random.RandomState),
    "no annotation": _with(None),
    "an heir of nothing new": Heir(2, 8.0),
    "an heir by floats": Floats(2, 8.0),
    "an heir of other sums": Louder(2, 8.0),
    "functools.partial": functools.partial(_drawn, None),
    "a partial method": make_dataclass(
        "Partial",
        ["scale"],
        namespace={"guarantee": Guarantee(0.25), "release": functools.partialmethod(_drawn)},
    )(4.0),
    "a duck": Plain(),
    "a duck that was told": _said_of_the_object(),
    "a Protocol": Explicit(),
    "another name of the source": Source2(),
    "a wrapper": Wrapping(),
    "one that has everything": Anything(),
    "a property": Attribute(),
    "a word": Worded(),
    "no dataclass": NoData(),
    "a part that does not say it": Whole(),
    "no guarantee": Lacking(),
    "a module": np,
    "a class": Explicit,
    "a function": _drawn,
}


@pytest.mark.parametrize("spelling", FOREIGN)
def test_no_foreign_mechanism_is_for_publication_and_none_spends(spelling, tmp_path):
    mechanism, budget = FOREIGN[spelling], Budget(tmp_path / "budget.sqlite", epsilon=1.0)
    with refused("mechanism = "):
        budget.release(mechanism, VOTES, dataset="a")
    assert budget.entries() == []
    assert spelling in ("no guarantee", "a class") or not drawn_exactly(mechanism)


@pytest.mark.parametrize("spelling", ["an heir of nothing new", "an heir of other sums"])
def test_a_release_of_an_heir_is_not_for_publication(spelling):
    """Drawn by SECURE, and by a class that says nothing: not even where no budget is asked."""
    release = FOREIGN[spelling].release(VOTES, SECURE)
    assert release.source == "operating system"
    assert not release.publishable
    assert release.mark == f"not for publication: a {type(FOREIGN[spelling]).__name__} does not say that it is"
    own = Ranking(("a", "b"), np.array([0, 1]), mechanism=Explicit(), source="operating system")
    assert not own.publishable
    assert BORDA.release(VOTES, SECURE).publishable
    assert BORDA.release(VOTES, SECURE).mark == ""


@dataclass(frozen=True)
class Said:
    """Of somebody's own, for publication, as its class says."""

    for_publication = True
    scale: float = 4.0
    guarantee = Guarantee(0.25)

    def release(self, data: Any, rng: Source) -> int:
        assert rng is SECURE
        return int(rng.discrete_laplace(self.scale, 1)[0])


def test_who_says_so_is_for_publication(tmp_path):
    budget = Budget(tmp_path / "budget.sqlite", epsilon=1.0)
    assert isinstance(budget.release(Said(), VOTES, dataset="a"), int)
    assert budget.spent("a").epsilon == 0.25


def test_of_the_library_those_say_so_that_take_the_operating_system(tmp_path):
    """Held against what each does: a class that says so takes SECURE, and one that does not refuses it."""
    from dprank.plan.tags import TAGS, mechanism_class

    for name, tag in TAGS.items():
        said = "for_publication" in vars(mechanism_class(name))
        assert said == tag.publishable, name
    for kind in (dprank.LocalKwikSort, dprank.Bucketed, dprank.PrivateRankCentrality):
        assert "for_publication" not in vars(kind)
