"""What `make arm64` needs, where it takes Debian from, and what it copies; the rest of it is run by hand."""

import os

import arm64
import pytest

SOURCES = """\
# a comment
Types: deb deb-src
URIs: http://first.example/debian http://second.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://third.example/security
Suites: bookworm-security
Components: main
"""
OFF = "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: bookworm\n"
ONE_LINE = (
    "# deb http://out.example bookworm main\ndeb [arch=amd64 trusted=yes] http://old.example/debian bookworm main\n"
)


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ({"debian.sources": SOURCES}, "http://first.example/debian"),
        ({"a.sources": OFF, "debian.sources": SOURCES}, "http://first.example/debian"),
        ({"sources.list": ONE_LINE}, "http://old.example/debian"),
        (
            {"other.list": "deb http://other.example nodistro main\n", "sources.list": ONE_LINE},
            "http://old.example/debian",
        ),
    ],
)
def test_debian_comes_from_where_apt_takes_it(lists, expected):
    assert arm64.mirror(lists, "bookworm") == expected


def test_a_release_that_apt_does_not_know_is_refused():
    with pytest.raises(ValueError, match="trixie"):
        arm64.mirror({"debian.sources": SOURCES, "sources.list": ONE_LINE}, "trixie")


@pytest.mark.parametrize(
    ("root", "machine", "found", "expected"),
    [
        (True, "x86_64", {"debootstrap": "/usr/sbin/debootstrap"}, ""),
        (False, "x86_64", {"debootstrap": "/usr/sbin/debootstrap"}, "run it as root"),
        (
            True,
            "x86_64",
            {"debootstrap": None, "qemu-user-static": None},
            "apt-get install debootstrap qemu-user-static",
        ),
        (False, "x86_64", {"debootstrap": None}, "run it as root; apt-get install debootstrap"),
        (True, "aarch64", {"debootstrap": None}, "run on it as they are"),
    ],
)
def test_what_is_missing_is_said_in_one_line(root, machine, found, expected):
    line = arm64.missing(root, machine, found)
    assert line.endswith(expected)
    assert bool(line) == bool(expected)
    assert "\n" not in line


def test_a_copy_follows_its_source_and_keeps_what_runs_made(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "src").mkdir(parents=True)
    for name in ("src/a.py", "src/b.py"):
        (source / name).write_text("1")
    arm64.copied(["src/a.py", "src/b.py"], source, target)
    kept = [target / "_build" / "row.json", target / "src" / "__pycache__" / "a.nbc"]
    for path in kept:
        path.parent.mkdir()
        path.write_text("made")
    (source / "src" / "a.py").write_text("2")
    os.utime(source / "src" / "a.py", ns=(1, 1))
    arm64.copied(["src/a.py"], source, target)
    assert (target / "src" / "a.py").read_text() == "2"
    assert (target / "src" / "a.py").stat().st_mtime_ns == 1  # numba's cache goes by it
    assert not (target / "src" / "b.py").exists()
    assert all(path.read_text() == "made" for path in kept)
