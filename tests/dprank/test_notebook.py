"""A release in a notebook: its words, its picture and its table; iteration, length and the winner."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import dprank
from dprank._picture import MOST

NAMES = ["roads", "<b>debt</b> & co", "parks", "[fees]"]
ORDERS = [[0, 1, 2, 3]] * 300 + [[0, 2, 1, 3]] * 298


def borda(epsilon, names=tuple(NAMES)):
    mechanism = dprank.PrivateBorda.calibrated(epsilon=epsilon, n_items=len(names))
    return mechanism.release(dprank.Rankings(ORDERS, names), np.random.default_rng(2))


def rows(page):
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)][1:]


def words(page):
    root = ET.fromstring(page)  # well formed, whatever items are called
    return " ".join("".join(root.itertext()).split())


def test_a_notebook_shows_the_answer_its_ranges_and_its_promise():
    release = borda(1.0)
    page = release._repr_html_()
    said = words(page)
    assert said.startswith("roads > ")
    assert str(release.guarantee) in said
    assert "not for publication: drawn by a seeded generator" in said
    assert page.count("<circle") == 4
    # the bars are those of `intervals`: one item is alone in its place, two share theirs
    wide = (release.intervals()["highest"] - release.intervals()["lowest"]).tolist()
    bars = re.findall(r'x1="([\d.]+)" x2="([\d.]+)"[^>]*stroke-width="5"', page)
    step = max(float(b) - float(a) for a, b in bars) / max(wide)
    assert [round((float(b) - float(a)) / step) for a, b in bars] == wide
    assert "right for all at once with 95 % probability" in said
    assert [row[0] for row in rows(page)] == ["1", "2", "3", "4"]
    assert "<b>" not in page
    # in the colours of the page, and from nowhere else
    assert not re.search(r"https?:|url\(|#[0-9a-f]{3,6}\b|src=|href=", page)


def test_that_it_says_nothing_is_said():
    assert "This says nothing of their order" in words(borda(0.001)._repr_html_())
    assert "says nothing" not in borda(1.0)._repr_html_()


def test_without_known_ranges_there_is_no_picture():
    plain = dprank.Ranking(("roads", "parks"), np.array([1, 0]))
    public = dprank.PerturbedMLE.calibrated(epsilon=1.0, n_items=2, ridge=1.0, graph="public", per_person=1)
    answers = dprank.Comparisons([0] * 90, [1] * 90, [1] * 90, ["roads", "parks"], np.arange(90))
    decision = dprank.Decision(True, 9.0, 7.0, 0.01)
    for release in (plain, public.release(answers, np.random.default_rng(1)), decision):
        assert "<svg" not in release._repr_html_()
        assert rows(release._repr_html_())
    assert rows(plain._repr_html_()) == [["1", "parks"], ["2", "roads"]]


def test_a_top_k_has_a_picture_of_its_values():
    mechanism = dprank.Oneshot.calibrated(epsilon=1.0, items=["a", "b", "c", "d"], k=3, values=True, ordered=True)
    page = mechanism.release([900, 880, 400, 3], np.random.default_rng(1))._repr_html_()
    assert page.count("<circle") == 3
    assert "the places among these" in words(page)
    none = dprank.Oneshot.calibrated(epsilon=1.0, items=["a", "b", "c", "d"], k=3)
    assert "<svg" not in none.release([900, 880, 400, 3], np.random.default_rng(1))._repr_html_()


def test_of_many_items_the_first_are_shown():
    many = dprank.Ranking(tuple(f"item {i}" for i in range(500)), np.arange(500))
    page = many._repr_html_()
    assert len(rows(page)) == MOST
    assert f"{500 - MOST} more rows" in page


def test_releases_go_in_their_order_and_name_their_winner():
    ranking = borda(1.0)
    assert list(ranking) == list(ranking.ranking) == ranking.to_frame()["item"].tolist()
    assert len(ranking) == 4
    assert ranking.winner == ranking.ranking[0] == "roads"
    assert "roads" in ranking
    top = dprank.Oneshot.calibrated(epsilon=50.0, items=["a", "b", "c", "d"], k=2, ordered=True)
    chosen = top.release([3, 900, 400, 0], np.random.default_rng(1))
    assert (list(chosen), len(chosen), chosen.winner) == (["b", "c"], 2, "b")
    # of a set nobody knows which is the first
    loose = dprank.Oneshot.calibrated(epsilon=50.0, items=["a", "b", "c", "d"], k=2)
    several = loose.release([3, 400, 900, 0], np.random.default_rng(1))
    assert (list(several), hasattr(several, "winner")) == (["b", "c"], False)
    with pytest.raises(AttributeError, match="their order is not released"):
        _ = several.winner
    votes = dprank.Rankings(ORDERS, NAMES)
    won = dprank.PrivateWinner.calibrated(epsilon=9.0, n_items=4).release(votes, np.random.default_rng(1))
    assert (won.winner, list(won), len(won)) == ("roads", ["roads"], 1)
    with pytest.raises(TypeError):
        iter(dprank.Decision(True, 9.0, 7.0, 0.01))
