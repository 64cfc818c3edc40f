"""The commands `release ranking | consensus | winner | agreement | topk`: their flags (long: flags)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import dprank
from dprank._require import require_whole
from dprank.cli.asked import SAY
from dprank.cli.bounds import bound_of, require_room, told_of_bound
from dprank.cli.commands import GROUPS
from dprank.cli.drawing import checked, drawing_of, drawn_of, finish
from dprank.cli.given import CountsFile, given_counts
from dprank.cli.laid import Laid, with_layout
from dprank.cli.naming import named, whose
from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    BallotColumn,
    Ballots,
    Basket,
    Best,
    BestPoints,
    Between,
    BudgetFile,
    Clean,
    Columns,
    Dataset,
    Day,
    Delta,
    Each,
    Epsilon,
    File,
    Held,
    Item,
    Items,
    Long,
    Lowest,
    Marked,
    MaxWeight,
    MaybeFile,
    NewDataset,
    Orders,
    Out,
    Pairs,
    Person,
    Persons,
    PlacesMap,
    Plan,
    Points,
    Protect,
    ProtectBallot,
    Ranks,
    Rehearse,
    Repeated,
    Replaces,
    Sampled,
    Thousands,
    Times,
    Title,
    Top,
    Unranked,
    UnrankedAs,
    Wave,
    Weight,
    Wide,
    Withdrawn,
    declaration_of,
    form_of,
)
from dprank.cli.spending import mechanism_paid_by
from dprank.cli.taken import completed_by_lot, ranked, shuffled
from dprank.data.declaration import Declaration
from dprank.foreseen import foreseen

__all__ = ["agreement", "app", "consensus", "ranking", "topk", "winner"]

Mechanism = Annotated[str | None, typer.Option(help="Its name, as `dprank plan` recommends it.")]
Adjacency = Annotated[
    str | None, typer.Option(help="replace (one person's data are others), or add_remove (one person more or less).")
]

app = typer.Typer(help=GROUPS["release"][0], no_args_is_help=True, rich_markup_mode=None)


def _there(file: Path | None) -> Path:
    """The file, which nothing stands for."""
    if file is None:
        raise ValueError("FILE is missing; say which, or --counts for a file of `dprank merge`")
    return file


def _asked(protect: str, person: str | None, plan: Path | None, answers: int | None) -> list[str]:
    """What is missing of a ranking beside its declaration."""
    of_people = protect == "person"
    lacks = [SAY["person"]] * (of_people and person is None and plan is None)
    return lacks + ["--answers (how many of a person's count: the noise grows with them)"] * (
        of_people and answers is None
    )


@app.command("ranking")
@with_layout
def ranking(
    *,
    file: MaybeFile = None,
    counts: CountsFile = None,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    protect: Protect,
    comparisons: Columns = None,
    pairs: Pairs = None,
    points: Points = None,
    best: BestPoints = None,
    times: Times = None,
    thousands: Thousands = None,
    items: Items = None,
    person: Person = None,
    answers_map: Answers = None,
    unranked_as: UnrankedAs = None,
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
    title: Title = None,
    day: Day = None,
    replaces: Replaces = None,
    wave: Wave = None,
    out: Out = None,
    layout: Laid = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """A ranking by net wins, with its scores, from comparisons of two items at a time.

    Net wins suppose that all items met equally often; PerturbedMLE ranks by Bradley-Terry strengths, which do not.

    Example: dprank release ranking staff.csv --plan plan.toml --protect person --answers 3 --epsilon 1
    --budget budget.sqlite --out release.json
    """
    flags = (
        comparisons,
        pairs,
        points,
        best,
        times,
        thousands,
        items,
        person,
        answers_map,
        unranked_as,
        clean,
        alias,
        layout,
    )
    given = given_counts(counts, file, plan, *flags)
    declared = (
        given.declaration
        if given
        else declaration_of(
            "comparisons",
            form_of(_there(file), plan, comparisons=comparisons, pairs=pairs, points=points),
            best=best,
            times=times,
            thousands=thousands,
            items=items,
            person=person,
            clean=clean,
            alias=alias,
            plan=plan,
            also=_asked(protect, person, plan, answers),
            answers=answers_map,
            unranked_as=unranked_as,
            layout=layout,
        )
    )
    sheets = declared.unit == "ballot"
    if protect not in (("answer", "ballot") if sheets else ("answer", "person")):
        known = "answer, or ballot: one filled-in questionnaire" if sheets else "answer or person"
        raise ValueError(f"protect = {protect!r}; {known}")
    if protect == "person" and declared.person is None:
        raise ValueError("person is missing; without --person an answer alone can be protected: --protect answer")
    whole = protect != "answer"
    drawing = drawing_of(persons, sampling)
    if not whole and (answers, design) != (None, None):
        raise ValueError("answers and design are of persons; with --protect answer each answer counts by itself")
    if answers is not None:
        require_whole("answers", answers, 1)
    if whole and answers is None:
        raise ValueError(
            "answers are missing; say with --answers how many of a person's count: the noise grows with them"
        )
    design = design or ("once" if whole and mechanism != "PerturbedMLE" else None)
    require_room(answers, design, len(declared.items))
    chosen = mechanism_paid_by(
        budget,
        "ranking",
        mechanism,
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        protect=protect,
        answers=answers,
        score=score,
        design=design,
        adjacency=adjacency,
        noise=noise,
        public_graph=public_graph,
    )

    checked(chosen, drawing, top)

    def made_up(rng: Any) -> Any:
        pairs = rng.permuted(range(len(declared.items)))[:2]
        voters = rng.integers(0, 100, 300)
        return dprank.Comparisons(
            [pairs[0]] * 300, [pairs[1]] * 300, rng.integers(0, 2, 300), items=declared.items, voter=voters
        )

    called, dataset = named(title, day, replaces, wave), whose(dataset, new_dataset, budget, replaces, wave)
    source, warned = given or _there(file), [foreseen(chosen, persons)]
    drawn = drawn_of(
        chosen, source, declared, made_up, rehearse, budget, dataset, new_dataset, out, None, warned,
        question="ranking", asked=(epsilon, delta), protect=protect, top=top, **drawing,
    )  # fmt: skip
    finish(drawn, "ranking", declared, out, as_json, budget, top, called, **drawing)


@app.command("consensus")
@with_layout
def consensus(
    file: File,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    rule: Annotated[
        str | None,
        typer.Option(help="How a NoisyMatrix is put in order: auto (Kemeny), kemeny, local_search, borda, copeland."),
    ] = None,
    persons: Persons = None,
    top: Top = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ranks: Ranks = None,
    held: Held = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    places: PlacesMap = None,
    between: Between = None,
    best: Best = None,
    lowest: Lowest = None,
    unranked_as: UnrankedAs = None,
    withdrawn: Withdrawn = None,
    max_weight: MaxWeight = None,
    times: Times = None,
    thousands: Thousands = None,
    items: Items = None,
    person: Person = None,
    protect: ProtectBallot = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    title: Title = None,
    day: Day = None,
    replaces: Replaces = None,
    wave: Wave = None,
    out: Out = None,
    layout: Laid = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """One order from many ballots: by Borda's rule, or with NoisyMatrix by Kemeny's, Copeland's or Borda's.

    Other rules may put another first. Not offered: instant runoff, plurality, approval, Schulze.

    Example: dprank release consensus ballots.csv --items "roads,schools,parks,debt" --person person --epsilon 1

    Of PrefLib, with ties: dprank release consensus city.toc --items city.toc --ballots tied --epsilon 1
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders, ranks=ranks, held=held),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        answers=places,
        between=between,
        best=best,
        lowest=lowest,
        unranked_as=unranked_as,
        withdrawn=withdrawn,
        max_weight=max_weight,
        times=times,
        thousands=thousands,
        layout=layout,
    )
    # how many ballots count is part of the data: margins of full ballots would tell whether it is odd
    full = declared.ballots == "full" and declared.weight is None and mechanism != "NoisyMatrix"
    chosen = mechanism_paid_by(
        budget,
        "consensus",
        mechanism,
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        adjacency=adjacency,
        rule=rule,
        ballots="full" if full else "partial",
        max_weight=declared.max_weight or 1,
    )
    drawing = checked(chosen, drawing_of(persons, None), top)
    made_up = lambda rng: shuffled(declared, rng)  # noqa: E731
    # KwikSort falls back on a matrix, which takes the number of voters for public
    as_full = completed_by_lot if mechanism == "PrivateKwikSort" else ranked
    called, dataset = named(title, day, replaces, wave), whose(dataset, new_dataset, budget, replaces, wave)
    given_as, warned = as_full if full else None, [foreseen(chosen, persons)]
    drawn = drawn_of(
        chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, given_as, warned,
        question="consensus", asked=(epsilon, delta), protect=protect, top=top, **drawing,
    )  # fmt: skip
    finish(drawn, "consensus", declared, out, as_json, budget, top, called, **drawing)


@app.command("winner")
@with_layout
def winner(
    file: File,
    epsilon: Epsilon,
    mechanism: Mechanism = None,
    adjacency: Adjacency = None,
    rule: Annotated[str | None, typer.Option(help="What wins: maximin, the worst margin, or borda, net wins.")] = None,
    wide: Wide = False,
    long: Long = None,
    orders: Orders = None,
    ranks: Ranks = None,
    held: Held = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    places: PlacesMap = None,
    between: Between = None,
    best: Best = None,
    lowest: Lowest = None,
    unranked_as: UnrankedAs = None,
    withdrawn: Withdrawn = None,
    max_weight: MaxWeight = None,
    times: Times = None,
    thousands: Thousands = None,
    items: Items = None,
    person: Person = None,
    protect: ProtectBallot = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    title: Title = None,
    day: Day = None,
    replaces: Replaces = None,
    wave: Wave = None,
    out: Out = None,
    layout: Laid = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """The winner of many ballots by worst margin (maximin) or Borda net wins, and nothing else of their order.

    Who beats every other in a majority, a Condorcet winner, has the best worst margin. Not offered: instant runoff,
    plurality, approval, Schulze.

    Example: dprank release winner ballots.csv --items "roads,schools,parks,debt" --person person --epsilon 0.5
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders, ranks=ranks, held=held),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        answers=places,
        between=between,
        best=best,
        lowest=lowest,
        unranked_as=unranked_as,
        withdrawn=withdrawn,
        max_weight=max_weight,
        times=times,
        thousands=thousands,
        layout=layout,
    )
    full = declared.ballots == "full" and declared.weight is None
    chosen = mechanism_paid_by(
        budget,
        "winner",
        mechanism,
        epsilon=epsilon,
        items=declared.items,
        adjacency=adjacency,
        rule=rule,
        ballots="full" if full else "partial",
        max_weight=declared.max_weight or 1,
    )
    made_up = lambda rng: shuffled(declared, rng)  # noqa: E731
    called, dataset = named(title, day, replaces, wave), whose(dataset, new_dataset, budget, replaces, wave)
    drawn = drawn_of(
        chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, ranked if full else None,
        question="winner", asked=(epsilon, 0.0), protect=protect,
    )  # fmt: skip
    finish(drawn, "winner", declared, out, as_json, budget, named=called)


@app.command("agreement")
@with_layout
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
    ranks: Ranks = None,
    held: Held = None,
    ballots: Ballots = None,
    unranked: Unranked = None,
    repeated: Repeated = None,
    ballot: BallotColumn = None,
    weight: Weight = None,
    places: PlacesMap = None,
    between: Between = None,
    best: Best = None,
    lowest: Lowest = None,
    unranked_as: UnrankedAs = None,
    withdrawn: Withdrawn = None,
    max_weight: MaxWeight = None,
    times: Times = None,
    thousands: Thousands = None,
    items: Items = None,
    person: Person = None,
    protect: ProtectBallot = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    budget: BudgetFile = None,
    dataset: Dataset = None,
    new_dataset: NewDataset = False,
    title: Title = None,
    day: Day = None,
    replaces: Replaces = None,
    wave: Wave = None,
    out: Out = None,
    layout: Laid = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Whether ballots agree on anything, or might have been shuffled.

    Example: dprank release agreement ballots.csv --items "roads,schools,parks,debt" --person person
    --voters 250 --epsilon 1
    """
    declared = _ballots(
        plan,
        form_of(file, plan, wide=wide, long=long, orders=orders, ranks=ranks, held=held),
        items=items,
        person=person,
        clean=clean,
        alias=alias,
        ballots=ballots,
        unranked=unranked,
        repeated=repeated,
        ballot=ballot,
        weight=weight,
        answers=places,
        between=between,
        best=best,
        lowest=lowest,
        unranked_as=unranked_as,
        withdrawn=withdrawn,
        max_weight=max_weight,
        times=times,
        thousands=thousands,
        layout=layout,
    )
    if declared.ballots != "full" or declared.weight is not None:
        raise ValueError("ballots are declared as tied, partial or weighted; the test of agreement takes full ones")
    chosen = mechanism_paid_by(
        budget,
        "agreement",
        mechanism,
        epsilon=epsilon,
        items=declared.items,
        voters=voters,
        size=size,
        delta=delta,
        statistic=statistic or ("ranks" if mechanism in (None, "NoisyNorm") else None),
    )
    made_up = lambda rng: shuffled(declared, rng, voters)  # noqa: E731
    called, dataset = named(title, day, replaces, wave), whose(dataset, new_dataset, budget, replaces, wave)
    drawn = drawn_of(
        chosen, file, declared, made_up, rehearse, budget, dataset, new_dataset, out, ranked,
        question="agreement", asked=(epsilon, delta), protect=protect,
    )  # fmt: skip
    finish(drawn, "agreement", declared, out, as_json, budget, named=called)


def _ballots(plan: Path | None, form: dict[str, Any], **keys: Any) -> Declaration:
    """Of ballots, which are wide where nothing says otherwise."""
    if not form and plan is None:
        form = {"kind": "ballots", "form": "wide", "columns": ()}
    return declaration_of("ballots", form, plan=plan, **keys)


@app.command("topk")
@with_layout
def topk(
    *,
    file: MaybeFile = None,
    counts: CountsFile = None,
    epsilon: Epsilon,
    k: Annotated[int, typer.Option(help="How many items.")],
    per_person: Annotated[
        int | None,
        typer.Option(help="How many items of a person count; by default all, which costs no more noise than k do."),
    ] = None,
    item: Item = None,
    each: Each = None,
    basket: Basket = None,
    between: Between = None,
    marked: Marked = False,
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
    title: Title = None,
    day: Day = None,
    replaces: Replaces = None,
    wave: Wave = None,
    out: Out = None,
    layout: Laid = None,
    rehearse: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """The k most frequent items, in their order, by noise that is added once.

    Example: dprank release topk diagnoses.csv --person patient --item diagnosis
    --items "asthma,flu,gout,kuru,measles,migraine" --k 2 --epsilon 1
    """
    given = given_counts(
        counts, file, plan, item, each, basket, between, marked or None, items, person, clean, alias, layout
    )
    declared = (
        given.declaration
        if given
        else declaration_of(
            "tallies",
            form_of(_there(file), plan, item=item, each=each, basket=basket, marked=marked, tallies=True),
            between=between,
            items=items,
            person=person,
            clean=clean,
            alias=alias,
            plan=plan,
            layout=layout,
        )
    )
    bound = bound_of(per_person, given, declared.items)
    if given:
        given.counts.require("tallies", per_person=bound)
    chosen = mechanism_paid_by(
        budget,
        "topk",
        mechanism,
        epsilon=epsilon,
        items=declared.items,
        delta=delta,
        k=k,
        noise=noise,
        per_person=bound,
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
        return data.counts(bound) if isinstance(data, dprank.Tallies) else data.sums["persons"]

    called, dataset = named(title, day, replaces, wave), whose(dataset, new_dataset, budget, replaces, wave)
    drawn = drawn_of(
        chosen, given or _there(file), declared, made_up, rehearse, budget, dataset, new_dataset, out, as_counts,
        told_of_bound(chosen, bound), question="topk", asked=(epsilon, delta),
    )  # fmt: skip
    finish(drawn, "topk", declared, out, as_json, budget, named=called | {"per_person": bound})
