"""What is kept of a span's attributes: the names that edges need, and those a setting adds. The rest is dropped at the door."""

from __future__ import annotations

from typing import Final

from nexus.telemetry_spans import OWN

# observed-edges.md section 3 by concept, and what section 4 rules 5 to 11 need beside it.
REMOTE_SERVICE: Final = ("service.peer.name", "service.peer.namespace", "peer.service")
REMOTE_HOST: Final = (
    "server.address",
    "net.peer.name",
    "http.host",
    "url.full",
    "http.url",
    "network.peer.address",
    "net.sock.peer.name",
    "net.sock.peer.addr",
    "net.peer.ip",
)
HTTP: Final = (
    "http.response.status_code",
    "http.status_code",
    "http.request.method",
    "http.method",
    "http.route",
    "url.path",
    "http.target",
    "http.request.resend_count",
    "http.resend_count",
    "http.retry_count",
)
DATABASE: Final = (
    "db.system.name",
    "db.system",
    "db.namespace",
    "db.name",
    "db.redis.database_index",
    "db.operation.name",
    "db.operation",
    "db.collection.name",
    "db.sql.table",
)
MESSAGING: Final = (
    "messaging.system",
    "messaging.destination.template",
    "messaging.destination.name",
    "messaging.destination",
    "messaging.rabbitmq.destination.routing_key",
    "messaging.rabbitmq.routing_key",
    "messaging.destination.temporary",
    "messaging.destination.anonymous",
    "messaging.temp_destination",
    "messaging.operation.type",
    "messaging.operation",
    "messaging.operation.name",
    "messaging.consumer.group.name",
    "messaging.kafka.consumer.group",
    "messaging.batch.message_count",
)
RPC: Final = (
    "rpc.system.name",
    "rpc.system",
    "rpc.service",
    "rpc.method",
    "rpc.response.status_code",
    "rpc.status_code",
    "rpc.grpc.status_code",
)
# GraphQL servers state their protocol by these; `error.type` tells cancellations apart.
OTHER: Final = ("graphql.operation.name", "graphql.operation.type", "graphql.document", "error.type")

KEPT: Final = frozenset((*REMOTE_SERVICE, *REMOTE_HOST, *HTTP, *DATABASE, *MESSAGING, *RPC, *OTHER))

# Resource attributes by column of the frame, newest name first.
RESOURCE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "service_name": ("service.name",),
    "service_namespace": ("service.namespace",),
    "environment": ("deployment.environment.name", "deployment.environment"),
    "service_version": ("service.version",),
    "instance": ("service.instance.id", "k8s.pod.uid", "k8s.pod.name", "host.name"),
}
# Marks spans that Nexus made of itself: they are taken, and nothing of them is kept.
RESOURCE_KEPT: Final = frozenset(name for names in RESOURCE_NAMES.values() for name in names) | {OWN}
