"""The permutation matrices of chapter 5 are those of the law, and the rankings those of the library."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from companion.chapters.testing_uniformity import decks
from companion.instruments.explorers import HEAVIEST
from companion.instruments.sweep import stream
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows

if TYPE_CHECKING:
    from explorer_pages import Opened
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

FAULTS = {
    "a step that is too large": ("phi ** behind", "phi ** (2 * behind)"),
    "nobody stays": ("row[place] * (1 - entered[place]) +", "0 * (1 - entered[place]) +"),
    "from below": ("(above += law[next - place])", "(above += law[place])"),
    "the other way round": ("order.splice(item - behind, 0, item)", "order.splice(behind, 0, item)"),
    "the first number first": ("numbers[items - 1 - item]", "numbers[item]"),
    "a pair too few": ("distance += behind", "distance += behind && behind - 1"),
}


@pytest.fixture(scope="module")
def explorer() -> str:
    return decks.decks("deck").data


def states() -> list[dict[str, Any]]:
    """The corners, and 60 states over all controls."""
    corners = [{"phi": phi, "items": items, "sample": 100} for phi in (0.0, 0.995, 1.0) for items in (5, 52)]
    rng = stream("explorer: mallows", {}, root=0)
    choices = {"phi": decks.PHIS, "items": decks.ITEMS, "sample": decks.SAMPLES}
    return corners + [{key: it[rng.integers(len(it))] for key, it in choices.items()} for _ in range(60)]


class Told(np.random.Generator):
    """Gives the numbers that it is told."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__(np.random.PCG64(0))
        self.numbers = np.array(numbers)

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return self.numbers.reshape(size)


def mulberry32(seed: int, many: int) -> list[float]:
    """As it is published, in 32 bits; seeds are spread by the golden ratio."""
    low = 0xFFFFFFFF
    a, numbers = seed * 0x9E3779B1 & low, []
    for _ in range(many):
        a = a + 0x6D2B79F5 & low
        t = (a ^ a >> 15) * (1 | a) & low
        t = (t + ((t ^ t >> 7) * (61 | t) & low) & low) ^ t
        numbers.append((t ^ t >> 14) / 2**32)
    return numbers


def expected_places(law: Mallows) -> np.ndarray[Any, Any]:
    """How many items stand before each, on average, by the chances that the library gives of pairs."""
    m = law.n_items
    ahead = np.r_[0.0, law.before(np.arange(1, m))]
    chance = np.array(
        [[1 - ahead[j - i] if i < j else ahead[i - j] if j < i else 0 for j in range(m)] for i in range(m)]
    )
    return chance.sum(1)


def distance(page: Page, states: list[dict[str, Any]]) -> float:
    """The largest difference between what is shown and the library; 1 and more where a ranking is another."""
    shown = page.evaluate(
        "states => states.map(state => (explorers.get('deck').set(state), "
        "{state: explorers.get('deck').state, ...explorers.get('deck').result}))",
        states,
    )
    far = [0.0]
    for state, found in zip(states, shown, strict=True):
        assert found["state"] == state
        items, law, chance = state["items"], Mallows.of_phi(state["items"], state["phi"]), np.array(found["matrix"])
        one = law.sample(1, rng=Told(mulberry32(state["sample"], items)))[0]
        far += [
            np.abs(chance - decks.place_law(items, state["phi"])).max(),
            np.abs(chance @ np.arange(items) - expected_places(law)).max(),
            abs(found["expected"] - law.distance_moments()[0]),
            np.abs(one - np.array(found["places"])).max(),
            abs(found["distance"] - kendall_distance(one, np.arange(items))),
        ]
    return float(max(far))


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.9, 1.0])
def test_places_are_those_of_all_orders(phi: float) -> None:
    orders = np.array(list(permutations(range(6))))
    weight = phi ** np.array([float(kendall_distance(places, np.arange(6))) for places in orders])
    counted = np.array([[weight[orders[:, item] == place].sum() for place in range(6)] for item in range(6)])
    assert np.allclose(decks.place_law(6, phi), counted / weight.sum(), rtol=0, atol=1e-12)


def test_the_law_is_that_of_the_library(opened: Opened, explorer: str) -> None:
    made = states()
    assert len(made) >= 60
    assert {state["items"] for state in made} == set(decks.ITEMS)
    assert distance(opened(explorer), made) < 1e-6


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_mistake_is_noticed(opened: Opened, explorer: str, fault: tuple[str, str]) -> None:
    assert distance(opened(explorer, fault=fault), states()[::3]) > 1e-3


def test_pictures_are_of_the_numbers(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    page.evaluate("explorers.get('deck').set({phi: 0.9, items: 10})")
    mean, one = page.evaluate(
        """[...document.querySelectorAll("#deck canvas")].map((it) => {
            const pixels = it.getContext("2d").getImageData(0, 0, it.width, it.height).data;
            return [...pixels].filter((_, at) => at % 4 === 3);
        })"""
    )
    found = page.evaluate("explorers.get('deck').result")
    assert np.abs(np.array(mean) / 255 - np.minimum(1, 10 * np.ravel(found["matrix"]) / 4)).max() < 5e-3
    assert np.flatnonzero(np.array(one).reshape(10, 10) == 255).tolist() == [
        10 * i + p for i, p in enumerate(found["places"])
    ]


def test_the_address_keeps_the_state(opened: Opened, explorer: str) -> None:
    page = opened(explorer, query="?other.phi=3")
    page.evaluate("explorers.get('deck').set({phi: 1, sample: 7})")
    page.wait_for_url("**deck.phi=1**")
    page.reload()
    assert page.evaluate("explorers.get('deck').state") == decks.START | {"phi": 1, "sample": 7}
    assert "other.phi=3" in page.url


def test_the_keyboard_reaches_all(opened: Opened, explorer: str) -> None:
    page = opened(explorer)
    said = page.locator(".explorer-said")
    assert said.get_attribute("aria-live") == "polite"
    for key in ("Tab", "End", "Tab", "Home", "Tab", "ArrowRight", "Tab", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("explorers.get('deck').state") == {"phi": 1, "items": 5, "sample": 3}
    page.wait_for_function("document.querySelector('.explorer-said').textContent.startsWith('φ = 1, 5 items')")
    turned = page.evaluate("explorers.get('deck').result.distance")
    assert f"5.0 of 10 pairs round, 50.0 %; a shuffled deck turns 50 %. This one turns {turned}," in said.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".explorer-table tbody tr").count() == 5


def test_without_a_script_it_is_said(opened: Opened, explorer: str) -> None:
    page = opened(explorer, javascript=False)
    still, rows = page.locator(".explorer-said").inner_text(), page.locator(".explorer-table tbody tr")
    assert rows.count() == decks.START["items"]
    cells = rows.first.locator("td").all_text_contents()
    assert not page.locator("form").is_visible()
    assert len(explorer) < HEAVIEST
    alive = opened(explorer)
    assert alive.locator(".explorer-said").inner_text().startswith(still), (
        "the words without a script are those with it"
    )
    assert alive.locator(".explorer-table tbody tr").first.locator("th, td").all_text_contents()[:4] == cells
