"""Reading designed edges and the registry of names. Owner of the truth: `designed`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from nexus.model.document import Classification
from nexus.model.edge import DesignedEdge
from nexus.model.registry import Registry


@dataclass(frozen=True, slots=True)
class DesignedFilter:
    """Which designed edges. A reader sees only claims up to `clearance`, and only edges that keep at least one claim."""

    tenant: str
    clearance: Classification
    # Document namespaces the reader may see; empty = all.
    namespaces: tuple[str, ...] = ()
    source: str = ""
    target: str = ""
    # Either end.
    entity: str = ""
    relation: str = ""
    environment: str | None = None
    # One edge.
    rid: str = ""


class DesignedReader(Protocol):
    """Designed facts."""

    def edges(self, wanted: DesignedFilter) -> list[DesignedEdge]:
        """Designed edges with their claims, in rid order."""
        ...

    def history(self, wanted: DesignedFilter, edge_rid: str) -> list[dict[str, Any]]:
        """Every claim ever made of an edge, oldest first: [{"claim": Claim, "valid_from": datetime, "valid_to": datetime | None}]."""
        ...

    def registry(self, tenant: str) -> Registry:
        """A snapshot of the registry: declared, accepted and unambiguous proposed names."""
        ...

    def document_revision(self, tenant: str) -> str:
        """A hash over all documents that claims were read from; changes when any of them does."""
        ...


class DesignControl(Protocol):
    """Bringing claims up to date with the documents."""

    def refresh(
        self, tenant: str, *, force: bool = False, progress: Callable[[int, int, str], None] | None = None
    ) -> dict[str, Any]:
        """Read changed documents, retract what they no longer say. Returns {"documents", "claims", "edges", "problems": [Problem]}.

        `progress(done, total, what)` is called as documents are read for the names they introduce, `names (PATH)`, and then for what they say, `claims (PATH)`.
        """
        ...
