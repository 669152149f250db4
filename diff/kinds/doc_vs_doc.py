"""Two documents (or two places of one) disagree. Needs no telemetry.

One says that the dependency exists, another forbids it or calls it deprecated; or two state different numbers for the same
promise.

What to do: decide which one is right; both lines are cited.
"""

from __future__ import annotations

from typing import Final

from diff.families import compatible
from diff.kinds._common import quoted
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
        found = next(
            ((yes, no) for no in subject.pair_claims if no.modality is modality for yes in asserted if _meets(no, yes)),
            None,
        )
        if found is not None:
            places = [quoted(claim) for claim in found]
            return Verdict(
                f"asserted_and_{modality.value}",
                f"{places[0]} says that it exists, {places[1]} {word}",
                "one of the two documents corrected",
                0.95,
                severity=Severity.MEDIUM if modality is Modality.FORBIDDEN else Severity.LOW,
                details={"places": places},
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
                "different_numbers",
                f"{quoted(values[low])} promises {metric} {low:g}, {quoted(values[high])} {high:g}",
                "one of the two documents corrected",
                0.95,
                severity=Severity.LOW,
                details={"metric": metric, "values": sorted(values)},
            )
    return None


def _meets(rule: Claim, said: Claim) -> bool:
    """Whether a rule is about all that a sentence says. One about an operation, a protocol or an environment that the sentence leaves open is an exception from it, and no contradiction."""
    pairs = (
        (rule.via.operation, said.via.operation),
        (rule.via.channel, said.via.channel),
        (rule.environment, said.environment),
    )
    return all(not a or a == b for a, b in pairs) and (
        not rule.via.protocol or (bool(said.via.protocol) and compatible(rule.via.protocol, said.via.protocol))
    )


KIND: Final = Kind(
    "doc_vs_doc",
    Flag.CONFLICT,
    "promise",
    100,
    Severity.MEDIUM,
    "documents disagree about {source} {relation} {target}",
    0.6,
    decide,
    EXPECTED | SEVERAL,
)
