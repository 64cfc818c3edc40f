"""The commands `plan ranking | consensus | winner | topk | agreement`: what a release costs and gives (long: flags)."""

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table

from dprank._require import shown, visible
from dprank.cli.bounds import require_planned
from dprank.cli.commands import GROUPS
from dprank.cli.options import AsJson, Delta, Epsilon, MaxWeight, Unranked, cell, console, listed, named, show_json
from dprank.cli.writing import require_replaceable, write_over
from dprank.data.declaration import declared_part
from dprank.plan.planner import Choice, Plan, alike, plan
from dprank.plan.tags import TAGS, choosable
from dprank.questions import QUESTIONS, QuestionName
from dprank.scored import NOT_OFFERED, rule_named

__all__ = ["agreement", "app", "consensus", "made_of", "ranking", "show", "topk", "winner"]

app = typer.Typer(help=GROUPS["plan"][0], no_args_is_help=True, rich_markup_mode=None)

Items = Annotated[
    str | None, typer.Option(help="How many; or all, with commas between; or a text file with one a line.")
]
Persons = Annotated[int, typer.Option(help="How many people take part: a public number.")]
Adjacency = Annotated[
    str, typer.Option(help="replace (one person's data are others), or add_remove (one person more or less).")
]
Given = Annotated[
    str | None,
    typer.Option(help="How many of them people give: 5; or 1,3,8 for as many people each. By default all that count."),
]
Accuracy = Annotated[
    float | None, typer.Option(help="Wanted chance to be right: the epsilon and the people that it needs are said.")
]
Declared = Annotated[
    Path | None, typer.Option("--plan", help="A declaration, as `check --out` writes it: its items, and its keys.")
]
Out = Annotated[Path | None, typer.Option(help="Write the best choice here, for `dprank release --plan`.")]
K = Annotated[int | None, typer.Option("--k", help="Of the top k.")]
Trust = Annotated[str, typer.Option(help="Who may see what people answered: curator, or nobody.")]
Gap = Annotated[
    float | None, typer.Option(help="Lead of an item over the next: 0.1 is 55 % against 45 %. 0.1 by default.")
]
Phi = Annotated[float | None, typer.Option(help="Spread of the Mallows law, instead of a gap.")]
Camps = Annotated[
    float | None,
    typer.Option(
        help="Share of the larger of two camps, whose orders have their halves exchanged: 0.6; 1 where there is one "
        "order. Unless said, camps decide between choices that are as good for one order."
    ),
]
Named = Annotated[
    int | None,
    typer.Option("--named", help="How many places a ballot names, where ballots do not name all items, or tie some."),
]
Balanced = Annotated[
    bool | None,
    typer.Option(
        "--balanced/--unbalanced",
        help="Whether all pairs are asked equally often, or some items more often than others: then half of them about "
        "four times as often. Counts of wins are an order only where pairs are balanced.",
    ),
]
#: Rows of the table on a terminal.
MOST = 12


def made_of(question: str) -> str:
    """Of a question, what may be chosen and what that needs: a paragraph of the help, from the tags."""
    told = []
    for name in (*choosable(question, "curator"), *choosable(question, "nobody")):  # type: ignore[arg-type]
        tag = TAGS[name]
        notes = [*(["trusts nobody"] if tag.trust == "nobody" else []), *([tag.needs] if tag.needs else [])]
        told.append(f"{name} ({'; '.join(notes)})" if notes else name)
    return f"Choices: {', '.join(told)}."


def _number_of(keys: dict[str, Any]) -> Any:
    """Of items that are declared."""
    return len(keys.get("items", ()))


def _items(items: str | None, declared: Path | None) -> Any:
    if items is None:
        if declared is None or not (found := declared_part(declared).get("items")):
            raise ValueError("items are missing; say how many with --items, or all of them")
        return found
    if items.strip().isdecimal() and items.isascii() and len(items) < 16:
        return int(items)
    return list(named(items))


def _numbers(name: str, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = listed(text)
    if not parts or not all(part.isascii() and part.isdecimal() and len(part) < 16 for part in parts):
        raise ValueError(f"{name} = {shown(text)}; whole numbers with commas between are needed")
    return tuple(map(int, parts))


def _said(
    question: QuestionName, items: str | None, declared: Path | None, out: Path | None, as_json: bool, **asked: Any
) -> None:
    """Plan, write, show."""
    require_replaceable(out)
    given = {key: value for key, value in asked.items() if value is not None}
    if declared is not None:
        given = _as_declared(question, declared, given)
    names = _items(items, declared)
    if isinstance(names, int | list):  # `plan` refuses what is neither
        require_planned(question, given, names if isinstance(names, int) else len(names))
    found = plan(question, items=names, **given)
    if out:
        write_over(out, _file(found, declared))
    if as_json:
        show_json(found.to_json())
        return
    show(found)
    if out:
        print(visible(f"plan: {out}"))


def _as_declared(question: QuestionName, declared: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What is asked, with what the declaration says of it."""
    keys = declared_part(declared)
    asks = QUESTIONS[question]
    if (kind := keys.get("kind", asks.data)) != asks.data:
        raise ValueError(f"{declared}: kind = {shown(kind)}; a plan of {question} takes {asks.data}")
    ballots, weights = keys.get("ballots", "full"), keys.get("max_weight", 1)
    if asks.release == "Decision" and (ballots, weights) != ("full", 1):
        raise ValueError(f"{declared}: ballots are tied, partial or weighted; the test of agreement takes full ones")
    if asks.orders_ballots:
        if ballots == "partial" and keys.get("form") == "ranks":  # a column a place, the best first
            given.setdefault("named", min(max(len(keys.get("columns", ())), 2), _number_of(keys) or 2))
        if ballots == "partial" and "named" not in given:
            raise ValueError(
                f"{declared}: ballots = 'partial'; say with --named how many places a ballot names, a number that "
                "everybody may know: what is lost hangs on it"
            )
        if ballots == "tied":
            given.setdefault("named", _number_of(keys))
        said = {"unranked": keys.get("unranked"), "max_weight": weights}
        given = {key: value for key, value in said.items() if value not in (None, 1)} | given
    # a row of a wide file is a questionnaire, and as good as a person; and reports are of no file
    nobody = keys.get("person") is None and keys.get("form") != "wide" and given.get("trust") != "nobody"
    if asks.data == "comparisons" and nobody and given.get("protect") == "person":
        raise ValueError(
            f"{declared}: person = None; without a column that says who, an answer alone can be protected: "
            "--protect answer"
        )
    return given


def _file(found: Plan, declared: Path | None) -> str:
    """What `release --plan` reads: the declaration as it stands, and the best choice."""
    if declared is None:
        return found.to_toml()
    keys, lines = declared_part(declared), found.release_lines()
    if found.setting.asks.data == "comparisons" and keys.get("person") is None:
        lines = [line.replace('protect = "person"', 'protect = "ballot"') for line in lines]
    kept, _, _ = declared.read_text(encoding="utf-8").partition("\n[release]")
    return kept.rstrip() + "\n\n" + "\n".join(lines) + "\n"


def show(found: Plan) -> None:
    """The table, the recommendation and what was supposed, in 80 columns.

    Examples
    --------
    >>> show(plan("agreement", items=4, persons=200, epsilon=1.0))  # doctest: +ELLIPSIS
    200 people rank all items; a Mallows law of phi = 0.818: 55.0% put an item
    ...
    """
    asks = found.setting.asks
    print(textwrap.fill(found.supposed, 80))
    table = Table(box=SIMPLE, padding=(0, 1), pad_edge=False, collapse_padding=True)
    table.add_column("choice", overflow="fold", max_width=30)
    headers = ["scale", "error", "sampl.", "bound.", "noise"]
    for header in [*headers, *(["apart", "share", "right"] if asks.shown else [])]:
        table.add_column(header, justify="right", no_wrap=True)
    shown = _different(found)
    for choice in shown[:MOST]:
        row = [_scale(choice), *(_percent(x) for x in (choice.error, choice.sampling, choice.bounding, choice.added))]
        if asks.shown:
            row += [_points(choice.apart), _percent(choice.apart_share), _percent(getattr(choice, asks.shown))]
        mark = "" if choice.publishable else " *"
        table.add_row(*map(cell, [_short(choice, found) + mark, *row]))
    console(width=80, soft_wrap=False).print(table)
    tag = TAGS[found.best.mechanism]
    lines = [f"Mind: {caution}." for caution in found.cautions]
    lines += [f"Best: {found.best}: {found.reason}.", f"{found.best.mechanism}: {tag.how}.", *_rule(found)]
    lines.append(_who(tag.trust, asks.name))
    lines.append(
        f"error: expected share or chance, {found.error_means}; the sum of what sampling, bounding and noise do."
    )
    if laws := {f"{_LAWS[it.noise]} {it.noise}" for it in shown[:MOST] if it.noise in _LAWS}:
        lines.append(f"scale: of the noise on one number, in votes, places or people; {', '.join(sorted(laws))}.")
    lines += _told(found)
    if len(found.choices) > len(shown[:MOST]):
        lines.append(f"{len(found.choices) - len(shown[:MOST])} more choices, no better than these: --json.")
    if found.left_out:
        lines.append(f"Not weighed: {'; '.join(f'{name}: {why}' for name, why in found.left_out.items())}.")
    if any(not choice.publishable for choice in shown[:MOST]):
        lines.append("*: for research; its noise is not fit for release.")
    for line in lines:
        print(textwrap.fill(line, 80))


def _rule(found: Plan) -> list[str]:
    """By which rule the best choice goes, and which people may expect and nothing here has."""
    way = next((str(found.best.parameters[key]) for key in ("rule", "score") if key in found.best.parameters), "")
    way = way or {"NoisyMatrix": "auto", "NoisyCounts": "net", "PrivateWinner": "maximin"}.get(found.best.mechanism, "")
    rule = rule_named(found.best.mechanism, way, found.setting.n_items)
    others = f" Not offered: {NOT_OFFERED}." if found.setting.asks.orders_ballots else ""
    return [] if rule is None else [f"Rule: {rule.by}: {rule.says}.{others}"]


def _who(trust: str, question: QuestionName) -> str:
    """Who sees what people answered, and what to do about it."""
    if trust == "nobody":
        return "Nobody sees an answer: people's devices send reports, from which the result is computed."
    if not choosable(question, "nobody"):
        return "Whoever computes it sees all answers; where nobody may, nothing here answers this question."
    return "Whoever computes it sees all answers; if nobody may, ask again with --trust nobody."


def _different(found: Plan) -> list[Choice]:
    """Choices in their order, without those that are another one in all but name."""
    kept: list[Choice] = []
    for choice in found.choices:
        if not any(choice.mechanism == one.mechanism and alike(choice, one) for one in kept):
            kept.append(choice)
    return kept


def _told(found: Plan) -> list[str]:
    """What the numbers of the best mean."""
    best, setting, lines = found.best, found.setting, []
    asks = setting.asks
    if asks.shown:
        lines.append(f"right: chance that {asks.right}.")
    if best.apart is not None and best.apart_share is not None:
        if asks.data == "tallies":
            who = f"a difference of {best.apart_share:.1%} of the people"
        else:
            of = "answers" if asks.data == "comparisons" else "people"
            who = f"{best.apart_share:.1%} of {of} for one of the two"
            if best.apart_share > 1:
                who = "more than all people, so that no two neighbours are told apart for sure"
        lines.append(
            f"apart: two scores {_points(best.apart)} apart are in their true order, all at once at 95 %: {who}."
        )
    if best.band is not None:
        lines.append(
            f"19 of 20 releases have {best.band[0]:.1%} to {best.band[1]:.1%} {found.error_means}: one is a draw."
        )
    if best.needs:
        lines.append(f"It needs: {best.needs}.")
    if setting.accuracy is not None and best.epsilon_needed is not None and best.persons_needed is not None:
        what = asks.wanted.format(gap=setting.gap)
        epsilon = f"epsilon {best.epsilon_needed:.3g}" if best.epsilon_needed < 1e300 else "no epsilon is enough"
        persons = f"{best.persons_needed:,.0f} people" if best.persons_needed < 1e300 else "no number of people is"
        lines.append(
            f"For {what} with chance {setting.accuracy:g}: {epsilon} with {setting.persons:,} people, or {persons} at "
            f"epsilon {setting.epsilon:g}."
        )
    return lines


def _short(choice: Choice, found: Plan) -> str:
    """The name of a choice, without the class where all have the same."""
    alike = len({one.mechanism for one in found.choices}) == 1
    if alike:
        return str(choice).removeprefix(choice.mechanism).strip("()")
    return str(choice).replace("(", " (")  # lines break at spaces


#: Laws of noise, as the table has them.
_LAWS = {"laplace": "L", "gaussian": "G", "conditioned": "C", "cube": "Q", "gumbel": "Gu", "exponential": "E"}


def _scale(choice: Choice) -> str:
    law = _LAWS.get(choice.noise)
    return f"{law} {_points(choice.scale)}" if law else "-"


def _points(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 1000 else f"{value:.3g}".replace("e+0", "e").replace("e+", "e")


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f}%" if value < 10 else ">999%"


@app.command("ranking")
def ranking(
    persons: Persons,
    epsilon: Epsilon,
    items: Items = None,
    answers: Annotated[str, typer.Option(help="Bounds on what counts of a person, with commas between.")] = "1",
    given: Given = None,
    delta: Delta = 0.0,
    gap: Gap = None,
    k: K = None,
    accuracy: Accuracy = None,
    protect: Annotated[
        str, typer.Option(help="One person with all answers, or one answer: person, answer.")
    ] = "person",
    adjacency: Adjacency = "replace",
    trust: Trust = "curator",
    public_graph: Annotated[
        bool, typer.Option("--public-graph", help="Everybody may know who compared what: a plan said so beforehand.")
    ] = False,
    design: Annotated[
        str, typer.Option(help="once: people compare different pairs; matching: nobody is asked about an item twice.")
    ] = "once",
    balanced: Balanced = None,
    declared: Declared = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """A ranking from comparisons of two items at a time.

    Example: dprank plan ranking --items 6 --persons 400 --epsilon 1 --answers 1,3,5,8,15
    """
    _said(
        "ranking", items, declared, out, as_json, persons=persons, epsilon=epsilon, delta=delta,
        answers=_numbers("answers", answers), given=_numbers("given", given), gap=gap, k=k, accuracy=accuracy,
        protect=protect, adjacency=adjacency, trust=trust, public_graph=public_graph, design=design,
        balanced=balanced,
    )  # fmt: skip


@app.command("consensus")
def consensus(
    persons: Persons,
    epsilon: Epsilon,
    items: Items = None,
    delta: Delta = 0.0,
    gap: Gap = None,
    phi: Phi = None,
    k: K = None,
    accuracy: Accuracy = None,
    adjacency: Adjacency = "replace",
    trust: Trust = "curator",
    camps: Camps = None,
    places: Named = None,
    unranked: Unranked = None,
    max_weight: MaxWeight = None,
    declared: Declared = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """One order from many ballots.

    Example: dprank plan consensus --items 12 --persons 600 --epsilon 1 --accuracy 0.95
    """
    _said(
        "consensus", items, declared, out, as_json, persons=persons, epsilon=epsilon, delta=delta, gap=gap, phi=phi,
        k=k, accuracy=accuracy, adjacency=adjacency, trust=trust, camps=camps, named=places, unranked=unranked,
        max_weight=max_weight,
    )  # fmt: skip


@app.command("winner")
def winner(
    persons: Persons,
    epsilon: Epsilon,
    items: Items = None,
    gap: Gap = None,
    phi: Phi = None,
    accuracy: Accuracy = None,
    adjacency: Adjacency = "replace",
    camps: Camps = None,
    places: Named = None,
    unranked: Unranked = None,
    max_weight: MaxWeight = None,
    declared: Declared = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """The winner of many ballots, and nothing else of their order.

    Example: dprank plan winner --items 12 --persons 600 --epsilon 0.5
    """
    _said(
        "winner", items, declared, out, as_json, persons=persons, epsilon=epsilon, gap=gap, phi=phi, accuracy=accuracy,
        adjacency=adjacency, camps=camps, named=places, unranked=unranked, max_weight=max_weight,
    )  # fmt: skip


@app.command("topk")
def topk(
    persons: Persons,
    epsilon: Epsilon,
    k: K = None,
    items: Items = None,
    per_person: Annotated[
        str | None,
        typer.Option(
            help="Bounds on the items of a person that count, with commas; by default all count, which costs no more "
            "noise than k do, and one where nobody is trusted."
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option(
            help="How many items people have: 5; or 1,3,8 for as many people each. By default as many as the bound, "
            "and the fewest with which --share and --gap can be where no bound is said."
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            help="How many more of the people have an item than the next one: 0.02 is 2 %; by default at most 10 %, "
            "and less where k is large."
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help="Of the people who have the item that is the last of the top k; by default what they can have, and at "
            "most half. Say what you know of the field: much hangs on it."
        ),
    ] = None,
    delta: Delta = 0.0,
    accuracy: Accuracy = None,
    adjacency: Annotated[
        str | None,
        typer.Option(
            help="replace (one person's data are others), or add_remove (one person more or less); by default "
            "add_remove, and replace where nobody is trusted."
        ),
    ] = None,
    trust: Trust = "curator",
    ordered: Annotated[bool, typer.Option(help="Whether the k come in their order.")] = True,
    values: Annotated[bool, typer.Option("--values", help="Whether their counts come too.")] = False,
    declared: Declared = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """The k most frequent items.

    Example: dprank plan topk --items 1000000 --persons 50000 --k 10 --epsilon 1
    """
    usual = "replace" if trust == "nobody" else "add_remove"
    _said(
        "topk", items, declared, out, as_json, persons=persons, epsilon=epsilon, k=k, delta=delta, gap=gap, share=share,
        answers=_numbers("per_person", per_person), given=_numbers("given", given), accuracy=accuracy,
        adjacency=usual if adjacency is None else adjacency, trust=trust, ordered=ordered, values=values,
    )  # fmt: skip


@app.command("agreement")
def agreement(
    persons: Persons,
    epsilon: Epsilon,
    items: Items = None,
    gap: Gap = None,
    phi: Phi = None,
    size: Annotated[float, typer.Option(help="Chance of rejecting where nobody agrees.")] = 0.05,
    delta: Delta = 0.0,
    accuracy: Accuracy = None,
    trust: Trust = "curator",
    declared: Declared = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Whether ballots agree on anything.

    Example: dprank plan agreement --items 10 --persons 300 --epsilon 1 --phi 0.95
    """
    _said(
        "agreement", items, declared, out, as_json, persons=persons, epsilon=epsilon, gap=gap, phi=phi, size=size,
        delta=delta, accuracy=accuracy, trust=trust,
    )  # fmt: skip


for _command in app.registered_commands:  # told where the command is made, which imports what answers its question
    _command.callback.choices = partial(made_of, str(_command.name))  # type: ignore[union-attr]
