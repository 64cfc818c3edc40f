"""What a mechanism can do is asked by a protocol, and not by the name of an attribute; and it can what it says."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_doors import mechanisms

import dprank
from dprank import mechanism as capabilities
from dprank.mechanism import AsksPersons, HasDrawing, HasFloor, HasGap, HasRanges, HasValues, Local, Publishes, Shows
from dprank.plan.tags import TAGS, mechanism_of
from dprank.questions import QUESTIONS

HOME = Path(dprank.__file__).parent
PROTOCOLS = [it for name in capabilities.__all__ if isinstance(it := getattr(capabilities, name), type)]
MEMBERS = {name for it in PROTOCOLS for name in {*vars(it), *it.__annotations__} if not name.startswith("_")}
#: Where a name is looked at, for a reason: a class that sets `report` to None draws all the same, and is held to it.
BY_NAME = {("privacy/noise.py", "report")}


def probed(text):
    """Names that are looked for in whatever it is."""
    calls = [it for it in ast.walk(ast.parse(text)) if isinstance(it, ast.Call)]
    looked = [it for it in calls if getattr(it.func, "id", "") in ("hasattr", "getattr")]
    return {it.args[1].value for it in looked if isinstance(it.args[1], ast.Constant)}


def test_a_capability_is_asked_by_its_protocol():
    found = {
        (path.relative_to(HOME).as_posix(), name)
        for path in HOME.rglob("*.py")
        for name in probed(path.read_text(encoding="utf-8")) & MEMBERS
    }
    assert found == BY_NAME
    assert {"open_places", "gap_needed", "report", "value_scale", "asks_persons"} <= MEMBERS


@pytest.mark.parametrize("planted", ['hasattr(mechanism, "open_places")', 'getattr(mechanism, "value_scale", None)'])
def test_a_probe_is_seen(planted):
    assert probed(planted) & MEMBERS


@pytest.fixture(scope="module")
def made():
    """Of every class of the table one or more, as they are calibrated."""
    found = [(type(it).__name__, it) for it in mechanisms().values() if type(it).__name__ in TAGS]
    assert {name for name, _ in found} == set(TAGS)
    return found


def test_who_trusts_nobody_is_local(made):
    assert {name for name, it in made if isinstance(it, Local)} == {
        name for name, tag in TAGS.items() if tag.trust == "nobody"
    }


def test_of_what_is_chosen_by_a_curator_the_gap_is_known(made):
    chosen = {name for name, tag in TAGS.items() if QUESTIONS[tag.question].release == "Selection"}
    assert {name for name, it in made if isinstance(it, HasGap)} == {
        name for name in chosen if TAGS[name].trust == "curator"
    }


def test_ranges_are_of_those_whose_scores_or_margins_come(made):
    for name, it in made:
        if isinstance(it, HasRanges):
            assert isinstance(it, Shows), name
            assert {*it.shows} & {"scores", "margins"}, name
        assert isinstance(it, HasRanges) or not isinstance(it, AsksPersons | HasDrawing), name


def test_every_class_lists_what_it_publishes(made):
    assert all(isinstance(it, Publishes) for _, it in made)


def test_only_simulated_null_data_have_a_floor():
    made = {
        way: dprank.NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=50, statistic=way)
        for way in ("ranks", "pairs")
    }
    assert all(isinstance(it, HasFloor) for it in made.values())
    assert made["pairs"].least_p_value is None
    agreed = dprank.Rankings([[0, 1, 2, 3]] * 50, "abcd")
    release = made["ranks"].release(agreed, dprank.SECURE)
    assert release.p_value == made["ranks"].least_p_value == 1 / (1 + made["ranks"].null_draws)


def test_nothing_and_nobody_has_no_values_and_asks_nobody():
    for it in (None, object(), dprank.Peeling.calibrated(epsilon=1.0, n_items=9, k=2)):
        assert not isinstance(it, HasValues)
        assert capabilities.value_scale_of(it) is None
        assert not capabilities.asks_persons(it)


def test_who_asks_for_persons_no_more_is_not_asked():
    class Heir(dprank.LocalBorda):
        asks_persons = False

    assert capabilities.asks_persons(dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3))
    assert not capabilities.asks_persons(Heir.calibrated(epsilon=1.0, n_items=3))


def test_the_door_of_a_question_has_every_card_and_no_other():
    """Names that are known without importing a class, against the classes that carry a card."""
    named = [name for it in QUESTIONS.values() for name in it.mechanisms]
    kinds = {name: it for name in dprank.__all__ if isinstance(it := getattr(dprank, name), type)}
    carried = [name for name, it in kinds.items() if "card" in vars(it)]
    assert sorted(named) == sorted(carried)
    for asks in QUESTIONS.values():
        assert all(getattr(dprank, name).card.question == asks.name for name in asks.mechanisms)
    assert [*TAGS] == named


def test_a_tag_is_the_card_and_what_the_class_says_of_publication():
    for name, tag in TAGS.items():
        kind = getattr(dprank, name)
        assert {it: getattr(tag, it) for it in vars(kind.card)} == vars(kind.card)
        assert tag.publishable == ("for_publication" in vars(kind)), name
    assert "Mallows" not in TAGS
    with pytest.raises(KeyError):
        TAGS["Mallows"]


def test_who_asks_for_one_name_imports_no_other_class():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["dprank.topk.oneshot"]


LAZY = """
import sys
from dprank.plan.tags import TAGS, mechanism_of
assert "Oneshot" in TAGS and len(TAGS) > 20 and TAGS["Oneshot"].delta
homes = {f"dprank.{home}" for name, home in __import__("dprank")._HOMES.items() if name in TAGS}
print(*sorted(homes & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [
        ("rankings", "NoisyCounts", "question = 'rankings'"),
        (["ranking"], "NoisyCounts", "question = "),
        ("ranking", "PrivateBorda", "'NoisyCounts', 'PerturbedMLE'"),
        ("ranking", "LocalComparisons", "'NoisyCounts', 'PerturbedMLE'"),
        ("agreement", "Trun", "'NoisyNorm'"),
        ("winner", None, "'PrivateWinner'"),
    ],
)
def test_what_answers_no_question_is_refused_with_what_does(question, name, said):
    with pytest.raises(ValueError, match="; ") as refused:
        mechanism_of(question, name, epsilon=1.0, items="abc")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
