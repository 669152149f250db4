"""Markdown, for a pull request or the documentation: drift first, each finding with both sides' evidence."""

from __future__ import annotations

import re
from typing import Final

from diff import stats
from diff.report import Format
from diff.reports._words import FLAGS, HEADINGS, clean, edge, ratios, window
from nexus.model.claim import Claim
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
# What of an @ would notify somebody, and what of a bare address would become a link.
_MENTION = re.compile(r"@(?=\w)|(?<=\w)://")


def escape(text: str) -> str:
    """Text that means nothing to Markdown or to a forge: no markup, no HTML, no mention, no link."""
    plain = _SPECIAL.sub(r"\\\1", clean(" ".join(text.split()))).replace("\\<", "&lt;").replace("\\>", "&gt;")
    return _MENTION.sub(lambda m: "@\u200b" if m[0] == "@" else ":\u200b//", plain)


def code(text: str) -> str:
    """A code span of any text, backticks in it included."""
    flat = clean(" ".join(text.split()))
    fence = "`" * (max((len(run) for run in re.findall(r"`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else ""


def render(report: Report) -> str:
    """The whole report."""
    run, totals, body = report.run, report.totals, report.body
    lines = [
        f"# Drift of {escape(run.environment) if run.environment else 'all environments'}", "",
        f"Window {window(report)}. Documents `{run.document_revision[:12]}`, configuration `{run.config_hash}`, run `{run.id}`.", "",
        "| confirmed | documented only | observed only | conflicts | undecided |", "| ---: | ---: | ---: | ---: | ---: |",
        f"| {totals['confirmed']} | {totals['doc_only']} | {totals['observed_only']} | {totals['conflict']} | {totals['undecided']} |", "", f"{ratios(report).capitalize()}.", "",
    ]
    unseen = body.get("unseen") or {}
    if unseen:
        chance = f"the next sighting is of a new one with a chance of {unseen['next_sighting_is_new_good_turing']:.2%} (Good-Turing)"
        lines += [f"{unseen['edges_seen']} edges were seen; about {unseen['edges_unseen_chao1']:g} more exist that were not (Chao1), and {chance}.", ""]
    coverage = body.get("coverage") or {}
    if coverage.get("gaps"):
        lines += [f"**{len(coverage['gaps'])} ranges of the window could not be read completely;** nothing is called absent because of them.", ""]
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if found:
            lines += [f"## {HEADINGS[flag]}", ""]
            lines += _confirmed(found) if flag is Flag.CONFIRMED else [line for finding in found for line in _finding(finding)]
    proposals = body.get("renames") or []
    if proposals:
        lines += ["## Renames to review", ""]
        lines += [f"- {code(p['old'])} may now be {code(p['new'])}: ended {p['ended']}, began {p['began']}, neighbours alike by {p['similarity']:.0%}" for p in proposals] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _confirmed(found: list[Finding]) -> list[str]:
    lines = ["| edge | documents | calls | errors |", "| --- | --- | ---: | ---: |"]
    for finding in found:
        seen = finding.observed
        places = ", ".join(code(f"{c.document.uri or c.document.title}:{c.lines[0]}") for c in (finding.designed.claims if finding.designed else ()))
        lines.append(f"| {escape(edge(finding))} | {places.replace('|', chr(92) + '|')} | {(seen.calls or seen.messages) if seen else 0:,} | {seen.errors if seen else 0:,} |")
    return [*lines, ""]


def _finding(finding: Finding) -> list[str]:
    lines = [
        f"### {escape(edge(finding))}", "",
        f"**{finding.status}**, {finding.severity.value}, {finding.state.value}{', undecided' if finding.undecided else ''}. {escape(finding.summary)}", "",
    ]
    if finding.designed is not None:
        lines += [line for claim in finding.designed.claims for line in _claim(claim)] + [""]
    if finding.observed is not None:
        lines += [f"- Observed: {_observed(finding.observed)}", ""]
    if finding.what_would_change_this:
        lines += [f"What would change this: {escape(finding.what_would_change_this)}.", ""]
    lines += [f"<sub>{finding.fingerprint}</sub>", ""]
    return lines


def _claim(claim: Claim) -> list[str]:
    place = f"{claim.document.uri or claim.document.title}:{claim.lines[0]}" + (f"-{claim.lines[1]}" if claim.lines[1] != claim.lines[0] else "")
    said = f" ({claim.modality.value})" if claim.modality.value != "asserted" else ""
    return [f"- Documented{said} at {code(place)}: {code(claim.quote)}"]


def _observed(edge_: ObservedEdge) -> str:
    amount = edge_.calls or edge_.messages
    low, high = stats.jeffreys(min(edge_.errors, amount), amount)
    times = f", first {edge_.first_seen:%Y-%m-%d %H:%M}, last {edge_.last_seen:%Y-%m-%d %H:%M}" if edge_.first_seen and edge_.last_seen else ""
    text = f"{escape(edge_.source.name)} to {escape(edge_.target.name)}, {amount:,} {'calls' if edge_.calls else 'messages'}, {edge_.errors:,} errors ({low:.2%} to {high:.2%}){times}"
    if edge_.exemplars:
        text += "; traces " + ", ".join(code(x.trace_id) for x in edge_.exemplars[:3])
    if edge_.trace_query is not None:
        text += f"; {escape(edge_.trace_query.backend)} query {code(edge_.trace_query.query)}"
    return text


REPORT: Final = Format(".md", "text/markdown", render)
