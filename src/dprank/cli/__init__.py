"""The command line: a module for the commands that one thinks of together."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from errno import EISDIR
from functools import cache
from typing import Any, NoReturn

import typer

from dprank._require import visible
from dprank.cli import plan, release
from dprank.cli.asked import elsewhere, missing_options
from dprank.cli.audit import audit_command
from dprank.cli.check import check
from dprank.cli.counts import count_command, merge_command, split_command
from dprank.cli.examples import example_command
from dprank.cli.manual import explain
from dprank.cli.records import budget_command, card_command, compare_command, report_command, verify

__all__ = ["app", "main"]

app = typer.Typer(
    help="Private rankings of your own data: look, release, report. Nothing leaves this machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(check)
app.add_typer(plan.app, name="plan")
app.add_typer(release.app, name="release")
app.command("count")(count_command)
app.command("split")(split_command)
app.command("merge")(merge_command)
app.command("budget")(budget_command)
app.command("report")(report_command)
app.command("audit")(audit_command)
app.command()(verify)
app.command("compare")(compare_command)
app.command("card")(card_command)
app.command("example")(example_command)
explain(app)


@cache
def _command() -> Any:
    """All commands, made from their signatures once a process."""
    return typer.main.get_command(app)


def _refuse(said: str, code: int) -> NoReturn:
    print(visible(f"dprank: {said}"), file=sys.stderr)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; one line and exit code 2 where it cannot be done as asked, 3 where a budget refuses."""
    warnings.simplefilter("ignore")
    for of in ("epsilon", "delta"):
        warnings.filterwarnings("always", message=f"{of} = ")
    warnings.showwarning = lambda message, *_, **__: print(visible(f"dprank: {message}"), file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a stream of a notebook's, or of a test's
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _command()(arguments, standalone_mode=False, prog_name="dprank")
    except ValueError as error:
        spent = type(error).__name__ == "BudgetRefused"
        less = "ask for no more than that, or " if getattr(error, "fits", 0) else ""
        more = f"; nothing was spent: {less}release no more of these people" * spent
        _refuse(" ".join(str(error).split()) + more, 3 if spent else 2)
    except OSError as error:
        what = "is a folder; the name of a file is needed" if error.errno == EISDIR else error.strerror
        _refuse(f"{error.filename or 'file'}: {what}" if error.errno else str(error), 2)
    except MemoryError:
        _refuse("not enough memory for so many items", 2)
    except Exception as error:
        asked = getattr(error, "ctx", None)
        if not hasattr(error, "format_message"):  # of typer: a flag or a command that is not there, or is missing
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            sys.exit(2)
        said = error.format_message().rstrip(".").replace(", unable to parse string as a number", ", as 0.5")
        words = sys.argv[1:] if arguments is None else arguments
        if type(error).__name__ == "MissingParameter" and len(lacks := missing_options(asked, words)) > 1:
            said = f"Missing options {', '.join(map(repr, lacks))}"
        flag = getattr(error, "option_name", None)
        if flag and (where := elsewhere(getattr(asked, "command_path", ""), flag)):
            said = f"No such option: {flag}; {where}"
        _refuse(f"{said}; see {getattr(asked, 'command_path', 'dprank')} --help", 2)
    sys.exit(code if isinstance(code, int) else 0)
