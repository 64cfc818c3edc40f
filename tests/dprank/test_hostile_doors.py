"""Whatever is handed to a door of the library is taken, or refused in one line that tells nothing of the data."""

import numpy as np
import pytest
from hostile_doors import NUMBER, WORD, doors, outcome, table

import dprank


@pytest.mark.slow
def test_every_door_takes_or_refuses_every_input():
    faults, total, inputs = table()
    assert inputs >= 400
    assert len(doors()) >= 100
    assert not faults, "\n".join(" | ".join(fault) for fault in faults)
    assert total["taken"] > 1000
    assert total["refused"] > 20_000


def test_every_class_at_the_front_door_is_tried():
    tried = {name.split(".")[0].rstrip("*").split(" ")[0] for name in doors()}
    tests = {
        "audit",
        "Audit",
        "BudgetRefused",
        "Choice",
        "Plan",
        "SECURE",
        "Report",
        "__version__",
    }  # made by others, or constants
    assert set(dprank.__all__) - tests <= tried | {"Release"}, "doors of hostile_doors.py tries them"


def hang(_):
    while True:
        pass


@pytest.mark.parametrize(
    ("door", "fault"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda _: np.int8(127) + np.int8(1), "RuntimeWarning"),
        (hang, "more than"),
        (lambda _: exec(f"raise ValueError('{WORD}')"), "word of the data"),
        (lambda _: exec(f"raise ValueError('{NUMBER}')"), "word of the data"),
        (lambda _: exec("raise ValueError('a\\nb')"), "lines"),
    ],
    ids=["another error", "a wrap", "a hang", "a person", "a number", "two lines"],
)
def test_the_table_sees_a_fault(door, fault):
    assert fault in outcome(door, None, data=True, seconds=0.1)
