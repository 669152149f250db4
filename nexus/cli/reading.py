"""Commands that read through the API: against a running service, or in process on the database beside."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import httpx
import typer

from nexus import errors
from nexus.cli.options import service_url, settings_from
from nexus.errors import NexusError

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Base URL of a running service (default NEXUS_API_URL; else the database beside).",
        show_default=False,
    ),
]
Clearance = Annotated[
    str | None, typer.Option("--clearance", help="PUBLIC, INTERNAL or RESTRICTED; can only lower.", show_default=False)
]
Environment = Annotated[
    str | None, typer.Option("--environment", help="Only telemetry of this environment.", show_default=False)
]
_BY_CODE = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NexusError)
}
TIMEOUT_S = 120.0


class Api:
    """The API as commands call it: `client` sends requests as httpx does. Errors are those of Nexus again."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get(self, path: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """GET; parameters that are None are left out."""
        return self._read("GET", path, params={key: value for key, value in params.items() if value is not None})

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST of JSON; values that are None are left out."""
        return self._read("POST", path, json={key: value for key, value in body.items() if value is not None})

    def _read(self, method: str, path: str, **given: Any) -> dict[str, Any]:
        try:
            response = self._client.request(method, path, **given)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise errors.StoreUnavailable(
                f"no service answers at {self._client.base_url}: {error}; is NEXUS_API_URL right?"
            ) from error
        if "json" not in response.headers.get("content-type", ""):
            raise errors.StoreUnavailable(
                f"{self._client.base_url} answers HTTP {response.status_code}, and not like Nexus; is NEXUS_API_URL right?"
            )
        if response.is_error:
            body = response.json()
            kind = _BY_CODE.get(body.get("code", ""), errors.StoreUnavailable)
            detail = str(body.get("detail", f"HTTP {response.status_code}"))
            raise errors.ConfigError(detail) if kind is errors.ConfigError else kind(detail)
        found: dict[str, Any] = response.json()
        return found


@contextmanager
def api(url: str | None, data: Any) -> Iterator[Api]:
    """A client: of the service that is meant (`service_url`) with the token of NEXUS_MCP_TOKEN, else in process as the person at this machine."""
    if address := service_url(data, url):
        token = os.environ.get("NEXUS_MCP_TOKEN") or ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(base_url=address, headers=headers, timeout=TIMEOUT_S) as client:
            yield Api(client)
        return
    from api.app import build_app
    from nexus.wiring.mcp import at_this_machine
    from nexus.wiring.process import runtime_beside

    with runtime_beside(settings_from(data)) as runtime:
        yield Api(_InProcess(build_app(at_this_machine(runtime))))


class _InProcess:
    """An application called without a socket, as the person at this machine. Without its lifespan: a command needs no agents' door."""

    base_url = "http://localhost"

    def __init__(self, app: Any) -> None:
        self._app = app

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        """One request."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app, client=("127.0.0.1", 0), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.base_url, timeout=None) as client:  # noqa: S113  # in process
                return await client.request(method, path, **given)

        return asyncio.run(send())
