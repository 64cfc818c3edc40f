"""The time left is that of the schedule; lines come through, with a bar and without."""

import math

import pytest

from companion.press.progress import Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_time_left_is_that_of_the_schedule(clock: Clock) -> None:
    lines: list[str] = []
    progress = Progress({"a": 8.0, "b": 5.0, "c": 4.0, "d": 2.0}, 2, lines.append, shown=False, clock=clock)
    # 8 beside 5, 4; 2 after the first that ends: 10, not 19 / 2
    assert progress.left() == progress.whole == 10.0
    clock.now = 3.0
    assert progress.left() == 7.0
    clock.now = 5.0
    progress.done("b", "b: done")
    assert progress.left() == 5.0
    clock.now = 7.5  # the first is late by nothing yet, the third is half done
    assert progress.left() == 2.5
    clock.now = 20.0  # both are late: nobody knows by how much
    assert progress.left() == 2.0
    for name in "acd":
        progress.done(name, f"{name}: done")
    assert progress.left() == 0.0
    assert lines == ["b: done", "a: done", "c: done", "d: done"]


def test_a_bar_shows_chapters_and_time(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    for seconds, words in [(300.0, "0 of 2 chapters, about 6 min left"), (math.inf, "0 of 2 chapters")]:
        with Progress({"a": 60.0, "b": seconds}, 1, print, shown=True, clock=clock) as progress:
            progress._draw()
            clock.now += 60.0
            progress.done("a", "a: done in 60 s")
        out, err = capsys.readouterr()
        assert words in err
        assert "1 of 2 chapters" in err
        assert out == "a: done in 60 s\n"


def test_no_bar_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress({"a": 1.0}, 1, print) as progress:
        progress.done("a", "done")
    assert capsys.readouterr() == ("done\n", "")


def test_nothing_to_do() -> None:
    with Progress({}, 2, print, shown=True) as progress:
        assert progress.left() == 0.0
