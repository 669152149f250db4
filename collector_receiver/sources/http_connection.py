"""One HTTP/1.1 connection that distrusts its client: every wait has a deadline, every buffer a limit.

Small on purpose: it serves short POSTs and nothing else. What a request means is the application's part; it is asked once when
the headers are there (so that a request that will be refused is never read into memory) and once when the body is complete.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

import httptools

from nexus.errors import InvariantBroken, MalformedSpans, NexusError, TooLarge

MAX_HEADER_BYTES: Final = 16 * 1024
MAX_HEADERS: Final = 100
# Complete requests that a client may send ahead on one connection before the first is answered.
MAX_PIPELINED: Final = 4


@dataclass(slots=True)
class Request:
    """A request: header names in lower case. `reserved` bytes of the budget are the application's to give back."""

    method: str
    path: str
    headers: dict[str, str]
    keep_alive: bool
    body: list[bytes] = field(default_factory=list)
    size: int = 0
    reserved: int = 0
    # Set by the application where it refused the request by its headers.
    refused: Response | None = None
    # What the application found out from the headers.
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer."""

    status: int
    content_type: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Seconds. A body must arrive within `body` plus its size over `min_bytes_per_s`.

    `idle` is longer than what clients keep idle connections for (90 s in Go), so that it is they who close and no request meets a closing connection.
    """

    header: float = 10.0
    idle: float = 180.0
    body: float = 10.0
    min_bytes_per_s: float = 16 * 1024
    linger: float = 2.0


class Application(Protocol):
    """What the connection asks."""

    timeouts: HttpTimeouts

    def opened(self, connection: Connection) -> None:
        """A client connected; may close it or another one."""

    def closed(self, connection: Connection) -> None:
        """It is gone."""

    def begin(self, request: Request) -> None:
        """Headers are complete. Raises NexusError or sets `refused` to refuse without reading the body."""

    def grow(self, request: Request, size: int) -> None:
        """`size` more bytes of body are about to be kept. Raises NexusError to refuse."""

    async def respond(self, request: Request) -> Response:
        """The answer to a complete request. Raises nothing."""
        ...

    def refuse(self, request: Request, error: NexusError) -> Response:
        """The answer to an error found on the way."""
        ...

    def drop(self, request: Request) -> None:
        """A request will never be answered; give back what it holds."""


class Connection(asyncio.Protocol):
    """A client's connection."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._target = b""
        self._headers: dict[str, str] = {}
        self._header_bytes = 0
        self._header_count = 0
        self._unfinished = 0
        self._progress = False
        self._current: Request | None = None
        self._complete: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self.deadline = 0.0

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        # Of the event loop's own class; uvloop's is none of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._expect(self._application.timeouts.header)
        self._application.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        """It is gone; so is what it had not finished."""
        self._transport = None
        self._closing = True
        if self._current is not None:
            self._application.drop(self._current)
            self._current = None
        while self._complete:
            self._application.drop(self._complete.popleft())
        self._application.closed(self)

    def eof_received(self) -> bool:
        """A client that has sent its request and half-closed still gets its answer."""
        return self.busy

    def data_received(self, data: bytes) -> None:
        """Feed the parser, which calls back."""
        if self._closing:
            return
        self._progress = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # CONNECT is told apart by its having been refused.
            if "upgrade" in self._headers and not self._closing:
                self._decline(data[upgrade.args[0] :])
            return
        except httptools.HttpParserCallbackError as error:
            cause = error.__context__
            self._fail(cause if isinstance(cause, NexusError) else InvariantBroken(repr(cause)))
        except httptools.HttpParserError as error:
            self._fail(MalformedSpans(f"this is no HTTP request: {error}"))
        # The parser keeps an unfinished header line in memory: what came since the last whole head or body is bounded here.
        self._unfinished = 0 if self._progress or self._current is not None else self._unfinished + len(data)
        if self._unfinished > MAX_HEADER_BYTES and not self._closing:
            self._fail(TooLarge("the headers are too large"))

    def _decline(self, rest: bytes) -> None:
        """Go on without the other protocol that was offered. The parser has stopped behind the headers, and a new one reads them without the offer."""
        head = [f"{self._parser.get_method().decode()} {self._target.decode()} HTTP/{self._parser.get_http_version()}"]
        head += [f"{name}: {value}" for name, value in self._headers.items() if name != "upgrade"]
        self._parser = httptools.HttpRequestParser(self)
        self.data_received("\r\n".join((*head, "", "")).encode("latin-1") + rest)

    def pause_writing(self) -> None:
        """Answers are short: whoever lets so many of them pile up does not read them."""
        self.abort()

    # httptools' callbacks

    def on_message_begin(self) -> None:
        """The first byte of a request line."""
        self._target, self._headers, self._header_bytes, self._header_count = b"", {}, 0, 0

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self._target += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, whole."""
        self._count(len(name) + len(value))
        self._header_count += 1
        if self._header_count > MAX_HEADERS:
            raise TooLarge("too many headers")
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER_BYTES:
            raise TooLarge("the headers are too large")

    def on_headers_complete(self) -> None:
        """Ask the application whether the body is wanted."""
        if self._parser.should_upgrade() and "upgrade" in self._headers:
            return  # see `_decline`
        path = self._target.decode("latin-1").partition("?")[0]
        if path.lower().startswith(
            ("http://", "https://")
        ):  # as it is sent to a proxy, which servers must understand too
            path = "/" + path.partition("://")[2].partition("/")[2]
        method = self._parser.get_method().decode("latin-1")
        request = Request(method, path, self._headers, self._parser.should_keep_alive())
        self._current, self._progress = request, True
        self._expect(self._application.timeouts.body)
        try:
            self._application.begin(request)
        except NexusError as error:
            request.refused = self._application.refuse(request, error)
        if request.refused is not None:
            self._refuse(request)
        elif request.headers.get("expect", "").lower() == "100-continue" and self._parser.get_http_version() != "1.0":
            self._write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """A piece of body."""
        request = self._current
        if request is None or request.refused is not None:
            return
        try:
            self._application.grow(request, len(body))
        except NexusError as error:
            request.refused = self._application.refuse(request, error)
            self._refuse(request)
            return
        request.body.append(body)
        request.size += len(body)
        self.deadline += len(body) / self._application.timeouts.min_bytes_per_s

    def on_message_complete(self) -> None:
        """The body is there."""
        request, self._current, self._progress = self._current, None, True
        if request is None or self._closing:
            return
        self._complete.append(request)
        if len(self._complete) >= MAX_PIPELINED and self._transport is not None:
            self._transport.pause_reading()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._answer_all())

    # answering

    @property
    def busy(self) -> bool:
        """Whether a request is being answered: such a connection is not closed to make room."""
        return self._task is not None

    @property
    def receiving(self) -> bool:
        """Whether a body is on its way."""
        return self._current is not None

    async def _answer_all(self) -> None:
        try:
            while self._complete and self._transport is not None:
                request = self._complete.popleft()
                response = request.refused or await self._application.respond(request)
                last = not request.keep_alive or request.refused is not None or (self._closing and not self._complete)
                self._send(request, response, keep_alive=not last)
                if last:
                    self._finish()
                    return
                if self._transport is not None:
                    self._transport.resume_reading()
            self._expect(self._application.timeouts.idle)
        finally:
            self._task = None

    def _refuse(self, request: Request) -> None:
        """Answer before the body is there. Small bodies that are on their way are read past, else the client would see a reset and not the answer."""
        assert request.refused is not None
        self._application.drop(request)
        request.body.clear()
        if self._task is not None:
            # Answers keep their order; this one goes out when its message is complete.
            return
        self._send(request, request.refused, keep_alive=False)
        self._finish()

    def _fail(self, error: NexusError) -> None:
        """Answer what cannot be read any further, behind what was whole before it."""
        if self._closing:
            return
        request = self._current or Request("", "", self._headers, keep_alive=False)
        self._application.drop(request)
        self._current = None
        request.refused = request.refused or self._application.refuse(request, error)
        if self._task is not None:
            self._complete.append(request)
            self._closing = True
            return
        self._send(request, request.refused, keep_alive=False)
        self._finish()

    def _send(self, request: Request, response: Response, *, keep_alive: bool) -> None:
        phrase = HTTPStatus(response.status).phrase
        lines = [
            f"HTTP/1.1 {response.status} {phrase}",
            f"Date: {formatdate(usegmt=True)}",
            f"Content-Type: {response.content_type}",
            f"Content-Length: {len(response.body)}",
            *(f"{name}: {value}" for name, value in response.headers.items()),
        ]
        if not keep_alive:
            lines.append("Connection: close")
        body = b"" if request.method == "HEAD" else response.body
        self._write("\r\n".join((*lines, "", "")).encode("latin-1") + body)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _finish(self) -> None:
        """No more requests. The client has `linger` seconds to read the answer, while what it still sends is thrown away."""
        self._closing = True
        self._expect(self._application.timeouts.linger)
        # TLS cannot be closed on one side: there the client closes first, or the deadline does.
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()

    def _expect(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def expire(self, now: float) -> None:
        """Close a connection whose deadline has passed; called about every second."""
        if now >= self.deadline and not self.busy:
            self.abort()

    def close_when_idle(self) -> None:
        """For a shutdown: finish what is being answered, close what is not."""
        if self._task is None:
            self.abort()
        else:
            self._closing = True

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()
