"""The attack by hand; its figure."""

from __future__ import annotations

from companion.chapters.edge_privacy import attack


def test_the_attack_by_hand():
    # two items of strength 0 that meet once; item 1 wins: its score is 1/2, that of item 2 is -1/2
    terms = attack.score_terms([0.0, 0.0], [[0, 1], [0, 0]])
    assert attack.attack([1.0, 3.0], terms, 0, printed=True).sum() == 0.5
    assert attack.attack([1.0, 3.0], terms, 1, printed=True).sum() == 1.5
    assert attack.attack([1.0, 3.0], terms, 1, printed=False).sum() == -1.5


def test_figure_shows_both_signs():
    frame = attack.expected_attacks(11, 4 / 11, 0.5)
    lines = attack.draw_attack_by_item(frame).axes[0].get_lines()
    assert [len(line.get_xdata()) for line in lines[:2]] == [11, 11]
