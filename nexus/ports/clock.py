"""Time is a port, so that pure code never asks for it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Now, in aware UTC."""

    def now(self) -> datetime:
        """The present instant."""
        ...
