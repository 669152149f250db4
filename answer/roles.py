"""Whether the evidence names what a statement names, and whether it says who does it to whom in the same way. Pure; a reason, "" where nothing speaks against it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from answer.cues import VERBS, source_and_target
from answer.evidence import Evidence, aliases
from answer.language import language_of, term_set, terms
from nexus.model.names import squash
from nexus.model.registry import Registry

_OPERATION = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+/[^\s,;)\]가-힣]*")
# In backticks, an address, or written as only names in code are.
_LIKE_A_NAME = re.compile(
    r"`([^`\n]{2,80})`|https?://\S+"
    r"|(?<![A-Za-z0-9_])(?:[A-Za-z][A-Za-z0-9]*(?:[-_./:][A-Za-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9_]+|[A-Z][a-z]+[A-Z][A-Za-z0-9_]+|[A-Z]{2,})(?![A-Za-z0-9_])"
)


def blank_operations(text: str) -> str:
    """Operations (`POST /checkout`) without their letters: their paths are no names of services."""
    return _OPERATION.sub(lambda m: " " * len(m.group(0)), text)


def names_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Every name of the statement occurs in what it cites, under any of its spellings."""
    cited = frozenset().union(*(e.names for e in evidence))
    text = squash(" ".join(e.text for e in evidence))
    covered: list[tuple[int, int]] = []
    for match in _OPERATION.finditer(statement):
        covered.append((match.start(), match.end()))
        if squash(match.group(0)) not in text:
            return f"the evidence cited does not hold {match.group(0)}"
    for item in registry.find(blank_operations(statement)):
        spelled = registry.surface(item)
        covered.append((item.start, item.end))
        if item.weak and not item.marked and not any(e.kind == "edge" for e in evidence):
            # A common word in prose; it is compared as a word.
            continue
        if not any(
            name in cited or (len(name) > 3 and name in text)
            for name in aliases(registry, spelled) | {squash(statement[item.start : item.core_end])}
        ):
            return f"the evidence cited does not name {statement[item.start : item.core_end]}"
    for match in _LIKE_A_NAME.finditer(statement):
        word = match.group(1) or match.group(0)
        if any(a <= match.start() < b for a, b in covered) or re.fullmatch(r"UTC|TTL|p\d+|and/or|I/O", word):
            continue
        if squash(word) not in text:
            return f"the evidence cited does not hold {word}"
    return ""


def roles_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Who does it to whom: the statement's source and target against those of the edges or sentences cited."""
    claim = _relation(blank_operations(statement), registry, verb=True)
    if claim is None:
        return ""
    source, target, verb = claim
    flat = [pair for e in evidence for pair in _ends(e, registry)]
    if (target, source) in flat and (source, target) not in flat:
        return "the evidence says it the other way round"
    present = {key for e in evidence for key in _keys(e, registry)}
    absent = next((key for key in (source, target) if key not in present), None)
    if absent is not None:
        return f"the evidence cited does not name {_shown(absent, registry)}"
    edges = [e for e in evidence if e.kind == "edge"]
    waits = re.search(r"(?<!a)\bsynchronous|(?<!비)동기(?!식 ?메시지)", statement, re.IGNORECASE)
    later = re.search(r"\basynchronous|비동기", statement, re.IGNORECASE)
    if edges and (
        (later and all(e.relation == "CALLS" for e in edges)) or (waits and all(e.relation != "CALLS" for e in edges))
    ):
        return "the evidence says otherwise about waiting for the answer"
    if edges and (source, target) in flat and len(flat) == 1 and verb and not _verb_fits(verb, edges[0].relation):
        return f"the evidence is of another relation ({edges[0].relation})"
    return ""


def swapped_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """A statement in the very words of a sentence, with its two names changed over."""
    claim = _relation(blank_operations(statement), registry, verb=False)
    if claim is None:
        return ""
    asked = frozenset(terms(statement))
    for item in evidence:
        for one in item.windows:
            if one.pair or item.kind == "edge" or len(asked & term_set(one.text)) < 0.8 * len(asked):
                continue
            there = _relation(one.text, registry, verb=False)
            if there is not None and there[:2] == (claim[1], claim[0]):
                return "the evidence says it the other way round"
    return ""


def _keys(evidence: Evidence, registry: Registry) -> set[str]:
    """Keys of everything that an item names."""
    found = {_key(evidence.source, registry), _key(evidence.target, registry)} if evidence.kind == "edge" else set()
    for item in registry.find(evidence.text):
        resolution = registry.resolve(registry.surface(item))
        found.add(resolution.entity.rid if resolution.entity else squash(registry.surface(item)))
    return found


def _shown(key: str, registry: Registry) -> str:
    return next((e.name for e in registry.entities if e.rid == key), key)


def _relation(statement: str, registry: Registry, *, verb: bool) -> tuple[str, str, str] | None:
    """(source, target, verb) of a statement with one relation between two names, with `verb` only where one of relation is there; None for anything else."""
    slots: dict[str, str] = {}
    out, at = [], 0
    for item in registry.find(statement):
        entity = registry.resolve(registry.surface(item)).entity
        key = entity.rid if entity else squash(registry.surface(item))
        number = slots.setdefault(key, str(len(slots)))
        out += [statement[at : item.start], f"⟦{number}⟧"]
        at = item.end
    masked = "".join(out) + statement[at:]
    language = language_of(masked)
    masked = re.sub(r"\s*[(:—].*$", "", masked)
    order = list(dict.fromkeys(int(n) for n in re.findall(r"⟦(\d+)⟧", masked)))
    found = VERBS[language].search(masked)
    if len(order) != 2 or (found is None and verb):
        return None
    a, b = source_and_target(masked, order, language)
    keys = {number: key for key, number in slots.items()}
    return keys[str(a)], keys[str(b)], found.group(0) if found else ""


def _ends(evidence: Evidence, registry: Registry) -> list[tuple[str, str]]:
    if evidence.kind == "edge":
        return [(_key(evidence.source, registry), _key(evidence.target, registry))]
    found = []
    for one in evidence.windows:
        relation = _relation(one.text, registry, verb=False)
        if relation is not None:
            found.append(relation[:2])
    return found


def _key(names: frozenset[str], registry: Registry) -> str:
    for name in sorted(names, key=len, reverse=True):
        entity = registry.resolve(name).entity
        if entity is not None:
            return entity.rid
    return max(names, key=len) if names else ""


def _verb_fits(verb: str, relation: str) -> bool:
    word = verb.casefold()
    says_publish = bool(re.match(r"publish|produc|emit|send|발행|전송", word))
    says_subscribe = bool(re.match(r"subscrib|consum|listen|receiv|구독|수신|소비", word))
    if says_publish:
        return relation in {"PUBLISHES", "DELIVERS"}
    return (
        relation in {"SUBSCRIBES", "DELIVERS"}
        if says_subscribe
        else not (re.match(r"call|invok|호출", word) and relation != "CALLS")
    )
