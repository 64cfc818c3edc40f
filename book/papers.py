"""Write what follows from the tables of papers and claims: pages of errata, what leads to them, the README's counts.

    python book/papers.py

The table is `src/companion/ledger/papers.py`; the page of its first paper is the model of the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from companion.ledger.files import load_ledger
from companion.ledger.front import counts
from companion.ledger.papers import NUMBERS, PRINTED, Paper, how_many

ROOT = Path(__file__).parents[1]
#: Where the pages of errata are listed.
LIST = "notebooks/91-errata.ipynb"
#: What the README says of all statements, as the records of the standard profile have it.
STATED = (
    "{claims} statements have been put to the test by machine: {hold} simply hold, {slips} have a slip of the pen, "
    "{wrong} need a change, {unchecked} could not be checked, and {broken} of the {wrong} break a promise"
)
RECORDS = "data/expected/standard.json"
#: What is said of all papers: three or more are all, if not "the other three".
COUNTED = re.compile(rf"(?<!\bother )\b({'|'.join(NUMBERS[3:])})(?= papers\b)", re.IGNORECASE)


def page(paper: Paper, model: str, first: Paper) -> str:
    """The errata of a paper, as those of the `first` one are."""
    text = model.replace(first.key, paper.key).replace(first.citation, paper.citation)
    return text.replace(first.authors, paper.authors)


def listed(text: str, papers: Sequence[Paper]) -> str:
    """The notebook of all errata with its list of pages."""
    notebook = json.loads(text)
    lines = [f"- [{it.citation}]({it.errata}.ipynb)\n" for it in papers]
    lines[-1] = lines[-1].rstrip("\n")
    next(cell for cell in notebook["cells"] if cell["id"] == "papers")["source"] = lines
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def contents(text: str, papers: Sequence[Paper]) -> str:
    """The table of contents with these pages below their list."""
    rows = "".join(f"          - file: notebooks/{it.errata}\n" for it in papers)
    listed = rf"\1        sections:\n{rows}"
    return re.sub(r"(      - file: notebooks/91-errata\n)(?:        sections:\n(?: {10}.*\n)*)?", listed, text)


def late(text: str, papers: Sequence[Paper]) -> str:
    """The profiles with these pages among those that wait for the records."""
    names = ", ".join(it.errata for it in papers)
    return re.sub(r"(?<=\b91-errata, )(?:\d\d[a-z]?-errata-\w+, )*", f"{names}, ", text)


def counted(text: str, papers: Sequence[Paper]) -> str:
    """Prose that says how many papers there are."""
    number = how_many(len(papers))
    return COUNTED.sub(lambda it: number.capitalize() if it[0][0].isupper() else number, text)


def stated(text: str, numbers: Mapping[str, str]) -> str:
    """The README with how many statements there are, and how they stand; what is last in it is in words."""
    said = {
        name: how_many(int(number)) if name in ("unchecked", "broken") else number for name, number in numbers.items()
    }
    old = r"\s+".join(r"\w+" if "{" in word else re.escape(word) for word in STATED.split())
    return re.sub(old, lambda it: _wrapped(STATED.format(**said), it[0]), text)


def _wrapped(text: str, like: str) -> str:
    """A sentence with its lines broken behind the same words."""
    words, blanks = text.split(), re.findall(r"\s", like)
    return "".join(word + blank for word, blank in zip(words, [*blanks, ""], strict=True))


def written(root: Path, papers: Sequence[Paper] = PRINTED) -> Iterator[tuple[Path, str]]:
    """Every file that follows from the table, with its text."""
    first, *others = papers
    model = (root / f"notebooks/{first.errata}.ipynb").read_text(encoding="utf-8")
    for paper in others:
        yield root / f"notebooks/{paper.errata}.ipynb", page(paper, model, first)
    for name, change in {"_toc.yml": contents, "notebooks/profiles.yml": late, LIST: listed}.items():
        text = change((root / name).read_text(encoding="utf-8"), papers)
        yield root / name, counted(text, papers) if name == LIST else text
    readme = (root / "README.md").read_text(encoding="utf-8")
    records = json.loads((root / RECORDS).read_bytes())["records"]
    yield root / "README.md", counted(stated(readme, counts(load_ledger(root), records)), papers)
    for path in [root / "CITATION.cff", *root.glob("book/*.md"), *root.glob("notebooks/*.ipynb")]:
        if path != root / LIST and COUNTED.search(text := path.read_text(encoding="utf-8")):
            yield path, counted(text, papers)


def main() -> None:
    """Write them, and say which changed."""
    for path, text in written(ROOT):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT).as_posix())


if __name__ == "__main__":
    main()
