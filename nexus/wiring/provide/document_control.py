"""Documents in, and at once the claims in them: the one place where `knowledge` and `designed` meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from knowledge.run import Ingestor
from nexus.errors import InvariantBroken, NotFound
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.wiring.knowledge import ingestor
from nexus.wiring.runtime import Runtime

SUMS = ("documents", "indexed", "skipped", "removed", "quarantined", "failed", "passages")
Progress = Callable[[int, int, str], None]


class DocumentService:
    """An ingestor whose results carry the claims and edges that were read from the documents."""

    def __init__(self, documents: Ingestor, design: Callable[[], DesignControl | None]) -> None:
        self._documents = documents
        self._design = design

    def ingest(self, request: IngestRequest, progress: Progress | None = None) -> dict[str, Any]:
        """As `POST /ingest` answers."""
        return self._with_claims(request.tenant, self._documents.ingest(request, progress))

    def ingest_text(self, text: str, name: str, request: IngestRequest) -> dict[str, Any]:
        """The same for a text that lies in no file."""
        return self._with_claims(request.tenant, self._documents.ingest_text(text, name, request))

    def ingest_all(self, requests: Sequence[IngestRequest], progress: Progress | None = None) -> dict[str, Any]:
        """Several ingests as one result; the claims are read once, at the end."""
        results = [self._documents.ingest(request, progress) for request in requests]
        total: dict[str, Any] = {key: sum(result[key] for result in results) for key in SUMS}
        total["vectors_pending"] = results[-1]["vectors_pending"] if results else 0
        total["errors"] = [error for result in results for error in result["errors"]]
        total["took_ms"] = round(sum(result["took_ms"] for result in results), 3)
        return self._with_claims(requests[0].tenant, total) if requests else total

    def suffixes(self) -> frozenset[str]:
        """Suffixes of the files that can be read."""
        return self._documents.suffixes()

    def follow(self, request: IngestRequest) -> dict[str, Any]:
        """As `ingest`, without reading the claims: the watcher does that once for all changes of a batch. A path that is gone is removed."""
        try:
            return self._documents.ingest(request)
        except NotFound:
            return {}

    def delete(self, tenant: str, namespace: str, uri: str) -> int:
        """Remove documents, and what was claimed in them."""
        removed = self._documents.delete(tenant, namespace, uri)
        self.refresh(tenant)
        return removed

    def refresh(self, tenant: str) -> dict[str, Any]:
        """Bring the claims up to date with the documents; {} where nothing reads claims."""
        design = self._design()
        return design.refresh(tenant) if design is not None else {}

    def _with_claims(self, tenant: str, result: dict[str, Any]) -> dict[str, Any]:
        read = self.refresh(tenant)
        errors = [{"path": p.path, "line": p.line, "error": p.error, "stage": p.stage} for p in read.get("problems", ())]
        return result | {"claims": read.get("claims", 0), "edges": read.get("edges", 0), "errors": [*result["errors"], *errors]}


def document_service(runtime: Runtime, extra_roots: Sequence[Path] = (), embed_wait_s: float | None = None) -> DocumentService:
    """The service, with roots of the caller's beside the configured ones."""

    def design() -> DesignControl | None:
        try:
            return runtime.get(DesignControl)
        except InvariantBroken:
            return None

    return DocumentService(ingestor(runtime, extra_roots, embed_wait_s), design)


PROVIDE = (DocumentControl, document_service)
