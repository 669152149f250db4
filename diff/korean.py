"""Findings in Korean: the same facts, sentence by sentence.

Kinds speak English. Here each of their sentences stands beside its Korean one, with the same holes; what fills a hole
with a capital letter is translated in turn, and what fills another (a name, a number) stays. So stored runs, and reports that come from a server, are read in either language.
A sentence without its Korean one stays as it is: nothing is lost or made up. Particles follow the sound of names (nexus.model.korean).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final

from diff.korean_sentences import SENTENCES
from nexus.model.finding import Finding
from nexus.model.korean import fill
from nexus.ports.drift import Report

LANGUAGES = ("en", "ko")
_SURE = {"certain": "확실", "likely": "유력", "undecided": "미결"}

# Status -> the plain sentence. {does} is the relation as a verb that ends a sentence, {doing} as one before a noun.
_TITLES: Final = {
    "absent_strong": "문서에는 있지만 {source:은} {target:을} {does_not}",
    "absent_weak": "{source:이} {target:을} {doing} 모습은 아직 관측되지 않았습니다",
    "cadence": "{source:이} 정해진 일정과 다르게 {target:을} {does}",
    "cardinality": "{source:이} {target:을} 문서에 적힌 것보다 요청당 더 자주 호출합니다",
    "ceased": "{source:이} {target:을} 더 이상 사용하지 않습니다",
    "channel": "{source:과} {target:은} 문서와 다른 채널을 사용합니다",
    "confirmed": "{source:은} 문서대로 {target:을} {does}",
    "deprecated": "{source:이} {target:을} {doing} 관계는 문서대로 사라졌습니다",
    "direction": "{target:이} {source:을} 사용하며, 그 반대가 아닙니다",
    "doc_vs_doc": "{source:이} {target:을} {doing} 관계에 대해 문서끼리 어긋납니다",
    "emerging": "{source:이} {target:을} 새로 {does}(문서에 없음)",
    "external": "{source:이} 외부의 {target:을} 호출합니다(문서에 없음)",
    "forbidden": "{source:이} 금지된 {target:을} {does}",
    "infrastructure": "{source:이} {target:을} {does}(인프라 트래픽)",
    "latency": "{source:이} {target:을} {doing} 속도가 문서보다 느립니다",
    "lifecycle": "{source:이} 문서에 적힌 수명 단계와 다르게 {target:을} {does}",
    "not_observable": "{source:이} {target:을} {doing} 모습은 관측될 수 없었습니다",
    "only_by": "{source:이} 다른 서비스 전용인 {target:을} {does}",
    "only_via": "{source:이} 게이트웨이를 거치지 않고 {target:을} 사용합니다",
    "operation": "{source:이} 문서와 다른 {target}의 오퍼레이션을 호출합니다",
    "planned": "{source:이} {target:을} {doing} 관계는 계획 단계입니다",
    "protocol": "{source:이} 문서와 다른 프로토콜로 {target:을} {does}",
    "provisional": "{source:이} {target:을} {doing} 모습이 드물게 관측되었습니다(문서에 없음)",
    "rare": "{source:이} 이따금 {target:을} {does}(문서에 없음)",
    "read_only": "{source:이} 읽기 전용으로 적힌 {target}에 씁니다",
    "robust": "{source:이} 어느 문서에도 없는 {target:을} {does}",
    "success_rate": "{source:이} {target:을} {doing} 중에 문서보다 많은 오류가 납니다",
    "sync_vs_async": "{source:과} {target:은} 문서와 다른 방식으로 통신합니다",
}
# Relation -> ends a sentence, denies, before a noun. The topic of a publication is what is published to.
_VERBS: Final = {
    "CALLS": ("호출합니다", "호출하지 않습니다", "호출하는"),
    "PUBLISHES": ("발행 대상으로 씁니다", "발행 대상으로 쓰지 않습니다", "발행 대상으로 쓰는"),
    "SUBSCRIBES": ("구독합니다", "구독하지 않습니다", "구독하는"),
    "DELIVERS": ("메시지 수신자로 둡니다", "메시지 수신자로 두지 않습니다", "메시지 수신자로 두는"),
}
_SUMMARY = re.compile(
    r"^(?P<title>.*?) \((?P<sure>certain|likely|undecided)\): (?P<because>.*?)\.(?: (?P<more>It was not found .*))?$",
    re.DOTALL,
)
_LIST = "; "
# Holes that take no more than they say.
_HOLES = {"n": "[0-9][0-9,.]*", "k": "[0-9][0-9,.]*%?", "C": "[0-9][0-9,]* (?:call|message)s?"}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    def hole(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{_HOLES.get(match[1], '.+?')})"

    return [(re.compile(re.sub(r"\{(\w+)\}", hole, english), re.DOTALL), korean) for english, korean in SENTENCES]


@lru_cache(maxsize=8192)
def translated(text: str) -> str:
    """A sentence of a kind in Korean, or the text itself where it is none."""
    for pattern, korean in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            return fill(
                korean,
                **{hole: translated(value) if hole.isupper() else value for hole, value in match.groupdict().items()},
            )
    if _LIST in text:
        return _LIST.join(translated(part) for part in text.split(_LIST))
    return text


def summary(finding: Finding) -> str:
    """The summary in Korean."""
    match = _SUMMARY.match(finding.summary)
    if match is None or finding.status not in _TITLES:
        return finding.summary
    does, does_not, doing = _VERBS.get(finding.relation, _VERBS["CALLS"])
    title = fill(
        _TITLES[finding.status],
        source=finding.source.name,
        target=finding.target.name,
        does=does,
        does_not=does_not,
        doing=doing,
    )
    more = f" {translated(match['more'])}" if match["more"] else ""
    return f"{title} ({_SURE[match['sure']]}): {translated(match['because'])}.{more}"


def finding_in(finding: Finding, language: str) -> Finding:
    """The finding with its sentences in a language of LANGUAGES."""
    return (
        finding
        if language == "en"
        else replace(
            finding,
            summary=summary(finding),
            what_would_change_this=translated(finding.what_would_change_this),
            details=_details(finding.details),
        )
    )


def _details(details: dict[str, Any]) -> dict[str, Any]:
    """Of what a kind adds only promises are in words."""
    if "promises" not in details:
        return details
    return details | {"promises": [{**one, "text": translated(one["text"])} for one in details["promises"]]}


def report_in(report: Report, language: str) -> Report:
    """The report in a language of LANGUAGES: its findings' sentences, and by `body["language"]` the headings of its formats."""
    return (
        report
        if language == "en"
        else replace(
            report,
            findings=tuple(finding_in(f, language) for f in report.findings),
            body=report.body | {"language": language},
        )
    )
