"""Grounded answers."""

from __future__ import annotations

from nexus.ports.answers import Answerer
from nexus.wiring.answers import answerer

PROVIDE = (Answerer, answerer)
