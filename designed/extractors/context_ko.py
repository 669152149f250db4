"""What surrounds a Korean sentence: its implicit subject, the modality of a verb, and the statement that both give. Pure."""

from __future__ import annotations

import re

from designed.extractors.flat import Flat
from designed.extractors.modality import korean
from designed.extractors.names import Name
from designed.extractors.parse_ko import Verb
from designed.extractors.statements import Context, Statement
from nexus.model.claim import Modality


def implicit(context: Context) -> list[Name]:
    """Who acts where nobody is named: the section's service, else the subject of the sentence before."""
    if context.subject is None:
        return [context.previous] if context.previous is not None and not context.previous.passive else []
    return [Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)]


def modality_of(flat: Flat, start: int, end: int, verb: Verb, context: Context) -> Modality:
    """Modality of what a verb of the sentence [start, end) states."""
    clause = flat.text[verb.start : min(end, verb.end + 12)]
    clause = (
        re.split(r"[,;.]|(?<=고)\s|(?<=며)\s", clause, maxsplit=1)[0]
        if not re.search(r"지 ?(?:않|못|말)", clause[: verb.end - verb.start + 4])
        else clause
    )
    found = korean(flat.text[start:end], clause)
    if found is Modality.CONDITIONAL and korean(flat.text[start : verb.end], "") is Modality.ASSERTED:
        # The verb ends its clause: only a condition before it, or in brackets, is its own.
        behind = flat.text[verb.end : end]
        if "(" not in behind or korean(behind[behind.index("(") :], "") is Modality.ASSERTED:
            found = Modality.ASSERTED
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )


def make(
    relation: str,
    source: Name,
    target: Name,
    rule: str,
    verb: Verb,
    modality: Modality,
    *,
    drawn: str = "",
    gateway: str = "",
    exclusivity: str = "",
) -> Statement:
    """A statement at a verb."""
    return Statement(
        relation,
        source.raw,
        source.key,
        target.raw,
        target.key,
        rule,
        verb.start,
        modality,
        drawn,
        gateway,
        exclusivity,
    )
