"""The values that a comparison is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from nexus.model.edge import DesignedEdge, EdgeHistory, ObservedEdge
from nexus.model.registry import Registry
from nexus.model.service import Coverage, ServiceDay

NO_HISTORY = EdgeHistory()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything, read once. `observed` is over the report's window; `past` are the edges of the history that the window does not show. `histories` are of both, by rid."""

    window_from: datetime
    window_to: datetime
    history_from: date
    designed: tuple[DesignedEdge, ...]
    observed: tuple[ObservedEdge, ...]
    past: tuple[ObservedEdge, ...]
    histories: Mapping[str, EdgeHistory]
    service_days: tuple[ServiceDay, ...]
    coverage: Coverage
    registry: Registry
    environment: str = ""
    # Ranges that could not be read in the whole history (the report's own are in `coverage`).
    history_coverage: Coverage | None = None
    # Hours with activity of edges whose documents declare a schedule.
    hours: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)

    @property
    def edges(self) -> tuple[ObservedEdge, ...]:
        """Every edge of the history."""
        return (*self.observed, *self.past)

    @property
    def days(self) -> int:
        """Days of the history up to the end of the window, a running day included."""
        return (self.last_day - self.history_from).days + 1

    @property
    def last_day(self) -> date:
        """The last day that the window touches."""
        return (self.window_to - timedelta(microseconds=1)).date()

    @property
    def running(self) -> bool:
        """Whether the window ends inside a day."""
        end = self.window_to
        return (end.hour, end.minute, end.second, end.microsecond) != (0, 0, 0, 0)
