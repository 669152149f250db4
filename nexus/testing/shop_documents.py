"""What the shop's documents say: passages, and the claims made of them, of every classification and in two languages."""

from __future__ import annotations

from nexus.model.claim import Claim, Modality, Via
from nexus.model.document import Classification, DocumentRef, Passage, Tier
from nexus.model.edge import DesignedEdge, Relation
from nexus.model.service import Node, NodeKind


def node(name: str) -> Node:
    """A participant of the shop, of the kind that its name shows."""
    kind = (
        NodeKind.TOPIC
        if name.startswith("kafka/")
        else NodeKind.DATABASE
        if name.startswith("postgresql/")
        else NodeKind.SERVICE
    )
    return Node(name, kind, "prod")


_DESIGN = DocumentRef("d-arch", "Shop architecture", "docs/architecture.md", "r1")
_KOREAN = DocumentRef("d-order-ko", "주문 흐름", "docs/order-flow.ko.md", "r2")
_RUNBOOK = DocumentRef("d-runbook", "Checkout runbook", "docs/runbook.md", "r3")
_SECRET = DocumentRef("d-secret", "Fraud rules", "docs/restricted/fraud.md", "r4")
_PUBLIC = DocumentRef("d-public", "Public overview", "docs/public/overview.md", "r5")


def _claim(
    source: str,
    relation: str,
    target: str,
    document: DocumentRef,
    line: int,
    quote: str,
    level: Classification = Classification.INTERNAL,
    modality: Modality = Modality.ASSERTED,
) -> Claim:
    return Claim(
        relation,
        source,
        target,
        node(source).kind,
        node(target).kind,
        document,
        (line, line),
        (1, len(quote)),
        quote,
        "markdown",
        "prose",
        0.95,
        modality,
        Via(),
        classification=level,
    )


def _designed(rid: str, claim: Claim) -> DesignedEdge:
    return DesignedEdge(rid, Relation(claim.relation), node(claim.source), node(claim.target), claim.via, (claim,))


DESIGNED = (
    _designed(
        "g01", _claim("frontend", "CALLS", "checkout", _DESIGN, 12, "The frontend calls checkout to place an order.")
    ),
    _designed(
        "g02",
        _claim(
            "checkout", "CALLS", "fx", _DESIGN, 18, "Checkout calls fx to convert prices into the buyer's currency."
        ),
    ),
    _designed(
        "g03",
        _claim("checkout", "CALLS", "payment", _KOREAN, 7, "체크아웃 서비스는 결제 서비스를 호출하여 카드를 승인한다."),
    ),
    _designed(
        "g04",
        _claim(
            "checkout",
            "PUBLISHES",
            "kafka/order.created",
            _DESIGN,
            25,
            "Checkout publishes order.created when an order is placed.",
        ),
    ),
    _designed(
        "g05",
        _claim(
            "email",
            "SUBSCRIBES",
            "kafka/order.created",
            _DESIGN,
            26,
            "Email subscribes to order.created and sends the confirmation.",
        ),
    ),
    _designed(
        "g06", _claim("checkout", "CALLS", "cart", _DESIGN, 30, "Checkout calls cart to empty it after the purchase.")
    ),
    _designed(
        "g07",
        _claim(
            "fraud-detection",
            "CALLS",
            "payment",
            _SECRET,
            3,
            "Fraud detection calls payment to freeze a card.",
            Classification.RESTRICTED,
        ),
    ),
    _designed(
        "g08",
        _claim(
            "frontend",
            "CALLS",
            "payment",
            _DESIGN,
            33,
            "The frontend must not call payment directly.",
            modality=Modality.FORBIDDEN,
        ),
    ),
)


def _passage(
    rid: str,
    document: DocumentRef,
    ordinal: int,
    section: tuple[str, ...],
    lines: tuple[int, int],
    text: str,
    level: Classification = Classification.INTERNAL,
    language: str = "en",
) -> Passage:
    return Passage(rid, document, ordinal, section, lines, text, level, Tier.AUTHORED, language)


PASSAGES = (
    _passage(
        "p01",
        _DESIGN,
        0,
        ("Shop architecture", "Checkout"),
        (10, 20),
        "The frontend calls checkout to place an order.\nCheckout calls fx to convert prices into the buyer's currency. The timeout is 250 ms.",
    ),
    _passage(
        "p02",
        _DESIGN,
        1,
        ("Shop architecture", "Events"),
        (24, 31),
        "Checkout publishes order.created when an order is placed. Email subscribes to order.created and sends the confirmation.\nCheckout calls cart to empty it after the purchase.",
    ),
    _passage(
        "p03",
        _RUNBOOK,
        0,
        ("Checkout runbook", "Retries"),
        (3, 9),
        "Checkout retries a failed payment at most 3 times, with a pause of 30 seconds between attempts. Retries must not be raised above 5.\n"
        "Refunds are handled by hand: open a ticket with the payments team.",
    ),
    _passage(
        "p04",
        _RUNBOOK,
        1,
        ("Checkout runbook", "Limits"),
        (11, 15),
        "| limit | value |\n| --- | --- |\n| items per order | 100 |\n| order note | 500 characters |\n| request body | 2 MB |",
    ),
    _passage(
        "p05",
        _KOREAN,
        0,
        ("주문 흐름",),
        (5, 12),
        "체크아웃 서비스는 결제 서비스를 호출하여 카드를 승인한다. 승인 대기 시간은 최대 10초이다.\n주문이 취소되면 24시간 안에 환불한다. 환불 수수료는 없다.",
        language="ko",
    ),
    _passage(
        "p06",
        _SECRET,
        0,
        ("Fraud rules",),
        (1, 6),
        "Fraud detection calls payment to freeze a card. Orders above 9000 euros are reviewed by hand.",
        Classification.RESTRICTED,
    ),
    _passage(
        "p07",
        _PUBLIC,
        0,
        ("Public overview",),
        (1, 4),
        "The shop sells books. Support answers within 2 days.",
        Classification.PUBLIC,
    ),
)
