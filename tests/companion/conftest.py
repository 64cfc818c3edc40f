"""Books to build in."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_book import make_book


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return make_book(tmp_path)
