"""A small shop with both layers, for tests, evaluations and examples: services, a database, a topic, documents, findings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nexus.model.claim import Via
from nexus.model.edge import Cause, DesignedEdge, Exemplar, Latency, ObservedEdge, Relation, Support, TraceQuery
from nexus.model.entity import Entity
from nexus.model.finding import Exposure, Finding, Flag, Severity
from nexus.model.registry import Registry
from nexus.testing.shop_documents import DESIGNED, PASSAGES, node

NOW = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)
TENANT = "default"
ENTITIES = (
    Entity("e-frontend", "frontend", "service", ("web front", "프론트엔드")),
    Entity("e-checkout", "checkout", "service", ("주문결제", "체크아웃 서비스")),
    Entity("e-fx", "fx", "service", ("currency-converter", "환율 서비스")),
    Entity("e-payment", "payment", "service", ("결제 서비스",)),
    Entity("e-cart", "cart", "service", ("장바구니 서비스",)),
    Entity("e-shipping", "shipping", "service", ("배송 서비스",)),
    Entity("e-email", "email", "service", ("메일 서비스",)),
    Entity("e-fraud", "fraud-detection", "service", ("사기탐지 서비스",)),
    Entity("e-ordersdb", "postgresql/orders-db/orders", "database", ("orders-db", "주문 DB")),
    Entity("e-created", "kafka/order.created", "topic", ("order.created", "주문생성 토픽")),
    Entity("e-inv-a", "warehouse/inventory", "service", ("inventory",)),
    Entity("e-inv-b", "retail/inventory", "service", ("inventory",)),
)


def _latency(p50: float, p95: float, p99: float, most: float, count: int) -> Latency:
    return Latency(count, p50 * count, p50 / 3, p50, (p50 + p95) / 2, p95, p99, most)


def _observed(
    rid: str,
    source: str,
    relation: Relation,
    target: str,
    calls: int,
    errors: int,
    latency: tuple[float, float, float, float],
    *,
    causes: tuple[tuple[str | None, str | None, int], ...] = (),
    days: int = 9,
    protocol: str = "grpc",
    first_days: int = 9,
    last: timedelta = timedelta(minutes=5),
) -> ObservedEdge:
    messages = 0 if relation is Relation.CALLS_OBSERVED else calls
    trace = rid.encode().hex().ljust(32, "0")[:32]
    return ObservedEdge(
        rid=rid,
        relation=relation,
        source=node(source),
        target=node(target),
        calls=0 if messages else calls,
        handled=0 if messages else calls - errors,
        messages=messages,
        errors=errors,
        client_errors=errors,
        server_errors=errors // 2,
        observed=calls,
        protocols={protocol: calls},
        basis={"paired": calls},
        client_latency=_latency(*latency, calls),
        first_seen=NOW - timedelta(days=first_days),
        last_seen=NOW - last,
        active_days=days,
        support=Support(3, 9),
        source_versions=("1.4.0",),
        target_versions=("2.0.1",),
        causes=tuple(Cause(*c) for c in causes),
        exemplars=(
            Exemplar("error", trace, "00f067aa0ba902b7", latency[3]),
            Exemplar("ordinary", trace[::-1], "00f067aa0ba902b8", latency[0]),
        ),
        trace_query=TraceQuery(
            "tempo",
            f'{{ resource.service.name = "{source}" }} >> {{ resource.service.name = "{target}" }}',
            NOW - timedelta(days=first_days),
            NOW,
        ),
    )


_CALLS, _PUBLISHES, _SUBSCRIBES = Relation.CALLS_OBSERVED, Relation.PUBLISHES_OBSERVED, Relation.SUBSCRIBES_OBSERVED
OBSERVED = (
    _observed(
        "o01",
        "frontend",
        _CALLS,
        "checkout",
        1200,
        12,
        (80.0, 210.0, 400.0, 900.0),
        causes=(("GET /buy", "PlaceOrder", 1200),),
    ),
    _observed(
        "o02", "frontend", _CALLS, "cart", 5400, 3, (6.0, 20.0, 41.0, 99.0), causes=(("GET /cart", "GetCart", 5400),)
    ),
    _observed(
        "o03",
        "checkout",
        _CALLS,
        "fx",
        943,
        5,
        (3.1, 8.0, 14.2, 30.9),
        causes=(("POST /checkout", "Convert", 940), ("POST /quote", "GetRates", 3)),
    ),
    _observed(
        "o04",
        "checkout",
        _CALLS,
        "payment",
        940,
        47,
        (55.0, 180.0, 350.0, 1200.0),
        causes=(("POST /checkout", "Charge", 940),),
    ),
    _observed(
        "o05",
        "checkout",
        _CALLS,
        "shipping",
        938,
        0,
        (12.0, 31.0, 55.0, 88.0),
        causes=(("POST /checkout", "ShipOrder", 938),),
        days=2,
        first_days=2,
    ),
    _observed(
        "o06",
        "checkout",
        _CALLS,
        "postgresql/orders-db/orders",
        1880,
        1,
        (2.0, 6.0, 9.0, 25.0),
        protocol="postgresql",
        causes=(("POST /checkout", "INSERT orders", 1880),),
    ),
    _observed(
        "o07",
        "checkout",
        _PUBLISHES,
        "kafka/order.created",
        930,
        0,
        (1.5, 4.0, 7.0, 12.0),
        protocol="kafka",
        causes=(("POST /checkout", None, 930),),
    ),
    _observed("o08", "email", _SUBSCRIBES, "kafka/order.created", 930, 2, (20.0, 60.0, 110.0, 300.0), protocol="kafka"),
    _observed(
        "o09",
        "fraud-detection",
        _SUBSCRIBES,
        "kafka/order.created",
        465,
        0,
        (33.0, 70.0, 95.0, 130.0),
        protocol="kafka",
        last=timedelta(days=3),
    ),
    _observed("o10", "payment", _CALLS, "warehouse/inventory", 77, 0, (9.0, 15.0, 22.0, 40.0)),
)


def _finding(
    name: str,
    flag: Flag,
    status: str,
    source: str,
    target: str,
    summary: str,
    designed: DesignedEdge | None,
    observed: ObservedEdge | None,
    *,
    severity: Severity = Severity.MEDIUM,
    exposure: Exposure | None = None,
) -> Finding:
    relation = designed.relation.value if designed else "CALLS"
    return Finding(
        name,
        flag,
        status,
        "",
        relation,
        node(source),
        node(target),
        Via(),
        "prod",
        severity,
        1.0,
        summary,
        exposure=exposure,
        designed=designed,
        observed=observed,
        first_detected=NOW - timedelta(days=1),
    )


FINDINGS = (
    _finding(
        "f-fx",
        Flag.CONFIRMED,
        "confirmed",
        "checkout",
        "fx",
        "checkout calls fx as documented.",
        DESIGNED[1],
        OBSERVED[2],
        severity=Severity.NONE,
    ),
    _finding(
        "f-cart",
        Flag.DOC_ONLY,
        "absent_strong",
        "checkout",
        "cart",
        "The documents say that checkout calls cart; it was not seen in 9000 requests, which rules out more than 1 call in 3000 requests.",
        DESIGNED[5],
        None,
        exposure=Exposure(9000, 28, 0.99, 1 / 3000, 0.1),
    ),
    _finding(
        "f-shipping",
        Flag.OBSERVED_ONLY,
        "emerging",
        "checkout",
        "shipping",
        "checkout calls shipping, and no document says so; seen on 2 days.",
        None,
        OBSERVED[4],
        severity=Severity.HIGH,
    ),
)


def registry() -> Registry:
    """The shop's registry."""
    return Registry(ENTITIES)


__all__ = ["DESIGNED", "ENTITIES", "FINDINGS", "NOW", "OBSERVED", "PASSAGES", "TENANT", "registry"]
