"""When nothing was seen: what absence takes, and why it may not be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diff.cadence import Cadence
from diff.evidence import Evidence
from diff.policy import Policy
from diff.rhythm import rhythm
from diff.simulate import Sim, TrueEdge, midnight, says
from diff.world import World
from nexus.model.claim import Modality, Quantity, Via
from nexus.model.edge import DesignedEdge
from nexus.model.service import NodeKind, ServiceDay
from nexus.testing.drift import BUSY, KNOWN, SUBSCRIBES, judged, rows, sim


def test_absence_is_strong_at_28_days_and_not_at_27() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    assert judged(sim(), docs, until=28)["a", "CALLS", "d"] == {"absent_strong"}
    assert judged(sim(), docs, until=27)["a", "CALLS", "d"] == {"absent_weak?"}


def test_absence_needs_three_times_the_requests() -> None:
    quiet = Sim({"a": 149, "b": 100, "d": 10}, (TrueEdge("a", "b", rate=0.5),))
    docs = [says("a", "b"), says("a", "d", line=2)]
    finding = next(r.finding for r in rows(quiet.evidence(60, docs)) if r.finding.target.name == "d")
    assert finding.status == "absent_weak"
    assert finding.exposure is not None
    assert finding.exposure.opportunities == 149 * 60
    assert "more requests" in finding.what_would_change_this
    assert judged(replace(quiet, requests={"a": 151, "b": 100, "d": 10}), docs)["a", "CALLS", "d"] == {"absent_strong"}


def test_both_bounds_are_said_in_words() -> None:
    finding = next(
        r.finding
        for r in rows(sim().evidence(28, [*KNOWN, says("a", "d", line=4)]))
        if r.finding.target.name == "d" and r.finding.source.name == "a"
    )
    assert "rules out more than 1 call in 9,3" in finding.summary
    assert "activity on more than 1 day in 9" in finding.summary
    assert finding.exposure is not None
    assert finding.exposure.covered_days == 28
    assert finding.what_would_change_this


@pytest.mark.parametrize(
    ("reason", "world", "doc"),
    [
        ("source_unmapped", sim(), says("nobody", "b", line=9)),
        ("source_unseen", Sim({**BUSY, "mute": 0}, (TrueEdge("a", "b"),)), says("mute", "b", line=9)),
        ("no_instrumentation_for_protocol", sim(), says("a", "d", line=9, via=Via("grpc"))),
        ("no_instrumentation_for_protocol", sim(), says("a", "ledger", line=9, target_kind="database")),
        (
            "no_exposure",
            sim(TrueEdge("b", "kafka/x", SUBSCRIBES, target_kind=NodeKind.TOPIC)),
            says("c", "kafka/quiet", "SUBSCRIBES", line=9, target_kind="topic"),
        ),
        ("target_unresolvable", sim(), says("a", "somewhere", line=9)),
        (
            "target_unresolvable",
            sim(TrueEdge("a", "edge-proxy.internal", target_kind=NodeKind.EXTERNAL)),
            says("a", "d", line=9),
        ),
        ("sampling_biased", sim(sampling="tail"), says("a", "d", line=9)),
        ("pipeline_gap", sim(outages=frozenset(range(10, 50))), says("a", "d", line=9)),
        ("condition_never_exercised", sim(), says("a", "d", line=9, modality=Modality.CONDITIONAL)),
        (
            "cadence_exceeds_window",
            sim(sampling="head", keep=0.01),
            says("a", "d", line=9, quantities=(Quantity("schedule", text="0 2 * * *"),)),
        ),
    ],
)
def test_not_observable_says_why(reason: str, world: Sim, doc: DesignedEdge) -> None:
    finding = next(
        r.finding
        for r in rows(world.evidence(60, [*KNOWN, doc]))
        if r.finding.designed is not None and r.finding.designed.claims[0].lines == (9, 9)
    )
    assert (finding.status, finding.reason, finding.undecided) == ("not_observable", reason, True)
    assert finding.what_would_change_this


def test_another_environment_is_out_of_scope() -> None:
    doc = says("a", "d", line=9)
    doc = replace(doc, claims=tuple(replace(c, environment="staging") for c in doc.claims))
    evidence = replace(sim().evidence(60, [*KNOWN, doc]), environment="prod")
    finding = next(r.finding for r in rows(evidence) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert (finding.status, finding.reason) == ("not_observable", "environment_out_of_scope")


def test_unknown_sampling_decides_no_absence() -> None:
    finding = next(
        r.finding
        for r in rows(sim(sampling="unknown").evidence(60, [*KNOWN, says("a", "d", line=4)]))
        if r.finding.target.name == "d" and r.finding.source.name == "a"
    )
    assert (finding.status, finding.reason) == ("absent_weak", "sampling_unknown")
    assert judged(sim(sampling="unknown"), [*KNOWN, says("a", "d", line=4)], sampling="none")["a", "CALLS", "d"] == {
        "absent_strong"
    }


def test_a_daily_job_under_one_percent_names_the_ratio_that_would_do() -> None:
    doc = says("a", "d", line=9, quantities=(Quantity("schedule", text="every night at 02:00"),))
    finding = next(
        r.finding
        for r in rows(sim(sampling="head", keep=0.01).evidence(60, [*KNOWN, doc]))
        if r.finding.target.name == "d" and r.finding.source.name == "a"
    )
    assert finding.reason == "cadence_exceeds_window"
    assert "a sampling ratio of 1" in finding.what_would_change_this
    assert judged(sim(), [*KNOWN, doc])["a", "CALLS", "d"] == {"absent_strong"}


def test_ceased_has_the_date_and_follows_the_rhythm() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", last_day=56))
    assert judged(stopped, docs, until=58)["a", "CALLS", "d"] == {"confirmed"}
    suspected = next(r.finding for r in rows(stopped.evidence(59, docs)) if r.finding.status == "ceased")
    assert suspected.undecided
    assert suspected.what_would_change_this == "one more sighting; for a decision: 2 more silent days"
    finding = next(r.finding for r in rows(stopped.evidence(61, docs)) if r.finding.status == "ceased")
    assert not finding.undecided
    assert finding.details["last_active"] == midnight(56).date().isoformat()


@pytest.mark.parametrize(("active", "silent", "decided"), [(90, 2, 3), (30, 19, 34), (13, 56, 95)])
def test_a_rhythm_explains_so_many_silent_days(active: int, silent: int, decided: int) -> None:
    world = World(sim().evidence(160, KNOWN, history=160), Policy())

    def judge(days: int) -> tuple[bool, bool]:
        # Evenly spread over 90 days, then silence.
        found = rhythm(
            sum(1 << day for day in range(89, 89 - active * (90 // active), -(90 // active))),
            (1 << (90 + days)) - 1,
            world,
        )
        assert found is not None
        return found.ceased(world), not found.missing(world)

    assert [judge(silent - 1)[0], judge(silent)[0], judge(decided - 1)[1], judge(decided)[1]] == [
        False,
        True,
        False,
        True,
    ]


def test_a_young_rhythm_is_not_known() -> None:
    world = World(sim().evidence(160, KNOWN, history=160), Policy())
    found = rhythm((1 << 10) - 1, (1 << 35) - 1, world)
    assert found is not None
    assert (found.ceased(world), found.missing(world)) == (True, 3)


def test_an_edge_that_has_paused_as_long_before_is_not_called_dead() -> None:
    world = World(sim().evidence(160, KNOWN, history=160), Policy())
    campaign = ((1 << 10) - 1) | (((1 << 10) - 1) << 50)
    assert not campaign >> 60
    early, late = (rhythm(campaign, (1 << (60 + silent)) - 1, world) for silent in (40, 41))
    assert early is not None
    assert late is not None
    assert (early.ceased(world), early.pause, early.missing(world)) == (True, 40, 1)
    assert (late.ceased(world), late.missing(world)) == (True, 0)


def thinned(since: int, share: float, loose: int = 0):
    """From a day on a share of a's requests is seen, and more of its calls name no target."""

    def change(evidence: Evidence) -> Evidence:
        def made(day: ServiceDay) -> ServiceDay:
            if day.service.name != "a" or day.day < midnight(since).date():
                return day
            return replace(
                day,
                entry_spans=int(day.entry_spans * share),
                exits={name: count + loose for name, count in day.exits.items()},
            )

        return replace(evidence, service_days=tuple(map(made, evidence.service_days)))

    return change


def test_less_sampling_explains_a_silence() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", rate=0.01, last_day=56))
    assert judged(stopped, docs, until=61)["a", "CALLS", "d"] == {"ceased"}
    assert judged(stopped, docs, until=61, change=thinned(57, 0.05))["a", "CALLS", "d"] == {"confirmed"}
    assert judged(stopped, docs, until=77, change=thinned(57, 0.05))["a", "CALLS", "d"] == {"ceased"}
    assert judged(
        sim(TrueEdge("a", "d", rate=0.003, last_day=56)),
        docs,
        until=88,
        change=thinned(57, 0.05),
        opportunities_per_day_min=5,
    )["a", "CALLS", "d"] == {"absent_weak?"}


def test_calls_without_a_target_may_be_those_that_are_missed() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", rate=0.05, last_day=56))
    assert judged(stopped, docs, until=61, change=thinned(57, 1, loose=10))["a", "CALLS", "d"] == {"ceased"}
    assert judged(stopped, docs, until=61, change=thinned(57, 1, loose=45))["a", "CALLS", "d"] == {"confirmed"}
    finding = next(
        r.finding
        for r in rows(thinned(57, 1, loose=45)(stopped.evidence(86, docs)))
        if r.finding.target.name == "d" and r.finding.source.name == "a"
    )
    assert (finding.status, finding.reason) == ("not_observable", "target_unresolvable")
    assert "45 calls a day of a name no target (0 before)" in finding.summary


def test_a_day_that_was_not_read_is_not_silent() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", last_day=56), outages=frozenset({57, 58, 59}))
    assert judged(stopped, docs, until=60)["a", "CALLS", "d"] == {"confirmed"}


@pytest.mark.parametrize(
    ("modality", "status"),
    [(Modality.PLANNED, "planned"), (Modality.DEPRECATED, "deprecated"), (Modality.HISTORICAL, "deprecated")],
)
def test_documents_that_do_not_expect_it(modality: Modality, status: str) -> None:
    doc = says("a", "d", line=4, modality=modality)
    assert judged(sim(), [*KNOWN, doc])["a", "CALLS", "d"] == {status}
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, doc])["a", "CALLS", "d"] == {"lifecycle"}


def test_what_was_seen_before_the_window_is_never_absent_within_its_rhythm() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    weekly = sim(TrueEdge("a", "d", schedule=Cadence("weekly", every=7, weekday=0), last_day=55))
    finding = next(
        r.finding
        for r in rows(weekly.evidence(88, docs, window=28))
        if r.finding.target.name == "d" and r.finding.source.name == "a"
    )
    assert (finding.status, finding.reason) == ("absent_weak", "silent_within_rhythm")
    assert "last seen on 2026-02-23" in finding.summary
