"""What a question wants to know beyond its kind: a permission, a promise kept, whether something lives, which verdicts. Over masked text (cues.py). Pure."""

# ruff: noqa: E501  # a cue is one line of a table
from __future__ import annotations

import re

from answer.cues import VERB_EN, S
from nexus.model.finding import Flag
from nexus.ports.answers import Asks, QuestionKind

K = QuestionKind
_I = re.IGNORECASE
# Another kind of question, however much it speaks of a permission or a promise.
_OTHER = re.compile(r"\b(?:why|how come|reason|what happens|if|when)\b|왜|이유|(?:으?면)(?=\s)", _I)
_PERMISSION = re.compile(
    rf"\b(?:may|allowed to|permitted to|authori[sz]ed to|supposed to|forbidden|free to)\b|\b(?:can|could|should|is it ok for)\s+(?:the\s+)?{S}\s|\bwho\s+(?:can|should)\b"
    r"|(?:해|불러|써|호출해|사용해|접근해)도\s*(?:되|돼|괜찮|좋)|[할쓸를을]\s*수\s*있|허용|허가|금지|권한",
    _I,
)
_PROMISE = re.compile(
    r"(?<![a-z])sl[oa]s?(?![a-z])|\b(?:promis\w*|objectives?|targets?|guarantees?|commitments?|budgets?|as documented)\b|약속|목표|보장",
    _I,
)
_KEPT = re.compile(
    r"\b(?:vs|versus|against|compared|keep|keeps|kept|meet|meets|met|meeting|hold|holds|held|honou?r\w*|fulfil\w*|violat\w*|break|breaks|broken|broke|breach\w*|within|over|above|below|miss\w*|satisf\w*|compl(?:y|ies)\w*|exceed\w*|as fast as)\b|지키|지켜|만족|충족|위반|어기|어겼|달성|넘",
    _I,
)
_ALIVE = re.compile(
    rf"\b(?:is|are|was|were|has|have|did)\b.*{S}.*\b(?:down|up(?!\s+to)|alive|dead|running(?!\s+(?:on|in|with|as|under))|available(?!\s+(?:in|for|to|as|on))|unavailable|offline|online|(?:un)?reachable|responding|answering|crashed|gone|out of service|still there|working(?!\s+(?:on|with))|ok(?:ay)?|broken(?!\s+(?:into|down)))\b"
    rf"|^\W*{S}\s+(?:is\s+)?(?:down|dead|up|alive|offline)\b"
    rf"|{S}.*(?:죽었|죽어\s*있|죽은|다운|내려갔|내려가\s*있|살아|떠\s*있|(?:동작|작동|응답)\s*(?:중|하(?:고|나|니|는지)|해\s*\?|안)|잘?\s*돌아가|멈췄|멈춘|꺼졌|꺼져|먹통|접속이?\s*(?:되|안))",
    _I,
)
# Whether anybody still needs it: who did, and when last.
_LAST = re.compile(
    rf"{S}.*\bstill\b.*\b(?:us(?:ed?|ing)|call(?:ed|ing|s)?|need(?:ed)?|in use|around|relevant|active|alive)\b|\bstill\b.*\b(?:us(?:e|es|ing)|call(?:s|ing)?|need(?:s|ing)?)\b.*{S}"
    rf"|{S}.*\bin use\b|\b(?:when|how long ago)\b.*{S}.*\blast\b|\blast\b.*\b(?:seen|call(?:ed)?|use[ds]?|time)\b.*{S}|{S}.*\blast\s+(?:seen|call(?:ed)?|used)\b"
    rf"|{S}.*(?:아직|여전히|지금도|요즘도?).*(?:쓰|써|쓴|쓸|사용|호출|불리|살아|필요)|(?:아직|여전히|지금도|요즘도?).*{S}.*(?:쓰|써|쓴|사용|호출|부르)|{S}.*마지막.*(?:쓰|사용|호출|관측|불린)|마지막.*{S}.*(?:쓰|사용|호출|관측|불린)",
    _I,
)
_CONFLICT = re.compile(
    r"\bconflict\w*|\bcontradict\w*|\bdisagree\w*|\bmismatch\w*|\bviolat\w*|\bbreach\w*|\b(?:broken|unkept|missed)\s+(?:rules?|promis\w*|slos?|slas?)|\b(?:rules?|promis\w*|slos?|slas?)\b.*\b(?:broken|break|missed|not kept|ignored)\b|\bforbidden\s+(?:call|dependenc|connection)\w*|\b(?:call|dependenc|connection)\w*\s+(?:is|are|that are)\s+forbidden"
    r"|위반|어긋|충돌|모순|상충|금지된\s*(?:호출|의존|연결)|(?:규칙|약속|SLO|SLA).*(?:안\s*지|못\s*지|지켜지지|어기|깨)|지켜지지\s*않",
    _I,
)
_UNSEEN = re.compile(
    r"\b(?:never|not|un|no longer)\s*(?:been\s+|yet\s+)?(?:seen|observed|called|used|happen\w*)\b|\bdead\s+dependenc|\bonly (?:in|on) (?:the )?(?:docs?|documents?|documentation|paper)\b|\bstale\s+(?:docs?|documents?|dependenc)"
    r"|관측(?:되지|된\s*적(?:이)?)\s*(?:않|없)|(?:보이지|쓰이지|호출되지|사용되지)\s*않|문서에만",
    _I,
)
# Kinds of conflicts that a word means.
_NARROWED = (
    (
        re.compile(r"\b(?:promis\w*|slos?|slas?)\b|약속", _I),
        frozenset({"latency", "success_rate", "cardinality", "cadence", "read_only"}),
    ),
    (re.compile(r"\b(?:rules?|forbidden|policies)\b|규칙|금지", _I), frozenset({"forbidden", "only_by", "only_via"})),
)
_DRIFT = re.compile(r"\bdrift\w*\b|\bcompare\b|\breality\b|드리프트|비교|실제", _I)
_DOCS = r"(?:docs?|documents?|documentation|design|diagrams?|architecture|spec\w*|readme)"
_REALITY = re.compile(
    rf"\b{_DOCS}\b.*\b(?:right|correct|accurate|true|wrong|outdated|out of date|up[- ]to[- ]date|stale|trust\w*|agree\w*|reality|match\w*|lies)\b|\b(?:compare|diff\w*|match\w*|agree\w*)\b.*\b{_DOCS}\b|\b{_DOCS}\b.*\b(?:traces?|telemetry)\b"
    r"|(?:문서|설계|다이어그램|명세)\S*\s.*(?:맞|틀리|정확|일치|다른|다르|실제|최신|트레이스|텔레메트리|어긋|믿)|(?:실제|트레이스|텔레메트리)\S*\s.*(?:문서|설계)",
    _I,
)
_EVER = re.compile(
    r"\b(?:ever|never|seen|observed|since when|last time|(?:a)?synchronous\w*|(?:a)?sync|wait\w*|over what|which protocol)\b|관측|(?:비)?동기(?!화)|기다리|기다려|프로토콜",
    _I,
)
_ARROW = re.compile(rf"{S}\s*(?:->|→|=>|-->)\s*(?:the\s+)?{S}")
_HOW_MANY = re.compile(
    r"\bhow many\s+(?:\w+\s+)?(?:services?|callers?|clients?|consumers?|apps?|teams?|systems?|users?|subscribers?)\b|몇\s*개의?\s*서비스|서비스(?:가|는)?\s*몇",
    _I,
)
# Nothing is named: what is wrong anywhere.
_ANYTHING = re.compile(
    r"\b(?:is|are)\s+(?:any|some)thing\s+(?:wrong|broken|failing|down|on fire)\b|(?:뭐|무슨|어디)\S*\s*(?:문제|이상)\s*(?:있|없)",
    _I,
)


# A text is asked for, however much it speaks of conflicts, promises or life.
_EXPLAIN = re.compile(
    r"^\W*(?:how|explain|describe)\b|\bhow (?:do|does|is|are|to|should)\b|\b(?:polic(?:y|ies)|procedures?|runbooks?|what happens|what (?:do|should)|who (?:do|handles)|steps?|penalt\w*|should|must)\b"
    r"|어떻게|방식|원리|설명|정책|절차|방법|런북|해야|하면",
    _I,
)
# What a question about verdicts speaks of; a conflict of versions, or of bookings, is none.
_ABOUT = re.compile(
    r"\b(?:docs?|documents?|documentation|design|traces?|telemetry|rules?|promis\w*|slos?|slas?|calls?|dependenc\w*|drift)\b|문서|설계|트레이스|텔레메트리|규칙|약속|호출|의존|SLO|SLA"
    r"|^\W*(?:list|show|what|which|any|are there)\b[^⟦]{0,12}\bconflicts?\W*(?:are there|do we have)?\W*$",
    _I,
)
_SEEN = re.compile(r"\b(?:reality|traces?|telemetry|traffic|compare|drift)\b|실제|트레이스|텔레메트리|비교", _I)
_NAME = r"(?!any|some|every|it\b|there\b|this\b|that\b|the\b)[a-z][\w./-]+"
_UNKNOWN_ALIVE = re.compile(rf"^\W*(?:is|was)\s+(?:the\s+)?{_NAME}\s+(?:down|alive|dead|running|offline|healthy)\b", _I)
_UNKNOWN_MAY = re.compile(
    rf"^\W*(?:may|can|could|should|is)\s+(?:the\s+)?{_NAME}\s+(?:allowed|permitted|{VERB_EN})", _I
)


def kind_asked(masked: str, count: int) -> tuple[QuestionKind, Asks] | None:
    """The kind and what it asks, where that is plain whatever else the text speaks of; None: the tables of cues decide. `count`: names in the text."""
    if count == 0:
        told = (_CONFLICT.search(masked) and _ABOUT.search(masked)) or (
            _REALITY.search(masked) and _SEEN.search(masked)
        )
        if not _EXPLAIN.search(masked) and (told or _unseen(masked)):
            return K.DOCUMENTED, Asks.PLAIN
        if _ANYTHING.search(masked):
            return K.CHANGED, Asks.PLAIN
        # "Is zorblax down?": that nobody knows the name is the answer.
        return (K.HEALTH, Asks.PLAIN) if _UNKNOWN_ALIVE.search(masked) else None
    other = _OTHER.search(masked)
    if not other and _PROMISE.search(masked) and _KEPT.search(masked):
        return K.HEALTH, Asks.PROMISE
    if not other and _PERMISSION.search(masked):
        if count >= 2:
            return K.DOCUMENTED, Asks.PERMISSION
        if re.search(r"\b(?:who|which|what|anyone)\b|누가|누구|어떤|어느", masked, _I):
            return K.CALLERS, Asks.PERMISSION
        if _UNKNOWN_MAY.search(masked):
            return K.WHY, Asks.PERMISSION
    if _REALITY.search(masked):
        return K.DOCUMENTED, Asks.PLAIN
    if (
        count == 1
        and (not other or other[0].casefold() == "when")
        and _LAST.search(masked)
        and not _EXPLAIN.search(masked)
    ):
        return K.CALLERS, Asks.LAST
    if _HOW_MANY.search(masked):
        return K.CALLERS, Asks.PLAIN
    return None


def kind_at_last(masked: str, count: int) -> tuple[QuestionKind, Asks] | None:
    """The same, for what no cue of the tables and no verb of relation decides."""
    if count == 1 and _ALIVE.search(masked) and not _EXPLAIN.search(masked):
        return K.HEALTH, Asks.ALIVE
    if count >= 2 and (_ARROW.search(masked) or _EVER.search(masked)):
        return K.WHY, Asks.PLAIN
    return None


def verdicts_asked(masked: str) -> frozenset[str]:
    """Which flags or kinds of findings a question about all of the documents wants."""
    if _CONFLICT.search(masked):
        for words, kinds in _NARROWED:
            if words.search(masked):
                return kinds
        return frozenset({Flag.CONFLICT.value})
    if _unseen(masked):
        return frozenset({Flag.DOC_ONLY.value})
    if _DRIFT.search(masked) or _REALITY.search(masked):
        return frozenset({flag.value for flag in Flag} - {Flag.CONFIRMED.value})
    return frozenset({Flag.OBSERVED_ONLY.value})


def _unseen(masked: str) -> bool:
    return bool(_UNSEEN.search(masked)) and bool(
        re.search(rf"\b(?:{_DOCS}|documented|dependenc\w*)\b|문서|의존|설계", masked, _I)
    )
