"""The second pass over a document: running text, lists and tables to raw claims, by the names of a registry. Pure.

Every block is read with what surrounds it: the service that its section or document is about, the modality of its headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.documents import MARKUPS, document_of
from designed.extractors.fenced_settings import SETTINGS, setting_statements
from designed.extractors.flat import Flat, sentences
from designed.extractors.flows import ARROW, FENCES, arrow_lines, arrow_statements
from designed.extractors.front_matter import front_statements
from designed.extractors.introductions_titles import own_title
from designed.extractors.lists import keyed_statements, led_statements, list_statements
from designed.extractors.modality import heading_modality, rejected
from designed.extractors.names import BRINGS, Name, Names, brings, brought, names_of, within
from designed.extractors.nouns_en import operation, protocol
from designed.extractors.prose_en import HINT, english_statements
from designed.extractors.prose_ko import KO_HINT, korean_protocol, korean_statements
from designed.extractors.quantities import quantities
from designed.extractors.roles import role_of
from designed.extractors.statements import PUBLISHES, SUBSCRIBES, Context, Statement
from designed.extractors.subjects import is_dependency, is_whole, subject_of
from designed.extractors.tables import table_statements
from designed.place import Lines
from designed.reader import Place, RawClaim, RawName
from nexus.model.claim import Modality, Via
from nexus.model.document import SourceText
from nexus.model.names import HANGUL_WORD, squeezed
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.model.technology import technology

# Every service exports telemetry: that is no dependency of its work (observed-edges.md keeps it apart too).
_TELEMETRY_SINK = re.compile(
    r"collector|otel|jaeger|zipkin|prometheus|tempo|loki|datadog|fluent|logstash|statsd|telemetry", re.IGNORECASE
)
_TELEMETRY = re.compile(
    r"telemetry|\btraces?\b|\bspans?\b|\bmetrics?\b|\blogs?\b|\bOTLP\b|\bexport|\bsend(?:s|ing)? data\b|트레이스|메트릭|로그|텔레메트리",
    re.IGNORECASE,
)


def has_prose(reader: str) -> bool:
    """Whether documents of a reader have running text."""
    return reader in MARKUPS


def extract(text: SourceText, registry: Registry) -> tuple[RawClaim, ...]:
    """Claims in order of their place."""
    document = document_of(text)
    names = names_of(registry)
    claims = [claim_of(document.lines, flat, 0, len(flat.text), s) for flat, s in front_statements(document, names)]
    for block, context in contexts(document, registry):
        if block.kind == "text":
            claims += _text(document, block, names, context)
        elif block.kind == "fence" and block.language.casefold() in FENCES | SETTINGS:
            claims += _fence(document, block, names, context)
        elif block.kind == "table":
            claims += table_statements(document, block, names, context, claim_of)
    return tuple(dict.fromkeys(_unique(claims)))


def contexts(document: Document, registry: Registry) -> Iterator[tuple[Block, Context]]:
    """Each block with its context, but for sections about what is not done."""
    title = re.search(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", document.front, re.MULTILINE)
    base = subject_of(title[1], registry) if title is not None else None
    path: list[tuple[int, str, tuple[RawName, str] | None]] = []  # (level, heading, subject)
    here = _below((), base)
    for block in document.blocks:
        if block.kind == "heading":
            heading = document.flat(block.start, block.end).text
            while path and path[-1][0] >= block.level:
                path.pop()
            outer = next((s for _, _, s in reversed(path) if s is not None), base)
            path.append(
                (
                    block.level,
                    heading,
                    None
                    if (outer is not None and (is_dependency(heading) or role_of(heading) is not None))
                    or (block.level == 1 and is_whole(heading))
                    else subject_of(own_title(document, heading) if block.level == 1 else heading, registry),
                )
            )
            here = _below(
                tuple(_beside(h, s) for _, h, s in path), next((s for _, _, s in reversed(path) if s is not None), base)
            )
            here = replace(here, described=path[-1][2] is not None)
            continue
        if rejected(tuple(h for _, h, _ in path)):
            continue
        lead = next(
            (s for p in reversed(block.parents) if p is not block and (s := _lead(document, p, registry)) is not None),
            None,
        )
        yield block, replace(here, subject=lead[0], subject_key=lead[1]) if lead is not None else here


def _beside(heading: str, subject: tuple[RawName, str] | None) -> str:
    """A heading without the words of the service that it names: "Transaction History Service" tells of no past."""
    own = squeezed(subject[0].name) if subject is not None else ""
    return re.sub(r"\w+", lambda word: "" if word[0].casefold() in own else word[0], heading) if own else heading


def _below(headings: tuple[str, ...], subject: tuple[RawName, str] | None) -> Context:
    raw, key = subject if subject is not None else (None, "")
    return Context(raw, key, "prose_en", heading_modality(headings), broker=_broker(headings))


def _lead(document: Document, item: Block, registry: Registry) -> tuple[RawName, str] | None:
    """The service that a list item is about: `- **Notification service**` with items below."""
    text = document.flat(item.start, item.end).text.strip()
    return subject_of(text, registry) if 0 < len(text) <= 40 else None


def _broker(headings: tuple[str, ...]) -> str:
    """The one broker that the innermost heading with any names; an event without a name goes over it."""
    for heading in reversed(headings):
        found = {
            product[0]
            for word in re.split(r"[^\w가-힣]+", heading)
            if (product := technology(word)) is not None and product[1] is NodeKind.TOPIC
        }
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _text(document: Document, block: Block, names: Names, context: Context) -> Iterator[RawClaim]:
    source = document.text
    raw = source[block.start : block.end]
    # Most text speaks of no component: a claim needs a name, or one that it brings itself in a code span or as an event.
    if not names.maybe(raw) and "`" not in raw and BRINGS.search(raw) is None:
        return
    hangul = HANGUL_WORD.search(raw) is not None
    arrows = ARROW.search(source, block.start, block.end) is not None
    lowered = raw.lower()
    # An item may say all by where it stands: "DB: MySQL", or MySQL below "Depends on".
    if not (arrows or block.item) and HINT.search(lowered) is None and not (hangul and KO_HINT.search(lowered)):
        return
    flat = document.flat(block.start, block.end)
    found = names.find(flat)
    if not (found or arrows or block.item or brings(flat)):
        return
    drawn: set[tuple[str, str]] = set()
    if arrows:
        for first, last in arrow_lines(source, block.start, block.end):
            part = document.flat(first, last)
            wide = names.find(part, doubtful=True)
            known = sorted([*wide, *brought(part, 0, len(part.text), wide)], key=lambda n: n.start)
            for start, end in sentences(part):
                for statement in arrow_statements(part, start, end, known, drawn):
                    yield claim_of(document.lines, part, start, end, statement)
    if block.item:
        context = replace(context, rule="list_en", heading=_unchecked(document, block) or context.heading)
        listed = list_statements(document, block, flat, found, context)
        if listed is not None:
            for statement, start, end in listed:
                _under(statement, context)
                yield claim_of(document.lines, flat, start, end, statement)
            return
    if not block.item and (keyed := list(keyed_statements(document, block, names, context))):
        for line, statement in keyed:
            _under(statement, context)
            yield claim_of(document.lines, line, 0, len(line.text), statement)
        return
    if not block.item and (led := led_statements(flat, found, context)) is not None:
        for statement, start, end in led:
            yield claim_of(document.lines, flat, start, end, statement)
        return
    previous: Name | None = None
    topic: Name | None = None
    pending: list[RawClaim] = []
    bounds: list[tuple[int, int]] = sentences(flat)
    for index, (start, end) in enumerate(bounds):
        korean = hangul and HANGUL_WORD.search(flat.text, start, end) is not None
        here = replace(
            context, previous=previous, topic=topic, rule=context.rule.replace("_en", "_ko") if korean else context.rule
        )
        if korean:
            statements, single = korean_statements(flat, start, end, found, here)
        else:
            statements, single = english_statements(flat, start, end, found, here)
        made = [claim_of(document.lines, flat, start, end, s, korean=korean) for s in statements]
        if (
            not statements
            and len(pending) == 1
            and (more := quantities(flat.text[start:end]))
            and not within(found, start, end)
        ):
            # "A calls B. It must answer within p99 < 200 ms.": the number belongs to the one claim before it.
            place = document.lines.place(flat.span(bounds[index - 1][0], end)[0], flat.span(start, end)[1])
            pending = [replace(pending[0], place=place, quantities=(*pending[0].quantities, *more))]
            continue
        yield from pending
        pending = made
        previous = single
        topic = _topic_of(statements) or (topic if not statements else None)
    yield from pending


def _under(statement: Statement, context: Context) -> None:
    """What no verb states is meant as the headings above say."""
    if statement.modality is Modality.ASSERTED and context.heading is not None:
        statement.modality = context.heading


def _unchecked(document: Document, item: Block) -> Modality | None:
    """‘- [ ] A calls B’ is not done yet."""
    return Modality.PLANNED if document.text.endswith("[ ] ", 0, item.start) else None


def _topic_of(statements: Sequence[Statement]) -> Name | None:
    """The one topic that a sentence's statements are about."""
    found = {s.target_key: s for s in statements if s.relation in (PUBLISHES, SUBSCRIBES)}
    if len(found) != 1:
        return None
    said = next(iter(found.values()))
    return Name(-1, -1, -1, said.target, said.target_key, NodeKind.TOPIC.value, brought=True)


def _fence(document: Document, block: Block, names: Names, context: Context) -> Iterator[RawClaim]:
    language, source = block.language.casefold(), document.text
    if language in SETTINGS:
        for statement, start, end in setting_statements(source, block.start, block.end, names, context):
            yield claim_of(document.lines, Flat(source, (0,), (0,)), start, end, statement)
    if language not in FENCES or ARROW.search(source, block.start, block.end) is None:
        return
    drawn: set[tuple[str, str]] = set()
    position = block.start
    for line in source[block.start : block.end].splitlines(keepends=True):
        start, position = position, position + len(line)
        # Boxes drawn with lines have no order that a line tells.
        if not line.strip() or ARROW.search(line) is None or re.search(r"[│┌└┐┘├┤|]", line):
            continue
        flat = Flat(line.rstrip("\n"), (0,), (start,))
        found = names.find(flat, doubtful=True)
        topics = brought(flat, 0, len(flat.text), found)
        for statement in arrow_statements(
            flat, 0, len(flat.text), sorted([*found, *topics], key=lambda n: n.start), drawn
        ):
            yield claim_of(document.lines, flat, 0, len(flat.text), statement)


def claim_of(lines: Lines, flat: Flat, start: int, end: int, statement: Statement, *, korean: bool = False) -> RawClaim:
    """A raw claim whose quote is the sentence."""
    first, last = flat.span(start, end)
    while last > first and lines.text[last - 1].isspace():
        last -= 1
    while first > 0 and lines.text[first - 1] in "*_`~":
        first -= 1
    while last < len(lines.text) and lines.text[last] in "*_`~":
        last += 1
    text = flat.text[start:end]
    telemetry = _TELEMETRY_SINK.search(statement.target.name) is not None and _TELEMETRY.search(text) is not None
    spoken = korean_protocol(text) if korean else protocol(text)
    via = Via(spoken, operation(flat, start, end) if statement.relation == "CALLS" else "", "")
    return RawClaim(
        statement.relation,
        statement.source,
        statement.target,
        lines.place(first, last),
        statement.rule,
        0.5,
        via,
        statement.modality,
        quantities(text),
        statement.gateway,
        statement.exclusivity,
        statement.drawn,
        weak="telemetry export" if telemetry else "",
        attributes=statement.attributes,
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
