"""What every release is: a sentence, a table, a file that comes back, and nothing that can be touched up."""

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from checks import refused

from dprank.aggregation import NoisyMatrix, PrivateBorda, PrivateKwikSort
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.models.bradley_terry import ARCTAN, Link
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.noise import SECURE
from dprank.release import Decision, Ranking, Release, Selection
from dprank.topk import Oneshot, Peeling
from dprank.uniformity import NoisyNorm, Trun

RNG = np.random.default_rng(3)
ANSWERS = Comparisons([0, 0, 1], [1, 2, 2], [1, 0.5, 0], "abc", [0, 1, 1])
VOTES = Rankings([[0, 1, 2], [0, 2, 1], [2, 0, 1]], "abc")
RELEASES = {
    "counts": NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3).release(ANSWERS, RNG),
    "secure": PrivateBorda.calibrated(n_items=3, epsilon=1.0).release(VOTES, SECURE),
    "likelihood": PerturbedMLE.calibrated(
        epsilon=1.0, n_items=3, ridge=2.0, graph="private", unit="comparison", link=ARCTAN, law="continuous"
    ).release(ANSWERS, RNG),
    "margins": NoisyMatrix.calibrated(n_items=3, epsilon=1.0, delta=0.01).release(VOTES, SECURE),
    "fallback": PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, queries=2, share=0.5).release(VOTES, RNG),
    "codes": Oneshot.calibrated(epsilon=1.0, n_items=3, k=2, ordered=True).release([1, 2, 3], SECURE),
    "values": Oneshot.calibrated(epsilon=1.0, items=[*"abc"], k=2, values=True).release([1, 2, 3], SECURE),
    "numbers for names": Peeling.calibrated(epsilon=1.0, items=[7, "x", 2.5], k=2, noise="gumbel").release(
        [1, 2, 3], SECURE
    ),
    "test": NoisyNorm.calibrated(epsilon=1.0, n_items=3, n_voters=3).release(VOTES, RNG),
    "answer alone": Trun.calibrated(epsilon=1.0, n_items=3, n_voters=3, size=0.2).release(VOTES, RNG),
    "no mechanism": Ranking(("a", "b"), np.array([1, 0])),
    "infinite": Decision(False, 0.0, math.inf, 1.0),
}
every_release = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)


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
    assert repr(release) == f"<{type(release).__name__}: {said}>"


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
THINGS = [None, True, 7, -1, 1e400, "x", "", [], [[]], {}, ["a"], {"class": "os.system"}, [1, "1"], "nan", 2**70]


@every_release
def test_a_file_that_was_touched_is_refused_in_one_line_or_read_as_it_says(release):
    file = json.loads(release.to_json())

    def places(part, path=()):
        yield path
        keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        for key in keys:
            yield from places(part[key], (*path, key))

    for path in places(file):
        for thing in THINGS:
            changed = json.loads(release.to_json())
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
    file = json.loads(RELEASES["secure"].to_json())
    before = set(sys.modules)
    for path in ("os.system", "antigravity.x", "dprank.pairwise.noisy_counts.Path", "dprank.release.Release", 7, None):
        file["mechanism"]["class"] = path
        with refused("class", "mechanism of dprank"):
            Release.from_json(json.dumps(file))
    assert set(sys.modules) - before <= {"dprank.pairwise.noisy_counts"}


def test_a_smaller_epsilon_than_that_of_the_mechanism_is_refused():
    file = json.loads(RELEASES["secure"].to_json())
    file["guarantee"]["epsilon"] = 0.5
    with refused("guarantee", "mechanism"):
        Release.from_json(json.dumps(file))


def test_a_kind_reads_its_own_files_only():
    with refused("kind = 'Selection'", "Ranking"):
        Ranking.from_json(RELEASES["codes"].to_json())


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
