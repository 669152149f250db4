"""Documents and passages (answers.md section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Classification(StrEnum):
    """Who may read. Ordered: PUBLIC < INTERNAL < RESTRICTED; compare with `rank`."""

    PUBLIC = "PUBLIC"
    INTERNAL = "INTERNAL"
    RESTRICTED = "RESTRICTED"

    @property
    def rank(self) -> int:
        """0, 1 or 2; a reader sees what is at most its clearance's rank."""
        return ("PUBLIC", "INTERNAL", "RESTRICTED").index(self.value)


class Tier(StrEnum):
    """Provenance of a passage."""

    AUTHORED = "authored"
    MACHINE_READ = "machine_read"
    MACHINE_WRITTEN = "machine_written"


class DocumentStatus(StrEnum):
    """Whether a document is served."""

    ACTIVE = "active"
    HIDDEN = "hidden"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """Enough of a document to cite it. `revision` is the content's hash."""

    rid: str
    title: str
    uri: str
    revision: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document as read from its source, before anything is made of it. Lines end in LF."""

    ref: DocumentRef
    text: str
    # File name suffix in lower case with the dot, and the path inside the ingested root.
    suffix: str
    path: str
    namespace: str = "default"
    tenant: str = "default"
    classification: Classification = Classification.INTERNAL
    tier: Tier = Tier.AUTHORED
    # Stretches (first line, last line, level) that are above the document's own level.
    raised: tuple[tuple[int, int, Classification], ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document; joined in order they give the original. Lines 1-based, inclusive."""

    rid: str
    document: DocumentRef
    ordinal: int
    section: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    classification: Classification
    tier: Tier
    language: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in an input that could not be read; the rest was. `line` 0 = the whole file."""

    path: str
    line: int
    error: str
    stage: str = "read"
