"""What the README tells a user to type works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from checks import each

from companion.__main__ import app
from dprank.cli import main as dprank_command
from dprank.privacy import noise

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


#: What the example with this name in it prints.
PRINTED = {
    "NoisyCounts": ("London", "Paris", "Rome", "epsilon = 1 (central; replace one voter)", "place"),
    "PerturbedMLE": ("London", "Paris", "Rome", "score", "epsilon = 1 (central; replace one voter)"),
    "NoisyNorm": ("the rankings are not uniform", "p = ", "epsilon = 1 (central; replace one voter)"),
    "Oneshot": ("flu", "epsilon = 1 (central; add/remove one voter)"),
    "PrivateBorda": ("schools", "epsilon = 1 (central; replace one voter)"),
    "LocalMatrix": ("schools", "epsilon = 1 (local; replace one voter)"),
    "audit": ("BROKEN", "epsilon = 1 (central; add/remove one voter)"),
}


@pytest.mark.slow
def test_the_package_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # an empty folder
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert {name for name in PRINTED if any(name in block for block in blocks)} == set(PRINTED)
    for block in blocks:
        # on its own: nothing of the blocks before
        exec(block, {})
        printed = capsys.readouterr().out
        expected = next(words for name, words in PRINTED.items() if name in block)
        assert all(word in printed for word in expected)


@pytest.mark.slow
def test_the_package_examples_are_typed(tmp_path):
    """As somebody checks them who has the package installed, and settings of nobody."""
    api = pytest.importorskip("mypy.api")
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    paths = [tmp_path / f"block_{number}.py" for number in range(len(blocks))]
    for path, block in zip(paths, blocks, strict=True):
        path.write_text(block, encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import dprank\n\nrelease: int = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4)\n")
    words = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    said, error, code = api.run([*words, *map(str, paths)])
    assert (code, error) == (0, ""), said
    assert f"no issues found in {len(blocks)} source files" in said
    assert api.run([*words, str(wrong)])[2] == 1  # the package's types are seen


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "book/api.md"])
def test_the_commands_lead_from_a_file_to_a_report(page, tmp_path, monkeypatch, capsys):
    """Every line that begins with dprank, in their order, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [it for it in re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL) if it.startswith("dprank ")]
    assert blocks
    for line in "".join(blocks).replace("\\\n", " ").replace(" && ", "\n").splitlines():
        with pytest.raises(SystemExit) as end:
            dprank_command(shlex.split(line, comments=True)[1:])
        assert end.value.code == 0, capsys.readouterr().err
    assert "Pay" in (tmp_path / "release.html").read_text(encoding="utf-8")


def test_seeded_noise_is_refused_for_real_data_on_the_real_line():
    with pytest.raises(ValueError, match="for research"):
        noise.laplace(1.0, 3, rng=noise.SECURE)


@each("target", sorted(set(re.findall(r"\bmake ([a-z-]+)", README))))
def test_make_targets_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


@each("path", sorted(set(re.findall(r"`((?:notebooks|book|src|data|tests|benchmarks)/[^` ]*)`", README))))
def test_paths_exist(path):
    assert (ROOT / path).exists()


REPRODUCE = (ROOT / "book/reproduce.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"\bcompanion (run .*?) *(?:#.*)?$", README + REPRODUCE, flags=re.MULTILINE)))
)
@pytest.mark.slow
def test_runs_of_the_readme_are_accepted(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    app([*shlex.split(command), "--list"], standalone_mode=False)
    printed = capsys.readouterr().out
    for name, value in re.findall(r'-p (\w+) ("[^"]*"|\S+)', command):
        assert "{} = {}".format(name, value.strip('"')) in printed
