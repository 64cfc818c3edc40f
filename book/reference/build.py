"""Write a page for every public module of the library and one for the book's own code; list them in the contents.

    python book/reference/build.py

What a page says is the module's own docstrings, which the book reads when it is built.
"""

from __future__ import annotations

import re
from pathlib import Path

import companion
import dprank

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "book" / "reference"
#: In the order in which a user meets them.
ROOMS = ("data", "privacy", "release", "pairwise", "topk", "aggregation", "uniformity", "models", "audit")
#: Of the book: what chapters call, and in it the chapters in their order. The press is for those who mend it.
OWN = ("ledger", "instruments", "printed", "chapters")
PAGE = """\
# {module}

```{{eval-rst}}
.. automodule:: {module}
   :members:
```
"""
COMPANION = """\
# The book's own code

What chapters call: the ledger, the instruments, the papers as printed, and the chapters' own sections. It is at home in
a clone, and not in the wheel.
"""
SECTION = """
## {title}

```{{eval-rst}}
{modules}
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


def own() -> str:
    """The page of the book's own code: a heading for each package, its modules below it."""
    home = Path(companion.__file__).parent
    chapters = [path.stem.partition("-")[2].replace("-", "_") for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    packages = [home / room for room in OWN[:-1]] + [
        home / OWN[-1] / c for c in chapters if (home / OWN[-1] / c).exists()
    ]
    text = COMPANION
    for package in packages:
        name = ".".join(("companion", *package.relative_to(home).parts))
        public = [
            ".".join(p.relative_to(home.parent).with_suffix("").parts) for p in sorted(package.rglob("[a-z]*.py"))
        ]
        listed = "\n".join(f".. automodule:: {module}\n   :members:" for module in public)
        text += SECTION.format(title=name, modules=listed)
    return text


def pages() -> dict[str, str]:
    """Name and text of every page."""
    return {f"{module}.md": PAGE.format(module=module) for module in modules()} | {"companion.md": own()}


def contents(toc: str) -> str:
    """The table of contents with these pages, and no others of this folder, below the reference."""
    names = [*modules(), "companion"]
    short = {name: name.removeprefix("dprank.") for name in names}  # a sidebar is narrow
    listed = "".join(f"          - file: book/reference/{name}\n            title: {short[name]}\n" for name in names)
    return re.sub(
        r"(      - file: book/api\n)(?:        sections:\n(?: {10}.*\n)*)?", rf"\1        sections:\n{listed}", toc
    )


def main() -> None:
    """Write them, and take away what is no module any more."""
    for path in FOLDER.glob("dprank.*.md"):
        if path.name not in pages():
            path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    toc = ROOT / "_toc.yml"
    toc.write_text(contents(toc.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
