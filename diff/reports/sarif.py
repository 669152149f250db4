"""SARIF 2.1.0, for code scanning: the document's lines are the location, fingerprints are stable.

`kind` is `fail` for drift, `open` for what is undecided, `notApplicable` for what could not be seen, `pass` for what is confirmed.
Suppressed findings carry their justification; with a baseline each result says whether it is new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from diff.compare import kinds
from diff.report import Format
from diff.reports._json import exposure_json
from diff.reports._words import clean
from nexus.model.claim import Claim
from nexus.model.finding import Finding, Flag, Severity, State
from nexus.model.render import instant
from nexus.ports.drift import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.NONE: "none", Severity.LOW: "note", Severity.MEDIUM: "warning", Severity.HIGH: "error"}


def render(report: Report) -> str:
    """One run."""
    rules = sorted(kinds())
    near = _near(report.findings)
    results = [_result(f, rules, near) for f in report.findings]
    run = report.run
    log: dict[str, Any] = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "nexus diff",
                        "informationUri": "https://github.com/khala-nexus/khala-nexus",
                        "semanticVersion": "0.1.0",
                        "rules": [_rule(name) for name in rules],
                    }
                },
                "automationDetails": {"id": f"nexus-diff/{run.environment or 'all'}/{run.id}"},
                "invocations": [{"executionSuccessful": True, "endTimeUtc": instant(run.generated_at)}],
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"DOCUMENTS": {"description": {"text": "The root of the ingested documents."}}},
                "results": results,
                "properties": {
                    "window": {"from": instant(run.window_from), "to": instant(run.window_to)},
                    "documentRevision": run.document_revision,
                    "configHash": run.config_hash,
                    "totals": report.totals,
                    "metrics": report.metrics,
                },
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str) -> dict[str, Any]:
    import sys

    kind = kinds()[name]
    text = (sys.modules[f"diff.kinds.{name}"].__doc__ or "").strip()
    first = " ".join(text.split("\n\n")[0].split())
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("_")),
        "shortDescription": {"text": first},
        "fullDescription": {"text": " ".join(text.split())},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
    }


def _near(findings: Sequence[Finding]) -> dict[str, Claim]:
    """Name -> where it is spoken of first; under "" the first claim at all."""
    found: dict[str, Claim] = {}
    claims = [claim for f in findings if f.designed is not None for claim in f.designed.claims]
    for claim in sorted(claims, key=lambda c: (c.document.uri, c.lines)):
        for name in (claim.source, claim.target, ""):
            found.setdefault(name, claim)
    return found


def _result(finding: Finding, rules: list[str], near: Mapping[str, Claim]) -> dict[str, Any]:
    kind = _kind(finding)
    result: dict[str, Any] = {
        "ruleId": finding.status,
        "ruleIndex": rules.index(finding.status),
        "kind": kind,
        "level": _LEVELS[finding.severity] if kind == "fail" else "none",
        "message": {
            "text": _text(
                finding.summary
                + (f" Changes with: {finding.what_would_change_this}." if finding.what_would_change_this else "")
            )
        },
        # The second is what GitHub tells alerts apart by, instead of a hash of the line.
        "fingerprints": {"nexus/v1": finding.fingerprint},
        "partialFingerprints": {
            "nexusFinding/v1": finding.fingerprint,
            "primaryLocationLineHash": f"{finding.fingerprint}:1",
        },
        "locations": [_location(c) for c in finding.designed.claims[:1]]
        if finding.designed is not None
        else [_elsewhere(finding, near)],
        "properties": {
            "flag": finding.flag.value,
            "reason": finding.reason,
            "relation": finding.relation,
            "source": finding.source.name,
            "target": finding.target.name,
            "state": finding.state.value,
            "severity": finding.severity.value,
            "environment": finding.environment,
            "exposure": exposure_json(finding.exposure),
            "observed": _observed(finding),
        },
        "rank": round(min(max(finding.rank * 100, 0.0), 100.0), 2),
    }
    if finding.designed is not None and len(finding.designed.claims) > 1:
        result["relatedLocations"] = [
            {**_location(c), "id": number, "message": {"text": _text(c.quote)}}
            for number, c in enumerate(finding.designed.claims[1:], 1)
        ]
    if finding.state is State.SUPPRESSED:
        note = finding.details.get("suppression", {})
        result["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": "; ".join(f"{key}: {value}" for key, value in note.items()) or "suppressed in Nexus",
            }
        ]
    if "baseline" in finding.details:
        result["baselineState"] = "unchanged" if finding.details["baseline"] else "new"
    return result


def _kind(finding: Finding) -> str:
    if finding.flag is Flag.CONFIRMED or finding.severity is Severity.NONE:
        return "pass"
    if finding.status == "not_observable":
        return "notApplicable"
    return "open" if finding.undecided or finding.state is State.HELD else "fail"


def _location(claim: Claim) -> dict[str, Any]:
    region: dict[str, Any] = {
        "startLine": max(claim.lines[0], 1),
        "endLine": max(claim.lines[1], claim.lines[0], 1),
        "snippet": {"text": claim.quote},
    }
    if claim.columns[0] > 0:
        # SARIF's end column is behind the last character.
        region |= {"startColumn": claim.columns[0]} | (
            {"endColumn": claim.columns[1] + 1}
            if claim.columns[1] >= claim.columns[0] or claim.lines[1] > claim.lines[0]
            else {}
        )
    uri = claim.document.uri or claim.document.title
    relative = "://" not in uri and not uri.startswith("/")
    place: dict[str, Any] = {"uri": quote(uri, safe="/:#?&=%+,;@~!$'()*[]" if "://" in uri else "/")}
    if relative:
        place["uriBaseId"] = "DOCUMENTS"
    return {
        "physicalLocation": {"artifactLocation": place, "region": region},
        "logicalLocations": [
            {"fullyQualifiedName": f"{claim.source} {claim.relation} {claim.target}", "kind": "relation"}
        ],
    }


def _elsewhere(finding: Finding, near: Mapping[str, Claim]) -> dict[str, Any]:
    """An edge that no document mentions has no line, and GitHub takes no result without one: where its ends are spoken of, it would belong."""
    logical = {
        "logicalLocations": [
            {
                "fullyQualifiedName": f"{finding.source.name} {finding.relation} {finding.target.name}",
                "kind": "relation",
            }
        ]
    }
    claim = next((near[name] for name in (finding.source.name, finding.target.name, "") if name in near), None)
    place = (
        _location(claim)["physicalLocation"]["artifactLocation"]
        if claim is not None
        else {"uri": "README.md", "uriBaseId": "DOCUMENTS"}
    )
    return {
        "physicalLocation": {
            "artifactLocation": place,
            "region": {"startLine": max(claim.lines[0], 1) if claim is not None else 1},
        },
        **logical,
    }


def _text(text: str) -> str:
    """Plain text, of which nothing is a link or a control character."""
    return clean(text).replace("[", "\\[").replace("]", "\\]") if "](" in text else clean(text)


def _observed(finding: Finding) -> dict[str, Any] | None:
    e = finding.observed
    if e is None:
        return None
    return {
        "calls": e.calls,
        "messages": e.messages,
        "errors": e.errors,
        "firstSeen": instant(e.first_seen),
        "lastSeen": instant(e.last_seen),
        "traces": [x.trace_id for x in e.exemplars],
        "query": e.trace_query.query if e.trace_query is not None else None,
    }


REPORT: Final = Format(".sarif", "application/sarif+json", render)
