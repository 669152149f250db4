"""What others named is printed as text: it cannot steer a terminal."""

from __future__ import annotations

import httpx
import pytest

from nexus.cli.commands import status


def test_a_name_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    source = {
        "name": "otlp\x1b]0;owned\x07",
        "state": "failing",
        "reason": "no\x1b[2Janswer",
        "traces": 1,
        "spans": 2,
        "read_to": None,
        "gaps": [],
    }
    body = {
        "version": "1",
        "tenant": "default",
        "database": {"state": "ok", "server_version": "18", "schema": "s"},
        "observed": {},
        "sources": [source],
        "documents": None,
        "drift": None,
    }
    monkeypatch.setattr(httpx, "get", lambda *_, **__: httpx.Response(200, json=body))
    monkeypatch.setenv("NEXUS_API_URL", "http://here")
    with pytest.raises(Exception) as stopped:  # noqa: PT011  # typer's Exit is a RuntimeError without a message
        status.COMMAND()
    assert getattr(stopped.value, "exit_code", None) == 2
    said = capsys.readouterr().out
    assert "otlp]0;owned" in said
    assert "\x1b" not in said
