"""Source code as it stands now, from the folders that the settings allow: read when asked, kept nowhere but in a bounded cache.

Implements `nexus.ports.code.CodeReader`. Code is INTERNAL, of one tenant.
"""

# ruff: noqa: E501  # patterns
from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from answer.codevalues import LANGUAGES, values_of
from answer.grades import authority
from answer.language import squash
from nexus.model.document import Classification
from nexus.ports.code import CodeAnchor, CodeValue, GradeAuthority

MAX_FILES = 20_000
MAX_BYTES = 1_000_000
FRESH_S = 15.0
SKIPPED = frozenset({"node_modules", "build", "dist", "target", "vendor", "__pycache__", "venv"})
_DEFINED = re.compile(
    r"\b(?:class|interface|enum|record|object|struct|type|def|fun|func|function|const|val|var|let)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w{2,})|\b([A-Za-z_]\w{2,})\s*\([^;{}]*\)\s*(?:throws [\w, ]+)?\{",
)


class CodeRoots:
    """Reads folders. `clock` gives monotonic seconds; a scan is used again for `FRESH_S`."""

    def __init__(self, roots: Sequence[Path], tenant: str, clock: Callable[[], float]) -> None:
        self._roots = tuple(root.resolve() for root in roots)
        self._tenant, self._clock = tenant, clock
        self._lock = threading.Lock()
        self._files: dict[str, tuple[tuple[int, int], str]] = {}
        self._values: dict[str, tuple[tuple[int, int], list[CodeValue]]] = {}
        self._scanned = -FRESH_S

    def anchors(self, tenant: str, mentions: list[tuple[str, str]], clearance: Classification) -> list[CodeAnchor]:
        """Where each (passage, name) is defined: exist, ambiguous or gone."""
        if not self._readable(tenant, clearance) or not mentions:
            return []
        files = self._read()
        wanted = {_last(name) for _, name in mentions}
        places: dict[str, list[tuple[str, int]]] = {name: [] for name in wanted}
        for path, (_, text) in files.items():
            for match in _DEFINED.finditer(text):
                name = match.group(1) or match.group(2)
                if name in places:
                    places[name].append((path, text.count("\n", 0, match.start()) + 1))
        out = []
        for passage, name in dict.fromkeys(mentions):
            found = sorted(set(places[_last(name)]))
            state = "exist" if len(found) == 1 else "ambiguous" if found else "gone"
            out.append(CodeAnchor(passage, name, state, *(found[0] if len(found) == 1 else ("", 0))))
        return out

    def values(self, tenant: str, names: list[str], clearance: Classification) -> list[CodeValue]:
        """Constants and limits whose name is one of `names`, or is contained in one or contains one of at least six letters."""
        if not self._readable(tenant, clearance):
            return []
        wanted = {squash(name) for name in names if name}
        files = self._read()
        with self._lock:
            for path, (stamp, text) in files.items():
                if self._values.get(path, ((0, 0), []))[0] != stamp:
                    self._values[path] = (stamp, values_of(path, text))
            found = [value for path in sorted(files) for value in self._values[path][1]]
        return [v for v in found if squash(v.name) in wanted]

    def about(self, tenant: str, concept: str, clearance: Classification, limit: int = 50) -> list[CodeValue]:
        """Constants and limits that a concept names: every word of it occurs in the symbol or in its path."""
        if not self._readable(tenant, clearance):
            return []
        words = [squash(w) for w in re.findall(r"[A-Za-z0-9]+|[가-힣]+", concept)]
        self.values(tenant, [], clearance)
        with self._lock:
            found = [v for path in sorted(self._values) for v in self._values[path][1]]
        named = [v for v in found if words and all(w in squash(v.name) for w in words)]
        return (named or [v for v in found if words and all(w in squash(v.name + v.path) for w in words)])[:limit]

    def grades(self, tenant: str, enum_name: str, subpath: str, clearance: Classification) -> GradeAuthority | None:
        """Authority by an enum of grades, within a folder."""
        if not self._readable(tenant, clearance):
            return None
        inside = subpath.strip("/")
        return authority({path: text for path, (_, text) in self._read().items() if not inside or inside in path}, enum_name)

    def _readable(self, tenant: str, clearance: Classification) -> bool:
        return bool(self._roots) and tenant == self._tenant and clearance.rank >= Classification.INTERNAL.rank

    def _read(self) -> dict[str, tuple[tuple[int, int], str]]:
        with self._lock:
            if self._clock() - self._scanned >= FRESH_S:
                self._files = self._scan()
                self._values = {path: kept for path, kept in self._values.items() if path in self._files}
                self._scanned = self._clock()
            return self._files

    def _scan(self) -> dict[str, tuple[tuple[int, int], str]]:
        found: dict[str, tuple[tuple[int, int], str]] = {}
        for root in self._roots:
            for folder, folders, names in os.walk(root):
                folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
                for name in sorted(names):
                    path = Path(folder) / name
                    if path.suffix not in LANGUAGES or path.is_symlink() or len(found) >= MAX_FILES:
                        continue
                    shown = f"{root.name}/{path.relative_to(root)}"
                    try:
                        stat = path.stat()
                        if stat.st_size > MAX_BYTES:
                            continue
                        stamp = (stat.st_mtime_ns, stat.st_size)
                        kept = self._files.get(shown)
                        found[shown] = kept if kept and kept[0] == stamp else (stamp, path.read_text(encoding="utf-8", errors="replace"))
                    except OSError:
                        # Gone or unreadable between listing and reading: as if it were not there.
                        continue
        return found


def _last(name: str) -> str:
    return re.split(r"[.#:/]", name.removesuffix("()"))[-1]
