"""What is known of a question stands once: with it; and what it says is so."""

import ast
import json
from importlib import import_module, resources
from pathlib import Path
from typing import get_args

import pytest

import dprank
from dprank.cli.commands import GROUPS
from dprank.cli.path import PATHS
from dprank.plan.tags import TAGS, choosable, mechanism_class
from dprank.questions import QUESTIONS, Kind, QuestionName
from dprank.release import Release

HOME = Path(dprank.__file__).parent
NAMES = set(QUESTIONS)


def named(node):
    """Names of questions that stand in an expression."""
    return [it.value for it in ast.walk(node) if isinstance(it, ast.Constant) and it.value in NAMES]


def tables(text):
    """Lines of what knows questions by their names: dicts keyed by them, comparisons with them, types of them."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Dict):
            known = [it for key in node.keys if isinstance(key, ast.Constant) for it in named(key)]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dict":
            known = [it.arg for it in node.keywords if it.arg in NAMES]
            known += [it for pair in ast.walk(node) if isinstance(pair, ast.Tuple) for it in named(pair.elts[0])]
        elif isinstance(node, ast.Compare):
            known = named(node)
        elif isinstance(node, ast.MatchValue):
            known = named(node.value)
        elif isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
            known = named(node.slice)
        else:
            continue
        found += [node.lineno if hasattr(node, "lineno") else node.value.lineno] * bool(known)
    return found


def test_no_other_module_has_a_table_of_questions():
    paths = [path for path in HOME.rglob("*.py") if path != HOME / "questions.py"]
    found = {str(path.relative_to(HOME)): tables(path.read_text(encoding="utf-8")) for path in paths}
    assert not {path: lines for path, lines in found.items() if lines}
    assert len(found) > 200


@pytest.mark.parametrize(
    "planted",
    [
        'ERRORS = {"ranking": 1, "consensus": 2}',
        'said = {"topk": "a right top k"}.get(question, "")',
        "ERRORS = dict(winner=1, topk=2)",
        'ERRORS = dict([("winner", 1), ("topk", 2)])',
        'if setting.question == "topk": pass',
        'tabled = question not in ("winner", "agreement")',
        'Question = Literal["ranking", "consensus"]',
        'match question:\n    case "winner": pass',
    ],
)
def test_a_table_of_questions_is_seen(planted):
    assert tables(planted)


@pytest.mark.parametrize(
    "other", ['plan("topk", items=3)', '@command("ranking")\ndef f(): ...', 'Tag("winner", "a.b")']
)
def test_a_question_may_be_asked_by_its_name(other):
    assert not tables(other)


def test_names_and_kinds_are_those_of_the_types():
    assert tuple(QUESTIONS) == get_args(QuestionName)
    assert all(it.name == name for name, it in QUESTIONS.items())
    assert {it.data for it in QUESTIONS.values()} == {*get_args(Kind)}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_question_says_is_so(name):
    asks = QUESTIONS[name]
    assert TAGS[asks.usual].question == name
    assert asks.usual in choosable(name, "curator")
    assert TAGS[asks.usual].publishable
    kind = getattr(dprank, asks.release)
    assert issubclass(kind, Release)
    for mechanism in (it for it, tag in TAGS.items() if tag.question == name):
        made = mechanism_class(mechanism)
        door = made.release if hasattr(made, "release") else made.aggregate
        assert door.__annotations__["return"] == asks.release, mechanism
    found = dprank.plan(name, items=4, persons=100, epsilon=1.0)
    assert (found.best.elsewhere is not None) <= bool(asks.elsewhere)
    assert asks.shown is None or getattr(found.best, asks.shown) is not None
    assert not asks.wanted.format(gap=0.1).count("{")


def test_every_question_is_a_command_a_module_of_plan_a_path_of_the_audit_and_in_the_schema():
    for group in GROUPS:
        app = import_module(f"dprank.cli.{group}").app
        assert {it.name for it in app.registered_commands} == NAMES == set(GROUPS[group][1])
        for command in app.registered_commands:
            line = GROUPS[group][1][command.name]
            assert (command.help or command.callback.__doc__).split("\n\n")[0].replace("\n", " ") == line
    assert {it.words[1] for it in PATHS.values()} == NAMES
    assert all(name == one.name and name.startswith(one.words[1]) for name, one in PATHS.items())
    schema = json.loads(resources.files("dprank").joinpath("publication.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["question"]["enum"] == [*QUESTIONS]
    assert all(callable(import_module(f"dprank.plan.{name}").candidates) for name in QUESTIONS)


def test_a_caution_speaks_of_the_answer_that_is_asked_for():
    found = dprank.plan("consensus", items=2, persons=40, epsilon=20.0, trust="nobody")
    assert 1 - found.best.error <= 1.5 / 2, "a winner of such an error would be named hardly better than by chance"
    assert not found.cautions
