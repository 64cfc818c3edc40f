"""Every command by its name: the line that lists it, and its home, a module that is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from dprank.cli.manual import explain, explained
from dprank.questions import QUESTIONS, Kind

__all__ = ["COMMANDS", "GROUPS", "by_name", "every"]

_HELP = "Private rankings of your own data: look, release, report. Nothing leaves this machine."
#: Of each command its module and function, and the first sentence of its docstring.
COMMANDS = {
    "check": ("check.check", "Look at raw data: what counts, what is left out and why, what each rule would correct."),
    "count": (
        "counts.count_command",
        "Exact counts of one shard of the people: secret, whole numbers that can be merged before noise is drawn.",
    ),
    "split": (
        "counts.split_command",
        "Rows as they are, in a folder for each shard of the people: what each counter reads alone.",
    ),
    "merge": (
        "counts.merge_command",
        "Counts of the shards of all files, added up; no shard twice, and all of one bound and one set of rules.",
    ),
    "budget": (
        "records.budget_command",
        "What has been spent of a budget, and what is left; with --epsilon a new one, where there is no such file.",
    ),
    "report": ("records.report_command", "What was released, in words that a minister can read."),
    "audit": (
        "audit.audit_command",
        "Look for a broken promise: the exact law on the worst neighbours known, and bets on releases as of a black "
        "box.",
    ),
    "verify": (
        "records.verify",
        "Whether a published file says of itself what is so: schema, mechanism, guarantee, ranges and id derived anew, "
        "and whether the noise of that mechanism can have given such numbers; with --budget also whether that file has "
        "the entry that paid for it, and all before it as they were.",
    ),
    "compare": (
        "records.compare_command",
        "Which differences between two published files are more than noise, by the law of the noise in both.",
    ),
    "card": ("records.card_command", "A card of a published file for OpenDP's registry of deployments, as YAML."),
    "example": (
        "examples.example_command",
        "A made-up table, copied to where you are: all examples of this help run on them.",
    ),
}
#: Of each group, which is a module with an `app`, its help, and of each of its commands the first sentence.
GROUPS = {
    "plan": (
        "What a release would cost and give; no data are read.",
        {it.name: it.planned for it in QUESTIONS.values()},
    ),
    "release": (
        """One private release.

Noise is drawn by make_laplace and make_gaussian of OpenDP, or by dprank from fair bits of the operating system. OpenDP
lists the two under "contrib": each has a proof, and neither has passed its vetting. All other proofs are ours, and
vetted by nobody else: SECURITY.md says which.""",
        # side by side what takes the same data
        {it.name: it.released for it in sorted(QUESTIONS.values(), key=lambda it: get_args(Kind).index(it.data))},
    ),
}


def _app(**options: Any) -> typer.Typer:
    return typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, **options)


def _registered(name: str, group: str | None) -> Any:
    """What typer is told of a command."""
    if group is None:
        module, function = COMMANDS[name][0].split(".")
        app = _app()
        app.command(name)(getattr(import_module(f"dprank.cli.{module}"), function))
    else:
        app = import_module(f"dprank.cli.{group}").app
    return next(it for it in app.registered_commands if it.name == name)


class _Listed(TyperCommand):
    """A command of which no more is known than its line."""

    group: str | None = None

    @cached_property
    def whole(self) -> Any:
        """The command, made from its signature."""
        app = _app(add_completion=False)
        app.registered_commands = [explained(_registered(str(self.name), self.group))]
        return typer.main.get_command(app)


class _Group(TyperGroup):
    """Its commands are listed by their lines; the one that is typed is made whole."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, getattr(command, "whole", command), rest


def _group(said: str, lines: Mapping[Any, str], of: str | None = None) -> Any:
    app = _app(cls=_Group, help=said, name=of, add_completion=of is None)
    app.callback()(lambda: None)
    group = typer.main.get_command(app)
    for name, line in lines.items():
        listed = _Listed(name, help=line)
        listed.group = of
        group.add_command(listed)  # type: ignore[attr-defined]
    return group


def by_name() -> Any:
    """The command `dprank`, which imports the module of a command when that is typed."""
    root = _group(_HELP, {name: line for name, (_, line) in COMMANDS.items()})
    for name, (said, lines) in GROUPS.items():
        root.add_command(_group(said, lines, name))
    return root


def every() -> typer.Typer:
    """All commands, whole: what the manual goes through."""
    app = _app(help=_HELP)
    app.registered_commands = [_registered(name, None) for name in COMMANDS]
    for name in GROUPS:
        app.add_typer(import_module(f"dprank.cli.{name}").app, name=name)
    explain(app)
    return app
