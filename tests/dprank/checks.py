"""Yardsticks of the tests; a test compares what they return with the false-alarm rate at the head of its file."""

import functools
import inspect
import math
from contextlib import contextmanager
from itertools import permutations

import numpy as np
import pytest
from scipy import special, stats

from dprank.data.comparisons import Comparisons

#: Scale of discrete noise that is 0 but with chance exp(-1000): scores come out as they are.
HARDLY = 1e-3


def each(names, values):
    """As `pytest.mark.parametrize`, but in one test, for many small cases; a failure names its case.

    `values` may be a function without arguments, which is called when the test runs, not when it is collected.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def wrap(test):
        @functools.wraps(test)
        def loop(**others):
            __tracebackhide__ = True
            cases = [case if len(names) > 1 else [case] for case in (values() if callable(values) else values)]
            assert cases, "no cases"
            for case in cases:
                arguments = dict(zip(names, case, strict=True))
                try:
                    test(**others, **arguments)
                except BaseException as error:
                    error.add_note(", ".join(f"{name} = {value!r:.300}" for name, value in arguments.items()))
                    raise

        parameters = inspect.signature(test).parameters
        assert set(names) <= set(parameters), names
        loop.__signature__ = inspect.Signature([parameters[name] for name in parameters if name not in names])
        return loop

    return wrap


def refused(*words):
    """A ValueError of one line that has all the words in it: `with refused("scale"): ...`."""
    assert all(isinstance(word, str) for word in words), "words, and what is refused in the block of `with`"
    return _refused(words)


@contextmanager
def _refused(words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == [], message


def all_rankings(m):
    """Every ranking of m items as positions, shape (m!, m), the identity first."""
    return np.array(list(permutations(range(m))))


def kemeny_costs(w):
    """Of every order of the items, by the definition; shares no code with `kemeny_score`."""
    w, orders = np.asarray(w), all_rankings(len(w))
    return sum(w[orders[:, b], orders[:, a]] for b in range(len(w)) for a in range(b))


def law_p_value(counts, law):
    """Chi-square p-value of counts under a law; cells that expect fewer than five are pooled."""
    counts, law = np.ravel(counts), np.ravel(law)
    assert abs(law.sum() - 1) < 1e-9
    expected = law * counts.sum()
    rare = expected < 5
    counts, expected = (np.r_[x[~rare], x[rare].sum()] for x in (counts, expected))
    if expected[-1] < 5:
        if stats.poisson.sf(counts[-1] - 1, expected[-1]) < 1e-12:
            return 0.0
        counts, expected = counts[:-1], expected[:-1]
    return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(expected) - 1)


def doubted(p_value, few, many, doubt=0.25):
    """`p_value` of so many fresh draws, but only if that of few is below `doubt`: then it is that of the few.

    A false alarm is rarer than of the many alone. A fault is caught if the few doubt it and the many deny it: one that
    moves the few by less than a standard error is caught less often than by the many alone.
    """
    first = p_value(few)  # NaN where the few fill one cell alone
    return first if first >= doubt else p_value(many)


def denied(right, wrong, draws):
    """P-value that so many draws of a law, its keys the outcomes, have under a wrong one: what a test so large sees."""
    law = np.array(list(right.values()))
    seen = np.random.default_rng(draws).multinomial(draws, law / law.sum())
    wrong = np.array([wrong[outcome] for outcome in right])
    return law_p_value(seen, wrong / wrong.sum())


def right_often(outcomes, level, less, alarm=3.2e-5, missed=0.01):
    """Whether endless outcomes are right as often as `level`, and not only as often as `less`: Wald's sequential test.

    What is right that often is denied with chance `alarm` at most; what is right only `less` often passes with `missed`
    at most.
    """
    evidence = 0.0
    for right in outcomes:
        evidence += math.log(less / level) if right else math.log((1 - less) / (1 - level))
        if not math.log(missed) < evidence < -math.log(alarm):
            return evidence < 0
    raise AssertionError("too few outcomes to tell")


def certified_epsilon(p, q, false_alarm):
    """An epsilon that two laws certainly need, from counts of their outcomes; too high with chance `false_alarm`.

    Clopper-Pearson bounds, the error shared out over all outcomes and both directions.
    """
    error = false_alarm / (4 * len(p))

    def bounds(k):
        rest = k.sum() - k
        low = np.where(k > 0, special.betaincinv(np.maximum(k, 1), rest + 1, error), 0.0)
        return low, np.where(rest > 0, special.betainccinv(k + 1, np.maximum(rest, 1), error), 1.0)

    (p_low, p_high), (q_low, q_high) = bounds(np.asarray(p)), bounds(np.asarray(q))
    return float(np.log(max((p_low / q_high).max(), (q_low / p_high).max())))


def patch_all(monkeypatch, sections, name, change):
    """Give `change(original)` for a function, in every one of these modules that has it."""
    sections = [section for section in sections if hasattr(section, name)]
    changed = change(getattr(sections[0], name))
    for section in sections:
        monkeypatch.setattr(section, name, changed)


def bound_once(monkeypatch, tables):
    """Answers of these tables beyond a promise are left out once for every promise, whoever asks."""
    right, place = Comparisons.bounded, {id(table): at for at, table in enumerate(tables)}
    known = functools.cache(lambda at, promise: right(tables[at], **dict(promise)))

    def bounded(table, per_person=None, **promise):
        return known(place[id(table)], (("per_person", per_person), *promise.items()))

    monkeypatch.setattr(Comparisons, "bounded", bounded)


def one_of(sections, name):
    """What has this name in the first of these modules that has it."""
    return getattr(next(section for section in sections if hasattr(section, name)), name)
