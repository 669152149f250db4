"""Computing runs and steering findings."""

from __future__ import annotations

from diff.reader import StoredDrift
from diff.run import DriftRunner
from nexus.ports.drift import DriftControl

PROVIDE = (DriftControl, lambda runtime: StoredDrift(runtime.database, runtime.clock, runtime.get(DriftRunner)))
