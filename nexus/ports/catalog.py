"""What documents there are, for lists and counts. Owner of the truth: `knowledge`."""

from __future__ import annotations

from typing import Any, Protocol

from nexus.model.document import Classification


class Catalog(Protocol):
    """As far as the reader may see them."""

    def documents(
        self,
        tenant: str,
        clearance: Classification,
        namespaces: tuple[str, ...],
        *,
        status: str = "",
        text: str = "",
        after: str = "",
        limit: int = 100,
    ) -> list[dict[str, Any]]:
        """Documents in rid order: rid, title, namespace, uri, path, type, classification, tier, status, superseded_by, passages, times, stale."""
        ...

    def quarantine(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> list[dict[str, Any]]:
        """Secrets found: document, path, kind, place, line; never the value."""
        ...

    def counts(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> dict[str, Any]:
        """Documents and passages by status, the serving generation and the passages without a vector."""
        ...
