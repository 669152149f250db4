"""What "it" and "them" mean as an argument of an English verb. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from designed.extractors.clauses_en import Predicate
from designed.extractors.context_en import implicit
from designed.extractors.items import Item
from designed.extractors.names import Name
from designed.extractors.statements import Context

_OFFERS = frozenset({"exposes", "provides", "offers", "serves"})


def meant(code: str, parts: Sequence[Item], predicate: Predicate, context: Context) -> Name | None:
    """‘react to it’, "consumes it": the topic that was named last; else as `pronoun`."""
    if code == "C":
        own = {name.key for name in predicate.subject.names}
        before = {p.name.key: p.name for p in parts[: predicate.index] if p.name is not None and p.name.key not in own}
        opens = predicate.relative and len(before) == 1
        # "When A is slow, B, which calls it": the only other one that is named.
        return next(iter(before.values())) if opens and not any(n.topic for n in before.values()) else pronoun(context)
    if code in ("s", "R"):
        named = [part.name for part in parts[: predicate.index] if part.name is not None and part.name.topic]
        if named or context.topic is not None:
            return named[-1] if named else context.topic
    offering = parts[: predicate.clause]
    if code != "s" and any(part.word in _OFFERS for part in offering):
        # "A exposes an API; B and C consume it"
        offered = {part.name.key: part.name for part in offering if part.name is not None}
        return next(iter(offered.values())) if len(offered) == 1 else None
    return None if code == "s" else pronoun(context)


def pronoun(context: Context) -> Name | None:
    """‘can call it’: the thing that the section is about."""
    found = implicit(context)
    return found[0] if found and context.previous is None else None
