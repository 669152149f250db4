"""A table for the terminal: drift first, confirmed edges as a count. A narrow terminal gets a paragraph for each finding instead."""

from __future__ import annotations

import io
import shutil
from typing import Final

from diff.report import Format
from diff.reports._words import FLAGS, HEADINGS, TOTALS, Say, edge, line, number, places, ratios, say_in, scope, window
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

WIDTH = 160
# Below this the columns of a table would break their words.
TABLE_MIN = 120


def render(report: Report) -> str:
    """Plain text, as wide as a terminal; no colours where nobody asked for them."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    out, say = io.StringIO(), say_in(report)
    # As wide as the terminal; what is no terminal takes all.
    width = max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))
    console = Console(file=out, width=width, no_color=True, highlight=False, markup=False, emoji=False)
    totals = [f"{say(name)} {report.totals[key]}" for name, key in TOTALS]
    console.print(f"{say('Drift of {scope}', scope=line(scope(report, say)))}, {window(report, say)}")
    console.print(f"{', '.join(totals[:-1])}; {totals[-1]}; {ratios(report, say)}")
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if not found or flag is Flag.CONFIRMED:
            continue
        console.print()
        if width < TABLE_MIN:
            console.print(say(HEADINGS[flag]))
            for finding in found:
                console.print(
                    Padding(
                        Text(
                            "  ".join(
                                [
                                    finding.status,
                                    say(finding.severity.value),
                                    say(finding.state.value),
                                    line(edge(finding, say)),
                                ]
                            )
                        ),
                        (0, 0, 0, 1),
                    )
                )
                for text in ("; ".join(evidence(finding, say)), _why(finding, say)):
                    console.print(Padding(Text(text), (0, 0, 0, 3)))
            continue
        table = Table(
            title=say(HEADINGS[flag]), title_justify="left", show_lines=False, expand=False, box=None, padding=(0, 1)
        )
        for name in ("status", "severity", "state", "edge", "evidence", "why"):
            table.add_column(say(name), overflow="fold", max_width={"why": 72, "evidence": 30, "edge": 36}.get(name))
        for finding in found:
            table.add_row(
                Text(finding.status),
                Text(say(finding.severity.value)),
                Text(say(finding.state.value)),
                Text(line(edge(finding, say))),
                Text("\n".join(evidence(finding, say))),
                Text(_why(finding, say)),
            )
        console.print(table)
    if report.next:
        console.print("\n" + say("more findings than shown; narrow the filters or raise --limit"))
    return "\n".join(text.rstrip() for text in out.getvalue().splitlines()) + "\n"


def _why(finding: Finding, say: Say) -> str:
    """The half of the summary that says why, and what would change it."""
    change = (
        " " + say("Changes with: {change}.", change=finding.what_would_change_this)
        if finding.what_would_change_this
        else ""
    )
    return line(finding.summary.partition("): ")[2] + change)


def evidence(finding: Finding, say: Say) -> list[str]:
    """Both sides in a few words, a line each."""
    said = [line(text) for text in places(finding)]
    lines = said[:2] + ([say("and {n} more", n=len(said) - 2)] if len(said) > 2 else [])
    if finding.observed is not None:
        e = finding.observed
        lines.append(
            f"{number(say, e.calls or e.messages, 'call' if e.calls else 'message')}, {number(say, e.errors, 'error')}"
        )
    return lines


REPORT: Final = Format(".txt", "text/plain", render)
