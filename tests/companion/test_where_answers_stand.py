"""What readers ask in other words than a title has: where the search leads, and that an answer stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from companion.ledger.files import find_root

ROOT = find_root(Path(__file__))
ASKED = {
    "DPIA": "book/not_protected.html#in-law",
    "data protection officer": "book/not_protected.html#in-law",
    "authors' code": "notebooks/97-what-was-read.html#the-copies",
    "did you use my code or the authors code": "notebooks/97-what-was-read.html#the-copies",
    "seeds": "book/reproduce.html#the-same-numbers",
    "which seed": "book/reproduce.html#the-same-numbers",
    "monthly": "notebooks/16-what-epsilon-buys.html#releases-add-up",
    "release every month": "notebooks/16-what-epsilon-buys.html#releases-add-up",
    "data sets": "notebooks/15b-the-arena.html#people-of-surveys",
    "which data sets were used": "notebooks/15b-the-arena.html#people-of-surveys",
    "thesis": "book/open.html",
    "open problems": "book/open.html",
    "licence": "book/index.html#may-i-use-it",
    "may i use it": "book/index.html#may-i-use-it",
    "how to cite": "book/index.html#may-i-use-it",
    "threat model": "book/security.html",
    "my survey": "notebooks/14-release-your-own.html",
    "several surveys": "book/not_protected.html#the-second-release",
}


def answers() -> list[tuple[str, str]]:
    script = (ROOT / "book" / "_static" / "search.js").read_text(encoding="utf-8")
    block = script[script.index("const answers = [") : script.index("  ];\n")]
    return re.findall(r'^    \[/(.+)/, "([^"]+)"\],$', block, re.MULTILINE)


def headings(page: str) -> list[str]:
    """The anchors of a page's headings, as the site makes them of plain words."""
    path = ROOT / page.replace(".html", ".md")
    if path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        cells = json.loads((ROOT / page.replace(".html", ".ipynb")).read_bytes())["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return [re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") for title in titles]


@pytest.mark.parametrize("asked", ASKED)
def test_a_question_leads_to_its_answer(asked: str) -> None:
    known = answers()
    assert len(known) > 15
    assert next(url for pattern, url in known if re.search(pattern, asked.lower())) == ASKED[asked]


@pytest.mark.parametrize("url", sorted({url for _, url in answers()}))
def test_where_an_answer_is_said_to_stand_there_is_a_heading(url: str) -> None:
    page, _, at = url.partition("#")
    terms = re.findall(r"^(\w.*)\n  \S", (ROOT / "book" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert not at or at in (
        headings(page) if page != "book/glossary.html" else {f"term-{it.replace(' ', '-')}" for it in terms}
    )


def test_security_is_on_the_site_from_one_source() -> None:
    page = (ROOT / "book" / "security.md").read_text(encoding="utf-8")
    assert page.startswith("```{include} ../SECURITY.md\n")
    assert len(page.splitlines()) == 3
    toc = yaml.safe_load((ROOT / "_toc.yml").read_bytes())
    assert "book/security" in [it["file"] for part in toc["parts"] for it in part["chapters"]]
    assert "](security.md)" in (ROOT / "book" / "not_protected.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert [link for link in links if not link.startswith(("http", "book/"))] == []


def test_the_licences_are_those_of_their_files() -> None:
    front = (ROOT / "book" / "index.md").read_text(encoding="utf-8").partition("## May I use it?\n")[2]
    code, prose = ((ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE", "LICENSE-prose"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert code.startswith(f"{cited['license']} License")
    assert f"under the {cited['license']} licence" in front
    assert "CC BY 4.0" in prose
    assert "under CC BY 4.0" in front
    assert {"{{ version }}", "{{ bibtex }}"} <= set(re.findall(r"{{ \w+ }}", front))


@pytest.mark.parametrize("term", ["MLE", "minimax", "PTAS"])
def test_a_word_of_the_papers_is_in_the_glossary(term: str) -> None:
    assert re.search(rf"^{term}\n  \S", (ROOT / "book" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_a_co_author_leads_to_the_paper() -> None:
    """Cards name the first author alone, and a reader any of them."""
    script = (ROOT / "book" / "_static" / "search.js").read_text(encoding="utf-8")
    block = script[script.index("const same = {") : script.index("  };\n", script.index("const same = {"))]
    same = dict(re.findall(r'(\w+): "(\w+)"', block))
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    papers = [path.stem for path in (ROOT / "data" / "claims").glob("*.yml") if f"{{{path.stem}," in bibliography]
    assert len(papers) > 3
    for key in papers:
        said = re.search(rf"\{{{key},.*?author = {{(.*?)}},\n", bibliography, re.DOTALL)
        assert said, key
        first, *others = [re.sub(r"\W.*", "", name.lower()) for name in said[1].split(" and ")]
        assert {same.get(name) for name in others} == {first}, key
