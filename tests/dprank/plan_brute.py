"""Releases of made-up polls, by the mechanisms themselves: what a plan must foresee. It knows no law of a plan."""

import math
from functools import lru_cache

import numpy as np

import dprank
from dprank.aggregation import laws as aggregation_laws
from dprank.aggregation.rules import order_by

#: Chance that a right plan fails one comparison with a simulation, two-sided normal: 4 standard errors.
FALSE_ALARM, ERRORS = 6.4e-5, 4.0


def wrong_pairs(scores):
    """Of every release, the share of pairs in the wrong order; half of a tie. Item 0 is the best."""
    i, j = np.triu_indices(scores.shape[1], 1)
    apart = scores[:, i] - scores[:, j]
    return ((apart < 0) + (apart == 0) / 2).mean(axis=1)


def scores_of(orders):
    """Of orders, shape (releases, items), scores that fall along them."""
    return -np.argsort(orders, axis=1).astype(float)


def matched(m, number, people, rng):
    """Pairs, by their number, that people answer who are never asked about an item twice."""
    pair = np.zeros((m, m), int)
    pair[np.triu_indices(m, 1)] = np.arange(math.comb(m, 2))
    items = rng.permuted(np.tile(np.arange(m), (people, 1)), axis=1)[:, : 2 * number]
    return (pair + pair.T)[items[:, ::2], items[:, 1::2]].ravel()


def asked_of(pairs, number, people, releases, rng):
    """How often every pair is answered in every poll by people who answer so many different ones."""
    few, rows = min(number, pairs - number), np.arange(releases * people)
    order = np.tile(np.arange(pairs, dtype=np.int16), (len(rows), 1))
    for at in range(few):  # the first of a shuffle: those that are answered, or left out if these are fewer
        other = rng.integers(at, pairs, len(rows))
        drawn = order[rows, other]
        order[rows, other] = order[:, at]
        order[:, at] = drawn
    drawn = order[:, :few] + pairs * (rows // people)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=releases * pairs).reshape(releases, pairs)
    return counts if few == number else people - counts


def unequally(m, people, releases, rng):
    """How often every pair is answered in every poll, where half of the items, by lot, is drawn four times as often."""
    first, second = np.triu_indices(m, 1)
    found = []
    for _ in range(releases):
        weight = np.ones(m)
        weight[rng.permutation(m)[: (m + 1) // 2]] = 4.0
        found.append(rng.multinomial(people, (each := weight[first] * weight[second]) / each.sum()))
    return np.array(found)


@lru_cache(4)
def answers(m, gap, people, count, score, releases, rng, matching=False, balanced=None):
    """Scores of polls in which every person answers so many different pairs; and the pairs played and won.

    The same for all choices that are simulated by one generator: what is compared is the noise.
    """
    pairs = math.comb(m, 2)
    first, second = np.triu_indices(m, 1)
    better = (1 + np.tanh((second - first) * math.atanh(gap))) / 2
    played, some = np.zeros((releases, pairs), int), people // len(count)
    for number in count:
        if balanced is False:
            each = unequally(m, some * number, releases, rng)
        elif matching:
            each = [np.bincount(matched(m, number, some, rng), minlength=pairs) for _ in range(releases)]
        else:
            each = asked_of(pairs, number, some, releases, rng)
        played += each
    wins = rng.binomial(played, better)
    side = np.zeros((pairs, m))
    side[np.arange(pairs), first] = 1
    other = np.zeros((pairs, m))
    other[np.arange(pairs), second] = 1
    lost = played - wins
    total = (wins - lost) @ (side - other) if score == "net" else wins @ side + lost @ other
    return total, played.astype(float), wins.astype(float)


def reported(choice, setting, releases, rng):
    """Scores by the reports of everybody on different pairs."""
    m, n = setting.n_items, setting.persons
    first, second = np.triu_indices(m, 1)
    names, bound = [str(item) for item in range(m)], choice.parameters["answers"]
    mechanism = dprank.LocalComparisons.calibrated(epsilon=setting.epsilon, n_items=m, per_person=bound)
    found = []
    for _ in range(releases):
        pairs, people = [], []
        for group, given in enumerate(setting.given):
            some, number = n // len(setting.given), min(given, bound)
            if setting.design == "matching":
                pairs.append(matched(m, number, some, rng))
            else:
                pairs.append(rng.permuted(np.tile(np.arange(len(first)), (some, 1)), axis=1)[:, :number].ravel())
            people.append(np.repeat(group * n + np.arange(some), number))
        each = np.concatenate(pairs)
        won = rng.random(each.size) < (1 + np.tanh((second - first)[each] * math.atanh(setting.gap))) / 2
        data = dprank.Comparisons(first[each], second[each], won, names, np.concatenate(people))
        found.append(mechanism.release(data, rng).scores)
    return np.array(found)


def ranked(choice, setting, releases, rng, *, noise=True):
    """Noisy scores of a ranking from comparisons."""
    if choice.mechanism == "LocalComparisons":
        return reported(choice, setting, releases, rng)
    asked, m = dict(choice.parameters), setting.n_items
    count = tuple(min(given, asked.get("answers", given)) for given in setting.given)
    whole = asked["protect"] == "person"
    score = asked.get("score", "half")
    matching = setting.design == "matching"
    polled = setting.persons, count, score, releases, rng, matching, setting.balanced
    exact, played, wins = answers(m, setting.gap, *polled)
    if choice.mechanism == "PerturbedMLE":
        likelihood = dprank.PerturbedMLE.calibrated(
            epsilon=setting.epsilon, n_items=m, ridge=1.0, graph="public", per_person=asked["answers"]
        )
        first, second = np.triu_indices(m, 1)
        found = []
        for release in range(releases):
            table, won = np.zeros((m, m)), np.zeros(m)
            table[first, second] = table[second, first] = played[release]
            np.add.at(won, first, wins[release])
            np.add.at(won, second, played[release] - wins[release])
            found.append(likelihood.estimate(table, won[None], rng)[0])
        return np.array(found)
    mechanism = dprank.NoisyCounts.calibrated(
        epsilon=setting.epsilon if noise else 1e6,
        n_items=m,
        per_person=asked["answers"] if whole else None,
        unit="voter" if whole else "comparison",
        adjacency=asked["adjacency"],
        score=score,
        design=asked["design"],
        delta=asked.get("delta", 0.0),
        noise=asked.get("noise"),
    )
    return exact + mechanism.perturb(np.zeros(m), rng, releases)


@lru_cache(2)
def polls(setting, releases, rng):
    """Places of ballots of the Mallows law, shape (releases, persons, items); the same for all choices."""
    m, number = setting.n_items, releases * setting.persons
    law = dprank.Mallows.of_phi(m, setting.phi)
    camp = rng.random(number) >= (setting.camps or 1.0)
    orders = np.array([np.arange(m), (np.arange(m) + m // 2) % m])
    ballots = law.sample(number, rng=rng, centre=orders[camp.astype(int)])
    if setting.named:
        ballots = np.where(ballots < setting.named, ballots, setting.named if setting.unranked == "last" else -1)
    return ballots.reshape(releases, setting.persons, m)


@lru_cache(2)
def voted(setting, releases, rng):
    """The ballots of every poll as a mechanism takes them."""
    kind, names = dprank.Ballots if setting.partial else dprank.Rankings, [str(item) for item in range(setting.n_items)]
    return [kind(votes, names) for votes in polls(setting, releases, rng)]


def agreed(choice, setting, releases, rng):
    """Scores, or orders as scores, of one order from many ballots."""
    asked, m, epsilon = dict(choice.parameters), setting.n_items, setting.epsilon
    table = polls(setting, releases, rng)
    rest = {key: value for key, value in asked.items() if key in ("delta", "adjacency", "rule")}
    if setting.partial and choice.trust == "curator":
        rest |= {"ballots": "partial", "max_weight": setting.max_weight}
    made = getattr(dprank, choice.mechanism)
    if choice.mechanism in ("LocalBorda", "LocalMatrix"):
        mechanism = made.calibrated(epsilon=epsilon, n_items=m, **{k: v for k, v in rest.items() if k == "rule"})
        return scores_of(np.array([mechanism.release(votes, rng).order for votes in voted(setting, releases, rng)]))
    mechanism = made.calibrated(epsilon=epsilon, n_items=m, **rest)
    if choice.mechanism == "PrivateFootrule" or setting.partial:
        return scores_of(np.array([mechanism.release(votes, rng).order for votes in voted(setting, releases, rng)]))
    if choice.mechanism == "PrivateBorda":
        return -mechanism.perturb(table.sum(axis=1), rng)
    found = []
    for data in voted(setting, releases, rng):
        if choice.mechanism == "NoisyMatrix":
            found.append(order_by(mechanism.rule, mechanism.noisy_margins(data, rng), rng=rng))
        elif choice.mechanism == "PrivateKwikSort":
            found.append(aggregation_laws.sample(mechanism, data, 1, rng)[0].astype(int))
        else:
            found.append(mechanism.draw(data.pairwise(), 1, rng)[0])
    return scores_of(np.array(found))


def named(choice, setting, releases, rng):
    """Of every release of a top k, how many of the k are right, and whether all are in their order."""
    asked, k, m, n = dict(choice.parameters), setting.k, setting.n_items, setting.persons
    share = np.full(m, setting.share - setting.gap)
    share[:k] = setting.share + setting.gap * np.arange(k)[::-1]
    kept = sum(min(asked["per_person"], given) for given in setting.given) / sum(setting.given)
    counts = rng.binomial(n, share * kept, (releases, m))
    if choice.mechanism == "LocalTopK":
        mechanism = dprank.LocalTopK.calibrated(epsilon=setting.epsilon, n_items=m, k=k, per_person=asked["per_person"])
        if asked["per_person"] == 1 and share.sum() < 1:  # real people, some of whom have nothing that counts
            own = rng.choice(m + 1, (releases, n), p=np.append(share, 1 - share.sum()))  # code m is the blank
            sent = [np.bincount(mechanism.sent(poll[:, None], rng).ravel(), minlength=m + 1)[:m] for poll in own]
            chosen = np.argsort(-np.array(sent), axis=1, kind="stable")[:, :k]
            return (chosen < k).sum(axis=1), (chosen == np.arange(k)).all(axis=1)
        p, q = mechanism.chances
        held = rng.binomial(counts.astype(int), p) + rng.binomial(n - counts.astype(int), q)
        chosen = np.argsort(-held, axis=1, kind="stable")[:, :k]
        return (chosen < k).sum(axis=1), (chosen == np.arange(k)).all(axis=1)
    rest = {key: asked[key] for key in ("k", "noise", "ordered", "per_person", "values", "adjacency") if key in asked}
    if choice.mechanism == "Peeling":
        rest = {key: rest[key] for key in ("k", "noise", "adjacency")}
    if choice.mechanism == "JointExponential":
        rest.pop("per_person")
    rest |= {"delta": asked["delta"]} if "delta" in asked else {}
    mechanism = getattr(dprank, choice.mechanism).calibrated(epsilon=setting.epsilon, n_items=m, **rest)
    chosen = np.array([mechanism.release(row, rng).items for row in counts])
    return (chosen < k).sum(axis=1), (chosen == np.arange(k)).all(axis=1)


def decided(choice, setting, releases, rng):
    """Whether each of many tests finds the agreement."""
    asked, m = dict(choice.parameters), setting.n_items
    sized = {"epsilon": setting.epsilon, "n_items": m, "size": setting.size}
    if choice.trust == "curator":
        sized["n_voters"] = setting.persons
    if "statistic" in asked:
        sized |= {"statistic": asked["statistic"]} | ({"null_draws": 99} if asked["statistic"] == "ranks" else {})
    sized |= {"delta": asked["delta"]} if "delta" in asked else {}
    mechanism = getattr(dprank, choice.mechanism).calibrated(**sized)
    return np.array([mechanism.release(votes, rng).reject for votes in voted(setting, releases, rng)])


def won(choice, setting, releases, rng):
    """Whether each of many releases names the first item."""
    asked = dict(choice.parameters)
    form = "partial" if setting.partial else "full"
    mechanism = dprank.PrivateWinner.calibrated(
        epsilon=setting.epsilon,
        n_items=setting.n_items,
        rule=asked["rule"],
        adjacency=asked["adjacency"],
        ballots=form,
        max_weight=setting.max_weight,
    )
    return np.array([mechanism.release(votes, rng).items[0] == "0" for votes in voted(setting, releases, rng)])


def near(found, values, slack=0.0):
    """Whether a number is the mean of these, but for chance and for what a law leaves out."""
    values = np.asarray(values, float)
    return abs(found - values.mean()) <= ERRORS * values.std() / math.sqrt(len(values)) + slack + 1 / len(values)
