"""Small files of the kinds that people have, by writers of our own: the same ballots in every format."""

from typing import NamedTuple

CANDIDATES = ("Amy Lee", "Bob", "Chuck", "Dó")


class Cast(NamedTuple):
    """So many ballots: best first, what is tied together, candidates from 0."""

    times: int
    order: tuple[tuple[int, ...], ...]


#: With ties, left out, nothing at all, and one order twice.
PROFILE = (
    Cast(12, ((3,), (0,), (2,), (1,))),
    Cast(7, ((0,), (1,))),
    Cast(3, ((2,), (0, 1))),
    Cast(1, ()),
    Cast(2, ((1,),)),
    Cast(5, ((0,), (1,))),
)
#: For formats without ties.
STRICT = tuple(it for it in PROFILE if all(len(tied) == 1 for tied in it.order))


def blt(profile=PROFILE, names=CANDIDATES, withdrawn=()):
    """As OpaVote writes it."""
    gone = [" ".join(f"-{it + 1}" for it in withdrawn)] if withdrawn else []
    lines = [
        " ".join([str(times), *("=".join(str(it + 1) for it in tied) for tied in order), "0"])
        for times, order in profile
    ]
    return "\n".join([f"{len(names)} 1", *gone, *lines, "0", *(f'"{it}"' for it in names), '"The club"', ""])


def abif(profile=PROFILE, names=CANDIDATES):
    """With short names, and a line of metadata."""
    short = [f"C{at}" for at in range(len(names))]
    lines = [f"{times}:" + ">".join("=".join(short[it] for it in tied) for tied in order) for times, order in profile]
    listed = [f"={it}:[{name}]" for it, name in zip(short, names, strict=True)]
    return "\n".join(['{version: "0.1"}', *listed, "# ballots", *lines, ""])


def cvotes(profile=PROFILE, names=CANDIDATES):
    """As CondorcetVote writes it."""
    orders = [" > ".join(" = ".join(names[it] for it in tied) for tied in order) for _, order in profile]
    lines = [f"{order or '/EMPTY_RANKING/'} * {times}" for (times, _), order in zip(profile, orders, strict=True)]
    return "\n".join([f"#/Candidates: {' ; '.join(names)}", "#/Implicit Ranking: false", "", *lines, ""])


def scottish(profile=STRICT, names=CANDIDATES):
    """As in scot-elex."""
    lines = ["".join(f"{it}," for it in (times, *(tied[0] + 1 for tied in order))) for times, order in profile]
    listed = [f'"Candidate {at}","{name}","Party {at} (P{at})",' for at, name in enumerate(names, 1)]
    return "\n".join([f"{len(names)},2,", *lines, *listed, '"Ward 5",', ""])


def debian(profile=PROFILE, names=CANDIDATES):
    """As on vote.debian.org, a line a voter."""
    head = [f"{'|' * at}/ Option {at}{'-' * 9}>: {name}" for at, name in enumerate(names, 1)]
    lines = []
    for times, order in profile:
        place = {it: str(at) for at, tied in enumerate(order, 1) for it in tied}
        vote = "".join(place.get(it, "-") for it in range(len(names)))
        lines += [f"V: {vote}\tvoter{len(lines) + at}\tSECRET Person" for at in range(times)]
    return "\n".join(["Tally Sheet for the votes cast.", "", *head, "", *lines, ""])


#: Without ballots that rank nobody, which PrefLib has no line for.
RANKED = [it for it in PROFILE if it.order]


def preflib(profile=RANKED, names=CANDIDATES):
    """As preflib.org has it since 2022."""
    lines = [
        f"{times}: " + ",".join("{" * (len(tied) > 1) + ",".join(str(it + 1) for it in tied) + "}" * (len(tied) > 1)
                                for tied in order)
        for times, order in profile
    ]  # fmt: skip
    head = [
        "FILE NAME: a.toi", "DATA TYPE: toi", f"NUMBER ALTERNATIVES: {len(names)}",
        f"NUMBER VOTERS: {sum(it.times for it in profile)}", f"NUMBER UNIQUE ORDERS: {len(profile)}",
        *(f"ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(names, 1)),
    ]  # fmt: skip
    return "\n".join([*(f"# {it}" for it in head), *lines, ""])


#: What each format writes, its suffix, and what of the profile it can say.
FORMATS = {
    "blt": (blt, ".blt", PROFILE),
    "abif": (abif, ".abif", PROFILE),
    "cvotes": (cvotes, ".cvotes", PROFILE),
    "scottish": (scottish, ".csv", STRICT),
    "debian": (debian, ".txt", PROFILE),
    "preflib": (preflib, ".toi", tuple(it for it in PROFILE if it.order)),
}

#: Who has which items, by their numbers; somebody has none, and two have the same.
BASKETS = ((0, 2), (1,), (), (0, 1, 3), (2,), (0, 2))


def each_column(baskets=BASKETS, names=CANDIDATES):
    """A column a diagnosis: DX1, DX2 and so on, as hospitals write them."""
    most = max(map(len, baskets))
    rows = [[f"p{at}", *(names[it] for it in has), *[""] * (most - len(has))] for at, has in enumerate(baskets)]
    return "\n".join(",".join(row) for row in [["id", *(f"DX{at + 1}" for at in range(most))], *rows]) + "\n"


def one_cell(sign, baskets=BASKETS, names=CANDIDATES):
    """A list in a cell, as forms write several answers to one question."""
    rows = [f'p{at},"{sign.join(names[it] for it in has)}"' for at, has in enumerate(baskets)]
    return "\n".join(["id,things", *rows]) + "\n"


def zeros_and_ones(marks=("0", "1"), baskets=BASKETS, names=CANDIDATES):
    """A column an item, with a mark where somebody has it."""
    rows = [",".join([f"p{at}", *(marks[it in has] for it in range(len(names)))]) for at, has in enumerate(baskets)]
    return "\n".join([",".join(["id", *names]), *rows]) + "\n"


def cat(baskets=BASKETS, names=CANDIDATES, voters=None):
    """A .cat of PrefLib: approved, and not."""
    lines = [
        "1: " + ",".join("{" + ",".join(str(it + 1) for it in part) + "}" for part in (has, others))
        for has in baskets
        for others in [[it for it in range(len(names)) if it not in has]]
    ]
    head = [
        "FILE NAME: a.cat", "DATA TYPE: cat", f"NUMBER ALTERNATIVES: {len(names)}",
        f"NUMBER VOTERS: {len(baskets) if voters is None else voters}",
        f"NUMBER UNIQUE PREFERENCES: {len(set(baskets))}",
        "NUMBER CATEGORIES: 2", "CATEGORY NAME 1: Yes", "CATEGORY NAME 2: No",
        *(f"ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(names, 1)),
    ]  # fmt: skip
    return "\n".join([*(f"# {it}" for it in head), *lines, ""])


def dominion(profile=PROFILE, names=CANDIDATES, contest=5):
    """The three files of an export, by their names; what is tied is an overvote."""
    numbers = [12 + 7 * at for at in range(len(names))]

    def session(at, order):
        marks = [
            {"CandidateId": numbers[it], "Rank": rank, "MarkDensity": 90, "IsAmbiguous": False, "IsVote": True}
            for rank, tied in enumerate(order, 1)
            for it in tied
        ]
        contests = [{"Id": 3, "Marks": []}, {"Id": contest, "Marks": marks, "Undervotes": 0}]
        cards = [{"Id": 1, "Contests": contests}]
        return {"TabulatorId": 1, "RecordId": at, "Original": {"IsCurrent": True, "Cards": cards}}

    orders = [order for times, order in profile for _ in range(times)]
    return {
        "CvrExport.json": {"Version": "5.10", "Sessions": [session(at, order) for at, order in enumerate(orders)]},
        "ContestManifest.json": {
            "List": [
                {"Id": 3, "Description": "Sheriff", "NumOfRanks": 0},
                {"Id": contest, "Description": "Mayor", "NumOfRanks": len(names)},
            ]
        },
        "CandidateManifest.json": {
            "List": [
                {"Id": 99, "Description": "SECRET", "ContestId": 3},
                *(
                    {"Id": it, "Description": name, "ContestId": contest}
                    for it, name in zip(numbers, names, strict=True)
                ),
            ]
        },
    }
