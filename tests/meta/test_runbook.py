"""Every alert has an entry in the runbook, and every entry and rule speaks of what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from nexus.settings import describe_settings
from nexus.telemetry import describe_metrics

ROOT = Path(__file__).resolve().parents[2]
RULE_FILES = sorted(path for path in (ROOT / "deploy").rglob("*.y*ml") if "alert:" in path.read_text(encoding="utf-8"))
RULES: list[dict[str, Any]] = [
    rule
    for path in RULE_FILES
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    for group in (document.get("groups") or document.get("spec", {}).get("groups", []))
    for rule in group["rules"]
    if "alert" in rule
]
RUNBOOK = (ROOT / "docs" / "howto" / "operate.md").read_text(encoding="utf-8")


def test_every_alert_has_an_entry_and_every_entry_an_alert() -> None:
    alerts = [rule["alert"] for rule in RULES]
    assert len(alerts) == len(set(alerts))
    entries = re.findall(r"^## (\w+)$", RUNBOOK.split("# Runbook\n")[1], re.MULTILINE)
    assert sorted(entries) == sorted(alerts)


def test_rules_ask_for_metrics_that_there_are() -> None:
    known = {name for name, _, _ in describe_metrics()}
    asked = {name for rule in RULES for name in re.findall(r"nexus_[a-z_]+", rule["expr"])}
    assert asked
    assert {
        name for name in asked if re.sub(r"_(bucket|sum|count)$", "", name) not in known and name not in known
    } == set()
    assert all(
        rule["annotations"]["summary"] and rule["labels"]["severity"] in {"info", "warning", "critical"}
        for rule in RULES
    )


def test_prometheus_loads_every_rule_file() -> None:
    loaded = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yaml").read_text(encoding="utf-8"))[
        "rule_files"
    ]
    assert sorted(loaded) == sorted(path.name for path in RULE_FILES if path.parent.name == "prometheus")


def test_pages_for_operators_name_settings_and_metrics_that_there_are() -> None:
    settings = {name for name, _, _ in describe_settings()} | {"NEXUS_API_URL", "NEXUS_MCP_TOKEN"}
    metrics = {name for name, _, _ in describe_metrics()}
    for page in ("operate.md", "backup.md"):
        text = (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8")
        assert {name for name in re.findall(r"NEXUS_\w+", text) if name not in settings} == set()
        assert {name for name in re.findall(r"\bnexus_[a-z_]+", text) if name not in metrics} == set()
        links = re.findall(r"\]\(([^)#]+)\)", text)
        assert [link for link in links if not (ROOT / "docs" / "howto" / link).exists()] == []
