"""Bringing claims up to date with the documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from designed.run import Refresh
from designed.traces import from_traces
from nexus.errors import InvariantBroken
from nexus.model.entity import Entity
from nexus.model.window import TimeRange
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentReader
from nexus.ports.observed import EdgeFilter, ObservedReader
from nexus.wiring.runtime import Runtime


def _traces(runtime: Runtime) -> Callable[[str], Sequence[Entity]]:
    """Names that traces carry; none where this process has no observed side."""
    if not runtime.settings.designed.propose_from_traces:
        return lambda _tenant: ()

    def names(tenant: str) -> Sequence[Entity]:
        try:
            reader = runtime.get(ObservedReader)
        except InvariantBroken:
            return ()
        services = [str(row["name"]) for row in reader.services(tenant, None, TimeRange())]
        return from_traces(services, reader.edges(EdgeFilter(tenant, infrastructure="include")))

    return names


def _control(runtime: Runtime) -> Refresh:
    readers = load_plugins("designed.readers", "READER")
    return Refresh(runtime.database, runtime.get(DocumentReader), readers, runtime.clock, _traces(runtime), runtime.settings.designed.workers)


PROVIDE = (DesignControl, _control)
