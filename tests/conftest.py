from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from small_book import Built

pytest.register_assert_rewrite("checks")
pytest_plugins = ["explorer_pages"]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small book, of which nothing is built."""
    from small_book import make_book

    return make_book(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A finished book, one for all workers; tests that change it copy it first."""
    from small_book import make_whole_book, once

    return once(tmp_path_factory, "built", make_whole_book)
