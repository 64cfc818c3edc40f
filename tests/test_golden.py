"""The texts that moving code may not change are all there, and a word that differs is found."""

import json
import tempfile

import golden


def test_every_command_and_every_question_is_there():
    texts = dict(golden.helps())
    assert {"dprank", "dprank check", "dprank release topk", "dprank plan winner"} <= texts.keys()
    assert all(text.startswith(f"Usage: {name}") for name, text in texts.items())
    assert len(dict(golden.mechanisms())) >= 40


def test_what_differs_is_named_with_its_line(tmp_path):
    for tree, end in (("before", "7"), ("after", "8")):
        (tmp_path / tree).mkdir()
        texts = {"dprank": "one\ntwo", "dprank plan": f"three\n{end}"}
        (tmp_path / tree / "helps.json").write_text(json.dumps(texts))
    (tmp_path / "after" / "plans.json").write_text(json.dumps({"new": "text"}))
    found = list(golden.differences(tmp_path / "after", tmp_path / "before"))
    assert found == [
        "helps.json: dprank plan\n    @@ -2 +2 @@\n    -7\n    +8",
        "plans.json: new\n    @@ -0,0 +1 @@\n    +text",
    ]
    assert not list(golden.differences(tmp_path / "after", tmp_path / "after"))


def test_two_trees_and_two_runs_do_not_differ_by_their_folders():
    here = f"{golden.ROOT}/a.csv: <object at 0x7f80> in {tempfile.gettempdir()}/tmpab12_c/b.sqlite"
    assert golden.ELSEWHERE.sub("…", here) == "…/a.csv: <object at …> in …/b.sqlite"
