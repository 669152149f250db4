"""Keeping the code index."""

from __future__ import annotations

from nexus.ports.code import CodeControl
from nexus.wiring.knowledge import code_index

PROVIDE = (CodeControl, code_index)
