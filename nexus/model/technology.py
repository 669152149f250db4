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
    "redis cache", "h2", "documentdb", "cosmos db", "bigtable", "memorystore", "elasticache", "db2", "tidb", "yugabytedb", "keydb", "dragonflydb", "ravendb", "blob storage",
    "azure blob storage", "google cloud storage", "gcs", "redshift",
)
_BROKERS = (
    "kafka", "apache kafka", "rabbitmq", "nats", "activemq", "pulsar", "sqs", "sns", "kinesis", "pubsub", "pub/sub", "eventbridge", "event hub", "service bus", "redpanda",
    "mqtt", "amqp broker", "redis streams", "msk", "ibm mq", "solace", "google pub/sub", "cloud pub/sub", "azure service bus", "aws sqs", "amazon sqs", "aws sns", "amazon sns",
    "event hubs", "amazon mq", "emqx", "mosquitto", "hivemq", "zeromq",
)
# Services of other companies. Only names that mean nothing else in a text about software.
_EXTERNAL = (
    "twilio", "sendgrid", "mailgun", "mailchimp", "stripe", "paypal", "braintree", "adyen", "auth0", "okta", "salesforce", "fcm", "firebase cloud messaging", "apns", "sap", "google play",
    "app store", "google maps", "toss payments", "토스페이먼츠", "카카오페이", "네이버페이", "카카오 알림톡", "iamport", "아임포트", "포트원",
)
_KOREAN = {
    "카프카": "kafka", "레디스": "redis", "몽고디비": "mongodb", "몽고db": "mongodb", "마이에스큐엘": "mysql", "포스트그레": "postgresql", "래빗엠큐": "rabbitmq",
    "엘라스틱서치": "elasticsearch", "오라클": "oracle", "멤캐시드": "memcached",
}
_SAME = {
    "postgres": "postgresql", "mongo": "mongodb", "apache kafka": "kafka", "aws s3": "s3", "amazon s3": "s3", "mongo db": "mongodb", "mssql": "sql server",
    "cloud spanner": "spanner", "redis cache": "redis", "pub/sub": "pubsub", "my sql": "mysql", "postgre sql": "postgresql", "maria db": "mariadb", "rabbit mq": "rabbitmq",
    "active mq": "activemq", "aws sqs": "sqs", "amazon sqs": "sqs", "aws sns": "sns", "amazon sns": "sns", "google pub/sub": "pubsub", "cloud pub/sub": "pubsub",
    "azure service bus": "service bus", "firebase cloud messaging": "fcm", "gcs": "google cloud storage", "event hubs": "event hub", "azure blob storage": "blob storage",
 "dynamo db": "dynamodb", "alloy db": "alloydb", "alloy-db": "alloydb",
}

# Spelling in lower case -> (canonical, kind).
TECHNOLOGIES: dict[str, tuple[str, NodeKind]] = {
    **{name: (_SAME.get(name, name), NodeKind.DATABASE) for name in _DATABASES},
    **{name: (_SAME.get(name, name), NodeKind.TOPIC) for name in _BROKERS},
    **{name: (_SAME.get(name, name), NodeKind.EXTERNAL) for name in _EXTERNAL},
}
TECHNOLOGIES |= {name: TECHNOLOGIES[same] for name, same in (_SAME | _KOREAN).items() if same in TECHNOLOGIES}


def technology(name: str) -> tuple[str, NodeKind] | None:
    """(canonical name, kind) of a product; None for anything else."""
    return TECHNOLOGIES.get(" ".join(name.casefold().split()))
