"""A budget's file has one name: a second one would have a journal of its own, which undoes what the other recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dprank


def test_a_file_with_two_names_is_refused_and_spends_nothing(tmp_path: Path) -> None:
    # processes killed under either name: 546 receipts of 537 entries, 32 of one number, before this was refused
    one, other = tmp_path / "budget.sqlite", tmp_path / "other.sqlite"
    budget = dprank.Budget(one, epsilon=1.0)
    budget.spend(dprank.Guarantee(0.25), dataset="survey")
    os.link(one, other)
    for path in (one, other):
        with pytest.raises(OSError, match=rf"{path.name}': has another name too, a hard link"):
            dprank.Budget(path)
    with pytest.raises(OSError, match="nothing is released"):
        budget.spend(dprank.Guarantee(0.25), dataset="survey")
    other.unlink()
    assert budget.spend(dprank.Guarantee(0.25), dataset="survey").number == 2


def test_a_symbolic_link_is_the_same_name(tmp_path: Path) -> None:
    # SQLite follows it, and so there is one journal
    one, other = tmp_path / "budget.sqlite", tmp_path / "other.sqlite"
    dprank.Budget(one, epsilon=1.0).spend(dprank.Guarantee(0.25), dataset="survey")
    other.symlink_to(one)
    assert dprank.Budget(other).spend(dprank.Guarantee(0.25), dataset="survey").number == 2
