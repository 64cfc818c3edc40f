"""Cai, Chakraborty and Wang (2025), Section 4.3: the perturbed MLE on two surveys, and what to rank by.

The counting half of Figure 8 is in `companion.chapters.ranking_universities.universities`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, gammaln

from companion.chapters.ranking_universities.universities import (
    READING,
    SURVEYS,
    exact_difference,
    survey_data,
    survey_mechanism,
)
from companion.instruments import surveys as datasets
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import algorithm_1, algorithm_3, proposition_3_1
from dprank.data.counting import Score, pairwise_wins
from dprank.pairwise import NoisyCounts, PerturbedMLE, mle_from_counts, objective_loss
from dprank.pairwise.rank_law import places
from dprank.privacy import noise

#: Figure 8, curves of the perturbed MLE, as published by the authors: survey -> epsilon -> mean rank difference.
PUBLISHED_MLE = {
    "CEMS": {0.5: 1.21, 1.0: 0.80, 2.0: 0.46, 4.0: 0.235},
    "immigration": {0.5: 1.0, 1.0: 0.80, 2.0: 0.55, 4.0: 0.35},
}
#: Repetitions behind a published value.
PUBLISHED_REPETITIONS = 1000
#: Standard errors that a published value may be off ours: false alarm 0.003 a value.
PUBLISHED_Z = 3.0
#: Our own repetitions behind a check, at every profile.
REPETITIONS = 8000
#: The last epsilon of Figure 8.
LARGEST = 10.0
#: "Close": nearer to the noiseless ranking than half of what a random order is.
CLOSE = 0.5
#: Section 4.3.1 as printed: survey -> (m, n, L).
PRINTED = {"CEMS": (303, 6, 15), "immigration": (98, 4, 6)}
#: Ridge, times epsilon, of our calibrated MLE on a questionnaire: large enough that almost only the scores cost.
RIDGE = 100.0


# --- the two data sets -----------------------------------------------------------------------------------------------


def answers_given() -> pd.DataFrame:
    """What the committed data say about how much was asked and answered.

    Returns
    -------
    pandas.DataFrame
        A row a survey: ``survey``, ``students``, ``items``, ``pairs``, ``asked`` (students times pairs), ``answers``
        (undecided ones included), ``undecided``, ``full`` (most students that can have answered all pairs), ``some``
        (fewest that must have answered one). Where only totals are known the last two are bounds.
    """
    cems = survey_data("CEMS")
    given = datasets.read("cems").groupby("student").outcome.count()
    totals = datasets.immigration_pairs()
    people = int(totals[["first_preferred", "undecided", "second_preferred", "missing"]].sum(axis=1).max())
    rows = [
        ("CEMS", len(given), cems, len(datasets.read("cems")), int((given == 15).sum()), int((given > 0).sum())),
        (
            "immigration",
            people,
            survey_data("immigration"),
            len(totals) * people,
            people - int(totals.missing.max()),
            people - int(totals.missing.min()),
        ),
    ]
    return pd.DataFrame(
        {
            "survey": survey,
            "students": students,
            "items": data.n_items,
            "pairs": math.comb(data.n_items, 2),
            "asked": asked,
            "answers": len(data),
            "undecided": int((data.points == 1).sum()),
            "full": full,
            "some": some,
        }
        for survey, students, data, asked, full, some in rows
    )


def missing_answers() -> dict[str, float]:
    """Which answers the CEMS survey lacks.

    Returns
    -------
    dict
        ``answers`` that are missing, ``pairs`` and ``students`` concerned, ``last`` (the position in the file of the
        last student concerned) and ``log10`` of the chance that students who each leave out the question with the same
        probability are the first ones of the file, given how many they are.
    """
    rows = datasets.read("cems")
    gone = rows[rows.outcome.isna()]
    students, total = gone.student.nunique(), rows.student.nunique()
    log_binomial = gammaln(total + 1) - gammaln(students + 1) - gammaln(total - students + 1)
    return {
        "answers": len(gone),
        "pairs": len(gone[["first", "second"]].drop_duplicates()),
        "students": students,
        "last": int(gone.student.max()),
        "log10": float(-log_binomial / math.log(10)),
    }


@claim("cai2025:sec-4.3:cems")
def check_cems() -> Iterator[Check]:
    """Section 4.3.1, University Preferences: m, n and L, for what was asked and for what was answered."""
    m, n, answers = PRINTED["CEMS"]
    rows = datasets.read("cems")
    asked = rows.groupby("student").size()
    given = rows.groupby("student").outcome.count()
    missing = missing_answers()
    form = "L counts a student's pairs on file, answered or not"
    model = "L counts a student's comparisons, as in Section 3.1"
    items = len({*rows["first"], *rows["second"]})
    size = [
        ("students", len(asked), "==", m),
        ("universities", items, "==", n),
    ]
    for reading in (form, model):
        for check in size:
            yield printed(*check, reading=reading)
    yield printed("fewest pairs of a student on file", asked.min(), "==", answers, reading=form)
    yield printed("most pairs of a student on file", asked.max(), "==", answers, reading=form)
    yield printed("fewest comparisons of a student", given.min(), "==", answers, reading=model)
    yield amended("most comparisons of a student", given.max(), "<=", answers)
    yield amended("students who lack an answer", missing["students"], "==", int((given < answers).sum()))
    yield amended("pairs on which answers are missing", missing["pairs"], "==", 1)
    yield amended("last of these students on file", missing["last"], "==", missing["students"])


@claim("cai2025:sec-4.3:immigration")
def check_immigration() -> Iterator[Check]:
    """Section 4.3.1, Student Attitudes on Immigration, as far as published totals can tell."""
    m, n, answers = PRINTED["immigration"]
    facts = answers_given().set_index("survey").loc["immigration"]
    most, model = "L is the most that a student can answer", "L counts a student's comparisons, as in Section 3.1"
    totals = datasets.immigration_pairs()
    people = totals[["first_preferred", "undecided", "second_preferred", "missing"]].sum(axis=1)
    possible = min(int(facts.students), int(facts.answers))
    size = [
        ("students in the totals, fewest", people.min(), "==", m),
        ("students in the totals, most", people.max(), "==", m),
        ("statements", facts["items"], "==", n),
        ("pairs of statements", facts.pairs, "==", answers),
        ("students who may have answered a pair, for all that the totals tell", possible, "==", m),
    ]
    for reading in (most, model):
        for check in size:
            yield printed(*check, reading=reading)
    yield printed("answers", facts.answers, "==", m * answers, reading=model)
    yield amended("answers", facts.answers, "<", m * answers)
    yield amended("students who can have answered all pairs", facts.full, "<", m)
    yield amended("students who must have answered a pair", facts.some, "<", m)


# --- Figure 8, the perturbed MLE -------------------------------------------------------------------------------------


def random_difference(n_items: int) -> float:
    """Expected mean absolute rank difference between any order and a uniformly random one: (n^2 - 1) / (3 n)."""
    if n_items < 2:
        raise ValueError(f"n_items = {n_items}; at least two are needed")
    return (n_items**2 - 1) / (3 * n_items)


@cache
def survey_table(survey: str, ties: str = "dropped") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each pair was compared, shape (items, items), and the wins, shape (items,).

    Parameters
    ----------
    survey : {"CEMS", "immigration"}
    ties : {"dropped", "half", "plan"}
        Undecided answers left out, as the authors' Figure 8 does; half a win for both; or that with every question that
        was put counted as answered, undecided where the answer is missing. A student who leaves an answer open then
        does not change the graph. The CEMS form lacked a question for some; it counts for those who were asked.
    """
    if ties not in ("dropped", "half", "plan"):
        raise ValueError(f"ties = {ties!r}; allowed are 'dropped', 'half', 'plan'")
    data = survey_data(survey)
    wins = pairwise_wins(data[data.points != 1] if ties == "dropped" else data)
    played = wins + wins.T
    if ties == "plan" and survey == "immigration":
        full = PRINTED[survey][0] * (1 - np.eye(len(wins)))
        wins, played = wins + (full - played) / 2, full
    return played, wins.sum(1)


def questionnaire_loss(n_items: int, scale: float, ridge: float) -> float:
    r"""Bound on the privacy loss of the perturbed logistic MLE for a voter who answers every pair at most once.

    Any answer may be missing, or undecided and then left out or counted as half a win for both.

    Parameters
    ----------
    n_items : int
    scale, ridge : float
        lambda and gamma, above 0.

    Notes
    -----
    With :math:`\sigma` a vector of signs, a of them plus, a pair of unlike signs can cost
    :math:`\max_{0 \le r \le 1} [2 r / \lambda + \log(1 + 2 r (1 - r) / \gamma)]`, which is at least
    :math:`2 / \lambda`; a pair of like signs only :math:`\log(1 + 1 / (2 \gamma))`. The bound is the largest sum over
    a. The maximum over r is attained where a quadratic vanishes.
    """
    for name, value in (("scale", scale), ("ridge", ridge)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} = {value}; it must be above 0 and finite")
    if n_items < 2:
        raise ValueError(f"n_items = {n_items}; at least two are needed")
    # 2 r^2 - 2 r (1 - scale) - (ridge + scale) = 0, its positive root without cancellation
    root = math.hypot(scale - 1, math.sqrt(2 * (ridge + scale)))
    r = min((ridge + scale) / (root + scale - 1), 1.0) if scale > 1 else min((1 - scale + root) / 2, 1.0)
    unlike = 2 * r / scale + math.log1p(2 * r * (1 - r) / ridge)
    like = math.log1p(1 / (2 * ridge))
    pairs = math.comb(n_items, 2)
    crossing = (a * (n_items - a) for a in range(n_items + 1))
    return max(c * unlike + (pairs - c) * like for c in crossing) * (1 + ROUNDING)


def questionnaire_scale(n_items: int, epsilon: float, ridge: float) -> float:
    """The least noise for which `questionnaire_loss` is at most epsilon."""
    if not questionnaire_loss(n_items, 1e12, ridge) < epsilon:
        raise ValueError(f"ridge = {ridge} is too small for epsilon = {epsilon} at any noise")
    low, high = 1e-6, 1e12
    found = brentq(
        lambda x: math.log(questionnaire_loss(n_items, math.exp(x), ridge) / epsilon),
        math.log(low),
        math.log(high),
        xtol=1e-13,
    )
    return math.exp(found) * (1 + ROUNDING)


def survey_mle(calibration: str, epsilon: float, survey: str) -> PerturbedMLE:
    """The perturbed MLE for a survey.

    Parameters
    ----------
    calibration : {"as printed", "private graph"}
        Proposition 3.1 with kappa_1 = 1 and kappa_2 = 1/4; the least noise for a ridge of `RIDGE` / epsilon when every
        pair is answered at most once and the answered pairs are secret.
    epsilon : float
    survey : {"CEMS", "immigration"}
    """
    n = survey_data(survey).n_items
    if calibration == "as printed":
        mechanism: PerturbedMLE = proposition_3_1(epsilon, n, per_person=math.comb(n, 2)).mechanism
        return mechanism
    if calibration == "private graph":
        scale, pairs = questionnaire_scale(n, epsilon, RIDGE / epsilon), math.comb(n, 2)
        return PerturbedMLE(n, scale, RIDGE / epsilon, graph="private", per_person=pairs, law="continuous")
    raise ValueError(f"calibration = {calibration!r}; allowed are 'as printed', 'private graph'")


def public_mle(scores: NDArray[np.float64], played: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Strengths from (private) net wins on a public graph, shape (replicates, items): post-processing.

    A net win more is half a win more when the number of comparisons is known. Noisy net wins need not sum to zero;
    true ones do, so their mean is taken off, which changes no order.
    """
    net = scores - scores.mean(1, keepdims=True)
    return mle_from_counts(played, (net + played.sum(1)) / 2, ridge=ridge)[0]


def mle_differences(
    survey: str, calibration: str, epsilon: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Mean absolute rank difference between private estimates and the same estimate without noise.

    Parameters
    ----------
    survey : {"CEMS", "immigration"}
    calibration : {"as printed", "private graph", "public graph"}
        As in `survey_mle`; or net wins with their own noise, then the likelihood as post-processing.
    epsilon, repetitions, rng

    Returns
    -------
    ndarray of float, shape (repetitions,)
    """
    if calibration == "public graph":
        played, wins = survey_table(survey, "plan")
        net = 2 * wins - played.sum(1)
        drawn = noise.laplace(survey_mechanism("net wins", epsilon, survey).scale, (repetitions, len(net)), rng=rng)
        private, target = public_mle(net + drawn, played, 1.0), public_mle(net[None], played, 1.0)
    else:
        mechanism = survey_mle(calibration, epsilon, survey)
        played, wins = survey_table(survey)
        private = mechanism.estimate(played, np.tile(wins, (repetitions, 1)), rng)
        target = mle_from_counts(played, wins[None], ridge=mechanism.ridge)[0]
    return np.abs(places(private) - places(target)).mean(-1)


def mle_curve(
    epsilons: Iterable[float], repetitions: int, calibrations: Iterable[str] = ("as printed",)
) -> pd.DataFrame:
    """Mean rank difference of the perturbed MLE, simulated as in Figure 8.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``calibration``, ``epsilon``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [
        {"survey": survey, "calibration": calibration, "epsilon": float(epsilon)}
        for survey, calibration, epsilon in product(SURVEYS, calibrations, epsilons)
    ]
    return sweep(mle_differences, cells, experiment="cai2025:fig-8:mle", repetitions=repetitions)


def figure_8(epsilons: Iterable[float], repetitions: int) -> pd.DataFrame:
    """Both halves of Figure 8 as printed: the MLE simulated, the counts exact.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``curve``, ``epsilon``, ``mean``, ``se`` (0 where exact), ``published`` (MLE; NaN where unknown),
        ``random`` (of a random order).
    """
    epsilons = [float(epsilon) for epsilon in epsilons]
    mle = mle_curve(epsilons, repetitions).assign(curve="perturbed MLE").drop(columns=["calibration", "repetitions"])
    counts = pd.DataFrame(
        {"survey": s, "curve": "noisy counts", "epsilon": e, "mean": exact_difference(s, "as printed", e), "se": 0.0}
        for s in SURVEYS
        for e in epsilons
    )
    frame = pd.concat([mle, counts], ignore_index=True)
    published = [
        PUBLISHED_MLE[row.survey].get(row.epsilon, math.nan) if row.curve == "perturbed MLE" else math.nan
        for row in frame.itertuples()
    ]
    chance = [random_difference(survey_data(survey).n_items) for survey in frame.survey]
    return frame.assign(published=published, random=chance)


def published_beside_ours(frame: pd.DataFrame) -> pd.DataFrame:
    """Published values of the MLE half beside the simulated ones of `figure_8`, and the share of a random order's."""
    known = frame.dropna(subset="published")
    columns = {"mean": "ours", "se": "standard error"}
    table = known[["survey", "epsilon", "published", "mean", "se"]].rename(columns=columns)
    return table.assign(**{"share of random": known["mean"] / known.random})


def spent(epsilon: float) -> pd.DataFrame:
    """What the printed constants cost, per epsilon of the axis, under every promise about the answer sheets.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``promise``, ``counts`` (Algorithm 3), ``MLE`` (Proposition 3.1): provable privacy loss over
        epsilon. What the counts lose is attained by some data; for the MLE it is an upper bound.
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


def same_noise(epsilon: float, repetitions: int) -> pd.DataFrame:
    """How far the MLE's ranking is from that of counts with the very same noise.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``table`` (undecided answers dropped, counted half, or dropped with all pairs made equally often
        compared), ``score``, ``same order`` (share of draws), ``difference`` (mean rank difference between the two).
    """
    rows = []
    for survey, table in product(SURVEYS, ("dropped", "half", "equally often")):
        played, wins = survey_table(survey, "half" if table == "half" else "dropped")
        n = len(wins)
        if table == "equally often":
            played = np.full((n, n), played.sum() / (n * (n - 1))) * (1 - np.eye(n))
        mechanism = survey_mle("as printed", epsilon, survey)
        rng = stream("cai2025:fig-8:same-noise", {"survey": survey, "table": table, "epsilon": epsilon})
        noisy = wins - noise.laplace(mechanism.scale, (repetitions, n), rng=rng)
        place = places(mle_from_counts(played, noisy, ridge=mechanism.ridge)[0])
        for score, value in (("wins", noisy), ("net wins", noisy - played.sum(1) / 2)):
            other = places(value)
            rows.append((survey, table, score, (place == other).all(1).mean(), np.abs(place - other).mean()))
    return pd.DataFrame(rows, columns=["survey", "table", "score", "same order", "difference"])


def noiseless_orders() -> pd.DataFrame:
    """Places of the items without noise, by wins, net wins and the MLE, undecided answers dropped.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``item``, ``wins``, ``net wins``, ``MLE`` (places, 1 for the best).
    """
    frames = []
    for survey in SURVEYS:
        played, wins = survey_table(survey)
        theta = mle_from_counts(played, wins[None], ridge=1e-6)[0][0]
        scores = {"wins": wins, "net wins": 2 * wins - played.sum(1), "MLE": theta}
        columns = {name: places(score) + 1 for name, score in scores.items()}
        frames.append(pd.DataFrame({"survey": survey, "item": survey_data(survey).items, **columns}))
    return pd.concat(frames, ignore_index=True)


def equal_privacy(epsilons: Iterable[float], repetitions: int) -> pd.DataFrame:
    """Mean rank differences of all methods at the same provable privacy: each pair answered at most once.

    Returns
    -------
    pandas.DataFrame
        ``survey``, ``method``, ``epsilon`` (provable, but for "MLE as printed", which spends a third of it at most),
        ``mean``, ``se`` (0 where exact), ``random``.
    """
    epsilons = [float(epsilon) for epsilon in epsilons]
    names = {"as printed": "MLE as printed", "private graph": "MLE, private graph", "public graph": "MLE, public graph"}
    mle = mle_curve(epsilons, repetitions, names)
    mle = mle.assign(method=mle.calibration.map(names)).drop(columns=["calibration", "repetitions"])
    counts = pd.DataFrame(
        {"survey": s, "method": method, "epsilon": e, "mean": exact_difference(s, calibration, e), "se": 0.0}
        for s, (calibration, method), e in product(SURVEYS, (("corrected", "wins"), ("net wins", "net wins")), epsilons)
    )
    frame = pd.concat([mle, counts], ignore_index=True)
    return frame.assign(random=[random_difference(survey_data(survey).n_items) for survey in frame.survey])


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


@claim("cai2025:fig-8:mle")
def check_figure_8_mle() -> Iterator[Check]:
    """The published curve of the perturbed MLE, its privacy, and that it falls; simulated with `REPETITIONS`."""
    for survey, published in PUBLISHED_MLE.items():
        frame = mle_curve(published, REPETITIONS)
        part = frame[frame.survey == survey].sort_values("epsilon")
        for row in part.itertuples():
            loss = survey_mle("as printed", row.epsilon, survey).guarantee.epsilon
            yield printed(f"privacy loss, {survey}, ε = {row.epsilon:g}", loss, "<=", row.epsilon)
            theirs = row.se * math.sqrt(row.repetitions / PUBLISHED_REPETITIONS)
            error = READING + PUBLISHED_Z * math.hypot(row.se, theirs)
            what = f"mean rank difference, λ = 8L/ε, γ = 2L/ε, {survey}, ε = {row.epsilon:g}"
            yield printed(what, row.mean, "==", published[row.epsilon], error=error)
        yield from _falls(survey, part)


def _falls(survey: str, part: pd.DataFrame, reading: str = "") -> list[Check]:
    return [
        printed(
            f"change of the MLE's mean rank difference from ε = {a.epsilon:g} to {b.epsilon:g}, {survey}",
            b.mean - a.mean,
            "<",
            0,
            reading=reading,
            error=Z * math.hypot(a.se, b.se),
        )
        for a, b in zip(list(part.itertuples())[:-1], list(part.itertuples())[1:], strict=True)
    ]


@claim("cai2025:fig-8")
def check_figure_8(epsilons: Iterable[float]) -> Iterator[Check]:
    """Whether the private rankings are close to the noiseless ones, and noisier at a smaller epsilon.

    Parameters
    ----------
    epsilons : iterable of float
        At which the exact counting curve is compared with itself.
    """
    some, every = "at some ε of the figure", "at every ε of the figure"
    smallest = min(PUBLISHED_MLE["CEMS"])
    frame = mle_curve([*PUBLISHED_MLE["CEMS"], LARGEST], REPETITIONS)
    for survey in SURVEYS:
        n = survey_data(survey).n_items
        chance = random_difference(n)
        part = frame[frame.survey == survey].sort_values("epsilon")
        counts = [exact_difference(survey, "as printed", e) for e in sorted({smallest, LARGEST, *epsilons})]
        for reading, row, exact in ((some, part.iloc[-1], counts[-1]), (every, part.iloc[0], counts[0])):
            at = f"share of a random order's rank difference, {survey}, ε = {row.epsilon:g}"
            yield printed(f"counts: {at}", exact / chance, "<", CLOSE, reading=reading)
            share, error = row["mean"] / chance, Z * row.se / chance
            yield printed(f"MLE: {at}", share, "<", CLOSE, reading=reading, error=error)
            rise = float(np.diff(counts).max())
            yield printed(f"largest rise of the counts' curve, {survey}", rise, "<", 0, reading=reading)
            yield from _falls(survey, part, reading)
        yield from _corrected(survey, part.set_index("epsilon"), chance)


def _corrected(survey: str, printed: pd.DataFrame, chance: float) -> list[Check]:
    """Where the printed MLE is close, what it spends, and that the gap to counting closes at equal privacy."""
    close = {"CEMS": 1.0, "immigration": 2.0}[survey]
    smallest, before = min(printed.index), close / 2
    n = survey_data(survey).n_items
    checks = []
    for epsilon, relation in ((before, ">"), (close, "<")):
        row = printed.loc[epsilon]
        what = f"printed MLE: share of a random order's rank difference, {survey}, ε = {epsilon:g}"
        checks.append(amended(what, row["mean"] / chance, relation, CLOSE, error=Z * row.se / chance))
    mechanism = survey_mle("as printed", smallest, survey)
    loss = questionnaire_loss(n, mechanism.scale, mechanism.ridge) / smallest
    what = f"privacy loss of the printed MLE, per ε, each pair at most once, {survey}"
    checks.append(amended(what, loss, "<", 0.35))
    honest = mle_curve([smallest], REPETITIONS, ["private graph"]).set_index("survey").loc[survey]
    net = exact_difference(survey, "net wins", smallest)
    what = f"calibrated MLE against net wins, relative change of the rank difference at ε = {smallest:g}, {survey}"
    change, error = abs(honest["mean"] / net - 1), Z * honest.se / net
    checks.append(amended(what, change, "<=", 0.15, error=error))
    what = f"printed MLE over calibrated MLE, rank differences at ε = {smallest:g}, {survey}"
    ratio = printed.loc[smallest, "mean"] / honest["mean"]
    error = (
        ratio * Z * math.hypot(honest.se / honest["mean"], printed.loc[smallest, "se"] / printed.loc[smallest, "mean"])
    )
    checks.append(amended(what, ratio, ">", 2, error=error))
    return checks


# --- what to rank by when the graph is incomplete --------------------------------------------------------------------

METHODS = ("wins", "net wins", "win fraction", "MLE as printed", "MLE, private graph", "MLE, public graph")
GRAPHS = ("Erdős–Rényi", "two leagues")
#: Of a league's pairs, how many times as often they are compared as pairs across the leagues.
WITHIN = 9.0


def pair_probabilities(graph: str, n_items: int, probability: float) -> NDArray[np.float64]:
    """Chance that a pair is compared, for the items in order of strength, shape (pairs,); its mean is `probability`.

    Parameters
    ----------
    graph : {"Erdős–Rényi", "two leagues"}
        Every pair alike; or the stronger and the weaker half mostly among themselves, `WITHIN` times as often.
    n_items : int
    probability : float
        Capped at 1 within the leagues.
    """
    if graph not in GRAPHS:
        raise ValueError(f"graph = {graph!r}; allowed are {', '.join(map(repr, GRAPHS))}")
    if not 0 < probability <= 1:
        raise ValueError(f"probability = {probability}; it must be above 0 and at most 1")
    first, second = np.triu_indices(n_items, 1)
    if graph == GRAPHS[0]:
        return np.full(first.size, probability)
    same = (first < n_items // 2) == (second < n_items // 2)
    within = min(1.0, probability / np.where(same, 1, 1 / WITHIN).mean())
    across = (probability - within * same.mean()) / (1 - same.mean())
    return np.where(same, within, across)


def incomplete_errors(
    method: str,
    graph: str,
    n_items: int,
    probability: float,
    epsilon: float,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Rank difference of private rankings from the truth, as a share of a random order's.

    One comparison of a pair at most, one comparison as the unit of privacy; strengths uniform on [log 0.2, 0].

    Parameters
    ----------
    method : str
        One of `METHODS`, epsilon-private each; "win fraction" takes noisy wins over noisy wins and losses.
    graph : str
        One of `GRAPHS`.
    n_items, probability, epsilon, repetitions, rng

    Returns
    -------
    ndarray of float, shape (repetitions,)
    """
    if method not in METHODS:
        raise ValueError(f"method = {method!r}; allowed are {', '.join(map(repr, METHODS))}")
    # the items in order of strength: the truth is 0, 1, 2, ...
    theta = -np.sort(-rng.uniform(math.log(0.2), 0, (repetitions, n_items)), axis=1)
    played, wins = _compare(theta, pair_probabilities(graph, n_items, probability), rng)
    private = _private_scores(method, played, wins, probability, epsilon, rng)
    private = private + 1e-9 * rng.random(private.shape)  # equal scores in random order
    return np.abs(places(private) - np.arange(n_items)).mean(1) / random_difference(n_items)


def _compare(
    theta: NDArray[np.float64], chance: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    replicates, n = theta.shape
    first, second = np.triu_indices(n, 1)
    u = rng.random((replicates, first.size))
    compared = u < chance
    won = u < chance * expit(theta[:, first] - theta[:, second])
    table = np.zeros((replicates, n, n), np.float32)
    table[:, first, second], table[:, second, first] = won, compared & ~won
    return table + table.transpose(0, 2, 1), table.sum(2, dtype=float)


def _private_scores(
    method: str,
    played: NDArray[np.float32],
    wins: NDArray[np.float64],
    probability: float,
    epsilon: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    n = wins.shape[1]
    losses = played.sum(2) - wins
    research: dict[str, Any] = {"unit": "comparison", "law": "continuous"}
    if method in ("wins", "net wins"):
        score: Score = "net" if method == "net wins" else "wins"
        mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=n, unit="comparison", score=score)
        return (wins - losses * (score == "net")) + noise.laplace(mechanism.scale, wins.shape, rng=rng)
    if method == "win fraction":
        # a moved comparison takes a win and a loss away and adds one of each: l1 distance 4 of the two vectors together
        a, b = (np.maximum(x + noise.laplace(4 / epsilon, x.shape, rng=rng), 0.0) for x in (wins, losses))
        return (a + 1) / (a + b + 2)
    if method == "MLE as printed":
        mle = algorithm_1(epsilon, n, ridge=2 * math.sqrt(n * probability * math.log(n))).mechanism
    elif method == "MLE, private graph":
        mle = PerturbedMLE.calibrated(epsilon=epsilon, n_items=n, ridge=4 / epsilon, graph="private", **research)
    else:
        mle = PerturbedMLE.calibrated(epsilon=epsilon, n_items=n, ridge=1.0, graph="public", **research)
    estimate: NDArray[np.float64] = mle.estimate(played, wins, rng)
    return estimate


def incomplete(
    n_items: int, probabilities: Iterable[float], epsilon: float, repetitions: int, methods: Iterable[str] = METHODS
) -> pd.DataFrame:
    """Error of every method against the sampling probability, on both kinds of graphs.

    Returns
    -------
    pandas.DataFrame
        ``method``, ``graph``, ``n_items``, ``probability``, ``epsilon``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [
        {"method": m, "graph": g, "n_items": n_items, "probability": float(p), "epsilon": float(epsilon)}
        for g, m, p in product(GRAPHS, methods, probabilities)
    ]
    return sweep(incomplete_errors, cells, experiment="cai2025:incomplete", repetitions=repetitions)


def net_or_mle(
    sizes: Iterable[int], probabilities: Iterable[float], epsilons: Iterable[float], repetitions: int
) -> pd.DataFrame:
    """Net wins against the MLE at equal privacy, the compared pairs secret or public.

    Returns
    -------
    pandas.DataFrame
        ``graph``, ``n``, ``p``, ``ε``, the error of the three methods, and ``secret graph``, ``public graph``: which is
        better there by more than three standard errors, or a dash.
    """
    three = ("net wins", "MLE, private graph", "MLE, public graph")
    rows = []
    for n, epsilon in product(sizes, epsilons):
        frame = incomplete(n, probabilities, epsilon, repetitions, three)
        for (graph, p), part in frame.groupby(["graph", "probability"], sort=False):
            cell = part.set_index("method")
            row = {"graph": graph, "n": n, "p": p, "ε": epsilon, **cell["mean"][list(three)].to_dict()}
            for column, rival in (("secret graph", three[1]), ("public graph", three[2])):
                gap = cell.loc[rival, "mean"] - cell.loc["net wins", "mean"]
                sure = abs(gap) > 3 * math.hypot(cell.loc[rival, "se"], cell.loc["net wins", "se"])
                row[column] = ("net wins" if gap > 0 else "MLE") if sure else "–"
            rows.append(row)
    return pd.DataFrame(rows).sort_values(["graph", "n", "p", "ε"], ignore_index=True)


# --- figures ----------------------------------------------------------------------------------------------------------


LOOK: dict[str, dict[str, Any]] = {
    "wins": CALIBRATION["corrected"],
    "net wins": CALIBRATION["net wins"],
    "win fraction": {"color": COLOURS[5], "marker": "P"},
    "MLE as printed": CALIBRATION["as printed"],
    "MLE, private graph": {"color": COLOURS[3], "marker": "^"},
    "MLE, public graph": {"color": COLOURS[4], "marker": "v"},
}


@styled
def draw_figure_8(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon as printed, a panel a survey; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.6))
    look = CALIBRATION["as printed"]
    for axes, (survey, rows) in zip(_panels(figure, frame.survey), frame.groupby("survey", sort=False), strict=True):
        mle, counts = (rows[rows.curve == name].sort_values("epsilon") for name in ("perturbed MLE", "noisy counts"))
        _bars(axes, mle.epsilon, mle, "perturbed MLE", look)
        axes.plot(counts.epsilon, counts["mean"], color=look["color"], ls="--", lw=1.2, label="noisy counts, exact")
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "x", color="black", ms=7, mew=1.5, label="MLE, published", zorder=3)
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        _epsilon_axis(axes, str(survey), rows.epsilon, "ε on the axis of the paper")
    _label(figure, "mean absolute rank difference")
    return figure


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference of all methods against epsilon, a panel a survey; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (survey, rows) in zip(_panels(figure, frame.survey), frame.groupby("survey", sort=False), strict=True):
        for method in (name for name in LOOK if name in set(rows.method)):
            part = rows[rows.method == method].sort_values("epsilon")
            _bars(axes, part.epsilon, part, method, LOOK[method])
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        _epsilon_axis(axes, str(survey), rows.epsilon, "ε, each pair at most once")
    _label(figure, "mean absolute rank difference")
    return figure


@styled
def draw_incomplete(frame: pd.DataFrame) -> Figure:
    """Error against the share of compared pairs, a panel a kind of graph; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (graph, rows) in zip(_panels(figure, frame.graph), frame.groupby("graph", sort=False), strict=True):
        for method in (name for name in LOOK if name in set(rows.method)):
            part = rows[rows.method == method].sort_values("probability")
            _bars(axes, part.probability, part, method, LOOK[method])
        axes.axhline(1.0, color="black", ls=":", lw=1.2, label="random order")
        axes.set(title=str(graph), xlabel="share of pairs compared", xlim=(0, 1.03), ylim=(0, 1.06))
    figure.axes[0].set_ylabel("rank difference from the truth,\nas a share of a random order's")
    figure.axes[0].legend(loc="lower left", fontsize=8)
    return figure


def _panels(figure: Figure, names: pd.Series) -> Any:
    return np.atleast_1d(figure.subplots(1, names.nunique(), sharey=True))


def _bars(axes: Axes, x: pd.Series, part: pd.DataFrame, label: str, look: dict[str, Any]) -> None:
    axes.errorbar(x, part["mean"], BAR * part.se, lw=1, capsize=2, label=label, **look)


def _epsilon_axis(axes: Axes, title: str, epsilon: pd.Series, label: str) -> None:
    axes.set(title=title, xlabel=label, xscale="log")
    ticks = [e for e in (0.5, 1, 2, 4, 10) if epsilon.min() <= e <= epsilon.max()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _label(figure: Figure, text: str) -> None:
    figure.axes[0].set_ylabel(text)
    figure.axes[0].set_ylim(bottom=0)
    figure.axes[0].legend(loc="upper right", fontsize=8, bbox_to_anchor=(1.0, 0.93))
