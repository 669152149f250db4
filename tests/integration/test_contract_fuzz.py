"""Every route against its own description, over a filled database: no 500, no status or content type or body that is not described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from api_fuzz import described, fuzz, operations, without_lifespan
from filled_api import filled_app

from nexus.store.pool import Database


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[Any]:
    """An application that is filled once for all operations."""
    app, runtime = filled_app(Database(module_database_url, size=4), tmp_path_factory.mktemp("fuzz"))
    yield described(without_lifespan(app))
    runtime.close()


@pytest.mark.parametrize(("method", "path"), operations())
def test_no_route_answers_what_it_does_not_describe(api: Any, method: str, path: str) -> None:
    fuzz(api, method, path, examples=6)
