"""What rests on what in a paper: its statements as a layered graph, drawn as SVG.

`graph` has all statements of a paper, `proof_map` those behind one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from companion.ledger.card import Html, fill
from companion.ledger.papers import paper_of
from companion.ledger.scoreboard import Entry
from companion.ledger.verdicts import VERDICTS, Verdict

#: Sizes of a node, of the gaps between layers and between the nodes of a layer, and between edges that pass, in pixels.
WIDTH, HEIGHT, ACROSS, DOWN, APART = 128, 38, 64, 12, 18
#: The gap between layers of the map of one proof.
NARROW = 24
#: Sweeps over the layers, which put a node at the mean place of its neighbours.
SWEEPS = 24
SHORT = {
    "Theorem": "Thm",
    "Lemma": "Lem",
    "Proposition": "Prop",
    "Propositions": "Prop",
    "Corollary": "Cor",
    "Definition": "Def",
    "Section": "Sec",
    "Algorithm": "Alg",
    "Experiment": "Exp",
    "Observation": "Obs",
    "Appendix": "App",
    "Figure": "Fig",
    "Remark": "Rem",
}


@dataclass(frozen=True)
class Node:
    """A statement, its proof where the ledger has an entry for that, and the statements that the two use."""

    entry: Entry
    proof: Entry | None
    uses: tuple[str, ...]

    @property
    def label(self) -> str:
        head = re.split(r"[,(]| and |: ", self.entry.claim.where)[0].strip()
        return " ".join(SHORT.get(word, word) for word in head.split())

    @property
    def part(self) -> str:
        """Which part of a section or theorem it is, by its id; of a condition or display of a section, its number."""
        numbered = re.search(r"(condition|eq\.) \(.+?\)", self.entry.claim.where)
        unnamed = numbered[0] if numbered and self.label.startswith(("Sec", "App")) else ""
        return ":".join(self.entry.claim.id.split(":")[2:]) or unnamed

    @property
    def name(self) -> str:
        """Label and part, in a line."""
        return f"{self.label}, {self.part}" if self.part else self.label

    @property
    def square(self) -> bool:
        """Whether it defines something or is seen, and is not proved."""
        return self.entry.claim.kind in ("definition", "algorithm", "condition", "figure", "table")

    @property
    def state(self) -> str:
        """Of the statement, and of its proof, in words."""
        said = self.entry.verdict.words + (f", its proof: {self.proof.verdict.words}" if self.proof else "")
        differs = self.entry.differs or (self.proof and self.proof.differs)
        return f"{said}; differs from the ledger" if differs else said


def nodes(entries: Iterable[Entry]) -> dict[str, Node]:
    """The statements of one paper by id; what the proof of a statement uses counts as used by it, once and directly."""
    known = {entry.claim.id: entry for entry in entries}

    def home(name: str) -> str:
        base = name.removesuffix(":proof")
        return base if base in known else name

    uses: dict[str, set[str]] = {home(name): set() for name in known}
    for name, entry in known.items():
        uses[home(name)] |= {home(used) for used in entry.claim.uses if used in known} - {home(name)}
    direct = reduction(uses)
    return {
        name: Node(known[name], known.get(f"{name}:proof"), tuple(used for used in uses if used in direct[name]))
        for name in uses
    }


def reduction(uses: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The edges without those that other edges imply: the transitive reduction."""
    behind: dict[str, set[str]] = {}
    for name in TopologicalSorter(uses).static_order():
        behind[name] = set(uses[name]).union(*(behind[used] for used in uses[name]))
    return {name: {u for u in used if not any(u in behind[other] for other in used)} for name, used in uses.items()}


def layers(uses: Mapping[str, Sequence[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Names by layer, what is used left of what uses it, and the way of each edge through the layers.

    An edge over several layers goes through points of its own. The order within layers is that of mean neighbours.
    """
    depth: dict[str, int] = {}
    for name in TopologicalSorter(uses).static_order():
        depth[name] = max((depth[used] + 1 for used in uses[name]), default=0)
    used = {it for names in uses.values() for it in names}
    placed = [name for name in uses if uses[name] or name in used]
    columns: list[list[str]] = [[] for _ in range(max((depth[name] for name in placed), default=-1) + 1)]
    for name in placed:
        columns[depth[name]].append(name)
    ways = []
    for name in placed:
        for start in uses[name]:
            points = [f"{start} {name} {layer}" for layer in range(depth[start] + 1, depth[name])]
            for layer, point in enumerate(points, depth[start] + 1):
                columns[layer].append(point)
            ways.append([start, *points, name])
    near: dict[str, list[str]] = {name: [] for column in columns for name in column}
    for way in ways:
        for left, right in pairwise(way):
            near[left].append(right)
            near[right].append(left)
    for _ in range(SWEEPS):
        place = {name: i / len(column) for column in columns for i, name in enumerate(column)}
        for column in columns:
            column.sort(key=lambda name: sum(place[it] for it in near[name]) / len(near[name]))
            place |= {name: i / len(column) for i, name in enumerate(column)}
    return columns, ways


def graph(entries: Iterable[Entry], paper: str) -> Html:
    """The graph of the claims of a paper as SVG with links, and the same as a list."""
    named = nodes(entry for entry in entries if paper_of(entry.claim.id).key == paper)
    return Html(fill("graph.html", **_laid_out(named, ACROSS)))


def proof_map(entries: Iterable[Entry], root: str) -> Html:
    """All that the claim `root` rests on, as a graph with a list, and as boxes below one another for a phone."""
    known = nodes(entry for entry in entries if paper_of(entry.claim.id) == paper_of(root))
    due, behind = [root], set()
    while due:
        name = due.pop()
        behind.add(name)
        due += known[name].uses
    named = {name: node for name, node in known.items() if name in behind}
    columns, _ = layers({name: node.uses for name, node in named.items()})
    text = fill(
        "map.html",
        root=named[root],
        statements=len(named) - 1,
        stand=_counted(node.entry.verdict for name, node in named.items() if name != root),
        proofs=_counted(node.proof.verdict for node in named.values() if node.proof),
        rows=[named[name] for column in columns for name in column if name in named],
        **_laid_out(named, NARROW),
    )
    return Html(text)


def _counted(verdicts: Iterable[Verdict]) -> str:
    """How many of each verdict, in words: ``9 hold, 4 need a condition and 2 are refuted``."""
    counts = Counter(verdicts)
    said = [f"{counts[it]} {it.many if counts[it] > 1 else it.one}" for it in VERDICTS if it in counts]
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def _laid_out(named: Mapping[str, Node], across: int) -> dict[str, Any]:
    """What `graph.html` draws: the nodes, their places, and the curves of the edges, with gaps of `across` pixels."""
    columns, ways = layers({name: node.uses for name, node in named.items()})
    heights = [sum(HEIGHT + DOWN if name in named else APART for name in column) for column in columns]
    tall = max(heights, default=0)
    at: dict[str, tuple[float, float]] = {}
    for i, column in enumerate(columns):
        y = (tall - heights[i]) / 2 + DOWN
        for name in column:
            at[name] = i * (WIDTH + across) + DOWN, y + (HEIGHT / 2 if name in named else 0)
            y += HEIGHT + DOWN if name in named else APART
    return {
        "drawn": [(name, named[name], *at[name]) for column in columns for name in column if name in named],
        "curves": [_curve([at[name] for name in way]) for way in ways],
        "named": named,
        "wide": len(columns) * (WIDTH + across) - across + 2 * DOWN,
        "tall": tall + 2 * DOWN,
        "width": WIDTH,
        "height": HEIGHT,
    }


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A smooth path from the right edge of the first node to the left edge of the last, through the points between."""
    (x, y), *rest = points
    path = f"M{x + WIDTH:.0f} {y:.0f}"
    x += WIDTH
    for left, height in rest:
        middle = (x + left) / 2
        path += f"C{middle:.0f} {y:.0f} {middle:.0f} {height:.0f} {left:.0f} {height:.0f}"
        x, y = left, height
        if (left, height) != points[-1]:
            x += WIDTH
            path += f"H{x:.0f}"
    return path
