"""A TraceQL query for an edge: names both ends, and finds the traces that the edge's samples come from. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from aggregator.bounds import OTHER
from aggregator.concepts import DB_SYSTEMS, MESSAGING_SYSTEMS
from nexus.model.attributes import HOSTS
from nexus.model.service import ADDRESS_CLASS, ANONYMOUS, UNNAMED, Node, NodeKind

_ENVIRONMENTS: Final = ("resource.deployment.environment.name", "resource.deployment.environment")
_DESTINATIONS: Final = (
    "span.messaging.destination.template",
    "span.messaging.destination.name",
    "span.messaging.destination",
    "span.messaging.rabbitmq.destination.routing_key",
    "span.messaging.rabbitmq.routing_key",
)
_MESSAGES: Final = ("span.messaging.system", "span.messaging.operation.type", "span.messaging.operation")
_UNNAMED: Final = r"(\s*|unknown_service(:.*)?)"
_SENDS: Final = "(kind = producer || kind = client)"
_TAKES: Final = "(kind = consumer || kind = client)"
_LEAVES: Final = {
    "CALLS_OBSERVED": "kind = client",
    "PUBLISHES_OBSERVED": _SENDS,
    "SUBSCRIBES_OBSERVED": _TAKES,
    "DELIVERS_OBSERVED": _SENDS,
}


def text(value: str) -> str:
    """A TraceQL string literal."""
    return json.dumps(value, ensure_ascii=False)


def _any(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({' || '.join(terms)})"


def _equal(names: Sequence[str], values: Sequence[str]) -> str:
    return _any([f"{name} = {text(value)}" for value in values for name in names])


def _spelled(names: Sequence[str], values: Sequence[str]) -> str:
    """Conditions on names of systems, which are read in any case."""
    pattern = text(f"(?i)({'|'.join(re.escape(value) for value in values)})")
    return _any([f"{name} =~ {pattern}" for name in names])


@lru_cache(maxsize=65536)
def service(node: Node) -> str:
    """Conditions on a span of a service."""
    if node.name == UNNAMED:
        return f"resource.service.name =~ {text(_UNNAMED)}"
    space, slash, name = node.name.partition("/")
    terms = [f"resource.service.name = {text(node.name)}"]
    if slash:
        terms.append(f"(resource.service.name = {text(name)} && resource.service.namespace = {text(space)})")
    found = _any(terms)
    return found + (f" && {_equal(_ENVIRONMENTS, [node.environment])}" if node.environment else "")


@lru_cache(maxsize=65536)
def host(name: str) -> str:
    """Conditions on a span that names a host in any of the ways it can be spelled."""
    pattern = re.escape(name).replace("\\-", "-")
    plain = text(f"(?i)(.*@)?\\[?{pattern}\\]?\\.?(:[0-9]+)?")
    inside = text(f"(?i)[a-z][a-z0-9+.-]*://([^/]*@)?\\[?{pattern}\\]?\\.?([:/?#].*)?")
    return _any([f"span.{key} =~ {inside if key in {'url.full', 'http.url'} else plain}" for key in HOSTS])


def _database(source: str, target: Node) -> str:
    system, *rest = target.name.split("/")
    spellings = [system, *(old for old, new in DB_SYSTEMS.items() if new == system)]
    first = f"{source} && kind = client"
    if system != "unknown":
        first += f" && {_spelled(['span.db.system.name', 'span.db.system'], spellings)}"
    sets = [f"{{ {first} }}"]
    # Host and name may stand on different layers of one call, and which of two parts is which is not told by the node's name.
    for part in rest if len(rest) < 2 else (rest[0], "/".join(rest[1:])):
        named = _equal(
            [
                "span.db.namespace",
                "span.db.name",
                "span.db.redis.database_index",
                "span.peer.service",
                "span.service.peer.name",
            ],
            [part],
        )
        if part.isdecimal() and part.isascii():
            # Redis numbers its databases, and a text equals no number.
            named += f" || span.db.redis.database_index = {int(part)}"
        sets.append(f"{{ {source} && kind = client && ({named} || {host(part)}) }}")
    return " && ".join(sets)


def _named_service(source: str, target: Node) -> str:
    plain = target.name.rpartition("/")[2]
    names = sorted({target.name, plain})
    pattern = "|".join(re.escape(name).replace("\\-", "-") for name in names)
    stated = _equal(["span.peer.service", "span.service.peer.name", "span.rpc.service"], names)
    return f"{{ {source} && kind = client && ({stated} || span.rpc.method =~ {text(f'/?({pattern})/.*')} || name =~ {text(f'(grpc[.]|/)?({pattern})/.*')}) }}"


def _topic(target: str) -> str:
    system, _, destination = target.partition("/")
    spellings = [system, *(old for old, new in MESSAGING_SYSTEMS.items() if new == system)]
    if destination == ANONYMOUS:
        return _spelled(["span.messaging.system"], spellings)
    return _equal(_DESTINATIONS, [destination])


def _silent(kind: str) -> str:
    """Conditions on a message span that names no destination: it may have that of the other end, in another trace."""
    about = _any([kind, *(f"{name} != nil" for name in _MESSAGES)])
    return " && ".join([about, *(f"!({name} != nil)" for name in _DESTINATIONS)])


def _calls(source: Node, target: Node, basis: Mapping[str, int], addresses: Sequence[str]) -> str:
    caller, callee = service(source), service(target)
    if target.kind is NodeKind.DATABASE:
        return _database(caller, target)
    if target.kind is NodeKind.EXTERNAL:
        if target.name == ADDRESS_CLASS:
            # A sample of the addresses stands for the class.
            return f"{{ {caller} && kind = client && {_any([host(address) for address in addresses] or [host('localhost')])} }}"
        return f"{{ {caller} && kind = client && {host(target.name)} }}"
    parts = []
    if any(basis.get(name) for name in ("paired", "boundary")):
        parts.append(f"({{ {caller} }} >> {{ {callee} }})")
    if basis.get("server_only"):
        stated = _equal(
            ["span.peer.service", "span.service.peer.name"], sorted({source.name, source.name.rpartition("/")[2]})
        )
        parts.append(f"(({{ {caller} }} >> {{ {callee} }}) || {{ {callee} && kind = server && {stated} }})")
    if basis.get("inferred"):
        parts.append(f"({{ {caller} && kind = client }} && {{ {callee} && kind = server }})")
    if basis.get("client_only"):
        parts.append(_named_service(caller, target))
    return " || ".join(parts) or f"{{ {caller} }} >> {{ {callee} }}"


def trace_query(
    relation: str,
    source: Node,
    target: Node,
    *,
    basis: Mapping[str, int],
    via: Mapping[str, int],
    addresses: Sequence[str] = (),
    unhandled: bool = False,
) -> str:
    """TraceQL for an observed edge. Of one to what was folded (`(other)`) it names the end that is known; empty where none is.

    `unhandled`: more messages came than handlings, which alone say in `basis` how they came.
    """
    if OTHER in {source.name, target.name}:
        return "" if source.name == OTHER else f"{{ {service(source)} && {_LEAVES[relation]} }}"
    if relation in {"PUBLISHES_OBSERVED", "SUBSCRIBES_OBSERVED"}:
        ends, kind = (_SENDS, "kind = producer") if relation == "PUBLISHES_OBSERVED" else (_TAKES, "kind = consumer")
        end = f"{service(source)} && {ends}"
        return f"({{ {end} }} && {{ {_topic(target.name)} }}) || {{ {end} && {_silent(kind)} }}"
    if relation == "DELIVERS_OBSERVED":
        inside = f"({{ {service(source)} }} >> {{ {service(target)} }})"
        if basis.get("boundary"):
            # Linked by hand to a span of any kind, in whatever trace: each end is found by itself.
            inside += f" || {{ {service(source)} }} || {{ {service(target)} && {_TAKES} }}"
        if not basis.get("linked") and not unhandled:
            return inside
        # Sender and handler are in two traces: each end is found by itself.
        topics = [_topic(name) for name in sorted(via)[:5]]
        about = f" && {_any([*topics, '(' + _silent('kind = producer') + ')'])}" if topics else ""
        return f"{inside} || {{ {service(source)} && {_SENDS}{about} }} || {{ {service(target)} && {_TAKES} }}"
    return _calls(source, target, basis, addresses)


def grafana_url(base: str, datasource: str, query: str, start_ms: int, end_ms: int) -> str:
    """A link that opens the query in Grafana's Explore."""
    panes = {
        "nexus": {
            "datasource": datasource,
            "queries": [
                {
                    "refId": "A",
                    "datasource": {"type": "tempo", "uid": datasource},
                    "queryType": "traceql",
                    "query": query,
                    "limit": 20,
                }
            ],
            "range": {"from": str(start_ms), "to": str(end_ms)},
        },
    }
    return (
        f"{base.rstrip('/')}/explore?schemaVersion=1&panes={quote(json.dumps(panes, separators=(',', ':')), safe='')}"
    )


def tempo_url(base: str, query: str, start_s: int, end_s: int) -> str:
    """A link to Tempo's search API."""
    return f"{base.rstrip('/')}/api/search?q={quote(query, safe='')}&start={start_s}&end={end_s}"
