"""Counts of a report and the four ratios over them (api.md, `totals` and `metrics`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from diff import stats
from diff.presence import amount
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Flag


@dataclass(frozen=True, slots=True)
class Count:
    """How many findings share these properties, and the calls behind them."""

    flag: str
    status: str
    undecided: bool
    primary: bool
    findings: int
    calls: int


def totals(counts: Iterable[Count]) -> dict[str, Any]:
    """`{"confirmed", "doc_only", "observed_only", "conflict", "undecided", "by_status"}`."""
    found: dict[str, Any] = {flag.value: 0 for flag in Flag} | {"undecided": 0, "by_status": {}}
    for count in sorted(counts, key=lambda c: (c.flag, c.status)):
        found[count.flag] += count.findings
        found["undecided"] += count.findings if count.undecided else 0
        found["by_status"][count.status] = found["by_status"].get(count.status, 0) + count.findings
    return found


def metrics(counts: Iterable[Count]) -> dict[str, float | None]:
    """Shares in 0..1; null where there is nothing to share.

    accuracy: confirmed among the decided documented; coverage: documented among the observed; decidability: decided among the
    documented that expect to be seen; traffic_weighted_coverage: calls on documented edges among all calls.
    """
    rows = [c for c in counts if c.primary]

    def number(*flags: Flag, decided: bool | None = None, calls: bool = False) -> int:
        return sum(
            c.calls if calls else c.findings
            for c in rows
            if c.flag in flags
            and (decided is None or c.undecided is not decided)
            and c.status not in ("planned", "deprecated", "infrastructure")
        )

    confirmed, dead, wrong = (
        number(Flag.CONFIRMED),
        number(Flag.DOC_ONLY, decided=True),
        number(Flag.CONFLICT, decided=True),
    )
    documented = confirmed + number(Flag.DOC_ONLY) + number(Flag.CONFLICT)
    seen_documented, shadow = confirmed + wrong, number(Flag.OBSERVED_ONLY)
    traffic = number(Flag.CONFIRMED, calls=True) + number(Flag.CONFLICT, calls=True)
    everything = traffic + number(Flag.OBSERVED_ONLY, calls=True)
    return {
        "accuracy": _share(confirmed, confirmed + dead + wrong),
        "coverage": _share(seen_documented, seen_documented + shadow),
        "decidability": _share(confirmed + dead + wrong, documented),
        "traffic_weighted_coverage": _share(traffic, everything),
    }


def unseen(edges: Iterable[ObservedEdge]) -> dict[str, float | int]:
    """What is still out there: Good-Turing and Chao1 over independent sightings (caller instance x hour)."""
    clusters = [max(e.support.instance_hours, 1) for e in edges if amount(e) and not e.infrastructure and not e.is_self]
    ones, twos = clusters.count(1), clusters.count(2)
    return {
        "edges_seen": len(clusters),
        "edges_unseen_chao1": round(stats.chao1(ones, twos), 2),
        "next_sighting_is_new_good_turing": round(stats.good_turing(ones, sum(clusters)), 6),
    }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
