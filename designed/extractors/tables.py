"""Tables: dependency tables (from, to), event tables (topic, producer, consumer), a service a row, key and value under a service. Pure.

Rules: `table.pair`, `table.event`, `table.role` (a column or key such as "Depends on"), `table.route`, `table.address`, and
`table_en.*` / `table_ko.*` for sentences in cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.columns import Columns, columns_of
from designed.extractors.entries import entries
from designed.extractors.flat import Flat, sentences
from designed.extractors.flows import ARROW, arrow_statements
from designed.extractors.headed_tables import headed_statements
from designed.extractors.lists import address_statements, role_statements
from designed.extractors.matrices import matrix
from designed.extractors.names import Name, Names
from designed.extractors.prose_en import english_statements
from designed.extractors.prose_ko import korean_statements
from designed.extractors.roles import role_of
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement
from designed.reader import RawClaim
from nexus.model.claim import Modality
from nexus.model.edge import Relation
from nexus.model.names import HANGUL_WORD
from nexus.model.service import NodeKind

Make = Callable[..., RawClaim]
_SENTENCE_COLUMN = re.compile(
    r"descriptions?|details?|purpose|responsibilit(?:y|ies)|notes?|role|remarks?|summary|what it does|comment|설명|역할|책임|비고|기능|내용|용도|상세",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_ASYNC = re.compile(r"kafka|event|async|message|queue|topic|amqp|rabbit|pub/?sub|이벤트|비동기|메시지", re.IGNORECASE)


def table_statements(
    document: Document, block: Block, names: Names, context: Context, make: Make
) -> Iterator[RawClaim]:
    """Claims of a table, each quoting its row."""
    if not block.rows:
        return
    crossed = list(matrix(document, block, names))
    for flat, statement in crossed:
        yield make(document.lines, flat, 0, len(flat.text), statement)
    if crossed:
        return
    heads = tuple(document.cell(c).text.strip(" *_`") for c in block.rows[0])
    columns = columns_of(heads)
    if below := list(headed_statements(document, block, names, context, columns)):
        for flat, statement in below:
            statement.modality = heading(flat, context) or statement.modality
            yield make(document.lines, flat, 0, len(flat.text), statement)
        return
    # Where a column or key gives a relation, its entries may be names that nothing else knows.
    relational = (
        columns.roles
        or columns.source is not None
        or columns.topic is not None
        or columns.service is not None
        or len(heads) == 2
    )
    for row in block.rows[1:]:
        if len(row) < 2 or not (relational or names.maybe(document.text[row[0].start : row[-1].end])):
            continue
        flat, spans = document.row(row)
        found = names.find(flat)
        planned = heading(flat, context)
        for statement, start, end in (
            *_arrows(flat, spans, names, columns),
            *_row(flat, spans, found, columns, context),
        ):
            if planned is not None and statement.modality is Modality.ASSERTED:
                statement.modality = planned
            yield make(document.lines, flat, start, end, statement)


def _arrows(
    flat: Flat, spans: Sequence[tuple[int, int]], names: Names, columns: Columns
) -> Iterator[tuple[Statement, int, int]]:
    """‘orders → stock’ in a cell; over the row's topic, where a column has it."""
    if ARROW.search(flat.text) is None:
        return
    known = names.find(flat, doubtful=True)
    topics = []
    if columns.topic is not None and columns.topic < len(spans):
        topics = [n for n in entries(flat, *spans[columns.topic], known, topics=True) if n.topic and not n.product]
    for index, (start, end) in enumerate(spans):
        if index in (columns.topic, columns.route):
            continue
        for statement in arrow_statements(flat, start, end, known, set()):
            if len(topics) != 1 or statement.relation != CALLS:
                yield statement, 0, len(flat.text)
                continue
            topic = topics[0]
            for relation, name, key, drawn in (
                (PUBLISHES, statement.source, statement.source_key, ""),
                (SUBSCRIBES, statement.target, statement.target_key, "reversed"),
            ):
                yield (
                    Statement(relation, name, key, topic.raw, topic.key, "table.event", 0, drawn=drawn),
                    0,
                    len(flat.text),
                )


# Cells that say how a row is meant: alone, or with a few words more in any column but the first.
_STATED = tuple(
    (modality, re.compile(rf"(?:^|\|)\s*(?:{alone})\s*(?=\||$)|\|\s*(?:{with_more})\s*(?=\||$)", re.IGNORECASE))
    for modality, alone, with_more in (
        (
            Modality.FORBIDDEN,
            "deny|denied|drop|block|blocked|forbidden|prohibited|not allowed|차단|금지|불가|거부|불허",
            "denied by[^|]{1,24}",
        ),
        (
            Modality.DEPRECATED,
            "deprecated|legacy|폐기",
            r"deprecated\b[^|]{1,24}|to be removed\b[^|]{0,24}|폐기[^|]{1,12}|지원 ?종료[^|]{0,12}|제거 ?예정",
        ),
        (Modality.HISTORICAL, "removed", "removed (?:in|since)[^|]{1,16}"),
        (
            Modality.PLANNED,
            "planned|future|예정|계획|todo",
            r"planned\b[^|]{1,24}|not yet\b[^|]{1,24}|[^|]{1,16} 예정|미구현|개발 ?중",
        ),
    )
)


def heading(flat: Flat, context: Context) -> Modality | None:
    """Modality that a row states in a cell of its own ("planned", "deprecated", 예정), else the headings'."""
    for modality, cell in _STATED:
        if cell.search(flat.text):
            return modality
    return context.heading


def _row(
    flat: Flat, spans: list[tuple[int, int]], found: list[Name], columns: Columns, context: Context
) -> Iterator[tuple[Statement, int, int]]:
    whole = (0, len(flat.text))

    def cell(index: int | None, *, topics: bool = False, open_names: bool = True) -> list[Name]:
        return (
            entries(flat, *spans[index], found, topics=topics, open_names=open_names)
            if index is not None and index < len(spans)
            else []
        )

    text = (
        flat.text[slice(*spans[columns.protocol])]
        if columns.protocol is not None and columns.protocol < len(spans)
        else ""
    )
    if columns.topic is not None and (columns.producer is not None or columns.consumer is not None):
        for topic in cell(columns.topic, topics=True):
            for producer in cell(columns.producer):
                yield _statement(PUBLISHES, producer, topic, "table.event"), *whole
            for consumer in cell(columns.consumer):
                yield _statement(SUBSCRIBES, consumer, topic, "table.event"), *whole
        return
    if columns.source is not None and columns.target is not None:
        for source in cell(columns.source):
            for target in cell(columns.target):
                if source.kind == NodeKind.TOPIC and not target.passive:
                    yield _statement(SUBSCRIBES, target, source, "table.pair", drawn="reversed"), *whole
                elif not source.passive:
                    relation = (
                        PUBLISHES
                        if target.topic
                        or (_ASYNC.search(text) and not target.passive and "grpc" not in text.casefold())
                        else CALLS
                    )
                    yield _statement(relation, source, target, "table.pair", operation=text), *whole
        return
    row_subject = next((n for n in cell(columns.service, open_names=False) if not n.passive), None)
    turned = bool(columns.roles) and all(reverse for _, (_, reverse) in columns.roles)
    if columns.service is None and columns.roles and (turned or role_of(columns.heads[0]) is None):
        # "Database | Used by", "Name | Calls": the row is about what its first cell names.
        named = cell(0, open_names=False)
        row_subject = named[0] if len(named) == 1 else None
    subject = row_subject or _context_name(context)
    if row_subject is None and columns.service is not None and not cell(columns.service, open_names=False):
        subject = next(iter(cell(columns.service)), None) if columns.service == 0 else None
    if (
        columns.route is not None
        and columns.service is not None
        and columns.route != columns.service
        and context.subject is not None
        and re.search(r"gateway|proxy|게이트웨이|ingress|router", context.subject.name, re.IGNORECASE)
    ):
        for target in cell(columns.service):
            if target.key != context.subject_key:
                yield _statement(CALLS, _context_name(context), target, "table.route"), *whole
        return
    if subject is None:
        return
    if (first := role_of(columns.heads[0])) is not None and context.subject is not None and columns.service is None:
        # "Dependency | Why": what the first column lists, the section's service has.
        yield from (
            (s, *whole) for s in role_statements(subject, cell(0, topics=first[0] != CALLS), first, "table.role")
        )
    done = False
    for index, role in columns.roles:
        if columns.service is None and context.subject is None and row_subject is None:
            continue
        yield from (
            (s, *whole) for s in role_statements(subject, cell(index, topics=role[0] != CALLS), role, "table.role")
        )
        done = True
    if (
        not done
        and columns.service is None
        and len(spans) >= 2
        and (own := role_of(flat.text[slice(*spans[0])])) is not None
    ):
        yield from ((s, *whole) for s in role_statements(subject, cell(1, topics=own[0] != CALLS), own, "table.role"))
        return
    yield from _sentences(
        flat,
        spans,
        found,
        columns,
        replace(context, subject=subject.raw, subject_key=subject.key, fragment=True, previous=None),
    )


def _sentences(
    flat: Flat, spans: list[tuple[int, int]], found: list[Name], columns: Columns, context: Context
) -> Iterator[tuple[Statement, int, int]]:
    variable = _VARIABLE.search(flat.text, *spans[0]) is not None
    for index, (start, end) in enumerate(spans):
        if index in (0, columns.service):
            continue
        if variable:
            yield from (
                (s, 0, len(flat.text)) for s in address_statements(flat, start, end, found, context, "table.address")
            )
        if end - start < 8 or (
            variable and not _SENTENCE_COLUMN.fullmatch(columns.heads[index] if index < len(columns.heads) else "")
        ):
            continue
        inner = _slice(flat, start, end)
        for first, last in sentences(inner):
            korean = HANGUL_WORD.search(inner.text, first, last) is not None
            names = [replace_span(n, start) for n in found if start <= n.start < end]
            here = replace(context, rule="table_ko" if korean else "table_en")
            statements, _ = (korean_statements if korean else english_statements)(inner, first, last, names, here)
            for statement in statements:
                statement.verb += start
                yield statement, start + first, start + last


def _slice(flat: Flat, start: int, end: int) -> Flat:
    def cut(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start)

    return Flat(flat.text[start:end], (0,), (0,), cut(flat.code), cut(flat.pointed), cut(flat.struck))


def replace_span(name: Name, shift: int) -> Name:
    """The same name in a text that begins at `shift`."""
    return Name(
        name.start - shift,
        name.end - shift,
        name.core - shift,
        name.raw,
        name.key,
        name.kind,
        name.product,
        name.brought,
    )


def _context_name(context: Context) -> Name | None:
    if context.subject is None:
        return None
    return Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)


def _statement(
    relation: str, source: Name | None, target: Name, rule: str, drawn: str = "", operation: str = ""
) -> Statement:
    assert source is not None
    attributes = {"stated_protocol": operation.strip()} if operation.strip() else {}
    return Statement(
        Relation(relation).value,
        source.raw,
        source.key,
        target.raw,
        target.key,
        rule,
        0,
        drawn=drawn,
        attributes=attributes,
    )
