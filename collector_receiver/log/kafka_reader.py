"""The span log on Kafka: the reading end of one partition.

Messages are entries of ours, or OTLP requests that a Collector's Kafka exporter wrote (`otlp_proto`). What is neither is counted as rejected and
passed over: a partition never stops at a message. Offsets are the caller's: the group's are told to the brokers only for those who look at lag.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import polars as pl
import structlog
from confluent_kafka import KafkaError, KafkaException, Message

from collector_receiver.log.kafka_client import ASK_S, Consumer, KafkaOptions, TopicPartition, unavailable
from collector_receiver.log.record import HEADER_BYTES, MAGIC, parse_header, readable, rejections_of, whole
from collector_receiver.otlp import decode_batch
from collector_receiver.raw import RawSpans, concat
from nexus import telemetry
from nexus.errors import StoreUnavailable
from nexus.model.coded import Spans, together
from nexus.ports.clock import Clock
from nexus.ports.span_log import LoggedRejection, Rejection, Unread

log = structlog.get_logger("nexus.span_log")

MESSAGES: Final = 200
WAIT_S: Final = 0.1
QUEUE_KBYTES: Final = 32 * 1024


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message: its offset, how many spans, what was refused of it; an entry's payload, or what a Collector wrote."""

    offset: int
    spans: int
    refused: list[LoggedRejection]
    payload: bytes | None = None
    request: RawSpans | None = None


def _coded(entries: list[_Entry]) -> tuple[Spans, list[Unread]]:
    requests = [entry.request for entry in entries if entry.request is not None]
    logged, unread = readable(
        [Unread(entry.spans, entry.payload, "") for entry in entries if entry.payload is not None]
    )
    return together([logged, concat(requests).coded()]) if requests else logged, unread


class KafkaPartitionReader:
    """A `CodedSpanLogReader` of one partition. Not thread-safe. `released(partition, offset)` is told how far it is rolled up."""

    def __init__(
        self, options: KafkaOptions, partition: int, clock: Clock, released: Callable[[int, int], None] | None = None
    ) -> None:
        self._options, self._partition, self._clock, self._released = options, partition, clock, released
        self._name = f"{options.topic}/{partition}"
        self._consumer = Consumer(
            options.client(
                group_id=options.group,
                enable_auto_commit=False,
                enable_partition_eof=True,
                auto_offset_reset="earliest",
                queued_max_messages_kbytes=QUEUE_KBYTES,
                fetch_wait_max_ms=100,
                # Read by assignment; the group's membership is a client of its own.
                allow_auto_create_topics=False,
            )
        )
        self._at: int | None = None
        self._ended = False
        self._refused: list[tuple[int, LoggedRejection]] = []
        self._unread: list[Unread] = []

    def read(self, position: dict[str, int], max_spans: int) -> tuple[pl.DataFrame, dict[str, int]]:
        """See `SpanLogReader.read`."""
        spans, after = self.read_coded(position, max_spans)
        return spans.frame(), after

    def read_coded(self, position: dict[str, int], max_spans: int) -> tuple[Spans, dict[str, int]]:
        """See `CodedSpanLogReader.read_coded`."""
        self._begin(position.get(self._name))
        entries = list(self._entries(max_spans))
        spans, self._unread = _coded(entries)
        if not entries:
            return spans, position
        self._refused = [(entry.offset, one) for entry in entries for one in entry.refused]
        return spans, {**position, self._name: entries[-1].offset + 1}

    def unread(self) -> list[Unread]:
        """See `CodedSpanLogReader.unread`."""
        return self._unread

    def decoded(self, entries: Sequence[Unread]) -> tuple[Spans, list[Unread]]:
        """See `CodedSpanLogReader.decoded`."""
        return readable(entries)

    def again(
        self, start: dict[str, int], end: dict[str, int], max_spans: int
    ) -> Iterator[tuple[Spans, dict[str, int]]]:
        """Spans between two positions once more, in batches, each with the position after it; from the oldest kept where `start` is not there any more."""
        at, limit = self._begin(start.get(self._name)), end.get(self._name, 0)
        while at < limit:
            entries = [entry for entry in self._entries(max_spans) if entry.offset < limit]
            if not entries:
                raise StoreUnavailable(f"partition {self._name} cannot be read again from {at} to {limit}")
            at = entries[-1].offset + 1
            # What cannot be decoded is set aside.
            yield _coded(entries)[0], {self._name: at}

    def rejected(self, start: dict[str, int], end: dict[str, int]) -> list[LoggedRejection]:
        """See `SpanLogReader.rejected`: of the last `read`."""
        first, limit = start.get(self._name, 0), end.get(self._name, 0)
        return [one for offset, one in self._refused if first <= offset < limit]

    def end(self) -> dict[str, int]:
        """See `SpanLogReader.end`."""
        return {self._name: self._bounds()[1]}

    def release(self, position: dict[str, int]) -> None:
        """See `SpanLogReader.release`. What goes is for the topic's retention to say."""
        if self._released is not None and self._name in position:
            self._released(self._partition, position[self._name])

    def close(self) -> None:
        """Leave the brokers."""
        self._consumer.close()

    def _bounds(self) -> tuple[int, int]:
        try:
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(self._options.topic, self._partition), timeout=ASK_S
            )
        except KafkaException as error:
            raise unavailable(f"partition {self._name} cannot be read", error) from error
        return low, high

    def _begin(self, stored: int | None) -> int:
        """Where to read from, with the consumer standing there: a stored offset that the topic does not have (any more) is said, and not waited for."""
        if stored is not None and stored == self._at:
            return stored
        low, high = self._bounds()
        at = low if stored is None else stored
        if at < low:
            telemetry.LOG_LOST_MESSAGES.inc(low - at)
            log.error(
                "span_log_lost",
                partition=self._name,
                messages=low - at,
                hint="the topic's retention is shorter than what is not rolled up yet",
            )
            at = low
        elif at > high:
            log.error(
                "span_log_begun_again",
                partition=self._name,
                stored=at,
                end=high,
                hint="the topic was made anew; it is read from its beginning",
            )
            at = low
        if at == self._at:
            return at
        try:
            self._consumer.assign([TopicPartition(self._options.topic, self._partition, at)])
        except KafkaException as error:
            raise unavailable(f"partition {self._name} cannot be read", error) from error
        self._at, self._ended = at, False
        return at

    def _entries(self, max_spans: int) -> Iterator[_Entry]:
        left, deadline = max_spans, time.monotonic() + ASK_S
        while left > 0:
            try:
                messages = self._consumer.consume(MESSAGES, WAIT_S)
            except KafkaException as error:
                self._at = None
                raise unavailable(f"partition {self._name} cannot be read", error) from error
            for message in messages:
                problem = message.error()
                if problem is None:
                    entry = self._entry(message)
                    self._at, self._ended = entry.offset + 1, False
                    left -= entry.spans + 1
                    yield entry
                elif problem.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # the client's spelling
                    self._ended = True
                else:
                    self._at = None
                    raise unavailable(f"partition {self._name} cannot be read", problem)
            # The end is said once. Before that, nothing means that the brokers have not answered yet.
            if not messages and (self._ended or time.monotonic() > deadline):
                return

    def _entry(self, message: Message) -> _Entry:
        offset, value = message.offset() or 0, message.value() or b""
        arrived = datetime.fromtimestamp((message.timestamp()[1] or 0) / 1000, UTC).replace(second=0, microsecond=0)
        if value[:4] == MAGIC:
            header, payload = parse_header(value[:HEADER_BYTES]), value[HEADER_BYTES:]
            if header is not None and whole(header, payload):
                return _Entry(offset, header.spans, list(rejections_of(header, payload)), payload=payload)
            problem = "a damaged entry"
        else:
            decoded = decode_batch([value], [self._options.tenant])
            if not decoded.malformed:
                return _Entry(
                    offset,
                    len(decoded.raw),
                    [LoggedRejection(one, arrived) for one in decoded.rejections],
                    request=decoded.raw,
                )
            problem = decoded.malformed[0]
        telemetry.LOG_BAD_MESSAGES.inc()
        log.error("span_log_bad_message", partition=self._name, offset=offset, bytes=len(value), problem=problem)
        return _Entry(
            offset, 0, [LoggedRejection(Rejection(self._options.tenant, None, None, None, "message", 1), arrived)]
        )


__all__ = ["KafkaPartitionReader"]
