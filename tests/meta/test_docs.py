"""The reference is true: every setting, command, metric and error is documented."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main

from nexus import telemetry
from nexus.cli import build
from nexus.settings import describe_settings

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize(("name", "description"), [(name, description) for name, _, description in describe_settings()])
def test_every_setting_is_documented(name: str, description: str) -> None:
    assert description, f"{name} has no description"
    assert f"`{name}`" in (REFERENCE / "settings.md").read_text(encoding="utf-8"), "run `make docs`"


def commands() -> list[str]:
    group = typer.main.get_command(build())
    found = []
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        subs = getattr(command, "commands", None)
        found.extend([f"{name} {sub}" for sub in sorted(subs)] if subs else [name])
    return found


@pytest.mark.parametrize("command", commands())
def test_every_command_is_documented(command: str) -> None:
    assert f"`nexus {command}`" in (REFERENCE / "commands.md").read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.parametrize("metric", telemetry.metric_names())
def test_every_metric_is_documented(metric: str) -> None:
    assert f"`{metric}`" in (REFERENCE / "metrics.md").read_text(encoding="utf-8"), "run `make docs`"
