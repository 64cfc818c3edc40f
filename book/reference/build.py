"""Write a page for every module of the library, list them in the contents; the README's tables of methods and of
chapters; and that of what each mechanism publishes.

    python book/reference/build.py

What a page says is the module's own docstrings, which the book reads when it is built.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import dprank
from companion.press.shown import chapters
from dprank.plan.tags import chooser
from dprank.privacy.published import table

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "book" / "reference"
#: In the order in which a user meets them.
ROOMS = (
    "data",
    "privacy",
    "mechanism",
    "release",
    "pairwise",
    "topk",
    "aggregation",
    "uniformity",
    "models",
    "questions",
    "plan",
    "audit",
    "publication",
    "possible",
    "differences",
    "report",
    "registry",
)


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


def page(module: str) -> str:
    """The page of what the docstrings of a module say."""
    return f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```\n"


def pages() -> dict[str, str]:
    """Name and text of every page."""
    return {f"{module}.md": page(module) for module in modules()}


def contents(toc: str) -> str:
    """The table of contents with these pages, and no others of this folder, below the reference."""
    entry = "          - file: book/reference/{}\n            title: {}\n"
    listed = "        sections:\n" + "".join(entry.format(it, it.removeprefix("dprank.")) for it in modules())
    return re.sub(r"(      - file: book/api\n)(?:        sections:\n(?: {10}.*\n)*)?", rf"\1{listed}", toc)


def readme(text: str) -> str:
    """The README with its tables between their marks: of methods, as their tags say it, and of chapters."""
    seconds = json.loads((ROOT / "data" / "times.json").read_bytes())["seconds"]
    for name, rows in {"methods": chooser(), "chapters": chapters(ROOT / "notebooks", seconds)}.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", rf"\1\n{rows}\n\2", text, flags=re.DOTALL)
    return text


def package(text: str) -> str:
    """The page of the package with the table of what is published, as the mechanisms say it, between its marks."""
    kinds = [kind for name in dprank.__all__ if isinstance(kind := getattr(dprank, name), type)]
    rows = table(kind for kind in kinds if "publishes" in vars(kind))
    return re.sub(r"(<!-- published -->\n).*?(<!-- /published -->)", rf"\1\n{rows}\n\2", text, flags=re.DOTALL)


def main() -> None:
    """Write them, and take away what is no module any more."""
    for path in FOLDER.glob("*.*.md"):
        if path.name not in pages():
            path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    toc = ROOT / "_toc.yml"
    toc.write_text(contents(toc.read_text(encoding="utf-8")), encoding="utf-8")
    page_of_all = ROOT / "README.md"
    page_of_all.write_text(readme(page_of_all.read_text(encoding="utf-8")), encoding="utf-8")
    front = ROOT / "book" / "api.md"
    front.write_text(package(front.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
