"""The second pass over a document: running text, lists and tables to raw claims, by the names of a registry. Pure.

Every block is read with what surrounds it: the service that its section or document is about, the modality of its headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from designed.extractors.blocks import Block, Document, parse
from designed.extractors.flat import Flat, flatten, sentences
from designed.extractors.lists import list_statements
from designed.extractors.modality import heading_modality
from designed.extractors.names import Name, Names, names_of
from designed.extractors.prose_en import HINT, english_statements, operation, protocol
from designed.extractors.prose_ko import KO_HINT, korean_protocol, korean_statements
from designed.extractors.quantities import quantities
from designed.extractors.statements import Context, Statement
from designed.extractors.subjects import subject_of
from designed.extractors.tables import table_statements
from designed.place import Lines
from designed.reader import Place, RawClaim
from nexus.model.claim import Via
from nexus.model.document import SourceText
from nexus.model.names import HANGUL_WORD
from nexus.model.registry import Registry

READERS = frozenset({"markdown", "text"})


def has_prose(reader: str) -> bool:
    """Whether documents of a reader have running text."""
    return reader in READERS


def extract(text: SourceText, registry: Registry) -> tuple[RawClaim, ...]:
    """Claims in order of their place."""
    document = parse(text.text)
    names = names_of(registry)
    claims: list[RawClaim] = []
    for block, context in contexts(document, text, registry):
        if block.kind == "text":
            claims += _text(document, block, names, context)
        elif block.kind == "table":
            claims += table_statements(document, block, names, context, claim_of)
    return tuple(dict.fromkeys(_unique(claims)))


def contexts(document: Document, text: SourceText, registry: Registry) -> Iterator[tuple[Block, Context]]:
    """Each block with its context."""
    title = re.search(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", document.front, re.MULTILINE)
    base = subject_of(title[1], registry) if title is not None else None
    path: list[tuple[int, str, tuple | None]] = []  # type: ignore[type-arg]  # (level, heading, subject)
    first = True
    for block in document.blocks:
        if block.kind == "heading":
            heading = flatten(document.text, block.start, block.end).text
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, heading, subject_of(heading, registry)))
            first = False
            continue
        subject = next((s for _, _, s in reversed(path) if s is not None), base)
        if subject is None and first and not path:
            subject = None
        raw, key = subject if subject is not None else (None, "")
        yield block, Context(raw, key, "prose_en", heading_modality(tuple(h for _, h, _ in path)))


def _text(document: Document, block: Block, names: Names, context: Context) -> Iterator[RawClaim]:
    source = document.text
    hangul = HANGUL_WORD.search(source, block.start, block.end) is not None
    if HINT.search(source, block.start, block.end) is None and not (hangul and KO_HINT.search(source, block.start, block.end)):
        return
    flat = flatten(source, block.start, block.end)
    found = names.find(flat)
    if block.item:
        context = replace(context, rule="list_en")
        listed = list_statements(document, block, flat, found, names, context)
        if listed is not None:
            for statement, start, end in listed:
                yield claim_of(document.lines, flat, start, end, statement, context)
            return
    previous: Name | None = None
    pending: list[RawClaim] = []
    bounds: list[tuple[int, int]] = sentences(flat)
    for index, (start, end) in enumerate(bounds):
        korean = hangul and HANGUL_WORD.search(flat.text, start, end) is not None
        here = replace(context, previous=previous, rule=context.rule.replace("_en", "_ko") if korean else context.rule, fragment=block.item)
        if korean:
            statements, single = korean_statements(flat, start, end, found, here)
        else:
            statements, single = english_statements(flat, start, end, found, here)
        made = [claim_of(document.lines, flat, start, end, s, here, korean=korean) for s in statements]
        if not statements and len(pending) == 1 and (more := quantities(flat.text[start:end])) and not [n for n in found if start <= n.start < end]:
            # "A calls B. It must answer within p99 < 200 ms.": the number belongs to the one claim before it.
            place = document.lines.place(flat.span(bounds[index - 1][0], end)[0], flat.span(start, end)[1])
            pending = [replace(pending[0], place=place, quantities=(*pending[0].quantities, *more))]
            continue
        yield from pending
        pending = made
        previous = single
    yield from pending


def claim_of(lines: Lines, flat: Flat, start: int, end: int, statement: Statement, context: Context, *, korean: bool = False) -> RawClaim:
    """A raw claim whose quote is the sentence."""
    first, last = flat.span(start, end)
    while first > 0 and lines.text[first - 1] in "*_`~":
        first -= 1
    while last < len(lines.text) and lines.text[last] in "*_`~":
        last += 1
    text = flat.text[start:end]
    spoken = korean_protocol(text) if korean else protocol(text)
    via = Via(spoken, operation(flat, start, end) if statement.relation == "CALLS" else "", "")
    return RawClaim(
        statement.relation, statement.source, statement.target, lines.place(first, last), statement.rule, 0.5, via, statement.modality, quantities(text),
        statement.gateway, statement.exclusivity, statement.drawn, attributes=statement.attributes,
    )


def _unique(claims: list[RawClaim]) -> Iterator[RawClaim]:
    """One claim a sentence and relation: the same said twice in one sentence is said once."""
    seen: set[tuple[str, str, str, Place]] = set()
    for claim in sorted(claims, key=lambda c: (c.place.lines, c.place.columns)):
        key = (claim.relation, claim.source.name.casefold(), claim.target.name.casefold(), claim.place)
        if key not in seen and claim.source.name.casefold() != claim.target.name.casefold():
            seen.add(key)
            yield replace(claim, attributes=_Frozen(claim.attributes))


class _Frozen(dict[str, str]):
    """Attributes that can be part of a set."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict that is never changed
        return hash(tuple(sorted(self.items())))
