"""JSON, exactly as `GET /diff` answers."""

from __future__ import annotations

from typing import Any, Final

import orjson

from diff.report import Format
from diff.reports._json import finding_json, run_json
from nexus.ports.drift import Report


def as_json(report: Report) -> dict[str, Any]:
    """The body of `GET /diff`."""
    body = report.body
    return {
        "run": {
            **run_json(report.run),
            "window_kind": body.get("window_kind", ""),
            "policy": body.get("policy", {}),
            "coverage": body.get("coverage", {}),
        },
        "totals": report.totals,
        "metrics": {**report.metrics, "unseen": body.get("unseen", {})},
        "renames": body.get("renames", []),
        "findings": [finding_json(finding) for finding in report.findings],
        "next": report.next,
    }


def render(report: Report) -> str:
    """Indented, keys in the order of api.md."""
    return orjson.dumps(as_json(report), option=orjson.OPT_INDENT_2).decode() + "\n"


REPORT: Final = Format(".json", "application/json", render)
