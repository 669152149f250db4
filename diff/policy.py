"""Every threshold of the diff, with its default. Echoed in each report; `config_hash` is part of a run's identity."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

# Rules that are code and not numbers. Raised when a verdict's meaning changes, so that stored runs are not taken for the new one.
RULES_VERSION = 5


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds of drift.md. Shares are in 0..1, days are UTC days."""

    # Chance of error of every bound (section 3).
    alpha: float = 0.05
    # Strong absence: a rate per request above this must be ruled out.
    rate_upper_max: float = 1e-3
    # Times the requests of one look, because runs repeat over a rolling window.
    requests_factor: float = 3.0
    # Strong absence: a share of active days above this must be ruled out.
    active_day_upper_max: float = 1 / 9
    # Strong absence: covered days at least. The bound alone is reached with 26; the contract asks for 28 (ADR 0020).
    covered_days_min: int = 28
    # Entry spans of the source that make a day a covered one.
    opportunities_per_day_min: int = 10
    # Days back to which exposure, rhythm and novelty are counted.
    history_days: int = 90
    # Share of recognisable exits below which a target could hide among the unresolved ones.
    detection_min: float = 0.5
    # Chance of missing every firing of a declared schedule, up to which it is still called absent.
    cadence_miss_max: float = 1e-3
    # Chance that an edge's own rhythm explains its silence, below which it has ceased.
    ceased_max: float = 1e-3
    # Such silences that a living edge of that rhythm may show in a year, above which "ceased" stays undecided (ADR 0022).
    ceased_year_max: float = 0.001
    # Sampling of the traces where the data do not say it themselves: auto, none, head or tail.
    sampling: str = "auto"
    # Share of a service's spans with a known probability from which its sampling counts as head sampling.
    sampling_known_min: float = 0.99
    # Chance of a wrong edge up to which independent sightings are support (section 4).
    chance_max: float = 1e-4
    # Misresolution rate of one sighting that was paired.
    misresolution_paired: float = 1e-3
    # Misresolution rate of one sighting whose parent was repaired.
    misresolution_inferred: float = 5e-2
    # Misresolution rate of one sighting known by an attribute only.
    misresolution_named: float = 1e-2
    # Different hours that support needs.
    hours_min: int = 2
    # Different traces that support needs.
    traces_min: int = 2
    # Undocumented edges younger than this many days are emerging.
    emerging_days: int = 7
    # Share of active days below which an undocumented edge is rare.
    rare_active_share: float = 0.1
    # Lower bound of the share of contacts in another mode, protocol or operation that makes a conflict (section 5).
    other_mode_share: float = 0.95
    # Hours with activity off a declared schedule that make a conflict.
    off_schedule_hours_min: int = 3
    # Window ends (days) on which a finding must be there to be open (section 6).
    open_after: int = 2
    # Window ends (days) on which a finding must be gone to be resolved.
    resolve_after: int = 2
    # Days between the end of one name and the beginning of another, up to which a rename is proposed.
    rename_days: int = 7
    # Likeness of their neighbours (Jaccard) from which a rename is proposed.
    rename_similarity: float = 0.6
    # Report telemetry and health-check edges, too.
    infrastructure: bool = False
    # Report a service's calls of itself, too.
    self_calls: bool = False


def as_dict(policy: Policy) -> dict[str, Any]:
    """Field -> value, for the report."""
    return dataclasses.asdict(policy)


def config_hash(policy: Policy) -> str:
    """16 hex digits over every threshold and the version of the rules."""
    text = json.dumps({"rules": RULES_VERSION, **as_dict(policy)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
