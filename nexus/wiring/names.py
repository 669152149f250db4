"""Reading documents again when traces bring names that they use: documents mostly come first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import structlog

from nexus.errors import NexusError
from nexus.store.drift_run import tenants
from nexus.store.observed_names import Named, named
from nexus.wiring.runtime import Runtime

log = structlog.get_logger("nexus.ingest")
LOOK_S: Final = 10.0
# At most this share of the time goes into reading again, however fast new names come.
SHARE: Final = 0.05


def follow_names(runtime: Runtime, refresh: Callable[[str], Any], stop: threading.Event) -> None:
    """Until `stop`: bring the claims of a tenant up to date when the names in its traces change."""
    seen: dict[str, Named] = {}
    wait = LOOK_S
    while not stop.wait(wait):
        began = time.monotonic()
        try:
            with runtime.database.connection() as connection:
                found = {tenant: named(connection, tenant) for tenant in tenants(connection)}
            for tenant in sorted(found):
                if found[tenant] != seen.get(tenant):
                    refresh(tenant)
                    seen[tenant] = found[tenant]
        except NexusError as error:
            log.warning("names_failed", error=str(error))
        wait = max(LOOK_S, (time.monotonic() - began) / SHARE)
