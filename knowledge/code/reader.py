"""Reading the code index as one reader may see it: implements `nexus.ports.code.CodeReader`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.code.names import Candidate, meant
from nexus.model.document import Classification
from nexus.model.names import squash
from nexus.ports.code import CodeAnchor, CodeValue, GradeAuthority, GradeGate
from nexus.store.code import (
    AnchorRow,
    ValueRow,
    anchors_of,
    gates_of,
    grades_of,
    symbols_called,
    values_about,
    values_named,
)
from nexus.store.pool import Database

MAX_VALUES = 200
MAX_ANCHORS = 5_000


def state_of(anchor: AnchorRow, found: Sequence[Candidate]) -> tuple[str, Candidate | None]:
    """What a name means now, against what it was bound to: exist, changed, gone, ambiguous or unbound, and where. Pure.

    A symbol that moved is the same one as long as nothing else is called so, or its hash tells it from what is.
    """
    if anchor.bound_hash is None:
        return ("exist", found[0]) if len(found) == 1 else ("ambiguous" if found else "unbound", None)
    there = next((c for c in found if (c.uri, c.qualified) == (anchor.bound_uri, anchor.bound_to)), None)
    moved = [c for c in found if c.hash == anchor.bound_hash] if there is None else []
    now = there or (moved[0] if len(moved) == 1 else found[0] if len(found) == 1 else None)
    if now is None:
        return "ambiguous" if found else "gone", None
    return ("exist" if now.hash == anchor.bound_hash else "changed"), now


class IndexedCode:
    """Code as it was last indexed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def anchors(
        self,
        tenant: str,
        passages: Sequence[str] | None,
        clearance: Classification,
        namespaces: Sequence[str] = (),
        state: str = "",
        limit: int = MAX_ANCHORS,
    ) -> list[CodeAnchor]:
        """Anchors of passages (all where None) in their present state."""
        with self._database.connection() as connection:
            rows = anchors_of(connection, tenant, clearance, namespaces, passages, MAX_ANCHORS)
            symbols = (
                symbols_called(connection, tenant, clearance, sorted({row.symbol for row in rows})) if rows else []
            )
        called: dict[str, list[Candidate]] = {}
        for s in symbols:
            called.setdefault(s.name, []).append(Candidate(s.uri, s.path, s.qualified, s.line_start, s.hash, s.kind))
        out = []
        for row in rows:
            said, now = state_of(row, meant(row.name, called.get(row.symbol, ())))
            if state in {"", said}:
                out.append(
                    CodeAnchor(
                        row.passage,
                        row.name,
                        said,
                        now.path if now else "",
                        now.line if now else 0,
                        now.kind if now else "",
                        row.rid,
                        row.title,
                        row.uri,
                        row.bound_at,
                    )
                )
        return out[:limit]

    def values(self, tenant: str, names: list[str], clearance: Classification) -> list[CodeValue]:
        """Constants and limits by name, compared without case and separators."""
        with self._database.connection() as connection:
            return _values(
                values_named(connection, tenant, clearance, {squash(name) for name in names if name}, MAX_VALUES)
            )

    def about(self, tenant: str, concept: str, clearance: Classification, limit: int = 50) -> list[CodeValue]:
        """Constants and limits that a concept names: every word of it occurs in the symbol, else in it and its path."""
        words = [squash(word) for word in re.findall(r"[A-Za-z0-9]+|[가-힣]+", concept)][:20]
        if not words:
            return []
        with self._database.connection() as connection:
            return _values(values_about(connection, tenant, clearance, words, limit))

    def grades(self, tenant: str, enum_name: str, subpath: str, clearance: Classification) -> GradeAuthority | None:
        """What each grade is blocked from, by the gates in a folder; by complement: the actions whose gate is above it."""
        inside = subpath.strip("/")
        with self._database.connection() as connection:
            members = grades_of(connection, tenant, clearance, enum_name, inside)
            # Two files may hold an enum of that name: the first is read.
            levels = {name: level for path, name, level in members if path == members[0][0]}
            rows = gates_of(connection, tenant, clearance, enum_name, list(levels), inside) if levels else []
        if not levels:
            return None
        gates = tuple(GradeGate(r.action, r.member, r.demand, r.path, r.line, r.certain) for r in rows)
        blocked = {
            grade: tuple(sorted({g.action for g in gates if g.certain and levels[g.grade] > level}))
            for grade, level in levels.items()
        }
        return GradeAuthority(enum_name, levels, gates, blocked)


def _values(rows: Sequence[ValueRow]) -> list[CodeValue]:
    return [CodeValue(r.name, r.value, r.rule, r.path, r.line, r.language) for r in rows]
