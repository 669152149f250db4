"""Service rows as readers get them, with sentences on what to fix. Pure."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from aggregator.service_facts import COUNTERS, EXITS
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
            "shares": shares(counters | arrived, {name: n for name, (n, _) in bag.get("infrastructure", {}).items()}),
            "sampling": {"known": counters["spans_sampling_known"] / spans if spans else 0.0, "smallest_probability": min((float(p) for p in bag.get("p", {})), default=None)},
        }
        views.append(view | {"findings": sentences(view)})
    return views


def shares(counts: dict[str, int], infrastructure: dict[str, int]) -> dict[str, float | None]:
    """Parts of 1, null where there is nothing to share: of exits (those to infrastructure apart), of spans where work enters, and of all spans."""
    exits = {name: counts[name] - infrastructure.get(name, 0) for name in EXITS}
    out, entries, spans = sum(exits.values()), counts["entry_spans"], counts["spans"]
    parts = {
        "paired": (exits["exits_paired"], out), "resolved": (exits["exits_paired"] + exits["exits_by_attribute"], out), "unpaired": (exits["unpaired_clients"], out),
        "orphaned": (counts["orphan_servers"] + counts["orphan_consumers"], entries), "late": (counts["late"], spans), "duplicate": (counts["duplicates"], spans),
        "clock_suspect": (counts["clock_suspect"], spans),
    }
    return {name: part / whole if whole else None for name, (part, whole) in parts.items()}


def sentences(view: dict[str, Any]) -> list[str]:
    """What a service's owner should fix, worst first."""
    name, spans = view["name"], max(view["spans"], 1)
    out: list[tuple[float, str]] = []

    def notice(share: float, sentence: str) -> None:
        if share >= NOTICE:
            out.append((share, sentence))

    if name == UNNAMED:
        out.append((2.0, f"{view['spans']} spans name no service: set service.name (OTEL_SERVICE_NAME) on their senders"))
    notice(view["shares"]["unpaired"] or 0.0, f"`{name}` sends {view['unpaired_clients']} CLIENT or PRODUCER spans without a far end or an address of one (server.address, peer.service)")
    notice(view["orphan_servers"] / max(view["entry_spans"], 1), f"{view['orphan_servers']} SERVER spans of `{name}` name a parent that never came: callers sample otherwise, or drop spans")
    notice(view["orphan_consumers"] / max(view["entry_spans"], 1), f"{view['orphan_consumers']} CONSUMER spans of `{name}` point to producers that never came")
    notice(view["bad_parents"] / spans, f"`{name}` sends {view['bad_parents']} spans with an unusable parent id (wrong length, the span itself, or a cycle)")
    notice(view["conflicting_duplicates"] / spans, f"`{name}` sends {view['conflicting_duplicates']} spans again with other content: span ids are reused, or spans exported before they end")
    notice(view["clock_suspect"] / spans, f"{view['clock_suspect']} spans of `{name}` end before they start, or have no end: check its clock")
    if view["unresolved_links"] and not view["orphan_consumers"]:
        notice(view["unresolved_links"] / spans, f"`{name}` links to {view['unresolved_links']} messages whose senders never came: instrument them, or keep the spans of both ends")
    notice(view["beyond_horizon"] / spans, f"{view['beyond_horizon']} spans of `{name}` lie further from their parent than the pairing horizon")
    notice(view["late"] / spans, f"{view['late']} spans of `{name}` came after their window had settled")
    notice(view["rejected"] / spans, f"{view['rejected']} spans of `{name}` were refused for their ids or start time")
    notice(view["duplicates"] / spans, f"{view['duplicates']} spans of `{name}` were delivered again: check its exporter's timeout against the collector's answer time")
    if 0 < view["sampling"]["known"] < 1:
        notice(1 - view["sampling"]["known"], f"{spans - view['spans_sampling_known']} of {spans} spans of `{name}` do not say with what probability they were kept (tracestate ot=th)")
    return [sentence for _, sentence in sorted(out, key=lambda item: (-item[0], item[1]))]
