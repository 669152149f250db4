"""Names by which a document speaks of code, and which symbols they can mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from knowledge.code.languages import SUFFIXES

_FENCE = re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL)
_TICKED = re.compile(r"`([A-Za-z_][\w.#:/$-]{1,120}(?:\(\))?)`")
_SYMBOL = re.compile(r"[A-Za-z_$][\w$.#:]*(?:\(\))?")
_ENDINGS = tuple(SUFFIXES)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A symbol that could be meant: where it stands, and its hash."""

    uri: str
    path: str
    qualified: str
    line: int
    hash: str
    kind: str


def ticked(text: str) -> list[str]:
    """Back-ticked names that look like symbols or source files, outside fences, each once."""
    found = _TICKED.findall(_FENCE.sub("", text))
    return list(dict.fromkeys(name for name in found if is_file(name) or _symbol_like(name)))


def _symbol_like(name: str) -> bool:
    # Topics, hosts and services are written in lower case, with dots and hyphens; symbols have a capital, an underscore inside or parentheses.
    return _SYMBOL.fullmatch(name) is not None and re.search(r"[A-Z]|\w_\w|\(\)$", name) is not None


def is_file(name: str) -> bool:
    """Whether a name is that of a source file."""
    return name.endswith(_ENDINGS)


def segments(name: str) -> tuple[str, ...]:
    """`OrderService#place()` -> ("OrderService", "place"); a file by its folders. The last one is what a symbol is called."""
    if is_file(name):
        return tuple(part for part in name.split("/") if part not in {"", ".", ".."})
    return tuple(part for part in re.split(r"[.#:/]+", name.removesuffix("()")) if part)


def meant(name: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those of the candidates (all called by the last segment) whose owners, file and folders end with the other segments."""
    asked = segments(name)
    return [c for c in candidates if _ends_with(_places(c), asked[:-1])]


def _places(candidate: Candidate) -> list[tuple[str, ...]]:
    if candidate.kind == "file":
        return [tuple(candidate.path.split("/")[:-1])]
    owners = tuple(candidate.qualified.split(".")[:-1])
    *folders, file = candidate.path.split("/")
    stem = file.rsplit(".", 1)[0]
    # A Java class is named by its package, a Python one by its module.
    return [(*folders, *owners), (*folders, stem, *owners)]


def _ends_with(places: list[tuple[str, ...]], asked: tuple[str, ...]) -> bool:
    return not asked or any(place[-len(asked) :] == asked for place in places)
