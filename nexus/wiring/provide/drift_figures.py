"""Drift as metrics, in any process that shows metrics."""

from __future__ import annotations

from diff.gauges import StoredFigures
from diff.reader import StoredDrift
from nexus.model.document import Classification
from nexus.ports.drift import DriftFigures, DriftReader
from nexus.wiring.runtime import Runtime


def build(runtime: Runtime) -> StoredFigures:
    """Of the default tenant, at the level that webhooks tell."""
    reader = runtime.get(DriftReader)
    assert isinstance(reader, StoredDrift)
    return StoredFigures(runtime.database, reader, "default", Classification(runtime.settings.diff.webhook_clearance))


PROVIDE = (DriftFigures, build)
