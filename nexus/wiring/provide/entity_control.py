"""The registry as people work on it."""

from __future__ import annotations

from designed.stored import StoredEntities
from nexus.ports.designed import DesignControl
from nexus.ports.entities import EntityControl

PROVIDE = (EntityControl, lambda runtime: StoredEntities(runtime.database, runtime.get(DesignControl), runtime.clock))
