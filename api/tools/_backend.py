"""Tools call the HTTP API and nothing else: one path for authentication, filters and errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

Json = dict[str, Any]
NO_TOKEN = "401 unauthenticated: no token; set NEXUS_MCP_TOKEN (stdio) or send `Authorization: Bearer ...` (HTTP); make one with `nexus auth create`"  # noqa: S105  # a message
# Context carries the backend in its lifespan state.
Ctx = Context["Backend", Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `destructive` tools change what others see."""

    call: Callable[..., Any]
    title: str
    destructive: bool = False

    def annotations(self) -> ToolAnnotations:
        """Hints for clients."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=not self.destructive,
            destructive_hint=self.destructive,
            idempotent_hint=True,
            open_world_hint=False,
        )


class Backend:
    """The API behind the tools. `token` is that of a stdio session; over HTTP each request brings its own."""

    def __init__(self, client: httpx.AsyncClient, token: str | None = None) -> None:
        self._client, self._token = client, token

    def _authorization(self, ctx: Ctx) -> str:
        request = ctx.request_context.request
        if request is not None:
            return str(request.headers.get("authorization", ""))
        return f"Bearer {self._token}" if self._token else ""

    async def get(self, ctx: Ctx, path: str, params: Mapping[str, Any] | None = None) -> Json:
        """GET; parameters that are None or "" are left out."""
        kept = {key: value for key, value in (params or {}).items() if value not in (None, "")}
        return await self._send(ctx, "GET", path, params=kept)

    async def post(self, ctx: Ctx, path: str, body: Mapping[str, Any]) -> Json:
        """POST of JSON; values that are None are left out."""
        return await self._send(
            ctx, "POST", path, json={key: value for key, value in body.items() if value is not None}
        )

    async def _send(self, ctx: Ctx, method: str, path: str, **given: Any) -> Json:
        authorization = self._authorization(ctx)
        if not authorization:
            raise ToolError(NO_TOKEN)
        try:
            response = await self._client.request(method, path, headers={"Authorization": authorization}, **given)
        except httpx.InvalidURL as error:
            raise ToolError(f"422 bad_question: an argument cannot be sent: {error}") from error
        except httpx.HTTPError as error:
            raise ToolError(f"Nexus cannot be reached: {type(error).__name__}; is NEXUS_API_URL right?") from error
        if response.is_error:
            raise ToolError(_problem(response))
        found: Json = response.json()
        return found


def _problem(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        body = {}
    return f"{response.status_code} {body.get('code', 'error')}: {body.get('detail', 'no detail')}"


def backend(ctx: Ctx) -> Backend:
    """The backend of a tool call."""
    return ctx.request_context.lifespan_context
