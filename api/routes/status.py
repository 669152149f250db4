"""`/status`: how the parts of the service are doing, as far as the caller's tenant and clearance go."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal, TypeVar

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
_SAID: Final = {
    "en": {
        "waits": "nothing is rolled up since {since}, and is tried again: {reason}",
        "operator": "the operator is told why",
        "aside": "{n} spans could not be rolled up and were set aside: please report `{reason}`; after an upgrade `nexus aside --retry` takes them in",
        "folded": "edges and services beyond the limit (NEXUS_AGGREGATE__MAX_EDGES) were folded into `(other)` {n} times, most of them of `{offender}`",
    },
    "ko": {
        "waits": "{since}부터 집계가 멈췄고 다시 시도하고 있습니다: {reason}",
        "operator": "이유는 운영자에게 알립니다",
        "aside": "스팬 {n}개를 집계하지 못해 따로 두었습니다: `{reason}`을(를) 알려 주세요. 업그레이드한 뒤 `nexus aside --retry`로 다시 넣습니다",
        "folded": "한도(NEXUS_AGGREGATE__MAX_EDGES)를 넘은 엣지와 서비스를 `(other)`로 {n}번 합쳤고, 대부분 `{offender}`에서 왔습니다",
    },
}


@ROUTER.get("/status")
def status(context: Context, caller: Reader, language: Literal["en", "ko"] = "en") -> Json:
    """Version, database, log and data quality, sources with their gaps, documents, the last drift run. Parts that this process does not run are null."""
    services = context.services
    services.database.ping()
    coverage = _provided(services, CoverageReader)
    return {
        "version": _version(),
        "now": when(context.now()),
        "tenant": caller.tenant,
        "database": _database(context),
        "observed": _observed(context, caller.tenant, language),
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


def _observed(context: ApiContext, tenant: str, language: str) -> Json:
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
        "findings": _findings(beyond, waiting, language),
    }


def _findings(beyond: Shortfall, waiting: tuple[datetime, str] | None, language: str) -> list[str]:
    said = _SAID[language]
    found = []
    if waiting is not None:
        since, reason = waiting
        found.append(said["waits"].format(since=when(since), reason=reason or said["operator"]))
    if beyond.set_aside:
        found.append(said["aside"].format(n=beyond.set_aside, reason=beyond.reason))
    if beyond.folded:
        found.append(said["folded"].format(n=beyond.folded, offender=beyond.offender))
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
