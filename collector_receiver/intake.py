"""From request bodies to the log: requests that wait are decoded together and appended with one sync.

Transports submit and are told; a few threads do the work, for the libraries beneath free the GIL. Everything that waits is counted against one budget.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import structlog

from collector_receiver.budget import Budget
from collector_receiver.inflate import gunzip
from collector_receiver.otlp import Decoded, decode_batch
from collector_receiver.otlp_json import to_protobuf
from collector_receiver.raw import RawSpans
from nexus import telemetry, telemetry_spans
from nexus.errors import InvariantBroken, MalformedSpans, NexusError, Overloaded
from nexus.ports.span_log import Rejection, SpanLogWriter

log = structlog.get_logger("nexus.receiver")

SOURCE: Final = "otlp"
# Compiled code that is on disk is there in a second.
NOTICE_S: Final = 3.0
REASONS: Final = {
    "trace_id": "a trace id must be 16 bytes (in JSON 32 hex digits), not all zero",
    "span_id": "a span id must be 8 bytes (in JSON 16 hex digits), not all zero",
    "start_time": "a span needs a start time above zero",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request that was taken: `rejected` spans of it were not, for the reasons in `message`."""

    accepted: int
    rejected: int = 0
    message: str = ""


# Takes what became of several requests, each with whom to tell; called on threads of the intake.
Deliver = Callable[[Sequence[tuple[Any, Outcome | NexusError]]], None]


@dataclass(slots=True)
class Pending:
    """A request on its way. `reserved` bytes of the budget are given back when its answer is known, which `deliver` takes to `sender`, whatever the transport calls one."""

    body: bytes
    tenant: str
    deliver: Deliver
    sender: Any
    json: bool = False
    gzip: bool = False
    reserved: int = 0
    began: float = field(default_factory=time.monotonic)


_Answer = tuple[Pending, Outcome | NexusError]


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """Bounds of the intake: bytes of one request after decompression, requests and bytes that are decoded together, requests that wait.

    `linger` is how long (s) a busy intake waits until `enough_bytes` wait: decoding several requests together costs half as much for each.
    """

    max_request_bytes: int = 64 * 1024 * 1024
    batch_bytes: int = 8 * 1024 * 1024
    batch_requests: int = 64
    max_waiting: int = 1024
    enough_bytes: int = 2 * 1024 * 1024
    linger: float = 0.004
    committers: int = 2


@runtime_checkable
class RawWriter(Protocol):
    """A span log that takes spans as they are at the door. All of ours do; what else is a `SpanLogWriter` gets frames (`Frames`)."""

    def append_raw(self, spans: RawSpans, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """As `SpanLogWriter.append`."""
        ...


class Frames:
    """Any span log as a `RawWriter`."""

    def __init__(self, writer: SpanLogWriter) -> None:
        self._writer = writer

    def append_raw(self, spans: RawSpans, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """Append as a frame."""
        self._writer.append(spans.frame(), source, rejections)


class Intake:
    """Decodes and appends. `start` before `submit`; `stop` finishes what was submitted."""

    def __init__(
        self, writer: RawWriter | SpanLogWriter, budget: Budget, limits: IntakeLimits, allowed: Iterable[str] = ()
    ) -> None:
        self.budget = budget
        self._writer: RawWriter = writer if isinstance(writer, RawWriter) else Frames(writer)
        self._limits, self._allowed = limits, frozenset(allowed)
        self._waiting: deque[Pending] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._stopping = False
        self._decoder: threading.Thread | None = None
        # Appending waits for the disk; the next batch is decoded meanwhile. Bounded by the slots, so that a slow disk holds the decoder up.
        self._committers = ThreadPoolExecutor(limits.committers, thread_name_prefix="intake-commit")
        self._slots = threading.BoundedSemaphore(limits.committers)
        self._busy_until = 0.0
        # Compiled now, not while the first sender waits. Who waits for it here is told why.
        notice = threading.Timer(NOTICE_S, log.info, ("compiling",), {"why": "the first start on a machine"})
        notice.daemon = True
        notice.start()
        decode_batch([b""], [""], self._allowed)
        notice.cancel()

    def start(self) -> None:
        """Start the threads."""
        self._decoder = threading.Thread(target=self._work, name="intake-decode", daemon=True)
        self._decoder.start()

    def stop(self) -> None:
        """Answer everything that waits, then end."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._decoder is not None:
            self._decoder.join()
        self._committers.shutdown()

    def submit(self, pending: Pending) -> None:
        """Queue a request whose bytes are reserved. Overloaded where too many wait (the reservation stays the caller's until then)."""
        with self._changed:
            if self._stopping or len(self._waiting) >= self._limits.max_waiting:
                raise Overloaded("too many requests wait; send again", retry_after=1.0)
            self._waiting.append(pending)
            self._waiting_bytes += len(pending.body)
            if len(self._waiting) == 1 or self._waiting_bytes >= self._limits.enough_bytes:
                self._changed.notify()

    def _take(self) -> list[Pending]:
        """The next requests to decode together; empty when it is over."""
        with self._changed:
            while not self._waiting and not self._stopping:
                self._changed.wait()
            if time.monotonic() < self._busy_until:
                self._changed.wait_for(
                    lambda: self._stopping or self._waiting_bytes >= self._limits.enough_bytes, self._limits.linger
                )
            batch: list[Pending] = []
            size = 0
            while (
                self._waiting
                and len(batch) < self._limits.batch_requests
                and (not batch or size + len(self._waiting[0].body) <= self._limits.batch_bytes)
            ):
                batch.append(self._waiting.popleft())
                size += len(batch[-1].body)
            self._waiting_bytes -= size
            return batch

    def _work(self) -> None:
        while batch := self._take():
            self._decode(batch)
            self._busy_until = time.monotonic() + 10 * self._limits.linger

    def _decode(self, batch: list[Pending]) -> None:
        """Decode requests together and hand them to a committer; every request is answered, whatever happens."""
        ready = [pending for pending in batch if self._prepare(pending)]
        if not ready:
            return
        try:
            decoded = decode_batch(
                [pending.body for pending in ready], [pending.tenant for pending in ready], self._allowed
            )
        except BaseException as error:  # noqa: BLE001  # a sender must never see it; the library's panics derive from BaseException
            if len(ready) == 1:
                self._finish([(ready[0], broken(error))])
                return
            # Alone, so that only the request that causes it suffers.
            for pending in ready:
                pending.json = pending.gzip = False  # that is done
                self._decode([pending])
            return
        # The bodies are not needed any more; what they became is about as large.
        for pending in ready:
            pending.body = b""
        self._slots.acquire()
        self._committers.submit(self._commit, ready, decoded)

    def _commit(self, batch: list[Pending], decoded: Decoded) -> None:
        """Answer a batch, and tell of it, unless there was nothing but our own telemetry in it: spans about that would never end."""
        began = time.monotonic()
        answers = self._append(batch, decoded)
        self._finish(answers)
        if len(decoded.raw) or decoded.rejections:
            failed = next(
                (
                    result.code
                    for _, result in answers
                    if isinstance(result, NexusError) and not isinstance(result, MalformedSpans)
                ),
                "",
            )
            telemetry_spans.record(
                telemetry_spans.RECEIVE_BATCH,
                time.monotonic() - began,
                error=failed,
                requests=len(batch),
                spans=len(decoded.raw),
            )

    def _append(self, batch: list[Pending], decoded: Decoded) -> list[_Answer]:
        """Append a batch; the answers to its requests. Bad data stays bad whatever the log says."""
        answers: list[_Answer] = [(batch[place], MalformedSpans(why)) for place, why in decoded.malformed.items()]
        good = [place for place in range(len(batch)) if place not in decoded.malformed]
        try:
            if good:
                self._writer.append_raw(decoded.raw, SOURCE, decoded.rejections)
            answers.extend((batch[place], outcome(decoded, place)) for place in good)
        except NexusError as error:
            answers.extend((batch[place], error) for place in good)
        except BaseException as error:  # noqa: BLE001  # likewise
            answers.extend((batch[place], broken(error)) for place in good)
        finally:
            self._slots.release()
        return answers

    def _prepare(self, pending: Pending) -> bool:
        """Inflate, and turn JSON into protobuf. False where that was the end of it."""
        try:
            if pending.gzip:
                pending.body = gunzip(
                    pending.body, self._limits.max_request_bytes, lambda size: self._reserve(pending, size)
                )
            if pending.json:
                # The parsed document takes several times its text, as long as it is converted.
                self._reserve(pending, 8 * len(pending.body))
                converted = to_protobuf(pending.body, self._allowed)
                pending.body = converted.body
                if converted.nothing_known:
                    telemetry.OTLP_WARNINGS.labels("unknown_json").inc()
        except NexusError as error:
            self._finish([(pending, error)])
        except Exception as error:  # noqa: BLE001  # goes to the log and, as an outage, to the sender
            self._finish([(pending, broken(error))])
        else:
            return True
        return False

    def _reserve(self, pending: Pending, size: int) -> None:
        self.budget.reserve(size)
        pending.reserved += size

    def _finish(self, answers: list[_Answer]) -> None:
        """Answer, each once; a transport all of its requests together, for that wakes an event loop once."""
        now = time.monotonic()
        self.budget.release(sum(pending.reserved for pending, _ in answers))
        for pending, result in answers:
            pending.reserved, pending.body = 0, b""
            telemetry.OTLP_ACK_SECONDS.observe(now - pending.began)
            if isinstance(result, Outcome):
                telemetry.OTLP_BATCH_SPANS.observe(result.accepted)
            else:
                # It is a value from here on. The frames that it was raised in hold it, and the whole batch, until garbage is collected.
                result.with_traceback(None)
        telemetry.OTLP_SPANS.inc(sum(result.accepted for _, result in answers if isinstance(result, Outcome)))
        for deliver in {pending.deliver for pending, _ in answers}:
            deliver([(pending.sender, result) for pending, result in answers if pending.deliver == deliver])


def broken(error: BaseException) -> InvariantBroken:
    """A bug of ours, for the log; the sender is told of an outage."""
    log.error("intake_failed", error=repr(error), exc_info=error)
    return InvariantBroken(f"taking a request failed: {error!r}")


def outcome(decoded: Decoded, place: int) -> Outcome | NexusError:
    """What became of one request of a batch that is in the log."""
    own = [rejection for rejection in decoded.rejections if rejection.request == place] if decoded.rejections else []
    for rejection in own:
        telemetry.OTLP_REJECTED.labels(rejection.reason).inc(rejection.count)
    rejected, message = sum(rejection.count for rejection in own), explain(own)
    if rejected and not decoded.accepted[place]:
        return MalformedSpans(message)
    return Outcome(decoded.accepted[place], rejected, message)


def explain(rejections: Sequence[Rejection]) -> str:
    """Why spans were refused, for the sender's log."""
    counts: dict[str, int] = {}
    for rejection in rejections:
        counts[rejection.reason] = counts.get(rejection.reason, 0) + rejection.count
    return "; ".join(f"{count} rejected: {REASONS[reason]}" for reason, count in sorted(counts.items()))
