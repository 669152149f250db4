"""Telemetry about telemetry and health checks: observed, of no interest to a design.

Left out of reports unless the policy asks for it.

What to do: nothing.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, strongest
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, _world: World) -> Verdict | None:
    """An infrastructure edge."""
    for edge in subject.edges:
        if not edge.infrastructure:
            return None
    return Verdict(
        "infrastructure",
        f"{counted(subject.edges)}, telemetry or health checks",
        "",
        0.9,
        edge=strongest(subject.edges),
    )


KIND: Final = Kind(
    "infrastructure",
    Flag.OBSERVED_ONLY,
    "observed",
    200,
    Severity.NONE,
    "{source} {relation} {target} (infrastructure)",
    0.0,
    decide,
)
