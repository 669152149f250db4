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
    result = designed([SourceText(DocumentRef("d", "d", "d.md", "1"), body, ".md", "d.md")], load_plugins("designed.readers", "READER"))
    assert [(c.source, c.relation, c.target) for _, _, c in result.claims] == [("blog-service", "PUBLISHES", "blog.*")]


def test_hosts_and_rpc_services_are_names_of_the_one_that_answers() -> None:
    nodes = [("cart", NodeKind.SERVICE, ""), ("orders", NodeKind.SERVICE, ""), ("shop/pay", NodeKind.SERVICE, "")]
    aliases = [
        ("cart", "shop.v1.BasketService"), ("cart", "basket.internal"), ("cart", "10.0.0.7"), ("cart", "localhost"), ("cart", "public-gateway"),
        ("cart", "shared.internal"), ("orders", "shared.internal"), ("orders", "cart"),
    ]
    made = {e.name: e.aliases for e in from_traces(nodes, ((name, NodeKind.SERVICE, alias) for name, alias in aliases))}
    assert made == {"cart": ("basket.internal", "shop.v1.BasketService"), "orders": (), "shop/pay": ("pay",)}
    (entity,) = [e for e in fold((), from_traces(nodes, [("cart", NodeKind.SERVICE, "basket.internal")])) if e.name == "cart"]
    assert Registry([entity]).resolve("basket.internal").entity == entity
