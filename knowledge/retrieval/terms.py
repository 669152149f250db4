"""The terms of a question, as the index knows them. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, takewhile

from knowledge.tokens import Analyzer, term_key
from nexus.store.keywords import QuestionTerms

# Of those that are written, and again of those that may stand for them: each is read from the index.
MAX_TERMS = 64


def question_terms(analyzer: Analyzer, text: str) -> QuestionTerms:
    """What to look for: the commonest terms, then what else may stand for them, longest phrases first."""
    terms, rephrasings = analyzer.question(text)
    written = {term_key(term): float(times) for term, times in Counter(terms).most_common(MAX_TERMS)}
    sizes = accumulate(sum(map(len, rephrasing.ways)) for rephrasing in rephrasings)
    kept = len(list(takewhile(lambda size: size <= MAX_TERMS, sizes)))
    otherwise = [([*map(term_key, said)], [[*map(term_key, way)] for way in ways]) for said, ways in rephrasings[:kept]]
    return QuestionTerms(written, otherwise)
