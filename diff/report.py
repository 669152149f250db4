"""What every report format takes, and the protocol of a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nexus.ports.drift import Report


@dataclass(frozen=True, slots=True)
class Format:
    """A report format: `render(report)` gives the whole text. `suffix` and `media_type` are those of a file of it."""

    suffix: str
    media_type: str
    render: Callable[[Report], str]
