"""Default-deny, as a middleware: every path but the open ones needs a principal."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable
from importlib.resources import files
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.context import ApiContext
from api.problems import problem_response
from nexus.errors import NexusError, Unauthenticated
from nexus.model.principal import Principal

# Nothing of a tenant is in these; `/session` checks the token itself.
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
SIGN_IN = ("/session", "POST")
COOKIE = "nexus_token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Authentication:
    """Finds the principal of each request and puts it into the scope; answers 401 where there is none."""

    def __init__(self, app: ASGIApp, context: Callable[[], ApiContext]) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its principal, or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or (scope["path"], scope["method"]) == SIGN_IN:
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        try:
            scope["nexus.principal"] = await self._principal(scope, headers)
        except Unauthenticated as error:
            wants_page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
            await (sign_in_page() if wants_page else problem_response(error))(scope, receive, send)
            return
        except NexusError as error:
            await problem_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope, headers: dict[str, str]) -> Principal:
        context = self._context()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if token:
            found = (
                await anyio.to_thread.run_sync(context.find_principal, token.strip())
                if scheme.lower() == "bearer"
                else None
            )
            if found is None:
                raise Unauthenticated("the bearer token is unknown or revoked")
            return found
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if cookie and _same_site(scope, headers):
            found = await anyio.to_thread.run_sync(context.find_principal, cookie)
            if found is not None:
                return found
        if context.local_principal is not None and _is_local(scope, headers, context.local_hosts):
            return context.local_principal
        raise Unauthenticated("a valid bearer token is needed: `nexus auth create`")


def sign_in_page() -> HTMLResponse:
    """A page that asks for a token; still a 401. It stands alone, since nothing else is served without a token."""
    nonce = secrets.token_urlsafe(16)
    text = files("api.web").joinpath("sign_in.html").read_text(encoding="utf-8").replace("NONCE", nonce)
    policy = f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'"
    return HTMLResponse(
        text, 401, {"Content-Security-Policy": policy, "WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
    )


def _same_site(scope: Scope, headers: dict[str, str]) -> bool:
    """A cookie counts for what changes something only where our own page sent it."""
    return scope["method"] in SAFE_METHODS or urlsplit(headers.get("origin", "")).netloc == headers.get("host")


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
    return origin is None or (urlsplit(origin).hostname in hosts and urlsplit(origin).netloc == headers.get("host"))


def _host(value: str) -> str:
    return urlsplit(f"//{value}").hostname or ""
