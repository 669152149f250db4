"""Reading observed edges."""

from __future__ import annotations

from datetime import datetime, timedelta

from aggregator.coverage import coverage_of
from aggregator.reading import ObservedStore
from aggregator.view import Links
from nexus.model.service import Coverage
from nexus.model.window import TimeRange
from nexus.ports.observed import ObservedReader
from nexus.store.coverage import find_ranges
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

POLICY_AGE = timedelta(minutes=1)


def observed_store(runtime: Runtime, database: Database) -> ObservedStore:
    """Observed rows of one of the runtime's databases."""
    # Sampling policy by tenant: it takes every service's rows, and changes with a deployment, not with a request.
    policy: dict[str, tuple[datetime, bool, bool]] = {}
    tracing = runtime.settings.tracing

    def read_coverage(tenant: str, window: TimeRange) -> Coverage:
        with database.connection() as connection:
            found = find_ranges(connection, tenant, start=window.start, end=window.end)
        now = runtime.clock.now()
        at, known, head = policy.get(tenant, (now - POLICY_AGE, False, False))
        if now - at >= POLICY_AGE:
            known, head = store.sampling(tenant, TimeRange())
            policy[tenant] = (now, known, head)
        return coverage_of(found, window, head_sampled=head, sampling_known=known)

    store = ObservedStore(
        database,
        Links(tracing.grafana_url, tracing.grafana_datasource, runtime.settings.source_tempo.url),
        read_coverage,
    )
    return store


PROVIDE = (ObservedReader, lambda runtime: observed_store(runtime, runtime.reading))
