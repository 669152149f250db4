"""Documents that come as bytes."""

from __future__ import annotations

from typing import Any, Protocol

from nexus.ports.documents import IngestRequest


class Uploads(Protocol):
    """Keeps uploads under one root and ingests them from there."""

    def upload(self, files: list[tuple[str, bytes]], request: IngestRequest) -> dict[str, Any]:
        """Store `(name, bytes)` and ingest them; the body of `POST /ingest`. Forbidden or BadQuestion for a name that leaves the root.

        `request.path` is not used. A file of the same name is replaced.
        """
        ...
