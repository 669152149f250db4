"""The span log."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from nexus.settings.base import Duration, Section


class KafkaSettings(Section):
    """The span log on Kafka (`NEXUS_LOG__BACKEND=kafka`, or `NEXUS_LOG=kafka`)."""

    brokers: str = Field("", description="Brokers to begin with, `HOST:PORT,HOST:PORT`.")
    topic: str = Field(
        "nexus-spans",
        pattern=r"^[a-zA-Z0-9._-]{1,249}$",
        description="Topic of the spans: what receivers write and, or, a Collector's Kafka exporter (`otlp_proto`, `partition_traces_by_id`).",
    )
    partitions: int = Field(
        6,
        ge=0,
        le=32_000,
        description="Partitions that the topic is made with where there is none; 0 = it has to exist. Each is rolled up by one process at a time.",
    )
    replication: int = Field(1, ge=1, le=32, description="Replicas that it is made with.")
    group: str = Field("nexus", min_length=1, description="Consumer group of the aggregators.")
    instance: str = Field(
        "",
        description="Name of this aggregator that stays the same when it is started again (a pod of a StatefulSet): a restart then moves no partition.",
    )
    session: Duration = Field(
        timedelta(seconds=45), description="How long an aggregator may be silent before its partitions go to others."
    )
    tenant: str = Field("default", min_length=1, description="Tenant of what a Collector writes into the topic.")
    max_message_bytes: int = Field(
        900_000, ge=10_000, description="Largest message; below the topic's `max.message.bytes`."
    )
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(
        "lz4", description="Compression of what receivers write."
    )
    timeout: Duration = Field(
        timedelta(seconds=15), description="How long receivers wait for the brokers before they ask senders to retry."
    )
    security: Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] = Field(
        "plaintext", description="Protocol towards the brokers."
    )
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512", description="SASL mechanism, where the protocol has SASL."
    )
    username: str = Field("", description="SASL user.")
    password: SecretStr = Field(SecretStr(""), description="SASL password.")
    tls_ca: Path | None = Field(
        None, description="PEM certificates of the brokers' authorities (default: the system's)."
    )
    tls_cert: Path | None = Field(None, description="PEM certificate of this client, for brokers that ask for one.")
    tls_key: Path | None = Field(None, description="Its PEM private key.")


class LogSettings(Section):
    """Where acknowledged spans wait until they are rolled up."""

    backend: Literal["local", "kafka"] = Field(
        "local",
        description="`local`: segments under the data folder; `kafka`: a topic, for receivers and aggregators on many machines.",
    )
    max_bytes: int = Field(
        16 * 1024**3,
        ge=1024 * 1024,
        description="Largest size of the local log; at the limit receivers refuse with a retry time until spans are rolled up.",
    )
    segment_bytes: int = Field(
        64 * 1024 * 1024, ge=64 * 1024, description="Size at which the local log begins a new file."
    )
    keep: Duration = Field(
        timedelta(hours=1),
        description="How long spans that are rolled up stay in the local log (for replays), while it is less than half full.",
    )
    compression: Literal["lz4", "zstd", "none"] = Field(
        "none",
        description="Compression of the local log: `lz4` halves the space and costs a twelfth more CPU in the receiver.",
    )
    max_pending_bytes: int = Field(
        128 * 1024 * 1024,
        ge=1024 * 1024,
        description="Bytes that may wait for one write to the log; above, receivers refuse.",
    )
    kafka: KafkaSettings = KafkaSettings()

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.backend == "kafka" and not self.kafka.brokers:
            msg = "NEXUS_LOG__KAFKA__BROKERS: a log on Kafka needs its brokers"
            raise ValueError(msg)
        if self.kafka.security.startswith("sasl") and not self.kafka.username:
            msg = "NEXUS_LOG__KAFKA__USERNAME: SASL needs a user"
            raise ValueError(msg)
        return self
