"""Who asks, and what they may see and do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nexus.model.document import Classification


class Capability(StrEnum):
    """What a token may do."""

    READ = "read"
    INGEST = "ingest"
    MANAGE = "manage"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. `namespaces` empty = every namespace of the tenant."""

    name: str
    tenant: str
    clearance: Classification
    capabilities: frozenset[Capability]
    namespaces: tuple[str, ...] = ()

    def lowered(self, clearance: Classification | None) -> Classification:
        """The clearance to use: a request can only lower it."""
        if clearance is None or clearance.rank > self.clearance.rank:
            return self.clearance
        return clearance
