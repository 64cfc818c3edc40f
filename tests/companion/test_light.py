"""What is left out of style sheets is used nowhere, and images keep their place before they load."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

LIGHT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "book/_ext/light.py"))


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".a,.b{x:1}", ".a{x:1}"),
        (".b{y:2}", ""),
        ("div,.b{y:2}", "div{y:2}"),
        (".a:not(.b){y:2}", ".a:not(.b){y:2}"),
        (":is(.a,.b) p{y:2}", ":is(.a,.b) p{y:2}"),
        (".a .b,.a>p{y:2}", ".a>p{y:2}"),
        ("p{margin:.5rem}", "p{margin:.5rem}"),
        ("@media print{.b{z:3}.a{w:1}}", "@media print{.a{w:1}}"),
        ("@media print{.b{z:3}}", ""),
        ("/* .a{x:1} */@font-face{f:g}", "@font-face{f:g}"),
        ("@charset 'x';.b{x:1}.a{x:1}", "@charset 'x';.a{x:1}"),
        ("@keyframes k{from{x:1}to{x:2}}", "@keyframes k{from{x:1}to{x:2}}"),
    ],
)
def test_pruned(css: str, left: str) -> None:
    """`a` is used on a page, `b` nowhere."""
    assert LIGHT["pruned"](css, frozenset({"a"})) == left


def drawing(name: str, width: float, height: float) -> str:
    """An SVG as matplotlib begins it."""
    return f'<svg xmlns="y" width="{width}pt" height="{height}pt"><dc:title>{name}</dc:title></svg>'


def lazy(out: Path, html: str) -> str:
    return LIGHT["IMAGE"].sub(lambda it: LIGHT["sized"](out, out / "notebooks", it), html)


def test_an_image_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "x.svg").write_text(drawing("x", 345, 60.5))
    assert lazy(tmp_path, '<img alt="a" src="x.svg" /><img src="gone.svg"/>') == (
        '<img loading="lazy" width="460" height="81" alt="a" src="x.svg" /><img loading="lazy" src="gone.svg"/>'
    )


def test_a_phone_gets_its_own_drawing(tmp_path: Path) -> None:
    for folder, width in (("notebooks", 345), ("_static/narrow", 150)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.svg").write_text(drawing("x", width, 60))
    found = lazy(tmp_path, '<img alt="a" src="x.svg" />')
    source = '<source media="(max-width: 40rem)" width="200" height="80" srcset="../_static/narrow/x.svg">'
    assert found == f'<picture>{source}<img loading="lazy" width="460" height="80" alt="a" src="x.svg" /></picture>'
    css = (Path(__file__).resolve().parents[2] / "book/_static/book.css").read_text()
    assert f"@media (max-width: {LIGHT['PHONE']})" in css
