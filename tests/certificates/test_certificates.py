"""Certificates: all are shown, none can be forged, none can be written for what is true."""

from __future__ import annotations

import ast
import importlib
import json
import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import alabi2022
import check
import fill
import pytest
import second
import yaml
from exact import NotShown
from flint import arb, ctx, fmpq

from companion.ledger.claim import Record, decisive
from companion.ledger.files import Claim, load_ledger

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "certificates"
FILES = sorted(FOLDER.rglob("*.json"))
TEXTS = [path.read_text(encoding="utf-8") for path in FILES]
UNCOVERED: dict[str, str] = {}
for _path in FOLDER.glob("uncovered-*.yml"):
    UNCOVERED |= yaml.safe_load(_path.read_text(encoding="utf-8"))
TRUE = [importlib.import_module(path.stem) for path in sorted(Path(__file__).parent.glob("true_*.py"))]
#: Attempts at a certificate for each true statement, and forgeries in all.
ATTEMPTS, FORGERIES = 30, 1000


def once(
    plain: Callable[..., Any], key: Callable[..., Any], keys: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """What it finds, or that nothing is shown, remembered by a key; what is found, by other keys too."""
    known: dict[Any, tuple[Any, NotShown | None]] = {}

    def of(*given: Any) -> Any:
        if (at := key(*given)) not in known:
            try:
                known[at] = plain(*given), None
            except NotShown as error:
                known[at] = None, error
            else:
                known.update(dict.fromkeys(keys(*given, known[at][0]) if keys else (), known[at]))
        found, error = known[at]
        if error is not None:
            raise error
        return found

    return of


def precisely(sides: Any, instance: Any, bits: int = 0) -> tuple[Any, str, int]:
    return sides, json.dumps(instance, default=lambda number: {"fmpq": str(number)}), bits or ctx.prec


def exactly(sides: Any, instance: Any, found: list[Any]) -> list[Any]:
    """What is exact, and equal where it should be, is so with more digits too."""
    exact = all(not isinstance(it, arb) for left, _, right in found for it in (left, right))
    level = all(left == right for left, relation, right in found if relation == "==")
    return [precisely(sides, instance, bits) for bits in check.PRECISIONS if bits >= ctx.prec and exact and level]


COMPUTED = once(check.compute, precisely, exactly)
SIDES = once(second.sides, lambda it: (it["claim"], it["printed"], json.dumps(it["instance"]), second.DOWN.prec))


@pytest.fixture(autouse=True)
def computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tests look at the same instances, and what is forged is often not the instance."""
    monkeypatch.setattr(check, "compute", COMPUTED)


@pytest.fixture(scope="module")
def ledger() -> dict[str, Claim]:
    return load_ledger(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_certificate_is_shown_and_is_what_its_instance_gives(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said, it = check.check(text), json.loads(text)
    violated = "VIOLATED: not strict: " if it["by"] == "0" else "VIOLATED by at least "
    assert said.startswith({"violated": violated, "attained": "ATTAINED", "all cases": "HOLDS in all "}[it["shows"]])
    assert fill.laid_out(fill.fill(text)) == text


def test_all_are_small() -> None:
    sizes = [path.stat().st_size for path in FILES]
    assert max(sizes) <= check.LARGEST
    assert sum(sizes) < 2_000_000


def test_each_says_how_it_stands_and_quotes_in_a_few_words() -> None:
    for it in map(json.loads, TEXTS):
        assert len(it.get("quote", "").split()) <= 42, it["claim"]
        assert it["shows"] == "all cases" or it["stands"] == "ours" or "quote" in it, it["claim"]
        assert it["stands"] == "ours" or "unquoted" not in it, it["claim"]
        assert it.get("unquoted", "ours: ").startswith("ours: "), it["claim"]
        assert not any(it.get(name, "").endswith(".") for name in ("reading", "given", "unquoted")), it["claim"]


def test_what_is_ours_is_no_refutation_but_of_content() -> None:
    for it in map(json.loads, TEXTS):
        if it["stands"] == "ours" and it["shows"] == "violated":
            assert it["printed"].startswith("[says something: "), it["claim"]


def test_they_say_of_a_claim_what_the_ledger_does(ledger: dict[str, Claim]) -> None:
    for path, text in zip(FILES, TEXTS, strict=True):
        it = json.loads(text)
        claim = ledger[it["claim"]]
        assert path.stem.startswith(it["claim"].partition(":")[2].replace(":", "-"))
        assert it["where"].startswith(claim.where)  # and, behind it, the sentence of the proof
        assert it["shows"] != "violated" or claim.verdict != "holds", it["claim"]


def test_what_is_refuted_or_empty_or_hangs_on_a_reading_has_one_or_a_reason(ledger: dict[str, Claim]) -> None:
    certified = {it["claim"] for it in map(json.loads, TEXTS) if it["shows"] == "violated"}
    papers = {it.partition(":")[0] for it in certified}
    due = {it.id: it for it in ledger.values() if it.id.partition(":")[0] in papers}
    for verdict, share in (("refuted", 0.85), ("true but empty", 0.9), ("depends on the reading", 0.7)):
        claims = {name for name, it in due.items() if it.verdict == verdict}
        assert len(claims & certified) >= share * len(claims), verdict
        assert claims - certified <= UNCOVERED.keys()
    broken = {name for name, it in due.items() if it.impact in ("privacy broken", "theorem false")}
    assert {it for it in broken if due[it].verdict == "refuted"} <= certified
    assert not UNCOVERED.keys() & certified


def test_recorded_numbers_are_those_of_the_certificates() -> None:
    """The library's number, by another route, lies within its own error of a side; without one, within its last bit."""
    records = json.loads((ROOT / "data/expected/standard.json").read_text(encoding="utf-8"))["records"]
    checks = {entry["claim"]: entry["checks"] for entry in records}
    compared = 0
    ctx.prec = check.PRECISIONS[-1]
    for it in map(json.loads, TEXTS):
        if "record" not in it:
            continue
        recorded = [here for here in checks[it["claim"]] if here["what"] == it["record"]]
        assert recorded, f"{it['claim']}: no check {it['record']!r}"
        found = check.compute(check.STATEMENTS[f"{it['claim']} | {it['printed']}"], check.numbers(it["instance"]))
        sides = [arb(side) for left, _, right in found for side in (left, right)]
        assert any(
            abs(side - arb(here["observed"])) <= here["error"] + math.ulp(here["observed"])
            for here in recorded
            for side in sides
        ), f"{it['claim']}: {recorded} is none of {it['found']}"
        compared += 1
    assert compared > 20


def test_exact_are_whole_numbers_and_what_is_certified(ledger: dict[str, Claim]) -> None:
    records = json.loads((ROOT / "data/expected/standard.json").read_text(encoding="utf-8"))["records"]
    certified = {it["claim"] for it in map(json.loads, TEXTS) if it["shows"] != "attained"}
    rounded = {
        entry["claim"]
        for entry in records
        if any(not isinstance(here.observed, int) for here in decisive(Record.from_json(entry)))
    }
    exact = {name for name, it in ledger.items() if it.method == "exact"}
    assert exact & rounded <= certified


def test_the_checker_needs_nothing_of_ours() -> None:
    own = {path.stem for path in (ROOT / "certificates").glob("*.py")}
    for path in (ROOT / "certificates").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [it.name for it in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in {*own, "flint", *sys.stdlib_module_names}, f"{path.name}: {name}"
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), f"{path.name}: a float"


# ---------------------------------------------------------------- forgeries


def leaves(it: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the numbers and words of an instance stand."""
    inner = it.items() if isinstance(it, dict) else enumerate(it) if isinstance(it, list) else ()
    return [place for key, value in inner for place in leaves(value, (*at, key))] or [at]


def put(it: dict[str, Any], at: tuple[Any, ...], value: Any) -> None:
    for key in at[:-1]:
        it = it[key]
    it[at[-1]] = value


def get(it: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        it = it[key]
    return it


def forged_number(it: dict[str, Any], rng: random.Random) -> None:
    at = rng.choice([place for place in leaves(it["instance"]) if place])
    value = get(it["instance"], at)
    number = check.numbers(value) if isinstance(value, int | str) and value != "" else 1
    if not isinstance(number, int | fmpq):
        number = 1
    forged = rng.choice([number + 1, number - 1, -number, 2 * number, number / fmpq(3), fmpq(0), fmpq(10) ** 30])
    put(it["instance"], at, int(forged) if isinstance(forged, int) else str(forged))


def forged_enclosure(it: dict[str, Any], rng: random.Random) -> None:
    said = rng.choice(it["found"])
    name = rng.choice(["left", "right"])
    low, high = check.ends(said[name])
    step = (abs(low) + 1) / 10 ** rng.randrange(1, 9)
    said[name] = rng.choice([[str(low + step), str(high + step)], [str(low - step), str(low)], str(low - step)])


NO_WORDS = "", " ", " so", "so\n", "so\u2028so", "\t", "x" * 901, 1, None, []


def quoted(it: dict[str, Any]) -> str:
    return "quote" if "quote" in it else "unquoted"


def wrong_reading(it: dict[str, Any]) -> None:
    """One where none is due, or one without words."""
    it["reading"] = " " if "reading" in it else "so"


def forged_order(it: dict[str, Any], rng: random.Random) -> None:
    """Not neighbours after all: two entries of a list exchanged, or one doubled."""
    lists = [at[:-1] for at in leaves(it["instance"]) if at and isinstance(get(it["instance"], at[:-1]), list)]
    if not lists:
        forged_number(it, rng)
        return
    values = get(it["instance"], rng.choice(lists))
    i, j = rng.randrange(len(values)), rng.randrange(len(values))
    values[i], values[j] = (values[j], values[i]) if rng.random() < 0.5 else (values[i], values[i])


def turned(it: dict[str, Any], _rng: random.Random) -> None:
    exchange = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "!="}
    it["printed"] = re.sub(r"<=|>=|==|<|>", lambda match: exchange[match[0]], it["printed"])


FORGERS: dict[str, Callable[[dict[str, Any], random.Random], None]] = {
    "number": forged_number,
    "enclosure": forged_enclosure,
    "by": lambda it, rng: it.update(by=str(check.ends(it["by"])[0] * rng.randrange(2, 9) + 1)),
    "inequality": turned,
    "shows": lambda it, rng: it.update(shows=rng.choice([other for other in check.SHOWS if other != it["shows"]])),
    "instance": lambda it, rng: it.update(instance=json.loads(rng.choice(TEXTS))["instance"]),
    "claim": lambda it, rng: it.update(claim=json.loads(rng.choice(TEXTS))["claim"]),
    "order": forged_order,
    "nan": lambda it, rng: put(it["instance"], rng.choice(leaves(it["instance"])), float(rng.choice(["nan", "inf"]))),
    "huge": lambda it, rng: put(it["instance"], rng.choice(leaves(it["instance"])), 10 ** rng.choice([9, 90, 399])),
    "exponent": lambda it, rng: rng.choice(it["found"]).update(left=[f"-1e{10 ** rng.randrange(3, 9)}", "1e99999"]),
    "left out": lambda it, rng: it.pop(rng.choice(["claim", "printed", "instance", "found", "by", "shows", "stands"])),
    "stands": lambda it, rng: it.update(stands=rng.choice([*set(check.STANDS) - {it["stands"]}, "mostly", "", 1])),
    "reading": lambda it, rng: it.pop("reading") if rng.random() < 0.5 and "reading" in it else wrong_reading(it),
    "quote": lambda it, rng: it.update({quoted(it): rng.choice(NO_WORDS)}),
    "no quote": lambda it, _: it.pop(quoted(it)),
    "two": lambda it, _: it.update(quote="so", unquoted="so"),
    "given": lambda it, rng: it.update({rng.choice(["given", "argument", "where", "record"]): rng.choice(NO_WORDS)}),
    "nothing found": lambda it, _: it.update(found=[]),
}


@pytest.mark.slow
def test_no_forgery_is_accepted_unless_it_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "sides", SIDES)
    rng = random.Random(21)
    accepted = dict.fromkeys(FORGERS, 0)
    for i in range(FORGERIES):
        name = list(FORGERS)[i % len(FORGERS)]
        it = json.loads(rng.choice(TEXTS))
        before = json.dumps(it)
        FORGERS[name](it, rng)
        text = json.dumps(it)
        if text == before:
            continue
        try:
            check.check(text)
        except NotShown:
            continue
        assert not second.wrong(text), f"{name}: {text}"
        accepted[name] += 1
    never: tuple[str, ...] = "by", "inequality", "nan", "left out", "nothing found", "shows"
    never += "stands", "reading", "quote", "no quote", "two", "given"
    assert not any(accepted[name] for name in never), accepted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "key"),
    [(it, key) for it in TRUE for key in it.HOLDS],
    ids=lambda it: str(getattr(it, "__name__", it))[:60],
)
def test_no_certificate_can_be_written_for_what_is_true(module: Any, key: str) -> None:
    rng = random.Random(key)
    ctx.prec = check.PRECISIONS[0]
    for _ in range(ATTEMPTS):
        instance = check.numbers(json.loads(json.dumps(module.ATTEMPTS[key](rng), default=str)))
        try:
            found = check.compute(module.HOLDS[key], instance)
        except NotShown:
            continue
        assert not found or not all(check.margin(*sides, "violated") is not None for sides in found), instance


def test_at_least_thirty_true_claims_were_tried() -> None:
    assert len({key.partition(" | ")[0] for it in TRUE for key in it.HOLDS}) >= 30


def test_a_true_statement_made_false_is_found() -> None:
    """The attempts have power: with the sides exchanged, each of most statements is violated somewhere."""
    rng, caught = random.Random(1), 0
    keys = [(it, key) for it in TRUE for key in it.HOLDS]
    for module, key in keys:
        for _ in range(ATTEMPTS):
            try:
                found = check.compute(
                    module.HOLDS[key], check.numbers(json.loads(json.dumps(module.ATTEMPTS[key](rng), default=str)))
                )
            except NotShown:
                continue
            if any(
                check.margin(right, relation, left, "violated") for left, relation, right in found if relation != "=="
            ):
                caught += 1
                break
    assert caught > len(keys) / 2


@pytest.mark.parametrize("m", range(3, 8))
def test_kwiksort_where_first_and_last_seem_exchanged(m: int) -> None:
    """The closed form of its certificate is the mean over all pivots."""
    w = alabi2022.shares([tuple(range(m))])
    seen = [row[:] for row in w]
    seen[0][-1], seen[-1][0] = fmpq(49, 100), fmpq(51, 100)
    printed = "[corrected, attained] E K − 2 OPT >= (4 − s) Σ abs(noise), s <= 1/1000"
    (closed, _, _), *_ = check.STATEMENTS[f"alabi2022:sec-central:kwiksort | {printed}"](m=m, s=fmpq(1, 1000))
    assert alabi2022.sorted_cost(seen, w) == closed


# ---------------------------------------------------------------- the door


@pytest.mark.parametrize(
    ("claim", "printed", "instance", "shows", "why"),
    [
        (  # nothing is attained where a refuted bound happens to hold
            "cai2025:alg-3",
            "|log P(order | D)/P(order | D')| <= ε, N_i + Laplace(L/ε), two items, one voter changed",
            {"voters": [[0]], "others": [[0]], "epsilon": 1},
            "attained",
            "for attained, alone",
        ),
        (  # what we put in its place is no statement about every instance
            "cai2025:lem-b.3:proof",
            "[corrected, attained] t²/(8nλ²) <= t/(4λ) at n, but not at n − 1, t = 8λ √(n log n)",
            {"n": 67},
            "violated",
            "for attained, alone",
        ),
        (  # nor is a constant of the paper's own that is reached
            "cai2025:alg-2",
            "[as printed, attained] loss of the vector N + Laplace(2/ε) == ε, worst neighbours of n items",
            {"n": 2, "epsilon": 1},
            "violated",
            "for attained, alone",
        ),
        (  # the same text, cut at another bar
            "cai2025:alg-3 | |log P(order",
            "D)/P(order | D')| <= ε, N_i + Laplace(L/ε), two items, one voter changed",
            {"voters": [[0]], "others": [[1]], "epsilon": 1},
            "violated",
            "no such claim",
        ),
        (  # a rate needs a chain
            "cai2025:sec-2.2.2:nonprivate-rate",
            "[read as: over ‖θ‖∞ <= 1, as printed] inf sup E‖M − θ‖∞ <= C √(log n/(np))",
            {"sizes": [10**6], "low": -1, "high": 1, "p": 1, "constant": 1},
            "violated",
            "3 to 9 sizes",
        ),
    ],
)
def test_what_an_attacker_tried(claim: str, printed: str, instance: Any, shows: str, why: str) -> None:
    it = {"schema": 2, "claim": claim, "printed": printed, "instance": instance, "shows": shows, "quote": "so"}
    it |= {"stands": check.standing(printed)} | ({"reading": "so"} if "read as" in printed else {})
    with pytest.raises(NotShown, match=why):
        fill.fill(json.dumps(it))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("[]", "schema must be 2"),
        ('{"schema": 1}', r"schema must be 2 \(1 did not say how it stands to the paper\)"),
        ('{"schema": 2, "schema": 2}', "stands twice"),
        ('{"schema": 2.0}', "no integer or rational"),
        ('{"schema": NaN}', "no integer or rational"),
        ('{"schema": 2, "colour": 2}', "unknown fields: colour"),
        ("[" * 100_000, "no JSON|at most"),
        ('{"schema": 1, "a": "' + "x" * 70_000 + '"}', "at most 60,000 bytes"),
    ],
)
def test_what_is_no_certificate_is_refused_in_a_line(text: str, why: str) -> None:
    with pytest.raises(NotShown, match=why) as refused:
        check.check(text)
    assert "\n" not in str(refused.value)


A_READING = (FOLDER / "qiao2021/def-3.4.json").read_text(encoding="utf-8")
AS_PRINTED = (FOLDER / "qiao2021/alg-1.json").read_text(encoding="utf-8")
OURS = (FOLDER / "qiao2021/lem-3.3-attained.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "changes", "why"),
    [
        (AS_PRINTED, {"stands": None}, "a field is missing"),
        (AS_PRINTED, {"stands": "verbatim"}, "stands must be one of: as printed, a reading, ours"),
        (AS_PRINTED, {"stands": ["as printed"]}, "stands must be words"),
        (AS_PRINTED, {"stands": "ours"}, "what is printed stands there as printed"),
        (AS_PRINTED, {"stands": "a reading", "reading": "so"}, "what is printed stands there as printed"),
        (A_READING, {"stands": "as printed", "reading": None}, "what is printed stands there a reading"),
        (OURS, {"stands": "as printed"}, "what is printed stands there ours"),
        (A_READING, {"reading": None}, "a reading says which"),
        (AS_PRINTED, {"reading": "so"}, "a reading says which, and nothing else does"),
        (A_READING, {"reading": ""}, "reading must be words"),
        (AS_PRINTED, {"quote": None}, "it has a quote, or says in unquoted why it has none"),
        (AS_PRINTED, {"unquoted": "so"}, "it has a quote, or says in unquoted why it has none"),
        (AS_PRINTED, {"quote": None, "unquoted": "our copy garbles it"}, "what stands as printed has a quote"),
        (AS_PRINTED, {"quote": ""}, "quote must be words"),
        (AS_PRINTED, {"quote": "  "}, "quote must be words"),
        (AS_PRINTED, {"quote": "two\nlines"}, "quote must be words, in a line"),
        (AS_PRINTED, {"quote": "x" * 901}, "a line of at most 900"),
        (AS_PRINTED, {"quote": 3}, "quote must be words"),
        (OURS, {"unquoted": ""}, "unquoted must be words"),
        (OURS, {"given": []}, "given must be words"),
        (OURS, {"quotation": "so"}, "unknown fields: quotation"),
        (OURS, {"schema": 1}, "schema must be 2"),
    ],
)
def test_how_it_stands_is_said_rightly_or_refused_in_a_line(text: str, changes: dict[str, Any], why: str) -> None:
    check.read(text)
    forged = {key: value for key, value in (json.loads(text) | changes).items() if value is not None}
    for door in (check.check, fill.fill):
        with pytest.raises(NotShown, match=why) as refused:
            door(json.dumps(forged))
        assert "\n" not in str(refused.value)


def test_a_folder_ends_with_the_three_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = AS_PRINTED, A_READING, OURS, (FOLDER / "qiao2021/sec-1-gumbel-all-cases.json").read_text(encoding="utf-8")
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.json").write_text(text, encoding="utf-8")
    (tmp_path / "9.json").write_text(AS_PRINTED.replace('"by": "0', '"by": "1'), encoding="utf-8")
    assert check.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "violated: 1 as printed, 1 a reading, 0 ours",
        "attained: 0 as printed, 0 a reading, 1 ours",
        "all cases: 1 as printed, 0 a reading, 0 ours",
        "4 of 5 shown",
    ]
    assert check.main([str(tmp_path / "0.json")]) == 0
    assert "as printed" not in capsys.readouterr().out


def test_a_float_side_is_refused() -> None:
    with pytest.raises(NotShown, match="exact or a ball"):
        check.compute(lambda: [(0.5, "<=", arb(1))], {})


def test_with_every_a_statement_without_a_certificate_is_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "check", lambda text: "VIOLATED")  # what each shows is tested above
    assert check.main([str(FOLDER)], every=True) == 0
    assert f"{len(FILES)} of {len(FILES)} shown, of {len(check.STATEMENTS)} statements" in capsys.readouterr().out
    for path in FILES[1:]:
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert check.main([str(tmp_path)]) == 0
    assert check.main([str(tmp_path)], every=True) == 1
    lost = json.loads(TEXTS[0])
    assert f"NOT SHOWN: no certificate of {lost['claim']} | {lost['printed']}\n" in capsys.readouterr().out
