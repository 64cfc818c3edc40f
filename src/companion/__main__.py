"""Command line of the book: `companion book`, `run`, `verify`, `history`, `status`, `pdf`, `check-site`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

from companion.instruments.seed import ROOT


def _missing(error: ModuleNotFoundError) -> str:
    name = (error.name or "a package").partition(".")[0]
    extra = "test" if name in ("bs4", "playwright") else "book"
    return f"companion: {name} is not installed; in the clone: pip install -e '.[{extra}]'"


try:
    import typer
    from typer.core import TyperCommand
except ModuleNotFoundError as error:
    sys.exit(_missing(error))

app = typer.Typer(
    help="Build and check the book.", no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False,
)  # fmt: skip
Profile = Annotated[str, typer.Option(help="smoke, standard or paper.")]
Seed = Annotated[int, typer.Option(help="Root of all random numbers; no verdict depends on it.")]


def _root() -> Path:
    from companion.ledger.files import find_root
    from companion.press import UsageError

    try:
        return find_root()
    except ValueError as error:
        raise UsageError(str(error)) from None


def _say(line: str) -> None:
    print(line, flush=True)


@app.command()
def book(
    profile: Profile = "standard",
    chapter: Annotated[str | None, typer.Option(help="Run and judge this chapter only.")] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Chapters run at once; one a processor.")] = None,
    seed: Seed = ROOT,
    render: Annotated[bool, typer.Option(help="The site; --no-render stops at the verdicts.")] = True,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers do the sweeps.")
    ] = "",
) -> None:
    """Execute what changed, judge every claim, render the site."""
    from companion.press.pipeline import Build

    Build(_root(), profile, chapter, jobs, _say, seed, scheduler).run(render)


class _Pairs(TyperCommand):
    """`-p` takes two words, as papermill's does; typer knows no list of pairs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words, joined = iter(args), []
        for word in words:
            pair = [next(words, None), next(words, None)] if word == "-p" else []
            if None in pair:
                ctx.fail("Option '-p' needs a name and a value.")
            joined.append(f"-p{pair[0]}={pair[1]}" if pair else word)
        return list(super().parse_args(ctx, joined))


@app.command(cls=_Pairs)
def run(
    chapter: Annotated[str, typer.Argument(help="Its number, the beginning of its name, or all of it.")],
    pairs: Annotated[
        list[str] | None, typer.Option("-p", metavar="NAME VALUE", help="A parameter; repeatable.")
    ] = None,
    yaml: Annotated[list[str] | None, typer.Option("-y", metavar="YAML", help="Parameters, a mapping.")] = None,
    profile: Profile = "standard",
    seed: Seed = ROOT,
    render: Annotated[bool, typer.Option(help="The page; --no-render stops at the comparison.")] = True,
    parameters: Annotated[bool, typer.Option("--list", help="Print the parameters, and run nothing.")] = False,
) -> None:
    """Run one chapter with your own parameters: its page, and what differs from the book's."""
    from companion.press.parameters import given
    from companion.press.run import Run

    own = given([(name, value) for name, _, value in (pair.partition("=") for pair in pairs or [])], yaml or [])
    chosen = Run(_root(), chapter, own, profile, say=_say, seed=seed)
    if parameters:
        chosen.parameters()
    else:
        chosen.run(render)


@app.command()
def status(profile: Profile = "standard", seed: Seed = ROOT) -> None:
    """Say what `book` would run, and why; changes nothing."""
    from companion.press.pipeline import Build

    Build(_root(), profile, say=_say, seed=seed).status()


@app.command()
def verify(
    profile: Annotated[str | None, typer.Option(help="Refuse records of another profile.")] = None,
    update: Annotated[bool, typer.Option("--update", help="Make this build the expected one.")] = False,
    every: Annotated[
        bool, typer.Option("--every", help="List every number, even if other versions made them.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Instead: run so many random cells of the arena's table again.")
    ] = None,
) -> None:
    """Compare the last build with data/expected; or the arena's table with its cells run again."""
    if sample is not None:
        _sampled(sample)
        return
    from companion.press.layout import Layout
    from companion.press.verify import verify as compare

    built, claims, differences, told = compare(Layout(_root().resolve()), profile, update, every)
    for line in (*differences, *told):
        _say(line)
    if differences and not update:
        raise typer.Exit(1)
    _say(f"{claims} record{'' if claims == 1 else 's'} of profile {built} {'are now' if update else 'as'} expected")


@app.command()
def history(
    update: Annotated[bool, typer.Option("--update", help="Add the rows that data/history.yml lacks.")] = False,
    why: Annotated[str, typer.Option(help="Why verdicts changed; due with --update where one did.")] = "",
    formerly: Annotated[str, typer.Option(metavar="ID", help="Of the one claim that is new, the old name.")] = "",
) -> None:
    """Say which verdicts of the ledger changed since they were last recorded, or record them."""
    from companion.ledger.files import load_ledger
    from companion.ledger.history import record, unrecorded
    from companion.press import UsageError
    from dprank import __version__

    root = _root()
    try:
        ledger = load_ledger(root)
        lines = (
            [str(it) for it in record(root, ledger, __version__, why, formerly)] if update else unrecorded(root, ledger)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    for line in lines:
        _say(line)
    if lines and not update:
        raise typer.Exit(1)
    _say("every verdict of the ledger is recorded")


def _sampled(number: int) -> None:
    """Run cells of the arena again."""
    from random import SystemRandom

    from companion.chapters.which_method import table

    whole = table.load(_root())
    several = len(table.cells(whole))
    which = SystemRandom().sample(range(several), min(number, several))
    differences = list(table.again(whole, which))
    for line in differences:
        _say(line)
    if differences:
        raise typer.Exit(1)
    _say(f"{len(which)} cells of the arena are what they were")


@app.command()
def arena(
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Heats run at once; one a processor.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A question, or a kind of people; repeatable.")
    ] = None,
) -> None:
    """Run what the arena's table, data/arena.parquet, lacks; the number of jobs changes nothing."""
    from companion.chapters.which_method import table
    from companion.press import UsageError

    known = {heat[name] for heat in table.heats() for name in ("question", "data")}
    if unknown := set(only or ()) - known:
        raise UsageError(f"--only {min(unknown)}: there are {', '.join(sorted(known))}")
    _say(f"{table.update(_root(), _say, jobs or -1, only or None)} cells were run")


@app.command()
def fairness(
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Heats run at once; one a processor.")] = None,
) -> None:
    """Compute what data/fairness.parquet lacks: what every mechanism of the arena really loses."""
    from companion.chapters.which_method import losses

    _say(f"{losses.update(_root(), _say, jobs or -1)} losses were computed")


@app.command()
def plans(
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Plans at once; one a processor.")] = None,
) -> None:
    """Ask for what data/plans.parquet lacks: what a plan says of every size of the arena."""
    from companion.chapters.which_method import plans as table

    _say(f"{table.update(_root(), _say, jobs or -1)} plans were made")


@app.command()
def pdf() -> None:
    """Print the built site as one PDF in Chromium, and check it; the site's front page then leads to it."""
    from companion.press.layout import Layout
    from companion.press.pdf import put

    for line in (problems := put(Layout(_root().resolve()), _say)):
        _say(line)
    if problems:
        raise typer.Exit(1)


@app.command()
def check_site(
    html: Annotated[Path | None, typer.Argument(help="The site; _build/html by default.")] = None,
    screenshots: Annotated[Path | None, typer.Option(help="Folder for screenshots.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Open every page, in four views, with axe-core in each: before a release.")
    ] = False,
) -> None:
    """Check the built site's links, requests and errors in a browser, and whether a reader finds what is wanted.

    A source listing, or a page of the reference, that shows no kind of element that none opened before it does is put
    into an opened one, and seen there on a phone; --all opens it too.
    """
    from concurrent.futures import ThreadPoolExecutor

    from companion.press import UsageError
    from companion.press.errands import check_errands
    from companion.press.shared import check_shared
    from companion.press.site import check_site as check

    site = html or _root() / "_build" / "html"
    try:
        with ThreadPoolExecutor(1) as pool:  # a reader goes on errands while the files are read
            errands = [pool.submit(check_errands, site, _root() / "book" / "errands.yml")] if html is None else []
            problems = check(site, screenshots, every)
            problems += check_shared(site) if html is None else []
            problems += [line for it in errands for line in it.result()]
    except ValueError as error:
        raise UsageError(str(error)) from None
    for line in problems:
        _say(line)
    if problems:
        raise typer.Exit(1)
    _say(f"site: fine{f', screenshots in {screenshots}' if screenshots else ''}")


def _stop(number: int, _: Any) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # the second time it does not ask
    sys.exit(f"companion: stopped by {signal.Signals(number).name}; what is finished is kept")


def main() -> None:
    """Run the command line; one-line errors, exit code 2 for usage, 1 for a failed build or a system that refuses."""
    from companion.press import BuildError, UsageError, fault

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is in the background of a script
            signal.signal(number, _stop)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal that cannot show a letter
    try:
        app()
    except UsageError as error:
        print(f"companion: {error}", file=sys.stderr)
        sys.exit(2)
    except BuildError as error:
        sys.exit(f"companion: {error}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("companion", "dprank"):
            raise
        sys.exit(_missing(error))
    except OSError as error:
        sys.exit(f"companion: {fault(error)}")


if __name__ == "__main__":
    main()
