"""How long a build still takes, from what its chapters took last: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import heapq
import math
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self


class Progress:
    """The time left until all jobs are done, while they run; `shown`, by default, where stderr is a terminal.

    `seconds` says how long each will take, by name, in the order in which they start; infinite where nobody knows.
    `say` gets each line; where there is a bar, above it.
    """

    def __init__(
        self,
        seconds: Mapping[str, float],
        workers: int,
        say: Callable[[str], None],
        shown: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.say, self.clock = say, clock
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.waiting = list(seconds.items())
        self.total, self.ended = len(self.waiting), threading.Event()
        self.running: dict[str, float] = {}
        self.finished = 0
        for _ in range(min(workers, self.total)):
            self._start()
        self.whole = self.left()
        self.bar: Any = None

    def _start(self) -> None:
        if self.waiting:
            name, seconds = self.waiting.pop(0)
            self.running[name] = self.clock() + seconds

    def left(self) -> float:
        """Seconds until the last is done: each worker takes the next job as soon as it is free."""
        now = self.clock()
        free = [max(0.0, end - now) for end in self.running.values()]
        heapq.heapify(free)
        for _, seconds in self.waiting:
            heapq.heapreplace(free, free[0] + seconds)
        return max(free, default=0.0)

    def done(self, name: str, line: str) -> None:
        """Say that a job has ended."""
        self.running.pop(name, None)
        self.finished += 1
        self._start()
        if self.bar is None:
            self.say(line)
        else:
            with self.bar.external_write_mode():
                self.say(line)
            self._draw()

    def _draw(self) -> None:
        left = self.left()
        known = math.isfinite(left) and math.isfinite(self.whole)
        self.bar.n = 1 - left / max(self.whole, left, 1e-9) if known else self.finished / self.total
        about = f", about {_minutes(left)} left" if known else ""
        self.bar.unit = f"{self.finished} of {self.total} chapters{about}"
        self.bar.refresh()

    def __enter__(self) -> Self:
        if self.shown and self.total:
            from tqdm import tqdm

            self.bar = tqdm(
                total=1.0, unit="", bar_format="{percentage:3.0f}% {bar} {unit}", file=sys.stderr, leave=False
            )
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def _watch(self) -> None:
        while not self.ended.wait(1.0):
            self._draw()

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.bar is not None:
            self.bar.close()


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
