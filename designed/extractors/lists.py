"""Lists: addresses of other services under a variable, entries under "Depends on", items that begin with a service's name. Pure.

Rules: `list.address`, `list.role`, and `list_en.*` / `list_ko.*` for sentences in items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from designed.extractors.blocks import Block, Document
from designed.extractors.entries import entries
from designed.extractors.flat import Flat, sentences
from designed.extractors.names import Name, Names, brought
from designed.extractors.prose_en import english_statements
from designed.extractors.prose_ko import korean_statements
from designed.extractors.roles import ADDRESS, KO_ADDRESS, Role, role_of
from designed.extractors.statements import CALLS, Context, Statement
from nexus.model.edge import Relation
from nexus.model.names import HANGUL_WORD, words
from nexus.model.service import NodeKind

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_KEY = re.compile(r"\s*([^:]{2,40}):\s+")
_LEAD = re.compile(r"[`\s]*(?:\s*[:–—]|\s+[-→]\s|\s*\()")
# A script or file at the head of an item: what it does is not the service's doing.
_FILE = re.compile(r"[\w./-]*[./][\w./-]+\s*[:–—-]\s")
_START_ORDER = re.compile(r"compose|start(?:up)? order|depends_on|kubernetes resources", re.IGNORECASE)

Listed = list[tuple[Statement, int, int]]


def list_statements(
    document: Document, block: Block, flat: Flat, found: Sequence[Name], context: Context
) -> Listed | None:
    """Statements of an item; None where it is to be read as ordinary sentences."""
    parent = (
        (block.parents[-1] if block.parents[-1] is not block else block.parents[-2] if len(block.parents) > 1 else None)
        if block.parents and block.item
        else None
    )
    lead = document.flat(parent.start, parent.end).text.strip() if parent is not None else ""
    if _VARIABLE.search(lead) or _VARIABLE.match(flat.text.strip(" `*")):
        made = [
            (s, 0, len(flat.text)) for s in address_statements(flat, 0, len(flat.text), found, context, "list.address")
        ]
        if made:
            return made
    role = role_of(lead.rstrip(":")) if lead else None
    above = _role_above(document, block) if parent is None else None
    if above is not None and _START_ORDER.search(_above(document, block)):
        above = None
    subject = _subject(context)
    if role is not None and subject is not None and not _START_ORDER.search(_above(document, parent)):
        things = entries(flat, 0, len(flat.text), found, topics=role[0] != CALLS)
        # "payment, stock" are two; of "payment: charges cards through Stripe" only the first is meant.
        things = things if _only_names(flat, 0, things) else things[:1]
        return [(s, 0, len(flat.text)) for s in role_statements(subject, things, role, "list.role")]
    if subject is not None and (keyed := _keyed(flat)) is not None and not _START_ORDER.search(_above(document, block)):
        return _of_key(flat, found, subject, *keyed)
    listed = _below(flat, found, above, subject)
    if not listed and flat.code and flat.code[0][0] <= 1 and _FILE.match(flat.text) is not None:
        return []
    if (
        found
        and found[0].start <= 2
        and (match := _LEAD.match(flat.text, found[0].end)) is not None
        and not found[0].passive
    ):
        if above is not None and _only_names(flat, match.end(), found[1:]):
            return [(s, 0, len(flat.text)) for s in role_statements(found[0], found[1:], above, "list.role")]
        return [*listed, *_of_lead(flat, found, match.end(), context)]
    return listed or None


def keyed_statements(
    document: Document, block: Block, names: Names, context: Context
) -> Iterator[tuple[Flat, Statement]]:
    """A paragraph of keys and values, as far as keys are roles: "Uses: Redis", "Publishes: `paid`". (line, statement); none for any other."""
    subject = _subject(context)
    lines = document.text[block.start : block.end].rstrip("\n").split("\n")
    if subject is None or not all(re.match(r"[^:]{2,44}:\s", line) for line in lines):
        return
    position = block.start
    flats = []
    for line in lines:
        flats.append(document.flat(position, position + len(line)))
        position += len(line) + 1
    for flat in flats:
        keyed = _keyed(flat)
        if keyed is not None:
            yield from ((flat, s) for s, _, _ in _of_key(flat, names.find(flat), subject, *keyed))


def _keyed(flat: Flat) -> tuple[Role, int] | None:
    """The role that a line begins with, and where what has it begins."""
    match = _KEY.match(flat.text)
    role = role_of(match[1]) if match is not None else None
    return (role, match.end()) if role is not None and match is not None else None


def _of_key(flat: Flat, found: Sequence[Name], subject: Name, role: Role, start: int) -> Listed:
    things = entries(flat, start, len(flat.text), found, topics=role[0] != CALLS)
    return [(s, 0, len(flat.text)) for s in role_statements(subject, things, role, "list.role")]


def _below(flat: Flat, found: Sequence[Name], role: Role | None, subject: Name | None) -> Listed:
    """An item of a list below "Dependencies" or "Events published:": what it begins with, if that is known, or is written as code."""
    if role is None or subject is None:
        return []
    topics = role[0] != CALLS
    known = sorted([*found, *brought(flat, 0, len(flat.text), list(found))], key=lambda n: n.start) if topics else found
    things = entries(flat, 0, len(flat.text), known, topics=topics, open_names=False)
    things = things if _only_names(flat, 0, things) else things[:1] if _leads(flat, things) else []
    return [(s, 0, len(flat.text)) for s in role_statements(subject, things, role, "list.role")]


def _leads(flat: Flat, things: Sequence[Name]) -> bool:
    """Whether an item names one thing and then says something of it: "Redis (sessions)", "`paid` - ships it"."""
    return (
        bool(things)
        and not flat.text[: things[0].start].strip(" `*_[")
        and re.match(
            r"[`*\])_]*(?:\s+(?:service|api|database|db|cluster|cache|queue|topic|서비스|서버))?[`*\])_]*\s*(?:[(:,–—]|-\s|$)",
            flat.text[things[0].end :],
            re.IGNORECASE,
        )
        is not None
    )


def _role_above(document: Document, item: Block) -> Role | None:
    """The role that the heading, or the paragraph that is a head itself or ends with one, right above a list gives to its items."""
    for head in document.heads_before(item.start, 1):
        text = document.flat(head.start, head.end).text.strip()
        return role_of(text.rsplit(". ", 1)[-1] if text.endswith(":") else text)
    return None


def _only_names(flat: Flat, start: int, names: Sequence[Name]) -> bool:
    """Whether a text from `start` on lists names and says nothing else."""
    rest, position = "", start
    for name in names:
        rest, position = rest + flat.text[position : name.start], name.end
    rest = re.sub(r"\([^()]*\)", "", rest + flat.text[position:])
    return bool(names) and re.fullmatch(r"(?:[\s,;.`*·/+&]|\band\b|및)*", rest) is not None


def led_statements(flat: Flat, found: Sequence[Name], context: Context) -> Listed | None:
    """‘Order Service: receives orders, ...’: a paragraph about its first name; None for any other."""
    if (
        not found
        or found[0].start > 2
        or found[0].passive
        or not re.match(r"[`*\s]*:\s", flat.text[found[0].end : found[0].end + 6])
    ):
        return None
    return _of_lead(flat, found, found[0].end + 1, context)


def address_statements(
    flat: Flat, start: int, end: int, found: Sequence[Name], context: Context, rule: str
) -> Iterator[Statement]:
    """‘the address and port of the X service’, "X 내부 URL": whoever is configured with it calls X."""
    subject = _subject(context)
    if subject is None or subject.passive:
        return
    variable = _VARIABLE.search(flat.text)
    for match in ADDRESS.finditer(flat.text, start, end):
        if variable is not None and variable[0].casefold().startswith(squeezed_words(subject.raw.name)):
            # CART_PORT in the cart service's own list is where it listens.
            break
        for name in found:
            if (
                "port" in match[0].casefold()
                and variable is not None
                and variable[0].endswith("_PORT")
                and not set(words(variable[0])) & set(words(name.raw.name))
            ):
                # A port of its own, described by what serves it.
                continue
            if (
                match.end() <= name.start <= match.end() + 24
                and not re.search(r"[.;,]", flat.text[match.end() : name.start])
                and not name.topic
            ):
                yield Statement(CALLS, subject.raw, subject.key, name.raw, name.key, rule, match.start())
                break
    for name in found:
        if (
            start <= name.start < end
            and HANGUL_WORD.search(flat.text, start, end)
            and KO_ADDRESS.match(flat.text[name.end : name.end + 30].lstrip())
            and not name.topic
        ):
            yield Statement(CALLS, subject.raw, subject.key, name.raw, name.key, rule, name.start)


def squeezed_words(name: str) -> str:
    """A name as the beginning of an environment variable."""
    return "_".join(words(re.sub(r"[-_ ]?(?:service|svc)$", "", name, flags=re.IGNORECASE)))


def _above(document: Document, block: Block | None) -> str:
    """The paragraph or heading above a list, and the leads above an item."""
    if block is None:
        return ""
    before = document.heads_before(block.start, 2)
    own = " ".join(document.text[p.start : p.end] for p in block.parents)
    return " ".join(document.text[b.start : b.end] for b in before) + " " + own


def _of_lead(flat: Flat, found: Sequence[Name], start: int, context: Context) -> Listed:
    """‘**payment**: charges cards through Stripe’: the rest is about the lead."""
    lead = found[0]
    here = replace(context, subject=lead.raw, subject_key=lead.key, fragment=True, previous=None)
    made: Listed = []
    for first, last in sentences(flat):
        begin = max(first, start)
        if begin >= last:
            continue
        korean = HANGUL_WORD.search(flat.text, begin, last) is not None
        rule = "list_ko" if korean else "list_en"
        statements, _ = (korean_statements if korean else english_statements)(
            flat, begin, last, [n for n in found if n.start >= begin], replace(here, rule=rule)
        )
        made += [(s, first, last) for s in statements]
    return made


def role_statements(subject: Name, things: Sequence[Name], role: Role, rule: str) -> Iterator[Statement]:
    """Each entry in its role to the subject."""
    relation, turned = role
    for thing in things:
        source, target = (thing, subject) if turned else (subject, thing)
        fits = not target.topic if relation == CALLS else target.kind != NodeKind.SERVICE
        if fits and not source.passive and source.key != target.key:
            yield Statement(
                Relation(relation).value,
                source.raw,
                source.key,
                target.raw,
                target.key,
                rule,
                0,
                drawn="reversed" if turned else "",
            )


def _subject(context: Context) -> Name | None:
    if context.subject is None:
        return None
    return Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)
