"""All that `dprank check` may notice: a rule is a function of what was read, in one list, the gravest first.

A rule gives sentences that say what was seen, in how many cells, and what to do about it; none on a sound file. It may
look at data, as `check` tells the curator alone; `dprank release` knows of none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dprank.data.accounts import Intake
from dprank.data.noticed_again import in_alike, in_copies, in_same_pairs
from dprank.data.noticed_aliases import in_aliases, in_numerals
from dprank.data.noticed_amounts import in_amounts
from dprank.data.noticed_answers import in_answers
from dprank.data.noticed_cells import Raw, in_cells
from dprank.data.noticed_codes import below_0
from dprank.data.noticed_columns import in_unused
from dprank.data.noticed_graph import in_graph
from dprank.data.noticed_labels import in_labels, in_totals
from dprank.data.noticed_lines import in_more_names, in_names
from dprank.data.noticed_lost import in_again, in_lost, in_spelt, in_unnamed
from dprank.data.noticed_matches import in_halves, in_results, in_scores
from dprank.data.noticed_melted import in_full
from dprank.data.noticed_mirrors import in_mirrors
from dprank.data.noticed_pairs import in_pairs
from dprank.data.noticed_people import in_blanks, in_numbered, in_people, in_zeros
from dprank.data.noticed_places import in_places
from dprank.data.noticed_scales import in_headers
from dprank.data.noticed_second import second_answers
from dprank.data.noticed_sums import sums_in, sums_of_rows
from dprank.data.noticed_tasks import with_tasks
from dprank.data.noticed_ties import in_ties
from dprank.data.noticed_tops import in_shown, in_tops
from dprank.data.noticed_turned import in_orders, in_turned
from dprank.data.noticed_worst import in_ranks
from dprank.data.sniffing import NOT_UTF_8

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["RULES", "Rule", "Seen"]


class Seen:
    """A file as it was read, and what several rules want to know of it."""

    def __init__(self, declared: Declaration, intake: Intake, raw: Raw | None) -> None:
        self.declared, self.intake, self._raw = declared, intake, raw

    @property
    def has_table(self) -> bool:
        """Whether there is a table, with columns and cells: PrefLib has none."""
        return self._raw is not None

    @property
    def raw(self) -> Raw:
        """The table as it is written."""
        assert self._raw is not None, "a rule without a table looks at none"
        return self._raw

    @cached_property
    def merged(self) -> list[str]:
        """What is said of labels that are written once for several rows."""
        return [*in_blanks(self.raw, self.intake)] if self.has_table else []

    @cached_property
    def told(self) -> dict[str, str]:
        """Columns that are not used and have a rule of their own, with their sentence, which may be none."""
        known = self.ties | self.people | self.turned | self.scores | self.halves
        return known | self.second | sums_of_rows(self.raw, self.intake)

    @cached_property
    def second(self) -> dict[str, str]:
        found = second_answers(self.raw, self.intake)
        return {name: line for name, line in found if not self.turned.get(name)}

    def _but_second(self, found: Iterable[tuple[str, str]]) -> dict[str, str]:
        """What is said of columns that hold no second answer."""
        return {name: line for name, line in found if name not in self.second}

    @cached_property
    def ties(self) -> dict[str, str]:
        return self._but_second(in_ties(self.raw, self.intake))

    @cached_property
    def people(self) -> dict[str, str]:
        return dict(in_people(self.raw, self.intake))

    @cached_property
    def turned(self) -> dict[str, str]:
        return dict(in_turned(self.raw, self.intake))

    @cached_property
    def scores(self) -> dict[str, str]:
        return self._but_second(in_scores(self.raw, self.intake))

    @cached_property
    def halves(self) -> dict[str, str]:
        return self._but_second(in_halves(self.raw, self.intake))

    @cached_property
    def _sums(self) -> tuple[Raw, str]:
        """The table without rows that sum up the others, and what is said of these."""
        rows, said = sums_in(self.raw, self.intake)
        return self.raw.without(rows), said

    @property
    def sums(self) -> list[str]:
        """What is said of rows that sum up the others."""
        return [said for said in (self._sums[1],) if said]

    @cached_property
    def _tasks(self) -> tuple[Raw, list[str]]:
        """The table with a ballot for each task, and what is said of all other columns that are not used."""
        table, said = self._sums[0], in_unused(self.raw, self.intake, told=self.told)
        tasks, lines = with_tasks(table, self.intake, said)
        return table if tasks is None else tasks, lines

    @property
    def unused(self) -> list[str]:
        """What is said of columns that are not used and have no rule of their own."""
        return self._tasks[1]

    @cached_property
    def places(self) -> list[str]:
        """What is said of places, by headers or else by numbers: one of both speaks of which end is the best."""
        places = [*in_places(self._tasks[0])]
        told = [*in_headers(self.raw, any("--best high" in it for it in places))] or [*in_ranks(self.raw)]
        return [*told, *(it for it in places if not told or not it.startswith("places are "))]


def _encoded(intake: Intake) -> list[str]:
    """What to do about bytes that are no UTF-8, as files of spreadsheets have them."""
    return [
        "some bytes are no UTF-8: save the file as UTF-8, which spreadsheets call 'CSV UTF-8', or say --encoding"
    ] * (NOT_UTF_8 in intake.said)


class Rule(NamedTuple):
    """What is looked for, by which function, and whether it needs a table as it is written."""

    about: str
    of: Callable[[Seen], Iterable[str]]
    table: bool = True


#: In the order in which they are told.
RULES = (
    Rule("rows that are left out", lambda it: in_lost(it.declared, it.intake, bool(it.merged)), table=False),
    Rule("bytes that are no UTF-8", lambda it: _encoded(it.intake), table=False),
    Rule("a line of names that is a row", lambda it: in_names(it.raw)),
    Rule("more lines of names", lambda it: in_more_names(it.raw)),
    Rule("aliases that do nothing", lambda it: in_aliases(it.raw)),
    Rule("numbers that are codes of items", lambda it: in_numerals(it.raw, it.intake)),
    Rule("rows that sum up the others", lambda it: it.sums),
    Rule("counts and weights that are none", lambda it: in_amounts(it.raw)),
    Rule("people in a column that is not used", lambda it: it.people.values()),
    Rule("people whose labels are numbered", lambda it: in_numbered(it.raw, it.intake)),
    Rule("people but for zeros in front", lambda it: in_zeros(it.raw)),
    Rule("labels written once for several rows", lambda it: it.merged),
    Rule("a file joined with itself", lambda it: in_copies(it.raw, it.intake)),
    Rule("places of a result", lambda it: in_alike(it.raw, it.intake)),
    Rule("labels of people", lambda it: in_labels(it.raw)),
    Rule("a table of totals", lambda it: in_totals(it.raw)),
    Rule("a second answer in a row", lambda it: it.second.values()),
    Rule("columns that mark ties", lambda it: filter(None, it.ties.values())),
    Rule("matches from each side", lambda it: in_mirrors(it.raw)),
    Rule("answers that mean something else", lambda it: in_answers(it.raw, it.intake)),
    Rule("answers that measure one of two items", lambda it: it.halves.values()),
    Rule("rows that are turned round", lambda it: it.turned.values()),
    Rule("orders from the worst", lambda it: in_orders(it.raw, it.intake)),
    Rule("matches not played to their end", lambda it: it.scores.values()),
    Rule("scores that say otherwise", lambda it: in_results(it.raw, it.intake)),
    Rule("everybody has everything", lambda it: in_full(it.raw, it.intake, it.unused)),
    Rule("pairs that are not read", lambda it: in_pairs(it.raw, it.intake)),
    Rule("columns that are not used", lambda it: it.unused),
    Rule("cells that hold no item, order or place", lambda it: in_cells(it.raw, it.intake, below_0(it.raw))),
    Rule("places, ratings, and which end is the best", lambda it: it.places),
    Rule("ballots of a person who has others", lambda it: in_again(it.declared, it.intake), table=False),
    Rule("alternatives of PrefLib that are no items", lambda it: in_unnamed(it.declared, it.intake), table=False),
    Rule("items but for case and blanks", lambda it: in_spelt(it.declared, it.intake), table=False),
    Rule("answers to a pair again", lambda it: in_same_pairs(it.declared, it.intake), table=False),
    Rule("how comparisons hang together", lambda it: in_graph(it.declared, it.intake), table=False),
    Rule("lists of favourites", lambda it: in_tops(it.declared, it.intake), table=False),
    Rule("items that were not shown", lambda it: in_shown(it.declared, it.intake), table=False),
)
