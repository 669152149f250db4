"""Names that a document introduces: titles, headings, rows of a service table, leads of lists, "the X service", 결제(pay). Pure.

A name is introduced by a head noun that says what it is (service, API, database, topic, 서비스, 토픽) or by its place (the first
column under "Service"). Capitals alone introduce nothing.
"""

# word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.entries import entries
from designed.extractors.flat import Flat
from designed.extractors.introductions_en import marked_names, proper_names
from designed.extractors.introductions_ko import glosses
from designed.extractors.introductions_listed import listed_names
from designed.extractors.introductions_text import text_names
from designed.extractors.introductions_titles import KINDS, STOP, heading_name, own_title
from designed.extractors.roles import CLIENT_CLASS, CONSUMER, PRODUCER, SOURCE, TARGET, TOPIC, role_of
from designed.reader import RawEntity
from nexus.model.names import hyphenated
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_COLUMN = re.compile(
    r"(?:micro)?services?|(?:system )?components?|services?\(s\)|applications?|서비스(?:명| 이름)?|컴포넌트|구성 ?요소|마이크로서비스|시스템(?:명)?|모듈(?:명)?|service name|name",
    re.IGNORECASE,
)


def introduced(document: Document) -> Iterator[RawEntity]:
    """Names in order of appearance; the same name more than once only from a better place."""
    seen: set[tuple[str, str, str, tuple[str, ...]]] = set()
    for entity in _parted(list(_all(document))):
        how = entity.attributes.get("introduced", "")
        key = (entity.name.casefold(), entity.kind, how if how.startswith("gloss") else "", entity.aliases)
        if key not in seen:
            seen.add(key)
            yield entity


def _parted(found: list[RawEntity]) -> Iterator[RawEntity]:
    """‘Cart and Order Service’ is two names where the document has either of them alone, and one ("Search and Rescue Service") elsewhere."""
    alone = {entity.name.casefold() for entity in found}
    for entity in found:
        first, _, second = entity.name.casefold().partition(" and ")
        if second and alone & {first, f"{first} service", second}:
            yield replace(entity, name=entity.name[-len(second) :])
        else:
            yield entity


def _all(document: Document) -> Iterator[RawEntity]:
    title = re.search(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", document.front, re.MULTILINE)
    if title is not None:
        start = document.front_start + title.start(1)
        yield from _title(document, title[1], start, document.front_start + title.end(1), "title")
    for flat, found in (*marked_names(document), *proper_names(document), *listed_names(document)):
        yield from _named(document, flat, [(*found, ())])
    section = ""
    for index, block in enumerate(document.blocks):
        if block.kind == "heading":
            flat = document.flat(block.start, block.end)
            section = flat.text
            yield from _title(
                document, flat.text, block.start, block.end, "title" if index == 0 or block.level == 1 else ""
            )
            yield from _named(document, flat, glosses(flat))
        elif block.kind == "table":
            yield from _table(document, block)
        elif block.kind == "text":
            yield from _named(document, document.flat(block.start, block.end), text_names(document, block, section))


def _title(document: Document, text: str, start: int, end: int, how: str) -> Iterator[RawEntity]:
    name, kind = heading_name(text)
    if how and name:
        name = own_title(document, name)
    if name:
        yield RawEntity(name, kind, document.lines.place(start, end), attributes={"introduced": how or "heading"})


def _table(document: Document, block: Block) -> Iterator[RawEntity]:
    if not block.rows or not block.rows[0]:
        return
    yield from _role_cells(document, block)
    head = document.cell(block.rows[0][0]).text.strip(" *`")
    if _COLUMN.fullmatch(head) is None or head.casefold() == "name":
        return
    for row in block.rows[1:]:
        if not row:
            continue
        text = document.cell(row[0]).text.strip(" *`")
        if (
            text
            and len(text.split()) <= 4
            and re.fullmatch(r"[\w가-힣][\w가-힣 ./&()-]*", text)
            and hyphenated(text) not in STOP
        ):
            written = re.sub(r"\s*\(.*\)$", "", text)
            name = CLIENT_CLASS.sub("", written)
            product = technology(name)
            yield RawEntity(
                name,
                product[1].value if product else _kind_of(name),
                document.lines.place(row[0].start, row[0].end),
                # What a class is called after has a firmer name elsewhere.
                attributes={"introduced": "table" if name == written else "prose"},
            )


def _kind_of(name: str) -> str:
    """The kind that the last word of a compound tells (`limits-db`); "" where it tells none."""
    parts = hyphenated(name).split("-")
    kind = KINDS.get(parts[-1]) if len(parts) > 1 else None
    return kind.value if kind is NodeKind.DATABASE else ""


def _role_cells(document: Document, block: Block) -> Iterator[RawEntity]:
    """Entries under "Depends on", 외부 연동, "Caller", "Consumers" are names, wherever else they stand."""
    heads = [document.cell(c).text.strip(" *_`") for c in block.rows[0]]
    paired = [
        {i for i, head in enumerate(heads) if any(p.fullmatch(head) for p in patterns)}
        for patterns in ((SOURCE, TARGET), (TOPIC, PRODUCER, CONSUMER))
    ]
    ends = paired[0] if len(paired[0]) > 1 else paired[1] if len(paired[1]) > 1 else set()
    for row in block.rows[1:]:
        key = role_of(document.cell(row[0]).text) if row and len(row) == 2 else None
        for index, cell in enumerate(row):
            role = role_of(heads[index]) if index < len(heads) else None
            role = role or (key if index == 1 else None)
            if (role is None or role[0] != "CALLS") and index not in ends:
                continue
            topics = index in ends and TOPIC.fullmatch(heads[index]) is not None
            flat = document.cell(cell)
            for entry in entries(flat, 0, len(flat.text), (), topics=topics):
                if hyphenated(entry.raw.name) not in STOP and len(entry.raw.name) > 2:
                    yield _entity(
                        document,
                        flat,
                        entry.start,
                        entry.end,
                        entry.raw.name,
                        entry.kind or _kind_of(entry.raw.name),
                        "code",
                    )


def _named(
    document: Document, flat: Flat, found: Iterable[tuple[int, int, str, str, str, tuple[str, ...]]]
) -> Iterator[RawEntity]:
    for start, end, name, kind, how, aliases in found:
        yield _entity(document, flat, start, end, name, kind, how, aliases)


def _entity(
    document: Document, flat: Flat, start: int, end: int, name: str, kind: str, how: str, aliases: tuple[str, ...] = ()
) -> RawEntity:
    return RawEntity(name, kind, document.lines.place(*flat.span(start, end)), aliases, attributes={"introduced": how})
