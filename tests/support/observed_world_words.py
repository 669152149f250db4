"""What the spans of `observed_worlds` say: services, hosts and requests in the spellings that occur, the odd ones among them."""

from __future__ import annotations

SERVICES = (
    {"service.name": "web", "service.version": "1"},
    {
        "service.name": "cart",
        "service.namespace": "shop",
        "deployment.environment.name": "prod",
        "service.version": "2",
    },
    {"service.name": "cart", "service.namespace": "shop", "deployment.environment": "stage", "host.name": "n1"},
    {"service.name": "pay", "deployment.environment.name": "prod", "service.instance.id": "p-1"},
    {
        "service.name": "pay",
        "deployment.environment.name": "prod",
        "service.instance.id": "p-2",
        "service.version": "3",
    },
    {"service.name": "mail", "k8s.pod.name": "mail-0"},
    {"service.name": "stock", "service.namespace": "shop", "deployment.environment.name": "prod"},
    {"service.name": "unknown_service:java", "service.instance.id": "j"},
    {"service.name": "unknown_service", "deployment.environment.name": "prod", "service.namespace": "shop"},
    {"service.name": " "},
    {},
)
TRACE_STATES = ("", "", "ot=th:8", "ot=th:c", "x=1,ot=rv:0123456789abcd;th:4", "ot=th:F", "ot=th:0")
HOSTS = (
    {"server.address": "api.example.com"},
    {"server.address": "10.0.0.7", "net.peer.name": "Cart.Example.com."},
    {"net.peer.name": "localhost", "net.peer.port": 80},
    {"http.url": "https://u:p@API.example.com:8443/v1/items?id=2"},
    {"url.full": "http://[fd00::1]:8080/v2"},
    {"network.peer.address": "10.1.2.3"},
    {"server.address": "pay"},
    {"server.address": "/var/run/x.sock"},
    {"server.address": " ", "net.peer.name": "old.example.com", "http.host": "other"},
    {"server.address": "127.0.0.1", "network.peer.address": "10.9.9.9", "http.url": "https://b.example.com/x?y"},
    {"net.sock.peer.addr": "10.1.2.3", "http.host": "edge:9090"},
    {},
)
PEERS = (
    {"peer.service": "cart"},
    {"service.peer.name": "ledger", "service.peer.namespace": "bank"},
    {"peer.service": "unknown_service"},
    {"service.peer.name": "pay", "peer.service": "legacy"},
)
REQUESTS = (
    {"http.request.method": "GET", "url.path": "/items", "http.response.status_code": 200},
    {"http.method": "POST", "http.target": "/items?x=1", "http.status_code": "499"},
    {"http.request.method": "GET", "url.path": "/healthz"},
    {"rpc.system": "grpc", "rpc.service": "shop.Cart", "rpc.method": "Get", "rpc.grpc.status_code": 0},
    {"rpc.system.name": "grpc", "rpc.method": "shop.Cart/Put", "rpc.status_code": "CANCELLED"},
    {
        "rpc.system": "grpc",
        "rpc.service": "opentelemetry.proto.collector.trace.v1.TraceService",
        "rpc.method": "Export",
    },
    {"graphql.operation.type": "query", "http.request.method": "POST"},
    {
        "http.request.method": "GET",
        "http.method": "POST",
        "http.status_code": "499",
        "http.response.status_code": "200",
    },
    {"rpc.system.name": "connect_rpc", "rpc.system": "grpc", "rpc.method": "/shop.Cart/Get"},
    {"rpc.system": "grpc", "rpc.response.status_code": "1", "rpc.grpc.status_code": 0},
    {},
)
DATABASES = (
    {"db.system": "postgresql", "db.name": "app", "db.operation": "SELECT", "db.sql.table": "items"},
    {"db.system.name": "mssql", "db.namespace": "main", "server.address": "db1", "db.operation.name": "EXEC"},
    {"db.system": "redis", "db.redis.database_index": 3, "net.peer.name": "10.0.0.9"},
    {"db.name": "orphan"},
    {"db.system.name": "MySQL", "db.system": "mssql", "db.namespace": " ", "db.name": "old", "db.collection.name": "c"},
    {"db.system": "other_sql", "server.address": "db1", "peer.service": "warehouse"},
)
QUEUES = (
    {"messaging.system": "kafka", "messaging.destination.name": "orders", "messaging.kafka.consumer.group": "g1"},
    {"messaging.system": "rabbitmq", "messaging.destination": "", "messaging.rabbitmq.routing_key": "mails"},
    {"messaging.system": "kafka", "messaging.destination.name": "reply-7", "messaging.destination.temporary": True},
    {"messaging.system": "AmazonSQS", "messaging.destination.template": "q-{id}", "messaging.destination.name": "q-1"},
    {"messaging.system": "kafka"},
)
