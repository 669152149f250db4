"""Batches of one engine, measured."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from polars.exceptions import PanicException

from aggregator.engine import Batch, Engine
from nexus import telemetry, telemetry_spans
from nexus.errors import NexusError


@dataclass(slots=True)
class Batches:
    """Calls an engine. `caught_up`: when nothing waited to be rolled up last, in monotonic seconds."""

    engine: Engine
    caught_up: float = field(default_factory=time.monotonic)

    def batch(self, max_spans: int) -> Batch:
        """One batch; one that found nothing is none."""
        began = time.monotonic()
        try:
            done = self.engine.batch(max_spans)
        except (Exception, PanicException) as error:
            telemetry.AGGREGATE_BATCHES.labels("failed").inc()
            code = error.code if isinstance(error, NexusError) else type(error).__name__
            telemetry_spans.record(telemetry_spans.AGGREGATE_BATCH, time.monotonic() - began, error=code)
            raise
        now = time.monotonic()
        if done.spans == 0:
            self.caught_up = now
        else:
            telemetry.AGGREGATE_BATCHES.labels("done").inc()
            telemetry.AGGREGATE_SECONDS.observe(now - began)
            telemetry.AGGREGATE_SPANS.inc(done.spans)
            telemetry.AGGREGATE_WINDOWS.inc(done.windows)
            telemetry.AGGREGATE_LATE.inc(done.late)
            telemetry.AGGREGATE_ASIDE.inc(done.aside)
            telemetry.AGGREGATE_DUPLICATES.inc(done.duplicates)
            telemetry_spans.record(telemetry_spans.AGGREGATE_BATCH, now - began, spans=done.spans, windows=done.windows)
        return done

    @property
    def behind_s(self) -> float:
        """How long ago nothing waited."""
        return time.monotonic() - self.caught_up


__all__ = ["Batches"]
