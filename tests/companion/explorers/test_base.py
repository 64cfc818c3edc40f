"""What all explorers share, on a small one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from companion.instruments.explorers import HEAVIEST, Buttons, Choice, Slider, explorer

if TYPE_CHECKING:
    from explorer_pages import Opened

pytestmark = pytest.mark.slow

CONTROLS: list[Slider | Choice | Buttons] = [
    Slider("epsilon", "Price", (0.5, 1, 2), 1, ("low", "fair", "high")),
    Choice("taste", "Taste", {"a": "sweet & sour", "b": "</script>"}),
]


def small(items: list[str], controls: list[Slider | Choice | Buttons] = CONTROLS) -> str:
    """The kind "places", of one item."""
    data: dict[str, Any] = {"items": items, "epsilons": [0.5, 1, 2], "chances": [[[p]] for p in (0.1, 0.2, 0.3)]}
    return explorer("small", "places", controls, data, title="Small", said="Said.", table="<table></table>").data


def test_too_much_data_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^small: data must be at most 300,000 bytes, got 300,\d\d\d$"):
        small(["a" * HEAVIEST])


def test_no_word_ends_the_script(opened: Opened) -> None:
    page = opened(small(["</script><b>here"]))
    assert page.locator(".shades tbody th").inner_text() == "</script><b>here"
    assert page.locator("select option").all_text_contents() == ["sweet & sour", "</script>"]


def test_controls_have_names_and_values(opened: Opened) -> None:
    page = opened(small(["x"]))
    slider = page.get_by_role("slider", name="Price")
    assert slider.get_attribute("aria-valuetext") == "fair"
    slider.focus()
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "high"
    assert page.locator("label b").inner_text() == "high"
    page.get_by_role("combobox", name="Taste").select_option("b")
    assert page.evaluate("explorers.get('small').state") == {"epsilon": 2, "taste": "b"}
    assert page.evaluate("explorers.get('small').compute({epsilon: 0.5})") == [[0.1]]
    page.wait_for_url("**small.epsilon=2&small.taste=b")


def test_an_address_unfolds_what_it_asks_for(opened: Opened) -> None:
    folded = f"<details id='outer'><summary>Try</summary>{small(['x'])}</details>"
    assert not opened(folded).locator("#small").is_visible()
    page = opened(folded, query="?small.epsilon=2")
    assert page.locator("#small").is_visible()
    assert page.evaluate("explorers.get('small').result") == [[0.3]]


def test_controls_are_large_enough_for_a_thumb(opened: Opened) -> None:
    page = opened(small(["x"], [*CONTROLS, Buttons({"go": "Go"})]))
    page.set_viewport_size({"width": 390, "height": 844})
    boxes = [it.bounding_box() for it in page.locator(".explorer :is(input, select, button, summary)").all()]
    assert len(boxes) == 4
    assert min(min(box["width"], box["height"]) for box in boxes if box) >= 24


def test_focus_is_seen(opened: Opened) -> None:
    page = opened(small(["x"]))
    for _ in range(3):
        page.keyboard.press("Tab")
        drawn = page.evaluate("(it => [it.outlineWidth, it.outlineStyle])(getComputedStyle(document.activeElement))")
        assert drawn == ["3px", "solid"]
