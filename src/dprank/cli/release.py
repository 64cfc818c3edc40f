"""The commands `release ranking | consensus | winner | agreement | topk`: spend, draw, write, show (long: flags)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.table import Table

import dprank
from dprank._require import require_one_of, require_whole, shown_down
from dprank.cli.counts import CountsFile, Given, given_counts
from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    BallotColumn,
    Ballots,
    BudgetFile,
    Clean,
    Columns,
    Dataset,
    Delta,
    Epsilon,
    File,
    Item,
    Items,
    Long,
    MaxWeight,
    MaybeFile,
    NewDataset,
    Orders,
    Out,
    Pairs,
    Person,
    Persons,
    Plan,
    Protect,
    Rehearse,
    Repeated,
    Sampled,
    Top,
    Unranked,
    Weight,
    Wide,
    cell,
    console,
    declaration_of,
    form_of,
    show_json,
)
from dprank.cli.writing import require_writable, write_new
from dprank.data.declaration import Declaration
from dprank.plan.tags import mechanism_of
from dprank.privacy.budget import Receipt
from dprank.privacy.noise import SECURE, Source
from dprank.privacy.pair_ranges import Sampling
from dprank.publication import publish
from dprank.sentences import ASKED, ranges, shown_frame, told

__all__ = ["agreement", "app", "consensus", "ranking", "topk", "winner"]

Mechanism = Annotated[str | None, typer.Option(help="Its name, as `dprank plan` recommends it.")]
Adjacency = Annotated[
    str | None, typer.Option(help="replace (one person's data are others), or add_remove (one person more or less).")
]

_HELP = """One private release.

Noise is drawn by make_laplace, make_gaussian and make_noisy_top_k of OpenDP, or by fair bits of the operating system.
OpenDP lists the three under "contrib": each has a proof, and none has passed its vetting. All other proofs are ours,
and vetted by nobody else: SECURITY.md says which."""
app = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)


def _finish(
    drawn: tuple[Any, Receipt | None],
    question: Any,
    declared: Declaration,
    out: Path | None,
    as_json: bool,
    kept: bool,
    top: int | None = None,
    **drawing: Any,
) -> None:
    """Write what is published, and show it; `drawing` is what `dprank.Ranking.intervals` asks of sampling."""
    release, receipt = drawn
    text = None
    try:
        text = publish(release, question, declared, top=top, receipt=receipt, **drawing)
        if out:
            write_new(out, text)
        if not as_json:
            _show(drawn, question, out, kept, top, **drawing)
    except BaseException:  # whatever fails, or is stopped: it was spent, and is drawn once
        if text is None or not (out and _holds(out, text)):
            show_json(release.to_json() if text is None else text)
        raise
    if as_json:
        show_json(text)


def _holds(out: Path, text: str) -> bool:
    """Whether a file has just been written."""
    try:
        return out.is_file() and out.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _show(
    drawn: tuple[Any, Receipt | None], question: Any, out: Path | None, kept: bool, top: int | None, **drawing: Any
) -> None:
    """The table, and what it means."""
    (release, receipt), shown = drawn, console()
    frame = shown_frame(release, **drawing)
    table = Table(title=ASKED[question], title_justify="left")
    for column in frame.columns:
        table.add_column(str(column))
    for row in frame.itertuples(index=False):
        table.add_row(*map(cell, row))
    shown.print(table)
    found = ranges(release, **drawing)
    for line in told(release, found, top):
        shown.print(line, markup=False)
    if drawing.get("persons") is not None and not found:
        shown.print(
            "no ranges: these strengths are none of a graph on which all pairs were compared equally often",
            markup=False,
        )
    shown.print(f"{release.guarantee}; {release.mark or 'drawn by the operating system'}", markup=False)
    if not release.mark and not kept:
        shown.print(
            "no budget: nobody keeps count of what is released of these people; --budget FILE does", markup=False
        )
    if receipt is not None:
        where = f"entry {receipt.number} of {receipt.dataset!r}"
        shown.print(
            f"receipt, published with it: {where}; epsilon = {shown_down(receipt.left.epsilon)} is left", markup=False
        )
    if out:
        shown.print(f"{'published file' if not release.mark else 'not for publication'}: {out}", markup=False)


def _drawn(
    mechanism: Any,
    file: Path | Given,
    declared: Declaration,
    made_up: Any,
    rehearse: bool,
    budget: Path | None,
    dataset: str | None,
    new_dataset: bool,
    out: Path | None,
    given_as: Callable[[Any], Any] = lambda data: data,
) -> tuple[Any, Receipt | None]:
    """Spend, then draw; a rehearsal reads nothing and spends nothing. `given_as` makes of the data what is taken."""
    if out is not None:
        require_writable(out)
    elif sys.stdout is None:
        raise ValueError("standard output is closed, and there is no --out: a release would be lost")
    if rehearse:
        import numpy as np

        source: Source = np.random.default_rng()
        return mechanism.release(made_up(source), source), None
    if isinstance(file, Given):
        if budget is not None and dataset is None:
            raise ValueError(
                "dataset is missing; say with --dataset whose budget it is: counts have no name of their own"
            )
        data: Any = given_as(file.checked(mechanism))
    else:
        data, dataset = given_as(declared.read(file).data), dataset or file.name
    if isinstance(voters := getattr(mechanism, "n_voters", None), int):
        data = _exactly(data, voters)
    if budget is None:
        return mechanism.release(data, SECURE), None
    paid = dprank.Budget(budget).release_with_receipt
    return paid(mechanism, data, dataset=str(dataset), new_dataset=new_dataset)


def _there(file: Path | None) -> Path:
    """The file, which nothing stands for."""
    if file is None:
        raise ValueError("FILE is missing; say which, or --counts for a file of `dprank merge`")
    return file


def _drawing(persons: int | None, sampling: str | None) -> dict[str, Any]:
    """What was said of sampling: persons are drawn as persons where nothing else is named."""
    if persons is None and sampling is not None:
        raise ValueError(f"sampling = {sampling!r}; say with --persons how many took part at most, a public number")
    if sampling is not None:
        require_one_of("sampling", sampling, get_args(Sampling))
    if persons is not None:
        require_whole("persons", persons, 1)
    return {"sampling": sampling or (None if persons is None else "persons"), "persons": persons}


def _checked(mechanism: Any, drawing: dict[str, Any], top: int | None) -> dict[str, Any]:
    """Refuse what no range can be told of, before anything is spent."""
    if hasattr(mechanism, "drawn_deviation"):
        mechanism.drawn_deviation(**drawing)
    elif drawing["persons"] is not None and hasattr(mechanism, "answers_a_pair"):
        mechanism.answers_a_pair(drawing["persons"])
    elif drawing["persons"] is not None and not hasattr(mechanism, "open_places"):
        raise ValueError(
            f"persons = {drawing['persons']}; of a release by {type(mechanism).__name__} no range is known"
        )
    if top is not None:
        require_whole("top", top, 1, mechanism.n_items)
    return drawing


@app.command("ranking")
def ranking(
    *,
    file: MaybeFile = None,
    counts: CountsFile = None,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    protect: Protect,
    comparisons: Columns = None,
    pairs: Pairs = None,
    items: Items = None,
    person: Person = None,
    answers_map: Answers = None,
    answers: Annotated[int | None, typer.Option(help="How many answers of a person count.")] = None,
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    score: Annotated[str | None, typer.Option(help="What is counted: net, half or wins.")] = None,
    design: Annotated[
        str | None, typer.Option(help="What of a person counts: once (a pair), matching (an item once), any.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="Of a NoisyCounts: laplace or gaussian; conditioned, to sum to zero; cube, of random size."),
    ] = None,
    public_graph: Annotated[
        bool,
        typer.Option(
            "--public-graph",
            help="For a PerturbedMLE: everybody may know who compared what, as a plan said so beforehand, and nobody "
            "leaves out what they were asked.",
        ),
    ] = False,
    persons: Persons = None,
    sampling: Sampled = None,
    top: Top = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """A ranking with its scores, from comparisons of two items at a time.

    Example: dprank release ranking staff.csv --plan plan.toml --protect person --answers 3 --epsilon 1
    --budget budget.sqlite --out release.json
    """
    given = given_counts(counts, file, plan, comparisons, pairs, items, person, answers_map, clean, alias)
    declared = (
        given.declaration
        if given
        else declaration_of(
            "comparisons",
            form_of(_there(file), plan, comparisons=comparisons, pairs=pairs),
            items=items,
            person=person,
            clean=clean,
            alias=alias,
            plan=plan,
            answers=answers_map,
        )
    )
    sheets = declared.unit == "ballot"
    if protect not in (("answer", "ballot") if sheets else ("answer", "person")):
        known = "answer, or ballot: one filled-in questionnaire" if sheets else "answer or person"
        raise ValueError(f"protect = {protect!r}; {known}")
    if protect == "person" and declared.person is None:
        raise ValueError("person is missing; without --person an answer alone can be protected: --protect answer")
    whole = protect != "answer"
    drawing = _drawing(persons, sampling)
    if not whole and (answers, design) != (None, None):
        raise ValueError("answers and design are of persons; with --protect answer each answer counts by itself")
    if answers is not None:
        require_whole("answers", answers, 1)
    if whole and answers is None:
        raise ValueError(
            "answers are missing; say with --answers how many of a person's count: the noise grows with them"
        )
    chosen = mechanism_of(
        "ranking",
        mechanism or "NoisyCounts",
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        protect=protect,
        answers=answers,
        score=score,
        design=design or ("once" if whole and mechanism != "PerturbedMLE" else None),
        adjacency=adjacency,
        noise=noise,
        public_graph=public_graph,
    )

    _checked(chosen, drawing, top)

    def made_up(rng: Any) -> Any:
        pairs = rng.permuted(range(len(declared.items)))[:2]
        voters = rng.integers(0, 100, 300)
        return dprank.Comparisons(
            [pairs[0]] * 300, [pairs[1]] * 300, rng.integers(0, 2, 300), items=declared.items, voter=voters
        )

    drawn = _drawn(chosen, given or _there(file), declared, made_up, rehearse, budget, dataset, new_dataset, out)
    _finish(drawn, "ranking", declared, out, as_json, budget is not None, top, **drawing)


@app.command("consensus")
def consensus(
    file: File,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    rule: Annotated[str | None, typer.Option(help="How a NoisyMatrix is put in order: auto, borda, ….")] = None,
    persons: Persons = None,
    top: Top = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    max_weight: MaxWeight = None,
    items: Items = None,
    person: Person = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """One order from many ballots.

    Example: dprank release consensus ballots.csv --items "roads,schools,parks,debt" --person person --epsilon 1

    Of PrefLib, with ties: dprank release consensus city.toc --items city.toc --ballots tied --epsilon 1
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        max_weight=max_weight,
    )
    # how many ballots count is part of the data: margins of full ballots would tell whether it is odd
    full = declared.ballots == "full" and declared.weight is None and mechanism != "NoisyMatrix"
    chosen = mechanism_of(
        "consensus",
        mechanism or "PrivateBorda",
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        adjacency=adjacency,
        rule=rule,
        ballots="full" if full else "partial",
        max_weight=declared.max_weight or 1,
    )
    drawing = _checked(chosen, _drawing(persons, None), top)
    made_up = lambda rng: _shuffled(declared, rng)  # noqa: E731
    # KwikSort falls back on a matrix, which takes the number of voters for public
    as_full = _completed if mechanism == "PrivateKwikSort" else _ranked
    given_as = (as_full,) if full else ()
    drawn = _drawn(chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, *given_as)
    _finish(drawn, "consensus", declared, out, as_json, budget is not None, top, **drawing)


@app.command("winner")
def winner(
    file: File,
    epsilon: Epsilon,
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    rule: Annotated[str | None, typer.Option(help="What wins: maximin, the worst margin, or borda, net wins.")] = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    max_weight: MaxWeight = None,
    items: Items = None,
    person: Person = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """The winner of many ballots, and nothing else of their order.

    Example: dprank release winner ballots.csv --items "roads,schools,parks,debt" --person person --epsilon 0.5
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        max_weight=max_weight,
    )
    full = declared.ballots == "full" and declared.weight is None
    chosen = mechanism_of(
        "winner",
        mechanism or "PrivateWinner",
        epsilon=epsilon,
        items=declared.items,
        adjacency=adjacency,
        rule=rule,
        ballots="full" if full else "partial",
        max_weight=declared.max_weight or 1,
    )
    made_up = lambda rng: _shuffled(declared, rng)  # noqa: E731
    drawn = _drawn(chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, *[_ranked] * full)
    _finish(drawn, "winner", declared, out, as_json, budget is not None)


@app.command("agreement")
def agreement(
    file: File,
    epsilon: Epsilon,
    voters: Annotated[int, typer.Option("--voters", "--persons", help="How many ballots there are: a public number.")],
    size: Annotated[float, typer.Option(help="Chance of rejecting where nobody agrees.")] = 0.05,
    delta: Delta = 0.0,
    mechanism: Mechanism = None,
    statistic: Annotated[str | None, typer.Option(help="What a NoisyNorm looks at: ranks or pairs.")] = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    max_weight: MaxWeight = None,
    items: Items = None,
    person: Person = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Whether ballots agree on anything, or might have been shuffled.

    Example: dprank release agreement ballots.csv --items "roads,schools,parks,debt" --person person
    --voters 250 --epsilon 1
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        max_weight=max_weight,
    )
    if declared.ballots != "full" or declared.weight is not None:
        raise ValueError("ballots are declared as tied, partial or weighted; the test of agreement takes full ones")
    chosen = mechanism_of(
        "agreement",
        mechanism or "NoisyNorm",
        epsilon=epsilon,
        items=declared.items,
        voters=voters,
        size=size,
        delta=delta,
        statistic=statistic or ("ranks" if mechanism in (None, "NoisyNorm") else None),
    )
    made_up = lambda rng: _shuffled(declared, rng, voters)  # noqa: E731
    drawn = _drawn(chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, _ranked)
    _finish(drawn, "agreement", declared, out, as_json, budget is not None)


def _ballots(plan: Path | None, form: dict[str, Any], **keys: Any) -> Declaration:
    """Of ballots, which are wide where nothing says otherwise."""
    if not form and plan is None:
        form = {"kind": "ballots", "form": "wide", "columns": ()}
    return declaration_of("ballots", form, plan=plan, **keys)


def _ranked(data: Any) -> Any:
    """Ballots that rank, of those declared as full: for mechanisms that see by how many voters counts differ alone.

    Sums of places but for a shift, worst margins, counts of places: one ballot that comes or goes moves them less than
    one that is turned round. For others it would not do: see `dprank.NoisyMatrix`.
    """
    return dprank.Rankings(data.places[(data.places >= 0).all(axis=1)], data.items)


def _completed(data: Any) -> Any:
    """As many rankings as there are ballots, whose lots are drawn in no order that rows had."""
    import numpy as np

    order = np.lexsort((data.weight, *data.places.T))
    return dprank.Ballots(data.places[order], data.items, data.weight[order]).completed(SECURE)


def _exactly(data: Any, voters: int) -> Any:
    """So many ballots: missing ones are made up by shuffling, too many are left out by lot.

    To refuse another number would tell of whoever cast a ballot that does not count. Which are left out, or made up,
    can be coupled so that one person's ballot still changes one ballot at most: the guarantee stays as it is. So does
    the size of the test, as shuffled ballots agree on nothing. Lots are drawn in no order that rows had.
    """
    import numpy as np

    places = data.positions[np.lexsort(data.positions.T)]
    if len(places) > voters:
        places = places[SECURE.permutation(len(places))[:voters]]
    return dprank.Rankings(np.r_[places, _by_lot(voters - len(places), data.n_items, SECURE)], data.items)


def _shuffled(declared: Declaration, rng: Any, voters: int = 100) -> Any:
    return dprank.Rankings(_by_lot(voters, len(declared.items), rng), declared.items)


def _by_lot(voters: int, n_items: int, rng: Any) -> Any:
    """Rankings of which all are alike; nobody's ballots, completed."""
    import numpy as np

    from dprank.aggregation.sent_reports import completed

    return completed(np.full((voters, n_items), -1), rng)


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
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    noise: Annotated[str | None, typer.Option(help="Its law: laplace, gumbel or exponential.")] = None,
    ordered: Annotated[bool, typer.Option(help="Whether the k come in their order.")] = True,
    values: Annotated[bool, typer.Option("--values", help="Whether their counts come too.")] = False,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    out: Out = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """The k most frequent items, in their order, by noise that is added once.

    Example: dprank release topk diagnoses.csv --person patient --item diagnosis
    --items "asthma,flu,gout,kuru,measles,migraine" --k 2 --per-person 2 --epsilon 1
    """
    given = given_counts(counts, file, plan, item, items, person, clean, alias)
    declared = (
        given.declaration
        if given
        else declaration_of(
            "tallies",
            form_of(_there(file), plan, item=item),
            items=items,
            person=person,
            clean=clean,
            alias=alias,
            plan=plan,
        )
    )
    if given:
        given.counts.require("tallies", per_person=per_person)
    chosen = mechanism_of(
        "topk",
        mechanism or "Oneshot",
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        k=k,
        noise=noise,
        per_person=per_person,
        adjacency=adjacency or "add_remove",
        ordered=ordered,
        values=values,
    )

    def made_up(rng: Any) -> Any:
        return dprank.Tallies(rng.integers(0, 100, 300), rng.integers(0, len(declared.items), 300), declared.items)

    def as_counts(data: Any) -> Any:
        """Rounds, and sets that are drawn at once, take no persons: the bound is kept here."""
        if mechanism not in ("Peeling", "JointExponential"):
            return data
        return data.counts(per_person) if isinstance(data, dprank.Tallies) else data.sums["persons"]

    drawn = _drawn(
        chosen, given or _there(file), declared, made_up, rehearse, budget, dataset, new_dataset, out, as_counts
    )
    _finish(drawn, "topk", declared, out, as_json, budget is not None)
