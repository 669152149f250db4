"""Who is told: events go to an outbox in the run's own transaction, and from there over HTTP until they are taken."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import httpx
import orjson
import structlog

from diff.cloudevents import SIGNATURE_HEADER, event, sign
from diff.compare import Comparison
from diff.lifecycle import Change
from diff.visibility import visible
from nexus.model.document import Classification
from nexus.store.drift_finding import carried
from nexus.store.drift_job import EventRow, add_event, delete_event, due_events, hold_events, postpone_event
from nexus.store.drift_run import RunRow
from nexus.store.pool import Connection, Database
from nexus.telemetry import DRIFT_WEBHOOKS

log = structlog.get_logger("nexus.diff.webhooks")
# About two days of attempts: 1, 2, 4 ... minutes, at most 6 hours apart.
ATTEMPTS_MAX = 16
BACKOFF_MAX = timedelta(hours=6)
HOLD = timedelta(minutes=1)
BATCH = 100
TIMEOUT_S = 10.0


class Notifier:
    """Queues the transitions that a reader of `clearance` may know."""

    def __init__(self, urls: Sequence[str], clearance: Classification) -> None:
        self._urls = tuple(urls)
        self._clearance = clearance

    def queue(
        self, connection: Connection, tenant: str, run: RunRow, comparison: Comparison, changes: list[Change]
    ) -> None:
        """Put events beside the run. What the receivers may not see is not told, its resolution neither."""
        if not self._urls or not changes:
            return
        seen = visible(run.labels, self._clearance, ())
        told = {change.fingerprint for change in changes}
        shown = {row.fingerprint: row.finding for row in comparison.seen_with(seen) if row.fingerprint in told}
        shown |= {
            item.finding.fingerprint: item.finding
            for item in carried(connection, tenant, run.id, run.environment, seen)
        }
        for change in changes:
            finding = shown.get(change.fingerprint)
            if finding is None:
                continue
            made = event(change, finding, run=run.id, tenant=tenant, environment=run.environment, at=run.generated_at)
            for url in self._urls:
                add_event(connection, tenant, url, made, run.generated_at)


def deliver(database: Database, secret: str, now: Callable[[], datetime], client: httpx.Client) -> tuple[int, int]:
    """Send what is due; returns (delivered, postponed or given up). One event a transaction, so that a crash repeats one at most.

    A receiver that fails is asked no more in this pass, and not for a minute: one that hangs must not hold the others up.
    """
    with database.connection() as connection:
        due = due_events(connection, now(), BATCH)
    sent = failed = 0
    down: set[str] = set()
    for row in due:
        if row.url in down:
            continue
        problem = _post(client, row, secret, now())
        with database.connection() as connection:
            if not problem:
                delete_event(connection, row.id)
                sent += 1
            elif row.attempts + 1 >= ATTEMPTS_MAX:
                # The path of a webhook is often its password.
                log.error("webhook_given_up", host=httpx.URL(row.url).host, id=row.event.get("id"), error=problem)
                delete_event(connection, row.id)
                failed += 1
            else:
                postpone_event(connection, row.id, now() + backoff(row.attempts), problem)
                failed += 1
            if problem:
                down.add(row.url)
                hold_events(connection, row.url, now() + HOLD)
        DRIFT_WEBHOOKS.labels(outcome="failed" if problem else "delivered").inc()
    return sent, failed


def backoff(attempts: int) -> timedelta:
    """1, 2, 4 ... minutes with up to a fifth of jitter, so that receivers that come back are not met by all at once."""
    minutes = min(timedelta(minutes=2 ** min(attempts, 12)), BACKOFF_MAX)
    return minutes * (1 + random.random() / 5)  # noqa: S311  # jitter


def _post(client: httpx.Client, row: EventRow, secret: str, at: datetime) -> str:
    body = orjson.dumps(row.event)
    headers = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
    if secret:
        headers[SIGNATURE_HEADER] = sign(body, secret, at)
    try:
        answer = client.post(row.url, content=body, headers=headers, timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        return f"{type(error).__name__}: {error}".replace(row.url, "the webhook")[:500]
    return "" if answer.is_success else f"HTTP {answer.status_code}"
