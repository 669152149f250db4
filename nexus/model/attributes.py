"""Span attributes that edges are made of, by concept, newest name first (observed-edges.md section 3; section 4 rules 5 to 11).

The receiver keeps them, the aggregator reads them: one list, so that neither can know a name that the other does not.
"""

from __future__ import annotations

from typing import Final

PEER: Final = ("service.peer.name", "peer.service", "service.peer.namespace")
HOSTS: Final = (
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
    "http.request.method",
    "http.method",
    "http.response.status_code",
    "http.status_code",
    "url.full",
    "http.url",
    "http.route",
    "http.target",
    "url.path",
    "http.request.resend_count",
    "http.resend_count",
    "http.retry_count",
)
# GraphQL servers state their protocol by the last three.
RPC: Final = (
    "rpc.system.name",
    "rpc.system",
    "rpc.service",
    "rpc.method",
    "graphql.operation.type",
    "graphql.operation.name",
    "graphql.document",
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
    "db.mongodb.collection",
    "db.cassandra.table",
)
MESSAGING: Final = (
    "messaging.system",
    "messaging.destination.template",
    "messaging.destination.name",
    "messaging.destination",
    "messaging.rabbitmq.destination.routing_key",
    "messaging.rabbitmq.routing_key",
    "messaging.destination.temporary",
    "messaging.temp_destination",
    "messaging.destination.anonymous",
    "messaging.operation.type",
    "messaging.operation",
    "messaging.operation.name",
    "messaging.batch.message_count",
    "messaging.consumer.group.name",
    "messaging.kafka.consumer.group",
)
# How a call ended; `error.type` tells cancellations apart.
OUTCOME: Final = (
    "rpc.status_code",
    "rpc.response.status_code",
    "rpc.grpc.status_code",
    "http.response.status_code",
    "http.status_code",
    "error.type",
)

READ: Final = tuple(dict.fromkeys((*PEER, *HOSTS, *HTTP, *RPC, *DATABASE, *MESSAGING, *OUTCOME)))

__all__ = ["DATABASE", "HOSTS", "HTTP", "MESSAGING", "OUTCOME", "PEER", "READ", "RPC"]
