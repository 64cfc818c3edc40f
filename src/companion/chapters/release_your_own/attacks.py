"""Three attacks on a careless release, and what the tool does instead: averages, labels from the data, one as many."""

from __future__ import annotations

import math
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.instruments.style import BAR, COLOURS, key, name_lines, note, panels, styled
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, printed
from dprank.aggregation.private_borda import PrivateBorda
from dprank.cli.path import Said, said
from dprank.data.declaration import Declaration
from dprank.data.rankings import Rankings
from dprank.data.sniffing import sniff
from dprank.data.tallies import Tallies
from dprank.privacy.laws import exact
from dprank.publication import gain
from dprank.topk.oneshot import Oneshot

ITEMS = ("roads", "schools", "parks", "debt")
#: What everybody else's ballots say, and the two that the attacker wants to tell apart.
OTHERS = "bob,1,2,3,4\ncy,2,1,3,4\ndan,1,3,2,4\n"
HEAD, LOVES, HATES = f"person,{','.join(ITEMS)}\n", "1,2,3,4", "4,3,2,1"
COUNTS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
RARE = "kuru"
CAUSES = "person,cause\nbob,flu\ncy,flu\ncy,asthma\ndan,asthma\n"
CONSENSUS = ("release", "consensus", "ballots.csv", "--items", ",".join(ITEMS), "--person", "person")


def averaged(epsilon: float = 0.125, counts: Iterable[int] = COUNTS, repetitions: int = 4000) -> pd.DataFrame:
    """How often an attacker is right who averages so many releases and knows all ballots but one.

    ``releases``, ``epsilon`` (that they spend), ``guessed`` (share of right guesses between two ballots), ``se``, ``at
    most`` (what any attacker reaches at that epsilon).
    """
    mechanism = PrivateBorda.calibrated(epsilon=epsilon, n_items=len(ITEMS))
    loves, hates = (np.array([*map(int, text.split(","))]) for text in (LOVES, HATES))
    along, failure = hates - loves, -np.expm1(-1 / mechanism.scale)
    rows = []
    for count in counts:
        rng = stream("release-averaged", {"epsilon": epsilon, "count": count, "repetitions": repetitions})
        # so many draws of discrete Laplace noise add up to a difference of negative binomials
        up, down = (rng.negative_binomial(count, failure, (2, repetitions, len(ITEMS))) for _ in range(2))
        total = (up - down) @ along + count * (np.array([loves, hates]) @ along)[:, None]
        middle = count * float((loves + hates) @ along) / 2
        right = np.r_[total[0] < middle, total[1] > middle] + 0.5 * (total.ravel() == middle)
        share, spent = float(right.mean()), count * mechanism.guarantee.epsilon
        se = float(np.sqrt(share * (1 - share) / len(right)))
        rows.append((count, spent, share, se, gain(spent)))
    return pd.DataFrame(rows, columns=["releases", "epsilon", "guessed", "se", "at most"])


def stopped(epsilon: float = 0.125, limit: float = 1.0) -> dict[str, Any]:
    """The same attack on the command line, with a budget: ``made`` (releases before a refusal), ``command``, ``code``
    and ``said`` of the refusal; and ``without``, what the tool says of a release without a budget.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, budget = Path(folder) / "ballots.csv", Path(folder) / "budget.sqlite"
        file.write_text(f"{HEAD}{OTHERS}ann,{LOVES}\n", encoding="utf-8")
        words = [str(file) if word == file.name else word for word in CONSENSUS]
        ask = [*words, "--epsilon", str(epsilon)]
        said("budget", budget, "--epsilon", str(limit))
        made = 0
        while not (done := said(*ask, "--budget", budget)).code:
            made += 1
        free = said(*ask).out.splitlines()
        return {
            "made": made,
            "command": f"dprank {shlex.join([*CONSENSUS, '--epsilon', str(epsilon), '--budget', budget.name])}",
            "code": done.code,
            "said": done.error.strip().replace(f"{folder}/", ""),
            "without": next((line for line in free if "budget" in line), ""),
        }


def labelled(epsilons: Iterable[float] = (0.1, 0.3, 1.0, 3.0), releases: int = 600) -> pd.DataFrame:
    """How often an attacker is right about a person who alone has an item, if a private top 2 is published.

    ``tool`` ("labels from the data" or "labels declared"), ``epsilon``, ``guessed`` (in so many releases with that
    person, and as many without: the attacker says "there" if the item comes out), ``se``, ``at most``. Both tools draw
    the noise that this epsilon needs; the careless one takes its items from the file.
    """
    rows = []
    for epsilon, tool in product(epsilons, ("labels from the data", "labels declared")):
        shown = []
        for there in (True, False):
            data = _causes(there, ("asthma", "flu", "gout") if tool == "labels declared" else ())
            named: dict[str, Any] = {"items": data.items, "per_person": 1, "adjacency": "add_remove", "ordered": True}
            mechanism = Oneshot.calibrated(epsilon=epsilon, k=2, **named)
            rng = stream("release-labels", {"epsilon": epsilon, "tool": tool, "there": there})
            shown.append(np.mean([RARE in mechanism.release(data, rng).items for _ in range(releases)]))
        guessed = float(1 + shown[0] - shown[1]) / 2
        se = np.sqrt(sum(share * (1 - share) for share in shown) / releases) / 2
        rows.append((tool, epsilon, guessed, float(se), gain(epsilon)))
    return pd.DataFrame(rows, columns=["tool", "epsilon", "guessed", "se", "at most"])


def unlabelled() -> Said:
    """What the command line says to somebody who declares no items."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "causes.csv"
        file.write_text(f"{CAUSES}ann,{RARE}\n", encoding="utf-8")
        words = ["--item", "cause", "--person", "person", "--k", "1", "--per-person", "1", "--epsilon", "1"]
        return said("release", "topk", file, *words)


def doubled(ways: Iterable[int] = (1, 2, 4, 8, 16), epsilon: float = 1.0) -> pd.DataFrame:
    """How often the best attacker is right about a person whose name is written in so many ways, a ballot each.

    ``ways``, ``tool`` ("names as written" or "one person"), ``ballots`` (of that person, that count), ``loss`` (exact
    epsilon), ``guessed`` (exact), ``at most``. The careless tool keeps one ballot of every name, as it is written.
    """
    mechanism = PrivateBorda.calibrated(epsilon=epsilon, n_items=len(ITEMS))
    rows = []
    for count in ways:
        for tool in ("names as written", "one person"):
            one, other = (_ballots(ballot, count, tool == "one person") for ballot in (LOVES, HATES))
            law = exact(mechanism, one, other)
            apart = float(np.asarray(law.delta(0.0)))
            own = len(one) - OTHERS.count("\n")
            rows.append((count, tool, own, law.epsilon(0.0), (1 + apart) / 2, gain(epsilon)))
    return pd.DataFrame(rows, columns=["ways", "tool", "ballots", "loss", "guessed", "at most"])


def spellings(count: int) -> list[str]:
    """One name, written in so many ways (at most 16): in other cases, with a blank that one does not see."""
    letters = [(letter, letter.upper()) for letter in "ann"]
    return ["".join(name) + end for end in ("", "\u200b") for name in islice(product(*letters), 8)][:count]


def _ballots(ballot: str, ways: int, cleaned: bool) -> Rankings:
    """The ballots that count: one of every name as it is written, or of every person."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ballots.csv"
        rows = "".join(f"{name},{ballot}\n" for name in spellings(ways))
        file.write_text(HEAD + OTHERS + rows, encoding="utf-8")
        if cleaned:
            read = Declaration(kind="ballots", items=ITEMS, person="person").read(file).data
            return Rankings(read.places, ITEMS)  # all of them rank all items
        frame = sniff(file).frame.drop_duplicates("person")
        return Rankings(frame[list(ITEMS)].astype(int).to_numpy() - 1, ITEMS)


def _causes(there: bool, items: tuple[str, ...]) -> Tallies:
    """Who has what; a person with a rare item among them or not; the items of the file where none are declared."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "causes.csv"
        file.write_text(CAUSES + f"ann,{RARE}\n" * there, encoding="utf-8")
        listed = items or tuple(sorted(sniff(file).frame["cause"].unique()))
        data: Tallies = Declaration(kind="tallies", items=listed, person="person", columns=("cause",)).read(file).data
        return data


#: What the first and the last attacker guess.
_GUESSED = "right guesses which of two\nballots a person gave, %"


@styled
def draw_averaged(frame: pd.DataFrame) -> Figure:
    """Share of right guesses against the number of releases, and the most that the sum of their epsilons allows."""
    figure, (axes,) = panels(message="One release says next to nothing, the mean of many says everything", height=3.1)
    axes.plot(frame.releases, 100 * frame["at most"], "--", color=COLOURS[1], lw=1.2, label="no attacker does better")
    look: dict[str, Any] = {"fmt": "o-", "color": COLOURS[0], "ms": 4, "label": "takes the mean"}
    axes.errorbar(frame.releases, 100 * frame.guessed, 100 * BAR * frame.se, **look)
    first = frame.epsilon.iloc[0] / frame.releases.iloc[0]
    axes.axvspan(1 / first, frame.releases.iloc[-1] * 1.5, color="0.9", lw=0)
    axes.text(1 / first * 1.3, 50, "a budget of ε = 1 refuses these", fontsize=9, color="0.35", va="bottom")
    axes.set(xscale="log", xlim=(0.8, frame.releases.iloc[-1] * 1.5), ylim=(49, 101.5))
    axes.set(xlabel=f"releases at ε = {first:g} each", ylabel=_GUESSED)
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    note(
        figure,
        "50: pure guessing. Dashed: the limit if the ε of all releases add up. Budget: the most that they may add up "
        "to. Bars: 95 %.",
    )
    return figure


@styled
def draw_labelled(frame: pd.DataFrame) -> Figure:
    """Share of right guesses about a rare item against epsilon, by where the labels come from."""
    message = "Items taken from the data betray a person who alone names one"
    figure, (axes,) = panels(message=message, height=3.1)
    bound = frame[["epsilon", "at most"]].drop_duplicates()
    axes.plot(bound.epsilon, 100 * bound["at most"], "--", color="0.4", lw=1.2, label="promised: no more")
    looks = {
        "labels from the data": (COLOURS[1], "o-", "list from the data"),
        "labels declared": (COLOURS[0], "s-", "list declared"),
    }
    for tool, part in frame.groupby("tool", sort=False):
        colour, mark, name = looks[str(tool)]
        look: dict[str, Any] = {"fmt": mark, "color": colour, "ms": 4, "label": name}
        axes.errorbar(part.epsilon, 100 * part.guessed, 100 * BAR * part.se, **look)
    axes.set(xscale="log", ylim=(47, 101.5), xlabel="← more noise    ε of the release    less noise →")
    axes.set_ylabel("right guesses whether\nthe person is there, %")
    name_lines(axes, width=10)
    note(figure, "50: pure guessing. Bars: 95 %.")
    return figure


@styled
def draw_doubled(frame: pd.DataFrame) -> Figure:
    """Share of right guesses of the best attacker against the ways in which a name is written."""
    message = "Whoever counts names instead of people soon breaks the promise"
    names = {"names as written": "each name counted, as written", "one person": "each person counted once"}
    figure, (axes,) = panels(message=message, height=3.1)
    for (tool, part), colour, mark in zip(frame.groupby("tool", sort=False), COLOURS[1::-1], "os", strict=True):
        axes.plot(part.ways, 100 * part.guessed, f"{mark}-", color=colour, ms=4, label=names[str(tool)])
    axes.axhline(100 * frame["at most"].iloc[0], ls="--", color="0.4", lw=1.2, label="promised: no more")
    axes.set_xscale("log", base=2)
    ways = sorted(frame.ways.unique())
    axes.set_xticks(ways, [str(count) for count in ways])
    axes.set(ylim=(49, 101.5), xlabel="ways in which one name is written", ylabel=_GUESSED)
    name_lines(axes, width=13)
    epsilon = math.log(frame["at most"].iloc[0] / (1 - frame["at most"].iloc[0]))
    note(figure, f"50: pure guessing. Promised: by ε = {epsilon:g}. All spellings have the same ballot.")
    return figure


@claim("release:attack-averages")
def check_averages(frame: pd.DataFrame | None = None) -> Iterator[Check]:
    """Averages win where nobody counts (from `averaged`); a budget stops them."""
    frame, stop = averaged() if frame is None else frame, stopped()
    last, few = frame.iloc[-1], averaged(counts=[stop["made"]]).iloc[0]
    said_all = all(word in stop["said"] for word in ("requested", "remaining", "missing"))
    yield printed(f"right guesses after {last.releases:,.0f} releases", last.guessed, ">=", 0.99, error=BAR * last.se)
    yield printed("releases that a budget of 1 lets through", stop["made"], "==", 8)
    yield printed("exit code of the next", stop["code"], "==", 3)
    yield printed("a refusal that names requested, remaining, missing", said_all, "==", 1)
    yield printed("right guesses after those that were made", few.guessed, "<=", gain(1.0), error=BAR * few.se)
    yield printed("words of a release without a budget: nobody", "nobody keeps count" in stop["without"], "==", 1)


@claim("release:attack-labels")
def check_labels(frame: pd.DataFrame | None = None) -> Iterator[Check]:
    """Labels from the data break the promise (from `labelled`); without declared ones the tool refuses."""
    frame = labelled() if frame is None else frame
    for row in frame.to_dict("records"):
        careless = row["tool"] == "labels from the data"
        if careless and row["epsilon"] < 1:
            what = f"right guesses beyond what is promised, labels from the data, ε = {row['epsilon']:g}"
            yield printed(what, row["guessed"] - row["at most"], ">", 0, error=BAR * row["se"])
        elif not careless:
            yield printed(f"right guesses, labels declared, ε = {row['epsilon']:g}", row["guessed"], "==", 0.5)
    done = unlabelled()
    yield printed("exit code where no items are declared", done.code, "==", 2)
    yield printed("rare items in what it says", RARE in done.out + done.error, "==", 0)


@claim("release:attack-twice")
def check_twice(frame: pd.DataFrame | None = None) -> Iterator[Check]:
    """One ballot of every name as written breaks the promise; one of every person keeps it, however it is written."""
    for row in (doubled() if frame is None else frame).to_dict("records"):
        written = f"{row['tool']}, {row['ways']} ways"
        counted = 1 if row["tool"] == "one person" else row["ways"]
        yield printed(f"ballots that count, {written}", row["ballots"], "==", counted)
        yield printed(f"privacy loss where ε = 1 is promised, {written}", row["loss"], "==", counted, error=1e-9)
        if row["tool"] == "one person":
            yield printed(f"right guesses, {written}", row["guessed"], "<=", row["at most"])
        elif row["ways"] > 2:
            yield printed(f"right guesses, {written}", row["guessed"], ">", row["at most"])
