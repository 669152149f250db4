"""The application: routes from their folder, errors to problems, a principal for every request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth import Authentication
from api.context import ApiContext
from api.mcp_server import Mounted
from api.openapi import describe
from api.problems import ProblemResponse, problem_response
from api.rate import RateLimit
from api.strict import known_parameters
from nexus.errors import InvariantBroken, NexusError, TooLarge
from nexus.plugins import load_plugins
from nexus.telemetry import HTTP_REQUESTS, HTTP_SECONDS

log = structlog.get_logger("nexus.api")


class Measured:
    """Counts requests and their time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = "5xx"

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = f"{message['status'] // 100}xx"
            await send(message)

        with HTTP_SECONDS.time():
            try:
                await self._app(scope, receive, noted)
            finally:
                HTTP_REQUESTS.labels(status).inc()


class BodyLimit:
    """Refuses bodies over the limit, stated or streamed."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its body is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        error = TooLarge(f"the body is over the limit of {self._limit} bytes (NEXUS_HTTP__MAX_BODY_BYTES)")
        stated = next((value for key, value in scope["headers"] if key == b"content-length"), b"0")
        if stated.isdigit() and int(stated) > self._limit:
            await problem_response(error)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise error
            return message

        await self._app(scope, counted, send)


def build_app(context: ApiContext) -> FastAPI:
    """The whole HTTP surface over a context."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with agents.run():
            yield

    app = FastAPI(
        title="Nexus",
        version="1",
        description="Designed and observed architecture, side by side.",
        separate_input_output_schemas=False,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.context = context
    for router in load_plugins("api.routes", "ROUTER").values():
        app.include_router(router, dependencies=[Depends(known_parameters)])
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # FastAPI's own way to another description
    agents = Mounted(app)
    app.router.routes.extend(agents.routes)
    app.add_middleware(BodyLimit, limit=context.max_body_bytes)
    app.add_middleware(RateLimit, per_second=context.max_requests_per_s)
    app.add_middleware(Authentication, context=lambda: context)
    app.add_middleware(Measured)

    @app.exception_handler(NexusError)
    async def on_error(request: Request, error: NexusError) -> ProblemResponse:
        if isinstance(error, InvariantBroken):
            log.error("invariant_broken", path=request.url.path, error=str(error))
        return problem_response(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> ProblemResponse:
        errors = [
            {"field": ".".join(str(part) for part in item["loc"]), "message": item["msg"]} for item in error.errors()
        ]
        detail = "; ".join(f"{item['field']}: {item['message']}" for item in errors)
        body = {
            "type": "urn:nexus:problem:bad_question",
            "title": "bad question",
            "status": 422,
            "detail": detail,
            "code": "bad_question",
            "errors": errors,
        }
        return ProblemResponse(body, status_code=422)

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> ProblemResponse:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http")
        body = {
            "type": f"urn:nexus:problem:{code}",
            "title": code.replace("_", " "),
            "status": error.status_code,
            "detail": str(error.detail),
            "code": code,
        }
        return ProblemResponse(body, status_code=error.status_code, headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> ProblemResponse:
        log.error("unhandled", path=request.url.path, exc_info=error)
        return problem_response(InvariantBroken(type(error).__name__))

    return app
