"""Commands are known by their names: what lists them is what they say of themselves, and no other module is loaded."""

import pytest
import typer

from dprank.cli import _command, app
from dprank.cli.commands import COMMANDS, GROUPS

WHOLE = typer.main.get_command(app)
LINES = [((name,), line) for name, (_, line) in COMMANDS.items()]
LINES += [((group, name), line) for group, (_, lines) in GROUPS.items() for name, line in lines.items()]


def found(command, words):
    for word in words:
        command = command.commands[word]
    return command


def shown(command):
    context = typer.Context(command, info_name="dprank")
    return command.get_help(context)


@pytest.mark.parametrize(("words", "line"), LINES, ids=" ".join)
def test_a_line_is_the_first_sentence_of_what_the_command_says(words, line):
    said = found(WHOLE, words).help.split("\n\n")[0]
    assert said == line or said.startswith(f"{line} ")
    assert line.count(". ") == 0
    assert line.endswith(".")
    assert shown(found(_command(), words).whole) == shown(found(WHOLE, words))


@pytest.mark.parametrize("words", [(), ("plan",), ("release",)], ids=str)
@pytest.mark.parametrize("width", [40, 60, 80, 132, 400])
def test_commands_are_listed_as_if_all_were_known(words, width, monkeypatch):
    listed = found(_command(), words)
    assert listed.params == [] or [it.name for it in listed.params] == [it.name for it in WHOLE.params]
    for command in (listed, found(WHOLE, words)):
        command.context_settings = {"terminal_width": width, "max_content_width": width}
    assert list(listed.commands) == list(found(WHOLE, words).commands)
    assert shown(listed) == shown(found(WHOLE, words))
