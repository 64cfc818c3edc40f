"""Lay out the pages and have Jupyter Book render them; the last good site stays until the new one is whole."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import yaml

from companion.instruments.seed import ROOT
from companion.ledger.verdicts import in_words
from companion.press import BuildError, UsageError
from companion.press.execute import environment
from companion.press.layout import Layout, digest, dumps


def settings(layout: Layout) -> dict[str, Any]:
    """What `_config.yml` says, and where the site will stand: in `BOOK_URL` of the environment, or `html_baseurl`."""
    try:
        config: dict[str, Any] = yaml.safe_load((layout.root / "_config.yml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BuildError(f"_config.yml: {' '.join(str(error).split())}") from None
    said = config["sphinx"]["config"]
    base = os.environ.get("BOOK_URL") or said.get("html_baseurl") or ""
    if base and not re.fullmatch(r"https?://[^\s\"'<>?#]+", base):
        raise UsageError(
            f"BOOK_URL, or html_baseurl of _config.yml: {base!r}; allowed: http(s)://host/folder/, or nothing"
        )
    said["html_baseurl"] = f"{base.rstrip('/')}/" if base else ""
    return config


def repository() -> str:
    """Where others find the book's files, as owner/name, in `BOOK_REPOSITORY` of the environment; empty if nowhere."""
    said = os.environ.get("BOOK_REPOSITORY", "")
    if said and not re.fullmatch(r"[\w.-]+/[\w.-]+", said, re.ASCII):
        raise UsageError(f"BOOK_REPOSITORY: {said!r}; allowed: owner/name, or nothing")
    return said


def stage(
    layout: Layout,
    pages: Mapping[str, nbformat.NotebookNode],
    profile: str,
    seed: int = ROOT,
    front: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """Everything Jupyter Book reads, by name; `pages` are the executed notebooks by chapter.

    `front` is what stands in braces on the pages of `book/`.
    """
    files = {
        name: (layout.root / name).read_bytes()
        for name in layout.hashes("_toc.yml", "CITATION.cff", "SECURITY.md", "book/**/*")
    }
    config = settings(layout)
    config["parse"]["myst_substitutions"] |= {"profile": profile} | dict(front or {})
    other = "" if seed == ROOT else f", from the root seed {seed}"
    footer = f"<p>Computed in the <code>{profile}</code> profile{other}.</p>"
    config["sphinx"]["config"]["html_theme_options"]["extra_footer"] = footer
    files["_config.yml"] = yaml.safe_dump(config, sort_keys=False).encode()
    files |= {name: in_words(text.decode()).encode() for name, text in files.items() if name.endswith(".md")}
    return files | {f"notebooks/{name}.ipynb": nbformat.writes(page).encode() for name, page in pages.items()}


def key(layout: Layout, files: Mapping[str, bytes]) -> str:
    """Digest of all that the site is made from."""
    read = {name: digest(data) for name, data in files.items()}
    read |= layout.hashes("src/dprank/**/*.py", "src/companion/**/*.py", "requirements.lock")
    return digest(dumps(read | {"Python": sys.version, "press": digest(Path(__file__).read_bytes())}))


def tree(html: Path) -> str:
    """Cheap digest of a site: names, sizes, times; tells when something else wrote there."""
    stats = {path.relative_to(html).as_posix(): path.stat() for path in html.rglob("*") if path.is_file()}
    return digest(dumps({name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}))


def current(layout: Layout, wanted: str) -> bool:
    """Whether the site in place is the one with key `wanted`."""
    try:
        stamp = json.loads((layout.build / "site.json").read_bytes())
    except (OSError, ValueError):
        return False
    return layout.html.is_dir() and stamp == {"key": wanted, "tree": tree(layout.html)}


def leaks(layout: Layout, site: Path) -> list[str]:
    """One line for each file of `site` that names a folder or an address of this machine: other bytes elsewhere."""
    folders = {str(layout.root), sys.prefix, os.path.expanduser("~")} - {sys.base_prefix, os.sep, "~"}
    names = [os.fsencode(folder) for folder in sorted(folders)]
    local = re.compile(
        b"|".join([*(rb"(?<![\w./-])%s(?![\w-])" % re.escape(it) for it in names), rb" at 0x[0-9a-f]{6,}"])
    )
    hits = {}
    for path in sorted(site.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        if any(it in data for it in (*names, b" at 0x")):  # the pattern is slow
            hits[path] = local.search(data)
    return [f"{path.relative_to(site).as_posix()} holds {os.fsdecode(hit[0])!r}" for path, hit in hits.items() if hit]


def render(
    layout: Layout,
    files: Mapping[str, bytes],
    wanted: str,
    strict: bool = True,
    finish: Callable[[Path], None] = lambda _: None,
) -> None:
    """Render `files`, `finish` the site, and put it in place; the last good site stays where that fails.

    Where `strict`, a warning is an error; so are pages that name a folder or an address of this machine.
    """
    source = layout.build / "stage"
    shutil.rmtree(source, ignore_errors=True)
    for name, data in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    output = layout.fresh()
    press = "from companion.press.execute import end_with; end_with(%d); from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", press % os.getpid(), "build", str(source)]
    result = subprocess.run(
        [*command, "--path-output", str(output), *(["-W"] if strict else []), "-n", "--keep-going"],
        env={**os.environ, **environment(layout), "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=layout.root,
        check=False,
        text=True,
        encoding="utf-8",
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    site = output / "_build" / "html"
    said = re.sub(r"\x1b\[[\d;]*m", "", result.stdout)  # colours
    if result.returncode or not (site / "index.html").exists():
        lines = said.splitlines()
        if not (source / "_config.yml").exists():
            raise BuildError(f"site: {layout.name(source)} was deleted meanwhile")
        if refused := re.search(r"\[Errno \d+\] .*", said):  # the system: the log could not be written either
            raise BuildError(f"site: Jupyter Book: {refused[0]}")
        log = layout.build / "render.log"
        layout.write(log, said.encode())
        shown = [line for line in lines if "WARNING" in line or "ERROR" in line] or lines[-15:]
        shown = [line.replace(f"{source}{os.sep}", "") for line in shown]
        raise BuildError("\n".join([f"site: Jupyter Book refused (all of it: {layout.name(log)})", *shown]))
    layout.write(layout.build / "render.log", said.encode())
    finish(site)
    if leaking := leaks(layout, site):
        raise BuildError("\n".join(f"site: {line}" for line in leaking))
    (site / ".buildinfo").unlink()  # for incremental builds, and a digest of where the environment lies
    (layout.build / "site.json").unlink(missing_ok=True)
    layout.replace_folder(site, layout.html)
    layout.write(layout.build / "site.json", dumps({"key": wanted, "tree": tree(layout.html)}))
