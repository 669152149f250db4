"""A file of suppressions: what is known and accepted, by whom, why and until when. Pure.

```yaml
suppressions:
  - fingerprint: 3f0c...          # or any of: flag, status, relation, source, target
    reason: moves with the billing release
    owner: team-payments
    expires: 2026-09-30
```
Each needs a reason, an owner and an expiry. An expired one suppresses nothing; it and one that nothing matches are reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import yaml

from nexus.errors import BadQuestion
from nexus.model.finding import Finding

_MATCHERS = ("fingerprint", "flag", "status", "relation", "source", "target")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One entry; `match` is (field, value) pairs, all of which must hold. It holds to the end of the day `expires` (UTC)."""

    match: tuple[tuple[str, str], ...]
    reason: str
    owner: str
    expires: date

    def covers(self, finding: Finding) -> bool:
        """Whether it is about that finding."""
        values = {
            "fingerprint": finding.fingerprint,
            "flag": finding.flag.value,
            "status": finding.status,
            "relation": finding.relation,
            "source": finding.source.name,
            "target": finding.target.name,
        }
        return all(values[name].casefold() == value.casefold() for name, value in self.match)

    def expired(self, now: datetime) -> bool:
        """Whether its last day is over."""
        return now > datetime.combine(self.expires, time.max, tzinfo=UTC)

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.match)


def parse_suppressions(text: str, name: str) -> list[Suppression]:
    """Entries of a file. BadQuestion names every entry that lacks something, by its number."""
    try:
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        msg = f"{name}: no YAML: {error}".replace("\n", " ")
        raise BadQuestion(msg) from error
    entries = data.get("suppressions", []) if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise BadQuestion(f"{name}: a list of suppressions is needed")
    found, problems = [], []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(_entry(entry))
        except ValueError as error:
            problems.append(f"{name}, entry {number}: {error}")
    if problems:
        raise BadQuestion("; ".join(problems))
    return found


def _entry(entry: object) -> Suppression:
    if not isinstance(entry, dict):
        msg = "not a mapping"
        raise ValueError(msg)  # noqa: TRY004  # a value of the file, not of the program
    unknown = sorted(set(entry) - {*_MATCHERS, "reason", "owner", "expires"})
    missing = [key for key in ("reason", "owner", "expires") if not entry.get(key)]
    match = tuple((key, str(entry[key])) for key in _MATCHERS if entry.get(key))
    if not match:
        missing.insert(0, "fingerprint (or flag, status, relation, source, target)")
    if unknown or missing:
        parts = ([f"lacks {', '.join(missing)}"] if missing else []) + (
            [f"has unknown keys {', '.join(map(str, unknown))}"] if unknown else []
        )
        raise ValueError("; ".join(parts))
    expires = entry["expires"]
    if isinstance(expires, datetime):
        expires = expires.date()
    return Suppression(
        match,
        str(entry["reason"]),
        str(entry["owner"]),
        expires if isinstance(expires, date) else date.fromisoformat(str(expires)),
    )


def unused(suppressions: Iterable[Suppression], findings: Iterable[Finding]) -> list[Suppression]:
    """Entries that no finding matches."""
    kept = list(findings)
    return [s for s in suppressions if not any(s.covers(f) for f in kept)]
