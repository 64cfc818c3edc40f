"""Central rank aggregation (Alabi, Ghazi, Kumar and Manurangsi 2022), on the worst neighbours known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, get_args

import numpy as np

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed import Printed
from companion.printed.alabi2022 import CLEAR, corollary_3, corollary_4, corollary_6, corollary_7
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_footrule import PrivateFootrule
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.winner import PrivateWinner, WinnerRule
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.laws import exact
from dprank.privacy.noise import Law, Noise

#: Voters among whom one is hidden worst by the exponential mechanism, to three digits.
_CROWD = 60


def unanimous(voters: int, against: int = 0, n_items: int = 3) -> Rankings:
    """Voters who all give one ranking, but for some who give its reverse."""
    line = np.arange(n_items)
    return Rankings(np.repeat([line, line[::-1]], [voters, against], axis=0), [*"abcdefgh"[:n_items]])


def neighbours(adjacency: Adjacency, voters: int, against: int = 0, n_items: int = 3) -> tuple[Rankings, Rankings]:
    """One of the voters of `unanimous` turns round, or one more comes and is against."""
    data = unanimous(voters, against, n_items)
    return data, unanimous(voters - (adjacency == "replace"), against + 1, n_items)


def cases() -> list[Case]:
    """Every mechanism of the family, calibrated and as printed, on the worst neighbours known."""
    matrices = _additive(partial(NoisyMatrix.calibrated, n_items=3, epsilon=1.0, rule="borda"))
    bordas = _additive(partial(PrivateBorda.calibrated, n_items=3, epsilon=1.0))
    return [*matrices, *_as_printed(), *bordas, *_exponentials(), *_kwiksorts(), *_footrules(), *_winners()]


_LAWS: tuple[Law, ...] = ("discrete", "continuous")
_KINDS = list(product((0.0, 0.01), _LAWS, get_args(Adjacency)))


def _named(mechanism: Any, words: str = "") -> str:
    words = f", {words}" if words else ""
    kind = "NoisyMatrix" if isinstance(mechanism, NoisyMatrix) else type(mechanism).__name__
    return f"{kind}, {mechanism.law} {mechanism.noise}, {mechanism.adjacency}{words}"


def _printed(words: str, printed: Printed, pair: tuple[Rankings, Rankings], **known: Any) -> Case:
    name, claim = _named(printed.mechanism, f"{words} as printed"), printed.claims.epsilon
    return Case(name, printed.mechanism, *pair, printed=claim, source="alabi2022", **known)


def _closed_form(mechanism: NoisyMatrix | PrivateBorda) -> float | None:
    """That of the worst neighbours; none of discrete Gaussian noise, whose guarantee may be improved."""
    if mechanism.noise == "laplace":
        return mechanism.l1_sensitivity / mechanism.scale
    return mechanism.guarantee.epsilon if mechanism.law == "continuous" else None


def _additive(make: Callable[..., NoisyMatrix | PrivateBorda]) -> Iterator[Case]:
    """A voter turns round, or comes: the worst of all changes of a voter, whoever the others are."""
    for delta, law, adjacency in _KINDS:
        made = make(delta=delta, law=law, adjacency=adjacency)
        yield Case(_named(made), made, *neighbours(adjacency, 3), closed_form=_closed_form(made), found="exhausted")


def _as_printed() -> Iterator[Case]:
    pure, gaussian = corollary_3(3, 1.0, rule="borda"), corollary_4(3, 1.0, 0.01, rule="borda")
    # so many voters that clipping is not seen
    many = math.ceil(CLEAR * gaussian.mechanism.scale) + 1
    for words, printed, voters in (("Corollary 3", pure, (3,)), ("Corollary 4", gaussian, (many, many))):
        yield _printed(words, printed, neighbours("replace", *voters), closed_form=_closed_form(printed.mechanism))


def _exponentials() -> Iterator[Case]:
    right, added = (
        ExponentialMechanism.calibrated(n_items=3, epsilon=1.0, adjacency=a) for a in ("replace", "add_remove")
    )
    name, loss = "ExponentialMechanism, replace, a voter alone", right.rate * right.spread / 2
    yield Case(name, right, *neighbours("replace", 1), closed_form=loss)
    yield Case("ExponentialMechanism, replace, in a crowd", right, *neighbours("replace", _CROWD))
    yield Case("ExponentialMechanism, add_remove, in a crowd", added, *neighbours("add_remove", _CROWD))


def _footrules() -> Iterator[Case]:
    """No item stays where it was. What is known is the loss of the noisy counts, of which an order tells little."""
    pairs: dict[Adjacency, tuple[str, str]] = {
        "replace": ("abc", "bca"),
        "add_remove": ("abc abc", "abc abc bca"),
    }
    for adjacency, (data, other) in pairs.items():
        for delta in (0.0, 0.01):
            made = PrivateFootrule.calibrated(n_items=3, epsilon=1.0, delta=delta, adjacency=adjacency)
            yield Case(_named(made), made, voters_of(data), voters_of(other), found="exhausted")


def _winners() -> Iterator[Case]:
    """Who is behind gains by a voter who turns round, or who comes; of two items, all that is promised."""
    for rule, adjacency in product(get_args(WinnerRule), get_args(Adjacency)):
        for m, words in ((2, "two items"), (3, "three items")):
            made = PrivateWinner.calibrated(n_items=m, epsilon=1.0, rule=rule, adjacency=adjacency)
            name, loss = f"PrivateWinner, {rule}, {adjacency}, {words}", made.spread / made.scale if m == 2 else None
            yield Case(name, made, *neighbours(adjacency, m, n_items=m), closed_form=loss)


# all profiles of up to four voters on three items, and all their neighbours: the worst under either law of the noise
_FOUND: dict[tuple[Noise, Adjacency, int], list[tuple[str, str]]] = {
    ("laplace", "replace", 3): [("cab", "bac"), ("abc cba", "abc abc")],
    ("laplace", "replace", 2): [("abc cab bca", "abc acb cab")],
    ("laplace", "add_remove", 3): [("", "abc")],
    ("laplace", "add_remove", 2): [("abc cab", "abc cab bca")],
    ("gaussian", "replace", 3): [("abc abc abc cba", "abc abc abc abc")],
    ("gaussian", "replace", 2): [("abc cab cab bca", "abc bac cab bca")],
    ("gaussian", "add_remove", 3): [("abc cab bca", "abc abc cab bca")],
    ("gaussian", "add_remove", 2): [("abc abc cab", "abc abc cab bca")],
}


def voters_of(orders: str) -> Rankings:
    """Rankings of the items a, b and c from words, best first: "abc cab" of two voters."""
    places = [[word.index(item) for item in "abc"] for word in orders.split()]
    return Rankings(np.array(places, int).reshape(-1, 3), [*"abc"])


def _found(mechanism: PrivateKwikSort) -> tuple[Rankings, Rankings]:
    pairs = [(voters_of(a), voters_of(b)) for a, b in _FOUND[mechanism.noise, mechanism.adjacency, mechanism.queries]]
    return max(pairs, key=lambda pair: exact(mechanism, *pair).epsilon(mechanism.delta))


def _kwiksorts() -> Iterator[Case]:
    fallback: dict[str, Any] = {"queries": 2, "share": 0.3, "rule": "copeland"}
    for delta, law, adjacency in _KINDS:
        make = partial(PrivateKwikSort.calibrated, n_items=3, epsilon=1.0, delta=delta, law=law, adjacency=adjacency)
        for words, mechanism in (("all pairs", make(queries=3)), ("with a fallback", make(**fallback))):
            yield Case(_named(mechanism, words), mechanism, *_found(mechanism), found="exhausted")
    for queries in (3, 2):
        pure = corollary_6(3, queries, 1.0, rule="copeland")
        for printed in (pure, corollary_7(3, queries, 1.0, 0.01, rule="copeland")):
            yield _printed(f"{queries} queries", printed, _found(printed.mechanism), found="exhausted")
    # one comparison is all there is: nothing is hidden but by its noise
    two, pair = PrivateKwikSort.calibrated(n_items=2, epsilon=1.0), neighbours("replace", 3, n_items=2)
    yield Case(_named(two, "two items"), two, *pair, closed_form=1 / two.scale)
