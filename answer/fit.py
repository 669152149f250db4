"""Which hits are evidence for a question. Pure.

Nothing that fits weakly is withheld: the narration becomes short and says so. But a hit that shares nothing with the question, found
only because a vector search always finds something, is no evidence; where no other is left, the answer abstains.
"""

from __future__ import annotations

from answer.language import grams, terms
from answer.question import Question
from nexus.model.names import squash
from nexus.model.registry import Registry
from nexus.ports.answers import QuestionKind
from nexus.ports.search import Hit, SearchResult

# Share of the question's terms that a weak hit must hold.
WEAK_SHARE = 0.34


def relevant(result: SearchResult, question: Question, registry: Registry) -> tuple[Hit, ...]:
    """Hits in their order: about a graph question those that name its subjects; else all, or those with something in common where the fit is weak."""
    if question.kind is not QuestionKind.DOCUMENT:
        return _naming(result, question, registry)
    names = list(question.named)
    unknown = [n for n in _identifiers(question.text) if registry.resolve(n).entity is None]
    kept = []
    for hit in result.hits:
        share = overlap(question.text, " ".join((*hit.passage.section, hit.passage.text)))
        if result.weak and share < WEAK_SHARE and not (names and share > 0):
            continue
        kept.append(hit)
    if unknown and not any(squash(n) in squash(h.passage.text) for n in unknown for h in kept):
        # The question is about a thing that no passage names.
        return ()
    return tuple(kept)


def _identifiers(text: str) -> list[str]:
    """Words that can only be names: with separators or digits inside, camelCase, in back-ticks."""
    import re

    found = re.findall(r"`([^`\n]{2,60})`", text)
    return [*found, *re.findall(r"\b[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b", text)]


def overlap(question: str, text: str) -> float:
    """Share of the question's content terms that occur in the text; Korean endings may differ."""
    asked = list(dict.fromkeys(terms(question)))
    if not asked:
        return 0.0
    there, pairs = frozenset(terms(text)), grams(text)
    return sum(1.0 for t in asked if t in there or (len(g := grams(t)) > 0 and len(g & pairs) * 2 >= len(g) + 1)) / len(
        asked
    )


def _naming(result: SearchResult, question: Question, registry: Registry) -> tuple[Hit, ...]:
    wanted = question.subjects or question.named
    if question.unknown or not wanted:
        # What is asked about is not known as an entity; a passage that names it can still speak of it.
        return tuple(h for h in result.hits if any(squash(n) in squash(h.passage.text) for n in question.unknown))
    need = min(len(wanted), 2) if question.kind in {QuestionKind.WHY, QuestionKind.DOCUMENTED} else 1
    rids = {e.rid for e in wanted}
    kept = []
    for hit in result.hits:
        text = " ".join((*hit.passage.section, hit.passage.text))
        seen = {
            e.rid for item in registry.find(text) if (e := registry.resolve(registry.surface(item)).entity) is not None
        }
        if len(seen & rids) >= need:
            kept.append(hit)
    return tuple(kept[:5])
