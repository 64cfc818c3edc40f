from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from small_book import Built

pytest.register_assert_rewrite("checks")
pytest_plugins = ["explorer_pages"]

TESTS = Path(__file__).parent
#: Tests that no processor can change, however it computes: of words, files and doors. All others compare numbers.
WORDS = (
    "test_*.py",
    "companion/test_*.py",
    "companion/ledger/*",
    "companion/figures/*",
    "dprank/data/test_damaged.py",
    "dprank/data/test_engines.py",
    "dprank/data/test_headers.py",
    "dprank/data/test_intake.py",
    "dprank/data/test_noticed_rules.py",
    "dprank/data/test_person_labels.py",
    "dprank/data/test_preflib.py",
    "dprank/data/test_sniffing.py",
    "dprank/data/test_spark.py",
    "dprank/privacy/test_budget*.py",
    "dprank/privacy/test_receipts.py",
    "dprank/test_*newcomer*.py",
    "dprank/test_budgets_as_people_think.py",
    "dprank/test_cli*.py",
    "dprank/test_closed_output.py",
    "dprank/test_everybody_is_counted.py",
    "dprank/test_frozen.py",
    "dprank/test_hostile_*.py",
    "dprank/test_kernels.py",
    "dprank/test_layers.py",
    "dprank/test_manual.py",
    "dprank/test_messages.py",
    "dprank/test_picture.py",
    "dprank/test_registry.py",
    "dprank/test_release.py",
    "dprank/test_release_path.py",
    "dprank/test_report_page.py",
    "dprank/test_shown_texts.py",
    "dprank/test_unused_columns.py",
    "dprank/test_wrong_kinds.py",
)
#: Fixtures with which a book is built or a browser opened.
BUILDS = {"chromium", "opened", "sources"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what compares numbers, so that `make processors` runs it."""
    words = {path for pattern in WORDS for path in TESTS.glob(pattern)}
    for item in items:
        if item.path not in words and not BUILDS & set(getattr(item, "fixturenames", ())):
            item.add_marker("numbers")


@pytest.fixture(scope="session", autouse=True)
def every_published_file_is_of_the_schema() -> None:
    """Whatever a test publishes in this process is held against the schema that the package ships."""
    from published import validated

    from dprank import publication

    publication._text = validated(publication._text)  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What collecting brings stays to the end: nobody need look through it for garbage, neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small book, of which nothing is built."""
    from small_book import make_book

    return make_book(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A finished book, one for all workers; tests that change it copy it first."""
    from small_book import build, make_whole_book, once

    return once(tmp_path_factory, "built", lambda root: build(make_whole_book(root)))
