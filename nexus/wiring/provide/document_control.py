"""Documents and source code in, and at once the claims in them: the one place where `knowledge` and `designed` meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from knowledge.run import Ingestor
from nexus.errors import InvariantBroken, NotFound
from nexus.ports.code import CodeControl, CodeRefresh
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.wiring.knowledge import ingestor
from nexus.wiring.runtime import Runtime

SUMS = ("documents", "indexed", "skipped", "removed", "quarantined", "failed", "passages")
Progress = Callable[[int, int, str], None]


class DocumentService:
    """An ingestor whose results carry the claims and edges that were read from the documents, and what the code index took in."""

    def __init__(self, documents: Ingestor, design: Callable[[], DesignControl | None], code: CodeControl) -> None:
        self._documents = documents
        self._design = design
        self._code = code

    def ingest(self, request: IngestRequest, progress: Progress | None = None) -> dict[str, Any]:
        """As `POST /ingest` answers."""
        return self.ingest_all([request], progress)

    def ingest_text(self, text: str, name: str, request: IngestRequest) -> dict[str, Any]:
        """The same for a text that lies in no file."""
        return self._with_claims(
            request.tenant, self._documents.ingest_text(text, name, request, embed=False), [], None
        )

    def ingest_all(self, requests: Sequence[IngestRequest], progress: Progress | None = None) -> dict[str, Any]:
        """Several ingests of one tenant as one result; claims and code are read once, and the vectors made at the end: they take longest."""
        results = [self._one(request, progress) for request in requests]
        total: dict[str, Any] = {key: sum(result[key] for result in results) for key in SUMS}
        total["errors"] = [error for result in results for error in result["errors"]]
        total["took_ms"] = round(sum(result["took_ms"] for result in results), 3)
        return self._with_claims(requests[0].tenant, total, [request.path for request in requests], progress)

    def _one(self, request: IngestRequest, progress: Progress | None) -> dict[str, Any]:
        try:
            return self._documents.ingest(request, progress, embed=False)
        except NotFound:
            if not self._is_code(request.path):
                raise
            # A source file or folder that is gone held no documents.
            return dict.fromkeys(SUMS, 0) | {"errors": [], "took_ms": 0.0}

    def _is_code(self, path: Path) -> bool:
        real = path.resolve()
        return any(root == real or root in real.parents for root in self._code.roots)

    def suffixes(self) -> frozenset[str]:
        """Suffixes of the files that can be read."""
        return self._documents.suffixes()

    def follow(self, request: IngestRequest) -> dict[str, Any]:
        """As `ingest`, without reading the claims: the watcher does that once for all changes of a batch. A path that is gone is removed."""
        if self._is_code(request.path):
            self._code.refresh(request.tenant, [request.path])
        try:
            return self._documents.ingest(request)
        except NotFound:
            return {}

    def code_roots(self) -> tuple[Path, ...]:
        """Folders of source code."""
        return self._code.roots

    def follow_code(self, tenant: str, paths: Sequence[Path] | None = None) -> CodeRefresh:
        """Index the source code below the paths (None = all of it), without the documents that lie beside it."""
        return self._code.refresh(tenant, paths)

    def delete(self, tenant: str, namespace: str, uri: str) -> int:
        """Remove documents, and what was claimed in them."""
        removed = self._documents.delete(tenant, namespace, uri)
        self.refresh(tenant)
        return removed

    def refresh(self, tenant: str, progress: Progress | None = None) -> dict[str, Any]:
        """Bring the claims up to date with the documents; {} where nothing reads claims."""
        design = self._design()
        return design.refresh(tenant, progress=progress) if design is not None else {}

    def _with_claims(
        self, tenant: str, result: dict[str, Any], paths: Sequence[Path], progress: Progress | None
    ) -> dict[str, Any]:
        started = time.perf_counter()
        read = self.refresh(tenant, progress)
        code = self._code.refresh(tenant, paths)
        pending, problems = self._documents.embed(tenant, progress)
        errors = [
            {"path": p.path, "line": p.line, "error": p.error, "stage": p.stage}
            for p in [*read.get("problems", ()), *code.problems, *problems]
        ]
        shown = {
            "files": code.files,
            "indexed": code.indexed,
            "removed": code.removed,
            "symbols": code.symbols,
            "bound": code.bound,
        }
        return result | {
            "claims": read.get("claims", 0),
            "edges": read.get("edges", 0),
            "vectors_pending": pending,
            "took_ms": round(result["took_ms"] + (time.perf_counter() - started) * 1000, 3),
            "code": shown,
            "errors": [*result["errors"], *errors],
        }


def document_service(
    runtime: Runtime, extra_roots: Sequence[Path] = (), embed_wait_s: float | None = None
) -> DocumentService:
    """The service, with roots of the caller's beside the configured ones."""

    def design() -> DesignControl | None:
        try:
            return runtime.get(DesignControl)
        except InvariantBroken:
            return None

    return DocumentService(ingestor(runtime, extra_roots, embed_wait_s), design, runtime.get(CodeControl))


PROVIDE = (DocumentControl, document_service)
