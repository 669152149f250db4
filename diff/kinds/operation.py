"""The same two services, but another route or method than the documented one.

Only where the document names a route (`POST /charges`) or a method (`Payment/Charge`) in the form in which traces name them,
where every operation of the edge is known (no overflow row), and with at least 95 % (lower bound) of the calls elsewhere.

What to do: correct the operation in the document.
"""

from __future__ import annotations

import re
from typing import Final

from diff import presence, stats
from diff.kinds._common import quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED, OPERATION, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity

_ROUTE = re.compile(r"^(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+)?(/\S*)$", re.IGNORECASE)
_METHOD = re.compile(r"^/?(?:[\w.]+/)?[A-Za-z]\w*$")
OVERFLOW = "(other)"


def decide(subject: Subject, world: World) -> Verdict | None:
    """Known operations, and the documented one is not among them."""
    wanted = subject.via.operation
    shape = _shape(wanted)
    if subject.relation != "CALLS" or not shape:
        return None
    seen: dict[str, int] = {}
    for edge in subject.edges:
        for cause in edge.causes:
            if OVERFLOW in (cause.caller_operation, cause.callee_operation):
                return None
            if cause.callee_operation is None:
                continue
            seen[cause.callee_operation] = seen.get(cause.callee_operation, 0) + cause.calls
    alike = {name: count for name, count in seen.items() if _shape(name) == shape}
    total = sum(seen.values())
    if not alike or sum(alike.values()) < total or any(same_operation(wanted, name) for name in alike) or total < presence.total(subject.edges):
        return None
    # An operation that another sentence documents is no contrary observation.
    others = {c.via.operation for c in subject.pair_claims if c.via.operation and c.via.operation != wanted}
    stray = {name: count for name, count in alike.items() if not any(same_operation(one, name) for one in others)}
    if not stray:
        return None
    lower = stats.share_lower(total, total, world.policy.alpha)
    _, missing = support(subject, subject.edges, world)
    if lower < world.policy.other_mode_share:
        missing = "; ".join(part for part in (missing, f"59 calls without {wanted}, there are {total}") if part)
    main = max(sorted(stray), key=lambda name: stray[name])
    return Verdict(
        "another_operation", f"{quoted(subject)} names {wanted}, but all {total:,} calls are to {', '.join(sorted(alike)[:3])}",
        f"for a decision: {missing}" if missing else f"a call to {wanted}, or a corrected document", 0.5 if missing else lower,
        undecided=bool(missing), edge=strongest(subject.edges), details={"documented": wanted, "observed": alike, "main": main},
    )


def _shape(operation: str) -> str:
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
        return len(one) == len(two) and all(x == y or _parameter(x) or _parameter(y) for x, y in zip(one, two, strict=True))
    one_method, two_method = said.strip().strip("/"), seen.strip().strip("/")
    if "/" in one_method and "/" in two_method:
        return one_method.rsplit(".", 1)[-1].casefold() == two_method.rsplit(".", 1)[-1].casefold() or one_method.casefold() == two_method.casefold()
    return one_method.rsplit("/", 1)[-1].casefold() == two_method.rsplit("/", 1)[-1].casefold()


def _parameter(segment: str) -> bool:
    return segment.startswith((":", "{", "<", "*", "[")) or segment.isdigit()


KIND: Final = Kind("operation", Flag.CONFLICT, "designed", 33, Severity.LOW, "{source} calls another operation of {target} than documented", 0.4, decide, EXPECTED | OPERATION | SEEN)
