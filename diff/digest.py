"""One message a run, for people in a chat: what is new, what is resolved, what is held. Pure; whoever sends it makes its own blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diff.counts import many
from nexus.model.finding import Finding, Flag, State
from nexus.ports.drift import Report

SHOWN = 5


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One finding of the digest."""

    fingerprint: str
    severity: str
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """`headline`, then sections of (title, lines, how many more); empty sections are left out. `worth_sending`: something changed."""

    run: str
    headline: str
    sections: tuple[tuple[str, tuple[DigestLine, ...], int], ...]
    worth_sending: bool


def digest(report: Report, resolved: Sequence[Finding] = ()) -> Digest:
    """The digest of a run as one reader sees it. `resolved` are findings that this run resolved (GET /diff?state=resolved)."""
    drift = [f for f in report.findings if f.flag is not Flag.CONFIRMED and f.severity.value != "none"]
    fresh = [f for f in drift if f.state in (State.NEW, State.REOPENED) and not f.undecided]
    held = [f for f in drift if f.state is State.HELD]
    still = [f for f in drift if f.state is State.OPEN and not f.undecided and f.severity.value == "high"]
    gone = [f for f in resolved if f.flag is not Flag.CONFIRMED]
    totals = report.totals
    sections = tuple(
        (title, tuple(_line(f) for f in found[:SHOWN]), max(len(found) - SHOWN, 0))
        for title, found in (
            ("New", fresh),
            ("Resolved", gone),
            ("Held: telemetry was lost", held),
            ("Still open", still),
        )
        if found
    )
    window = f"{report.run.window_from:%Y-%m-%d} to {report.run.window_to:%Y-%m-%d}"
    conflicts = many(totals["conflict"], "conflict")
    headline = (
        f"Drift {report.run.environment or 'in all environments'}, {window}: {len(fresh)} new, {len(gone)} resolved; {conflicts}, {totals['doc_only']} documented only, "
        f"{totals['observed_only']} observed only, {totals['undecided']} undecided"
    )
    return Digest(report.run.id, headline, sections, bool(fresh or gone or held))


def text(made: Digest) -> str:
    """Plain text."""
    lines = [made.headline]
    for title, found, more in made.sections:
        lines += ["", f"{title}:", *(f"- [{line.severity}] {line.text}" for line in found)]
        lines += [f"  and {more} more"] if more else []
    return "\n".join(lines)


def _line(finding: Finding) -> DigestLine:
    return DigestLine(finding.fingerprint, finding.severity.value, finding.state.value, finding.summary)
