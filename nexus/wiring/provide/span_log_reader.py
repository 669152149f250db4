"""The span log's reading end."""

from __future__ import annotations

from collector_receiver.log.reader import LocalSpanLogReader
from nexus.ports.span_log import SpanLogReader
from nexus.wiring.provide.span_log_writer import FOLDER
from nexus.wiring.runtime import Runtime


def _reader(runtime: Runtime) -> SpanLogReader:
    settings = runtime.settings.log
    return LocalSpanLogReader(
        runtime.settings.data / FOLDER, runtime.clock, keep=settings.keep, max_bytes=settings.max_bytes
    )


PROVIDE = (SpanLogReader, _reader)
