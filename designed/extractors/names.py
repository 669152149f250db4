"""Names in a stretch of text: the registry's, products, and names that publish and subscribe sentences bring themselves."""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from designed.extractors.flat import Flat
from designed.extractors.introductions_en import KINDS_ALONE
from designed.extractors.lexicon_en import ASPECT, VERBS, is_agent
from designed.reader import RawName
from nexus.model.entity import Entity
from nexus.model.mentions import Found, NameIndex, plausible
from nexus.model.names import words
from nexus.model.registry import Registry, Resolution, searchable, spellings
from nexus.model.service import NodeKind
from nexus.model.technology import TECHNOLOGIES

_VERB_FORMS = frozenset(VERBS) | ASPECT
_EVENT = re.compile(
    r"\b([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b(?=\s+(?:events?|messages?|topics?|[Qq]ueues?|이벤트|메시지|토픽)|\s?[를을]\s?(?:발행|구독|수신|[Pp]ublish|[Ss]ubscribe|consume))|\b([A-Z][a-z]+(?:[A-Z][a-z]+)*Event)s?\b|(?<![\w./-])([a-z][a-z0-9]*(?:[._][a-z0-9*-]+)+|[a-z]+(?:-[a-z]+)*\.(?:\*|#))(?![\w/(])"
)
# "publishes TripCompleted", "subscribes to OrderPaid": what has happened is an event.
HAPPENED = r"(?:[A-Z][a-z]+)+(?:[A-Z][a-z]*ed|Paid|Sent|Made|Lost|Event)"
_TOLD = re.compile(
    r"\b(?:publish|emit|rais|fir|produc|broadcast|send|subscrib|consum|listen|react|handl|receiv)[a-z]*\s+(?:to |for |on )?(?:an? |the |its )?"
    rf"({HAPPENED})\b"
)
_ORCHESTRATED = re.compile(r"orchestrat|coordinat", re.IGNORECASE)
# Languages and runtimes: drawn in legends, never called.
_LANGUAGES = frozenset(
    "java python go golang rust php ruby kotlin elixir typescript javascript scala swift dart .net dotnet c++ c# node node.js nodejs erlang perl clojure haskell react angular vue spring django flask rails "
    "express nextjs next.js docker kubernetes helm terraform linux".split()
)
_CODE_EVENT = re.compile(r"[A-Za-z가-힣][\w가-힣.*:-]{1,80}")
# Where a text can bring a name itself.
BRINGS = re.compile(r"이벤트|토픽|메시지|메세지|[a-z][A-Z]|[a-z][._][a-z]|->|→|\bAPI\b")
_FILE = re.compile(
    r"\.(?:md|ya?ml|json|py|js|ts|go|java|kt|sh|rs|rb|php|cs|cpp|c|h|txt|proto|html|css|xml|toml|ini|env|sql|conf|cfg|lock|properties|gradle|jar|com|org|io|net|dev|local|exe|dll|so)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name at [start, end) of a flat text. `core` is where the name itself ends, before a head noun. `kind` may be open."""

    start: int
    end: int
    core: int
    raw: RawName
    key: str
    kind: str
    product: bool = False
    brought: bool = False
    # A common word that may not be a name here; counts only beside a verb that takes nothing but services.
    doubtful: bool = False

    @property
    def topic(self) -> bool:
        """A topic or broker."""
        return self.kind == NodeKind.TOPIC

    @property
    def passive(self) -> bool:
        """A thing that depends on nothing."""
        return self.kind in (NodeKind.TOPIC, NodeKind.DATABASE)


class Names:
    """Every spelling that counts in the documents of one namespace."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._index = NameIndex()
        self._spellings: list[str] = []
        known: set[str] = set()
        for spelling in searched(registry.entities):
            if spelling.casefold() not in registry.rejected and spelling.casefold() not in _LANGUAGES:
                self._add(spelling)
                known.add(spelling.casefold())
        self._short = short_forms(registry, known)
        for spelling in sorted(self._short):
            self._add(spelling)
        for spelling in sorted(TECHNOLOGIES):
            if spelling not in known:
                self._add(spelling)
        self._index.close()

    def _add(self, spelling: str) -> None:
        self._spellings.append(spelling)
        self._index.add(spelling, len(self._spellings) - 1)

    def maybe(self, text: str) -> bool:
        """Whether a text can hold a name at all."""
        return self._index.maybe(text)

    def find(self, flat: Flat, start: int = 0, end: int | None = None, *, doubtful: bool = False) -> list[Name]:
        """Names in [start, end), in order; the same thing twice in a row ("Frontend Proxy (Envoy)") is one.

        With `doubtful` also common words that no neighbour marks as a name.
        """
        stop = len(flat.text) if end is None else end
        text = flat.text[start:stop]
        found: list[Name] = []
        orchestrated = doubtful or _ORCHESTRATED.search(text) is not None
        for item in self._index.find(text, lambda offset: flat.marked(start + offset)):
            likely = plausible(text, item, _VERB_FORMS)
            if not likely and not orchestrated:
                continue
            name = self._name(item, start)
            if name is None:
                continue
            if not likely:
                name = replace(name, doubtful=True)
            if (
                found
                and found[-1].key == name.key
                and not re.search(r"[A-Za-z가-힣,.;:!?]", flat.text[found[-1].end : name.start])
            ):
                found[-1] = Name(
                    found[-1].start,
                    name.end,
                    name.core,
                    found[-1].raw,
                    name.key,
                    name.kind or found[-1].kind,
                    name.product,
                )
                continue
            found.append(name)
        return found

    def _name(self, item: Found, shift: int) -> Name | None:
        spelling = self._spellings[item.value]
        short = self._short.get(spelling)
        resolved = Resolution(short) if short is not None else self.registry.resolve(spelling)
        entity = resolved.entity or (resolved.candidates[0] if resolved.candidates else None)
        product = TECHNOLOGIES.get(" ".join(spelling.casefold().split()))
        if entity is None and product is None:
            return None
        kind = entity.kind if entity is not None else str(product[1] if product else "")
        key = entity.rid if entity is not None else f"product:{product[0] if product else spelling}"
        raw = (
            RawName(short.name, short.kind)
            if short is not None
            else RawName(spelling, "" if entity is not None and len(resolved.candidates) < 2 else kind)
        )
        return Name(shift + item.start, shift + item.end, shift + item.core_end, raw, key, kind, product is not None)


def within(names: Sequence[Name], start: int, end: int) -> list[Name]:
    """Those of `names`, in order of place, that begin in [start, end): a long paragraph is not looked through for each sentence."""
    first, last = (bisect_left(names, place, key=lambda n: n.start) for place in (start, end))
    return list(names[first:last])


# What is left of "new-service" without its suffix is a word of every text, and no name.
_COMMON = frozenset(
    "new old main common default shared internal external public private local remote test base core simple single other first last next open global user users app web api data event events service server system".split()
)


def searched(entities: Iterable[Entity]) -> list[str]:
    """Spellings to look for in running text."""
    found = list(entities)
    own = {spelling.casefold() for entity in found for spelling in spellings(entity)}
    return [
        spelling for spelling in searchable(found) if spelling.casefold() not in _COMMON or spelling.casefold() in own
    ]


def short_forms(registry: Registry, known: set[str]) -> dict[str, Entity]:
    """‘the collector’ where the system has only one, "the ingesters" for the instances of one, but for words that are names themselves."""
    found: dict[str, dict[str, Entity]] = {}
    for entity in registry.entities:
        for spelling in searched([entity]) if entity.kind in ("", NodeKind.SERVICE) else spellings(entity):
            parts = words(spelling)
            if len(parts) > 1 and parts[-1] in KINDS_ALONE:
                found.setdefault(parts[-1], {})[entity.rid] = entity
            if parts and entity.kind in ("", NodeKind.SERVICE) and is_agent(parts[-1]):
                found.setdefault(" ".join((*parts[:-1], f"{parts[-1]}s")), {})[entity.rid] = entity
    return {
        word: next(iter(entities.values()))
        for word, entities in found.items()
        if len(entities) == 1 and word not in known
    }


def brings(flat: Flat) -> bool:
    """Whether a text can bring a name of its own: a code span, an event."""
    return bool(flat.code) or _EVENT.search(flat.text) is not None or "이벤트" in flat.text or "토픽" in flat.text


def brought(flat: Flat, start: int, end: int, taken: list[Name]) -> list[Name]:
    """Event and topic names that a sentence brings itself: code spans, `OrderPlaced` event, order.created."""
    found: list[Name] = []

    def free(first: int, last: int) -> bool:
        return all(last <= n.start or first >= n.end for n in (*taken, *found))

    for first, last in flat.code:
        name = flat.text[first:last].strip()
        if (
            start <= first < end
            and _CODE_EVENT.fullmatch(name)
            and not _FILE.search(name)
            and free(first, last)
            and not name.isupper()
        ):
            found.append(_brought(first, last, name))
    told = _TOLD.finditer(flat.text, start, end)
    found += [_brought(*match.span(1), match[1]) for match in told if free(*match.span(1))]
    for match in _EVENT.finditer(flat.text, start, end):
        name = next(g for g in match.groups() if g)
        if free(*match.span()) and not _FILE.search(name) and name.count(".") < 6:
            found.append(_brought(match.start(), match.end(), name))
    return found


def _brought(start: int, end: int, name: str) -> Name:
    return Name(
        start,
        end,
        end,
        RawName(name, NodeKind.TOPIC.value),
        f"topic:{name.casefold()}",
        NodeKind.TOPIC.value,
        brought=True,
    )


@lru_cache(maxsize=16)
def names_of(registry: Registry) -> Names:
    """The index of a registry, made once (registries are immutable)."""
    return Names(registry)
