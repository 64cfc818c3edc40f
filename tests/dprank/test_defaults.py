"""What is not said means the same everywhere: a parameter of one name has one default in all that privacy hangs on.

A delta, a level or a weight that is taken for another where nobody says one would be promised in silence.
"""

import importlib
import inspect
import pkgutil

from checks import each

from dprank import JointExponential, Oneshot, Peeling

#: By name. Least is promised where nothing is said: no delta, no weight but 1, noise on the grid, whole people.
DEFAULTS = {
    "adjacency": {"replace"},
    "ballots": {"full"},
    "batch_level": {0.1},
    "begin": {"BEGIN"},
    "bias": {0.0},
    "bits": {1},
    "bound": {0.0, float("inf")},
    "bounded_range": {False},
    "centre": {"first"},
    "chance": {0.95},
    "charged_delta": {0.0},
    "charged_epsilon": {0.0},
    "composition": {"basic", "optimal"},
    "convention": {"words"},
    "damped": {True},
    "delta": {0.0},
    "design": {"any"},
    "deviation": {0.0},
    "doublings": {0},
    "drawn": {0},
    "draws": {999, 1999},
    "empty": {False},
    "first": {0},
    "fitting": {1},
    "folded": {float("inf")},
    "geometry": {"ball"},
    "grain": {1.0},
    "graph": {"private"},
    "grid": {""},
    "groups": {1},
    "largest": {True},
    "law": {"discrete", "continuous"},
    "learners": {0.5},
    "least_delta": {1e-20},
    "level": {0.95},
    "log": {False},
    "max_weight": {1},
    "method": {"auto"},
    "model": {"central"},
    "most": {1e6},
    "n_items": {2, float("inf")},
    "name": {"scale"},
    "new_dataset": {False},
    "nodes": {20},
    "noise": {"laplace", "exponential"},
    "null_draws": {999},
    "ordered": {False},
    "per_person": {1},
    "prior": {0.0},
    "randomness": {"public"},
    "ratio": {1.0},
    "relative": {True},
    "rounds": {False},
    "rule": {"auto", "maximin"},
    "score": {"net"},
    "sensitivity": {1.0},
    "sided": {"one"},
    "size": {0.05},
    "spread": {1.0},
    "statistic": {"pairs"},
    "step": {0.0, 1.0},
    "steps": {64},
    "tail": {1e-6},
    "taken": {0},
    "teleport": {0.0},
    "ties": {True},
    "unit": {"voter"},
    "values": {False},
    "variance": {0.0},
    "what": {""},
    "within": {2.0**-40},
}
#: Where they differ: who says otherwise.
OTHERS = {
    ("law", "continuous"): {"rank_law", "top_set_law"},
    ("noise", "exponential"): {"Peeling.__init__", "Peeling.calibrated"},
    ("composition", "optimal"): {"Peeling.__init__", "Peeling.calibrated"},
    ("rule", "maximin"): {"PrivateWinner.__init__", "PrivateWinner.calibrated"},
    ("step", 1.0): {"AdditiveNoise._require_counts"},
    ("bits", 1): {"bit_loss", "flips_for", "require_telling"},
    ("n_items", 2): {"CubeError.__init__"},
    ("draws", 1999): {"Friedman.__init__", "Friedman.calibrated"},
}
PACKAGES = ["aggregation", "pairwise", "privacy", "topk", "uniformity"]


def functions(module):
    """Names and functions of a module, and of its classes."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        for attribute, held in vars(value).items() if inspect.isclass(value) else ():
            function = getattr(held, "__func__", held)
            if inspect.isfunction(function):
                yield f"{name}.{attribute}", function


def modules():
    yield from map(importlib.import_module, ("dprank._search", "dprank.release"))
    for package in PACKAGES:
        at = importlib.import_module(f"dprank.{package}")
        for info in pkgutil.iter_modules(at.__path__, f"{at.__name__}."):
            yield importlib.import_module(info.name)


def test_one_name_has_one_default():
    found = {}
    for module in modules():
        for name, function in functions(module):
            for given in inspect.signature(function).parameters.values():
                if isinstance(given.default, bool | int | float | str):
                    found.setdefault((given.name, repr(given.default)), set()).add(name)
    assert set(found) == {(name, repr(value)) for name, values in DEFAULTS.items() for value in values}
    for (name, value), who in OTHERS.items():
        assert found[name, repr(value)] == who


@each(
    "mechanism",
    [
        Oneshot(3, 4.0, n_items=9),
        Peeling(3, 4.0, n_items=9),
        JointExponential(3, 1.0, n_items=9),
    ],
)
def test_ninety_five_in_a_hundred_are_meant(mechanism):
    assert mechanism.gap_needed() == mechanism.gap_needed(0.95) > mechanism.gap_needed(0.94)
