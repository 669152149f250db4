"""RPC interfaces are tied to the one service that serves them, whoever names them first (observed-edges.md rule 10)."""

from __future__ import annotations

import random

import pytest

from designed.entities import fold
from designed.entity_names import Introduction
from designed.reader import Place, RawEntity
from nexus.model.document import Classification
from nexus.model.entity import Entity
from nexus.model.registry import Registry

PLACE = Place((1, 1), (1, 1), "x")


def stated(name: str, kind: str, *aliases: str, document: str = "a", namespace: str = "default") -> Introduction:
    return Introduction(
        RawEntity(name, kind, PLACE, aliases, declares=True), (document,), namespace, Classification.INTERNAL
    )


def seen(*names: str) -> list[Entity]:
    return [Entity(name, name, "service", evidence=("traces",)) for name in names]


def test_a_proto_service_is_an_alias_of_the_workload() -> None:
    items = [
        stated("cartservice", "service"),
        stated("CartService", "api", "hipstershop.CartService", document="demo.proto"),
    ]
    for _ in range(3):
        random.shuffle(items)
        registry = Registry(fold(items))
        assert [e.name for e in registry.entities] == ["cartservice"]
        assert registry.resolve("hipstershop.CartService", "service").entity.name == "cartservice"
        assert registry.resolve("CartService").entity.name == "cartservice"


def test_an_interface_in_traces_is_an_alias_of_the_service_that_is_known() -> None:
    found = fold([stated("cartservice", "service")], seen("frontend", "hipstershop.CartService"))
    assert Registry(found).resolve("hipstershop.CartService", "service").entity.name == "cartservice"
    found = fold([], seen("currencyservice", "hipstershop.CurrencyService"))
    assert Registry(found).resolve("hipstershop.CurrencyService", "service").entity.name == "currencyservice"


@pytest.mark.parametrize("services", [(), ("order", "order-service")])
def test_none_or_several_leave_it_alone(services: tuple[str, ...]) -> None:
    found = fold([stated(name, "service") for name in services], seen("shop.OrderService"))
    assert Registry(found).resolve("shop.OrderService", "service").entity.name == "shop.OrderService"


def test_a_host_is_no_interface() -> None:
    found = fold([stated("api", "service")], seen("payments.example.com"))
    assert {e.name for e in found} == {"api", "payments.example.com"}
