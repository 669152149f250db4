"""What surrounds a Korean sentence: its implicit subject, the modality of a verb, and the statement that both give. Pure."""

from __future__ import annotations

import re

from designed.extractors.flat import Flat
from designed.extractors.modality import korean
from designed.extractors.names import Name
from designed.extractors.parse_ko import Verb
from designed.extractors.statements import Context, Statement
from nexus.model.claim import Modality

_CHANGES = frozenset({"쓰", "기록", "저장", "갱신", "업데이트", "남기"})
_ONLY_READ = re.compile(r"[^,.]{0,12}?(?:고|며),?\s*(?:오직 )?(?:읽기|조회|읽기 전용)만")
_NOW = re.compile(r"(?:지금은|현재는|이제는|이제 |요즘은)")
# What was thought of, and what became of it.
_THOUGHT = re.compile(
    r"\s*(?:안|방안|대안|아이디어|설계안)(?:이나|은|는|을|를|도|이|가)?\s[^.]*(?:검토|고려|논의|제안|기각|폐기|포기|접었|배제|제외|철회|않기로|채택하지)"
    r"|\s*(?:방식|방법|구조|설계|것)(?:이나|은|는|을|를|도|이|가)?\s[^.]*(?:검토|고려|논의|제안|(?:채택|선택)(?:하|되)지)"
)
_TAKEN = re.compile(r"(?:채택|선택|결정|도입|반영)(?:했|하였|하기로|됐|되었|하였)|하기로 했|검토 ?중|고려 ?중")


def implicit(context: Context) -> list[Name]:
    """Who acts where nobody is named: the section's service, else the subject of the sentence before."""
    if context.subject is None:
        return [context.previous] if context.previous is not None and not context.previous.passive else []
    return [Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)]


def modality_of(flat: Flat, start: int, end: int, verb: Verb, context: Context) -> Modality:
    """Modality of what a verb of the sentence [start, end) states."""
    clause = flat.text[verb.start : min(end, verb.end + 12)]
    if verb.stem in _CHANGES and (said := _ONLY_READ.match(flat.text, verb.end - 2, end)) is not None:
        # "쓰지 않고 읽기만 한다"
        return stated_modality(flat.text[start:end], flat.text[said.end() : end], context)
    clause = (
        re.split(r"[,;.]|(?<=고)\s|(?<=며)\s", clause, maxsplit=1)[0]
        if not re.search(r"지 ?(?:않|못|말)", clause[: verb.end - verb.start + 4])
        else clause
    )
    found = korean(_present(flat.text, start, end, verb), clause)
    if found is Modality.CONDITIONAL and korean(flat.text[start : verb.end], "") is Modality.ASSERTED:
        # The verb ends its clause: only a condition before it, or in brackets, is its own.
        behind = flat.text[verb.end : end]
        if "(" not in behind or korean(behind[behind.index("(") :], "") is Modality.ASSERTED:
            found = Modality.ASSERTED
    return _under(found, context)


def stated_modality(sentence: str, clause: str, context: Context) -> Modality:
    """Modality of a statement; polarity stands in `clause`. The section's heading can make more of it."""
    return _under(korean(sentence, clause), context)


def _under(found: Modality, context: Context) -> Modality:
    """What the section's heading makes of it."""
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )


def _present(text: str, start: int, end: int, verb: Verb) -> str:
    """The part of a sentence that is of the verb's time: "기존에는 ..., 지금은 ..." has two."""
    turn = next((m.start() for m in _NOW.finditer(text, start, end)), None)
    if turn is None:
        return text[start:end]
    return text[start:turn] if verb.start < turn else text[turn:end]


def shelved(text: str) -> bool:
    """Whether what stands behind a verb says that it was only thought of: "호출하는 방안도 검토했으나"."""
    return _THOUGHT.match(text) is not None and _TAKEN.search(text) is None


def make(
    relation: str,
    source: Name,
    target: Name,
    rule: str,
    at: int,
    modality: Modality,
    *,
    drawn: str = "",
    gateway: str = "",
    exclusivity: str = "",
) -> Statement:
    """A statement at an offset of the flat text."""
    return Statement(
        relation,
        source.raw,
        source.key,
        target.raw,
        target.key,
        rule,
        at,
        modality,
        drawn,
        gateway,
        exclusivity,
    )


def make_noun(
    relation: str, source: Name, target: Name, at: int, modality: Modality, context: Context, *, exclusivity: str = ""
) -> Statement:
    """A statement that nouns carry."""
    return make(relation, source, target, f"{context.rule}.noun", at, modality, exclusivity=exclusivity)
