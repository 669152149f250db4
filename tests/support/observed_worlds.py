"""Worlds: small sets of spans that hold what traces hold in the wild, by seed, for judging the aggregator by `observed_reference`.

Spans are in the form of `codec.case_spans`. Shapes are built one trace at a time and then damaged: spans lost, repeated with other content, moved in time,
hung elsewhere, given another kind. Starts are all different, so that no rule has to choose between equals.
"""

from __future__ import annotations

import hashlib
import random

from observed_world_words import DATABASES, HOSTS, PEERS, QUEUES, REQUESTS, SERVICES, TRACE_STATES

BASE_NS = 1_768_478_400_000_000_000
MS = 1_000_000
HOUR_MS = 3_600_000


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
        begin = BASE_NS + round(start * 1000) * 1000 + self.clock * 1000
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
        shapes = (
            self.call,
            self.call,
            self.database,
            self.outside,
            self.publish,
            self.transaction,
            self.hedge,
            self.local,
        )
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

    def transaction(self, around, depth, start, length):
        """What a transactional producer sends, to several destinations at once; an attempt that is aborted is made again. Beginning, commit and abort are no messages."""
        resource, trace = around["resource"], around["trace"]
        for attempt in range(self.rng.choice((1, 1, 2))):
            begin = start + attempt * 2 * length
            whole = self.span(resource, trace, around, self.rng.choice(("INTERNAL", "CLIENT")), begin, length)
            if self.chance(0.4):
                # The outbox: what is sent is written with what it tells of.
                self.client(whole, begin, length / 4, self.some(DATABASES))
            queues = [self.some(QUEUES) for _ in range(self.rng.randint(1, 3))]
            # Each is sent when it is made, or all are sent at the end: one send carries what was created for several destinations.
            together = self.chance(0.3)
            operation = {"messaging.operation.type": "create" if together else "send"}
            made = [
                self.span(resource, trace, whole, "PRODUCER", begin + number, 1, queue | operation)
                for number, queue in enumerate(queues)
            ]
            if together:
                said = {"messaging.operation.type": "send"} | self.some((queues[0], {"messaging.system": "kafka"}))
                self.span(resource, trace, whole, "CLIENT", begin + 5, 2, said, links=self.link(*made))
            end = {"messaging.system": "kafka"} | self.some(
                ({"messaging.operation.type": "settle"}, {"messaging.operation": "commit"}, {"rpc.system": "kafka"})
            )
            links = self.link(*(made if self.chance(0.5) else ()))
            self.span(resource, trace, whole, self.rng.choice(("CLIENT", "INTERNAL")), begin + 8, 1, end, links=links)
        for queue, one in zip(queues, made, strict=True):
            self.published.append((queue, [one]))
            if self.chance(0.6):
                self.consume(queue, [one], depth, start + length)

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
