"""What a thing is, by its name and its technology: broker, topic, data store, client. Pure.

A name is judged by its head, which in English and Korean compounds stands last: "queue" is a queue, "queue-master" and "Kafka
consumer" are programs. A technology decides where the head does not ("Message Bus" [RabbitMQ], "queue (Kafka)").
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final


def vocabulary(text: str) -> frozenset[str]:
    """A set of words, written as a sentence."""
    return frozenset(text.split())


class Role(StrEnum):
    """What part a node plays for the orientation of an arrow."""

    SERVICE = "service"
    STORE = "store"
    BROKER = "broker"
    TOPIC = "topic"
    CLIENT = "client"
    PERSON = "person"
    EXTERNAL = "external"
    TELEMETRY = "telemetry"


ROLE_KIND: Final[dict[Role, str]] = {
    Role.SERVICE: "service",
    Role.STORE: "database",
    Role.BROKER: "topic",
    Role.TOPIC: "topic",
    Role.CLIENT: "external",
    Role.PERSON: "external",
    Role.EXTERNAL: "external",
    Role.TELEMETRY: "service",
}

BROKER_TECH: Final = vocabulary(
    "kafka redpanda rabbitmq rabbit activemq artemis nats jetstream pulsar mosquitto emqx hivemq mqtt amqp sqs sns kinesis eventbridge pubsub"
    " eventhub eventhubs eventgrid servicebus nsq msk rocketmq ibmmq solace 카프카 래빗엠큐"
)
STORE_TECH: Final = vocabulary(
    "postgres postgresql psql mysql mariadb mongo mongodb redis valkey keydb dragonfly memcached memcache cassandra scylla scylladb dynamodb"
    " elasticsearch opensearch solr clickhouse sqlite oracle mssql sqlserver neo4j couchbase couchdb influxdb timescaledb cockroachdb tidb"
    " yugabytedb spanner bigtable bigquery alloydb firestore h2 hbase snowflake rds aurora elasticache etcd consul zookeeper s3 minio gcs ceph"
    " rethinkdb arangodb qdrant milvus weaviate pinecone pgvector 레디스 몽고디비 포스트그레스"
)
TELEMETRY_TECH: Final = vocabulary(
    "jaeger zipkin tempo otelcol prometheus grafana loki datadog newrelic elastic-apm skywalking pyroscope"
)
BROKER_HEADS: Final = vocabulary("broker bus brokers 브로커 버스")
TOPIC_HEADS: Final = vocabulary("topic topics queue queues exchange stream streams dlq channel 토픽 큐 채널 스트림")
STORE_HEADS: Final = vocabulary(
    "db dbs database databases datastore store cache caches storage bucket warehouse lake schema index rdb rdbms 데이터베이스 디비 저장소 캐시 스토리지"
)
# Heads of programs: whatever technology is named before them, the thing is no broker and no store.
PROGRAM_HEADS: Final = vocabulary(
    "service services svc server-app api app application worker workers consumer consumers producer producers publisher subscriber listener handler"
    " processor exporter connect connector adapter client proxy gateway bridge manager master ui console dashboard operator controller job"
    " scheduler agent sidecar facade function lambda module system frontend backend web website monitor indexer loader sync relay poller"
    " 서비스 워커 컨슈머 프로듀서 게이트웨이 클라이언트 시스템 서버 핸들러"
)
CLIENT_NAMES: Final = vocabulary(
    "browser client clients internet users 브라우저 클라이언트 외부클라이언트 webbrowser enduser endusers internetusers 인터넷"
)
_GENERIC: Final = vocabulary(
    "cluster clusters server instance node nodes primary replica ha managed cloud apache amazon aws azure google gcp the a an"
    " 클러스터 서버 인스턴스"
)
_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Emoji and icons in front of names, with their joiners and variation selectors; icon fonts ("fa:fa-user").
_PICTURE: Final = re.compile(
    r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0e\ufe0f\u200d\U0001f000-\U0001faff]+|\bfa[bsrl]?:fa-[\w-]+"
)
_BRACKETS: Final = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")


def words(name: str) -> list[str]:
    """Lower-case words of a name: order_created, orderCreated and "Order created" give the same."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", name))]


def bracketed(label: str) -> tuple[str, str]:
    """("Cache (Valkey)") -> ("Cache", "Valkey"); without brackets the second is empty."""
    found = _BRACKETS.search(label)
    if found is None or found.start() == 0:
        return label.strip(), ""
    return label[: found.start()].strip(), found.group(1).strip()


def _tech_role(text: str) -> Role | None:
    parts = words(text)
    joined = {"".join(pair) for pair in pairwise(parts)}
    if (set(parts) | joined) & BROKER_TECH:
        return Role.BROKER
    if (set(parts) | joined) & STORE_TECH or parts[-1:] == ["database"] or "sql" in parts or "database" in parts:
        return Role.STORE
    return None


@lru_cache(maxsize=16384)
def role_of(name: str, technology: str = "") -> Role:
    """The role of a thing by its name and, where known, its technology (C4's third argument, an image, a label's bracket)."""
    main, bracket = bracketed(name)
    technology = technology or bracket
    parts = words(main)
    # A trailing number or "cluster" does not change what the thing is.
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _GENERIC):
        parts.pop()
    if not parts:
        return _tech_role(technology) or Role.SERVICE
    head = parts[-1]
    squeezed = "".join(parts)
    if squeezed in CLIENT_NAMES:
        return Role.CLIENT
    if squeezed == "otelcol" or (
        "collector" in parts and (len(parts) == 1 or {"otel", "otlp", "opentelemetry", "telemetry"} & set(parts))
    ):
        return Role.TELEMETRY
    if head in PROGRAM_HEADS:
        return Role.SERVICE
    if head in BROKER_HEADS:
        return Role.BROKER
    if head in TOPIC_HEADS:
        # "Message queue (Kafka)" is the broker; "orders queue" is one queue in it.
        return (
            Role.BROKER if _tech_role(technology) is Role.BROKER or not set(parts[:-1]) - _QUEUE_WORDS else Role.TOPIC
        )
    if (
        head in STORE_HEADS
        or squeezed in STORE_TECH
        or (len(parts) > 1 and head.endswith("db") and head[:-2].isalpha())
    ):
        return Role.BROKER if _tech_role(technology) is Role.BROKER else Role.STORE
    found = _tech_role(technology)
    if found is not None and technology:
        return found
    if set(parts) & TELEMETRY_TECH and len(parts) == 1:
        return Role.TELEMETRY
    return _tech_role(main) or Role.SERVICE


_QUEUE_NOUNS: Final = vocabulary("broker bus event events message messages messaging queue streaming platform")
_HEADS: Final = PROGRAM_HEADS | STORE_HEADS | BROKER_HEADS | TOPIC_HEADS
_QUEUE_WORDS: Final = BROKER_TECH | vocabulary(
    "message event events messages the a main async aws amazon 메시지 이벤트"
)


def first_name(parts: list[str]) -> str:
    """The name in a label's lines: the first, with lines in brackets, and with a head word that was broken off for width.

    ["Cache", "(Valkey)"] -> "Cache (Valkey)", ["Order", "Service"] -> "Order Service", ["Redis", "rate limiting"] -> "Redis".
    """
    parts = [" ".join(_PICTURE.sub(" ", part).split()) for part in parts]
    parts = [part for part in parts if part]
    if not parts:
        return ""
    name = parts[0]
    for part in parts[1:]:
        head = len(part.split()) == 1 and part.lower() in _HEADS and not {name.split()[-1].lower()} & _HEADS
        if part[0] not in "([" and not head:
            break
        name = f"{name} {part}"
    return name


def plain_name(label: str) -> str:
    """A label without what is no name.

    That is a port (":8080"), a technology in brackets behind a program's name, and generic words after a technology ("Kafka
    Cluster" -> "Kafka"). A store or broker keeps its bracket, for "Database (PostgreSQL)" says more than "Database".
    """
    name = re.sub(r"\s*:\d{2,5}\b(?:\s*[,/]\s*:?\d{2,5})*\s*$", "", label.strip())
    # Replicas ("User Service × 3") are no part of a name.
    name = re.sub(r"(?:\s+|\s*[(\[]\s*)[×x]\s*\d+\s*[)\]]?$", "", name)
    main, bracket = bracketed(name)
    if bracket and _tech_role(bracket) is None:
        return plain_name(main)
    if bracket and role_of(main) is Role.SERVICE and main:
        return plain_name(main)
    # "Jaeger - traces": what the product is for; "Oracle - Primary" tells which one.
    described = re.match(r"([^\W_]+) [-–:] [a-z]", name)
    if described and described.group(1).lower() in BROKER_TECH | STORE_TECH | TELEMETRY_TECH:
        return described.group(1)
    parts = name.split()
    products = [part for part in parts if part.lower() in BROKER_TECH | STORE_TECH]
    if (
        len(parts) > 1
        and len(products) == 1
        and all(part in products or part.lower() in _GENERIC | _QUEUE_NOUNS for part in parts)
    ):
        return products[0]
    return name or label.strip()
