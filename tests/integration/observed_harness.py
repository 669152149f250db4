"""Cases as deliveries, an engine on a list for a log, and edges compared with what a case expects."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from aggregator.codec import encode
from aggregator.concepts import Infrastructure
from aggregator.delta import delta
from aggregator.engine import Engine
from aggregator.merge import by_minute
from aggregator.parts import added
from aggregator.ranges import LAST, Segment
from aggregator.reading import ObservedStore, stored
from aggregator.services import service_view
from aggregator.settle import Retention
from aggregator.steps import Rules
from aggregator.summary import summaries
from aggregator.view import Links, edge_view
from aggregator.working import WorkingSpans
from collector_receiver.otlp import decode_batch
from nexus.model.coded import coded, no_spans
from nexus.model.service import Coverage
from nexus.model.span import empty_spans
from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter
from nexus.ports.span_log import LoggedRejection
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC
from nexus.store import observed_read
from nexus.store.observed_read import EdgeQuery, EdgeRow

ROOT = Path(__file__).parents[1] / "cases"
sys.path.insert(0, str(ROOT))
import codec  # noqa: E402

LATENCIES = ("client_latency_ms", "server_latency_ms", "queue_ms")
KEY = ("source", "relation", "target", "target_kind", "infrastructure")


def rules_of(settings=None):
    """Pairing rules of a case's settings."""
    given = settings or {}
    return Rules(
        given.get("pair_horizon_ms", 900_000) * 10**6,
        given.get("link_horizon_ms", 86_400_000) * 10**6,
        given.get("clock_skew_ms", 10) * 10**6,
        Infrastructure(INFRASTRUCTURE_RPC, INFRASTRUCTURE_PATHS),
    )


def cases():
    """Every fixture, by id."""
    return {
        case["id"]: case for case in (codec.load_case(path) for path in sorted((ROOT / "service-graph").glob("*.json")))
    }


def shuffled(name, case):
    """The spans of a case in another order, the same every time."""
    spans = codec.case_spans(case)
    random.Random(name).shuffle(spans)
    return spans


def delivered(spans, tenant="default"):
    """Spans (of codec) through the receiver's decoder: a frame, and what was refused."""
    return delivered_together({tenant: spans})


def delivered_together(spans):
    """The same of many tenants, by their names, decoded at once: each time that spans are decoded costs what thousands of them do."""
    said = [(tenant, codec.to_request([span]).SerializeToString()) for tenant, some in spans.items() for span in some]
    done = decode_batch([body for _, body in said], [tenant for tenant, _ in said])
    return done.spans, done.rejections


def computed(spans, settings=None):
    """Edges, and views of services, of the spans of a case, without a store."""
    return in_process(codec.case_spans({"spans": spans}), settings)[:2]


def in_process(spans, settings=None):
    """Edges, views of services, and the minutes of edges by rid, of spans (of codec), without a store."""
    change = delta(coded(delivered(spans)[0]), no_spans(), rules_of(settings))
    minutes = by_minute(change.rows).came
    whole = added(minutes.at(pl.lit(0, pl.Int64)))
    rows = [
        EdgeRow(row["edge"], *(row[name] for name in EdgeRow.__slots__ if name != "id"))
        for row in change.edges.iter_rows(named=True)
    ]
    services = [row for row in rows if row.relation == "SERVICE"]
    by_id = {row.id: row for row in rows if row.relation != "SERVICE"}
    edges = [edge_view(by_id[row["edge"]], row, Links()) for row in summaries(encode(whole)) if row["edge"] in by_id]
    return edges, service_view(services, whole.bags, {}), by_rid(summaries(encode(added(minutes))), by_id)


def by_rid(rows, by_id):
    """Summed rows as measures, by the rid of their edge."""
    found = {edge.rid: [] for edge in by_id.values()}
    for row in rows:
        if row["edge"] in by_id:
            measures = plain(edge_view(by_id[row["edge"]], row, Links()))
            found[measures["rid"]].append(
                {"start_ns": row["start"], **{name: value for name, value in measures.items() if name != "self"}}
            )
    return found


def observed(spans, settings=None):
    """The same by their keys, in the terms of cases/README.md."""
    edges, services = computed(spans, settings)
    return {key_of(edge): edge for edge in map(plain, edges)}, {
        label(view["name"], view["environment"]): view for view in services
    }


class ListLog:
    """A span log in memory: one entry a delivery."""

    def __init__(self):
        self.entries = []

    def append(self, spans, rejections=()):
        self.entries.append((spans, list(rejections)))

    def read(self, position, max_spans):
        at, frames = position.get("w", 0), []
        while at < len(self.entries) and sum(map(len, frames)) < max_spans:
            frames.append(self.entries[at][0])
            at += 1
        return (pl.concat(frames) if frames else empty_spans()), ({"w": at} if at else position)

    def rejected(self, start, end):
        minute = datetime(2026, 1, 15, 13, tzinfo=UTC)
        return [
            LoggedRejection(item, minute)
            for _, found in self.entries[start.get("w", 0) : end.get("w", 0)]
            for item in found
        ]

    def end(self):
        return {"w": len(self.entries)}

    def release(self, position):
        pass


class Bench:
    """An engine over a list log, which can be restarted."""

    def __init__(self, database, folder, clock, settings=None, retention=None):
        self.database, self.folder, self.clock = database, folder, clock
        self.rules, self.retention = rules_of(settings), retention or Retention()
        self.log = ListLog()
        self.store = ObservedStore(database, Links(), lambda _tenant, _window: Coverage(complete=True))
        self.restart()

    def restart(self):
        """A new process on the same folder and database."""
        self.engine = Engine(self.log, self.database, WorkingSpans(self.folder), self.rules, self.clock, self.retention)

    def deliver(self, spans, rejections=()):
        self.log.append(spans, rejections)
        while self.engine.batch(1_000_000).spans:
            pass

    def edges(self, tenant="default"):
        return {
            key_of(edge): edge for edge in map(plain, self.store.edges(EdgeFilter(tenant, infrastructure="include")))
        }

    def windows(self, edge, tenant="default"):
        return [
            {"start_ns": nanoseconds(item["start"]), **plain(item["edge"])}
            for item in self.store.series(tenant, edge["rid"], TimeRange(), "1m")
        ]

    def all_windows(self, tenant="default"):
        """Minutes of every edge by rid, in one read."""
        spans = [Segment(0, 0, LAST)]
        with self.database.connection() as connection:
            known = observed_read.find_edges(connection, EdgeQuery(tenant, tuple(spans)))
            lines = stored(connection, tenant, known, spans)
        return by_rid(summaries(lines), {edge.id: edge for edge in known})

    def services(self, tenant="default"):
        return {
            label(item["name"], item["environment"]): item for item in self.store.services(tenant, None, TimeRange())
        }


def label(name, environment):
    return f"{name}@{environment}" if environment else name


def nanoseconds(at):
    return round(at.timestamp() * 1_000_000) * 1000


def plain(edge):
    """An ObservedEdge in the terms of cases/README.md."""
    latency = {
        name: found
        and {field: getattr(found, field) for field in ("count", "sum", "min", "p50", "p90", "p95", "p99", "max")}
        for name, found in zip(LATENCIES, (edge.client_latency, edge.server_latency, edge.queue), strict=True)
    }
    same = (
        "rid",
        "calls",
        "handled",
        "messages",
        "retries",
        "client_errors",
        "server_errors",
        "errors",
        "cancelled",
        "observed",
        "clock_suspect",
        "queue_unmeasured",
        "adjusted_calls",
        "adjusted_errors",
        "sampling_known",
        "basis",
        "protocols",
        "via",
        "operations",
        "consumer_groups",
        "active_days",
        "infrastructure",
        "folded",
    )
    return {
        **{name: getattr(edge, name) for name in same},
        **latency,
        "source": label(edge.source.name, edge.source.environment),
        "relation": edge.relation.value,
        "target": label(edge.target.name, edge.target.environment),
        "target_kind": edge.target.kind.value,
        "self": edge.is_self,
        "causes": [
            {"caller_operation": c.caller_operation, "callee_operation": c.callee_operation, "calls": c.calls}
            for c in edge.causes
        ],
        "source_versions": list(edge.source_versions),
        "target_versions": list(edge.target_versions),
        "aliases": list(edge.aliases),
        "addresses": list(edge.addresses),
        "support": {"instances": edge.support.instances, "instance_hours": edge.support.instance_hours},
        "first_seen_ns": nanoseconds(edge.first_seen),
        "last_seen_ns": nanoseconds(edge.last_seen),
        "exemplars": {
            outcome: [x.trace_id for x in edge.exemplars if x.outcome == outcome]
            for outcome in ("error", "slowest", "ordinary")
        },
    }


def key_of(edge):
    return tuple(bool(edge.get(name)) if name == "infrastructure" else edge[name] for name in KEY)


def differences(case, edges, windows, services, deliveries=True):
    """What of a case's expectations does not hold, as sentences. `windows(edge)` gives an edge's minutes."""
    found = []
    wanted = {key_of(edge): edge for edge in case["expect"]["edges"]}
    found += [f"missing {key}" for key in sorted(set(wanted) - set(edges))]
    found += [f"additional {key}" for key in sorted(set(edges) - set(wanted))]
    for key in sorted(set(wanted) & set(edges)):
        found += _measures(wanted[key], edges[key], " ".join(map(str, key)), windows)
    for name, counters in (case["expect"].get("services") or {}).items():
        for counter, value in counters.items():
            have = services.get(name, {}).get(counter, 0)
            if (
                have != value
                and (deliveries or counter not in {"duplicates", "rejected"})
                and not (counter == "rejected" and name not in services)
            ):
                found.append(f"service {name}: {counter} is {have}, expected {value}")
    return found


def _measures(want, have, where, windows):
    found = []
    for name, value in want.items():
        if name in KEY:
            continue
        if name == "windows":
            minutes = {(row["start_ns"] - codec.BASE_NS) // 10**6: row for row in windows(have)}
            if sorted(minutes) != sorted(row["start_ms"] for row in value):
                found.append(f"{where}: windows at {sorted(minutes)}")
            for row in value:
                inner = {k: v for k, v in row.items() if k != "start_ms"}
                found += _measures(inner, minutes.get(row["start_ms"], {}), f"{where} +{row['start_ms']} ms", windows)
        elif name in LATENCIES:
            found += _latency(value, have.get(name), f"{where}: {name}")
        elif not _same(name, value, have):
            found.append(f"{where}: {name} is {have.get(name)!r}, expected {value!r}")
    return found


def _same(name, want, have):
    if name == "exemplars":
        return have.get(name) == {
            outcome: [codec.trace_id(symbol) for symbol in symbols] for outcome, symbols in want.items()
        }
    if name == "support":
        return want == {field: have["support"][field] for field in want}
    if name.endswith("_seen_ms"):
        return codec.BASE_NS + want * 10**6 == have[name.replace("_ms", "_ns")]
    if isinstance(want, float):
        return have.get(name) is not None and math.isclose(want, have[name], rel_tol=1e-12)
    return want == have.get(name)


def _latency(samples, have, where):
    if not samples or not have:
        return [] if not samples and not have else [f"{where} is {have}, expected {samples}"]
    ordered = sorted(samples)
    exact = {"count": len(samples), "sum": sum(samples), "min": ordered[0], "max": ordered[-1]}
    found = [
        f"{where} {name} is {have[name]}, expected {value}"
        for name, value in exact.items()
        if not math.isclose(have[name], value, rel_tol=1e-9, abs_tol=1e-6)
    ]
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        rank = max(1, math.ceil(q * len(ordered)))
        value = ordered[rank - 1]
        if not math.isclose(have[name], value, rel_tol=0.01, abs_tol=1e-6):
            found.append(f"{where} {name} is {have[name]}, expected {value}")
    return found


def load_random(seed):
    """Batches of a random run (raw requests), and the right answer."""
    folder = ROOT / "random" / str(seed)
    return [path.read_bytes() for path in sorted(folder.glob("batch-*.pb"))], json.loads(
        (folder / "answer.json").read_text(encoding="utf-8")
    )


def against_answer(bench, seed, folder):
    """A random run's services, and what compare.py says of its edges, minute by minute, beside the right answer."""
    windows, services, product = bench.all_windows(), bench.services(), folder / "product.json"
    edges = [edge | {"windows": windows[edge["rid"]]} for edge in bench.edges().values()]
    product.write_text(json.dumps({"edges": edges, "services": services}), encoding="utf-8")
    command = [
        sys.executable,
        str(ROOT / "compare.py"),
        str(ROOT / "random" / str(seed) / "answer.json"),
        str(product),
        "--windows",
    ]
    return services, subprocess.run(command, capture_output=True, text=True, check=False)
