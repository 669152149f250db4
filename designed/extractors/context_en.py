"""What surrounds an English sentence: its implicit subject, and the modality that it and its headings give. Pure."""

from __future__ import annotations

from designed.extractors.flat import Flat
from designed.extractors.modality import english
from designed.extractors.names import Name
from designed.extractors.statements import Context
from nexus.model.claim import Modality


def implicit(context: Context) -> list[Name]:
    """The service that the section is about, as a name; empty where it is about none."""
    if context.subject is None:
        return []
    return [Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)]


def modality_of(
    flat: Flat, start: int, end: int, verb: int, clause: tuple[str, str], negated: bool, context: Context
) -> Modality:
    """Modality of what the verb at `verb` states; `clause` is (the clause, the clause up to its verb)."""
    if any(first <= verb < last for first, last in flat.struck):
        return Modality.DEPRECATED
    found = english(flat.text[start:end], *clause, negated=negated)
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )
