"""Worlds: small sets of spans that hold what traces hold in the wild, by seed, for judging the aggregator by `observed_reference`.

Spans are in the form of `codec.case_spans`. Shapes are built one trace at a time and then damaged: spans lost, repeated with other content, moved in time,
hung elsewhere, given another kind. Starts are all different, so that no rule has to choose between equals.
"""

from __future__ import annotations

import hashlib
import random

BASE_NS = 1_768_478_400_000_000_000
MS = 1_000_000
HOUR_MS = 3_600_000
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


class World:
    """Spans of one seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.spans = []
        self.clock = 0
        self.published = []

    def chance(self, share):
        return self.rng.random() < share

    def some(self, options):
        return dict(self.rng.choice(options))

    def span(self, resource, trace, parent, kind, start, length, attributes=None, **more):
        """`start` and `length` in ms. A few microseconds of their own keep starts and durations apart."""
        self.clock += 1
        begin = BASE_NS + round(start * MS) + self.clock * 1000
        if self.chance(0.01):
            length = -length
        own = {
            "resource": dict(resource),
            "trace": trace,
            "span": hashlib.sha256(f"{self.seed}/{self.clock}".encode()).hexdigest()[:16],
            "parent": parent["span"] if parent else "",
            "kind": kind,
            "name": self.rng.choice(("op", "GET /items", "/shop.Cart/Get", "grpc.shop.Cart/Put", "작업")),
            "start_ns": begin,
            "end_ns": begin + round(length * 1000) * 1000 + self.clock % 7 * 1000,
            "status": self.rng.choice(("UNSET", "UNSET", "OK", "ERROR")),
            "status_message": self.rng.choice(("", "", "request was Canceled")),
            "attributes": dict(attributes or {}),
            "links": [],
            "trace_state": self.rng.choice(TRACE_STATES),
            "remote_parent": self.rng.choice((None, None, True, False)),
        } | more
        self.spans.append(own)
        return own

    def link(self, *others):
        return [{"trace": other["trace"], "span": other["span"]} for other in others]

    # -- shapes: what a service does within a span --

    def work(self, around, depth, start, length):
        """What happens inside a span of a service."""
        inner = around
        if self.chance(0.3):
            inner = self.span(around["resource"], around["trace"], around, "INTERNAL", start, length, self.some(HOSTS))
        shapes = (self.call, self.call, self.database, self.outside, self.publish, self.hedge, self.local)
        for number in range(self.rng.randint(0, 3) if depth else 0):
            self.rng.choice(shapes)(inner, depth, start + number * 3, max(1, length / 3))

    def local(self, around, _depth, start, length):
        kind = self.rng.choice(("SERVER", "UNSPECIFIED", "INTERNAL"))
        self.span(around["resource"], around["trace"], around, kind, start, length, self.some(REQUESTS))

    def says(self):
        found = self.some(REQUESTS) | self.some(HOSTS)
        found |= self.some(PEERS) if self.chance(0.25) else {}
        return found | ({"http.request.resend_count": self.rng.choice((0, 1, "2"))} if self.chance(0.1) else {})

    def client(self, around, start, length, attributes):
        """A client span in one to three layers: the innermost."""
        found = around
        for layer in range(self.rng.choice((1, 1, 1, 2, 3))):
            found = self.span(
                around["resource"],
                around["trace"],
                found,
                "CLIENT",
                start + layer * 0.1,
                length,
                attributes
                if layer == 0 or self.chance(0.5)
                else self.rng.choice((HOSTS[5], {}, {"http.method": "GET"})),
            )
        return found

    def call(self, around, depth, start, length):
        attributes = self.says()
        client = self.client(around, start, length, attributes)
        parent = client
        if self.chance(0.1):
            parent = next(span for span in reversed(self.spans) if span["kind"] == "CLIENT")
        if self.chance(0.2):
            return
        resource = self.some(SERVICES)
        kind = self.rng.choice(("SERVER",) * 8 + ("INTERNAL", "UNSPECIFIED", "CLIENT", "PRODUCER", "CONSUMER"))
        parent = None if kind == "SERVER" and self.chance(0.1) else parent
        said = {} if self.chance(0.3) else attributes if self.chance(0.5) else self.says()
        server = self.span(resource, client["trace"], parent, kind, start + 0.5, length * 0.5, said)
        if kind == "SERVER" and parent and self.chance(0.1):
            server["span"] = parent["span"]
            server["parent"] = parent["parent"]
        if self.chance(0.1):
            self.span(resource, client["trace"], parent, self.rng.choice(("SERVER", "INTERNAL")), start + 0.7, length)
        self.work(server, depth - 1, start + 1, length * 0.4)

    def hedge(self, around, depth, start, length):
        client = self.client(around, start, length, self.says())
        one, other = self.some(SERVICES), self.some(SERVICES)
        for number, resource in enumerate(self.rng.choice(((one, one), (one, other), (one, one, other)))):
            self.span(resource, around["trace"], client, "SERVER", start + 0.5 + number, length * 0.4, self.says())
        self.work(client, min(depth, 1), start, length)

    def database(self, around, depth, start, length):
        attributes = self.some(DATABASES) | (self.some(PEERS) if self.chance(0.2) else {})
        client = self.client(around, start, length, attributes)
        if self.chance(0.2):
            self.span(self.some(SERVICES), around["trace"], client, "SERVER", start + 0.5, length, self.some(DATABASES))
        elif depth and self.chance(0.2):
            self.database(client, 0, start + 0.2, length / 2)

    def outside(self, around, _depth, start, length):
        self.client(around, start, length, self.some(HOSTS) | (self.some(REQUESTS) if self.chance(0.5) else {}))

    def publish(self, around, depth, start, length):
        """One message or a batch of them, in one of the ways in which libraries show it, and who takes it."""
        queue, resource, trace = self.some(QUEUES), around["resource"], around["trace"]
        way = self.rng.choice(("plain", "plain", "client", "batch", "create and send", "creates below", "nested"))
        size = {"messaging.batch.message_count": self.rng.choice((0, 2, "3", 7))}
        if way in ("plain", "client"):
            kind, operation = ("PRODUCER", "publish") if way == "plain" else ("CLIENT", "send")
            made = [self.span(resource, trace, around, kind, start, length, queue | {"messaging.operation": operation})]
        elif way == "batch":
            made = [self.span(resource, trace, around, "PRODUCER", start, length, queue | size)]
        elif way == "nested":
            outer = self.span(resource, trace, around, "PRODUCER", start, length, queue | self.some((size, {})))
            again = self.some((queue, queue | size, {}, self.some(QUEUES)))
            made = [outer, self.span(resource, trace, outer, "PRODUCER", start + 0.1, length, again)]
        else:
            # A create span is one message, whatever it says of a batch.
            create = {"messaging.operation.type": "create"} | self.some((size, {}, {}))
            send = {"messaging.operation.type": "send", "messaging.operation": "receive"} | self.some((size, {}))
            made = []
            if way == "creates below":
                made.append(self.span(resource, trace, around, "CLIENT", start, length, queue | send))
            below = made[0] if made else around
            for number in range(self.rng.randint(1, 3)):
                made.append(self.span(resource, trace, below, "PRODUCER", start + number, 0.5, queue | create))
            if way == "create and send":
                link = self.link(
                    *made, *(self.rng.choice(self.published)[1] if self.published and self.chance(0.2) else ())
                )
                made.append(self.span(resource, trace, around, "CLIENT", start + 5, length, queue | send, links=link))
        if self.chance(0.2):
            self.span(resource, trace, made[0], "CLIENT", start + 0.2, length / 2, self.says())
        self.published.append((queue, made))
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            self.consume(queue, made, depth, start)

    def consume(self, queue, made, depth, start):
        resource, one = self.some(SERVICES), self.rng.choice(made)
        later = start + self.rng.choice((1, 50, 4_000, 90_000, 5 * HOUR_MS, 23.5 * HOUR_MS, 30 * HOUR_MS))
        own = self.trace()
        queue = queue if self.chance(0.8) else {}
        process = queue | {"messaging.operation.type": self.rng.choice(("process", "deliver"))}
        receive = {"messaging.system": "kafka"} | queue | {"messaging.operation": "receive"}
        way = self.rng.choice(("parent", "link", "both", "batch", "poll", "poll below", "twice", "push", "settle"))
        if way in ("parent", "both"):
            more = {"links": self.link(*made)} if way == "both" else {}
            handler = self.span(resource, one["trace"], one, "CONSUMER", later, 20, process, **more)
        elif way == "push":
            kind = self.rng.choice(("SERVER", "SERVER", "INTERNAL", "CLIENT"))
            handler = self.span(resource, one["trace"], one, kind, later, 20, self.says())
        elif way == "batch":
            others = [
                self.rng.choice(group) for _, group in self.rng.sample(self.published, min(3, len(self.published)))
            ]
            size = {"messaging.batch.message_count": 5} if self.chance(0.3) else {}
            handler = self.span(resource, own, None, "CONSUMER", later, 20, process | size, links=self.link(*others))
        elif way in ("poll", "poll below"):
            kind = self.rng.choice(("CONSUMER", "CLIENT"))
            size = {"messaging.batch.message_count": self.rng.choice((0, 1, 4))} if self.chance(0.5) else {}
            links = self.link(*made) if self.chance(0.7) else []
            poll = self.span(resource, own, None, kind, later, 5, receive | size, links=links)
            below = poll if way == "poll below" else None
            links = self.link(*self.rng.sample([*made, poll], self.rng.randint(0, len(made))))
            handler = poll
            for number in range(self.rng.randint(0, 2)):
                where = own if below else self.trace()
                handler = self.span(resource, where, below, "CONSUMER", later + 6 + number, 9, process, links=links)
        else:
            handler = self.span(resource, own, None, "CONSUMER", later, 20, process, links=self.link(one))
            if way == "twice":
                again = self.rng.choice((None, handler))
                where = own if again else self.trace()
                handler = self.span(resource, where, again, "CONSUMER", later + 30, 9, process, links=self.link(one))
            elif way == "settle":
                kind = self.rng.choice(("CONSUMER", "CLIENT"))
                said = receive | {"messaging.operation": "settle"}
                self.span(
                    resource, own, self.rng.choice((handler, None)), kind, later + 9, 1, said, links=self.link(one)
                )
        self.work(handler, min(depth, 1), later + 1, 10)

    def trace(self):
        self.clock += 1
        return hashlib.sha256(f"{self.seed}/trace/{self.clock}".encode()).hexdigest()[:32]

    # -- damage --

    def damage(self):
        """What happens to spans on their way."""
        kept = [span for span in self.spans if not self.chance(0.06)]
        for span in kept:
            mates = [other for other in kept if other["trace"] == span["trace"]]
            if self.chance(0.02):
                span["parent"] = self.rng.choice(mates)["span"]
            if self.chance(0.02):
                span["kind"] = self.rng.choice(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
            if self.chance(0.01):
                span["parent"] = self.rng.choice(("00" * 8, "ab" * 4, span["span"]))
            if self.chance(0.005):
                mate = self.rng.choice(mates)
                span["parent"], mate["parent"] = mate["span"], span["span"]
            if self.chance(0.01):
                # A sidecar under the application's name, or an application beside the sidecar of its caller.
                span["resource"] = self.rng.choice(mates)["resource"]
            if self.chance(0.02):
                self.to_the_limit(span, kept)
            if self.chance(0.02):
                move = self.rng.choice((-40, 25, 61_000, 20 * 60_000, 25 * HOUR_MS)) * MS
                span["start_ns"] += move
                span["end_ns"] += move
        for span in kept:
            if self.chance(0.02) and span["kind"] == "SERVER":
                self.share(span, [other for other in kept if other["trace"] == span["trace"]])
        again = [dict(span) for span in kept if self.chance(0.05)]
        for span in again:
            if self.chance(0.7):
                more = span["attributes"] | {"http.route": "/r"}
                later = self.rng.choice((0, 0, MS))
                span |= {"end_ns": span["end_ns"] + later, "status": "OK", "attributes": more}
        kept += again
        self.rng.shuffle(kept)
        return kept

    def share(self, server, mates):
        """A server takes the id of a client that nobody else has."""
        taken = [other["span"] for other in mates]
        free = [other["span"] for other in mates if other["kind"] == "CLIENT" and taken.count(other["span"]) == 1]
        server["span"] = self.rng.choice([*free, server["span"]])

    def to_the_limit(self, span, kept):
        """Moved to where a bound still holds, or holds no longer by a microsecond."""
        beyond, length = self.rng.choice((0, 1000)), span["end_ns"] - span["start_ns"]
        links = {(link["trace"], link["span"]) for link in span["links"]}
        for other in kept:
            if other["trace"] == span["trace"] and other["span"] == span["parent"]:
                span["start_ns"] = other["end_ns"] + self.rng.choice((15 * 60_000, 24 * HOUR_MS)) * MS + beyond
            elif (other["trace"], other["span"]) in links:
                span["start_ns"] = other["end_ns"] + 24 * HOUR_MS * MS + beyond
            elif (other["trace"], other["kind"], span["kind"], span["parent"]) == (
                span["trace"],
                "CLIENT",
                "SERVER",
                "",
            ):
                span["start_ns"] = other["start_ns"] - 10 * MS - beyond
            else:
                continue
            span["end_ns"] = span["start_ns"] + length
            return


def world(seed, traces=6):
    """Spans of `traces` requests and of what they set off."""
    made = World(seed)
    for number in range(traces):
        start = number * 700
        attributes = made.some(REQUESTS) | (made.some(PEERS) if made.chance(0.2) else {})
        root = made.span(made.some(SERVICES), made.trace(), None, "SERVER", start, 100, attributes)
        made.work(root, 3, start + 1, 80)
    return made.damage()
