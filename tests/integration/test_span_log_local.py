"""The local span log: durable, recoverable, bounded; read by position."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from collector_receiver.log.folder import segments, writers
from collector_receiver.log.local import Limits, LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from nexus.errors import Overloaded, StoreUnavailable
from nexus.model.span import SPAN_SCHEMA, empty_spans
from nexus.ports.span_log import Rejection


def spans(*numbers: int, attributes: int = 1) -> pl.DataFrame:
    rows = [
        {
            "tenant": "default",
            "trace_id": n.to_bytes(16, "big"),
            "span_id": n.to_bytes(8, "big"),
            "parent_id": b"",
            "kind": 2,
            "name": f"op {n}",
            "start_ns": n,
            "end_ns": n + 1,
            "status": 0,
            "status_message": "",
            "trace_state": "",
            "flags": 0,
            "service_name": "shop",
            "service_namespace": None,
            "environment": None,
            "service_version": None,
            "instance": None,
            "attributes": [{"key": f"k{i}", "value": os.urandom(20).hex()} for i in range(attributes)],
            "attribute_count": attributes,
            "links": [],
            "source_probability": None,
        }
        for n in numbers
    ]
    return pl.DataFrame(rows, schema=SPAN_SCHEMA)


def numbers(frame: pl.DataFrame) -> list[int]:
    return frame["start_ns"].to_list()


def read_all(reader: LocalSpanLogReader, position: dict[str, int] | None = None) -> tuple[list[int], dict[str, int]]:
    at, found = dict(position or {}), []
    while True:
        frame, after = reader.read(at, 1000)
        found += numbers(frame)
        if after == at:
            return found, at
        at = after


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "spans"


def test_what_was_appended_is_read_once_in_order_and_exactly(root, clock):
    writer, reader = LocalSpanLogWriter(root, clock), LocalSpanLogReader(root, clock)
    assert reader.read({}, 10)[0].is_empty()
    first = spans(1, 2, 3)
    writer.append(first, "otlp_grpc")
    writer.append(empty_spans(), "otlp_grpc")
    writer.append(spans(4), "otlp_http")
    frame, position = reader.read({}, 2)
    assert frame.equals(first)
    assert dict(frame.schema) == SPAN_SCHEMA
    frame, position = reader.read(position, 2)
    assert numbers(frame) == [4]
    assert position == reader.end()
    assert reader.read(position, 2)[0].is_empty()


def test_rejections_travel_with_their_entry_and_its_minute(root, clock):
    writer, reader = LocalSpanLogWriter(root, clock), LocalSpanLogReader(root, clock)
    clock.at = datetime(2026, 1, 15, 13, 4, 59, tzinfo=UTC)
    rejection = Rejection("default", "shop", None, "prod", "span_id", 3)
    writer.append(spans(1), "otlp_grpc")
    writer.append(empty_spans(), "otlp_grpc", [rejection])
    frame, middle = reader.read({}, 1)
    assert numbers(frame) == [1]
    assert reader.rejected({}, middle) == []
    frame, end = reader.read(middle, 1)
    assert frame.is_empty()
    assert end != middle
    [logged] = reader.rejected(middle, end)
    assert logged.rejection == rejection
    assert logged.minute == datetime(2026, 1, 15, 13, 4, tzinfo=UTC)


def test_group_commit_acknowledges_many_threads_with_few_syncs(root, clock, monkeypatch):
    writer = LocalSpanLogWriter(root, clock)
    syncs, sync = [], os.fdatasync

    def slow_sync(handle: int) -> None:
        syncs.append(handle)
        threading.Event().wait(0.02)
        sync(handle)

    monkeypatch.setattr(os, "fdatasync", slow_sync)
    threads = [threading.Thread(target=writer.append, args=(spans(n), "t")) for n in range(1, 41)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_all(LocalSpanLogReader(root, clock))[0]) == list(range(1, 41))
    assert len(syncs) < 20


def test_a_torn_tail_is_cut_off_and_what_was_acknowledged_stays(root, clock):
    writer = LocalSpanLogWriter(root, clock)
    writer.append(spans(1, 2), "t")
    name = writer.name
    writer.close()
    [segment] = segments(root / name)
    whole = segment.path.read_bytes()
    segment.path.write_bytes(whole + whole[: len(whole) - 7])  # died while it wrote the second entry
    writer = LocalSpanLogWriter(root, clock)
    assert writer.name == name
    assert segment.size() == len(whole)
    writer.append(spans(3), "t")
    reader = LocalSpanLogReader(root, clock)
    assert read_all(reader)[0] == [1, 2, 3]
    assert reader.corrupt_bytes == 0


@pytest.mark.parametrize("place", ["header", "payload"])
def test_a_damaged_entry_is_skipped_and_counted_and_the_rest_is_read(root, clock, place):
    writer = LocalSpanLogWriter(root, clock)
    sizes = []
    for n in (1, 2, 3):
        writer.append(spans(n), "t")
        sizes.append(segments(root / writer.name)[0].size())
    writer.close()
    [segment] = segments(root / writer.name)
    data = bytearray(segment.path.read_bytes())
    data[sizes[0] + (8 if place == "header" else 60)] ^= 0xFF
    segment.path.write_bytes(data)
    reader = LocalSpanLogReader(root, clock)
    assert read_all(reader)[0] == [1, 3]
    assert reader.corrupt_bytes == sizes[1] - sizes[0]
    writer = LocalSpanLogWriter(root, clock)
    writer.append(spans(4), "t")
    assert read_all(reader)[0] == [1, 3, 4]


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_full_disk_is_unavailable_and_later_appends_work(root, clock, monkeypatch, call):
    writer, reader = LocalSpanLogWriter(root, clock), LocalSpanLogReader(root, clock)
    writer.append(spans(1), "t")

    def full(handle: int, data: memoryview | None = None) -> int:
        if data is not None:
            real_write(handle, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    real_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(StoreUnavailable, match="No space"):
            writer.append(spans(2), "t")
    writer.append(spans(3), "t")
    assert read_all(reader)[0] == [1, 3]
    assert reader.corrupt_bytes == 0


def test_nothing_unreleased_is_deleted_and_at_the_limit_appends_are_refused(root, clock):
    limits = Limits(segment_bytes=1, max_bytes=20_000, keep=timedelta(0))
    writer, reader = (
        LocalSpanLogWriter(root, clock, limits),
        LocalSpanLogReader(root, clock, keep=timedelta(0), max_bytes=20_000),
    )
    written = 0
    with pytest.raises(Overloaded) as refused:
        for n in range(1, 1000):
            writer.append(spans(n), "t")
            written = n
    assert refused.value.retry_after > 0
    found, position = read_all(reader)
    assert found == list(range(1, written + 1))
    reader.release(position)
    writer.append(spans(5000), "t")
    assert read_all(reader, position)[0] == [5000]


def test_released_segments_stay_for_their_time_and_then_go(root, clock):
    limits = Limits(segment_bytes=1, max_bytes=10**9, keep=timedelta(minutes=5))
    writer, reader = LocalSpanLogWriter(root, clock, limits), LocalSpanLogReader(root, clock, keep=timedelta(minutes=5))
    clock.at = datetime.now(UTC)
    for n in (1, 2, 3):
        writer.append(spans(n), "t")
    frame, position = reader.read({}, 2)
    assert numbers(frame) == [1, 2]
    reader.release(position)
    assert len(segments(root / writer.name)) == 3
    clock.at += timedelta(minutes=6)
    reader.release(position)
    assert read_all(reader)[0] == [3]


def test_more_pending_bytes_than_allowed_are_refused(root, clock, monkeypatch):
    writer = LocalSpanLogWriter(root, clock, Limits(max_pending_bytes=2_000))
    blocked, entered, sync = threading.Event(), threading.Event(), os.fdatasync

    def stuck(handle: int) -> None:
        entered.set()
        blocked.wait(120)
        sync(handle)

    monkeypatch.setattr(os, "fdatasync", stuck)
    threads = [threading.Thread(target=writer.append, args=(spans(1), "t"))]
    threads[0].start()
    assert entered.wait(120)
    threads.append(threading.Thread(target=writer.append, args=(spans(2, attributes=40), "t")))
    threads[1].start()
    while not writer._pending:
        threading.Event().wait(0.01)
    with pytest.raises(Overloaded):
        writer.append(spans(3, attributes=40), "t")
    blocked.set()
    for thread in threads:
        thread.join()
    assert sorted(read_all(LocalSpanLogReader(root, clock))[0]) == [1, 2]


def test_two_writers_share_a_root_and_readers_see_both(root, clock):
    one, two = LocalSpanLogWriter(root, clock), LocalSpanLogWriter(root, clock)
    one.append(spans(1, 2, 3), "t")
    two.append(spans(4), "t")
    assert len(writers(root)) == 2
    reader = LocalSpanLogReader(root, clock)
    assert sorted(numbers(reader.read({}, 2)[0])) == [1, 2, 3, 4]
    one.close()
    two.close()
    # One worker fewer: its log is still read, and nothing is written to it.
    only = LocalSpanLogWriter(root, clock)
    only.append(spans(5), "t")
    assert sorted(read_all(reader)[0]) == [1, 2, 3, 4, 5]


def test_a_log_begun_again_is_not_taken_for_the_old_one(root, clock):
    import shutil

    writer, reader = LocalSpanLogWriter(root, clock), LocalSpanLogReader(root, clock)
    writer.append(spans(1, 2, 3), "t")
    _, position = read_all(reader)
    writer.close()
    shutil.rmtree(root)
    writer = LocalSpanLogWriter(root, clock)
    writer.append(spans(9), "t")
    assert read_all(reader, position)[0] == [9]


def test_a_huge_append_becomes_entries_that_a_reader_can_take_one_by_one(root, clock, monkeypatch):
    monkeypatch.setattr("collector_receiver.log.local.MAX_SPANS_PER_ENTRY", 10)
    writer, reader = LocalSpanLogWriter(root, clock), LocalSpanLogReader(root, clock)
    writer.append(spans(*range(1, 36)), "t", [Rejection("default", None, None, None, "span_id", 1)])
    assert len(reader.read({}, 10)[0]) == 10
    found, end = read_all(reader)
    assert found == list(range(1, 36))
    assert len(reader.rejected({}, end)) == 1


def test_a_closed_log_is_unavailable(root, clock):
    writer = LocalSpanLogWriter(root, clock)
    writer.append(spans(1), "t")
    writer.close()
    with pytest.raises(StoreUnavailable):
        writer.append(spans(2), "t")
    assert read_all(LocalSpanLogReader(root, clock))[0] == [1]


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
def test_spans_from_the_door_and_frames_read_alike(root, clock, compression):
    """What the receiver logs undecoded is what `decode` says, also when readers change and entries are cut into pieces."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    from collector_receiver.otlp import decode_batch

    message = ExportTraceServiceRequest()
    for service in ("shop", "cart"):
        block = message.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = service
        scope = block.scope_spans.add()
        for n in range(1, 30):
            span = scope.spans.add(
                trace_id=n.to_bytes(16, "big"),
                span_id=n.to_bytes(8, "big"),
                start_time_unix_nano=n,
                name=f"{service} {n}",
            )
            span.attributes.add(key="http.route").value.string_value = f"/{n}"
            span.attributes.add(key="team").value.int_value = n
            span.links.add(trace_id=b"l" * 16, span_id=b"s" * 8)
    raw = decode_batch([message.SerializeToString()], ["acme"], frozenset({"team"})).raw
    writer, reader = LocalSpanLogWriter(root, clock, Limits(compression=compression)), LocalSpanLogReader(root, clock)
    writer.append_raw(raw, "otlp")
    writer.append(raw.frame(), "tempo")
    writer.append_raw(raw[5:40], "otlp")
    frame, _ = reader.read({}, 10_000)
    assert frame.equals(pl.concat([raw.frame(), raw.frame(), raw.frame()[5:40]]))
    assert frame["attributes"].to_list()[3] == [{"key": "http.route", "value": "/4"}, {"key": "team", "value": "4"}]
