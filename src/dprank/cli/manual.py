"""What `--help` and the book say of every command: what it does, how it is called, an example, exit codes."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, CommandInfo

__all__ = ["EXITS", "Entry", "Option", "entries", "explain", "explained", "quoted", "typed"]

#: What the exit code of every command means.
EXITS = {
    0: "done as asked",
    1: "`audit` refutes a promise; else a fault of dprank itself, which is none of the others",
    2: "it cannot be done as asked: one line on standard error says what, and what is allowed",
    3: "a budget refuses: nothing was drawn, and nothing is written",
}
#: Examples build on each other, in this order; all other commands come last.
FIRST = (
    "example",
    "check",
    "plan",
    "budget",
    "release ranking",
    "release",
    "report",
    "verify",
    "count",
    "split",
    "merge",
)
#: Longest line of an example.
WIDTH = 76


@dataclass(frozen=True)
class Option:
    """An option or an argument: how it is written, what it takes, what it is for, and what goes without it."""

    names: tuple[str, ...]
    takes: str
    said: str
    required: bool
    default: str
    argument: bool


@dataclass(frozen=True)
class Entry:
    """A command: its words, what it does in paragraphs, how it is called, an example of one line, its options."""

    name: str
    said: tuple[str, ...]
    synopsis: str
    example: str
    options: tuple[Option, ...]


def parted(callback: Any, instead: str | None = None) -> tuple[list[str], str]:
    """The paragraphs of a command's docstring, or of help that stands for it, and its example as one line.

    Examples
    --------
    >>> def greet():
    ...     '''Say hello.
    ...
    ...     Example: dprank greet
    ...     --loud
    ...     '''
    >>> parted(greet)
    (['Say hello.'], 'dprank greet --loud')
    """
    paragraphs = [" ".join(it.split()) for it in inspect.cleandoc(instead or callback.__doc__ or "").split("\n\n")]
    examples = [it.removeprefix("Example: ") for it in paragraphs if it.startswith("Example: ")]
    return [it for it in paragraphs if not it.startswith("Example: ")], " ".join(examples)


def typed(example: str, width: int = WIDTH) -> list[str]:
    r"""An example as one types it: broken where an option begins, with a backslash.

    Examples
    --------
    >>> print(*typed("dprank verify release.json --json", 24), sep="\n")
    dprank verify release.json \
      --json
    """
    groups: list[str] = []
    for word in shlex.split(example, posix=False):
        if groups and not word.startswith("-"):
            groups[-1] += f" {word}"
        else:
            groups.append(word)
    lines: list[str] = []
    for group in groups:
        if lines and len(lines[-1]) + len(group) < width - 3:
            lines[-1] += f" {group}"
        else:
            lines.append(f"  {group}" if lines else group)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def quoted(word: str) -> str:
    """A word as one types it, in quotation marks where a shell needs them.

    Examples
    --------
    >>> print(quoted("left=1"), quoted("Much prefer A="), quoted("it's $5="))
    left=1 "Much prefer A=" 'it'"'"'s $5='
    """
    plain = shlex.quote(word)
    return plain if plain == word or set(word) & set('"$`\\!') else f'"{word}"'


def explained(command: CommandInfo) -> CommandInfo:
    """The command with an example in its help, as one types it, and the exit codes.

    Where its function has `choices`, another function, what that says is the last paragraph.
    """
    said, example = parted(command.callback)
    choices = getattr(command.callback, "choices", None)
    command.help = "\n\n".join([*said, *([choices()] if choices else [])])
    lines = ["\b", "Example:", *(f"  {line}" for line in typed(example))] if example else []
    codes = "; ".join(f"{code} {meaning}" for code, meaning in EXITS.items())
    command.epilog = "\n".join([*lines, "", f"Exit codes: {codes}."])
    return command


def explain(app: typer.Typer) -> None:
    """Give the help of every command of `app` its example and the exit codes."""
    for command in app.registered_commands:
        explained(command)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            explain(group.typer_instance)


def entries(app: typer.Typer, words: str = "dprank") -> list[Entry]:
    """Every command of `app`, those of a group under the group's name and theirs; in the order in which one goes."""
    found = [
        _entry(f"{words} {it.name or it.callback.__name__}", it.callback, it.help)  # type: ignore[union-attr]
        for it in app.registered_commands
    ]
    for group in app.registered_groups:
        if group.typer_instance is not None:
            found += entries(group.typer_instance, f"{words} {group.name}")
    return sorted(found, key=_stage)


def _stage(entry: Entry) -> int:
    words = entry.name.removeprefix("dprank ")
    return next((at for at, first in enumerate(FIRST) if f"{words} ".startswith(f"{first} ")), len(FIRST))


def _entry(name: str, callback: Any, instead: str | None) -> Entry:
    (said, _), (_, example) = parted(callback, instead), parted(callback)
    hints = get_type_hints(callback, include_extras=True)
    options = tuple(_option(it, hints[it.name]) for it in inspect.signature(callback).parameters.values())
    due = [it for it in options if it.required]
    shown = [it.takes if it.argument else f"{it.names[0]} {it.takes}" for it in due]
    return Entry(
        name, tuple(said), " ".join([name, *shown, *["[OPTIONS]"] * (len(due) < len(options))]), example, options
    )


def _option(given: inspect.Parameter, hint: Any) -> Option:
    kind, info = get_args(hint)[:2]
    argument = isinstance(info, ArgumentInfo)
    # where a type is annotated, the first of the names is taken for the default
    both = [it for it in (info.default, *(info.param_decls or ())) if isinstance(it, str) and it.startswith("-")]
    names = [name for it in both for name in it.split("/")]
    shown = {bool: "", int: "N", float: "X", Path: "FILE"}
    value = next((shown[it] for it in (kind, *get_args(kind)) if it in shown), "TEXT")
    default = given.default if type(given.default) in (int, float, str) and given.default != "" else None
    if kind is bool and not names:
        names = [f"--{given.name.replace('_', '-')}", f"--no-{given.name.replace('_', '-')}"]
    return Option(
        names=(given.name,) if argument else tuple(names or [f"--{given.name.replace('_', '-')}"]),
        takes=given.name.upper() if argument else value,
        said=info.help or "",
        required=given.default is inspect.Parameter.empty,
        default="" if default is None else f"{default:g}" if isinstance(default, float) else str(default),
        argument=argument,
    )
