"""The command line: check, release, budget, report, verify (long: each flag says what it is for)."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

import dprank
from dprank.data.cleaning import RULES, nearest
from dprank.data.declaration import Declaration, Intake
from dprank.privacy.noise import SECURE, Source
from dprank.publication import ASKED, publish, read_publication, report, shown_frame

__all__ = ["main"]

app = typer.Typer(
    help="Private rankings of your own data: look, release, report. Nothing leaves this machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
release_app = typer.Typer(help="One private release.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(release_app, name="release")

File = Annotated[Path, typer.Argument(help="CSV or Parquet.")]
Items = Annotated[
    str | None,
    typer.Option(help="All items, with commas between; or a text file with one a line. Never read off the data."),
]
Person = Annotated[str | None, typer.Option(help="The column that says who.")]
Clean = Annotated[str | None, typer.Option(help=f"Rules, with commas between: {', '.join(RULES)}.")]
Alias = Annotated[list[str] | None, typer.Option(help="What is written and what is meant: scool=school. Repeat it.")]
Plan = Annotated[Path | None, typer.Option(help="A declaration, as `check --out` writes it; flags go before it.")]
Columns = Annotated[str | None, typer.Option("--comparisons", help="Columns of first item, second item, answer.")]
Answers = Annotated[str | None, typer.Option("--map", help="What an answer means: left=1,right=0,equal=0.5.")]
Item = Annotated[str | None, typer.Option("--item", help="The column of the item that a person has.")]
Wide = Annotated[bool, typer.Option("--wide", help="Ballots: a column an item, which holds its place, 1 for the best.")]
Epsilon = Annotated[float, typer.Option(help="What the whole release spends; there is no default.")]
Delta = Annotated[float, typer.Option(help="Chance of the events that the promise leaves out.")]
Protect = Annotated[
    str, typer.Option(help="One answer, one ballot, or one person with all answers: answer, ballot, person.")
]
Out = Annotated[Path | None, typer.Option(help="Where the published file goes.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="On made-up data: nothing is read of yours or spent.")]
AsJson = Annotated[bool, typer.Option("--json", help="For another program.")]
SECRET = "not for publication: this tells of the data"


def _console() -> Console:
    return Console(soft_wrap=True, highlight=False)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


def _paired(name: str, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise ValueError(f"{name} = {text!r}; name=value is needed")
        pairs[key] = value
    return pairs


def _declared(
    kind: str,
    items: str | None,
    person: str | None,
    columns: tuple[str, ...],
    answers: str | None,
    clean: str | None,
    alias: list[str] | None,
    plan: Path | None,
) -> Declaration:
    """Flags before the plan, and the plan before nothing."""
    base: dict[str, Any] = vars(Declaration.from_toml(plan)) if plan else {"kind": kind, "items": ()}
    given: dict[str, Any] = {"person": person, "columns": columns or None, "clean": _listed(clean) or None}
    if items is not None:
        path = Path(items)
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.is_file() else items.split(",")
        given["items"] = tuple(line.strip() for line in lines if line.strip())
    if answers is not None:
        given["answers"] = {key: _number("map", value) for key, value in _paired("map", _listed(answers)).items()}
    if alias:
        given["aliases"] = _paired("alias", tuple(alias))
    merged = base | {key: value for key, value in given.items() if value is not None}
    if not merged["items"]:
        raise ValueError("items are missing; say all of them with --items: what the data hold is no public list")
    return Declaration(**merged)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} = {text!r}; a number is needed") from None


@app.command()
def check(
    file: File,
    comparisons: Columns = None,
    wide: Wide = False,
    item: Item = None,
    items: Items = None,
    person: Person = None,
    answers: Answers = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    out: Annotated[Path | None, typer.Option(help="Write the declaration here, for --plan.")] = None,
    as_json: AsJson = False,
) -> None:
    """Look at raw data: what counts, what is left out and why. Not for publication.

    Example: dprank check survey.csv --comparisons left,right,answer --map left=1,right=0,equal=0.5
    --person person --items items.txt --out plan.toml
    """
    kind = "comparisons" if comparisons else "tallies" if item else "ballots"
    if plan is None and sum(map(bool, (comparisons, wide, item))) != 1:
        raise ValueError("say what a row is: --comparisons FIRST,SECOND,ANSWER, --wide, or --item COLUMN")
    columns = _listed(comparisons) or ((item,) if item else ())
    declared = _declared(kind, items, person, columns, answers, clean, alias, plan)
    intake = declared.read(file)
    if out:
        out.write_text(declared.to_toml(), encoding="utf-8")
    found = _looked(intake, declared)
    if as_json:
        print(json.dumps(found | {"mark": SECRET}, ensure_ascii=False, indent=2))
        return
    console = _console()
    console.print(f"[{SECRET}]", markup=False)
    for name, value in found.items():
        if isinstance(value, Mapping):
            for key, number in value.items():
                console.print(f"{name}: {key}: {number}", markup=False)
        else:
            console.print(f"{name}: {value}", markup=False)
    console.print("every rule above looks at one row, or at one person's rows: it keeps the guarantee", markup=False)
    if out:
        console.print(f"declaration: {out}", markup=False)


def _looked(intake: Intake, declared: Declaration) -> dict[str, Any]:
    """What the curator is told."""
    import numpy as np

    found: dict[str, Any] = {
        "file": intake.said,
        "rows": intake.rows,
        "rows that count": intake.kept,
        "left out": dict(intake.left_out),
        "unknown items": {
            f"{label!r}" + (f", like {like!r}" if (like := nearest(label, declared.items)) else ""): number
            for label, number in intake.unknown.items()
        },
    }
    people = getattr(intake.data, "person", getattr(intake.data, "voter", None))
    if people is not None and len(people):
        _, each = np.unique(people, return_counts=True)
        found["people"] = len(each)
        found["answers a person"] = {
            "fewest": int(each.min()),
            "median": float(np.median(each)),
            "most": int(each.max()),
        }
    return found


def _finish(release: Any, question: Any, declared: Declaration, out: Path | None, as_json: bool, kept: bool) -> None:
    """Write what is published, and show it."""
    text = publish(release, question, declared)
    if out:
        out.write_text(text, encoding="utf-8")
    if as_json:
        print(text, end="")
        return
    console = _console()
    frame = shown_frame(release)
    table = Table(title=ASKED[question], title_justify="left")
    for column in frame.columns:
        table.add_column(str(column))
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{value:g}" if isinstance(value, float) else str(value) for value in row))
    console.print(table)
    console.print(f"{release.guarantee}; {release.mark or 'drawn by the operating system'}", markup=False)
    if not kept:
        console.print(
            "no budget: nobody keeps count of what is released of these people; --budget FILE does", markup=False
        )
    if out:
        console.print(f"published file: {out}", markup=False)


def _drawn(
    mechanism: Any,
    file: Path,
    declared: Declaration,
    made_up: Any,
    rehearse: bool,
    budget: Path | None,
    dataset: str | None,
) -> Any:
    """Spend, then draw; a rehearsal reads nothing and spends nothing."""
    if rehearse:
        import numpy as np

        source: Source = np.random.default_rng()
        return mechanism.release(made_up(source), source)
    data = declared.read(file).data
    if budget is None:
        return mechanism.release(data, SECURE)
    return dprank.Budget(budget).release(mechanism, data, dataset=dataset or file.name)


BudgetFile = Annotated[
    Path | None, typer.Option(help="A budget that `dprank budget` made: spent before noise is drawn.")
]
Dataset = Annotated[str | None, typer.Option(help="Whose budget it is; the name of the file by default.")]


@release_app.command("ranking")
def ranking(
    file: File,
    epsilon: Epsilon,
    protect: Protect,
    comparisons: Columns = None,
    items: Items = None,
    person: Person = None,
    answers_map: Answers = None,
    answers: Annotated[int | None, typer.Option(help="How many answers of a person count.")] = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """A ranking with its scores, from comparisons of two items at a time.

    Example: dprank release ranking survey.csv --plan plan.toml --protect person --answers 3 --epsilon 1
    """
    declared = _declared("comparisons", items, person, _listed(comparisons), answers_map, clean, alias, plan)
    if protect not in ("answer", "person"):
        raise ValueError(f"protect = {protect!r}; answer or person")
    if protect == "person" and declared.person is None:
        raise ValueError("person is missing; without --person an answer alone can be protected: --protect answer")
    whole = protect == "person"
    if whole and answers is None:
        raise ValueError(
            "answers are missing; say with --answers how many of a person's count: the noise grows with them"
        )
    mechanism = dprank.NoisyCounts.calibrated(
        epsilon=epsilon,
        n_items=len(declared.items),
        per_person=answers,
        unit="voter" if whole else "comparison",
        design="once" if whole else "any",
    )

    def made_up(rng: Any) -> Any:
        pairs = rng.permuted(range(len(declared.items)))[:2]
        voters = rng.integers(0, 100, 300)
        return dprank.Comparisons(
            [pairs[0]] * 300, [pairs[1]] * 300, rng.integers(0, 2, 300), items=declared.items, voter=voters
        )

    drawn = _drawn(mechanism, file, declared, made_up, rehearse, budget, dataset)
    _finish(drawn, "ranking", declared, out, as_json, budget is not None)


@release_app.command("consensus")
def consensus(
    file: File,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    wide: Wide = True,
    items: Items = None,
    person: Person = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """One order from many ballots.

    Example: dprank release consensus ballots.csv --items "roads,schools,parks,debt" --person person --epsilon 1
    """
    declared = _declared("ballots", items, person, (), None, clean, alias, plan)
    mechanism = dprank.PrivateBorda.calibrated(epsilon=epsilon, delta=delta, n_items=len(declared.items))
    drawn = _drawn(mechanism, file, declared, lambda rng: _shuffled(declared, rng), rehearse, budget, dataset)
    _finish(drawn, "consensus", declared, out, as_json, budget is not None)


@release_app.command("agreement")
def agreement(
    file: File,
    epsilon: Epsilon,
    voters: Annotated[int, typer.Option(help="How many ballots there are: a public number.")],
    size: Annotated[float, typer.Option(help="Chance of rejecting where nobody agrees.")] = 0.05,
    wide: Wide = True,
    items: Items = None,
    person: Person = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Whether ballots agree on anything, or might have been shuffled.

    Example: dprank release agreement ballots.csv --items "roads,schools,parks,debt" --voters 250 --epsilon 1
    """
    declared = _declared("ballots", items, person, (), None, clean, alias, plan)
    mechanism = dprank.NoisyNorm.calibrated(
        epsilon=epsilon, size=size, n_items=len(declared.items), n_voters=voters, statistic="ranks"
    )
    drawn = _drawn(mechanism, file, declared, lambda rng: _shuffled(declared, rng, voters), rehearse, budget, dataset)
    _finish(drawn, "agreement", declared, out, as_json, budget is not None)


def _shuffled(declared: Declaration, rng: Any, voters: int = 100) -> Any:
    return dprank.Rankings([rng.permutation(len(declared.items)) for _ in range(voters)], declared.items)


@release_app.command("topk")
def topk(
    file: File,
    epsilon: Epsilon,
    k: Annotated[int, typer.Option(help="How many items.")],
    per_person: Annotated[int, typer.Option(help="How many items of a person count.")],
    item: Item = None,
    items: Items = None,
    person: Person = None,
    delta: Delta = 0.0,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """The k most frequent items, in their order, by noise that is added once.

    Example: dprank release topk diagnoses.parquet --person patient --item diagnosis --items icd.txt --k 10
    --per-person 5 --epsilon 1
    """
    declared = _declared("tallies", items, person, (item,) if item else (), None, clean, alias, plan)
    mechanism = dprank.Oneshot.calibrated(
        epsilon=epsilon,
        delta=delta,
        k=k,
        items=declared.items,
        per_person=per_person,
        adjacency="add_remove",
        ordered=True,
    )

    def made_up(rng: Any) -> Any:
        return dprank.Tallies(rng.integers(0, 100, 300), rng.integers(0, len(declared.items), 300), declared.items)

    drawn = _drawn(mechanism, file, declared, made_up, rehearse, budget, dataset)
    _finish(drawn, "topk", declared, out, as_json, budget is not None)


@app.command("budget")
def budget_command(
    file: Annotated[Path, typer.Argument(help="The budget's file.")],
    epsilon: Annotated[float | None, typer.Option(help="What each data set may cost in all: makes the file.")] = None,
    delta: Annotated[float | None, typer.Option(help="The same of delta.")] = None,
    unit: Annotated[str | None, typer.Option(help="comparison or voter.")] = None,
    adjacency: Annotated[str | None, typer.Option(help="replace or add_remove.")] = None,
    as_json: AsJson = False,
) -> None:
    """What has been spent of a budget, and what is left; with --epsilon a new one.

    Example: dprank budget budget.sqlite --epsilon 3
    """
    kept: Any = dprank.Budget(file, epsilon=epsilon, delta=delta, unit=unit, adjacency=adjacency)  # type: ignore[arg-type]
    sets = {name: kept.remaining(name) for name in dict.fromkeys(it.dataset for it in kept.entries())}
    if as_json:
        left = {name: {"epsilon": it.epsilon, "delta": it.delta} for name, it in sets.items()}
        print(json.dumps({"limit": vars(kept.limit), "left": left, "entries": [vars(it) for it in kept.entries()]}))
        return
    console = _console()
    console.print(f"each data set: {kept.limit}", markup=False)
    for it in kept.entries():
        said = f"{it.number}. {it.day} {it.dataset}: epsilon = {it.epsilon:g}, delta = {it.delta:g}, {it.what}"
        console.print(said, markup=False)
    for name, rest in sets.items():
        console.print(f"left for {name}: epsilon = {rest.epsilon:g}, delta = {rest.delta:g}", markup=False)


@app.command("report")
def report_command(
    file: Annotated[Path, typer.Argument(help="A published file.")],
    html: Annotated[
        bool, typer.Option("--html", help="A page, beside the file; else Markdown on the terminal.")
    ] = False,
) -> None:
    """What was released, in words that a minister can read.

    Example: dprank report release.json --html
    """
    text = _text(file)
    if html:
        target = file.with_suffix(".html")
        target.write_text(report(text, "html"), encoding="utf-8")
        _console().print(f"report: {target}", markup=False)
    else:
        print(report(text), end="")


@app.command()
def verify(file: Annotated[Path, typer.Argument(help="A published file.")], as_json: AsJson = False) -> None:
    """Whether a published file says of itself what is so: schema, mechanism, guarantee derived anew.

    Example: dprank verify release.json
    """
    release = read_publication(_text(file))
    said = {"guarantee": str(release.guarantee), "mechanism": type(release.mechanism).__name__, "mark": release.mark}
    print(json.dumps(said) if as_json else f"{file}: {said['guarantee']}, by {said['mechanism']}; as it says of itself")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeError:
        raise ValueError(f"{file} is no text in UTF-8") from None


def _refuse(said: str, code: int) -> NoReturn:
    print(f"dprank: {said}", file=sys.stderr)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; one line and exit code 2 where it cannot be done as asked, 3 where a budget refuses."""
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", message="epsilon = ")
    warnings.showwarning = lambda message, *_, **__: print(f"dprank: {message}", file=sys.stderr)
    try:
        app(arguments, standalone_mode=True)
    except ValueError as error:
        _refuse(" ".join(str(error).split()), 3 if type(error).__name__ == "BudgetRefused" else 2)
    except OSError as error:
        _refuse(f"{error.filename or 'file'}: {error.strerror or type(error).__name__}", 2)
    except MemoryError:
        _refuse("not enough memory for so many items", 2)


if __name__ == "__main__":
    main()
