"""Service rows as readers get them, with sentences on what to fix. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from aggregator.bounds import OTHER
from aggregator.rollup import SEPARATOR
from aggregator.service_facts import COUNTERS, EXITS
from nexus.model.service import UNNAMED
from nexus.store.observed_read import EdgeRow

# Shares from which a sentence is worth it; below, single lost spans would make noise.
NOTICE: Final = 0.02
# Instances that a sentence names.
NAMED: Final = 3
# What bags hold, in words.
ITEMS: Final = {
    "cause": "operations (name spans by route, not by URL)",
    "version": "versions",
    "source_version": "versions",
    "target_version": "versions of a callee",
    "instance": "instances",
    "instance_name": "instances",
    "via": "topics",
    "alias": "names of a callee",
    "reached": "names of a callee",
    "address": "addresses",
    "exit": "protocols",
    "protocol": "protocols",
    "p": "sampling probabilities",
}
# By kind and item: how often it counts, and a second number.
Bags = dict[str, dict[str, tuple[int, int]]]


def overfull(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], set[str]]:
    """Kinds of bags with items beyond their limit, by source and environment, of rows (source, environment, bags)."""
    found: dict[tuple[str, str], set[str]] = {}
    for source, environment, bags in rows:
        found.setdefault((source, environment), set()).update(
            bag["k"] for bag in json.loads(bags) if any(item.startswith(OTHER) for item in bag["i"])
        )
    return found


def service_view(
    known: list[EdgeRow],
    bags: pl.DataFrame,
    delivered: dict[tuple[str, str], dict[str, int]],
    full: Mapping[tuple[str, str], set[str]] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """One mapping a service, in the order of `known`, with the counters by their names. `full`: of its edges, as of `overfull`.

    `unnamed`: of a service the spans that name none and come from its instances; of the unnamed class all of its spans.
    """
    found: dict[int, Bags] = {}
    for edge, _, kind, item, n, m in bags.sort("edge", "kind", "item").iter_rows():
        found.setdefault(edge, {}).setdefault(kind, {})[item] = (n, m)
    sent = {edge.id: _instances(found.get(edge.id, {})) for edge in known}
    nameless = next((sent[edge.id] for edge in known if edge.source == UNNAMED), {})
    views = []
    for edge in known:
        bag = found.get(edge.id, {})
        counters = dict.fromkeys(COUNTERS, 0) | {name: n for name, (n, _) in bag.get("counter", {}).items()}
        infrastructure = {name: n for name, (n, _) in bag.get("infrastructure", {}).items()}
        exits = bag.get("exit", {})
        spans = counters["spans"]
        beside = {name: nameless[name] for name in sent[edge.id] if name in nameless and name not in {"", OTHER}}
        counters["unnamed"] = spans if edge.source == UNNAMED else sum(beside.values())
        arrived = delivered.get((edge.source, edge.source_env), {"late": 0, "duplicates": 0, "rejected": 0})
        view: dict[str, Any] = {
            "name": edge.source,
            "environment": edge.source_env,
            **counters,
            **arrived,
            "exit_spans": {name: n for name, (n, _) in exits.items()},
            "protocols": {
                name: {"exits": n, "resolved": m, "share": m / n if n else 0.0} for name, (n, m) in exits.items()
            },
            "instances": sorted(sent[edge.id]),
            "versions": kept_apart(bag.get("version", {})),
            "shares": shares(edge.source, counters | arrived, infrastructure),
            "sampling": {
                "known": counters["spans_sampling_known"] / spans if spans else 0.0,
                "smallest_probability": smallest(bag.get("p", {})),
            },
        }
        unpaired = counters["unpaired_clients"] - infrastructure.get("unpaired_clients", 0)
        said = sentences(view, unpaired, sorted(beside if edge.source != UNNAMED else sent[edge.id]))
        kinds = full.get((edge.source, edge.source_env), set()) | {
            kind for kind, items in bag.items() if any(item.startswith(OTHER) for item in items)
        }
        views.append(view | {"findings": said + _beyond(edge.source, kinds)})
    return views


def kept_apart(items: Iterable[str]) -> list[str]:
    """Texts of a bag that are not folded, in order."""
    return sorted(item for item in items if item != OTHER)


def smallest(probabilities: Iterable[str]) -> float | None:
    """Of those that a bag keeps apart."""
    return min((float(p) for p in probabilities if p != OTHER), default=None)


def _beyond(name: str, kinds: set[str]) -> list[str]:
    """A sentence on each kind of thing of which a service names too much."""
    return [
        f"`{name}` names more {words} on one edge or of itself than are kept apart: those beyond the limit are counted together as `{OTHER}`"
        for words in sorted({ITEMS[kind] for kind in kinds if kind in ITEMS})
    ]


def _instances(bag: Bags) -> dict[str, int]:
    """How many spans each instance sent."""
    count = {name: n for name, (n, _) in bag.get("instance_name", {}).items()}
    for item, (n, _) in bag.get("instance", {}).items():
        name = item.rsplit(SEPARATOR, 1)[0]
        count[name] = count.get(name, 0) + n
    return count


def shares(service: str, counts: dict[str, int], infrastructure: dict[str, int]) -> dict[str, float | None]:
    """Parts of 1, null where there is nothing to share: of exits (those to infrastructure apart), of spans where work enters, and of all spans.

    `unnamed` is a share of what the instances of the service send, with and without a name.
    """
    exits = {name: counts[name] - infrastructure.get(name, 0) for name in EXITS}
    out, entries, spans = sum(exits.values()), counts["entry_spans"], counts["spans"]
    parts = {
        "paired": (exits["exits_paired"], out),
        "resolved": (exits["exits_paired"] + exits["exits_by_attribute"], out),
        "unpaired": (exits["unpaired_clients"], out),
        "orphaned": (counts["orphan_servers"] + counts["orphan_consumers"], entries),
        "late": (counts["late"], spans),
        "duplicate": (counts["duplicates"], spans),
        "clock_suspect": (counts["clock_suspect"], spans),
        "unnamed": (counts["unnamed"], spans if service == UNNAMED else spans + counts["unnamed"]),
    }
    return {name: part / whole if whole else None for name, (part, whole) in parts.items()}


def many(count: int, one: str, more: str = "") -> str:
    """`1 span`, `2 spans`."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def _by_protocol(view: dict[str, Any]) -> str:
    """Of which protocols exits are unresolved, as far as they state any."""
    left = {name: found["exits"] - found["resolved"] for name, found in view["protocols"].items()}
    known = sorted(((-n, name) for name, n in left.items() if n > 0 and name != "unknown"))[:NAMED]
    return f" ({', '.join(f'{name} {-n}' for n, name in known)})" if known else ""


def sentences(view: dict[str, Any], unpaired: int, senders: list[str]) -> list[str]:
    """What a service's owner should fix, worst first. `unpaired`: exits that name nothing; `senders`: instances that send unnamed spans."""
    name, spans = view["name"], max(view["spans"], 1)
    out: list[tuple[float, str]] = []

    def notice(share: float | None, sentence: str) -> None:
        if (share or 0.0) >= NOTICE:
            out.append((share or 0.0, sentence))

    among = [sender for sender in senders if sender not in {"", OTHER}]
    places = f" ({', '.join(among[:NAMED])}{', ...' if len(among) > NAMED else ''})" if among else ""
    if name == UNNAMED:
        out.append(
            (
                2.0,
                f"{many(view['spans'], 'span')} without a service name: set service.name (OTEL_SERVICE_NAME) on their senders{places}",
            )
        )
    else:
        notice(
            view["shares"]["unnamed"],
            f"{many(view['unnamed'], 'span')} from instances of `{name}`{places} without a service name: set service.name (OTEL_SERVICE_NAME) for all that sends there",
        )
    notice(
        view["shares"]["unpaired"],
        f"`{name}` sends {many(unpaired, 'CLIENT or PRODUCER span')}{_by_protocol(view)} without a far end that was seen or named: "
        "calls need server.address or peer.service, messages messaging.system and messaging.destination.name",
    )
    entries = max(view["entry_spans"], 1)
    notice(
        view["orphan_servers"] / entries,
        f"`{name}` sends {many(view['orphan_servers'], 'SERVER span')} with a parent that was not seen within the horizon: callers sample otherwise, or drop spans",
    )
    notice(
        view["orphan_consumers"] / entries,
        f"`{name}` sends {many(view['orphan_consumers'], 'CONSUMER span')} with producers that were not seen within the horizon",
    )
    notice(
        view["bad_parents"] / spans,
        f"`{name}` sends {many(view['bad_parents'], 'span')} with an unusable parent id (wrong length, the span itself, or a cycle)",
    )
    notice(
        view["conflicting_duplicates"] / spans,
        f"`{name}` sends {many(view['conflicting_duplicates'], 'span')} again with other content: span ids are reused, or spans exported before they end",
    )
    notice(
        view["clock_suspect"] / spans,
        f"`{name}` sends {many(view['clock_suspect'], 'span')} with an end before the start, or none: check its clock",
    )
    if view["unresolved_links"] and not view["orphan_consumers"]:
        notice(
            view["unresolved_links"] / spans,
            f"`{name}` links to {many(view['unresolved_links'], 'message')} without a sender that was seen within the horizon: instrument them, or keep the spans of both ends",
        )
    notice(
        view["beyond_horizon"] / spans,
        f"`{name}` has {many(view['beyond_horizon'], 'parent or linked message', 'parents or linked messages')} further away in time than the pairing horizon",
    )
    notice(view["late"] / spans, f"{many(view['late'], 'span')} of `{name}` came after their window had settled")
    notice(
        view["rejected"] / spans,
        f"{many(view['rejected'], 'span')} of `{name}` refused for ids or start time (none, or too far from the present)",
    )
    notice(
        view["duplicates"] / spans,
        f"{many(view['duplicates'], 'span')} of `{name}` came again: check its exporter's timeout against the collector's answer time",
    )
    if 0 < view["sampling"]["known"] < 1:
        notice(
            1 - view["sampling"]["known"],
            f"{spans - view['spans_sampling_known']} of {spans} spans of `{name}` do not say with what probability they were kept (tracestate ot=th)",
        )
    return [sentence for _, sentence in sorted(out, key=lambda item: (-item[0], item[1]))]
