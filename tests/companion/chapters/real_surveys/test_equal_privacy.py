"""What methods spend, and how they order."""

from __future__ import annotations

import re

import pytest

from companion.chapters.real_surveys import equal_privacy as s
from companion.chapters.real_surveys import incomplete, panels, published_curve, survey_likelihood


def test_the_mle_orders_as_noisy_counts_where_all_pairs_are_compared_equally_often():
    frame = s.same_noise(1.0, 500).set_index(["survey", "table", "score"])
    assert (frame.xs("equally often", level="table")["same order"] == 1).all()
    assert (frame.xs("dropped", level="table")["same order"] < 1).all()
    net, wins = (frame.xs(score, level="score").difference for score in ("net wins", "wins"))
    assert (net <= wins).all()
    figure = s.draw_same_noise(frame.reset_index())
    shares = re.findall(r"\d+", figure.get_suptitle())
    bars = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert set(shares) < set(bars)
    assert [int(share) for share in shares] == sorted(map(int, shares))


def test_spent_and_needed():
    frame = s.spent(1.0).set_index(["survey", "promise"])
    assert (frame.counts > 1).all()
    assert (frame.MLE < 0.65).all()
    noise = s.noise_needed(1.0).set_index("survey")
    assert (noise["net wins"] == noise["MLE, public graph"]).all()
    assert ((noise["MLE, private graph"] / noise["net wins"]).between(1, 1.05)).all()
    for survey in ("CEMS", "immigration"):
        mechanism = survey_likelihood.survey_mle("private graph", 0.5, survey)
        assert survey_likelihood.questionnaire_loss(mechanism.n_items, mechanism.scale, mechanism.ridge) <= 0.5


def test_figures_data():
    frame = published_curve.figure_8([0.5, 3.0], 20)
    assert len(frame) == 8
    assert len(published_curve.published_beside_ours(frame)) == 2
    methods = set(s.equal_privacy([0.5], 20).method)
    assert methods == {"MLE as printed", "MLE, private graph", "MLE, public graph", "wins", "net wins"}
    orders = s.noiseless_orders()
    assert (orders["net wins"] == orders.MLE).all()
    assert (orders.wins != orders.MLE).any()


def test_the_strip_of_noiseless_orders_names_who_moves():
    frame = s.noiseless_orders()
    figure = s.draw_noiseless_orders(frame)
    message = " ".join(figure.get_suptitle().split())
    ways = frame.set_index(["survey", "item"])
    moved = ways.index[ways.nunique(axis=1) > 1]
    assert list(moved) == [("CEMS", "StGallen"), ("CEMS", "Barcelona")]
    assert message == "Without noise, only wins rank St. Gallen before Barcelona"
    answers = survey_likelihood.survey_data("CEMS")
    points = {
        item: answers.points[answers.first == at].sum() + (2 - answers.points[answers.second == at]).sum()
        for at, item in enumerate(answers.items)
    }
    assert points["Barcelona"] > points["StGallen"], "two points a win, one an undecided answer"
    assert [len(axes.lines) for axes in figure.axes] == [6, 4]
    exchanged = s.draw_noiseless_orders(frame.assign(MLE=frame.wins)).get_suptitle().replace("\n", " ")
    assert "only wins and MLE rank" in exchanged


def test_figures_draw_what_they_are_given():
    frames = {
        published_curve.draw_figure_8: published_curve.figure_8([0.5, 3.0], 20),
        s.draw_equal_privacy: s.equal_privacy([0.5, 1.0], 20),
        incomplete.draw_incomplete: incomplete.incomplete(8, [0.5, 1.0], 1.0, 20),
    }
    for draw, frame in frames.items():
        figure = draw(frame)
        assert len(figure.axes) == 2
        named = (
            {panels.name_of(method) for method in frame.method}
            if "method" in frame
            else {"estimator, simulated", "counting, computed exactly", "estimator, in the paper"}
        )
        inside = {text.get_text() for axes in figure.axes for text in axes.texts}
        assert inside | {text.get_text() for text in figure.legends[0].get_texts()} == named | {"random order"}


def test_noiseless_rankings_differ_on_one_survey():
    record = s.check_quality()
    assert record.verdict == "depends on the reading"
    assert record[0].observed == pytest.approx(1 / 3)


def test_numbers_and_messages_follow_from_the_price():
    frames = {e: (published_curve.figure_8([0.5, e], 50), s.equal_privacy([0.5, e], 50, e)) for e in (1.0, 3.0)}
    told = {e: s.told(*frames[e], e) for e in frames}
    assert (told[1.0]["told-epsilon"], told[3.0]["told-epsilon"]) == ("1", "3")
    assert float(told[3.0]["told-mle-cems"]) < float(told[1.0]["told-mle-cems"])
    assert told[1.0]["told-share-cems"] == told[3.0]["told-share-cems"], "at the smallest one"
    costs = {e: s.costs(e) for e in frames}
    assert (costs[1.0]["noise-net"], costs[3.0]["noise-net"]) == ("18", "6")
    for e, (_, equal) in frames.items():
        figure = s.draw_equal_privacy(equal)
        said = " ".join(" ".join(text.get_text() for text in figure.texts).split())
        found = re.search(r"at most (\S+) places .* ε = (\S+), .* printed is up to (\S+) places farther off", said)
        assert float(found[2]) == e
        assert 0 < float(found[1]) < float(found[3]) < 1
