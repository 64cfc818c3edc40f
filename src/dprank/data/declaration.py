"""What a file holds and what of it counts, declared before anybody looks (long: each rule is explained, and held)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from dprank._require import require_one_of, require_whole, settle, shown, visible
from dprank.data.accounts import Intake
from dprank.data.amounts import MARKS
from dprank.data.answers import require_silent, settled_answers, told_answers
from dprank.data.ballots import HEAVIEST
from dprank.data.cleaning import cleaner, nearest
from dprank.data.comparisons import item_names
from dprank.data.files import require_path, require_regular
from dprank.data.forms import BALLOT_FILES, form_named
from dprank.data.headers import UNNAMED
from dprank.data.intake import pair_of, read_file
from dprank.data.layout import Layout
from dprank.data.places import BACKWARDS, meanings
from dprank.questions import Kind

__all__ = [
    "COMPLETE",
    "FORMS",
    "RULES_OF_BALLOTS",
    "Completeness",
    "Declaration",
    "Intake",
    "declared_part",
    "release_part",
]

#: What every ballot ranks: all items and none tied; all items; some of them.
Completeness = Literal["full", "tied", "partial"]
#: How rows say it, and the columns that each form needs; the first is the default.
FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "comparisons": {
        "long": ("first", "second", "answer"),
        "wide": (),
        "points": ("first", "second", "points of the first", "points of the second"),
    },
    "ballots": {"wide": (), "long": ("item", "place"), "orders": ("order",), "ranks": ("best",)},
    "tallies": {"long": ("item",), "each": ("first",), "basket": ("list",), "marked": (), "preflib": ()},
}
#: Files that name their candidates need none.
HELD = tuple(it.name for it in BALLOT_FILES)
FORMS["ballots"] |= dict.fromkeys(HELD, ())
#: Keys that some kinds alone have.
OF = {
    "answers": ("comparisons",),
    "pairs": ("comparisons",),
    "ballots": ("ballots",),
    "unranked": ("ballots",),
    "repeated": ("ballots",),
    "ballot": ("ballots",),
    "weight": ("ballots",),
    "max_weight": ("ballots",),
    "places": ("ballots",),
    "best": ("ballots", "comparisons"),
    "lowest": ("ballots",),
    "times": ("ballots", "comparisons"),
    "between": ("ballots", "tallies"),
    "thousands": ("ballots", "comparisons"),
}
#: The same of codes that say that there is none.
OF_CODES = {"unranked_as": ("ballots", "comparisons"), "withdrawn": ("ballots",)}
#: Rules of ballots that some forms alone have, and why others have not.
OF_FORMS = {
    "places": (("wide", "long"), "an order of names holds no places"),
    "best": (("wide", "long", "points"), "an order of names holds no places"),
    "lowest": (("wide", "long"), "an order of names holds no places"),
    "between": (
        ("orders", "basket"),
        "only an order as text has a sign between its places, and a list between its items",
    ),
    "times": (("wide", "orders", "ranks", "long", "points"), "only where a row is a ballot it may stand for several"),
}

#: Rules that a published file tells, where they are not the usual ones; which number is best, always.
RULES_OF_BALLOTS = (
    *("ballots", "repeated", "weights", "places", "cells", "no place", "withdrawn", "times", "numbers", "answers"),
    "rows",
    "data",
)
#: What an answer about two items means, by the name of the meaning.
MEANT = {
    "names": "the name of the item that is preferred",
    "outcome": "1 for the first item, 0 for the second, 0.5 for a tie",
    "position": "1 for the first item, 2 for the second",
}
#: Why counts of categories are none.
TOTALS = "totals alone say nothing of who is in several of them: a row for each person and item is needed"
#: Keys by which somebody says what cells mean, beside `clean`; each may be chosen after a look at them.
MEANINGS = ("aliases", "places", "best", "lowest", "unranked_as", "withdrawn", "thousands")
#: Lines of a declaration that hold words of cells, as somebody may have read them there.
_OF_CELLS = ("aliases = ", "places = ", "unranked_as = ", "withdrawn = ", "layout = ")
#: What a row is that may stand for several.
OF_ROWS = {"ballots": "ballots", "comparisons": "answers"}
#: Keys that hold names of columns.
_OF_COLUMNS = ("person", "columns", "pairs", "ballot", "weight", "times")
#: What is said of full ballots, where others are beside them; and of those that need not be full.
FULL = "all items, none alike"
COMPLETE = {
    "tied": "all items, with ties",
    "apart": "some items, with or without ties; an item without a place is compared with no other",
    "last": "some items, with or without ties; those without a place are behind the others, but on a ballot that names "
    "what the declaration does not know",
}


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Columns, public items and cleaning rules of a file.

    Rows that do not fit are left out, and only the curator is told: to refuse them would tell of whoever gave them.
    Every rule looks at one row, or at the rows of one person, so the guarantee of a mechanism on what is left is its
    guarantee on the file.

    Parameters
    ----------
    kind : {"comparisons", "ballots", "tallies"}
        Answers about two items; orders of them; which items a person has.
    items : sequence of str
        All of them, decided before looking at the data; published as written here, compared after cleaning.
    person : str, optional
        The column that says who, by labels as of `dprank.data.bounding.person_ids`; a float of 2^53 or more names
        nobody, as whole numbers run together there. Without it an answer, or a ballot, is all that can be protected.
    columns : tuple of str
        Those of the form, in its order. Of rows that have a winner and a loser alone: winner, loser, winner, with
        ``answers="names"``.
    answers : {"names", "outcome", "position"} or mapping of str to float
        What an answer means; of comparisons it must be said, as no file says it. "names": the name of the item that is
        preferred. "outcome": 1 for the first item, 0 for the second, 0.5 for a tie. "position": 1 for the first, 2 for
        the second. A map gives what is written 1 where the first item is preferred, 0 where the second is, 0.5 for a
        tie; the name of one of the two items says beside it that this one is, and cannot be in it. Numbers are compared
        as numbers: 1, 1.0 and 1.00 are one, .5 is 0.5; true is 1, false is 0. Any other answer is left out.
    clean : sequence of {"nfkc", "strip", "spaces", "casefold"}
        As in `dprank.data.cleaning.cleaner`.
    aliases : mapping of str to str, optional
        As in `dprank.data.cleaning.cleaner`.
    form : str, optional
        Of comparisons "long", a row an answer (columns: first item, second item, answer), or "wide", a row a
        questionnaire and a column a pair, or "points", a row two items and the points of each (columns: first item,
        second item, points of the first, points of the second), of which the item with more is preferred, or with fewer
        by ``best="low"``, and neither where they are equal. Of ballots "wide", a column an item that holds its place, 1
        for the best; "long", a row an item (columns: item, place); "orders", a column of texts like ``A > B = C``;
        "ranks", a column a place, best first, which holds an item; or a file that names its candidates, one of
        `dprank.data.forms.BALLOT_FILES`, as "preflib" or "blt". Of tallies "long" (column: item). The first is the
        default; "each", a row a person and several columns, each of which holds an item or nothing; "basket", a column
        of lists of items; "marked", a column an item, with 1 where the person has it; "preflib", of a .cat file what is
        in the first category. In those a row is as good as a person where no column says who.
    pairs : mapping of str to str, or sequence of str, optional
        Of a wide questionnaire: its columns, and what each asks, like ``Pay vs Hours``. Without it all columns that are
        named so, by two declared items.
    ballots : {"full", "tied", "partial"}
        What every ballot ranks: all items and none alike; all, with ties; some, with or without ties. Declared, as the
        noise depends on it: to see it in the data would tell of whoever is the only one. Other ballots rank nothing.
        "full" by default where the form is wide.
    unranked : {"apart", "last"}, optional
        Of partial ballots, and then needed: whether an item without a place is compared with no other, or tied with all
        of its kind behind those that have one. A ballot that names what is no item may mean by it one that it leaves
        out: those of such a ballot are compared with no other, either way.
    repeated : {"one", "none"}
        What counts of a person with several ballots: one, by a hash of that person's ballots, or none.
    ballot : str, optional
        Of long ballots the column that says which ballot; without it a person has one.
    weight : str, optional
        The column of how much a ballot counts, in whole numbers.
    max_weight : int, optional
        Most that any counts; a larger weight counts as this. Needed with `weight`.
    places : mapping of str to float or str, optional
        What a cell of a place means, like ``{"1st choice": 1, "0": ""}``: a place, or "" for none. A key that is a
        number is meant by its value; others after `clean`. Without it numbers above 0 are places, ``1.00`` is 1, and
        blanks, NA, n/a, none and dashes are none. A ballot with any other cell ranks nothing.
    unranked_as : sequence of str
        Cells, and names on a ballot, that say that there is no place, or no item: ``99``, ``undervote``. Of comparisons
        answers that say nothing: they are left out as an empty one is.
    best : {"low", "high"}, optional
        Which number is the best: the lowest by default.
    lowest : float, optional
        The lowest number that is a place, as 0 where places begin at 0.
    between : str, optional
        What stands between two places of an order as text, as ";"; ">" by default. Between items of a list, and then
        needed.
    withdrawn : sequence of str
        Names that ballots may hold and that are no items: they are taken off, and nobody is taken to have meant others.
    times : str, optional
        The column that says for how many ballots, or answers, a row stands, where nobody is named; "none" that each row
        is one, whatever columns are called.
    thousands : {".", ",", "'", " ", "none"}, optional
        Of `times` and `weight` what stands between thousands, or that nothing does. Until it is said ``1.000``,
        ``1,000`` and ``1 000`` are no numbers: a file does not say whether they are one, or one thousand.
    before_looking : sequence of str, optional
        Which rules of `clean` (and "aliases") were chosen before anybody looked at the data, or by the list of items
        alone. Nothing can check it: it is declared, and a published release names all others as tuned on the data.
        Unless it is given, a release says that nobody said.
    layout : mapping of str to str or int, optional
        What a file does not say of itself: keys of `dprank.data.layout.Layout`, as ``{"sheet": "Answers"}``.

    Raises
    ------
    ValueError
        Naming the key and what is allowed.

    Examples
    --------
    >>> import dprank
    >>> columns = ("first", "second", "outcome")
    >>> declared = Declaration(
    ...     kind="comparisons",
    ...     items=["London", "Paris", "Rome"],
    ...     person="person",
    ...     columns=columns,
    ...     answers="outcome",
    ... )
    >>> intake = declared.read(dprank.example("answers.csv"))
    >>> intake.rows - intake.kept, dict(intake.left_out)
    (0, {})
    """

    kind: Kind
    items: tuple[str, ...]
    person: str | None = None
    columns: tuple[str, ...] = ()
    answers: Mapping[str, float] | str | None = None
    clean: tuple[str, ...] = ()
    aliases: Mapping[str, str] | None = None
    form: str | None = None
    pairs: Mapping[str, str] | None = None
    ballots: Completeness | None = None
    unranked: Literal["apart", "last"] | None = None
    repeated: Literal["one", "none"] | None = None
    ballot: str | None = None
    weight: str | None = None
    max_weight: int | None = None
    places: Mapping[str, float | str] | None = None
    unranked_as: tuple[str, ...] = ()
    best: Literal["low", "high"] | None = None
    lowest: float | None = None
    between: str | None = None
    withdrawn: tuple[str, ...] = ()
    times: str | None = None
    thousands: str | None = None
    before_looking: tuple[str, ...] | None = None
    layout: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        require_one_of("kind", self.kind, get_args(Kind))
        for name, kinds in OF.items():
            lacks = self.kind not in kinds or (name == "best" and self.kind == "comparisons" and self.form != "points")
            if getattr(self, name) is not None and lacks:
                counts = name in ("times", "weight")
                totals = f"; {TOTALS if self.kind == 'tallies' else 'write the row as often as it counts'}" * counts
                raise ValueError(f"{name} = {shown(getattr(self, name))}; {self.kind} have none{totals}")
        forms = FORMS[self.kind]
        form = next(iter(forms)) if self.form is None else require_one_of("form", self.form, tuple(forms))
        columns = _texts("columns", self.columns)
        fits = len(columns) > 0 if form in ("ranks", "each") else len(columns) == len(forms[form])
        # the winner's column may be the answer, too, where it names an item
        by_name = self.kind == "comparisons" and (type(self.answers) is not str or self.answers == "names")
        apart = columns[:2] if by_name else columns
        if not fits or len(set(apart)) != len(apart):
            asked = f"the columns of {', '.join(forms[form])}" if forms[form] else "none"
            two = self.kind == "comparisons" and len(set(columns)) == 2
            asked += ", second and so on" * (form in ("ranks", "each"))
            more = "; of winner and loser alone: winner,loser,winner, and --map names" * two
            raise ValueError(f"columns = {shown(', '.join(map(str, columns)))}; {asked} are needed, each once{more}")
        for name in ("person", "ballot", "weight", "times"):
            if getattr(self, name) is not None:
                _texts(name, [getattr(self, name)])
        rules, aliases = _texts("clean", self.clean), self.aliases
        if aliases is not None:
            _texts("aliases", [*_table("aliases", aliases), *aliases.values()])
        settle(self, layout=Layout.of(self.layout).said or None)
        if form in HELD:
            file = form_named(form)
            said = [it for it in self.layout or () if it not in file.takes]
            if said:
                raise ValueError(f"layout = {shown(said[0])}; {file.words} says all that of itself")
        clean = cleaner(rules, aliases)
        items = item_names([name.strip() for name in item_names(self.items)])
        for at, name in enumerate(items):  # what cannot be written is refused before anything is spent
            if not name.isascii() and name.encode(errors="ignore").decode() != name:
                raise ValueError(f"items[{at}] is no text of Unicode, and cannot be written")
        codes = {name: at for at, name in enumerate(item_names([clean(item) for item in items]))}  # no two alike
        if self.kind == "tallies" and form == "basket" and self.between is None:
            raise ValueError("between = None; what stands between items of a list is needed, as --between ';'")
        if self.kind == "tallies" and form == "long" and self.person is None:
            raise ValueError(f"person = None; tallies are bounded by person: say which column names them; {TOTALS}")
        settle(self, columns=columns, items=items, clean=rules, aliases=aliases, form=form)
        if self.before_looking is not None:
            before = _texts("before_looking", self.before_looking)
            if unknown := [rule for rule in before if rule not in self.rules]:
                allowed = ", ".join(self.rules) or "none, as no rule is declared"
                raise ValueError(
                    f"before_looking = {shown(unknown[0])}; a rule of this declaration is needed: {allowed}"
                )
            settle(self, before_looking=tuple(rule for rule in self.rules if rule in before))
        self._settle_pairs(codes)
        if self.form == "points":
            if self.answers is not None:
                raise ValueError(f"answers = {shown(self.answers)}; points say which item is preferred, and need none")
        elif self.kind == "comparisons":
            settle(self, answers=settled_answers(self.answers, codes, clean))
        self._settle_cells(codes)
        if self.kind == "ballots":
            self._settle_ballots()

    def _settle_pairs(self, codes: Mapping[str, int]) -> None:
        """Refuse what asks about no two items."""
        if self.pairs is None:
            return
        if self.form != "wide":
            raise ValueError(f"pairs = {shown(self.pairs)}; only a wide questionnaire has a column a pair")
        given: Any = self.pairs
        pairs = given if type(given) is dict else {it: it for it in _texts("pairs", given)}
        clean = cleaner(self.clean, self.aliases)
        for header, said in zip(_texts("pairs", list(pairs)), _texts("pairs", list(pairs.values())), strict=True):
            if pair_of(said, codes, clean) is None:
                raise ValueError(f"pairs: {shown(header)} = {shown(said)}; two items are needed, like 'Pay vs Hours'")
        if not pairs:
            raise ValueError("pairs are none; at least one is needed")
        settle(self, pairs=pairs)

    def _settle_cells(self, codes: Mapping[str, int]) -> None:
        """Refuse what gives a cell of a ballot no meaning, or two."""
        for name in ("unranked_as", "withdrawn"):
            given = _texts(name, getattr(self, name))
            if given and self.kind not in OF_CODES[name]:
                raise ValueError(f"{name} = {shown(given[0])}; {self.kind} have none")
            clean = cleaner(self.clean, self.aliases)
            if (name == "withdrawn" or self.form in ("orders", "ranks", *HELD)) and (
                both := [it for it in given if clean(it) in codes]
            ):
                raise ValueError(f"{name} = {shown(both[0])}; it is an item")
            if self.kind == "comparisons":
                require_silent(given, self.answers or "names", codes, clean)
            settle(self, **{name: tuple(dict.fromkeys(given))})
        for name, (forms, why) in OF_FORMS.items():
            said = getattr(self, name)
            several = name == "times" and self.form == {"ballots": "long", "comparisons": "wide"}.get(self.kind)
            if said is not None and (several or self.form not in forms) and (name, said) != ("times", "none"):
                raise ValueError(f"{name} = {shown(getattr(self, name))}; {why}")
        if self.places is not None:
            _texts("places", list(_table("places", self.places)))
            settle(self, places={key: _place(it) for key, it in self.places.items()})
        usual = "high" if self.form == "points" else "low"
        if self.best is not None and require_one_of("best", self.best, ("low", "high")) == usual:
            settle(self, best=None)
        if self.lowest is not None:
            if type(self.lowest) not in (int, float) or not abs(self.lowest) <= 2**53:
                raise ValueError(f"lowest = {shown(self.lowest)}; the lowest number that is a place is needed")
            settle(self, lowest=float(self.lowest))
        for key, it in (self.places or {}).items():
            if isinstance(it, float) and (it <= 0 if self.lowest is None else it < self.lowest):
                floor = "places are above 0" if self.lowest is None else f"the lowest place is {self.lowest:g}"
                raise ValueError(
                    f"places: {shown(key)} = {it:g}; {floor}: {shown(f'{key}=')} says that there is none, and "
                    f"--lowest {it:g} that this is one"
                )
        if self.between is not None and not _texts("between", [self.between])[0].strip("= "):
            raise ValueError(f"between = {shown(self.between)}; a sign is needed, and = stands between tied items")
        order = (self.between or "") if self.kind == "ballots" else ""
        if mark := next((it for it in order if it in BACKWARDS), None):
            raise ValueError(
                f"between = {shown(self.between)}; {mark} says that the best comes last, and an order is read the best "
                "first: write it that way round, as A > B"
            )
        if self.between == ">" and self.kind == "ballots":
            settle(self, between=None)
        if self.times not in (None, "none") and self.person is not None:
            raise ValueError(f"times = {shown(self.times)}; where a column says who, each row is one person's")
        if self.thousands is not None:
            if self.thousands not in (*MARKS, "none"):
                allowed = "a point, a comma, a blank or ' , or none"
                raise ValueError(f"thousands = {shown(self.thousands)}; {allowed} is what stands between thousands")
            if self.times in (None, "none") and self.weight is None:
                raise ValueError(f"thousands = {shown(self.thousands)}; only times and weight name a column of amounts")
        meanings(self)

    def _settle_ballots(self) -> None:
        """Refuse what leaves open which ballots there may be."""
        if self.ballots is None and self.form != "wide":
            raise ValueError(
                "ballots are not declared; say --ballots full (all items, none alike), tied (all items), or partial "
                "(some, with --unranked apart or last)"
            )
        ballots = "full" if self.ballots is None else require_one_of("ballots", self.ballots, get_args(Completeness))
        if self.unranked is not None:
            require_one_of("unranked", self.unranked, ("apart", "last"))
        if ballots == "partial" and self.unranked is None:
            raise ValueError(
                "unranked is not declared, and no file says it; say --unranked apart (an item without a place is "
                "compared with no other) or --unranked last (all of them are behind those that have one)"
            )
        if ballots != "partial" and self.unranked is not None:
            raise ValueError(f"unranked = {self.unranked!r}; only ballots = 'partial' leave items out")
        repeated = "one" if self.repeated is None else require_one_of("repeated", self.repeated, ("one", "none"))
        if (self.weight is None) != (self.max_weight is None):
            raise ValueError("weight and max_weight go together: a column, and the most that any ballot counts")
        if self.max_weight is not None:
            settle(self, max_weight=require_whole("max_weight", self.max_weight, 1, HEAVIEST))
        for name in ("person", "weight"):
            if self.form in HELD and getattr(self, name) is not None:
                raise ValueError(
                    f"{name} = {shown(getattr(self, name))}; {form_named(str(self.form)).words} counts ballots and has "
                    "none"
                )
        if self.ballot is not None and self.form != "long":
            raise ValueError(f"ballot = {shown(self.ballot)}; only long ballots have several rows")
        if self.form == "long" and self.person is None and self.ballot is None:
            raise ValueError("person = None, ballot = None; one is needed to say which rows are one ballot")
        sign = self.between or ">"
        marks = [name for name in self.items if sign in name or "=" in name] if self.form == "orders" else []
        if marks:
            ties = "; = always ties: take it out of the name, there and here" * ("=" in marks[0])
            other = f"; put another sign than {sign} between places in the file, and say it with --between"
            raise ValueError(
                f"items: {shown(marks[0])} holds {sign} or =, which stand between items of an order{ties or other}"
            )
        settle(self, ballots=ballots, repeated=repeated)

    @property
    def item_columns(self) -> tuple[str, ...]:
        """Items that are columns of a table: all, or none.

        Examples
        --------
        >>> Declaration(kind="ballots", items=["a", "b"]).item_columns
        ('a', 'b')
        """
        return self.items if (self.kind, self.form) in (("ballots", "wide"), ("tallies", "marked")) else ()

    @property
    def held(self) -> bool:
        """Whether the file names its candidates, as one of PrefLib does.

        Examples
        --------
        >>> Declaration(kind="ballots", items=["a", "b"], form="blt", ballots="tied").held
        True
        """
        return self.form in HELD

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of all rules that change cells, or say what they mean, each once: those of `clean`, and keys with any.

        Examples
        --------
        >>> Declaration(kind="ballots", items=["a", "b"], clean=["strip"], aliases={"c": "a"}, best="high").rules
        ('strip', 'aliases', 'best')
        """
        return (*dict.fromkeys(self.clean), *(name for name in MEANINGS if getattr(self, name) not in (None, (), {})))

    @property
    def unit(self) -> Literal["answer", "ballot", "person"]:
        """What is protected at most: one person, where the data say who; else one ballot, questionnaire or answer."""
        if self.person is not None:
            return "person"
        by_row = self.kind == "ballots" or self.form == "wide" or (self.kind == "tallies" and self.form != "long")
        return "ballot" if by_row else "answer"

    def rules_of_ballots(self) -> dict[str, str]:
        """Rules that a reader needs, in words, where they are not the usual ones; which number is best always.

        Of cells and names that are given a meaning their number is told, not their words: those may be what somebody
        wrote, as aliases may.

        Examples
        --------
        >>> Declaration(kind="ballots", items=["a", "b"], ballots="tied").rules_of_ballots()
        {'ballots': 'all items, with ties', 'places': 'the lowest number is the best'}
        """
        rules = {}
        if self.kind == "ballots" and self.ballots != "full":
            rules["ballots"] = COMPLETE[self.unranked or "tied"]
        if self.repeated == "none":
            rules["repeated"] = "of a person with several ballots none counts"
        if self.max_weight is not None:
            rules["weights"] = f"from 0 to {self.max_weight}; a larger one counts as that"
        if self.kind == "ballots" and self.form in OF_FORMS["places"][0]:
            lowest = "" if self.lowest is None else f", and none is below {self.lowest:g}"
            rules["places"] = f"the {'highest' if self.best == 'high' else 'lowest'} number is the best{lowest}"
        if self.places:
            rules["cells"] = f"{_some(self.places, 'cell')} with a declared meaning"
        if self.unranked_as:
            none = "of answers that say nothing" if self.kind == "comparisons" else "for it"
            rules["no place"] = f"{_some(self.unranked_as, 'code')} {none}"
        if self.withdrawn:
            rules["withdrawn"] = f"{_some(self.withdrawn, 'name')}, taken off ballots"
        if self.form == "points":
            rules["answers"] = f"the item with {'fewer' if self.best == 'low' else 'more'} points is preferred"
        if self.kind == "comparisons" and self.answers is not None:
            rules["answers"] = MEANT[self.answers] if isinstance(self.answers, str) else told_answers(self.answers)
        if self.times not in (None, "none"):
            rules["times"] = f"a row stands for as many {OF_ROWS[self.kind]} as it says"
        if self.form in HELD[1:]:
            rules["times"] = "a line stands for as many ballots as it says"
        if self.thousands is not None:
            what = "nothing" if self.thousands == "none" else "a blank" if self.thousands == " " else self.thousands
            rules["numbers"] = f"of ballots, and weights, have {what} between thousands"
        if "sql" in (self.layout or {}):
            rules["rows"] = "those that a query over a database gave, by which the promise goes"
        return rules

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """A declaration from its file; an unknown key is an error.

        Raises
        ------
        ValueError
            Naming the file, and the key or the line.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
        >>> _ = file.write_text('kind = "ballots"\\nitems = ["a", "b"]\\nperson = "who"\\n')
        >>> Declaration.from_toml(file).items
        ('a', 'b')
        """
        given = declared_part(path)
        if missing := sorted({"kind", "items"} - given.keys()):
            raise ValueError(f"{path}: {missing[0]} is missing")
        try:
            return cls(**given)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        except (TypeError, AttributeError):
            raise ValueError(f"{path}: a value of another kind than the key has") from None

    def to_toml(self) -> str:
        """The declaration as a file that `from_toml` reads.

        Examples
        --------
        >>> print(Declaration(kind="ballots", items=("a", "b")).to_toml(), end="")
        kind = "ballots"
        items = ["a", "b"]
        """
        lines = []
        for it in fields(self):
            value = getattr(self, it.name)
            said = value != () or it.name == "before_looking"
            if value is not None and said and not self._understood(it.name):
                lines.append(f"{it.name} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    def public_toml(self) -> str:
        """The same without words of cells, which may tell what somebody wrote: a hash of them could be guessed at."""
        return "\n".join(line for line in self.to_toml().split("\n") if not line.startswith(_OF_CELLS))

    def _understood(self, name: str) -> bool:
        """Whether a key says what goes without saying."""
        first = next(iter(FORMS[self.kind]))
        usual = {"form": first, "repeated": "one", "ballots": "full" if self.form == "wide" else ""}
        return name in usual and getattr(self, name) == usual[name]

    def read(self, path: str | Path) -> Intake:
        """The file as data that a mechanism takes.

        Parameters
        ----------
        path : path
            CSV or another of `dprank.data.containers.CONTAINERS`, as `dprank.data.sniffing.sniff` reads it; or of
            PrefLib, as `dprank.data.preflib.read_preflib`.

        Raises
        ------
        ValueError
            Naming the file where it is broken, or the column that it lacks.

        Notes
        -----
        O(rows). Only headers refuse a file.

        Ballots are `Ballots`, whatever is declared: one that does not fit ranks nothing, so that how many there are is
        how many people the file has, which is public where one is replaced. Where the form is wide or orders, a row of
        nobody is one of them, and ranks nothing; where it is long, all such rows are one together. Mechanisms that take
        full rankings refuse `Ballots`; say ``ballots="partial"``, or give them `Ballots.completed`, as many rankings.

        Likewise `Tallies.without` are people none of whose items is declared, and one for all rows of nobody; and
        `Comparisons.unanswered` is what people were asked and gave no such answer to. Both are for mechanisms that tell
        how many report, or were asked: local ones. No count knows them.
        """
        return read_file(self, path)


def declared_part(path: str | Path) -> dict[str, Any]:
    """What a file declares, complete or not: flags may say the rest.

    Parameters
    ----------
    path : path
        Of a declaration, or of a plan.

    Raises
    ------
    ValueError
        Naming the file, and the key that no declaration has.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('kind = "comparisons"\\n[release]\\nepsilon = 1.0\\n')
    >>> declared_part(file)
    {'kind': 'comparisons'}
    """
    given = _toml_of(path)
    given.pop("release", None)
    known = {it.name for it in fields(Declaration)}
    if unknown := sorted(given.keys() - known):
        like = nearest(unknown[0], sorted(known))
        meant = f"{like} is meant, maybe" if like else f"allowed: {', '.join(sorted(known))}"
        raise ValueError(f"{path}: unknown key {shown(unknown[0])}; {meant}")
    for key in (
        "kind",
        "form",
        "person",
        "ballots",
        "unranked",
        "repeated",
        "ballot",
        "weight",
        "best",
        "times",
        "thousands",
        "between",
    ):
        if type(given.get(key, "")) is not str:
            raise ValueError(f"{path}: {key} = {shown(given[key])}; text is needed")
    return given


def release_part(path: str | Path) -> dict[str, Any]:
    """What a plan says of a release: the table `release` of its file, which a declaration passes over.

    Parameters
    ----------
    path : path
        Of a plan, as `dprank plan --out` writes it; or of a declaration, which says nothing of a release.

    Raises
    ------
    ValueError
        Naming the file, where it is no such table of single values.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('kind = "ballots"\\nitems = ["a", "b"]\\n[release]\\nepsilon = 1.0\\n')
    >>> release_part(file), Declaration.from_toml(file).items
    ({'epsilon': 1.0}, ('a', 'b'))
    """
    found = _toml_of(path).get("release", {})
    if type(found) is not dict or not all(type(it) in (str, int, float, bool) for it in found.values()):
        raise ValueError(f"{path}: release is no table of single values: [release], then a line each")
    return found


def _toml_of(path: str | Path) -> dict[str, Any]:
    path = require_path(path)
    require_regular(str(path), path.stat().st_mode)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path}: not TOML that means anything: brackets in brackets without end") from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        where = " in UTF-8" if isinstance(error, UnicodeError) else f": {' '.join(str(error).split())}"
        raise ValueError(f"{path}: no plan, which is TOML{where}") from None


def _some(given: Collection[Any], what: str) -> str:
    return f"{len(given)} {what}{'s' * (len(given) != 1)}"


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """One by one, each of them text."""
    if type(given) in (list, tuple) and all(type(it) is str for it in given) and "" in given:
        if name in _OF_COLUMNS:
            raise ValueError(f"{name} = ''; {UNNAMED}")
        blank = ": a blank cell says so anyway" * (name == "unranked_as")
        raise ValueError(f"{name}: one of {len(given)} texts is empty{blank}; leave it out")
    if type(given) not in (list, tuple) or not all(type(it) is str for it in given):
        raise ValueError(f"{name} = {shown(given)}; text is needed, or a list of texts")
    return tuple(given)


def _table(name: str, given: Any) -> dict[Any, Any]:
    if type(given) is not dict:
        raise ValueError(f"{name} = {shown(given)}; a table of what is written and what is meant is needed")
    return given


def _place(value: Any) -> float | str:
    if value != "" and (type(value) not in (int, float) or not abs(value) <= 2**53):
        raise ValueError(f"places = {shown(value)}; a cell means a number, or nothing ('') for no place")
    return value if value == "" else float(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(it)}" for key, it in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return visible(json.dumps(value, ensure_ascii=False))  # TOML takes no control characters
    return repr(value)
