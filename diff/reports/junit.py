"""JUnit XML: one case for each documented edge, and one for each observed edge that no document mentions.

Drift fails, what is undecided or suppressed is skipped, what is confirmed passes. A conflict beside a confirmed edge (a broken
promise) is a case of its own.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from diff.counts import many
from diff.report import Format
from diff.reports._words import clean, edge, line, places, say_in
from nexus.model.finding import Finding, Flag, Severity, State
from nexus.model.render import instant
from nexus.ports.drift import Report


def render(report: Report) -> str:
    """One test suite a flag."""
    say = say_in(report)
    root = Element("testsuites", name="nexus diff")
    numbers = {"tests": 0, "failures": 0, "skipped": 0}
    for flag in Flag:
        found = [f for f in report.findings if f.flag is flag]
        suite = SubElement(
            root,
            "testsuite",
            name=flag.value,
            timestamp=(instant(report.run.generated_at) or "").removesuffix("Z").split(".")[0],
        )
        counted = {"tests": len(found), "failures": 0, "skipped": 0}
        for finding in found:
            case = SubElement(
                suite,
                "testcase",
                classname=f"drift.{flag.value}.{finding.status}",
                name=line(edge(finding, say) + _via(finding)),
            )
            if finding.designed is not None and places(finding):
                case.set("file", clean(finding.designed.claims[0].document.uri))
                case.set("line", str(finding.designed.claims[0].lines[0]))
            outcome = _outcome(finding)
            if outcome == "failure":
                counted["failures"] += 1
                SubElement(case, "failure", message=clean(finding.summary), type=finding.status).text = clean(
                    _text(finding)
                )
            elif outcome == "skipped":
                counted["skipped"] += 1
                SubElement(case, "skipped", message=clean(finding.summary))
        for key, value in counted.items():
            suite.set(key, str(value))
            numbers[key] += value
        suite.set("errors", "0")
    for key, value in numbers.items():
        root.set(key, str(value))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _via(finding: Finding) -> str:
    parts = [part for part in (finding.via.protocol, finding.via.operation, finding.via.channel) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _outcome(finding: Finding) -> str:
    if finding.flag is Flag.CONFIRMED or finding.severity is Severity.NONE:
        return "pass"
    if (
        finding.undecided
        or finding.state in (State.SUPPRESSED, State.HELD, State.RESOLVED)
        or finding.details.get("baseline")
    ):
        return "skipped"
    return "failure"


def _text(finding: Finding) -> str:
    lines = [
        f"documented at {place}: {claim.quote}"
        for place, claim in zip(places(finding), finding.designed.claims if finding.designed else (), strict=True)
    ]
    if finding.observed is not None:
        e = finding.observed
        lines.append(
            f"observed: {many(e.calls or e.messages, 'call' if e.calls else 'message')}, {many(e.errors, 'error')}, traces {', '.join(x.trace_id for x in e.exemplars) or 'none kept'}"
        )
    if finding.what_would_change_this:
        lines.append(f"changes with: {finding.what_would_change_this}")
    return "\n".join([*lines, f"fingerprint: {finding.fingerprint}"])


REPORT: Final = Format(".xml", "application/xml", render)
