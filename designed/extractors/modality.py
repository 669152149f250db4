"""How a sentence means what it says: planned, deprecated, forbidden, conditional, exclusive, historical; English and Korean. Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re

from nexus.model.claim import Modality

_FORBIDDEN = re.compile(
    r"\b(?:should|must|shall|has to|have to|needs? to) stop\b|\b(?:must|shall|should|may|can|could|do|does|did|is|are|will|would)(?:\s+(?:not|never)|n't|not)\b(?!\s+only)|\bcannot\b|\bnever\b|\bis forbidden\b|\bare forbidden\b|\b(?:not|never) (?:be )?(?:allowed|permitted|supposed|call|use|access|connect|directly)\b"
    r"|\bforbidden (?:to|from)\b|\bprohibited (?:to|from)\b|\bwithout (?:calling|using|contacting|querying|going through)\b|\b(?:avoid|avoids|refrain\w* from|instead of|rather than)\b|\bno (?:direct )?(?:calls?|access|connections?|dependency)\b",
    re.IGNORECASE,
)
_HISTORICAL = re.compile(
    r"\bno longer\b|\bstopped \w+ing\b|(?<!is )(?<!are )(?<!be )\bused to\b(?!\s+(?:\w+ing|the|a)\b)|\b(?:was|were|has been|have been) (?:replaced|removed|retired|decommissioned|migrated away|dropped)\b|\buntil (?:v?\d|20\d\d|version|release)",
    re.IGNORECASE,
)
_FORBIDDEN_AFTER = re.compile(
    r"\b(?:is|are) (?:strictly )?(?:forbidden|prohibited|not (?:allowed|permitted))\b|\bbut (?:(?:it|they) )?(?:should|must|do|does|may|can|will)(?:n't|not| not)\W*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:previously|formerly|historically|in the past|originally|at one time)\b"
    r"|^\W*until (?:v?\d|20\d\d|version|release|last |early |late |mid|q[1-4]|recently)",
    re.IGNORECASE,
)
_DEPRECATED = re.compile(
    r"\b(?:is|are|now|been)?\s?deprecated\b|\bbeing (?:phased out|retired|removed|replaced|decommissioned)\b|\b(?:will|to) be (?:removed|retired|replaced|decommissioned|phased out|dropped|deprecated)\b|\bscheduled for removal\b|\bend[- ]of[- ]life\b|\bsunset\b",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\b(?:is|are) planned\b|\bplan(?:s|ned|ning)? to\b|\bplanned\b|\bin (?:the|a) (?:near )?future\b|\bfuture (?:version|release|work|step|iteration)|\b(?:upcoming|roadmap|proposed|not yet|to ?do)\b|\bnext (?:release|version|quarter|sprint|phase|year|month|iteration|milestone)\b"
    r"|\b(?:intend|intends|intended) to\b|\bwill (?:eventually|soon|later|then be added|be added|be introduced|be migrated|start|begin)\b|\bwill\b.{0,80}\b(?:in|from|by|starting|as of) (?:q[1-4]|20\d\d|v\d|version|phase|january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:in|from|by) q[1-4]\b|\bphase (?:2|3|ii|iii|two|three)\b|\bwill be \w+ing\b|\bonce .{0,60}\b(?:is|are) (?:released|launched|available|ready|finished|done)\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|in case|provided that|otherwise|only when|depending on)\b|\bwhen\b.{0,60}\b(?:miss\w*|fail\w*|unavailable|enabled|disabled|missing|empty|stale|expire[sd]?|exceed\w*|times? out|down|not (?:found|cached|available|set|present)|is set)\b",
    re.IGNORECASE,
)
# Of the clause that they stand in.
_CONDITIONAL_HERE = re.compile(
    r"\b(?:optionally|fall(?:s|ing)? back|as a fallback|on (?:a )?(?:cache )?miss|on (?:failure|error|timeout))\b|\bmay\b(?!\s+(?:not|only))",
    re.IGNORECASE,
)
# What stands below these was thought of, and is not done.
_REJECTED = re.compile(
    r"\b(?:alternatives?|rejected|options considered|non-?goals|out of scope|not in scope)\b|기각|대안|채택하지|검토한 방안|범위 ?외|비목표",
    re.IGNORECASE,
)
_HEADINGS = (
    (
        Modality.PLANNED,
        re.compile(
            r"\b(?:roadmap|planned|future|upcoming|to ?do|proposal|proposed|next steps|backlog|target architecture|to-be)\b|로드맵|계획|예정|향후|추후|앞으로|할 ?일|남은 ?(?:작업|과제)|개선 ?(?:사항|과제|방향)|다음 단계|차기",
            re.IGNORECASE,
        ),
    ),
    (
        Modality.DEPRECATED,
        re.compile(r"\b(?:deprecated|deprecations?|legacy|sunset|retired)\b|폐기|지원 ?종료|사용 ?중단", re.IGNORECASE),
    ),
    (
        Modality.HISTORICAL,
        re.compile(
            r"\b(?:history|historical|changelog|previous architecture|old architecture|before the migration|as-was)\b|변경 ?이력|과거|이전 구조",
            re.IGNORECASE,
        ),
    ),
    (
        Modality.FORBIDDEN,
        re.compile(r"\b(?:forbidden|prohibited|not allowed|don'ts|anti-?patterns?)\b|금지", re.IGNORECASE),
    ),
)

_KO_FORBIDDEN = re.compile(
    r"지 ?(?:않|못|말|마)|(?:면|서는) ?안 ?[되된됩돼]|금지|불가|없이|없다|없습니다|허용하지|허용되지|(?<![가-힣])안 (?:한다|합니다|함|된다|됩니다)|(?:하|되)지 않"
)
_KO_PLANNED = re.compile(
    r"(?<!도착 )(?<!배송 )예정(?=이|입|임|인|된|되|됐|됨|으로|\s*(?:[.,;:)|]|$))|계획|향후|추후|앞으로|도입할|추가할|로드맵|(?:다음|차기) ?(?:버전|릴리스|분기|단계|스프린트)|검토 ?중|[1-4]분기|고려 ?중|할 것이다|될 것이다|할 것입니다"
)
_KO_DEPRECATED = re.compile(
    r"폐기|deprecated|제거(?:할|될) ?예정|지원 ?(?:종료|중단)|사용 ?중단|걷어|단계적으로 (?:제거|폐지)", re.IGNORECASE
)
_KO_HISTORICAL = re.compile(
    r"더 ?이상|과거에|예전에|이전에는|기존에는|원래는|했었|하였었|되었었|였었"
    r"|(?:작년|재작년|지난 ?\S{1,3}|\d{4}년|\d{1,2}월|예전|이전 ?버전|v?\d[\d.]*)까지(?:는|만 해도)?[^.]*[가-힣](?<=[았었했썼렸졌갔왔됐랐났])(?:다|습니다|음)"
)
# "호출하던 방식 대신"
_KO_WAS = re.compile(r"[가-힣]던(?=\s)")
_KO_CONDITIONAL = re.compile(
    r"없으면|있으면|않으면|아니면|없을 ?(?:때|경우)|않을 ?(?:때|경우)|없는 ?경우|경우에만|때만|[한할된될인는] 경우|만약|만일|미스|실패 ?(?:시|하면|할 경우|한 경우)|장애 ?시|필요 ?시|선택적으로|타임아웃(?:이|가)? ?(?:발생|시|나면|되면|날)"
)


def rejected(headings: tuple[str, ...]) -> bool:
    """Whether headings say that what stands below them is not done: "Alternatives considered"."""
    return any(_REJECTED.search(heading) for heading in headings)


def heading_modality(headings: tuple[str, ...]) -> Modality | None:
    """What headings make of everything below them; the innermost that says anything."""
    for heading in reversed(headings):
        for modality, pattern in _HEADINGS:
            if pattern.search(heading):
                return modality
    return None


def english(text: str, clause: str, lead: str, *, negated: bool) -> Modality:
    """Modality of a claim of a sentence; `clause` is the part around its verb, `lead` that part up to the verb, `negated` what stands right before it."""
    if _HISTORICAL.search(clause) or _BEFORE.search(text):
        return Modality.HISTORICAL
    if _DEPRECATED.search(text) and not negated:
        return Modality.DEPRECATED
    if negated or _FORBIDDEN.search(lead) or _FORBIDDEN_AFTER.search(clause):
        return Modality.FORBIDDEN
    if _PLANNED.search(text):
        return Modality.PLANNED
    return Modality.CONDITIONAL if _CONDITIONAL.search(text) or _CONDITIONAL_HERE.search(clause) else Modality.ASSERTED


def korean(text: str, clause: str) -> Modality:
    """The same for Korean; polarity stands at the end of the clause."""
    if _KO_HISTORICAL.search(text):
        return Modality.HISTORICAL
    if _KO_DEPRECATED.search(text):
        return Modality.DEPRECATED
    if _KO_WAS.search(clause):
        return Modality.HISTORICAL
    if _KO_FORBIDDEN.search(clause):
        return Modality.FORBIDDEN
    if _KO_PLANNED.search(text):
        return Modality.PLANNED
    return Modality.CONDITIONAL if _KO_CONDITIONAL.search(text) else Modality.ASSERTED
