"""Both layers as one graph."""

from __future__ import annotations

from nexus.ports.answers import GraphReader
from nexus.wiring.answers import graphs

PROVIDE = (GraphReader, graphs)
