"""What a question asks: its kind, the entities in their roles, the range of time. English and Korean. Pure.

The kind comes from cue words, the roles from grammar: word order and voice in English, particles and voice in Korean.
Entities are those of the registry; a name that it does not hold is reported as unknown, one with several meanings as ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from answer import cues
from answer.asks import kind_asked, kind_at_last, verdicts_asked
from answer.classes import kind_of_all
from answer.language import bare, language_of
from answer.superlatives import Superlative, side, wanted, without
from answer.technologies import technology
from answer.when import since
from nexus.model.entity import Entity
from nexus.model.names import has_suffix, stem
from nexus.model.registry import Mention, Registry
from nexus.model.service import NodeKind
from nexus.ports.answers import Asks, QuestionKind

K = QuestionKind


@dataclass(frozen=True, slots=True)
class Question:
    """The reading of a question. `subjects` in roles: (source, target) for why and path, (subject,) for the others."""

    text: str
    language: str
    kind: QuestionKind
    subjects: tuple[Entity, ...] = ()
    # Every entity named, in order, whatever its role.
    named: tuple[Entity, ...] = ()
    ambiguous: tuple[tuple[str, tuple[Entity, ...]], ...] = ()
    unknown: tuple[str, ...] = ()
    since: datetime | None = None
    # "publish" or "subscribe" narrows callers and callees of a topic; "" = any dependency.
    relation: str = ""
    # A path question that says from where to where.
    directed: bool = False
    asks: Asks = Asks.PLAIN
    # Of a question that names nothing, about all that documents say: the flags or kinds of findings that it wants.
    verdicts: frozenset[str] = frozenset()
    # Nothing is named: everything of this kind is asked for.
    every: NodeKind | None = None
    # The most or least of a measure is wanted, of the calls on that side of the subject ("" = both).
    best: Superlative | None = None
    side: str = ""
    # Nothing is named but a technology, and its users are asked for.
    technology: str | None = None
    # Only what broke (errors, disappearances) is asked, not every change.
    only_worse: bool = False


@dataclass(frozen=True, slots=True)
class _Slot:
    """A mention in the masked text: `⟦n⟧`."""

    entity: Entity | None
    candidates: tuple[Entity, ...]
    name: str


def analyse(text: str, registry: Registry, now: datetime) -> Question:
    """Read a question against a snapshot of the registry."""
    language = language_of(text)
    # A one-word name ("payment") counts in a question about the graph; in one to the documents only where the text marks it as a name.
    masked, slots = _mask(text, _every(text, registry))
    order = _order(masked)
    kind, said, asks = _kind(masked, len(order), language)
    if kind is K.DOCUMENT:
        masked, slots = _mask(text, registry.mentions(text))
        order = _order(masked)
    roles = _roles(kind, masked, order, language)
    if kind in {K.WHY, K.PATH} and len(roles) < 2:
        # "why does checkout call zorblax": the second name is unknown, and that is the answer.
        kind = kind if _unknown(kind, masked, language) else _with_one(masked, order, language)
        roles = _roles(kind, masked, order, language)
    if kind in {K.CALLERS, K.CALLEES} and not (said and order):
        kind, roles = _direction(kind, masked, order, language)
    every = None if order else kind_of_all(text)
    if every is not None:
        kind, asks = K.CALLEES, Asks.PLAIN
    product = None if order or every is not None else technology(text)
    if product is not None:
        kind, asks = K.CALLERS, Asks.PLAIN
    best = wanted(masked, kind, len(order)) if every is None and asks is Asks.PLAIN else None
    if best is not None:
        kind, roles = K.HEALTH, order
    chosen = [slots[n] for n in roles]
    return Question(
        text=text,
        language=language,
        kind=kind,
        subjects=tuple(slot.entity for slot in chosen if slot.entity is not None),
        named=tuple(slots[n].entity for n in order if slots[n].entity is not None),  # type: ignore[misc]  # filtered in the same expression
        ambiguous=tuple((slot.name, slot.candidates) for slot in (slots[n] for n in order) if slot.entity is None),
        unknown=()
        if kind is K.DOCUMENT or every or product
        else _unknown(kind, masked if best is None else without(masked), language),
        since=since(text, now),
        relation=cues.narrowed(masked),
        directed=cues.directed(masked),
        asks=asks,
        verdicts=verdicts_asked(masked) if kind is K.DOCUMENTED else frozenset(),
        every=every,
        technology=product,
        best=best,
        side=side(masked, order[0], language) if best is not None and order else "",
        only_worse=bool(cues.WORSE.search(masked)),
    )


_SHORT = re.compile(r"[A-Za-z][A-Za-z0-9]+|[가-힣]{2,}")
_NO_NAME = re.compile(
    r"\b(?:an?|what|which|this|(?<!documented )(?<!document )(?<!say )(?<!says )(?<!mention )(?<!know )(?<!true )(?<!evidence )that|any|no)\s+$",
    re.IGNORECASE,
)
# "a payment outage" is an outage of payment.
_STILL_NAME = re.compile(r"\s+(?:outage|failure|incident|crash|call|service)\b", re.IGNORECASE)


def _every(text: str, registry: Registry) -> list[Mention]:
    found = [
        item
        for item in registry.find(text)
        if not (item.weak and not item.marked and _no_name(text, item.start, item.end))
    ]
    known = [Mention(item.start, item.end, registry.resolve(registry.surface(item))) for item in found]
    return sorted([*known, *_short(text, registry, known)], key=lambda mention: mention.start)


def _no_name(text: str, start: int, end: int) -> bool:
    before = _NO_NAME.search(text[:start])
    if before is None or _STILL_NAME.match(text, end):
        return False
    # "What checkout calls" asks for its callees; "which payment" is no name.
    return not (before[0].casefold().startswith("what") and cues.VERB_NEXT.match(text, end))


def _short(text: str, registry: Registry, known: list[Mention]) -> Iterator[Mention]:
    """Names without the word for what they are: `체크아웃` for `체크아웃 서비스`, `currency` for `currency service`.

    Only questions may be so short: in a document `주문` is an order before it is a service.
    """
    for word in _SHORT.finditer(text):
        if any(word.start() < m.end and m.start < word.end() for m in known) or _no_name(
            text, word.start(), word.end()
        ):
            continue
        for name in bare(word[0]):
            entity = registry.resolve(name).entity
            if entity is not None and any(
                has_suffix(alias) and stem(alias) == name.casefold() for alias in (entity.name, *entity.aliases)
            ):
                yield Mention(word.start(), word.start() + len(name), registry.resolve(name))
                break


def _order(masked: str) -> list[int]:
    return list(dict.fromkeys(int(n) for n in re.findall(r"⟦(\d+)⟧", masked)))


def _mask(text: str, mentions: list[Mention]) -> tuple[str, list[_Slot]]:
    slots: list[_Slot] = []
    seen: dict[str, int] = {}
    out, at = [], 0
    for mention in mentions:
        resolution = mention.resolution
        if resolution.entity is None and not resolution.candidates:
            continue
        name = text[mention.start : mention.end]
        key = resolution.entity.rid if resolution.entity else name.casefold()
        if key not in seen:
            seen[key] = len(slots)
            slots.append(_Slot(resolution.entity, resolution.candidates, name))
        out += [text[at : mention.start], f"⟦{seen[key]}⟧"]
        at = mention.end
    out.append(text[at:])
    # Back-ticks and quotes around a name are no words; a kind word behind it ("the fx service") belongs to it.
    masked = re.sub(r"[`'\"“”‘’](⟦\d+⟧)[`'\"“”‘’]", r"\1", "".join(out))
    # A gloss is the same name again: `주문(⟦0⟧)은`, `⟦0⟧ (orders)`.
    masked = re.sub(r"(⟦\d+⟧)\s?\(\1\)", r"\1", masked)
    masked = re.sub(r"(?:[\w-]+\s?)?\((⟦\d+⟧)\)|(⟦\d+⟧)\s?\([^()⟦⟧]*\)", r"\1\2", masked)
    masked = re.sub(
        r"(⟦\d+⟧)\s+(?:micro)?(?:service|svc|database|db|topic|queue)\b", r"\1", masked, flags=re.IGNORECASE
    )
    return re.sub(r"(⟦\d+⟧)\s+(?:서비스|데이터베이스|토픽|큐)(?=[가-힣]?)", r"\1", masked), slots


def _kind(masked: str, count: int, language: str) -> tuple[QuestionKind, bool, Asks]:
    """The kind, whether a cue says it (else the side of callers and callees is read from the grammar), and what is asked."""
    plain = Asks.PLAIN
    if (found := kind_asked(masked, count)) is not None:
        return found[0], True, found[1]
    table = cues.KOREAN if language == "ko" else cues.ENGLISH
    if cues.ABOUT_TEXT.search(masked) and not (count >= 2 and table[0][1].search(masked)):
        return K.DOCUMENT, False, plain
    for kind, pattern, least in table:
        if count >= least and pattern.search(masked):
            return kind, True, plain
    if count >= 2 and cues.VERBS[language].search(masked):
        # "Does checkout call fx?": the whole relation is reported.
        return K.WHY, False, plain
    if (found := kind_at_last(masked, count)) is not None:
        return found[0], True, found[1]
    if count <= 1 and cues.ASKS_RELATION[language].search(masked) and not cues.asks_for_a_property(masked):
        return K.CALLERS, False, plain
    return K.DOCUMENT, False, plain


def _with_one(masked: str, order: list[int], language: str) -> QuestionKind:
    """A why or path question with one entity: its health where it asks for trouble, else a question to the documents."""
    if order and cues.TROUBLE[language].search(masked):
        return K.HEALTH
    return K.DOCUMENT


def _roles(kind: QuestionKind, masked: str, order: list[int], language: str) -> list[int]:
    if kind is K.DOCUMENT or len(order) < 2:
        return order
    if kind is K.PATH:
        return cues.path_ends(masked, order)
    if kind in {K.WHY, K.DOCUMENTED, K.HEALTH, K.CHANGED}:
        return cues.source_and_target(masked, order, language)
    return order


def _direction(kind: QuestionKind, masked: str, order: list[int], language: str) -> tuple[QuestionKind, list[int]]:
    if not order:
        side = cues.unknown_side(masked, language)
        return (K.CALLEES if side == "source" else K.CALLERS), order
    side = cues.side_of(masked, order[0], language)
    return (K.CALLEES if side == "source" else K.CALLERS if side == "target" else kind), order[:1]


def _unknown(kind: QuestionKind, masked: str, language: str) -> tuple[str, ...]:
    if kind in {K.CHANGED, K.DOCUMENT}:
        return ()
    return cues.unknown_names(masked, language)
