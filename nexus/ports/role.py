"""What `nexus up` and `nexus serve` run: start in order, stop in reverse, with a deadline."""

from __future__ import annotations

from typing import Protocol


class Role(Protocol):
    """One long-running part of the service. Blocking work belongs in threads."""

    name: str

    async def start(self) -> None:
        """Acquire what is needed (ports, files). Returns when ready; ConfigError or InUse when it cannot be."""
        ...

    async def run(self) -> None:
        """Work until cancelled or `stop` was called. A return before that is a failure."""
        ...

    async def stop(self) -> None:
        """Finish what was taken on, release everything, make `run` return. Called once, also after a failed start."""
        ...
