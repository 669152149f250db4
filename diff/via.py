"""Whether what a claim says of the how (protocol, operation, channel) is what an edge shows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from diff.families import UNKNOWN, compatible, family
from diff.names import same_topic
from nexus.model.claim import Claim, Via
from nexus.model.edge import ObservedEdge

_ROUTE = re.compile(r"^(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+)?(/\S*)$", re.IGNORECASE)
_METHOD = re.compile(r"^/?(?:[\w.]+/)?[A-Za-z]\w*$")


def shown(claims: Iterable[Claim], edges: Iterable[ObservedEdge]) -> tuple[Claim | None, tuple[ObservedEdge, ...]]:
    """The first claim whose every stated part some edges show, and these edges; (None, ()) where none is."""
    kept = tuple(edges)
    for claim in claims:
        found = tuple([edge for edge in kept if fits(claim.via, edge)])
        if found:
            return claim, found
    return None, ()


def fits(via: Via, edge: ObservedEdge) -> bool:
    """Whether some of the edge's contacts are as stated. What no span tells is not."""
    if via.protocol and not any(
        count and family(name) != UNKNOWN and compatible(via.protocol, name) for name, count in edge.protocols.items()
    ):
        return False
    if via.channel and not any(same_topic(via.channel, name) for name in (*edge.via, edge.target.name)):
        return False
    # Words ("authorise the payment") cannot be compared with what a trace says.
    return not shape_of(via.operation) or any(
        c.callee_operation is not None and same_operation(via.operation, c.callee_operation) for c in edge.causes
    )


def shape_of(operation: str) -> str:
    """`route` or `method`: what can be compared with what a trace says; empty for words."""
    text = operation.strip()
    if _ROUTE.match(text):
        return "route"
    return "method" if _METHOD.match(text) and ("/" in text or any(c.isupper() for c in text[1:])) else ""


def same_operation(said: str, seen: str) -> bool:
    """Whether two operations are the same, parameters of a route apart; a method without its service fits any service."""
    a, b = _ROUTE.match(said.strip()), _ROUTE.match(seen.strip())
    if a and b:
        if a[1] and b[1] and a[1].upper() != b[1].upper():
            return False
        one, two = a[2].split("?")[0].rstrip("/").split("/"), b[2].split("?")[0].rstrip("/").split("/")
        return len(one) == len(two) and all(
            x == y or _parameter(x) or _parameter(y) for x, y in zip(one, two, strict=True)
        )
    one_method, two_method = said.strip().strip("/"), seen.strip().strip("/")
    if "/" in one_method and "/" in two_method:
        return (
            one_method.rsplit(".", 1)[-1].casefold() == two_method.rsplit(".", 1)[-1].casefold()
            or one_method.casefold() == two_method.casefold()
        )
    return one_method.rsplit("/", 1)[-1].casefold() == two_method.rsplit("/", 1)[-1].casefold()


def _parameter(segment: str) -> bool:
    return segment.startswith((":", "{", "<", "*", "[")) or segment.isdigit()
