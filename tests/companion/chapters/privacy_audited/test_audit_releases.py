"""Every release of every mechanism says where its randomness came from, and whether it may be published."""

import json
import pickle
import re
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from checks import each, refused

from companion.chapters.privacy_audited import promises
from dprank import release as releases
from dprank.aggregation import LocalBorda, LocalMatrix, NoisyMatrix, PrivateBorda
from dprank.aggregation.directions import VectorReport
from dprank.data.comparisons import Comparisons
from dprank.data.kendall import as_positions
from dprank.data.rankings import Rankings
from dprank.data.tallies import Tallies
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.plan.laws import pairs_of
from dprank.privacy.noise import SECURE
from dprank.release import Release
from dprank.topk import Oneshot, Peeling
from dprank.topk.local import LocalTopK
from dprank.uniformity import LocalOneBit, LocalPairs

#: Those whose arithmetic or coins are floats: no law of theirs is fit for publishing.
FOR_RESEARCH = {"ExponentialMechanism", "LocalKwikSort", "PrivateRankCentrality", "Bucketed", "Trun"}


@cache
def instances():
    """Of every class, and every law and noise of it, one with data: those of the audit's cases."""
    found = {}
    for case in promises.known().values():
        mechanism, data = case.mechanism, case.data
        if case.kind is not type(mechanism):  # of the book: what a paper prints
            continue
        kind = [type(mechanism).__name__, *(getattr(mechanism, name, "") for name in ("law", "noise"))]
        if hasattr(mechanism, "randomiser"):
            if not type(mechanism.randomiser).__module__.startswith("dprank."):
                continue
            kind.append(type(mechanism.randomiser).__name__)
        if isinstance(mechanism, LocalComparisons):
            first, second, _ = pairs_of(mechanism.n_items)
            six = [np.tile(column, 6) for column in (first, second, (1 + np.asarray(data)) / 2)]
            names = [*map(str, range(mechanism.n_items))]
            data = Comparisons(*six, names, np.repeat(np.arange(6), len(first)))
        elif isinstance(mechanism, LocalTopK):
            data = Tallies(np.repeat(np.arange(6), len(data)), np.tile(data, 6), items=range(mechanism.n_items))
        elif mechanism.guarantee.model == "local":
            voters = 3 * max(getattr(mechanism, "blocks", 1), getattr(mechanism, "groups", 1), 2)
            data = Rankings(np.tile(as_positions("data", [data]), (voters, 1)), [*map(str, range(len(data)))])
        elif isinstance(mechanism, Oneshot | Peeling):
            mechanism, data = replace(mechanism, n_items=len(data)), np.round(data)
        found.setdefault(" ".join(filter(None, kind)), (mechanism, data))
    return found


every_instance = each(("mechanism", "data"), lambda: instances().values())


def published(mechanism, data):
    """What `SECURE` releases, or None where it is refused because it has no such noise."""
    try:
        return mechanism.release(data, SECURE)
    except ValueError as refusal:
        if not re.search("research|exact", str(refusal)):
            raise
        return None


def test_every_mechanism_is_here_and_all_but_those_for_research_can_be_published():
    assert {type(mechanism) for mechanism, _ in instances().values()} == set(promises.mechanisms())
    fit = {name.split()[0] for name, (mechanism, data) in instances().items() if published(mechanism, data) is not None}
    assert fit == {found.__name__ for found in promises.mechanisms()} - FOR_RESEARCH


@every_instance
@pytest.mark.slow
def test_seeded_releases_say_that_they_are_not_for_publication(mechanism, data):
    release = mechanism.release(data, np.random.default_rng(5))
    assert isinstance(release, Release)
    assert (release.source, release.publishable) == ("seeded", False)
    for text in (repr(release), str(release), f"{release}", repr(pickle.loads(pickle.dumps(release)))):
        said = ("not for publication", "seeded", str(mechanism.guarantee), type(mechanism).__name__)
        assert [words for words in said if words not in text] == []


@every_instance
def test_releases_by_the_operating_system_are_for_publication(mechanism, data):
    release = published(mechanism, data)
    # continuous noise is never drawn for publication
    assert (release is None) >= (getattr(mechanism, "law", "") == "continuous")
    if release is not None:
        assert (release.source, release.publishable) == ("operating system", True)
        assert "not for publication" not in repr(release) + str(release)
        assert "operating system" in repr(release)


@every_instance
def test_a_large_epsilon_warns_whoever_publishes(mechanism, data, monkeypatch):
    monkeypatch.setattr(releases, "LARGE", mechanism.guarantee.epsilon - 1e-9)
    monkeypatch.setattr(releases, "LARGE_DELTA", 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism.release(data, np.random.default_rng(6))
        assert not caught
        if published(mechanism, data) is None:
            return
    assert {warning.category for warning in caught} == {UserWarning}
    assert all("epsilon = " in str(warning.message) and "\n" not in str(warning.message) for warning in caught)
    # it points at whoever released
    assert __file__ in {warning.filename for warning in caught}
    monkeypatch.setattr(releases, "LARGE", mechanism.guarantee.epsilon)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        published(mechanism, data)


def test_what_is_large():
    counts = np.array([5, 3])
    for epsilon, large in ((10.0, False), (10.1, True), (800.0, True)):
        mechanism = Oneshot.calibrated(epsilon=epsilon, n_items=2, k=1, noise="exponential")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mechanism.release(counts, SECURE)
        assert len(caught) == large
    assert "epsilon = 800 is above 10" in str(caught[0].message)


POLLS = [LocalMatrix.calibrated(n_items=3, epsilon=1.0), LocalBorda.calibrated(n_items=3, epsilon=1.0)]


@each("poll", POLLS)
def test_reports_are_marked_and_what_is_made_of_them(poll):
    rng, places = np.random.default_rng(7), ([0, 1, 2], [2, 1, 0], [0, 2, 1])
    seeded, secure = ([poll.report(place, source) for place in places] for source in (rng, SECURE))
    assert all(report.source == "seeded" and "not for publication" in repr(report) for report in seeded)
    assert all(report.publishable and "not for publication" not in repr(report) for report in secure)
    sent = json.loads(json.dumps(secure))
    assert sent == secure == [list(report) for report in secure]
    for reports, source, expected in (
        (secure, SECURE, "operating system"),
        (secure, rng, "seeded"),
        (seeded, SECURE, "seeded"),
        ([*secure, seeded[0]], SECURE, "seeded"),
        (sent, SECURE, "voters"),
        ([*sent, seeded[0]], SECURE, "seeded"),
        (np.array(sent), SECURE, "voters"),
        (sent, rng, "seeded"),
    ):
        order = poll.aggregate(reports, source, items=["a", "b", "c"])
        assert (order.source, order.publishable) == (expected, expected == "operating system")
        assert ("not for publication" in str(order)) == (expected != "operating system")


def test_reports_for_research_are_refused_and_a_decision_from_reports_leaves_it_to_the_voters():
    with refused("research"):
        LocalMatrix(VectorReport.calibrated(n_items=3, epsilon=1.0)).report([0, 1, 2], SECURE)
    for test in (LocalPairs.calibrated(epsilon=1.0, n_items=4), LocalOneBit.calibrated(epsilon=1.0, n_items=4)):
        decision = test.decide(np.ones((5, 2), int))
        assert (decision.source, decision.publishable) == ("voters", False)
        assert "unless every voter" in repr(decision)


def test_what_no_mechanism_released_is_not_for_publication():
    rankings = Rankings([[0, 1, 2]] * 4, "abc")
    for mechanism in (NoisyMatrix.calibrated(n_items=3, epsilon=1.0), PrivateBorda.calibrated(n_items=3, epsilon=1.0)):
        unmarked = replace(mechanism.release(rankings, SECURE), source=None)
        assert not unmarked.publishable
        assert "not for publication" in str(unmarked)
    with refused("source = 'dice'; allowed are"):
        replace(unmarked, source="dice")
