"""Which method: the arena's answer to three questions, and its map."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from companion.chapters.which_method.advice import CELL, standing
from companion.chapters.which_method.arena import FIRST_LOSS
from companion.chapters.which_method.as_printed import OWN, is_printed
from companion.chapters.which_method.contenders import DELTA, publishable
from companion.chapters.which_method.respondents import SURVEYS
from companion.instruments.style import COLOURS, key, note, on_phone, panels, styled
from dprank.plan.tags import TAGS

__all__ = [
    "answers",
    "draw_advice",
    "draw_map",
    "losses_of",
    "map_of",
    "maps",
    "of_surveys",
    "prints",
    "readable",
    "set_apart",
]

_SIZE = ["items", "people", "answers", "k"]
_WHO = {"curator": "somebody is trusted", "nobody": "nobody is trusted"}
#: What people give, and what is wanted of it.
_ASKED = {
    "ranking": ("answers about two items", "an order"),
    "strengths": ("answers about two items, drawn evenly", "strengths"),
    "consensus": ("ballots", "an order"),
    "winner": ("ballots", "the winner"),
    "topk": ("items that people have", "the k most frequent"),
    "agreement": ("ballots", "do they agree at all?"),
}


def _worst_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Of every mechanism the kind of data that is worst for it: one does not know beforehand which one has.

    Three kinds are left out. People of surveys are of one kind each. Some mechanisms do not take ballots that are cut
    short, and would look better for it. And whoever asks for strengths knows whether pairs were drawn evenly, which
    those on a secret graph need.
    """
    cell = ["question", *_SIZE, "epsilon", "trust", "method", "delta"]
    frame = frame[(frame["loss"] == frame["question"].map(FIRST_LOSS)) & ~set_apart(frame)]
    return frame.loc[frame.groupby(cell)["mean"].idxmax()].assign(data="worst")


def set_apart(frame: pd.DataFrame) -> pd.Series:
    real = frame["data"].isin(SURVEYS)
    return real | (frame["data"] == "cut short") | ((frame["question"] == "strengths") & (frame["data"] == "unequal"))


def map_of(frame: pd.DataFrame, question: str, delta: float = 0.0) -> pd.DataFrame:
    """A row a size, epsilon and trust: ``question``; ``use``, the best, "" where several are alike; ``mean``, ``se``.

    Each method stands with the kind of data that is worst for it. ``said``: the mean in per cent, or of strengths on
    their scale; ``dark``: from 0 to 1, where all is lost, half of all pairs are wrong, or strengths by 1.
    """
    ranked = standing(_worst_kind(frame[(frame["question"] == question) & (frame["delta"] <= delta)]), delta)
    rows = []
    for cell, group in ranked.groupby([*_SIZE, "epsilon", "trust"]):
        best = group.loc[group["mean"].idxmin()]
        classes, others = (
            {name.partition("(")[0] for name in names}
            for names in (group.loc[group["alike"], "method"], group["method"])
        )
        rows.append(
            dict(zip([*_SIZE, "epsilon", "trust"], cell, strict=True))
            | {"use": classes.pop() if len(classes) == 1 < len(others) else "", "mean": best["mean"], "se": best["se"]}
        )
    scaled = question == "strengths"
    found = pd.DataFrame(rows)
    return found.assign(
        question=question,
        said=found["mean"].map("{:.2f}".format) if scaled else (100 * found["mean"]).map("{:.1f}".format),
        dark=(found["mean"] / _DARKEST.get(question, 1)).clip(upper=1),
    )


def maps(frame: pd.DataFrame) -> pd.DataFrame:
    """The maps of all questions, without a delta."""
    return pd.concat([map_of(frame, question) for question in FIRST_LOSS], ignore_index=True)


def answers(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a question, trust and delta: the class that is best, or alike to it, in most cells of the map.

    ``use``, ``best in`` (share of cells), ``alone in``; ``second`` and its share; ``costs``: what the first loses more
    than the best where it is neither, on average, and ``at most``; ``then``: who mostly is the best, or alike to it,
    in these cells; ``plain``: the best of those that need nothing.
    """
    rows = []
    for question in FIRST_LOSS:
        for delta in (0.0, DELTA):
            everybody = _worst_kind(frame[(frame["question"] == question) & (frame["delta"] <= delta)])
            everybody = everybody.assign(mechanism=everybody["method"].str.split("(").str[0])
            needless = _best_of(
                everybody[everybody["mechanism"].map(lambda name: not TAGS[name].needs).astype(bool)], delta
            )
            for trust, seen in _best_of(everybody, delta).items():
                shares = _shares(seen)
                mine = seen["mechanism"] == shares.index[0]
                many = seen.groupby([*_SIZE, "epsilon"])["alike"].transform("sum")
                elsewhere = seen.loc[mine & ~seen["alike"], [*_SIZE, "epsilon", "excess"]]
                others = elsewhere.drop(columns="excess").merge(seen[seen["alike"]])["mechanism"]
                rows.append(
                    {
                        "question": question,
                        "trust": trust,
                        "delta": delta,
                        "use": shares.index[0],
                        "best in": shares.iloc[0],
                        "alone in": (mine & seen["alike"] & (many == 1)).sum() / mine.sum(),
                        "second": shares.index[1] if len(shares) > 1 else "",
                        "second best in": shares.iloc[1] if len(shares) > 1 else np.nan,
                        "costs": elsewhere["excess"].mean() if len(elsewhere) else 0.0,
                        "at most": elsewhere["excess"].max() if len(elsewhere) else 0.0,
                        "then": others.mode()[0] if len(others) else "",
                        "plain": _shares(needless[trust]).index[0] if trust in needless else "",
                    }
                )
    return pd.DataFrame(rows)


def _best_of(frame: pd.DataFrame, delta: float) -> dict[str, pd.DataFrame]:
    """By trust, a row a cell and class: is one of its mechanisms ``alike`` to the best, and what it loses more."""
    ranked = standing(frame, delta)
    return {
        str(trust): here.groupby([*_SIZE, "epsilon", "mechanism"])
        .agg(alike=("alike", "max"), excess=("excess", "min"))
        .reset_index()
        for trust, here in ranked.groupby("trust")
    }


def _shares(seen: pd.DataFrame) -> pd.Series:
    """Share of cells in which a class is the best, or alike to it, the largest first."""
    return seen.groupby("mechanism")["alike"].mean().sort_values(ascending=False, kind="stable")


def readable(found: pd.DataFrame) -> str:
    """`answers` for readers, as an HTML table; what is the same with and without a delta stands once."""
    same = ["question", "trust", "use", "plain"]
    told = found.assign(
        spent=found.groupby(same)["delta"].transform(
            lambda it: "" if len(it) > 1 else ", a δ is spent" if it.iloc[0] else ", no δ is spent"
        )
    )
    rows = []
    for row in told.drop_duplicates(same).to_dict("records"):
        have, want = _ASKED[row["question"]]
        asked = f"{have}: <strong>{want}</strong><br/>{_WHO[row['trust']]}{row['spent']}"
        rows.append([asked, f"{_method(row)}.<br/><em>Best, or as good, in</em> {_how_often(row)}."])
    head = ["you have, want and trust", "take"]
    return "".join(
        [
            '<table class="dataframe"><thead><tr>',
            *(f"<th>{it}</th>" for it in head),
            "</tr></thead><tbody>",
            *("<tr>" + "".join(f"<td>{it}</td>" for it in row) + "</tr>" for row in rows),
            "</tbody></table>",
        ]
    )


def _method(row: Mapping[str, Any]) -> str:
    """What to take, in words, and what instead where its condition is not met."""
    tag = TAGS[row["use"]]
    told = f"<strong>{row['use']}</strong>: {tag.how}"
    if tag.needs:
        told += f". Take it only if {tag.needs}"
        told += f"; if not, take <strong>{row['plain']}</strong>: {TAGS[row['plain']].how}" if row["plain"] else ""
    return told


def _how_often(row: Mapping[str, Any]) -> str:
    """In how many situations, and what else."""
    told = f"{100 * row['best in']:.0f} %"
    if not row["second"]:
        return told + "; nothing else answers this"
    if not row["then"]:
        return told
    less = f"{row['costs']:.2f}" if row["question"] == "strengths" else f"{100 * row['costs']:.1f} points"
    return told + f"; elsewhere the best, mostly {row['then']}, loses {less} less"


def losses_of(frame: pd.DataFrame, question: str, **size: int) -> pd.DataFrame:
    """A row a kind of people and a mechanism: what it loses at every epsilon on people of one size."""
    here = frame[(frame["question"] == question) & (frame["loss"] == FIRST_LOSS[question])]
    for name, number in size.items():
        here = here[here[name] == number]
    wide = here[~here["method"].map(is_printed).astype(bool)].pivot_table(
        index=["data", "method", "delta"], columns="epsilon", values="mean"
    )
    return wide.rename(columns="ε = {:g}".format).reset_index().rename(columns={"data": "people"})


def of_surveys(frame: pd.DataFrame, epsilons: tuple[float, ...] = (0.2, 1.0, 5.0)) -> pd.DataFrame:
    """A row a heat of people of a survey: what the best method loses at some epsilons, somebody being trusted.

    ``use``: the class that is the best, or alike to it, at most of all epsilons, without a delta.
    """
    ranked = standing(frame[frame["data"].isin(SURVEYS) & (frame["delta"] == 0) & (frame["trust"] == "curator")], 0.0)
    ranked = ranked.assign(use=ranked["method"].str.partition("(")[0])
    rows = []
    for (question, data, people), here in ranked.groupby(["question", "data", "people"]):
        least = here.groupby("epsilon")["mean"].min()
        often = here[here["alike"]].groupby("use")["epsilon"].nunique().sort_values(ascending=False, kind="stable")
        losses = {f"loses at ε = {epsilon:g}": least[epsilon] for epsilon in epsilons}
        rows.append({"question": question, "survey": data, "people": people, "use": often.index[0]} | losses)
    return pd.DataFrame(rows)


def prints(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a mechanism as its paper prints it: whether its ``promise`` is kept, and what it loses.

    ``spends at least``, ``spends at most``: what is proved of its noise, over the epsilon that it was asked for.
    ``loses more``: how much more than the best of ours at equal privacy, on average over all cells; nan where nothing
    that is printed spends so much, or so little.
    """
    judged = frame[frame["loss"] == frame["question"].map(FIRST_LOSS)]
    rows = []
    for (question, trust, delta), here in judged.groupby(["question", "trust", "delta"]):
        theirs = here[here["method"].map(is_printed).astype(bool)]
        ours = judged[judged["method"].map(publishable).astype(bool) & (judged["delta"] <= delta)]
        best = ours.groupby(CELL)["mean"].min().rename("best").reset_index()
        theirs = theirs.merge(best, on=CELL).assign(name=lambda rows: rows["method"].str.split("(").str[0])
        for name, mine in theirs.groupby("name"):
            spent = mine["spent"] / mine["epsilon"]
            own = mine["method"].str.endswith(OWN)
            equal = mine[np.isclose(spent, 1, rtol=1e-6)]
            rows.append(
                {
                    "question": question,
                    "trust": trust,
                    "delta": delta,
                    "method": name,
                    "promise": "broken" if spent.max() > 1 + 1e-6 else "kept",
                    "spends at least": spent[own].min(),
                    "spends at most": spent[own].max(),
                    "loses more": (equal["mean"] - equal["best"]).mean(),
                }
            )
    return pd.DataFrame(rows)


@styled
def draw_map(frame: pd.DataFrame) -> Figure:
    """What the best method loses, in per cent; it is framed and named by colour where it alone is the best."""
    return _map(frame, _MESSAGES[frame["question"].iloc[0]])


@styled
def draw_advice(frame: pd.DataFrame) -> Figure:
    """A map where somebody is trusted, for readers of the guide: up to how many people no other method is needed."""
    alone = frame[frame["use"] != ""]
    most = alone["use"].mode()[0]
    others = alone.loc[alone["use"] != most, "people"].min()
    few = frame.loc[frame["people"] < others, "people"].max()
    message = f"With up to {few:,} people no method beats {_SPOKEN.get(most, most)}"
    return _map(frame, message)


def _map(frame: pd.DataFrame, message: str) -> Figure:
    names = sorted(name for name in frame["use"].drop_duplicates() if name)
    colours = {name: _COLOURS.get(name, "0.4") for name in names}
    trusts = [name for name in _WHO if name in set(frame["trust"])]
    sizes = (
        frame[_SIZE].drop_duplicates().sort_values(["items", "people", "answers", "k"]).to_records(index=False).tolist()
    )
    epsilons = sorted(frame["epsilon"].unique())
    each = 0.5 + 0.27 * len(sizes)
    question = str(frame["question"].iloc[0])
    figure, made = panels(len(trusts), message=message, height=each, columns=1)
    for axes, trust in zip(made, trusts, strict=True):
        for row in frame[frame["trust"] == trust].itertuples():
            x = epsilons.index(row.epsilon)
            y = len(sizes) - 1 - sizes.index((row.items, row.people, row.answers, row.k))
            axes.add_patch(Rectangle((x, y), 1, 1, color="#888888", alpha=0.65 * row.dark, lw=0))
            if row.use:
                frame_of: dict[str, Any] = {"fill": False, "edgecolor": colours[row.use], "lw": 1.8}
                axes.add_patch(Rectangle((x + 0.04, y + 0.07), 0.92, 0.86, **frame_of))
            said = row.said if not on_phone() or len(row.said) < 4 or float(row.said) < 10 else f"{float(row.said):.0f}"
            axes.annotate(said, (x + 0.5, y + 0.5), ha="center", va="center", fontsize=8)
        axes.set(xlim=(0, len(epsilons)), ylim=(0, len(sizes)), title=_WHO[trust])
        axes.set_xticks([x + 0.5 for x in range(len(epsilons))], [f"{e:g}" for e in epsilons], fontsize=8.5)
        named = [_size(*size) for size in sizes]
        if on_phone():
            named = [re.sub(" items| people| (answers?|names?) each", "", it) for it in named]
            axes.set_ylabel(
                "items, people"
                + ", top k" * bool(frame["k"].any())
                + (", names" if frame["k"].any() else ", answers") * bool(frame["answers"].any())
            )
        axes.set_yticks([len(sizes) - y - 0.5 for y in range(len(sizes))], named, fontsize=8.5)
        axes.grid(visible=False)
        axes.tick_params(length=0)
    made[-1].set_xlabel("ε")
    handles = [Rectangle((0, 0), 1, 1, fill=False, edgecolor=colours[name], lw=1.8) for name in names]
    if handles:
        key(figure, handles, [name + _PLAIN.get(name, "") for name in names], columns=3)
    alone = "framed: one alone is best; no frame: several are alike" if handles else "several methods are alike"
    full = ", up to 1" * (question == "strengths")
    trusted = f"Trusted: with the {_GIVEN[question]} themselves" + "; where nobody is, each person adds the noise" * (
        len(trusts) > 1
    )
    note(
        figure,
        f"{trusted}. Number: {_NUMBERS[question]}, of the best method (more strongly shaded: more{full}); {alone}.",
    )
    return figure


#: A method has one colour on all maps; those that answer the same question have different ones.
_COLOURS = {
    name: colour
    for rivals in (
        (
            "PrivateBorda",
            "NoisyMatrix",
            "PrivateKwikSort",
            "LocalBorda",
            "LocalMatrix",
            "PrivateFootrule",
            "ExponentialMechanism",
        ),
        ("PerturbedMLE", "NoisyCounts", "LocalComparisons", "PrivateRankCentrality"),
        ("JointExponential", "Oneshot", "Peeling", "LocalTopK"),
        ("NoisyNorm", "LocalTwoStage", "LocalPairs", "LocalOneBit", "Trun", "LaplaceUnif", "OptimalVote"),
    )
    for name, colour in zip(rivals, COLOURS, strict=False)
}
#: What a method puts its noise on, where its name does not say it.
_PLAIN = {
    "PrivateBorda": " (mean places)",
    "LocalBorda": " (mean places)",
    "NoisyMatrix": " (all pairs)",
    "LocalMatrix": " (all pairs)",
    "PrivateKwikSort": " (sorting)",
    "PerturbedMLE": " (likelihood)",
    "NoisyCounts": " (counts of wins)",
    "NoisyNorm": " (how far mean places lie apart)",
    "LocalOneBit": " (one answer each)",
    "LocalTwoStage": " (two rounds)",
    "LocalPairs": " (several pairs each)",
}
#: What a title calls a method.
_SPOKEN = {"PrivateBorda": "noise on mean places", "NoisyMatrix": "noise on all pairs"}
#: Half of all pairs are wrong in a random order: no map of pairs is darker.
_DARKEST = dict.fromkeys(("ranking", "consensus"), 0.5)
#: What the numbers of a question's map are.
_NUMBERS = {
    "ranking": "pairs in the wrong order, %",
    "strengths": "error of log-strengths (1: odds are wrong by a factor of e)",
    "consensus": "pairs in the wrong order, %",
    "winner": "chance of a wrong winner, %",
    "topk": "share of the top k that is missed, %",
    "agreement": "how many of 100 tests (5 % false alarms) miss that people lean to one order or two",
}


#: What people give, as a note has it.
_GIVEN = {
    "topk": "lists of items",
    "consensus": "ballots",
    "winner": "ballots",
    "agreement": "ballots",
} | dict.fromkeys(("ranking", "strengths"), "answers")


#: What the map of a question shows.
_MESSAGES = {
    "ranking": "People and ε decide what is lost, seldom the method",
    "strengths": "With many people and a large ε the perturbed estimate is best",
    "consensus": "Few people and a small ε cost even the best method pairs",
    "winner": "With trust, 10,000 people name the winner at any ε",
    "topk": "With trust, 10,000 people find the top k at ε = 0.2",
    "agreement": "With trust, noise on the norm of all ranks is mostly best",
}


def _size(items: int, people: int, answers: int, k: int) -> str:
    given = f"{'name' if k else 'answer'}{'s' * (answers > 1)}"
    more = (f", top {k}" if k else "") + (f", {answers} {given} each" if answers else "")
    return f"{items} items, {people:,} people{more}".replace("000,000", " M").replace(", M", " M")
