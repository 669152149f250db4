"""A span for each request to the API, except those that watch it."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus import telemetry_spans

UNTRACED: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class Traced:
    """Around the whole application; the caller's own trace is not joined."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a span around it."""
        if scope["type"] != "http" or scope["path"] in UNTRACED:
            await self._app(scope, receive, send)
            return
        with telemetry_spans.serving(scope["method"]) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    route = scope.get("route")
                    if route is not None:
                        span.set_attribute("http.route", route.path)
                await send(message)

            await self._app(scope, receive, noted)
