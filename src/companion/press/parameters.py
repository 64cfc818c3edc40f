"""What a reader types for the parameters of a chapter, and whether the chapter has such."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from companion.instruments.parameters import Parameter, fitted, shown
from companion.press import UsageError


def given(pairs: Iterable[tuple[str, str]], texts: Iterable[str] = ()) -> dict[str, Any]:
    """What a reader typed: `-p name value` with a Python literal for a value, `-y` with a mapping in YAML."""
    entries = [(name, _literal(text)) for name, text in pairs]
    for text in texts:
        try:
            mapping = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise UsageError(f"-y: {shown(text)}: not YAML: {' '.join(str(error).split())[:100]}") from None
        if not isinstance(mapping, dict) or not all(isinstance(name, str) for name in mapping):
            raise UsageError(f"-y: {shown(text)}; allowed: a mapping, such as 'epsilons: [0.5, 1.0]'")
        entries += [(name, _numbers(value)) for name, value in mapping.items()]
    names = [name for name, _ in entries]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{twice[0]}: given twice; allowed: once")
    return dict(entries)


def _literal(text: str) -> Any:
    """A Python literal; text where it is none."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _numbers(value: Any) -> Any:
    """YAML 1.1 takes 1e-3 for text."""
    if isinstance(value, list):
        return [_numbers(it) for it in value]
    return _literal(value) if isinstance(value, str) else value


def checked(
    chapter: str, known: Mapping[str, Parameter], profile: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The reader's `own` values as the notebook gets them, in the place of those of the `profile`."""
    for name in own:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            nearest = f"{close[0]}, the nearest; " if close else "none; "
            raise UsageError(
                f"{chapter}: {shown(name)} is no parameter; allowed: {nearest}`companion run {chapter} --list` has all"
            )
    try:
        fits = fitted(known, {**profile, **own})
    except ValueError as error:
        raise UsageError(f"{chapter}: {error}") from None
    return {name: fits[name] for name in own}
