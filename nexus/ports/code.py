"""Symbols and values of source code, for anchors and for the value beside a document's claim. Owner: `knowledge`, which indexes the folders of NEXUS_ANSWER__CODE_ROOTS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from nexus.model.document import Classification, Problem


@dataclass(frozen=True, slots=True)
class CodeAnchor:
    """A back-ticked name of a passage bound to code.

    `state` against what the name was bound to when the passage was indexed: exist, changed (its code is another), gone; or, where it was
    never bound, ambiguous (several symbols are called so) or unbound (none is). `bound_at` None = never.
    """

    passage: str
    name: str
    state: str
    path: str = ""
    line: int = 0
    kind: str = ""
    document: str = ""
    title: str = ""
    uri: str = ""
    bound_at: datetime | None = None


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
    """Code as it was last indexed, as far as the reader may see it. Nothing where no code is configured."""

    def anchors(
        self,
        tenant: str,
        passages: Sequence[str] | None,
        clearance: Classification,
        namespaces: Sequence[str] = (),
        state: str = "",
        limit: int = 5_000,
    ) -> list[CodeAnchor]:
        """Anchors of passages by rid (of all where None), in one state or ("") any, by document and place."""
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


@dataclass(slots=True)
class CodeRefresh:
    """What a refresh did. `files` are those that were looked at; `symbols` those of the files that were indexed; `bound`, anchors that found their symbol."""

    files: int = 0
    indexed: int = 0
    removed: int = 0
    symbols: int = 0
    bound: int = 0
    problems: list[Problem] = field(default_factory=list)


class CodeControl(Protocol):
    """Keeps the code index up to date."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are indexed."""
        ...

    def refresh(self, tenant: str, paths: Sequence[Path] | None = None) -> CodeRefresh:
        """Index what changed at or below the paths, as far as they lie under the code roots (None = all of them), and bind the anchors that can be."""
        ...
