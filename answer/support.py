"""Whether a statement is carried by the evidence that it cites: layers, polarity, opposites, added words. Pure.

Names and roles (`answer.roles`) and numbers (`answer.numbers`) have modules of their own. Every check returns a reason, "" where nothing speaks
against the statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from answer.cues import VERBS
from answer.evidence import INSTRUCTION, Evidence
from answer.language import HANGUL, grams, language_of, sentences, stem, term_set, terms
from answer.quantities import LABEL
from answer.wording import CONTRASTS, GENERIC, NEGATION, OPPOSITES, STRONG, canonical
from nexus.model.names import squash
from nexus.model.registry import Registry

# How a statement says that a document speaks of something that is not (yet, any more, to be) there, and the modality it then must have.
_MODALITIES = tuple(
    (re.compile(words, re.IGNORECASE), meant)
    for words, meant in (
        (r"forbid|금지", "forbidden"),
        (r"\bplan|계획", "planned"),
        (r"deprecat|폐기", "deprecated"),
        (r"\bpast\b|과거", "historical"),
        (r"must not|하지 않", "forbidden"),
    )
)


def layer_reason(statement: str, evidence: Sequence[Evidence]) -> str:
    """What it says of being documented and being observed, against the edges cited."""
    edges = [e for e in evidence if e.kind == "edge"]
    if not edges:
        return ""
    statement = canonical(statement)
    negated = bool(NEGATION.search(statement))
    about_documents = re.search(r"\bun?documented\b|\bdocument|\bdocs\b|문서", statement, re.IGNORECASE)
    about_telemetry = re.search(r"\b(?:un)?observed\b|\bseen\b|\btelemetry\b|관측", statement, re.IGNORECASE)
    clauses = re.split(r"[,;]|\bbut\b|\band\b|지만|고(?=\s)|으나", statement)
    for clause in clauses:
        no = bool(NEGATION.search(clause))
        if any(said.search(clause) and any(meant in e.text for e in edges) for said, meant in _MODALITIES):
            continue
        if re.search(r"\bdocument|\bdocs\b|\bundocumented\b|문서", clause, re.IGNORECASE) and about_documents:
            said = all(e.documented for e in edges)
            if no == said and (no or not any(e.documented for e in edges)):
                return "the evidence says otherwise about documents"
        elif re.search(r"\b(?:un)?observed\b|\bseen\b|관측", clause, re.IGNORECASE):
            was = any(e.observed for e in edges)
            stopped = any("not seen since" in e.text for e in edges)
            if no == was and not (no and stopped):
                return "the evidence says otherwise about what was observed"
    if (
        negated
        and not about_documents
        and not about_telemetry
        and not any(NEGATION.search(e.text) for e in edges)
        and VERBS[language_of(statement)].search(statement)
    ):
        return "the evidence shows the dependency that the sentence denies"
    return ""


def words_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Polarity, opposites, strengthening, substituted and added words, against the best windows of the evidence."""
    plain = re.sub(r"[“”\"']", "", statement)
    if INSTRUCTION.search(plain):
        return "it repeats an instruction, not a fact"
    named = frozenset(t for item in registry.find(plain) for t in terms(plain[item.start : item.end]))
    best = _best(plain, evidence, named)
    text = "\n".join([best, *(e.quote for e in evidence)])
    crossed = bool(HANGUL.search(plain)) != bool(HANGUL.search(best))
    if not crossed:
        # What is said of being documented or observed has its own check.
        layered = any(e.kind == "edge" for e in evidence) and re.search(
            r"document|observed|\bseen\b|문서|관측", plain, re.IGNORECASE
        )
        # An observed edge asserts; what a document says of it is in its quotes.
        spoken = "" if layered else _best(plain, [e for e in evidence if e.kind == "passage" or e.quote], named)
        said, there = canonical(plain), canonical(spoken)
        reason = ((_polarity(said, there) or _opposites(said, there)) if spoken else "") or _contrast(
            plain, "\n".join(e.text for e in evidence)
        )
        if reason:
            return reason
    for strong, needed in STRONG:
        if strong.search(plain) and not needed.search(text) and not crossed:
            return f"the evidence does not say “{strong.search(plain).group(0)}”"  # type: ignore[union-attr]  # it matched in the condition
    return _added(canonical(plain), evidence, canonical(best), named, crossed=crossed)


def _best(statement: str, evidence: Sequence[Evidence], named: frozenset[str]) -> str:
    """Of each item the one sentence nearest to the statement, by the terms that they share; names, and terms that every sentence holds, count little."""
    asked, pairs = frozenset(terms(statement)), grams(statement)
    chosen = []
    for item in evidence:
        single = [w.text for w in item.windows if not w.pair]
        common = {t: sum(t in term_set(text) for text in single) for t in asked}
        scored = [
            (
                sum((0.3 if t in named else 1.0) / common[t] for t in asked & term_set(text))
                + 0.1 * len(pairs & grams(text))
                - 0.02 * len(term_set(text)),
                text,
            )
            for text in single
        ]
        if scored:
            chosen.append(max(scored)[1])
    return "\n".join(chosen)


def _polarity(statement: str, best: str) -> str:
    a, b = bool(NEGATION.search(statement)), bool(NEGATION.search(best))
    if a == b:
        return ""
    # A window of two sentences may hold a negation that belongs to the other one.
    asked = frozenset(terms(statement))
    parts = sentences(best)
    nearest = max(parts, key=lambda p: len(asked & term_set(p)), default=best)
    return "" if a == bool(NEGATION.search(nearest)) else "the evidence says the opposite"


CLAUSE = re.compile(r"[,;]|\s(?:but|and|or|whereas|while|though)\s|(?<=고)\s|(?<=며)\s|(?<=지만)\s|\n")


def _opposites(statement: str, best: str) -> str:
    """Where the evidence holds both sides, its clause nearest to the statement decides."""
    asked = frozenset(terms(statement))
    parts = [part for part in CLAUSE.split(best) if part.strip()]
    nearest = max(parts, key=lambda part: len(asked & term_set(part)), default=best)
    if len(asked & term_set(nearest)) < 2:
        nearest = best
    for a, b in OPPOSITES:
        for mine, other in ((a, b), (b, a)):
            if not mine.search(statement) or other.search(statement):
                continue
            if (
                other.search(best)
                and not mine.search(best if not mine.search(best) else nearest)
                and other.search(best if not mine.search(best) else nearest)
            ):
                return f"the evidence says “{other.search(best).group(0)}”"  # type: ignore[union-attr]  # it matched in the condition
    return ""


def _contrast(statement: str, text: str) -> str:
    said, there = (
        frozenset(re.findall(r"[a-z]+", statement.casefold())),
        frozenset(re.findall(r"[a-z0-9]+", text.casefold())),
    )
    for group in CONTRASTS:
        new = (said & group) - there
        if new and there & group:
            return f"the evidence does not say {min(new)}"
    return ""


def _covered(term: str, bag: frozenset[str], pairs: frozenset[str]) -> bool:
    if term in bag or term in GENERIC or squash(term) in bag:
        return True
    if HANGUL.search(term):
        own = grams(term)
        return len(term) == 1 or (bool(own) and len(own & pairs) * 2 >= len(own))
    return len(term) >= 5 and any(len(other) >= 5 and (other.startswith(term[:5])) for other in bag)


_PLACING = frozenset(("after", "befor", "dure", "until", "onc", "while", "end"))


def _added(statement: str, evidence: Sequence[Evidence], best: str, named: frozenset[str], *, crossed: bool) -> str:
    """New content words: too many, or one in the place of another, mean that the statement is another one."""
    whole = canonical("\n".join(e.text for e in evidence))
    bag, pairs = term_set(whole) | frozenset(t for e in evidence for t in e.names), grams(whole)
    asked = [t for t in terms(re.sub(r"\d[\d.,]*", " ", LABEL.sub(" ", statement))) if not t.isdigit()]
    if crossed:
        asked = [t for t in asked if not HANGUL.search(t)] if HANGUL.search(statement) else []
        return (
            "" if all(_covered(t, bag, pairs) for t in asked if len(t) > 2) else "the evidence does not hold its words"
        )
    if not asked:
        return ""
    new = [t for t in asked if not _covered(t, bag, pairs)]
    content = [t for t in asked if t not in GENERIC and t not in named and t not in _PLACING]
    if new and len(new) >= 0.25 * max(len(content), 1):
        return f"the evidence does not hold: {', '.join(dict.fromkeys(new[:4]))}"
    return _substituted(asked, new, terms(best), asked_bag=frozenset(asked))


# Words of edges' descriptions between which anything may stand.
_EMPTY = frozenset(
    stem(w)
    for w in "calls errors observed documented asserted environment cause triggers of on messages lines latency client server drift confirmed".split()
)


def _substituted(asked: list[str], new: list[str], there: list[str], *, asked_bag: frozenset[str]) -> str:
    """A new word beside the same neighbour as one that the statement left out: "finance team" for "payments team"."""
    for term in dict.fromkeys(new):
        at = asked.index(term)
        for step in (-1, 1):
            neighbour = asked[at + step] if 0 <= at + step < len(asked) else None
            if neighbour is None or neighbour in new or neighbour not in there:
                continue
            for place in (i for i, t in enumerate(there) if t == neighbour):
                other = there[place - step] if 0 <= place - step < len(there) else None
                if (
                    other
                    and other not in asked_bag
                    and len(other) > 1
                    and not other[0].isdigit()
                    and other not in _EMPTY
                ):
                    return f"the evidence says {other}, not {term}"
    return ""
