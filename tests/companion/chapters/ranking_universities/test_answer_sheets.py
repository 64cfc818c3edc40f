"""The pictured sheets are as far apart as any."""

import numpy as np

from companion.chapters.ranking_universities import answer_sheets
from dprank.pairwise import l1_sensitivity


def test_the_sheets_attain_the_sensitivities():
    frame = answer_sheets.moved()
    total = (frame.after - frame.before).abs().groupby(frame.rule).sum()
    assert total["every line filled"] == l1_sensitivity(6, 15, score="wins", design="complete", ties=False)
    assert total["lines may stay empty"] == l1_sensitivity(6, 15, score="wins", design="once")
    assert 2 * total["halved net wins"] == l1_sensitivity(6, 15, score="net", design="once")


def test_a_sheet_names_one_winner_a_line_at_most():
    for empty in (False, True):
        for sheet in answer_sheets.turned(6, empty):
            played = sheet + sheet.T
            assert (np.diag(played) == 0).all()
            assert played.max() == 1
            assert played.sum() == 2 * (12 if empty else 15)


def test_arrows_run_from_before_to_after():
    made = answer_sheets.draw_moved(answer_sheets.moved()).axes
    assert [axes.get_title(loc="left")[-2:] for axes in made] == ["18", "24", "18"]
    said = [[text.get_text() for text in axes.texts if text.get_text()] for axes in made]
    assert said[0] == ["−3"] * 3 + ["+3"] * 3
    assert said[2] == ["−4", "−3", "−2", "+4", "+3", "+2"]
