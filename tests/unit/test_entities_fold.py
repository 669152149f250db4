"""Names of documents, traces and people become one set of entities; decisions are applied in order and can be taken back."""

from __future__ import annotations

import random

import pytest

from designed.decisions import decide
from designed.entities import fold
from designed.entity_names import Introduction
from designed.reader import Place, RawEntity
from designed.traces import from_traces
from nexus.errors import BadQuestion, Conflict, NotFound
from nexus.model.document import Classification
from nexus.model.entity import Entity, EntityState
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.ports.entities import Action, Decision

PLACE = Place((1, 1), (1, 1), "x")


def said(
    name: str,
    kind: str = "service",
    *aliases: str,
    declares: bool = False,
    how: str = "",
    document: str = "a.md",
    namespace: str = "default",
    level=Classification.INTERNAL,
):
    attributes = {"introduced": how} if how else {}
    return Introduction(
        RawEntity(name, kind, PLACE, aliases, declares, attributes=attributes), (document,), namespace, level
    )


def declared(name: str, kind: str = "service", *aliases: str):
    return Introduction(
        RawEntity(name, kind, PLACE, aliases, True, attributes={"declared": "true"}),
        ("entities.yaml",),
        "default",
        Classification.INTERNAL,
    )


def names(entities) -> dict[str, tuple[str, ...]]:
    return {e.name: e.aliases for e in entities}


def test_a_drawn_name_joins_the_defined_one() -> None:
    found = fold(
        [
            said("cartservice", declares=True),
            said("Cart Service", how="title", document="b.md"),
            said("cart", how="table", document="c.md"),
        ]
    )
    assert set(names(found)) == {"cartservice"}
    assert found[0].evidence == ("a.md", "b.md", "c.md")


def test_two_manifests_are_two_services() -> None:
    found = fold(
        [said("order", declares=True), said("order-service", declares=True), said("Order Service", how="prose")]
    )
    assert set(names(found)) == {"order", "order-service"}
    assert Registry(found).resolve("Order Service").entity.name == "order-service"


def test_a_label_in_brackets_joins_the_store_that_runs_the_product() -> None:
    found = fold(
        [said("valkey-cart", "database", declares=True), said("Cache (Valkey)", "database", "cache", "Cache", "Valkey")]
    )
    assert set(names(found)) == {"valkey-cart"}


def test_node_ids_and_generic_words_are_no_aliases() -> None:
    (order,) = fold([said("Order Service", "service", "A", "svc1", "service", "Backend")])
    assert (order.name, order.aliases) == ("order-service", ())


def test_traces_and_documents_meet() -> None:
    nodes = [("postgresql/orders-db/orders", NodeKind.DATABASE, ""), ("shop/checkout", NodeKind.SERVICE, "prod")]
    found = fold(
        [said("orders-db", "database", declares=True), said("Checkout Service", how="title")], from_traces(nodes)
    )
    registry = Registry(found)
    assert registry.resolve("orders-db").entity.name == "postgresql/orders-db/orders"
    assert registry.resolve("checkout").entity.name == "shop/checkout"
    assert len(found) == 2


def test_a_declaration_names_the_rest() -> None:
    found = fold(
        [
            declared("fx", "service", "currency service", "환율 서비스"),
            said("Currency Service", how="title"),
            said("fx", declares=True),
        ]
    )
    assert [(e.name, e.state) for e in found] == [("fx", EntityState.DECLARED)]


def test_the_order_of_documents_does_not_matter() -> None:
    items = [
        said("cartservice", declares=True),
        said("Cart Service", how="title", document="b.md"),
        said("order", declares=True),
        said("Order Service", how="prose"),
        declared("pay", "service", "결제 서비스"),
        said("결제서비스", how="prose"),
        said("kafka", "topic"),
        said("queue (Kafka)", "topic", "queue", "Kafka"),
    ]
    expected = fold(items)
    for seed in range(20):
        shuffled = items[:]
        random.Random(seed).shuffle(shuffled)
        assert fold(shuffled) == expected


def test_a_name_of_a_restricted_document_is_restricted_until_an_open_one_says_it() -> None:
    (secret,) = fold([said("vault", level=Classification.RESTRICTED)])
    (opened,) = fold(
        [said("vault", level=Classification.RESTRICTED), said("vault", document="b.md", level=Classification.PUBLIC)]
    )
    assert (secret.attributes["classification"], opened.attributes["classification"]) == ("RESTRICTED", "PUBLIC")


def decision(number: int, action: Action, name: str, other: str = "", kind: str = "") -> Decision:
    return Decision(action, name, "ann", "because", kind, other, number)


BASE = (
    Entity("1", "billing", "service", ("bill",), state=EntityState.PROPOSED),
    Entity("2", "payment", "service", state=EntityState.DECLARED),
)


def test_a_merge_moves_names_and_a_split_moves_them_back() -> None:
    merged = decide(BASE, [decision(1, Action.MERGE, "billing", "payment")])
    assert [(e.name, e.aliases) for e in merged] == [("payment", ("bill", "billing"))]
    again = decide(
        BASE, [decision(1, Action.MERGE, "billing", "payment"), decision(2, Action.SPLIT, "payment", "billing")]
    )
    assert {e.name: e.aliases for e in again} == {"payment": ("bill",), "billing": ()}


def test_accept_reject_alias_unalias() -> None:
    found = decide(
        BASE,
        [
            decision(1, Action.ACCEPT, "bill"),
            decision(2, Action.ALIAS, "payment", "결제"),
            decision(3, Action.REJECT, "billing"),
        ],
    )
    assert {e.name: (e.state.value, e.aliases) for e in found} == {
        "billing": ("rejected", ("bill",)),
        "payment": ("declared", ("결제",)),
    }
    assert decide(found, [decision(4, Action.UNALIAS, "payment", "결제")])[1].aliases == ()


def test_accepting_a_name_that_nothing_proposes_adds_it() -> None:
    assert any(
        e.name == "ghost" and e.state is EntityState.ACCEPTED
        for e in decide(BASE, [decision(1, Action.ACCEPT, "ghost")])
    )


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (decision(1, Action.MERGE, "nobody", "payment"), NotFound),
        (decision(1, Action.MERGE, "payment", "payment"), BadQuestion),
        (decision(1, Action.ALIAS, "billing", "payment"), Conflict),
        (decision(1, Action.SPLIT, "payment", "nothing"), NotFound),
        (decision(1, Action.UNALIAS, "payment", "nothing"), NotFound),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_later_passed_over(
    made: Decision, error: type[Exception]
) -> None:
    with pytest.raises(error):
        decide(BASE, [made], strict=True)
    assert decide(BASE, [made]) == tuple(sorted(BASE, key=lambda e: (e.kind, e.name)))
