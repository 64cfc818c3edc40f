"""The graph of claims: no edge lost that is not implied, none left that is, and the same said in words."""

from __future__ import annotations

import itertools
import random

import pytest
from bs4 import BeautifulSoup
from ledgers import ENTRY, WRONG

from companion.ledger.files import Claim
from companion.ledger.graph import _counted, graph, layers, nodes, proof_map, reduction
from companion.ledger.scoreboard import Entry
from companion.ledger.verdicts import CONDITION, EMPTY, HOLDS, READING, REFUTED, in_words


def reached(uses):
    """Pairs with a way from the first to the second, by Warshall's closure."""
    pairs = {(a, b) for a, used in uses.items() for b in used}
    for middle, first, last in itertools.product(uses, repeat=3):
        if {(first, middle), (middle, last)} <= pairs:
            pairs.add((first, last))
    return pairs


def drawn(seed):
    """A random graph without circles, of eight nodes."""
    rng = random.Random(seed)
    return {str(i): {str(j) for j in range(i) if rng.random() < 0.5} for i in range(8)}


@pytest.mark.parametrize("seed", range(20))
def test_the_reduction_is_the_least_graph_with_the_same_ways(seed):
    uses = drawn(seed)
    less = reduction(uses)
    assert reached(less) == reached(uses)
    for name, used in less.items():
        for edge in used:
            assert reached(less | {name: used - {edge}}) != reached(uses), "an edge that others imply"


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_goes_a_layer_to_the_right_at_a_time(seed):
    less = {name: sorted(used) for name, used in reduction(drawn(seed)).items()}
    columns, ways = layers(less)
    column = {name: i for i, names in enumerate(columns) for name in names}
    assert sorted((way[-1], way[0]) for way in ways) == sorted((a, b) for a, used in less.items() for b in used)
    for way in ways:
        assert [column[name] for name in way] == list(range(column[way[0]], column[way[-1]] + 1))
    assert len(column) == sum(map(len, columns)), "nothing stands in two layers"


def entry(name, verdict="holds", uses=()):
    wrong = WRONG if verdict != "holds" else {}
    claim = Claim(**ENTRY | wrong | {"id": f"mini2020:{name}", "where": f"{name}, x", "verdict": verdict})
    return Entry(Claim(**{**vars(claim), "uses": tuple(f"mini2020:{it}" for it in uses)}), verdict)


PAPER = [
    entry("alg-1"),
    entry("lem-1", "refuted", ["alg-1"]),
    entry("thm-1", uses=["alg-1"]),
    entry("thm-1:proof", "refuted", ["lem-1", "thm-1"]),
    entry("alone"),
]


def test_a_proof_is_part_of_its_statement():
    found = nodes(PAPER)
    assert list(found) == [f"mini2020:{it}" for it in ("alg-1", "lem-1", "thm-1", "alone")]
    assert found["mini2020:thm-1"].uses == ("mini2020:lem-1",), "alg-1 follows by lem-1, and no proof uses itself"
    assert found["mini2020:thm-1"].state == in_words("{word}`holds`, its proof: {word}`refuted`")


def test_picture_and_list_say_the_same():
    page = BeautifulSoup(graph(PAPER, "mini2020"), "html.parser")
    assert [title.get_text() for title in page.find_all("title")] == [
        in_words("alg-1, x: {word}`holds`"),
        in_words("lem-1, x: {word}`refuted`"),
        in_words("thm-1, x: {word}`holds`, its proof: {word}`refuted`"),
    ]
    assert [link["href"] for link in page.svg.find_all("a")] == [
        f"01-first.html#mini2020-{it}" for it in ("alg-1", "lem-1", "thm-1")
    ]
    assert len(page.svg.find_all("path")) == 2
    assert len(page.svg.find_all("circle")) == 1
    assert [item.get_text() for item in page.find_all("li")] == [
        in_words("lem-1, x ({word}`refuted`) uses alg-1, x ({word}`holds`)."),
        in_words("thm-1, x ({word}`holds`, its proof: {word}`refuted`) uses lem-1, x ({word}`refuted`)."),
    ]


def test_a_paper_without_edges_has_an_empty_picture():
    assert "<rect" not in graph([entry("alone")], "mini2020")


def test_a_map_has_all_that_a_claim_rests_on_and_nothing_else():
    page = BeautifulSoup(proof_map([*PAPER, entry("thm-2", uses=["thm-1"])], "mini2020:thm-1"), "html.parser")
    assert page.p.get_text() == (
        f"thm-1: {HOLDS.words}. It rests on 2 statements: 1 {HOLDS.one} and 1 {REFUTED.one}. "
        f"Of the printed proofs that are judged apart, 1 {REFUTED.one}."
    )
    links = [f"01-first.html#mini2020-{it}" for it in ("alg-1", "lem-1", "thm-1")]
    assert [link["href"] for link in page.svg.find_all("a")] == links
    rows = page.find("ol", "map-rows").find_all("li")
    assert [row.a["href"] for row in rows] == links, "what is used stands above what uses it"
    assert [row.get_text() for row in rows] == ["✓ alg-1", "✗ lem-1uses alg-1", "✓ thm-1✗uses lem-1"]
    assert len(page.svg.find_all("path")) == len(page.find("details").find_all("li")) == 2


def test_a_map_of_what_rests_on_nothing_says_so():
    assert in_words("alone: {word}`holds`. It rests on 0 statements.") in proof_map([entry("alone")], "mini2020:alone")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([HOLDS], f"1 {HOLDS.one}"),
        ([REFUTED, HOLDS, HOLDS, CONDITION], f"2 {HOLDS.many}, 1 {CONDITION.one} and 1 {REFUTED.one}"),
        ([EMPTY, READING] * 2, f"2 {EMPTY.many} and 2 {READING.many}"),
        ([], ""),
    ],
)
def test_verdicts_are_counted_in_words(verdicts, said):
    assert _counted(verdicts) == said
