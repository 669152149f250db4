"""The graph around a question is context: two hops, each node once, and no score knows of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from answer import graph
from nexus.model.edge import ObservedEdge
from nexus.model.service import Node, NodeKind
from nexus.testing.answering import ask, packet, service
from nexus.testing.shop import OBSERVED


def edge(source: str, target: str) -> ObservedEdge:
    ends = (Node(name, NodeKind.SERVICE, "prod") for name in (source, target))
    return replace(OBSERVED[0], rid=source + target, source=next(ends), target=next(ends))


def test_two_hops_and_each_node_is_expanded_once_also_in_a_cycle() -> None:
    edges = [edge(*ends) for ends in ("ab", "bc", "ca", "ba", "aa", "cd", "de", "ef")]
    asked: Counter[str] = Counter()

    def touching(key: str) -> list[ObservedEdge]:
        asked[key] += 1
        return [e for e in edges if key in (e.source.name, e.target.name)]

    walk = graph.neighbourhood("a", touching, lambda node: node.name, 2)
    assert {rid: hops for rid, (_, hops) in walk.edges.items()} == {
        "ab": 0,
        "ba": 0,
        "ca": 0,
        "aa": 0,
        "bc": 1,
        "cd": 1,
    }
    assert {name: hops for name, (_, hops) in walk.nodes.items()} == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert asked == {"a": 1, "b": 1, "c": 1}


def test_passages_and_their_scores_are_the_same_without_the_graph() -> None:
    request = ask("What does the fx service convert?")
    with_graph, without = (service().packet(replace(request, include_graph=given)) for given in (True, False))
    assert with_graph.edges and not without.edges
    assert with_graph.passages == without.passages != ()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("결제 서비스는 무엇을 보장하나요?", ["payment"]),
        ("결제 서비스에서의 한도는?", ["payment"]),
        ("선결제 서비스료는 얼마인가요?", []),
        ("what does prepayment mean?", []),
    ],
)
def test_names_end_where_words_do_and_particles_belong_to_none(question: str, named: list[str]) -> None:
    assert [entity.name for entity in packet(question).subjects] == named
