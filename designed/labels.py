"""What stands on an arrow: protocol, operation, topics, modality, quantities. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designed.kinds import BROKER_TECH, vocabulary
from nexus.model.claim import Modality, Quantity, Via

# Words on labels -> Via.protocol. The order decides where a label names two ("JSON/HTTPS", "gRPC over HTTP2").
_PROTOCOLS: Final[tuple[tuple[str, str], ...]] = (
    (r"grpc", "grpc"),
    (r"graphql", "graphql"),
    # A WebSocket begins as an HTTP request, and that is how traces show it.
    (r"websockets?|wss?|stomp|sockjs", "http"),
    (r"sse", "http"),
    (r"kafka|redpanda|카프카", "kafka"),
    (r"amqps?|rabbitmq", "amqp"),
    (r"mqtts?", "mqtt"),
    (r"nats", "nats"),
    (r"sqs", "aws_sqs"),
    (r"jdbc|odbc|sql|r2dbc", "sql"),
    (r"postgres(?:ql)?", "postgresql"),
    (r"mysql", "mysql"),
    (r"mongodb", "mongodb"),
    (r"redis|resp", "redis"),
    (r"smtp", "smtp"),
    (r"soap", "soap"),
    (r"thrift", "thrift"),
    (r"https?|rest|restful|json/https?|xml/https?|feign|openfeign|web ?api", "http"),
    (r"s?ftp", "ftp"),
    (r"snmp", "snmp"),
    (r"ldaps?", "ldap"),
    (r"jms", "jms"),
    (r"rpc", "rpc"),
    # Transport below everything: it fits any protocol, so it says none.
    (r"tcp|udp", ""),
)
_PROTOCOL_RE: Final = tuple(
    (re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])", re.IGNORECASE), name) for pattern, name in _PROTOCOLS
)
_HTTP_OPERATION: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(/[^\s,;|]*)")
_RPC_OPERATION: Final = re.compile(r"^(?:\W|\d|calls?\b|invokes?\b)*([A-Za-z_][\w.]*(?:/[A-Za-z_]\w*)?)\(\)?")
_TOPIC_WORD: Final = re.compile(
    r"(?:topics?|queues?|exchange|channel|stream|토픽|큐)\s*[:=]?\s*[\"'`]?([A-Za-z0-9가-힣][\w.*/{}-]*)[\"'`]?",
    re.IGNORECASE,
)
_STRUCTURED: Final = re.compile(r"(?<![\w./-])[A-Za-z가-힣_][\w]*(?:[.\-_/][\w{}*#]+)+|(?<![\w./-])[\w.-]+\.[*#>]+")
_EVENT_NAME: Final = re.compile(
    r"(?<!\w)(?:[A-Z][a-z0-9]+){2,}(?!\w)|(?<!\w)[A-Z][a-z]+(?:Event|Created|Updated|Deleted|Placed|Paid|Changed)(?!\w)"
)
_SINGLE: Final = re.compile(r"^[\"'`]?([A-Za-z0-9가-힣_][\w.*/{}#-]*)[\"'`]?$")
_SUBSCRIBE: Final = re.compile(
    r"\b(?:subscri\w*|consum\w*|poll\w*|listen\w*|receiv\w*|pull\w*|reads?|dequeue\w*|triggered by|pop)\b|구독|수신|소비|컨슘|읽",
    re.IGNORECASE,
)
_PUBLISH: Final = re.compile(
    r"\b(?:publish\w*|produc\w*|emit\w*|sends?|push\w*|enqueue\w*|writes?|fires?|dispatch\w*|notif\w*)\b|발행|송신|전송|송출",
    re.IGNORECASE,
)
_STOP: Final = vocabulary(
    "publish publishes published publishing produce produces consume consumes consumer producer subscribe subscribes subscribed event events message"
    " messages async sync asynchronous synchronous send sends receive receives emit emits poll polls read reads write writes push pull notify topic"
    " topics queue queues stream data json xml avro protobuf pub sub yes no optional uses use calls call request response tcp udp command commands"
    " e.g i.e etc query queries 이벤트 메시지 발행 구독 전송 비동기 동기 호출 요청 응답 조회 저장 async/await pub/sub request/response read/write"
    " reads/writes delivers triggers notifies routes forwards dispatches pushes fires streams broadcasts feeds ingests updates processes handles stores"
    " enqueues dequeues trigger forward route dispatch broadcast fan-out fanout pub-sub at-least-once exactly-once event-driven real-time request-reply"
    " fire-and-forget read-only write-behind cache-aside batch bulk webhook callback cdc outbox replicates replication sync-call sub-ms"
)
_PLANNED: Final = re.compile(
    r"\b(?:planned|future|to ?do|tbd|upcoming|proposed|will be|not yet)\b|예정|계획|추후|향후", re.IGNORECASE
)
_DEPRECATED: Final = re.compile(
    r"\b(?:deprecated|legacy path|to be removed|phase(?:d)? out|sunset)\b|폐기|지원 중단|사용 중단", re.IGNORECASE
)
_HISTORICAL: Final = re.compile(
    r"\b(?:removed|formerly|used to|no longer|previously)\b|과거|이전에는|더 이상", re.IGNORECASE
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:must not|forbidden|not allowed|denied|deny|blocked|prohibited|never|do not|don't|no direct)\b|금지|하지 않|불가",
    re.IGNORECASE,
)
_CONDITIONAL: Final = re.compile(
    r"\b(?:if|when|on (?:cache )?miss|fallback|optional|optionally|only if|unless|cache miss)\b|경우|캐시 미스|실패 시|선택",
    re.IGNORECASE,
)
_LATENCY: Final = re.compile(r"\bp(50|90|95|99)\s*[<≤:=]+\s*(\d+(?:\.\d+)?)\s*(ms|s)\b", re.IGNORECASE)
_AT_MOST: Final = re.compile(
    r"\b(?:at most|max(?:imum)?|≤|up to)\s+(\d+)\s*(?:calls?|requests?|times?)?\s*(?:per|/)\s*request", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label read. `reads` and `writes` tell whether its verb takes from or gives to a channel; `topics` are channel names in it."""

    text: str = ""
    protocol: str = ""
    operation: str = ""
    topics: tuple[str, ...] = ()
    modality: Modality = Modality.ASSERTED
    quantities: tuple[Quantity, ...] = ()
    reads: bool = False
    writes: bool = False

    def via(self, channel: str = "") -> Via:
        """The label as a via."""
        return Via(self.protocol, self.operation, channel)


@lru_cache(maxsize=4096)
def read_label(text: str) -> Label:
    """Read one label; blank gives an open label."""
    text = " ".join(text.split())
    if not text:
        return Label()
    http = _HTTP_OPERATION.search(text)
    rpc = _RPC_OPERATION.search(text) if http is None else None
    protocol = next((name for pattern, name in _PROTOCOL_RE if pattern.search(text)), "http" if http else "")
    operation = f"{http.group(1)} {http.group(2)}" if http else (rpc.group(1) if rpc else "")
    return Label(
        text,
        protocol,
        operation,
        topics_in(text),
        modality_of(text),
        quantities_in(text),
        bool(_SUBSCRIBE.search(text)),
        bool(_PUBLISH.search(text)),
    )


def topics_in(text: str) -> tuple[str, ...]:
    """Channel names on an arrow to or from a broker: "user-signup", "publishes order.created", "topic: orders"."""
    bare = text.strip().strip("\"'`")
    found: list[str] = []
    for pattern in (_TOPIC_WORD, _STRUCTURED, _EVENT_NAME):
        for match in pattern.finditer(bare):
            name = match.group(1) if pattern is _TOPIC_WORD else match.group(0)
            if _is_topic(name):
                found.append(name)
        if found:
            return tuple(dict.fromkeys(found))
    single = _SINGLE.match(bare)
    # A capitalised word is a verb or a sentence's start ("Delivers"); a channel's name is written small.
    if single and _is_topic(single.group(1)) and not re.fullmatch(r"[A-Z][a-z]+", single.group(1)):
        return (single.group(1),)
    return ()


def _is_topic(name: str) -> bool:
    low = name.lower().strip(".-_/")
    if not low or low in _STOP or low in BROKER_TECH or low.isdigit():
        return False
    return not any(pattern.fullmatch(low) for pattern, _ in _PROTOCOL_RE)


def modality_of(text: str) -> Modality:
    """How a label or tag means its arrow."""
    for pattern, modality in (
        (_FORBIDDEN, Modality.FORBIDDEN),
        (_DEPRECATED, Modality.DEPRECATED),
        (_HISTORICAL, Modality.HISTORICAL),
        (_PLANNED, Modality.PLANNED),
        (_CONDITIONAL, Modality.CONDITIONAL),
    ):
        if pattern.search(text):
            return modality
    return Modality.ASSERTED


def quantities_in(text: str) -> tuple[Quantity, ...]:
    """Promised numbers on a label: p99 < 200 ms, at most N per request, read-only, exactly once."""
    found = [
        Quantity(
            f"latency_p{m.group(1)}_ms",
            float(m.group(2)) * (1000 if m.group(3).lower() == "s" else 1),
            "ms",
            m.group(0),
        )
        for m in _LATENCY.finditer(text)
    ]
    found += [
        Quantity("max_calls_per_request", float(m.group(1)), "calls", m.group(0)) for m in _AT_MOST.finditer(text)
    ]
    for pattern, metric in ((r"\bread[- ]only\b|읽기 전용", "read_only"), (r"\bexactly[- ]once\b", "exactly_once")):
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            found.append(Quantity(metric, None, "", match.group(0)))
    return tuple(found)
