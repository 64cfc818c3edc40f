"""The command `audit`: whether a mechanism, or this command line itself, loses more than it promises."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from dprank.audit import betting
from dprank.audit.auditor import ROUNDING, audit
from dprank.audit.routes import Replay, varied
from dprank.cli.options import AsJson, about, console, published_text
from dprank.cli.path import FILE, PATHS, CommandLine
from dprank.data.files import require_plain
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import NoExactRoute, exact
from dprank.privacy.noise import SECURE
from dprank.publication import read_publication

if TYPE_CHECKING:
    from dprank.cli.neighbours import Pairs

__all__ = ["audit_command"]

#: Items up to which the exact law is asked for: beyond, it may take minutes.
EXACT = 8
CONFIDENCE = 0.999


def audit_command(
    file: Annotated[
        list[Path] | None, typer.Argument(help="A published file; with --command two files that differ in one person.")
    ] = None,
    path: Annotated[
        bool, typer.Option("--path", help="This command line itself, on small files that betray a careless one.")
    ] = False,
    question: Annotated[str | None, typer.Option(help=f"With --path one question alone: {', '.join(PATHS)}.")] = None,
    command: Annotated[
        str | None, typer.Option(help="A command of dprank release in quotes, with {} for the file: audited on both.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="With --path, of every release.")] = 1.0,
    releases: Annotated[int, typer.Option(help="How many are made, of each thing that is audited.")] = 5000,
    routes: Annotated[
        bool,
        typer.Option("--routes", help="Also with the data in other words: rows in another order, other types."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for a broken promise: the exact law on the worst neighbours known, and bets on releases as of a black box.

    Exit code 0 says that nothing was refuted, which proves nothing; 1 that more is lost than is promised.

    Example: dprank audit release.json
    """
    files = file or []
    if path + (command is not None) + (not path and command is None and bool(files)) != 1:
        raise ValueError("say what is audited: a published file, --path, or --command with two files")
    found: dict[str, Mapping[str, Any]] = {}
    if path:
        if question is not None and question not in PATHS:
            raise ValueError(f"question = {question!r}; one of {', '.join(PATHS)}")
        for asked in [question] if question else list(PATHS):
            with tempfile.TemporaryDirectory() as folder:
                line = PATHS[asked].line(epsilon, Path(folder))
                found[asked] = _bets(line, dict(PATHS[asked].pairs), releases, routes)
    elif command is not None:
        if len(files) != 2:
            raise ValueError(f"--command audits two files that differ in one person; {len(files)} given")
        found["command"] = _own(command, files, releases, routes)
    else:
        if len(files) != 1:
            raise ValueError(f"one published file is audited; {len(files)} given")
        with about(files[0]):
            mechanism = read_publication(published_text(files[0])).mechanism
        found[type(mechanism).__name__] = _published(mechanism, releases, routes)
    if as_json:
        print(json.dumps({name: dict(it) for name, it in found.items()}))
    else:
        for name, it in found.items():
            console().print(_words(name, it), markup=False)
    if any(it["refuted"] for it in found.values()):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Released:
    """What a mechanism publishes: whatever source is handed over, the operating system draws, but for a replay."""

    mechanism: Any
    guarantee: Guarantee

    def release(self, data: Any, rng: Any) -> Any:
        return self.mechanism.release(data, rng if isinstance(rng, Replay) else SECURE)

    def __getattr__(self, name: str) -> Any:
        """What else a mechanism says of itself, such as that who was asked what is public."""
        return getattr(self.mechanism, name)


def _bets(mechanism: Any, pairs: Pairs, releases: int, routes: bool) -> dict[str, Any]:
    """What bets on the releases show."""
    given = list(pairs.values())
    number = len(varied(mechanism, given, np.random.default_rng()) if routes else given)
    least = 2 * betting.FIRST * (number + 1)
    if releases < least:
        raise ValueError(f"releases = {releases}; {number} pairs of neighbours need {least} at least")
    with _progress(releases) as watch:
        named: dict[str, Any] = {"rng": np.random.default_rng(), "budget": releases, "confidence": CONFIDENCE}
        seen = audit(mechanism, given, watch=watch, routes=routes, **named)
    bets = seen.samples
    return {
        "refuted": seen.broken,
        "loses at least": bets.epsilon,
        "exact": None,
        "promises": seen.guarantee.epsilon,
        "delta": seen.guarantee.delta,
        "releases": bets.samples,
        "confidence": CONFIDENCE,
        "pairs": list(pairs),
        "on": list(pairs)[bets.pair] if bets.refuted else None,
        "event": bets.event if bets.refuted else None,
        "witnesses": [f"'{list(pairs)[it.pair]}', {it}" for it in seen.witnesses],
        "reach": seen.reach,
    }


def _published(mechanism: Any, releases: int, routes: bool) -> dict[str, Any]:
    """The mechanism of a published file: its exact law where there is one, and bets."""
    from dprank.cli.neighbours import worst_pairs  # all mechanisms, which other commands need not wait for

    pairs, promise = worst_pairs(mechanism), mechanism.guarantee
    found = _bets(_Released(mechanism, promise), pairs, releases, routes)
    if mechanism.n_items <= EXACT:
        with suppress(NoExactRoute):
            loss = max(exact(mechanism, *pair).epsilon(promise.delta) for pair in pairs.values())
            too_much = loss > promise.epsilon + ROUNDING * max(1.0, promise.epsilon)
            found |= {"exact": loss, "refuted": found["refuted"] or too_much}
    return found


def _own(command: str, files: list[Path], releases: int, routes: bool) -> dict[str, Any]:
    """A command of the user's on two files."""
    words = shlex.split(command)
    words = words[words[0] == "dprank" :] if words else words
    if words[:1] != ["release"] or words.count(FILE) != 1:
        raise ValueError(f"command = {command!r}; release, a question, and {FILE} for the file are needed")
    for flag in ("--budget", "--out", "--json", "--rehearse"):
        if flag in words:
            raise ValueError(
                f"command has {flag}; an audit makes thousands of releases and publishes none: leave it out"
            )
    one, other = (require_plain(file).read_bytes() for file in files)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bare = CommandLine(words, (), home, files[0].suffix)
        made_up = bare.rehearsed
        items = made_up["items"] if made_up["kind"] == "Ranking" else made_up["mechanism"].get("items")
        line = CommandLine(words, tuple(items or ()), home, files[0].suffix)
        return _bets(line, {"the two files": (one, other)}, releases, routes)


def _words(name: str, it: Mapping[str, Any]) -> str:
    """One line: what was found."""
    bets, law = f"loses at least {it['loses at least']:.3g}", it["exact"]
    if law is not None:  # what bets show beside it is chance, unless they show too much
        exact = f"loses {law:.6g} on the worst neighbours known, by its exact law"
        bets = f"{exact}; by bets {bets}" if it["refuted"] else exact
    said = f"{bets}; promises {it['promises']:.6g}"
    said += f" but for events of chance {it['delta']:g}" * bool(it["delta"])
    if it["refuted"]:
        where = f" Seen on '{it['on']}': {it['event']}." if it["on"] else ""
        where += "".join(f" Told apart: {one}." for one in it["witnesses"])
        return f"{name}: REFUTED in {it['releases']:,} releases: {said}.{where}"
    far = it["promises"] > it["reach"]
    more = f" So many releases can refute nothing above {it['reach']:.3g}." if far and it["exact"] is None else ""
    return f"{name}: not refuted in {it['releases']:,} releases: {said}.{more}"


@contextmanager
def _progress(releases: int) -> Iterator[Callable[[int], Any] | None]:
    """A bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with Progress(
        console=Console(file=sys.stderr), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("releases", total=releases)
        yield lambda made: bar.advance(task, made)
