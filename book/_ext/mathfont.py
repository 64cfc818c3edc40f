"""The font of formulas: of a mathematical font the signs that pages show, and what these grow into."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

import ziamath
from fontTools import subset
from fontTools.misc.transform import Offset, Scale, Transform
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.filterPen import DecomposingFilterPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph

FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
#: Thousandths of an em. Chromium gives each root the room of the widest that there is: all are as wide.
ROOT_WIDTH = 900
#: Height and lower end of a prime, which stands as a power, at 70 % of its size.
PRIME = 500, 90


def signs(texts: Iterable[str]) -> set[int]:
    """The signs that formulas of these texts show: their own, the slanted ones of single letters, and that of roots.

    >>> sorted(map(chr, signs(["a ≤ π"])))
    [' ', 'a', 'π', '√', '≤', '𝑎', '𝜋']
    """
    plain = {sign for text in texts for sign in text} | {"√"}
    return set(map(ord, plain)) | {ord(it) for sign in plain for it in _slanted(sign)}


def _slanted(sign: str) -> Iterable[str]:
    if sign == "h":  # of which physics had a sign before
        yield "ℎ"
    script, _, name = unicodedata.name(sign, "").partition(" ")
    if script in ("LATIN", "GREEK") and " LETTER " in name:
        try:
            yield unicodedata.lookup(f"MATHEMATICAL ITALIC {name.replace(' LETTER ', ' ')}")
        except KeyError:
            return


def cut(wanted: Iterable[int], target: Path) -> None:
    """Write the font with these signs alone, as WOFF; the same bytes whenever it is made."""
    options = subset.Options(
        flavor="woff",
        layout_features=["ssty", "dtls", "flac"],
        hinting=False,
        drop_tables=["GPOS", "DSIG"],
        name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
    )
    with subset.load_font(str(FONT), options) as font:
        _adapt(font)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=sorted(wanted))
        cutter.subset(font)
        subset.save_font(font, str(target), options)


def _adapt(font: TTFont) -> None:
    """What browsers, who know no TeX, show well: roots without a gap behind them, primes that one sees.

    The font's licence (OFL 1.1) wants another name for what was altered.
    """
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16):
            record.string = "Book-Math"
    names, sizes = font.getBestCmap(), font["MATH"].table.MathVariants
    built = sizes.VertGlyphConstruction[sizes.VertGlyphCoverage.glyphs.index(names[ord("√")])]
    grown = [it.VariantGlyph for it in built.MathGlyphVariantRecord]
    roots = [names[ord("√")], *grown, *(it.glyph for it in built.GlyphAssembly.PartRecords)]
    drawn = {it: _drawn(font, it, Scale(ROOT_WIDTH / font["hmtx"][it][0], 1)) for it in roots}
    for root, shape in drawn.items():  # which consist of one another
        _put(font, root, shape, ROOT_WIDTH)
    prime, (height, low) = names[ord("′")], PRIME
    left, bottom, right, top = _bounds(font, prime)
    share = height / (top - bottom)
    where = Offset(40 - left * share, low - bottom * share).scale(share)
    _put(font, prime, _drawn(font, prime, where), round(60 + (right - left) * share))


def _bounds(font: TTFont, glyph: str) -> tuple[float, float, float, float]:
    glyphs = font.getGlyphSet()
    pen = BoundsPen(glyphs)
    glyphs[glyph].draw(pen)
    return pen.bounds


def _drawn(font: TTFont, glyph: str, where: Transform) -> Glyph:
    glyphs = font.getGlyphSet()
    pen = TTGlyphPen(None)
    glyphs[glyph].draw(DecomposingFilterPen(TransformPen(pen, where), glyphs))
    return pen.glyph()


def _put(font: TTFont, glyph: str, shape: Glyph, width: int) -> None:
    font["glyf"][glyph] = shape
    shape.recalcBounds(font["glyf"])
    font["hmtx"][glyph] = width, shape.xMin
