"""Markdown, for a pull request or the documentation: drift first, each finding with both sides' evidence."""

from __future__ import annotations

import re
from typing import Final

from diff import stats
from diff.report import Format
from diff.reports._words import (
    FLAGS,
    HEADINGS,
    TOTALS,
    Say,
    edge,
    line,
    notes,
    number,
    place,
    places,
    ratios,
    say_in,
    scope,
    window,
)
from nexus.model.claim import Claim, Modality
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
# What of an @ would notify somebody, and what of a bare address would become a link.
_MENTION = re.compile(r"@(?=\w)|(?<=\w)://")


def escape(text: str) -> str:
    """Text that means nothing to Markdown or to a forge: no markup, no HTML, no mention, no link."""
    plain = _SPECIAL.sub(r"\\\1", line(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")
    return _MENTION.sub(lambda m: "@\u200b" if m[0] == "@" else ":\u200b//", plain)


def code(text: str) -> str:
    """A code span of any text, backticks in it included."""
    flat = line(text)
    fence = "`" * (max((len(run) for run in re.findall(r"`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else ""


def render(report: Report) -> str:
    """The whole report."""
    run, say = report.run, say_in(report)
    stands = say(
        "Documents {documents}, configuration {configuration}, run {run}.",
        documents=code(run.document_revision[:12]),
        configuration=code(run.config_hash),
        run=code(run.id),
    )
    lines = [
        f"# {say('Drift of {scope}', scope=escape(scope(report, say)))}",
        "",
        f"{say('Window {window}.', window=window(report, say))} {stands}",
        "",
        f"| {' | '.join(say(name) for name, _ in TOTALS)} |",
        f"|{' ---: |' * len(TOTALS)}",
        f"| {' | '.join(str(report.totals[key]) for _, key in TOTALS)} |",
        "",
        f"{_sentence(ratios(report, say))}.",
        "",
    ]
    lines += [part for note in notes(report, say) for part in (note, "")]
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if found:
            lines += [f"## {say(HEADINGS[flag])}", ""]
            lines += (
                _confirmed(found, say)
                if flag is Flag.CONFIRMED
                else [text for finding in found for text in _finding(finding, say)]
            )
    if proposals := report.body.get("renames"):
        lines += [f"## {say('Renames to review')}", ""]
        lines += [
            "- "
            + say(
                "{old} may now be {new}: ended {ended}, began {began}, neighbours alike by {similarity}",
                old=code(p["old"]),
                new=code(p["new"]),
                ended=p["ended"],
                began=p["began"],
                similarity=f"{p['similarity']:.0%}",
            )
            for p in proposals
        ] + [""]
    if report.next:
        lines += [f"*{_sentence(say('more findings than shown; narrow the filters or raise --limit'))}.*", ""]
    return "\n".join(lines).rstrip() + "\n"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _confirmed(found: list[Finding], say: Say) -> list[str]:
    lines = [f"| {' | '.join(map(say, ('edge', 'documents', 'calls', 'errors')))} |", "| --- | --- | ---: | ---: |"]
    for finding in found:
        seen = finding.observed
        said = ", ".join(map(code, places(finding)))
        lines.append(
            f"| {escape(edge(finding, say))} | {cell(said)} | {(seen.calls or seen.messages) if seen else 0:,} | {seen.errors if seen else 0:,} |"
        )
    return [*lines, ""]


def cell(text: str) -> str:
    """Markdown in a table: a bar in it, also one in a code span, is no border."""
    return text.replace("|", "\\|")


def _finding(finding: Finding, say: Say) -> list[str]:
    tags = [
        f"**{finding.status}**",
        say(finding.severity.value),
        say(finding.state.value),
        *([say("undecided")] if finding.undecided else []),
    ]
    lines = [f"### {escape(edge(finding, say))}", "", f"{', '.join(tags)}. {escape(finding.summary)}", ""]
    if finding.designed is not None:
        lines += [_claim(claim, say) for claim in finding.designed.claims] + [""]
    if finding.observed is not None:
        lines += [f"- {_observed(finding.observed, say)}", ""]
    if finding.what_would_change_this:
        lines += [say("What would change this: {change}.", change=escape(finding.what_would_change_this)), ""]
    return [*lines, f"<sub>{finding.fingerprint}</sub>", ""]


def _claim(claim: Claim, say: Say) -> str:
    where = code(place(claim))
    said = (
        say("Documented at {place}", place=where)
        if claim.modality is Modality.ASSERTED
        else say("Documented ({modality}) at {place}", modality=say(claim.modality.value), place=where)
    )
    return f"- {said}: {code(claim.quote)}"


def _observed(seen: ObservedEdge, say: Say) -> str:
    amount = seen.calls or seen.messages
    low, high = stats.jeffreys(min(seen.errors, amount), amount)
    text = say(
        "Observed: {edge}, {amount}, {errors} ({low} to {high})",
        edge=say("{source} to {target}", source=escape(seen.source.name), target=escape(seen.target.name)),
        amount=number(say, amount, "call" if seen.calls else "message"),
        errors=number(say, seen.errors, "error"),
        low=f"{low:.2%}",
        high=f"{high:.2%}",
    )
    if seen.first_seen and seen.last_seen:
        text += ", " + say(
            "first {first}, last {last}",
            first=f"{seen.first_seen:%Y-%m-%d %H:%M}",
            last=f"{seen.last_seen:%Y-%m-%d %H:%M}",
        )
    if seen.exemplars:
        text += "; " + say("traces {traces}", traces=", ".join(code(x.trace_id) for x in seen.exemplars[:3]))
    if seen.trace_query is not None:
        text += "; " + say(
            "{backend} query {query}", backend=escape(seen.trace_query.backend), query=code(seen.trace_query.query)
        )
    return text


REPORT: Final = Format(".md", "text/markdown", render)
