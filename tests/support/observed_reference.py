"""The contract of observed edges as plainly as it can be written: one span at a time, no columns, no batches.

`observed_reference_rules.reference(spans)` takes spans in the form of `codec.case_spans` (one tenant) and returns what a fixture `expect`s of them, in the
terms of cases/README.md, with every measure and counter. It shares no code with the aggregator; where the two differ, observed-edges.md decides.
Section and rule numbers are those of that document. Here: what a span says and where it stands, and edges as sums of facts.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace

from observed_reference_said import said, text

EXITS = ("CLIENT", "PRODUCER")
SERVING = ("SERVER", "CONSUMER")
UNNAMED = "(unnamed)"
MINUTE_NS, HOUR_NS, DAY_NS = (60_000_000_000 * minutes for minutes in (1, 60, 1440))


@dataclass(eq=False)
class Span:
    """One span, its place in the trace, and what it says."""

    raw: dict
    trace: str
    id: str
    kind: str
    label: str
    env: str
    start: int
    end: int
    says: SimpleNamespace
    conflicts: int = 0
    shared: bool = False
    bad_parent: bool = False
    has_parent: bool = False
    up: Span | None = None
    seen: bool = False
    below: list = field(default_factory=list)

    @property
    def service(self):
        return self.label, self.env

    @property
    def node(self):
        return f"{self.label}@{self.env}" if self.env else self.label

    @property
    def name(self):
        return self.raw["name"]

    @property
    def suspect(self):
        return self.end < self.start

    @property
    def latency(self):
        return None if self.suspect else (self.end - self.start) / 1e6

    @property
    def publishes(self):
        return self.kind == "PRODUCER" or (
            self.kind == "CLIENT" and self.says.message and self.says.operation in (None, "send", "create")
        )

    @property
    def polls(self):
        return self.says.operation == "receive" and (
            self.kind == "CONSUMER" or (self.kind == "CLIENT" and self.says.message)
        )

    @property
    def settles(self):
        return self.says.operation == "settle" and (
            self.kind == "CONSUMER" or (self.kind == "CLIENT" and self.says.message)
        )

    @property
    def processes(self):
        return self.kind == "CONSUMER" and not self.polls and not self.settles

    @property
    def consumes(self):
        return self.polls or self.processes

    @property
    def calls(self):
        return self.kind == "CLIENT" and not (self.publishes or self.polls or self.settles)

    @property
    def foreign(self):
        return self.up is not None and self.up.service != self.service

    @property
    def self_call(self):
        """Rule 4: only SERVER under CLIENT, unless the flags say local."""
        return (
            self.up is not None
            and not self.foreign
            and self.kind == "SERVER"
            and self.up.kind == "CLIENT"
            and (self.shared or self.raw["remote_parent"] is not False)
        )

    @property
    def self_consume(self):
        return self.up is not None and not self.foreign and self.consumes and self.up.publishes

    @property
    def leaves(self):
        return self.foreign or self.self_call or self.self_consume

    @property
    def crosses(self):
        return self.seen and (self.foreign or self.self_call)

    @property
    def local(self):
        return self.seen and not self.leaves

    @property
    def entry(self):
        """Section 5, causes: the nearest SERVER or CONSUMER at or above it in the service, else the topmost local span."""
        at = self
        while at.kind not in SERVING and at.local:
            at = at.up
        return at


def read(raw, infrastructure):
    resource = raw["resource"]
    service_name = text(resource.get("service.name"))
    blank = not service_name.strip() or service_name == "unknown_service" or service_name.startswith("unknown_service:")
    space = text(resource.get("service.namespace")).strip()
    label = UNNAMED if blank else f"{space}/{service_name}" if space else service_name
    named_env = text(resource.get("deployment.environment.name") or resource.get("deployment.environment")).strip()
    span = Span(
        raw,
        raw["trace"],
        raw["span"],
        raw["kind"],
        label,
        "" if blank else named_env,
        raw["start_ns"],
        raw["end_ns"],
        said(raw, label, service_name, infrastructure),
    )
    span.says.named_env = named_env
    span.says.version = resource.get("service.version")
    span.says.instance = next(
        (
            resource[name]
            for name in ("service.instance.id", "k8s.pod.uid", "k8s.pod.name", "host.name")
            if resource.get(name)
        ),
        "",
    )
    return span


def distinct(spans):
    """Section 2: one span an identity; the copy with the latest end, then the most attributes is kept."""
    copies = {}
    for span in spans:
        content = json.dumps(span.raw, sort_keys=True)
        copies.setdefault((span.trace, span.id, span.kind, span.service), {})[content] = span
    for found in copies.values():
        kept = max(found.values(), key=lambda span: (span.end, len(span.raw["attributes"])))
        kept.conflicts = len(found) - 1
        yield kept


def place(spans, horizon, link_horizon):
    """Parents (section 4), and whether they are seen."""
    by_id = {}
    for span in spans:
        by_id.setdefault((span.trace, span.id), []).append(span)
    for span in spans:
        parent = span.raw["parent"]
        usable = len(parent) == 16 and int(parent, 16) != 0 and parent != span.id
        span.bad_parent = bool(parent) and not usable and parent.strip("0") != ""
        options = [other for other in by_id.get((span.trace, parent), ()) if other is not span] if usable else []
        twins = [other for other in by_id[span.trace, span.id] if other.kind == "CLIENT" and span.kind == "SERVER"]
        if twins:
            span.shared, span.up = True, sorted(twins, key=lambda twin: twin.service == span.service)[0]
        elif options:
            own = [other for other in options if other.service == span.service and span.kind not in SERVING]
            serving = [other for other in options if other.kind in SERVING]
            options = own or serving or options
            span.up = next((other for other in options if other.kind in SERVING), options[0])
        span.has_parent = usable or span.shared
    for span in spans:
        walked, at = [], span
        while at is not None and at not in walked:
            walked.append(at)
            at = at.up
        span.on_cycle = at is span
    for span in [span for span in spans if span.on_cycle]:
        span.up, span.bad_parent, span.has_parent = None, True, False
    for span in spans:
        if span.up is not None:
            gap = max(span.start, span.up.start) - min(max(span.end, span.start), max(span.up.end, span.up.start))
            span.seen = gap <= (link_horizon if span.up.publishes or span.consumes else horizon)
            span.up.below.append(span)


# -- edges as sums of facts --


def smaller(*probabilities):
    """A pair's probability: the smaller, unknown where an end's is."""
    return None if None in probabilities else min(probabilities)


def without_detail(children):
    """Rule 3: beside a SERVER child its siblings of the same service are detail."""
    served = {child.service for child in children if child.kind == "SERVER"}
    return [child for child in children if child.kind == "SERVER" or child.service not in served]


def fact(source, relation, target, at, kind="service", infrastructure=False, **more):
    """One thing seen. Counts, `samples` of latencies, `n` units with probability `p`, `failed` of them."""
    return {"key": (source, relation, target, kind, infrastructure), "at": at, **more}


COUNTS = (
    "calls",
    "handled",
    "messages",
    "retries",
    "client_errors",
    "server_errors",
    "errors",
    "cancelled",
    "clock_suspect",
    "queue_unmeasured",
)


LISTS = {
    "source_versions": "source_version",
    "target_versions": "target_version",
    "aliases": "alias",
    "addresses": "address",
}
LATENCIES = {"client_latency_ms": "client", "server_latency_ms": "server", "queue_ms": "queue"}


def summed(facts):
    """The measures of an edge (section 5) from its facts."""
    out = {name: sum(int(one.get(name, 0)) for one in facts) for name in COUNTS}
    for name in ("basis", "protocols", "via", "operations", "consumer_groups", "causes"):
        counts = Counter()
        for one in facts:
            if one.get(name) is not None:
                counts[one[name][0]] += one[name][1]
        out[name] = {item: n for item, n in counts.items() if n}
    largest = sorted(out["causes"].items(), key=lambda one: (-one[1], [(name is None, name or "") for name in one[0]]))
    out["causes"] = [
        {"caller_operation": caller, "callee_operation": callee, "calls": n} for (caller, callee), n in largest
    ]
    for name, of in LATENCIES.items():
        out[name] = [one[of] for one in facts if one.get(of) is not None]
    for name, of in LISTS.items():
        out[name] = sorted({one[of] for one in facts if one.get(of) is not None})
    units = [(one["n"], one.get("p"), one.get("failed", 0)) for one in facts if one.get("n")]
    known = [(n, p, failed) for n, p, failed in units if p is not None]
    out["observed"] = sum(n for n, _, _ in units)
    out["adjusted_calls"] = sum(n / p for n, p, _ in known) if known else None
    out["adjusted_errors"] = sum(failed / p for _, p, failed in known) if known else None
    out["sampling_known"] = sum(n for n, _, _ in known) / out["observed"] if out["observed"] else 0.0
    callers = {(one["instance"], one["at"] // HOUR_NS) for one in facts if one.get("instance") is not None}
    out["support"] = {"instances": len({name for name, _ in callers}), "instance_hours": len(callers)}
    out["active_days"] = len({one["at"] // DAY_NS for one in facts})
    return out | {"exemplars": exemplars([one["shown"] for one in facts if one.get("shown")])}


def exemplars(shown):
    """Of (trace, duration, failed): the failed with the smallest ids, the longest, the smallest of the rest that did not fail."""
    longest = {}
    for trace, duration, _ in shown:
        if duration is not None:
            longest[trace] = max(longest.get(trace, 0), duration)
    error = sorted({trace for trace, _, failed in shown if failed})[:3]
    slowest = sorted(longest, key=lambda trace: (-longest[trace], trace))[:3]
    rest = {trace for trace, _, failed in shown if not failed} - {*error, *slowest}
    found = {"error": error, "slowest": slowest, "ordinary": sorted(rest)[:3]}
    return {outcome: [f"hex:{trace}" for trace in traces] for outcome, traces in found.items()}


def edges(facts, base_ns):
    """All edges with their minutes, as a fixture expects them, but for the times of first and last, which are in ns since 1970."""
    by_key = {}
    for one in facts:
        by_key.setdefault(one["key"], []).append(one)
    found = []
    for key, mine in sorted(by_key.items()):
        minutes = {}
        for one in mine:
            minutes.setdefault(one["at"] // MINUTE_NS, []).append(one)
        times = [one["at"] for one in mine]
        found.append(
            dict(zip(("source", "relation", "target", "target_kind", "infrastructure"), key, strict=True))
            | summed(mine)
            | {
                "self": key[0] == key[2] and key[3] == "service",
                "first_seen_ns": min(times),
                "last_seen_ns": max(times),
                "windows": [
                    {"start_ms": (minute * MINUTE_NS - base_ns) // 1_000_000} | summed(some)
                    for minute, some in sorted(minutes.items())
                ],
            }
        )
    return found
