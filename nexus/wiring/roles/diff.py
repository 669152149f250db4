"""The diff role: runs by the clock and by change, on one replica at a time, and webhooks until they are taken."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
import time
from datetime import datetime, timedelta
from uuid import uuid4

import httpx
import structlog

from diff.notify import deliver
from diff.run import DriftRunner
from diff.schedule import Schedule
from diff.watch import Marks, Watch
from nexus.errors import DependencyError, InvariantBroken
from nexus.ports.designed import DesignedReader
from nexus.ports.observed import ObservedHistory
from nexus.store.drift_job import give_up_lease, last_fired, put_fired, take_lease
from nexus.store.drift_run import newest_standard_run, tenants
from nexus.wiring.runtime import Runtime

log = structlog.get_logger("nexus.diff")
LEASE = "diff"
LEASE_S = 45.0
HEARTBEAT_S = 10.0
TICK_S = 1.0
DELIVERY_S = 5.0
# The registry is read whole for its mark; not at every tick.
NAMES_S = 15.0
SCHEDULE = "standard"
# Closed days change rarely (late spans, a replay), so they are looked at less often.
CLOSED_FACTOR = 2
# More environments than this get the run of all of them only.
ENVIRONMENTS_MAX = 20


class DiffRole:
    """Schedules runs."""

    name = "diff"

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings.diff
        self._runtime = runtime
        self._settings = settings
        self._schedule = (
            Schedule(settings.schedule, settings.time_zone, settings.misfire_grace) if settings.schedule else None
        )
        self._holder = uuid4().hex
        self._stop = threading.Event()
        self._led_until = 0.0
        self._watches: dict[str, Watch] = {}
        self._names: dict[str, tuple[float, str]] = {}
        self._incoming: dict[str, tuple[float, str]] = {}

    async def start(self) -> None:
        """Check the schedule."""
        if self._schedule is not None:
            self._schedule.check()

    async def run(self) -> None:
        """Until stopped."""
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(self._lead), name="diff-lease")
            group.create_task(asyncio.to_thread(self._work), name="diff-runs")
            group.create_task(asyncio.to_thread(self._tell), name="diff-webhooks")

    async def stop(self) -> None:
        """Let the present run finish; give the lease up."""
        self._stop.set()

    @property
    def leads(self) -> bool:
        """Whether this replica holds the lease, by its own clock and the lease's length."""
        return time.monotonic() < self._led_until

    def _lead(self) -> None:
        while not self._stop.is_set():
            asked = time.monotonic()
            try:
                with self._runtime.database.connection() as connection:
                    self._led_until = asked + LEASE_S if take_lease(connection, LEASE, self._holder, LEASE_S) else 0.0
            except DependencyError as error:
                log.warning("diff_lease", error=str(error))
            self._stop.wait(HEARTBEAT_S)
        try:
            with self._runtime.database.connection() as connection:
                give_up_lease(connection, LEASE, self._holder)
        except DependencyError:
            log.warning("diff_lease_not_given_up")

    def _work(self) -> None:
        while not self._stop.wait(TICK_S):
            if not self.leads:
                continue
            try:
                with self._runtime.database.connection() as connection:
                    names = tenants(connection)
                for tenant in names:
                    if not self._stop.is_set():
                        self._tick(tenant)
            except DependencyError as error:
                log.warning("diff_tick", error=str(error))
            except (
                Exception
            ):  # a supervisor's place: a bug in a comparison must not take the receivers of this process down
                log.exception("diff_tick_failed")
                self._stop.wait(self._settings.change_interval.total_seconds())

    def _tick(self, tenant: str) -> None:
        now = self._runtime.clock.now()
        fired = self._fired(tenant, now)
        watch = self._watches.get(tenant, Watch())
        changed = False
        if self._settings.on_change:
            watch = watch.look(self._marks(tenant, now), now)
            changed = watch.due(now, self._settings.debounce, self._settings.change_interval) and watch.seen != Marks(
                "", ""
            )
            self._watches[tenant] = watch
        if fired is None and not changed:
            return
        try:
            self._compute(tenant, "schedule" if fired is not None else "change")
        except DependencyError:
            # On record already (DriftRunner); tried again at the next firing or after the interval.
            log.warning("diff_run_failed", tenant=tenant)
        self._watches[tenant] = watch.made(now)
        if fired is not None:
            with self._runtime.database.connection() as connection:
                put_fired(connection, tenant, SCHEDULE, fired)

    def _compute(self, tenant: str, trigger: str) -> None:
        runner = self._runtime.get(DriftRunner)
        runner.run(tenant, None, None, None, trigger=trigger)
        for environment in self._environments(tenant):
            runner.run(tenant, environment, None, None, trigger=trigger)

    def _environments(self, tenant: str) -> list[str]:
        """Where several environments send traces, each gets a report of its own."""
        today = self._runtime.clock.now().date()
        days = self._runtime.get(ObservedHistory).service_days(
            tenant, None, today - timedelta(days=self._settings.window_days), today + timedelta(days=1)
        )
        found = sorted({day.service.environment for day in days} - {""})
        return found if 1 < len(found) <= ENVIRONMENTS_MAX else []

    def _fired(self, tenant: str, now: datetime) -> datetime | None:
        if self._schedule is None:
            return None
        with self._runtime.database.connection() as connection:
            last = last_fired(connection, tenant, SCHEDULE)
            if last is None:
                put_fired(connection, tenant, SCHEDULE, now)
        return self._schedule.due(last, now)

    def _marks(self, tenant: str, now: datetime) -> Marks:
        """Documents and names, and traces."""
        designed = self._runtime.get(DesignedReader)
        at, names = self._names.get(tenant, (-math.inf, ""))
        if time.monotonic() - at >= NAMES_S:
            entities = designed.registry(tenant).entities
            names = hashlib.sha256(repr(entities).encode()).hexdigest() if entities else ""
            self._names[tenant] = (time.monotonic(), names)
        return Marks(designed.document_revision(tenant) + names, self._traces(tenant, now))

    def _traces(self, tenant: str, now: datetime) -> str:
        """What came in, looked at now and then: daily rows of many services are not read at every tick.

        Once the window has closed days only, the running day does not count: a run is made again where late spans changed a closed one.
        """
        at, mark = self._incoming.get(tenant, (-math.inf, ""))
        with self._runtime.database.connection() as connection:
            last = newest_standard_run(connection, tenant, "")
        closed = last is not None and last.body.get("window_kind") == "closed"
        interval = self._settings.change_interval.total_seconds()
        if time.monotonic() - at < (
            self._settings.debounce.total_seconds() if not mark else interval * CLOSED_FACTOR if closed else interval
        ):
            return mark
        today = now.date()
        days = self._runtime.get(ObservedHistory).service_days(
            tenant, None, today - timedelta(days=self._settings.window_days), today + timedelta(days=1)
        )
        counted = sorted((d.service, d.day, d.spans, d.entry_spans) for d in days if d.day < today or not closed)
        mark = hashlib.sha256(repr((closed, counted)).encode()).hexdigest() if counted else ""
        self._incoming[tenant] = (time.monotonic(), mark)
        return mark

    def _tell(self) -> None:
        if not self._settings.webhook_urls:
            self._stop.wait()
            return
        secret = self._settings.webhook_secret.get_secret_value() if self._settings.webhook_secret is not None else ""
        with httpx.Client(follow_redirects=False) as client:
            while not self._stop.wait(DELIVERY_S):
                if not self.leads:
                    continue
                try:
                    deliver(self._runtime.database, secret, self._runtime.clock.now, client)
                except DependencyError as error:
                    log.warning("diff_webhooks", error=str(error))
                except Exception:  # as in `_work`
                    log.exception("diff_webhooks_failed")
                    self._stop.wait(self._settings.change_interval.total_seconds())


def BUILD(runtime: Runtime) -> DiffRole | None:  # noqa: N802  # the plugin constant of a role file
    """The diff role; none where this build has nothing to compare with."""
    try:
        runtime.get(ObservedHistory)
    except InvariantBroken:
        log.warning("diff_without_observed_edges")
        return None
    return DiffRole(runtime)
