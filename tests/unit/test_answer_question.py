"""What questions ask, in both languages: kind, roles, names, time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from answer.question import analyse
from answer.when import since
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.ports.answers import QuestionKind
from nexus.testing.shop import NOW, registry

REGISTRY = registry()
DB, TOPIC = "postgresql/orders-db/orders", "kafka/order.created"

CASES = [
    ("who calls payment?", "callers", ["payment"]),
    ("Which services call the payment service?", "callers", ["payment"]),
    ("who is fx called by?", "callers", ["fx"]),
    ("callers of fx", "callers", ["fx"]),
    ("who publishes order.created?", "callers", [TOPIC]),
    ("Who subscribes to the order.created topic?", "callers", [TOPIC]),
    ("what does checkout call?", "callees", ["checkout"]),
    ("What are the dependencies of checkout?", "callees", ["checkout"]),
    ("Which services are called by checkout?", "callees", ["checkout"]),
    ("why does checkout call fx?", "why", ["checkout", "fx"]),
    ("Why is fx called by checkout?", "why", ["checkout", "fx"]),
    ("what makes checkout talk to the payment service", "why", ["checkout", "payment"]),
    ("does checkout call payment?", "why", ["checkout", "payment"]),
    ("path from frontend to orders-db", "path", ["frontend", DB]),
    ("path to orders-db from frontend", "path", ["frontend", DB]),
    ("How does the frontend reach the orders-db?", "path", ["frontend", DB]),
    ("what changed since yesterday?", "changed", []),
    ("what's new in checkout since yesterday", "changed", ["checkout"]),
    ("is checkout -> fx documented?", "documented", ["checkout", "fx"]),
    ("which dependencies are undocumented?", "documented", []),
    ("what breaks if payment fails?", "impact", ["payment"]),
    ("who is affected by an outage of orders-db", "impact", [DB]),
    ("how is payment doing?", "health", ["payment"]),
    ("what is the error rate of checkout?", "health", ["checkout"]),
    ("how often does checkout call fx?", "health", ["checkout", "fx"]),
    ("What is the refund policy?", "document", []),
    ("how many times does checkout retry a failed payment?", "document", []),
    ("왜 checkout이 fx를 호출하나요?", "why", ["checkout", "fx"]),
    ("checkout은 왜 결제 서비스를 호출해?", "why", ["checkout", "payment"]),
    ("환율 서비스는 왜 체크아웃 서비스에 의해 호출되나요?", "why", ["checkout", "fx"]),
    ("누가 결제 서비스를 호출하나요?", "callers", ["payment"]),
    ("결제 서비스는 누가 호출하나요?", "callers", ["payment"]),
    ("payment를 호출하는 서비스는?", "callers", ["payment"]),
    ("order.created를 구독하는 서비스는?", "callers", [TOPIC]),
    ("checkout이 호출하는 서비스는?", "callees", ["checkout"]),
    ("checkout은 무엇을 호출하나요?", "callees", ["checkout"]),
    ("체크아웃 서비스가 의존하는 서비스 목록", "callees", ["checkout"]),
    ("checkout에서 orders-db까지 경로는?", "path", ["checkout", DB]),
    ("frontend에서 email로 가는 경로 알려줘", "path", ["frontend", "email"]),
    ("어제부터 무엇이 바뀌었나요?", "changed", []),
    ("지난 3일 동안 checkout에 변경된 것은?", "changed", ["checkout"]),
    ("checkout이 shipping을 호출하는 것은 문서화되어 있나요?", "documented", ["checkout", "shipping"]),
    ("결제 서비스에 장애가 나면 무엇이 영향을 받나요?", "impact", ["payment"]),
    ("payment가 죽으면 뭐가 깨지나요?", "impact", ["payment"]),
    ("결제 서비스 상태 어때?", "health", ["payment"]),
    ("checkout은 fx를 얼마나 자주 호출하나요?", "health", ["checkout", "fx"]),
    ("환불은 며칠 안에 하나요?", "document", []),
]


@pytest.mark.parametrize(("text", "kind", "subjects"), CASES, ids=[c[0] for c in CASES])
def test_kind_and_roles(text: str, kind: str, subjects: list[str]) -> None:
    found = analyse(text, REGISTRY, NOW)
    assert (found.kind, [e.name for e in found.subjects]) == (kind, subjects)
    assert found.language == ("ko" if any("가" <= c <= "힣" for c in text) else "en")
    assert found.unknown == ()


@pytest.mark.parametrize("text", ["who calls inventory?", "what does inventory call", "inventory를 누가 호출해?"])
def test_a_name_with_two_meanings_is_not_guessed(text: str) -> None:
    found = analyse(text, REGISTRY, NOW)
    assert found.subjects == ()
    assert [(name, [e.name for e in candidates]) for name, candidates in found.ambiguous] == [
        ("inventory", ["retail/inventory", "warehouse/inventory"])
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who calls zorblax?", "zorblax"),
        ("is zorblax down?", "zorblax"),
        ("may zorblax call payment?", "zorblax"),
        ("is zorblax allowed to call payment?", "zorblax"),
        ("why does checkout call ledger-service?", "ledger-service"),
        ("누가 zorblax를 호출하나요?", "zorblax"),
        ("제피르는 누가 호출해?", "제피르"),
    ],
)
def test_an_unknown_name_is_named(text: str, name: str) -> None:
    assert analyse(text, REGISTRY, NOW).unknown == (name,)


def test_publishers_and_subscribers_are_told_apart() -> None:
    assert analyse("who publishes order.created?", REGISTRY, NOW).relation == "publish"
    assert analyse("order.created를 구독하는 서비스는?", REGISTRY, NOW).relation == "subscribe"
    assert analyse("what broke since yesterday?", REGISTRY, NOW).only_worse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since yesterday", "2026-01-14T00:00"),
        ("어제부터", "2026-01-14T00:00"),
        ("today", "2026-01-15T00:00"),
        ("in the last 2 hours", "2026-01-15T11:00"),
        ("지난 3일 동안", "2026-01-12T13:00"),
        ("최근 1시간", "2026-01-15T12:00"),
        ("3 days ago", "2026-01-12T13:00"),
        ("since 2026-01-12 14:30", "2026-01-12T14:30"),
        ("1월 10일 이후", "2026-01-10T00:00"),
        ("12월 30일 이후", "2025-12-30T00:00"),
        ("since 09:15", "2026-01-15T09:15"),
        ("since 23:00", "2026-01-14T23:00"),
        ("since monday", "2026-01-12T00:00"),
        ("지난주", "2026-01-08T13:00"),
        ("last week", "2026-01-08T13:00"),
        ("who calls fx", None),
        ("since 2026-02-31", None),
        ("last 999999999 days", "2016-01-18T13:00"),
    ],
)
def test_time(text: str, expected: str | None) -> None:
    found = since(text, NOW)
    assert found == (datetime.fromisoformat(expected).replace(tzinfo=UTC) if expected else None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What port does checkout listen on?", QuestionKind.DOCUMENT),
        ("Which language does checkout use?", QuestionKind.DOCUMENT),
        ("what base image does fx use", QuestionKind.DOCUMENT),
        ("checkout은 어떤 포트를 사용하나요?", QuestionKind.DOCUMENT),
        ("fx는 무슨 언어를 쓰나", QuestionKind.DOCUMENT),
        ("Which database does checkout use?", QuestionKind.CALLEES),
        ("What does checkout listen to?", QuestionKind.CALLEES),
        ("What other services does checkout call?", QuestionKind.CALLEES),
        ("Which services call fx?", QuestionKind.CALLERS),
        ("checkout은 어떤 서비스를 호출하나요?", QuestionKind.CALLEES),
        ("어떤 시스템이 fx를 사용하나요?", QuestionKind.CALLERS),
        ("What error rate does checkout have?", QuestionKind.HEALTH),
    ],
)
def test_a_property_is_no_node(text: str, kind: QuestionKind) -> None:
    assert analyse(text, REGISTRY, NOW).kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "subjects"),
    [
        ("체크아웃은 왜 환율을 호출하나요?", QuestionKind.WHY, ["checkout", "fx"]),
        ("체크아웃은 무엇을 호출하나요?", QuestionKind.CALLEES, ["checkout"]),
        ("환율을 호출하는 서비스는?", QuestionKind.CALLERS, ["fx"]),
        ("Who calls currency?", QuestionKind.CALLERS, ["fx"]),
        ("결제(checkout)는 무엇을 호출하나요?", QuestionKind.CALLEES, ["checkout"]),
        ("체크아웃 서비스(checkout)는 무엇을 호출하나요?", QuestionKind.CALLEES, ["checkout"]),
        ("환율 서비스(fx)를 누가 호출하나요?", QuestionKind.CALLERS, ["fx"]),
        ("What does checkout (the till) call?", QuestionKind.CALLEES, ["checkout"]),
    ],
)
def test_a_name_without_the_word_for_what_it_is(text: str, kind: QuestionKind, subjects: list[str]) -> None:
    registry = Registry(
        [
            Entity("1", "checkout", "service", ("체크아웃 서비스",)),
            Entity("2", "fx", "service", ("환율 서비스", "currency service")),
        ]
    )
    found = analyse(text, registry, datetime(2026, 1, 15, tzinfo=UTC))
    assert (found.kind, [e.name for e in found.subjects]) == (kind, subjects)
