"""Numbers that analysts pass by mistake and attackers on purpose, and all that takes a number in `dprank`."""

import inspect
import math
import numbers
import re
import signal
import warnings
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pandas as pd

import dprank
from dprank.models.bradley_terry import LOGISTIC
from dprank.privacy.ranges import ScoreNoise


class Unprintable(float):
    """Its text cannot be had."""

    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __repr__


#: Whose exact value is a number, by name.
NUMBERS = {
    "0": 0,
    "-0.0": -0.0,
    "-1": -1,
    "0.5": 0.5,
    "1": 1,
    "2": 2,
    "64": 64,
    "2^53 + 1": 2**53 + 1,
    "2^63": 2**63,
    "10^9": 10**9,
    "10^400": 10**400,
    "-10^400": -(10**400),
    "10^5000": 10**5000,
    "smallest float": 5e-324,
    "subnormal": 1e-310,
    "1e-300": 1e-300,
    "1e-15": 1e-15,
    "1 - 1e-16": 1 - 2.0**-53,
    "745": 745.0,
    "1e300": 1e300,
    "largest float": 1.7976931348623157e308,
    "inf": math.inf,
    "-inf": -math.inf,
    "Fraction(1, 3)": Fraction(1, 3),
    "Fraction(10^400)": Fraction(10**400),
    "Fraction(1, 10^400)": Fraction(1, 10**400),
    "Decimal 0.1": Decimal("0.1"),
    "Decimal 1e-400": Decimal("1e-400"),
    "Decimal 1e+999999": Decimal("1e+999999"),
    "Decimal -inf": Decimal("-Infinity"),
    "float16 0.1": np.float16(0.1),
    "float32 0.1": np.float32(0.1),
    "longdouble 1/3": np.longdouble(1) / 3,
    "longdouble 1e400": np.longdouble("1e400"),
    "longdouble 1e-400": np.longdouble("1e-400"),
    "int8 100": np.int8(100),
    "int8 -100": np.int8(-100),
    "uint8 2": np.uint8(2),
    "uint8 64": np.uint8(64),
    "uint8 200": np.uint8(200),
    "int16 300": np.int16(300),
    "uint16 400": np.uint16(400),
    "int32 10^9": np.int32(10**9),
    "uint32 3 10^9": np.uint32(3 * 10**9),
    "uint64 2^64 - 1": np.uint64(2**64 - 1),
    "True": True,
    "unprintable 0.5": Unprintable(0.5),
}
#: What is no number.
OTHERS = {
    "nan": math.nan,
    "float16 nan": np.float16("nan"),
    "longdouble nan": np.longdouble("nan"),
    "Decimal nan": Decimal("NaN"),
    "Decimal snan": Decimal("sNaN"),
    "text": "1",
    "numpy text": np.str_("0.5"),
    "bytes": b"1",
    "None": None,
    "bool_": np.True_,
    "0-d array": np.array(0.5),
    "0-d integers": np.array(2),
    "1-element array": np.array([1.0]),
    "array": np.ones(3),
    "object array": np.array([1, "x"], object),
    "masked": np.ma.masked,
    "list": [1.0],
    "tuple": (1,),
    "mapping": {1: 1},
    "complex": 1 + 0j,
    "complex128": np.complex128(0.5),
    "datetime64": np.datetime64("2020-01-01"),
    "timedelta64": np.timedelta64(3),
    "timedelta64 days": np.timedelta64(3, "D"),
    "NaT": np.timedelta64("NaT"),
    "Timedelta": pd.Timedelta(3),
    "NA": pd.NA,
    "Series": pd.Series([1.0]),
    "type": float,
    "object": object(),
    "function": math.sqrt,
}
HOSTILE = NUMBERS | OTHERS
#: What is computed from numbers, each of which is in order, and may be out of range itself.
COMPUTED = ("scale", "value_scale", "threshold", "round_epsilon")
#: A sign that it hangs; nothing on the tests' sizes takes a tenth of it, but for what a kernel takes to be compiled.
SECONDS = 30.0


#: Results and outcomes: the library makes them, and their numbers are whatever came out.
RESULTS = (
    "aggregation.kemeny.Consensus",
    "aggregation.kemeny.KemenyTimeout",
    "differences.Differences",
    "models.games.Fit",
    "data.accounts.Intake",
    "data.accounts.Ledger",
    "data.order_files.Ballot",
    "data.order_files.Line",
    "data.order_files.OrderFile",
    "data.preflib.PrefLib",
    "cli.path.Said",
    "plan.planner.Choice",
    "plan.setting.Drawn",
    "plan.setting.Measured",
    "privacy.filters.Cost",
    "topk.local.SetChances",
    "topk.random_sets.Overlap",
    "privacy.filters.Limit",
    "privacy.budget.Entry",
    "privacy.budget.Receipt",
    "topk.curve.WorstPair",
    "release.Decision",
)
#: Abstract: its heirs are tried.
ABSTRACT = ("aggregation.additive.AdditiveNoise",)
#: Modules whose functions say what is private, draw noise, or make data; those of others are laws and estimators of
#: what is given to them, and promise nothing.
PROMISING = (
    "aggregation.local_kwiksort",
    "privacy.divergence",
    "privacy.gaussian",
    "privacy.guarantee",
    "models.bradley_terry",
    "models.mallows",
    "privacy.noise",
    "pairwise.noisy_counts",
    "pairwise.perturbed_mle",
    "pairwise.sensitivity",
    "privacy.conditioned",
    "privacy.cube",
    "privacy.randomized_response",
    "privacy.ranges",
    "topk.bound",
    "topk.descent",
    "privacy.composition",
)
#: Parts of a search or a count, and what refuses; a plan is tried by its door, in `hostile_doors.py`; what writes a
#: file is tried in `privacy/test_budget.py`, with a file each.
INNER = (
    "privacy.budget.Budget",
    "privacy.discrete_gaussian.Answers",
    "privacy.gaussian.least",
    "privacy.conditioned.ConditionedError",
    "privacy.cube.CubeError",
    "privacy.pair_errors.PairError",
    "data.engine_job.Job",
    "plan.consensus.Placing",
    "plan.crowd.Crowd",
    "plan.setting.Setting",
    "topk.accounting.Chosen",
    "topk.accounting.Rounds",
    "topk.accounting.Shown",
    "topk.joint_counts.Choices",
    "topk.joint_counts.Lists",
    "topk.joint_counts.Sets",
)


def makers():
    """All that has a numeric parameter and is to stand hostile ones: name -> (callable, names of the numeric ones).

    Public classes, their class methods, and functions of modules that promise something. Numeric is what is annotated
    so, and behind ``**parameters`` what the fields of the class are.
    """
    found = {}
    for module in walk_packages(dprank.__path__, "dprank."):
        room = module.name.removeprefix("dprank.")
        if room.startswith("audit") or room.endswith("laws") or any(part.startswith("_") for part in room.split(".")):
            continue
        for name, one in vars(import_module(module.name)).items():
            if name.startswith(("_", "require")) or getattr(one, "__module__", None) != module.name:
                continue
            if f"{room}.{name}" in (*RESULTS, *ABSTRACT, *INNER) or (inspect.isfunction(one) and room not in PROMISING):
                continue
            for suffix, maker in _doors(one):
                if numeric := _numeric(one, maker):
                    found[f"{room}.{name}{suffix}"] = maker, numeric
    return found


def _doors(one):
    if inspect.isclass(one):
        yield "", one
        for name, member in inspect.getmembers_static(one):
            if isinstance(member, classmethod) and not name.startswith("_"):
                yield f".{name}", getattr(one, name)
    elif inspect.isfunction(one):
        yield "", one


def _numeric(one, maker):
    try:
        signature = inspect.signature(maker)
    except ValueError:
        return ()
    names = [p.name for p in signature.parameters.values() if _is_numeric(p.annotation)]
    free = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    if free and is_dataclass(one):
        fields = [p.name for p in inspect.signature(one).parameters.values() if _is_numeric(p.annotation)]
        names += [name for name in fields if name not in (*names, "scale", "value_scale", "rate")]
    return tuple(names)


def _is_numeric(annotation):
    text = str(getattr(annotation, "__forward_arg__", annotation))
    return bool(re.fullmatch(r"(int|float|Fraction)( \| (int|float|Fraction|None))*", text))


class Hang(BaseException):
    """It took too long."""


def _stop(number, frame):
    raise Hang


signal.signal(signal.SIGPROF, _stop)


class time_limit:
    """Of processor time; raises `Hang`."""

    def __init__(self, seconds=SECONDS):
        self.seconds = seconds

    def __enter__(self):
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_PROF, 0)


def outcome(maker, field, value, others):
    """("refused", message), ("accepted", what is made), or ("fault", why)."""
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("error")
            return "accepted", maker(**others | {field: value})
    except ValueError as error:
        text = str(error)
        if "\n" in text or len(text) > 500:
            return "fault", f"the message is not one line: {text[:80]!r}"
        # two numbers, each in order, may not go together: then the message may name another, or what both give
        number = value is not None and isinstance(value, numbers.Number)
        names = [field, *others, *COMPUTED] if number else [field]
        if not any(re.search(rf"\b{name}\b", text) for name in names):
            return "fault", f"the message does not name the field: {text!r}"
        return "refused", text
    except Hang:
        return "fault", f"took more than {SECONDS} s"
    except Exception as error:
        return "fault", f"{type(error).__name__}: {str(error)[:120]}"


def _baselines():
    """Of every maker parameters that are in order; what is hostile takes the place of one of them."""
    rng = np.random.default_rng(0)
    tests = {"n_items": 4, "n_voters": 40}
    asked = tests | {"epsilon": 1.0, "size": 0.05}
    few = {"n_items": 4}
    budget = few | {"epsilon": 1.0}
    noisy = few | {"scale": 2.0}
    gaussian = {"noise": "gaussian", "delta": 0.01}
    partial = {"ballots": "partial", "max_weight": 2}
    flipped = few | {"flips": 2**50}
    ranked = {"n_items": 4, "k": 2, "samples": 3}
    chosen = {"k": 2, "n_items": 4}
    return {
        "aggregation.exponential.ExponentialMechanism": few | {"rate": 0.5},
        "aggregation.exponential.ExponentialMechanism.calibrated": budget,
        "aggregation.directions.PositionVector": flipped,
        "aggregation.directions.PositionVector.calibrated": budget,
        "aggregation.directions.VectorReport": flipped,
        "aggregation.directions.VectorReport.calibrated": budget,
        "aggregation.local_borda.LocalBorda.calibrated": budget,
        "aggregation.local_kwiksort.LocalKwikSort": few | {"report_epsilon": 1.0, "reports": 1, "blocks": 3},
        "aggregation.local_kwiksort.LocalKwikSort.calibrated": budget | {"tail": 0.01},
        "aggregation.local_kwiksort.plus_chances": {"report_epsilon": 1.0},
        "aggregation.local_reports.LocalMatrix.calibrated": budget,
        "aggregation.noisy_matrix.NoisyMatrix": noisy,
        "aggregation.noisy_matrix.NoisyMatrix, gaussian": noisy | gaussian,
        "aggregation.noisy_matrix.NoisyMatrix, ballots": noisy | partial,
        "aggregation.noisy_matrix.NoisyMatrix.calibrated": budget,
        "aggregation.noisy_matrix.NoisyMatrix.calibrated, ballots": budget | partial,
        "aggregation.noisy_matrix.NoisyMatrix.calibrated, gaussian": budget | {"delta": 0.01},
        "aggregation.noisy_matrix.NoisyMatrix.calibrated, real": budget | {"delta": 0.01, "law": "continuous"},
        "aggregation.private_borda.PrivateBorda": noisy,
        "aggregation.private_borda.PrivateBorda, gaussian": noisy | gaussian | {"law": "continuous"},
        "aggregation.private_borda.PrivateBorda, ballots": noisy | partial,
        "aggregation.private_borda.PrivateBorda.calibrated": budget | {"adjacency": "add_remove"},
        "aggregation.private_borda.PrivateBorda.calibrated, ballots": budget | partial | {"delta": 0.01},
        "aggregation.private_footrule.PrivateFootrule": noisy,
        "aggregation.private_footrule.PrivateFootrule, gaussian": noisy | gaussian,
        "aggregation.private_footrule.PrivateFootrule.calibrated": budget | {"delta": 0.01},
        "aggregation.private_kwiksort.PrivateKwikSort": noisy | {"queries": 6},
        "aggregation.private_kwiksort.PrivateKwikSort, gaussian": noisy | gaussian | {"queries": 6},
        "aggregation.private_kwiksort.PrivateKwikSort.calibrated": budget | {"queries": 4, "share": 0.3},
        "aggregation.winner.PrivateWinner": noisy,
        "aggregation.winner.PrivateWinner.calibrated": budget | {"rule": "borda"},
        "aggregation.winner.PrivateWinner.calibrated, ballots": budget | partial,
        "aggregation.randomisers.Flipped": flipped,
        "aggregation.randomisers.Items": few,
        "aggregation.randomisers.OrderReport.calibrated": budget,
        "aggregation.randomisers.SampledOrder": few | {"length": 2, "kept": 2**50},
        "aggregation.randomisers.SampledOrder.calibrated": budget | {"length": 3},
        "aggregation.randomisers.SplitResponse": flipped,
        "aggregation.randomisers.SplitResponse.calibrated": budget,
        "privacy.divergence.GaussianShift": {"l2": 1.0, "scale": 2.0},
        "privacy.divergence.LaplaceShift": {"moves": [1.0, 2.0], "scale": 2.0},
        "privacy.divergence.discrete_gaussian_shift": {"moves": [2], "scale": 2.0},
        "privacy.divergence.discrete_laplace_shift": {"moves": [1, 2], "scale": 2.0},
        "privacy.divergence.noise_shift": {"noise": "laplace", "law": "discrete", "moves": [1, 2], "scale": 2.0},
        "privacy.divergence.whole_noise": {"noise": "laplace", "scale": 2.0, "reach": 5},
        "privacy.gaussian.gaussian_delta": {"l2": 1.0, "scale": 2.0, "epsilon": 1.0},
        "privacy.gaussian.gaussian_epsilon": {"l2": 1.0, "scale": 2.0, "delta": 0.01},
        "privacy.gaussian.gaussian_scale": {"l2": 1.0, "epsilon": 1.0, "delta": 0.01},
        "privacy.gaussian.zcdp": {"rho": 0.5, "delta": 0.01},
        "privacy.guarantee.Guarantee": {"epsilon": 1.0, "delta": 0.01},
        "privacy.guarantee.ratio_up": {"numerator": 1.0, "denominator": 3.0},
        "models.bradley_terry.Link": {field.name: getattr(LOGISTIC, field.name) for field in fields(LOGISTIC)},
        "models.bradley_terry.erdos_renyi_counts": {"theta": [0, 1.0], "probability": 0.5, "replicates": 2, "rng": rng},
        "models.bradley_terry.sample_erdos_renyi": {"theta": [0, 1.0], "probability": 0.5, "rng": rng},
        "models.bradley_terry.sample_voters": {"theta": [0, 1.0], "voters": 3, "answers": 2, "rng": rng},
        "models.bradley_terry.voter_counts": {
            "theta": [0, 1.0],
            "voters": 3,
            "answers": 2,
            "replicates": 2,
            "rng": rng,
        },
        "models.mallows.Mallows": few | {"theta": 0.5},
        "models.mallows.Mallows.of_gap": few | {"gap": 0.5},
        "models.mallows.Mallows.of_phi": few | {"phi": 0.5},
        "models.mallows.theta_at": few | {"epsilon": 0.5},
        "privacy.noise.discrete_gaussian": {"scale": 2.0, "size": 3, "rng": rng},
        "privacy.noise.discrete_laplace": {"scale": 2.0, "size": 3, "rng": rng},
        "privacy.noise.draw": {"noise": "laplace", "law": "discrete", "scale": 2.0, "size": 3, "rng": rng},
        "privacy.noise.gaussian": {"scale": 2.0, "size": 3, "rng": rng},
        "privacy.noise.geometric": {"scale": 2.0, "size": 3, "rng": rng},
        "privacy.noise.laplace": {"scale": 2.0, "size": 3, "rng": rng},
        "pairwise.noisy_counts.NoisyCounts": noisy | {"per_person": 3},
        "pairwise.noisy_counts.NoisyCounts, ballots": noisy | {"per_person": 6, "design": "once", "max_weight": 2},
        "pairwise.noisy_counts.NoisyCounts.calibrated": budget | {"per_person": 3, "design": "once"},
        "pairwise.noisy_counts.NoisyCounts, gaussian": noisy | gaussian | {"per_person": 3},
        "pairwise.noisy_counts.NoisyCounts, conditioned": noisy | {"noise": "conditioned", "per_person": 3},
        "pairwise.noisy_counts.NoisyCounts.calibrated, gaussian": budget
        | {"delta": 0.01, "per_person": 2, "design": "matching"},
        "pairwise.noisy_counts.NoisyCounts.calibrated, real": budget
        | {"delta": 0.01, "law": "continuous", "per_person": 2},
        "pairwise.noisy_counts.NoisyCounts.calibrated, conditioned": budget | {"noise": "conditioned", "per_person": 3},
        "pairwise.local_comparisons.LocalComparisons": few | {"per_person": 3, "length": 2, "kept": 2**50},
        "pairwise.local_comparisons.LocalComparisons.calibrated": budget | {"per_person": 3, "length": 2},
        "pairwise.sensitivity.l1_sensitivity": few | {"per_person": 3},
        "pairwise.sensitivity.l2_sensitivity": few | {"per_person": 3},
        "pairwise.sensitivity.l2_sensitivity, wins": few | {"per_person": 3, "score": "wins", "design": "once"},
        "pairwise.noisy_counts.NoisyCounts, cube": noisy | {"noise": "cube", "per_person": 2, "design": "matching"},
        "pairwise.noisy_counts.NoisyCounts.calibrated, cube": budget
        | {"noise": "cube", "per_person": 2, "design": "matching"},
        "pairwise.sensitivity.linf_sensitivity": few | {"per_person": 3},
        "privacy.conditioned.conditioned_variance": {"scale": 2.0, "n": 4},
        "privacy.cube.cube_law": {"scale": 2.0, "n": 4},
        "privacy.cube.cube_noise": {"scale": 2.0, "n": 4, "size": 3, "rng": rng},
        "privacy.conditioned.conditioned_laplace": {"scale": 2.0, "n": 4, "size": 3, "rng": rng},
        "pairwise.perturbed_mle.PerturbedMLE": noisy | {"ridge": 1.0, "graph": "public", "per_person": 3},
        "pairwise.perturbed_mle.PerturbedMLE.calibrated": budget
        | {"ridge": 100.0, "graph": "private", "per_person": 3, "law": "continuous"},
        "pairwise.perturbed_mle.PerturbedMLE.calibrated, public": budget
        | {"ridge": 1.0, "graph": "public", "per_person": 1},
        "pairwise.perturbed_mle.objective_loss": {"scale": 2.0, "ridge": 1.0, "per_person": 3},
        "privacy.ranges.ScoreNoise": {"noise": "laplace", "scale": 2.0, "step": 1.0},
        "privacy.ranges.place_intervals": {"scores": [1.0, 2.0], "law": ScoreNoise("laplace", 2.0), "level": 0.9},
        "privacy.ranges.range_cdf": {"law": ScoreNoise("laplace", 2.0, 1.0), "n": 3, "q": 2.0},
        "privacy.ranges.range_quantile": {"law": ScoreNoise("gaussian", 2.0, 1.0), "n": 3, "level": 0.9},
        "privacy.randomized_response.bit_loss": {"flips": 2**50, "bits": 3},
        "privacy.randomized_response.flips_for": {"epsilon": 1.0, "bits": 3},
        "privacy.randomized_response.randomise": {"signs": np.ones(3, np.int8), "flips": 2**50, "rng": rng},
        "topk.bound.log_delta": {"k": 2, "shift": 0.1, "epsilon": 1.0, "n_items": 9},
        "topk.bound.shift_for": {"k": 2, "epsilon": 1.0, "delta": 0.01, "n_items": 9},
        "privacy.composition.advanced": {"k": 3, "round_epsilon": 0.1, "delta": 0.01},
        "privacy.composition.basic": {"k": 3, "round_epsilon": 0.1},
        "privacy.composition.epsilon_per_round": {"composition": "optimal", "k": 3, "epsilon": 1.0, "delta": 0.01},
        "privacy.composition.optimal": {"k": 3, "round_epsilon": 0.1, "delta": 0.01},
        "privacy.composition.optimal_delta": {"k": 3, "round_epsilon": 0.1, "epsilon": 0.2},
        "privacy.composition.rho": {"k": 3, "round_epsilon": 0.1},
        "privacy.composition.total_epsilon": {"composition": "optimal", "k": 3, "round_epsilon": 0.1, "delta": 0.01},
        "topk.descent.descent_delta": {"k": 2, "shift": 0.1, "epsilon": 0.2},
        "topk.descent.descent_epsilon": {"k": 2, "shift": 0.1, "delta": 0.01},
        "topk.descent.descent_shift": {"k": 2, "epsilon": 1.0, "delta": 0.01},
        "topk.joint.JointExponential": chosen | {"scale": 2.0},
        "topk.joint.JointExponential.calibrated": chosen | {"epsilon": 1.0, "sensitivity": 2.0},
        "topk.local.LocalTopK": chosen | {"per_person": 2, "length": 3, "hits": 2, "kept": 2**50},
        "topk.local.LocalTopK.calibrated": chosen | {"epsilon": 1.0, "per_person": 2},
        "topk.oneshot.Oneshot": chosen | {"scale": 2.0, "value_scale": 3.0, "per_person": 2},
        "topk.oneshot.Oneshot, delta": chosen | {"scale": 20.0, "delta": 0.01},
        "topk.oneshot.Oneshot.calibrated": chosen | {"epsilon": 1.0, "values": True, "share": 0.4},
        "topk.oneshot.Oneshot.calibrated, delta": chosen | {"epsilon": 0.1, "delta": 0.01, "per_person": 2},
        "topk.oneshot.Oneshot.calibrated, gumbel": chosen | {"epsilon": 0.1, "delta": 0.01, "noise": "gumbel"},
        "topk.peeling.Peeling": chosen | {"scale": 2.0, "delta": 0.01},
        "topk.peeling.Peeling.calibrated": chosen | {"epsilon": 1.0, "delta": 0.01},
        "topk.private_spectral.PrivateRankCentrality": ranked | {"scale": 2.0, "d": 4.0, "teleport": 0.1},
        "topk.private_spectral.PrivateRankCentrality.calibrated": ranked | {"epsilon": 1.0, "delta": 0.01},
        "uniformity.bucketed.BatchVote": tests | {"n_batches": 4, "batch_threshold": 6.0, "scale": 2.0, "threshold": 3},
        "uniformity.bucketed.BatchVote.calibrated": asked | {"n_batches": 10, "batch_level": 0.1},
        "uniformity.bucketed.Bucketed": tests | {"n_batches": 4, "batch_threshold": 6.0, "coin": 0.5, "delta": 0.01},
        "uniformity.bucketed.Bucketed.calibrated": asked | {"size": 0.2, "n_batches": 10, "delta": 0.01},
        "uniformity.friedman.Friedman": tests | {"size": 0.05, "draws": 99},
        "uniformity.friedman.Friedman.calibrated": tests | {"size": 0.05, "draws": 99},
        "uniformity.laplace.LaplaceUnif": tests | {"scale": 2.0, "threshold": 6.0},
        "uniformity.laplace.LaplaceUnif.calibrated": asked,
        "uniformity.local.LocalOneBit": flipped | {"size": 0.05, "groups": 2},
        "uniformity.local.LocalOneBit.calibrated": few | {"epsilon": 1.0, "size": 0.05, "groups": 2},
        "uniformity.local.LocalPairs": flipped | {"size": 0.05},
        "uniformity.local.LocalPairs.calibrated": few | {"epsilon": 1.0, "size": 0.05},
        "uniformity.local_two_stage.LocalTwoStage": flipped | {"size": 0.05, "learners": 0.3},
        "uniformity.local_two_stage.LocalTwoStage.calibrated": few | {"epsilon": 1.0, "size": 0.05, "learners": 0.3},
        "uniformity.mallows_approximate.MallowsApproximate": tests | {"size": 0.05, "draws": 99},
        "uniformity.mallows_approximate.MallowsApproximate.calibrated": tests
        | {"size": 0.05, "centre": "borda", "draws": 99},
        "uniformity.noisy_norm.NoisyNorm": tests
        | {"scale": 20.0, "size": 0.05, "steps": 64, "null_draws": 99, "statistic": "ranks"},
        "uniformity.noisy_norm.NoisyNorm.calibrated": asked | {"steps": 64, "null_draws": 99, "statistic": "ranks"},
        "uniformity.optimal_vote.OptimalVote": tests
        | {"n_batches": 4, "batch_threshold": 6.0, "scale": 2.0, "threshold": 3.25, "bound": 9.0},
        "uniformity.optimal_vote.OptimalVote.calibrated": asked
        | {"n_batches": 10, "batch_level": 0.1, "delta": 0.01, "bias": 0.2},
        "uniformity.truncated.Trun": tests | {"coin": 0.1, "start": 1.0, "width": 8.0},
        "uniformity.truncated.Trun.calibrated": asked,
        "data.containers.Container": {"name": "a CSV", "reader": "a:b", "mark_at": 8},
        "data.layout.Layout": {"skip": 1, "header": 2},
        "data.declaration.Declaration": {"kind": "ballots", "items": ("a", "b"), "weight": "shares", "max_weight": 3},
        "data.count_files.Counts": {"kind": "tallies", "items": ("a", "b"), "per_person": 2, "rows": 3}
        | {"sums": {"persons": (1, 2)}, "shards": 1, "parts": (1,), "rules": "kind", "engines": ("numpy",)},
        "uniformity.two_sample.TwoSample": few | {"size": 0.05, "threshold": 1.0},
        "uniformity.two_sample.TwoSample.calibrated": few | {"size": 0.05},
        "uniformity.unif.Unif": tests | {"threshold": 6.0},
        "uniformity.unif.Unif.calibrated": tests | {"size": 0.05},
    }


BASELINES = _baselines()


def table():
    """Lines of what becomes of every value in every field, and how many of each kind there are."""
    total = dict.fromkeys(("accepted", "refused", "fault"), 0)
    for name, parameters in BASELINES.items():
        maker, numeric = makers()[name.split(",")[0]]
        for field in numeric:
            kinds = {label: outcome(maker, field, value, parameters)[0] for label, value in HOSTILE.items()}
            for kind in total:
                if labels := [label for label, one in kinds.items() if one == kind]:
                    total[kind] += len(labels)
                    yield f"{name:60} {field:16} {kind:8} {len(labels):3}  {', '.join(labels)}"
    yield ", ".join(f"{count:,} {kind}" for kind, count in total.items())


if __name__ == "__main__":
    print("\n".join(table()))
