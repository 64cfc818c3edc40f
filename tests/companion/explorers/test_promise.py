"""The explorer of chapter 1 computes the law that the library computes, and can be used without a mouse or a script."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from companion.chapters.ranking_universities import places, prices, promise
from companion.instruments.allowance import ROUNDING
from companion.instruments.explorers import HEAVIEST
from companion.instruments.sweep import stream

if TYPE_CHECKING:
    from explorer_pages import Opened
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

#: Other ways to write what the explorer computes with, each a mistake.
FAULTS = {
    "half the noise": ("(it * epsilon) / scales[noise]", "(2 * it * epsilon) / scales[noise]"),
    "one noise for both": ("(it * epsilon) / scales[noise]", "(it * epsilon) / scales.right"),
    "the others all agree": ("v < against ? 1 : 0", "0"),
    "the reverse of the reverse": ("la: [items - 1, 0]", "la: [0, items - 1]"),
    "ties above all": ("/ FACTORIAL[n - j]", "/ 1"),
    "falls where it rises": ("c >= knot)", "c > knot)"),
}


@pytest.fixture(scope="module")
def explorer() -> str:
    return promise.break_it("promise").data


@cache
def library(**state: Any) -> pd.DataFrame:
    """The exact law by the library, a row an order."""
    return promise.order_law(**state).set_index("order")


def states() -> list[dict[str, Any]]:
    """The corners, and 48 states over all controls."""
    corners = [
        promise.START | {"items": items, "voters": voters, "epsilon": epsilon, "noise": noise, "asked": "turn"}
        for items, voters, epsilon, noise in product((2, 6), (1, 30), (0.1, 4), promise.NOISE)
    ]
    rng = stream("explorer: promise", {}, root=0)
    choices = {
        "items": range(2, 7),
        "voters": range(1, 31),
        "noise": promise.NOISE,
        "epsilon": promise.EPSILONS,
        "asked": promise.ASKED,
        "reverse": (0, 0.25, 0.5, 0.75, 1),
        "anna": promise.ANNA,
    }
    drawn = [{key: list(it)[rng.integers(len(it))] for key, it in choices.items()} for _ in range(48)]
    return corners + drawn


def distance(page: Page, states: list[dict[str, Any]]) -> float:
    """The largest difference of a probability, and of a log ratio, between what is shown and the library."""
    shown = page.evaluate(
        """states => states.map((state) => {
            const it = explorers.get("promise");
            it.set(state);
            return {state: it.state, orders: it.result.orders, loss: it.result.loss, broken: it.result.broken};
        })""",
        states,
    )
    far = 0.0
    for state, found in zip(states, shown, strict=True):
        assert found["state"] == state
        law = library(**state)
        orders = {it["order"]: it for it in found["orders"]}
        assert orders.keys() == set(law.index)
        for column in law:
            far = max(far, *(abs(orders[order][column] - value) for order, value in law[column].items()))
        far = max(far, abs(found["loss"] - law.ratio.abs().max()))
        assert found["broken"] == (found["loss"] > state["epsilon"] * (1 + ROUNDING))
    return far


def test_the_law_is_that_of_the_library(opened: Opened, explorer: str) -> None:
    made = states()
    assert len(made) >= 60
    for key, values in (("items", range(2, 7)), ("asked", promise.ASKED), ("anna", promise.ANNA)):
        assert {state[key] for state in made} == set(values)
    assert distance(opened(explorer), made) < 1e-6
    broken = {
        noise: [library(**it).ratio.abs().max() > it["epsilon"] * (1 + ROUNDING) for it in made if it["noise"] == noise]
        for noise in promise.NOISE
    }
    assert not any(broken["right"])
    assert 0 < sum(broken["printed"]) < len(broken["printed"])


def test_one_voter_needs_three_items() -> None:
    for epsilon, anna in product(promise.EPSILONS, promise.ANNA):
        assert not promise.breaks(promise.START | {"epsilon": epsilon, "anna": anna})
        assert promise.breaks(promise.START | {"epsilon": epsilon, "anna": anna, "items": 3})
    found = promise.smallest()
    assert (found["voters"], found["items"]) == (1, 3)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_mistake_is_noticed(opened: Opened, explorer: str, fault: tuple[str, str]) -> None:
    page = opened(explorer, fault=fault)
    assert any(distance(page, states()[at::8]) > 1e-3 for at in range(8))


def test_where_one_is_stands_in_the_address(opened: Opened, explorer: str) -> None:
    page = opened(explorer, prices.explore("places", [0.5, 1, 2]).data, query="?impact=all&places.epsilon=2")
    page.evaluate("explorers.get('promise').set({items: 4, anna: 'la', reverse: 0.75})")
    page.wait_for_url("**promise.items=4**")
    assert "promise.voters" not in page.url, "only what differs from the start"
    page.reload()
    state = page.evaluate("explorers.get('promise').state")
    assert state == promise.START | {"items": 4, "anna": "la", "reverse": 0.75}
    assert page.evaluate("explorers.get('places').state") == {"epsilon": 2}
    assert "impact=all" in page.url
    assert page.evaluate("explorers.get('promise').result.orders.length") == 24
    page.get_by_role("button", name="Start again").click()
    page.wait_for_url(lambda url: "promise." not in url)
    assert "places.epsilon=2" in page.url


def test_an_address_that_is_wrong_is_left_aside(opened: Opened, explorer: str) -> None:
    page = opened(explorer, query="?promise.items=77&promise.noise=none&promise.epsilon=x&promise.toString=1")
    assert page.evaluate("explorers.get('promise').state") == promise.START


def test_the_keyboard_reaches_all(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        focus = page.evaluate("document.activeElement.name || document.activeElement.textContent")
        reached.append(focus)
        if focus in ("items", "voters"):
            page.keyboard.press("ArrowRight")
        elif focus == "anna":
            page.keyboard.press("ArrowDown")
    assert reached == [
        *("items", "voters", "noise", "epsilon", "asked", "reverse", "anna"),
        *("Start again", "Show the smallest", "The same as a table"),
    ]
    assert page.evaluate("explorers.get('promise').state") == promise.START | {"items": 3, "voters": 2, "anna": "ba"}
    page.keyboard.press("Enter")
    assert page.locator(".explorer-table table").is_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("explorers.get('promise').state") == promise.smallest()
    assert page.locator(".promise-least").inner_text() == "Smallest so far: 1 voter, 3 items"


def test_the_sentence_says_the_numbers(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    said = page.locator(".explorer-said")
    assert said.get_attribute("aria-live") == "polite"
    before = said.inner_text()
    page.get_by_role("slider", name="Voters").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('.explorer-said').textContent !== before", arg=before)
    law = promise.order_law(**promise.START | {"voters": 2})
    worst = law.loc[law.ratio.abs().idxmax()]
    words = said.inner_text().replace("\u00a0", " ")
    assert words.startswith("Broken. 2 voters, 2 items, wins 2, 0 before and 1, 1 after.")
    for told in (worst.order, f"{worst.before:.3g}", f"{worst.after:.3g}", f"{abs(worst.ratio):.3g}", f"{np.e:.2f}"):
        assert told in words
    assert page.get_by_role("slider", name="Voters").get_attribute("aria-valuetext") == "2"
    rows = page.locator(".explorer-table tr").all_text_contents()
    assert len(rows) == 3
    assert f"{worst.order}{worst.before:.3g}{worst.after:.3g}" in rows[1] + rows[2]


def test_without_a_script_it_is_said(opened: Opened, explorer: str) -> None:
    page = opened(explorer, javascript=False)
    assert not page.locator(".explorer form").is_visible()
    law = promise.order_law(**promise.START)
    assert f"{np.exp(law.ratio.max()):.2f} times as likely" in page.locator(".explorer-said").inner_text()
    assert page.locator(".explorer-table").is_visible()
    cells = page.locator(".explorer-table tbody tr").first.locator("td").all_text_contents()
    assert cells == [law.order[0], f"{law.before[0]:.3g}", f"{law.after[0]:.3g}", f"{law.ratio[0]:.3g}"]


def test_it_is_light_and_few_are_drawn(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    assert len(explorer) < HEAVIEST / 10
    page.evaluate("explorers.get('promise').set({items: 6, voters: 30})")
    assert page.locator(".promise-pair").count() == 6, "of 720 orders"
    assert page.locator(".explorer-table tbody tr").count() == 6


def test_places_are_those_of_the_library(opened: Opened) -> None:
    epsilons = [0.1, 1, 10]
    html = prices.explore("places", epsilons).data
    page = opened(html)
    frame = places.place_probabilities(epsilons)
    still = BeautifulSoup(html, "html.parser").select_one(".explorer-said").get_text()
    assert page.locator(".explorer-said").inner_text() == still, "the words without a script are those with it"
    for epsilon in epsilons:
        shown = page.evaluate(
            "e => explorers.get('places').set({epsilon: e}) ?? explorers.get('places').result", epsilon
        )
        assert np.allclose(np.ravel(shown), frame.probability[frame.epsilon == epsilon], rtol=0, atol=1e-6)
    law = frame[frame.epsilon == 10].probability
    percent = [it for it in page.locator(".shades tbody td").all_text_contents() if it]
    assert percent == [f"{100 * p:.0f}" for p in law if p >= 0.005]
    assert json.loads(page.evaluate("JSON.stringify(explorers.get('places').state)")) == {"epsilon": 10}
    page.get_by_role("slider", name="Price").focus()
    page.keyboard.press("Home")
    page.wait_for_url("**places.epsilon=0.1")
    assert page.locator(".explorer-said").inner_text().startswith("At ε = 0.1 ")
