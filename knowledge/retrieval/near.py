"""The passages nearest to a question, one list for each language of what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.retrieval.centre import centres, towards
from knowledge.retrieval.support import supported
from nexus.ports.embedding import Vectors
from nexus.store.pool import Connection
from nexus.store.search import (
    Match,
    Reader,
    index_name,
    indexes,
    languages,
    nearest_exact,
    nearest_indexed,
    with_cosines,
)
from nexus.store.vectors import Generation, half

OWN_LIST_SHARE = 0.05
# Of the vectors in an index: a filter that keeps a seventeenth of them finds 0.92 of the nearest through it, one that keeps a tenth 0.998.
NARROW = 0.1


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's vector, the generation that it compares with, and the language it was asked in."""

    generation: Generation
    values: Vectors
    language: str


def language_lists(passages: dict[str, int]) -> list[list[str]]:
    """Which languages share a vector list: each has its own, those with next to no passages go with the largest. Pure.

    A model prefers its own language, so a list of its own is what lets a language be found; but the best of five passages would
    stand beside the best of five thousand.
    """
    total = sum(passages.values())
    ordered = sorted(passages, key=lambda language: (-passages[language], language))
    own = [language for language in ordered if passages[language] >= OWN_LIST_SHARE * total]
    return [[language, *(ordered[len(own) :] if place == 0 else ())] for place, language in enumerate(own)]


def nearest_lists(
    connection: Connection,
    reader: Reader,
    question: Asked,
    depth: int,
    degraded: list[str],
    *,
    exact_below: int,
    ef_search: int,
) -> dict[str, list[Match]]:
    """Largest language of a list -> its first `depth`. What has no vector yet is told to `degraded`."""
    generation = question.generation
    counted = languages(connection, reader, generation.name)
    passages = {language: count for language, (count, _) in counted.items()}
    total, left = sum(passages.values()), sum(without for _, without in counted.values())
    if left:
        degraded.append("vectors pending" if left < total else "vectors pending: keywords only")
    if left == total:
        return {}
    means = centres(generation.model, generation.dimension)
    ready = indexes(connection) if max(passages.values()) >= exact_below else {}
    out: dict[str, list[Match]] = {}
    for group in language_lists(passages):
        found: list[Match] = []
        ranking = towards(question.values, question.language, group[0], means)
        vector = half(ranking)
        for language in group:
            size = ready.get(index_name(generation.name, language))
            # To compare all that a narrow filter leaves is faster than an index of everything, and misses nothing.
            if size is not None and passages[language] >= max(exact_below, NARROW * size):
                found += nearest_indexed(
                    connection,
                    reader,
                    generation.name,
                    generation.dimension,
                    language,
                    vector,
                    depth,
                    max(ef_search, depth),
                )
            else:
                found += nearest_exact(connection, reader, generation.name, language, vector, depth)
        found = sorted(found, key=lambda match: (-match.score, match.rid))[:depth]
        if ranking is not question.values:
            found = with_cosines(connection, reader, generation.name, found, half(question.values))
        # Cosines of one model lie close together: what counts is how far a passage is above the end of the list.
        out[group[0]] = supported(found, floor=min((match.score for match in found), default=0.0))
    return out
