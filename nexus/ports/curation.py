"""Decisions of people about documents. Owner of the truth: `knowledge`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nexus.model.document import Classification


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decides, what they may see, and why."""

    tenant: str
    who: str
    why: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()


class Curation(Protocol):
    """Documents are named by rid. NotFound where the one who decides may not see them; Conflict where the state forbids it."""

    def supersede(self, decision: Decision, old: str, new: str) -> None:
        """`new` takes the place of `old`; chains and cycles are refused."""
        ...

    def undo(self, decision: Decision, old: str) -> None:
        """Take a supersession back."""
        ...

    def hide(self, decision: Decision, document: str) -> None:
        """Serve a document no more."""
        ...

    def restore(self, decision: Decision, document: str) -> None:
        """Serve a hidden document again."""
        ...

    def find(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...], name: str) -> str:
        """The rid of a document by rid, URI, path or title."""
        ...

    def history(self, tenant: str, document: str) -> list[tuple[str, str, str, str, datetime]]:
        """(action, other document, who, why, when), oldest first."""
        ...
