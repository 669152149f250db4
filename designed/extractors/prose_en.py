"""English sentences: verb frames, passives, relative clauses, noun phrases like "calls from A to B". Pure.

Rules: `<prefix>.active`, `.passive`, `.implicit` (the subject is the section's), `.pronoun`, `.part` (a handler of the section's
service), `.relative`, `.noun`, `.via` (the two halves of "through T").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from designed.extractors import lexicon_en as lexicon
from designed.extractors.clauses_en import Predicate, predicates
from designed.extractors.flat import Flat
from designed.extractors.frames_en import frame_statements
from designed.extractors.items import Item, items
from designed.extractors.names import Name, brought, within
from designed.extractors.nouns_en import noun_statements
from designed.extractors.roles_en import role_statements
from designed.extractors.statements import Context, Statement
from designed.extractors.stems import any_of
from designed.extractors.subject_en import IMPLICIT
from nexus.model.mentions import is_weak

# A cheap look before a sentence is taken apart; at text in lower case.
HINT = any_of(
    {re.sub(r"(?<=[^aeiou])y$|e$", "", lemma) for lemma in lexicon.FRAMES}
    | {
        r"sen[dt]",
        r"wr[io]t",
        r"got\b",
        r"quer(?:y|ies|ied)",
        r"prox(?:y|ies)",
        "traffic",
        "address",
        "host",
        r"\bur[li]\b",
        r"\bdsn\b",
        r"\bapi",
        "endpoint",
        r"port\b",
        "kept",
        "relie",
        "connection",
        "client",
        "wrapper",
        "facade",
        r"messages\b",
        r"events\b",
        "integrat",
        "caller",
        "dependents",
        r"(?:up|down)stream",
        "behind",
        r"went\b",
        r"left\b",
    }
)
_MESSAGING = re.compile(
    r"publish|emit|produc|broadcast|fire|rais|enqueue|stream|subscrib|listen|consum|event|topic|queue|message|trigger|react|receiv|await|\bwait|\bw[ao]ke|\bpick"
    r"|\bact(?:s|ed|ing)? (?:up)?on",
    re.IGNORECASE,
)
# What no reader is told to do.
_DONE = frozenset({"publish", "consume", "subscribe", "emit", "produce", "listen", "broadcast"})
_EVENTS = re.compile(r"\s+(?:(?:domain|integration)\s+)?(?:events?|messages?)\b")
# An idea that was not taken up states nothing.
_DROPPED = re.compile(
    r"\b(?:decided against|ruled out|rejected the idea|considered (?:\w+ )?(?:having|letting|making|calling|using|moving))\b",
    re.IGNORECASE,
)
_ONLY_ONE = re.compile(
    r"\bthe only (?:service|component|one|caller|client|system|consumer|application)\s+(?:that|which|allowed to|permitted to|to|who)\b",
    re.IGNORECASE,
)


def english_statements(
    flat: Flat, start: int, end: int, names: Sequence[Name], context: Context
) -> tuple[list[Statement], Name | None]:
    """Statements of the sentence [start, end), and its single subject, for the pronouns of the next."""
    text = flat.text[start:end]
    inside = _parts(within(names, start, end), flat.text)
    if _MESSAGING.search(text):
        inside = [n for n in inside if not _event_of(flat, n)]
        inside = sorted([*inside, *brought(flat, start, end, inside)], key=lambda n: n.start)
    if not inside or _DROPPED.search(text):
        return [], None
    parts = items(flat.text, start, end, inside, flat.code)
    made: list[Statement] = []
    found = predicates(parts)
    if context.described and context.rule == "list_en" and found and _describes(found[0]):
        found[0].subject = IMPLICIT
    only_one = _ONLY_ONE.search(text)
    for index, predicate in enumerate(found):
        stop = found[index + 1].index if index + 1 < len(found) else len(parts)
        made += frame_statements(flat, start, end, parts, predicate, stop, context, only_one is not None)
    made += noun_statements(flat, start, end, parts, context, made)
    stated = {(s.relation, s.source_key, s.target_key) for s in made}
    made += [
        s
        for s in role_statements(flat, start, end, inside, context)
        if (s.relation, s.source_key, s.target_key) not in stated
    ]
    subjects = {n.key: n for p in found for n in p.subject.names if p.subject.how == "named" and not p.passive} or {
        n.key: n for p in found for n in p.subject.names if p.subject.how == "named"
    }
    single = next(iter(subjects.values())) if len(subjects) == 1 else None
    return made, single if subjects else _opening(parts)


def _describes(first: Predicate) -> bool:
    """‘Using Redis as a cache’, "Publish `x`": an item that begins with what is done, and is no instruction ("Call the API to test it")."""
    return first.index == 0 and first.subject.how == "other" and (first.form == "ing" or first.lemma in _DONE)


def _parts(names: Sequence[Name], text: str) -> list[Name]:
    """Without the names of systems right before those of their parts: "the Metering Splitter"."""
    return [
        name
        for name, following in zip_longest(names, names[1:])
        if following is None or name.passive or following.passive or text[name.end : following.start] != " "
    ]


def _event_of(flat: Flat, name: Name) -> bool:
    """‘`Customer` domain events’: what a service is short for is here what happens to one."""
    return (
        flat.in_code(name.start)
        and name.end == name.core
        and _EVENTS.match(flat.text, name.end) is not None
        and is_weak(flat.text[name.start : name.end])
    )


def _opening(parts: Sequence[Item]) -> Name | None:
    """The name that a sentence without a frame begins with: "The `reviews` microservice contains book reviews."."""
    rest = [p for p in parts if p.kind != "det"][:3]
    if len(rest) > 1 and rest[0].name is not None and rest[1].name is not None and rest[0].name.key == rest[1].name.key:
        # A lead and its sentence: "**Reviews** The reviews service contains".
        del rest[0]
    return (
        rest[0].name
        if len(rest) > 1 and rest[0].kind == "name" and rest[1].kind in ("word", "be", "modal", "verb", "adv", "stop")
        else None
    )
