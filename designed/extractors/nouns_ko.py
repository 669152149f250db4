"""Relations that Korean nouns carry: "A에서 B로의 호출", "B 호출은 A에서만", "A에서 B로 가는 트래픽은 G를 거친다". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from designed.extractors.flat import Flat
from designed.extractors.modality import korean
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, Context, Statement
from nexus.model.claim import Modality

_CALL = r"(?:API ?)?(?:호출|요청|트래픽|통신|접근)"
_FROM = re.compile(r"[`*)]*\s*(?:에서|로부터)\s*[`*(]*")
_TO = re.compile(rf"[`*)]*\s*(?:으로|로|에)의?\s*(?:가는|향하는|보내는|들어가는|대한)?\s*(?:모든\s*)?{_CALL}")
_WAY = re.compile(r"[`*)]*\s*(?:를|을)\s*(?:반드시\s*)?(?:거치|거친|거쳐|통하|통해|경유)")
_OF = re.compile(rf"[`*)]*\s*(?:에 대한|로의|의)?\s*{_CALL}[은는]\s*[`*(]*")
_ONLY = re.compile(r"[`*)]*\s*(?:에서만|만|에게만)(?=[\s,.])")


def noun_statements(flat: Flat, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """Statements of the sentence [start, end) whose verb says nothing of a call."""
    text = flat.text
    for index, (first, second) in enumerate(pairwise(names)):
        between = text[first.end : second.start]
        if first.passive or second.topic or first.key == second.key:
            continue
        if _FROM.fullmatch(between) and (said := _TO.match(text, second.end, end)) is not None:
            modality = _modality(text[start:end], text[said.end() : end], context)
            way = next((n for n in names[index + 2 :] if _WAY.match(text, n.end, end)), None)
            for source, target in [(first, second)] if way is None else [(first, way), (way, second)]:
                yield _noun(source, target, said.start(), modality, context)
    for called, caller in pairwise(names):
        # "B 호출은 A에서만 수행한다"
        if (
            _OF.fullmatch(text, called.end, caller.start)
            and _ONLY.match(text, caller.end, end)
            and not (caller.passive or called.topic or called.key == caller.key)
        ):
            made = _noun(caller, called, caller.end, Modality.EXCLUSIVE, context)
            made.exclusivity = "only_by"
            yield made


def _modality(sentence: str, clause: str, context: Context) -> Modality:
    found = korean(sentence, clause)
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )


def _noun(source: Name, target: Name, at: int, modality: Modality, context: Context) -> Statement:
    return Statement(CALLS, source.raw, source.key, target.raw, target.key, f"{context.rule}.noun", at, modality)
