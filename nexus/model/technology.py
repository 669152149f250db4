"""Products that architecture documents name instead of a component: what kind of node each is. Pure data.

A product is a name by itself ("stores carts in Redis"). Where exactly one component of a system runs it, it means that
component (nexus.model.registry).
"""

from __future__ import annotations

from nexus.model.service import NodeKind

_DATABASES = (
    "postgresql", "postgres", "mysql", "mariadb", "mongodb", "mongo", "redis", "valkey", "memcached", "cassandra", "scylladb", "dynamodb", "elasticsearch",
    "opensearch", "sqlite", "oracle", "sql server", "mssql", "cockroachdb", "couchdb", "couchbase", "neo4j", "influxdb", "clickhouse", "timescaledb", "spanner",
    "cloud spanner", "bigquery", "snowflake", "firestore", "alloydb", "etcd", "minio", "aws s3", "amazon s3", "s3", "hbase", "rds", "aurora", "solr", "milvus", "qdrant",
    "redis cache", "h2", "documentdb", "cosmos db", "bigtable", "memorystore", "elasticache",
)
_BROKERS = (
    "kafka", "apache kafka", "rabbitmq", "nats", "activemq", "pulsar", "sqs", "sns", "kinesis", "pubsub", "pub/sub", "eventbridge", "event hub", "service bus", "redpanda",
    "mqtt", "amqp broker", "redis streams", "msk",
)
_KOREAN = {
    "카프카": "kafka", "레디스": "redis", "몽고디비": "mongodb", "몽고db": "mongodb", "마이에스큐엘": "mysql", "포스트그레": "postgresql", "래빗엠큐": "rabbitmq",
    "엘라스틱서치": "elasticsearch", "오라클": "oracle", "멤캐시드": "memcached",
}
_SAME = {
    "postgres": "postgresql", "mongo": "mongodb", "apache kafka": "kafka", "aws s3": "s3", "amazon s3": "s3", "mongo db": "mongodb", "mssql": "sql server",
    "cloud spanner": "spanner", "redis cache": "redis", "pub/sub": "pubsub", "my sql": "mysql", "postgre sql": "postgresql", "maria db": "mariadb", "rabbit mq": "rabbitmq",
    "active mq": "activemq", "dynamo db": "dynamodb", "alloy db": "alloydb", "alloy-db": "alloydb",
}

# Spelling in lower case -> (canonical, kind).
TECHNOLOGIES: dict[str, tuple[str, NodeKind]] = {
    **{name: (_SAME.get(name, name), NodeKind.DATABASE) for name in _DATABASES},
    **{name: (_SAME.get(name, name), NodeKind.TOPIC) for name in _BROKERS},
}
TECHNOLOGIES |= {name: TECHNOLOGIES[same] for name, same in (_SAME | _KOREAN).items() if same in TECHNOLOGIES}


def technology(name: str) -> tuple[str, NodeKind] | None:
    """(canonical name, kind) of a product; None for anything else."""
    return TECHNOLOGIES.get(" ".join(name.casefold().split()))
