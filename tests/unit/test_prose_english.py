"""English sentences and what they state: one line a case."""

from __future__ import annotations

import pytest

from designed.pipeline import designed
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
NAMES = """entities:
  - {name: order, aliases: [order service]}
  - {name: payment, aliases: [payment service]}
  - {name: inventory}
  - {name: ledger-api}
  - {name: notification, aliases: [notifier]}
  - {name: gateway-proxy, aliases: [edge gateway]}
  - {name: report-job}
  - {name: auth-service}
  - {name: orders-db, kind: database}
  - {name: session-cache, kind: database, technology: redis}
  - {name: kafka, kind: topic}
  - {name: order.created, kind: topic}
  - {name: payment.settled, kind: topic}
  - {name: Stripe, kind: external}
"""
LETTER = {"CALLS": ">", "PUBLISHES": "+>", "SUBSCRIBES": "<+"}


def claims(body: str, name: str = "doc.md"):
    texts = [
        SourceText(DocumentRef("names", "names", "entities.yaml", "1"), NAMES, ".yaml", "entities.yaml"),
        SourceText(DocumentRef("doc", "doc", name, "1"), body, ".md", name),
    ]
    return [claim for _, _, claim in designed(texts, READERS).claims]


def stated(body: str) -> set[str]:
    found = set()
    for c in claims(body):
        mark = "" if c.modality.value == "asserted" else f" ({c.modality.value})"
        found.add(f"{c.source} {LETTER[c.relation]} {c.target}{mark}")
    return found


CASES = [
    ("The order service calls the payment service.", {"order > payment"}),
    ("order calls payment and inventory.", {"order > payment", "order > inventory"}),
    ("The order service and the report-job call inventory.", {"order > inventory", "report-job > inventory"}),
    ("The payment service is called by the order service.", {"order > payment"}),
    ("Payment is invoked by order and report-job over gRPC.", {"order > payment", "report-job > payment"}),
    ("The order service validates the basket, reserves stock and calls the payment service.", {"order > payment"}),
    (
        "The order service calls the payment service, which queries the ledger-api.",
        {"order > payment", "payment > ledger-api"},
    ),
    ("The payment service, which is called by the order service, charges the card.", {"order > payment"}),
    ("The service that the order service calls is the payment service.", set()),
    ("A calls B.", set()),
    (
        "The order service calls the payment service. It does not call the ledger-api.",
        {"order > payment", "order > ledger-api (forbidden)"},
    ),
    ("The order service must not call the ledger-api directly.", {"order > ledger-api (forbidden)"}),
    ("The order service never queries the orders-db.", {"order > orders-db (forbidden)"}),
    ("The order service no longer calls the ledger-api.", {"order > ledger-api (historical)"}),
    ("Previously, the order service called the ledger-api.", {"order > ledger-api (historical)"}),
    ("The order service will call the ledger-api in the next release.", {"order > ledger-api (planned)"}),
    ("It is planned that the order service calls the ledger-api.", {"order > ledger-api (planned)"}),
    ("The call from the order service to the ledger-api is deprecated.", {"order > ledger-api (deprecated)"}),
    ("If the cache misses, the order service queries the orders-db.", {"order > orders-db (conditional)"}),
    ("Only the order service may call the payment service.", {"order > payment (exclusive)"}),
    ("The payment service may only be called by the order service.", {"order > payment (exclusive)"}),
    ("The order service publishes `order.created` to Kafka.", {"order +> order.created"}),
    ("The order service publishes order.created events.", {"order +> order.created"}),
    (
        "The notification service subscribes to order.created and payment.settled.",
        {"notification <+ order.created", "notification <+ payment.settled"},
    ),
    (
        "order.created is published by the order service and consumed by the notifier.",
        {"order +> order.created", "notification <+ order.created"},
    ),
    ("Order events are consumed from Kafka by the notification service.", {"notification <+ kafka"}),
    ("The notification service is triggered by order.created.", {"notification <+ order.created"}),
    ("The order service stores orders in the orders-db.", {"order > orders-db"}),
    ("Orders are stored in the orders-db by the order service.", {"order > orders-db"}),
    ("The order service reads sessions from Redis.", {"order > session-cache"}),
    (
        "The order service depends on the auth-service and relies on inventory.",
        {"order > auth-service", "order > inventory"},
    ),
    (
        "The order service calls the payment service through the edge gateway.",
        {"order > gateway-proxy", "gateway-proxy > payment"},
    ),
    (
        "The order service sends orders to the notification service via Kafka.",
        {"order +> kafka", "notification <+ kafka"},
    ),
    ("Requests from the order service to the payment service carry a token.", {"order > payment"}),
    ("The edge gateway forwards requests to the order service.", {"gateway-proxy > order"}),
    ("The payment service uses Stripe to charge cards.", {"payment > Stripe"}),
    ("The payment service is backed by the orders-db.", {"payment > orders-db"}),
    ("The order service allows the report-job to query the orders-db.", {"report-job > orders-db"}),
    ("Orders are listed in alphabetical order, next to the border of the payment form.", set()),
    ("Users call support when the payment fails.", set()),
    ("Call the payment service with curl.", set()),
    ("Place an order and check the payment.", set()),
    ("The payment service returns a receipt to the order service.", set()),
    ("See the order service and the payment service for details.", set()),
    ("The order service and the payment service are written in Go.", set()),
    ("order.created publishes to the order service.", set()),
    ("The order service calls the `charge` method with the payment details.", set()),
    ("When an order is placed, the order service calls inventory to reserve the items.", {"order > inventory"}),
    (
        "The order service fetches prices from inventory, then it notifies the notification service.",
        {"order > inventory", "order > notification"},
    ),
    ("After charging the card, the payment service emits a payment.settled event.", {"payment +> payment.settled"}),
    (
        "The order service talks to the payment service over gRPC and to inventory over HTTP.",
        {"order > payment", "order > inventory"},
    ),
    ("Every night at 02:00 the report-job queries the orders-db.", {"report-job > orders-db"}),
    ("The order service does not talk to Stripe; the payment service does.", {"order > Stripe (forbidden)"}),
    ("Unlike the payment service, the order service calls inventory.", {"order > inventory"}),
    ("The order service exposes an API that the edge gateway calls.", {"gateway-proxy > order"}),
    (
        "The order service listens to payment.settled and updates the orders-db.",
        {"order <+ payment.settled", "order > orders-db"},
    ),
    ("The notifier consumes messages from the `order.created` topic.", {"notification <+ order.created"}),
    ("The payment service provides a REST API for the order service.", {"order > payment"}),
    ("The payment service integrates with Stripe for card payments.", {"payment > Stripe"}),
    ("The order service makes a synchronous call to inventory.", {"order > inventory"}),
    ("The order service sends an HTTP request to the payment service to charge the card.", {"order > payment"}),
    ("The notification service receives order.created events from Kafka.", {"notification <+ order.created"}),
    ("The order service writes order.created events to Kafka.", {"order +> order.created"}),
    ("The inventory is only accessible through the edge gateway.", {"gateway-proxy > inventory (exclusive)"}),
    ("The order service and the payment service communicate over gRPC.", set()),
    (
        "The order service gets the current user from the auth-service and stores the order in the orders-db.",
        {"order > auth-service", "order > orders-db"},
    ),
    ("All traffic enters through the edge gateway, which routes it to the order service.", {"gateway-proxy > order"}),
    ("The report-job, a batch process, reads from the orders-db.", {"report-job > orders-db"}),
    ("The order service asks inventory whether the items are in stock.", {"order > inventory"}),
    ("Inventory is queried by the order service before the card is charged.", {"order > inventory"}),
    ("The handler of the order service calls the payment service.", {"order > payment"}),
    (
        "Once the card is charged, the order service tells the notification service to send an email.",
        {"order > notification"},
    ),
    (
        "The notification service reacts to payment.settled events by calling the auth-service.",
        {"notification <+ payment.settled", "notification > auth-service"},
    ),
    (
        "The order service persists orders to the orders-db and caches sessions in Redis.",
        {"order > orders-db", "order > session-cache"},
    ),
    (
        "- **order** (port 8081): handles orders, calls the inventory and publishes `order.created` to Kafka.",
        {"order > inventory", "order +> order.created"},
    ),
    (
        "| Service | Description |\n|---|---|\n| order | Handles orders and calls the payment service. |",
        {"order > payment"},
    ),
    (
        "| From | To | Protocol |\n|---|---|---|\n| order | payment | gRPC |\n| order | `order.created` | Kafka |",
        {"order > payment", "order +> order.created"},
    ),
    (
        "| Topic | Producer | Consumers |\n|---|---|---|\n| order.created | order | notification, report-job |",
        {"order +> order.created", "notification <+ order.created", "report-job <+ order.created"},
    ),
    (
        "| Service | Depends on |\n|---|---|\n| order | payment, inventory |\n| payment | none |",
        {"order > payment", "order > inventory"},
    ),
    ("The order service delegates payment processing to the payment service.", {"order > payment"}),
    (
        "The order service, payment service, and inventory all connect to the orders-db.",
        {"order > orders-db", "payment > orders-db", "inventory > orders-db"},
    ),
    (
        "Order Service: receives orders, validates them with Inventory, and sends them to Payment.",
        {"order > inventory", "order > payment"},
    ),
    ("The payment service exposes a gRPC endpoint used by the order service.", {"order > payment"}),
    ("The order service has a dependency on inventory.", {"order > inventory"}),
    (
        "The gateway-proxy sits in front of the order service and the payment service.",
        {"gateway-proxy > order", "gateway-proxy > payment"},
    ),
    ("Payment is the only service that talks to Stripe.", {"payment > Stripe (exclusive)"}),
    ("All requests to the payment service must go through the edge gateway.", {"gateway-proxy > payment (exclusive)"}),
    (
        "A request flows from the edge gateway to the order service and then to the payment service.",
        {"gateway-proxy > order", "order > payment"},
    ),
    ("In order to place an order, the user logs in.", set()),
    ("The auth-service validates tokens for the order service.", set()),
    ("Flow: order → payment → ledger-api.", {"order > payment", "payment > ledger-api"}),
    ("- `order.created` (order → notification)", {"order +> order.created", "notification <+ order.created"}),
]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[c[0][:60] for c in CASES])
def test_a_sentence(sentence: str, expected: set[str]) -> None:
    assert stated(f"# Notes\n\n{sentence}\n") == expected


def test_a_section_gives_its_sentences_a_subject() -> None:
    body = "# Shop\n\n## Payment service\n\nThis service queries the ledger-api. It publishes `payment.settled`.\n\n## Inventory\n\nStores stock in the orders-db.\n"
    assert stated(body) == {"payment > ledger-api", "payment +> payment.settled", "inventory > orders-db"}


def test_an_imperative_under_a_service_is_not_its_doing() -> None:
    assert stated("# Payment service\n\nQuery the ledger-api with curl. Run `make up`, then call inventory.\n") == set()


def test_a_quote_is_the_sentence_at_its_place() -> None:
    (claim,) = claims(
        "# Notes\n\nFirst line.\nThe **order service** calls the\n[payment service](./payment.md) over gRPC.\nLast line.\n"
    )
    assert (claim.lines, claim.columns) == ((4, 5), (1, 42))
    assert claim.quote == "The **order service** calls the\n[payment service](./payment.md) over gRPC."
    assert claim.via.protocol == "grpc"


def test_a_number_belongs_to_the_claim_before_it() -> None:
    (claim,) = claims(
        "# Notes\n\nThe order service calls the payment service. The call must answer within p99 < 200 ms. Nothing else.\n"
    )
    assert [(q.metric, q.value) for q in claim.quantities] == [("latency_p99_ms", 200.0)]
    assert claim.quote.endswith("p99 < 200 ms.")


def test_only_via_a_gateway_names_it() -> None:
    found = [
        c
        for c in claims("# Notes\n\nThe report-job may call the payment service only via the edge gateway.\n")
        if c.exclusivity
    ]
    assert [(c.source, c.target, c.gateway, c.exclusivity) for c in found] == [
        ("report-job", "payment", "gateway-proxy", "only_via")
    ]
