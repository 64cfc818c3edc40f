"""The paper's three findings, held against simulations of both kinds of privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from companion.chapters.edge_privacy.oneshot import oneshot_checks
from companion.chapters.individual_privacy.voters import READINGS, read
from companion.instruments.allowance import CLOSED, Z
from companion.instruments.loss_curves import AXES, epsilon_of, label_of, monotone, place
from companion.instruments.strengths import L2, LINF, MISSED, missed_more
from companion.instruments.style import panels, styled
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.likelihood import mle_from_counts


def advantage(edge_frame: pd.DataFrame, voter_frame: pd.DataFrame) -> pd.DataFrame:
    """How much more of the top k the MLE misses than counts: ``unit``, ``n``, ``along``, ``epsilon``, ``more``, ``se``.

    ``along`` is p under edge privacy and m under individual privacy.
    """
    parts = []
    for unit, frame, along in (("edge", edge_frame, "p"), ("individual", voter_frame, "m")):
        part = missed_more(frame, "MLE", "counts", ["n", along]).reset_index()
        parts.append(part.rename(columns={along: "along", "mean": "more"}).assign(unit=unit))
    return pd.concat(parts, ignore_index=True)


def way_back(frame: pd.DataFrame, setting: Sequence[str], method: str = "MLE") -> pd.DataFrame:
    """How far the error at epsilon = 2.5 is on the way from the non-private error (0) to that at epsilon = 1 (1).

    Of a method's estimation errors: the setting, ``loss``, ``scale`` ("log", as plotted, or "plain": geometric means of
    the errors themselves), ``fraction``, ``error``. The error is ``Z`` standard errors; those of the two falls are
    added up, for they share data.
    """
    parts = []
    for loss in (LINF, L2):
        rows = frame[(frame.method == method) & (frame.loss == f"fall of {loss}")]
        mean, se = (rows.pivot_table(index=list(setting), columns="epsilon", values=v) for v in ("mean", "se"))
        high, low = mean[1.0], mean[2.5]
        fractions = {"log": low / (high + low), "plain": np.expm1(low) / np.expm1(high + low)}
        for scale, fraction in fractions.items():
            if scale == "log":
                by_high, by_low = low / (high + low) ** 2, high / (high + low) ** 2
            else:
                steep = np.exp(high + low) / np.expm1(high + low)
                by_high, by_low = fraction * steep, np.abs(fraction * (np.exp(low) / np.expm1(low) - steep))
            error = Z * (by_high * se[1.0] + by_low * se[2.5])
            part = pd.DataFrame({"loss": loss, "scale": scale, "fraction": fraction, "error": error})
            parts.append(part.reset_index())
    return pd.concat(parts, ignore_index=True)


@claim("cai2025:finding-1:oneshot")
def check_oneshot(frame: pd.DataFrame) -> Iterator[Check]:
    """As `check_exp_4`, of all experiments."""
    yield from oneshot_checks(frame)


def best_missed(weights: Sequence[float], probability: float) -> dict[str, float]:
    """Exact chance that the first of a few items is missed without noise, by "counts" and "MLE", ties broken at random.

    Each pair is compared with that probability; an item wins in proportion to its weight. Any ridge gives this order.
    """
    n, missed = len(weights), {"counts": 0.0, "MLE": 0.0}
    pairs = list(combinations(range(n), 2))
    for games in product((None, 0, 1), repeat=len(pairs)):
        played, wins, chance = np.zeros((n, n)), np.zeros(n), 1.0
        for pair, won in zip(pairs, games, strict=True):
            if won is None:
                chance *= 1 - probability
                continue
            played[pair] = played[pair[::-1]] = 1
            wins[pair[won]] += 1
            chance *= probability * weights[pair[won]] / (weights[pair[0]] + weights[pair[1]])
        theta, _ = mle_from_counts(played[None], wins[None], ridge=1.0)
        for name, score in (("counts", wins), ("MLE", theta[0])):
            best = score >= score.max() - TIED
            missed[name] += chance * (1 - best[0] / best.sum())
    return missed


@claim("cai2025:finding-1")
def check_finding_1(edge_frame: pd.DataFrame, voter_frame: pd.DataFrame) -> Iterator[Check]:
    """Counts against MLE over settings, as printed; net wins against both at equal privacy."""
    units = (("edge", edge_frame, "p", "counts"), ("individual", voter_frame, "m", "counts, equal privacy"))
    for unit, frame, along, fair in units:
        more = missed_more(frame, "MLE", "counts", ["n", along]).reset_index()
        row = more.loc[(more["mean"] + Z * more.se).idxmin()]
        where = f"{unit}, {place(row, ['n', along, 'epsilon'])}"
        what = f"{where}: how much more the MLE misses than counts, least of {len(more)}"
        yield printed(what, row["mean"], ">=", 0, error=Z * row.se)
        for name, other in (("counts", fair), ("MLE", "MLE, equal privacy")):
            more = missed_more(frame, "net wins", other, ["n", along]).reset_index()
            row = more.loc[(more["mean"] + Z * more.se).idxmax()]
            where = f"{unit}, {place(row, ['n', along, 'epsilon'])}"
            what = f"{where}: what net wins miss more than {name} at equal privacy"
            yield amended(what, row["mean"], "<=", BEHIND, error=Z * row.se)
    missed = best_missed([1, 0.7, 0.2], 0.5)
    what = "edge, 3 items of weights 1, 0.7 and 0.2, p = 1/2, ε = ∞: exact chance that counts miss the best"
    yield argument(what, missed["counts"], ">", missed["MLE"], error=CLOSED)


#: What our corrected finding allows net wins to miss more than another method; estimates that are equal.
BEHIND, TIED = 0.05, 1e-6


@claim("cai2025:finding-2")
def check_finding_2(edge_frame: pd.DataFrame, voter_frame: pd.DataFrame, others: pd.DataFrame) -> Iterator[Check]:
    """Individual privacy likes few items and many voters, edge privacy many items and many comparisons.

    `others` are the estimates under individual privacy as (3.2) and (A2) print them. *Accurate* is read as at most one
    in twenty of the top k missed, and an error of the estimate of at most half of the truth, at epsilon = 1.
    """
    checks = []
    for unit, frame, along, best in (("individual", voter_frame, "m", min), ("edge", edge_frame, "p", max)):
        row = frame[(frame.loss == MISSED) & (frame.method == "counts") & (frame.epsilon == 1.0)]
        row = row[(row.n == best(row.n)) & (row[along] == row[along].max())].iloc[0]
        what = f"{unit}, {place(row, ['n', along, 'epsilon'])}: share of the top k that counts miss"
        checks.append(printed(what, row["mean"], "<=", 0.05, error=Z * row.se))
    for along, word in (("n", "fall"), ("p", "fall")):
        checks += [replace(check, what=f"edge, {check.what}") for check in monotone(edge_frame, along, word)]
    for frame in (voter_frame, others):
        checks += [*accurate(frame), *monotone(frame, "n", "rise"), *monotone(frame, "m")]
    yield from read(checks)
    centred, rest = (list(accurate(frame)) for frame in (voter_frame, others))
    yield from (amended(it.what, it.observed, "<=", float(np.log(1 / 3)), error=it.error) for it in centred)
    yield from (amended(it.what, it.observed, ">=", float(np.log(3 / 4)), error=it.error) for it in rest)


def accurate(frame: pd.DataFrame) -> Iterator[Check]:
    """The error of each estimate with fewest items and most voters at epsilon = 1, against half of the truth."""
    rows = frame[(frame.loss == L2) & (frame.epsilon == 1.0) & (frame.n == frame.n.min()) & (frame.m == frame.m.max())]
    for _, row in rows.iterrows():
        what = (
            f"{row.method}, {L2} of {place(row, ['n', 'm', 'epsilon'])}, against half of the truth (0: all items equal)"
        )
        yield printed(what, row["mean"], "<=", float(np.log(1 / 2)), error=Z * row.se)


@claim("cai2025:finding-3")
def check_finding_3(edge_frame: pd.DataFrame, voter_frame: pd.DataFrame, others: pd.DataFrame) -> Iterator[Check]:
    """Is the error at epsilon = 2.5 much closer to the non-private one than to that at epsilon = 1?

    *Much closer* is read as at most half as far: a third of the way. *Tend to* is read as in most settings, for either
    kind of privacy. `others` are the estimates under individual privacy as (3.2) and (A2) print them.
    """
    readings = {"log": "errors on the log scale, as plotted", "plain": "the errors themselves"}
    units = [("edge", edge_frame, "p", "<", "MLE"), ("individual", voter_frame, "m", ">", "MLE")]
    units += [("individual", others, "m", ">", method) for method in others.method.unique()]
    for unit, frame, along, relation, method in units:
        table = way_back(frame, ["n", along], method)
        for scale, reading in readings.items():
            rows = table[table.scale == scale]
            sure = rows.fraction + rows.error <= CLOSE
            half = (~sure & (rows.fraction - rows.error <= CLOSE)).mean() / 2
            what = f"{unit}: share of {len(rows)} curves on which ε = 2.5 is at most a third of the way from ∞ to ε = 1"
            yield printed(what, sure.mean() + half, ">", 0.5, reading=f"{reading}; {READINGS[method]}", error=half)
        if method == "MLE":
            rows = table[table.scale == "log"]
            row = rows.loc[rows.fraction.idxmax()]
            what = f"{unit}, {place(row, ['n', along])}, {row.loss}: largest share of the way from ∞ to ε = 1"
            yield amended(what, row.fraction, relation, 0.5, error=row.error)


#: What *much closer* is read as.
CLOSE = 1 / 3
#: From this size on white is read best on a cell, by day and inverted.
_DARK = 0.17


@styled
def draw_advantage(frame: pd.DataFrame) -> Figure:
    """How much more the MLE misses than counts, as printed: a panel a kind of privacy, a field a setting."""
    groups = list(frame.groupby("unit", sort=False))
    message = "Counting finds more under much noise, the estimator under little"
    figure, made = panels(len(groups), message=message, height=2.7)
    for axes, (unit, rows) in zip(made, groups, strict=True):
        table = rows.pivot_table(index="along", columns="epsilon", values="more")
        table = table.rename(index=label_of, columns=epsilon_of)
        percent = table.map(lambda more: f"{round(100 * more):+d}".replace("-", "−").replace("+0", "0"))
        look = {"cmap": "RdBu", "vmin": -0.3, "vmax": 0.3, "cbar": False, "annot_kws": {"size": 9}}
        sns.heatmap(table, ax=axes, annot=percent, fmt="", **look)
        for text, more in zip(axes.texts, table.to_numpy().flat, strict=True):
            text.set_color("white" if abs(more) > _DARK else "black")
        axes.invert_yaxis()
        axes.tick_params(length=0, labelrotation=0)
        private = {"edge": "one comparison", "individual": "one voter"}[str(unit)]
        axes.set(title=f"{private} private, {rows.n.iloc[0]} items", xlabel="ε", ylabel=AXES["pm"[unit != "edge"]])
    return figure
