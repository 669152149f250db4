"""Drift policy and schedule. The thresholds themselves are documented in docs/reference/findings.md."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field, SecretStr

from nexus.settings.base import Duration, Section


class DiffSettings(Section):
    """When runs are made, what they are about, and who is told."""

    schedule: str = Field(
        "15 * * * *", description="Cron expression of the runs that are made by the clock; empty turns them off."
    )
    time_zone: str = Field("UTC", description="IANA time zone in which the schedule is meant.")
    misfire_grace: Duration = Field(
        timedelta(hours=24),
        description="A firing missed for longer than this (the service was down) is let go; several missed ones become one run.",
    )
    on_change: bool = Field(
        True, description="Also make a run when documents or names changed, and in the first week when traces came in."
    )
    debounce: Duration = Field(
        timedelta(seconds=3), description="How long changes must have been quiet before such a run."
    )
    change_interval: Duration = Field(
        timedelta(seconds=30), description="Shortest time between two runs that traces ask for."
    )
    running_day: Literal["auto", "always", "never"] = Field(
        "auto",
        description="Whether the running day is part of the default window; auto: until seven closed days are covered.",
    )
    window_days: int = Field(28, ge=1, le=365, description="Closed days of the default window.")
    history_days: int = Field(
        90, ge=1, le=366, description="Days back to which exposure, rhythm and novelty are counted."
    )
    sampling: Literal["auto", "none", "head", "tail"] = Field(
        "auto",
        description="How traces are sampled, where the data do not say it (tracestate probabilities). Unknown sampling decides no absence; say `none` if every trace is kept.",
    )
    alpha: float = Field(0.05, gt=0, lt=0.5, description="Chance of error of the bounds.")
    rate_upper_max: float = Field(
        1e-3, gt=0, lt=1, description="Strong absence: the rate per request that must be ruled out."
    )
    active_day_upper_max: float = Field(
        1 / 9, gt=0, lt=1, description="Strong absence: the share of active days that must be ruled out."
    )
    covered_days_min: int = Field(
        28, ge=1, le=366, description="Strong absence: covered days that are needed at least."
    )
    opportunities_per_day_min: int = Field(10, ge=1, description="Entry spans that make a day a covered one.")
    emerging_days: int = Field(7, ge=0, le=90, description="Undocumented edges younger than this are emerging.")
    infrastructure: bool = Field(False, description="Report telemetry and health-check edges, too.")
    webhook_urls: tuple[str, ...] = Field(
        (), description="Where CloudEvents of findings' transitions are sent (HTTP POST, structured mode)."
    )
    webhook_secret: SecretStr | None = Field(
        None, description="Key of the HMAC-SHA256 signature of webhooks (header `Nexus-Signature`)."
    )
    webhook_clearance: Literal["PUBLIC", "INTERNAL", "RESTRICTED"] = Field(
        "INTERNAL",
        description="What the receivers of webhooks and metrics may know: findings are those of a reader of this clearance.",
    )
