"""Each sentence with a probability, read as a person would, on the surveys of the repository: it holds at its level.

What a sentence says is read off its words: the level, the bound, who may be among the best. What is so is counted here,
from the rows. A sentence that holds at its level fails a test with a chance of `ALARM` at most, over seeds that are
fixed; one that is wrong in 16 % of all cases instead of 5 % fails with 99 %.
"""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import dprank
from companion.instruments import surveys
from dprank.publication import gain
from dprank.sentences import answer, counted, protects, ranges, told

pytestmark = pytest.mark.slow
ALARM = 1e-6
TRIALS = 500
LIKE = {"per_person": 3, "design": "once"}


def holds(name, failures, trials, level):
    """Whether so many failures are no more than a sentence at this level has, by an exact test."""
    print(f"{name}: wrong {failures} of {trials}, allowed {(1 - level):.1%}")
    return binom.sf(failures - 1, trials, 1 - level) >= ALARM


def level_of(line):
    """The probability that a sentence names."""
    return float(re.search(r"(\d+) ?% probability", line)[1]) / 100


def places(scores):
    """First and last place of every item by these scores; alike where they are equal."""
    scores = np.asarray(scores)
    return 1 + (scores[:, None] < scores).sum(axis=1), (scores[:, None] <= scores).sum(axis=1)


def covered(release, one, truth):
    """Whether all items' places by the truth lie in their ranges, in released order."""
    low, high = (it[release.order] for it in places(truth))
    return bool((np.array(one["lowest"]) <= low).all() and (high <= np.array(one["highest"])).all())


def net_wins(data, n_items=6):
    """Wins less losses, by hand."""
    wins = np.zeros(n_items)
    points = np.asarray(data.points, float) - 1  # 2, 1, 0 for the first, both, the second
    np.add.at(wins, data.first, points)
    np.add.at(wins, data.second, -points)
    return wins


@cache
def data_of(name):
    return getattr(surveys, name)()


@cache
def german_rankings():
    return surveys.strict_rankings(data_of("german_parties"))


def borda(votes):
    return -votes.positions.sum(axis=0)


@cache
def goals():
    """Of 3584 people the two political goals that each named first, as tallies of 4 items."""
    frame = surveys.read("european_values")
    items = list(surveys.GOALS)
    codes = np.r_[frame.most.map(items.index), frame.next.map(items.index)].astype(int)
    return dprank.Tallies(np.tile(np.arange(len(frame)), 2), codes, items)


@cache
def liked():
    """Of 192 voters the parties that each put before three others at least: baskets of up to three of six."""
    data = data_of("german_parties")
    won = np.zeros((192, 6), int)
    voter = np.unique(data.voter, return_inverse=True)[1]
    np.add.at(won, (voter, np.where(np.asarray(data.points) == 2, data.first, data.second)), 1)
    who, what = np.nonzero(won >= 3)
    return dprank.Tallies(who, what, list(surveys.PARTIES))


# --- ranges of the noise alone ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "gaussian", "conditioned", "cube"])
@pytest.mark.parametrize("survey", ["german_parties", "cems", "first_names"])
def test_ranges_of_net_wins(survey, noise):
    data = data_of(survey)
    more = {"delta": 1e-6} if noise == "gaussian" else {}
    made = dprank.NoisyCounts.calibrated(epsilon=2.0, n_items=6, noise=noise, **LIKE, **more)
    truth, wrong = net_wins(data.bounded(3, design="once")), 0
    for seed in range(TRIALS):
        release = made.release(data, np.random.default_rng(seed))
        found = ranges(release)
        wrong += not covered(release, found[0], truth)
    line = told(release, found)[0]
    assert "what was counted (at most 3 answers of each person, one to each pair)" in line
    assert "exact net wins" in line
    assert holds(f"ranges, {survey}, {noise}", wrong, TRIALS, level_of(line))


@pytest.mark.parametrize("rule", ["", "auto", "borda", "copeland"])
def test_ranges_of_ballots(rule):
    votes = german_rankings()
    kind, more = (dprank.NoisyMatrix, {"rule": rule}) if rule else (dprank.PrivateBorda, {})
    made = kind.calibrated(epsilon=1.0, n_items=6, **more)
    before = (votes.positions[:, :, None] < votes.positions[:, None, :]).sum(axis=0)
    margins = before - before.T
    truth = {"borda": borda(votes), "": borda(votes), "copeland": (margins > 0).sum(axis=1)}.get(rule)
    if truth is None:  # the exact order of least Kemeny score is one, by hand: of 720
        from itertools import permutations

        best = max(permutations(range(6)), key=lambda it: sum(margins[a, b] for n, a in enumerate(it) for b in it[n:]))
        truth = -np.argsort(best)
    wrong = 0
    for seed in range(TRIALS):
        release = made.release(votes, np.random.default_rng(seed))
        found = ranges(release)
        wrong += not covered(release, found[0], truth)
    assert holds(f"ranges of ballots, {rule or 'Borda'}", wrong, TRIALS, level_of(told(release, found)[0]))


def test_ranges_of_strengths():
    data = data_of("german_parties")
    made = dprank.PerturbedMLE.calibrated(epsilon=4.0, n_items=6, per_person=15, graph="public", ridge=1.0)
    # the order of strengths is that of wins where all pairs were compared equally often
    truth, wrong = net_wins(data), 0
    for seed in range(200):
        release = made.release(data, np.random.default_rng(seed))
        found = ranges(release, None, 192)
        wrong += not covered(release, found[0], truth)
    line = told(release, found)[0]
    assert "if all pairs were compared equally often" in line
    assert holds("ranges of strengths", wrong, 200, level_of(line))


def test_who_is_first_and_who_may_be_among_the_best():
    """The answer, and the sentence on the best: read as lists of names."""
    data = data_of("cems")
    made = dprank.NoisyCounts.calibrated(epsilon=0.5, n_items=6, **LIKE)
    truth = net_wins(data.bounded(3, design="once"))
    best, wrong = [data.items[i] for i in np.argsort(-truth)], np.zeros(2, int)
    assert len({*truth}) == 6
    for seed in range(TRIALS):
        release = made.release(data, np.random.default_rng(seed))
        found = ranges(release)
        said = answer(release, found)
        first = re.search(r", (\w+) is first", said)
        others = re.search(r"open whether (.+) is first", said)
        named = {first[1]} if first else {*data.items}
        named |= {*re.split(", | or ", others[1])} if others else set()
        wrong[0] += best[0] not in named
        line = next((line for line in told(release, found, 3) if line.startswith("Among the best 3: ")), None)
        if line:
            sure, maybe = (
                {*it.removesuffix(".").split(", ")} for it in re.match("Among.*: (.*); maybe: (.*)", line).groups()
            )
            sure, maybe = sure - {"none for sure"}, maybe - {"no other"}
            wrong[1] += not (sure <= {*best[:3]} <= sure | maybe)
    assert holds("who is first", wrong[0], TRIALS, 0.95)
    assert holds("among the best 3", wrong[1], TRIALS, 0.95)


# --- ranges with sampling --------------------------------------------------------------------------------------------


def resampled(data, people, rng):
    """So many people drawn from those of a survey, each with all rows of theirs."""
    rows = np.argsort(data.voter, kind="stable").reshape(-1, np.bincount(data.voter).max())
    taken = rows[rng.integers(0, len(rows), people)]
    at, who = taken.ravel(), np.repeat(np.arange(people), rows.shape[1])
    return dprank.Comparisons(data.first[at], data.second[at], np.asarray(data.points)[at] / 2, data.items, who)


@pytest.mark.parametrize("people", [40, 400])
def test_ranges_with_people_drawn(people):
    """The survey's people are a population, of which others are drawn; three answers of each count."""
    population = data_of("german_parties").bounded(3, design="once")
    made = dprank.NoisyCounts.calibrated(epsilon=4.0, n_items=6, **LIKE)
    truth, wrong = net_wins(population), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        release = made.release(resampled(population, people, rng), rng)
        found = ranges(release, "persons", people)
        wrong += not covered(release, found[1], truth)
    line = told(release, found)[1]
    assert f"if at most {people} persons were drawn" in line
    assert "counted in the same way (at most 3 answers of each person, one to each pair)" in line
    assert holds(f"ranges with {people} people drawn", wrong, 300, level_of(line))


@pytest.mark.parametrize("kind", ["PrivateBorda", "NoisyMatrix"])
def test_ranges_with_ballots_drawn(kind):
    votes = german_rankings()
    more = {"rule": "borda"} if kind == "NoisyMatrix" else {}
    made = getattr(dprank, kind).calibrated(epsilon=4.0, n_items=6, **more)
    truth, wrong = borda(votes), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        taken = dprank.Rankings(votes.positions[rng.integers(0, len(votes), 200)].argsort(axis=1), votes.items)
        release = made.release(taken, rng)
        found = ranges(release, "persons", 200)
        wrong += not covered(release, found[1], truth)
    assert holds(f"ranges with ballots drawn, {kind}", wrong, 300, level_of(told(release, found)[1]))


def test_ranges_with_answers_drawn():
    """Each pair of universities has its share of preferences; answers are drawn by it, no pair more often."""
    data, people = data_of("cems"), 200
    share = np.zeros((6, 6))
    for i in range(6):
        for j in range(i + 1, 6):
            at = (data.first == i) & (data.second == j)
            share[i, j] = np.asarray(data.points)[at].mean() / 2
    first, second = np.triu_indices(6, 1)
    chance = share[first, second]
    truth = np.zeros(6)
    np.add.at(truth, first, 2 * chance - 1)
    np.add.at(truth, second, 1 - 2 * chance)
    made = dprank.NoisyCounts.calibrated(epsilon=2.0, n_items=6, per_person=15, design="once")
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        points = (rng.random((people, 15)) < chance).astype(float)
        answers = dprank.Comparisons(
            np.tile(first, people),
            np.tile(second, people),
            points.ravel(),
            data.items,
            np.repeat(np.arange(people), 15),
        )
        release = made.release(answers, rng)
        found = ranges(release, "answers", people)
        wrong += not covered(release, found[1], truth)
    line = told(release, found)[1]
    assert "no pair more often than another" in line
    assert holds("ranges with answers drawn", wrong, 300, level_of(line))


# --- what was chosen -------------------------------------------------------------------------------------------------


def tight(calibrated, lead):
    """The mechanism whose needed gap is the largest that a lead reaches; epsilon to one in 10,000."""
    low, high = 1e-4, 60.0
    while high > 1.0001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if calibrated(middle).gap_needed(0.95) <= lead else (middle, high)
    return calibrated(high)


def counted_once(patch):
    """What counts of a person is the same in every release: it is bounded in the first, and in no other."""
    patch.setattr(dprank.Tallies, "counts", cache(dprank.Tallies.counts))


@pytest.mark.parametrize(("which", "bound"), [("goals", 1), ("goals", 2), ("liked", 1), ("liked", 2), ("liked", 3)])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("noise", ["laplace", "gumbel", "exponential"])
def test_the_right_ones_of_what_was_counted(which, k, bound, noise, monkeypatch):
    data = {"goals": goals, "liked": liked}[which]()
    truth = data.counts(bound)
    best = np.argsort(-truth, kind="stable")
    lead = int(truth[best[k - 1]] - truth[best[k]])
    if not lead:
        pytest.skip("two are alike: nothing is claimed")

    def calibrated(epsilon):
        return dprank.Oneshot.calibrated(
            epsilon=epsilon, k=k, items=data.items, per_person=bound, noise=noise, adjacency="add_remove", ordered=True
        )

    made, wrong = tight(calibrated, lead), 0
    right = {data.items[i] for i in best[:k]}
    counted_once(monkeypatch)
    for seed in range(TRIALS):
        release = made.release(data, np.random.default_rng(seed))
        wrong += {*release.items} != right
    line = told(release, [])[-1]
    claimed = int(re.search(r"by (\d+) ", line)[1])
    assert claimed <= lead
    everything = f"at most {bound} item{'s' * (bound > 1)} of each person"
    assert f"of what was counted ({everything})" in line
    assert everything in counted(release)[0]
    assert holds(f"the right {k}, {which}, bound {bound}, {noise}, gap {claimed}", wrong, TRIALS, level_of(line))


def test_of_all_that_everybody_has_it_would_not_hold():
    """The test sees what was wrong: CASES.md W1, read as a claim about everything that people have."""
    who = np.r_[np.repeat(np.arange(1000), 10), np.arange(1000, 1300)]
    what = np.r_[np.tile([0, *range(2, 11)], 1000), np.ones(300, int)]
    data = dprank.Tallies(who, what, [f"item {i}" for i in range(11)])
    made = dprank.Oneshot.calibrated(epsilon=1.0, k=1, items=data.items, per_person=1, adjacency="add_remove")
    releases = [made.release(data, np.random.default_rng(seed)) for seed in range(TRIALS)]
    for bound, sound in ((1, True), (None, False)):
        truth = data.items[data.counts(bound).argmax()]
        wrong = sum(release.items[0] != truth for release in releases)
        assert holds(f"W1, {bound or 'all'} of a person's items", wrong, TRIALS, 0.95) == sound


@pytest.mark.parametrize("bound", [1, 2])
def test_ranges_among_the_chosen(bound):
    data = goals()
    truth = data.counts(bound)
    made = dprank.Oneshot.calibrated(epsilon=0.02, k=3, items=data.items, per_person=bound, values=True)
    wrong = 0
    for seed in range(TRIALS):
        release = made.release(data, np.random.default_rng(seed))
        found = ranges(release)
        low, high = places(truth[[data.items.index(it) for it in release.items]])
        wrong += not ((np.array(found[0]["lowest"]) <= low).all() and (high <= np.array(found[0]["highest"])).all())
    assert holds(f"ranges among the chosen, bound {bound}", wrong, TRIALS, level_of(told(release, found)[0]))


@pytest.mark.parametrize("rule", ["maximin", "borda"])
@pytest.mark.parametrize("few", [1, 4])
def test_the_right_winner(rule, few):
    votes = german_rankings()
    votes = dprank.Rankings(votes.positions[::few].argsort(axis=1), votes.items)
    before = (votes.positions[:, :, None] < votes.positions[:, None, :]).sum(axis=0)
    margins = (before - before.T).astype(float)
    scores = margins.sum(axis=1)
    if rule == "maximin":
        np.fill_diagonal(margins, np.inf)
        scores = margins.min(axis=1)
    lead = np.diff(np.sort(scores))[-1]
    assert lead > 0
    made = tight(lambda epsilon: dprank.PrivateWinner.calibrated(epsilon=epsilon, n_items=6, rule=rule), lead)
    right, wrong = votes.items[scores.argmax()], 0
    for seed in range(TRIALS):
        release = made.release(votes, np.random.default_rng(seed))
        wrong += release.items[0] != right
    line = told(release, [])[0]
    assert int(re.search(r"by (\d+) ", line.partition("leads")[2])[1]) <= lead
    assert holds(f"the right winner, {rule}", wrong, TRIALS, level_of(line))


# --- agreement, and what is protected --------------------------------------------------------------------------------


def test_agreement_that_is_not_there():
    """The ballots of a survey, each with its items shuffled: nobody agrees, which is denied as seldom as told."""
    votes = german_rankings()
    made = dprank.NoisyNorm.calibrated(
        epsilon=1.0, size=0.1, n_items=6, n_voters=len(votes), statistic="ranks", null_draws=199
    )
    p_values, said = [], 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        shuffled = dprank.Rankings(rng.permuted(votes.positions, axis=1), votes.items)
        release = made.release(shuffled, rng)
        said += answer(release, []).startswith("The ballots agree on something")
        p_values.append(release.p_value)
    there = made.release(votes, np.random.default_rng(1))
    size = float(re.search(r"said in ([\d.]+) of all cases", answer(there, []))[1])
    assert size == 0.1
    assert holds("agreement where there is none", said, 400, 1 - size)
    for p in (0.05, 0.2, 0.5):
        assert holds(f"p-values up to {p}", int((np.array(p_values) <= p).sum()), 400, 1 - p)
    assert answer(there, []).startswith("The ballots agree on something (p = 0.005 or less, the least")


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_what_a_guesser_becomes_sure_of(epsilon):
    """A survey with one person's answers turned round, or not, at even odds: the best guesser, who knows all else."""
    data = data_of("german_parties")
    mine = data.voter == 7
    turned = np.asarray(data.points) / 2
    turned = np.where(mine, 1 - turned, turned)
    other = dprank.Comparisons(data.first, data.second, turned, data.items, data.voter)
    made = dprank.NoisyCounts.calibrated(epsilon=epsilon, n_items=6, per_person=15, design="once")
    both = [net_wins(it) for it in (data, other)]
    releases = [[made.release(it, np.random.default_rng(seed)).scores for seed in range(4000)] for it in (data, other)]
    # log odds by the law of the noise
    odds = [
        np.array([(np.abs(it - both[1]) - np.abs(it - both[0])).sum() / made.scale for it in given])
        for given in releases
    ]
    release = made.release(data, np.random.default_rng(1))
    sure = gain(release.guarantee.epsilon)
    factor = float(re.search(r"more than ([\d.]+) times", protects(release))[1])
    for least in (0.0, 0.5 * epsilon, 0.99 * epsilon):
        right = int((odds[0] > least).sum() + (odds[1] < -least).sum())
        guesses = int((np.abs(odds[0]) > least).sum() + (np.abs(odds[1]) > least).sum())
        if guesses:
            assert holds(f"guesses at odds above {least:.2f}", right, guesses, 1 - sure)
        one, none = (int((it > least).sum()) for it in odds)
        assert holds(f"results {factor} times as likely", one, one + none, 1 - factor / (1 + factor) - 1e-3)


def test_a_range_at_half_its_level_is_seen():
    """Ranges that were right half the time would not pass."""
    data = data_of("german_parties")
    made = dprank.NoisyCounts.calibrated(epsilon=2.0, n_items=6, **LIKE)
    truth, wrong = np.zeros(6), 0
    alike = dprank.Comparisons(data.first, data.second, np.full(len(data.first), 0.5), data.items, data.voter)
    for seed in range(TRIALS):
        table = made.release(alike, np.random.default_rng(seed)).intervals(0.8)
        wrong += table.lowest.max() > 1 or table.highest.min() < 6
    assert net_wins(alike).tolist() == truth.tolist()
    assert not holds("ranges at 80 %", wrong, TRIALS, 0.95)
    assert holds("the same, at their own level", wrong, TRIALS, 0.8)
