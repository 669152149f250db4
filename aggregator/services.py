"""Service rows as readers get them, with sentences on what to fix. Pure."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from aggregator.service_facts import COUNTERS
from nexus.model.service import UNNAMED
from nexus.store.observed_read import EdgeRow

# Shares from which a sentence is worth it; below, single lost spans would make noise.
NOTICE: Final = 0.02


def service_view(known: list[EdgeRow], bags: pl.DataFrame, delivered: dict[tuple[str, str], dict[str, int]]) -> list[dict[str, Any]]:
    """One mapping a service, in the order of `known`, with the counters by their names."""
    found: dict[int, dict[str, dict[str, tuple[int, int]]]] = {}
    for edge, _, kind, item, n, m in bags.sort("edge", "kind", "item").iter_rows():
        found.setdefault(edge, {}).setdefault(kind, {})[item] = (n, m)
    views = []
    for edge in known:
        bag = found.get(edge.id, {})
        counters = dict.fromkeys(COUNTERS, 0) | {name: n for name, (n, _) in bag.get("counter", {}).items()}
        exits = bag.get("exit", {})
        spans = counters["spans"]
        arrived = delivered.get((edge.source, edge.source_env), {"late": 0, "duplicates": 0, "rejected": 0})
        view: dict[str, Any] = {
            "name": edge.source, "environment": edge.source_env, **counters, **arrived, "exit_spans": {name: n for name, (n, _) in exits.items()},
            "protocols": {name: {"exits": n, "resolved": m, "share": m / n if n else 0.0} for name, (n, m) in exits.items()},
            "instances": sorted({item.rsplit("\x1f", 1)[0] for item in bag.get("instance", {})} | set(bag.get("instance_name", {}))), "versions": sorted(bag.get("version", {})),
            "sampling": {"known": counters["spans_sampling_known"] / spans if spans else 0.0, "smallest_probability": min((float(p) for p in bag.get("p", {})), default=None)},
        }
        views.append(view | {"findings": sentences(view)})
    return views


def sentences(view: dict[str, Any]) -> list[str]:
    """What a service's owner should fix, worst first."""
    name, spans = view["name"], max(view["spans"], 1)
    exits = max(sum(view["exit_spans"].values()), 1)
    out: list[tuple[float, str]] = []

    def notice(share: float, sentence: str) -> None:
        if share >= NOTICE:
            out.append((share, sentence))

    if name == UNNAMED:
        out.append((2.0, f"{view['spans']} spans name no service: set service.name (OTEL_SERVICE_NAME) on their senders"))
    notice(view["unpaired_clients"] / exits, f"`{name}` sends {view['unpaired_clients']} CLIENT or PRODUCER spans without a far end or an address of one (server.address, peer.service)")
    notice(view["orphan_servers"] / max(view["entry_spans"], 1), f"{view['orphan_servers']} SERVER spans of `{name}` name a parent that never came: callers sample otherwise, or drop spans")
    notice(view["orphan_consumers"] / max(view["entry_spans"], 1), f"{view['orphan_consumers']} CONSUMER spans of `{name}` point to producers that never came")
    notice(view["bad_parents"] / spans, f"`{name}` sends {view['bad_parents']} spans with an unusable parent id (wrong length, the span itself, or a cycle)")
    notice(view["conflicting_duplicates"] / spans, f"`{name}` sends {view['conflicting_duplicates']} spans again with other content: span ids are reused, or spans exported before they end")
    notice(view["clock_suspect"] / spans, f"{view['clock_suspect']} spans of `{name}` end before they start, or have no end: check its clock")
    notice(view["beyond_horizon"] / spans, f"{view['beyond_horizon']} spans of `{name}` lie further from their parent than the pairing horizon")
    notice(view["late"] / spans, f"{view['late']} spans of `{name}` came after their window had settled")
    notice(view["rejected"] / spans, f"{view['rejected']} spans of `{name}` were refused for their ids or start time")
    notice(view["duplicates"] / spans, f"{view['duplicates']} spans of `{name}` were delivered again: check its exporter's timeout against the collector's answer time")
    if 0 < view["sampling"]["known"] < 1:
        notice(1 - view["sampling"]["known"], f"{spans - view['spans_sampling_known']} of {spans} spans of `{name}` do not say with what probability they were kept (tracestate ot=th)")
    return [sentence for _, sentence in sorted(out, key=lambda item: (-item[0], item[1]))]
