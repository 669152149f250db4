"""What a name of a document means in the registry."""

from __future__ import annotations

from designed.entities import fold
from designed.pipeline import designed
from designed.traces import from_traces
from nexus.model.document import DocumentRef, SourceText
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.plugins import load_plugins


def test_a_topic_is_never_the_service_of_the_same_name() -> None:
    body = "```mermaid\nflowchart LR\n  Blog[blog-service] -->|blog.*| Kafka\n```\n"
    result = designed(
        [SourceText(DocumentRef("d", "d", "d.md", "1"), body, ".md", "d.md")],
        load_plugins("designed.readers", "READER"),
    )
    assert [(c.source, c.relation, c.target) for _, _, c in result.claims] == [("blog-service", "PUBLISHES", "blog.*")]


def test_hosts_and_rpc_services_are_names_of_the_one_that_answers() -> None:
    nodes = [("cart", NodeKind.SERVICE, ""), ("orders", NodeKind.SERVICE, ""), ("shop/pay", NodeKind.SERVICE, "")]
    aliases = [
        ("cart", "shop.v1.BasketService"),
        ("cart", "basket.internal"),
        ("cart", "10.0.0.7"),
        ("cart", "localhost"),
        ("cart", "public-gateway"),
        ("cart", "shared.internal"),
        ("orders", "shared.internal"),
        ("orders", "cart"),
    ]
    made = {e.name: e.aliases for e in from_traces(nodes, ((name, NodeKind.SERVICE, alias) for name, alias in aliases))}
    assert made == {"cart": ("basket.internal", "shop.v1.BasketService"), "orders": (), "shop/pay": ("pay",)}
    (entity,) = [
        e for e in fold((), from_traces(nodes, [("cart", NodeKind.SERVICE, "basket.internal")])) if e.name == "cart"
    ]
    assert Registry([entity]).resolve("basket.internal").entity == entity


def test_what_a_service_was_seen_to_answer_to_is_no_node_beside_it() -> None:
    nodes = [
        ("basket", NodeKind.SERVICE, "prod"),
        ("shop.Cart", NodeKind.SERVICE, "prod"),
        ("cart.prod.svc", NodeKind.EXTERNAL, ""),
        ("api.example.com", NodeKind.EXTERNAL, ""),
        ("a", NodeKind.SERVICE, ""),
        ("shared.svc", NodeKind.EXTERNAL, ""),
        ("edge-gateway", NodeKind.EXTERNAL, ""),
    ]
    answered = [
        ("basket", NodeKind.SERVICE, alias) for alias in ("shop.Cart", "cart.prod.svc", "shared.svc", "edge-gateway")
    ] + [("a", NodeKind.SERVICE, "shared.svc")]
    # A caller that sees no answer calls the interface, and the host beside it.
    aliases = [("shop.Cart", NodeKind.SERVICE, "carts.internal")]
    made = {e.name: e.aliases for e in from_traces(nodes, aliases, answered)}
    assert made == {
        "basket": ("cart.prod.svc", "carts.internal", "shop.Cart"),
        "a": (),
        "api.example.com": (),
        "shared.svc": (),
        "edge-gateway": (),
    }
    registry = Registry(fold((), from_traces(nodes, aliases, answered)))
    for name in ("cart.prod.svc", "cart.prod.svc:7070", "shop.Cart"):
        assert registry.resolve(name).entity.name == "basket"


def test_a_service_that_was_also_called_without_an_answer_is_a_service() -> None:
    nodes = [("cart", NodeKind.SERVICE, "prod"), ("cart", NodeKind.EXTERNAL, "prod")]
    assert [(e.name, e.kind) for e in fold((), from_traces(nodes))] == [("cart", "service")]
