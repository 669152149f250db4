"""What surrounds an English sentence: its implicit subject, and the modality that it and its headings give. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from designed.extractors import lexicon_en as lexicon
from designed.extractors.clauses_en import Predicate
from designed.extractors.flat import Flat
from designed.extractors.items import Item
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
    # A semicolon parts what could be two sentences.
    first = flat.text.rfind(";", start, verb) + 1 or start
    last = flat.text.find(";", verb, end)
    found = english(flat.text[first : last if last >= 0 else end], *clause, negated=negated)
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )


def negated(parts: Sequence[Item], predicate: Predicate) -> bool:
    """Whether a predicate is denied: "does not call", "neither A nor B calls", "without calling"."""
    position = predicate.index - 1
    while position >= predicate.clause and parts[position].kind in ("adv", "modal", "be", "neg"):
        if parts[position].kind == "neg":
            return True
        position -= 1
    if position >= predicate.clause and parts[position].word == "to" and position and parts[position - 1].kind == "neg":
        return True
    if position >= predicate.clause and parts[position].word == "without":
        return True
    first = max(predicate.clause - 1, 0)
    return any(
        part.word in lexicon.NEITHER | lexicon.NOR if at < predicate.index else _denies(parts, at)
        for at, part in enumerate(parts[first : predicate.end], first)
    )


def _denies(parts: Sequence[Item], at: int) -> bool:
    """‘calls neither B nor C’: behind the verb it denies what it stands before."""
    return parts[at].word in lexicon.NEITHER and at + 1 < len(parts) and parts[at + 1].kind in ("name", "prep", "det")


def clause_span(parts: Sequence[Item], predicate: Predicate, stop: int, start: int, end: int) -> tuple[int, int]:
    """Where the clause of a predicate begins and ends in the flat text; `stop` is the item where the next one begins."""
    first = parts[predicate.clause].start if predicate.clause < len(parts) else start
    before = [p for p in range(predicate.clause, predicate.index) if parts[p].kind == "verb"]
    if before:
        first = parts[before[-1]].end
    last = parts[stop].start if stop < len(parts) else end
    return first, last
