"""Help of every command: each option is explained, each example runs as it stands, shells complete both."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

import dprank
from dprank.cli import app, main
from dprank.cli.manual import EXITS, entries, typed
from dprank.data.examples import NAMES

ENTRIES = {entry.name: entry for entry in entries(app)}
#: What a shell has typed, and what it is offered for the last word.
OFFERED = {
    "dprank rel": ["release"],
    "dprank release ra": ["ranking"],
    "dprank release ranking staff.csv --eps": ["--epsilon"],
    "dprank release ranking staff.csv --protect pe": ["person"],
    "dprank example st": ["staff.csv"],
    "dprank xyz": [],
}
#: Says how a shell is to ask, then asks for each, in a process of its own that has made the commands.
PROGRAM = """
import os, sys
from dprank.cli import _command, main
_command()
for words in ["", *sys.argv[1:]]:
    print("for", words, flush=True)
    if not os.fork():
        sys.argv = ["dprank"]
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_DPRANK_COMPLETE": "complete_bash"}
        os.environ |= asked if words else {"_DPRANK_COMPLETE": "source_bash"}
        try:
            main()
        finally:  # at once: the many modules need no taking down
            sys.stdout.flush()
            os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def completed():
    """What the command line says to a shell, by what was typed; by nothing, the script that it gives a shell."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *OFFERED], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    said = re.split("^for (.*)\n", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(said[::2], said[1::2], strict=True))


def helped(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([*command.split()[1:], "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ENTRIES)
def test_a_command_says_what_it_does_and_all_its_options(name, capsys):
    entry = ENTRIES[name]
    assert entry.said[0].endswith((".", "?")), "a sentence"
    assert entry.example.startswith(f"{name} "), "an example of this very command"
    assert [option.names for option in entry.options if len(option.said) < 5] == []
    shown = helped(name, capsys)
    words = " ".join(shown.split())
    assert all(option.names[0] in words for option in entry.options)
    assert typed(entry.example)[0] in shown, "the example stands in the help as one types it"
    assert f"3 {EXITS[3]}" in words
    flags = set(re.findall(r"^  (--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}
    assert flags == {option.names[0] for option in entry.options if not option.argument}


@pytest.mark.slow
def test_every_example_runs_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ENTRIES:
        if name == "dprank compare":  # of a correction, which somebody has to have made
            ranking = shlex.split(ENTRIES["dprank release ranking"].example)[1:-1]
            with pytest.raises(SystemExit):
                main([*ranking, "corrected.json", "--replaces", "release.json"])
            assert "corrected.json" in capsys.readouterr().out
        for table in NAMES:
            if name == "dprank example":
                continue
            (tmp_path / table).write_bytes(dprank.example(table).read_bytes())
        words = [
            path
            for word in shlex.split(ENTRIES[name].example.partition(" > ")[0])[1:]
            for path in (sorted(map(str, tmp_path.glob(word))) if "*" in word else [word])
        ]
        with pytest.raises(SystemExit) as end:
            main(words)
        shown = capsys.readouterr()
        assert end.value.code == 0, (name, shown.err)
        assert shown.out, name
        assert shown.err == "", name
    assert (tmp_path / "release.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["release", "ranking", "a.csv"],
            "Missing options '--epsilon', '--protect', '--items'; see dprank release ranking --help",
        ),
        (["check"], "see dprank check --help"),
        (["check", "--foo"], "--foo"),
        (["nothing"], "No such command 'nothing'; see dprank --help"),
        (["release", "topk", "a.csv", "--k", "x", "--per-person", "1", "--epsilon", "1"], "'--k'"),
    ],
)
def test_a_command_that_is_not_understood_is_refused_in_one_line(words, said, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    shown = capsys.readouterr()
    assert (end.value.code, shown.out) == (2, "")
    assert said in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize("words", [[], ["release"]])
def test_no_words_at_all_are_answered_by_the_list_of_commands(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_values(completed):
    """By the protocol of its completion."""
    assert {words: said.split() for words, said in completed.items() if words} == OFFERED


@pytest.mark.slow
def test_bash_is_told_how_to_ask(completed, tmp_path):
    """The script that `--show-completion` prints, run by bash, fills COMPREPLY."""
    told = completed[""]
    command = tmp_path / "dprank"
    command.write_text(f"#!{sys.executable}\nfrom dprank.cli import main\nmain()\n")
    command.chmod(0o755)
    there = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    [function] = re.findall(r"^(\w+)\(\)", told, re.MULTILINE)
    script = f'{told}\nCOMP_WORDS=(dprank ver); COMP_CWORD=1; {function} dprank; echo "${{COMPREPLY[@]}}"'
    filled = subprocess.run(["bash", "-c", script], env=there, capture_output=True, text=True, check=False)
    assert filled.stdout.split() == ["verify"], filled.stderr
