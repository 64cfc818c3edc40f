"""Survey methods at equal privacy: what each spends, the noise it needs, how it ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.ranking_universities.survey_counts import (
    SURVEYS,
    exact_difference,
    survey_data,
    survey_mechanism,
)
from companion.chapters.real_surveys.panels import (
    ESTIMATORS,
    LOOK,
    PLACES_OFF,
    curves,
    epsilon_axis,
    item_name,
    title_of,
)
from companion.chapters.real_surveys.survey_likelihood import (
    Table,
    decided,
    halved,
    mle_curve,
    questionnaire_loss,
    random_difference,
    survey_mle,
)
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, panels, styled, wrapped
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed.cai2025 import algorithm_3
from dprank.pairwise import mle_from_counts, objective_loss
from dprank.pairwise.rank_law import places
from dprank.privacy import noise


def spent(epsilon: float) -> pd.DataFrame:
    """What the printed constants cost, per epsilon of the axis, under every promise about the answer sheets.

    ``survey``, ``promise``, ``counts`` (Algorithm 3), ``MLE`` (Proposition 3.1): provable privacy loss over epsilon.
    What the counts lose is attained by some data; for the MLE it is an upper bound.
    """
    rows = []
    for survey in SURVEYS:
        n = survey_data(survey).n_items
        answers = math.comb(n, 2)
        mechanism = survey_mle("as printed", epsilon, survey)
        anything = algorithm_3(epsilon, n, per_person=answers).guarantee.epsilon
        once = survey_mechanism("as printed", epsilon, survey).guarantee.epsilon
        loss = mechanism.guarantee.epsilon
        public = objective_loss(mechanism.scale, mechanism.ridge, per_person=answers, graph="public")
        form = questionnaire_loss(n, mechanism.scale, mechanism.ridge)
        rows += [
            (survey, "any pairs, again and again", anything / epsilon, loss / epsilon),
            (survey, "the same, compared pairs public", anything / epsilon, public / epsilon),
            (survey, "each pair at most once", once / epsilon, form / epsilon),
        ]
    return pd.DataFrame(rows, columns=["survey", "promise", "counts", "MLE"])


def evened(survey: str) -> Table:
    """As `decided`, with all pairs made equally often compared."""
    played, wins = decided(survey)
    n = len(wins)
    return np.full((n, n), played.sum() / (n * (n - 1))) * (1 - np.eye(n)), wins


def same_noise(epsilon: float, repetitions: int) -> pd.DataFrame:
    """How far the MLE's ranking is from that of counts with the very same noise.

    ``survey``, ``table`` (undecided answers dropped, counted half, or dropped with all pairs made equally often
    compared), ``score``, ``same order`` (share of runs) and its ``se``, ``difference`` (mean rank difference).
    """
    rows = []
    tables: dict[str, Callable[[str], Table]] = {"dropped": decided, "half": halved, "equally often": evened}
    for survey, table in product(SURVEYS, tables):
        played, wins = tables[table](survey)
        n = len(wins)
        mechanism = survey_mle("as printed", epsilon, survey)
        rng = stream("cai2025:fig-8:same-noise", {"survey": survey, "table": table, "epsilon": epsilon})
        noisy = wins - noise.laplace(mechanism.scale, (repetitions, n), rng=rng)
        place = places(mle_from_counts(played, noisy, ridge=mechanism.ridge)[0])
        for score, value in (("wins", noisy), ("net wins", noisy - played.sum(1) / 2)):
            other = places(value)
            same = (place == other).all(1)
            error = same.std(ddof=1) / math.sqrt(repetitions)
            rows.append((survey, table, score, same.mean(), np.abs(place - other).mean(), error))
    return pd.DataFrame(rows, columns=["survey", "table", "score", "same order", "difference", "se"])


#: What columns of `noiseless_orders` are called in two lines.
_WAYS = {"wins, half": "wins,\nhalf", "share won": "share\nwon", "net wins": "net\nwins", "MLE": "esti-\nmator"}


def noiseless_orders() -> pd.DataFrame:
    """Places of the items without noise, 1 for the best, by five ways to rank.

    ``survey``, ``item``; by ``wins``, ``net wins`` and the ``MLE``, undecided answers dropped; by ``wins, half``, where
    an undecided answer is half a win for both; by ``share won`` of the answers that were decided.
    """
    frames = []
    for survey in SURVEYS:
        played, wins = decided(survey)
        theta = mle_from_counts(played, wins[None], ridge=1e-6)[0][0]
        scores = {
            "wins": wins,
            "wins, half": halved(survey)[1],
            "share won": wins / played.sum(1),
            "net wins": 2 * wins - played.sum(1),
            "MLE": theta,
        }
        columns = {name: places(score) + 1 for name, score in scores.items()}
        frames.append(pd.DataFrame({"survey": survey, "item": survey_data(survey).items, **columns}))
    return pd.concat(frames, ignore_index=True)


@claim("cai2025:sec-4.3:quality")
def check_quality() -> Iterator[Check]:
    """Whether nearness to a noiseless ranking says that a ranking is right: the two noiseless ones of the paper."""
    for survey, orders in noiseless_orders().groupby("survey"):
        apart = float((orders["wins"] - orders["MLE"]).abs().mean())
        chance = random_difference(len(orders))
        what = f"mean rank difference of counts and MLE, both without noise, {survey}"
        yield printed(what, apart, "==", 0, reading="as good as the noiseless ranking")
        yield printed(what, apart / chance, "<=", 0.5, reading="better than half of a random order's distance")
        yield amended(f"{what}, over that of a random order", apart / chance, "<=", 0.2)
        yield argument(f"places by counts and by MLE, {survey}, off 1 to n in sum", _sums(orders), "==", 0)


def _sums(orders: pd.DataFrame) -> float:
    right = len(orders) * (len(orders) + 1) / 2
    return max(abs(float(orders[name].sum()) - right) for name in ("wins", "MLE"))


def equal_privacy(epsilons: Iterable[float], repetitions: int, told: float = 1.0) -> pd.DataFrame:
    """Mean rank differences of all methods at the same provable privacy: each pair answered at most once.

    The figure's message and its mark are of the epsilon that is `told`, which is one of `epsilons`, or the first.

    ``survey``, ``method``, ``epsilon`` (provable, but for "MLE as printed", which spends a third of it at most),
    ``mean``, ``se`` (0 where exact), ``random``, ``told``.
    """
    epsilons = [float(epsilon) for epsilon in epsilons]
    told = told if told in epsilons else epsilons[0]
    names = {"as printed": "MLE as printed", "private graph": "MLE, private graph", "public graph": "MLE, public graph"}
    mle = mle_curve(epsilons, repetitions, names)
    mle = mle.assign(method=mle.calibration.map(names)).drop(columns=["calibration", "repetitions"])
    counts = pd.DataFrame(
        {"survey": s, "method": method, "epsilon": e, "mean": exact_difference(s, calibration, e), "se": 0.0}
        for s, (calibration, method), e in product(SURVEYS, (("corrected", "wins"), ("net wins", "net wins")), epsilons)
    )
    frame = pd.concat([mle, counts], ignore_index=True)
    chance = [random_difference(survey_data(survey).n_items) for survey in frame.survey]
    return frame.assign(random=chance, told=told)


def noise_needed(epsilon: float) -> pd.DataFrame:
    """Laplace scale, in wins, that each method needs on a questionnaire, beside what is printed."""
    rows = []
    for survey in SURVEYS:
        net = survey_mechanism("net wins", epsilon, survey).scale / 2
        mle = [survey_mle(name, epsilon, survey).scale for name in ("as printed", "private graph")]
        wins = [survey_mechanism(name, epsilon, survey).scale for name in ("as printed", "corrected")]
        rows.append((survey, *wins, net, *mle, net))
    columns = ["survey", "wins, printed", "wins", "net wins", "MLE, printed", "MLE, private graph", "MLE, public graph"]
    return pd.DataFrame(rows, columns=columns)


def costs(epsilon: float) -> dict[str, str]:
    """Numbers, as text: what the printed constants spend on the CEMS form, and what the methods need, in wins."""
    once = spent(epsilon).query("promise == 'each pair at most once'").set_index("survey")
    needed = noise_needed(epsilon).set_index("survey").loc["CEMS"]
    return {
        "survey-third": f"{once.MLE.max():.2f}",
        "spent-counts": f"{once.counts['CEMS']:.3g}",
        "noise-mle-printed": f"{needed['MLE, printed']:.3g}",
        "noise-mle-fair": f"{needed['MLE, private graph']:.3g}",
        "noise-net": f"{needed['net wins']:.3g}",
    }


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference of all methods against epsilon, a panel a survey; bars are 95 % intervals."""
    told = frame.told.iloc[0]
    here = frame[frame.epsilon == told]
    printed, fair = here[here.method == "MLE as printed"], here[here.method != "MLE as printed"]
    most = fair.groupby("survey")["mean"].max()
    apart = (most - fair.groupby("survey")["mean"].min()).max()
    worse = max((printed.set_index("survey")["mean"] - most).max(), 0)
    message = f"At equal privacy the methods differ by at most {apart:.2f} places"
    figure, made = panels(frame.survey.nunique(), message=message, height=3.0, sharey=True)
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        axes.axvline(told, color="0.75", lw=1)
        curves(axes, rows, "epsilon")
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        epsilon_axis(axes, str(survey), rows.epsilon)
    label_outer(made, "ε (each pair answered at most once)", PLACES_OFF)
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    grey = f"Grey: ε = {told:g}, where the estimator as printed is up to {worse:.2f} places farther off than the rest."
    note(figure, f"Places off: from the method's own ranking without noise. {ESTIMATORS} {grey} Bars: 95 %.")
    return figure


def told(curves: pd.DataFrame, equal: pd.DataFrame, near: float) -> dict[str, str]:
    """Numbers, as text: Figure 8 as published and at equal privacy, at one epsilon, and at the smallest one.

    Of frames of `published_curve.figure_8` and `equal_privacy`; names end in the survey, in small letters.
    """
    least = curves.epsilon.min()
    numbers = {"told-epsilon": f"{near:g}", "told-least": f"{least:g}"}
    for survey, rows in curves.groupby("survey"):
        here = rows[rows.epsilon == near].set_index("curve")["mean"]
        fair = equal[(equal.survey == survey) & (equal.epsilon == near)].set_index("method")["mean"]
        first = rows[(rows.epsilon == least) & (rows.curve == "perturbed MLE")].iloc[0]
        numbers |= {
            f"told-mle-{survey.lower()}": f"{here['perturbed MLE']:.2f}",
            f"told-counts-{survey.lower()}": f"{here['noisy counts']:.2f}",
            f"told-fair-{survey.lower()}": f"{fair['MLE, private graph']:.2f}",
            f"told-net-{survey.lower()}": f"{fair['net wins']:.2f}",
            f"told-share-{survey.lower()}": f"{100 * first['mean'] / first.random:.0f}",
        }
    return numbers


@styled
def draw_noiseless_orders(frame: pd.DataFrame) -> Figure:
    """Places without noise, a panel a survey, a column a way to rank; items that change places are in colour."""
    ways = [name for name in frame if name not in ("survey", "item")]
    usual = frame[ways].mode(axis=1)[0]
    differ = frame[ways].ne(usual, axis=0).groupby(frame.survey, sort=False).any()
    moved = frame[frame[ways].nunique(axis=1) > 1]
    others = [name for name in ways if differ[name].any()]
    order = " before ".join(map(item_name, moved.sort_values(others)["item"]))
    message = f"Without noise, only {' and '.join(others)} rank {order}"
    figure, made = panels(len(differ), message=message, height=2.7)
    colours = dict(zip(moved.index, COLOURS, strict=False))
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        for at, row in rows.iterrows():
            colour = colours.get(at, "0.45")
            axes.plot(range(len(ways)), row[ways], color=colour, marker="o", ms=6, lw=2.2 if at in colours else 1.2)
            right, ink = (len(ways) - 0.8, row[ways[-1]]), colour if at in colours else "0.2"
            axes.annotate(item_name(row["item"]), right, va="center", fontsize=9, color=ink, annotation_clip=False)
        axes.set(title=title_of(str(survey)), xlim=(-0.25, len(ways) - 0.9), ylim=(len(rows) + 0.4, 0.6))
        axes.set_ylabel("place")
        axes.set_xticks(range(len(ways)), [_WAYS.get(name, name) for name in ways], fontsize=8.5)
        axes.set_yticks(range(1, len(rows) + 1))
        axes.grid(visible=False)
    note(
        figure,
        "Wins: answers won, without undecided ones; half: an undecided answer is half a win for both. Share won: wins "
        "among decided answers. Net wins: wins less losses. Estimator: strengths that make the answers most likely.",
    )
    return figure


@styled
def draw_spent(frame: pd.DataFrame) -> Figure:
    """Provable privacy loss over the epsilon of the axis, as printed, a panel a survey and a row a promise."""
    message = "Counting spends more privacy than Figure 8 says, the estimator less"
    figure, made = panels(frame.survey.nunique(), message=message, height=2.1, sharey=True)
    looks = {"counts": ("counting", "wins"), "MLE": ("estimator, at most", "MLE as printed")}
    names = {"the same, compared pairs public": "any pairs, known to all"}
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        axes.axvline(1.0, color="black", lw=1)
        promises = [wrapped(names.get(promise, promise), 1.5, 10) for promise in rows.promise]
        axes.text(1.05, 0.5, "as the paper says", va="center", fontsize=9)
        for name, (text, method) in looks.items():
            axes.plot(rows[name], promises, **LOOK[method] | {"ls": "", "ms": 7, "mfc": None}, label=text)
        axes.set(title=title_of(str(survey)), xlim=(0, 2.35), ylim=(2.4, -0.4))
    label_outer(made, "privacy lost / ε in the paper", "what a voter may do")
    key(figure, *made[0].get_legend_handles_labels())
    return figure


@styled
def draw_same_noise(frame: pd.DataFrame) -> Figure:
    """In how many percent of the runs the estimator and a score give the same order, a panel a survey."""
    uneven = 100 * frame["same order"][(frame.score == "net wins") & (frame["table"] != "equally often")]
    message = f"Estimator and net wins agree in {uneven.min():.0f} to {uneven.max():.0f} % of runs"
    figure, made = panels(frame.survey.nunique(), message=message, height=2.6, sharey=True)
    names = {
        "dropped": "undecided answers dropped",
        "half": "undecided answers are half a win each",
        "equally often": "all pairs compared equally often",
    }
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        for shift, (score, part) in zip((-0.2, 0.2), rows.groupby("score", sort=False), strict=True):
            at, look = np.arange(len(part)) + shift, {"color": LOOK[str(score)]["color"]}
            share = 100 * part["same order"]
            axes.barh(at, share, 0.36, label=f"as {score}", **look)
            for height, length in zip(at, share, strict=True):
                axes.text(length + 4, height, f"{length:.0f}", va="center", fontsize=9)
        axes.set(title=title_of(str(survey)), xlim=(0, 118))
        axes.set_xticks(range(0, 101, 25))
        axes.set_yticks(np.arange(len(names)), [wrapped(names[name], 1.4, 10) for name in rows["table"].unique()])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(False)
    label_outer(made, "same order, % of the runs", "")
    key(figure, *made[0].get_legend_handles_labels())
    sure = math.ceil(100 * BAR * frame.se.max())
    note(
        figure,
        "Estimator: the strengths that make the noisy answers most likely. Run: one draw of the noise. Net wins: wins "
        f"less losses. Undecided: neither of the two is preferred. Shares: ± {sure} % at most (95 %).",
    )
    return figure
