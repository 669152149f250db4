"""Findings whose ends the registry calls otherwise since they were first seen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from diff.compare import compare
from diff.lifecycle import advance, sightings
from diff.policy import Policy
from diff.simulate import TrueEdge
from nexus.model.entity import Entity
from nexus.model.finding import State
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.testing.drift import KNOWN, sim

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_finding_goes_on_under_the_new_name_of_its_end_and_the_old_one_is_not_held() -> None:
    # Too few requests to be covered: what is missing here would be held.
    policy = Policy(opportunities_per_day_min=100_000)
    evidence = sim(TrueEdge("a", "d")).evidence(60, KNOWN)
    before = compare(evidence, policy)
    known, _ = advance({}, sightings(before.rows, before.world), before, policy, NOW)
    renamed = Entity("rid", "orders", NodeKind.SERVICE.value, ("d",))
    after = compare(replace(evidence, registry=Registry((renamed,))), policy)
    changed, _ = advance(known, sightings(after.rows, after.world), after, policy, NOW + timedelta(hours=1))
    states = {m.target: m.state for m in (known | changed).values() if m.source == "service:a"}
    assert (states["service:d"], states["service:orders"]) == (State.RESOLVED, State.NEW)
