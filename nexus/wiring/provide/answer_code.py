"""Source code beside documents."""

from __future__ import annotations

from knowledge.code.reader import IndexedCode
from nexus.ports.code import CodeReader
from nexus.wiring.runtime import Runtime


def _reader(runtime: Runtime) -> IndexedCode:
    return IndexedCode(runtime.database)


PROVIDE = (CodeReader, _reader)
