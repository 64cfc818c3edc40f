"""Names as they were declared, wherever they are shown; and nothing that fails then loses what was spent for."""

import gzip
import html
import itertools
import json
import math
import os
import re
import socket
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import each, refused
from mutations import faults
from test_cli import run

import dprank
import dprank.cli.drawing
from dprank._require import visible, visible_json
from dprank.data.declaration import Declaration
from dprank.plan.tags import TAGS
from dprank.publication import publish, read_publication
from dprank.report import report

#: What a terminal, rich, Markdown or a browser would take for its own.
PLAIN = ["[bold]Tea[/]", "[/] none", "a|b`c`*d*", "<b>x</b>&amp;", "[l](http://e.example)"]
HOSTILE = [*PLAIN, "\x1b[2Jgone", "\u202etop", "x\u200by"]
SEEN = [*PLAIN, r"\u001b[2Jgone", r"\u202etop", r"x\u200by"]


def ballots(tmp_path, items=HOSTILE, rows=30):
    """A table of places, and its items as a file."""
    frame = pd.DataFrame([[f"v{at}", *range(1, len(items) + 1)] for at in range(rows)], columns=["who", *items])
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "items.txt").write_text("\n".join(items))
    named = ["--wide", "--person", "who", "--items", tmp_path / "items.txt"]
    return ["consensus", tmp_path / "t.csv", *named, "--epsilon", "1"]


def test_what_is_seen_stays_and_what_steers_is_written_out():
    for text in ("Zürich", "東京", "می\u200cخواهم", "👩\u200d🚀", "a\u00a0b", "r = 1 %"):
        assert visible(text) == text
    assert visible("a\u200db\x07\x9b\u2066\U000e0041") == r"a\u200db\u0007\u009b\u2066\U000e0041"
    for text in (*HOSTILE, "👩\u200d🚀", "\U000e0041", "\x7f"):
        written = visible_json(json.dumps([text], ensure_ascii=False))
        assert json.loads(written) == [text]
        assert written.isprintable() or "\u200d" in text


def test_names_are_shown_as_they_were_declared(tmp_path, capsys):
    """CASES.md A.1: brackets were taken for markup, and the budget was spent for nothing."""
    kept, out = tmp_path / "b.sqlite", tmp_path / "r.json"
    assert run(capsys, "budget", kept, "--epsilon", "1")[0] == 0
    code, said, _ = run(capsys, "release", *ballots(tmp_path), "--budget", kept, "--out", out, "--top", "2")
    assert code == 0
    assert all(name in said for name in SEEN)
    assert {*said} & {"\x1b", "\u202e", "\u200b"} == set()
    assert str(read_publication(out.read_text())).isprintable()
    assert sorted(read_publication(out.read_text()).items) == sorted(HOSTILE)
    for words in (["verify", out], ["report", out], ["budget", kept], ["check", *ballots(tmp_path)[1:-2]]):
        code, said, error = run(capsys, *words)
        assert code == 0
        assert {*(said + error)} & {"\x1b", "\u202e", "\u200b"} == set()


@pytest.mark.parametrize("question", ["ranking", "consensus", "winner", "topk", "agreement"])
def test_no_table_takes_a_name_for_its_own(question, tmp_path, capsys):
    """Case 1 of CASES.md, of every question and of all that is shown after it; and what was paid for is there."""
    named = ["--items", tmp_path / "items.txt", "--person", "who"]
    ballots(tmp_path)
    pd.DataFrame({"who": [*range(8)], "it": PLAIN[:2] * 4, "other": PLAIN[1:3] * 4, "x": [1] * 8}).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    words = {
        "ranking": [
            "pairs.csv",
            "--comparisons",
            "it,other,x",
            "--map",
            "1=1,0=0",
            "--protect",
            "person",
            "--answers",
            "1",
        ],
        "topk": ["pairs.csv", "--item", "it", "--k", "8", "--per-person", "1"],
        "agreement": ["t.csv", "--wide", "--voters", "30"],
    }.get(question, ["t.csv", "--wide"])
    kept, out = tmp_path / "b.sqlite", tmp_path / "r.json"
    assert run(capsys, "budget", kept, "--epsilon", "100")[0] == 0
    spend = ["--epsilon", "50", "--budget", kept, "--dataset", "[/] of [bold]us[/]", "--out", out]
    code, said, _ = run(capsys, "release", question, tmp_path / words[0], *words[1:], *named, *spend)
    assert code == 0
    all_named = question in ("ranking", "consensus", "topk")
    shown = [name for name in SEEN if name in said]
    assert shown == SEEN if all_named else len(shown) == (question == "winner")
    assert "'[/] of [bold]us[/]'" in said
    assert "left for [/] of [bold]us[/]" in run(capsys, "budget", kept)[1]
    for after in (["verify", out, "--budget", kept], ["report", out], ["report", out, "--html"]):
        code, said, _ = run(capsys, *after)
        assert code == 0
        assert {*said} & {"\x1b", "\u202e", "\u200b"} == set()
    people = ["--persons", "30", "--epsilon", "1", *(["--k", "1"] if question == "topk" else [])]
    assert run(capsys, "plan", question, "--items", tmp_path / "items.txt", *people)[0] == 0


@pytest.mark.parametrize("what", ["shown_columns", "told", "ranges"])
@pytest.mark.parametrize("written", [True, False])
def test_what_fails_after_the_spending_loses_nothing(what, written, tmp_path, capsys, monkeypatch):
    """What could be tried beforehand went well: it fails the second time."""
    times, done = itertools.count(1), getattr(dprank.cli.drawing, what)

    def fails(*given, **named):
        if next(times) > 1:
            raise RuntimeError("no table")
        return done(*given, **named)

    monkeypatch.setattr(f"dprank.cli.drawing.{what}", fails)
    kept, out = tmp_path / "b.sqlite", tmp_path / "r.json"
    assert run(capsys, "budget", kept, "--epsilon", "1")[0] == 0
    words = ["release", *ballots(tmp_path), "--budget", kept, *(["--out", out] if written else [])]
    with pytest.raises(RuntimeError):
        dprank.cli.main([str(word) for word in words])
    said = capsys.readouterr().out
    text = out.read_text() if written else said[said.index("{") :]
    assert read_publication(text).publishable
    assert written == ("{" not in said)


def test_what_cannot_be_published_is_shown(tmp_path, capsys, monkeypatch):
    def fails(*_, **__):
        raise ValueError("no ranges")

    monkeypatch.setattr("dprank.cli.drawing.publish", fails)
    code, said, error = run(capsys, "release", *ballots(tmp_path), "--out", tmp_path / "r.json")
    assert (code, error) == (2, "dprank: no ranges\n")
    assert dprank.Release.from_json(said).publishable


def test_names_that_cannot_be_written_are_refused_before_anything_is_spent():
    with refused("items[1]", "Unicode"):
        Declaration(kind="ballots", items=["a", "b\udcff"])


def test_a_report_takes_nothing_in_a_name_for_its_own():
    rng = np.random.default_rng(1)
    votes = dprank.Rankings([[*range(9)]] * 40, [*HOSTILE, "```"])
    release = dprank.PrivateBorda.calibrated(epsilon=9.0, n_items=9).release(votes, rng)
    text = publish(release, "consensus", top=3)
    assert text.replace("\n", "").isprintable()
    words, page = report(text), report(text, "html")
    for shown in (words, page):
        assert shown.replace("\n", "").isprintable()
    rows = [line for line in words.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
    marked = (r"\[bold\]Tea\[/\]", r"a\|b\`c\`\*d\*", "&lt;b&gt;", r"http\://e")
    assert [name for name in marked if name not in words] == []
    assert len(re.findall("^````", words, re.M)) == 2
    assert "<b>" not in words.split("```")[0] + page
    assert all(html.escape(name) in page for name in SEEN)


def test_a_page_is_written_over_a_page_alone_and_through_no_link(tmp_path, capsys):
    out, page, other = (tmp_path / name for name in ("r.json", "r.html", "other"))
    assert run(capsys, "release", *ballots(tmp_path), "--out", out)[0] == 0
    for _ in range(2):
        assert run(capsys, "report", out, "--html")[0] == 0
    page.write_text("<p>mine</p>")
    code, said, error = run(capsys, "report", out, "--html")
    assert (code, said, "is there already" in error, page.read_text()) == (2, "", True, "<p>mine</p>")
    page.unlink()
    page.symlink_to(other)
    code, _, error = run(capsys, "report", out, "--html")
    assert (code, "is a link" in error, other.exists()) == (2, True, False)


def test_all_that_writes_keeps_one_rule(tmp_path, capsys):
    words = ballots(tmp_path)
    table = tmp_path / "l.csv"
    table.write_text("who,l,r,x\n1,a,b,1\n")
    plan, link, gone = (tmp_path / name for name in ("p.toml", "link", "gone"))
    commands = {
        "check": ["check", *words[1:-2]],
        "plan": ["plan", "consensus", "--items", "3", "--persons", "50", "--epsilon", "1"],
        "count": [
            "count",
            table,
            "--comparisons",
            "l,r,x",
            "--map",
            "outcome",
            "--items",
            "a,b",
            "--person",
            "who",
            "--answers",
            "1",
        ],
    }
    assert run(capsys, *commands["check"], "--out", plan)[0] == 0
    for name, command in commands.items():
        assert run(capsys, *command, "--out", tmp_path)[0] == 2
        assert run(capsys, *command, "--out", tmp_path / "no" / "x")[0] == 2
        for target in (plan, gone, tmp_path / "t.csv"):
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            before = target.read_bytes() if target.exists() else None
            code, said, error = run(capsys, *command, "--out", link)
            assert (code, said, len(error.splitlines())) == (2, "", 1), name
            assert (target.read_bytes() if target.exists() else None) == before
    assert run(capsys, *commands["count"], "--out", "/dev/null")[0] == 2
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("/dev/null")
    assert run(capsys, *commands["check"], "--out", "/dev/null")[0] == 0
    link.unlink()
    link.symlink_to(gone)
    assert run(capsys, "budget", link, "--epsilon", "1")[0] == 2
    assert not gone.exists()


def readers(path):
    """Every way to read a table in Python."""
    yield lambda: dprank.read_comparisons(path, items=["a", "b"], voter="who")
    yield lambda: dprank.read_rankings(path, items=["a", "b"], voter="who")
    yield lambda: dprank.read_tallies(path, items=["a", "b"], person="who", item="l")
    yield lambda: Declaration(kind="tallies", items=["a", "b"], person="who", columns=["l"]).read(path)


def test_no_address_is_fetched_and_nothing_else_is_unpacked(tmp_path, monkeypatch):
    def fetched(*_, **__):
        raise AssertionError("fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetched)
    for address in ("http://e.example/a.csv", "https://e.example/a.parquet", "s3://b/a.csv", "file:///etc/passwd",
                    "simplecache::http://e.example/a.csv"):  # fmt: skip
        for read in readers(address):
            with refused("is an address"):
                read()
    packed = gzip.compress(b"who,l\n1,a\n")
    files = {"a.csv.gz": packed, "a.csv": packed, "b.csv": b"PK\x03\x04x", "c.csv": b"\x28\xb5\x2f\xfdx"}
    for name, what in files.items():
        (tmp_path / name).write_bytes(what)
        *older, declared = readers(tmp_path / name)
        for read in older:
            with refused("is compressed"):
                read()
        if what == packed:
            assert declared().kept == 1  # a text is unpacked, up to a limit
        else:
            with refused("damaged" if name == "c.csv" else "is compressed"):
                declared()


def test_what_is_no_regular_file_is_no_table(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as door:
        place = os.getcwd()
        os.chdir(tmp_path)  # a socket's name may have a hundred letters
        door.bind("door.csv")
        os.chdir(place)
        for name, kind in (("pipe.csv", "a pipe"), ("door.csv", "a socket"), ("/dev/zero", "a device")):
            for read in readers(tmp_path / name):
                with refused(kind, "a regular file"):
                    read()
    for read in readers(tmp_path):
        with pytest.raises(IsADirectoryError):
            read()


def test_a_plan_or_a_file_of_another_shape_is_refused_in_one_line(tmp_path, capsys):
    words, plan, out = ballots(tmp_path), tmp_path / "p.toml", tmp_path / "r.json"
    plan.write_text('kind = ["ballots"]\nitems = ["a", "b"]\n')
    planned = ["plan", "consensus", "--persons", "9", "--epsilon", "1"]
    for command in (["check", words[1]], ["release", *words], planned):
        code, _, error = run(capsys, *command, "--plan", plan)
        assert (code, "kind" in error, len(error.splitlines())) == (2, True, 1)
    assert run(capsys, "release", *words, "--out", out)[0] == 0
    found = json.loads(out.read_text())
    for other in (None, [], "x", {}, {"dprank": 1}, found["software"] | {"numpy": []}):
        out.write_text(json.dumps(found | {"software": other}))
        for command in (["verify", out], ["report", out], ["report", out, "--html"]):
            code, said, error = run(capsys, *command)
            assert (code, said, "software" in error, len(error.splitlines())) == (2, "", True, 1)


def test_ranges_of_noise_that_is_next_to_nothing():
    data = dprank.Comparisons([0, 1, 2], [1, 2, 0], [1, 1, 0], items="abc", voter=[1, 2, 3])
    for epsilon in (1e20, 1e300, 1.7e308):
        for noise in ("laplace", "conditioned", "cube"):
            design = "matching" if noise == "cube" else "once"
            made = dprank.NoisyCounts.calibrated(epsilon=epsilon, n_items=3, per_person=1, noise=noise, design=design)
            with warnings.catch_warnings(action="ignore"):
                release = made.release(data, dprank.SECURE)
                assert read_publication(publish(release, "ranking", sampling="persons", persons=9)) == release
            assert release.intervals().lowest.tolist() == release.intervals().highest.tolist() == [1, 2, 3]


def made(epsilon):
    """Every mechanism with an epsilon, in each of its noises and adjacencies; None where it is refused."""
    usual = {"n_items": 4, "n_voters": 60, "k": 2, "per_person": 1, "samples": 10, "ridge": 1.0, "graph": "public"}
    for name in TAGS:
        kind = getattr(dprank, name)
        known = kind.calibrated.__annotations__
        if "epsilon" not in known:
            continue
        given = {key: value for key, value in usual.items() if key in known}
        noises = {"NoisyCounts": ("laplace", "conditioned", "cube"), "Oneshot": ("laplace", "gumbel", "exponential")}
        for noise in noises.get(name, (None,)):
            for adjacency in ("replace", "add_remove") if "adjacency" in known else (None,):
                more = {"noise": noise, "adjacency": adjacency}
                try:
                    yield name, kind.calibrated(epsilon=epsilon, **given, **{k: v for k, v in more.items() if v})
                except ValueError:
                    yield name, None


@each("epsilon", [5e-324, 1e-310, 1e-300, 1e-20])
def test_no_promise_is_nothing(epsilon):
    """A promise of 0 comes of what looks at nobody; what is made keeps what it promises, to the last bit."""
    found = list(made(epsilon))
    assert len({name for name, _ in found}) >= 20
    for name, mechanism in found:
        if mechanism is None:
            continue
        promise = mechanism.guarantee.epsilon
        assert 0 < promise <= epsilon, name
        if name == "ExponentialMechanism":
            assert Fraction(mechanism.rate) * mechanism.spread <= Fraction(promise)
        if name in ("LocalOneBit", "LocalPairs", "LocalTwoStage"):
            assert math.log1p((2**53 - 2 * mechanism.flips) / mechanism.flips) <= promise


def test_a_class_that_is_only_made_is_made_at_once():
    """Of a complete graph nothing is looked at, and it is the one that its pairs make; no list of 2^31 numbers."""
    tracemalloc.start()
    with refused("n_items = 65535", "256"):
        dprank.PrivateKwikSort.calibrated(epsilon=1.0, n_items=65535)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    for n_items in (2, 3, 4, 9):
        pairs = np.transpose(np.triu_indices(n_items, 1))[::-1, ::-1]
        for more in ({}, {"d": 50.0}, {"teleport": 0.1}, {"damped": False}, {"relative": False}):
            kind = dprank.PrivateRankCentrality
            whole, given = (
                kind.calibrated(epsilon=1.0, n_items=n_items, k=1, samples=5, pairs=it, **more) for it in (None, pairs)
            )
            again = kind(n_items, 1, 5, given.scale, pairs=pairs, **more)
            assert whole == given == again
            shares = np.linspace(0, 1, len(pairs))
            assert whole.scores(shares).tobytes() == again.scores(shares).tobytes()
        with refused("d = 0.5"):
            kind.calibrated(epsilon=1.0, n_items=n_items, k=1, samples=5, d=0.5)


def test_items_that_are_numbers_of_16_bits():
    items = np.array([1, 2], np.float16)
    for given in (items, list(items)):
        for kind in (dprank.Oneshot, dprank.Peeling, dprank.JointExponential):
            made = kind.calibrated(epsilon=1e6, k=1, items=given)
            with warnings.catch_warnings(action="ignore"):
                for counts in (np.array([3, 900]), pd.Series([900, 3], index=[2, 1])):
                    release = made.release(counts, dprank.SECURE)
                    assert [float(it) for it in release.items] == [2.0]
                    assert dprank.Release.from_json(release.to_json()).to_frame().item.tolist() == [2.0]


def test_mutations_are_answered_or_refused():
    number, found = faults(3, 39)
    assert number > 20
    assert found == []
