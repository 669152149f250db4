"""Daily observed rows, for the diff."""

from __future__ import annotations

from nexus.ports.observed import ObservedHistory
from nexus.wiring.provide.observed_reader import observed_store

PROVIDE = (ObservedHistory, lambda runtime: observed_store(runtime, runtime.database))
