"""The reference of finding kinds and thresholds, from their docstrings and comments. `make docs` writes it; a test compares."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import fields

from diff import policy as policy_module
from diff.compare import kinds
from diff.policy import Policy
from nexus.model.finding import Flag

_INTRO = {
    Flag.CONFIRMED: "Documents and traces agree.",
    Flag.DOC_ONLY: "A document says it, traces do not show it.",
    Flag.OBSERVED_ONLY: "Traces show it, no document says it.",
    Flag.CONFLICT: "Both speak, and disagree.",
}


def findings_page() -> str:
    """`docs/reference/findings.md`."""
    lines = [
        "# Findings",
        "",
        (
            "Every kind of finding of the drift report, one a file under `diff/kinds/`. A flag says what happened, "
            "a kind says how sure that is and why. `undecided` findings never fail a gate unless asked for."
        ),
        "",
    ]
    found = sorted(kinds().values(), key=lambda kind: (list(Flag).index(kind.flag), kind.order))
    for flag in Flag:
        lines += [f"## {flag.value}", "", _INTRO[flag], ""]
        for kind in found:
            if kind.flag is flag:
                doc = inspect.cleandoc(sys.modules[f"diff.kinds.{kind.status}"].__doc__ or "")
                lines += [f"### `{kind.status}`", "", f"Severity: {kind.severity.value}.", "", doc, ""]
    lines += [
        "## Thresholds",
        "",
        "The policy, echoed in every report. Those with a setting are in [settings](settings.md) as `NEXUS_DIFF__*`.",
        "",
        "| threshold | default | meaning |",
        "| --- | --- | --- |",
    ]
    lines += [f"| `{name}` | {default} | {meaning} |" for name, default, meaning in thresholds()]
    return "\n".join(lines) + "\n"


def thresholds() -> list[tuple[str, str, str]]:
    """(name, default, meaning) of each threshold; the meaning is the comment above it, or that of the group that it stands in."""
    source = inspect.getsource(policy_module).splitlines()
    tree = ast.parse("\n".join(source))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Policy").body
    comments: dict[str, str] = {}
    meaning = ""
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            above: list[str] = []
            at = node.lineno - 2
            while at >= 0 and source[at].strip().startswith("#"):
                above.insert(0, source[at].strip().lstrip("# "))
                at -= 1
            meaning = " ".join(above) or meaning
            comments[node.target.id] = meaning
    return [
        (
            field.name,
            f"{field.default:.4g}" if isinstance(field.default, float) else str(field.default),
            comments[field.name].replace("|", "\\|"),
        )
        for field in fields(Policy)
    ]
