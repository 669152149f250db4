"""A table for the terminal: drift first, confirmed edges as a count. A narrow terminal gets a paragraph for each finding instead."""

from __future__ import annotations

import io
import shutil
import textwrap
from typing import Final

from diff.report import Format
from diff.reports._words import FLAGS, HEADINGS, clean, edge, places, ratios, window
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

WIDTH = 160
# Below this the columns of a table would break their words.
TABLE_MIN = 120


def render(report: Report) -> str:
    """Plain text, as wide as a terminal; no colours where nobody asked for them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    # As wide as the terminal; what is no terminal takes all.
    width = max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))
    console = Console(file=out, width=width, no_color=True, highlight=False, markup=False, emoji=False)
    run, totals = report.run, report.totals
    console.print(f"Drift of {clean(run.environment) or 'all environments'}, {window(report)}")
    console.print(
        f"confirmed {totals['confirmed']}, documented only {totals['doc_only']}, observed only {totals['observed_only']}, conflicts {totals['conflict']}; "
        f"undecided {totals['undecided']}; {ratios(report)}"
    )
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if not found or flag is Flag.CONFIRMED:
            continue
        console.print()
        if width < TABLE_MIN:
            console.print(HEADINGS[flag])
            for finding in found:
                console.print(Text(_paragraph(finding, width)))
            continue
        table = Table(title=HEADINGS[flag], title_justify="left", show_lines=False, expand=False, box=None, padding=(0, 1))
        for name in ("status", "severity", "state", "edge", "evidence", "why"):
            table.add_column(name, overflow="fold", max_width={"why": 72, "evidence": 30, "edge": 36}.get(name))
        for finding in found:
            table.add_row(
                Text(finding.status), Text(finding.severity.value), Text(finding.state.value), Text(clean(edge(finding))), Text(clean("\n".join(evidence(finding)))),
                Text(_why(finding)),
            )
        console.print(table)
    if report.next:
        console.print("\nmore findings than shown; narrow the filters or raise --limit")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _why(finding: Finding) -> str:
    """The half of the summary that says why, and what would change it."""
    return clean(finding.summary.partition("): ")[2] + (f" Changes with: {finding.what_would_change_this}." if finding.what_would_change_this else ""))


def _paragraph(finding: Finding, width: int) -> str:
    head = f" {finding.status}  {finding.severity.value}  {finding.state.value}  {clean(edge(finding))}"
    folded = [textwrap.fill(text, width - 2, initial_indent="   ", subsequent_indent="   ") for text in (clean("; ".join(evidence(finding))), _why(finding)) if text]
    return "\n".join([head, *folded])


def evidence(finding: Finding) -> list[str]:
    """Both sides in a few words."""
    said = places(finding)
    lines = said[:2] + ([f"and {len(said) - 2} more"] if len(said) > 2 else [])
    if finding.observed is not None:
        e = finding.observed
        lines.append(f"{e.calls or e.messages:,} {'call' if e.calls else 'message'}{'' if (e.calls or e.messages) == 1 else 's'}, {e.errors:,} errors")
    return lines


REPORT: Final = Format(".txt", "text/plain", render)
