"""The book's own promises, held against what the chapter on the audit computes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from companion.chapters.privacy_audited import bugs, floats, promises
from companion.instruments.allowance import ROUNDING, Z
from companion.ledger.claim import Check, claim, printed

#: Largest relative distance of a loss from its closed form: suprema found by search are raised by 1e-9; and rounding.
RAISED = 1e-9 + ROUNDING
#: Share of its guarantee from which a loss counts as tight.
TIGHT = 0.99


@claim("audit:power")
def check_power(table: pd.DataFrame) -> Iterator[Check]:
    """Planted bugs that are caught, from `bugs.table`.

    At fewer releases or runs than promised, a bug that got away is not yet one that escapes.
    """
    broken = bugs.breaking(table)
    full = bool((broken.runs >= bugs.RUNS).all() and (broken.budget >= bugs.BUDGET).all())
    caught = float(bugs.often(broken).mean())
    # the share is known to lie in [caught, caught + unknown], and so with the bugs that escape
    unknown = 0.0 if full else 1 - caught
    away = bugs.escaped(table)
    open_ = 0.0 if full else len(away) / 2
    what = f"share of {len(broken)} promises broken by a planted bug that betting refutes in nine of ten runs or more"
    yield printed(what, caught + unknown / 2, ">=", bugs.POWER, error=unknown / 2)
    what = "planted bugs that raise the loss by 20 % or more and escape both routes"
    yield printed(what, len(away) - open_, "<=", 0, error=open_)
    slow = int((broken.seconds > bugs.SECONDS).sum())
    yield printed(f"planted bugs with a median above {bugs.SECONDS:g} seconds of one core", slow, "==", 0)
    yield printed("planted bugs", len(table), ">=", bugs.LEAST)
    what = f"bugs that leave the loss within its promise ({len(table) - len(broken)}) and were called broken"
    yield printed(what, int(table.drop(broken.index).caught.sum()), "==", 0)


@claim("audit:coverage")
def check_coverage(audited: pd.DataFrame, caught: pd.DataFrame) -> Iterator[Check]:
    """Every mechanism of the library has a loss in `promises.frame`, and in `bugs.table` a bug that a route catches."""
    kinds = {kind.__name__ for kind in promises.mechanisms()}
    with_loss = audited[audited.exact.notna() | (audited.lower > 0)]
    seen = caught[caught.by_exact | (caught.caught > 0)]
    bare, whole = kinds - set(with_loss.mechanism), kinds - set(seen.mechanism)
    yield printed(f"mechanisms of {len(kinds)} without an audit", len(bare), "==", 0)
    yield printed("mechanisms without a planted bug of their own that is caught", len(whole), "==", 0)


@claim("audit:agreement")
def check_agreement(table: pd.DataFrame) -> Iterator[Check]:
    """That the routes and the field's formulas agree, from `promises.frame`."""
    both = table[np.isfinite(table.exact) & np.isfinite(table.closed_form)]
    audited = table[table.exact.notna() & table.lower.notna()]
    distance = (both.exact - both.closed_form).abs() / both.closed_form.clip(lower=1e-9)
    what = f"largest relative distance of exact loss and closed form, {len(both)} cases"
    yield printed(what, float(distance.max()), "<=", RAISED)
    above = int((audited.lower > audited.exact * (1 + ROUNDING)).sum())
    yield printed(f"lower bounds from samples above the exact loss, {len(audited)} cases", above, "==", 0)


@claim("audit:promises-kept")
def check_promises_kept(table: pd.DataFrame) -> Iterator[Check]:
    """That no loss is above its provable guarantee, from `promises.frame`."""
    share = (table.exact / table.guarantee).dropna()
    what = f"largest exact loss as a share of the provable guarantee, {len(share)} cases"
    yield printed(what, float(share.max()), "<=", 1 + ROUNDING)
    what = f"cases of {len(table)} whose loss is above their guarantee by either route"
    yield printed(what, len(promises.broken(table)), "==", 0)
    tight = int((table.exact >= TIGHT * table.guarantee).sum())
    yield printed("cases whose exact loss comes within 1 % of the guarantee", tight, ">=", 12)


@claim("audit:printed-promises")
def check_printed_promises(table: pd.DataFrame, broken: int) -> Iterator[Check]:
    """That so many mechanisms (in the ledger) lose more as printed than their paper promises, from `promises.frame`."""
    as_printed = table[table.calibration == "as printed"]
    worst = promises.worst_lies(table)
    what = f"mechanisms of {as_printed.mechanism.nunique()} that lose more as printed than promised"
    yield printed(what, len(worst), "==", broken)
    for row in worst.itertuples():
        yield printed(f"loss over what {row.paper} promise: {row.case}", float(row.share), ">", 1.0)


@claim("audit:floats")
def check_floats(shares: pd.DataFrame, audits: pd.DataFrame, p_value: float) -> Iterator[Check]:
    """Floats betray a count, whole noise does not: from `betrayals`, `caught` and `secure_p_value` of `floats`."""
    either = shares[shares.ruled_out == "either neighbour"]
    zero = either[(either["count"] == 0) & (either.noise == "floats")]
    kinds = audits.groupby(audits.noise.str.endswith("floats")).refuted.agg(["sum", "size"])
    for scale, mean, se in zip(zero.scale, zero["mean"], zero.se, strict=True):
        what = f"share of releases of the count 0 by floats of scale {scale:g} that rule out a neighbouring count"
        yield printed(what, mean, ">", 0.5, error=Z * se)
    refuted, everyone = kinds.loc[True, ["sum", "size"]]
    yield printed("kinds of floating-point noise that the audit refutes", refuted, "==", everyone)
    yield printed("kinds of whole noise that the audit refutes", kinds.at[False, "sum"], "==", 0)
    yield printed("release noise that fails a chi-square test of its exact law", int(p_value < floats.ALARM), "==", 0)
