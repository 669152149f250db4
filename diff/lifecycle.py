"""Findings over time (drift.md section 6). Pure: (what is known, what this run saw) -> what is known now, and the changes.

Time is counted in window ends (days), not in runs, so that ten runs in an hour are one look. Opening takes two of them and so
does resolving; a finding that its documents no longer support, or that was never decided, resolves at once, and loss of telemetry holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from diff.compare import Comparison
from diff.policy import Policy
from diff.row import Row
from diff.world import World
from nexus.model.finding import Finding, Flag, Memory, State
from nexus.model.service import Node, NodeKind

# Verdicts that lost their telemetry.
BLIND = frozenset(
    {"source_unseen", "no_exposure", "pipeline_gap", "sampling_biased", "no_instrumentation_for_protocol"}
)


class Cause(StrEnum):
    """Why a finding is not in a run."""

    DOCUMENTS = "documents"
    EVIDENCE = "evidence"
    TELEMETRY = "telemetry"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finding of the present run, in its fullest view."""

    finding: Finding
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Change:
    """A transition; `before` None = first detected."""

    fingerprint: str
    before: State | None
    after: State
    note: str = ""


def sightings(rows: Iterable[Row], world: World) -> dict[str, Sighting]:
    """Fingerprint -> sighting. Where readers see different verdicts under one fingerprint, the one of those who see most counts."""
    found: dict[str, tuple[tuple[int, int], Row]] = {}
    for row in rows:
        if row.kind.flag is Flag.CONFIRMED or row.kind.status in ("planned", "deprecated", "infrastructure"):
            continue
        weight = (len(row.needs), -len(row.hidden))
        known = found.get(row.fingerprint)
        if known is None or weight > known[0]:
            found[row.fingerprint] = (weight, row)
    return {fingerprint: _sighting(row.finding, world) for fingerprint, (_, row) in found.items()}


def _sighting(finding: Finding, world: World) -> Sighting:
    return Sighting(finding, _identity(finding, world, finding.source), _identity(finding, world, finding.target))


def _identity(finding: Finding, world: World, node: Node) -> str:
    if finding.designed is not None:
        return world.names.designed(
            node.name, node.kind.value, node.environment if finding.designed.claims[0].environment else ""
        ).key
    return world.names.observed(node)[0]


def advance(
    known: Mapping[str, Memory], seen: Mapping[str, Sighting], comparison: Comparison, policy: Policy, now: datetime
) -> tuple[dict[str, Memory], list[Change]]:
    """The memories that changed, and the transitions. Findings that stay as they are are not in the first."""
    world = comparison.world
    today = world.evidence.last_day
    documented = {
        (d.relation.value, s.source, s.target) for s in seen.values() if (d := s.finding.designed) is not None
    }
    documented |= _documented_pairs(comparison)
    present = {(s.finding.flag, s.finding.relation, s.source, s.target) for s in seen.values()}
    changed: dict[str, Memory] = {}
    changes: list[Change] = []
    for fingerprint in sorted({*known, *seen}):
        old, sighting = known.get(fingerprint), seen.get(fingerprint)
        if sighting is not None:
            new = _present(old, sighting, policy, now, today)
        elif old is not None and old.state is not State.RESOLVED:
            new = _missing(old, _cause(old, documented, present, world), policy, now, today)
        else:
            continue
        if new != old:
            changed[fingerprint] = new
        if old is None or new.state is not old.state:
            changes.append(Change(fingerprint, old.state if old else None, new.state, _note(old, new, sighting, now)))
    return changed, changes


def _documented_pairs(comparison: Comparison) -> set[tuple[str, str, str]]:
    names = comparison.world.names
    found = set()
    for edge in comparison.world.evidence.designed:
        for claim in edge.claims:
            source = names.designed(edge.source.name, edge.source.kind.value, claim.environment)
            target = names.designed(edge.target.name, edge.target.kind.value, claim.environment)
            found.add((edge.relation.value, source.key, target.key))
            if claim.exclusivity:
                # Who breaks a rule about a target is not who it names.
                found.add((claim.exclusivity, "", target.key))
    return found


def _present(old: Memory | None, sighting: Sighting, policy: Policy, now: datetime, today: date) -> Memory:
    finding = sighting.finding
    decided = not finding.undecided
    if old is None:
        return Memory(
            finding.fingerprint,
            State.NEW,
            finding.flag,
            finding.status,
            finding.relation,
            sighting.source,
            sighting.target,
            decided,
            now,
            now,
            1,
            0,
            today,
        )
    counted = old.present + (1 if today > old.counted_on else 0) if not old.missing else 1
    state, before, reason, owner, expires = old.state, old.before, old.reason, old.owner, old.expires_at
    if state is State.SUPPRESSED and expires is not None and expires <= now:
        state, reason, owner, expires = State.OPEN, "", "", None
    blind = finding.reason in BLIND and finding.undecided
    if blind and old.decided and state not in (State.SUPPRESSED, State.HELD, State.RESOLVED):
        state, before = State.HELD, state
    elif state is State.HELD and not blind:
        state, before = before or State.OPEN, None
    elif state is State.RESOLVED and _again(old, finding):
        state, counted, reason, owner = State.REOPENED, 1, "", ""
    elif state in (State.NEW, State.REOPENED) and counted >= policy.open_after:
        state = State.OPEN
    return replace(
        old,
        state=state,
        before=before,
        flag=finding.flag,
        status=finding.status,
        source=sighting.source,
        target=sighting.target,
        decided=old.decided if blind else decided,
        changed_at=now if state is not old.state else old.changed_at,
        present=counted,
        missing=0,
        counted_on=max(today, old.counted_on),
        reason=reason,
        owner=owner,
        expires_at=expires,
    )


def _again(old: Memory, finding: Finding) -> bool:
    """Whether a resolved finding is back: by evidence after it was resolved, or for an absence by a later verdict of a run."""
    if finding.undecided:
        return False
    if finding.observed is not None and finding.observed.last_seen is not None and finding.flag is not Flag.DOC_ONLY:
        return finding.observed.last_seen > old.changed_at or old.missing > 0
    return old.missing > 0 or old.reason == ""


def _missing(old: Memory, cause: Cause, policy: Policy, now: datetime, today: date) -> Memory:
    if cause is Cause.TELEMETRY:
        if old.state in (State.HELD, State.SUPPRESSED):
            return old
        return replace(old, state=State.HELD, before=old.state, changed_at=now)
    state = old.before or State.OPEN if old.state is State.HELD else old.state
    missing = old.missing + 1 if today > old.counted_on or not old.missing else old.missing
    if cause is Cause.DOCUMENTS or not old.decided or missing >= policy.resolve_after:
        return replace(
            old,
            state=State.RESOLVED,
            before=None,
            changed_at=now,
            present=0,
            missing=max(missing, 1),
            counted_on=max(today, old.counted_on),
        )
    return replace(old, state=state, before=None, present=0, missing=missing, counted_on=max(today, old.counted_on))


def _cause(
    old: Memory, documented: set[tuple[str, str, str]], present: set[tuple[Flag, str, str, str]], world: World
) -> Cause:
    """Why a finding is gone. A document's change decides by itself; else the source must still be visible to say anything."""
    source, target = _as_known(old.source, world), _as_known(old.target, world)
    if (source, target) != (old.source, old.target) and (old.flag, old.relation, source, target) in present:
        # The registry calls an end otherwise since, and the finding of that name goes on.
        return Cause.DOCUMENTS
    said = (old.relation, source, target) in documented
    if old.flag is Flag.OBSERVED_ONLY:
        if said:
            return Cause.DOCUMENTS
    elif not said and (old.status, "", target) not in documented:
        return Cause.DOCUMENTS
    alive = world.alive.get(source, 0) & world.window_mask
    if old.flag is Flag.DOC_ONLY:
        # It is gone because it was seen: a sighting needs no exposure.
        return Cause.EVIDENCE
    lost = world.window_gap_mask & world.window_mask
    silent = (world.covered.get(source, 0) & world.window_mask).bit_count()
    return Cause.EVIDENCE if alive and not lost and silent else Cause.TELEMETRY


def _as_known(identity: str, world: World) -> str:
    """An end that is remembered as "kind:name", as the registry knows it now."""
    kind, _, name = identity.partition(":")
    return world.names.observed(Node(name, NodeKind(kind)))[0] if kind in NodeKind._value2member_map_ else identity


def _note(old: Memory | None, new: Memory, sighting: Sighting | None, now: datetime) -> str:
    if (
        old is not None
        and old.state is State.SUPPRESSED
        and new.state is State.OPEN
        and old.expires_at is not None
        and old.expires_at <= now
    ):
        return "the suppression expired"
    if new.state is State.HELD:
        return "telemetry was lost"
    if new.state is State.RESOLVED:
        return "no longer found"
    return sighting.finding.status if sighting is not None else ""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asks of a finding."""

    action: str
    actor: str
    reason: str = ""
    owner: str = ""
    expires_at: datetime | None = None


ACTIONS = ("acknowledge", "suppress", "resolve", "reopen")


def apply(memory: Memory, order: Order, now: datetime) -> Memory:
    """The memory after a person's order. ValueError says what is missing or does not fit."""
    if order.action == "acknowledge":
        if memory.state is State.RESOLVED:
            msg = "it is resolved; reopen it first"
            raise ValueError(msg)
        return replace(
            memory,
            state=State.ACKNOWLEDGED,
            before=None,
            reason=order.reason,
            owner=order.owner,
            expires_at=None,
            changed_at=now,
        )
    if order.action == "suppress":
        missing = [
            name
            for name, value in (
                ("reason", order.reason.strip()),
                ("owner", order.owner.strip()),
                ("expires_at", order.expires_at),
            )
            if not value
        ]
        if missing:
            msg = f"a suppression needs {', '.join(missing)}"
            raise ValueError(msg)
        assert order.expires_at is not None
        if order.expires_at <= now:
            msg = "expires_at lies in the past"
            raise ValueError(msg)
        if order.expires_at > now + timedelta(days=366):
            msg = "expires_at is more than a year away; a suppression is no decision for ever"
            raise ValueError(msg)
        return replace(
            memory,
            state=State.SUPPRESSED,
            before=None,
            reason=order.reason,
            owner=order.owner,
            expires_at=order.expires_at,
            changed_at=now,
        )
    if order.action == "resolve":
        return replace(
            memory,
            state=State.RESOLVED,
            before=None,
            reason=order.reason or "resolved by hand",
            owner=order.owner or order.actor,
            expires_at=None,
            changed_at=now,
            missing=0,
        )
    if order.action == "reopen":
        return replace(
            memory, state=State.REOPENED, before=None, reason="", owner="", expires_at=None, present=1, changed_at=now
        )
    msg = f"no such action {order.action!r}; there are {', '.join(ACTIONS)}"
    raise ValueError(msg)
