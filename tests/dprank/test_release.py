"""What every release is: a sentence, a table, a file that comes back, and nothing that can be touched up."""

import json
import math
import sys
import time
from contextlib import suppress
from functools import cache

import numpy as np
import pandas as pd
import pytest
from checks import refused
from hostile_doors import mechanisms

import dprank
from dprank.aggregation import NoisyMatrix, PrivateBorda, PrivateKwikSort
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.models.bradley_terry import ARCTAN, Link
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.noise import SECURE
from dprank.release import Decision, Ranking, Release, Report, Selection
from dprank.topk import Oneshot, Peeling
from dprank.uniformity import NoisyNorm, Trun

RNG = np.random.default_rng(3)
ANSWERS = Comparisons([0, 0, 1], [1, 2, 2], [1, 0.5, 0], "abc", [0, 1, 1])
VOTES = Rankings([[0, 1, 2], [0, 2, 1], [2, 0, 1]], "abc")
RELEASES = {
    "counts": lambda: NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3).release(ANSWERS, RNG),
    "secure": lambda: PrivateBorda.calibrated(n_items=3, epsilon=1.0).release(VOTES, SECURE),
    "likelihood": lambda: PerturbedMLE.calibrated(
        epsilon=1.0, n_items=3, ridge=2.0, graph="private", unit="comparison", link=ARCTAN, law="continuous"
    ).release(ANSWERS, RNG),
    "margins": lambda: NoisyMatrix.calibrated(n_items=3, epsilon=1.0, delta=0.01).release(VOTES, SECURE),
    "fallback": lambda: PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, queries=2, share=0.5).release(VOTES, RNG),
    "codes": lambda: Oneshot.calibrated(epsilon=1.0, n_items=3, k=2, ordered=True).release([1, 2, 3], SECURE),
    "values": lambda: Oneshot.calibrated(epsilon=1.0, items=[*"abc"], k=2, values=True).release([1, 2, 3], SECURE),
    "numbers for names": lambda: Peeling.calibrated(epsilon=1.0, items=[7, "x", 2.5], k=2, noise="gumbel").release(
        [1, 2, 3], SECURE
    ),
    "test": lambda: NoisyNorm.calibrated(epsilon=1.0, n_items=3, n_voters=3).release(VOTES, RNG),
    "answer alone": lambda: Trun.calibrated(epsilon=1.0, n_items=3, n_voters=3, size=0.2).release(VOTES, RNG),
    "no mechanism": lambda: Ranking(("a", "b"), np.array([1, 0])),
    "infinite": lambda: Decision(False, 0.0, math.inf, 1.0),
}
every_release = pytest.mark.parametrize("release", RELEASES, indirect=True)


@cache
def made(name):
    """The release of this name, when a test first asks for it."""
    return RELEASES[name]()


@pytest.fixture
def release(request):
    return made(request.param)


@every_release
def test_comes_back_from_a_file(release):
    text = release.to_json()
    for kind in (Release, type(release)):
        back = kind.from_json(text)
        assert back == release
        assert (back.guarantee, back.source, back.to_json()) == (release.guarantee, release.source, text)
        assert back.publishable == release.publishable


@every_release
def test_reads_like_a_sentence(release):
    said = str(release)
    assert "\n" not in said
    assert (release.guarantee is None) or str(release.guarantee) in said
    assert ("not for publication" in said) != release.publishable
    assert repr(release) == f"<{type(release).__name__}, a release: {said}>"


@every_release
def test_is_a_table(release):
    frame = release.to_frame()
    assert isinstance(frame, pd.DataFrame)
    match release:
        case Ranking():
            assert tuple(frame["item"]) == release.ranking
            assert frame["place"].tolist() == [*range(1, len(frame) + 1)]
            if release.scores is not None:
                assert frame["score"].is_monotonic_decreasing
        case Selection():
            assert frame["item"].tolist() == release.items.tolist()
        case Decision():
            assert frame.loc[0, "reject"] == release.reject


def test_many_items_are_not_all_named():
    many = Ranking(tuple(f"item {i}" for i in range(500)), np.arange(500))
    assert len(str(many)) < 200
    assert "item 0 >" in str(many)
    assert "... > item 499" in str(many)


def read(file):
    """What is said of a file, and the release in it."""
    try:
        return "", Release.from_json(json.dumps(file))
    except ValueError as error:
        return str(error), None


#: What may be in the place of a part of a file.
THINGS = [
    None,
    True,
    7,
    -1,
    1e400,
    "x",
    "",
    [],
    [[]],
    {},
    ["a"],
    {"class": "os.system"},
    [1, "1"],
    "nan",
    2**70,
    10**400,
    -1e-9,
]


@every_release
def test_a_file_that_was_touched_is_refused_in_one_line_or_read_as_it_says(release):
    text = release.to_json()

    def places(part, path=()):
        yield path
        keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        for key in keys:
            yield from places(part[key], (*path, key))

    for path in places(json.loads(text)):
        for thing in THINGS:
            changed = json.loads(text)
            if not path:
                changed = thing
            else:
                part = changed
                for key in path[:-1]:
                    part = part[key]
                part[path[-1]] = thing
            said, back = read(changed)
            if back is None:
                assert "\n" not in said, (path, thing)
                assert len(said) < 400, (path, thing)
            else:
                assert back.guarantee == (back.mechanism and back.mechanism.guarantee)
                assert json.loads(back.to_json())["guarantee"] == pytest.approx(changed["guarantee"])


@pytest.mark.parametrize("text", ["", "[", "7", "null", b"\xff", None, 3.5, "[" * 100_000, '{"format": 1}'])
def test_what_is_no_file_is_refused(text):
    with refused("no release of dprank"):
        Release.from_json(text)


def test_a_file_names_no_class_but_a_mechanism_of_dprank():
    file = json.loads(made("secure").to_json())
    before = set(sys.modules)
    for path in (
        "os.system",
        "antigravity.x",
        "dprank.pairwise.noisy_counts.Path",
        "dprank.release.Release",
        "Release",
        "Flipped",
        "Path",
        7,
        None,
    ):
        file["mechanism"]["class"] = path
        with refused("class", "mechanism of dprank"):
            Release.from_json(json.dumps(file))
    assert set(sys.modules) - before <= {"dprank.pairwise.noisy_counts"}


def test_a_smaller_epsilon_than_that_of_the_mechanism_is_refused():
    file = json.loads(made("secure").to_json())
    file["guarantee"]["epsilon"] = 0.5
    with refused("guarantee", "mechanism"):
        Release.from_json(json.dumps(file))


def test_a_kind_reads_its_own_files_only():
    with refused("kind = 'Selection'", "Ranking"):
        Ranking.from_json(made("codes").to_json())


def test_what_is_none_of_ours_is_not_written():
    own = Link("logistic", *(getattr(ARCTAN, name) for name in (
        "cdf", "log_cdf", "pdf", "score", "curvature", "kappa_1", "kappa_2", "steepest")))  # fmt: skip
    mechanism = PerturbedMLE.calibrated(
        epsilon=1.0, n_items=3, ridge=2.0, graph="private", unit="comparison", link=own, law="continuous"
    )
    with refused("link"):
        mechanism.release(ANSWERS, RNG).to_json()
    with refused("items"):
        Selection(np.array([("a", 1)], object)[0:1], mechanism=None).to_json()

    class Own:
        guarantee = None

    with refused("mechanism"):
        Ranking(("a", "b"), np.array([1, 0]), mechanism=Own()).to_json()


@pytest.mark.parametrize("order", [[0, 0], [0], [0, 2], [0.0, 1.0], "ab"])
def test_an_order_that_is_none_is_refused(order):
    with refused("order"):
        Ranking(("a", "b"), order)


def changed(release, **fields):
    """The file of a release, in which some fields are others: `output_items` is `items` of the output."""
    file = json.loads(release.to_json())
    for name, value in fields.items():
        part, _, field = name.partition("_")
        if part in ("output", "mechanism", "guarantee") and field:
            file[part][field] = value
        else:
            file[name] = value
    return json.dumps(file)


def forged(*words, release, **fields):
    with refused("no release of dprank", *words):
        Release.from_json(changed(release, **fields))


def real_releases():
    """Of every mechanism at the front door, by a seed and, where it may, by SECURE."""
    kinds = {
        **mechanisms(),
        "Oneshot of values": dprank.Oneshot.calibrated(epsilon=1.0, k=2, items=[*"abc"], values=True),
        "Oneshot in order": dprank.Oneshot.calibrated(epsilon=1.0, k=2, items=[*"abc"], ordered=True, noise="gumbel"),
        "Oneshot of halves": dprank.Oneshot.calibrated(epsilon=1.0, k=2, items=[*"abc"], sensitivity=0.5),
        "Peeling with Laplace noise": dprank.Peeling.calibrated(epsilon=1.0, k=2, items=[*"abc"], noise="laplace"),
        "NoisyMatrix, Gaussian": dprank.NoisyMatrix.calibrated(epsilon=1.0, delta=1e-6, n_items=3),
        "PrivateBorda of reals": dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3, law="continuous"),
        "LocalMatrix of vectors": dprank.LocalMatrix(VectorReport.calibrated(epsilon=1.0, n_items=3)),
        "LocalBorda of vectors": dprank.LocalBorda(PositionVector.calibrated(epsilon=1.0, n_items=3)),
        "PrivateKwikSort that falls back": PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, queries=2, share=0.5),
    }
    votes = Rankings([[0, 1, 2], [2, 1, 0]] * 20, "abc")
    named, coded = (dprank.Tallies([1, 1, 2], [0, 1, 2], items) for items in ([*"abc"], range(3)))
    for name, mechanism in kinds.items():
        for source in (RNG, SECURE):
            for data in (ANSWERS, votes, [3, 1, 2], named, coded):
                with suppress(ValueError):
                    if hasattr(mechanism, "release"):
                        yield name, mechanism.release(data, source)
    polls = (kinds["LocalMatrix"], kinds["LocalBorda"], kinds["LocalBorda of vectors"])
    for poll in polls:
        reports = [poll.report([0, 1, 2], RNG) for _ in range(9)]
        yield "marked reports", poll.aggregate(reports, SECURE, items="abc")
        yield "sent reports", poll.aggregate([[*report] for report in reports], SECURE, items="abc")
    yield "sent answers", kinds["LocalPairs"].decide([[1], [-1], [1]])
    yield "without privacy", kinds["Unif"].test(votes, RNG)


def forgeries(release, sources):
    """Fields of a file that the mechanism of this release cannot have."""
    file = json.loads(release.to_json())
    output = file["output"]
    for kind in {"Ranking", "Selection", "Decision"} - {file["kind"]}:
        yield {"kind": kind}
        fields = ("items", "order", "scores", "margins") if kind == "Ranking" else ("items", "values")
        yield {"kind": kind, "output": dict.fromkeys(fields) | {"items": [*"abc"], "order": [0, 1, 2]}}
        yield {"kind": kind, "output": {"reject": True, "statistic": 1.0, "threshold": 1.0, "p_value": 0.5}}
    yield from ({"source": source} for source in {"operating system", "seeded", "voters", None} - sources)
    yield {"mechanism": None, "guarantee": None}
    for name in set(output) - {"items", "order", "reject"}:
        if output[name] is None:
            m = len(output["items"])
            yield {f"output_{name}": np.zeros((m, m) if name == "margins" else m).tolist()}
        else:
            yield {f"output_{name}": None if "items" in output else 0.25 if output[name] == "nan" else "nan"}
    match release:
        case Ranking():
            yield {"mechanism_n_items": 4}
            yield {"output": {"items": [*"ab"], "order": [0, 1], "scores": None, "margins": None}}
            yield {"output_items": [*"aab"]}
            yield {"output_order": [0, 1, 1]}
            if release.scores is not None:
                yield {"output_scores": np.argsort(release.order).astype(float).tolist()}
            if release.margins is not None:
                yield {"output_margins": np.ones((3, 3)).tolist()}
        case Selection():
            values = None if release.values is None else release.values.tolist()
            yield {"mechanism_k": 3 - release.mechanism.k}
            yield {"output": {"items": release.items.tolist()[:-1], "values": values and values[:-1]}}
            yield {"output_items": release.items.tolist()[:1] * release.mechanism.k if release.mechanism.k > 1 else []}
            if hasattr(release.mechanism, "items"):
                yield {"output_items": ["zzz", "b"]}
                yield {"output_items": [0, 7]}
            if not getattr(release.mechanism, "ordered", True) and release.mechanism.k > 1:
                yield {"output_items": release.items.tolist()[::-1]}
            if values:
                yield {"output_values": [float(v) if type(v) is int else round(v) for v in values]}
        case Decision():
            if not math.isnan(release.statistic):
                yield {"output_reject": not release.reject}
            yield {"output_p_value": 1.5}
            if isinstance(getattr(release.mechanism, "threshold", None), int | float):
                yield {"output_threshold": release.mechanism.threshold - 1.0, "output_statistic": -1e9}


def test_every_real_release_comes_back_and_no_other_passes_for_it():
    drawn, real = {}, [*real_releases()]
    for name, release in real:
        drawn.setdefault(name, set()).add(release.source)
        assert Release.from_json(release.to_json()) == release, name
    private = {name for name, mechanism in mechanisms().items() if hasattr(mechanism, "release")}
    assert private <= set(drawn)
    assert {name for name in drawn if "operating system" not in drawn[name]} == {
        "ExponentialMechanism", "LocalKwikSort", "PrivateRankCentrality", "Trun", "Bucketed", "Oneshot of halves",
        "Peeling with Laplace noise", "PrivateBorda of reals", "LocalMatrix of vectors", "LocalBorda of vectors",
        "marked reports", "sent reports", "sent answers", "without privacy",
    }  # fmt: skip
    for name, release in real:
        if release.mechanism is None:
            continue
        sources = {"seeded"} | ({"voters"} if hasattr(release.mechanism, "report") else set()) | drawn[name]
        if name in ("marked reports", "sent reports", "sent answers"):
            sources = {"seeded", "voters", "operating system"}
        for fields in forgeries(release, sources):
            try:
                forged(release=release, **fields)
            except BaseException as error:
                error.add_note(f"{name}: {fields}")
                raise


def test_a_release_is_by_the_mechanism_that_was_asked():
    asked = mechanisms()
    for name, release in real_releases():
        assert name not in asked or release.mechanism == (asked[name] if release.source else None), name
    spectral = mechanisms()["PrivateRankCentrality"]
    assert spectral.select([0.1, 0.4, 0.9], RNG).guarantee.unit == "comparison"


def test_an_output_that_the_mechanism_cannot_have_is_refused():
    peeling = dprank.Peeling.calibrated(epsilon=1.0, items=[*"abc"], k=2).release([5, 1, 9], SECURE)
    forged("k = 2", release=peeling, output={"items": ["zzz"], "values": None})
    forged("declared", release=peeling, output={"items": ["zzz", "a"], "values": None})
    forged("values", release=peeling, output={"items": ["a", "b"], "values": [12, 13]})
    exponential = dprank.ExponentialMechanism.calibrated(epsilon=1.0, n_items=3).release(VOTES, RNG)
    forged("source", "seeded", release=exponential, source="operating system")
    forged("scores", release=exponential, output_scores=[0.0, 0.0, 0.0])
    large = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=50).release(
        Rankings([range(50)], [f"i{i}" for i in range(50)]), SECURE
    )
    forged("n_items = 50", release=large, output=json.loads(made("no mechanism").to_json())["output"])
    forged("source", release=made("no mechanism"), source="operating system")
    forged("class", "Ranking", release=made("secure"), mechanism=json.loads(made("test").to_json())["mechanism"])
    for path in ("pairwise.laws.Densities", "aggregation.randomisers.SplitResponse", "topk.noise_laws.NoiseLaw",
                 "aggregation.randomisers.OrderReport", "uniformity.unif.Unif"):  # fmt: skip
        forged("class", release=made("secure"), mechanism_class=f"dprank.{path}", guarantee=None)


def test_numbers_beyond_floats_and_nests_are_refused():
    forged("guarantee", release=made("secure"), guarantee_epsilon=10**400)
    for depth in (300, 600, 900, 5000):
        for field in ("scale", "noise"):
            text = changed(made("secure"), **{f"mechanism_{field}": "@"})
            with refused("no release of dprank"):
                Release.from_json(text.replace('"@"', "[" * depth + "]" * depth))
        for field in ("guarantee", "output_order", "output_scores"):
            with refused("no release of dprank"):
                Release.from_json(changed(made("secure"), **{field: "@"}).replace('"@"', "[" * depth + "]" * depth))


def test_what_does_not_fit_is_refused_before_it_costs_anything():
    many = {"class": "dprank.aggregation.randomisers.SampledOrder", "n_items": 10**6, "length": 10**6, "kept": 1}
    sent = {"class": "dprank.aggregation.randomisers.OrderReport", "order": many}
    spectral = {"n_items": 5000, "k": 1, "samples": 1, "scale": 1.0, "pairs": None}
    start = time.process_time()
    for mechanism in (sent, {"class": "dprank.aggregation.local_borda.LocalBorda", "randomiser": sent}):
        forged(release=made("secure"), mechanism=mechanism)
    for release in (made("secure"), made("codes")):
        forged(release=release, mechanism={"class": "dprank.topk.private_spectral.PrivateRankCentrality", **spectral})
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "items",
    [["nan", "cmn"], ["inf", "a"], ["-inf", "nan"], [10, 20, 30], [1.5, 2.5], [7, "x", 2.5], [True, "x"], [2**63, 1],
     [10**30, "b"], ["", " "], np.array([4, 2]), np.array(["b", "a"]), [np.float64(1.5), "z"], [np.int64(7), 8]],
    ids=repr,
)  # fmt: skip
def test_items_of_any_name_come_back(items):
    for k in (1, 2):
        for mechanism in (
            Oneshot.calibrated(epsilon=1.0, items=items, k=k, values=True),
            Oneshot.calibrated(epsilon=1.0, items=items, k=k, ordered=True),
            Peeling.calibrated(epsilon=1.0, items=items, k=k),
        ):
            release = mechanism.release([5] * len(items), SECURE)
            back = Release.from_json(release.to_json())
            assert back == release
            assert (back.mechanism, back.items.dtype) == (mechanism, release.items.dtype)


@pytest.mark.parametrize(
    "name",
    [("flu", 1), 10**5000, math.inf, "\ud800", frozenset([1]), pd.Timestamp(0)],
    ids=lambda name: type(name).__name__,
)
def test_a_name_that_no_file_holds_is_refused_where_it_is_written(name):
    for release in (
        Ranking((name, "g"), np.array([0, 1]))
        if isinstance(name, str)
        else Peeling.calibrated(epsilon=1.0, items=[name, "g"], k=2).release([9, 2], SECURE),
        Selection(np.array([1, name], object)[1:]),
    ):
        with refused("items[", type(name).__name__):
            release.to_json()


def test_names_that_are_none_are_refused_where_they_are_read():
    for name in ("\ud800", None, [1], {}):
        forged("items", release=made("no mechanism"), output_items=["a", name])
        forged("items", release=made("values"), mechanism_items=["a", "b", name])
    text = made("codes").to_json()
    for word in ("NaN", "Infinity", "1e400", "9" * 5000, "9" * 3000):
        with refused("no release of dprank"):
            Release.from_json(text.replace('"items": [\n', f'"items": [{word},\n', 1))
    with refused("names"):
        Ranking.from_json(changed(made("no mechanism"), output_items=["a", 1]))


def test_a_file_says_everything_once_and_in_text():
    text = made("secure").to_json()
    for version in (True, 1.0, "1", 3, 0, None):
        forged("format", release=made("secure"), format=version)
    with refused("twice"):
        Release.from_json(text[:-2] + ', "source": "operating system"}')
    for other in (text.encode(), text.encode("utf-16"), bytearray(text.encode())):
        with refused("type", "text"):
            Release.from_json(other)


def test_a_coin_that_leaves_nothing_to_a_batch_is_refused():
    with refused("epsilon = 1e-16", "coin"):
        dprank.Bucketed.calibrated(epsilon=1e-16, n_items=4, n_voters=10, size=0.9, n_batches=5)


def test_a_report_has_a_source():
    with refused("source = 'banana'"):
        Report([1], "banana")
