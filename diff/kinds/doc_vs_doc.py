"""Two documents (or two places of one) disagree. Needs no telemetry.

One says that the dependency exists, another forbids it or calls it deprecated; or two state different numbers for the same
promise.

What to do: decide which one is right; both lines are cited.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED, SEVERAL
from diff.world import World
from nexus.model.claim import EXPECTS_OBSERVATION, Claim, Modality
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, _world: World) -> Verdict | None:
    """Contradictions among the claims of a pair, told once: on the subject that holds the assertion."""
    asserted = [c for c in subject.claims if c.modality in EXPECTS_OBSERVATION and not c.exclusivity]
    if not asserted:
        return None
    for modality, word in ((Modality.FORBIDDEN, "forbids it"), (Modality.DEPRECATED, "calls it deprecated")):
        against = [c for c in subject.pair_claims if c.modality is modality and _meets(c, asserted[0])]
        if against:
            return Verdict(
                f"asserted_and_{modality.value}", f"{_place(asserted[0])} says that it exists, {_place(against[0])} {word}", "one of the two documents corrected", 0.95,
                severity=Severity.MEDIUM if modality is Modality.FORBIDDEN else Severity.LOW, details={"places": [_place(asserted[0]), _place(against[0])]},
            )
    stated: dict[str, dict[float, Claim]] = {}
    for claim in subject.claims:
        for quantity in claim.quantities:
            if quantity.value is not None:
                stated.setdefault(quantity.metric, {}).setdefault(quantity.value, claim)
    for metric, values in sorted(stated.items()):
        if len(values) > 1:
            low, high = min(values), max(values)
            return Verdict(
                "different_numbers", f"{_place(values[low])} promises {metric} {low:g}, {_place(values[high])} {high:g}", "one of the two documents corrected", 0.95,
                severity=Severity.LOW, details={"metric": metric, "values": sorted(values)},
            )
    return None


def _meets(one: Claim, other: Claim) -> bool:
    """Whether both speak of the same thing: parts of `via` that both state agree."""
    pairs = ((one.via.operation, other.via.operation), (one.via.channel, other.via.channel), (one.environment, other.environment))
    return all(not a or not b or a == b for a, b in pairs)


def _place(claim: Claim) -> str:
    return f"{claim.document.title or claim.document.uri}, line {claim.lines[0]}"


KIND: Final = Kind("doc_vs_doc", Flag.CONFLICT, "promise", 100, Severity.MEDIUM, "documents disagree about {source} {relation} {target}", 0.6, decide, EXPECTED | SEVERAL)
