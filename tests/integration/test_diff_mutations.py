"""Mutations of real documents (drift.md section 8.2): one edge deleted, added, flipped, retargeted or relabelled is found, and the untouched documents give nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from designed.pipeline import designed
from diff.compare import compare
from diff.policy import Policy
from diff.simulate import Sim, TrueEdge
from nexus.model.document import DocumentRef, SourceText
from nexus.model.edge import Relation
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.plugins import load_plugins

DIAGRAM = """# Shop

```mermaid
flowchart LR
    web[web] -->|HTTP| catalog
    web -->|HTTP| cart
    web -->|HTTP| checkout
    checkout -->|gRPC| payment
    checkout -->|gRPC| fx
    payment -->|HTTP| fraud
```
"""
PROSE = """# Shop services

The web service calls the catalog service over HTTP. The web service calls the cart service over HTTP.
The web service calls the checkout service over HTTP.

## Behind the checkout

The checkout service calls the payment service over gRPC.
The checkout service calls the fx service over gRPC.
The payment service calls the fraud service over HTTP.
"""
PLANTUML = """@startuml
component web
component catalog
component cart
component checkout
component payment
component fx
component fraud
web --> catalog : HTTP
web --> cart : HTTP
web --> checkout : HTTP
checkout --> payment : gRPC
checkout --> fx : gRPC
payment --> fraud : HTTP
@enduml
"""
TRUE = (
    ("web", "catalog", "http"),
    ("web", "cart", "http"),
    ("web", "checkout", "http"),
    ("checkout", "payment", "grpc"),
    ("checkout", "fx", "grpc"),
    ("payment", "fraud", "http"),
)
NAMES = ("web", "catalog", "cart", "checkout", "payment", "fx", "fraud", "loyalty")
# Every service also speaks the other protocol to somebody, so that each absence is observable.
EXTRA = tuple(TrueEdge(name, "audit", protocol=protocol) for name in NAMES for protocol in ("http",)) + tuple(
    TrueEdge(name, "ledger", protocol="grpc") for name in NAMES
)
SIM = Sim(
    {**dict.fromkeys(NAMES, 1000), "audit": 10, "ledger": 10},
    tuple(TrueEdge(s, t, protocol=p) for s, t, p in TRUE) + EXTRA,
)
FORMATS = {"mermaid": (".md", DIAGRAM), "prose": (".md", PROSE), "plantuml": (".puml", PLANTUML)}


def edges_of(text: str, suffix: str):
    ref = DocumentRef("d1", "Shop", f"shop{suffix}", "r")
    source = SourceText(ref, text, suffix, f"shop{suffix}")
    known = [replace(e, kind="service") for e in SIM.entities()]
    result = designed([source], load_plugins("designed.readers", "READER"), known)
    return result.edges


def judged(text: str, suffix: str) -> set[tuple[str, str, str]]:
    evidence = SIM.evidence(60, edges_of(text, suffix))
    made = compare(evidence, Policy())
    return {
        (r.finding.source.name, r.finding.target.name, r.finding.status)
        for r in made.seen_with(made.labels)
        if r.finding.target.name not in ("audit", "ledger")
    }


CONFIRMED = {(s, t, "confirmed") for s, t, _ in TRUE}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_untouched_document_gives_no_false_finding(name: str) -> None:
    suffix, text = FORMATS[name]
    assert judged(text, suffix) == CONFIRMED


MUTATIONS = {
    "mermaid": {
        "delete": ("    payment -->|HTTP| fraud\n", ""),
        "flip": ("checkout -->|gRPC| fx", "fx -->|gRPC| checkout"),
        "retarget": ("checkout -->|gRPC| fx", "checkout -->|gRPC| loyalty"),
        "relabel": ("checkout -->|gRPC| fx", "checkout -->|HTTP| fx"),
    },
    "prose": {
        "delete": ("The payment service calls the fraud service over HTTP.\n", ""),
        "flip": (
            "The checkout service calls the fx service over gRPC.",
            "The fx service calls the checkout service over gRPC.",
        ),
        "retarget": ("calls the fx service over gRPC", "calls the loyalty service over gRPC"),
        "relabel": ("calls the fx service over gRPC", "calls the fx service over HTTP"),
    },
    "plantuml": {
        "delete": ("payment --> fraud : HTTP\n", ""),
        "flip": ("checkout --> fx : gRPC", "fx --> checkout : gRPC"),
        "retarget": ("checkout --> fx : gRPC", "checkout --> loyalty : gRPC"),
        "relabel": ("checkout --> fx : gRPC", "checkout --> fx : HTTP"),
    },
}
MUTATIONS["mermaid"]["add"] = (
    "    payment -->|HTTP| fraud\n",
    "    payment -->|HTTP| fraud\n    cart -->|HTTP| loyalty\n",
)
MUTATIONS["prose"]["add"] = (
    "over HTTP.\n\n## Behind",
    "over HTTP.\nThe cart service calls the loyalty service over HTTP.\n\n## Behind",
)
MUTATIONS["plantuml"]["add"] = ("@enduml", "cart --> loyalty : HTTP\n@enduml")
EXPECTED = {
    "delete": (CONFIRMED - {("payment", "fraud", "confirmed")}) | {("payment", "fraud", "robust")},
    "add": CONFIRMED | {("cart", "loyalty", "absent_strong")},
    "flip": (CONFIRMED - {("checkout", "fx", "confirmed")}) | {("fx", "checkout", "direction")},
    "retarget": (CONFIRMED - {("checkout", "fx", "confirmed")})
    | {("checkout", "fx", "robust"), ("checkout", "loyalty", "absent_strong")},
    "relabel": (CONFIRMED - {("checkout", "fx", "confirmed")}) | {("checkout", "fx", "protocol")},
}


@pytest.mark.parametrize("mutation", sorted(EXPECTED))
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_mutation_is_found(name: str, mutation: str) -> None:
    suffix, text = FORMATS[name]
    before, after = MUTATIONS[name][mutation]
    assert before in text
    assert judged(text.replace(before, after), suffix) == EXPECTED[mutation]


def test_the_shop_of_the_demo_reads_as_it_is_meant() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "shop" / "docs"
    texts = []
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        texts.append(SourceText(DocumentRef(path.name, path.stem, path.name, "r"), text, path.suffix, path.name))
    result = designed(texts, load_plugins("designed.readers", "READER"))
    topic, data = NodeKind.TOPIC, NodeKind.DATABASE
    edges = [
        TrueEdge("web", "catalog"),
        TrueEdge("web", "cart"),
        TrueEdge("web", "checkout"),
        TrueEdge("checkout", "cart"),
        TrueEdge("checkout", "fx", protocol="grpc"),
        TrueEdge("checkout", "payment", protocol="grpc"),
        TrueEdge("payment", "fraud"),
        TrueEdge("cart", "redis/cart-redis", target_kind=data, protocol="redis"),
        TrueEdge("checkout", "postgresql/orders-db/orders", target_kind=data, protocol="postgresql"),
        TrueEdge("checkout", "kafka/orders.placed", Relation.PUBLISHES_OBSERVED, target_kind=topic, protocol="kafka"),
        *(
            TrueEdge(s, "kafka/orders.placed", Relation.SUBSCRIBES_OBSERVED, target_kind=topic, protocol="kafka")
            for s in ("shipping", "notification")
        ),
        *(
            TrueEdge("checkout", s, Relation.DELIVERS_OBSERVED, via="kafka/orders.placed", protocol="kafka")
            for s in ("shipping", "notification")
        ),
    ]
    sim = Sim(
        dict.fromkeys(
            ("web", "catalog", "cart", "checkout", "payment", "fx", "fraud", "shipping", "notification", "loyalty"),
            1000,
        ),
        tuple(edges),
    )
    evidence = replace(sim.evidence(60, result.edges), registry=Registry(result.entities))
    made = compare(evidence, Policy())
    drift = {
        (r.finding.source.name, r.finding.target.name, r.finding.status)
        for r in made.seen_with(made.labels)
        if r.finding.status != "confirmed"
    }
    assert {d for d in drift if d[2] not in ("not_observable",)} == {
        ("payment", "fraud", "robust"),
        ("checkout", "loyalty", "absent_strong"),
        ("checkout", "notification", "sync_vs_async"),
    }
