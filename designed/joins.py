"""What only several documents say together: addresses that name another document's service, consumed APIs, shared settings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from designed import join_addresses, join_brokers
from designed.join_addresses import Found, stated_twice
from designed.kinds import Role
from designed.names_known import Known
from designed.reader import Fact, RawClaim, RawName, Reading
from nexus.model.claim import Via


def join(readings: Mapping[str, Reading]) -> dict[str, tuple[RawClaim, ...]]:
    """All claims by document path: each reading's own, and those that facts of several readings give.

    `readings` are all documents of one namespace by path. A joined claim stands under the document whose place it quotes.
    Deterministic, and independent of the order of `readings`.
    """
    readings = dict(sorted(readings.items()))
    known = Known(readings)
    found: list[Found] = []
    for path, reading in readings.items():
        found += [_own(path, claim, known) for claim in reading.claims]
        found += [item for fact in reading.facts for item in _dependencies(path, fact, known)]
    found += join_addresses.claims(readings, known)
    found += _catalog(readings)
    result: dict[str, list[RawClaim]] = {path: [] for path in readings}
    seen: set[tuple[str, str]] = set()
    for item in join_brokers.direct(found, readings):
        key = (item.path, stated_twice(item.claim))
        if key not in seen:
            seen.add(key)
            result[item.path].append(item.claim)
    return {
        path: tuple(sorted(claims, key=lambda c: (c.place.lines, c.place.columns))) for path, claims in result.items()
    }


def _own(path: str, claim: RawClaim, known: Known) -> Found:
    """A reader's claim; names in policies are labels, which may differ from the workload's name."""
    if not claim.rule.startswith(("kubernetes.", "backstage.")):
        return Found(path, claim)
    source, target = _known(claim.source, known), _known(claim.target, known)
    access = claim.relation == "CALLS" and known.role(target.name) in (Role.BROKER, Role.TOPIC)
    return Found(path, replace(claim, source=source, target=target), access)


def _known(name: RawName, known: Known) -> RawName:
    found = known.find(name.name)
    return name if found is None else known.raw(found, name.name)


def _dependencies(path: str, fact: Fact, known: Known) -> Iterator[Found]:
    """`depends_on` and `links`: of a store or broker they mean use; of others only the start order."""
    if fact.kind not in ("starts_after", "link"):
        return
    source, target = known.canonical(fact.subject), known.find(fact.key) or fact.key
    if not source or not target or source == target:
        return
    role = known.role(target)
    weak = ""
    if known.role(source) is Role.TELEMETRY or role is Role.TELEMETRY:
        weak = "telemetry"
    elif fact.kind == "starts_after" and role not in (Role.STORE, Role.BROKER):
        weak = "start order"
    rule = "compose.link" if fact.kind == "link" else ("compose.depends_on" if weak else "compose.depends_on.store")
    comment = fact.attributes.get("comment", "")
    claim = RawClaim(
        "CALLS",
        known.raw(source),
        known.raw(target),
        fact.place,
        rule,
        0.3 if weak else 0.85,
        Via(),
        weak=weak,
        attributes={"comment": comment} if comment else {},
    )
    yield Found(path, claim, access=role is Role.BROKER and not weak)


def _catalog(readings: Mapping[str, Reading]) -> Iterator[Found]:
    """A component that consumes an API CALLS the component that provides it; the API itself where no one is known to."""
    providers: dict[str, list[Fact]] = {}
    for reading in readings.values():
        for fact in reading.facts:
            if fact.kind == "provides":
                providers.setdefault(fact.key.lower(), []).append(fact)
    for path, reading in readings.items():
        for fact in reading.facts:
            if fact.kind != "consumes":
                continue
            known = [p for p in providers.get(fact.key.lower(), []) if p.subject != fact.subject]
            targets = [RawName(p.subject, "service", (fact.key,) if fact.key != p.subject else ()) for p in known] or [
                RawName(fact.key, "api")
            ]
            for target in dict.fromkeys(targets):
                yield Found(
                    path,
                    RawClaim(
                        "CALLS",
                        RawName(fact.subject, "service"),
                        target,
                        fact.place,
                        "backstage.consumes",
                        0.96 if known else 0.9,
                        attributes={"api": fact.key},
                    ),
                )
