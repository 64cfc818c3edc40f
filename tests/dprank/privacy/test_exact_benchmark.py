"""The benchmark of exact noise runs, at its smallest size. What it measures is looked at nowhere."""

import runpy
import sys
from pathlib import Path

FILE = Path(__file__).parents[3] / "benchmarks" / "exact.py"


def test_the_benchmark_runs_and_names_all_that_it_times(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(FILE), "--draws", "20", "--items", "4", "--k", "2"])
    runpy.run_path(str(FILE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert sum("OpenDP" in line for line in lines) == 2 * 6 + 4 * 2
    assert sum("seeded" in line for line in lines) == 4 * 4
