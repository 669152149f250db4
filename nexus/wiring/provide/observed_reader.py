"""Reading observed edges."""

from __future__ import annotations

from aggregator.coverage import coverage_of
from aggregator.reading import ObservedStore
from aggregator.view import Links
from nexus.model.service import Coverage
from nexus.model.window import TimeRange
from nexus.ports.observed import ObservedReader
from nexus.store.coverage import find_ranges
from nexus.wiring.runtime import Runtime


def observed_store(runtime: Runtime) -> ObservedStore:
    """Observed rows of the runtime's database."""
    tracing = runtime.settings.tracing

    def read_coverage(tenant: str, window: TimeRange) -> Coverage:
        with runtime.database.connection() as connection:
            found = find_ranges(connection, tenant, start=window.start, end=window.end)
        known, head = store.sampling(tenant, window)
        return coverage_of(found, window, head_sampled=head, sampling_known=known)

    store = ObservedStore(runtime.database, Links(tracing.grafana_url, tracing.grafana_datasource, runtime.settings.source_tempo.url), read_coverage)
    return store


PROVIDE = (ObservedReader, observed_store)
