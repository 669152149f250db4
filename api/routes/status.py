"""`/status`: how the parts of the service are doing, as far as the caller's tenant and clearance go."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from fastapi import APIRouter

from api.context import ApiContext, Context, Json, Reader, Services
from api.routes._sources import source_json, when
from nexus.errors import InvariantBroken
from nexus.model.principal import Principal
from nexus.ports.catalog import Catalog
from nexus.ports.coverage import CoverageReader
from nexus.ports.drift import DriftReader, FindingFilter
from nexus.ports.observed import AggregateControl
from nexus.store.status import Shortfall, database_state, observed_counts, shortfall, waits

ROUTER = APIRouter(tags=["status"])
T = TypeVar("T")


@ROUTER.get("/status")
def status(context: Context, caller: Reader) -> Json:
    """Version, database, log and data quality, sources with their gaps, documents, the last drift run. Parts that this process does not run are null."""
    services = context.services
    services.database.ping()
    coverage = _provided(services, CoverageReader)
    return {
        "version": _version(),
        "now": when(context.now()),
        "tenant": caller.tenant,
        "database": _database(context),
        "observed": _observed(context, caller.tenant),
        "sources": [source_json(item) for item in coverage.sources(caller.tenant)] if coverage is not None else [],
        "documents": _documents(services, caller),
        "drift": _drift(services, caller),
    }


def _provided(services: Services, port: type[T]) -> T | None:
    try:
        return services.get(port)
    except InvariantBroken as error:
        if str(error).startswith("no provider"):
            return None
        raise


def _version() -> str:
    try:
        return version("khala-nexus")
    except PackageNotFoundError:
        return "unknown"


def _observed(context: ApiContext, tenant: str) -> Json:
    """The tenant's numbers; of the log, which all tenants share, only how far behind the aggregator is."""
    with context.services.database.connection() as connection:
        counts, beyond = asdict(observed_counts(connection, tenant)), shortfall(connection, tenant)
        waiting = waits(connection, tenant)
    control = _provided(context.services, AggregateControl)
    found = control.status() if control is not None else {}
    return {
        "lag_bytes": found.get("lag_bytes"),
        "lag_messages": found.get("lag_messages"),
        **counts,
        "folded": beyond.folded,
        "set_aside": beyond.set_aside,
        "findings": _findings(beyond, waiting),
    }


def _findings(beyond: Shortfall, waiting: tuple[datetime, str] | None) -> list[str]:
    found = []
    if waiting is not None:
        since, reason = waiting
        found.append(
            f"nothing is rolled up since {when(since)}, and is tried again: {reason or 'the operator is told why'}"
        )
    if beyond.set_aside:
        found.append(
            f"{beyond.set_aside} spans could not be rolled up and were set aside: please report `{beyond.reason}`; after an upgrade `nexus aside --retry` takes them in"
        )
    if beyond.folded:
        found.append(
            f"edges and services beyond the limit (NEXUS_AGGREGATE__MAX_EDGES) were folded into `(other)` {beyond.folded} times, most of them of `{beyond.offender}`"
        )
    return found


def _database(context: ApiContext) -> Json:
    with context.services.database.connection() as connection:
        return {"state": "ok", **asdict(database_state(connection))}


def _documents(services: Services, caller: Principal) -> Json | None:
    catalog = _provided(services, Catalog)
    return catalog.counts(caller.tenant, caller.clearance, caller.namespaces) if catalog is not None else None


def _drift(services: Services, caller: Principal) -> Json | None:
    reader = _provided(services, DriftReader)
    if reader is None:
        return None
    report = reader.report(FindingFilter(caller.tenant, caller.clearance, caller.namespaces, limit=1))
    if report is None:
        return {"last_run": None}
    run = report.run
    window = {"from": when(run.window_from), "to": when(run.window_to)}
    return {
        "last_run": {
            "id": run.id,
            "generated_at": when(run.generated_at),
            "environment": run.environment,
            "window": window,
        },
        "totals": report.totals,
    }
