"""Protocol families: which spellings mean the same, and which family is a special case of which."""

from __future__ import annotations

from functools import lru_cache

_SPELLINGS = {
    "http": (
        "http",
        "https",
        "http/1.1",
        "http/2",
        "rest",
        "restful",
        "rest api",
        "http api",
        "json/http",
        "rest/http",
        "http/rest",
        "json/https",
        "webhook",
        "soap",
    ),
    "grpc": ("grpc", "g-rpc", "grpc-web", "connect", "connect_rpc", "protobuf", "grpc/http2"),
    "rpc": ("rpc", "thrift", "apache_dubbo", "dubbo", "java_rmi", "dotnet_wcf", "jsonrpc", "json-rpc", "onc_rpc"),
    "graphql": ("graphql",),
    "sql": ("sql", "jdbc", "odbc", "other_sql"),
    "postgresql": ("postgresql", "postgres", "pg"),
    "microsoft.sql_server": ("microsoft.sql_server", "mssql", "sqlserver"),
    "oracle.db": ("oracle.db", "oracle"),
    "mysql": ("mysql",),
    "mariadb": ("mariadb",),
    "sqlite": ("sqlite",),
    "cockroachdb": ("cockroachdb",),
    "redis": ("redis", "valkey", "resp"),
    "mongodb": ("mongodb", "mongo"),
    "cassandra": ("cassandra", "cql"),
    "memcached": ("memcached",),
    "elasticsearch": ("elasticsearch", "opensearch"),
    "dynamodb": ("dynamodb", "aws.dynamodb"),
    "message": (
        "message",
        "messages",
        "messaging",
        "event",
        "events",
        "async",
        "asynchronous",
        "queue",
        "topic",
        "stream",
        "pubsub",
        "pub/sub",
        "broker",
        "이벤트",
        "메시지",
        "비동기",
    ),
    "kafka": ("kafka", "apache kafka"),
    "rabbitmq": ("rabbitmq", "amqp", "amqps"),
    "nats": ("nats", "jetstream"),
    "pulsar": ("pulsar",),
    "mqtt": ("mqtt",),
    "jms": ("jms", "activemq", "artemis"),
    "aws_sqs": ("aws_sqs", "sqs"),
    "aws.sns": ("aws.sns", "sns", "aws_sns"),
    "gcp_pubsub": ("gcp_pubsub", "google pubsub"),
    "eventhubs": ("eventhubs",),
    "servicebus": ("servicebus",),
    "rocketmq": ("rocketmq",),
    "kinesis": ("kinesis", "aws_kinesis"),
    "eventbridge": ("eventbridge",),
}
_FAMILY = {spelling: family for family, spellings in _SPELLINGS.items() for spelling in spellings}
_SQL = frozenset(
    {"postgresql", "mysql", "mariadb", "microsoft.sql_server", "oracle.db", "sqlite", "cockroachdb", "sql"}
)
MESSAGING = frozenset(
    {
        "message",
        "kafka",
        "rabbitmq",
        "nats",
        "pulsar",
        "mqtt",
        "jms",
        "aws_sqs",
        "aws.sns",
        "gcp_pubsub",
        "eventhubs",
        "servicebus",
        "rocketmq",
        "kinesis",
        "eventbridge",
    }
)
CALLS = frozenset({"http", "grpc", "rpc", "graphql"})
UNKNOWN = "unknown"
_GENERAL = CALLS | {"sql", "message", UNKNOWN}
# General family -> what it covers.
_COVERS = {"rpc": frozenset({"rpc", "grpc"}), "sql": _SQL, "message": MESSAGING, "http": frozenset({"http", "graphql"})}


@lru_cache(maxsize=4096)
def family(protocol: str) -> str:
    """The family of a spelling; an unknown word is its own family, nothing is `unknown`."""
    word = " ".join(protocol.strip().casefold().split())
    if not word:
        return UNKNOWN
    return (
        _FAMILY.get(word)
        or _FAMILY.get(word.replace("_", " "))
        or next((_FAMILY[part] for part in word.replace("/", " ").split() if part in _FAMILY), word)
    )


def is_messaging(protocol: str) -> bool:
    """Whether a protocol goes through a broker."""
    return family(protocol) in MESSAGING


def is_product(name: str) -> bool:
    """Whether a name is that of a data store or a broker as such ("Postgres", "Kafka"), and not a word for all of them."""
    word = " ".join(name.strip().casefold().split())
    return word in _FAMILY and _FAMILY[word] not in _GENERAL


@lru_cache(maxsize=4096)
def compatible(one: str, other: str) -> bool:
    """Whether two protocols can be the same thing, said more or less exactly. An unknown one fits anything."""
    a, b = family(one), family(other)
    if UNKNOWN in (a, b) or a == b:
        return True
    return b in _COVERS.get(a, frozenset()) or a in _COVERS.get(b, frozenset())
