"""One chapter with a reader's own parameters: executed, rendered, and compared with the book's."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from companion.instruments.parameters import declared, listing, shown
from companion.ledger.card import show_number
from companion.ledger.files import Claim
from companion.press import BuildError, UsageError, single
from companion.press import render as site
from companion.press.collect import Collected
from companion.press.execute import Job
from companion.press.layout import Layout
from companion.press.parameters import checked
from companion.press.pipeline import Build, check_surveys
from companion.press.profiles import Chapter
from companion.press.roads import behind
from companion.press.verify import same

#: Differences that are printed; all are in `differences.txt`.
SHOWN = 20


class Run(Build):
    """A chapter of the book at `root`, in a place of its own: `_build/run/<chapter>`.

    `chapter` is its number, the beginning of its name, or the whole of it: a road with the pages behind it, or one
    statement page. The reader's `own` parameters go before those of the profile, to the pages that have them. All
    other pages are the book's, where it has them. `options` are ``say`` and ``seed`` of `Build`.
    """

    def __init__(
        self, root: Path, chapter: str, own: Mapping[str, Any], profile: str = "standard", **options: Any
    ) -> None:
        super().__init__(root, profile, **options)
        found = self._find(chapter)
        self.name = found[0].name
        self.known = {key: value for page in found for key, value in declared(page.notebook).items()}
        self.given = {key: value for page in found for key, value in page.parameters.items()}
        self.own = checked(self.name, self.known, self.given, own)
        self.changed = [page.name for page in found if self.own.keys() & declared(page.notebook).keys()]
        self.only = [self._with_own(page) for page in found]
        self.book = self.layout
        self.layout = Layout(self.book.root, f"{self.book.made}/run/{self.name}")

    def _find(self, wanted: str) -> list[Chapter]:
        """The pages that a reader means."""
        names = {chapter.name: chapter for chapter in self.early}
        if wanted.isdecimal():
            fits = [name for name in names if re.match(rf"0*{wanted.lstrip('0') or '0'}\b", name)]
        else:
            fits = [name for name in names if wanted and name.startswith(wanted)]
        if len(fits) != 1:
            allowed = ", ".join(fits or names) or "none, there are no notebooks"
            raise UsageError(f"chapter: {shown(wanted)}; allowed: {allowed}")
        return [names[name] for name in (*fits, *behind(fits[0], names))]

    def _with_own(self, page: Chapter) -> Chapter:
        """The page with the reader's parameters, of those that it has."""
        own = {key: value for key, value in self.own.items() if key in declared(page.notebook)}
        return replace(page, parameters={**page.parameters, **own})

    def job(self, chapter: Chapter, extra: dict[str, str] | None = None) -> Job:
        """As in the book, and the book's own copy where there is one of a page that nothing is changed of."""
        job = super().job(chapter, extra)
        kept = replace(job, layout=self.book)
        others = chapter.name != self.name and chapter.name not in self.changed
        return kept if others and kept.reason() is None else job

    def run(self, render: bool = True) -> None:
        """Execute, render unless told not to, and compare; a cell that failed is an error, a verdict never."""
        check_surveys(self.layout)
        _ = self.ledger
        with self.layout.lock():
            jobs = [self.job(page) for page in self.only]
            self._execute(jobs)
            collected = self.collect(jobs)
            collected.write(self.layout)
            if render:
                self._render(jobs, collected)
            self._compare(collected.records)
            if render:
                self.say(f"open {self.layout.name(self.layout.html)}/notebooks/{self.name}.html")

    def parameters(self) -> None:
        """Print the parameters; see `companion run --list`."""
        for line in listing(self.known, {**self.given, **self.own}):
            self.say(line)

    def _execute(self, jobs: list[Job]) -> None:
        try:
            self.execute(jobs)
        except BuildError as error:
            lines = str(error).splitlines()
            trace = self.layout.build / "traceback.txt"
            self.layout.write(trace, f"{error}\n".encode())
            more = f"; {lines[-1]}; all of it: {self.layout.name(trace)}" if len(lines) > 1 else ""
            raise BuildError(f"{lines[0]}{more}") from None

    def _render(self, jobs: list[Job], collected: Collected) -> None:
        names = [page.name for page in self.only]
        own = ", ".join(f"{key} = {shown(value)}" for key, value in self.own.items())
        note = escape(f"Your own run, profile {self.profile}{own and ' with '}{own}")
        files = site.stage(self.layout, self.pages(jobs), self.profile, self.seed) | collected.narrow
        files = single.alone(files, self.layout, self.book, names, note)
        self.put(files, strict=False, finish=lambda html: single.finish(html, self.layout, self.book, names))

    def _compare(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Say what differs from the book's records, verdicts first."""
        path = next((it for it in (self.book.expected(self.profile), self.book.records) if it.is_file()), None)
        book: dict[str, Any] = json.loads(path.read_bytes()) if path else {"profile": None}
        if not path or book["profile"] != self.profile:
            self.say(f"differs: not known, the book has no records of profile {self.profile}")
            return
        names = {page.name for page in self.only}
        theirs: list[Any] = [entry for entry in book["records"] if entry["chapter"] in names]
        verdicts, numbers = differences(self.ledger, theirs, records)
        target = self.layout.build / "differences.txt"
        self.layout.write(target, "".join(f"{line}\n" for line in [*verdicts, *numbers]).encode())
        for line in [*verdicts, *numbers[:SHOWN]]:
            self.say(f"differs: {line}")
        if len(numbers) > SHOWN:
            self.say(f"differs: {len(numbers) - SHOWN} numbers more: {self.layout.name(target)}")
        of = f"{_count(len(theirs), 'claim')}; the book's: {self.book.name(path)}"
        self.say(f"{_count(len(verdicts), 'verdict')} and {_count(len(numbers), 'number')} differ in {of}")


def differences(
    ledger: Mapping[str, Claim], book: Iterable[Mapping[str, Any]], yours: Iterable[Mapping[str, Any]]
) -> tuple[list[str], list[str]]:
    """Verdicts and numbers, a line each, in which two runs of a chapter differ."""
    old, new = ({entry["claim"]: entry for entry in side} for side in (book, yours))
    verdicts, numbers = [], []
    for name in sorted(old.keys() | new.keys()):
        before, after = (side.get(name, {"verdict": "no record", "checks": []}) for side in (old, new))
        if before["verdict"] != after["verdict"]:
            verdicts.append(f"{name}: verdict: book {before['verdict']}, yours {after['verdict']}")
        tolerance = ledger[name].tolerance if name in ledger else 1e-9
        numbers += [f"{name}, {line}" for line in _numbers(before["checks"], after["checks"], tolerance)]
    return verdicts, numbers


def _numbers(book: list[Mapping[str, Any]], yours: list[Mapping[str, Any]], tolerance: float) -> Iterator[str]:
    """A line for each number of a record that differs; checks are matched by what they check."""
    old, new = (_by_label(side) for side in (book, yours))
    for label in old | new:
        if label not in old or label not in new:
            side = "book" if label in old else "yours"
            yield f"{label[0]}: only {side}: {_show((old.get(label) or new[label])['observed'])}"
            continue
        for key in ("observed", "bound", "error"):
            before, after = old[label][key], new[label][key]
            if not same(before, after, tolerance):
                what = label[0] if key == "observed" else f"{label[0]}: {key}"
                yield f"{what}: book {_show(before)}, yours {_show(after)}"


def _by_label(checks: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str, int], Mapping[str, Any]]:
    """Checks by quantity, what they are about, reading, and which of several alike."""
    seen: Counter[tuple[str, str, str]] = Counter()
    labelled = {}
    for check in checks:
        label = check["what"], check["about"], check["reading"]
        labelled[*label, seen[label]] = check
        seen[label] += 1
    return labelled


def _show(value: float | str) -> str:
    return value if isinstance(value, str) else show_number(value)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
