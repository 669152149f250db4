"""The span log on Kafka: what brokers say, as findings. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from collector_receiver.log.kafka_facts import KafkaFacts
from nexus.cli.doctor_checks import LAG_MESSAGES, Finding, State

AREA: Final = "kafka"
# What Kafka adds to a message of ours.
OVERHEAD_BYTES: Final = 1024
ASSUMED_MESSAGE_BYTES: Final = 1_048_588


def kafka(
    found: KafkaFacts, topic: str, *, partitions: int, max_message_bytes: int, needed: timedelta, running: bool
) -> list[Finding]:
    """`partitions` and `max_message_bytes` as set; `needed`: how long spans may be needed again; `running`: whether a service works."""
    out = [Finding(AREA, State.OK, f"{found.brokers} broker(s) answer")]
    if not found.partitions:
        if partitions:
            return [
                *out,
                Finding(
                    AREA,
                    State.NOTICE,
                    f"topic {topic} is not there yet",
                    f"`nexus serve` makes it with {partitions} partitions when it starts, if its user may; see docs/howto/scale.md for how many",
                ),
            ]
        return [
            *out,
            Finding(
                AREA,
                State.PROBLEM,
                f"there is no topic {topic}",
                "make it, or say with NEXUS_LOG__KAFKA__PARTITIONS how many partitions it shall be made with",
            ),
        ]
    out.append(Finding(AREA, State.OK, f"topic {topic} has {found.partitions} partition(s)"))
    if partitions and partitions != found.partitions:
        out.append(
            Finding(
                AREA,
                State.NOTICE,
                f"topic {topic} has {found.partitions} partitions, NEXUS_LOG__KAFKA__PARTITIONS says {partitions}",
                "the topic counts; changing its number cuts traces under way in two (docs/howto/scale.md)",
            )
        )
    return [*out, *_replicas(found), *_config(found, topic, max_message_bytes, needed), *_group(found, running=running)]


def _replicas(found: KafkaFacts) -> list[Finding]:
    out = []
    if found.leaderless:
        shown = ", ".join(map(str, found.leaderless[:8]))
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"nobody leads partition(s) {shown}: they can be neither written nor read",
                "start the brokers that have them, or reassign them",
            )
        )
    if found.in_sync < found.replicas:
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"a partition has {found.in_sync} of {found.replicas} replicas in sync",
                "look for a broker that is down or behind",
            )
        )
    least = int(found.config.get("min.insync.replicas", 1))
    if found.replicas == 1:
        out.append(
            Finding(
                AREA,
                State.NOTICE,
                "the topic has one replica: what is acknowledged is lost with that broker's disk",
                "three replicas (NEXUS_LOG__KAFKA__REPLICATION when it is made) and min.insync.replicas=2",
            )
        )
    elif least < 2:  # a second copy
        out.append(
            Finding(
                AREA,
                State.NOTICE,
                "min.insync.replicas is 1: an acknowledgement may stand for a single copy",
                "set min.insync.replicas=2 on the topic",
            )
        )
    if found.in_sync < least:
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"{found.in_sync} replica(s) in sync, and min.insync.replicas is {least}: nothing can be written",
                "bring brokers back, or lower min.insync.replicas",
            )
        )
    return out


def _config(found: KafkaFacts, topic: str, max_message_bytes: int, needed: timedelta) -> list[Finding]:
    out = []
    largest = int(found.config.get("max.message.bytes", ASSUMED_MESSAGE_BYTES))
    if max_message_bytes + OVERHEAD_BYTES > largest:
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"topic {topic} takes messages of {largest} bytes, receivers make them of up to {max_message_bytes}",
                "raise max.message.bytes of the topic, or lower NEXUS_LOG__KAFKA__MAX_MESSAGE_BYTES (a request of any size is split)",
            )
        )
    if "compact" in found.config.get("cleanup.policy", "delete"):
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"topic {topic} is compacted: spans of a trace replace one another",
                "set cleanup.policy=delete",
            )
        )
    kept = int(found.config.get("retention.ms", -1))
    if 0 <= kept < needed.total_seconds() * 1000:
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"topic {topic} keeps messages for {kept / 3_600_000:.1f} h; spans may be needed again for {needed.total_seconds() / 3600:.1f} h",
                "raise retention.ms, or lower NEXUS_AGGREGATE__SETTLE or NEXUS_PAIRING__LINK_HORIZON: a partition that moves loses what is gone",
            )
        )
    if int(found.config.get("retention.bytes", -1)) >= 0:
        out.append(
            Finding(
                AREA,
                State.NOTICE,
                f"topic {topic} is limited to {found.config['retention.bytes']} bytes a partition too, whatever its age",
                "set retention.bytes=-1, or make sure that it holds what retention.ms promises at your load",
            )
        )
    return out


def _group(found: KafkaFacts, *, running: bool) -> list[Finding]:
    out = []
    waits = f", and {found.lag} message(s) wait" if found.lag else ""
    if found.members == 0 and (running or found.lag):
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"no aggregator reads the topic{waits}",
                "run `nexus serve --role aggregate`, with the same NEXUS_LOG__KAFKA__GROUP and NEXUS_LOG__KAFKA__TOPIC",
            )
        )
    elif found.lag is not None and found.lag > LAG_MESSAGES:
        out.append(
            Finding(
                AREA,
                State.PROBLEM,
                f"{found.lag} messages wait to be rolled up",
                "docs/howto/operate.md: an aggregator is behind or stopped",
            )
        )
    if found.members is not None and found.members > found.partitions:
        out.append(
            Finding(
                AREA,
                State.NOTICE,
                f"{found.members} aggregators share {found.partitions} partitions: some have nothing to do",
                "run fewer",
            )
        )
    return out


__all__ = ["kafka"]
