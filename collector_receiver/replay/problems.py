"""What could not be taken, counted by reason: a file that is half readable says so, it does not fail."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_REASONS = 20
OTHER = "(other reasons)"


@dataclass(slots=True)
class Problems:
    """Reasons -> how many spans or documents. Bounded: beyond `MAX_REASONS` new ones fold into one."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """Count one reason."""
        key = reason if reason in self.counts or len(self.counts) < MAX_REASONS else OTHER
        self.counts[key] = self.counts.get(key, 0) + count

    def text(self) -> str:
        """All reasons in one line, most frequent first."""
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return "; ".join(f"{count} x {reason}" if count > 1 else reason for reason, count in ordered)
