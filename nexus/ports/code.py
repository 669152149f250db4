"""Symbols and values of source code, for anchors and for the value beside a document's claim. Owner: `answer`, which reads the folders of NEXUS_ANSWER__CODE_ROOTS."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from nexus.model.document import Classification


@dataclass(frozen=True, slots=True)
class CodeAnchor:
    """A back-ticked name of a passage bound to code. `state` is exist, changed, gone, ambiguous or unbound."""

    passage: str
    name: str
    state: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class CodeValue:
    """What code enforces, beside what a document says. Neither is judged.

    `rule` is constant, annotation or default; `value` as written in code; `claimed` as written in the passage ("" where none).
    """

    name: str
    value: str
    rule: str
    path: str
    line: int
    language: str
    passage: str = ""
    claimed: str = ""


@dataclass(frozen=True, slots=True)
class GradeGate:
    """A place where code demands a grade. `certain` where it refuses, not only filters."""

    action: str
    grade: str
    check: str
    path: str
    line: int
    certain: bool


@dataclass(frozen=True, slots=True)
class GradeAuthority:
    """Levels by grade (a higher one may more), gates, and by grade the actions that it is blocked from."""

    enum: str
    levels: dict[str, int] = field(default_factory=dict)
    gates: tuple[GradeGate, ...] = ()
    blocked: dict[str, tuple[str, ...]] = field(default_factory=dict)


class CodeReader(Protocol):
    """Code as it stands now, as far as the reader may see it. Nothing where no code is configured."""

    def anchors(self, tenant: str, mentions: list[tuple[str, str]], clearance: Classification) -> list[CodeAnchor]:
        """Where each (passage rid, back-ticked name) is defined."""
        ...

    def values(self, tenant: str, names: list[str], clearance: Classification) -> list[CodeValue]:
        """Constants and limits by symbol name (any of `names`, compared without case and separators)."""
        ...

    def about(self, tenant: str, concept: str, clearance: Classification, limit: int = 50) -> list[CodeValue]:
        """Constants and limits whose name (else whose name and path) holds every word of a concept."""
        ...

    def grades(self, tenant: str, enum_name: str, subpath: str, clearance: Classification) -> GradeAuthority | None:
        """What each grade of an enum is blocked from, by the permission gates of code; None without such an enum."""
        ...
