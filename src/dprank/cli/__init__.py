"""The command line: a module for the commands that one thinks of together."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from errno import EISDIR
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from dprank.cli.commands import by_name, every

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    """All commands, whole, as `app`."""
    if name != "app":
        raise AttributeError(f"module 'dprank.cli' has no attribute {name!r}")
    made = globals()["app"] = every()
    return made


@cache
def _command() -> Any:
    """All commands, by their names, once a process."""
    return by_name()


def _tell(said: object) -> None:
    from dprank._require import visible  # which imports numpy

    print(visible(f"dprank: {said}"), file=sys.stderr)


def _refuse(said: str, code: int) -> NoReturn:
    _tell(said)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; one line and exit code 2 where it cannot be done as asked, 3 where a budget refuses."""
    warnings.simplefilter("ignore")
    for of in ("epsilon", "delta"):
        warnings.filterwarnings("always", message=f"{of} = ")
    warnings.showwarning = lambda message, *_, **__: _tell(message)
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
        from dprank.cli.asked import elsewhere, missing_options

        said = error.format_message().rstrip(".").replace(", unable to parse string as a number", ", as 0.5")
        words = sys.argv[1:] if arguments is None else arguments
        if type(error).__name__ == "MissingParameter" and len(lacks := missing_options(asked, words)) > 1:
            said = f"Missing options {', '.join(map(repr, lacks))}"
        flag = getattr(error, "option_name", None)
        if flag and (where := elsewhere(getattr(asked, "command_path", ""), flag)):
            said = f"No such option: {flag}; {where}"
        _refuse(f"{said}; see {getattr(asked, 'command_path', 'dprank')} --help", 2)
    sys.exit(code if isinstance(code, int) else 0)
