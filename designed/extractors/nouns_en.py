"""Relations that English nouns carry: "requests from A to B", "a reverse proxy for A and B", "provides an API for A". Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from designed.extractors import lexicon_en as lexicon
from designed.extractors.context_en import implicit, modality_of
from designed.extractors.flat import Flat
from designed.extractors.items import Item
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, Context, Statement, relation_of
from nexus.model.claim import Modality

_NOUNS = re.compile(
    r"\b(?:calls?|requests?|quer(?:y|ies)|traffic|connections?|invocations?|lookups?|flows?|travels?|RPCs?)\b",
    re.IGNORECASE,
)
_MOVES = re.compile(r"flows?|travels?", re.IGNORECASE)
_PROXY = re.compile(
    r"\b(?:reverse prox(?:y|ies)|prox(?:y|ies)|load balancer|gateway|facade|front ?door|entry ?point|ingress|wrapper|client)\s+(?:for|to|of|in front of|around)\b|\b(?:sits?|stands?|placed|deployed)\s+in front of\b|\bdependenc(?:y|ies)\s+on\b",
    re.IGNORECASE,
)
# Calls themselves are forbidden, and not something about them ("must not exceed").
_BARRED = re.compile(
    r"\bno\b|\b(?:is|are) (?:strictly )?(?:forbidden|prohibited|not (?:allowed|permitted))\b", re.IGNORECASE
)
# "the only writer of B", "a client of B": whoever is one calls B, reads it, writes it.
_ROLE = re.compile(
    r"\b(?:is|are|becomes?|remains?|acts as)\b[\w\s,-]{0,30}?\b(client|caller|user|reader|writer|consumer|subscriber|listener|producer|publisher)s?\s+(?:of|for|to|on)\b",
    re.IGNORECASE,
)
_ROLE_CODES = (
    dict.fromkeys(("client", "caller", "user"), "C")
    | dict.fromkeys(("consumer", "subscriber", "listener"), "s")
    | {"reader": "R", "writer": "W", "producer": "p", "publisher": "p"}
)
_API_FOR = re.compile(
    r"\b(?:provides?|exposes?|offers?|serves?)\b[^.;:]{0,40}?\b(?:APIs?|endpoints?|resources)\b[^.;:]{0,20}?\b(?:for|to)\b(?=\s+(?:the|other|its|both|all|`|\*|\[|(?-i:[A-Z]|[a-z]+-)))",
    re.IGNORECASE,
)
# Somebody is told what to do: what the sentence names is not the service's own doing.
_TOLD = re.compile(
    r"\b(?:you|your|we|let's)\b|^\W*(?:then|now|next|first|finally|please|also|and)?\s*(?:make|send|issue|run|execute|open|try|use|call|create|start|set|add|configure|perform|do|visit|go|navigate|click|check|test|verify|ensure|replace|point|see|note|query|invoke|access)\b(?!\s+(?:is|are|was))",
    re.IGNORECASE,
)
_PROTOCOL = re.compile(
    r"\b(?:over|via|using|by|through|with|an?|the)\s+(?:\w+\s)?(HTTPS?|REST(?:ful)?|gRPC|GraphQL|Web[Ss]ockets?|TCP|AMQP|MQTT|JDBC|SOAP|Thrift|SMTP|UDP|Feign|OpenFeign)\b|\b(HTTPS?|REST|gRPC|GraphQL)\s+(?:calls?|requests?|API)\b",
    re.IGNORECASE,
)
_OPERATION = re.compile(
    r"^(?:(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+/\S*|/[\w{}/:.-]+|[A-Z]\w+(?:Service)?[./][A-Z]\w+)$"
)


def noun_statements(
    flat: Flat, start: int, end: int, parts: Sequence[Item], context: Context, made: Sequence[Statement]
) -> Iterator[Statement]:
    """Relations that nouns carry: "requests from A to B", "outbound calls to B", "a reverse proxy for A and B"."""
    text = flat.text[start:end]
    modality = modality_of(flat, start, end, start, (text, text), negated=False, context=context)
    if modality is Modality.FORBIDDEN and not _BARRED.search(text):
        return
    told = _TOLD.search(text) is not None
    for match in _API_FOR.finditer(text):
        at = start + match.end()
        index = next((i for i, p in enumerate(parts) if p.start >= at), len(parts))
        provider = [n for n in _noun_subject(parts, index, context) if not n.passive]
        for part in parts[index:]:
            if part.kind in ("stop", "rel", "sub", "be", "modal", "verb"):
                break
            if part.kind == "name" and part.name is not None and not part.name.passive:
                yield from (
                    Statement(
                        CALLS,
                        part.name.raw,
                        part.name.key,
                        p.raw,
                        p.key,
                        f"{context.rule}.provides",
                        at,
                        modality,
                        drawn="reversed",
                    )
                    for p in provider
                    if p.key != part.name.key
                )
    for match in _ROLE.finditer(text):
        yield from _role(parts, start + match.start(), start + match.end(), match[1].casefold(), modality, context)
    for place, match in enumerate(_NOUNS.finditer(text)):
        if place and _MOVES.fullmatch(match[0]):
            # "A request flows from A to B" is said once.
            continue
        at = start + match.start()
        index = next((i for i, p in enumerate(parts) if p.start <= at < p.end), len(parts))
        if index == len(parts) or parts[index].kind == "verb":
            continue
        sides: dict[str, list[Name]] = {"from": [], "to": [], "between": []}
        slot = ""
        hops: list[list[Name]] = []
        for part in parts[index + 1 :]:
            if part.word == "then" and sides["to"]:
                hops.append(sides["to"])
                sides["to"] = []
            if part.kind in ("stop", "rel", "sub", "be", "modal") or (part.kind == "verb" and part.form != "ed"):
                break
            if part.kind == "prep" and part.word != "of":
                slot = part.word
            elif part.kind == "name" and part.name is not None and slot in sides:
                sides[slot].append(part.name)
        sources = [n for n in sides["from"] if not n.passive]
        if hops and sources:
            # "from A to B and then to C": one hop after the other.
            for left, right in pairwise([sources, *hops, sides["to"]]):
                yield from (_noun(s, t, at, modality, context) for s in left for t in right if not t.topic)
            continue
        ways = _ways(parts, index) if sides["to"] else []
        if ways:
            forced = re.search(r"\b(?:must|only|always|exclusively|solely|shall)\b", text) is not None
            for source in sources:
                yield from (_noun(source, way, at, modality, context) for way in ways if way.key != source.key)
            for way in ways:
                for target in sides["to"]:
                    if target.key != way.key and not target.topic:
                        made_way = _noun(
                            way,
                            target,
                            at,
                            Modality.EXCLUSIVE if forced and modality is not Modality.FORBIDDEN else modality,
                            context,
                        )
                        made_way.gateway, made_way.exclusivity = (way.raw.name, "only_via") if forced else ("", "")
                        yield made_way
            continue
        if sides["to"] and sources:
            for source in sources:
                yield from (_noun(source, target, at, modality, context) for target in sides["to"] if not target.topic)
        elif sides["to"] and not sides["from"] and not made:
            subject = [n for n in _noun_subject(parts, index, context) if not n.passive]
            if told and any(s.start < 0 for s in subject):
                continue
            yield from (
                _noun(s, target, at, modality, context)
                for s in subject
                for target in sides["to"]
                if not target.topic and s.key != target.key
            )
    for match in _PROXY.finditer(text):
        at = start + match.end()
        index = next((i for i, p in enumerate(parts) if p.start >= at), len(parts))
        sources = [n for n in _noun_subject(parts, index, context) if not n.passive]
        for part in parts[index:]:
            if part.kind in ("stop", "rel", "sub", "be", "modal", "verb"):
                break
            if part.kind == "name" and part.name is not None and not part.name.topic:
                yield from (
                    _noun(source, part.name, at, modality, context) for source in sources if source.key != part.name.key
                )


def _role(
    parts: Sequence[Item], start: int, end: int, role: str, modality: Modality, context: Context
) -> Iterator[Statement]:
    """‘A is the only consumer of B’."""
    index = next((i for i, p in enumerate(parts) if p.start >= end), len(parts))
    verb = next((i for i, p in enumerate(parts) if p.start >= start), len(parts))
    subject = [n for n in _noun_subject(parts, verb, context) if not n.passive]
    for part in parts[index:]:
        if part.kind not in ("det", "word", "name", "conj", "comma", "open", "close"):
            break
        if part.kind != "name" or part.name is None:
            continue
        relation = relation_of(_ROLE_CODES.get(role, ""), part.name.kind, brought=part.name.brought, asynchronous=True)
        for source in subject if relation else ():
            if source.key != part.name.key:
                yield Statement(
                    relation,
                    source.raw,
                    source.key,
                    part.name.raw,
                    part.name.key,
                    f"{context.rule}.noun",
                    start,
                    modality,
                )


def _ways(parts: Sequence[Item], index: int) -> list[Name]:
    """‘requests to B go through G’: the ways that what is requested takes."""
    slot = ""
    found = []
    for part in parts[index + 1 :]:
        if part.kind in ("stop", "sub", "rel"):
            break
        if part.kind == "prep" and part.word != "of":
            slot = part.word
        elif (
            part.kind == "name"
            and part.name is not None
            and slot in ("through", "via", "over")
            and not part.name.passive
        ):
            found.append(part.name)
    return found


def _noun(source: Name, target: Name, at: int, modality: Modality, context: Context) -> Statement:
    return Statement(CALLS, source.raw, source.key, target.raw, target.key, f"{context.rule}.noun", at, modality)


def _noun_subject(parts: Sequence[Item], index: int, context: Context) -> list[Name]:
    """The named subject of the sentence, else the section's service."""
    for part in parts[:index]:
        if part.kind == "name" and part.name is not None:
            return [part.name]
        if part.kind == "pron" and context.previous is not None:
            return [context.previous]
        if part.kind in ("verb", "be", "modal", "pron"):
            break
        if (
            part.kind == "word"
            and not part.code
            and part.word not in lexicon.SELVES
            and part.word not in lexicon.PARTS
            and (_NOUNS.fullmatch(part.word) is None or _MOVES.fullmatch(part.word))
        ):
            break
    return implicit(context)


def protocol(text: str) -> str:
    """The protocol that a sentence names, "" for none or several."""
    found = {lexicon.PROTOCOLS.get((m[1] or m[2]).casefold(), "") for m in _PROTOCOL.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def operation(flat: Flat, start: int, end: int) -> str:
    """The operation in the sentence's code spans, "" for none or several."""
    found = {
        flat.text[a:b].strip() for a, b in flat.code if start <= a < end and _OPERATION.match(flat.text[a:b].strip())
    }
    return found.pop() if len(found) == 1 else ""
