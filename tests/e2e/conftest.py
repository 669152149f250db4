"""Fixtures of end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nexus_up import Up


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """A started `nexus up` on ports and a data folder of its own, stopped at the end."""
    service = Up(tmp_path / "data folder")
    service.start()
    yield service
    service.stop()
