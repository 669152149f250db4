"""Waiting for what another thread or process does: for the thing itself, and as long as a busy machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable

# A failure is told late, and never to a machine that is only slow.
PATIENCE_S = 120.0


def until(true: Callable[[], object], what: str = "it did not come", pause_s: float = 0.02) -> None:
    """Return once it is true; AssertionError with `what` where that takes for ever."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(pause_s)
