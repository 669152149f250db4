"""Pairing and rollup."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from nexus.settings.base import Duration, Section


class PairingSettings(Section):
    """Distances in event time within which two spans can be ends of one call (observed-edges.md section 4)."""

    call_horizon: Duration = Field(timedelta(minutes=15), description="Between the ends of a call.")
    link_horizon: Duration = Field(timedelta(hours=24), description="Between the ends of a message.")
    clock_skew: Duration = Field(timedelta(milliseconds=10), description="How far a server span may stick out of its client's when a lost parent is repaired.")


class AggregateSettings(Section):
    """When windows are rolled up and kept."""

    interval: Duration = Field(timedelta(seconds=1), description="Pause between two looks at the span log.")
