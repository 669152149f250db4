"""What spans say of a call, in the spellings that senders use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from case_spans import case_span
from observed_harness import observed

KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "orders"}


def span(service="a", trace="t", number="1", parent=None, kind="CLIENT", **more):
    return case_span(service, trace, number, parent, kind, 0, 5) | more


def ends(*spans):
    """Each edge as relation, target, kind."""
    return sorted(
        (relation.removesuffix("_OBSERVED"), target, kind) for _, relation, target, kind, _ in observed(spans)[0]
    )


@pytest.mark.parametrize(
    ("attributes", "target"),
    [
        # The caller's own name is no target: what is stated next is.
        ({"server.address": "a", "net.peer.name": "other"}, ("CALLS", "other", "external")),
        ({"server.address": "A.", "network.peer.address": "10.0.0.1"}, ("CALLS", "(ip)", "external")),
        ({"peer.service": "a", "server.address": "other"}, ("CALLS", "other", "external")),
        # A database that has the name of the service that speaks for it is not the caller.
        ({"db.system": "mysql", "server.address": "a", "db.name": "app"}, ("CALLS", "mysql/a/app", "database")),
        ({"server.address": "dns:///cart:7070"}, ("CALLS", "cart", "external")),
        ({"net.peer.name": "passthrough:///cart.svc:7070"}, ("CALLS", "cart.svc", "external")),
        ({"server.address": "unix:///run/x.sock"}, ("CALLS", "(ip)", "external")),
        ({"server.address": "10-244-1-5.shop.pod.cluster.local"}, ("CALLS", "(ip)", "external")),
        (
            {"server.address": "10-244-1-5.cart.shop.svc.cluster.local"},
            ("CALLS", "10-244-1-5.cart.shop.svc.cluster.local", "external"),
        ),
        # Libraries that name their operation and state no type of it.
        (KAFKA | {"messaging.operation.name": "poll"}, ("SUBSCRIBES", "kafka/orders", "topic")),
        (KAFKA | {"messaging.operation.name": "publish"}, ("PUBLISHES", "kafka/orders", "topic")),
        (
            KAFKA | {"messaging.operation.type": "send", "messaging.operation.name": "ack"},
            ("PUBLISHES", "kafka/orders", "topic"),
        ),
        (KAFKA | {"messaging.operation.name": "ack"}, None),
    ],
)
def test_the_target_of_a_client(attributes, target):
    assert ends(span(attributes=attributes)) == ([target] if target else [])


@pytest.mark.parametrize(
    ("name", "infrastructure"),
    [
        ("grpc.health.v1.Health/Check", True),
        ("grpc.grpc.health.v1.Health/Check", True),
        ("/grpc.health.v1.Health/Watch", True),
        ("grpc.shop.Cart/Get", False),
    ],
)
def test_health_checks_by_the_name_of_their_span(name, infrastructure):
    edges, _ = observed([span(), span("b", number="2", parent="1", kind="SERVER", name=name)])
    assert [key[-1] for key in edges] == [infrastructure]


@pytest.mark.parametrize(
    ("state", "known"),
    [
        ("ot=th:8", 1.0),
        ("x=1 , ot=rv:0a;th:8 ", 1.0),
        ("ot= th:8", 0.0),
        ("OT=th:8", 0.0),
        ("ot=th:", 0.0),
        ("ot=th:C", 0.0),
        ("ot=th:123456789012345", 0.0),
        ("tot=th:8", 0.0),
    ],
)
def test_a_threshold_is_read_to_the_letter(state, known):
    (edge,) = observed([span(attributes={"server.address": "b"}, trace_state=state)])[0].values()
    assert (edge["sampling_known"], edge["adjusted_calls"]) == (known, 2.0 if known else None)


def test_a_blank_text_does_not_hide_what_an_older_name_says():
    resource = {
        "deployment.environment.name": " ",
        "deployment.environment": "prod",
        "service.instance.id": "  ",
        "k8s.pod.uid": "u",
    }
    _, services = observed([span(resource=resource)])
    assert services["a@prod"]["instances"] == ["u"]
