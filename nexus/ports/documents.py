"""Documents in, and reading them back. Owner of the truth: `knowledge`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nexus.model.document import Classification, DocumentRef, Passage, SourceText


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest: a file or folder under an allowed root."""

    path: Path
    tenant: str = "default"
    namespace: str = "default"
    globs: tuple[str, ...] = ()
    # Only a principal that may manage can lower below INTERNAL.
    classification: Classification | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    force: bool = False


class DocumentControl(Protocol):
    """One code path for CLI, HTTP, watch and in-process callers."""

    def ingest(self, request: IngestRequest, progress: Callable[[int, int, str], None] | None = None) -> dict[str, Any]:
        """Ingest; returns the body of api.md `POST /ingest` without claims and edges. `progress(done, total, path)`."""
        ...

    def delete(self, tenant: str, namespace: str, uri: str) -> int:
        """Remove a document (or all below a folder URI); returns how many passages went."""
        ...


class DocumentReader(Protocol):
    """Documents as indexed (active ones; quarantined, hidden and deleted are never returned)."""

    def documents(self, tenant: str) -> list[DocumentRef]:
        """All active documents; `revision` is the content's hash."""
        ...

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        """Documents as text, from their passages (quarantined passages are blank lines, so that line numbers hold)."""
        ...

    def passages(self, tenant: str, rids: list[str], clearance: Classification) -> list[Passage]:
        """Passages by rid, as far as the reader may see them."""
        ...
