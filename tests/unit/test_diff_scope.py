"""What a sentence is about: one protocol or operation, one environment, a list of callers. Nothing is said beyond it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from diff.compare import compare
from diff.evaluate import Scenario, Score, run, scenarios, table
from diff.evidence import Evidence
from diff.lifecycle import advance, sightings
from diff.policy import Policy
from diff.simulate import TrueEdge, says
from nexus.model.claim import Modality, Via
from nexus.model.edge import Cause, DesignedEdge
from nexus.model.finding import Memory, State
from nexus.testing.drift import KNOWN, edit, judged, rows, sim

FORBIDDEN, DEPRECATED, PLANNED, EXCLUSIVE = (
    Modality.FORBIDDEN,
    Modality.DEPRECATED,
    Modality.PLANNED,
    Modality.EXCLUSIVE,
)


def asked(*causes: tuple[str, int]):
    return edit(calls=sum(n for _, n in causes), causes=tuple(Cause("q", name, n) for name, n in causes))


def test_a_rule_about_a_protocol_is_about_no_other() -> None:
    rule = says("a", "d", line=4, modality=FORBIDDEN, via=Via("http"))
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, rule])["a", "CALLS", "d"] == {"forbidden"}
    # Another protocol is documented nowhere, and not forbidden either.
    assert judged(sim(TrueEdge("a", "d", protocol="grpc")), [*KNOWN, rule])["a", "CALLS", "d"] == {"robust"}
    allowed = [*KNOWN, rule, says("a", "d", line=5, via=Via("grpc"))]
    assert judged(sim(TrueEdge("a", "d", protocol="grpc")), allowed)["a", "CALLS", "d"] == {"confirmed"}


def test_a_rule_about_an_operation_is_an_exception_and_no_contradiction() -> None:
    docs = [*KNOWN, says("a", "b", line=4, modality=FORBIDDEN, via=Via(operation="DELETE /orders"))]
    assert judged(sim(), docs, change=asked(("GET /orders", 100)))["a", "CALLS", "b"] == {"confirmed"}
    found = judged(sim(), docs, change=asked(("GET /orders", 90), ("DELETE /orders", 10)))
    assert found["a", "CALLS", "b"] == {"confirmed", "forbidden"}


def test_a_finding_cites_the_rule_and_not_the_sentence_beside_it() -> None:
    evidence = sim().evidence(60, [*KNOWN, says("a", "b", line=9, document="rules.md", modality=FORBIDDEN)])
    (finding,) = [r.finding for r in rows(evidence) if r.finding.status == "forbidden"]
    assert "rules.md, line 9 forbids it" in finding.summary


def test_an_old_protocol_that_is_gone_is_gone_though_the_new_one_lives() -> None:
    docs = [
        *KNOWN[1:],
        says("a", "b", line=4, modality=DEPRECATED, via=Via("grpc")),
        says("a", "b", line=5, via=Via("http")),
    ]
    assert judged(sim(), docs)["a", "CALLS", "b"] == {"confirmed", "deprecated"}
    assert judged(sim(), docs, change=edit(protocols={"grpc": 900, "http": 500}))["a", "CALLS", "b"] == {
        "confirmed",
        "lifecycle",
    }


def test_a_planned_protocol_is_no_finer_word_for_the_one_there_is() -> None:
    docs = [*KNOWN[1:], says("a", "b", line=4, modality=PLANNED, via=Via("grpc")), says("a", "b", line=5)]
    assert judged(sim(), docs)["a", "CALLS", "b"] == {"confirmed", "planned"}


def test_a_list_of_callers_reserves_for_all_of_them() -> None:
    only = [
        says(name, "d", line=line, modality=EXCLUSIVE, exclusivity="only_by") for line, name in enumerate(("b", "c"), 4)
    ]
    assert judged(sim(TrueEdge("b", "d")), [*KNOWN, *only])["b", "CALLS", "d"] == {"confirmed"}
    other = judged(sim(TrueEdge("b", "d"), TrueEdge("a", "d")), [*KNOWN, *only])
    assert (other["b", "CALLS", "d"], other["c", "CALLS", "d"]) == ({"confirmed"}, {"confirmed"})
    assert other["a", "CALLS", "d"] == {"only_by"}
    # Another document's rule is another rule.
    apart = [only[0], says("c", "d", line=5, document="other.md", modality=EXCLUSIVE, exclusivity="only_by")]
    found = judged(sim(TrueEdge("b", "d")), [*KNOWN, *apart])
    assert (found["b", "CALLS", "d"], found["c", "CALLS", "d"]) == ({"confirmed", "only_by"}, {"confirmed", "only_by"})


def test_who_breaks_a_rule_is_the_source_of_the_finding_with_every_rule_it_breaks() -> None:
    """Each offender once, with its own edge and both rules; none of its calls is a finding for a second time."""
    rules = [
        says("b", "d", line=line, document=name, modality=EXCLUSIVE, exclusivity="only_by")
        for line, name in enumerate(("rules.md", "policy.md"), 4)
    ]
    made = compare(sim(TrueEdge("b", "d"), TrueEdge("a", "d")).evidence(60, [*KNOWN, *rules]), Policy())
    about = [r for r in made.seen_with(made.labels) if r.finding.target.name == "d"]
    broken = {r.finding.source.name: r for r in about if r.finding.status == "only_by"}
    assert {r.finding.source.name for r in about if r.finding.status != "confirmed"} == set(broken) == {"a", "c"}
    finding = broken["a"].finding
    assert finding.observed is not None
    assert finding.designed is not None
    assert (finding.observed.source.name, finding.observed.target.name) == ("a", "d")
    assert {c.document.title for c in finding.designed.claims} == {"rules.md", "policy.md"}
    assert "reserves d for b, but a used it" in finding.summary
    # What nothing else documents counts as documented wrongly; a call that another sentence documents counts once, as that.
    assert (broken["a"].primary, broken["c"].primary) == (True, False)


def test_a_finding_of_a_rule_that_is_gone_is_resolved_and_one_of_a_rule_that_stays_is_not() -> None:
    only = says("b", "d", line=4, modality=EXCLUSIVE, exclusivity="only_by")
    policy, now = Policy(), datetime(2026, 6, 1, tzinfo=UTC)

    def states(docs: list[DesignedEdge], known: dict[str, Memory], until: int, **more: Any) -> dict[str, Memory]:
        made = compare(sim(TrueEdge("b", "d"), TrueEdge("a", "d", last_day=59), **more).evidence(until, docs), policy)
        return known | advance(known, sightings(made.rows, made.world), made, policy, now + timedelta(days=until))[0]

    known = states([*KNOWN, only], {}, 60)
    (broken,) = [f for f, m in known.items() if m.status == "only_by" and m.source == "service:a"]
    assert states(KNOWN, known, 61)[broken].state is State.RESOLVED
    lost = states([*KNOWN, only], known, 95, outages=frozenset(range(60, 95)))
    assert lost[broken].state is State.HELD


def test_any_of_two_gateways_will_do() -> None:
    rules = [
        says("any", "d", line=line, modality=EXCLUSIVE, exclusivity="only_via", gateway=gate)
        for line, gate in enumerate(("b", "c"), 4)
    ]
    assert not [
        s
        for found in judged(sim(TrueEdge("b", "d")), [*KNOWN, *rules]).values()
        for s in found
        if s.startswith("only_via")
    ]
    # A rule about whoever calls it says of nobody that he does.
    assert not any(source == "any" for source, _, _ in judged(sim(TrueEdge("b", "d")), [*KNOWN, *rules]))
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, *rules])["a", "CALLS", "d"] == {"only_via"}


def in_environments(evidence: Evidence, **of: str) -> Evidence:
    """The services in the environment that is named for them, the others in prod."""
    days = tuple(
        replace(d, service=replace(d.service, environment=of.get(d.service.name, "prod")))
        for d in evidence.service_days
    )
    edges = tuple(
        replace(e, source=replace(e.source, environment=of.get(e.source.name, "prod"))) for e in evidence.observed
    )
    return replace(evidence, service_days=days, observed=edges)


@pytest.mark.parametrize(("where", "expected"), [("staging", "not_observable"), ("prod", "absent_strong")])
def test_what_is_said_of_an_environment_is_judged_by_its_own_requests(where: str, expected: str) -> None:
    """A thousand requests a day in production say nothing of staging."""
    evidence = in_environments(sim().evidence(60, [*KNOWN, says("a", "d", line=4, environment=where)]), c="staging")
    made = compare(evidence, Policy())
    (finding,) = [
        r.finding for r in made.seen_with(made.labels) if r.finding.target.name == "d" and r.finding.source.name == "a"
    ]
    assert (finding.status, finding.reason) == (
        expected,
        "environment_out_of_scope" if expected == "not_observable" else "absent",
    )


def test_a_first_sighting_before_the_window_is_no_news() -> None:
    evidence = sim(TrueEdge("a", "d")).evidence(60, KNOWN)
    young = replace(
        evidence,
        observed=tuple(replace(e, first_seen=evidence.window_to - timedelta(days=2)) for e in evidence.observed),
    )
    assert {r.finding.status for r in rows(young) if r.finding.target.name == "d" and r.finding.source.name == "a"} == {
        "robust"
    }
    unknown = replace(young, histories={})
    assert {
        r.finding.status for r in rows(unknown) if r.finding.target.name == "d" and r.finding.source.name == "a"
    } == {"emerging"}


def scenario(name: str) -> Scenario:
    (found,) = [s for s in scenarios() if s.name.startswith(name)]
    return found


def test_the_evaluation_counts_what_the_diff_says() -> None:
    quiet = run(scenario("daily edge, 1 in 20"), 3, Policy(), step=20)
    assert (quiet.worlds, quiet.false_absent, quiet.false_new) == (3, 0, 0)
    assert quiet.edge_years == pytest.approx(3, rel=0.1)
    dead = run(scenario("never called"), 3, Policy(), step=10)
    assert (dead.missed, len(dead.detected)) == (0, 3)
    assert all(28 <= days <= 40 for days in dead.detected)
    assert run(scenario("daily edge, tail"), 2, Policy(), step=60).unexpected == 0


def test_the_evaluation_sees_a_diff_that_is_too_rash() -> None:
    rash = Policy(ceased_max=0.9, ceased_year_max=1e9, covered_days_min=1)
    score = run(scenario("bursts on one"), 4, rash, step=6)
    assert score.false_absent > 0
    assert scenario("bursts on one").over(score)
    lines = list(table(iter([(scenario("bursts on one"), score)])))
    assert f"| {score.false_absent} (at most" in lines[-1]


def test_none_wrong_in_three_hundred_edge_years_bounds_the_rate_below_one_in_a_hundred() -> None:
    assert Score(edge_years=300).false_absent_bound < 0.01 < Score(edge_years=290).false_absent_bound
    both = Score(worlds=1, edge_years=1.0, detected=[3])
    both.add(Score(worlds=2, edge_years=2.0, false_absent=1, detected=[5]))
    assert (both.worlds, both.edge_years, both.false_absent, both.detected) == (3, 3.0, 1, [3, 5])
