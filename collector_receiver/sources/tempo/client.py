"""Tempo's HTTP API: one request at a time, retried with jittered back-off where that can help."""

from __future__ import annotations

import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, SSLError

from collector_receiver.replay.otlp_json import read as read_otlp_json
from collector_receiver.replay.problems import Problems
from collector_receiver.sources.tempo.answers import BadAnswer, SearchAnswer, TraceAnswer, search_answer, trace_answer
from collector_receiver.sources.tempo.limits import Refusal, is_about_hint, refusal
from nexus.errors import ConfigError, SourceUnavailable
from nexus.model.retry_after import retry_after

T = TypeVar("T")
PROTOBUF = "application/protobuf"
RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
MAX_MESSAGE = 300
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a Tempo. Secrets are plain here: they were unwrapped at the edge."""

    url: str
    org_id: str = ""
    username: str = ""
    password: str = ""
    token: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    ca: Path | None = None
    certificate: tuple[Path, Path] | None = None
    verify: bool = True
    timeout_s: float = 30.0
    attempts: int = 5
    first_pause_s: float = 0.25
    max_pause_s: float = 30.0
    max_trace_bytes: int = 256 * 1024 * 1024
    connections: int = 8


class Refused(Exception):
    """A 4xx that the same request will get again. `limit` where it speaks of a known limit."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.limit: Refusal | None = refusal(text)
        super().__init__(f"HTTP {status}: {text[:MAX_MESSAGE].strip()}".strip(": "))


class Failed(Exception):
    """No usable answer after every attempt. `reached` says whether a server answered at all."""

    def __init__(self, reason: str, *, reached: bool) -> None:
        self.reached = reached
        super().__init__(reason)


@dataclass(slots=True)
class Counts:
    """Requests that were sent, attempts included."""

    requests: int = 0
    retries: int = 0


class TempoClient:
    """Thread-safe. Remembers what the server turned out not to have (v2 of the trace API, the `most_recent` hint)."""

    def __init__(self, access: Access, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._access = access
        self._sleep = sleep
        self._lock = threading.Lock()
        self.counts = Counts()
        self.has_v2 = True
        self.has_most_recent = True
        headers = {
            "accept-encoding": "gzip",
            **{name.lower(): value for name, value in access.headers.items() if value},
        }
        if access.org_id:
            headers["x-scope-orgid"] = access.org_id
        if access.token:
            headers["authorization"] = f"Bearer {access.token}"
        elif access.username:
            headers |= urllib3.make_headers(basic_auth=f"{access.username}:{access.password}")
        self._headers = headers
        self._path = urlsplit(access.url).path.rstrip("/")
        # urllib3 rather than httpx: a third of the processor time a request (bench/tempo.py), and one request a trace is the bulk of polling.
        self._pool = urllib3.connection_from_url(
            access.url,
            maxsize=access.connections,
            block=True,
            timeout=access.timeout_s,
            retries=False,
            **({"ssl_context": _tls(access)} if access.url.startswith("https") else {}),
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def search(self, query: str, start: int, end: int, limit: int) -> SearchAnswer:
        """Traces that overlap [start, end], in Unix seconds. Refused, Failed."""
        hinted = self.has_most_recent and " with (" not in query
        # Without a query old servers search by tags and say nothing of spans; with the hint an answer that is cut is stable.
        text = f"{query} with (most_recent=true)" if hinted else query
        params: dict[str, str | int] = {"q": text, "start": start, "end": end, "limit": limit, "spss": 1}
        try:
            return self._get("/api/search", params, _searched)
        except Refused as refused:
            if not hinted or refused.status != 400 or refused.limit is not None or not is_about_hint(str(refused)):
                raise
            answer = self._get("/api/search", params | {"q": query}, _searched)
            self.has_most_recent = False
            return answer

    def trace(self, trace_id: bytes) -> TraceAnswer:
        """One trace; an empty body where the server does not have it. Refused, Failed."""
        name = trace_id.hex()
        if self.has_v2:
            try:
                return self._get(
                    f"/api/v2/traces/{name}", {}, lambda response: _trace(response, v2=True), accept=PROTOBUF
                )
            except Refused as refused:
                if refused.status not in {404, 405, 501}:
                    raise
                # Either the trace or the path is unknown: v1 knows which.
                found = self._v1(name)
                if found.body:
                    self.has_v2 = False
                return found
        return self._v1(name)

    def _v1(self, name: str) -> TraceAnswer:
        try:
            return self._get(f"/api/traces/{name}", {}, lambda response: _trace(response, v2=False), accept=PROTOBUF)
        except Refused as refused:
            if refused.status == 404:
                return TraceAnswer(b"")
            raise

    def _get(
        self,
        path: str,
        params: Mapping[str, str | int],
        read: Callable[[_Response], T],
        accept: str = "application/json",
    ) -> T:
        pause = self._access.first_pause_s
        reason, reached = "", False
        for attempt in range(self._access.attempts):
            with self._lock:
                self.counts.requests += 1
                self.counts.retries += attempt > 0
            wait: float | None = None
            try:
                response = self._fetch(path, params, accept)
                reached = True
                if response.status == 200:
                    return read(response)
                text = response.content.decode("utf-8", "replace")
                if response.status not in RETRYABLE or refusal(text) is not None:
                    raise Refused(response.status, text)
                reason = f"HTTP {response.status}: {text[:MAX_MESSAGE].strip()}".strip(": ")
                wait = retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            except HTTPError as error:
                reason = f"{type(error).__name__}: {error}".strip(": ")
                reached = reached or not isinstance(error, (NewConnectionError, ConnectTimeoutError, SSLError))
            except BadAnswer as error:
                reason = str(error)
            if attempt + 1 < self._access.attempts:
                jittered = pause * random.uniform(0.5, 1.0)  # noqa: S311  # spreads retries, no secret
                self._sleep(min(self._access.max_pause_s, max(jittered, wait or 0.0)))
                pause = min(self._access.max_pause_s, 2 * pause)
        raise Failed(f"{reason} (after {self._access.attempts} attempts)", reached=reached)

    def _fetch(self, path: str, params: Mapping[str, str | int], accept: str) -> _Response:
        target = self._path + path + (f"?{urlencode(params)}" if params else "")
        response = self._pool.urlopen(
            "GET", target, headers={**self._headers, "accept": accept}, redirect=False, preload_content=False
        )
        try:
            content = self._content(response)
        except BaseException:
            # Half an answer: the connection cannot be used again.
            response.close()
            raise
        response.release_conn()
        return _Response(response.status, {name.lower(): value for name, value in response.headers.items()}, content)

    def _content(self, response: urllib3.BaseHTTPResponse) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.stream(CHUNK_BYTES):
            size += len(part)
            if size > self._access.max_trace_bytes:
                raise Refused(413, f"trace too large: the answer is over {self._access.max_trace_bytes} bytes")
            parts.append(part)
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def _tls(access: Access) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=str(access.ca) if access.ca else None)
        if access.certificate is not None:
            context.load_cert_chain(*map(str, access.certificate))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"NEXUS_SOURCE_TEMPO: TLS files cannot be used: {error}") from error
    if not access.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _searched(response: _Response) -> SearchAnswer:
    if response.media_type not in {"application/json", "text/json", ""}:
        raise BadAnswer(f"search was answered with {response.media_type}: is this the URL of a Tempo?")
    return search_answer(response.content)


def _trace(response: _Response, *, v2: bool) -> TraceAnswer:
    kind = response.media_type
    if kind == "application/json":
        return _json_trace(response.content)
    if kind not in {PROTOBUF, "application/x-protobuf", "application/octet-stream", ""}:
        raise BadAnswer(f"a trace was answered with {kind}: is this the URL of a Tempo?")
    if not v2:
        return TraceAnswer(response.content)
    return trace_answer(response.content)


def _json_trace(content: bytes) -> TraceAnswer:
    """A server or proxy that does not know the Accept header answers in JSON."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadAnswer(f"the trace answer is no JSON ({error})") from error
    if not isinstance(document, dict):
        raise BadAnswer("the trace answer is no JSON object")
    problems = Problems()
    inner = document.get("trace")
    trace: dict[str, Any] = inner if isinstance(inner, dict) else document
    body = ExportTraceServiceRequest(resource_spans=read_otlp_json(trace, problems)).SerializeToString()
    partial = document.get("status") in {1, "PARTIAL"} or bool(problems.counts)
    return TraceAnswer(body, partial, str(document.get("message") or problems.text()))


def unavailable(name: str, url: str, error: Exception) -> SourceUnavailable:
    """What a caller outside of polling gets: the source and the reason."""
    return SourceUnavailable(f"{name} at {url} cannot be read: {error}")
