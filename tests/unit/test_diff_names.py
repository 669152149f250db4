"""Identities: aliases, hosts, groups; and the identity of a finding over time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diff.simulate import TrueEdge, says
from nexus.model.claim import Modality
from nexus.model.entity import Entity
from nexus.model.finding import Flag
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.testing.drift import KNOWN, PUBLISHES, TOPIC, edit, rows, sim


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


@pytest.mark.parametrize(
    ("name", "kind", "relation", "expected"),
    [
        ("PostgreSQL", "database", "CALLS", "confirmed"),
        ("Postgres", "service", "CALLS", "confirmed"),
        ("Redis", "database", "CALLS", "absent_strong"),
        ("Kafka", "topic", "PUBLISHES", "confirmed"),
        ("Kafka", "service", "CALLS", "confirmed"),
        ("RabbitMQ", "topic", "PUBLISHES", "absent_strong"),
        ("database", "database", "CALLS", "absent_strong"),
    ],
)
def test_a_store_or_broker_named_by_its_product_is_any_of_that_product(
    name: str, kind: str, relation: str, expected: str
) -> None:
    world = sim(
        TrueEdge("a", "postgresql/db-1.prod/orders", target_kind=NodeKind.DATABASE, protocol="postgresql"),
        TrueEdge("a", TOPIC, PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka"),
        TrueEdge("b", "redis/cache", target_kind=NodeKind.DATABASE, protocol="redis"),
    )
    evidence = world.evidence(60, [*KNOWN, says("a", name, relation, line=9, target_kind=kind)])
    named = replace(evidence, registry=Registry([*evidence.registry.entities, Entity("e:x", name, kind)]))
    found = {r.finding.status for r in rows(named) if r.finding.target.name == name}
    assert found == {expected}


def test_a_rule_about_a_product_reserves_none_of_its_stores() -> None:
    """ "Only a may use Postgres" is about the one that it means, and nobody can tell which that is."""
    world = sim(
        *(TrueEdge(n, "postgresql/db/x", target_kind=NodeKind.DATABASE, protocol="postgresql") for n in ("a", "b"))
    )
    rule = says("a", "Postgres", line=9, target_kind="database", modality=Modality.EXCLUSIVE, exclusivity="only_by")
    assert "only_by" not in {r.finding.status for r in rows(world.evidence(60, [*KNOWN, rule]))}
