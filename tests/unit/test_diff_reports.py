"""Report formats: valid by their own standards, deterministic, and nothing of a document runs in them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from diff import totals
from diff.cadence import Cadence
from diff.compare import compare, kinds
from diff.gate import annotated
from diff.korean import report_in
from diff.policy import Policy
from diff.reports import _words
from diff.reports._json import finding_json
from diff.reports._korean import KOREAN
from diff.reports._map import svg
from diff.reports._parse import report_from
from diff.reports._words import ARROWS, HEADINGS, TOTALS
from diff.reports.json import as_json
from diff.simulate import Sim, TrueEdge, says
from diff.suppressions import parse_suppressions
from nexus.model.claim import Modality, Via
from nexus.model.edge import Relation, TraceQuery
from nexus.model.entity import Entity
from nexus.model.finding import Flag, RunInfo, Severity, State
from nexus.model.service import NodeKind
from nexus.plugins import load_plugins
from nexus.ports.drift import Report

FORMATS = load_plugins("diff.reports", "REPORT")
HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>|`=cmd()`@channel [x](javascript:alert(1)) \x00\x1b[31m"
SCHEMA = json.loads((Path(__file__).parents[1] / "cases" / "sarif" / "sarif-2.1.0.json").read_text())


def report(hostile: bool = False) -> Report:
    name = f"b{HOSTILE}" if hostile else "b"
    sim = Sim(
        {"a": 1000, name: 500, "c": 100, "d": 40},
        (
            TrueEdge("a", name),
            TrueEdge(name, "c", rate=0.3),
            TrueEdge("c", "pay.example.com", target_kind=NodeKind.EXTERNAL),
            TrueEdge("a", "c", protocol="http"),
            TrueEdge("d", "c", first_day=39, schedule=Cadence("daily")),
        ),
    )
    docs = [
        says("a", name),
        says("a", "d", line=2),
        says("a", "d", line=9, document="other.md"),
        says(name, "c", line=3, modality=Modality.FORBIDDEN),
        says("a", "c", line=4, via=Via("grpc")),
        says("c", "d", line=5),
        says("x" + (HOSTILE if hostile else ""), "a", line=6),
        says("d", "a", line=7, modality=Modality.PLANNED),
    ]
    if hostile:
        docs = [
            replace(
                d,
                claims=tuple(replace(c, quote=HOSTILE, document=replace(c.document, title=HOSTILE)) for c in d.claims),
            )
            for d in docs
        ]
    evidence = sim.evidence(40, docs)
    made = compare(evidence, Policy())
    rows = [r for r in made.rows if r.needs == made.labels and not r.hidden]
    counts = [
        totals.Count(r.finding.flag.value, r.finding.status, r.finding.undecided, r.primary, 1, r.calls)
        for r in made.seen_with(made.labels)
    ]
    findings = []
    for row in made.seen_with(made.labels):
        finding = row.finding
        if finding.observed is not None:
            query = TraceQuery("tempo", '{ resource.service.name = "a" }', evidence.window_from, evidence.window_to)
            finding = replace(finding, observed=replace(finding.observed, trace_query=query))
        findings.append(finding)
    assert rows
    info = RunInfo(
        "r1",
        evidence.window_from,
        evidence.window_to,
        "",
        "d" * 16,
        "c" * 16,
        datetime(2026, 2, 10, 1, 2, 3, tzinfo=UTC),
    )
    return Report(
        info,
        totals.totals(counts),
        totals.metrics(counts),
        tuple(findings),
        None,
        {"window_kind": "closed", "unseen": totals.unseen(evidence.observed)},
    )


def test_every_flag_is_in_the_sample() -> None:
    assert {f.flag for f in report().findings} == set(Flag)
    assert {"forbidden", "protocol", "absent_strong", "not_observable", "external", "provisional", "planned"} <= {
        f.status for f in report().findings
    }


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("hostile", [False, True])
def test_same_input_same_text(name: str, hostile: bool) -> None:
    text = FORMATS[name].render(report(hostile))
    assert text == FORMATS[name].render(report(hostile))
    text.encode()


@pytest.mark.parametrize("hostile", [False, True])
def test_sarif_is_valid_against_its_schema(hostile: bool) -> None:
    log = json.loads(FORMATS["sarif"].render(report(hostile)))
    errors = sorted(Draft202012Validator(SCHEMA).iter_errors(log), key=str)
    assert [f"{list(e.absolute_path)}: {e.message[:200]}" for e in errors] == []


def test_sarif_says_what_fails_and_what_is_open() -> None:
    run = json.loads(FORMATS["sarif"].render(report()))["runs"][0]
    by_status = {r["ruleId"]: r for r in run["results"]}
    assert by_status["forbidden"]["kind"] == "fail"
    assert by_status["forbidden"]["level"] == "error"
    assert by_status["not_observable"]["kind"] == "notApplicable"
    assert by_status["provisional"]["kind"] == "open"
    assert by_status["confirmed"]["kind"] == "pass"
    location = by_status["forbidden"]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "architecture.md", "uriBaseId": "DOCUMENTS"}
    assert location["region"]["startLine"] == 3
    assert location["region"]["snippet"]["text"] == "b CALLS c"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(kinds())
    assert all(run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])


def test_sarif_knows_suppressions_and_the_baseline() -> None:
    entries = parse_suppressions("suppressions:\n- {status: forbidden, reason: r, owner: o, expires: 2030-01-01}", "s")
    found = annotated(report(), entries, {}, datetime(2026, 1, 1, tzinfo=UTC))
    results = {r["ruleId"]: r for r in json.loads(FORMATS["sarif"].render(found))["runs"][0]["results"]}
    assert results["forbidden"]["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "reason: r; owner: o; expires: 2030-01-01"}
    ]
    assert results["absent_strong"]["baselineState"] == "new"
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(FORMATS["sarif"].render(found)))) == []


@pytest.mark.parametrize("hostile", [False, True])
def test_junit_counts_and_outcomes(hostile: bool) -> None:
    sample = report(hostile)
    root = ElementTree.fromstring(FORMATS["junit"].render(sample))
    cases = root.findall(".//testcase")
    assert len(cases) == len(sample.findings) == int(root.get("tests", ""))
    assert len(root.findall(".//failure")) == int(root.get("failures", "")) > 0
    assert len(root.findall(".//skipped")) == int(root.get("skipped", "")) > 0
    outcome = {c.get("classname"): [child.tag for child in c] for c in cases}
    assert outcome["drift.conflict.forbidden"] == ["failure"]
    assert outcome.get("drift.doc_only.not_observable", ["skipped"]) == ["skipped"]
    assert outcome["drift.confirmed.confirmed"] == []


@pytest.mark.parametrize("hostile", [False, True])
def test_csv_has_one_row_a_finding_and_no_formula(hostile: bool) -> None:
    sample = report(hostile)
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"].render(sample))))
    assert [r["fingerprint"] for r in rows] == [f.fingerprint for f in sample.findings]
    assert not [v for r in rows for v in r.values() if v.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert (
        FORMATS["csv"].render(replace(sample, findings=(replace(sample.findings[0], summary="=1+1"),))).count("'=1+1")
        == 1
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def test_html_runs_nothing_and_asks_for_nothing() -> None:
    page = FORMATS["html"].render(report(hostile=True))
    parser = Tags()
    parser.feed(page)
    assert not parser.tags & {"script", "img", "iframe", "object", "embed", "link", "form", "base"}
    assert not [a for a, _ in parser.attributes if a.startswith("on")]
    assert {v for a, v in parser.attributes if a in ("href", "src")} <= {
        f"#f-{f.fingerprint}" for f in report(hostile=True).findings
    }
    assert "default-src 'none'" in page
    assert "url(http" not in page
    assert "<svg" in page
    assert 'class="spark"' in page


def test_the_map_has_one_place_for_one_thing() -> None:
    """A document says `pay`, traces `shop/pay`: where a finding ties the two, both are one node."""
    sim = Sim(
        {"web": 2000, "shop/pay": 2000, "other/bill": 2000},
        (TrueEdge("web", "shop/pay"), TrueEdge("shop/pay", "risk"), TrueEdge("other/bill", "risk")),
    )
    entities = [Entity("e:pay", "pay", "service", aliases=("shop/pay",)), Entity("e:web", "web", "service")]
    made = compare(sim.evidence(40, [says("web", "pay")], entities=entities), Policy())
    findings = [row.finding for row in made.seen_with(made.labels)]
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", svg(findings, lambda text, **named: text.format(**named)))
    assert sorted(drawn) == ["other/bill", "risk", "shop/pay", "web"]


def test_markdown_escapes_what_a_document_says() -> None:
    page = FORMATS["markdown"].render(report(hostile=True))
    outside = re.sub(r"(`+).*?\1", "", page)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "](javascript" not in outside.replace("\\]", "")
    assert "@channel" not in outside


def test_the_table_has_drift_with_both_sides() -> None:
    page = FORMATS["table"].render(report())
    assert "b calls c" in page
    assert "architecture.md:3" in page
    assert "Conflicts: documents and traces disagree" in page
    assert "\x1b" not in FORMATS["table"].render(report(hostile=True))


def test_every_row_carries_the_evidence_of_both_sides() -> None:
    """Document, revision, line range and quote; trace query, exemplars, counts and interval."""
    sample = report()
    asked = TraceQuery("tempo", "{ }", sample.run.window_from, sample.run.window_to)
    sample = replace(
        sample,
        findings=tuple(
            replace(f, observed=replace(f.observed, trace_query=asked)) if f.observed is not None else f
            for f in sample.findings
        ),
    )
    table = csv.DictReader(io.StringIO(FORMATS["csv"].render(sample)))
    sides = set()
    for finding, row, one in zip(sample.findings, table, as_json(sample)["findings"], strict=True):
        for claim, told in zip(finding.designed.claims if finding.designed else (), one["designed"], strict=True):
            sides.add("designed")
            assert (told["quote"], told["lines"]) == (claim.quote, list(claim.lines))
            assert told["document"]["revision"] == claim.document.revision
            assert f"{claim.document.uri}:{claim.lines[0]}" in row["documents"]
            assert claim.document.revision in row["revisions"].split()
            assert claim.quote in row["quotes"]
        if (seen := finding.observed) is not None:
            sides.add("observed")
            assert [x["trace_id"] for x in one["observed"]["exemplars"]] == [x.trace_id for x in seen.exemplars]
            assert one["observed"]["trace_query"]["query"] == row["trace_query"] == "{ }"
            assert row["traces"].split() == [x.trace_id for x in seen.exemplars]
            assert (one["observed"]["calls"], one["observed"]["messages"]) == (seen.calls, seen.messages)
            assert one["observed"]["error_interval"] == [float(row["error_low"]), float(row["error_high"])]
    assert sides == {"designed", "observed"}


def test_json_goes_there_and_back() -> None:
    sample = report()
    data = as_json(sample)
    back = report_from(json.loads(json.dumps(data, default=str)), data["findings"])
    assert [finding_json(f) for f in back.findings] == [finding_json(f) for f in sample.findings]
    assert back.totals == sample.totals
    assert back.run == sample.run


def test_json_has_the_fields_of_the_contract() -> None:
    data = as_json(report())
    assert {"run", "totals", "metrics", "findings", "next"} <= set(data)
    assert {"id", "window", "environment", "document_revision", "config_hash", "generated_at"} <= set(data["run"])
    assert data["run"]["generated_at"] == "2026-02-10T01:02:03.000Z"
    finding = next(f for f in data["findings"] if f["status"] == "absent_strong")
    assert {
        "fingerprint",
        "flag",
        "status",
        "reason",
        "relation",
        "source",
        "target",
        "via",
        "environment",
        "severity",
        "rank",
        "state",
        "first_detected",
        "summary",
        "exposure",
        "what_would_change_this",
        "designed",
        "observed",
    } <= set(finding)
    assert set(finding["exposure"]) == {"opportunities", "covered_days", "detection", "rate_upper", "active_day_upper"}
    assert finding["observed"] is None
    assert len(finding["designed"]) == 2


def test_a_held_finding_is_skipped_by_junit() -> None:
    sample = report()
    held = replace(
        sample, findings=tuple(replace(f, state=State.HELD) for f in sample.findings if f.status == "forbidden")
    )
    assert "<skipped" in FORMATS["junit"].render(held)


def test_a_relation_name_covers_every_verb() -> None:
    for relation in Relation:
        assert relation.value.removesuffix("_OBSERVED") in ARROWS


@pytest.mark.parametrize("columns", [40, 80, 119])
def test_a_narrow_terminal_gets_lines_that_fit(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    narrow = FORMATS["table"].render(report())
    assert max(map(len, narrow.splitlines())) <= columns
    for finding in report().findings:
        assert finding.status == "confirmed" or re.search(rf"^ {finding.status}  ", narrow, re.MULTILINE)


def test_code_scanning_gets_a_line_for_every_result_and_one_fingerprint_a_finding() -> None:
    """What GitHub refuses a file for, or shows twice."""
    results = json.loads(FORMATS["sarif"].render(report(hostile=True)))["runs"][0]["results"]
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert not place["artifactLocation"]["uri"].startswith(("/", "file:"))
        assert "](" not in result["message"]["text"].replace("\\](", "")
    assert len({r["partialFingerprints"]["primaryLocationLineHash"] for r in results}) == len(
        {r["fingerprints"]["nexus/v1"] for r in results}
    )


def test_no_format_has_control_characters_of_a_name() -> None:
    for name, form in FORMATS.items():
        assert not re.search("[\x00\x1b]", form.render(report(hostile=True))), name


def texts_of_formats() -> set[str]:
    """Every English text that a format says, from the source."""
    found = {text for _, text in HEADINGS.items()} | {text for text, _ in TOTALS} | set(ARROWS.values())
    for path in Path(_words.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                found |= {
                    c.value
                    for c in ast.walk(node.args[0])
                    if isinstance(c, ast.Constant)
                    and isinstance(c.value, str)
                    and len(c.value) > 1
                    and c.value not in ("{n} ", "s")
                }
    return found - {"_", "-"}


def test_every_text_of_a_format_has_its_korean_one() -> None:
    assert len(texts_of_formats()) > 40
    assert texts_of_formats() <= set(KOREAN)
    enumerated = [value.value for kind in (Severity, State, Modality) for value in kind]
    assert set(enumerated) <= set(KOREAN)
    for english, korean in KOREAN.items():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", korean)), english


@pytest.mark.parametrize("name", ["table", "markdown", "html"])
def test_a_korean_report_has_korean_headings(name: str) -> None:
    korean = FORMATS[name].render(report_in(report(), "ko"))
    assert KOREAN[HEADINGS[Flag.CONFLICT]] in korean
    assert not [
        text
        for text in (*HEADINGS.values(), "What would change", "Changes with", "Observed:", "undecided")
        if text in korean
    ]
    assert FORMATS[name].render(report_in(report(), "en")) == FORMATS[name].render(report())
