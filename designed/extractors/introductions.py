"""Names that running text introduces: titles, headings, rows of a service table, leads of lists, "the X service", 결제(pay). Pure.

A name is introduced by a head noun that says what it is (service, API, database, topic, 서비스, 토픽) or by its place (the first
column under "Service"). Capitals alone introduce nothing.
"""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.entries import entries
from designed.extractors.flat import Flat
from designed.extractors.introductions_en import HEADS, marked_names, opens_sentence, proper_names, titled_names
from designed.extractors.introductions_ko import (
    COMPOUND_ENDS,
    full_name,
    glosses,
    korean_name,
    korean_names,
    plain_name,
)
from designed.extractors.introductions_listed import listed_names
from designed.extractors.roles import CLIENT_CLASS, CONSUMER, PRODUCER, SOURCE, TARGET, TOPIC, role_of
from designed.reader import RawEntity
from nexus.model.names import HANGUL_WORD, hyphenated
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_KINDS: dict[str, NodeKind] = {
    "database": NodeKind.DATABASE,
    "db": NodeKind.DATABASE,
    "cache": NodeKind.DATABASE,
    "데이터베이스": NodeKind.DATABASE,
    "topic": NodeKind.TOPIC,
    "queue": NodeKind.TOPIC,
    "event": NodeKind.TOPIC,
    "events": NodeKind.TOPIC,
    "토픽": NodeKind.TOPIC,
    "이벤트": NodeKind.TOPIC,
    "큐": NodeKind.TOPIC,
    "exchange": NodeKind.TOPIC,
    "stream": NodeKind.TOPIC,
    "channel": NodeKind.TOPIC,
    "message": NodeKind.TOPIC,
}
_HEADS = "service|microservice|server|api|gateway|proxy|database|db|topic|queue|worker|scheduler|processor|consumer|producer|frontend|backend|app|ui|engine|bff"
# Adjectives and determiners that make no name with "service".
_STOP = frozenset(
    "only whole entire very next previous final last the a an this that these those each every any all other another our your their its new old own same web micro rest restful grpc graphql http external internal downstream upstream "
    "managed cloud backend back-end front-end core main single multiple various many several some such public private local remote third-party given following first second last "
    "customer-facing existing separate dedicated shared common service services self in-house standalone kubernetes docker aws azure gcp google independent individual specific actual "
    "corresponding respective underlying real relevant target source message messaging streaming search-as-a caching storage high-quality quality of and or to for by with is are as on "
    "default custom additional optional required proprietary underlying in-memory relational nosql sql document open-source popular test mock sample demo example "
    "configuring enabling adding creating running building testing deploying exposing installing using starting accessing writing restarting updating setting "
    "calling called downstream-facing critical legacy stateless stateful simple small tiny background async asynchronous synchronous java python go node.js spring boot".split()
)
# Of these a name in lower case is one: "the order service", "the rider app".
_LOWER_HEADS = frozenset({"service", "microservice", "database", "topic", "gateway", "app", "portal"})
_PROSE_EN = re.compile(
    r"(?<![\w./-])((?:[A-Z][A-Za-z0-9&-]*(?:\s+(?:[A-Z][A-Za-z0-9&-]*|of|and(?=\s[A-Z]\w+\s(?i:service)))){0,2}|[a-z][a-z0-9]*(?:-[a-z0-9]+)*)\s+([Ss]ervice|[Mm]icroservice|API|[Gg]ateway|[Dd]atabase|[Tt]opic|[Qq]ueue|[Ss]erver|[Ww]orker|app|portal))(?=[\s.,;:)!?]|$|[가-힣])(?!\s+(?:types?|accounts?|discovery|mesh(?:es)?|levels?|tiers?|principals?|tokens?|objects?|definitions?)\b)"
)
_KEBAB_PROSE = re.compile(
    r"(?<![\w./:@{$-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(service|svc|api|gateway|server|worker|db|database|collector|engine|adapter|scheduler|processor|registry|orchestrator|bff|frontend|backend)(?![A-Za-z0-9_/-]|\.\w|:\d)"
)
_CODE_EN = re.compile(
    r"\s+(?:micro)?(service|topic|queue|event|events|database|stream|channel|exchange|message)s?\b", re.IGNORECASE
)
_CODE_KO = re.compile(r"\s?(마이크로서비스|서비스|토픽|이벤트|큐|데이터베이스)")
_LEAD_CODE_EN = re.compile(
    r"\b(service|topic|queue|event|database|stream|channel|exchange)\s+(?:named |called )?$", re.IGNORECASE
)
_COLUMN = re.compile(
    r"(?:micro)?services?|(?:system )?components?|services?\(s\)|applications?|서비스(?:명| 이름)?|컴포넌트|구성 ?요소|마이크로서비스|시스템(?:명)?|모듈(?:명)?|service name|name",
    re.IGNORECASE,
)
# What only says which kind of text a heading is of.
_KIND_OF_TEXT = re.compile(
    r"^(?:runbook|playbook|design(?: doc(?:ument)?)?|spec(?:ification)?|service|component|overview|architecture|readme|rfc[- ]?\d*)\s*[:–—-]\s+|\s+[-–—:|]\s+(?:technical |system |software |high[- ]level )?(?:design(?: doc(?:ument)?)?|runbook|playbook|overview|architecture|readme|spec(?:ification)?|docs?|guide)$",
    re.IGNORECASE,
)
# "Basket microservice which includes:"
PRESENTS = re.compile(
    r"\s+(?:(?:which|that)\s+)?(?:includes?|contains?|offers?|features?|does|is responsible for)(?:\s+the following)?\s*[:;,.]*\s*$",
    re.IGNORECASE,
)
_SECTION = re.compile(r"services|components|microservices|서비스|컴포넌트|구성 ?요소", re.IGNORECASE)
_NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)]?\s+|[①-⑳]\s*|[A-Z][.)]\s+)")
_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
# Without any of these a text introduces nothing.
_TELLING = re.compile(r"ervice|`|\*\*|[가-힣]|API|ateway|atabase|opic|ueue|erver|orker|event|-(?:svc|db)")
_HEAD = re.compile(HEADS)
_PROSE_HEAD = re.compile(r"ervice|API|ateway|atabase|opic|ueue|erver|orker|app|portal")
# Texts that may go on with a title's name.
_OPENING = 6
_EMOJI = re.compile(r"^[^\w가-힣`*\[(]+")


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
            yield from _text(document, block, section)


def heading_name(text: str) -> tuple[str, str]:
    """(name, kind) that a heading or title names as a thing; ("", "") where it names none."""
    bare = _EMOJI.sub("", _NUMBERING.sub("", _EMOJI.sub("", text.strip()))).strip(" *_`#:")
    bare = re.sub(r"\s*[(\[（][^)\]）]*[)\]）]\s*$", "", bare).strip(" *_`:")
    if role_of(bare) is not None:
        # "의존 서비스" heads a list of them.
        return "", ""
    about = _KIND_OF_TEXT.sub("", PRESENTS.sub("", bare))
    titled, bare = about != bare, about
    product = technology(bare)
    if product is not None:
        return bare, product[1].value
    if _KEBAB.fullmatch(bare) and re.search(rf"-(?:{_HEADS}|svc|service)$", bare):
        return bare, _KINDS.get(bare.rsplit("-", 1)[1], NodeKind.SERVICE).value
    words = bare.split()
    if (
        1 < len(words) <= 4
        and re.fullmatch(rf"(?:{_HEADS})", words[-1].casefold())
        and all(re.match(r"[\w&/-]+$", w) for w in words)
    ):
        if words[0].casefold() in _STOP or any(
            w.casefold() in _STOP and w.casefold() not in ("and", "of") for w in words[:-1]
        ):
            return "", ""
        return bare, _KINDS.get(words[-1].casefold(), NodeKind.SERVICE).value
    if (
        titled
        and 1 < len(words) <= 4
        and re.fullmatch(rf"(?:{HEADS})", words[-1].capitalize())
        and words[0][0].isupper()
        and not any(w.casefold() in _STOP for w in words)
    ):
        return bare, NodeKind.SERVICE.value
    if re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:Service|Api|API|Gateway|Database|DB)", bare):
        return bare, NodeKind.SERVICE.value if not bare.endswith(("Database", "DB")) else NodeKind.DATABASE.value
    korean = full_name(bare)
    if korean is not None and korean_name(korean):
        return bare, NodeKind.SERVICE.value
    _, separator, last = bare.rpartition(" - ")
    if separator and (of_system := heading_name(last))[0]:
        # "Retail Sample - Checkout Service": the system and its part.
        return of_system
    return (bare, kind) if (kind := plain_name(bare)) else ("", "")


def _title(document: Document, text: str, start: int, end: int, how: str) -> Iterator[RawEntity]:
    name, kind = heading_name(text)
    if how and name:
        name = own_title(document, name)
    if name:
        yield RawEntity(name, kind, document.lines.place(start, end), attributes={"introduced": how or "heading"})


def own_title(document: Document, title: str) -> str:
    """‘Shopico Payment Service’ without the system's name, where the text below goes on with "Payment Service"."""
    system, _, own = title.strip().partition(" ")
    if " " not in own or not heading_name(own)[0]:
        return title
    opening = re.compile(rf"(?:^|[.!?]\s+)(?:The )?[`*]*{re.escape(own)}(?![A-Za-z0-9_-])", re.IGNORECASE)
    alone = re.compile(rf"(?<![\w-]){re.escape(system)}(?![\w-]|\s+{re.escape(own)})", re.IGNORECASE)
    texts = [b for b in document.blocks if b.kind == "text"][:_OPENING]
    begins = any(opening.search(document.flat(b.start, b.end).text) for b in texts)
    return own if begins and alone.search(document.text, document.blocks[0].end) is not None else title


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
            and hyphenated(text) not in _STOP
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
    kind = _KINDS.get(parts[-1]) if len(parts) > 1 else None
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
                if hyphenated(entry.raw.name) not in _STOP and len(entry.raw.name) > 2:
                    yield _entity(
                        document,
                        flat,
                        entry.start,
                        entry.end,
                        entry.raw.name,
                        entry.kind or _kind_of(entry.raw.name),
                        "code",
                    )


def _text(document: Document, block: Block, section: str) -> Iterator[RawEntity]:
    source = document.text
    if _TELLING.search(source, block.start, block.end) is None and _HEAD.search(source, block.start, block.end) is None:
        return
    flat = document.flat(block.start, block.end)
    if block.item and _SECTION.search(section):
        lead = re.match(r"([A-Za-z가-힣][\w가-힣 -]{1,40}?)\s*(?:[:–—]|\s-\s)", flat.text)
        if lead is not None and (_KEBAB.fullmatch(lead[1]) or heading_name(lead[1])[0]):
            yield _entity(document, flat, lead.start(1), lead.end(1), lead[1], heading_name(lead[1])[1], "table")
    for start, end in flat.code:
        name = flat.text[start:end].strip()
        if not re.fullmatch(r"[A-Za-z가-힣][\w가-힣.*/-]{1,60}", name) or name.startswith(("http", "./")):
            continue
        after = _CODE_EN.match(flat.text, end) or _CODE_KO.match(flat.text, end)
        before = _LEAD_CODE_EN.search(flat.text, max(0, start - 30), start)
        if after is not None:
            kind = _KINDS.get(after[1].casefold(), NodeKind.SERVICE)
        elif before is not None:
            kind = _KINDS.get(before[1].casefold(), NodeKind.SERVICE)
        else:
            continue
        if kind is NodeKind.SERVICE and not re.fullmatch(
            r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*|[A-Z][A-Za-z0-9]+|[가-힣]+", name
        ):
            continue
        yield _entity(document, flat, start, end, name, kind.value, "code")
    for match in _KEBAB_PROSE.finditer(flat.text) if "-" in flat.text else ():
        yield _entity(
            document, flat, match.start(), match.end(), match[0], _KINDS.get(match[1], NodeKind.SERVICE).value, "code"
        )
    for match in _PROSE_EN.finditer(flat.text) if _PROSE_HEAD.search(flat.text) else ():
        words = match[1].split()
        head = words[-1].casefold()
        while words and (words[0].casefold() in _STOP or (words[0][0].isupper() and opens_sentence(words[0]))):
            words = words[1:]
        name = " ".join(words)
        if (
            len(words) < 2
            or any(w.casefold() in _STOP for w in words[:-1] if w not in ("of", "and"))
            or words[0].casefold() in ("if", "when", "for", "in", "see", "run", "once")
        ):
            continue
        if (
            words[0].islower()
            and "-" not in words[0]
            and not re.search(
                r"\b(?:the|The|our|Our|and|via|through|by|to|from)\s+$", flat.text[: match.end(1) - len(name)]
            )
        ):
            continue
        if words[0].islower() and head not in _LOWER_HEADS:
            continue
        if any(technology(w) is not None for w in words[:-1]) or technology(" ".join(words[:-1])) is not None:
            continue
        begin = match.end(1) - len(name)
        if flat.in_code(begin):
            # `telematics` topic: read above.
            continue
        if (
            len(words) == 2
            and words[0][0].isupper()
            and words[1].islower()
            and not re.search(r"\b[Tt]he\s+$", flat.text[:begin])
            and not flat.text[:begin].strip(" *_").rstrip('"')[-1:].isalnum()
        ):
            continue
        if _KEBAB.fullmatch(words[0]):
            if words[0].endswith(COMPOUND_ENDS):
                continue
            name = words[0]
            yield _entity(
                document, flat, begin, begin + len(name), name, _KINDS.get(head, NodeKind.SERVICE).value, "prose"
            )
            continue
        yield _entity(
            document,
            flat,
            match.end(1) - len(name),
            match.end(1),
            name,
            _KINDS.get(head, NodeKind.SERVICE).value,
            "prose",
        )
    yield from _named(document, flat, ((*found, ()) for found in titled_names(flat)))
    if HANGUL_WORD.search(flat.text):
        yield from _named(document, flat, korean_names(flat))


def _named(
    document: Document, flat: Flat, found: Iterable[tuple[int, int, str, str, str, tuple[str, ...]]]
) -> Iterator[RawEntity]:
    for start, end, name, kind, how, aliases in found:
        yield _entity(document, flat, start, end, name, kind, how, aliases)


def _entity(
    document: Document, flat: Flat, start: int, end: int, name: str, kind: str, how: str, aliases: tuple[str, ...] = ()
) -> RawEntity:
    return RawEntity(name, kind, document.lines.place(*flat.span(start, end)), aliases, attributes={"introduced": how})
