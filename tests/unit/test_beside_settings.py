"""A command beside a service works with that service's settings, under its own."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from nexus.errors import ConfigError
from nexus.settings import load_settings
from nexus.wiring.beside import SETTINGS_FILE, beside_settings, keep_settings


def test_what_the_service_sets_holds_and_what_the_command_sets_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = load_settings(
        {"data": tmp_path, "diff": {"sampling": "none", "window_days": 14}, "pairing": {"clock_skew": "PT0.02S"}}
    )
    keep_settings(service)
    monkeypatch.setenv("NEXUS_DIFF__WINDOW_DAYS", "7")
    found = beside_settings(load_settings({"data": tmp_path}))
    assert (found.diff.sampling, found.diff.window_days) == ("none", 7)
    assert found.pairing == service.pairing
    assert found.http == service.http


def test_secrets_and_defaults_stay_out_and_the_file_is_private(tmp_path: Path) -> None:
    kept = keep_settings(
        load_settings(
            {
                "data": tmp_path,
                "slack": {"bot_token": "xoxb-hunter2", "app_token": "xapp-hunter2", "digest_channel": "#drift"},
            }
        )
    )
    text = kept.read_text()
    assert "hunter2" not in text
    assert "**" not in text
    assert json.loads(text) == {"data": str(tmp_path), "slack": {"digest_channel": "#drift"}}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_read_is_an_error_and_none_is_no_service(tmp_path: Path) -> None:
    alone = load_settings({"data": tmp_path})
    assert beside_settings(alone) is alone
    (tmp_path / SETTINGS_FILE).write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        beside_settings(alone)
