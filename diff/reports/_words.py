"""Words that several formats share."""

from __future__ import annotations

import re

from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

FLAGS = (Flag.CONFLICT, Flag.DOC_ONLY, Flag.OBSERVED_ONLY, Flag.CONFIRMED)
HEADINGS = {
    Flag.CONFLICT: "Conflicts: documents and traces disagree", Flag.DOC_ONLY: "Documented, not observed", Flag.OBSERVED_ONLY: "Observed, not documented",
    Flag.CONFIRMED: "Confirmed",
}
ARROWS = {"CALLS": "calls", "PUBLISHES": "publishes", "SUBSCRIBES": "subscribes to", "DELIVERS": "delivers to"}


# What XML 1.0 cannot hold, and what a terminal would obey.
_CONTROL = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Text without control characters."""
    return _CONTROL.sub("\ufffd", text)


def edge(finding: Finding) -> str:
    """`checkout calls fx`."""
    return f"{finding.source.name} {ARROWS.get(finding.relation, finding.relation)} {finding.target.name}"


def window(report: Report) -> str:
    """`2026-01-01 to 2026-01-29 (28 closed days)`."""
    run, kind = report.run, report.body.get("window_kind", "")
    days = round((run.window_to - run.window_from).total_seconds() / 86_400, 1)
    said = {"closed": f"{days:g} closed days", "running": f"{days:g} days, the running day included: until seven closed days are covered",
        "stated": f"{days:g} days, as asked"}.get(kind, f"{days:g} days")
    return f"{run.window_from:%Y-%m-%d %H:%M} to {run.window_to:%Y-%m-%d %H:%M} UTC ({said})"


def ratios(report: Report) -> str:
    """`accuracy 90 %, coverage ...`."""
    shown = [f"{name.replace('_', '-')} {value:.0%}" for name, value in report.metrics.items() if isinstance(value, float)]
    return ", ".join(shown) if shown else "no ratios yet"


def places(finding: Finding) -> list[str]:
    """`architecture.md:12` of every claim."""
    return [f"{c.document.uri or c.document.title}:{c.lines[0]}" for c in finding.designed.claims] if finding.designed is not None else []
