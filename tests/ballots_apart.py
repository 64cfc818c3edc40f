"""Sets of ballots, drawn; the files that say them, by every form; what they count, by hand. Nothing of ours is here.

A ballot is a list of names, each with a level from 0, the best. What a file says of it is written in one of many ways;
what it counts is worked out from the list alone, in the words of the manual.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

NAMES = ("oak", "elm [wych]", "fir", "ash/yew", "two words", "ébène", "plum, red", 'a "b"')
GONE, STRANGE = ("larch", "box"), ("beech?", "tsuga", "21", "7:oak")
#: Cells that are no place.
WRONG = ("x", "-3", "1e999", "2nd", "inf", "0,5")
#: How levels are written.
NUMBERS = ("plain", "plain", "zero", "float", "half", "far", "high", "words")
NOTHING = ("", "NA", "n/a", "-", "None", "nan")


@dataclass
class Ballot:
    """Names and their levels, as they are given; what is wrong with it, if anything is."""

    said: list[tuple[str, int]]
    wrong: bool = False
    person: str = ""
    weight: str = "1"
    times: int = 1


@dataclass
class Drawn:
    """Ballots, and what is declared of them."""

    items: list[str]
    ballots: list[Ballot]
    complete: str
    unranked: str | None
    withdrawn: list[str]
    numbers: str
    none: list[str]
    people: bool
    weighted: bool
    counted: bool
    clean: bool
    between: str = ">"

    def cell(self, level: int) -> str:
        """A level as a place is written."""
        words = {"words": f"{level + 1}. choice", "zero": str(level), "high": str(20 - level)}
        halves, whole = f"{(level + 1) / 2:g}", f"{level + 1}.00"
        words |= {"plain": str(level + 1), "float": whole, "half": halves.removeprefix("0"), "far": str(3 * level + 7)}
        return words[self.numbers]

    def flags(self) -> dict[str, str]:
        """How numbers are declared, as flags of a command."""
        said = {"--best": "high"} if self.numbers == "high" else {"--lowest": "0"} if self.numbers == "zero" else {}
        if self.numbers == "words":
            said["--map"] = ",".join(f"{level + 1}. choice={level + 1}" for level in range(40))
        return said


def drawn(rng: Random) -> Drawn:
    """A set of up to a dozen ballots of two to six items."""
    items = rng.sample(NAMES, rng.randint(2, 6))
    complete = rng.choice(["full", "tied", "partial", "partial"])
    it = Drawn(
        items, [], complete, rng.choice(["apart", "last"]) if complete == "partial" else None,
        rng.sample(GONE, rng.randint(0, 2)), rng.choice(NUMBERS), rng.choice([[], [], ["99", "-1", "undervote"]]),
        rng.random() < 0.5, rng.random() < 0.25, False, rng.random() < 0.3,
    )  # fmt: skip
    it.between = ";" if rng.random() < 0.2 else ">"
    it.counted = not it.people and rng.random() < 0.3
    strange = rng.sample(STRANGE, rng.choice([0, 0, 1, 2]))
    left, tie, skip, odd = rng.choice([0, 0.3]), rng.choice([0, 0, 0.3]), rng.choice([0, 0.3]), rng.choice([0, 0, 0.1])
    for at in range(rng.choice([0, 1, 3, 6, 12])):
        away = [*it.withdrawn, *strange, *([GONE[0]] if rng.random() < 0.1 else [])]
        names = [name for name in items if rng.random() >= left] + [name for name in away if rng.random() < 0.5]
        names = list(dict.fromkeys(names))
        rng.shuffle(names)
        level, said = 0, []
        for name in names:
            said.append((name, level))
            level += 0 if rng.random() < tie else 2 if rng.random() < skip else 1
        if it.clean and said and rng.random() < 0.2:  # the same item again, in other letters
            name = rng.choice([name for name, _ in said])
            said.append((name.upper(), rng.randint(0, level + 1)))
        ballot = Ballot(said, rng.random() < odd)
        ballot.person = f"p{at if rng.random() < 0.8 else 0}"
        ballot.weight = rng.choice(["0", "1", "2", "5", "9", "3.0", *(["x", "-1", "1.5"] if odd else [])])
        ballot.times = rng.choice([0, 1, 1, 2, 3]) if it.counted else 1
        it.ballots.append(ballot)
    return it


def meant(it: Drawn, ballot: Ballot, by_name: bool) -> dict[str, float] | None:
    """The level of every item that a ballot ranks; None where it ranks nothing."""
    if ballot.wrong:
        return None
    place: dict[str, float] = {}
    again = stranger = False
    if by_name and "oak" in it.items and any(name.lower() == "7:oak" for name, _ in ballot.said):
        return None  # one ballot, or seven
    for written, level in ballot.said:
        name = written.lower() if it.clean else written
        if name in it.items:
            again |= name in place and place[name] != level
            place[name] = min(level, place.get(name, level))
        elif name not in it.withdrawn:
            stranger = True
    ties = len(set(place.values())) < len(place)
    missing = [name for name in it.items if name not in place]
    if (again and ties) or (missing and it.complete != "partial") or (ties and it.complete == "full"):
        return None
    if it.unranked == "last" and not (stranger and by_name):
        place |= dict.fromkeys(missing, float("inf"))
    return place


def counted(it: Drawn, by_name: bool) -> tuple[int, list[list[int]]]:
    """How many ballots there are, and by how much each item is put before each other."""
    table = [[0] * len(it.items) for _ in it.items]
    people: dict[str, list[tuple[dict[str, float], int]]] = {}
    number = 0
    for at, ballot in enumerate(it.ballots):
        number += ballot.times
        place, heavy = meant(it, ballot, by_name), ballot.times
        if it.weighted:
            good = ballot.weight in ("0", "1", "2", "5", "9", "3.0")
            heavy *= min(5, int(float(ballot.weight))) if good else 0
            place = place if good else None
        mine = people.setdefault(ballot.person if it.people else str(at), [])
        if place is not None:
            mine.append((place, heavy))
    for mine in people.values():
        if len(mine) != 1:  # of a person with several none counts
            continue
        [(place, heavy)] = mine
        for i, one in enumerate(it.items):
            for j, other in enumerate(it.items):
                if one in place and other in place:
                    table[i][j] += heavy * ((place[one] < place[other]) - (place[one] > place[other]))
    return (len(people) if it.people else number), table


def quoted(cells: list[Any]) -> str:
    """A line of CSV."""
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)


def told(it: Drawn) -> list[Ballot]:
    """The ballots one by one."""
    return [ballot for ballot in it.ballots for _ in range(ballot.times)]


def _rows(it: Drawn, header: list[str], cells: Any) -> str:
    """A row a ballot: a column of the person, of the weight and of the count, where there are any."""
    more = [*(["who"] if it.people else []), *(["w"] if it.weighted else []), *(["count"] if it.counted else [])]
    lines = [quoted([*more, *header])]
    for ballot in it.ballots:
        before = [*([ballot.person] if it.people else []), *([ballot.weight] if it.weighted else [])]
        lines.append(quoted([*before, *([ballot.times] if it.counted else []), *cells(ballot)]))
    return "\n".join(lines) + "\n"


def wide(it: Drawn, rng: Random) -> str | None:
    """A column an item, and columns of what is none; an item is there once."""
    if any(len({name.lower() for name, _ in ballot.said}) < len(ballot.said) for ballot in it.ballots):
        return None
    header = [*it.items, *dict.fromkeys((*GONE, *STRANGE))]

    def cells(ballot: Ballot) -> list[str]:
        level = dict(ballot.said)
        found = [it.cell(level[name]) if name in level else rng.choice([*NOTHING, *it.none]) for name in header]
        if ballot.wrong:
            found[rng.randrange(len(it.items))] = rng.choice(WRONG)
        return found

    return _rows(it, header, cells)


def long(it: Drawn, rng: Random) -> str:
    """A row an item; a ballot that says nothing has a row of no place."""
    lines = [quoted(["who", "sheet", "name", "place", "w"])]
    for at, ballot in enumerate(told(it)):
        said = [(name, it.cell(level)) for name, level in ballot.said]
        said += [(rng.choice(it.items), rng.choice(WRONG))] if ballot.wrong else []
        said += [(name, rng.choice([*NOTHING, *it.none])) for name in it.items if rng.random() < 0.2]
        said += [(rng.choice(["", "-", *it.none]), it.cell(9))] if rng.random() < 0.2 else []
        rng.shuffle(said)
        said = said or [(it.items[0], "")]
        lines += [quoted([ballot.person, at, name, place, ballot.weight]) for name, place in said]
    return "\n".join(lines) + "\n"


def _levels(ballot: Ballot) -> list[list[str]]:
    tiers: list[list[str]] = [[] for _ in range(1 + max((level for _, level in ballot.said), default=-1))]
    for name, level in ballot.said:
        tiers[level].append(name)
    return tiers


def orders(it: Drawn, rng: Random) -> str:
    """A text; between its signs nothing may be, or a word for it."""

    def cells(ballot: Ballot) -> list[str]:
        sign = rng.choice(["", " "]) + it.between + rng.choice(["", "  "])
        parts = [
            rng.choice(["=", " = "]).join(tied) or rng.choice(["", " ", "-", *it.none]) for tied in _levels(ballot)
        ]
        if ballot.wrong:
            parts.insert(rng.randint(0, len(parts)), f"{rng.randint(1, 99)}:{rng.choice(it.items)}")
        return [sign.join([*parts, *[""] * rng.choice([0, 0, 1])])]

    return _rows(it, ["vote"], cells)


def ranks(it: Drawn, rng: Random) -> str | None:
    """A column a place, which holds one name."""
    if any(ballot.wrong or max(map(len, _levels(ballot)), default=0) > 1 for ballot in it.ballots):
        return None
    width = max(1, *(len(_levels(ballot)) for ballot in it.ballots)) if it.ballots else 1

    def cells(ballot: Ballot) -> list[str]:
        found = [tied[0] if tied else rng.choice(["", "NA", *it.none]) for tied in _levels(ballot)]
        return found + [""] * (width - len(found))

    return _rows(it, [f"r{at}" for at in range(width)], cells)


def preflib(it: Drawn, rng: Random) -> str | None:
    """Lines of counts and orders: nobody is named, and none weighs more."""
    if it.people or it.weighted:
        return None
    names = [*it.items, *GONE, *STRANGE]
    names += [name.upper() for name in names if name.upper() != name] if it.clean else []
    number = {name: at for at, name in enumerate(names, 1)}
    lines = []
    for ballot in it.ballots:
        tiers = [",".join(dict.fromkeys(str(number[name]) for name in tied)) for tied in _levels(ballot) if tied]
        order = ",".join(tied if "," not in tied else "{" + tied + "}" for tied in tiers)
        flat = order.replace("{", "").replace("}", "").split(",")
        if order and len(set(flat)) < len(flat):
            return None
        order = f"{order},x" if ballot.wrong else order
        lines.append(f"{ballot.times}: {order}")
    header = ["FILE NAME: a.toi", "DATA TYPE: toi", f"NUMBER ALTERNATIVES: {len(names)}",
              f"NUMBER VOTERS: {len(told(it))}", f"NUMBER UNIQUE ORDERS: {len(lines)}",
              *(f"ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(names, 1))]  # fmt: skip
    rng.shuffle(lines)
    return "\n".join([*(f"# {it}" for it in header), *lines, ""])


DOORS = {"wide": wide, "long": long, "orders": orders, "ranks": ranks, "preflib": preflib}
