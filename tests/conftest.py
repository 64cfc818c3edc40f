from pathlib import Path

import pytest

pytest.register_assert_rewrite("checks")
pytest_plugins = ["explorer_pages"]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small book, of which nothing is built."""
    from small_book import make_book

    return make_book(tmp_path)
