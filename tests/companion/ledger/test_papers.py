"""A paper stands once: a fifth is added to a copy of the book by what `book/contribute.md` says, and nothing less."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from companion.ledger import papers
from companion.ledger.certificates import Checker
from companion.ledger.claim import Record, printed
from companion.ledger.files import find_root, load_ledger
from companion.ledger.graph import graph
from companion.ledger.history import Change, told
from companion.ledger.open import open_lists
from companion.ledger.papers import PAPERS, PRINTED, Paper, copies, families, how_many, paper_of
from companion.ledger.results import results_list
from companion.ledger.scoreboard import Scoreboard
from companion.ledger.sentences import Reading
from companion.press.layout import Layout
from companion.press.profiles import load

ROOT = find_root(Path(__file__))
WRITE = runpy.run_path(str(ROOT / "book/papers.py"))
#: What a paper needs, by the place.
COPIED: tuple[str, ...] = (
    "README.md",
    "CITATION.cff",
    "_toc.yml",
    "data/papers.yml",
    "book/references.bib",
    "data/claims/*.yml",
)
COPIED += (
    "book/_static/search.js",
    "data/expected/standard.json",
    "data/sentences/*.yml",
    "book/*.md",
    "notebooks/*",
    "certificates/*.py",
)
COPIED += ("data/certificates/uncovered-*.yml",)
FIFTH = Paper(key="nobody1999", short="Nobody", year=1999, authors="Nobody and Noone", errata="98-errata-nobody1999")
SENTENCE = re.compile(r"of the other (\w+) papers we had no code")


def lacking(root: Path, those: Sequence[Paper] = PRINTED) -> list[str]:
    """The places where a paper is not, or where something is of no paper."""
    known = {it.key for it in those} | {it.key for it in PAPERS.values() if it.ours}
    texts = {
        name: (root / name).read_text("utf-8")
        for name in ("book/references.bib", "book/index.md", "book/_static/search.js")
    }
    read, uncoded = copies(root), SENTENCE.search((root / "notebooks/97-what-was-read.ipynb").read_text("utf-8"))
    found = [f"papers.py: {it.stem}" for it in (root / "data/claims").glob("*.yml") if it.stem not in known]
    for it in those:
        places = {
            f"data/claims/{it.key}.yml": (root / f"data/claims/{it.key}.yml").exists(),
            f"data/sentences/{it.key}.yml": any((root / "data/sentences").glob(f"{it.key}*.yml")),
            "data/papers.yml": it.key in read,
            "book/references.bib": f"{{{it.key},\n" in texts["book/references.bib"],
            "book/_static/search.js": set(_others(it))
            <= set(re.findall(r'(\w+): "\w+"', texts["book/_static/search.js"])),
            "book/index.md": f"{{cite:t}}`{it.key}`," in texts["book/index.md"],
        }
        found += [f"{place}: {it.key}" for place, there in places.items() if not there]
    assert uncoded
    if uncoded[1] != how_many(sum(not it.sources for it in read.values())):
        found.append("notebooks/97-what-was-read.ipynb")
    for path, text in WRITE["written"](root, those):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"book/papers.py writes {path.relative_to(root).as_posix()}")
    return found


def _others(paper: Paper) -> list[str]:
    """Names of all authors but the first, as a search has them."""
    return [name.lower() for name in re.findall(r"[\w-]+", paper.authors.replace(" and ", ", "))[1:]]


def test_each_paper_stands_wherever_it_must() -> None:
    assert lacking(ROOT) == []


def test_no_two_papers_are_taken_for_one_another() -> None:
    for field in ("key", "name", "errata", "family"):
        values = [value for it in PRINTED if (value := getattr(it, field))]
        assert len(set(values)) == len(values), field
    assert [it.key for it in PAPERS.values() if it.ours] == ["audit", "release", "guide"]
    assert set(families()) == {"pairwise", "uniformity", "topk", "aggregation"}
    assert paper_of("mini2020:thm-1") == Paper(key="mini2020", short="mini2020")
    assert [how_many(it) for it in (2, 12, 13)] == ["two", "twelve", "13"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """All that says which papers there are, and no more of the book."""
    for path in (it for name in COPIED for it in ROOT.glob(name) if it.is_file()):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def _append(path: Path, text: str) -> None:
    path.write_text((path.read_text("utf-8") if path.exists() else "") + text, encoding="utf-8")


def _instead(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


CLAIMS = """\
- {id: 'nobody1999:thm-1', where: Theorem 1, kind: theorem, statement: One is one., chapter: 01a-noisy-counts,
   verdict: holds, method: exact}
- {id: 'nobody1999:thm-2', where: Theorem 2, kind: theorem, statement: Two is one., chapter: 01a-noisy-counts,
   verdict: refuted, method: exact, why: Two is more., corrected: Two is two., impact: theorem false,
   page: {title: Two is more than one, printed: Two is one., why: It is more. Count them., instead: Two is two.}}
"""
SENTENCES = """\
- {place: Theorem 1, says: One is one., claims: ['nobody1999:thm-1']}
- {place: Theorem 2, says: Two is one., claims: ['nobody1999:thm-2']}
"""
READ = """
nobody1999: {identifier: arXiv 9901.00001, dated: 1 January 1999, digest: 0, lacks: Nothing., sources: []}
"""
UNCODED = [how_many(sum(not it.sources for it in copies(ROOT).values()) + more) for more in (0, 1)]
ROW = "| {cite:t}`alabi2022`, aggregating rankings"
#: By hand, in the order of `book/contribute.md`: the place, and what one does there.
STEPS: dict[str, Callable[[Path], object]] = {
    "book/references.bib": lambda path: _append(path, "@article{nobody1999,\n  title = {Nothing}\n}\n"),
    "data/papers.yml": lambda path: _append(path, READ),
    "data/claims/nobody1999.yml": lambda path: _append(path, CLAIMS),
    "data/sentences/nobody1999.yml": lambda path: _append(path, SENTENCES),
    "book/index.md": lambda path: _instead(path, ROW, f"| {{cite:t}}`nobody1999`, nothing | all |\n{ROW}"),
    "book/_static/search.js": lambda path: _instead(path, "const same = {", 'const same = { noone: "nobody",'),
    "notebooks/97-what-was-read.ipynb": lambda path: _instead(
        path, f"other {UNCODED[0]} papers", f"other {UNCODED[1]} papers"
    ),
}


def _write(root: Path, those: Sequence[Paper]) -> None:
    for path, text in WRITE["written"](root, those):
        path.write_text(text, encoding="utf-8")


def test_a_fifth_paper_is_missed_wherever_it_is_not(book: Path) -> None:
    five = [*PRINTED, FIFTH]
    for place, do in STEPS.items():
        before = lacking(book, five)
        assert place in {it.partition(":")[0] for it in before}, place
        do(book / place)
        assert place not in {it.partition(":")[0] for it in lacking(book, five)}, place
    left = lacking(book, five)
    assert [it for it in left if not it.startswith("book/papers.py writes ")] == []
    written = {it.removeprefix("book/papers.py writes ") for it in left}
    assert {"notebooks/98-errata-nobody1999.ipynb", "notebooks/91-errata.ipynb", "_toc.yml", "README.md"} <= written
    assert lacking(book)[0] == "papers.py: nobody1999", "the table itself"
    _write(book, five)
    assert lacking(book, five) == []
    said = " ".join((book / "README.md").read_text(encoding="utf-8").split())
    assert f"{how_many(len(five)).capitalize()} papers say" in said
    number = sum(not paper_of(it).ours for it in load_ledger(book))
    assert f" {number} statements have been put to the test by machine" in said
    assert load(Layout(book), "smoke")["98-errata-nobody1999"].late


def test_contribute_names_the_places() -> None:
    said = (
        (ROOT / "book/contribute.md").read_text(encoding="utf-8").partition("## Add a paper")[2].partition("\n## ")[0]
    )
    for place in (*STEPS, "src/companion/ledger/papers.py", ".venv/bin/python book/papers.py"):
        assert f"`{place.replace('nobody1999', '<paper>')}`" in said, place
    assert len(re.findall(r"^\d\. ", said, re.MULTILINE)) == len(STEPS) + 1 == 8


def test_all_that_lists_papers_has_a_fifth(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, do in STEPS.items():
        do(book / place)
    monkeypatch.setitem(papers.PAPERS, FIFTH.key, FIFTH)
    monkeypatch.setenv("COMPANION_ROOT", str(book))
    content = json.loads((ROOT / "data/expected/smoke.json").read_bytes())
    for name, bound in (("thm-1", 2), ("thm-2", 1)):
        made = Record(f"nobody1999:{name}", (printed("two", 2, "<=", bound),))
        content["records"].append({"chapter": "01a-noisy-counts", **made.to_json()})
    (book / "records.json").write_text(json.dumps(content), encoding="utf-8")
    (book / "certificates/nobody1999.py").write_text("ONE = 1\n", encoding="utf-8")
    board, reading, ledger = Scoreboard("records.json"), Reading("records.json"), load_ledger(book)
    for table in (board.counts(), board.impacts(), board.methods(), board.coverage(), reading.counts()):
        assert "Nobody (1999)" in table.index
    assert Checker().lines().loc["Nobody (1999)", "lines"] == 1
    assert "erratum-nobody1999-thm-2" in board.errata("nobody1999")
    assert "Thm 1" not in graph(board.entries, "nobody1999"), "nothing rests on it"
    changes = [Change(date="1999-01-01", version="1", claim="nobody1999:thm-1", now="holds")]
    shown = [board.claims(), reading.copies(), reading.all(), results_list(board.entries), told(changes, ledger)]
    assert all("Nobody (1999)" in it for it in (*shown, open_lists(book, board.entries)["open_lacks"]))
