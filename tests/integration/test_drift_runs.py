"""Runs on PostgreSQL: stored, idempotent, cut to the reader, followed over time; an outage changes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from diff.doubles import SimulatedWorld
from diff.reader import StoredDrift
from diff.reading import Readers
from diff.run import Config, DriftRunner
from diff.simulate import Sim, TrueEdge, midnight, says
from nexus.errors import BadQuestion, NotFound, SourceUnavailable, StoreUnavailable
from nexus.model.document import Classification
from nexus.ports.drift import FindingFilter
from nexus.store.drift_finding import NOT_FOUND_NOW, page
from nexus.store.drift_run import list_runs

PUBLIC, INTERNAL, RESTRICTED = Classification
SIM = Sim(
    {"a": 1000, "b": 500, "c": 300, "d": 50},
    (TrueEdge("a", "b"), TrueEdge("b", "c", rate=0.2), TrueEdge("c", "d", first_day=35)),
)
DOCS = [
    says("a", "b", classification=PUBLIC),
    says("a", "c", line=2),
    says("b", "c", line=3, classification=RESTRICTED),
    says("c", "b", line=4, classification=RESTRICTED),
]


class World:
    def __init__(self, database, clock, sim=SIM, docs=DOCS) -> None:
        self.clock = clock
        self.clock.at = midnight(40) + timedelta(hours=9)
        self.world = SimulatedWorld(sim, docs)
        runner = DriftRunner(database, Readers(self.world, self.world, self.world), clock, Config())
        self.drift = StoredDrift(database, clock, runner)

    def run(self, **more):
        return self.drift.run("default", more.get("environment"), more.get("start"), more.get("end"))

    def report(self, clearance=RESTRICTED, **more):
        return self.drift.report(FindingFilter("default", clearance, **more))

    def statuses(self, clearance=RESTRICTED, **more):
        report = self.report(clearance, **more)
        assert report is not None
        return {(f.source.name, f.target.name): f.status for f in report.findings}


@pytest.fixture
def world(database, clock) -> World:
    return World(database, clock)


def test_nothing_is_computed_by_reading(world: World) -> None:
    assert world.report() is None
    assert world.world._reads == 0


def test_a_run_is_stored_and_read(world: World) -> None:
    info = world.run()
    assert info.window_to == midnight(40)
    assert info.window_from == midnight(12)
    report = world.report()
    assert report.run.id == info.id
    assert report.body["window_kind"] == "closed"
    assert world.statuses() == {
        ("a", "b"): "confirmed",
        ("b", "c"): "confirmed",
        ("a", "c"): "absent_strong",
        ("c", "b"): "absent_strong",
        ("c", "d"): "emerging",
    }
    assert report.totals["confirmed"] == 2
    assert report.totals["by_status"]["absent_strong"] == 2


def test_the_same_four_give_the_same_run(world: World, database) -> None:
    first = world.run()
    before = world.report()
    world.clock.at += timedelta(hours=3)
    assert world.run() == first
    assert world.report() == before
    with database.connection() as connection:
        assert len(list_runs(connection, "default", None, 10)) == 1


def test_late_spans_revise_a_run(world: World) -> None:
    first = world.run()
    world.world.sim = replace(SIM, edges=(*SIM.edges, TrueEdge("a", "c")))
    world.world._cache = None
    second = world.run()
    assert second.id == first.id
    assert world.statuses()["a", "c"] == "confirmed"


@pytest.mark.parametrize("read", range(9))
@pytest.mark.parametrize("failure", [SourceUnavailable("tempo: connection refused"), StoreUnavailable("gone")])
def test_an_outage_at_any_read_changes_nothing(world: World, database, read: int, failure) -> None:
    world.run()
    before = world.report()
    world.clock.at += timedelta(days=1)
    world.world.failure, world.world._reads, world.world.fails_after = failure, 0, read
    with pytest.raises(type(failure)):
        world.run()
    assert world.report() == before
    with database.connection() as connection:
        newest = list_runs(connection, "default", None, 10)[0]
    assert (newest.state, newest.error_code) == ("failed", failure.code)


def test_every_reader_gets_the_report_of_what_it_may_see(world: World) -> None:
    world.run()
    assert world.statuses(INTERNAL) == {
        ("a", "b"): "confirmed",
        ("b", "c"): "robust",
        ("a", "c"): "absent_strong",
        ("c", "d"): "emerging",
    }
    assert world.statuses(PUBLIC) == {("a", "b"): "confirmed", ("b", "c"): "robust", ("c", "d"): "emerging"}
    public = world.report(PUBLIC)
    assert public.totals == {
        "confirmed": 1,
        "doc_only": 0,
        "observed_only": 2,
        "conflict": 0,
        "undecided": 0,
        "by_status": {"confirmed": 1, "emerging": 1, "robust": 1},
    }
    text = repr(public.findings)
    assert "RESTRICTED" not in text
    assert "INTERNAL" not in text


def test_what_a_reader_may_not_see_cannot_be_asked_for(world: World) -> None:
    world.run()
    secret = next(f for f in world.report(RESTRICTED).findings if (f.source.name, f.target.name) == ("c", "b"))
    assert world.drift.finding(FindingFilter("default", RESTRICTED), secret.fingerprint) is not None
    for clearance in (PUBLIC, INTERNAL):
        wanted = FindingFilter("default", clearance)
        assert world.drift.finding(wanted, secret.fingerprint) is None
        with pytest.raises(NotFound):
            world.drift.steer(wanted, secret.fingerprint, "acknowledge", actor="x")
    assert world.drift.finding(FindingFilter("other", RESTRICTED), secret.fingerprint) is None
    assert world.drift.report(FindingFilter("other", RESTRICTED)) is None


def test_a_reader_of_one_namespace(database, clock) -> None:
    docs = [
        says("a", "b", namespace="pay"),
        says("a", "c", line=2, namespace="pay"),
        says("b", "c", line=3, namespace="ship"),
    ]
    world = World(database, clock, docs=docs)
    world.run()
    assert world.statuses(namespaces=("pay",)) == {
        ("a", "b"): "confirmed",
        ("a", "c"): "absent_strong",
        ("b", "c"): "robust",
        ("c", "d"): "emerging",
    }
    assert world.statuses(namespaces=("ship",)) == {
        ("a", "b"): "robust",
        ("b", "c"): "confirmed",
        ("c", "d"): "emerging",
    }
    assert world.statuses(namespaces=("none",)) == {("a", "b"): "robust", ("b", "c"): "robust", ("c", "d"): "emerging"}


def test_pages_cover_everything_once(world: World) -> None:
    world.run()
    whole = [f.fingerprint for f in world.report().findings]
    paged, cursor = [], ""
    while True:
        report = world.report(limit=2, cursor=cursor)
        paged += [f.fingerprint for f in report.findings]
        if report.next is None:
            break
        cursor = report.next
    assert paged == whole
    with pytest.raises(BadQuestion):
        world.report(cursor="nonsense")


def test_filters(world: World) -> None:
    world.run()
    assert set(world.statuses(flag="doc_only")) == {("a", "c"), ("c", "b")}
    assert set(world.statuses(entity="A")) == {("a", "b"), ("a", "c")}
    assert set(world.statuses(min_severity="high")) == {("a", "c"), ("c", "b")}
    assert set(world.statuses(state="resolved")) == {("a", "b"), ("b", "c")}
    assert world.report(flag="doc_only").totals == world.report().totals
    for wrong in ({"flag": "x"}, {"status": "x"}, {"min_severity": "x"}, {"state": "x"}):
        with pytest.raises(BadQuestion):
            world.report(**wrong)


def test_a_finding_lives_on_over_runs(world: World) -> None:
    world.run()
    fingerprint = next(f.fingerprint for f in world.report(flag="doc_only").findings if f.source.name == "a")
    everything = FindingFilter("default", RESTRICTED)
    assert world.drift.finding(everything, fingerprint).finding.state == "new"
    world.clock.at += timedelta(days=1)
    world.run()
    assert world.drift.finding(everything, fingerprint).finding.state == "open"
    with pytest.raises(BadQuestion, match="reason, owner, expires_at"):
        world.drift.steer(everything, fingerprint, "suppress", actor="kim")
    world.drift.steer(
        everything,
        fingerprint,
        "suppress",
        actor="kim",
        reason="moves soon",
        owner="team",
        expires_at=world.clock.at + timedelta(days=2),
    )
    assert world.statuses(state="suppressed") == {("a", "c"): "absent_strong"}
    world.clock.at += timedelta(days=3)
    world.run()
    assert world.drift.finding(everything, fingerprint).finding.state == "open"
    world.world.designed = [d for d in DOCS if d.target.name != "c" or d.source.name != "a"]
    world.run()
    found = world.drift.finding(everything, fingerprint)
    assert found.finding.state == "resolved"
    assert [t["to"] for t in found.transitions] == ["new", "open", "suppressed", "open", "resolved"]
    assert fingerprint not in {f.fingerprint for f in world.report().findings}
    assert fingerprint in {f.fingerprint for f in world.report(state="resolved").findings}


def test_lost_telemetry_holds_a_finding(world: World) -> None:
    world.run()
    fingerprint = next(f.fingerprint for f in world.report(flag="observed_only").findings if f.source.name == "c")
    everything = FindingFilter("default", RESTRICTED)
    world.world.sim = replace(SIM, outages=frozenset(range(40, 200)))
    world.world._cache = None
    # The edge leaves the window, because nothing at all came in.
    world.clock.at = midnight(80)
    world.run()
    found = world.drift.finding(everything, fingerprint)
    assert found.finding.state == "held"
    absent = [f for f in world.report().findings if f.status == "absent_strong"]
    assert absent == []


def test_an_observed_edge_that_stops_resolves_after_two_window_ends(world: World) -> None:
    world.world.sim = replace(
        SIM, edges=(*SIM.edges[:2], TrueEdge("c", "d", first_day=35, last_day=39), TrueEdge("c", "b", rate=0.2))
    )
    world.run()
    fingerprint = next(f.fingerprint for f in world.report(flag="observed_only").findings if f.target.name == "d")
    everything = FindingFilter("default", RESTRICTED)
    world.clock.at = midnight(68) + timedelta(hours=1)
    world.run()
    assert world.drift.finding(everything, fingerprint).finding.state != "resolved"
    world.clock.at += timedelta(days=1)
    world.run()
    assert world.drift.finding(everything, fingerprint).finding.state == "resolved"


def test_what_was_never_decided_makes_room_at_once(world: World) -> None:
    sim, world.world.sim = world.world.sim, replace(SIM, outages=frozenset(range(200)))
    world.run()
    assert world.statuses()["a", "b"] == "not_observable"
    world.world.sim, world.world._cache = sim, None
    world.clock.at += timedelta(minutes=5)
    world.run()
    assert [(f.status, f.state) for f in world.report().findings if (f.source.name, f.target.name) == ("a", "b")] == [
        ("confirmed", "resolved")
    ]


def test_what_waits_to_be_resolved_says_so(world: World) -> None:
    world.run()
    world.world.sim, world.world._cache = replace(SIM, edges=(*SIM.edges, TrueEdge("a", "c"))), None
    world.clock.at += timedelta(minutes=5)
    world.run()
    found = {f.status: f.summary for f in world.report().findings if (f.source.name, f.target.name) == ("a", "c")}
    assert set(found) == {"confirmed", "absent_strong"}
    assert found["absent_strong"].endswith(NOT_FOUND_NOW)


def test_an_older_window_does_not_turn_back_time(world: World) -> None:
    world.run()
    fingerprint = next(f.fingerprint for f in world.report(flag="doc_only").findings)
    before = world.drift.finding(FindingFilter("default", RESTRICTED), fingerprint)
    world.run(start=midnight(0), end=midnight(20))
    after = world.drift.finding(FindingFilter("default", RESTRICTED), fingerprint)
    assert after.transitions == before.transitions
    assert world.report().run.window_to == midnight(40)
    assert world.report(start=midnight(0), end=midnight(20)).run.window_to == midnight(20)


def test_a_newcomer_sees_the_running_day(world: World) -> None:
    world.clock.at = midnight(0) + timedelta(hours=10, minutes=5)
    info = world.run()
    assert info.window_to == midnight(0) + timedelta(hours=10, minutes=6)
    assert world.report().body["window_kind"] == "running"
    assert world.statuses()["a", "b"] == "confirmed"


def test_names_and_quotes_of_any_characters_are_stored_as_they_are(database, clock) -> None:
    """Rows are written as text of COPY: nothing in a name may end one, a column of it, or an array."""
    odd = 'we"ird\\n,{a}\ttab\nline\\'
    document = replace(
        says("a", odd), claims=tuple(replace(c, quote=f"a\tcalls \\N {odd}") for c in says("a", odd).claims)
    )
    world = World(database, clock, Sim({"a": 1000, odd: 50}, (TrueEdge("a", odd), TrueEdge("a", "b"))), [document])
    world.run()
    (finding,) = world.report(entity=odd).findings
    assert finding.target.name == odd
    with database.connection() as connection:
        stored = page(connection, "default", world.run().id, "", {"INTERNAL|default"}, filters={}, after=None, limit=0)
    assert document.claims[0].quote in {
        c.quote for s in stored if s.finding.designed for c in s.finding.designed.claims
    }


def test_a_status_with_the_flag_of_another_finds_nothing(world: World) -> None:
    world.run()
    assert world.statuses(status="absent_strong") == {("a", "c"): "absent_strong", ("c", "b"): "absent_strong"}
    assert world.statuses(status="absent_strong", flag="confirmed") == {}
