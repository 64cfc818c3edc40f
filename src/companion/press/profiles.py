"""Which notebooks there are, and what each profile changes in their defaults.

`notebooks/profiles.yml`::

    chapters:                  # chapter -> profile -> parameters; smoke is always the notebook's own defaults
      01-universities:
        standard: {repetitions: 1000}
        paper: {repetitions: 10000}
    seconds: {01-universities: 7}  # about, at standard: the longest page starts first where no run is known
    late: [90-scoreboard]      # run after all others, with parameter `records`
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import yaml

from companion.instruments.parameters import declared, fitted
from companion.press import UsageError
from companion.press.layout import Layout

PROFILES = ("smoke", "standard", "paper")
FILE = "notebooks/profiles.yml"


@dataclass(frozen=True)
class Chapter:
    """A notebook and the parameters it gets."""

    name: str
    path: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    late: bool = False
    seconds: float = math.inf

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        """The source; every cell has an id to know it by."""
        name = f"notebooks/{self.path.name}"
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            anonymous = [i for i, cell in enumerate(content["cells"]) if not cell.get("id")]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{name}: not a notebook of format 4: {error}") from None
        if anonymous or content.get("nbformat_minor", 0) < 5:
            raise UsageError(f"{name}: id: none at cell {(anonymous or [0])[0]}; allowed: format 4.5, an id a cell")
        return nbformat.reads(json.dumps(content), as_version=4)


def load(layout: Layout, profile: str) -> dict[str, Chapter]:
    """Chapters of the book as `profile` runs them, late ones last."""
    if profile not in PROFILES:
        raise UsageError(f"profile: {profile!r}; allowed: {', '.join(PROFILES)}")
    path = layout.root / FILE
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except yaml.YAMLError as error:
        raise UsageError(f"{FILE}: not YAML: {' '.join(str(error).split())}") from None
    content = _mapping("top level", content, ("chapters", "seconds", "late"))
    table = _mapping("chapters", content.get("chapters"), tuple(layout.notebooks))
    seconds = _mapping("seconds", content.get("seconds"), tuple(layout.notebooks))
    for name, value in seconds.items():
        if not isinstance(value, int | float) or not value > 0:
            raise UsageError(f"{FILE}: seconds: {name}: {value!r}; allowed: a number > 0")
    late = content.get("late") or []
    for name in late if isinstance(late, list) else [late]:
        if name not in layout.notebooks:
            raise UsageError(f"{FILE}: late: {name!r}; allowed: a list of {_names(layout.notebooks)}")
    chapters = {}
    for name in [*(n for n in layout.notebooks if n not in late), *late]:
        source = Chapter(name, layout.notebooks[name])
        try:
            known = declared(source.notebook)
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"notebooks/{source.path.name}: parameters: {error}") from None
        changes = _mapping(name, table.get(name), PROFILES[1:])
        for key, values in changes.items():
            _mapping(f"{name}: {key}: parameter", values, tuple(known))
            try:
                json.dumps(values, allow_nan=False)
            except (TypeError, ValueError):
                raise UsageError(f"{FILE}: {name}: {key}: {values!r}; allowed: numbers, text, lists") from None
            try:
                fitted(known, values or {})
            except ValueError as error:
                raise UsageError(f"{FILE}: {name}: {key}: {error}") from None
        given = dict(changes.get(profile) or {})
        if name in late:
            _mapping(f"{name}: late: parameter", {"records": ""}, tuple(known))
            given["records"] = layout.name(layout.records)
        chapters[name] = Chapter(name, source.path, given, name in late, seconds.get(name, math.inf))
    return chapters


def _mapping(where: str, value: Any, allowed: tuple[str, ...]) -> dict[str, Any]:
    """`value` as a mapping all of whose keys are allowed."""
    if value is not None and not isinstance(value, dict):
        raise UsageError(f"{FILE}: {where}: {value!r}; allowed: a mapping of {_names(allowed)}")
    for key in value or {}:
        if key not in allowed:
            raise UsageError(f"{FILE}: {where}: {key!r}; allowed: {_names(allowed)}")
    return value or {}


def _names(names: Any) -> str:
    return ", ".join(names) or "nothing (there is none)"
