"""Follow-up questions, rewritten by four edits and no others. Pure; without history nothing is rewritten.

- *pronoun*: "it", "that service", "거기", "그 서비스", and one that Korean drops, becomes what the conversation was about;
- *format request*: "as a table", "in Korean", "한 줄로" leaves the search and sets how to answer;
- *user's fact*: "we use Postgres 16, ...", "참고로 ..." leaves the search: it is what the asker says, never evidence;
- *source restriction*: "according to runbook.md", "only in traces" leaves the search and narrows the evidence.

The original question stays a channel of its own beside the rewritten one.
"""

# ruff: noqa: E501  # patterns and word tables read better whole
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from answer.narrators.phrases import josa
from nexus.model.registry import Registry

_PRONOUN_EN = re.compile(
    r"\b(?:it|they|them|there)\b|\b(?:its|this|that|their)\b(?:\s+(?:service|one|component|call|dependency)\b)?|\bthe same (?:one|service)\b",
    re.IGNORECASE,
)
_PRONOUN_KO = re.compile(
    r"(?:그|이|저|해당)\s?(?:서비스|컴포넌트|호출|것|거|곳)|(?<![가-힣])(?:그건|그게|그걸|이건|이게|이걸|거기|여기|그곳)(?=[가-힣\s?]|$)"
)
# Korean drops it: "그럼 누가 호출해?" asks who calls what was spoken of, "그럼 뭘 호출해?" what that calls.
_DROPPED = re.compile(
    r"^(?P<head>\W*(?:(?:그럼|그러면|그리고|근데|그런데|또|혹시)\s+)?)(?:(?P<object>누가|누구(?:가|한테)|어디서|어디에서)|(?P<subject>뭘|뭐를?|무엇을|누구를|어디를|어떤\s*\S+[을를]))\s+\S*(?:호출|사용|의존|쓰|써|부르|불러|구독|발행)"
)
_FORMAT = re.compile(
    r"[,.]?\s*(?:please\s+)?\b(?:as (?:a )?(?:table|list|bullets?|bullet points|json)|in (?:korean|english)|in (?:one|a single) (?:sentence|line)|in short|briefly|shorter|in detail)\b[,.]?"
    r"|(?:한국어|영어|국문|영문)로|(?:한|두|세) ?(?:줄|문장)(?:으로|로)|표로|목록으로|짧게|간단히|간단하게|자세히",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"(?:^|(?<=[.!]\s))(?:(?:note that|assume(?: that)?|given that|suppose|fyi,?|for context,?|i (?:already )?know that|we (?:use|have|run|already)|i (?:am|think|believe))\b[^.?!]*[.,;!]\s*)"
    r"|(?:^|(?<=[.!]\s))(?:참고로|가정하면|우리는|저희는|내가 알기로)[^.?!]*(?:[.,;!]\s*|(?:는데|지만|니까|라면)[,\s]\s*)",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[,.]?\s*\b(?:according to|based on|as per|only (?:in|from|using)|using only|from|in)\s+(?:the\s+)?(?P<file>[\w./-]+\.(?:md|txt|yaml|yml|html|pdf|docx|adoc|rst|puml|mmd)|(?:documents?|docs|documentation)(?: only)?|(?:traces?|telemetry)(?: only)?)\b[,.]?"
    r"|(?P<ko>[\w./-]+\.(?:md|txt|yaml|yml|html|pdf|docx|adoc|rst|puml|mmd)|문서|트레이스|텔레메트리)(?:에서만|에 따르면|만 보고|만 참고해서|기준으로)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The rewritten question and what the edits took out. `edits` names those applied, in order."""

    query: str
    edits: tuple[str, ...] = ()
    language: str = ""
    # A document's name, "documents" or "traces"; "" = no restriction.
    source: str = ""
    facts: tuple[str, ...] = ()


def rewrite(query: str, history: Sequence[tuple[str, str]], registry: Registry) -> Rewritten:
    """The four edits, in the order source, fact, format, pronoun. An edit that would leave nothing is not made."""
    if not history:
        return Rewritten(query)
    state = Rewritten(query)
    for edit in (_source, _fact, _format):
        changed = edit(state)
        if changed is not None and re.search(r"\w{2,}", changed.query):
            state = changed
    return _pronoun(state, history, registry)


def _tidy(text: str) -> str:
    return re.sub(r"\s+([?.!,])", r"\1", re.sub(r"\s{2,}", " ", text)).strip(" ,;")


def _source(state: Rewritten) -> Rewritten | None:
    match = _SOURCE.search(state.query)
    if match is None:
        return None
    named = (match["file"] or match["ko"]).casefold()
    source = (
        "traces"
        if re.match(r"trace|telemetry|트레이스|텔레메트리", named)
        else "documents"
        if re.match(r"doc(?!\S*\.)|문서", named)
        else named
    )
    return replace(
        state,
        query=_tidy(state.query[: match.start()] + " " + state.query[match.end() :]),
        source=source,
        edits=(*state.edits, "source restriction"),
    )


def _fact(state: Rewritten) -> Rewritten | None:
    facts = tuple(m.group(0).strip(" ,;.") for m in _FACT.finditer(state.query))
    if not facts:
        return None
    return replace(state, query=_tidy(_FACT.sub("", state.query)), facts=facts, edits=(*state.edits, "user's fact"))


def _format(state: Rewritten) -> Rewritten | None:
    match = _FORMAT.search(state.query)
    if match is None:
        return None
    asked = match.group(0).casefold()
    language = (
        "ko"
        if "korean" in asked or "한국어" in asked or "국문" in asked
        else "en"
        if "english" in asked or "영어" in asked or "영문" in asked
        else ""
    )
    return replace(
        state,
        query=_tidy(_FORMAT.sub(" ", state.query)),
        language=language or state.language,
        edits=(*state.edits, "format request"),
    )


def _pronoun(state: Rewritten, history: Sequence[tuple[str, str]], registry: Registry) -> Rewritten:
    korean = bool(re.search(r"[가-힣]", state.query))
    match = (_PRONOUN_KO if korean else _PRONOUN_EN).search(state.query)
    dropped = _DROPPED.match(state.query) if korean and match is None and not registry.find(state.query) else None
    topic = _topic(history, state.query, registry) if match or dropped else ""
    if not topic:
        return state
    if dropped:
        at, said = dropped.end("head"), josa(topic, "를" if dropped["object"] else "은")
        return replace(
            state, query=_tidy(f"{state.query[:at]}{said} {state.query[at:]}"), edits=(*state.edits, "pronoun")
        )
    assert match is not None
    word = match.group(0)
    suffix = (
        "'s"
        if word.casefold() in {"its", "their"}
        else {"그건": "은", "이건": "은", "그게": "이", "이게": "이", "그걸": "를", "이걸": "를"}.get(word, "")
    )
    return replace(
        state,
        query=_tidy(state.query[: match.start()] + topic + suffix + state.query[match.end() :]),
        edits=(*state.edits, "pronoun"),
    )


def _topic(history: Sequence[tuple[str, str]], query: str, registry: Registry) -> str:
    """What was last spoken of: the last entity of the newest question that names one, else the first of the newest answer."""
    here = {_name(item, registry) for item in registry.find(query)}
    for question, answer in reversed(history):
        asked = [name for item in registry.find(question) if (name := _name(item, registry)) and name not in here]
        if asked:
            return asked[-1]
        told = [
            m.resolution.entity.name
            for m in registry.mentions(answer)
            if m.resolution.entity and m.resolution.entity.name not in here
        ]
        if told:
            return told[0]
    return ""


def _name(item: object, registry: Registry) -> str:
    entity = registry.resolve(registry.surface(item)).entity  # type: ignore[arg-type]  # what `find` gave
    return entity.name if entity else ""
