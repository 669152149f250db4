"""Designed edges and the registry, from the store."""

from __future__ import annotations

from designed.stored import StoredDesigned
from nexus.ports.designed import DesignedReader

PROVIDE = (DesignedReader, lambda runtime: StoredDesigned(runtime.database))
