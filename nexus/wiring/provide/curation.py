"""Supersede, hide, restore; claims follow at once, since a superseded document no longer speaks for the design."""

from __future__ import annotations

from datetime import datetime

from knowledge.supersede import DocumentCuration
from nexus.model.document import Classification
from nexus.ports.curation import Curation, Decision
from nexus.ports.documents import DocumentControl
from nexus.wiring.provide.document_control import DocumentService
from nexus.wiring.runtime import Runtime


class CurationService:
    """Each decision, then the claims."""

    def __init__(self, runtime: Runtime) -> None:
        self._curation = DocumentCuration(runtime.database, runtime.clock)
        self._runtime = runtime

    def supersede(self, decision: Decision, old: str, new: str) -> None:
        """`new` takes the place of `old`."""
        self._curation.supersede(decision, old, new)
        self._refresh(decision)

    def undo(self, decision: Decision, old: str) -> None:
        """Take a supersession back."""
        self._curation.undo(decision, old)
        self._refresh(decision)

    def hide(self, decision: Decision, document: str) -> None:
        """Serve a document no more."""
        self._curation.hide(decision, document)
        self._refresh(decision)

    def restore(self, decision: Decision, document: str) -> None:
        """Serve a hidden document again."""
        self._curation.restore(decision, document)
        self._refresh(decision)

    def find(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...], name: str) -> str:
        """The rid of a document by rid, URI, path or title."""
        return self._curation.find(tenant, clearance, namespaces, name)

    def history(self, tenant: str, document: str) -> list[tuple[str, str, str, str, datetime]]:
        """(action, other document, who, why, when), oldest first."""
        return self._curation.history(tenant, document)

    def _refresh(self, decision: Decision) -> None:
        service = self._runtime.get(DocumentControl)
        assert isinstance(service, DocumentService)
        service.refresh(decision.tenant)


PROVIDE = (Curation, CurationService)
