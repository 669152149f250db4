"""Symbols and values of source code, for anchors and for the value beside a document's claim. Owner of the index: `knowledge`."""

from __future__ import annotations

from dataclasses import dataclass
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


class CodeReader(Protocol):
    """Code as indexed, as far as the reader may see it."""

    def anchors(self, tenant: str, passages: list[str]) -> list[CodeAnchor]:
        """Bindings of the passages' back-ticked names."""
        ...

    def values(self, tenant: str, names: list[str], clearance: Classification) -> list[CodeValue]:
        """Constants and limits by symbol name (any of `names`, compared without case and separators)."""
        ...
