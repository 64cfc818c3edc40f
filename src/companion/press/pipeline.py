"""The build, step by step; every step says why it runs or does not."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

from companion.instruments.cluster import workers
from companion.instruments.seed import ROOT
from companion.ledger.certificates import Certificate, certificate_files, load_certificates
from companion.ledger.feed import FILE as FEED
from companion.ledger.feed import feed
from companion.ledger.files import Claim, load_ledger
from companion.ledger.front import announced, citation, shared_picture, shown_cells, substitutions
from companion.ledger.history import load_history
from companion.ledger.judge import Difference, differing, judge, summary
from companion.ledger.open import open_lists
from companion.ledger.results import result_pages, results_list, with_results
from companion.ledger.scoreboard import entries, ledger_files
from companion.ledger.sentences import sentence_file
from companion.press import BuildError, UsageError
from companion.press import render as site
from companion.press.along import FOLDER, along, buttons, seconds
from companion.press.closure import Sources
from companion.press.collect import Collected, collect, draw_cards, write_checksums
from companion.press.drawn import FILE as FIGURES
from companion.press.drawn import REPRODUCES, drawn, table
from companion.press.execute import Job, execute, merge, own_inputs, shared_inputs
from companion.press.layout import Layout, digest, dumps
from companion.press.machine import committed, machine
from companion.press.profiles import Chapter, load
from companion.press.roads import ROAD, assemble, behind

PACKAGES = ("jupyter-book", "matplotlib", "numba", "numpy", "pandas", "papermill", "pyarrow", "scipy", "seaborn")


def check_surveys(layout: Layout) -> None:
    """Hold the surveys against their checksums."""
    sums = layout.root / "data" / "surveys" / "SHA256SUMS"
    if not sums.exists():
        return
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        path = sums.parent / name
        observed = digest(path.read_bytes()) if path.is_file() else "no such file"
        if observed != expected:
            raise BuildError(f"{layout.name(path)}: sha256: expected {expected}, observed {observed}")


class Build:
    """The book at `root` in one profile; every `chapter`, or this one only: the site follows if the others are cached.
    A chapter is a road with the statement pages behind it, or one of these pages.

    `workers` chapters run at once (by default one a processor); `say` gets each line of the account; `seed` is the root
    of all random numbers, and no verdict depends on it; sweeps go to the workers of the Dask `scheduler`, if there is
    one, and give the same numbers.
    """

    def __init__(
        self,
        root: Path,
        profile: str = "standard",
        chapter: str | None = None,
        workers: int | None = None,
        say: Callable[[str], None] = print,
        seed: int = ROOT,
        scheduler: str = "",
    ) -> None:
        self.layout = Layout(root.resolve())
        self.profile = profile
        self.say = say
        self.seed = seed
        self.scheduler = scheduler
        if seed < 0:
            raise UsageError(f"seed: {seed}; allowed: 0 or more")
        chapters = load(self.layout, profile)
        self.early = [c for c in chapters.values() if not c.late]
        self.late = [c for c in chapters.values() if c.late]
        allowed = [c.name for c in self.early]
        if chapter is not None and chapter not in allowed:
            raise UsageError(f"chapter: {chapter!r}; allowed: {', '.join(allowed) or 'none, there are no notebooks'}")
        self.chapter = chapter
        self.chosen = allowed if chapter is None else [chapter, *behind(chapter, allowed)]
        self.workers = (os.cpu_count() or 1) if workers is None else workers
        if self.workers < 1:
            raise UsageError(f"jobs: {workers}; allowed: 1 or more")

    @cached_property
    def ledger(self) -> dict[str, Claim]:
        """The ledger of claims, validated."""
        try:
            return load_ledger(self.layout.root)
        except ValueError as error:
            raise BuildError(str(error)) from None

    @cached_property
    def certificates(self) -> dict[str, list[Certificate]]:
        """What can be checked without us, by claim."""
        return load_certificates(self.layout.root)

    @cached_property
    def sources(self) -> Sources:
        """The code as it is now."""
        return Sources(self.layout)

    @cached_property
    def shared(self) -> dict[str, str]:
        """Digests of what every chapter is run with."""
        return shared_inputs(self.layout)

    def job(self, chapter: Chapter, extra: dict[str, str] | None = None) -> Job:
        """The chapter with the digests of all it reads."""
        code = self.sources.closure(cell.source for cell in chapter.notebook.cells if cell.cell_type == "code")
        inputs = own_inputs(chapter, self.profile, self.seed) | self.shared | code | (extra or {})
        return Job(self.layout, self.profile, chapter, inputs, self.sources, self.seed, scheduler=self.scheduler)

    def late_jobs(self, collected: Collected) -> list[Job]:
        """Late notebooks read the records and the ledger too."""
        read = "data/claims/*.yml", "data/sentences/*.yml", "data/papers.yml"
        extra = self.layout.hashes(*read, "data/certificates/**/*", "certificates/*.py")
        extra["_build/records.json"] = digest(collected.json)
        return [self.job(chapter, extra) for chapter in self.late]

    def run(self, render: bool = True) -> None:
        """Build; without `render`, stop when every claim is judged and the records are written.

        A claim that differs from the ledger takes nothing away: all is made, and then a BuildError has a line for each.
        """
        if self.scheduler:
            try:
                with workers(self.scheduler):
                    pass
            except ValueError as error:
                raise UsageError(str(error)) from None
        check_surveys(self.layout)
        _ = self.ledger
        with self.layout.lock():
            if found := self._make(render):
                made = committed(self.layout, self.profile)
                raise BuildError("\n".join(f"{it}; {made}" for it in found.values()))

    def _make(self, render: bool) -> dict[str, Difference]:
        """Execute, judge, render; what differs from the ledger."""
        jobs = [self.job(chapter) for chapter in self.early]
        chosen = [job for job in jobs if job.chapter.name in self.chosen]
        self.execute(chosen)
        collected = self.collect(chosen)
        found = self.judge(collected, self.chosen if self.chapter else None)
        if waiting := [job.chapter.name for job in jobs if job not in chosen and job.reason()]:
            self.say(summary(self.ledger, collected.records, found))
            if self.chapter and render:
                self.say(f"its page: python -m companion run {self.chapter} --profile {self.profile}")
            self.say(f"site: not rendered: not run in profile {self.profile}: {', '.join(waiting)}")
            return found
        collected = self.collect(jobs)
        if self.chapter:
            found = self.judge(collected)
        collected.write(self.layout)
        late = self.late_jobs(collected) if render else []
        self.execute(late)
        if render:
            self.put(self.staged([*jobs, *late], collected, found))
        figures = drawn(jobs)
        self.layout.write(self.layout.build / FIGURES, table(figures))
        write_checksums(self.layout, site=render)
        self.layout.write(self.layout.build / "manifest.json", dumps(self.manifest([*jobs, *late])))
        again = sum(bool(row[REPRODUCES]) for row in figures)
        number = f"{len(figures)} figure{'' if len(figures) == 1 else 's'}"
        self.say(f"{number}, {again} of the papers: {self.layout.made}/{FIGURES}")
        self.say(summary(self.ledger, collected.records, found))
        page = f"open {self.layout.name(self.layout.html)}/index.html"
        self.say(page if render else "site: not rendered, as asked")
        return found

    def execute(self, jobs: list[Job]) -> None:
        """Run what is not cached."""
        due = []
        for job in jobs:
            reason = job.reason()
            self.say(f"{job.chapter.name}: {f'runs because {reason}' if reason else 'cached'}")
            due += [job] if reason else []
        execute(due, self.workers, self.say)

    def collect(self, jobs: Iterable[Job]) -> Collected:
        """Records and figures of executed chapters."""
        return collect(self.profile, {job.chapter.name: job.executed() for job in jobs}, self.seed)

    def judge(self, collected: Collected, chapters: Iterable[str] | None = None) -> dict[str, Difference]:
        """Hold the records against the ledger: what differs; a BuildError where the two do not fit."""
        if problems := judge(self.ledger, collected.records, chapters):
            raise BuildError("\n".join(problems))
        return differing(self.ledger, collected.records, self.profile, chapters)

    def pages(
        self, jobs: Iterable[Job], differs: Mapping[str, Difference] | None = None
    ) -> dict[str, nbformat.NotebookNode]:
        """Executed notebooks with today's prose and today's wording of the claims, in red those that differ."""
        pages = {}
        for job in jobs:
            pages[job.chapter.name] = page = merge(job.chapter.notebook, job.executed())
            draw_cards(page, self.ledger, self.profile, self.certificates, differs or {})
        assemble(pages, self.ledger, citation(self.layout.root)["bibtex"], differs, self.taken(pages))
        return pages

    def taken(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What the foot of each chapter among pages says of how it is taken along: its time, and where it runs."""
        repository, spent = site.repository(), seconds(self.layout.root)
        return {
            name: {"seconds": spent.get(name), "buttons": buttons(name, repository)}
            for name in names
            if ROAD.match(name) and name not in {chapter.name for chapter in self.late}
        }

    def along(self, jobs: Iterable[Job]) -> dict[str, bytes]:
        """The notebooks that readers take along, by the name of the file in the site."""
        ran = {job.chapter.name: (job, merge(job.chapter.notebook, job.executed())) for job in jobs}
        pages = {name: page for name, (_, page) in ran.items()}
        version = citation(self.layout.root)["version"]
        base = site.settings(self.layout)["sphinx"]["config"]["html_baseurl"]
        made = {}
        for name in self.taken(pages):
            code = (cell.source for cell in pages[name].cells if cell.cell_type == "code")
            files = [it for it in self.sources.closure(code) if not it.startswith("src/dprank/")]
            page = along(name, pages, self.ledger, self.layout.root, files, version, base)
            made[f"{FOLDER}/{name}.ipynb"] = nbformat.writes(page).encode()
        return made

    def staged(self, jobs: Iterable[Job], collected: Collected, differs: Mapping[str, Difference]) -> dict[str, bytes]:
        """What the site is made from."""
        jobs = list(jobs)
        notebooks = self.pages(jobs, differs)
        try:
            front = substitutions(self.layout.root, self.ledger, collected.records, collected.figures, differs)
            front |= shown_cells(self.layout.root, notebooks)
            linked = self.linked(collected, differs)
            results, listed = self.results(jobs, notebooks, collected, differs)
        except ValueError as error:
            raise BuildError(str(error)) from None
        front["results"] = listed
        front |= open_lists(self.layout.root, entries(self.ledger, collected.records, self.certificates, differs))
        files = site.stage(self.layout, notebooks, self.profile, self.seed, front) | linked | self.along(jobs) | results
        files["_toc.yml"] = with_results(files["_toc.yml"], [it for it in results if it.endswith(".md")])
        return files | {"book/index.md": announced(files["book/index.md"], differs)}

    def results(
        self,
        jobs: Iterable[Job],
        notebooks: Mapping[str, nbformat.NotebookNode],
        collected: Collected,
        differs: Mapping[str, Difference],
    ) -> tuple[dict[str, bytes], str]:
        """The pages of single results with their pictures, and the list of them."""
        found = {
            figure["name"]: (f"{name}.html#{place['name']}", shown["image"]["alt"])
            for name, page in notebooks.items()
            for cell in page.cells
            if (place := (shown := cell.metadata.get("mystnb", {})).get("figure"))
            for output in cell.get("outputs", [])
            if (figure := output.get("metadata", {}).get("figure"))
        }
        where, spoken = ({figure: told[at] for figure, told in found.items()} for at in (0, 1))
        seconds = {it.chapter.name: json.loads(it.stamp.read_bytes())["seconds"] for it in jobs}
        base = site.settings(self.layout)["sphinx"]["config"]["html_baseurl"]
        stated = entries(self.ledger, collected.records, self.certificates, differs)
        book = citation(self.layout.root)
        made = result_pages(self.layout.root, stated, collected.figures, where, seconds, book, base, spoken)
        return made, results_list(stated)

    def linked(self, collected: Collected, differs: Mapping[str, Difference]) -> dict[str, bytes]:
        """What pages load or link to: drawings for a phone, the ledger as tables, the schema of published files, the
        feed of its errata, a picture of the book.
        """
        tables = ledger_files(self.ledger, collected.records, self.certificates, differs)
        tables |= sentence_file(self.layout.root, self.ledger)
        files = collected.narrow | {f"book/_static/{name}": data for name, data in tables.items()}
        files |= {
            f"book/_static/{schema.name}": schema.read_bytes()
            for schema in (self.layout.root / "src" / "dprank").glob("*.schema.json")
        }
        if changes := load_history(self.layout.root):
            base = site.settings(self.layout)["sphinx"]["config"]["html_baseurl"]
            author = citation(self.layout.root)["author"]
            stated = [it for it in entries(self.ledger, collected.records) if it.claim.id not in differs]
            files[FEED] = feed(stated, changes, author, base)
        return files | certificate_files(self.layout.root) | shared_picture(self.layout.root, collected.figures)

    def put(self, files: Mapping[str, bytes], **options: Any) -> None:
        """Render what is staged, with the `options` of `render`."""
        wanted = site.key(self.layout, files)
        if site.current(self.layout, wanted):
            self.say("site: cached")
            return
        start = time.monotonic()
        site.render(self.layout, files, wanted, **options)
        self.say(f"site: rendered in {time.monotonic() - start:.1f} s")

    def manifest(self, jobs: Iterable[Job]) -> dict[str, Any]:
        """What the site was made of."""
        changes = _git(self.layout.root, "status", "--porcelain")
        return {
            "profile": self.profile,
            "seed": self.seed,
            "commit": _git(self.layout.root, "rev-parse", "HEAD"),
            "modified": None if changes is None else bool(changes),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "processor": machine()["processor"],
            "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
            "seconds": {job.chapter.name: json.loads(job.stamp.read_bytes())["seconds"] for job in jobs},
        }

    def status(self) -> None:
        """Say what `run` would do, and why; changes nothing."""
        check_surveys(self.layout)
        jobs = [self.job(chapter) for chapter in self.early]
        if due := self._say_due(jobs):
            for chapter in self.late:
                self.say(f"{chapter.name}: waits for {', '.join(due)}")
            self.say(f"site: waits for {', '.join(due)}")
            return
        collected = self.collect(jobs)
        late = self.late_jobs(collected)
        if due := self._say_due(late):
            self.say(f"site: waits for {', '.join(due)}")
            return
        found = differing(self.ledger, collected.records, self.profile)
        there = site.current(self.layout, site.key(self.layout, self.staged([*jobs, *late], collected, found)))
        self.say("site: cached" if there else "site: renders because a page, a setting or the package changed")
        for it in found.values():
            self.say(str(it))

    def stale(self) -> list[str]:
        """Chapters whose cached copy is not what they would give now, with the reason."""
        check_surveys(self.layout)
        reasons = ((chapter.name, self.job(chapter).reason()) for chapter in self.early)
        return [f"{name}: {reason}" for name, reason in reasons if reason]

    def _say_due(self, jobs: Iterable[Job]) -> list[str]:
        due = []
        for job in jobs:
            reason = job.reason()
            self.say(f"{job.chapter.name}: {f'would run because {reason}' if reason else 'cached'}")
            due += [job.chapter.name] if reason else []
        return due


def _git(root: Path, *arguments: str) -> str | None:
    """What git answers; None where there is no git, or the clone is another user's."""
    try:
        result = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()
