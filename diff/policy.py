"""Every threshold of the diff, with its default. Echoed in each report; `config_hash` is part of a run's identity."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

# Rules that are code and not numbers. Raised when a verdict's meaning changes, so that stored runs are not taken for the new one.
RULES_VERSION = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds of drift.md. Shares are in 0..1, days are UTC days."""

    # Absence (section 3).
    alpha: float = 0.05
    # At most one call in so many requests is still called absent; 3 times the requests of one look (runs repeat over a rolling window).
    rate_upper_max: float = 1e-3
    requests_factor: float = 3.0
    active_day_upper_max: float = 1 / 9
    # The bound alone is reached with 26 days; the contract asks for 28 (ADR 0020).
    covered_days_min: int = 28
    opportunities_per_day_min: int = 10
    history_days: int = 90
    # Below this share of recognisable exits, a target could hide among the unresolved ones.
    detection_min: float = 0.5
    # Chance of missing every firing of a declared schedule that is still called absent.
    cadence_miss_max: float = 1e-3
    # Chance that the edge's own rhythm explains its silence, below which it has ceased.
    ceased_max: float = 1e-3
    # Sampling of the traces where the data do not say it themselves: auto, none, head or tail.
    sampling: str = "auto"
    sampling_known_min: float = 0.99
    # Presence (section 4).
    chance_max: float = 1e-4
    # Misresolution rate by how an edge was paired; the largest that applies counts.
    misresolution_paired: float = 1e-3
    misresolution_inferred: float = 5e-2
    misresolution_named: float = 1e-2
    hours_min: int = 2
    traces_min: int = 2
    emerging_days: int = 7
    rare_active_share: float = 0.1
    # Conflicts (section 5).
    other_mode_share: float = 0.95
    off_schedule_hours_min: int = 3
    # Findings over time (section 6): days (window ends) on which a finding must be there, or be gone.
    open_after: int = 2
    resolve_after: int = 2
    rename_days: int = 7
    rename_similarity: float = 0.6
    # What is compared.
    infrastructure: bool = False
    self_calls: bool = False


def as_dict(policy: Policy) -> dict[str, Any]:
    """Field -> value, for the report."""
    return dataclasses.asdict(policy)


def config_hash(policy: Policy) -> str:
    """16 hex digits over every threshold and the version of the rules."""
    text = json.dumps({"rules": RULES_VERSION, **as_dict(policy)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
