"""What polled sources have read."""

from __future__ import annotations

from collector_receiver.sources.coverage import Expected, StoredCoverage
from nexus.ports.coverage import CoverageReader
from nexus.wiring.runtime import Runtime
from nexus.wiring.tempo import SOURCE


def _coverage(runtime: Runtime) -> CoverageReader:
    tempo = runtime.settings.source_tempo
    configured = {(tempo.tenant, SOURCE): Expected(tempo.lag, tempo.interval)} if tempo.url else {}
    return StoredCoverage(runtime.database, runtime.clock, configured)


PROVIDE = (CoverageReader, _coverage)
