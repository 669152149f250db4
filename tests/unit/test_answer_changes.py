"""What changed between two ranges: an outage is no end of a dependency."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from answer.changes import compare
from nexus.model.edge import ObservedEdge, Relation
from nexus.model.service import Node, NodeKind

SINCE = datetime(2026, 6, 1, tzinfo=UTC)


def edge(target: Node, *, calls: int = 100, errors: int = 0) -> ObservedEdge:
    rid = f"{target.kind}:{target.name}"
    return ObservedEdge(
        rid, Relation.CALLS_OBSERVED, Node("a"), target, calls=calls, errors=errors, first_seen=SINCE, last_seen=SINCE
    )


ANSWERING, SILENT = edge(Node("b")), edge(Node("b", NodeKind.EXTERNAL), errors=100)


def test_a_service_that_is_down_fails_and_is_not_gone() -> None:
    (change,) = compare([ANSWERING], [SILENT], SINCE)
    assert (change.kind, change.rid, change.before, change.after) == ("errors", SILENT.rid, 0, 100)


def test_a_service_that_nobody_calls_any_more_is_gone_and_another_is_new() -> None:
    other = edge(Node("c"))
    assert [(c.kind, c.rid) for c in compare([ANSWERING], [other], SINCE)] == [
        ("gone", ANSWERING.rid),
        ("new", other.rid),
    ]
    elsewhere = replace(SILENT, source=Node("a", environment="test"))
    assert [c.kind for c in compare([ANSWERING], [elsewhere], SINCE)] == ["gone", "new"]


def test_edges_of_one_name_are_gone_each() -> None:
    assert {c.rid for c in compare([ANSWERING, SILENT], [], SINCE)} == {ANSWERING.rid, SILENT.rid}
