"""The span log."""

from __future__ import annotations

from pydantic import Field

from nexus.settings.base import Section


class LogSettings(Section):
    """Where acknowledged spans wait until they are rolled up."""

    backend: str = Field("local", pattern="^(local|kafka)$", description="`local`: segments under the data folder; `kafka`: a topic.")
