"""Default-deny, as a middleware: every path but the open ones needs a principal."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from api.context import ApiContext
from api.problems import problem_response
from nexus.errors import NexusError, Unauthenticated
from nexus.model.principal import Principal

# Nothing of a tenant is in these.
OPEN_PATHS = frozenset({"/healthz", "/readyz"})


class Authentication:
    """Finds the principal of each request and puts it into the scope; answers 401 where there is none."""

    def __init__(self, app: ASGIApp, context: Callable[[], ApiContext]) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        try:
            scope["nexus.principal"] = await self._principal(scope, headers)
        except NexusError as error:
            await problem_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope, headers: dict[str, str]) -> Principal:
        context = self._context()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if token:
            found = await anyio.to_thread.run_sync(context.find_principal, token.strip()) if scheme.lower() == "bearer" else None
            if found is None:
                raise Unauthenticated("the bearer token is unknown or revoked")
            return found
        if context.local_principal is not None and _is_local(scope, headers, context.local_hosts):
            return context.local_principal
        raise Unauthenticated("a valid bearer token is needed: `nexus auth create`")


def _is_local(scope: Scope, headers: dict[str, str], hosts: frozenset[str]) -> bool:
    """From loopback, addressed as loopback, and not sent by another site's page (DNS rebinding, cross-site requests)."""
    client = scope.get("client")
    try:
        if client is None or not ipaddress.ip_address(client[0]).is_loopback:
            return False
    except ValueError:
        return False
    # A proxy on this machine speaks for somebody else.
    if any(name in headers for name in ("forwarded", "x-forwarded-for", "x-real-ip")):
        return False
    if _host(headers.get("host", "")) not in hosts:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).hostname in hosts and urlsplit(origin).netloc == headers.get("host")


def _host(value: str) -> str:
    return urlsplit(f"//{value}").hostname or ""
