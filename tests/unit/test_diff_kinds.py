"""Each finding kind: what makes it, and what does not. Presence, and kinds in general; absence, conflicts and promises have files of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from designed.entity_names import entity_rid
from diff import rank
from diff.cadence import Cadence
from diff.compare import kinds
from diff.evidence import Evidence
from diff.policy import Policy
from diff.simulate import TrueEdge, says
from diff.world import World
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Node, NodeKind
from nexus.testing.drift import KNOWN, Edit, judged, rows, sim


def test_a_true_document_has_no_drift() -> None:
    assert judged(sim(), KNOWN) == {
        ("a", "CALLS", "b"): {"confirmed"},
        ("b", "CALLS", "c"): {"confirmed"},
        ("c", "CALLS", "d"): {"confirmed"},
    }


def test_every_kind_is_documented() -> None:
    for name in kinds():
        doc = sys.modules[f"diff.kinds.{name}"].__doc__ or ""
        assert "What to do:" in doc, name
        assert kinds()[name].status == name


def test_presence_grows_from_provisional_over_emerging_to_robust() -> None:
    once = sim(TrueEdge("a", "d", first_day=20, schedule=Cadence("once", every=1), last_day=20))
    assert judged(once, KNOWN, until=21)["a", "CALLS", "d"] == {"provisional?"}
    young = sim(TrueEdge("a", "d", first_day=20))
    assert judged(young, KNOWN, until=22)["a", "CALLS", "d"] == {"emerging"}
    assert judged(young, KNOWN, until=40)["a", "CALLS", "d"] == {"robust"}


def test_a_rank_grows_with_each_of_its_factors() -> None:
    """Confidence x impact x reach x kind x novelty."""
    evidence = sim(TrueEdge("a", "d")).evidence(60, KNOWN)
    (row,) = [r for r in rows(evidence) if r.kind.status == "robust"]
    reach, world, subject = rank.Reach(evidence.observed), row.world, row.subject
    whole = rank.score(row.kind, row.verdict, subject, reach, world)
    alone = rank.Reach(())
    alone.busiest = reach.busiest
    fewer = subject._replace(edges=tuple(replace(e, calls=1) for e in subject.edges))
    less = [
        rank.score(row.kind, row.verdict._replace(confidence=0.5), subject, reach, world),
        rank.score(row.kind, row.verdict, fewer, reach, world),
        rank.score(row.kind, row.verdict, subject, alone, world),
        rank.score(replace(row.kind, weight=0.5), row.verdict, subject, reach, world),
    ]
    assert all(0 < one < whole for one in less), less
    young = replace(
        evidence,
        histories={},
        observed=tuple(replace(e, first_seen=evidence.window_to - timedelta(days=1)) for e in evidence.observed),
    )
    new = subject._replace(edges=tuple(e for e in young.observed if e.rid == subject.edges[0].rid))
    assert rank.score(row.kind, row.verdict, new, reach, World(young, Policy())) > whole


def test_a_canary_stays_emerging() -> None:
    versions = {"a": ("1", "2")}
    assert judged(sim(TrueEdge("a", "d", versions=("2",)), versions=versions), KNOWN)["a", "CALLS", "d"] == {"emerging"}
    assert judged(sim(TrueEdge("a", "d", versions=("1", "2")), versions=versions), KNOWN)["a", "CALLS", "d"] == {
        "robust"
    }


def of_versions(of_day: Callable[[int], tuple[str, ...]]) -> Edit:
    """The caller `a` runs those versions on each day since the history began."""

    def change(evidence: Evidence) -> Evidence:
        days = [
            replace(s, versions=of_day((s.day - evidence.history_from).days)) if s.service.name == "a" else s
            for s in evidence.service_days
        ]
        return replace(evidence, service_days=tuple(days))

    return change


def test_what_one_version_calls_is_no_canary_once_it_is_the_only_one_or_the_older_one() -> None:
    new, old = sim(TrueEdge("a", "d", versions=("2",))), sim(TrueEdge("a", "d", versions=("1",)))
    beside = of_versions(lambda day: ("1", "2") if day >= 30 else ("1",))
    assert judged(new, KNOWN, change=beside)["a", "CALLS", "d"] == {"emerging"}
    assert judged(old, KNOWN, change=beside)["a", "CALLS", "d"] == {"robust"}
    over = of_versions(lambda day: ("2",) if day >= 30 else ("1",))
    assert judged(new, KNOWN, change=over)["a", "CALLS", "d"] == {"robust"}


def test_a_service_and_its_name_as_a_host_are_one_finding() -> None:
    """While a service is down its callers show its name as a host; what nothing documents is one relation all the same."""
    known = Entity(entity_rid("d", NodeKind.SERVICE), "d", NodeKind.SERVICE.value)
    evidence = sim(TrueEdge("a", "d")).evidence(60, KNOWN)
    called = next(e for e in evidence.observed if e.target.name == "d" and e.source.name == "a")
    beside = replace(called, rid="unanswered", target=Node("d", NodeKind.EXTERNAL))
    evidence = replace(evidence, registry=Registry((known,)), observed=(*evidence.observed, beside))
    (row,) = [r for r in rows(evidence) if (r.finding.source.name, r.finding.target.name) == ("a", "d")]
    assert row.kind.status == "robust"
    assert len(row.subject.edges) == 2


def test_rare_external_and_infrastructure() -> None:
    rare = sim(TrueEdge("a", "d", active_share=0.05, rate=0.002))
    assert judged(rare, KNOWN, until=90)["a", "CALLS", "d"] == {"rare"}
    outside = sim(TrueEdge("a", "api.example.com", target_kind=NodeKind.EXTERNAL))
    assert judged(outside, KNOWN)["a", "CALLS", "api.example.com"] == {"external"}
    telemetry = sim(TrueEdge("a", "d", infrastructure=True))
    assert ("a", "CALLS", "d") not in judged(telemetry, KNOWN)
    assert judged(telemetry, KNOWN, infrastructure=True)["a", "CALLS", "d"] == {"infrastructure"}
    assert judged(telemetry, [*KNOWN, says("a", "d", line=4)])["a", "CALLS", "d"] == {"confirmed"}


def test_retries_alone_are_no_support() -> None:
    flaky = sim(TrueEdge("a", "d", first_day=20, last_day=20, schedule=Cadence("x"), per_firing=40))

    def retried(e: Evidence) -> Evidence:
        return replace(
            e,
            observed=tuple(
                replace(o, retries=o.calls - 1) if o.target.name == "d" and o.source.name == "a" else o
                for o in e.observed
            ),
        )

    assert judged(flaky, KNOWN, until=21, change=retried)["a", "CALLS", "d"] == {"provisional?"}
    assert judged(flaky, KNOWN, until=21)["a", "CALLS", "d"] == {"emerging"}
