"""Tables below a heading that gives their rows a role: "Published events", 수신 이벤트, "Feign clients", "Dependencies". Pure. Rule: `table.role`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.columns import Columns
from designed.extractors.entries import entries
from designed.extractors.flat import Flat
from designed.extractors.lists import role_statements
from designed.extractors.names import Name, Names
from designed.extractors.roles import CLIENT_CLASS, CLIENTS, RECEIVER, Role, role_of
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement
from designed.reader import RawName

# Paragraphs between a heading and its table.
_BETWEEN = 3


def headed_statements(
    document: Document, block: Block, names: Names, context: Context, columns: Columns
) -> Iterator[tuple[Flat, Statement]]:
    """(row, statement): the section's service in its role to what the rows name; nothing where the columns tell both sides."""
    role = _role(document, block)
    paired = columns.source is not None and columns.target is not None
    if role is None or context.subject is None or paired or columns.roles:
        return
    subject = Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)
    events = role[0] != CALLS
    listed = columns.topic if events else columns.service if columns.service is not None else columns.target
    if listed is None or (events and columns.producer is not None and columns.consumer is not None):
        return
    others = [i for i, head in enumerate(columns.heads) if i != listed and RECEIVER.fullmatch(head)]
    for row in block.rows[1:]:
        if len(row) <= listed:
            continue
        flat, spans = document.row(row)
        found = names.find(flat)
        things = [_served(thing) for thing in entries(flat, *spans[listed], found, topics=events)]
        for statement in role_statements(subject, things, role, "table.role"):
            yield flat, statement
        for other in others if role == (PUBLISHES, False) else ():
            for receiver in entries(flat, *spans[other], found, topics=False) if other < len(spans) else ():
                for statement in role_statements(receiver, things, (SUBSCRIBES, False), "table.event"):
                    yield flat, statement


def _role(document: Document, block: Block) -> Role | None:
    """The role that the heading of the table's section gives, or the paragraph right above that is a head itself."""
    heads = document.heads_before(block.start, _BETWEEN)
    for head in reversed(heads):
        text = document.flat(head.start, head.end).text.strip().rstrip(":")
        role = (CALLS, False) if CLIENTS.fullmatch(text) else role_of(text)
        if role is not None or head.kind == "heading":
            return role
    return None


def _served(thing: Name) -> Name:
    """Of a class that calls a service, that service: PaymentFeignClient."""
    called = CLIENT_CLASS.sub("", thing.raw.name)
    return (
        replace(thing, raw=RawName(called, thing.raw.kind_hint), key=f"name:{called.casefold()}")
        if called != thing.raw.name
        else thing
    )
