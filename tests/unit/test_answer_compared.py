"""The busiest, slowest, most failing call, and everyone who uses a technology: from edges, cited, and nothing where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from answer.question import analyse
from answer.superlatives import Measure, Superlative, superlative
from answer.technologies import technology
from answer.verify import verify
from nexus.model.document import Classification
from nexus.model.edge import ObservedEdge
from nexus.model.service import Node, NodeKind
from nexus.ports.answers import Answer
from nexus.testing.answering import ask, service
from nexus.testing.readers import MemoryDesigned, MemoryObserved
from nexus.testing.shop import DESIGNED, NOW, OBSERVED, TENANT, registry

BEST = [
    ("which service calls payment most often?", "Most by count: checkout calls payment, 940 calls [E1]."),
    ("who calls payment the most?", "Most by count: checkout calls payment, 940 calls [E1]."),
    (
        "what does checkout call most often?",
        "Most by count: checkout calls postgresql/orders-db/orders, 1880 calls [E1].",
    ),
    ("what does checkout call least often?", "Least by count: checkout calls shipping, 938 calls [E1]."),
    (
        "which service publishes order.created most often?",
        "Most by count: checkout publishes to kafka/order.created, 930 messages [E1].",
    ),
    (
        "order.created를 가장 많이 구독하는 서비스는?",
        "가장 많은 것: email이 kafka/order.created를 구독한다, 메시지 930건 [E1].",
    ),
    ("what is the busiest call?", "Most by count: frontend calls cart, 5400 calls [E1]."),
    ("what is the slowest call?", "Slowest, by p95: frontend calls checkout, p95 210 ms [E1]."),
    ("what is the slowest call of checkout?", "Slowest, by p95: checkout calls payment, p95 180 ms [E1]."),
    ("what is the slowest call to checkout?", "Slowest, by p95: frontend calls checkout, p95 210 ms [E1]."),
    (
        "which call of checkout is fastest?",
        "Fastest, by p95: checkout calls postgresql/orders-db/orders, p95 6 ms [E1].",
    ),
    ("which call fails most?", "Fails most: checkout calls payment, error rate 5 % [E1]."),
    ("which dependency of checkout has the most errors?", "Most errors: checkout calls payment, 47 errors [E1]."),
    ("which call has the lowest error rate?", "Fails least: checkout calls shipping, error rate 0 % [E1]."),
    ("which call has the fewest errors?", "Least errors: checkout calls shipping, 0 errors [E1]."),
    ("payment를 가장 많이 호출하는 서비스는?", "가장 많은 것: checkout이 payment를 호출한다, 호출 940건 [E1]."),
    ("결제 서비스를 제일 자주 호출하는 곳은?", "가장 많은 것: checkout이 payment를 호출한다, 호출 940건 [E1]."),
    ("가장 느린 호출은?", "p95 지연이 가장 긴 것: frontend가 checkout을 호출한다, p95 210 ms [E1]."),
    ("checkout에서 가장 느린 호출은?", "p95 지연이 가장 긴 것: checkout이 payment를 호출한다, p95 180 ms [E1]."),
    ("가장 빠른 호출은?", "p95 지연이 가장 짧은 것: checkout이 postgresql/orders-db/orders를 호출한다, p95 6 ms [E1]."),
    ("오류가 가장 많은 호출은?", "오류가 가장 많은 것: checkout이 payment를 호출한다, 오류 47건 [E1]."),
    ("오류율이 가장 높은 호출은?", "오류율이 가장 높은 것: checkout이 payment를 호출한다, 오류율 5 % [E1]."),
]


def carried(answer: Answer) -> bool:
    """Whether every statement of an answer, and every source of it, was verified."""
    checked = answer.verification
    return (
        bool(checked.sentences)
        and all(s.verified for s in checked.sentences)
        and all(c.verified for c in checked.citations)
    )


@pytest.mark.parametrize(("question", "first"), BEST, ids=[q for q, _ in BEST])
def test_the_first_of_many_is_told_with_its_number_and_its_edge(question: str, first: str) -> None:
    answer = service().answer(ask(question))
    assert answer.text.split("\n")[0] == first
    assert carried(answer), [s for s in answer.verification.sentences if not s.verified]


def test_those_behind_the_first_are_told_in_their_order() -> None:
    answer = service(passages=()).answer(ask("what is the slowest call?"))
    observed = [item.edge for item in answer.packet.edges if isinstance(item.edge, ObservedEdge)]
    p95 = [edge.client_latency.p95 for edge in observed if edge.client_latency]
    assert len(p95) == 5
    assert p95 == sorted(p95, reverse=True)
    every = [e.client_latency.p95 for e in OBSERVED if e.client_latency and e.calls]
    assert p95[0] == max(every)


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        ("The slowest is checkout calls payment, p95 180 ms [{payment}].", True),
        ("The slowest is checkout calls shipping, p95 31 ms [{shipping}].", False),
        ("가장 느린 호출은 checkout이 shipping을 호출하는 것이다 [{shipping}].", False),
        ("checkout calls shipping: p95 31 ms [{shipping}].", True),
    ],
)
def test_what_is_second_is_not_verified_as_the_first(claim: str, verified: bool) -> None:
    """Whoever writes it: its number is right, and it is not the slowest."""
    packet = service().packet(ask("what is the slowest call of checkout?"))
    marks = {item.edge.target.name: item.marker for item in packet.edges}
    (checked,) = verify(claim.format(**marks), packet, registry()).sentences
    assert checked.verified is verified, checked.reason


def test_equal_ones_are_all_told() -> None:
    """Of two that are as slow as one another neither is the slowest."""
    slow = next(e.client_latency for e in OBSERVED if e.rid == "o01")
    observed = [replace(e, client_latency=slow) if e.rid == "o04" else e for e in OBSERVED]
    lines = service(observed=MemoryObserved(TENANT, observed)).answer(ask("what is the slowest call?")).text.split("\n")
    assert [line for line in lines if line.startswith("Slowest")] == [
        "Slowest, by p95: frontend calls checkout, p95 210 ms [E1].",
        "Slowest, by p95: checkout calls payment, p95 210 ms [E2].",
    ]


@pytest.mark.parametrize(
    "question", ["which service calls zorblax most often?", "what is the slowest call?", "오류가 가장 많은 호출은?"]
)
def test_where_nothing_is_known_nothing_is_compared(question: str) -> None:
    """An unknown name is not taken for "anything", calls without a latency are not fast, and of no errors none are the most."""
    bare = [replace(e, client_latency=None, server_latency=None, errors=0) for e in OBSERVED]
    answer = service(observed=MemoryObserved(TENANT, bare), passages=()).answer(ask(question))
    assert answer.abstained
    assert answer.packet.edges == ()


@pytest.mark.parametrize(
    "question",
    [
        "what is the most important rule for refunds?",
        "what is the maximum number of retries?",
        "which team calls the slowest shots?",
        "which topic has the most messages?",
        "제피르를 가장 많이 호출하는 서비스는?",
        "가장 중요한 정책은?",
    ],
)
def test_what_is_measured_by_no_call_is_no_comparison(question: str) -> None:
    assert analyse(question, registry(), NOW).best is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the highest error rate", Superlative(Measure.RATE)),
        ("the most failures", Superlative(Measure.ERRORS)),
        ("the highest latency", Superlative(Measure.LATENCY)),
        ("the most traffic", Superlative(Measure.VOLUME)),
        ("least used", Superlative(Measure.VOLUME, least=True)),
        ("응답 시간이 가장 긴", Superlative(Measure.LATENCY)),
        ("가장 적게 호출되는", Superlative(Measure.VOLUME, least=True)),
        ("how slow is it?", None),
    ],
)
def test_words_of_comparison(text: str, wanted: Superlative | None) -> None:
    assert superlative(text) == wanted


USERS = [
    ("who uses postgresql?", "postgresql is used by checkout [E1]."),
    ("which services use postgres?", "postgresql is used by checkout [E1]."),
    ("list all services using kafka", "kafka is used by checkout, email, fraud-detection [E1] [E2] [E3]."),
    ("postgresql을 쓰는 서비스는?", "postgresql을 사용하는 쪽: checkout [E1]."),
    ("카프카를 사용하는 서비스는 어디야?", "kafka를 사용하는 쪽: checkout, email, fraud-detection [E1] [E2] [E3]."),
    ("누가 kafka를 써?", "kafka를 사용하는 쪽: checkout, email, fraud-detection [E1] [E2] [E3]."),
]


@pytest.mark.parametrize(("question", "first"), USERS, ids=[q for q, _ in USERS])
def test_users_of_a_technology_are_told_by_their_edges(question: str, first: str) -> None:
    answer = service().answer(ask(question))
    assert answer.text.split("\n")[0] == first
    assert carried(answer), [s for s in answer.verification.sentences if not s.verified]


def test_a_protocol_tells_a_technology_too() -> None:
    """A store is known by the protocol of its calls where its name says nothing."""
    sessions = replace(
        OBSERVED[2], rid="o90", target=Node("sessions.internal", NodeKind.EXTERNAL), protocols={"redis": 943}
    )
    answer = service(observed=MemoryObserved(TENANT, [*OBSERVED, sessions])).answer(ask("who uses redis?"))
    assert answer.text.startswith("redis is used by checkout [E1].")
    assert [item.edge.rid for item in answer.packet.edges] == ["o90"]


def test_of_a_technology_that_nothing_uses_nothing_is_said() -> None:
    for question in ("who uses redis?", "redis를 쓰는 서비스는?"):
        assert service(passages=()).answer(ask(question)).abstained


def test_a_use_that_a_reader_may_not_see_is_not_told() -> None:
    claims = tuple(replace(c, classification=Classification.RESTRICTED) for c in DESIGNED[0].claims)
    secret = replace(DESIGNED[0], rid="d90", target=Node("redis/sessions", NodeKind.DATABASE), claims=claims)
    told = service(designed=MemoryDesigned(TENANT, [*DESIGNED, secret], registry()), passages=())
    assert told.answer(ask("who uses redis?", Classification.INTERNAL)).abstained
    whole = told.answer(ask("who uses redis?", Classification.RESTRICTED))
    assert whole.text.startswith(f"redis is used by {secret.source.name} [E1].")


@pytest.mark.parametrize(
    "question",
    [
        "why do we use redis?",
        "which version of kafka do we use?",
        "who uses redis and kafka?",
        "kafka 버전은?",
        "who uses order.created?",
        "what uses kafka/order.created?",
    ],
)
def test_what_else_is_asked_of_a_technology_is_no_list_of_users(question: str) -> None:
    assert technology(question) is None
