"""Where `nexus diff` gets its report: a server (NEXUS_API_URL), or the database beside which it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import httpx

from nexus.cli.options import service_url, settings_from
from nexus.errors import BadQuestion, Forbidden, NexusError, SourceUnavailable, StoreUnavailable, Unauthenticated
from nexus.ports.drift import FindingFilter, Report

PAGE = 1000
TIMEOUT_S = 300.0


class Source(Protocol):
    """One report, and orders on findings."""

    def report(self, wanted: FindingFilter, *, compute: bool) -> Report | None:
        """Every finding that the filter lets through; with `compute` a run is made first."""
        ...

    def steer(self, fingerprint: str, action: str, reason: str, owner: str, expires_at: datetime | None) -> str:
        """The new state."""
        ...


class LocalSource:
    """On the database."""

    def __init__(self, runtime: Any, wanted: FindingFilter) -> None:
        self._runtime = runtime
        self._wanted = wanted

    def report(self, wanted: FindingFilter, *, compute: bool) -> Report | None:
        """Compute and read in this process."""
        from nexus.ports.drift import DriftControl, DriftReader

        if compute:
            run = self._runtime.get(DriftControl).run(wanted.tenant, wanted.environment, wanted.start, wanted.end)
            wanted = replace(wanted, run=run.id)
        found: Report | None = self._runtime.get(DriftReader).report(wanted)
        return found

    def steer(self, fingerprint: str, action: str, reason: str, owner: str, expires_at: datetime | None) -> str:
        """Through the same service as the API."""
        from nexus.ports.drift import DriftControl

        actor = os.environ.get("USER") or os.environ.get("USERNAME") or "cli"
        found = self._runtime.get(DriftControl).steer(
            self._wanted, fingerprint, action, actor=actor, reason=reason, owner=owner, expires_at=expires_at
        )
        return str(found.finding.state.value)


class RemoteSource:
    """Over HTTP. What the report shows is what the token may see."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def report(self, wanted: FindingFilter, *, compute: bool) -> Report | None:
        """POST /diff/runs, then every page of GET /diff."""
        from diff.reports._parse import report_from

        query = {
            key: value
            for key, value in {
                "environment": wanted.environment,
                "namespace": wanted.namespace,
                "flag": wanted.flag,
                "status": wanted.status,
                "entity": wanted.entity,
                "min_severity": wanted.min_severity,
                "state": wanted.state,
                "limit": str(min(wanted.limit or PAGE, PAGE)),
            }.items()
            if value
        }
        window = {key: at.isoformat() for key, at in (("from", wanted.start), ("to", wanted.end)) if at is not None}
        if compute:
            body = window | ({"environment": wanted.environment} if wanted.environment else {})
            query["run"] = self._ask("POST", "/diff/runs", json=body)["run"]["id"]
        else:
            query |= window | ({"run": wanted.run} if wanted.run else {})
        first = self._ask("GET", "/diff", params=query)
        if first["run"] is None:
            return None
        # Later pages are of the run of the first one, whatever is stored meanwhile.
        query["run"] = first["run"]["id"]
        findings, following = list(first["findings"]), first["next"]
        while following and not (wanted.limit and len(findings) >= wanted.limit):
            page = self._ask("GET", "/diff", params=query | {"cursor": following})
            findings += page["findings"]
            following = page["next"]
        return report_from(first | {"next": following}, findings)

    def steer(self, fingerprint: str, action: str, reason: str, owner: str, expires_at: datetime | None) -> str:
        """POST /diff/findings/{fingerprint}/{action}."""
        body = {"reason": reason, "owner": owner} | ({"expires_at": expires_at.isoformat()} if expires_at else {})
        return str(self._ask("POST", f"/diff/findings/{fingerprint}/{action}", json=body)["state"])

    def _ask(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **more)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            msg = f"no service answers at {self._client.base_url}: {error}; is NEXUS_API_URL right?"
            raise StoreUnavailable(msg) from error
        if "json" not in answer.headers.get("content-type", ""):
            msg = f"{self._client.base_url} answers HTTP {answer.status_code}, and not like Nexus; is NEXUS_API_URL right?"
            raise StoreUnavailable(msg)
        body: dict[str, Any] = answer.json()
        if answer.is_success:
            return body
        detail, code = str(body.get("detail", answer.status_code)), str(body.get("code", ""))
        kinds: dict[int, type[NexusError]] = {
            401: Unauthenticated,
            403: Forbidden,
            422: BadQuestion,
            404: BadQuestion,
            503: SourceUnavailable if code == "source_unavailable" else StoreUnavailable,
        }
        raise kinds.get(answer.status_code, StoreUnavailable)(f"{self._client.base_url}: {detail}")


@contextmanager
def source(data: Path | None, wanted: FindingFilter) -> Iterator[Source]:
    """The service that is meant (`service_url`), else the database."""
    if url := service_url(data):
        token = os.environ.get("NEXUS_MCP_TOKEN", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=TIMEOUT_S) as client:
            yield RemoteSource(client)
        return
    from nexus.wiring.process import runtime_beside

    with runtime_beside(settings_from(data)) as runtime:
        yield LocalSource(runtime, wanted)
