"""What the owner of a service should fix so that its traces tell more, in English and Korean. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from aggregator.bounds import OTHER
from nexus.model.service import UNNAMED

# Shares from which a sentence is worth it; below, single lost spans would make noise.
NOTICE: Final = 0.02
# Instances and protocols that a sentence names.
NAMED: Final = 3
ENGLISH: Final = "en"

# What is counted (one, several), and what is said of it: {count} in words, {n} as a number.
_SPANS: Final = ("span", "spans")
SENTENCES: Final[dict[str, tuple[tuple[str, str], str, str]]] = {
    "nameless": (
        _SPANS,
        "{count} without a service name: set service.name (OTEL_SERVICE_NAME) on their senders{places}",
        "서비스 이름이 없는 스팬 {n}개: 보내는 쪽{places}에 service.name(OTEL_SERVICE_NAME)을 설정하세요",
    ),
    "unnamed": (
        _SPANS,
        "{count} from instances of `{name}`{places} without a service name: set service.name (OTEL_SERVICE_NAME) for all that sends there",
        "`{name}` 서비스의 인스턴스{places}에서 온 스팬 {n}개에 서비스 이름이 없습니다: 그곳에서 보내는 모든 것에 service.name(OTEL_SERVICE_NAME)을 설정하세요",
    ),
    "unpaired": (
        ("CLIENT or PRODUCER span", "CLIENT or PRODUCER spans"),
        (
            "`{name}` sends {count}{protocols} without a far end that was seen or named: "
            "calls need server.address or peer.service, messages messaging.system and messaging.destination.name"
        ),
        (
            "`{name}` 서비스가 보낸 CLIENT·PRODUCER 스팬 {n}개{protocols}의 상대가 보이지도 않고 이름도 없습니다: "
            "호출에는 server.address 또는 peer.service, 메시지에는 messaging.system과 messaging.destination.name이 필요합니다"
        ),
    ),
    "orphan_servers": (
        ("SERVER span", "SERVER spans"),
        (
            "`{name}` sends {count} with a parent that was not seen within the horizon: "
            "callers do not export here (a browser, a gateway), sample otherwise, or drop spans"
        ),
        (
            "`{name}` 서비스가 보낸 SERVER 스팬 {n}개의 부모가 기한 안에 보이지 않았습니다: "
            "호출자가 여기로 내보내지 않거나(브라우저, 게이트웨이), 다르게 샘플링하거나, 스팬을 잃었습니다"
        ),
    ),
    "orphan_consumers": (
        ("CONSUMER span", "CONSUMER spans"),
        "`{name}` sends {count} with producers that were not seen within the horizon: instrument the senders, or keep the spans of both ends",
        "`{name}` 서비스가 보낸 CONSUMER 스팬 {n}개의 생산자가 기한 안에 보이지 않았습니다: 보내는 쪽을 계측하거나 양쪽 스팬을 모두 남기세요",
    ),
    "bad_parents": (
        _SPANS,
        "`{name}` sends {count} with an unusable parent id (wrong length, the span itself, or a cycle)",
        "`{name}` 서비스가 보낸 스팬 {n}개의 부모 id를 쓸 수 없습니다(길이가 틀리거나, 자기 자신이거나, 순환)",
    ),
    "conflicting_duplicates": (
        _SPANS,
        "`{name}` sends {count} again with other content: span ids are reused, or spans exported before they end",
        "`{name}` 서비스가 스팬 {n}개를 다른 내용으로 다시 보냈습니다: span id를 재사용하거나 끝나기 전에 내보냈습니다",
    ),
    "clock_suspect": (
        _SPANS,
        "`{name}` sends {count} with an end before the start, or none: check its clock",
        "`{name}` 서비스가 보낸 스팬 {n}개의 끝이 시작보다 빠르거나 없습니다: 시계를 확인하세요",
    ),
    "unresolved_links": (
        ("message", "messages"),
        "`{name}` links to {count} without a sender that was seen within the horizon: instrument them, or keep the spans of both ends",
        "`{name}` 서비스가 연결한 메시지 {n}개를 보낸 쪽이 기한 안에 보이지 않았습니다: 계측하거나 양쪽 스팬을 모두 남기세요",
    ),
    "beyond_horizon": (
        ("parent or linked message", "parents or linked messages"),
        "`{name}` has {count} further away in time than the pairing horizon",
        "`{name}` 서비스의 부모나 연결된 메시지 {n}개가 짝짓기 기한보다 멀리 떨어져 있습니다",
    ),
    "late": (
        _SPANS,
        "{count} of `{name}` came after their window had settled: send them sooner, or raise NEXUS_AGGREGATE__SETTLE",
        "`{name}` 서비스의 스팬 {n}개가 해당 구간이 확정된 뒤에 왔습니다: 더 일찍 보내거나 NEXUS_AGGREGATE__SETTLE을 늘리세요",
    ),
    "rejected": (
        _SPANS,
        "{count} of `{name}` refused for ids or start time (none, or too far from the present): check its exporter and clock",
        "`{name}` 서비스의 스팬 {n}개를 id 또는 시작 시각 때문에 거부했습니다(없거나 현재와 너무 멉니다): 내보내기와 시계를 확인하세요",
    ),
    "duplicates": (
        _SPANS,
        "{count} of `{name}` came again: check its exporter's timeout against the collector's answer time",
        "`{name}` 서비스의 스팬 {n}개가 다시 왔습니다: 내보내기의 시간 제한과 수집기의 응답 시간을 비교하세요",
    ),
    "sampling": (
        _SPANS,
        "{n} of {spans} spans of `{name}` do not say with what probability they were kept (tracestate ot=th)",
        "`{name}` 서비스의 스팬 {spans}개 중 {n}개가 어떤 확률로 남겨졌는지 말하지 않습니다(tracestate ot=th)",
    ),
    "beyond": (
        _SPANS,
        "`{name}` names more {words} on one edge or of itself than are kept apart: those beyond the limit are counted together as `{other}`",
        "`{name}` 서비스의 {words}: 한 엣지나 서비스에서 따로 세는 한도를 넘었고, 넘은 것은 `{other}`로 함께 셉니다",
    ),
}
# Counters that a sentence is about, and what they are a share of: `arrived` did not count among the spans.
_COUNTED: Final = (
    ("orphan_servers", "entries"),
    ("orphan_consumers", "entries"),
    ("bad_parents", "spans"),
    ("conflicting_duplicates", "spans"),
    ("clock_suspect", "spans"),
    ("beyond_horizon", "spans"),
    ("late", "arrived"),
    ("rejected", "arrived"),
    ("duplicates", "arrived"),
)
# What bags hold, in words.
ITEMS: Final = {
    "cause": ("operations (name spans by route, not by URL)", "오퍼레이션(스팬 이름은 URL이 아니라 라우트로)"),
    "version": ("versions", "버전"),
    "source_version": ("versions", "버전"),
    "target_version": ("versions of a callee", "호출 대상의 버전"),
    "instance": ("instances", "인스턴스"),
    "instance_name": ("instances", "인스턴스"),
    "via": ("topics", "토픽"),
    "operation": ("database operations", "데이터베이스 작업"),
    "consumer_group": ("consumer groups", "컨슈머 그룹"),
    "alias": ("names of a callee", "호출 대상의 이름"),
    "reached": ("names of a callee", "호출 대상의 이름"),
    "address": ("addresses", "주소"),
    "exit": ("protocols", "프로토콜"),
    "protocol": ("protocols", "프로토콜"),
    "p": ("sampling probabilities", "샘플링 확률"),
}


@dataclass(frozen=True, slots=True)
class _Said:
    share: float
    text: str


def advice(
    view: dict[str, Any], unpaired: int, senders: Iterable[str], full: Iterable[str], language: str = ENGLISH
) -> list[str]:
    """What to fix, worst first.

    `view`: a row of `aggregator.services`; `unpaired`: exits that name nothing; `senders`: instances that send unnamed spans; `full`: kinds of bags beyond their limit.
    """
    name, spans, entries = view["name"], view["spans"], view["entry_spans"]
    out: list[_Said] = []

    def say(key: str, n: int, share: float | None, **values: object) -> None:
        if n and share is not None and share >= NOTICE:
            out.append(_Said(share, _text(key, language, n, name=name, **values)))

    # Most services have nothing to fix: what a sentence needs is made where it is said.
    if name == UNNAMED:
        say("nameless", spans, 2.0, places=_places(senders))
    elif view["unnamed"]:
        say("unnamed", view["unnamed"], view["shares"]["unnamed"], places=_places(senders))
    if unpaired:
        say("unpaired", unpaired, view["shares"]["unpaired"], protocols=_by_protocol(view))
    for key, beside in _COUNTED:
        if n := view[key]:
            say(key, n, part(n, entries if beside == "entries" else spans + n if beside == "arrived" else spans))
    if (n := view["unresolved_links"]) and not view["orphan_consumers"]:
        say("unresolved_links", n, part(n, spans))
    if 0 < view["sampling"]["known"] < 1:
        unknown = spans - view["spans_sampling_known"]
        say("sampling", unknown, part(unknown, spans), spans=spans)
    if not out and not full:
        return []
    beyond = sorted({ITEMS[kind][language != ENGLISH] for kind in full if kind in ITEMS})
    return [
        *[said.text for said in sorted(out, key=lambda said: (-said.share, said.text))],
        *[_text("beyond", language, 1, name=name, words=words, other=OTHER) for words in beyond],
    ]


def part(of: int, whole: int) -> float | None:
    """Null where there is nothing to share."""
    return of / whole if whole else None


def _text(key: str, language: str, n: int, **values: object) -> str:
    (one, several), english, korean = SENTENCES[key]
    text = english if language == ENGLISH else korean
    return text.format(n=n, count=f"{n} {one if n == 1 else several}", **values)


def _places(senders: Iterable[str]) -> str:
    among = [sender for sender in senders if sender not in {"", OTHER}]
    return f" ({', '.join(among[:NAMED])}{', ...' if len(among) > NAMED else ''})" if among else ""


def _by_protocol(view: dict[str, Any]) -> str:
    """Of which protocols exits are unresolved, as far as they state any."""
    left = {name: found["exits"] - found["resolved"] for name, found in view["protocols"].items()}
    known = sorted((-n, name) for name, n in left.items() if n > 0 and name != "unknown")[:NAMED]
    return f" ({', '.join(f'{name} {-n}' for n, name in known)})" if known else ""
