"""Sections 2 and 3 of observed-edges.md: what the attributes of one span say, by concept."""

from __future__ import annotations

import re
from types import SimpleNamespace

LATEST_NAMES = {
    "mssql": "microsoft.sql_server",
    "oracle": "oracle.db",
    "dynamodb": "aws.dynamodb",
    "redshift": "aws.redshift",
}
HOSTS = (
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


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def spelled(host):
    if host.startswith(("/", "unix:", "@")):
        return host
    host = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:///?", "", host)
    host = re.split(r"[/?#]", host)[0].rsplit("@", 1)[-1].lower()
    if host.startswith("["):
        host = host[1:].split("]")[0]
    elif host.count(":") == 1:
        host = host.split(":")[0]
    return host.split("%")[0].rstrip(".").strip() or None


def host_of(key, value):
    """The host of a URL is its authority; other attributes are hosts."""
    if key in ("url.full", "http.url"):
        found = re.match(r"^[A-Za-z][A-Za-z0-9+.-]*://([^/?#]+)", value)
        return found and spelled(found[1])
    return spelled(value.strip())


def is_address(host):
    return bool(
        re.match(r"^\d+\.\d+\.\d+\.\d+$", host)
        or ":" in host
        or host.startswith(("/", "unix:", "@"))
        or host == "localhost"
        or host.endswith(".localhost")
    )


def probability(state):
    for member in state.split(","):
        if member.strip().startswith("ot="):
            for part in member.strip()[3:].split(";"):
                if part.startswith("th:") and re.fullmatch(r"[0-9a-f]{1,14}", part[3:]):
                    return (2**56 - int(part[3:].ljust(14, "0"), 16)) / 2**56
    return None


def said(raw, label, service_name, infrastructure):
    """Section 3, by concept."""
    values = {name: text(value) for name, value in raw["attributes"].items() if text(value).strip()}
    kind, name, status = raw["kind"], raw["name"], raw["status"]

    def first(*names):
        return next((values[name] for name in names if name in values), None)

    def lower(value):
        return value and value.lower()

    system = lower(first("rpc.system.name", "rpc.system"))
    service, method = first("rpc.service"), first("rpc.method")
    stripped = name.removeprefix("grpc.").removeprefix("/")
    if method and "/" in method:
        method = method.removeprefix("/")
    elif service and method:
        method = f"{service}/{method}"
    elif re.fullmatch(r"[^/\s]+/[^/\s]+", stripped) and (system or name.startswith(("/", "grpc."))):
        method = stripped
    else:
        method = None
    rpc_service = service or (method and method.rsplit("/", 1)[0])
    url = first("url.full", "http.url")
    path = first("url.path", "http.target")
    if path is None and url:
        path = "/" + url.split("://", 1)[1].partition("/")[2] if "://" in url else url
    path = path and path.split("?")[0].split("#")[0]
    database = lower(first("db.system.name", "db.system"))
    named_db = first("db.namespace", "db.name") is not None
    messaging = lower(first("messaging.system"))
    messaging = "aws_sqs" if messaging == "amazonsqs" else messaging
    topic = first("messaging.destination.template")
    passing = (
        first("messaging.destination.temporary", "messaging.temp_destination"),
        first("messaging.destination.anonymous"),
    )
    if topic is None and "true" in passing:
        topic = "(anonymous)"
    topic = topic or first(
        "messaging.destination.name",
        "messaging.destination",
        "messaging.rabbitmq.destination.routing_key",
        "messaging.rabbitmq.routing_key",
    )
    operation = lower(first("messaging.operation.type", "messaging.operation"))
    hosts = [host for key in HOSTS if first(key) and (host := host_of(key, first(key)))]
    is_database = bool(database or named_db)
    names = [host for host in hosts if not is_address(host) and (is_database or host != service_name.lower())]
    addresses = [host for host in hosts if is_address(host)]
    peers = []
    space = first("service.peer.namespace") or raw["resource"].get("service.namespace", "").strip() or None
    for key in ("service.peer.name", "peer.service"):
        stated = first(key)
        full = stated and (f"{space}/{stated}" if space else stated)
        if stated and full != label and stated != "unknown_service" and not stated.startswith("unknown_service:"):
            peers.append((full, stated))
    cancel = (
        lower(first("rpc.status_code", "rpc.response.status_code", "rpc.grpc.status_code")) in ("1", "cancelled")
        or first("http.response.status_code", "http.status_code") == "499"
        or (status == "ERROR" and "cancel" in (first("error.type") or "").lower() + raw["status_message"].lower())
    )
    if first("graphql.operation.type"):
        family, rank = "graphql", 0
    elif system == "grpc" or (system is None and name.startswith("grpc.") and method):
        family, rank = "grpc", 1
    elif system or service or first("rpc.method") or method:
        family, rank = "rpc", 2
    elif is_database and kind in ("CLIENT", "PRODUCER", "CONSUMER"):
        family = LATEST_NAMES.get(database or "unknown", database or "unknown")
        family, rank = ("sql" if family == "other_sql" else family), 3
    elif messaging:
        family, rank = messaging, 4
    elif first(
        "http.request.method",
        "http.method",
        "http.response.status_code",
        "http.status_code",
        "http.route",
        "http.target",
        "url.full",
        "http.url",
    ):
        family, rank = "http", 5
    else:
        family, rank = None, 6
    resend = first("http.request.resend_count", "http.resend_count", "http.retry_count")
    bare = path and (path.rstrip("/") or "/")
    return SimpleNamespace(
        family=family,
        rank=rank,
        method=method,
        rpc_service=rpc_service if rpc_service != service_name else None,
        http=(lower(first("http.request.method", "http.method")), path),
        host=names[0] if names else None,
        address=addresses[0] if addresses else None,
        peer=peers[0] if peers else None,
        database=is_database,
        db_system=database and LATEST_NAMES.get(database, database),
        db_name=first("db.namespace", "db.name", "db.redis.database_index"),
        db_operation=" ".join(
            filter(
                None,
                (
                    first("db.operation.name", "db.operation"),
                    first("db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table"),
                ),
            )
        )
        or None,
        group=first("messaging.consumer.group.name", "messaging.kafka.consumer.group"),
        system=messaging,
        topic=topic,
        operation={"publish": "send", "deliver": "process"}.get(operation, operation),
        message=bool(messaging or topic or operation) and not (is_database and operation is None),
        batch=int(first("messaging.batch.message_count")) if first("messaging.batch.message_count") else None,
        retry=resend is not None and int(resend) > 0,
        cancel=cancel,
        error=status == "ERROR" and not cancel,
        p=probability(raw["trace_state"]),
        infrastructure=bool(
            (method and any(method.startswith(prefix) for prefix in infrastructure.rpc)) or bare in infrastructure.paths
        ),
    )
