"""What every role and provider gets: settings, the database, the clock, and each other's services."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from nexus.errors import InvariantBroken
from nexus.plugins import load_plugins
from nexus.ports.clock import Clock
from nexus.settings import Settings
from nexus.store.pool import Database

T = TypeVar("T")
Factory = Callable[["Runtime"], Any]
# A provider: the port (a Protocol or class) and the function that builds the implementation.
Provide = tuple[type, Factory]


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Now, UTC."""
        return datetime.now(UTC)


@dataclass(slots=True)
class Runtime:
    """Built once per process. Services are made when first asked for and closed in reverse."""

    settings: Settings
    database: Database
    clock: Clock = field(default_factory=SystemClock)
    # True under `nexus up`: one person's machine, local requests are trusted (answers.md section 5).
    single_user: bool = False
    # False in a process that others roll up for (`nexus serve` without the aggregate role).
    rolls_up: bool = True
    # Folders given to `nexus up --docs`.
    docs: tuple[Path, ...] = ()
    # For what only reads and may be a little old.
    replica: Database | None = None
    # True once every role of the process has started.
    started: bool = False
    # Where each role listens (`http`, `grpc`, `otlp_http`): what is configured, with the port that it got where port 0 was asked for.
    addresses: dict[str, str] = field(default_factory=dict)
    _made: dict[type, Any] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def reading(self) -> Database:
        """The replica where there is one, else the database."""
        return self.replica or self.database

    def get(self, port: type[T]) -> T:
        """The implementation of a port, from `nexus/wiring/provide/`. InvariantBroken where there is none."""
        with self._lock:
            if port not in self._made:
                factories = dict(load_plugins("nexus.wiring.provide", "PROVIDE").values())
                if port not in factories:
                    msg = f"no provider for {port.__name__}"
                    raise InvariantBroken(msg)
                self._made[port] = factories[port](self)
            return cast("T", self._made[port])

    def close(self) -> None:
        """Close what was made, newest first, then the database."""
        for service in reversed(list(self._made.values())):
            close = getattr(service, "close", None)
            if callable(close):
                close()
        self._made.clear()
        if self.replica is not None:
            self.replica.close()
        self.database.close()
