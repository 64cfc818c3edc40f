"""The flow of TRUN says what the algorithm does."""

from __future__ import annotations

import numpy as np

from companion.chapters.private_uniformity import pictures
from companion.printed import busafekete2021 as paper


def test_what_the_flow_calls_wrong_is_what_the_test_does():
    steps = pictures.trun_steps()
    as_printed = paper.trun(100, 1000, 1 / 3, 0.05, 0.1).mechanism
    agree, shuffled = np.full(50, 300), np.zeros(50, int)
    assert as_printed.accepts(agree) > 0.9 > 0.1 > as_printed.accepts(shuffled)
    wrong = steps[steps.wrong != ""]
    assert wrong.answer.str.cat(wrong.wrong, ": ").tolist() == [
        "drawn: Accept (says: shuffled): should be Reject",
        "not drawn: Reject: should be Accept",
    ]
    drawn = [text.get_text().split("\n")[-1] for text in pictures.draw_trun_steps(steps).axes[0].texts]
    assert [text for text in drawn if text.startswith("should")] == wrong.wrong.tolist()
