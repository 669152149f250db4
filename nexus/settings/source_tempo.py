"""The Grafana Tempo poller."""

from __future__ import annotations

from pydantic import Field

from nexus.settings.base import Section


class SourceTempoSettings(Section):
    """A Tempo to pull traces from."""

    url: str = Field("", description="Base URL of Tempo's query API; empty = no polling.")
