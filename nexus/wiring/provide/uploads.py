"""Uploads: stored under their root, then ingested like any other file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from knowledge.uploads import store, upload_path
from nexus.errors import BadQuestion
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.uploads import Uploads
from nexus.wiring.knowledge import upload_root
from nexus.wiring.provide.document_control import DocumentService
from nexus.wiring.runtime import Runtime


class UploadService:
    """All names are checked before the first byte is stored."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._root = upload_root(runtime)
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def upload(self, files: list[tuple[str, bytes]], request: IngestRequest) -> dict[str, Any]:
        """Store and ingest."""
        service = self._runtime.get(DocumentControl)
        assert isinstance(service, DocumentService)
        known = service.suffixes()
        for name, _ in files:
            if upload_path(name).suffix.lower() not in known:
                raise BadQuestion(f"name: no reader for {name!r}; there are {', '.join(sorted(known))}")
        limit = self._runtime.settings.knowledge.max_file_bytes
        paths = [store(self._root, request.tenant, request.namespace, name, data, limit) for name, data in files]
        return service.ingest_all([replace(request, path=path) for path in paths])


PROVIDE = (Uploads, UploadService)
