"""A caller that asks too fast waits; nobody else does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio
import httpx
import pytest
from fastapi.testclient import TestClient

from api.app import build_app
from api.context import ApiContext
from api.rate import RateLimit
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal


def principal(name: str, tenant: str = "default") -> Principal:
    return Principal(name, tenant, Classification.PUBLIC, frozenset({Capability.READ}))


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def _ok(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


def asked(limited: RateLimit, caller: Principal | None, times: int) -> list[httpx.Response]:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await limited(scope | ({"nexus.principal": caller} if caller else {}), receive, send)

    async def run() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://n") as client:
            return [await client.get("/") for _ in range(times)]

    return anyio.run(run)


def statuses(responses: list[httpx.Response]) -> list[int]:
    return [response.status_code for response in responses]


def test_twice_the_rate_at_once_and_then_the_rate() -> None:
    clock = Clock()
    limited = RateLimit(_ok, 4, clock)
    refused = asked(limited, principal("fast"), 9)
    assert statuses(refused) == [204] * 8 + [429]
    assert refused[-1].json()["code"] == "too_many_requests"
    assert refused[-1].headers["Retry-After"] == "1"
    clock.now += 0.5
    assert statuses(asked(limited, principal("fast"), 3)) == [204, 204, 429]
    clock.now += 3600
    assert statuses(asked(limited, principal("fast"), 9)) == [204] * 8 + [429]


@pytest.mark.parametrize("per_second", [0.5, 0.3, 0.01])
def test_less_than_a_request_in_the_time_of_a_burst_passes_one_at_a_time(per_second: float) -> None:
    clock = Clock()
    limited = RateLimit(_ok, per_second, clock)
    for _ in range(2):
        passed, refused = asked(limited, principal("slow"), 2)
        assert statuses([passed, refused]) == [204, 429]
        wait_s = int(refused.headers["Retry-After"])
        clock.now += 0.9 / per_second
        assert statuses(asked(limited, principal("slow"), 1)) == [429]
        # As long as it was told to wait, from when it was told.
        clock.now += wait_s - 0.9 / per_second
    assert statuses(asked(limited, principal("slow"), 1)) == [204]


def test_callers_do_not_share() -> None:
    limited = RateLimit(_ok, 1, Clock())
    assert statuses(asked(limited, principal("fast"), 3)) == [204, 204, 429]
    assert statuses(asked(limited, principal("other"), 2)) == [204, 204]
    assert statuses(asked(limited, principal("fast", "elsewhere"), 2)) == [204, 204]
    assert statuses(asked(limited, None, 5)) == [204] * 5


@pytest.mark.parametrize(("path", "expected"), [("/session", 429), ("/healthz", 200)])
def test_the_application_has_it(path: str, expected: int) -> None:
    context = ApiContext(
        None,  # type: ignore[arg-type]  # these routes ask no service
        lambda: datetime.now(UTC),
        {"t": principal("t")}.get,
        None,
        1 << 20,
        max_requests_per_s=0.5,
    )
    client = TestClient(build_app(context))
    answers = [client.get(path, headers={"Authorization": "Bearer t"}) for _ in range(2)]
    assert [answers[0].status_code, answers[1].status_code] == [200, expected]
