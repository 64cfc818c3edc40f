"""What is left out of style sheets is used nowhere, and images keep their place before they load."""

from __future__ import annotations

import re
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


def test_an_image_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text('<svg xmlns="y" width="345pt" height="60.5pt" viewBox="0 0 345 60"></svg>')
    text = LIGHT["IMAGE"].sub(
        lambda it: LIGHT["sized"](tmp_path, it), '<img alt="a" src="x.svg" /><img src="gone.svg"/>'
    )
    assert re.findall("<img[^>]*>", text) == [
        '<img loading="lazy" width="460" height="81" alt="a" src="x.svg" />',
        '<img loading="lazy" src="gone.svg"/>',
    ]
