"""A baseline: the drift that was there when the gate was switched on. It only shrinks. Pure.

Findings in it do not fail the gate. What is fixed is taken out by `--update-baseline`, which never adds anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from nexus.errors import BadQuestion
from nexus.model.finding import Finding, Flag

VERSION = 1


def parse_baseline(text: str, name: str) -> dict[str, str]:
    """Fingerprint -> edge in words. BadQuestion where the file is none of ours."""
    try:
        data = json.loads(text)
        _check(data)
        return {str(item["fingerprint"]): str(item.get("edge", "")) for item in data["findings"]}
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{name}: not a baseline of this version ({error}); write one with --write-baseline"
        raise BadQuestion(msg) from error


def _check(data: dict[str, object]) -> None:
    if data["version"] != VERSION:
        msg = f"version {data['version']}"
        raise ValueError(msg)


def write_baseline(findings: Iterable[Finding]) -> str:
    """The text of a new baseline: every drift there is, sorted, so that changes are small in review."""
    drift = sorted(
        (f for f in findings if f.flag is not Flag.CONFIRMED),
        key=lambda f: (f.source.name, f.target.name, f.fingerprint),
    )
    items = [
        {
            "fingerprint": f.fingerprint,
            "flag": f.flag.value,
            "status": f.status,
            "edge": f"{f.source.name} {f.relation} {f.target.name}",
        }
        for f in drift
    ]
    return json.dumps({"version": VERSION, "findings": items}, indent=2, ensure_ascii=False) + "\n"


def shrunk(text: str, name: str, findings: Iterable[Finding]) -> tuple[str, list[str]]:
    """(the baseline without what is fixed, the edges that went)."""
    parse_baseline(text, name)
    data = json.loads(text)
    present = {f.fingerprint for f in findings if f.flag is not Flag.CONFIRMED}
    gone = [item for item in data["findings"] if item["fingerprint"] not in present]
    data["findings"] = [item for item in data["findings"] if item["fingerprint"] in present]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n", [
        str(item.get("edge", item["fingerprint"])) for item in gone
    ]
