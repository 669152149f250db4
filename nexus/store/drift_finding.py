"""Findings of drift runs, cut in SQL to what a reader sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson
from psycopg.rows import class_row

from nexus.model.document import Classification
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Finding, Severity, State
from nexus.store.drift_codec import decode, encode, encode_without
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("drift_finding")
# Said of a finding of an earlier run that waits to be resolved: its numbers are of then.
NOT_FOUND_NOW = "It was not found in this run, and resolves if the next day agrees."
_GONE_STATES = frozenset({State.HELD.value, State.RESOLVED.value})
# What the state says, and the edge.
_NOT_IN_BODY = frozenset({"state", "first_detected", "observed"})
# Findings that are sent at once.
BATCH = 500
SEVERITIES: dict[str, int] = {severity.value: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding to store."""

    finding: Finding
    needs: Sequence[str]
    hidden: Sequence[str]
    main: bool
    calls: int
    names: Sequence[str]
    namespaces: Sequence[str]


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding as read, with its state of today."""

    finding: Finding
    carried: bool
    reason: str | None
    owner: str | None
    expires_at: datetime | None
    scope: str | None = None
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class CountRow:
    """How many findings share these properties."""

    flag: str
    status: str
    undecided: bool
    main: bool
    findings: int
    calls: int


def add_findings(connection: Connection, tenant: str, run_id: str, rows: Iterable[FindingRow]) -> None:
    """COPY the findings of a run."""
    bodies, head = _Bodies(), f"{_escaped(tenant)}\t{_escaped(run_id)}"
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_findings"]) as copy:
        for some in _batched(rows, BATCH):
            copy.write("".join([f"{head}\t{_line(row, bodies)}\n" for row in some]))


def _batched(rows: Iterable[FindingRow], size: int) -> Iterator[list[FindingRow]]:
    left = iter(rows)
    while some := list(islice(left, size)):
        yield some


def _line(row: FindingRow, bodies: _Bodies) -> str:
    """A row without its tenant and run as COPY reads it. A hundred thousand of them are written at once: a driver that looks at every value takes as long as all the rest."""
    f = row.finding
    return (
        f"{f.fingerprint}\t{_labels(tuple(row.needs))}\t{_labels(tuple(row.hidden))}\t{_escaped(f.environment)}\t{f.flag.value}\t{f.status}"
        f"\t{SEVERITIES[f.severity]}\t{f.undecided}\t{row.main}\tf\t{f.rank!r}\t{row.calls}"
        f"\t{_array(row.names)}\t{_array(row.namespaces)}\t{_escaped(bodies.of(f))}"
    )


def _escaped(text: str) -> str:
    """Text as COPY reads it."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _array(items: Sequence[str]) -> str:
    """A text array as PostgreSQL spells it, for COPY."""
    quoted = (item.replace("\\", "\\\\").replace('"', '\\"') for item in items)
    return _escaped("{" + ",".join([f'"{item}"' for item in quoted]) + "}")


# Of labels few are distinct.
_labels = lru_cache(maxsize=4096)(_array)


class _Bodies:
    """Findings as JSON text, without what their state says. An observed edge stands in a finding for each kind of reader, and is written out once."""

    def __init__(self) -> None:
        self._edges: dict[int, tuple[ObservedEdge, orjson.Fragment]] = {}

    def of(self, finding: Finding) -> str:
        body = encode_without(finding, _NOT_IN_BODY)
        if finding.observed is not None:
            body["observed"] = self._edge(finding.observed)
        return orjson.dumps(body).decode()

    def _edge(self, edge: ObservedEdge) -> orjson.Fragment:
        # By identity, which the kept edge makes safe: hashing an edge costs as much as writing it.
        known = self._edges.get(id(edge))
        if known is None:
            known = self._edges[id(edge)] = (edge, orjson.Fragment(orjson.dumps(encode(edge))))
        return known[1]


def carry_findings(
    connection: Connection, tenant: str, from_run: str, run_id: str, fingerprints: Sequence[str]
) -> None:
    """Copy findings of an earlier run that are not resolved yet, or lately."""
    if fingerprints:
        connection.execute(
            _SQL["carry"],
            {"tenant": tenant, "run_id": run_id, "from_run": from_run, "fingerprints": list(fingerprints)},
        )


def page(
    connection: Connection,
    tenant: str,
    run_id: str,
    scope: str,
    visible: Iterable[str],
    *,
    filters: dict[str, Any],
    after: tuple[float, str] | None,
    limit: int,
) -> list[StoredFinding]:
    """Findings in order of rank, as far as a reader of the labels `visible` sees them. `filters` as in the query."""
    values = {
        "tenant": tenant,
        "run_id": run_id,
        "scope": scope,
        "visible": sorted(visible),
        "environment": "",
        "flag": "",
        "status": "",
        "entity": "",
        "namespace": "",
        "min_severity": 0,
        "state": "",
        "after": after is not None,
        "after_rank": after[0] if after else 0.0,
        "after_fingerprint": after[1] if after else "",
        "limit": limit or None,
    } | filters
    return [_finding(row[0:9]) for row in connection.execute(_SQL["page"], values)]


def carried(
    connection: Connection, tenant: str, run_id: str, scope: str, visible: Iterable[str]
) -> list[StoredFinding]:
    """What a run carries over, as far as a reader sees it."""
    values = {"tenant": tenant, "run_id": run_id, "scope": scope, "visible": sorted(visible)}
    return [_finding(row) for row in connection.execute(_SQL["carried"], values)]


def one(
    connection: Connection, tenant: str, fingerprint: str, labels: dict[str, frozenset[str]]
) -> list[StoredFinding]:
    """The finding in the newest runs of each scope, where the reader sees it. `labels`: run id -> labels that the reader sees of it."""
    found = []
    for row in connection.execute(_SQL["one"], {"tenant": tenant, "fingerprint": fingerprint}):
        visible = labels.get(row[9], frozenset())
        if set(row[11]) <= visible and not set(row[12]) & visible:
            found.append(_finding(row[0:9], row[10], row[9]))
    return found


def withdrawn(
    connection: Connection,
    tenant: str,
    clearance: Classification,
    namespaces: Sequence[str],
    citations: Sequence[tuple[str, str]],
) -> frozenset[int]:
    """Places of the citations (document, quote) that a reader may not read any more."""
    documents, quotes = zip(*citations, strict=True) if citations else ((), ())
    values = {"tenant": tenant, "level": clearance.rank, "namespaces": list(namespaces)}
    rows = connection.execute(_SQL["withdrawn"], values | {"documents": list(documents), "quotes": list(quotes)})
    return frozenset(row[0] for row in rows)


def quarantined_since(connection: Connection, tenant: str, since: datetime) -> bool:
    """Whether secrets were found in documents since then."""
    row = connection.execute(_SQL["quarantined_since"], {"tenant": tenant, "since": since}).fetchone()
    return row is not None and bool(row[0])


def forget_quarantined(connection: Connection, tenant: str, run_id: str) -> int:
    """Delete findings of a run that quote a document in which secrets were found; how many."""
    return connection.execute(_SQL["forget_quarantined"], {"tenant": tenant, "run_id": run_id}).rowcount


def counts(
    connection: Connection, tenant: str, run_id: str, visible: Iterable[str], environment: str = ""
) -> list[CountRow]:
    """Counts before any filter."""
    with connection.cursor(row_factory=class_row(CountRow)) as cursor:
        return cursor.execute(
            _SQL["counts"], {"tenant": tenant, "run_id": run_id, "visible": sorted(visible), "environment": environment}
        ).fetchall()


def state_counts(
    connection: Connection, tenant: str, run_id: str, scope: str, visible: Iterable[str]
) -> dict[str, int]:
    """State -> findings of a run that are not confirmed."""
    values = {"tenant": tenant, "run_id": run_id, "scope": scope, "visible": sorted(visible)}
    return dict(connection.execute(_SQL["state_counts"], values).fetchall())


def _finding(row: Sequence[Any], scope: str | None = None, run_id: str = "") -> StoredFinding:
    _, _, carried, body, state, first, reason, owner, expires = row
    known = state or (State.RESOLVED.value if body["flag"] == "confirmed" else State.NEW.value)
    if carried and known not in _GONE_STATES:
        body = body | {"summary": f"{body['summary']} {NOT_FOUND_NOW}"}
    finding = decode(Finding, body | {"state": known} | ({"first_detected": first.isoformat()} if first else {}))
    return StoredFinding(finding, carried, reason, owner, expires, scope, run_id)
