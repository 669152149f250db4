"""What would have been seen, had the dependency been alive (drift.md section 3). Absence is a bound, never a guess.

`absence(subject, world)` gives the first reason why nothing can be said, or the two bounds and whether they suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diff import cadence, hosts, rhythm, silence, stats
from diff.counts import is_are, many
from diff.families import CALLS, MESSAGING, UNKNOWN, family
from diff.subject import Subject
from diff.traits import ASYNCHRONOUS
from nexus.model.claim import Modality
from nexus.model.finding import Exposure
from nexus.model.service import NodeKind

if TYPE_CHECKING:
    from diff.world import ServiceHistory, World

SAY_HOW_SAMPLED = "say how traces are sampled (NEXUS_DIFF__SAMPLING=none or head), or send tracestate probabilities"


@dataclass(frozen=True, slots=True)
class Absence:
    """`level` is strong, weak or none (then `reason` is one of drift.md's, and `because` says it in words)."""

    level: str
    reason: str
    because: str
    change: str
    exposure: Exposure | None


def absence(subject: Subject, world: World) -> Absence:
    """Judge that nothing was seen of a documented relation."""
    service = world.service(subject.source, subject.environment)
    blocked = _mapped(subject) or _visible(subject, world, service)
    if blocked is not None:
        return blocked
    assert service is not None
    control = detection(subject, world, service)
    if control is None:
        return _none(
            "no_instrumentation_for_protocol",
            f"no other {_what(subject)} of {subject.source.name} is visible in traces, so this one would not be either",
            f"instrument the {_what(subject)}s of {subject.source.name}, or show one of them in a trace",
        )
    blocked = _resolvable(subject, world, control)
    if blocked is not None:
        return blocked
    if world.sampling(service) == "tail":
        return _none(
            "sampling_biased",
            "the traces are tail-sampled: what was kept says nothing of what was not",
            "keep a head-sampled share of the traces",
        )
    found = _bounded(subject, world, service, control)
    return _in_scope(subject, world, found) if found.level != "none" else found


def _in_scope(subject: Subject, world: World, found: Absence) -> Absence:
    """The last two reasons: another environment is meant, or a condition that may never have held."""
    here = world.evidence.environment
    if here and subject.claims and all(c.environment and c.environment != here for c in subject.claims):
        return _none(
            "environment_out_of_scope",
            f"the document speaks of {subject.environment}, this report of {here}",
            f"run the diff for {subject.environment}",
        )
    if found.level == "strong" and subject.claims and all(c.modality is Modality.CONDITIONAL for c in subject.claims):
        return Absence(
            "none",
            "condition_never_exercised",
            "the document makes it conditional, and traces do not show whether the condition ever held",
            "exercise the condition, or say when it holds",
            found.exposure,
        )
    return found


def _mapped(subject: Subject) -> Absence | None:
    source = subject.source
    if not source.mapped:
        text = "several things have that name" if source.ambiguous else "the registry does not know that name"
        return _none(
            "source_unmapped",
            f"{text}: {source.name}",
            f"declare {source.name} (or the name it has in traces) in entities.yaml",
        )
    return None


def _visible(subject: Subject, world: World, service: ServiceHistory | None) -> Absence | None:
    source = subject.source
    if service is None and subject.environment and world.service(source) is not None:
        return _none(
            "environment_out_of_scope",
            f"the document speaks of {subject.environment}, where no span of {source.name} was seen",
            f"send traces of {source.name} in {subject.environment}",
        )
    if service is None or not world.emitted(service, world.window_mask):
        gap = world.window_gap_mask & world.window_mask
        if service is None or not gap:
            return _none(
                "source_unseen",
                f"no span of {source.name} in the window",
                f"send traces of {source.name}, or remove it from the documents",
            )
        return _none(
            "source_unseen",
            f"no span of {source.name} in the window, of which {many(gap.bit_count(), 'day')} could not be read",
            "read the missing ranges again",
        )
    opportunities = _opportunities(subject, world, service)
    if not any(opportunities.values()):
        what = (
            f"no message on {subject.target.name} was seen"
            if subject.relation == "SUBSCRIBES"
            else f"{source.name} handled no request"
        )
        return _none(
            "no_exposure", f"{what} in {many(world.evidence.days, 'day')}, so there was no occasion", "wait for traffic"
        )
    return None


def _resolvable(subject: Subject, world: World, control: float) -> Absence | None:
    target = subject.target
    if not target.mapped and not world.seen(target):
        return _none(
            "target_unresolvable",
            f"nothing says how {target.name} looks in traces"
            + (" (several things have that name)" if target.ambiguous else ""),
            f"declare {target.name} and its host names in entities.yaml",
        )
    if control < world.policy.detection_min:
        return _none(
            "target_unresolvable",
            f"only {control:.0%} of such calls of {subject.source.name} name their target",
            "make the callee's name visible (server.address, service.peer.name)",
        )
    passed_on = hosts.between(subject, world)
    if passed_on:
        host = passed_on[0].target.name
        return _none(
            "target_unresolvable",
            f"{subject.source.name} may reach it through {host}, which passes calls on without their trace",
            f"pass the trace context through {host}, or say in entities.yaml which service it is",
        )
    if not world.seen(target):
        hidden = hosts.hiding(subject, world)
        if hidden:
            return _none(
                "target_unresolvable",
                f"it may be the unmapped host {hidden[0].target.name}, which {subject.source.name} calls",
                f"say in entities.yaml whether {hidden[0].target.name} is {target.name}",
            )
    return None


def _bounded(subject: Subject, world: World, service: ServiceHistory, control: float) -> Absence:
    policy = world.policy
    counted: Mapping[int, int] = _opportunities(subject, world, service)
    before = rhythm.rhythm_of(subject, world)
    if before is not None:
        # What counts as silence begins after the last sighting, and its own rhythm is the better judge of that (kind `ceased`).
        first = before.offset
        counted = {offset: count for offset, count in counted.items() if offset > first}
    m, days = world.exposed(counted)
    exposure = Exposure(
        m,
        days,
        round(control, 4),
        stats.rate_upper(m, control, policy.alpha),
        stats.active_day_upper(days, policy.alpha),
    )
    declared = cadence.declared(subject.claims)
    if before is not None:
        if declared is not None:
            scheduled = _by_schedule(subject, world, service, control, exposure, declared, after=first)
            if scheduled.level == "none":
                return scheduled
        unsure = silence.doubt(subject, before, world)
        if unsure is not None:
            return Absence(
                "weak" if unsure.reason == "silent_within_rhythm" else "none",
                unsure.reason,
                f"last seen on {before.last}; {unsure.because}",
                unsure.change,
                exposure,
            )
        needed_days = stats.silent_days_needed(before.active, before.days, policy.ceased_max)
        rhythm_days, silent_days = many(before.days, "day"), many(before.silent, "silent day")
        return Absence(
            "weak",
            "silent_within_rhythm",
            f"last seen on {before.last:%Y-%m-%d}; active on {before.active} of {rhythm_days} before, so {silent_days} {is_are(before.silent)} within its rhythm",
            f"one sighting, or {many(max(needed_days - before.silent, 1), 'more silent day')}",
            exposure,
        )
    if declared is not None:
        return _by_schedule(subject, world, service, control, exposure, declared)
    needed = stats.requests_needed(policy.rate_upper_max, control, policy.alpha, policy.requests_factor)
    days_min = max(policy.covered_days_min, stats.days_needed(policy.active_day_upper_max, policy.alpha))
    enough = m >= needed and days >= days_min
    because = rules_out(exposure)
    # Days lost since the source is known: with them as the others are, it would be decided.
    lost = (world.gap_mask >> min(counted, default=0)).bit_count() if world.gap_mask else 0
    if not enough and lost and days + lost >= days_min and m + lost * (m / max(days, 1)) >= needed:
        return Absence(
            "none",
            "pipeline_gap",
            f"{lost} of the days could not be read completely; the rest {because}",
            "read the missing ranges again",
            exposure,
        )
    if world.sampling(service) == "unknown":
        return Absence(
            "weak",
            "sampling_unknown",
            f"it is not known how the traces are sampled, so their silence decides nothing; if all were kept it {because}",
            SAY_HOW_SAMPLED,
            exposure,
        )
    if enough:
        return Absence(
            "strong",
            "absent",
            f"nothing in {many(m, 'request')} on {many(days, 'day')}, which {because}",
            "one call in a trace, or a corrected document",
            exposure,
        )
    missing = [
        many(needed - m, "more request") if m < needed else "",
        many(days_min - days, "more covered day") if days < days_min else "",
    ]
    wanted = " and ".join(part for part in missing if part)
    return Absence(
        "weak",
        "too_little_exposure",
        f"nothing in {many(m, 'request')} on {many(days, 'day')}, which {because}",
        f"{wanted} of {subject.source.name} without it would decide",
        exposure,
    )


def _by_schedule(
    subject: Subject,
    world: World,
    service: ServiceHistory,
    control: float,
    exposure: Exposure,
    declared: cadence.Cadence,
    after: int = -1,
) -> Absence:
    """Firings are counted instead of requests, those after day `after`: P(miss) = (1 - p d)^K."""
    firings = scheduled_firings(subject, world, declared, after)
    ratio = sampling_ratio(world, service)
    if ratio is None:
        return Absence(
            "weak",
            "sampling_unknown",
            "it is not known how the traces are sampled",
            "say how traces are sampled (NEXUS_DIFF__SAMPLING)",
            exposure,
        )
    miss = (1 - ratio * control) ** firings
    if miss <= world.policy.cadence_miss_max:
        return Absence(
            "strong",
            "absent",
            f"none of {many(firings, 'scheduled firing')} ({declared.text}) was seen; missing them all by chance: {miss:.1e}",
            "one firing in a trace, or a corrected document",
            exposure,
        )
    because = f"{many(firings, 'scheduled firing')} ({declared.text}) at a sampling ratio of {ratio:.1%} can all be missed (chance {miss:.0%})"
    lost, unread = _lost_firings(subject, world, declared, after)
    if lost and (1 - ratio * control) ** (firings + unread) <= world.policy.cadence_miss_max:
        return Absence(
            "none",
            "pipeline_gap",
            f"{lost} of the days could not be read completely; in the rest {because}",
            "read the missing ranges again",
            exposure,
        )
    wanted = 1 - world.policy.cadence_miss_max ** (1 / firings) if firings else 1.0
    remedy = (
        f"a sampling ratio of {wanted / control:.0%} would decide"
        if firings and wanted <= control
        else "a longer history would decide"
    )
    return Absence(
        "none",
        "cadence_exceeds_window",
        because,
        remedy,
        exposure,
    )


def scheduled_firings(subject: Subject, world: World, declared: cadence.Cadence, after: int = -1) -> int:
    """Declared firings on days on which the source was seen, behind the offset `after`."""
    covered = world.alive_mask(subject.source) & ~world.gap_mask & ~world.running_bit()
    return declared.firings(
        [world.day(offset) for offset in range(after + 1, world.evidence.days) if covered >> offset & 1]
    )


def _lost_firings(subject: Subject, world: World, declared: cadence.Cadence, after: int) -> tuple[int, int]:
    """Days that could not be read since the source is known, behind the offset `after`, and the firings declared on them."""
    alive = world.alive_mask(subject.source)
    known = (alive & -alive).bit_length() - 1
    lost = [
        world.day(offset)
        for offset in range(max(after + 1, known), world.evidence.days)
        if world.gap_mask >> offset & 1
    ]
    return len(lost), declared.firings(lost)


def sampling_ratio(world: World, service: ServiceHistory) -> float | None:
    """Smallest known share of the service's traces that is kept; None where nobody says."""
    return (
        service.probability if service.probability is not None else (1.0 if world.sampling(service) == "none" else None)
    )


def _opportunities(subject: Subject, world: World, service: ServiceHistory) -> dict[int, int]:
    """By day: entry spans of the source; for a subscription, messages on the channel."""
    if subject.relation != "SUBSCRIBES":
        return service.opportunities
    found: dict[int, int] = {}
    for key in subject.target.identities:
        for offset, count in world.messages.get(key, {}).items():
            found[offset] = found.get(offset, 0) + count
    return found


def detection(subject: Subject, world: World, service: ServiceHistory) -> float | None:
    """Lower bound of the share of such exits that can be recognised, from the source's other ones. None without any."""
    if subject.relation == "SUBSCRIBES":
        # Consumption is no exit: the positive control is any subscription of the source that was seen.
        seen = sum(world.history(e).messages or e.messages for e in world.subscriptions(subject.source))
        return stats.share_lower(seen, seen, world.policy.alpha) if seen else None
    total = resolved = 0
    for name in _families(subject, service):
        total += service.exits.get(name, 0)
        resolved += min(service.resolved.get(name, 0), service.exits.get(name, 0))
    if total == 0:
        return None
    # Calls to an address that names nobody are paired with nothing that a document could mean.
    nameless = (
        sum(world.nameless.get(key, 0) for key in subject.source.identities)
        if subject.relation == "CALLS" and subject.target.kind != NodeKind.DATABASE
        else 0
    )
    return stats.share_lower(max(resolved - nameless, 0), total, world.policy.alpha)


def _families(subject: Subject, service: ServiceHistory) -> Iterable[str]:
    """Families in which the documented relation would show: the stated ones, else all of its sort."""
    stated = {family(c.via.protocol) for c in subject.claims} - {UNKNOWN}
    if subject.relation == "PUBLISHES" or subject.traits & ASYNCHRONOUS:
        sort = [f for f in service.exits if f in MESSAGING]
    elif subject.target.kind == NodeKind.DATABASE:
        sort = [f for f in service.exits if f not in MESSAGING and f not in CALLS and f != UNKNOWN]
    else:
        sort = [f for f in service.exits if f in CALLS or f == UNKNOWN]
    exact = sorted(stated & set(service.exits))
    # A stated family that the source never uses is no control; a general word ("sql", "event") takes its whole sort.
    general = not stated or stated <= {"sql", "message", "rpc"}
    return sorted(sort) if general else exact


def _what(subject: Subject) -> str:
    stated = sorted({family(c.via.protocol) for c in subject.claims} - {UNKNOWN})
    noun = {"PUBLISHES": "publication", "SUBSCRIBES": "subscription"}.get(
        subject.relation, "database call" if subject.target.kind == NodeKind.DATABASE else "call"
    )
    return f"{'/'.join(stated)} {noun}" if stated else noun


def rules_out(exposure: Exposure) -> str:
    """The two bounds in words."""
    rate, share = exposure.rate_upper or 1.0, exposure.active_day_upper or 1.0
    # "More than 1 in 1" rules out nothing.
    requests = f"more than 1 call in {int(1 / rate):,} requests" if rate <= 1 / 2 else "nothing about requests"
    days = f"activity on more than 1 day in {int(1 / share):,}" if share <= 1 / 2 else "nothing about days"
    return f"rules out {requests}, and {days}"


def _none(reason: str, because: str, change: str) -> Absence:
    return Absence("none", reason, because, change, None)
