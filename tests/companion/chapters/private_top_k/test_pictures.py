"""The pictures of the road of chapter 7 show what the mechanisms do."""

from __future__ import annotations

import numpy as np

from companion.chapters.private_top_k import pictures
from companion.chapters.private_top_k.recall import exact_recall, zipf
from companion.instruments.topk import theorem_2_1


def test_found_is_the_exact_recall():
    frame = pictures.found([0.5, 5.0], repetitions=200).set_index(["epsilon", "mechanism"])
    few = frame.loc[(0.5, "Laplace, Theorem 2.1")]
    counts = zipf(60, pictures.COMMONEST).astype(float)  # of the others none comes near
    exact = pictures.PUBLISHED * exact_recall(counts, pictures.PUBLISHED, theorem_2_1(20, 0.5), "laplace")
    assert abs(few["mean"] - exact) < 5 * few.se + 0.05
    assert 18 < pictures.PUBLISHED * 0.9 + 0.5 < frame.loc[(5.0, "Gumbel noise"), "mean"] <= 20


def test_epsilon_for_lies_between_the_points():
    frame = pictures.found([0.05, 0.1, 0.2, 5.0], repetitions=100)
    assert 0.1 < pictures.epsilon_for(frame, "Gumbel noise") < 0.2
    assert pictures.draw_found(frame).get_suptitle().startswith("Gumbel noise finds 18 of 20")


def test_what_the_pictures_of_the_road_say_follows_from_its_parameters():
    one = pictures.found([0.05, 0.2, 5.0], 50, 3, items=200, k=7, delta=1e-3)
    assert one.k.unique().tolist() == [7]
    assert one["mean"].between(0, 7).all()
    assert " of 7 " in pictures.draw_found(one).get_suptitle().replace("\n", " ")
    lists = pictures.found_by_k([3, 40], 0.2, 50, 3, items=200, delta=1e-3)
    assert "more of a long list" in pictures.draw_recall_by_k(lists).get_suptitle().replace("\n", " ")
    alike = pictures.found_by_k([3], 5.0, 50, 3, items=200, delta=1e-3)
    assert "about as much" in pictures.draw_recall_by_k(alike).get_suptitle().replace("\n", " ")
    said = pictures.numbers(one, lists, epsilon=0.2, items=200, k=7, delta=1e-3)
    assert said["topk-k"] == "7"
    assert said["recall-k"] == "40"
    assert said["found-gumbel"] == f"{one['mean'][3]:.1f}"


def test_one_release_publishes_the_largest_noisy_counts():
    frame = pictures.one_release()
    assert frame.chosen.sum() == 5
    assert frame.noisy[frame.chosen].min() > frame.noisy[~frame.chosen].max()
    assert not frame.chosen[:5].all()
    assert pictures.draw_one_release(frame).axes


def test_one_record_moves_counts_by_one():
    frame = pictures.one_record()
    moves = (frame.after - frame.before).groupby(frame.meaning)
    assert (moves.max() - moves.min()).to_dict() == {
        "added or removed: all one way": 1,
        "replaced: any direction": 2,
    }
    assert len(pictures.draw_one_record(frame).axes) == 2


def test_only_counts_in_any_direction_cost_more_than_promised():
    frame = pictures.price_list()
    over = frame[frame.times > 1]
    assert over[["release", "adjacency"]].to_numpy().tolist() == [["set, fresh values", "any direction"]]
    assert np.isclose(over.times.item(), 1.5)
    assert pictures.draw_price_list(frame).axes
