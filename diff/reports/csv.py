"""CSV (RFC 4180), one row a finding, for a spreadsheet. Cells that a spreadsheet would take for a formula begin with an apostrophe."""

from __future__ import annotations

import csv
import io
from typing import Final

from diff import stats
from diff.report import Format
from diff.reports._words import clean, places
from nexus.model.render import instant
from nexus.ports.drift import Report

COLUMNS = (
    "fingerprint",
    "flag",
    "status",
    "reason",
    "severity",
    "state",
    "undecided",
    "rank",
    "relation",
    "source",
    "source_kind",
    "target",
    "target_kind",
    "environment",
    "protocol",
    "operation",
    "channel",
    "summary",
    "what_would_change_this",
    "documents",
    "calls",
    "messages",
    "errors",
    "first_seen",
    "last_seen",
    "opportunities",
    "covered_days",
    "detection",
    "rate_upper",
    "active_day_upper",
    "first_detected",
    # The rest of both sides' evidence (drift.md section 7); behind what earlier readers of the file know.
    "revisions",
    "quotes",
    "error_low",
    "error_high",
    "traces",
    "trace_query",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> object:
    """Text that no spreadsheet runs, and no terminal."""
    if not isinstance(value, str):
        return value
    return f"'{clean(value)}" if value.startswith(_FORMULA) else clean(value)


def render(report: Report) -> str:
    """Header and rows."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for f in report.findings:
        e, x, claims = f.observed, f.exposure, f.designed.claims if f.designed is not None else ()
        amount = (e.calls or e.messages) if e else 0
        low, high = stats.jeffreys(min(e.errors, amount), amount) if e and amount else ("", "")
        row = (
            f.fingerprint,
            f.flag.value,
            f.status,
            f.reason,
            f.severity.value,
            f.state.value,
            str(f.undecided).lower(),
            f.rank,
            f.relation,
            f.source.name,
            f.source.kind.value,
            f.target.name,
            f.target.kind.value,
            f.environment,
            f.via.protocol,
            f.via.operation,
            f.via.channel,
            f.summary,
            f.what_would_change_this,
            " ".join(places(f)),
            e.calls if e else "",
            e.messages if e else "",
            e.errors if e else "",
            instant(e.first_seen) if e else "",
            instant(e.last_seen) if e else "",
            x.opportunities if x else "",
            x.covered_days if x else "",
            x.detection if x else "",
            x.rate_upper if x else "",
            x.active_day_upper if x else "",
            instant(f.first_detected) or "",
            " ".join(dict.fromkeys(c.document.revision for c in claims)),
            " | ".join(" ".join(c.quote.split()) for c in claims),
            round(low, 6) if isinstance(low, float) else low,
            round(high, 6) if isinstance(high, float) else high,
            " ".join(one.trace_id for one in e.exemplars) if e else "",
            e.trace_query.query if e and e.trace_query is not None else "",
        )
        writer.writerow([cell(value) for value in row])
    return out.getvalue()


REPORT: Final = Format(".csv", "text/csv", render)
