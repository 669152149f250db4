"""Sentences of the contract (drift.md) that are about several kinds at once: order of reasons, exposure, sampling, support."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from diff import stats, totals
from diff.cadence import Cadence
from diff.evidence import Evidence
from diff.kinds._common import support
from diff.policy import Policy, config_hash
from diff.simulate import Sim, TrueEdge, says
from diff.world import World
from nexus.model.claim import Modality, Quantity, Via
from nexus.model.edge import Cause, DesignedEdge
from nexus.model.finding import Finding
from nexus.model.service import NodeKind, ServiceDay
from nexus.testing.drift import BUSY, KNOWN, PUBLISHES, SUBSCRIBES, TOPIC, Edit, edit, judged, rows, sim

NIGHTLY = (Quantity("schedule", text="0 2 * * *"),)
OUTAGE = frozenset(range(30, 60))


def only(evidence: Evidence, source: str = "a", target: str = "d") -> Finding:
    """The one finding between two nodes."""
    (finding,) = [
        r.finding for r in rows(evidence) if (r.finding.source.name, r.finding.target.name) == (source, target)
    ]
    return finding


def of_environment(doc: DesignedEdge, environment: str) -> DesignedEdge:
    return replace(doc, claims=tuple(replace(c, environment=environment) for c in doc.claims))


# Section 2: of several reasons why nothing could have been seen the first is given.


@pytest.mark.parametrize(
    ("reason", "world", "doc"),
    [
        ("source_unmapped", sim(sampling="tail"), says("nobody", "somewhere", via=Via("grpc"))),
        ("source_unseen", Sim({**BUSY, "mute": 0}, (TrueEdge("a", "b"),), sampling="tail"), says("mute", "somewhere")),
        ("no_exposure", sim(sampling="tail"), says("c", "kafka/quiet", "SUBSCRIBES", target_kind="topic")),
        ("no_instrumentation_for_protocol", sim(sampling="tail"), says("a", "somewhere", via=Via("grpc"))),
        ("target_unresolvable", sim(sampling="tail"), says("a", "somewhere")),
        ("sampling_biased", sim(sampling="tail", outages=OUTAGE), says("a", "d", quantities=NIGHTLY)),
        ("pipeline_gap", sim(sampling="head", keep=0.1, outages=OUTAGE), says("a", "d", quantities=NIGHTLY)),
        ("cadence_exceeds_window", sim(sampling="head", keep=0.01), says("a", "d", quantities=NIGHTLY)),
        ("environment_out_of_scope", sim(), says("a", "d", modality=Modality.CONDITIONAL)),
    ],
)
def test_of_several_reasons_the_first_is_given(reason: str, world: Sim, doc: DesignedEdge) -> None:
    """Each of these also fails for a reason further down the list of the contract."""
    elsewhere = doc if reason in ("source_unmapped", "source_unseen") else of_environment(doc, "staging")
    docs = [*KNOWN, elsewhere]
    evidence = replace(world.evidence(90, docs), environment="" if elsewhere is doc else "prod")
    evidence = replace(
        evidence,
        service_days=tuple(
            replace(s, service=replace(s.service, environment="staging" if elsewhere is not doc else ""))
            for s in evidence.service_days
        ),
    )
    finding = only(evidence, doc.source.name, doc.target.name)
    assert (finding.status, finding.reason) == ("not_observable", reason)


def test_a_schedule_that_unread_days_hide_is_a_gap_and_one_that_sampling_hides_is_not() -> None:
    """With the lost nights 90 firings would decide at a tenth of the traces; of a hundredth of them no history would."""
    docs = [*KNOWN, says("a", "d", line=9, quantities=NIGHTLY)]
    gap = only(sim(sampling="head", keep=0.1, outages=OUTAGE).evidence(90, docs))
    assert gap.reason == "pipeline_gap"
    assert gap.summary.startswith("a calls d could not have been seen (undecided): 30 of the days could not be read")
    assert "in the rest 60 scheduled firings" in gap.summary
    assert gap.what_would_change_this == "read the missing ranges again"
    assert only(sim(sampling="head", keep=0.1).evidence(90, docs)).status == "absent_strong"
    thin = only(sim(sampling="head", keep=0.01, outages=OUTAGE).evidence(90, docs))
    assert thin.reason == "cadence_exceeds_window"


# Section 3: exposure.


def test_a_day_is_covered_by_ten_requests_and_not_by_nine() -> None:
    docs = [says("a", "b"), says("a", "d", line=2)]
    found = {
        count: only(Sim({"a": count, "b": 9, "d": 9}, (TrueEdge("a", "b", rate=1.0),)).evidence(60, docs)).exposure
        for count in (9, 10)
    }
    assert [(n, x and (x.opportunities, x.covered_days)) for n, x in found.items()] == [(9, (540, 0)), (10, (600, 60))]


def test_the_opportunities_of_a_subscription_are_the_messages_on_its_channel() -> None:
    published = TrueEdge("a", TOPIC, PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3)
    other = TrueEdge("c", "kafka/other", SUBSCRIBES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3)
    docs = [*KNOWN, says("c", TOPIC, "SUBSCRIBES", line=4, target_kind="topic")]
    evidence = sim(published, other).evidence(60, docs)
    finding = only(evidence, "c", TOPIC)
    assert finding.status == "absent_strong"
    assert finding.exposure is not None
    assert finding.exposure.opportunities == evidence.histories[published.rid].messages < 400 * 60


def test_exposure_goes_back_ninety_days_and_no_further_than_that() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    for until, days in ((60, 60), (140, 90)):
        exposure = only(sim().evidence(until, docs, window=28)).exposure
        assert exposure is not None
        assert (exposure.covered_days, exposure.opportunities) == (days, 1000 * days)


def test_detection_is_the_lower_bound_of_what_is_resolved_and_widens_the_bound() -> None:
    def resolved(share: float) -> Edit:
        def made(day: ServiceDay) -> ServiceDay:
            return replace(day, exits_resolved={name: int(n * share) for name, n in day.exits.items()})

        return lambda e: replace(e, service_days=tuple(map(made, e.service_days)))

    docs = [*KNOWN, says("a", "d", line=4)]
    evidence = resolved(0.75)(sim().evidence(60, docs))
    total = sum(n for s in evidence.service_days if s.service.name == "a" for n in s.exits.values())
    known = sum(n for s in evidence.service_days if s.service.name == "a" for n in s.exits_resolved.values())
    exposure = only(evidence).exposure
    assert exposure is not None
    assert exposure.detection == round(stats.share_lower(known, total, 0.05), 4)
    assert exposure.detection < known / total < 0.75
    assert exposure.rate_upper == pytest.approx(3 / (60_000 * exposure.detection), rel=0.01)
    finding = only(resolved(0.4)(sim().evidence(60, docs)))
    assert (finding.status, finding.reason) == ("not_observable", "target_unresolvable")


def test_tail_sampling_keeps_presence() -> None:
    world = sim(TrueEdge("a", "d"), sampling="tail")
    assert judged(world, KNOWN) == {
        ("a", "CALLS", "b"): {"confirmed"},
        ("b", "CALLS", "c"): {"confirmed"},
        ("c", "CALLS", "d"): {"confirmed"},
        ("a", "CALLS", "d"): {"robust"},
    }
    rule = says("a", "d", line=4, modality=Modality.FORBIDDEN)
    assert judged(world, [*KNOWN, rule])["a", "CALLS", "d"] == {"forbidden"}


@pytest.mark.parametrize(
    ("sampling", "status"),
    [("none", "ceased"), ("head", "ceased"), ("tail", "not_observable?"), ("unknown", "ceased?")],
)
def test_a_silence_is_no_end_where_nobody_knows_what_was_kept(sampling: str, status: str) -> None:
    """Absence is not decided under unknown sampling: a tail sampler that drops what is quick and whole makes the same silence."""
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", rate=0.3, last_day=40), sampling=sampling)
    assert judged(stopped, docs, until=88)["a", "CALLS", "d"] == {status}
    if status == "ceased?":
        change = only(stopped.evidence(88, docs)).what_would_change_this
        assert change.startswith("one more sighting; for a decision: say how traces are sampled")


def test_every_absence_says_what_would_change_it() -> None:
    silent = sim(TrueEdge("a", "c", last_day=40), TrueEdge("b", "d", schedule=Cadence("once"), last_day=0))
    docs = [*KNOWN, says("a", "c", line=4), says("a", "d", line=5), says("b", "d", line=6), says("nobody", "d", line=7)]
    docs += [says("d", "a", line=8, modality=Modality.PLANNED), says("d", "b", line=9, modality=Modality.DEPRECATED)]
    for world in (silent, replace(silent, sampling="tail"), replace(silent, sampling="unknown")):
        absent = [r.finding for r in rows(world.evidence(88, docs)) if r.finding.flag == "doc_only"]
        assert len(absent) >= 5
        assert [f.status for f in absent if not f.what_would_change_this] == []


# Section 4: presence.


def test_probes_alone_decide_nothing() -> None:
    """They are no undocumented dependency, break no rule for sure, and what is documented is only likely to be meant by them."""
    probes = sim(TrueEdge("a", "d", infrastructure=True))
    assert ("a", "CALLS", "d") not in judged(probes, KNOWN)
    rule = says("a", "d", line=4, modality=Modality.FORBIDDEN)
    broken = only(probes.evidence(60, [*KNOWN, rule]))
    assert (broken.status, broken.undecided) == ("forbidden", True)
    assert "2 independent sightings (instance x hour), there are 0" in broken.what_would_change_this
    meant = only(probes.evidence(60, [*KNOWN, says("a", "d", line=4)])).summary
    assert meant.startswith("a calls d, as documented (likely)")
    # Nor do they turn an arrow, or a message into a call.
    turned, answered = [*KNOWN, says("d", "a", line=4)], TrueEdge("d", "c")
    assert judged(sim(TrueEdge("a", "d", infrastructure=True), answered), turned)["d", "CALLS", "a"] == {
        "absent_strong"
    }
    assert judged(sim(TrueEdge("a", "d"), answered), turned)["d", "CALLS", "a"] == {"direction"}
    by_event = [*KNOWN, says("a", "d", line=4, via=Via("event"))]
    assert judged(probes, by_event)["a", "CALLS", "d"] == {"not_observable?"}
    assert judged(sim(TrueEdge("a", "d")), by_event)["a", "CALLS", "d"] == {"sync_vs_async"}


@dataclass(frozen=True)
class Check(TrueEdge):
    """A health check: an edge of its own beside the traffic of the same two."""

    infrastructure: bool = True

    @property
    def rid(self) -> str:
        return f"{self.source}>{self.target}, checks"


def test_health_checks_hide_no_end_of_the_traffic() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", rate=0.3, last_day=56), Check("a", "d", rate=0.5))
    assert judged(stopped, docs, until=58)["a", "CALLS", "d"] == {"confirmed"}
    assert judged(stopped, docs, until=64)["a", "CALLS", "d"] == {"ceased"}
    assert judged(stopped, docs, until=88)["a", "CALLS", "d"] == {"ceased"}
    assert judged(sim(TrueEdge("a", "d"), Check("a", "d")), docs)["a", "CALLS", "d"] == {"confirmed"}


def test_what_was_not_seen_yet_is_estimated_beside_what_was() -> None:
    """Good-Turing and Chao1 over sightings: two edges seen once, one seen twice, one often."""
    edges = [
        replace(e, support=replace(e.support, instance_hours=n))
        for e, n in zip(sim(TrueEdge("a", "d")).evidence(60, KNOWN).observed, (1, 1, 2, 40), strict=True)
    ]
    found = totals.unseen(edges)
    assert found == {
        "edges_seen": 4,
        "edges_unseen_chao1": 0.5,
        "next_sighting_is_new_good_turing": round(2 / 44, 6),
    }


# Section 5: a conflict needs confirmed ends and a strong contrary observation.


def test_a_conflict_with_an_end_that_nothing_places_is_undecided_and_says_so() -> None:
    evidence = sim(TrueEdge("a", "d")).evidence(60, KNOWN)
    world = World(evidence, Policy())
    edges = [e for e in evidence.observed if (e.source.name, e.target.name) == ("a", "d")]
    ends = [world.names.designed(name, "service") for name in "ad"]
    assert support(ends, edges, world) == ""
    for nobody in (world.names.designed("nobody", "service"), replace(ends[1], mapped=False)):
        assert support((ends[0], nobody), edges, world) == "both ends placed in the registry and seen in traces"


@pytest.mark.parametrize(
    ("sampling", "forth", "back"),
    [
        ("none", "direction", None),
        ("tail", "not_observable?", "robust"),
        ("unknown", "ceased?", "robust"),
    ],
)
def test_a_direction_that_has_turned_is_one_finding_where_it_is_decided(
    sampling: str, forth: str, back: str | None
) -> None:
    """c called b until it ceased, and b calls c; else it is told by its two sides."""
    world = sim(TrueEdge("c", "b", rate=0.3, last_day=40), sampling=sampling)
    found = judged(world, [*KNOWN[:1], says("c", "b", line=2), *KNOWN[2:]], until=88)
    assert found["c", "CALLS", "b"] == {forth}
    assert found.get(("b", "CALLS", "c")) == ({back} if back else None)


@pytest.mark.parametrize("modality", [Modality.PLANNED, Modality.DEPRECATED])
def test_one_sighting_decides_no_stage_of_life(modality: Modality) -> None:
    once = sim(TrueEdge("a", "d", first_day=59, last_day=59, schedule=Cadence("once")))
    assert judged(once, [*KNOWN, says("a", "d", line=4, modality=modality)])["a", "CALLS", "d"] == {"lifecycle?"}


def test_a_write_on_a_read_only_edge_is_cited_with_its_span() -> None:
    docs = [says("a", "b", quantities=(Quantity("read_only"),)), *KNOWN[1:]]
    evidence = edit(causes=(Cause("x", "SELECT orders", 9), Cause("x", "INSERT orders", 1)))(sim().evidence(60, docs))
    (finding,) = [r.finding for r in rows(evidence) if r.finding.status == "read_only"]
    assert finding.observed is not None
    cited = [{"trace_id": x.trace_id, "span_id": x.span_id} for x in finding.observed.exemplars]
    assert cited
    assert finding.details["exemplars"] == cited


# Section 1: what makes two runs the same.


def test_every_threshold_is_part_of_the_configuration() -> None:
    """The hash is of all of them: one that changed and did not show would give two reports under one name."""
    plain, hashes = Policy(), set()
    for name in Policy.__dataclass_fields__:
        value = getattr(plain, name)
        other = not value if isinstance(value, bool) else "head" if isinstance(value, str) else value + 1
        hashes.add(config_hash(replace(plain, **{name: other})))
    assert len({config_hash(plain), *hashes}) == 1 + len(Policy.__dataclass_fields__)
