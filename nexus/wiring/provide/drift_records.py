"""Lives of findings and the list of runs."""

from __future__ import annotations

from diff.reader import StoredDrift
from diff.run import DriftRunner
from nexus.ports.drift import DriftRecords

PROVIDE = (DriftRecords, lambda runtime: StoredDrift(runtime.database, runtime.clock, runtime.get(DriftRunner)))
