"""Search over passages."""

from __future__ import annotations

from nexus.ports.search import Retriever
from nexus.wiring.knowledge import retriever

PROVIDE = (Retriever, retriever)
