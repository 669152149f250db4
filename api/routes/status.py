"""`/status`: how the parts of the service are doing, as far as the caller's tenant and clearance go."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from fastapi import APIRouter

from api.context import ApiContext, Context, Json, Reader, Services
from nexus.errors import InvariantBroken
from nexus.model.principal import Principal
from nexus.model.service import CoverageRange
from nexus.ports.catalog import Catalog
from nexus.ports.coverage import CoverageReader, SourceStatus
from nexus.ports.drift import DriftReader, FindingFilter
from nexus.ports.observed import AggregateControl
from nexus.store.status import database_state, observed_counts

ROUTER = APIRouter(tags=["status"])
T = TypeVar("T")


@ROUTER.get("/status")
def status(context: Context, caller: Reader) -> Json:
    """Version, database, log and data quality, sources with their gaps, documents, the last drift run. Parts that this process does not run are null."""
    services = context.services
    services.database.ping()
    coverage = _provided(services, CoverageReader)
    return {
        "version": _version(), "now": _time(context.now()), "tenant": caller.tenant, "database": _database(context),
        "observed": _observed(context, caller.tenant),
        "sources": [_source(item) for item in coverage.sources(caller.tenant)] if coverage is not None else [],
        "documents": _documents(services, caller), "drift": _drift(services, caller),
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
        counts = asdict(observed_counts(connection, tenant))
    control = _provided(context.services, AggregateControl)
    return {"lag_bytes": control.status().get("lag_bytes") if control is not None else None, **counts}


def _database(context: ApiContext) -> Json:
    with context.services.database.connection() as connection:
        return {"state": "ok", **asdict(database_state(connection))}


def _source(source: SourceStatus) -> Json:
    return {
        "name": source.name, "state": source.state.value, "reason": source.reason, "read_to": _time(source.read_to), "settled_to": _time(source.settled_to),
        "last_attempt": _time(source.last_attempt), "last_success": _time(source.last_success), "traces": source.traces, "spans": source.spans,
        "requests": source.requests, "ranges": {state: {"count": count, "seconds": seconds} for state, (count, seconds) in source.ranges.items()},
        "gaps": [_gap(item) for item in source.gaps],
    }


def _gap(item: CoverageRange) -> Json:
    return {"from": _time(item.start), "to": _time(item.end), "state": item.state.value, "reason": item.reason, "probability": item.probability}


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
    window = {"from": _time(run.window_from), "to": _time(run.window_to)}
    return {"last_run": {"id": run.id, "generated_at": _time(run.generated_at), "environment": run.environment, "window": window}, "totals": report.totals}


def _time(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at is not None else None
