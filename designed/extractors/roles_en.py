"""Who an English noun says to call, publish or consume: "callers of A are B and C", "`x` has two consumers: A and B". Pure."""

# ruff: noqa: E501  # patterns stay in one line each

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from designed.extractors.context_en import modality_of
from designed.extractors.flat import Flat
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement
from nexus.model.claim import Modality

_CALLERS = (
    r"(?:callers?|clients?|users|dependents|upstream callers|consumers?|subscribers?|listeners?|producers?|publishers?)"
)
_CALLED = r"(?:dependencies|downstreams?|downstream (?:services|dependencies)|upstream dependencies)"
_ARE = r"(?:\s+(?:are|is|include|includes)(?:\s+currently)?\s*:?|\s*:)\s*(?:both |only )?(?:the )?"
_END = r"[`*_\])]*\s*"
# Before what it is of (those that end with `$`), or between that and who it is.
_OF = re.compile(rf"\b(?P<role>{_CALLERS}|{_CALLED}|downstream)\s+(?:of|for|to|on)\s+(?:the )?[`*\[]*$", re.IGNORECASE)
_ARE_ONLY = re.compile(rf"{_END}(?:events?|topic|queue|service|API)?{_ARE}[`*\[]*", re.IGNORECASE)
_OWN = re.compile(rf"{_END}(?:'s|’s)\s+(?:\w+\s)?(?P<role>{_CALLERS}|{_CALLED}){_ARE}[`*\[]*", re.IGNORECASE)
_HAS = re.compile(
    rf"{_END}(?:topic |queue |event )?has (?:\w+ ){{0,2}}(?P<role>{_CALLERS}|{_CALLED})\s*[:,-]\s*(?:the )?[`*\[]*",
    re.IGNORECASE,
)
_USED = re.compile(rf"{_END}is (?:used|called|invoked|consumed) by\s*:\s*[`*\[]*", re.IGNORECASE)
_DEPENDENCY = re.compile(r"\bdependency (?:of|from) (?:the )?[`*\[]*$", re.IGNORECASE)
_IS_DEPENDENCY = re.compile(
    rf"{_END}(?:is|are) (?:a |an )?(?:\w+ )?dependency (?:of|for) (?:the )?[`*\[]*", re.IGNORECASE
)
# "A's p99 towards B", "A's connection pool to B".
_OWN_TO = re.compile(
    rf"{_END}(?:'s|’s)\s+(?:[\w-]+ ){{0,2}}(?:p\d+|latency|timeouts?|deadline|budget|retries|circuit breaker|client|pool|connections?|calls?|requests?|quer(?:y|ies)|dependency)\s+(?:to|towards|against|for|on)\s+(?:the )?[`*\[]*",
    re.IGNORECASE,
)
# "Messages on `x` originate from A"
_COMES_FROM = re.compile(
    rf"{_END}(?:topic |queue |events? |messages? )?(?:originates?|comes?|stems?) from (?:the )?[`*\[]*", re.IGNORECASE
)
_ON = re.compile(rf"{_END}on (?:the )?[`*\[]*", re.IGNORECASE)
_RESTRICTED = re.compile(
    rf"{_END}(?:is|are|must be) (?:restricted|limited|reserved|granted only|allowed only) (?:to|for) (?:the )?[`*\[]*",
    re.IGNORECASE,
)
_ACCESS_TO = re.compile(
    r"\b(?:access|calls|requests|writes|reads|connections) (?:to|from|on) (?:the )?[`*\[]*$", re.IGNORECASE
)
_ONLY_ONE = re.compile(
    r"\bthe only (?:service|component|one|caller|client|system|application|module)s?\s+(?:(?:that|which) (?:is |are )?(?:may|can|should|must)?\s*|)(?:allowed to|permitted to|supposed to|)\s*(?:call|calls|access|accesses|use|uses|query|queries|reach|reaches|write to|writes to|read from|reads from|talk to|talks to|contact|contacts)\s+(?:the )?[`*\[]*$",
    re.IGNORECASE,
)
_IS = re.compile(rf"{_END}(?:is|are) (?:the )?[`*\[]*", re.IGNORECASE)
_HAS_ACCESS = re.compile(
    rf"{_END}(?:has|have|needs?|requires?|gets?) (?:[\w-]+,? ){{0,3}}access to (?:the )?[`*\[]*", re.IGNORECASE
)
_BEHIND = re.compile(
    rf"{_END}(?:sits?|stands?|lives?|runs?|is|are|hides?|is hidden|is placed) behind (?:the |an? )?[`*\[]*",
    re.IGNORECASE,
)
_SOLE = re.compile(r"\b(?:only|sole|single)\b", re.IGNORECASE)
# What a service keeps is not the service.
_STORE_OF = re.compile(
    r"[`*]*(?:'s|’s)\s+(?:\w+ ){0,2}(?:databases?|db|replicas?|caches?|buckets?|schemas?|tables?|topics?|queues?|logs?|dashboards?)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"[`*_\])]*(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s*/\s*)(?:both |the )*[`*\[]*", re.IGNORECASE)
_CONSUMING, _PRODUCING = ("consumer", "subscriber", "listener"), ("producer", "publisher")


def role_statements(flat: Flat, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """Statements of the sentence [start, end) that no verb of it makes."""
    text = flat.text
    if len(names) < 2:
        return
    modality = modality_of(flat, start, end, start, (text[start:end], text[start:end]), negated=False, context=context)
    if modality is Modality.FORBIDDEN:
        return
    for index, thing in enumerate(names[:-1]):
        lead, following = text[start : thing.start], names[index + 1 :]
        many = _together(text, following)
        joins = [_joined(pattern, text, thing, following[0]) for pattern in (_OWN, _HAS)]
        role = next((found["role"] for found in joins if found is not None), "")
        if (of := _OF.search(lead)) is not None and _joined(_ARE_ONLY, text, thing, following[0]) is not None:
            role = of["role"]
        if role:
            sole = any(found is not None and _SOLE.search(found[0]) for found in joins)
            for statement in _held(thing, many, role.casefold(), modality, context):
                if sole and statement.relation == CALLS and statement.target_key == thing.key:
                    statement.modality, statement.exclusivity = Modality.EXCLUSIVE, "only_by"
                yield statement
        elif _joined(_USED, text, thing, following[0]) or _joined(_IS_DEPENDENCY, text, thing, following[0]):
            yield from _held(thing, many, "callers", modality, context)
        elif (
            (_DEPENDENCY.search(lead) is not None and _joined(_ON, text, thing, following[0]) is not None)
            or _joined(_OWN_TO, text, thing, following[0])
            or _joined(_HAS_ACCESS, text, thing, following[0]) is not None
        ):
            if _STORE_OF.match(text, following[0].end, end) is not None:
                continue
            yield from _held(thing, many, "dependencies", modality, context)
        elif thing.topic and _joined(_COMES_FROM, text, thing, following[0]) is not None:
            yield from _held(thing, many, "producers", modality, context)
        elif _joined(_BEHIND, text, thing, following[0]) is not None:
            yield from _held(thing, many[:1], "callers", modality, context)
        elif (_ACCESS_TO.search(lead) is not None and _joined(_RESTRICTED, text, thing, following[0]) is not None) or (
            _ONLY_ONE.search(lead) is not None and _joined(_IS, text, thing, following[0]) is not None
        ):
            for statement in _held(thing, many, "callers", Modality.EXCLUSIVE, context):
                statement.exclusivity = "only_by"
                yield statement


def _held(thing: Name, names: Sequence[Name], role: str, modality: Modality, context: Context) -> Iterator[Statement]:
    """Each of `names` has the role for the thing."""
    for name in names:
        source, target, relation = name, thing, CALLS
        if role.startswith(("depend", "downstream", "upstream dep")) and role != "dependents":
            source, target = thing, name
        elif thing.topic and role.startswith(_CONSUMING):
            relation = SUBSCRIBES
        elif role.startswith(_PRODUCING):
            relation = PUBLISHES
        if source.passive or source.key == target.key or target.topic is (relation == CALLS):
            continue
        yield Statement(
            relation, source.raw, source.key, target.raw, target.key, f"{context.rule}.noun", thing.end, modality
        )


def _joined(pattern: re.Pattern[str], text: str, left: Name, right: Name) -> re.Match[str] | None:
    return pattern.fullmatch(text, left.end, right.start)


def _together(text: str, names: Sequence[Name]) -> list[Name]:
    """The first name and those that a comma or "and" joins to it."""
    found = list(names[:1])
    for name in names[1:]:
        if _AND.fullmatch(text, found[-1].end, name.start) is None:
            break
        found.append(name)
    return found
