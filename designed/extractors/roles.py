"""Words that head a column, a list or a key and say which relation its entries have; English and Korean. Pure data.

A role: (relation, reversed). Not reversed: the section's or row's service depends on the entry. Reversed: the entry depends on it.
"""

# ruff: noqa: E501, ISC004  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re

from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES

Role = tuple[str, bool]

_ROLES: tuple[tuple[Role, str], ...] = (
    (
        (PUBLISHES, False),
        r"publish(?:es|ed)?(?: events?| topics?| to| messages?)?|produc(?:es|ed|ing)(?: events?| topics?| to)?|emits?|emitted events?|events? (?:published|produced|emitted)|(?:published|produced|outgoing|outbound) (?:events?|topics?|messages?)"
        r"|발행(?:하는)?(?: ?(?:이벤트|토픽|메시지))?(?: ?목록)?|이벤트 ?발행|송신 ?(?:이벤트|토픽|메시지)|publish(?:ed)? topics?|produce ?(?:토픽|이벤트)",
    ),
    (
        (SUBSCRIBES, False),
        r"subscrib(?:es|ed|ing)(?: to)?(?: events?| topics?)?|subscriptions?|consumes?(?: events?| topics?| from)?|consumed (?:events?|topics?|messages?)|events? (?:consumed|subscribed)|listens? to|(?:incoming|inbound) (?:events?|messages?)"
        r"|구독(?:하는)?(?: ?(?:이벤트|토픽|메시지))?(?: ?목록)?|이벤트 ?구독|수신(?:하는)? ?(?:이벤트|토픽|메시지)|소비(?:하는)? ?(?:이벤트|토픽|메시지)|consume ?(?:토픽|이벤트)",
    ),
    (
        (CALLS, True),
        r"called by|consumed by|callers?|used by|consumers|clients?|upstream(?: services?| callers?)?|invoked by|dependents|호출(?:하는 쪽|자)|호출 ?주체|사용처|이용 ?서비스",
    ),
    (
        (CALLS, False),
        r"depends? on|dependenc(?:y|ies)|service dependencies|(?:downstream|external|internal|runtime|service|upstream) dependenc(?:y|ies)|calls|calls to|uses|downstream(?: services?)?|external (?:services?|systems?|apis?|integrations?)|integrations?|integrates with|outbound(?: calls)?|talks to|required services|data ?stores?|databases?|dbs?|caches?"
        r"|외부 ?(?:연동|시스템|서비스|api)|연동(?: ?(?:서비스|시스템|대상|api))?|의존(?:성| ?서비스| ?관계| ?대상)?|호출(?:하는)?(?: ?(?:서비스|대상|api|목록))?|사용 ?(?:하는 )?서비스|내부 ?연동|저장소|데이터베이스|데이터 ?저장소|디비|캐시",
    ),
)
_COMPILED = tuple((role, re.compile(rf"(?:{pattern})\s*(?:\(.*\))?", re.IGNORECASE)) for role, pattern in _ROLES)
SOURCE = re.compile(
    r"from|source|caller|client|consumer service|from service|source service|calling service|(?:호출|요청)(?:자|측|처| ?주체| ?서비스| ?시스템)|(?:출발|소스|송신|발신)(?:자|지|측|처| ?주체| ?서비스| ?시스템)?",
    re.IGNORECASE,
)
TARGET = re.compile(
    r"to|target|destination|callee|provider|server|dependency|to service|target service|called service|(?:호출 ?)?대상(?: ?서비스| ?시스템)?|(?:피호출|도착|타겟|수신|제공|목적)(?:자|지|측|처| ?서비스| ?시스템)?",
    re.IGNORECASE,
)
TOPIC = re.compile(
    r"topics?(?: ?name| ?명)?|events?(?: ?name| ?type| ?명)?|queues?|channels?|messages?|(?:토픽|이벤트|메시지|큐|채널)(?: ?(?:명|이름))?|routing keys?|exchange",
    re.IGNORECASE,
)
PRODUCER = re.compile(
    r"producers?(?:\(s\))?|publishers?(?:\(s\))?|published by|produced by|emitted by|source service|발행(?:자|처| ?서비스| ?주체)?|프로듀서|생산자|송신(?:자| ?서비스)|producer service",
    re.IGNORECASE,
)
CONSUMER = re.compile(
    r"consumers?(?:\(s\))?|subscribers?(?:\(s\))?|consumed by|subscribed by|listeners?|(?:구독|소비|수신)(?:자|처| ?서비스| ?주체)?|컨슈머|consumer service|처리 ?서비스",
    re.IGNORECASE,
)
SERVICE = re.compile(
    r"(?:micro)?services?(?:\(s\)|(?: ?name| ?명| 이름))?|components?|applications?|apps?|서비스(?:명| 이름)?|컴포넌트(?:명)?|구성 ?요소|마이크로서비스|모듈(?:명)?|시스템(?:명)?",
    re.IGNORECASE,
)
ROUTE = re.compile(
    r"paths?|routes?|urls?|uris?|prefix|endpoints?|path (?:prefix|pattern)s?|경로(?: ?패턴)?|라우트|엔드포인트|url 패턴",
    re.IGNORECASE,
)
PROTOCOL = re.compile(r"protocols?|method|type|transport|통신(?: ?방식)?|프로토콜|방식|유형", re.IGNORECASE)
# Whom an event of one's own is for.
RECEIVER = re.compile(
    r"(?:target|receiving|consuming) services?|recipients?|sent to|(?:대상|수신|구독|소비) ?(?:서비스|시스템)|대상|수신처|구독자|소비자",
    re.IGNORECASE,
)
# A table of classes that call.
CLIENTS = re.compile(r"(?:open ?)?feign ?clients?|(?:rest|http|grpc) ?clients?", re.IGNORECASE)
# The class in the code that calls a service: PaymentFeignClient.
CLIENT_CLASS = re.compile(r"(?<=[a-z])(?:Feign|Rest|Http|Grpc|Api)?Client$")
NOTHING = re.compile(r"[-–—xX×.\s]*|none|n/?a|no|없음|해당 ?없음|미정|tbd", re.IGNORECASE)
# `FOO_ADDR`: the address of the X service.
ADDRESS = re.compile(
    r"\b(?:address(?:es)?|host(?:name|s)?|url|uri|endpoint|ports?|connection string|dsn|location|base url|bootstrap servers?)\b(?:\s*(?:and|&|/|,)\s*(?:the\s+)?(?:port|hostname|host|address|path))*\s+(?:of|for|to reach|where)\s+(?:the\s+|an?\s+)?",
    re.IGNORECASE,
)
KO_ADDRESS = re.compile(
    r"(?:의\s*)?(?:내부\s*|외부\s*|접속\s*|기본\s*)?(?:주소|URL|URI|호스트(?:명)?|엔드포인트|포트|접속 ?정보)",
    re.IGNORECASE,
)


def role_of(words: str) -> Role | None:
    """The role that a heading, key or column head gives to what follows; None for none."""
    bare = re.sub(r"^[^\w가-힣]+|[\s:*`_.]+$", "", words.strip())
    bare = re.sub(r"^\d+(?:\.\d+)*[.)]?\s*|\s+(?:at a glance|overview|summary|matrix)$", "", bare)
    for role, pattern in _COMPILED:
        if pattern.fullmatch(bare):
            return role
    return None
