"""When nothing citable was found: a fixed statement, and what would help. Pure; no model is called."""

from __future__ import annotations

from answer.asks import verdicts_asked
from nexus.model.finding import Flag
from nexus.ports.answers import Packet, QuestionKind

STATEMENT = {
    "en": "I found no evidence for this, neither in documents nor in telemetry, so I do not answer.",
    "ko": "문서와 텔레메트리 어디에서도 근거를 찾지 못했으므로 답하지 않습니다.",
}


def abstention(packet: Packet) -> tuple[str, str] | None:
    """(text, reason) where the packet does not carry an answer; None where it does. Reasons: ambiguous, unknown_name, no_evidence."""
    korean = packet.language == "ko"
    if packet.ambiguous and packet.kind is not QuestionKind.DOCUMENT:
        return _which(packet, korean=korean), "ambiguous"
    if packet.unknown and not packet.passages and not packet.edges:
        return f"{STATEMENT[packet.language]} {_unknown(packet, korean=korean)}", "unknown_name"
    if not packet.passages and not packet.edges:
        return f"{STATEMENT[packet.language]} {_hint(packet, korean=korean)}".strip(), "no_evidence"
    return None


def _which(packet: Packet, *, korean: bool) -> str:
    lines = []
    for name, candidates in packet.ambiguous:
        listed = ", ".join(f"{e.name} ({e.kind})" for e in candidates)
        lines.append(
            f"‘{name}’은(는) 여러 대상을 가리킬 수 있습니다: {listed}. 어느 것을 말씀하시나요?"
            if korean
            else f"“{name}” can mean several things: {listed}. Which one do you mean?"
        )
    return " ".join(lines)


def _unknown(packet: Packet, *, korean: bool) -> str:
    lines = []
    for name, near in packet.unknown:
        known = ", ".join(near)
        if korean:
            lines.append(
                f"‘{name}’라는 이름은 등록되어 있지 않고 트레이스에도 없습니다."
                + (f" 비슷한 이름: {known}." if known else "")
            )
        else:
            lines.append(f"Nothing is known under the name “{name}”." + (f" Similar names: {known}." if known else ""))
    return " ".join(lines)


def _hint(packet: Packet, *, korean: bool) -> str:
    if packet.gaps:
        return f"관측 공백이 있습니다: {packet.gaps[0]}." if korean else f"Telemetry has gaps here: {packet.gaps[0]}."
    if packet.kind is QuestionKind.CHANGED and packet.window.start is not None:
        at = packet.window.start.strftime("%Y-%m-%d %H:%M")
        return f"{at} UTC 이후 달라진 관측이 없습니다." if korean else f"No observed dependency changed since {at} UTC."
    if packet.kind is QuestionKind.DOCUMENTED and not packet.subjects and packet.findings:
        if verdicts_asked(packet.query) != {Flag.OBSERVED_ONLY}:
            return "마지막 비교에서 그런 것은 나오지 않았습니다." if korean else "The last comparison found none."
        return (
            "마지막 비교에서 문서에 없는 관측은 나오지 않았습니다."
            if korean
            else "The last comparison found nothing observed that documents leave out."
        )
    if packet.subjects:
        names = ", ".join(e.name for e in packet.subjects)
        return f"찾은 범위: {names}." if korean else f"Searched for: {names}."
    return ""
