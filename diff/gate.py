"""From a report to an exit code (drift.md section 7). Pure.

0 nothing at or above the threshold, 1 drift, 2 could not run (decided by the caller), 3 undecided (only where asked for).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote

from diff.suppressions import Suppression, unused
from nexus.errors import BadQuestion
from nexus.model.finding import Finding, Flag, Severity, State
from nexus.ports.drift import Report

OK, DRIFT, UNDECIDED = 0, 1, 3
_SEVERITIES = tuple(Severity)
# Nobody needs to act on these.
_QUIET = frozenset({State.SUPPRESSED, State.RESOLVED})


@dataclass(frozen=True, slots=True)
class Threshold:
    """What fails the gate: any of the flags or statuses, or anything at or above the severity."""

    flags: frozenset[str] = frozenset()
    severity: Severity | None = Severity.LOW

    def met(self, finding: Finding) -> bool:
        """Whether a finding reaches it."""
        if finding.flag is Flag.CONFIRMED or finding.severity is Severity.NONE:
            return False
        if finding.flag.value in self.flags or finding.status in self.flags:
            return True
        return self.severity is not None and _SEVERITIES.index(finding.severity) >= _SEVERITIES.index(self.severity)


@dataclass(frozen=True, slots=True)
class Gate:
    """The judgement: exit code, what fails, what is undecided, and what the files need."""

    code: int
    failing: tuple[Finding, ...]
    undecided: tuple[Finding, ...]
    notes: tuple[str, ...]


def threshold(names: Sequence[str], statuses: Iterable[str]) -> Threshold:
    """From `--fail-on` values: flags, statuses, severities, `any` or `none`. BadQuestion names what is none of them."""
    if not names:
        return Threshold()
    flags, severity = set(), None
    known = {flag.value for flag in Flag} - {Flag.CONFIRMED.value} | set(statuses)
    for name in names:
        if name == "none":
            continue
        if name == "any":
            severity = Severity.LOW
        elif name in ("low", "medium", "high"):
            found = Severity(name)
            severity = found if severity is None or _SEVERITIES.index(found) < _SEVERITIES.index(severity) else severity
        elif name in known:
            flags.add(name)
        else:
            raise BadQuestion(
                f"--fail-on {name}: neither a flag (conflict, doc_only, observed_only) nor a severity (low, medium, high), any, none or a finding kind"
            )
    return Threshold(frozenset(flags), severity)


def relative(report: Report, prefix: str) -> Report:
    """The report with document URIs below `prefix` relative to it, so that they mean lines of a checkout."""

    def cut(finding: Finding) -> Finding:
        if finding.designed is None or not any(c.document.uri.startswith(prefix) for c in finding.designed.claims):
            return finding
        claims = tuple(
            replace(
                c,
                document=replace(
                    c.document,
                    uri=unquote(c.document.uri.removeprefix(prefix))
                    if c.document.uri.startswith(prefix)
                    else c.document.uri,
                ),
            )
            for c in finding.designed.claims
        )
        return replace(finding, designed=replace(finding.designed, claims=claims))

    return replace(report, findings=tuple(map(cut, report.findings))) if prefix else report


def annotated(
    report: Report, suppressions: Sequence[Suppression], baseline: Mapping[str, str] | None, now: datetime
) -> Report:
    """The report with what the files say on each finding: its state, and `details.suppression` and `details.baseline`."""
    live = [s for s in suppressions if not s.expired(now)]
    found = []
    for finding in report.findings:
        made = finding
        hit = next((s for s in live if s.covers(finding)), None) if finding.flag is not Flag.CONFIRMED else None
        if hit is not None:
            note = {"reason": hit.reason, "owner": hit.owner, "expires": hit.expires.isoformat()}
            made = replace(made, state=State.SUPPRESSED, details={**made.details, "suppression": note})
        if baseline is not None and finding.flag is not Flag.CONFIRMED:
            made = replace(made, details={**made.details, "baseline": finding.fingerprint in baseline})
        found.append(made)
    return replace(report, findings=tuple(found))


def judge(
    report: Report,
    limit: Threshold,
    *,
    fail_on_undecided: bool,
    suppressions: Sequence[Suppression],
    baseline: Mapping[str, str] | None,
    now: datetime,
) -> Gate:
    """`report` as `annotated` made it, with every finding."""
    counted = [f for f in report.findings if f.state not in _QUIET and not f.details.get("baseline")]
    failing = tuple(f for f in counted if not f.undecided and f.state is not State.HELD and limit.met(f))
    undecided = tuple(f for f in counted if (f.undecided or f.state is State.HELD) and f.flag is not Flag.CONFIRMED)
    notes = [
        f"suppression of {s} has expired on {s.expires}; fix the finding or renew it"
        for s in suppressions
        if s.expired(now)
    ]
    notes += [
        f"suppression of {s} matches nothing any more; remove it"
        for s in unused([s for s in suppressions if not s.expired(now)], report.findings)
    ]
    if baseline is not None:
        present = {f.fingerprint for f in report.findings if f.flag is not Flag.CONFIRMED}
        notes += [
            f"fixed since the baseline: {edge or fingerprint}; take it out with --update-baseline"
            for fingerprint, edge in sorted(baseline.items())
            if fingerprint not in present
        ]
    if not any(report.totals[flag.value] for flag in Flag):
        notes.append("nothing was compared: no document says anything, and no trace was seen in the window")
    code = DRIFT if failing else UNDECIDED if undecided and fail_on_undecided else OK
    return Gate(code, failing, undecided, tuple(notes))
