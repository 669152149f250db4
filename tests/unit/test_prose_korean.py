"""Korean sentences and what they state: one line a case."""

from __future__ import annotations

import pytest

from designed.pipeline import designed
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
NAMES = """entities:
  - {name: order, aliases: [주문 서비스]}
  - {name: payment, aliases: [결제 서비스]}
  - {name: inventory, aliases: [재고 서비스]}
  - {name: point, aliases: [포인트 서비스]}
  - {name: notification, aliases: [알림 서비스]}
  - {name: web, aliases: [웹 프런트엔드]}
  - {name: gateway, aliases: [API 게이트웨이]}
  - {name: orders-db, kind: database, aliases: [주문 데이터베이스]}
  - {name: redis, kind: database}
  - {name: kafka, kind: topic, aliases: [카프카]}
  - {name: order.created, kind: topic}
"""
LETTER = {"CALLS": ">", "PUBLISHES": "+>", "SUBSCRIBES": "<+"}


def claims(body: str):
    texts = [
        SourceText(DocumentRef("names", "names", "entities.yaml", "1"), NAMES, ".yaml", "entities.yaml"),
        SourceText(DocumentRef("doc", "doc", "doc.md", "1"), body, ".md", "doc.md"),
    ]
    return [claim for _, _, claim in designed(texts, READERS).claims]


def stated(body: str) -> set[str]:
    return {
        f"{c.source} {LETTER[c.relation]} {c.target}"
        + ("" if c.modality.value == "asserted" else f" ({c.modality.value})")
        for c in claims(body)
    }


CASES = [
    ("주문 서비스가 결제 서비스를 호출한다.", {"order > payment"}),
    ("주문서비스는 결제서비스를 호출합니다.", {"order > payment"}),
    ("주문 서비스는 결제 서비스와 재고 서비스를 호출한다.", {"order > payment", "order > inventory"}),
    ("주문 서비스와 포인트 서비스가 재고 서비스를 호출한다.", {"order > inventory", "point > inventory"}),
    ("결제 서비스는 주문 서비스가 호출한다.", {"order > payment"}),
    ("결제 서비스는 주문 서비스에 의해 호출된다.", {"order > payment"}),
    ("결제 서비스는 주문 서비스에서 호출됩니다.", {"order > payment"}),
    ("주문 서비스에서 결제 서비스를 호출한다.", {"order > payment"}),
    ("주문 서비스는 재고 서비스에서 재고를 조회한다.", {"order > inventory"}),
    ("주문 서비스는 재고를 확인하고 결제 서비스를 호출한다.", {"order > payment"}),
    ("주문 서비스는 결제 서비스를 호출하고, 재고 서비스에 요청을 보낸다.", {"order > payment", "order > inventory"}),
    ("주문 서비스가 호출하는 결제 서비스는 포인트 서비스를 조회한다.", {"order > payment", "payment > point"}),
    ("결제 서비스를 호출하는 주문 서비스는 재고 서비스를 조회한다.", {"order > payment", "order > inventory"}),
    ("주문 서비스는 결제 서비스의 API를 호출한다.", {"order > payment"}),
    ("웹 프런트엔드는 결제 서비스를 직접 호출하지 않는다.", {"web > payment (forbidden)"}),
    ("웹 프런트엔드가 결제 서비스를 직접 호출하면 안 된다.", {"web > payment (forbidden)"}),
    (
        "주문 서비스는 결제 서비스를 호출하지 않고 재고 서비스를 호출한다.",
        {"order > payment (forbidden)", "order > inventory"},
    ),
    ("주문 서비스는 포인트 서비스를 호출할 예정이다.", {"order > point (planned)"}),
    ("주문 서비스는 더 이상 포인트 서비스를 호출하지 않는다.", {"order > point (historical)"}),
    ("캐시에 없으면 주문 서비스는 주문 데이터베이스를 조회한다.", {"order > orders-db (conditional)"}),
    ("주문 서비스만 결제 서비스를 호출할 수 있다.", {"order > payment (exclusive)"}),
    ("주문 서비스는 order.created 이벤트를 발행한다.", {"order +> order.created"}),
    ("주문 서비스는 주문이 생성되면 `order.created` 토픽에 메시지를 발행합니다.", {"order +> order.created"}),
    ("알림 서비스는 order.created 토픽을 구독한다.", {"notification <+ order.created"}),
    ("알림 서비스는 카프카에서 이벤트를 수신한다.", {"notification <+ kafka"}),
    (
        "order.created 이벤트는 주문 서비스가 발행하고 알림 서비스가 구독한다.",
        {"order +> order.created", "notification <+ order.created"},
    ),
    ("주문 서비스는 세션을 Redis에 저장한다.", {"order > redis"}),
    ("주문은 주문 서비스에 의해 주문 데이터베이스에 저장된다.", {"order > orders-db"}),
    ("주문 서비스는 Redis에서 세션을 읽어온다.", {"order > redis"}),
    ("주문 서비스는 API 게이트웨이를 통해 결제 서비스를 호출한다.", {"order > gateway", "gateway > payment"}),
    ("결제 서비스는 포인트 서비스와 연동한다.", {"payment > point"}),
    ("주문 서비스는 재고 서비스에 의존한다.", {"order > inventory"}),
    ("결제 서비스는 주문 서비스로부터 요청을 받는다.", {"order > payment"}),
    ("사용자가 주문하면 주문 서비스는 결제 서비스에 결제를 요청한다.", {"order > payment"}),
    ("고객이 결제한다.", set()),
    ("결제 서비스를 재시작한다.", set()),
    ("주문 서비스와 결제 서비스는 Java로 작성되었다.", set()),
    ("알림 서비스는 주문 확인 메일을 보낸다.", set()),
    ("사용자는 결제 화면을 호출한다.", set()),
    ("결제 서비스의 build 명령을 호출한다.", set()),
]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[c[0][:40] for c in CASES])
def test_a_sentence(sentence: str, expected: set[str]) -> None:
    assert stated(f"# 메모\n\n{sentence}\n") == expected


def test_a_section_gives_its_sentences_a_subject() -> None:
    body = "# 설계\n\n## 주문 서비스\n\n결제가 끝나면 주문은 주문 데이터베이스에 저장된다.\n`order.created` 이벤트를 발행한다.\n\n## 재고 서비스\n\nRedis를 사용한다.\n"
    assert stated(body) == {"order > orders-db", "order +> order.created", "inventory > redis"}


def test_a_quote_is_the_sentence_at_its_place() -> None:
    (claim,) = claims("# 메모\n\n첫 줄이다. **주문 서비스**는 REST로\n결제 서비스를 호출한다. 끝.\n")
    assert claim.quote == "**주문 서비스**는 REST로\n결제 서비스를 호출한다."
    assert (claim.lines, claim.columns, claim.via.protocol) == ((3, 4), (8, 13), "http")
