"""What a command works on: one rule for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexus.cli import main
from nexus.cli.options import service_url

ON_DATABASES = (
    ("aside",),
    ("auth", "list"),
    ("backup", "f.tar"),
    ("entities", "list"),
    ("generation", "list"),
    ("ingest", "."),
    ("migrate",),
    ("otel-aggregate",),
    ("reembed",),
    ("supersede", "a.md", "--by", "b.md"),
    ("tempo", "backfill", "--from", "2026-01-01"),
    ("watch", "."),
)


@pytest.mark.parametrize(
    ("data", "url", "database", "service", "asked"),
    [
        (None, None, "", "", ""),
        (None, None, "", "http://there", "http://there"),
        (None, None, "postgresql://x", "http://there", ""),
        (Path("d"), None, "", "http://there", ""),
        (Path("d"), "http://other", "postgresql://x", "http://there", "http://other"),
    ],
)
def test_what_is_named_nearest_counts(monkeypatch: pytest.MonkeyPatch, data, url, database, service, asked) -> None:
    monkeypatch.setenv("NEXUS_DATABASE__URL", database)
    monkeypatch.setenv("NEXUS_API_URL", service)
    assert service_url(data, url) == asked


@pytest.mark.parametrize("command", ON_DATABASES, ids=" ".join)
def test_a_command_that_cannot_ask_a_service_says_so(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEXUS_API_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("sys.argv", ["nexus", *command])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert (stopped.value.code, "not through NEXUS_API_URL" in capsys.readouterr().err) == (78, True)
    assert list(tmp_path.iterdir()) == []
