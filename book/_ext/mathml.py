"""Mathematics as MathML, set when the site is built: it needs no script, and its font has the signs that pages show."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path

import mathfont
from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

#: What MathJax reads TeX with, where there is no browser.
PARTS = ("core", "adaptors/liteDOM", "input/tex-base", "[tex]/ams")
START = """
var setTimeout = (later) => Promise.resolve().then(later), MathJax = {
  loader: {load: %s, paths: {mathjax: "."}, require: (path) => (0, eval)(sources[path])},
  tex: {packages: {"[+]": ["ams"], "[-]": ["noundefined"]}},
  startup: {typeset: false},
};
"""
FONT = "math.woff"
TEX = re.compile(r"(\\\(|\\\[)(.*?)(?:\\\)|\\\])", re.DOTALL)
FORMULA = re.compile(r"""(<(span|div) class=["']math[^>]*>)(.*?)(</\2>)""", re.DOTALL)
#: Where a formula of its own lines scrolls, its number beside it.
BOX = {r"\[": '<div class="formula">{}</div>'}
#: Letters of a style, which MathML Core knows only as signs of their own.
STYLED = re.compile(r'<(m[in]) mathvariant="(double-struck|script|bold)">([^<]*)<')
#: Accents that stand at their height, where MathJax has signs of the line.
ACCENT = re.compile(r"(<mo[^>]*>)(~|\^|&#x2015;)</mo></mover>")
HIGH = {"~": "˜", "^": "ˆ", "&#x2015;": "‾"}
#: TeX's three spaces, in em.
SPACES = {"thinmathspace": ".167em", "mediummathspace": ".222em", "thickmathspace": ".278em"}


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line, as TeX until all pages are written."""
    writer.body.append(rf'<span class="math">\({escape(node.astext())}\)</span>')
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own lines, with its number."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(rf"\[{escape(node.astext())}\]</div>" + "\n")
    raise nodes.SkipNode


def letter(style: str, plain: str) -> str:
    """A letter or digit of a style, as Unicode has it.

    >>> letter("double-struck", "E"), letter("double-struck", "R"), letter("bold", "1")
    ('𝔼', 'ℝ', '𝟏')
    """
    kind = "DIGIT" if plain.isdigit() else "CAPITAL" if plain.isupper() else "SMALL"
    name = f"{style.upper()} {kind} {unicodedata.name(plain).split()[-1]}"
    for full in (f"MATHEMATICAL {name}", name):
        try:
            return unicodedata.lookup(full)
        except KeyError:
            continue
    raise ExtensionError(f"no sign for {plain!r} in {style}")


def core(mathml: str, tex: str) -> str:
    """What MathJax says, in what browsers know, with the TeX as its other text."""
    if error := re.search(r'<merror data-mjx-error="([^"]*)"', mathml):
        raise ExtensionError(f"TeX that nobody can set: {unescape(error[1])}: {tex}")
    mathml = re.sub(r' data-mjx-[\w-]+="[^"]*"| xmlns="[^"]*"', "", re.sub(r">\s+<", "><", mathml))
    mathml = re.sub("|".join(SPACES), lambda it: SPACES[it[0]], mathml)
    mathml = ACCENT.sub(lambda it: f"{it[1]}{HIGH[it[2]]}</mo></mover>", mathml)
    mathml = STYLED.sub(lambda it: f"<{it[1]}>{''.join(letter(it[2], sign) for sign in it[3])}<", mathml)
    return mathml.replace("<math", f'<math alttext="{escape(tex.strip())}"', 1)


def converted(formulas: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    r"""MathML of formulas, each its opening sign (``\(`` or ``\[``) and its TeX; linear in their length."""
    spec = find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise ExtensionError("sphinx-mathjax-offline, which has MathJax, is not installed")
    root, wanted = Path(spec.origin).parent / "static" / "mathjax", sorted(set(formulas))
    files = ["startup", *(it.replace("[tex]", "input/tex/extensions") for it in PARTS)]
    sources = {f"./{it}.js": (root / f"{it}.js").read_text(encoding="utf-8") for it in files}
    with MiniRacer() as engine:
        engine.eval(
            f"var sources = {json.dumps(sources)};{START % json.dumps(PARTS)}(0, eval)(sources['./startup.js']); 0"
        )
        engine.eval(Path(__file__).with_suffix(".js").read_text(encoding="utf-8") + "0")
        asked = json.dumps([(tex, opening == r"\[") for opening, tex in wanted])
        said = json.loads(str(engine.eval(f"JSON.stringify({asked}.map((it) => tex2mathml(...it)))")))
    return {formula: core(mathml, formula[1]) for formula, mathml in zip(wanted, said, strict=True)}


def typeset(html: str, known: dict[tuple[str, str], str]) -> str:
    """A page with its formulas set."""
    set_ = lambda tex: BOX.get(tex[1], "{}").format(known[tex[1], unescape(tex[2])])  # noqa: E731
    return FORMULA.sub(lambda it: it[1] + TEX.sub(set_, it[3]) + it[4], html)


def found(html: str) -> set[tuple[str, str]]:
    """The formulas of a page."""
    return {(tex[1], unescape(tex[2])) for it in FORMULA.finditer(html) for tex in TEX.finditer(it[3])}


def put(app: Sphinx, error: Exception | None) -> None:
    """Set the formulas of all pages, and of the previews."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {path: path.read_text(encoding="utf-8") for path in out.rglob("*.html")}
    previews = out / "_static" / "previews.js"
    head, listed, tail = re.split(r"(?<== )(.*)(?=;)", previews.read_text(encoding="utf-8"), flags=re.DOTALL)
    tips: dict[str, str] = json.loads(listed)
    set_ = converted(set().union(*map(found, (*pages.values(), *tips.values()))))
    for path, text in pages.items():
        if (better := typeset(text, set_)) != text:
            path.write_text(better, encoding="utf-8")
    tips = {place: typeset(tip, set_) for place, tip in tips.items()}
    previews.write_text(head + json.dumps(tips, ensure_ascii=False, separators=(",", ":")) + tail, encoding="utf-8")
    words = (unescape(re.sub(r"<[^>]*>", "", it)) for it in set_.values())
    mathfont.cut(mathfont.signs(words), out / "_static" / FONT)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("build-finished", put, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
