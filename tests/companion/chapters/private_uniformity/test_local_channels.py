"""Channels, and broken ones."""

import numpy as np
import pytest

from companion.chapters.private_uniformity import local_channels
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.uniformity.pairs import pair_signs


def test_events_cannot_do_worse_than_points_on_random_channels():
    rng = np.random.default_rng(0)
    for _ in range(20):
        law = rng.dirichlet(np.ones(5), 3)
        assert local_channels.eventwise_loss(law) == pytest.approx(local_channels.pointwise_loss(law), abs=1e-12)


def test_a_channel_that_leaves_the_last_bit_alone_is_seen(monkeypatch):
    whole = local_channels.channel

    def leaky(n_items, shrinkage, pairs):
        last = pair_signs(all_rankings(n_items), pairs[-1:])
        kept = local_channels.sign_vectors(len(pairs))[:, -1] == last
        law = whole(n_items, shrinkage, pairs) * np.where(kept, 1.0, 1e-6)
        return law / law.sum(1, keepdims=True)

    monkeypatch.setattr(local_channels, "channel", leaky)
    assert derive(local_channels.check_alg_5([1.0])) == "refuted"


def test_the_whole_budget_on_every_bit_is_seen(monkeypatch):
    printed = paper.local_pairs
    monkeypatch.setattr(paper, "local_pairs", lambda m, epsilon: printed(m, epsilon * (m // 2)))
    assert derive(local_channels.check_alg_5([1.0])) == "refuted"


def test_the_worst_pair_is_named_the_wrong_way_round(monkeypatch):
    record = local_channels.check_worst_pair()
    assert record.verdict == "refuted"
    assert all(c.outcome for c in record if c.about != "printed")
    channel = local_channels.printed_channel
    monkeypatch.setattr(local_channels, "printed_channel", lambda m, e: channel(m, e)[:, ::-1])
    assert local_channels.check_worst_pair().verdict == "holds"
