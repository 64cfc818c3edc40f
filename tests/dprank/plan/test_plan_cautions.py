"""What a plan says before anything is spent, and what it takes from a declaration."""

import json
import math
import tomllib
from itertools import product
from typing import Any

import pytest
from checks import each, refused
from test_plan_cli import run

import dprank
from dprank.plan._bounds import costs_nothing

PAIRS = ["--comparisons", "l,r,a", "--items", "gold,old1,old2"]


def said_of(found, word):
    return [one for one in found.cautions if word in one]


# --- ballots as they are declared -------------------------------------------------------------------------------------


def declared(tmp_path, name, **keys):
    path = tmp_path / f"{name}.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def best(capsys, *words):
    code, said, error = run(capsys, "plan", *words, "--json")
    assert (code, error) == (0, "")
    told = json.loads(said)
    return told["choices"][told["best"]] | {"setting": told["setting"], "cautions": told["cautions"]}


def test_what_is_declared_of_ballots_is_what_is_planned(capsys, tmp_path):
    """Case W8: the same 42 % twice."""
    items = [f"tree{i}" for i in range(10)]
    numbers = ["--persons", "5000", "--epsilon", "0.1", "--named", "3"]
    found = {}
    for unranked in ("last", "apart"):
        path = declared(tmp_path, unranked, kind="ballots", items=items, ballots="partial", unranked=unranked)
        found[unranked] = best(capsys, "consensus", "--plan", path, *numbers)
        assert found[unranked]["setting"]["unranked"] == unranked
        flags = ["--items", "10", "--unranked", unranked]
        assert best(capsys, "consensus", *flags, *numbers)["error"] == found[unranked]["error"]
    assert found["last"]["error"] < 0.05 < 0.4 < found["apart"]["error"]
    assert any("--unranked last" in it for it in found["apart"]["cautions"])
    assert not any("--unranked" in it for it in found["last"]["cautions"])
    # where a column is a place, there are as many places as columns
    columns = {"form": "ranks", "columns": ["first", "second", "third"]}
    path = declared(tmp_path, "ranks", kind="ballots", items=items, ballots="partial", unranked="last", **columns)
    assert best(capsys, "consensus", "--plan", path, *numbers[:4])["error"] == found["last"]["error"]
    # a flag goes before the declaration
    over = best(capsys, "consensus", "--plan", tmp_path / "apart.toml", "--unranked", "last", *numbers)
    assert over["error"] == found["last"]["error"]


def test_ties_and_weights_are_planned_with_the_noise_that_they_need(capsys, tmp_path):
    keys = {"kind": "ballots", "items": ["a", "b", "c", "d"]}
    numbers = ["--persons", "300", "--epsilon", "1"]
    for question in ("consensus", "winner"):
        plain, tied, heavy = (
            best(capsys, question, "--plan", declared(tmp_path, name, **keys, **more), *numbers)
            for name, more in (
                ("plain", {}),
                ("tied", {"ballots": "tied"}),
                ("heavy", {"ballots": "tied", "weight": "w", "max_weight": 4}),
            )
        )
        parameters = {key: it for key, it in heavy["parameters"].items() if key not in ("mechanism", "adjacency")}
        made = getattr(dprank, heavy["mechanism"]).calibrated(
            epsilon=1.0, n_items=4, ballots="partial", max_weight=4, **parameters
        )
        assert heavy["scale"] == made.scale == 4 * tied["scale"]
        assert plain["scale"] <= tied["scale"]
        assert plain["error"] <= tied["error"] < heavy["error"]


@each(
    "question, keys, word",
    [
        ("consensus", {"ballots": "partial", "unranked": "last"}, "--named"),
        ("winner", {"ballots": "partial", "unranked": "apart"}, "--named"),
        ("agreement", {"ballots": "tied"}, "full"),
        ("agreement", {"weight": "w", "max_weight": 2}, "full"),
        ("ranking", {"kind": "comparisons", "columns": ["l", "r", "a"]}, "--protect answer"),
    ],
)
def test_a_plan_asks_for_what_a_declaration_leaves_open(capsys, tmp_path_factory, question, keys, word):
    path = declared(tmp_path_factory.mktemp("declared"), "it", **{"kind": "ballots", "items": ["a", "b", "c"]} | keys)
    code, said, error = run(capsys, "plan", question, "--plan", path, "--persons", "50", "--epsilon", "1")
    assert (code, said) == (2, "")
    assert word in error
    assert len(error.strip().splitlines()) == 1


def test_of_a_questionnaire_that_names_nobody_a_ballot_is_protected(capsys, tmp_path):
    """What the plan writes is what a release takes."""
    rows = ["a vs b,b vs c,a vs c", *["a,b,a"] * 40]
    (tmp_path / "q.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ["--pairs", "all", "--map", "names", "--items", "a,b,c", "--out", tmp_path / "it.toml"]
    assert run(capsys, "check", tmp_path / "q.csv", *words)[0] == 0
    asked = ["--plan", tmp_path / "it.toml", "--persons", "40", "--answers", "3", "--epsilon", "1"]
    assert run(capsys, "plan", "ranking", *asked, "--balanced", "--out", tmp_path / "plan.toml")[0] == 0
    assert tomllib.loads((tmp_path / "plan.toml").read_text())["release"]["protect"] == "ballot"
    code, _, error = run(capsys, "release", "ranking", tmp_path / "q.csv", "--plan", tmp_path / "plan.toml")
    assert (code, error) == (0, "")


@pytest.mark.slow
def test_no_part_of_an_error_is_below_nothing():
    """Case W8: sampling 72.1 %, noise -22.4 %."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("consensus", {"items": 100, "persons": 5000, "epsilon": 1.0, "named": 10})
    ]
    for question, items, persons, epsilon, named, unranked in product(
        ("consensus", "winner"), (5, 30), (20, 2000), (0.01, 1.0), (2, 4), ("apart", "last")
    ):
        sizes = {"items": items, "persons": persons, "epsilon": epsilon, "named": named, "unranked": unranked}
        asked.append((question, sizes))
    for balanced, persons, epsilon in product((True, False), (20, 2000), (0.01, 1.0)):
        asked.append(
            (
                "ranking",
                {"items": 6, "persons": persons, "epsilon": epsilon, "balanced": balanced, "answers": (1, 3)},
            )
        )
    for question, sizes in asked:
        for choice in dprank.plan(question, **sizes).choices:
            parts = choice.sampling, choice.bounding, choice.added
            assert min(parts) >= -1e-12, (question, sizes, str(choice))
            assert math.isclose(sum(parts), choice.error, abs_tol=1e-12)


def test_a_winner_that_nobody_names_is_warned_of():
    asked = {"persons": 5000, "epsilon": 1.0, "named": 3}
    found = dprank.plan("winner", items=40, **asked)
    by_rule = {choice.parameters["rule"]: choice for choice in found.choices}
    assert by_rule["maximin"].sampling > 0.9
    [told] = said_of(found, "--unranked last")
    assert f"by maximin another winner is named with chance {by_rule['maximin'].sampling:.0%} without noise" in told
    # what is no harm is not said
    assert dprank.plan("winner", items=40, unranked="last", **asked).cautions == ()
    assert dprank.plan("winner", items=10, **asked).cautions == ()


# --- pairs that are asked about unequally often -----------------------------------------------------------------------


def test_a_plan_asks_whether_pairs_are_balanced_and_recommends_by_it():
    """Cases 8 and W2: an item that wins nine times of ten comes second."""
    asked = {"items": 8, "persons": 3000, "epsilon": 1.0, "answers": [1]}
    silent = dprank.plan("ranking", **asked)
    [told] = said_of(silent, "--balanced")
    assert f"{silent.best.elsewhere:.0%}" in told
    assert "--unbalanced" in told
    balanced = dprank.plan("ranking", balanced=True, **asked)
    assert balanced.cautions == ()
    assert balanced.best.mechanism == "NoisyCounts"
    assert [choice.error for choice in balanced.choices] == [choice.error for choice in silent.choices]
    # where they are not, what was weighed elsewhere is the error, and no number of people helps
    uneven = dprank.plan("ranking", balanced=False, **asked)
    assert {"PerturbedMLE", "PrivateRankCentrality"} <= uneven.left_out.keys()
    assert said_of(uneven, "no order")
    assert "four times" in uneven.supposed
    more = dprank.plan("ranking", balanced=False, **asked | {"persons": 3_000_000})
    assert more.best.error > 0.05
    same = next(it for it in uneven.choices if str(it) == str(silent.best))
    assert math.isclose(same.error, silent.best.elsewhere, rel_tol=0.2)  # of some halves, and of all
    # everybody may know who compared what: strengths are fitted, and right
    public = dprank.plan("ranking", balanced=False, public_graph=True, **asked)
    assert public.best.mechanism == "PerturbedMLE"
    assert public.best.error < 0.75 * uneven.best.error
    assert public.cautions == ()
    assert dprank.plan("ranking", balanced=False, public_graph=True, **asked | {"persons": 10**6}).best.error < 0.001
    # where luck is larger than what lasts, the one that lasts is not taken for a hair's breadth
    close = dprank.plan("ranking", items=3, persons=90, epsilon=10.0, balanced=False, public_graph=True)
    assert close.choices[0].mechanism == "NoisyCounts"
    assert close.best.mechanism == "PerturbedMLE"
    assert "where there are many more people, 0.0% against 22" in close.reason


def test_at_the_command_line_too(capsys):
    words = ["ranking", "--items", "8", "--persons", "3000", "--epsilon", "1"]
    code, said, _ = run(capsys, "plan", *words)
    assert code == 0
    assert "Mind: All pairs are supposed to be asked equally often" in " ".join(said.split())
    assert "Mind:" not in run(capsys, "plan", *words, "--balanced")[1]
    assert "Best: PerturbedMLE" in run(capsys, "plan", *words, "--unbalanced", "--public-graph")[1]
    said = " ".join(run(capsys, "plan", *words, "--unbalanced")[1].split())
    assert "Counts of wins are no order" in said
    assert "PerturbedMLE: it is for such pairs; --public-graph" in said
    assert max(map(len, run(capsys, "plan", *words, "--unbalanced")[1].splitlines())) <= 80


# --- nothing to see ---------------------------------------------------------------------------------------------------


@each(
    "question, few, many",
    [
        ("consensus", {"items": 5, "persons": 4, "epsilon": 0.5}, {"persons": 4000}),  # case W9
        ("ranking", {"items": 6, "persons": 20, "epsilon": 0.1, "balanced": True}, {"persons": 20_000}),
        ("winner", {"items": 5, "persons": 4, "epsilon": 0.1}, {"persons": 4000}),
        ("topk", {"items": 100, "persons": 50, "epsilon": 0.1, "k": 5}, {"persons": 500_000}),
        ("agreement", {"items": 4, "persons": 20, "epsilon": 0.1}, {"persons": 20_000, "epsilon": 1.0}),
    ],
)
def test_that_nothing_will_be_told_apart_is_said_beforehand(question, few, many, capsys):
    found = dprank.plan(question, **few)
    assert len(said_of(found, "more people")) == 1
    assert said_of(dprank.plan(question, **few | many), "more people") == []
    words = [word for key, value in few.items() if key != "balanced" for word in (f"--{key}", str(value))]
    _, said, _ = run(capsys, "plan", question, *words, *["--balanced"] * ("balanced" in few))
    assert "Mind: " in said
    assert said.index("Mind: ") < said.index("Best: ")


# --- a bound that costs nothing ---------------------------------------------------------------------------------------


def test_a_bound_that_costs_nothing_is_the_default():
    """Case W1."""
    found = dprank.plan("topk", items=42, persons=1300, epsilon=1.0, k=1)
    assert {choice.parameters["per_person"] for choice in found.choices} == {42}
    assert found.cautions == ()
    narrow = dprank.plan("topk", items=42, persons=1300, epsilon=1.0, k=1, answers=[3])
    assert said_of(narrow, "per-person = 3 leaves out")
    assert narrow.best.scale == found.best.scale
    # two of a top 3 are cheaper than all, which may be what somebody wants
    assert not said_of(
        dprank.plan("topk", items=42, persons=1300, epsilon=1.0, k=3, answers=[2], values=True), "leaves"
    )
    # nobody asked for fewer than all, by whatever is supposed of how many people have
    for more in ({}, {"given": (2,)}, {"given": (9,)}, {"epsilon": 50.0}, {"values": True}, {"share": 0.4}):
        some = dprank.plan("topk", **{"items": 42, "persons": 1300, "epsilon": 1.0, "k": 3, **more})
        assert {choice.parameters["per_person"] for choice in some.choices} == {42}
        assert not said_of(some, "per-person")
    # a share that people cannot have with one item each is one that they have with two
    assert (some.setting.share, some.setting.given, some.best.bounding) == (0.4, (2,), 0)
    with refused("people would have"):
        dprank.plan("topk", items=42, persons=1300, epsilon=1.0, k=3, share=0.4, given=(1,))


def test_a_planned_top_k_is_that_of_all_that_people_have(capsys, tmp_path):
    """Of 500 people 300 have bread, nearly all of these three other things, and the others tea alone."""
    rows = ["customer,product"]
    for name, many in (("bread", 300), ("milk", 290), ("eggs", 280), ("beer", 270)):
        rows += [f"a{i},{name}" for i in range(many)]
    rows += [f"b{i},tea" for i in range(200)]
    file, plan = tmp_path / "sales.csv", tmp_path / "plan.toml"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ["plan", "topk", "--items", "bread,milk,eggs,tea,beer,salt", "--persons", "500", "--epsilon", "10"]
    assert run(capsys, *words, "--k", "3", "--out", plan)[0] == 0
    words = ["release", "topk", file, "--person", "customer", "--item", "product", "--plan", plan, "--json"]
    code, said, error = run(capsys, *words)
    assert (code, error) == (0, "")
    assert [it["item"] for it in json.loads(said)["answer"]] == ["bread", "milk", "eggs"]


@each("noise", ["laplace", "gumbel", "exponential"])
def test_noise_does_not_grow_with_a_bound_of_k_and_more(noise):
    for k, adjacency, values in product((1, 3, 20), ("replace", "add_remove"), (False, True)):
        made = [
            dprank.Oneshot.calibrated(
                epsilon=1.0, n_items=42, k=k, noise=noise, adjacency=adjacency, values=values, per_person=bound
            )
            for bound in (k, 42)
        ]
        assert made[0].scale == made[1].scale
        if adjacency == "add_remove" or not values:
            assert costs_nothing(made[0])
        assert costs_nothing(made[1])


def test_a_release_counts_all_of_everybodys_items_unless_told_otherwise(capsys, tmp_path):
    """Case W1: oak is had by 1000 people with nine other things, elm by 300 with nothing else."""
    rows = ["person,item"]
    for i in range(1000):
        rows += [f"p{i},{x}" for x in ["oak"] + [f"w{(i * 7 + j) % 40:02d}" for j in range(9)]]
    rows += [f"q{i},elm" for i in range(300)]
    (tmp_path / "tools.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "items.txt").write_text("\n".join(["oak", "elm"] + [f"w{j:02d}" for j in range(40)]), encoding="utf-8")
    words = ["release", "topk", tmp_path / "tools.csv", "--person", "person", "--item", "item", "--k", "1"]
    words += ["--items", tmp_path / "items.txt", "--epsilon", "5"]
    for mechanism in ("Oneshot", "Peeling", "JointExponential"):
        code, said, error = run(capsys, *words, "--mechanism", mechanism)
        assert (code, error) == (0, "")
        assert "oak" in said
    code, _, error = run(capsys, *words, "--per-person", "1")
    assert code == 0
    assert "1 of a person's items count, and what somebody has beyond is left out" in error
    code, said, _ = run(capsys, *words, "--json")
    told = json.loads(said)
    assert [it["item"] for it in told["answer"]] == ["oak"]
    assert told["mechanism"]["per_person"] == 42


def test_what_is_no_setting_is_refused():
    for question, more, word in (
        ("ranking", {"balanced": 1}, "balanced"),
        ("consensus", {"balanced": True}, "balanced"),
        ("consensus", {"unranked": "first", "named": 2}, "unranked"),
        ("consensus", {"unranked": "last"}, "named"),
        ("ranking", {"unranked": "last", "named": 2}, "ballots"),
        ("agreement", {"max_weight": 2}, "max_weight"),
        ("consensus", {"max_weight": 0}, "max_weight"),
    ):
        with refused(word):
            dprank.plan(question, items=5, persons=100, epsilon=1.0, **more)


# --- nothing is placed of which nothing is known ----------------------------------------------------------------------


def test_items_that_no_column_asks_about_are_refused_before_anything_is_spent(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["a vs b,b vs c,who", *[f"a,b,p{i}" for i in range(40)]]
    (tmp_path / "q.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "9")[0] == 0
    release = ["release", "ranking", "q.csv", "--person", "who", "--protect", "person", "--answers", "2"]
    release += ["--epsilon", "1", "--budget", "b.sqlite"]
    pairs = ["--pairs", "all", "--map", "names"]
    code, said, error = run(capsys, *release, *pairs, "--items", "a,b,c,d,Parks")
    assert (code, said) == (2, "")
    assert "no column asks about 'd', 'Parks'" in error
    assert "leave them out" in error
    # of two groups that no column links nobody knows which is the better; which columns count may be declared
    few = ["--map", "names", "--pairs", "X=a vs b,Y=c vs d"]
    rows = ["X,Y,who", *[f"a,c,p{i}" for i in range(40)]]
    (tmp_path / "q.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    code, _, error = run(capsys, *release, *few, "--items", "a,b,c,d")
    assert code == 2
    assert "group of 'a' with one of the group of 'c'" in error
    assert "with no entry" in run(capsys, "budget", "b.sqlite")[1]
    # each by itself is well
    code, said, error = run(
        capsys, *release, "--answers", "1", "--map", "names", "--pairs", "X=a vs b", "--items", "a,b"
    )
    assert (code, error) == (0, "")
    assert "range" in said


def test_of_a_public_graph_that_falls_apart_nothing_is_placed(capsys, tmp_path):
    """The graph is public, and so is what it links; without `--public-graph` it is a secret, and nothing is refused."""
    linked = [f"p{i},{a},{b},1" for i in range(60) for a, b in (("gold", "old1"), ("old1", "old2"))]
    apart = [f"p{i},{a},{b},1" for i in range(60) for a, b in (("gold", "old1"), ("old2", "new"))]
    words = ["--comparisons", "l,r,a", "--map", "outcome", "--person", "who", "--protect", "person"]
    words += ["--answers", "2", "--epsilon", "5"]
    public = ["--mechanism", "PerturbedMLE", "--public-graph"]
    for name, lines, items, refused_as in (
        ("linked", linked, "gold,old1,old2", None),
        ("unseen", linked, "gold,old1,old2,nobody", "nobody compared 'nobody'"),
        ("apart", apart, "gold,old1,old2,new", "group of 'gold' with one of the group of 'old2'"),
    ):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["who,l,r,a", *lines]) + "\n", encoding="utf-8")
        code, said, error = run(capsys, "release", "ranking", path, *words, "--items", items, *public)
        assert (code, said == "") == ((0, False) if refused_as is None else (2, True)), error
        assert refused_as is None or refused_as in error
        assert run(capsys, "release", "ranking", path, *words, "--items", items)[0] == 0
