"""The span log on Kafka: the writing end.

A batch is split by the partition of its traces; each part is an entry as in the local log (`record.py`), in as many messages as the broker's limit
asks for. The append returns when the brokers have acknowledged all of them (acks=all, idempotent producer). What was written of an append that fails in
the middle comes again with the sender's retry, and counts once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl
import structlog
from confluent_kafka import KafkaError, KafkaException, Message

from collector_receiver.log.kafka_client import ASK_S, KafkaOptions, Producer, ready_topic
from collector_receiver.log.record import Compression, encode, size_of
from collector_receiver.raw import RawSpans
from nexus import telemetry
from nexus.errors import Overloaded, StoreUnavailable, TooLarge
from nexus.model.partition import partition_of
from nexus.model.span import empty_spans
from nexus.ports.clock import Clock
from nexus.ports.span_log import Rejection

log = structlog.get_logger("nexus.span_log")

Spans = pl.DataFrame | RawSpans
# librdkafka compresses the batches that it sends; entries go into them as they are.
UNCOMPRESSED: Final[Compression] = "none"
FULL_RETRY_S: Final = 1.0
AWAY_RETRY_S: Final = 5.0
POLL_S: Final = 0.2
# After these an idempotent producer sends nothing any more, however well the brokers are.
DEAD: Final = frozenset(
    {
        KafkaError._FATAL,  # noqa: SLF001  # the client's spelling
        KafkaError._FENCED,  # noqa: SLF001
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.UNKNOWN_PRODUCER_ID,
    }
)


@dataclass(slots=True)
class _Waiting:
    """The messages of one append, until all are acknowledged or one has failed."""

    left: int
    size: int
    error: KafkaError | None = None
    done: threading.Event = field(default_factory=threading.Event)


class KafkaSpanLogWriter:
    """A `SpanLogWriter` on a Kafka topic. One per process, thread-safe. The brokers are asked for at the first append."""

    def __init__(self, options: KafkaOptions, clock: Clock) -> None:
        self._options, self._clock = options, clock
        self._lock = threading.Lock()
        self._pending = 0
        self._partitions = 0
        self._closed = False
        self._dead = False
        self._producer = self._made()
        self._poller = threading.Thread(target=self._poll, name="kafka-producer", daemon=True)
        self._poller.start()

    def _made(self) -> Producer:
        options = self._options
        return Producer(
            options.client(
                acks="all",
                enable_idempotence=True,
                linger_ms=5,
                compression_type=options.compression,
                message_max_bytes=options.max_message_bytes + 4096,
                delivery_timeout_ms=round(options.timeout.total_seconds() * 1000),
                queue_buffering_max_kbytes=max(1024, options.max_pending_bytes // 1024),
            )
        )

    def append(self, spans: pl.DataFrame, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """See `SpanLogWriter.append`."""
        self._append(spans, source, rejections)

    def append_raw(self, spans: RawSpans, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """Like `append`, for spans that readers turn into a frame."""
        self._append(spans, source, rejections)

    def close(self) -> None:
        """Stop. What was acknowledged is with the brokers already."""
        self._closed = True
        self._poller.join()
        self._producer.flush(ASK_S)

    def _append(self, spans: Spans, source: str, rejections: Sequence[Rejection]) -> None:
        if not len(spans) and not rejections:
            return
        if self._closed:
            raise StoreUnavailable("the span log is closed: the service stops")
        count = self._count()
        now = self._clock.now()

        def entry(piece: Spans, refused: Sequence[Rejection] = ()) -> list[Any]:
            return encode(piece, source, refused, now, compression=UNCOMPRESSED)

        messages = [(place, made) for place, part in split(spans, count) for made in self._entries(part, entry)]
        if rejections:
            # Beside spans they would count once for each message of a part that is split.
            messages.append((int(now.timestamp()) % count, entry(empty_spans(), rejections)))
        self._send([(place, b"".join(made)) for place, made in messages])

    def _count(self) -> int:
        if not self._partitions:
            with self._lock:
                self._partitions = self._partitions or ready_topic(self._options)
        return self._partitions

    def _entries(self, spans: Spans, entry: Any) -> Iterator[list[Any]]:
        """Entries that fit into messages: halves of halves."""
        made = entry(spans)
        if size_of(made) <= self._options.max_message_bytes:
            yield made
        elif len(spans) > 1:
            half = len(spans) // 2
            for part in (spans[:half], spans[half:]):
                yield from self._entries(_trimmed(part) if isinstance(part, pl.DataFrame) else part, entry)
        else:
            raise TooLarge(
                f"a span with its resource takes {size_of(made)} bytes; NEXUS_LOG__KAFKA__MAX_MESSAGE_BYTES allows {self._options.max_message_bytes}"
            )

    def _send(self, messages: list[tuple[int, bytes]]) -> None:
        waiting = _Waiting(len(messages), sum(len(value) for _, value in messages))
        with self._lock:
            if self._pending and self._pending + waiting.size > self._options.max_pending_bytes:
                raise Overloaded("the brokers take spans slower than they arrive; send again", retry_after=FULL_RETRY_S)
            self._pending += waiting.size

        def acknowledged(error: KafkaError | None, _message: Message) -> None:
            # On the poller's thread alone.
            waiting.error = waiting.error or error
            self._dead = self._dead or (error is not None and error.code() in DEAD)
            waiting.left -= 1
            if waiting.left <= 0:
                waiting.done.set()

        try:
            for place, value in messages:
                self._producer.produce(self._options.topic, value, partition=place, on_delivery=acknowledged)
            # The producer gives up by itself after `timeout`; this is for a client that does not.
            answered = waiting.done.wait(2 * self._options.timeout.total_seconds())
        except BufferError as error:
            raise Overloaded(
                "the brokers take spans slower than they arrive; send again", retry_after=FULL_RETRY_S
            ) from error
        except KafkaException as error:
            self._dead = self._dead or error.args[0].code() in DEAD
            raise self._failed(str(error)) from error
        finally:
            with self._lock:
                self._pending -= waiting.size
        if not answered or waiting.error is not None:
            raise self._failed(waiting.error.str() if waiting.error else "no answer")

    def _failed(self, reason: str) -> Overloaded:
        telemetry.LOG_WRITE_FAILURES.inc()
        log.warning("span_log_write_failed", topic=self._options.topic, error=reason)
        # The number of partitions is asked for again: the topic may have been made anew.
        self._partitions = 0
        return Overloaded(f"Kafka did not take the spans: {reason}; send again", retry_after=AWAY_RETRY_S)

    def _poll(self) -> None:
        while not self._closed:
            self._producer.poll(POLL_S)
            if self._dead:
                # Senders come again with what it had; what it has sent after all counts once.
                log.warning("kafka_producer_replaced", topic=self._options.topic)
                dead, self._producer, self._dead = self._producer, self._made(), False
                dead.purge()
                dead.flush(POLL_S)


def split(spans: Spans, partitions: int) -> list[tuple[int, Spans]]:
    """The spans of each partition that has any, by trace."""
    if not len(spans):
        return []
    ids = spans["trace_id"] if isinstance(spans, pl.DataFrame) else spans.trace_ids()
    to = partition_of(ids, partitions)
    places = to.unique().sort().to_list()
    if len(places) == 1:
        return [(places[0], spans)]
    return [(place, _taken(spans, to == place)) for place in places]


def _taken(spans: Spans, mask: pl.Series) -> Spans:
    return (
        _trimmed(spans.filter(mask)) if isinstance(spans, pl.DataFrame) else spans.take(np.flatnonzero(mask.to_numpy()))
    )


def _trimmed(frame: pl.DataFrame) -> pl.DataFrame:
    # Slices share their buffers, and IPC writes them whole; `take` copies what is there.
    return pl.DataFrame(pl.from_arrow(frame.to_arrow(compat_level=pl.CompatLevel.oldest()).take(np.arange(len(frame)))))


__all__ = ["KafkaSpanLogWriter", "split"]
