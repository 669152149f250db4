"""The map's layout and merging."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from api.web.graph import MapEdge, MapNode, build_graph, collapse, neighbourhood
from api.web.layout import layout
from nexus.model.claim import Claim, Modality
from nexus.model.document import DocumentRef
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Node

NAMES = st.sampled_from([f"n{i}" for i in range(12)])


@given(st.sets(NAMES), st.lists(st.tuples(NAMES, NAMES), max_size=40))
@settings(max_examples=80)
def test_every_node_has_a_place_of_its_own(nodes: set[str], edges: list[tuple[str, str]]) -> None:
    picture = layout(sorted(nodes), edges)
    assert set(picture.places) == nodes
    assert len({(p.x, p.y) for p in picture.places.values()}) == len(nodes)
    assert picture == layout(sorted(nodes, reverse=True), edges[::-1])
    points = [p for route in picture.routes.values() for p in route] + list(picture.places.values())
    assert len(set(points)) == len(points), "a long edge passes between nodes"


def test_callers_stand_left_of_what_they_call() -> None:
    places = layout(["db", "web", "api"], [("web", "api"), ("api", "db")]).places
    assert places["web"].x < places["api"].x < places["db"].x


def test_a_cycle_is_drawn() -> None:
    places = layout(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]).places
    assert len({p.x for p in places.values()}) == 3


def test_both_layers_meet_in_one_edge_by_alias() -> None:
    registry = Registry([Entity("e1", "checkout", "service", ("checkoutservice",)), Entity("e2", "fx", "service")])
    seen = ObservedEdge(
        "o1",
        Relation.CALLS_OBSERVED,
        Node("checkoutservice", environment="prod"),
        Node("fx", environment="prod"),
        calls=7,
        errors=1,
    )
    claim = Claim(
        "CALLS",
        "checkout",
        "fx",
        "service",
        "service",
        DocumentRef("d", "D", "file:///d.md", "1"),
        (1, 1),
        (1, 2),
        "q",
        "markdown",
        "r",
        0.9,
    )
    drawn = DesignedEdge("d1", Relation.CALLS, Node("checkout"), Node("fx"), claims=(claim,))
    forbidden = DesignedEdge(
        "d2", Relation.CALLS, Node("fx"), Node("checkout"), claims=(replace(claim, modality=Modality.FORBIDDEN),)
    )
    nodes, edges = build_graph([seen], [drawn, forbidden], [], registry)
    assert [(n.name, n.environment) for n in nodes] == [("checkout", "prod"), ("fx", "prod")]
    assert [(e.observed, e.designed, e.volume, e.errors) for e in edges] == [("o1", "d1", 7, 1)]


def test_a_bundle_shows_its_loudest_verdict() -> None:
    nodes = [
        MapNode("a", "s/a", "service", "", "s"),
        MapNode("b", "s/b", "service", "", "s"),
        MapNode("c", "t/c", "service", "", "t"),
    ]
    edges = [
        MapEdge("1", "a", "c", "CALLS", verdict="confirmed", volume=1),
        MapEdge("2", "b", "c", "CALLS", verdict="conflict", volume=2),
        MapEdge("3", "a", "b", "CALLS"),
    ]
    kept, merged = collapse(nodes, edges)
    assert [n.id for n in kept] == ["namespace:s", "namespace:t"]
    assert [(e.verdict, e.volume) for e in merged] == [("conflict", 3)]


def test_a_neighbourhood_ends_after_its_hops() -> None:
    nodes = [MapNode(i, i, "service", "", "") for i in "abcd"]
    edges = [MapEdge(f"{a}{b}", a, b, "CALLS") for a, b in ("ab", "bc", "cd")]
    near, kept = neighbourhood(nodes, edges, "a", 2)
    assert [n.id for n in near] == ["a", "b", "c"]
    assert [e.id for e in kept] == ["ab", "bc"]
