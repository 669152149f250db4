"""What observers of an ingest are told: one `rag.ingest.result` for each call, whoever made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

EVENT = "rag.ingest.result"
log = structlog.get_logger("nexus.knowledge")


@dataclass(frozen=True, slots=True)
class IngestEvent:
    """The result of one ingest or delete. `chunks` were written (or removed), `skipped_cached` documents were unchanged."""

    action: str
    tenant: str
    namespace: str
    path: str
    chunks: int
    skipped_cached: int
    error: str = ""


Observer = Callable[[IngestEvent], None]


def log_observer(event: IngestEvent) -> None:
    """The observer that is always there."""
    log.info(
        EVENT,
        action=event.action,
        tenant=event.tenant,
        namespace=event.namespace,
        path=event.path,
        chunks=event.chunks,
        skipped_cached=event.skipped_cached,
        error=event.error,
    )
