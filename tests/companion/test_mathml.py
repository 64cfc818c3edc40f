"""Formulas as browsers show them without a script: the same signs as another program has, in a font that has all."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from small_book import REPOSITORY

#: Signs that two programs have for one command.
ALIKE = str.maketrans("⋅∗⧵‖˜ˆ‾―εφ⋯", "·*∖∥~^¯¯ϵϕ…", "\N{FUNCTION APPLICATION}\N{NO-BREAK SPACE} ")
DOLLARS = re.compile(r"(?<![\\$])(\$\$?)(?!\$)(.+?)(?<!\\)\1(?!\$)", re.DOTALL)
#: What the other program shows as it is typed.
UNREAD = re.compile(r"\\begin|\\Big[lr]\\")
TOKEN = re.compile(r"<m(?:i|n|o|text)\b[^>]*>([^<]*)<")


pytestmark = pytest.mark.filterwarnings("ignore:path is deprecated")  # of mini-racer, in Python 3.11


@pytest.fixture(scope="module")
def mathml() -> Iterator[ModuleType]:
    """The extension of the book, and what it imports."""
    sys.path.insert(0, str(REPOSITORY / "book" / "_ext"))
    try:
        yield import_module("mathml")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def formulas(mathml: ModuleType) -> dict[tuple[str, str], str]:
    """All formulas of the notebooks, set."""
    found = set()
    for path in (REPOSITORY / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                prose = re.sub(r"`+[^`]*`+", "", "".join(cell["source"]))
                found |= {(r"\[" if it[1] == "$$" else r"\(", it[2]) for it in DOLLARS.finditer(prose)}
    assert len(found) > 1000
    return mathml.converted(found)


def signs(said: str, mathml: ModuleType) -> str:
    """What a formula shows, from left to right."""
    said = mathml.STYLED.sub(
        lambda it: f"<{it[1]}>{''.join(mathml.letter(it[2], sign) for sign in unescape(it[3]))}<", said
    )
    return "".join(map(unescape, TOKEN.findall(said))).translate(ALIKE)


def test_another_program_has_the_same_signs(formulas: dict[tuple[str, str], str], mathml: ModuleType) -> None:
    both = {tex: (said, convert(tex)) for (_, tex), said in formulas.items() if not UNREAD.search(tex)}
    assert len(both) > 0.98 * len(formulas)
    assert [tex for tex, (ours, other) in both.items() if signs(ours, mathml) != signs(other, mathml)] == []


def test_nothing_that_browsers_do_not_know(formulas: dict[tuple[str, str], str]) -> None:
    for said in formulas.values():
        assert not re.search(r"data-mjx|mathvariant=\"(?!normal)|mathspace|<m(fenced|enclose|error)|xmlns", said)
        assert said.startswith("<math alttext=")


def test_the_font_has_what_formulas_show(
    formulas: dict[tuple[str, str], str], mathml: ModuleType, tmp_path: Path
) -> None:
    shown = ["".join(map(unescape, TOKEN.findall(it))) for it in formulas.values()]
    mathml.mathfont.cut(mathml.mathfont.signs(shown), tmp_path / "a.woff")
    mathml.mathfont.cut(mathml.mathfont.signs(shown), tmp_path / "b.woff")
    assert (tmp_path / "a.woff").read_bytes() == (tmp_path / "b.woff").read_bytes()
    assert (tmp_path / "a.woff").stat().st_size < 100_000
    font = TTFont(tmp_path / "a.woff")
    assert set(map(ord, set("".join(shown)) - {"\N{FUNCTION APPLICATION}"})) <= font.getBestCmap().keys()
    root, sizes = font.getBestCmap()[ord("√")], font["MATH"].table.MathVariants
    grown = sizes.VertGlyphConstruction[sizes.VertGlyphCoverage.glyphs.index(root)].MathGlyphVariantRecord
    assert {font["hmtx"][it][0] for it in (root, *(it.VariantGlyph for it in grown))} == {mathml.mathfont.ROOT_WIDTH}
    assert "STIX" not in str(font["name"].getDebugName(1))


SPACED = {
    r"m\log n": '<mi>m</mi><mspace width=".167em"></mspace><mi>log</mi>',
    r"(-x)": '<mo stretchy="false">(</mo><mo lspace="0" rspace="0">&#x2212;</mo><mi>x</mi>',
    "a-x": '<mo lspace=".222em" rspace=".222em">&#x2212;</mo>',
    "e^{a-x}": '<mo lspace="0" rspace="0">&#x2212;</mo>',
    "a=x": '<mo lspace=".278em" rspace=".278em">=</mo>',
    r"\mathbb R": "<mi>ℝ</mi>",
    r"\mathcal G": "<mi>𝒢</mi>",
    r"\hat x": "ˆ</mo></mover>",
}


@pytest.mark.parametrize(("tex", "part"), SPACED.items())
def test_signs_stand_as_tex_has_them(tex: str, part: str, mathml: ModuleType) -> None:
    (said,) = mathml.converted([(r"\(", tex)]).values()
    assert part in said


@pytest.mark.parametrize(("tex", "why"), {r"\foo": "control sequence", r"\frac{x": "close brace"}.items())
def test_what_nobody_can_set_fails_the_build(tex: str, why: str, mathml: ModuleType) -> None:
    with pytest.raises(Exception, match=why):
        mathml.converted([(r"\(", tex)])


def test_a_page_keeps_all_but_its_formulas(mathml: ModuleType) -> None:
    html = (
        r'<p>a <span class="math">\(x &lt; 1\)</span>, <code>\(x\)</code></p><div class="math" id="e">'
        r'<span class="eqno">(1)</span>\[y\]</div>'
    )
    assert mathml.found(html) == {(r"\(", "x < 1"), (r"\[", "y")}
    known = {(r"\(", "x < 1"): "<math>X</math>", (r"\[", "y"): "<math>Y</math>"}
    assert mathml.typeset(html, known) == (
        r'<p>a <span class="math"><math>X</math></span>, <code>\(x\)</code></p><div class="math" id="e">'
        r'<span class="eqno">(1)</span><div class="formula"><math>Y</math></div></div>'
    )
