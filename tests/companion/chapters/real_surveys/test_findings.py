"""The findings in small, and on numbers by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from companion.chapters.edge_privacy import comparisons
from companion.chapters.individual_privacy import voters
from companion.chapters.real_surveys import findings
from companion.instruments import strengths
from companion.instruments.allowance import Z
from companion.ledger.claim import derive

NOISES = [0.5, 1.0, 2.5, math.inf]


@pytest.mark.slow
def test_findings_in_small():
    methods = ["MLE", "counts", "MLE, equal privacy", "net wins"]
    steps = {"falls": [1.0, 2.5, math.inf]}
    pairs = [("MLE", "counts"), ("net wins", "counts"), ("net wins", "MLE, equal privacy")]
    fair = "counts, equal privacy"
    edge = comparisons.edge([40, 80], [0.2, 1.0], NOISES, 60, methods=methods, **steps, pairs=pairs)
    all_pairs = [*pairs, ("net wins", fair)]
    voter = voters.voter([12, 32], [250, 2000], NOISES, 600, methods=[*methods, fair], **steps, pairs=all_pairs)
    assert derive(findings.check_finding_1(edge, voter)) == "refuted"
    others = voters.readings([12, 32], [250, 2000], NOISES, steps["falls"])
    checks = findings.check_finding_3(edge, voter, others)
    assert [c.outcome for c in checks if "individual" in c.what and "log" in c.reading] == [False] * 4
    plain = {c.reading: c.outcome for c in checks if "individual" in c.what and "themselves" in c.reading}
    assert list(plain.values()) == [True, False, False, False]
    wide = edge[edge.method.isin(["MLE", "counts"])]
    told = [c for c in findings.check_finding_2(wide, voter, others) if "half of the truth" in c.what]
    assert {c.outcome for c in told if c.about == "corrected"} == {True}
    accurate = [c for c in told if c.about == "printed"]
    assert [c.outcome for c in accurate if "MLE, log" in c.what] == [True]
    assert {c.outcome for c in accurate if "MLE, log" not in c.what and "equal" not in c.what.split(",")[1]} == {False}
    # mutant: counts that never lose
    worse, worse_voter = edge.copy(), voter.copy()
    for frame in (worse, worse_voter):
        frame.loc[frame.loss == f"{strengths.MORE} counts", "mean"] += 1
    assert derive(findings.check_finding_1(worse, worse_voter)) == "holds"
    table = findings.advantage(edge, voter)
    assert set(table.unit) == {"edge", "individual"}
    assert (table[(table.unit == "edge") & (table.along == 1) & np.isinf(table.epsilon)].more.abs() < 1e-12).all()


def test_way_back_on_numbers_by_hand():
    falls = [("fall of log ℓ2", 1.0, 0.3), ("fall of log ℓ2", 2.5, 0.1)]
    falls += [("fall of log ℓ∞", 1.0, 0.3), ("fall of log ℓ∞", 2.5, 0.1)]
    frame = pd.DataFrame(falls, columns=["loss", "epsilon", "mean"]).assign(method="MLE", n=9, m=9, se=0.01)
    table = findings.way_back(frame, ["n", "m"]).set_index(["loss", "scale"])
    assert table.fraction["log ℓ2", "log"] == pytest.approx(0.25)
    assert table.fraction["log ℓ2", "plain"] == pytest.approx((math.exp(0.1) - 1) / (math.exp(0.4) - 1))
    # the error is the change of the fraction when both falls are off by Z standard errors, to first order
    moved = frame.assign(mean=[0.3 - 1e-6, 0.1 + 1e-6] * 2)
    for scale in ("log", "plain"):
        change = findings.way_back(moved, ["n", "m"]).set_index(["loss", "scale"]).fraction - table.fraction
        assert table.error["log ℓ2", scale] == pytest.approx(Z * 0.01 * change["log ℓ2", scale] / 1e-6, rel=1e-4)
