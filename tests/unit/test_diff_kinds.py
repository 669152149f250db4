"""Each finding kind: what makes it, and what does not. Presence, and kinds in general; absence, conflicts and promises have files of their own."""

from __future__ import annotations

import sys
from dataclasses import replace

from diff.cadence import Cadence
from diff.compare import kinds
from diff.evidence import Evidence
from diff.simulate import TrueEdge, says
from nexus.model.service import NodeKind
from nexus.testing.drift import KNOWN, judged, sim


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


def test_a_canary_stays_emerging() -> None:
    versions = {"a": ("1", "2")}
    assert judged(sim(TrueEdge("a", "d", versions=("2",)), versions=versions), KNOWN)["a", "CALLS", "d"] == {"emerging"}
    assert judged(sim(TrueEdge("a", "d", versions=("1", "2")), versions=versions), KNOWN)["a", "CALLS", "d"] == {
        "robust"
    }


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
