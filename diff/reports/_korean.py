"""Headings and labels of reports in Korean, beside their English ones (findings themselves: diff/korean.py)."""

# ruff: noqa: E501  # a text a line

from __future__ import annotations

from typing import Final

KOREAN: Final = {
    # Of the whole report.
    "Drift of {scope}": "{scope}의 드리프트", "all environments": "모든 환경", "{start} to {end} UTC ({kind})": "{start} ~ {end} UTC ({kind})",
    "{days} closed days": "마감된 {days}일", "{days} days, the running day included: until seven closed days are covered": "진행 중인 날을 포함한 {days}일: 마감된 날이 7일 쌓일 때까지",
    "{days} days, as asked": "요청한 {days}일", "{days} days": "{days}일", "Window {window}.": "기간 {window}.",
    "Documents {documents}, configuration {configuration}, run {run}.": "문서 {documents}, 설정 {configuration}, 실행 {run}.",
    "confirmed": "확인됨", "documented only": "문서에만 있음", "observed only": "관측에만 있음", "conflicts": "충돌", "undecided": "판정 보류",
    "accuracy": "정확도", "coverage": "문서화율", "decidability": "판정 가능 비율", "traffic-weighted-coverage": "트래픽 가중 문서화율", "no ratios yet": "아직 비율이 없습니다",
    "{n} edges were seen; about {more} more exist that were not (Chao1), and the next sighting is of a new one with a chance of {chance} (Good-Turing).":
        "간선 {n}개가 관측되었고, 관측되지 않은 간선이 약 {more}개 더 있으며(Chao1), 다음 관측이 새 간선일 확률은 {chance}입니다(Good-Turing).",
    "{n} ranges of the window could not be read completely; nothing is called absent because of them.": "기간 중 구간 {n}개를 완전히 읽지 못했으며, 그 때문에 없다고 판정한 것은 없습니다.",
    "No findings.": "발견된 것이 없습니다.", "more findings than shown; narrow the filters or raise --limit": "더 있습니다. 필터를 좁히거나 --limit을 늘리십시오",
    # Sections.
    "Conflicts: documents and traces disagree": "충돌: 문서와 트레이스가 어긋남", "Documented, not observed": "문서에 있으나 관측되지 않음", "Observed, not documented": "관측되었으나 문서에 없음",
    "Confirmed": "확인됨", "Map": "지도", "Renames to review": "검토할 이름 변경",
    "{old} may now be {new}: ended {ended}, began {began}, neighbours alike by {similarity}": "{old}의 새 이름이 {new}일 수 있습니다: {ended} 종료, {began} 시작, 이웃 유사도 {similarity}",
    "documented, not observed": "문서에만 있음", "observed, not documented": "관측에만 있음", "conflict": "충돌", "dashed: undecided": "점선: 판정 보류",
    "Map of the findings": "발견 지도", "The {n} best connected of {all} nodes.": "노드 {all}개 중 연결이 많은 {n}개.", "Activity by day, at most {n}": "일별 활동, 최대 {n}",
    # Columns.
    "status": "상태", "severity": "심각도", "state": "진행", "edge": "간선", "evidence": "근거", "why": "이유", "documents": "문서", "calls": "호출", "errors": "오류", "by day": "일별",
    # Of a finding.
    "What would change this: {change}.": "바뀌려면: {change}.", "Changes with: {change}.": "바뀌려면: {change}.", "Documented at {place}": "문서 {place}", "Documented ({modality}) at {place}": "문서({modality}) {place}",
    "Observed: {edge}, {amount}, {errors} ({low} to {high})": "관측: {edge}, {amount}, {errors} ({low}~{high})", "first {first}, last {last}": "처음 {first}, 마지막 {last}", "traces {traces}": "트레이스 {traces}",
    "{backend} query {query}": "{backend} 쿼리 {query}", "{source} to {target}": "{source} → {target}", "and {n} more": "외 {n}건",
    "{n} call": "호출 {n}회", "{n} calls": "호출 {n}회", "{n} message": "메시지 {n}건", "{n} messages": "메시지 {n}건", "{n} error": "오류 {n}건", "{n} errors": "오류 {n}건",
    "{source} calls {target}": "{source} → {target} 호출", "{source} publishes {target}": "{source} → {target} 발행", "{source} subscribes to {target}": "{source} → {target} 구독",
    "{source} delivers to {target}": "{source} → {target} 전달",
    "asserted": "서술", "planned": "계획", "deprecated": "폐기", "forbidden": "금지", "conditional": "조건부", "exclusive": "독점", "historical": "과거",
    "none": "없음", "low": "낮음", "medium": "중간", "high": "높음", "new": "신규", "open": "열림", "acknowledged": "인지", "suppressed": "억제", "resolved": "해결", "reopened": "재발", "held": "보류",
}
