"""`/diff`: the stored drift report, runs, and what people decide about findings (api.md "Drift")."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from api.context import Context, Manager, Reader, principal
from api.problems import responses
from diff.korean import finding_in, report_in
from diff.reports._json import finding_json, run_json
from diff.reports.json import as_json
from nexus.errors import BadQuestion, Forbidden, NotFound
from nexus.model.principal import Capability, Principal
from nexus.model.render import instant
from nexus.ports.drift import DriftControl, DriftReader, DriftRecords, FindingFilter, FindingHistory, RunRecord

ROUTER = APIRouter(tags=["drift"])

Lang = Annotated[Literal["en", "ko"], Query(description="Language of `summary` and `what_would_change_this`.")]
DEFAULT_LIMIT = 500
MAX_LIMIT = 5_000
NO_RUN: dict[str, Any] = {
    "run": None,
    "totals": {"confirmed": 0, "doc_only": 0, "observed_only": 0, "conflict": 0, "undecided": 0, "by_status": {}},
    "metrics": {
        "accuracy": None,
        "coverage": None,
        "decidability": None,
        "traffic_weighted_coverage": None,
        "unseen": {},
    },
    "renames": [],
    "findings": [],
    "next": None,
    "note": "no run is stored for this environment and range yet; one is made soon after documents and traces came in, or now by POST /diff/runs or `nexus diff`",
}


def _runner(caller: Annotated[Principal, Depends(principal)]) -> Principal:
    """Whoever may bring in documents or traces, or manages, may also have them compared."""
    if not caller.capabilities & {Capability.INGEST, Capability.MANAGE, Capability.ADMIN}:
        raise Forbidden(f"the token of {caller.name} lacks the capability ingest or manage")
    return caller


def _filter(caller: Principal, **values: Any) -> FindingFilter:
    return FindingFilter(caller.tenant, caller.clearance, caller.namespaces, **values)


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


class RunRequest(BaseModel):
    """What to compare; the default window is the last 28 closed days (docs/adr/0020)."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    environment: str | None = None
    start: datetime | None = Field(None, alias="from")
    end: datetime | None = Field(None, alias="to")


class Decision(BaseModel):
    """What a person decides. A suppression needs all three."""

    model_config = ConfigDict(extra="forbid")
    reason: str = Field("", max_length=2000)
    owner: str = Field("", max_length=200)
    expires_at: datetime | None = None


@ROUTER.get("/diff", responses=responses(404))
def read_diff(
    context: Context,
    reader: Reader,
    environment: str | None = None,
    namespace: str | None = None,
    start: Annotated[datetime | None, Query(alias="from")] = None,
    end: Annotated[datetime | None, Query(alias="to")] = None,
    flag: str = "",
    status: str = "",
    entity: str = "",
    min_severity: str = "",
    state: str = "",
    run: Annotated[str, Query(description="A run by its id instead of the newest.")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
    cursor: str = "",
    lang: Lang = "en",
) -> dict[str, Any]:
    """The newest stored run that fits, cut to what this reader may see. Computes nothing and changes nothing."""
    wanted = _filter(
        reader,
        environment=environment,
        namespace=namespace,
        start=_utc(start),
        end=_utc(end),
        flag=flag,
        status=status,
        entity=entity,
        min_severity=min_severity,
        state=state,
        limit=limit,
        cursor=cursor,
        run=run,
    )
    report = context.services.get(DriftReader).report(wanted)
    return as_json(report_in(report, lang)) if report is not None else dict(NO_RUN)


@ROUTER.post("/diff/runs", status_code=201, responses=responses(404, 409))
def compute(
    context: Context, caller: Annotated[Principal, Depends(_runner)], body: RunRequest | None = None
) -> dict[str, Any]:
    """Compute and store a run. The same window, environment, documents and configuration give the same run."""
    wanted = body or RunRequest()
    info = context.services.get(DriftControl).run(
        caller.tenant, wanted.environment, _utc(wanted.start), _utc(wanted.end)
    )
    report = context.services.get(DriftReader).report(
        _filter(caller, environment=info.environment, run=info.id, limit=1)
    )
    if report is None:
        raise NotFound(f"no run {info.id}")
    return {"run": run_json(info), "totals": report.totals, "metrics": report.metrics}


@ROUTER.get("/diff/runs")
def list_runs(
    context: Context,
    reader: Reader,
    environment: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: str = "",
) -> dict[str, Any]:
    """Runs, newest first; failed ones with their reason."""
    records, following = context.services.get(DriftRecords).runs(
        _filter(reader, environment=environment, limit=limit, cursor=cursor)
    )
    return {"runs": [_record(record) for record in records], "next": following}


@ROUTER.get("/diff/findings/{fingerprint}", responses=responses(404))
def one(context: Context, reader: Reader, fingerprint: str, lang: Lang = "en") -> dict[str, Any]:
    """One finding with its history."""
    found = context.services.get(DriftRecords).finding(_filter(reader), fingerprint)
    if found is None:
        raise NotFound(f"no finding {fingerprint}")
    return _history(replace(found, finding=finding_in(found.finding, lang)))


@ROUTER.post("/diff/findings/{fingerprint}/{action}", responses=responses(404, 409))
def decide(
    context: Context, manager: Manager, fingerprint: str, action: str, body: Decision | None = None
) -> dict[str, Any]:
    """Acknowledge, suppress (reason, owner and expires_at required), resolve or reopen a finding."""
    if action not in ("acknowledge", "suppress", "resolve", "reopen"):
        raise BadQuestion(f"action: {action!r} is none of acknowledge, suppress, resolve, reopen")
    wanted = body or Decision()
    control = context.services.get(DriftControl)
    found = control.steer(
        _filter(manager),
        fingerprint,
        action,
        actor=manager.name,
        reason=wanted.reason,
        owner=wanted.owner,
        expires_at=_utc(wanted.expires_at),
    )
    return _history(found)


def _record(record: RunRecord) -> dict[str, Any]:
    return {
        **run_json(record.run),
        "state": record.state,
        "trigger": record.trigger,
        "error": {"code": record.error_code, "detail": record.error} if record.error else None,
        "totals": record.totals or None,
    }


def _history(found: FindingHistory) -> dict[str, Any]:
    return {
        **finding_json(found.finding),
        "run": run_json(found.run),
        "history": [{**t, "at": instant(t["at"])} for t in found.transitions],
        "decision": {"reason": found.reason, "owner": found.owner, "expires_at": instant(found.expires_at)}
        if found.reason or found.owner
        else None,
    }
