"""Source code beside documents."""

from __future__ import annotations

from nexus.ports.code import CodeReader
from nexus.wiring.answers import code

PROVIDE = (CodeReader, code)
