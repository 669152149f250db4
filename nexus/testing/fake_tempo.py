"""A Tempo on a real socket: the parameter rules, texts and quirks of recorded answers, over traces in memory; and faults.

What it imitates, each seen in a real Tempo 3: the default limit of 20 and a first-come subset without a word; ids without
leading zeros; 400 in plain text; the end of a search cut to now - 30 s before the range is checked; a missing trace is an empty message in v2
and 404 in v1; `most_recent` makes a cut answer the newest.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
PROTOBUF = "application/protobuf"
GZIP_BYTES = 512
MAX_REQUEST_BYTES = 64 * 1024
_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Unavailable",
}


@dataclass(frozen=True, slots=True)
class Stored:
    """A trace: its time, spans by service, and resource spans as OTLP bytes. `visible_from` delays it (Unix seconds)."""

    trace_id: bytes
    start_ns: int
    end_ns: int
    body: bytes
    services: Mapping[str, int] = field(default_factory=dict)
    visible_from: float = 0.0
    # Answered by id with PARTIAL and this message.
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. `declared` differs from the length of the body for half an answer; `hang_s` waits before it; `drop` closes without one."""

    status: int = 200
    body: bytes = b""
    kind: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)
    declared: int | None = None
    hang_s: float = 0.0
    drop: bool = False


@dataclass(slots=True)
class Fault:
    """Given for the next `times` requests whose path begins with `path`; `change` makes it from the right answer."""

    path: str
    times: int
    change: Callable[[Answer], Answer]


@dataclass(slots=True)
class Rules:
    """A server's limits."""

    default_limit: int = 20
    max_limit: int = 262_144
    max_range_s: int = 168 * 3600
    max_spss: int = 100
    cutoff_s: int = 30
    has_v2: bool = True
    knows_most_recent: bool = True
    org_id: str = ""
    authorization: str = ""


class FakeTempo:
    """Start with `with FakeTempo() as tempo:`; `tempo.url` is its address."""

    def __init__(self, rules: Rules | None = None, now: Callable[[], float] = time.time, seed: int = 0) -> None:
        self.rules = rules or Rules()
        self.now = now
        self.traces: dict[bytes, Stored] = {}
        self.faults: list[Fault] = []
        self.requests: Counter[str] = Counter()
        # Answers in place of its own, by path and sorted parameters (recordings).
        self.canned: dict[tuple[str, tuple[tuple[str, str], ...], str], Answer] = {}
        self.seen_headers: dict[str, str] = {}
        self._random = random.Random(seed)  # noqa: S311  # a subset that looks arbitrary, reproducibly
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-tempo", daemon=True)
        self._server: asyncio.Server | None = None
        self._order: list[Stored] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()

    async def _listen(self) -> asyncio.Server:
        return await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()

    def add(self, *traces: Stored) -> None:
        """Store (or replace) traces."""
        self.traces |= {trace.trace_id: trace for trace in traces}
        self._order = None

    def fail(self, path: str, change: Callable[[Answer], Answer] | Answer, times: int = 1) -> None:
        """Answer the next `times` requests below `path` otherwise."""
        self.faults.append(Fault(path, times, change if callable(change) else lambda _: change))

    def answer(self, target: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a request."""
        parts = urlsplit(target)
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.requests[parts.path.rsplit("/", 1)[0] if "/traces/" in parts.path else parts.path] += 1
        self.seen_headers = dict(headers)
        right = self._right(parts.path, params, headers)
        for fault in self.faults:
            if fault.times > 0 and parts.path.startswith(fault.path):
                fault.times -= 1
                return fault.change(right)
        return right

    def _right(self, path: str, params: dict[str, str], headers: Mapping[str, str]) -> Answer:
        rules = self.rules
        if rules.authorization and headers.get("authorization") != rules.authorization:
            return Answer(401, b"unauthorized")
        if rules.org_id and headers.get("x-scope-orgid") != rules.org_id:
            return Answer(401, b"no org id")
        wants = PROTOBUF if PROTOBUF in headers.get("accept", "") else JSON
        canned = self.canned.get((path, tuple(sorted(params.items())), wants))
        if canned is not None:
            return canned
        if path == "/ready":
            return Answer(body=b"ready\n")
        if path == "/api/search":
            return self._search(params)
        for prefix, v2 in (("/api/v2/traces/", True), ("/api/traces/", False)):
            if path.startswith(prefix) and (rules.has_v2 or not v2):
                return self._trace(path.removeprefix(prefix), wants, v2=v2)
        return Answer(404, b"404 page not found\n")

    def _search(self, params: dict[str, str]) -> Answer:
        rules = self.rules
        start, end = int(params.get("start", 0)), int(params.get("end", 0))
        limit, spss = int(params.get("limit", rules.default_limit)), int(params.get("spss", 3))
        query = params.get("q", "{}")
        # The end is cut before anything is checked.
        cut = min(end, int(self.now() - rules.cutoff_s)) if rules.cutoff_s and end else end
        if end and start >= cut:
            return Answer(400, f"http parameter start must be before end. received start={start} end={cut}".encode())
        if limit > rules.max_limit:
            return Answer(400, f"limit {limit} exceeds max limit {rules.max_limit}".encode())
        if spss > rules.max_spss:
            return Answer(400, f"spans per span set exceeds {rules.max_spss}. received {spss}".encode())
        if cut - start > rules.max_range_s:
            hours, rest = divmod(rules.max_range_s, 3600)
            text = f"{hours}h{rest // 60}m{rest % 60}s"
            return Answer(
                400, f"range specified by start and end exceeds {text}. received start={start} end={cut}".encode()
            )
        hint = "most_recent=true" in query
        if (hint and not rules.knows_most_recent) or query.count("{") != query.count("}"):
            return Answer(400, b"invalid TraceQL query: parse error at line 1, col 4: unexpected with")
        found = self._matching(start, cut)
        if len(found) > limit:
            # First come: whatever shard answers first, unless the newest are asked for.
            found = found[:limit] if hint else self._random.sample(found, limit)
        metrics = {"inspectedTraces": len(found), "completedJobs": 3, "totalJobs": 3}
        return Answer(
            body=json.dumps({"traces": [_named(trace) for trace in found], "metrics": metrics}).encode(), kind=JSON
        )

    def _matching(self, start: int, end: int) -> list[Stored]:
        """Traces that overlap [start, end], newest first."""
        if self._order is None:
            self._order = sorted(self.traces.values(), key=lambda trace: -trace.start_ns)
        now, low, high = self.now(), start * 1_000_000_000, end * 1_000_000_000
        return [
            trace
            for trace in self._order
            if trace.start_ns <= high and trace.end_ns >= low and trace.visible_from <= now
        ]

    def _trace(self, text: str, wants: str, *, v2: bool) -> Answer:
        try:
            trace_id = bytes.fromhex(text.zfill(32))
        except ValueError:
            bad = next(char for char in text if char not in "0123456789abcdefABCDEF")
            reason = f"trace IDs can only contain hex characters: invalid character '{bad}' at position {text.index(bad) + 1}"
            return Answer(400, reason.encode())
        trace = self.traces.get(trace_id)
        if trace is None or trace.visible_from > self.now():
            return Answer(body=b"\x0a\x00\x12\x00", kind=PROTOBUF) if v2 else Answer(404)
        if wants != PROTOBUF:
            return Answer(body=_as_json(trace.body, v2=v2), kind=JSON)
        if not v2:
            return Answer(body=trace.body, kind=PROTOBUF)
        status = (
            b"\x18\x01\x22" + _varint(len(trace.partial.encode())) + trace.partial.encode() if trace.partial else b""
        )
        return Answer(body=b"\x0a" + _varint(len(trace.body)) + trace.body + b"\x12\x00" + status, kind=PROTOBUF)


class _Connection(asyncio.Protocol):
    """HTTP/1.1, GET without body, keep-alive."""

    def __init__(self, tempo: FakeTempo) -> None:
        self._tempo = tempo
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
            }
            answer = self._tempo.answer(lines[0].split(" ")[1], headers)
            if answer.hang_s:
                asyncio.get_running_loop().call_later(answer.hang_s, self._write, answer, headers)
            else:
                self._write(answer, headers)
        if len(self._buffer) > MAX_REQUEST_BYTES and self._transport is not None:
            self._transport.close()

    def _write(self, answer: Answer, headers: dict[str, str]) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if answer.drop:
            transport.close()
            return
        body, extra = answer.body, dict(answer.headers)
        if len(body) > GZIP_BYTES and "gzip" in headers.get("accept-encoding", "") and answer.declared is None:
            body, extra = gzip.compress(body, 1), extra | {"content-encoding": "gzip"}
        length = answer.declared if answer.declared is not None else len(body)
        lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Status')}", f"content-length: {length}"]
        lines += [f"content-type: {answer.kind}"] if answer.kind else []
        lines += [f"{name}: {value}" for name, value in extra.items()]
        transport.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        if answer.declared is not None and answer.declared != len(answer.body):
            transport.close()


def _named(trace: Stored) -> dict[str, Any]:
    """A trace in a search answer; the id without its leading zeros."""
    return {
        "traceID": trace.trace_id.hex().lstrip("0"),
        "rootServiceName": next(iter(trace.services), ""),
        "startTimeUnixNano": str(trace.start_ns),
        "durationMs": (trace.end_ns - trace.start_ns) // 1_000_000,
        "spanSets": [{"spans": [], "matched": sum(trace.services.values())}],
        "serviceStats": {name: {"spanCount": count} for name, count in trace.services.items()},
    }


def _as_json(body: bytes, *, v2: bool) -> bytes:
    """Protobuf's own JSON: base64 ids, enum names."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    document = MessageToDict(TracesData.FromString(body))
    return json.dumps({"trace": document} if v2 else {"batches": document["resourceSpans"]}).encode()


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
