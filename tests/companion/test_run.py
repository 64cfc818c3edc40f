"""`companion run`: declarations of all chapters, what readers get wrong, and a run on the miniature book."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from checks import each
from small_book import REPOSITORY, at_hand, refused, replace, snapshot

from companion.instruments.parameters import Parameter, declared, fitted
from companion.press import BuildError, UsageError, pipeline
from companion.press.layout import Layout
from companion.press.parameters import given
from companion.press.profiles import PROFILES, Chapter, load
from companion.press.run import Run, differences


@cache
def book(profile: str) -> dict[str, Chapter]:
    """The book's own chapters, read once."""
    return load(Layout(REPOSITORY), profile)


def pages() -> list[str]:
    """Roads, and the pages behind them."""
    return [name for name, chapter in book("smoke").items() if not chapter.late]


def known(name: str) -> dict[str, Parameter]:
    return declared(book("smoke")[name].notebook)


def notebook(source: str) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]})
    return nbformat.v4.new_notebook(cells=[cell])


@each("name", pages)
def test_every_parameter_is_declared(name: str) -> None:
    """With a type, a range and a phrase that its defaults and every profile fit."""
    for parameter in known(name).values():
        assert parameter.kind in (int, float)
        assert parameter.pool or parameter.low < parameter.high
        assert len(parameter.about.split()) > 1
    for profile in PROFILES:
        chapter: Chapter = book(profile)[name]
        assert fitted(known(name), chapter.parameters).items() >= chapter.parameters.items()


@each(
    ("source", "message"),
    [
        ("k = 3", "k: ''; allowed: `name = default  # low .. high; what it is`"),
        ("k = 3  # how many", "k: 'how many'; allowed: `name = "),
        ("k = 3  # 4 .. 9; how many", "k = 3; allowed: an integer, 4 .. 9"),
        ("k = 3  # 1 .. n; how many", "k: '1 .. n; how many'; allowed: `name = "),
        ("k = 3  # 1.2.3 .. 9; how many", "k: '1.2.3 .. 9; how many'; allowed: `name = "),
        ("k = 3  # of 2, 4; how many", "k = 3; allowed: an integer, one of 2, 4"),
        ("k = [1, 2.0]  # 1 .. 9; how many", r"k: \[1, 2.0\]; allowed: integers, numbers or text"),
        ("k = []  # 1 .. 9; how many", r"k: \[\]; allowed: integers, "),
        ("k = n  # 1 .. 9; how many", "k: n; allowed: a literal"),
        ("print(3)  # 1 .. 9; how many", r"'print\(3\)'; allowed: `name = "),
    ],
)
def test_declarations_are_validated(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        declared(notebook(source))


FORMS = """\
n = 8  # 2 .. 1_000; items
k = 3  # of 3, 5; how many
epsilon = 1.0  # 1e-3 .. 20; privacy
sizes = [
    8, 16
]  # 2+ of 2 .. 128; a list over lines
# of 10, 100, 500; panels
panels = [10, 100]
"""


def test_forms_of_a_declaration() -> None:
    forms = declared(notebook(FORMS))
    assert [it.allowed for it in forms.values()] == [
        "an integer, 2 .. 1_000",
        "an integer, one of 3, 5",
        "a number, 0.001 .. 20",
        "a list of 2 or more integers, each 2 .. 128, none twice",
        "a list of integers, each one of 10, 100, 500, none twice",
    ]
    fits: dict[str, Any] = {"n": 5, "k": 5, "epsilon": 1, "sizes": [2, 4], "panels": [500]}
    assert fitted(forms, fits) == fits
    assert type(fitted(forms, fits)["epsilon"]) is float
    wrong = {"k": [4], "epsilon": float("nan"), "sizes": [8], "panels": [10, 10]}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"^{name} = "):
            fitted(forms, fits | {name: value})


@each(
    ("text", "value"),
    [("15", 15), ("-1", -1), ("1e-3", 1e-3), ("1_000", 1000), ("[0.7, 1.4]", [0.7, 1.4]), ("abc", "abc"), ("", ""),
     ("017", "017"), ("9**9**9", "9**9**9"), ("True", True), ("None", None), ("[1", "[1"), ("(" * 999, "(" * 999)],
)  # fmt: skip
def test_values_are_literals_or_text(text: str, value: object) -> None:
    assert given([("epsilon", text)]) == {"epsilon": value}


def test_values_in_yaml() -> None:
    assert given([], ["epsilons: [0.7, 1e-3]\nk: 3"]) == {"epsilons": [0.7, 1e-3], "k": 3}


@each(
    ("pairs", "texts", "message"),
    [
        ([("k", "1"), ("k", "2")], [], "k: given twice; allowed: once"),
        ([("k", "1")], ["k: 2"], "k: given twice; allowed: once"),
        ([], ["k"], "-y: 'k'; allowed: a mapping, such as"),
        ([], ["{k: "], "-y: '{k: ': not YAML: "),
        ([], ["k: 2020-13-45"], "-y: 'k: 2020-13-45': not YAML: "),
        ([], ["3: 4"], "-y: '3: 4'; allowed: a mapping"),
    ],
)
def test_what_is_no_parameter_list(pairs: list[tuple[str, str]], texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}") as error:
        given(pairs, texts)
    assert "\n" not in str(error.value)


HOSTILE = [
    ("01-ranking-universities", "epsilon", "abc", "epsilon = 'abc'; allowed: a number, "),
    ("01-ranking-universities", "epsilon", "0", "epsilon = 0; allowed: a number, "),
    ("01-ranking-universities", "voter", "30", "'voter' is no parameter; allowed: voters, the nearest; "),
    ("02-edge-privacy", "sim_items", "100", "sim_items = 100; allowed: a list of integers, each "),
    ("02-edge-privacy", "sim_probabilities", "[0.5, 1.5]", "sim_probabilities = [0.5, 1.5]; allowed: a list of num"),
    ("02-edge-privacy", "sim_published", "[99]", "sim_published = [99]; allowed: a list of integers, each one of "),
    ("03-individual-privacy", "answers", "2.5", "answers = 2.5; allowed: an integer, "),
    ("03-individual-privacy", "rate_voters", "[1000, 1000]", "rate_voters = [1000, 1000]; allowed: a list of "),
    ("03-individual-privacy", "trials", "1e400", "trials = inf; allowed: an integer, "),
    ("04-real-surveys", "items", "10**6", "items = '10**6'; allowed: an integer, "),
    ("04-real-surveys", "shares", "[]", "shares = []; allowed: a list of numbers, each "),
    ("04-real-surveys", "graphs", "True", "graphs = True; allowed: an integer, "),
    ("05-testing-uniformity", "laws_epsilons", "[1.0]", "laws_epsilons = [1.0]; allowed: a list of numbers, each "),
    ("05-testing-uniformity", "jobs", "0", "jobs = 0; allowed: an integer, 1 .. "),
    ("05-testing-uniformity", "phi_items", "[20]", "phi_items = [20]; allowed: a list of 2 or more integers, "),
    (
        "06-private-uniformity",
        "figure_items",
        "[10, 11]",
        "figure_items = [10, 11]; allowed: a list of integers, each ",
    ),
    (
        "06-private-uniformity",
        "figure_scales",
        "[-1.0]",
        "figure_scales = [-1.0]; allowed: a list of 2 or more numbers, ",
    ),
    ("06-private-uniformity", "null_draws", "None", "null_draws = None; allowed: an integer, "),
    ("07-private-top-k", "exact_q", "15", "'exact_q' is no parameter; allowed: exact_k, the nearest; "),
    ("07-private-top-k", "exact_k", "-1", "exact_k = -1; allowed: an integer, "),
    ("07-private-top-k", "recall_ks", "[[5]]", "recall_ks = [[5]]; allowed: a list of integers, each "),
    ("08-private-rank-centrality", "chain_pairs", "1e3", "chain_pairs = 1000.0; allowed: an integer, "),
    ("08-private-rank-centrality", "private_samples", "[0]", "private_samples = [0]; allowed: a list of integers, "),
    ("08-private-rank-centrality", "", "3", "'' is no parameter; allowed: "),
    ("09-private-aggregation", "kwiksort_listed", "30", "kwiksort_listed = 30; allowed: an integer, "),
    ("09-private-aggregation", "quicksort_sizes", "[8, '16']", "quicksort_sizes = [8, '16']; allowed: a list of 2 or "),
    ("09-private-aggregation", "records", "x", "'records' is no parameter; allowed: "),
    ("10-local-aggregation", "reports_planted", "1", "reports_planted = 1; allowed: an integer, 2 .. "),
    (
        "10-local-aggregation",
        "blocks_repetition",
        "9",
        "'blocks_repetition' is no parameter; allowed: blocks_repetitions",
    ),
    ("10-local-aggregation", "borda_repetitions", "[9]", "borda_repetitions = [9]; allowed: an integer, "),
    ("11-aggregation-lower-bounds", "repetitions", "1", "repetitions = 1; allowed: an integer, 2 .. "),
    ("11-aggregation-lower-bounds", "share", "0.5", "share = 0.5; allowed: a number, 0.002 .. 0.05"),
    ("11-aggregation-lower-bounds", "__import__", "1", "'__import__' is no parameter; allowed: items, "),
    ("12-privacy-audited", "power_factors", "[0.5]", "power_factors = [0.5]; allowed: a list of numbers, each "),
    ("12-privacy-audited", "bug_budget", "1" * 5000, "bug_budget = "),
    ("12-privacy-audited", "audits", "a\nb", r"audits = 'a\nb'; allowed: an integer, "),
    ("13-one-private-order", "tables_sizes", "[8]", "tables_sizes = [8]; allowed: a list of 2 or more integers, each "),
    ("13-one-private-order", "people", "-2", "people = -2; allowed: an integer, 200 .. "),
    ("13-one-private-order", "epsilon", "1e400", "epsilon = inf; allowed: a number, 0.2 .. 3"),
    ("14-release-your-own", "most_items", "5", "most_items = 5; allowed: an integer, 2 .. 4"),
    ("14-release-your-own", "coverage_release", "60", "'coverage_release' is no parameter; allowed: coverage_releases"),
    ("14-release-your-own", "draw", "inf", "draw = 'inf'; allowed: an integer, 1 .. "),
    ("15-which-method", "items", "4", "items = 4; allowed: an integer, 5 .. 50"),
    ("15-which-method", "epsilons", "[1]", "epsilons = [1]; allowed: a list of 2 or more "),
    ("15-which-method", "advice_cells", "many", "advice_cells = 'many'; allowed: an integer, 1 .. "),
    ("16-what-epsilon-buys", "items", "7", "items = 7; allowed: an integer, 3 .. 6"),
    ("16-what-epsilon-buys", "people", "nan", "people = 'nan'; allowed: an integer, 10 .. "),
    ("16-what-epsilon-buys", "epsilon", "-1", "epsilon = -1; allowed: a number, 0.05 .. 3"),
    ("17-better-than-printed", "repetitions", "99", "repetitions = 99; allowed: an integer, 100 .. "),
    ("17-better-than-printed", "repetitions", "1e9", "repetitions = "),
    ("17-better-than-printed", "people", "500", "people = 500; allowed: an integer, one of 50, 400"),
]


def test_three_hostile_settings_a_chapter() -> None:
    roads = [name for name in pages() if name[2] == "-"]
    assert [[name for name, *_ in HOSTILE[at::3]] for at in range(3)] == [roads] * 3


@each(("name", "parameter", "text", "message"), HOSTILE)
def test_hostile_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, parameter: str, text: str, message: str
) -> None:
    monkeypatch.setattr(pipeline, "load", lambda _, profile: book(profile))
    with pytest.raises(UsageError) as error:
        Run(REPOSITORY, name, given([(parameter, text)]), "smoke")
    line = str(error.value)
    assert line.startswith(f"{name}: {message}")
    assert "\n" not in line
    assert len(line) < 300


def run(root: Path, chapter: str, **own: Any) -> list[str]:
    lines: list[str] = []
    with at_hand():
        Run(root, chapter, own, say=lines.append).run()
    return lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1", "-p", "repetition", "5"], "01-first: 'repetition' is no parameter; allowed: repetitions, the nearest; "),
        (["1", "-p", "repetitions", "-5"], "01-first: repetitions = -5; allowed: an integer, 2 .. 100"),
        (["01", "-y", "repetitions: [5]"], "01-first: repetitions = [5]; allowed: an integer, 2 .. 100"),
        (["0", "-p", "repetitions", "5"], "chapter: '0'; allowed: 01-first, 02-second"),
        (["3"], "chapter: '3'; allowed: 01-first, 02-second"),
        (["90-board"], "chapter: '90-board'; allowed: 01-first, 02-second"),
        (["01-first", "--profile", "large"], "profile: 'large'; allowed: smoke, standard, paper"),
        (["02-second", "-p", "k", "1"], "02-second: 'k' is no parameter; allowed: none; "),
    ],
)
@pytest.mark.slow
def test_refusals_of_the_command(sources: Path, arguments: list[str], message: str) -> None:
    code, line = refused(sources, "run", *arguments)
    assert code == 2
    assert line.startswith(f"companion: {message}")


def test_pair_of_one_word(sources: Path) -> None:
    command = [sys.executable, "-m", "companion", "run", "01", "-p", "repetitions"]
    result = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == "Error: Option '-p' needs a name and a value."


def test_list_of_parameters(sources: Path) -> None:
    lines: list[str] = []
    Run(sources, "01-f", {"repetitions": 7}, say=lines.append).parameters()
    assert lines == ["repetitions = 7", "    how often the line is drawn", "    an integer, 2 .. 100"]


#: Head of an inventory of Sphinx.
INVENTORY = b"# Sphinx inventory version 2\n# Project: book\n# Version: \n# The rest is compressed by zlib.\n"


@pytest.mark.slow
def test_a_run(sources: Path) -> None:
    """Its page stands beside the book's, in a place of its own, with links to the book's pages."""
    replace(
        sources / "notebooks/01-first.ipynb",
        "Plain prose.",
        "[Two](02-second.ipynb), [90](90-board.ipynb), {py:func}`one`.",
    )
    for name in ("notebooks/02-second.html", "book/api.html"):
        (sources / "_build/html" / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / "_build/html" / name).write_text("the book's")
    inventory = INVENTORY + zlib.compress(b"one py:function 1 book/api.html#$ -\n")
    (sources / "_build/html/objects.inv").write_bytes(inventory)
    theirs = [
        {"claim": "mini2020:alg-1", "chapter": "01-first", "verdict": "refuted", "checks": [
            {"what": "one", "observed": 0.5, "relation": "<=", "bound": 2.0, "about": "printed", "reading": "",
             "error": 1e-9}]},
        {"claim": "mini2020:thm-1", "chapter": "02-second", "verdict": "holds", "checks": []},
    ]  # fmt: skip
    records = json.dumps({"profile": "standard", "records": theirs}).encode()
    (sources / "_build/records.json").write_bytes(records)
    before = snapshot(sources)
    lines = run(sources, "1", repetitions=7)
    after = snapshot(sources)
    assert {name: after[name] for name in before} == before
    assert all(name.startswith("_build/run/01-first/") for name in after.keys() - before.keys())
    assert lines[0] == "01-first: runs because not run yet in profile standard"
    assert lines[-4:] == [
        "differs: mini2020:alg-1: verdict: book refuted, yours holds",
        "differs: mini2020:alg-1, one: book 0.5, yours 1",
        "1 verdict and 1 number differ in 1 claim; the book's: _build/records.json",
        "open _build/run/01-first/html/notebooks/01-first.html",
    ]
    page = (sources / "_build/run/01-first/html/notebooks/01-first.html").read_text()
    assert "Your own run, profile standard with repetitions = 7" in page
    assert 'id="mini2020-alg-1"' in page
    assert 'href="../../../../html/notebooks/02-second.html"' in page
    assert 'href="../../../../html/book/api.html#one"' in page
    assert "90-board.html" not in page
    lines = run(sources, "1", repetitions=7)
    assert lines[:2] == ["01-first: cached", "site: cached"]
    other = Run(sources, "1", {"repetitions": 8})
    assert [other.job(page).reason() for page in other.only] == ["parameters of standard changed"]


@pytest.mark.slow
def test_a_cell_that_fails(sources: Path) -> None:
    replace(sources / "notebooks/01-first.ipynb", "import runpy", "1 / (repetitions - 7)")
    with pytest.raises(BuildError) as error:
        run(sources, "1", repetitions=7)
    assert str(error.value) == (
        "01-first: cell 2 (cell-2) failed: 1 / (repetitions - 7); ZeroDivisionError: division by zero; "
        "all of it: _build/run/01-first/traceback.txt"
    )
    assert "Traceback" in (sources / "_build/run/01-first/traceback.txt").read_text()


def test_differences() -> None:
    """Verdicts apart from numbers; checks are matched by what they check, alike ones in their order."""

    def record(claim: str, verdict: str, *checks: tuple[str, float]) -> dict[str, Any]:
        plain = {"relation": "<=", "bound": 1, "about": "printed", "reading": "", "error": 0.0}
        return {"claim": claim, "verdict": verdict, "checks": [{"what": w, "observed": o} | plain for w, o in checks]}

    book = [record("a", "holds", ("x", 1), ("x", 2.0), ("y, k = 20", 3)), record("b", "holds", ("z", 1))]
    yours = [record("a", "refuted", ("x", 1), ("x", 2.5), ("y, k = 15", 4)), record("c", "holds", ("z", "inf"))]
    verdicts, numbers = differences({}, book, yours)
    assert verdicts == [
        "a: verdict: book holds, yours refuted",
        "b: verdict: book holds, yours no record",
        "c: verdict: book no record, yours holds",
    ]
    assert numbers == [
        "a, x: book 2, yours 2.5",
        "a, y, k = 20: only book: 3",
        "a, y, k = 15: only yours: 4",
        "b, z: only book: 1",
        "c, z: only yours: inf",
    ]
    close = [record("a", "holds", ("x", 1), ("x", 2.0 + 1e-12), ("y, k = 20", 3)), book[1]]
    assert differences({}, book, close) == ([], [])


OWN = "epsilon = 1.0  # 0.1 .. 3; of the release\ncities = 3  # 2 .. 9; that are ranked"
CHECKING = "from companion.instruments.parameters import check_parameters\n\ncheck_parameters()"


@pytest.mark.slow
def test_bare_papermill_refuses_in_a_line(tmp_path: Path) -> None:
    """Whoever runs the notebook: what a parameter may be is said by the notebook itself."""
    cells = [notebook(OWN).cells[0], *map(nbformat.v4.new_code_cell, (CHECKING, "print(cities, epsilon)"))]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(made, tmp_path / "a.ipynb")
    for given_ones, line in (
        ({"epsilon": 2}, None),
        ({"epsilon": 50}, "epsilon = 50; allowed: a number, 0.1 .. 3"),
        ({"cities": 2.5}, "cities = 2.5; allowed: an integer, 2 .. 9"),
        ({"cities": "many"}, "cities = 'many'; allowed: an integer, 2 .. 9"),
    ):
        words = [word for name, value in given_ones.items() for word in ("-p", name, str(value))]
        command = [sys.executable, "-m", "papermill", "a.ipynb", "b.ipynb", *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        ended = nbformat.read(tmp_path / "b.ipynb", as_version=4)
        if line is None:
            assert ended.cells[-1].outputs[0].text == "3 2\n"
        else:
            assert ran.stderr.strip().splitlines()[-1] == line
            assert [it.traceback for cell in ended.cells for it in cell.get("outputs", [])] == [[line]]
