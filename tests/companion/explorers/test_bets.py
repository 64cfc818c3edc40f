"""The game of bets: its tables are the laws, its wealth is the library's, nobody gets rich against a kept promise."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chisquare

from companion.chapters.privacy_audited import bets
from companion.chapters.privacy_audited.mutants import local
from companion.instruments.sweep import stream
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.randomisers import SampledOrder, SplitResponse, ranking_signs
from dprank.audit.betting import STAKES, log_returns
from dprank.privacy.laws import sample

if TYPE_CHECKING:
    from explorer_pages import Opened
    from playwright.sync_api import Page

Array = NDArray[Any]
Bets = list[tuple[int, int, float, int]]  # rounds, mask of sheets, stake, pair as in an address

SHEETS, BOXES = 8, bets.boxes()
BOUNDS = [np.array(bets.bounds(box), np.uint64) for box in BOXES]
RIGHT = [at for at, box in enumerate(BOXES) if not box.broken]
#: Chance of a false alarm of every test here that leaves something to chance; all its seeds are fixed.
ALARM = 1e-6


# --- the same game in Python -----------------------------------------------------------------------------------------


def mix(x: Array) -> Array:
    x = x.astype(np.uint32)
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(15))


def hashed(*keys: Any) -> Array:
    """Of numbers, or of arrays of them."""
    x = np.zeros(1, np.uint32)
    for key in keys:
        x = mix(x + np.asarray(key, np.uint32) + np.uint32(0x9E3779B9))
    return x


@cache
def orders(first: int) -> Array:
    """Which of `BOXES` is in each box, in a hundred deals from this one on, a row each."""
    rows, deals = np.arange(100), first + np.arange(100)
    order = np.tile(np.arange(len(BOXES)), (100, 1))
    for i in range(len(BOXES) - 1, 0, -1):
        j = hashed(deals, i) % (i + 1)
        order[rows, i], order[rows, j] = order[rows, j], order[rows, i]
    return order


def order(deal: int) -> list[int]:
    """Which of `BOXES` is in each box."""
    return [int(it) for it in orders(deal - deal % 100)[deal % 100]]


def place_of(deal: int, inside: int) -> int:
    """The box in which it is."""
    return order(deal).index(inside) + 1


def sheets(deal: Any, box: Any, ranking: int, rounds: Array, inside: int | None = None) -> Array:
    """What is drawn; of many deals, a column of them, with boxes that all have the same `inside`."""
    drawn = mix(mix(rounds) + hashed(deal, box, ranking))
    inside = order(deal)[box - 1] if inside is None else inside
    return np.searchsorted(BOUNDS[inside][ranking], drawn.astype(np.uint64), side="right")


def log_wealth(deal: int, box: int, game: Bets) -> Array:
    """After every round, by the library's returns."""
    returns, gains, start = log_returns(bets.EPSILON, 0.0), [np.zeros(1)], 0
    for rounds, mask, stake, pair in game:
        numbers, other = np.arange(start + 1, start + rounds + 1), (pair + 1) // 2
        x, y = (mask >> sheets(deal, box, at, numbers) & 1 for at in ((0, other) if pair % 2 else (other, 0)))
        gains.append(returns[np.flatnonzero(stake == STAKES)[0], 2 * x + y])
        start += rounds
    return np.cumsum(np.concatenate(gains))


def address(deal: int, box: int, game: Bets) -> str:
    return "_".join([f"{deal}-{box}", *(f"{n}x{mask}s{100 * stake:.0f}p{pair}" for n, mask, stake, pair in game)])


def reached(path: Array) -> int:
    """The first round with a wealth of `bets.GOAL`, 0 if there is none."""
    return int(np.argmax(path >= math.log(bets.GOAL)))


# --- tables ----------------------------------------------------------------------------------------------------------


@cache
def samplers() -> list[Any]:
    """Releases of what is in every box, without its table: code of the library, of the planted bugs, or plain coins."""
    make = {"n_items": 3, "epsilon": bets.EPSILON}
    coins, cube = SplitResponse.calibrated(**make), VectorReport.calibrated(**make, geometry="cube")
    order, pair = (SampledOrder.calibrated(**make, length=length) for length in (3, 2))
    bugs = {mutant.bug: mutant.sample for mutant in local.mutants()}

    def of_library(mechanism: Any) -> Any:
        return lambda ranking, size, rng: sample(LocalMatrix(mechanism), ranking, size, rng)

    def told(*turned: float) -> Any:
        def draw(ranking: Array, size: int, rng: np.random.Generator) -> Array:
            return ranking_signs(ranking[None]) * np.where(rng.random((size, 3)) < turned, -1, 1)

        return draw

    def signed(ranking: Array, size: int, rng: np.random.Generator) -> Array:
        return bugs["budget spent on each of three answers"](ranking_signs(ranking[None])[0], size, rng)

    third = 1 / (1 + math.exp(bets.EPSILON / 3))
    return [
        *map(of_library, (coins, order, cube)),
        told(0.4, 0.4, 0.4),
        of_library(SampledOrder(3, 3, pair.kept)),
        signed,
        bugs["one coin for all answers"],
        told(third, third, 0),
        bugs["hidden orders sent in the order of codes"],
        bugs["no coin for vectors that agree in all signs"],
    ]


def counted(rows: Array) -> Array:
    """How often each sheet comes: rows of signs, or of items in order."""
    signs = rows if np.isin(rows, (-1, 1)).all() else ranking_signs(np.argsort(rows, axis=1))
    return np.bincount(((signs < 0) @ [4, 2, 1]).astype(int), minlength=SHEETS)


def fits(counts: Array, law: Array) -> bool:
    possible = law > 0
    if counts[~possible].any():
        return False
    return possible.sum() == 1 or chisquare(counts[possible], counts.sum() * law[possible]).pvalue > ALARM


@pytest.mark.parametrize("at", range(len(BOXES)), ids=[box.inside for box in BOXES])
def test_a_table_is_the_law_of_what_is_released(at: int) -> None:
    """Releases of code that knows no table; the table of another ranking does not fit them."""
    laws = np.diff(BOUNDS[at].astype(float) / 2**32, axis=1, prepend=0.0)
    assert np.abs(laws - BOXES[at].laws).max() < 2**-31
    assert (laws[BOXES[at].laws == 0] == 0).all(), "what cannot come never comes"
    assert (laws.sum(axis=1) == 1).all()
    rng = stream("bets: releases", {"box": at})
    drawn = [counted(samplers()[at](np.array(ranking), 20_000, rng)) for ranking in bets.RANKINGS.values()]
    assert [fits(counts, law) for counts, law in zip(drawn, laws, strict=True)] == [True] * 3
    assert not any(fits(counts, law) for counts, law in zip(drawn, laws[[1, 2, 0]], strict=True))


def test_draws_of_two_rankings_are_independent_and_of_their_laws() -> None:
    """Over all deals and many rounds, in pairs of this round and this one, and of this round and the next."""
    numbers = np.arange(1, 1_002)
    for at, box in enumerate(BOXES):
        same, next_ones = np.zeros((2, SHEETS * SHEETS), int)
        for deal in range(1, bets.DEALS + 1):
            one, two = (sheets(deal, place_of(deal, at), ranking, numbers) for ranking in (0, 1))
            same += np.bincount(SHEETS * one[1:] + two[1:], minlength=SHEETS * SHEETS)
            next_ones += np.bincount(SHEETS * one[1:] + one[:-1], minlength=SHEETS * SHEETS)
        assert fits(same, np.kron(box.laws[0], box.laws[1])), box.inside
        assert fits(next_ones, np.kron(box.laws[0], box.laws[0])), box.inside


def test_three_boxes_use_up_their_promise_and_seven_break_it() -> None:
    """Losses by hand, and those of the planted bugs by the exact route of their own."""
    losses = [max(box.losses) for box in BOXES]
    rounded = 3 * math.log(0.6 / 0.4)
    kept = SampledOrder.calibrated(n_items=3, epsilon=1.0, length=2).shrinkage
    loud = math.log(6 * kept / (1 - kept) + 1)
    assert losses == pytest.approx([1, 1, 1, rounded, loud, 3, *[math.inf] * 4], rel=1e-9)
    exact = {mutant.bug: mutant.exact_epsilon() for mutant in local.mutants()}
    assert exact["order of three sent with the odds of a pair"] == pytest.approx(loud, rel=1e-9)
    assert exact["budget spent on each of three answers"] == pytest.approx(3, rel=1e-9)


def test_no_event_is_better_than_the_best_bet() -> None:
    returns, masks = log_returns(bets.EPSILON, 0.0), np.array(list(product((0, 1), repeat=SHEETS)))
    for box in BOXES:
        found = 0.0
        for likely, rare in ((0, 1), (1, 0), (0, 2), (2, 0)):
            p, q = masks @ box.laws[likely], masks @ box.laws[rare]
            found = max(found, (returns @ [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]).max())
        assert bets.best_bet(box).growth == pytest.approx(found, abs=1e-12)
    assert [at for at, box in enumerate(BOXES) if bets.best_bet(box).growth == 0] == RIGHT


# --- who gets rich ---------------------------------------------------------------------------------------------------


def alarms(at: int, games: int, returns: Array) -> int:
    """Of so many deals, hundreds, in which box `at` is bet against where it loses most, those that reach 1,000."""
    first, second = BOXES[at].laws[:2]
    fair, numbers = first > second * math.exp(bets.EPSILON) * (1 - 1e-9), np.arange(1, 501)
    found = 0
    for start in range(0, games, 100):
        deals = start + np.arange(100)[:, None]
        boxes = 1 + np.argmax(orders(start) == at, axis=1)[:, None]
        x, y = (fair[sheets(deals, boxes, ranking, numbers, at)] for ranking in (0, 1))
        found += int((np.cumsum(returns[2 * x + y], axis=1) >= math.log(bets.GOAL)).any(axis=1).sum())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("at", RIGHT)
def test_against_a_kept_promise_a_thousand_is_as_rare_as_ville_says(at: int) -> None:
    """In a fair game at most one of 1,000, up to what chance does once in a million; who pays too little gets rich."""
    games = 20_000
    most = binom.isf(ALARM, games, 1 / bets.GOAL)
    stake = np.flatnonzero(STAKES == 0.45)[0]
    assert alarms(at, games, log_returns(bets.EPSILON, 0.0)[stake]) <= most
    assert alarms(at, 1_000, log_returns(0.5 * bets.EPSILON, 0.0)[stake]) > most


def planned(counts: Array) -> tuple[float, int, float, int]:
    """Growth, mask, stake and pair of the bet that would have paid best on what was seen, less a deviation."""
    best = (0.0, 0, 0.0, 1)
    for pair in range(1, 5):
        other = (pair + 1) // 2
        seen = counts[other - 1][:: 1 if pair % 2 else -1]
        n = seen.sum() / 2
        if not n:
            continue
        falling = np.argsort(-(seen[0] + 0.5) / (seen[1] + 0.5), kind="stable")
        for size in range(1, SHEETS):
            p, q = seen[:, falling[:size]].sum(axis=1) / n
            p, q = p - math.sqrt(p * (1 - p) / n), q + math.sqrt(q * (1 - q) / n) + 0.5 / n
            growth = log_returns(bets.EPSILON, 0.0) @ [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
            mask = sum(1 << int(sheet) for sheet in falling[:size])
            best = max(best, (float(growth.max()), mask, float(STAKES[growth.argmax()]), pair))
    return best


def played(deal: int, box: int) -> Bets:
    """A sensible player: looks 100 rounds at each pair, and then bets as often as was seen, on what was seen."""
    game: Bets = [(100, 0, 0.0, 1), (100, 0, 0.0, 3)]
    counts = np.zeros((2, 2, SHEETS))
    done = start = 0
    while True:
        for rounds, *_, pair in game[done:]:
            other, numbers = (pair + 1) // 2, np.arange(start + 1, start + rounds + 1)
            for side, ranking in enumerate((0, other)):
                counts[other - 1, side] += np.bincount(sheets(deal, box, ranking, numbers), minlength=SHEETS)
            start += rounds
        done = len(game)
        if start >= bets.MOST or reached(log_wealth(deal, box, game)):
            return game
        rounds = min(start, bets.MOST - start)
        growth, mask, stake, pair = planned(counts)
        half = rounds // 2
        game += [(rounds, mask, stake, pair)] if growth else [(half, 0, 0.0, 1), (rounds - half, 0, 0.0, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("at", "rounds"), [(3, 15_000), (4, 800), (5, 500), (6, 250), (7, 250), (8, 400), (9, 400)])
def test_a_sensible_player_catches_every_bug(at: int, rounds: int) -> None:
    """In 18 deals of 20 within so many rounds, in all of them before the box is empty."""
    found = []
    for deal in range(1, 21):
        box = place_of(deal, at)
        found.append(reached(log_wealth(deal, box, played(deal, box))) or bets.MOST + 1)
    assert sum(it <= rounds for it in found) >= 18, sorted(found)
    assert max(found) <= bets.MOST


@pytest.mark.slow
def test_a_sensible_player_is_not_rich_where_nothing_is_wrong() -> None:
    games = [(deal, place_of(deal, at)) for deal in range(1, 11) for at in RIGHT]
    found = sum(reached(log_wealth(*game, played(*game))) > 0 for game in games)
    assert found <= binom.isf(ALARM, len(games), 1 / bets.GOAL)


# --- in the browser --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explorer() -> str:
    return bets.game().data


@pytest.fixture
def page(opened: Opened, explorer: str) -> Page:
    return opened(explorer)


def states() -> list[tuple[int, int, Bets]]:
    """Games from a named stream, and the extremes: every box, every stake, every pair, all sheets and none."""
    rng = stream("bets: states", {})
    games: list[tuple[int, int, Bets]] = []
    for box, stake in product(range(1, len(BOXES) + 1), STAKES.tolist()):
        lengths = rng.choice(bets.STEPS, size=rng.integers(1, 4))
        drawn = [(int(n), int(rng.integers(256)), float(rng.choice(STAKES)), int(rng.integers(1, 5))) for n in lengths]
        games.append(
            (int(rng.integers(1, bets.DEALS + 1)), box, [*drawn[1:], (drawn[0][0], drawn[0][1], stake, drawn[0][3])])
        )
    ends = product((1, bets.DEALS), (1, len(BOXES)), (0, 1, 255), (0.0, 0.98), (1, 4))
    games += [(deal, box, [(1_000, mask, stake, pair)]) for deal, box, mask, stake, pair in ends]
    return [*games, (7, 3, [(bets.MOST, 1, 0.02, 1)]), (7, 3, [])]


COMPUTE = """games => games.map(([deal, box, game]) => {
    const {log, most, reached, rounds, seen} = explorers.get("bets").compute({deal, box, game});
    return {log, most, reached, rounds, seen};
})"""


def wrong(page: Page, games: list[tuple[int, int, Bets]]) -> list[str]:
    """Games of which the page says anything else than the library's returns on the same sheets."""
    asked = [[deal, box, address(deal, box, game)] for deal, box, game in games]
    found = []
    for (deal, box, game), said in zip(games, page.evaluate(COMPUTE, asked), strict=True):
        path, seen, start = log_wealth(deal, box, game), np.zeros((3, SHEETS), int), 0
        for rounds, *_, pair in game:
            for ranking in (0, (pair + 1) // 2):
                numbers = np.arange(start + 1, start + rounds + 1)
                seen[ranking] += np.bincount(sheets(deal, box, ranking, numbers), minlength=SHEETS)
            start += rounds
        near = np.allclose([said["log"], said["most"]], [path[-1], path.max()], rtol=1e-9, atol=1e-6)
        if not (
            near and said["reached"] == reached(path) and said["rounds"] == start and said["seen"] == seen.tolist()
        ):
            found.append(address(deal, box, game))
    return found


@pytest.mark.slow
def test_wealth_on_the_page_is_the_library_s(page: Page) -> None:
    games = states()
    assert len(games) >= 60
    assert {order(deal)[box - 1] for deal, box, _ in games} == set(range(len(BOXES)))
    assert wrong(page, games) == []


FAULTS = {
    "the sign of the bet": ("x - lost * y - delta", "lost * y - x - delta"),
    "e^epsilon is not paid": ("const lost = Math.exp(epsilon)", "const lost = 1"),
    "the stake is a share of everything": ("stake / (lost + delta)", "stake"),
    "the rankings are exchanged": ("swapped ? [other, 0] : [0, other]", "swapped ? [0, other] : [other, 0]"),
    "both draws are one": ("sheet(mixed, streams[two], box.laws[two])", "sheet(mixed, streams[one], box.laws[one])"),
    "a round is drawn twice": ("        round++;\n", "        round += 2;\n"),
    "another generator": ("0x735a2d97", "0x735a2d95"),
    "boxes are not dealt": ("i > 0; i--", "i > 1; i--"),
    "a new bet pays for old rounds": ("factors(stake, data);", "factors(bets.at(-1).stake, data);"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_seen(opened: Opened, explorer: str, fault: tuple[str, str]) -> None:
    assert wrong(opened(explorer, fault=fault), states()[:60])


@pytest.mark.slow
def test_the_page_calls_no_kept_promise_broken(page: Page) -> None:
    """The three right boxes in 300 deals, against what comes nearest; as Python says, game by game."""
    games = [(deal, place_of(deal, at), [(1_000, 1, 0.1, 1)]) for deal in range(300) for at in RIGHT]
    said = page.evaluate(COMPUTE, [[deal, box, address(deal, box, game)] for deal, box, game in games])
    found = [it["reached"] for it in said]
    assert found == [reached(log_wealth(*game)) for game in games]
    assert np.count_nonzero(found) <= binom.isf(ALARM, len(games), 1 / bets.GOAL)


@pytest.mark.slow
def test_a_game_by_keyboard_is_said_and_kept_in_the_address(opened: Opened, explorer: str) -> None:
    page = opened(explorer, query="?other.x=7")
    said = page.locator(".explorer-said")
    assert said.get_attribute("aria-live") == "polite"
    page.wait_for_function("document.querySelector('.explorer-said').textContent.includes('sent nothing yet')")
    reachable = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reachable.append(page.evaluate("document.activeElement.name || document.activeElement.value || ''"))
    wanted = ["box", "deal", "other", "likelier", "stake", "step", *bets.ANSWERS, *bets.BUTTONS]
    assert reachable[: len(wanted)] == wanted

    def press(name: str, *keys: str) -> None:
        page.locator(f'.explorer [name="{name}"], .explorer button[value="{name}"]').focus()
        for key in keys:
            page.keyboard.press(key)

    at = place_of(1, 7)  # no coin for the last answer
    press("box", "Home", *["ArrowRight"] * (at - 1))
    press("release", "Enter")
    for sheet in ("AAB", "ACB", "BAB", "BCB"):
        press(sheet, "Space")
    page.wait_for_function("document.querySelector('.explorer-said').textContent.includes('ticked')")
    assert "those ticked are 100\u00a0% for A B C and none for C B A; 2.72 times is allowed." in said.inner_text()
    press("stake", "End")
    press("release", "Enter")
    press("broken", "Space")
    press("shown", "Enter")
    page.wait_for_url("**broken_shown*")
    path = log_wealth(1, at, [(100, 0, 0.3, 1), (100, 85, 0.98, 1)])
    words = said.inner_text()
    assert f"It reached 1,000 in round {reached(path)}: the promise is called broken." in words
    assert "You are right. Inside: no coin for the last answer." in words
    assert "other.x=7" in page.url
    page.reload()
    page.wait_for_function("document.querySelector('.explorer-said').textContent.includes('Inside')")
    assert said.inner_text() == words
    cells = page.locator(".explorer-table td").all_text_contents()
    counts = [int(it) for it in cells if it.isdigit()]
    assert sum(counts) == 400
    press("again", "Enter")
    page.wait_for_url("**bets.deal=2*")
    assert "bets.game" not in page.url


@pytest.mark.slow
def test_the_sentence_compares_what_was_seen(page: Page) -> None:
    """Shares of the ticked sheets, the likelier ranking first."""
    box, numbers, ticked = place_of(1, 5), np.arange(1, 1_001), [0, 3]
    page.evaluate(
        """state => explorers.get("bets").set(state)""",
        {"box": box, "game": address(1, box, [(1_000, 0, 0.0, 1)]), "likelier": 1, "AAB": True, "ACC": True},
    )
    page.wait_for_function("document.querySelector('.explorer-said').textContent.includes('ticked')")
    ours, theirs = (np.isin(sheets(1, box, ranking, numbers), ticked).mean() for ranking in (0, 1))
    said = page.inner_text(".explorer-said")
    assert (
        f"{100 * theirs:.0f}\u00a0% for C B A and {100 * ours:.0f}\u00a0% for A B C, {theirs / ours:.2f} times as many"
        in said
    )


@pytest.mark.slow
def test_a_box_that_was_left_is_found_as_it_was(page: Page) -> None:
    """Nobody plays the same rounds twice, knowing what comes."""
    box, release = page.locator('[name="box"]'), page.locator('button[value="release"]')
    release.click()
    box.fill("1")
    release.click()
    release.click()
    box.fill("0")
    assert page.evaluate('explorers.get("bets").result.rounds') == 100
    release.click()
    assert page.evaluate('explorers.get("bets").state.game') == "1-1_200x0s30p1~1-2_200x0s30p1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    ["", "x", "~~", "1-1", "1-1_9x", "1-1_999999x999s99p9", "1-99_shown_broken", "1-1_0x1s30p1", "0-0_broken_shown"],
)
def test_an_address_of_another_make_does_no_harm(opened: Opened, explorer: str, game: str) -> None:
    page = opened(explorer, query=f"?bets.game={game}&bets.stake=7&bets.box=44")
    page.locator('button[value="release"]').click()
    page.wait_for_url("**_100x0s30p1*")
    assert page.evaluate('explorers.get("bets").result.rounds') == 100


@pytest.mark.slow
def test_a_game_ends(opened: Opened, explorer: str) -> None:
    """No address makes the page count for long."""
    page = opened(explorer, query="?bets.game=1-1_99999x0s30p1_99999x1s30p1")
    page.locator('button[value="release"]').click()
    page.wait_for_function("document.querySelector('.explorer-said').textContent.includes('empty')")
    assert page.evaluate('explorers.get("bets").result.rounds') == bets.MOST
    assert page.evaluate('explorers.get("bets").result.path.length') < 1_500


@pytest.mark.slow
def test_without_javascript_the_page_says_what_is_inside(opened: Opened, explorer: str) -> None:
    page = opened(explorer, javascript=False)
    assert page.locator("form").is_hidden()
    assert "3 of them keep it" in page.inner_text(".explorer-said")
    rows = page.locator(".explorer-table tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == [box.inside for box in BOXES]
