"""What no reader needs stays behind: 1.5 MB of icons, sources of minified scripts, words in other languages."""

from __future__ import annotations

import json
import os
import re
from functools import cache, partial
from pathlib import Path

from sphinx.application import Sphinx

#: Of the theme: maps of its scripts for debuggers, icons (ours are in book.css), and its words in other languages.
UNUSED = (
    "**/*.map",
    "scripts/fontawesome.js*",
    "locales/**/*",
    "webpack-macros.html",
    "searchtools.js",
)
ICONS = re.compile(r'<script[^>]*src="[^"]*fontawesome\.js[^"]*"></script>\s*')
#: What the theme tells whoever has the console open.
CHATTER = re.compile(r"console\.(?:log|info|debug)\(")
EITHER = re.compile(r":(?:not|is|where)\([^)]*\)")
CLASS = re.compile(r"\.(-?[_a-zA-Z][\w-]*)")
IMAGE = re.compile(r'<img(?![^>]*loading=)[^>]*\bsrc="([^"]+\.svg)"[^>]*>')
SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
NAME = re.compile(r"<dc:title>([^<]+)</dc:title>")
#: Widest window in which a figure's drawing for a phone is shown; book.css has the same.
PHONE = "40rem"
#: By this name the theme's script finds the contents of a page, and lights them; wayfinding.js does.
LIT = 'id="pst-page-toc-nav"'
BACK = re.compile(r'<a class="viewcode-back" href="([^"#]+)#([^"]+)">.*?</a>')


@cache
def ids(page: Path) -> frozenset[str]:
    """All ids on a page."""
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))) if page.is_file() else frozenset()


def leads(folder: Path, link: re.Match[str]) -> str:
    """A link back from a listing, if what it names is there: other names of the same code are on no page."""
    return link[0] if link[2] in ids((folder / link[1]).resolve()) else ""


def pruned(css: str, used: frozenset[str]) -> str:
    """The rules of a sheet some selector of which names only classes that are `used`; no comments."""
    css, kept, start = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL), [], 0
    while (brace := css.find("{", start)) >= 0:
        head, end, depth = css[start:brace], brace + 1, 1
        while depth and end < len(css):
            depth += (css[end] == "{") - (css[end] == "}")
            end += 1
        body, start = css[brace + 1 : end - 1], end
        rules = head.rpartition(";")  # what has no body stands before: @charset, @import
        kept.append(rules[0] + rules[1])
        if rules[2].lstrip().startswith(("@media", "@supports", "@layer")):
            body = pruned(body, used)
        elif not rules[2].lstrip().startswith("@"):
            selectors = re.split(r",(?![^(\[]*[)\]])", rules[2])
            wanted = [it for it in selectors if used.issuperset(CLASS.findall(EITHER.sub("", it)))]
            rules = ("", "", ",".join(wanted))
        if body.strip() and rules[2].strip():
            kept.append(f"{rules[2]}{{{body}}}")
    return "".join(kept) + css[start:]


def size(svg: str) -> str:
    """Width and height of a drawing, as attributes."""
    found = SIZE.search(svg)
    return ' width="{:.0f}" height="{:.0f}"'.format(*(float(it) * 4 / 3 for it in found.groups())) if found else ""


def sized(out: Path, folder: Path, image: re.Match[str]) -> str:
    """An image that is loaded when it comes near, with its size, so that the page stays where it is; on a phone its
    drawing for a phone, if it has one.
    """
    path = (folder / image[1]).resolve()
    svg = path.read_text(encoding="utf-8") if path.is_file() else ""
    lazy = f'<img loading="lazy"{size(svg)}{image[0].removeprefix("<img")}'
    narrow = out / "_static" / "narrow" / f"{name[1]}.svg" if (name := NAME.search(svg)) else None
    if narrow is None or not narrow.is_file():
        return lazy
    source = os.path.relpath(narrow, folder).replace(os.sep, "/")
    media = f'media="(max-width: {PHONE})"{size(narrow.read_text(encoding="utf-8"))}'
    return f'<picture><source {media} srcset="{source}">{lazy}</picture>'


def clean(app: Sphinx, error: Exception | None) -> None:
    """Take out of the site what nothing on it asks for, and the outputs of notebooks that one can download."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for pattern in UNUSED:
        for path in (out / "_static").glob(pattern):
            if path.is_file():
                path.unlink()
    for path in (*(out / "_static" / "scripts").glob("*.js"), out / "search.html"):
        path.write_text(CHATTER.sub("[].concat(", path.read_text(encoding="utf-8")), encoding="utf-8")
    words: set[str] = set()
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        less = BACK.sub(partial(leads, path.parent), ICONS.sub("", text).replace(LIT, 'id="page-contents"'))
        less = IMAGE.sub(partial(sized, out, path.parent), less)
        if less != text:
            path.write_text(less, encoding="utf-8")
        words |= {word for classes in re.findall(r'class="([^"]*)"', less) for word in classes.split()}
    for path in (out / "_static").rglob("*.js"):
        words |= set(re.findall(r"[_a-zA-Z][\w-]*", path.read_text(encoding="utf-8")))
    for path in (out / "_static" / "styles").glob("*.css"):
        path.write_text(pruned(path.read_text(encoding="utf-8"), frozenset(words)), encoding="utf-8")
    for path in (out / "_sources").rglob("*.ipynb"):
        notebook = json.loads(path.read_bytes())
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("build-finished", clean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
