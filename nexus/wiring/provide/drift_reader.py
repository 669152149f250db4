"""Reading stored drift reports."""

from __future__ import annotations

from diff.reader import StoredDrift
from diff.run import DriftRunner
from nexus.ports.drift import DriftReader

PROVIDE = (DriftReader, lambda runtime: StoredDrift(runtime.database, runtime.clock, runtime.get(DriftRunner)))
