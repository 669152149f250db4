"""One operation of the API against its own description: shared by the bounded test and the long run (`bench/fuzz_api.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import schemathesis
from filled_api import EVERYTHING
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from api.app import build_app
from nexus.testing.services import double_context

HEADERS = {"Authorization": f"Bearer {EVERYTHING.name}"}
# What it needs to be accepted (a path under a root, a known name) no generator knows.
PLAIN = frozenset({"/healthz", "/readyz"})
EXCLUDED = [positive_data_acceptance]


def operations() -> list[tuple[str, str]]:
    """(method, path) of every operation; they are the same over any context."""
    document = build_app(double_context()).openapi()
    return [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]


@contextlib.asynccontextmanager
async def _nothing(_: Any) -> AsyncIterator[None]:
    yield


def without_lifespan(app: Any) -> Any:
    """The fuzzer would start and stop the agents' door around each of its requests."""
    app.router.lifespan_context = _nothing
    return app


def described(app: Any) -> Any:
    """The description of an application, to be called in process."""
    return schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)


def fuzz(api: Any, method: str, path: str, examples: int, *, anew: bool = False) -> None:
    """Valid and invalid requests, the same every time unless `anew`; raises on an answer that is not described, and on every 5xx but a described one."""
    operation = api[path][method]

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @given(operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            database=None,
            derandomize=not anew,
        )
        def check(case: Case) -> None:
            case.call_and_validate(headers=HEADERS, excluded_checks=EXCLUDED)

        # An operation without parameters has no invalid request.
        if mode is GenerationMode.POSITIVE or path not in PLAIN:
            check()
