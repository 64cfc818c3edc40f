"""The commands `release ranking | consensus | agreement | topk`: spend, draw, write, show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

import dprank
from dprank._require import require_whole
from dprank.cli.counts import CountsFile, Given, given_counts
from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    BudgetFile,
    Clean,
    Columns,
    Dataset,
    Delta,
    Epsilon,
    File,
    Item,
    Items,
    MaybeFile,
    Out,
    Person,
    Persons,
    Plan,
    Protect,
    Rehearse,
    Sampled,
    Top,
    Wide,
    console,
    declaration_of,
    listed,
)
from dprank.data.declaration import Declaration
from dprank.privacy.noise import SECURE, Source
from dprank.publication import ASKED, publish, ranges, shown_frame, told

__all__ = ["agreement", "app", "consensus", "ranking", "topk"]

app = typer.Typer(help="One private release.", no_args_is_help=True, rich_markup_mode=None)


def _finish(
    release: Any,
    question: Any,
    declared: Declaration,
    out: Path | None,
    as_json: bool,
    kept: bool,
    top: int | None = None,
    **drawing: Any,
) -> None:
    """Write what is published, and show it; `drawing` is what `dprank.Ranking.intervals` asks of sampling."""
    text = publish(release, question, declared, top=top, **drawing)
    if out:
        out.write_text(text, encoding="utf-8")
    if as_json:
        print(text, end="")
        return
    shown = console()
    frame = shown_frame(release, **drawing)
    table = Table(title=ASKED[question], title_justify="left")
    for column in frame.columns:
        table.add_column(str(column))
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{value:g}" if isinstance(value, float) else str(value) for value in row))
    shown.print(table)
    for line in told(release, ranges(release, **drawing), top):
        shown.print(line, markup=False)
    shown.print(f"{release.guarantee}; {release.mark or 'drawn by the operating system'}", markup=False)
    if not kept:
        shown.print(
            "no budget: nobody keeps count of what is released of these people; --budget FILE does", markup=False
        )
    if out:
        shown.print(f"published file: {out}", markup=False)


def _drawn(
    mechanism: Any,
    file: Path | Given,
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
    if isinstance(file, Given):
        if budget is not None and dataset is None:
            raise ValueError(
                "dataset is missing; say with --dataset whose budget it is: counts have no name of their own"
            )
        data: Any = file.checked(mechanism)
    else:
        data, dataset = declared.read(file).data, dataset or file.name
    if isinstance(voters := getattr(mechanism, "n_voters", None), int):
        data = _exactly(data, voters)
    if budget is None:
        return mechanism.release(data, SECURE)
    return dprank.Budget(budget).release(mechanism, data, dataset=dataset)


def _drawing(persons: int | None, sampling: str | None) -> dict[str, Any]:
    """What was said of sampling: persons are drawn as persons where nothing else is named."""
    if persons is None and sampling is not None:
        raise ValueError(f"sampling = {sampling!r}; say with --persons how many took part at most, a public number")
    return {"sampling": sampling or (None if persons is None else "persons"), "persons": persons}


def _checked(mechanism: Any, drawing: dict[str, Any], top: int | None) -> dict[str, Any]:
    """Refuse what no range can be told of, before anything is spent."""
    mechanism.drawn_deviation(**drawing)
    if top is not None:
        require_whole("top", top, 1, mechanism.n_items)
    return drawing


@app.command("ranking")
def ranking(
    *,
    file: MaybeFile = None,
    counts: CountsFile = None,
    epsilon: Epsilon,
    protect: Protect,
    comparisons: Columns = None,
    items: Items = None,
    person: Person = None,
    answers_map: Answers = None,
    answers: Annotated[int | None, typer.Option(help="How many answers of a person count.")] = None,
    persons: Persons = None,
    sampling: Sampled = None,
    top: Top = None,
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
    given = given_counts(counts, file, plan, comparisons, items, person, answers_map, clean, alias)
    declared = (
        given.declaration
        if given
        else declaration_of("comparisons", items, person, listed(comparisons), answers_map, clean, alias, plan)
    )
    if protect not in ("answer", "person"):
        raise ValueError(f"protect = {protect!r}; answer or person")
    if protect == "person" and declared.person is None:
        raise ValueError("person is missing; without --person an answer alone can be protected: --protect answer")
    whole = protect == "person"
    drawing = _drawing(persons, sampling)
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

    _checked(mechanism, drawing, top)

    def made_up(rng: Any) -> Any:
        pairs = rng.permuted(range(len(declared.items)))[:2]
        voters = rng.integers(0, 100, 300)
        return dprank.Comparisons(
            [pairs[0]] * 300, [pairs[1]] * 300, rng.integers(0, 2, 300), items=declared.items, voter=voters
        )

    drawn = _drawn(mechanism, given or file, declared, made_up, rehearse, budget, dataset)
    _finish(drawn, "ranking", declared, out, as_json, budget is not None, top, **drawing)


@app.command("consensus")
def consensus(
    file: File,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    persons: Persons = None,
    top: Top = None,
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
    declared = declaration_of("ballots", items, person, (), None, clean, alias, plan)
    mechanism = dprank.PrivateBorda.calibrated(epsilon=epsilon, delta=delta, n_items=len(declared.items))
    drawing = _checked(mechanism, _drawing(persons, None), top)
    drawn = _drawn(mechanism, file, declared, lambda rng: _shuffled(declared, rng), rehearse, budget, dataset)
    _finish(drawn, "consensus", declared, out, as_json, budget is not None, top, **drawing)


@app.command("agreement")
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
    declared = declaration_of("ballots", items, person, (), None, clean, alias, plan)
    mechanism = dprank.NoisyNorm.calibrated(
        epsilon=epsilon, size=size, n_items=len(declared.items), n_voters=voters, statistic="ranks"
    )
    drawn = _drawn(mechanism, file, declared, lambda rng: _shuffled(declared, rng, voters), rehearse, budget, dataset)
    _finish(drawn, "agreement", declared, out, as_json, budget is not None)


def _exactly(data: Any, voters: int) -> Any:
    """So many ballots: missing ones are made up by shuffling, too many are left out by lot.

    To refuse another number would tell of whoever cast a ballot that does not count. Which are left out, or made up,
    can be coupled so that one person's ballot still changes one ballot at most: the guarantee stays as it is. So does
    the size of the test, as shuffled ballots agree on nothing.
    """
    places = list(data.positions)
    if len(places) > voters:
        places = [places[at] for at in SECURE.permutation(len(places))[:voters]]
    places += [SECURE.permutation(data.n_items) for _ in range(voters - len(places))]
    return dprank.Rankings(places, data.items)


def _shuffled(declared: Declaration, rng: Any, voters: int = 100) -> Any:
    return dprank.Rankings([rng.permutation(len(declared.items)) for _ in range(voters)], declared.items)


@app.command("topk")
def topk(
    *,
    file: MaybeFile = None,
    counts: CountsFile = None,
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
    given = given_counts(counts, file, plan, item, items, person, clean, alias)
    declared = (
        given.declaration
        if given
        else declaration_of("tallies", items, person, (item,) if item else (), None, clean, alias, plan)
    )
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

    drawn = _drawn(mechanism, given or file, declared, made_up, rehearse, budget, dataset)
    _finish(drawn, "topk", declared, out, as_json, budget is not None)
