"""Entries of the span log that earlier releases wrote say what they said."""

from __future__ import annotations

from pathlib import Path

from collector_receiver.log.record import HEADER_BYTES, coded_of, parse_header, spans_of, whole
from collector_receiver.otlp import decode_batch

# A request, and the entry that release 1.0 wrote of it.
FOLDER = Path(__file__).parent / "data" / "span-log-raw"


def test_what_was_logged_with_a_row_a_span_reads_as_what_is_logged_coded() -> None:
    entry = (FOLDER / "entry.seg").read_bytes()
    header, payload = parse_header(entry[:HEADER_BYTES]), entry[HEADER_BYTES:]
    assert header is not None
    assert whole(header, payload)
    wanted = decode_batch([(FOLDER / "request.otlp").read_bytes()], ["acme"], frozenset({"k"})).raw.frame()
    assert header.spans == wanted.height > 5
    assert spans_of(payload).equals(wanted)
    assert coded_of([payload, payload]).frame().equals(wanted.vstack(wanted))
