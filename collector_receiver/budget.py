"""Bytes in memory for requests in flight: one limit for everything that senders do."""

from __future__ import annotations

import threading

from nexus.errors import Overloaded


class Budget:
    """A counted limit. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """Bytes reserved now."""
        return self._used

    def reserve(self, size: int) -> None:
        """Take `size` bytes. Overloaded where they are not free."""
        with self._lock:
            if self._used + size > self._limit:
                raise Overloaded("too many bytes of requests in flight; send again", retry_after=1.0)
            self._used += size

    def release(self, size: int) -> None:
        """Give back."""
        with self._lock:
            self._used -= size
