"""Identities: aliases, hosts, groups; and the identity of a finding over time."""

from __future__ import annotations

from dataclasses import replace

from diff.simulate import TrueEdge, says
from nexus.model.entity import Entity
from nexus.model.finding import Flag
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.testing.drift import KNOWN, edit, rows, sim


def test_an_alias_is_never_both_dead_and_a_shadow() -> None:
    host = sim(TrueEdge("a", "pay.internal.example", target_kind=NodeKind.EXTERNAL))
    docs = [*KNOWN, says("a", "payments", line=4)]
    entities = [*host.entities(), Entity("e:p", "payments", "service", aliases=("pay.internal.example",))]
    evidence = replace(host.evidence(60, docs), registry=Registry(entities))
    found = {(r.finding.source.name, r.finding.target.name): r.finding.status for r in rows(evidence)}
    assert found["a", "payments"] == "confirmed"
    assert ("a", "pay.internal.example") not in found


def test_a_database_joins_by_its_host() -> None:
    data = sim(TrueEdge("a", "postgresql/orders-db.prod/orders", target_kind=NodeKind.DATABASE, protocol="postgresql"))
    docs = [*KNOWN, says("a", "orders-db", line=4, target_kind="database")]
    entities = [e for e in data.entities() if e.kind == "service"] + [Entity("e:o", "orders-db", "database")]
    evidence = replace(data.evidence(60, docs), registry=Registry(entities))
    assert {(r.finding.target.name): r.finding.status for r in rows(evidence) if r.finding.source.name == "a"} == {
        "b": "confirmed",
        "orders-db": "confirmed",
    }


def test_a_group_is_satisfied_by_any_member() -> None:
    docs = [*KNOWN, says("a", "backend", line=4)]
    evidence = sim().evidence(60, docs)
    registry = Registry([*sim().entities(), Entity("e:g", "backend", "service", members=("b", "d"))])
    assert {
        r.finding.status for r in rows(replace(evidence, registry=registry)) if r.finding.target.name == "backend"
    } == {"confirmed"}


def test_an_alias_on_the_edge_joins_the_entity() -> None:
    docs = [*KNOWN, says("a", "currency", line=4)]
    evidence = edit(aliases=("hipstershop.Currency",))(sim().evidence(60, docs))
    registry = Registry([*sim().entities(), Entity("e:c", "currency", "service", aliases=("hipstershop.Currency",))])
    assert {
        r.finding.status for r in rows(replace(evidence, registry=registry)) if r.finding.target.name == "currency"
    } == {"confirmed"}


def test_fingerprints_hold_no_counts_dates_or_lines() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    moved = [
        replace(d, claims=tuple(replace(c, lines=(c.lines[0] + 30, c.lines[1] + 30)) for c in d.claims)) for d in docs
    ]
    one, two = rows(sim().evidence(40, docs)), rows(sim(seed=7).evidence(60, moved))
    assert {r.finding.fingerprint for r in one} == {r.finding.fingerprint for r in two}


def test_drift_comes_before_what_is_confirmed() -> None:
    found = rows(sim(TrueEdge("a", "d")).evidence(60, KNOWN))
    assert found[0].finding.flag is Flag.OBSERVED_ONLY
    assert found[-1].finding.rank == 0.0
