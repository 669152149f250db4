"""What the columns of a table are, by their heads: caller, target, topic, service, route, roles. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from designed.extractors.roles import CONSUMER, PRODUCER, PROTOCOL, ROUTE, SERVICE, SOURCE, TARGET, TOPIC, Role, role_of


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what, by its head; None where the table has none such. `roles` are further columns such as "Depends on"."""

    heads: tuple[str, ...]
    source: int | None
    target: int | None
    topic: int | None
    producer: int | None
    consumer: int | None
    service: int | None
    route: int | None
    protocol: int | None
    roles: tuple[tuple[int, Role], ...]


def columns_of(heads: Sequence[str]) -> Columns:
    """The columns of a table, by their heads."""

    def first(pattern: re.Pattern[str], *not_these: int | None) -> int | None:
        return next((i for i, h in enumerate(heads) if pattern.fullmatch(h) and i not in not_these), None)

    topic = first(TOPIC)
    producer, consumer = (first(PRODUCER), first(CONSUMER)) if topic is not None else (None, None)
    source = first(SOURCE)
    target = first(TARGET, source)
    if source is None and topic is None and target is not None:
        # "Consumer | Provider" of a contract
        source = first(CONSUMER, target)
    service = first(SERVICE, source, target)
    return Columns(
        tuple(heads),
        source,
        target,
        topic,
        producer,
        consumer,
        service,
        first(ROUTE),
        first(PROTOCOL),
        tuple(
            (i, role)
            for i, h in enumerate(heads)
            if i > 0
            and (role := role_of(h)) is not None
            and i not in (source, target, topic, producer, consumer, service)
        ),
    )
