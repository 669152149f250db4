"""How spellings meet, and where they stop meeting."""

from __future__ import annotations

import pytest

from nexus.model.entity import Entity, EntityState
from nexus.model.names import keys, stem
from nexus.model.registry import Registry


def service(name: str, *aliases: str, kind: str = "service", **more) -> Entity:
    return Entity(f"rid-{kind}-{name}", name, kind, aliases, **more)


@pytest.mark.parametrize(
    "spelling",
    [
        "cart",
        "Cart",
        "cart-service",
        "cart_service",
        "CartService",
        "cart service",
        "cartservice",
        "Cart Service",
        "cart-svc",
        "장바구니 서비스",
        "장바구니서비스",
    ],
)
def test_spellings_of_one_service(spelling: str) -> None:
    assert Registry([service("cart", "장바구니 서비스")]).resolve(spelling).entity is not None


@pytest.mark.parametrize(
    ("spelling", "meant"),
    [("order", "order"), ("order-service", "order-service"), ("Order Service", "order-service"), ("ORDER", "order")],
)
def test_two_real_services_do_not_collapse(spelling: str, meant: str) -> None:
    found = Registry([service("order"), service("order-service")]).resolve(spelling)
    assert found.entity is not None and found.entity.name == meant


def test_a_store_is_not_its_service() -> None:
    registry = Registry([service("ledger"), service("ledger-db", kind="database")])
    assert registry.resolve("ledger-db").entity.name == "ledger-db"
    assert registry.resolve("ledger").entity.name == "ledger"
    assert stem("ledger-db") == "ledgerdb"


def test_several_meanings_stay_several_until_the_kind_or_environment_tells() -> None:
    registry = Registry(
        [
            service("orders"),
            service("orders", kind="topic"),
            service("pay", environments=("prod",)),
            Entity("p2", "pay", "service", (), environments=("dev",)),
        ]
    )
    assert {e.kind for e in registry.resolve("orders").candidates} == {"service", "topic"}
    assert registry.resolve("orders", "topic").entity.kind == "topic"
    assert registry.resolve("pay", environment="dev").entity.rid == "p2"


def test_a_namespace_prefix_and_an_address_are_the_same_service() -> None:
    registry = Registry([service("cart")])
    assert registry.resolve("shop/cart").entity.name == "cart"
    assert registry.resolve("cart.shop.svc.cluster.local").entity.name == "cart"
    assert registry.resolve("cart:8080").entity.name == "cart"
    assert registry.resolve("cart.example.com").entity is None


def test_a_product_means_the_one_store_that_runs_it() -> None:
    one = Registry([service("cart-redis", kind="database")])
    two = Registry([service("cart-redis", kind="database"), service("session-redis", kind="database")])
    assert one.resolve("Redis").entity.name == "cart-redis"
    assert two.resolve("Redis").entity is None
    assert len(two.resolve("Redis").candidates) == 2


def test_a_declared_name_wins_over_a_proposed_one_and_a_rejected_one_is_never_found() -> None:
    registry = Registry(
        [
            service("pay", "billing"),
            Entity("p", "billing", "service", state=EntityState.PROPOSED),
            Entity("r", "web", "service", state=EntityState.REJECTED),
        ]
    )
    assert registry.resolve("billing").entity.name == "pay"
    assert registry.resolve("web").entity is None
    assert registry.mentions("the web service") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The order service calls payment.", ["order service", "payment"]),
        ("Listed in alphabetical order.", []),
        ("At the border of the form.", []),
        ("Place an order now.", []),
        ("`order` and order-history", ["order"]),
        ("order.created goes on", ["order.created"]),
        ("The order_id and /order/7 and OrderForm.", []),
        ("What does payment call?", ["payment"]),
        ("주문서비스가 결제 서비스를 호출한다", ["주문서비스", "결제 서비스"]),
        ("주문이 접수되면 결제가 진행된다", []),
        ("payment에서 order-service로", ["payment", "order-service"]),
        ("Order Service (checkout) and Payment", ["Order Service", "Payment"]),
    ],
)
def test_mentions(text: str, found: list[str]) -> None:
    registry = Registry(
        [service("order", "주문 서비스"), service("payment", "결제 서비스"), service("order.created", kind="topic")]
    )
    assert [text[m.start : m.end] for m in registry.mentions(text)] == found


def test_the_longest_name_wins() -> None:
    registry = Registry([service("order"), service("order-history")])
    (mention,) = registry.mentions("The order history service is down.")
    assert mention.resolution.entity.name == "order-history"


def test_keys_go_from_strict_to_loose() -> None:
    assert keys("Order Service") == ("order service", "order-service", "orderservice", "order")
