"""Readers in memory: the ports of observed, designed, drift and search, with their filters, over plain lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from answer.language import terms
from nexus.model.document import Classification, Passage
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.finding import Finding, RunInfo
from nexus.model.registry import Registry
from nexus.model.service import Coverage, Node
from nexus.model.window import TimeRange
from nexus.ports.code import CodeAnchor, CodeValue, GradeAuthority
from nexus.ports.designed import DesignedFilter
from nexus.ports.drift import FindingFilter, FindingHistory, Report, RunRecord
from nexus.ports.observed import ALL, EdgeFilter
from nexus.ports.search import Hit, SearchRequest, SearchResult


def _touches(source: Node, target: Node, wanted: EdgeFilter | DesignedFilter) -> bool:
    return (
        (not wanted.source or source.name == wanted.source)
        and (not wanted.target or target.name == wanted.target)
        and (not wanted.entity or wanted.entity in (source.name, target.name))
        and (wanted.environment is None or source.environment in ("", wanted.environment))
    )


@dataclass
class MemoryObserved:
    """Observed edges. `measured` may give other measures for a range (it gets edge and range); default: those stored, cut by first and last seen."""

    tenant: str
    stored: Sequence[ObservedEdge]
    rows: Sequence[dict[str, Any]] = ()
    gaps: Coverage = field(default_factory=lambda: Coverage(complete=True))
    measured: Callable[[ObservedEdge, TimeRange], ObservedEdge | None] | None = None

    def _cut(self, edge: ObservedEdge, window: TimeRange) -> ObservedEdge | None:
        if self.measured is not None:
            return self.measured(edge, window)
        if (window.start and edge.last_seen and edge.last_seen < window.start) or (
            window.end and edge.first_seen and edge.first_seen >= window.end
        ):
            return None
        return edge

    def edges(self, wanted: EdgeFilter) -> list[ObservedEdge]:
        """Edges by filter, in rid order."""
        if wanted.tenant != self.tenant:
            return []
        kept = [
            e
            for e in self.stored
            if _touches(e.source, e.target, wanted) and (not wanted.relation or e.relation == wanted.relation)
        ]
        kept = [
            e
            for e in kept
            if wanted.infrastructure == "include" or e.infrastructure == (wanted.infrastructure == "only")
        ]
        cut = [c for e in kept if (c := self._cut(e, wanted.window)) is not None and c.rid > wanted.after]
        return sorted(cut, key=lambda e: e.rid)[: wanted.limit or None]

    def edge(self, tenant: str, rid: str, window: TimeRange) -> ObservedEdge | None:
        """One edge."""
        return next((self._cut(e, window) for e in self.stored if e.rid == rid and tenant == self.tenant), None)

    def series(self, tenant: str, rid: str, window: TimeRange, step: str) -> list[dict[str, Any]]:
        """One bucket with everything."""
        edge = self.edge(tenant, rid, window)
        del step
        return [{"start": edge.first_seen, "calls": edge.calls, "errors": edge.errors}] if edge else []

    def services(
        self, tenant: str, environment: str | None, window: TimeRange, place: slice = ALL, language: str = "en"
    ) -> list[dict[str, Any]]:
        """The rows given."""
        del environment, window, language
        return list(self.rows)[place] if tenant == self.tenant else []

    def coverage(self, tenant: str, window: TimeRange) -> Coverage:
        """The coverage given."""
        del tenant, window
        return self.gaps

    def covered(self, window: TimeRange, step: str = "") -> TimeRange:
        """All of it."""
        del step
        return window


@dataclass
class MemoryDesigned:
    """Designed edges and the registry."""

    tenant: str
    stored: Sequence[DesignedEdge]
    names: Registry

    def edges(self, wanted: DesignedFilter) -> list[DesignedEdge]:
        """Edges by filter with the claims that the reader may see."""
        if wanted.tenant != self.tenant:
            return []
        out = []
        for edge in self.stored:
            claims = tuple(
                c
                for c in edge.claims
                if c.classification.rank <= wanted.clearance.rank
                and (not wanted.namespaces or getattr(c, "namespace", "default") in wanted.namespaces)
            )
            if (
                claims
                and _touches(edge.source, edge.target, wanted)
                and (not wanted.relation or edge.relation == wanted.relation)
            ):
                out.append(replace(edge, claims=claims))
        return sorted(out, key=lambda e: e.rid)

    def history(self, wanted: DesignedFilter, edge_rid: str) -> list[dict[str, Any]]:
        """The claims of an edge, as valid from the beginning."""
        return [
            {"claim": c, "valid_from": None, "valid_to": None}
            for e in self.edges(wanted)
            if e.rid == edge_rid
            for c in e.claims
        ]

    def registry(self, tenant: str) -> Registry:
        """The registry; empty for another tenant."""
        return self.names if tenant == self.tenant else Registry(())

    def document_revision(self, tenant: str) -> str:
        """A constant."""
        return f"revision-{tenant}"


@dataclass
class MemoryDrift:
    """Findings of one run."""

    tenant: str
    findings: Sequence[Finding]
    at: datetime

    def report(self, wanted: FindingFilter) -> Report | None:
        """The findings on an entity, or all."""
        if wanted.tenant != self.tenant:
            return None
        kept = tuple(
            f
            for f in self.findings
            if (not wanted.entity or wanted.entity in (f.source.name, f.target.name))
            and (not wanted.flag or f.flag == wanted.flag)
            and (not wanted.status or f.status == wanted.status)
        )
        run = RunInfo("run", self.at, self.at, "", "revision", "config", self.at)
        return Report(run, {"confirmed": 0}, {}, kept)

    def finding(self, wanted: FindingFilter, fingerprint: str) -> FindingHistory | None:
        """One finding without a past."""
        report = self.report(wanted)
        return (
            next((FindingHistory(f, report.run) for f in report.findings if f.fingerprint == fingerprint), None)
            if report
            else None
        )

    def runs(self, wanted: FindingFilter) -> tuple[list[RunRecord], str | None]:
        """The one run."""
        report = self.report(wanted)
        return ([RunRecord(report.run, "done", "request")] if report else []), None


@dataclass
class MemoryRetriever:
    """Ranks by shared content terms, weighed by how rare they are. `weak` where nothing shares more than `floor` of the question's weight."""

    tenant: str
    passages: Sequence[Passage]
    floor: float = 0.34
    namespaces: dict[str, str] = field(default_factory=dict)

    def search(self, request: SearchRequest) -> SearchResult:
        """Hits inside what the reader may see."""
        if request.tenant != self.tenant:
            return SearchResult((), None, None, weak=True, route_used="keyword_only")
        seen = [
            p
            for p in self.passages
            if p.classification.rank <= request.clearance.rank
            and (not request.namespaces or self.namespaces.get(p.document.rid, "default") in request.namespaces)
        ]
        bags = [frozenset(terms(" ".join((*p.section, p.text)))) for p in seen]
        wanted = set(terms(request.query))
        rarity = {t: 1.0 / (1 + sum(t in bag for bag in bags)) for t in wanted}
        total = sum(rarity.values()) or 1.0
        scored = sorted(
            ((sum(rarity[t] for t in wanted & bag) / total, p) for p, bag in zip(seen, bags, strict=True)),
            key=lambda item: (-item[0], item[1].rid),
        )
        hits = tuple(
            Hit(p, 1.0 / (60 + rank), rank, None, bm25_score=score * 10, cosine=None)
            for rank, (score, p) in enumerate(scored[: request.top_k], 1)
            if score > 0
        )
        best = scored[0][0] if scored else 0.0
        return SearchResult(hits, None, best * 10 if hits else None, weak=best < self.floor, route_used="keyword_only")

    def visible(self, clearance: Classification) -> int:
        """How many passages a clearance may see."""
        return sum(p.classification.rank <= clearance.rank for p in self.passages)


class NoCode:
    """A code index that holds nothing."""

    def anchors(self, *_: object, **__: object) -> list[CodeAnchor]:
        """None."""
        return []

    def values(self, *_: object) -> list[CodeValue]:
        """None."""
        return []

    def about(self, *_: object) -> list[CodeValue]:
        """None."""
        return []

    def grades(self, *_: object) -> GradeAuthority | None:
        """None."""
        return None
