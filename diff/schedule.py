"""When runs are due. Pure: (cron, time zone, last firing, now) -> the firing to make up for, if any."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nexus.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron expression in a time zone. `grace`: a firing missed for longer is let go."""

    cron: str
    zone: str = "UTC"
    grace: timedelta = timedelta(hours=24)

    def check(self) -> None:
        """ConfigError where the expression or the zone cannot be read."""
        from croniter import croniter

        problems = []
        if not croniter.is_valid(self.cron):
            problems.append(
                f"NEXUS_DIFF__SCHEDULE: {self.cron!r} is no cron expression (minute hour day month weekday)"
            )
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError):
            problems.append(f"NEXUS_DIFF__TIME_ZONE: {self.zone!r} is no IANA time zone")
        if problems:
            raise ConfigError(problems)

    def due(self, last: datetime | None, now: datetime) -> datetime | None:
        """The newest firing in (last, now], within the grace: however many were missed, it is one run. None where nothing is due.

        Without a last firing the schedule begins now: the past is not made up for.
        """
        if last is None:
            return None
        newest = self.previous(now)
        return newest if newest > last and now - newest <= self.grace else None

    def previous(self, now: datetime) -> datetime:
        """The last firing at or before `now`, in UTC."""
        from croniter import croniter

        zone = ZoneInfo(self.zone)
        # croniter gives the one strictly before; a second later makes a firing of this very instant count.
        found: datetime = croniter(self.cron, (now + timedelta(seconds=1)).astimezone(zone)).get_prev(datetime)
        return found.astimezone(ZoneInfo("UTC"))
