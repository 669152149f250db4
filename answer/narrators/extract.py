"""Which sentences of the passages answer a question. Pure."""

from __future__ import annotations

import math

from answer.evidence import passage_windows
from answer.language import HANGUL, grams, terms
from answer.quantities import quantities
from nexus.model.edge import DesignedEdge
from nexus.model.names import squash
from nexus.ports.answers import Packet, PassageEvidence, QuestionKind

LONGEST = 400


def best_sentences(packet: Packet, most: int) -> list[tuple[PassageEvidence, str]]:
    """At most `most` sentences with their passages, best first; none where nothing shares a term with the question."""
    question = list(dict.fromkeys(terms(packet.query)))
    entries = [
        (item, sentence)
        for item in packet.passages
        for sentence in passage_windows(item.hit.passage.text)
        if 3 <= len(sentence) <= LONGEST
    ]
    entries = [(item, s) for item, s in entries if not s.startswith("#")]
    if not entries:
        return []
    bags = [(frozenset(terms(s)), grams(s)) for _, s in entries]
    heads = {
        item.marker: (frozenset(terms(" ".join(item.hit.passage.section))), grams(" ".join(item.hit.passage.section)))
        for item in packet.passages
    }
    asks_number = _asks_number(packet.query)
    rarity = {t: math.log(1 + len(bags) / (1 + sum(_holds(t, bag) for bag in bags))) for t in question}
    scored = []
    before: tuple[str, float] = ("", 0.0)
    for position, ((item, sentence), bag) in enumerate(zip(entries, bags, strict=True)):
        own = sum(rarity[t] for t in question if _holds(t, bag))
        heading = 0.4 * sum(rarity[t] for t in question if not _holds(t, bag) and _holds(t, heads[item.marker]))
        # "The timeout is 250 ms" speaks of what the sentence before it named.
        carried = 0.7 * before[1] if before[0] == item.marker and own > 0 else 0.0
        before = (item.marker, own)
        rank = packet.passages.index(item) + 1
        number = 1.3 if asks_number and any(c.isdigit() for c in sentence) else 1.0
        if own > 0 or (heading > 0 and rank <= 3):
            scored.append((-(own + heading + carried) * number * (1 + 0.5 / rank), position, item, sentence))
    if not scored:
        # Another language than the question's: the best passage speaks for itself.
        first = packet.passages[0]
        crossed = bool(HANGUL.search(first.hit.passage.text)) != (packet.language == "ko")
        return [(item, s) for item, s in entries if item is first][:most] if crossed or not packet.weak else []
    best = -min(scored)[0]
    kept = [
        (item, sentence) for score, _, item, sentence in sorted(scored, key=lambda e: e[:2]) if -score >= 0.45 * best
    ]
    unique: dict[str, tuple[PassageEvidence, str]] = {}
    for item, sentence in kept:
        unique.setdefault(" ".join(sentence.split()).casefold(), (item, sentence))
    return list(unique.values())[:most]


def said_of_subjects(packet: Packet) -> list[tuple[PassageEvidence, str]]:
    """Beside a report of edges: at most two sentences that name its subjects, and are not quoted already."""
    if packet.kind not in {QuestionKind.WHY, QuestionKind.HEALTH, QuestionKind.DOCUMENTED} or not packet.subjects:
        return []
    quoted = {squash(c.quote) for e in packet.edges if isinstance(e.edge, DesignedEdge) for c in e.edge.claims}
    spellings = [[squash(n) for n in (s.name, s.name.rsplit("/", 1)[-1], *s.aliases)] for s in packet.subjects]
    out = []
    for item, sentence in best_sentences(packet, 8):
        flat = squash(sentence)
        named = all(any(n in flat for n in names) for names in spellings)
        if (
            named
            and not any(flat in q or q in flat for q in quoted)
            and (packet.kind is not QuestionKind.HEALTH or quantities(sentence))
        ):
            out.append((item, sentence))
    return out[:2]


def _holds(term: str, bag: tuple[frozenset[str], frozenset[str]]) -> bool:
    if term in bag[0]:
        return True
    pairs = grams(term)
    return bool(pairs) and len(pairs & bag[1]) * 2 >= len(pairs) + 1


def _asks_number(question: str) -> bool:
    lower = question.casefold()
    return any(
        word in lower
        for word in (
            "how many",
            "how long",
            "how much",
            "limit",
            "maximum",
            "timeout",
            "몇",
            "얼마",
            "최대",
            "며칠",
            "한도",
        )
    )
