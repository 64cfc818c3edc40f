"""Whatever a constructor accepts promises something finite, and what it loses on data of a few persons is no more.

Losses are exact (`dprank.privacy.laws.exact`). Hypothesis draws parameters, types of numbers and neighbours, always the
same ones.
"""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dprank.aggregation import ExponentialMechanism, LocalBorda, LocalMatrix, NoisyMatrix, PrivateBorda, PrivateFootrule
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.audit import audit
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.pairwise import LocalComparisons, NoisyCounts, PerturbedMLE
from dprank.privacy.laws import exact
from dprank.topk import LocalTopK, Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity import BatchVote, LaplaceUnif, LocalOneBit, LocalPairs, LocalTwoStage, NoisyNorm, OptimalVote

#: Rounding of the exact laws, as a share.
ROUNDING = 1e-9
FLOATS = (float, np.float64, np.float32, np.float16, np.longdouble, Fraction, lambda x: Decimal(str(x)))
WIDTHS = (int, np.uint8, np.int16, np.uint16, np.int64)
FEW = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

numbers = st.builds(lambda x, kind: kind(round(x, 3)), st.floats(0.05, 20), st.sampled_from(FLOATS))
adjacencies = st.sampled_from(["replace", "add_remove"])
rankings = st.sampled_from(list(permutations(range(3))))


def wholes(*values):
    """One of these numbers, as an integer of some width that holds it."""
    widths = [(kind, v) for v in values for kind in WIDTHS if kind is int or v <= np.iinfo(kind).max]
    return st.sampled_from(widths).map(lambda pair: pair[0](pair[1]))


def keeps(make, data, other, *arguments, **parameters):
    """The property; what is refused must be so in one line."""
    try:
        mechanism = make(*arguments, **parameters)
    except ValueError as error:
        if "\n" in str(error):
            raise
        return
    promised = mechanism.guarantee
    assert 0 < promised.epsilon < math.inf or 0 < promised.delta < 1, promised
    lost = exact(mechanism, data, other).epsilon(promised.delta)
    assert lost <= promised.epsilon * (1 + ROUNDING), (mechanism, lost)


def drawn(*strategies, **named):
    """`keeps` of all that is drawn, few of each."""
    return lambda check: FEW(given(*strategies, **named)(check))


def promises_of_counts(kind=NoisyCounts):
    @drawn(
        epsilon=numbers,
        answers=wholes(1, 2, 3, 64, 100, 127, 200),
        sheet=st.lists(st.tuples(st.sampled_from([(0, 1), (1, 2), (0, 2)]), st.sampled_from([0, 0.5, 1])), max_size=3),
        score=st.sampled_from(["wins", "half", "net"]),
        law=st.sampled_from(["discrete", "continuous"]),
        adjacency=adjacencies,
    )
    def check(epsilon, answers, sheet, score, law, adjacency):
        most = [((0, 1), 1)] * int(answers)
        rows = [[(*pair, won, 7) for pair, won in answered] for answered in (most, sheet[: int(answers)])]
        common = [(1, 2, 1, 8)]
        data = of(rows[0] + common)
        other = of(common if adjacency == "add_remove" else rows[1] + common)
        options = {"per_person": answers, "score": score, "law": law, "adjacency": adjacency}
        keeps(kind.calibrated, data, other, epsilon=epsilon, n_items=3, **options)

    return check


def promises_of_rankings(kinds=(NoisyMatrix, PrivateBorda, PrivateFootrule, ExponentialMechanism)):
    @drawn(
        kind=st.sampled_from(kinds),
        epsilon=numbers,
        delta=st.sampled_from([0, 0.0, np.float32(0.01), Fraction(1, 7), Decimal("0.1")]),
        law=st.sampled_from(["discrete", "continuous"]),
        voters=st.lists(rankings, min_size=2, max_size=3),
        new=rankings,
        adjacency=adjacencies,
    )
    def check(kind, epsilon, delta, law, voters, new, adjacency):
        rest = voters[1:]
        data, other = (Rankings(v, "abc") for v in (voters, rest if adjacency == "add_remove" else [new, *rest]))
        parameters = {"adjacency": adjacency}
        if kind is not ExponentialMechanism:
            parameters |= {"delta": delta, "law": law}
        keeps(kind.calibrated, data, other, epsilon=epsilon, n_items=3, **parameters)

    return check


def promises_of_selections(kinds=(Oneshot, Peeling)):
    @drawn(
        kind=st.sampled_from(kinds),
        epsilon=numbers,
        sensitivity=wholes(1, 2, 100),
        k=wholes(1, 2),
        values=st.lists(st.integers(0, 4), min_size=3, max_size=3),
        moves=st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3),
        noise=st.sampled_from(["laplace", "gumbel", "exponential"]),
        adjacency=adjacencies,
    )
    def check(kind, epsilon, sensitivity, k, values, moves, noise, adjacency):
        moved = np.abs(moves) if adjacency == "add_remove" else np.array(moves)
        data = np.array(values, float)
        parameters = {"noise": noise, "adjacency": adjacency, "n_items": 3, "sensitivity": sensitivity}
        if kind is Peeling:
            parameters["composition"] = "basic"
        keeps(kind.calibrated, data, data + int(sensitivity) * moved, k=k, epsilon=epsilon, **parameters)

    return check


@drawn(
    which=st.sampled_from(["norm", "unif", "vote", "optimal"]),
    epsilon=numbers,
    voters=st.lists(rankings, min_size=4, max_size=4),
    new=rankings,
    wide=st.sampled_from([int, np.uint8, np.int8]),
)
@pytest.mark.slow
def test_tests_of_uniformity(which, epsilon, voters, new, wide):
    data, other = Rankings(voters, "abc"), Rankings([new, *voters[1:]], "abc")
    asked = {"epsilon": epsilon, "n_items": wide(3), "n_voters": wide(4)}
    if which == "norm":
        keeps(NoisyNorm.calibrated, data, other, **asked, statistic="ranks", steps=wide(100))
    elif which == "unif":
        keeps(LaplaceUnif.calibrated, data, other, **asked, size=0.2)
    elif which == "optimal":
        keeps(OptimalVote.calibrated, data, other, **asked, size=0.2, n_batches=wide(2), delta=0.01)
    else:
        keeps(BatchVote.calibrated, data, other, **asked, size=0.2, n_batches=wide(2))


@drawn(
    kind=st.sampled_from([LocalMatrix, LocalBorda, LocalPairs, LocalOneBit, LocalTwoStage]),
    epsilon=numbers,
    one=rankings,
    two=rankings,
)
def test_local_reports(kind, epsilon, one, two):
    keeps(kind.calibrated, np.array(one), np.array(two), epsilon=epsilon, n_items=np.uint8(3))


@drawn(
    epsilon=numbers,
    one=st.lists(st.sampled_from([1, 0, -1]), min_size=3, max_size=3),
    two=st.lists(st.sampled_from([1, 0, -1]), min_size=3, max_size=3),
)
def test_local_comparisons(epsilon, one, two):
    keeps(LocalComparisons.calibrated, one, two, epsilon=epsilon, n_items=np.uint8(3), per_person=np.uint8(3))


@drawn(epsilon=numbers, per_person=wholes(1, 2, 3), own=st.sets(st.integers(0, 3)), other=st.sets(st.integers(0, 3)))
def test_local_sets(epsilon, per_person, own, other):
    mine, theirs = (sorted(codes)[: int(per_person)] for codes in (own, other))
    keeps(LocalTopK.calibrated, mine, theirs, epsilon=epsilon, n_items=np.uint8(4), k=1, per_person=per_person)


@drawn(epsilon=numbers, ridge=numbers, answers=wholes(1, 2, 64, 128, 200))
def test_perturbed_likelihood(epsilon, ridge, answers):
    data, other = (of([(*pair, 1, 7)] * int(answers) + [(1, 2, 1, 8)]) for pair in ((0, 1), (1, 0)))
    options = {"graph": "public", "law": "discrete", "unit": "voter"}
    keeps(PerturbedMLE.calibrated, data, other, epsilon=epsilon, n_items=3, ridge=ridge, per_person=answers, **options)


test_noisy_counts = promises_of_counts()
test_noisy_rankings = promises_of_rankings()
test_selections = promises_of_selections()


@settings(parent=FEW, max_examples=2)
@given(epsilon=st.floats(0.5, 2), queries=wholes(1, 2), adjacency=adjacencies)
@pytest.mark.slow
def test_kwiksort_through_the_public_door(epsilon, queries, adjacency):
    """No law, only releases: bets against them."""
    mechanism = PrivateKwikSort.calibrated(n_items=3, epsilon=epsilon, queries=queries, share=0.3, adjacency=adjacency)
    agreed = Rankings([[0, 1, 2]] * 3, "abc")
    other = Rankings([[0, 1, 2]] * 2 + [[2, 1, 0]] * (adjacency == "replace"), "abc")
    assert not audit(mechanism, [(agreed, other)], rng=np.random.default_rng(1), budget=1024, bits=False).broken


def of(rows):
    first, second, outcome, voter = zip(*rows, strict=True)
    return Comparisons(first, second, outcome, "abc", voter)


# --- broken twins, which the properties must reject ------------------------------------------------------------------


class Wrapping(NoisyCounts):
    """As `NoisyCounts` was: sensitivities of 8 bits."""

    @property
    def sensitivity(self):
        return super().sensitivity % 256


class HalfBorda(PrivateBorda):
    """A voter who is replaced moves the places as one who comes."""

    @property
    def l1_sensitivity(self):
        return self.n_items**2 // 4


class OneWay(Oneshot):
    """Values that move in any directions are taken to move in one."""

    @property
    def _chosen(self):
        return replace(super()._chosen, adjacency="add_remove")


@pytest.mark.parametrize(
    "property_of_the_twin",
    [promises_of_counts(Wrapping), promises_of_rankings([HalfBorda]), promises_of_selections([OneWay])],
    ids=["Wrapping", "HalfBorda", "OneWay"],
)
def test_a_broken_twin_is_rejected(property_of_the_twin):
    with pytest.raises(AssertionError):
        property_of_the_twin()
