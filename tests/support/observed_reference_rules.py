"""Rules 1 to 11 of observed-edges.md over the spans of `observed_reference`, and the counters of services."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from observed_reference import EXITS, distinct, edges, fact, place, read, smaller, without_detail
from observed_reference_messages import Messages

CALLS = "CALLS_OBSERVED"
SECOND = 1_000_000_000


def reference(raws, *, base_ns=0, **settings):
    """What is right for `raws`: edges, and counters of services by label."""
    facts, counters = facts_of(raws, **settings)
    return {"edges": edges(facts, base_ns), "services": counters}


def facts_of(raws, *, horizon_s=900, link_horizon_s=86_400, skew_ms=10, rpc=(), paths=()):
    """What is seen in `raws`, not added up, and counters of services by label."""
    spans = list(distinct([read(raw, SimpleNamespace(rpc=tuple(rpc), paths=tuple(paths))) for raw in raws]))
    spans.sort(key=lambda span: (span.start, span.trace, span.id, span.kind, span.service))
    place(spans, horizon_s * SECOND, link_horizon_s * SECOND)
    clients = Clients(spans, skew_ms * 1_000_000)
    messages = Messages(spans, link_horizon_s * SECOND)
    return [*clients.facts(), *messages.facts()], services(spans, clients, messages)


def callee_end(span):
    """Rule 3: a child that is itself an exit is not the callee's end."""
    return span.kind not in EXITS


class Clients:
    """Rules 1 to 7, 9 and 10."""

    def __init__(self, spans, skew):
        self.spans = spans
        self.found = [span for span in spans if span.calls]
        self.matched = {span for span in self.found if any(child.crosses for child in span.below)}
        self.counted = {span for span in self.found if self._counts(span)}
        self.inferred = self._inferred(skew)
        self.lonely = [span for span in self.found if span in self.counted - self.matched and span not in self.inferred]

    def layers(self, span):
        """The client span and those around it, innermost first."""
        found = [span]
        while found[-1].local and found[-1].up.calls:
            found.append(found[-1].up)
        return found

    def _nest(self, span):
        return [span, *(one for child in span.below if child.local and child.calls for one in self._nest(child))]

    def _counts(self, span):
        """Rule 2."""
        if span in self.matched:
            return True
        around = self.layers(span)
        top = around[-1]
        inside = top.local and (top.up.publishes or top.up.polls or top.up.settles)
        if inside or any(layer in self.matched for layer in around):
            return False
        calls = {one for one in self._nest(top) if one in self.matched or (one.says.family and self._free(one))}
        below = self._nest(span)[1:]
        if span.says.family:
            return not any(one in calls for one in below)
        return not calls and not below

    def _free(self, span):
        return not any(layer in self.matched for layer in self.layers(span))

    def says(self, span):
        """What a client and the spans around it say of the target: by concept, innermost first."""
        around = [layer.says for layer in self.layers(span)]

        def first(name):
            return next((found for one in around if (found := getattr(one, name)) is not None), None)

        most = min(around, key=lambda one: one.rank)
        return SimpleNamespace(
            family=most.family,
            rank=most.rank,
            database=any(one.database for one in around),
            infrastructure=any(one.infrastructure for one in around),
            http=(
                next((one.http[0] for one in around if one.http[0]), None),
                next((one.http[1] for one in around if one.http[1]), None),
            ),
            **{
                name: first(name)
                for name in ("host", "address", "peer", "rpc_service", "method", "db_system", "db_name", "db_operation")
            },
        )

    def database(self, says):
        """Section 2: system + host + name; the peer name is the host part where no host name is known."""
        parts = (says.db_system or "unknown", says.host or (says.peer and says.peer[1]), says.db_name)
        return "/".join(part for part in parts if part) if says.database else None

    def target(self, span):
        """Rule 5: label, kind, alias; None where nothing is usable."""
        says = self.says(span)
        env = f"@{span.says.named_env}" if span.says.named_env else ""
        if says.database:
            return self.database(says), "database", says.peer and says.peer[1]
        if says.peer:
            return says.peer[0] + env, "service", None
        if says.rpc_service:
            return says.rpc_service + env, "service", says.host
        if says.host or says.address:
            return says.host or "(ip)", "external", None
        return None

    def _inferred(self, skew):
        """Rule 9."""
        pairs = []
        for client in self.found:
            if client in self.matched or client not in self.counted:
                continue
            asks = self.says(client)
            for server in self.spans:
                if server.kind != "SERVER" or server.trace != client.trace or server.service == client.service:
                    continue
                if server.has_parent or server.bad_parent:
                    continue
                if server.says.peer and server.says.peer[0] != client.label:
                    continue
                inside = server.start >= client.start - skew and max(server.start, server.end) <= (
                    max(client.start, client.end) + skew
                )
                if asks.method and server.says.method:
                    same = asks.method == server.says.method
                else:
                    same = None not in asks.http and asks.http == server.says.http
                if inside and same:
                    pairs.append((client, server))
        times = Counter(span for pair in pairs for span in pair)
        return {client: server for client, server in pairs if times[client] == times[server] == 1}

    def facts(self):
        """CALLS."""
        steps = {}
        for span in self.spans:
            if span.crosses and not span.up.publishes and not span.consumes and not _settled(span):
                steps.setdefault((span.up, span.service), []).append(span)
        for (parent, _), children in steps.items():
            children = without_detail(children)
            if parent.calls:
                yield from self._call(parent, children, "paired" if _served(children) else "boundary")
            else:
                for child in children:
                    yield from self._step(child, parent)
        for client, server in self.inferred.items():
            yield from self._call(client, [server], "inferred")
        yield from self._named_callers()
        for client in self.lonely:
            yield from self._alone(client)

    def _caller(self, parent):
        return {"source_version": parent.says.version, "instance": parent.says.instance}

    def _call(self, client, children, basis):
        says = self.says(client)
        ends = [child for child in children if callee_end(child)]
        told = min((child.says for child in ends), key=lambda one: one.rank, default=None)
        family = told.family if told and told.rank < says.rank else says.family
        infrastructure = says.infrastructure or any(child.says.infrastructure for child in ends)
        for number, child in enumerate(children):
            first, end = number == 0, callee_end(child)
            yield fact(
                client.node,
                CALLS,
                child.node,
                client.start,
                infrastructure=infrastructure,
                calls=first,
                handled=1,
                retries=first and client.says.retry,
                client_errors=first and client.says.error,
                server_errors=end and child.says.error,
                errors=first and client.says.error,
                cancelled=first and client.says.cancel,
                clock_suspect=(first and client.suspect) + (end and child.suspect),
                basis=(basis, int(first)),
                protocols=(family or "unknown", int(first)),
                client=client.latency if first else None,
                server=child.latency if end else None,
                target_version=child.says.version,
                alias=self.database(says),
                causes=((client.entry.name, ends[0].name if ends else client.name), int(first)),
                n=int(first),
                p=smaller(client.says.p, *(one.says.p for one in children)),
                failed=client.says.error,
                shown=first and (client.trace, client.latency, client.says.error),
                **self._caller(client),
            )

    def _step(self, child, parent):
        end = callee_end(child)
        failed = end and child.says.error
        yield fact(
            parent.node,
            CALLS,
            child.node,
            child.start,
            infrastructure=end and child.says.infrastructure,
            calls=1,
            handled=1,
            server_errors=failed,
            errors=failed,
            cancelled=end and child.says.cancel,
            clock_suspect=end and child.suspect,
            basis=("server_only" if child.kind == "SERVER" else "boundary", 1),
            protocols=((end and child.says.family) or "unknown", 1),
            server=child.latency if end else None,
            target_version=child.says.version,
            causes=((parent.entry.name, child.name if end else None), 1),
            n=1,
            p=smaller(parent.says.p, child.says.p),
            failed=failed,
            shown=(child.trace, child.latency if end else None, failed),
            **self._caller(parent),
        )

    @property
    def roots(self):
        return [
            span
            for span in self.spans
            if span.kind == "SERVER" and not span.has_parent and span not in self.inferred.values()
        ]

    def _named_callers(self):
        """Rule 6."""
        for span in self.roots:
            if span.says.peer:
                env = f"@{span.says.named_env}" if span.says.named_env else ""
                yield fact(
                    span.says.peer[0] + env,
                    CALLS,
                    span.node,
                    span.start,
                    infrastructure=span.says.infrastructure,
                    calls=1,
                    handled=1,
                    server_errors=span.says.error,
                    errors=span.says.error,
                    cancelled=span.says.cancel,
                    clock_suspect=span.suspect,
                    basis=("server_only", 1),
                    protocols=(span.says.family or "unknown", 1),
                    server=span.latency,
                    target_version=span.says.version,
                    instance="",
                    causes=((None, span.name), 1),
                    n=1,
                    p=span.says.p,
                    failed=span.says.error,
                    shown=(span.trace, span.latency, span.says.error),
                )

    def _alone(self, client):
        """Rule 5."""
        found = self.target(client)
        if found is None:
            return
        target, kind, alias = found
        says = self.says(client)
        failed = client.says.error
        yield fact(
            client.node,
            CALLS,
            target,
            client.start,
            kind=kind,
            infrastructure=says.infrastructure,
            calls=1,
            retries=client.says.retry,
            client_errors=failed,
            errors=failed,
            cancelled=client.says.cancel,
            clock_suspect=client.suspect,
            basis=("client_only", 1),
            protocols=(says.family or "unknown", 1),
            operations=(says.db_operation, 1) if kind == "database" and says.db_operation else None,
            client=client.latency,
            alias=alias,
            address=says.address if kind != "service" else None,
            causes=((client.entry.name, client.name), 1),
            n=1,
            p=client.says.p,
            failed=failed,
            shown=(client.trace, client.latency, failed),
            **self._caller(client),
        )


def _served(children):
    return any(child.kind == "SERVER" for child in children)


def _settled(span):
    """Rule 8: settle is nothing."""
    return span.settles and span.kind == "CONSUMER"


COUNTERS = (
    "spans",
    "entry_spans",
    "root_servers",
    "orphan_servers",
    "orphan_consumers",
    "unresolved_links",
    "exits_paired",
    "exits_by_attribute",
    "unpaired_clients",
    "nested_clients",
    "beyond_horizon",
    "bad_parents",
    "conflicting_duplicates",
    "spans_sampling_known",
    "clock_suspect",
)


def services(spans, clients, messages):
    """Section 5, per service."""
    out = {span.node: Counter(dict.fromkeys(COUNTERS, 0)) for span in spans}
    exits = {span.node: Counter() for span in spans}
    delivering = {messages.head(producer) for _, producer, _ in messages.tied if producer.publishes}
    for span in spans:
        mine = out[span.node]
        serving = span.kind in ("SERVER", "CONSUMER")
        mine["spans"] += 1
        mine["entry_spans"] += (
            not span.has_parent or span.crosses or (span.seen and span.self_consume) or (serving and not span.seen)
        )
        mine["root_servers"] += span in clients.roots and span.says.peer is None
        mine["orphan_servers"] += span.kind == "SERVER" and span.has_parent and not span.seen
        mine["orphan_consumers"] += span in messages.orphans
        mine["unresolved_links"] += messages.unseen.get(span, 0)
        mine["beyond_horizon"] += (span.leaves and not span.seen) + messages.far.get(span, 0)
        mine["bad_parents"] += span.bad_parent
        mine["conflicting_duplicates"] += span.conflicts
        mine["spans_sampling_known"] += span.says.p is not None
        mine["clock_suspect"] += span.suspect
        exit_counter = None
        if span.calls:
            if span not in clients.counted:
                mine["nested_clients"] += 1
            elif span in clients.matched or span in clients.inferred:
                exit_counter = "exits_paired"
            else:
                exit_counter = "exits_by_attribute" if clients.target(span) else "unpaired_clients"
            protocol = clients.says(span)
            answers = without_detail([child for child in span.below if child.crosses and not child.consumes])
            answers = [child for child in answers if callee_end(child)]
            answers += [clients.inferred[span]] if span in clients.inferred else []
            told = min((child.says for child in answers), key=lambda one: one.rank, default=protocol)
            protocol = told.family if told.rank < protocol.rank else protocol.family
        elif span.publishes and messages.head(span) is span:
            system, topic = messages.sent[span]
            exit_counter = "exits_paired" if span in delivering else "exits_by_attribute"
            if span not in delivering and topic is None and system is None:
                exit_counter = "unpaired_clients"
            protocol = span.says.family or system
        if exit_counter:
            mine[exit_counter] += 1
            exits[span.node][protocol or "unknown"] += 1
    return {name: {**counters, "exit_spans": dict(exits[name])} for name, counters in out.items()}
