"""Whether a dependency that was alive has stopped for longer than its own rhythm explains (drift.md section 3, `ceased`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from diff import stats

if TYPE_CHECKING:
    from diff.subject import Subject
    from diff.world import World

# No rhythm in a history of 90 days needs more silent days.
_YEARS = 4 * 365


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Days in the history: `active` of the `days` covered up to the last sighting, then `silent` covered days without any."""

    active: int
    days: int
    silent: int
    # Of the last sighting.
    offset: int
    last: date
    # Chance that the rhythm explains the silence.
    chance: float
    # Days as bits: those with a sighting, and those on which the source was covered.
    active_mask: int
    covered_mask: int

    def ceased(self, world: World) -> bool:
        """Whether the silence is longer than the rhythm explains."""
        return self.silent > 0 and self.chance < world.policy.ceased_max

    @property
    def pause(self) -> int:
        """Covered days of the longest silence between two sightings."""
        longest, before, left = 0, 0, self.active_mask
        while left:
            day = left & -left
            if before:
                longest = max(longest, (self.covered_mask & (day - 1) & ~(2 * before - 1)).bit_count())
            before, left = day, left ^ day
        return longest

    def missing(self, world: World) -> int:
        """Silent days still to come until a living edge would show such a silence in fewer than one year in a thousand, and has shown none as long; 0 = decided.

        A rhythm of fewer days than an absence takes is not known: then the silence has to last as long as an absence.
        """
        known = self.days >= world.policy.covered_days_min
        silent = max(self.silent, self.pause + 1, 0 if known else world.policy.covered_days_min)
        while silent < _YEARS and stats.silence_in_year(self.active, self.days, silent) > world.policy.ceased_year_max:
            silent += 1
        return silent - self.silent


def active_to_the_end(subject: Subject, world: World) -> bool:
    """Whether the last day of the history shows it: then no day is silent. Asked of every edge that is seen, before its rhythm is worked out."""
    return world.active_mask(subject.past).bit_length() >= len(world.dates)


def rhythm_of(subject: Subject, world: World) -> Rhythm | None:
    """The rhythm of a documented edge, on days on which its source was covered where the edge was seen."""
    return (
        rhythm(
            world.active_mask(subject.past),
            world.covered_mask(subject.source, {e.source.environment for e in subject.past}),
            world,
        )
        if subject.past
        else None
    )


def rhythm(active_mask: int, covered_mask: int, world: World) -> Rhythm | None:
    """The rhythm of an edge: days on which it was active, among days on which its source was covered. None if never active."""
    if not active_mask:
        return None
    last = active_mask.bit_length() - 1
    before = (1 << (last + 1)) - 1
    # A day with a sighting is covered, however little else was seen on it.
    days = ((covered_mask | active_mask) & before).bit_count()
    active = (active_mask & before).bit_count()
    silent = (covered_mask & ~before).bit_count()
    return Rhythm(
        active,
        days,
        silent,
        last,
        world.day(last),
        stats.silent_chance(active, days, silent) if silent else 1.0,
        active_mask,
        covered_mask,
    )
