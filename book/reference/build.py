"""Write a page for every module of the library and every package of the book's own code; list them in the contents.

    python book/reference/build.py

What a page says is the module's own docstrings, which the book reads when it is built.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import companion
import dprank

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "book" / "reference"
#: In the order in which a user meets them.
ROOMS = ("data", "privacy", "release", "pairwise", "topk", "aggregation", "uniformity", "models", "audit")
#: Of the book: what chapters call, and in it the chapters in their order. The press is for those who mend it.
OWN = ("ledger", "instruments", "printed", "chapters")
COMPANION = """\
# The book's own code

What chapters call: the ledger, the instruments, the papers as printed, and the chapters' own sections. It is at home in
a clone, and not in the wheel.

```{tableofcontents}
```
"""


def modules() -> list[str]:
    """Public modules with something in them, room by room."""
    home = Path(dprank.__file__).parent
    found = []
    for room in ROOMS:
        for path in sorted([home / f"{room}.py", *(home / room).rglob("*.py")]):
            parts = path.relative_to(home).with_suffix("").parts
            if path.exists() and not any(part.startswith("_") for part in parts):
                found.append(".".join(("dprank", *parts)))
    return found


def packages() -> dict[str, list[str]]:
    """Packages of the book's own code that chapters call, with their modules."""
    home = Path(companion.__file__).parent
    chapters = [path.stem.partition("-")[2].replace("-", "_") for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    folders = [home / room for room in OWN[:-1]] + [home / OWN[-1] / chapter for chapter in chapters]
    name = lambda path: ".".join(path.relative_to(home.parent).with_suffix("").parts)  # noqa: E731
    return {name(f): [name(path) for path in sorted(f.rglob("[a-z]*.py"))] for f in folders if f.exists()}


def page(title: str, documented: Sequence[str]) -> str:
    """A page for what the docstrings of some modules say."""
    listed = "\n".join(f".. automodule:: {module}\n   :members:" for module in documented)
    return f"# {title}\n\n```{{eval-rst}}\n{listed}\n```\n"


def pages() -> dict[str, str]:
    """Name and text of every page."""
    documented = {module: [module] for module in modules()} | packages()
    return {f"{name}.md": page(name, listed) for name, listed in documented.items()} | {"companion.md": COMPANION}


def contents(toc: str) -> str:
    """The table of contents with these pages, and no others of this folder, below the reference."""
    entry = "{0}- file: book/reference/{1}\n{0}  title: {2}\n"
    listed = "".join(entry.format(" " * 10, name, name.removeprefix("dprank.")) for name in [*modules(), "companion"])
    listed += " " * 12 + "sections:\n"
    listed += "".join(entry.format(" " * 14, name, name.removeprefix("companion.")) for name in packages())
    return re.sub(
        r"(      - file: book/api\n)(?:        sections:\n(?: {10}.*\n)*)?", rf"\1        sections:\n{listed}", toc
    )


def main() -> None:
    """Write them, and take away what is no module any more."""
    for path in FOLDER.glob("*.*.md"):
        if path.name not in pages():
            path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    toc = ROOT / "_toc.yml"
    toc.write_text(contents(toc.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
